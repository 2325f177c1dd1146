"""Looking up an inflected word, and its other forms."""

import pyarrow as pa
import pytest

from blimpworks.multiblimp.inflection import contrasting, load_lexicon, matching, query_of


def verbs(*rows, columns=("Number[subj]", "Number"), source="unimorph", lemmas=None):
    """Verb lexicon of rows "lemma form features"."""
    split = [(*row.split(), "")[:3] for row in rows]
    names = ("lemma", "form", "features")
    found = pa.table(
        {n: pa.array(v, pa.string()) for n, v in zip(names, zip(*split, strict=True), strict=True)}
        | {"pos": ["V"] * len(split), "source": [source] * len(split)}
    )
    return load_lexicon(found, source, ("V",), columns, lemmas)


def test_the_column_that_inflects_is_the_one_whose_rarest_value_is_most_frequent():
    plain = ["x a Number=SG", "x b Number=SG", "x c Number=PL", "x d Number=PL"]
    marked = ["y a Number[subj]=SG", "y b Number[subj]=PL"]
    assert verbs(*plain, *marked).column == "Number"
    assert verbs(*plain[:3], *marked, "z a Number[subj]=SG").column == "Number[subj]"
    assert verbs(*plain[:2], *marked).column == "Number[subj]"


def test_a_column_with_one_value_inflects_nothing():
    assert verbs("x a Number=SG", "x b Number=SG").column is None


def test_values_are_assumed_only_for_features_that_some_row_states():
    lexicon = verbs("x a Number=SG", "x b Mood=SBJV")
    features = {row.form: dict(row.features) for row in lexicon.by_lemma["x"]}
    assert features == {
        "a": {"Number": "SG", "Mood": "IND"},
        "b": {"Number": "UNDEFINED", "Mood": "SBJV"},
    }


def test_rows_with_alternatives_are_one_row_each():
    lexicon = verbs("x a Number=SG|Gender=FEM+MASC")
    assert [r.features["Gender"] for r in lexicon.by_form["a"]] == ["FEM", "MASC"]


# Matching (notes 2.6)


def matched(lexicon, feats, form="a", lemma="x"):
    query = query_of(dict(pair.split("=") for pair in feats.split("|") if pair))
    return [dict(row.features) for row in matching(lexicon, lemma, form, query, "Number")]


@pytest.mark.parametrize(
    ("row", "query", "fits"),
    [
        ("Number=SG|Tense=PRS", "Number=Sing|Tense=Pres", True),
        ("Number=SG|Tense=PRS", "Number=Sing|Tense=Past", False),
        ("Number=SG|Tense=PRS", "Number=Plur|Tense=Pres", False),
        ("Number=SG", "Number=Sing|Tense=Pres", True),
        ("Number=SG", "Number=Sing|Person=3", True),
        ("Tense=PRS", "Number=Sing", False),
        ("Tense=PRS", "", True),
        ("Number=SG|Mood=SBJV", "Number=Sing", False),
        ("Number=SG|Voice=PASS", "Number=Sing", False),
        ("Number=SG|Person=3", "Number=Sing|Person=1,3", True),
        ("Number=SG|Person=2", "Number=Sing|Person=1,3", False),
        ("Number=SG", "Number=Sing|Person=1,3", False),
        ("Number=SG", "Number=Sing|Nonsense=1,3", True),
        ("Number=SG", "Number=Sing|Nonsense=1", True),
    ],
)
def test_stage_one_rows_must_equal_the_query_where_they_say_something(row, query, fits):
    others = ("z z Tense=PRS|Mood=IND|Voice=ACT", "z z Number=PL|Person=1")
    assert bool(matched(verbs(f"x a {row}", *others), query)) is fits


def test_stage_one_keeps_the_rows_that_say_least_beyond_the_query():
    lexicon = verbs("x a Number=SG", "x a Number=SG|Polarity=NEG", "z z Number=PL")
    assert matched(lexicon, "Number=Sing") == [{"Number": "SG"}]
    assert len(matched(lexicon, "Number=Sing|Polarity=Neg")) == 2


def test_stage_one_looks_at_the_exact_form_and_lemma():
    lexicon = verbs("x A Number=SG", "X a Number=SG", "z z Number=PL")
    assert matched(lexicon, "Number=Sing") == []


def test_a_mood_that_the_table_never_states_is_no_obstacle():
    lexicon = verbs("x a Number=SG", "x b Number=PL")
    assert matched(lexicon, "Number=Sing|Mood=Sub|Voice=Pass")


def others(lexicon, feats, form="a"):
    query = query_of(dict(pair.split("=") for pair in feats.split("|")))
    rows = matching(lexicon, "x", form, query, lexicon.column)
    return set().union(*(contrasting(lexicon, row, query, lexicon.column) for row in rows))


def test_stage_two_finds_every_other_value_of_the_same_lemma():
    rows = ("x a Number=SG", "x b Number=PL", "x c Number=DU", "y d Number=PL")
    assert others(verbs(*rows), "Number=Sing") == {"b", "c"}


def test_stage_two_keeps_what_the_row_says_besides():
    rows = ("x a Number=SG|Person=3", "x b Number=PL|Person=3", "x c Number=PL|Person=1")
    assert others(verbs(*rows), "Number=Sing") == {"b"}


def test_stage_two_keeps_what_the_treebank_says_where_the_row_is_silent():
    rows = ("x a Number=SG", "x b Number=PL|Tense=PST", "x c Number=PL|Tense=PRS")
    assert others(verbs(*rows), "Number=Sing|Tense=Pres") == {"c"}


def test_stage_two_keeps_the_forms_that_say_least_besides():
    rows = ("x a Number=SG", "x b Number=PL", "x c Number=PL|Polarity=NEG")
    assert others(verbs(*rows), "Number=Sing") == {"b"}


def test_a_row_that_leaves_number_open_has_no_other_form():
    assert others(verbs("x a Tense=PST", "x b Number=PL", "x c Number=SG"), "Tense=Past") == set()


def test_a_row_without_the_subjects_number_counts_as_another_value():
    rows = ("x a Number[subj]=SG|Evident=NFH", "x b Number[subj]=PL|Evident=NFH", "x c Evident=NFH")
    assert others(verbs(*rows), "Number[subj]=Sing") == {"b", "c"}
