"""Items of CLAMS: pairs of evaluation sets with the words that tell them apart."""

import csv

import pytest

from blimpworks.campaign.catalogue import SourceRow
from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Labels
from blimpworks.items import regions_of
from blimpworks.papers.clams.exhibits.results import table6
from blimpworks.papers.clams.items.build import build_items
from blimpworks.papers.clams.items.sets import CAPITALS, CONSTRUCTIONS, LANGUAGES
from blimpworks.papers.clams.settings import ClamsDecisions, ClamsOptions
from blimpworks.tables import ITEMS, read_table
from support.mirror_kit import CONFIG, fetch, rows_of


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
def items(tmp_path):
    """Items of sets, given as lines by paradigm."""

    def build(options=None, **sets):
        folder = tmp_path / "xx_evalset"
        folder.mkdir(exist_ok=True)
        paths = [folder / f"{name}.txt" for name in sets]
        for path, lines in zip(paths, sets.values(), strict=True):
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        build_items(paths, "eng", tmp_path / "items", options or ClamsOptions())
        return read_table(ITEMS, tmp_path / "items").to_pylist()

    return build


PAIR = ("True\tshe sings", "False\tshe sing")


def test_an_item_has_a_stop_after_its_sentences_and_knows_its_file_and_line(items):
    row = items(prep_inanim=PAIR)[0]
    assert (row["good"], row["bad"]) == ("she sings .", "she sing .")
    assert (row["file"], row["sent_id"]) == ("xx_evalset/prep_inanim.txt", "2")
    assert (row["focus"], row["line"]) == ("sing/sings", 2)


def test_the_paradigms_of_table_1_stand_again_with_capitals(items):
    rows = items(subj_rel=PAIR, prep_inanim=PAIR, simple_npi_anim=PAIR)
    capital = [(row["paradigm"], row["good"]) for row in rows if row["phenomenon"] == CAPITALS]
    assert capital == [("subj_rel", "She sings .")]
    assert len(items(ClamsOptions(capitals=False), subj_rel=PAIR)) == 1


def test_capitals_follow_their_decision(items):
    pair = ("True\tmcCoy sings", "False\tmcCoy sing")
    chosen = ClamsOptions(decisions=ClamsDecisions(capitals="corrected"))
    assert items(subj_rel=pair)[1]["good"] == "Mccoy sings ."
    assert items(chosen, subj_rel=pair)[1]["good"] == "McCoy sings ."


def test_a_pair_that_stands_twice_is_two_items_of_one_name(items):
    rows = items(simple_reflexives=(*PAIR, *PAIR))
    assert [row["line"] for row in rows] == [2, 4]
    assert len({row["item_id"] for row in rows}) == 1


def test_of_many_pairs_so_many_are_taken_evenly(items):
    lines = [line for n in range(10) for line in (f"True\the sings {n}", f"False\the sing {n}")]
    rows = items(ClamsOptions(per_paradigm=4, capitals=False), subj_rel=lines)
    assert [row["line"] for row in rows] == [2, 6, 12, 16]


def test_an_empty_set_is_refused(items):
    with pytest.raises(UserError, match=r"subj_rel\.txt has no pair; expected an evaluation set"):
        items(subj_rel=[])


@pytest.mark.mirror
def test_the_released_sets_make_all_35_numbers_of_table_6(mirror, tmp_path):
    tables = []
    for lang in LANGUAGES:
        sets = [
            fetch(row, mirror, tmp_path)
            for row in rows_of(SourceRow, "sources.tsv")
            if (row.kind, row.lang) == ("clams_set", lang) and "/obj_rel_no" not in row.name
        ]
        sets = [path for path in sets if path.stem.removesuffix("_anim") in CONSTRUCTIONS]
        tables.append(tmp_path / f"{lang}.parquet")
        build_items(sets, lang, tables[-1], ClamsOptions(capitals=lang == "rus"))
    cells = table6({"items": tables}, Labels({lang: lang for lang in LANGUAGES})).cells
    with (CONFIG / "published/clams/table6.csv").open(encoding="utf-8") as handle:
        printed = {(r["row"], r["column"]): float(r["value"]) for r in csv.DictReader(handle)}
    assert {cell.stands_for: cell.value for cell in cells} == printed
    assert len(printed) == 35
