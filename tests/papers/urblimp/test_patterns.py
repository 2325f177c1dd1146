"""The pattern language: each kind of clause, what is malformed, and the search itself."""

import pytest

from blimpworks.errors import UserError
from blimpworks.papers.urblimp.items.patterns import holds, matches, parse_pattern
from blimpworks.papers.urblimp.items.trees import tree_of
from support.urblimp_kit import tree, word

# The boy gave the girl a book.
GAVE = tree(
    "لڑکے/NOUN/5/nsubj/Case=Acc|Gender=Masc|lemma=لڑکا نے/ADP/1/case/Person=3 "
    "لڑکی/NOUN/5/iobj/Gender=Fem کتاب/NOUN/5/obj/Gender=Fem|Case=Nom "
    "دی/VERB/0/root/Aspect=Perf|Gender=Fem|Person=1st|lemma=دینا "
    "۔/PUNCT/5/punct"
)


def forms_of(pattern, sentence=GAVE, **known):
    """The forms of the words of each match, in the order of the pattern."""
    return [
        tuple(sentence.words[index].form for index in match.values())
        for match in matches(parse_pattern(pattern), sentence, known)
    ]


@pytest.mark.parametrize(
    ("pattern", "forms"),
    [
        ("N [upos=NOUN]", ["لڑکے", "لڑکی", "کتاب"]),
        ("N [upos=NOUN|ADP]", ["لڑکے", "نے", "لڑکی", "کتاب"]),
        ("N [upos=NOUN, Gender=Fem]", ["لڑکی", "کتاب"]),
        ("N [upos=NOUN]; N [Gender=Fem]", ["لڑکی", "کتاب"]),
        ('N [form="لڑکے"]', ["لڑکے"]),
        ("N [form=لڑکے]", ["لڑکے"]),
        ('N [lemma="لڑکا"|"دینا"]', ["لڑکے", "دی"]),
        ('N [form=re".*ی"]', ["لڑکی", "دی"]),
        ('N [form=re"ل"]', []),
        ('N [form=re"لڑک(ے|ی)"|"دی"]', ["لڑکے", "لڑکی", "دی"]),
        ('N [form="لڑک."]', []),
        ("N [Case]", ["لڑکے", "کتاب"]),
        ("N [!Case, upos=NOUN]", ["لڑکی"]),
        ("N [Person=3]", ["نے"]),
        ('N [Person="3"]', ["نے"]),
        ("N [Person=3|1st]", ["نے", "دی"]),
        ("N [Person<>3]", ["دی"]),
        ("N []", ["لڑکے", "نے", "لڑکی", "کتاب", "دی", "۔"]),
        ("N [Case<>Acc, upos=NOUN|VERB, Case]", ["کتاب"]),
        ("N [upos<>NOUN|PUNCT]", ["نے", "دی"]),
        ('N [form<>re".*[ےی]", upos=NOUN]', ["کتاب"]),
    ],
)
def test_features_pick_words(pattern, forms):
    assert forms_of(pattern) == [(form,) for form in forms]


@pytest.mark.parametrize(
    ("pattern", "forms"),
    [
        ("V -[nsubj]-> S", ["لڑکے"]),
        ("V -[obj|iobj]-> S", ["لڑکی", "کتاب"]),
        ("V -[^nsubj|punct]-> S; V [upos=VERB]", ["لڑکی", "کتاب"]),
        ("V -> S; V [upos=VERB]", ["لڑکے", "لڑکی", "کتاب", "۔"]),
        ("V -[nsubj:pass]-> S", []),
        ("S < V; V [upos=VERB]", ["کتاب"]),
        ("V < S; V [upos=VERB]", ["۔"]),
        ("S << V; V [upos=VERB]", ["لڑکے", "نے", "لڑکی", "کتاب"]),
        ("S.Gender = V.Gender; V [upos=VERB]", ["لڑکی", "کتاب"]),
        ("S.Gender <> V.Gender; V [upos=VERB]", ["لڑکے"]),
        ("S.upos = V.upos; V [upos=ADP]", []),
    ],
)
def test_two_words_stand_in_relations(pattern, forms):
    parsed, sentence = parse_pattern(pattern), GAVE
    got = [sentence.words[match["S"]].form for match in matches(parsed, sentence)]
    assert sorted(got) == sorted(forms)


def test_matches_come_in_the_order_of_the_words_and_one_for_each_way():
    assert forms_of("V [upos=VERB]; N [upos=NOUN]") == [
        ("دی", "لڑکے"),
        ("دی", "لڑکی"),
        ("دی", "کتاب"),
    ]


def test_comments_line_ends_and_empty_clauses_at_the_end_say_nothing():
    pattern = """
      # who gives
      V [upos=VERB];   # the verb; with a semicolon in the comment
      V -[nsubj]-> S;
    """
    assert parse_pattern(pattern) == parse_pattern("V [upos=VERB]; V -[nsubj]-> S")


@pytest.mark.parametrize("pattern", ["", " \n", "# V [upos=VERB]"])
def test_a_pattern_without_a_word_is_refused(pattern):
    with pytest.raises(UserError, match=r"^pattern is empty; expected clauses such as V \["):
        parse_pattern(pattern)


def test_known_words_stay_and_are_not_taken_for_others():
    nouns = [0, 2, 3]
    assert forms_of("V -> N; N [upos=NOUN]", V=4) == [("دی", GAVE.words[n].form) for n in nouns]
    # The subject is known by another name, so it cannot be N too.
    assert [match["N"] for match in matches(parse_pattern("N [upos=NOUN]"), GAVE, {"S": 0})] == [
        2,
        3,
    ]


@pytest.mark.parametrize(
    ("pattern", "known", "expected"),
    [
        ("N [Gender=Fem]", {"N": 2}, True),
        ("N [Gender=Fem]", {"N": 0}, False),
        ("V -[nsubj]-> S", {"V": 4, "S": 0}, True),
        ("V -[nsubj]-> S", {"V": 4, "S": 2}, False),
        ("N -[case]-> K", {"N": 0}, True),
        ("N -[case]-> K", {"N": 3}, False),
        ("N -[case]-> K", {"N": 0, "P": 1}, False),
        ("A << B", {"A": 3, "B": 1}, False),
    ],
)
def test_a_pattern_holds_of_words_that_are_known(pattern, known, expected):
    assert holds(parse_pattern(pattern), GAVE, known) is expected


@pytest.mark.parametrize(
    ("pattern", "line", "column"),
    [
        ("V [upos=VERB", 1, -1),
        ("V [upos=]", 1, 9),
        ("V upos=VERB", 1, 3),
        ("V [upos=VERB];\nV -[nsubj-> S", 2, 10),
        ("V -[]-> S", 1, 5),
        ("V.Gender = S", 1, -1),
        ("V [upos==VERB]", 1, 9),
        ("1V [upos=VERB]", 1, 1),
        ('V [form="x]', 1, 9),
    ],
)
def test_what_is_malformed_is_told_in_a_sentence_with_line_and_column(pattern, line, column):
    with pytest.raises(UserError) as raised:
        parse_pattern(pattern)
    message = str(raised.value)
    assert "\n" not in message
    assert message.startswith("pattern is malformed at ")
    assert "expected clauses such as V [upos=VERB]" in message
    if column > 0:
        assert f"at line {line}, column {column}, in {pattern.splitlines()[line - 1]!r};" in message


def test_a_malformed_regular_expression_is_told_as_such():
    with pytest.raises(
        UserError, match=r"pattern has a malformed regular expression \(.*missing \)"
    ):
        parse_pattern('V [form=re"(x"]')


def test_a_pattern_that_any_words_could_match_in_any_way_is_refused():
    apart = "; ".join(f"N{number} []" for number in range(4))
    with pytest.raises(UserError, match="has 4 words in 4 parts that no edge connects; expected"):
        parse_pattern(apart)
    chain = "; ".join(f"N{number} -[a]-> N{number + 1}" for number in range(10))
    with pytest.raises(UserError, match="has 11 words in 1 parts"):
        parse_pattern(chain)
    assert parse_pattern(f"{apart}; N0 -> N1; N2 -> N3").apart == 2


def test_a_list_of_the_pack_stands_for_its_words():
    lists = {"people": "وزیر|لڑک.*"}
    pattern = parse_pattern("N [form=@people]", lists)
    indices = [
        m["N"] for m in matches(pattern, tree_of([word(f) for f in ("لڑکا", "گھر", "وزیر")]))
    ]
    assert indices == [0, 2]
    with pytest.raises(UserError, match="names the list 'places'; the pack has people"):
        parse_pattern("N [form=@places]", lists)
