"""CLAMS's released sets, the vocabulary that Table 7 betrays, and complexity from WALS."""

import lzma

import pandas as pd
import pytest

from blimpworks.errors import UserError
from blimpworks.papers.clams.analysis.wals import build_morphology, value_of
from blimpworks.papers.clams.exhibits.results import infer_vocabulary
from blimpworks.papers.clams.items.build import count_sets, focus_of, read_pairs
from blimpworks.tables import EVALUATION_SETS, MORPHOLOGY, read_table


@pytest.fixture
def write(tmp_path):
    def make(name, *lines):
        path = tmp_path / name
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return path

    return make


def test_each_ungrammatical_line_belongs_to_the_grammatical_one_before_it(write):
    path = write("a.txt", "True\tshe sings", "False\tshe sing", "False\tshe singing")
    assert list(read_pairs(path)) == [
        (2, ("she sings", "she sing")),
        (3, ("she sings", "she singing")),
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("True\ta b\n", 1),
        ("True\ta b\nTrue\tc b\nFalse\tc c\n", 2),
        ("True\ta bcd\nFalse\ta bc", 2),
        ("True\ta b\nFalse\ta c\nTrue\td b\nFalse\td", 4),
        ("Maybe\tx", 1),
        ("False\tshe sing", 1),
    ],
)
def test_a_set_that_is_malformed_or_cut_short_is_refused_with_its_line(tmp_path, text, line):
    path = tmp_path / "a.txt"
    path.write_text(text)
    with pytest.raises(UserError, match=rf"a\.txt:{line}[: ]"):
        list(read_pairs(path))


def test_a_whole_set_may_lack_its_last_line_end(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("True\tI sing\nFalse\tI sings\nTrue\the sings\nFalse\the sing")
    assert [line for line, _ in read_pairs(path)] == [2, 4]


@pytest.mark.mirror
def test_all_released_sets_are_whole(mirror, tmp_path):
    pairs = 0
    for packed in sorted(mirror.glob("clams/*_evalset/*.xz")):
        path = tmp_path / packed.stem
        path.write_bytes(lzma.decompress(packed.read_bytes()))
        pairs += sum(1 for _ in read_pairs(path))
    assert pairs == 335_466


@pytest.mark.parametrize(
    ("pair", "focus"),
    [
        (("the author laughs", "the author laugh"), "laugh/laughs"),
        (("il est petit", "il sont petits"), None),
        (("he sings", "he does sing"), None),
    ],
)
def test_the_focus_is_the_one_word_that_differs(pair, focus):
    assert focus_of(pair) == focus


def test_sets_are_counted_by_language_paradigm_and_focus(write, tmp_path):
    path = write(
        "prep_anim.txt",
        "True\tI am",
        "False\tI are",
        "True\tyou are",
        "False\tyou am",
        "True\til est petit",
        "False\til sont petits",
    )
    assert count_sets([("eng", path)], tmp_path / "sets") == 3
    rows = read_table(EVALUATION_SETS, tmp_path / "sets").to_pylist()
    assert [tuple(row.values()) for row in rows] == [
        ("eng", "prep_anim", None, 1),
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
    """Files of WALS: two Germans, of which one has a feature more, and French."""

    def make(*values, number="1"):
        return (
            write("value.csv", "id,domainelement_pk", *values),
            write(
                "domainelement.csv",
                "pk,id,number",
                f"1,112A-1,{number}",
                "2,112A-6,6",
                "3,22A-3,3",
                "4,1A-1,1",
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
        ("112A-ger,1\n112A-ger,1", "1", r"value\.csv:3: id '112A-ger' stands in line 2"),
    ],
)
def test_tables_of_wals_that_do_not_suit_one_another_are_refused(
    wals, tmp_path, value, number, fault
):
    with pytest.raises(UserError, match=fault):
        build_morphology(*wals(value, number=number), tmp_path / "out")


def test_another_table_than_wals_is_refused(wals, write, tmp_path):
    values, elements, _ = wals("112A-ger,1")
    with pytest.raises(UserError, match=r"other\.csv:1: there is no column ID, ISO639P3code"):
        build_morphology(values, elements, write("other.csv", "a,b"), tmp_path / "out")
