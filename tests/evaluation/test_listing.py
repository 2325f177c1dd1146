"""What there is to evaluate models on, as ``blimpworks evaluate --list`` shows it."""

import pytest

from blimpworks.campaign.catalogue import load_catalogue
from blimpworks.campaign.load import check_campaign
from blimpworks.campaign.registry import benchmarks
from blimpworks.campaign.settings.parsing import read_settings
from blimpworks.evaluation import listing
from blimpworks.evaluation.listing import Listed, is_at_hand, list_benchmarks, listing_text
from support.paths import REPOSITORY


@pytest.fixture(scope="module")
def settings():
    template = read_settings(REPOSITORY / "config/demo/config.yaml", "campaign")
    return {**template, "models": []}


def listed(settings, **more):
    campaign = check_campaign({**settings, **more}, "test")
    return {row.name: row for row in list_benchmarks(campaign)}


def test_a_row_has_the_expected_items_of_each_language_and_the_files_at_hand(settings):
    rows = listed(settings)
    assert [*rows][:3] == ["multiblimp", "demo_pairs", "demo_suites"]
    assert {*rows} == {*benchmarks()}
    row = rows["multiblimp"]
    expected = {"deu": 2298, "eng": 770, "fra": 2548}
    assert row == Listed("multiblimp", "MultiBLiMP", "pairs expected", expected, 6, 6)


def test_files_count_that_were_retrieved_or_are_in_the_mirror(settings, tmp_path):
    place = {"pathvars": {"resources": str(tmp_path)}, "mirror": str(tmp_path / "mirror")}
    campaign = check_campaign({**settings, **place}, "test")
    rows = load_catalogue(campaign).sources

    def at_hand():
        return {name for name, row in rows.items() if is_at_hand(campaign, row)}

    assert at_hand() == set()
    for path in ("sources/unimorph/deu/deu", "mirror/unimorph/fra/fra.xz"):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).touch()
    assert at_hand() == {"unimorph/deu/deu", "unimorph/fra/fra"}


def test_a_benchmark_in_other_languages_is_listed_with_those_to_name(settings):
    rows = listed(settings)
    assert rows["turblimp"].by_name
    assert [*rows["turblimp"].expected] == ["tur"]
    assert rows["blimp_generated"].origin == "generated here"
    only = listed(settings, languages=["eng"])["demo_pairs"]
    assert ([*only.expected], only.more) == (["eng"], ("deu",))


def test_a_broken_draft_is_listed_with_its_fault(settings, monkeypatch):
    fault = "config/benchmarks/mine/benchmark.yaml: key 'lable' is not a setting."
    monkeypatch.setattr(listing, "registered", lambda: ({}, {"mine": fault}))
    row = listed(settings)["mine"]
    assert " ".join(listing_text([row]).split()).endswith(f" mine not usable: {fault}")


def test_lines_fit_the_terminal_and_say_all(settings):
    text = listing_text([*listed(settings).values()])
    assert max(map(len, text.splitlines())) <= 80
    head, named, absent = text.split("\n\n", 2)[0], text, text.partition("Not in these data:")[2]
    assert head.startswith(
        "multiblimp (MultiBLiMP)\n"
        "    3 languages, pairs expected in each: deu 2,298, eng 770, fra 2,548\n"
        "    all 6 files on the disk\n"
        "demo_pairs (Demo pairs)\n"
        "    2 languages, 16 pairs in each: deu, eng\n"
        "    in the repository\n"
    )
    assert "turblimp (TurBLiMP)\n    1 language, 18,200 pairs: tur\n    0 of 38 files" in named
    assert "blimp (BLiMP)\n    config/demo/sources.tsv has no row" in absent
