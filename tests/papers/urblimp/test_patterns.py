"""The pattern language: each kind of clause, the search itself, and refused patterns."""

import pytest

from blimpworks.errors import UserError
from blimpworks.papers.urblimp.items.patterns import holds, matches, parse_pattern
from support.urblimp_kit import tree

# The boy gave the girl a book.
GAVE = tree(
    "لڑکے/NOUN/5/nsubj/Case=Acc|Gender=Masc|lemma=لڑکا نے/ADP/1/case/Person=3 "
    "لڑکی/NOUN/5/iobj/Gender=Fem کتاب/NOUN/5/obj/Gender=Fem|Case=Nom "
    "دی/VERB/0/root/Aspect=Perf|Gender=Fem|Person=1st|lemma=دینا "
    "۔/PUNCT/5/punct"
)
LISTS = {"people": "وزیر|لڑک.*"}


@pytest.mark.parametrize(
    ("pattern", "forms"),
    [
        # features
        ("S [upos=NOUN|ADP]", "لڑکے نے لڑکی کتاب"),
        ("S [upos=NOUN, Gender=Fem]", "لڑکی کتاب"),
        ("S [upos=NOUN]; S [Gender=Fem]", "لڑکی کتاب"),
        ('S [form="لڑکے"]', "لڑکے"),
        ("S [form=لڑکے]", "لڑکے"),
        ("S [form=@people]", "لڑکے لڑکی"),
        ('S [lemma="لڑکا"|"دینا"]', "لڑکے دی"),
        ('S [form=re"ل"]', ""),
        ('S [form=re"لڑک(ے|ی)"|"دی"]', "لڑکے لڑکی دی"),
        ('S [form="لڑک."]', ""),
        ("S [Case]", "لڑکے کتاب"),
        ("S [!Case, upos=NOUN]", "لڑکی"),
        ('S [Person="3"]', "نے"),
        ("S [Person=3|1st]", "نے دی"),
        ("S [Person<>3]", "دی"),
        ("S []", "لڑکے نے لڑکی کتاب دی ۔"),
        ("S [upos<>NOUN|PUNCT]", "نے دی"),
        ('S [form<>re".*[ےی]", upos=NOUN]', "کتاب"),
        # relations; matches come in the order of the words
        ("V -[nsubj]-> S", "لڑکے"),
        ("V -[obj|iobj]-> S", "لڑکی کتاب"),
        ("V -[^nsubj|punct]-> S; V [upos=VERB]", "لڑکی کتاب"),
        ("V -> S; V [upos=VERB]", "لڑکے لڑکی کتاب ۔"),
        ("V -[nsubj:pass]-> S", ""),
        ("S < V; V [upos=VERB]", "کتاب"),
        ("V < S; V [upos=VERB]", "۔"),
        ("S << V; V [upos=VERB]", "لڑکے نے لڑکی کتاب"),
        ("S.Gender = V.Gender; V [upos=VERB]", "لڑکی کتاب"),
        ("S.Gender <> V.Gender; V [upos=VERB]", "لڑکے"),
        ("S.upos = V.upos; V [upos=ADP]", ""),
    ],
)
def test_clauses_pick_words(pattern, forms):
    found = matches(parse_pattern(pattern, LISTS), GAVE)
    assert [GAVE.words[match["S"]].form for match in found] == forms.split()


def test_comments_line_ends_and_empty_clauses_at_the_end_say_nothing():
    commented = "\n# who gives\nV [upos=VERB];  # the verb; a semicolon\n V -[nsubj]-> S;\n"
    assert parse_pattern(commented) == parse_pattern("V [upos=VERB]; V -[nsubj]-> S")


@pytest.mark.parametrize(
    ("pattern", "known", "found"),
    [
        ("V -> N; N [upos=NOUN]", {"V": 4}, [0, 2, 3]),
        # The subject is known by another name, so it cannot be N too.
        ("N [upos=NOUN]", {"S": 0}, [2, 3]),
    ],
)
def test_known_words_stay_and_are_not_taken_for_others(pattern, known, found):
    assert [match["N"] for match in matches(parse_pattern(pattern), GAVE, known)] == found


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


APART = "; ".join(f"N{number} []" for number in range(4))
CHAIN = "; ".join(f"N{number} -[a]-> N{number + 1}" for number in range(10))


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("V [upos=VERB", "pattern is malformed at "),
        ("V [upos=]", "at line 1, column 9, in 'V [upos=]'; expected clauses such as V [up"),
        ("V [upos=VERB];\nV -[nsubj-> S", "at line 2, column 10, in 'V -[nsubj-> S'; expected"),
        ("V -[]-> S", "at line 1, column 5"),
        ("V [upos==VERB]", "at line 1, column 9"),
        ("1V [upos=VERB]", "at line 1, column 1"),
        ('V [form="x]', "at line 1, column 9"),
        ("", "pattern is empty; expected clauses such as V ["),
        ("# V [upos=VERB]", "pattern is empty; expected clauses such as V ["),
        ('V [form=re"(x"]', "pattern has a malformed regular expression ('(x' is no"),
        ("V [form=@places]", "pattern names the list 'places'; the pack has people."),
        (APART, "has 4 words in 4 parts that no edge connects; expected at most 10 words in 3"),
        (CHAIN, "has 11 words in 1 parts"),
    ],
)
def test_a_malformed_pattern_is_refused_in_a_sentence(pattern, message):
    with pytest.raises(UserError) as raised:
        parse_pattern(pattern, LISTS)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_edges_connect_the_parts_of_a_pattern():
    assert parse_pattern(f"{APART}; N0 -> N1; N2 -> N3").apart == 2
