"""Test CLAMS's sets and items, the vocabulary that Table 7 implies, and complexity from WALS."""

import pandas as pd
import pytest

from blimpworks.errors import UserError
from blimpworks.items import regions_of
from blimpworks.papers.clams.exhibits.results import infer_vocabulary
from blimpworks.papers.clams.items.build import build_items, count_sets, read_pairs
from blimpworks.papers.clams.items.sets import CAPITALS
from blimpworks.papers.clams.morphology import build_morphology, value_of
from blimpworks.papers.clams.settings import ClamsDecisions, ClamsOptions
from blimpworks.tables import EVALUATION_SETS, ITEMS, MORPHOLOGY, read_table


@pytest.mark.parametrize(
    ("good", "bad", "expected"),
    [
        ("the author laughs .", "the author laugh .", ("laughs", "laugh")),
        ("il est petit .", "il sont petits .", ("est petit", "sont petits")),
        ("he sings .", "he does sing .", ("sings", "does sing")),
        ("no bird the owl", "the bird no owl", ("no bird the", "the bird no")),
        ("a b .", "a .", ("b .", ".")),
    ],
)
def test_the_critical_region_is_what_differs(good, bad, expected):
    spans = regions_of(good, bad)
    found = good[spans.good_start : spans.good_end], bad[spans.bad_start : spans.bad_end]
    assert found == expected


@pytest.fixture
def write(tmp_path):
    def make(name, *lines):
        path = tmp_path / name
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return path

    return make


@pytest.fixture
def items(tmp_path, write):
    """Return a function that builds items of sets, given as lines by paradigm."""

    def build(options=None, **sets):
        (tmp_path / "xx_evalset").mkdir(exist_ok=True)
        paths = [write(f"xx_evalset/{name}.txt", *lines) for name, lines in sets.items()]
        build_items(paths, "eng", tmp_path / "items", options or ClamsOptions())
        return read_table(ITEMS, tmp_path / "items").to_pylist()

    return build


PAIR = ("True\tshe sings", "False\tshe sing")


def test_an_item_has_a_stop_after_its_sentences_and_knows_its_file_and_line(items):
    row = items(prep_inanim=PAIR)[0]
    assert (row["good"], row["bad"]) == ("she sings .", "she sing .")
    assert (row["file"], row["sent_id"]) == ("xx_evalset/prep_inanim.txt", "2")
    assert (row["focus"], row["line"]) == ("sing/sings", 2)


def test_the_paradigms_of_table_1_stand_again_with_capitals_that_follow_their_decision(items):
    rows = items(subj_rel=PAIR, prep_inanim=PAIR, simple_npi_anim=PAIR)
    capital = [(row["paradigm"], row["good"]) for row in rows if row["phenomenon"] == CAPITALS]
    assert capital == [("subj_rel", "She sings .")]
    assert len(items(ClamsOptions(capitals=False), subj_rel=PAIR)) == 1
    pair = ("True\tmcCoy sings", "False\tmcCoy sing")
    chosen = ClamsOptions(decisions=ClamsDecisions(capitals="corrected"))
    assert items(subj_rel=pair)[1]["good"] == "Mccoy sings ."
    assert items(chosen, subj_rel=pair)[1]["good"] == "McCoy sings ."


def test_a_pair_that_stands_twice_is_two_items_of_one_name(items):
    rows = items(simple_reflexives=(*PAIR, *PAIR))
    assert [row["line"] for row in rows] == [2, 4]
    assert len({row["item_id"] for row in rows}) == 1


def test_pairs_that_no_model_can_get_right_are_counted(write, tmp_path, caplog):
    ok, sheep = ("True\tdogs sing", "False\tdogs sings"), ("True\tsheep sing", "False\tsheep sings")
    path = write("simple.txt", *ok, *sheep, "True\tsheep sings", "False\tsheep sings")
    numbers = build_items([path], "eng", tmp_path / "items", ClamsOptions())
    assert numbers == {"pairs": 3, "identical": 1, "contradictory": 1}
    assert "of 3 pairs, 1 are twice the same sentence, and 1 have" in caplog.text


def test_of_many_pairs_so_many_are_taken_evenly(items):
    lines = [line for n in range(10) for line in (f"True\the sings {n}", f"False\the sing {n}")]
    rows = items(ClamsOptions(per_paradigm=4, capitals=False), subj_rel=lines)
    assert [row["line"] for row in rows] == [2, 6, 12, 16]


def test_each_ungrammatical_line_belongs_to_the_grammatical_one_before_it(write):
    path = write("a.txt", "True\tshe sings", "False\tshe sing", "False\tshe singing")
    pairs = [("she sings", "she sing"), ("she sings", "she singing")]
    assert [*read_pairs(path)] == [(2, pairs[0]), (3, pairs[1])]
    # A complete set may lack its last line end.
    path.write_text("True\tI sing\nFalse\tI sings\nTrue\the sings\nFalse\the sing")
    assert [line for line, _ in read_pairs(path)] == [2, 4]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("True\ta b\n", ":1: "),
        ("True\ta b\nTrue\tc b\nFalse\tc c\n", ":2: "),
        ("True\ta bcd\nFalse\ta bc", ":2: "),
        ("True\ta b\nFalse\ta c\nTrue\td b\nFalse\td", ":4: "),
        ("Maybe\tx", ":1: "),
        ("True\t \nFalse\tshe sing\n", ":1: "),
        ("False\tshe sing", ":1: "),
    ],
)
def test_a_set_that_is_malformed_or_cut_short_is_refused(tmp_path, text, said):
    path = tmp_path / "a.txt"
    path.write_text(text)
    with pytest.raises(UserError, match=rf"a\.txt{said}"):
        list(read_pairs(path))


def test_sets_are_counted_by_language_paradigm_and_the_one_word_that_differs(write, tmp_path):
    lines = ["True\tI am", "False\tI are", "True\tyou are", "False\tyou am"]
    lines += ["True\til est petit", "False\til sont petits"]
    lines += ["True\the sings", "False\the does sing"]
    assert count_sets([("eng", write("prep_anim.txt", *lines))], tmp_path / "sets") == 4
    rows = read_table(EVALUATION_SETS, tmp_path / "sets").to_pylist()
    assert [tuple(row.values()) for row in rows] == [
        ("eng", "prep_anim", None, 2),
        ("eng", "prep_anim", "am/are", 2),
    ]


def sets(**counts):
    rows = [
        {"construction": construction, "focus": focus, "n": n}
        for construction, words in counts.items()
        for focus, n in words.items()
    ]
    return pd.DataFrame(rows)


def test_the_vocabulary_accounts_for_most_numbers_where_one_is_wrong():
    table = sets(simple={"a": 80, "b": 20}, short={"a": 560, "b": 140}, across={"a": 64, "b": 16})
    left = {"simple": 100, "short": 700, "across": 54}
    assert infer_vocabulary(table, left) == ["a", "b"]


@pytest.mark.parametrize(
    ("feature", "number", "value"),
    [("22A", 2, 2 / 7), ("28A", 2, 3 / 4), ("112A", 1, 1), ("112A", 3, 0), ("111A", 4, None)],
)
def test_a_category_counts_relative_to_the_highest(feature, number, value):
    assert value_of(feature, number) == value


@pytest.fixture
def wals(write):
    """Return a function that writes WALS files with two entries for German and one for French."""

    def make(*values, number="1"):
        return (
            write("value.csv", "id,domainelement_pk", *values),
            write(
                *("domainelement.csv", "pk,id,number", f"1,112A-1,{number}"),
                *("2,112A-6,6", "3,22A-3,3", "4,1A-1,1"),
            ),
            write("languages.csv", "ID,ISO639P3code", "gbl,deu", "ger,deu", "fre,fra", "xxx,"),
        )

    return make


def test_complexity_leaves_out_other_features_and_poorer_lects(wals, tmp_path):
    files = wals("112A-gbl,1", "112A-ger,1", "22A-ger,3", "1A-fre,4", "112A-fre,2", "112A-xxx,1")
    assert build_morphology(*files, tmp_path / "out") == 2
    rows = read_table(MORPHOLOGY, tmp_path / "out").to_pylist()
    assert [tuple(row.values()) for row in rows] == [
        ("deu", "ger", "22A", 3, 3 / 7),
        ("deu", "ger", "112A", 1, 1.0),
        ("fra", "fre", "112A", 6, None),
    ]


@pytest.mark.parametrize(
    ("value", "number", "fault"),
    [
        ("112A-ger,3", "1", r"value\.csv:2: value '112A-ger' has domainelement_pk '3'"),
        ("112A-ger,1", "9", r"domainelement\.csv:2: .* category '9', expected 1 to 6"),
        ("112A-xyz,1", "1", r"languages\.csv has no row of 'xyz', nor of 0 other"),
        ("112A-ger,1\n112A-ger,1", "1", r"value\.csv:3: id '112A-ger' is in line 2"),
    ],
)
def test_tables_of_wals_that_do_not_fit_together_are_refused(wals, tmp_path, value, number, fault):
    with pytest.raises(UserError, match=fault):
        build_morphology(*wals(value, number=number), tmp_path / "out")
