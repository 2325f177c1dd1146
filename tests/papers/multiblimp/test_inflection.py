import pyarrow as pa
import pytest

from blimpworks.papers.multiblimp.items import inflection, lookup


def table_of(rows, pos, source):
    """Return a lexicon of rows "lemma form features"; another part of speech precedes a slash."""
    entries = []
    for row in rows:
        lemma, form, features = (*row.split(), "")[:3]
        part, _, features = features.rpartition("/")
        entry = {"lemma": lemma, "form": form, "features": features, "pos": part or pos}
        entries.append(entry | {"source": source, "frequency": None})
    types = dict.fromkeys(entries[0], pa.string()) | {"frequency": pa.int64()}
    return pa.Table.from_pylist(entries, schema=pa.schema(types))


def verbs(*rows, source="unimorph", words=None, by="lemma", participles=False):
    table = table_of(rows, "V", source)
    chosen = table[by].to_pylist() if words is None else words
    return lookup.load_lexicon(table, source, ("V",), by, chosen, participles)


def test_the_column_that_inflects_is_the_one_whose_rarest_value_is_most_frequent():
    plain = ["x a Number=SG", "x b Number=SG", "x c Number=PL", "x d Number=PL"]
    marked = ["y a Number[subj]=SG", "y b Number[subj]=PL"]
    assert verbs(*plain, *marked).columns["Number"] == "Number"
    assert verbs(*plain[:3], *marked, "z a Number[subj]=SG").columns["Number"] == "Number[subj]"
    assert verbs(*plain[:2], *marked).columns["Number"] == "Number[subj]"


def test_values_are_assumed_only_for_what_rows_of_the_same_class_state():
    rows = ("x a Number=SG", "x b Number=PL")
    annotated = "Number=Sing|Degree=Pos"
    with_adjectives = verbs(*rows, "big bigger ADJ/Degree=CMPR")
    assert matched(with_adjectives, annotated) == [{"Number": "SG"}]
    with_verbs = verbs(*rows, "z z Degree=CMPR")
    assert with_verbs.rows["x"][0].features["Degree"] == "BASE"
    assert matched(with_verbs, annotated) == []
    assert matched(with_verbs, "Number=Sing") != []


def matched(lexicon, feats, form="a", lemma="x"):
    query = lookup.query_of(dict(pair.split("=") for pair in feats.split("|") if pair))
    found = lookup.find_matches(lexicon, lemma, form, query, "Number")
    return [dict(row.features) for row in found]


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


def others(lexicon, feats, form="a"):
    query = lookup.query_of(dict(pair.split("=") for pair in feats.split("|")))
    column = lexicon.columns["Number"]
    rows = lookup.find_matches(lexicon, "x", form, query, column)
    return {o.form for row in rows for o in lookup.find_contrasts(lexicon, row, query, column)}


@pytest.mark.parametrize(
    ("rows", "query", "forms"),
    [
        # All other values of the same lemma.
        (["x a Number=SG", "x b Number=PL", "x c Number=DU", "y d Number=PL"], "", "bc"),
        # Other features of the row stay.
        (["x a Number=SG|Person=3", "x b Number=PL|Person=3", "x c Number=PL|Person=1"], "", "b"),
        # Features of the treebank stay if the row lacks them.
        (
            ["x a Number=SG", "x b Number=PL|Tense=PST", "x c Number=PL|Tense=PRS"],
            "Tense=Pres",
            "c",
        ),
        # The forms with fewest further features.
        (["x a Number=SG", "x b Number=PL", "x c Number=PL|Polarity=NEG"], "", "b"),
    ],
)
def test_stage_two_finds_forms_with_another_value(rows, query, forms):
    assert others(verbs(*rows), f"Number=Sing|{query}".rstrip("|")) == {*forms}


def test_rows_that_leave_number_open_or_lack_the_subjects():
    assert others(verbs("x a Tense=PST", "x b Number=PL", "x c Number=SG"), "Tense=Past") == set()
    rows = ("x a Number[subj]=SG|Evident=NFH", "x b Number[subj]=PL|Evident=NFH", "x c Evident=NFH")
    assert others(verbs(*rows), "Number[subj]=Sing") == {"b", "c"}


def of_verbs(forms, lemmas="abcde"):
    return [f"{lemma}en {lemma}{form}" for lemma in lemmas for form in forms]


FIRST, THIRD = "e Mood=IND|Person=1", "t Mood=IND|Person=3"


@pytest.mark.parametrize(
    ("rows", "verdict"),
    [
        ([], "wrong"),
        (["gehen gehe Mood=SBJV|Person=3"], "right"),
        (["gehen gehe Mood=SBJV|Person=1"], "undecided"),
        (["gehen ginge Mood=SBJV|Person=3"], "wrong"),
        (["gehen gehe Mood=IMP|Person=3"], "wrong"),
        (["gehen gehe Mood=SBJV|Person=3|Finiteness=NFIN"], "wrong"),
        (["gehen gehe Mood=SBJV|Person=3|VerbForm=V.PTCP"], "wrong"),
        (["gehen gehe Mood=NEC|Person=3"], "wrong"),
        (["gehen gehe Mood=IND|Tense=PST"], "right"),
        (["gehen gehe Mood=IND|Tense=PST", "gehen ging Mood=IND|Tense=PST|Person=3"], "wrong"),
        (["sein sei Mood=SBJV|Person=3"], "undecided"),
        (of_verbs([FIRST, "e Mood=SBJV|Person=3"]), "right"),
        (of_verbs([FIRST, "ie Mood=SBJV|Person=3"]), "wrong"),
        (of_verbs([FIRST, "e Mood=SBJV|Person=3"], "abcd"), "undecided"),
        (
            of_verbs([FIRST, "e Mood=SBJV|Person=3"], "a")
            + of_verbs([FIRST, "ie Mood=SBJV|Person=3"], "bcde"),
            "undecided",
        ),
    ],
)
def test_a_form_is_wrong_if_no_finite_reading_fits_the_subject(rows, verdict):
    lexicon = verbs(f"gehen geh{FIRST}", f"gehen geh{THIRD}", *rows)
    paradigms = inflection.Paradigms("Person", [lexicon], bound=("NEC",))
    wrong = [row for row in lexicon.rows["gehen"] if row.bundle == "Mood=IND|Person=1"]
    subject = inflection.agreement_of(lookup.query_of({"Person": "3", "Number": "Sing"}))
    assert paradigms.verdict("gehen", wrong, subject) == verdict


def test_verbs_that_end_alike_are_judged_by_one_another():
    subjunctives = [f"{c}are {c}i Mood=SBJV|Person=3" for c in "abcdefg"]
    subjunctives += [f"{c}ere {c}a Mood=SBJV|Person=3" for c in "abcdefghijklmno"]
    indicatives = [f"{c}{end} {c}i Mood=IND|Person=2" for end in ("are", "ere") for c in "abcdefg"]
    indicatives += [f"{c}ere {c}i Mood=IND|Person=2" for c in "hijklmnoz"]
    indicatives.append("zare zi Mood=IND|Person=2")
    lexicon = verbs(*subjunctives, *indicatives)
    paradigms = inflection.Paradigms("Person", [lexicon], ())
    subject = inflection.agreement_of(lookup.query_of({"Person": "3"}))
    verdicts = [paradigms.verdict(verb, lexicon.rows[verb], subject) for verb in ("zare", "zere")]
    assert verdicts == ["right", "wrong"]


def test_readings_that_a_treebank_hardly_has_are_rare():
    table = table_of(["x a Person=1", "x a Person=3", "y a Person=3", "y b Person=3"], "V", "ud")
    table = table.set_column(5, "frequency", pa.array([11, 1, 2, 1]))
    rows = lookup.load_lexicon(table, "ud", ("V",), "lemma", ["x", "y"]).rows
    assert [row.rare for lemma in "xy" for row in rows[lemma]] == [False, True, False, False]
