"""Benchmarks of BLiMP: which papers they are of, what they need, and what is expected of them."""

import shutil
from pathlib import Path

import pytest

from blimpworks.campaign.catalogue import load_catalogue
from blimpworks.campaign.load import load_campaign
from blimpworks.campaign.registry import check_papers, find_benchmark, of_benchmarks
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.errors import UserError
from blimpworks.papers.blimp.paradigms import PHENOMENON_OF, declared_paradigms
from blimpworks.papers.blimp.settings import BlimpOptions
from support.paths import REPOSITORY


def loaded(files=None, name="blimp", **changes):
    campaign = load_campaign(Path(f"config/{name}.yaml"))
    catalogue = campaign.catalogue.model_copy(update=files or {})
    campaign = campaign.model_copy(update=changes | {"catalogue": catalogue})
    return campaign, load_catalogue(campaign)


def test_both_sets_are_compared_only_where_models_judge_both():
    def names_of(*evaluated):
        return {
            spec.name
            for spec in of_benchmarks(
                ("blimp",), Campaign(campaign="x", benchmarks=()), evaluated=evaluated
            )
        }

    assert names_of("blimp", "blimp_generated") - names_of("blimp") == {"generated"}


DEMO = {"sources": Path("config/demo/sources.tsv")}
NO_SOURCES = r"^config/demo/sources\.tsv has no row of kind 'blimp_data' and lang 'eng', expected"
GERMAN = ("deu", "heb")


@pytest.mark.parametrize(
    ("files", "changes", "message"),
    [
        *(
            (
                None,
                {"benchmarks": (name,), "languages": GERMAN},
                f"^benchmark '{name}' has items in eng alone; languages has deu, heb: add eng, or",
            )
            for name in ("blimp", "blimp_generated")
        ),
        (DEMO, {"models": ("ngram-5",)}, NO_SOURCES),
        ({"blimp": Path("tests")}, {}, r"paradigms has no declaration, expected one \.yaml file"),
    ],
)
def test_what_a_benchmark_needs_and_lacks_is_one_sentence(files, changes, message):
    with pytest.raises(UserError, match=message):
        check_papers(*loaded(files, **changes))


def test_what_no_benchmark_needs_may_be_missing():
    check_papers(*loaded())
    check_papers(*loaded(benchmarks=("multiblimp",), languages=("deu",)))
    check_papers(*loaded(DEMO, models=("ngram-5",), benchmarks=("blimp_generated",)))
    check_papers(*loaded({"blimp": Path("tests")}, benchmarks=("blimp",)))


def expected_pairs(campaign, catalogue, benchmark):
    return find_benchmark(benchmark).expected_units(campaign, catalogue, "eng")


def test_pairs_are_expected_of_each_paradigm_that_is_released_or_declared(tmp_path):
    folder = tmp_path / "paradigms"
    shutil.copytree(REPOSITORY / "config/blimp/paradigms", folder)
    shutil.copy(folder / "causative.yaml", folder / "of_mine.yaml")
    campaign, catalogue = loaded({"blimp": tmp_path}, blimp=BlimpOptions(pairs=60))
    assert len(declared_paradigms(campaign)) == len(PHENOMENON_OF) + 1
    assert expected_pairs(campaign, catalogue, "blimp") == 67_000
    assert expected_pairs(campaign, catalogue, "blimp_generated") == 68 * 60
    fewer = campaign.model_copy(update={"blimp": BlimpOptions(per_paradigm=20)})
    assert expected_pairs(fewer, catalogue, "blimp") == 67 * 20
    assert expected_pairs(fewer, catalogue, "blimp_generated") == 68 * 20


def test_a_named_model_without_seeds_is_refused_and_one_of_all_left_out():
    campaign, catalogue = loaded(name="config")
    assert campaign.models == "all"
    assert "blimp-lstm-curve" not in {catalogue.row_of(name) for name in catalogue.models}
    message = r"names 'blimp-lstm-curve', whose recipe 'blimp-lstm-curve' has seeds: 0, so that"
    with pytest.raises(UserError, match=message):
        loaded(name="config", models=("blimp-5gram", "blimp-lstm-curve"))
