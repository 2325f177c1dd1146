"""What the report card is told of a campaign."""

import pytest
import yaml

from blimpworks.campaign.load import check_campaign
from blimpworks.evaluation import request
from blimpworks.evaluation.card import card_facts, card_files, card_tables
from support.paths import REPOSITORY

pytestmark = pytest.mark.usefixtures("at_root")
FILE = "config/demo/config.yaml"


def layout_of(**changes):
    settings = yaml.safe_load((REPOSITORY / FILE).read_text(encoding="utf-8"))
    return request.layout_of(check_campaign(settings | changes, FILE))


def test_benchmarks_are_those_that_models_are_run_on():
    facts = card_facts(layout_of(), FILE)
    assert [*facts["benchmarks"]] == ["multiblimp", "demo_pairs", "demo_suites"]
    pairs = facts["benchmarks"]["multiblimp"]
    models, languages = ("ngram-5", "transformer-small"), ["deu", "eng", "fra"]
    assert pairs["languages"] == dict.fromkeys(models, languages)
    assert pairs["methods"]["ngram-5"][0] == "full_sentence"
    assert (pairs["noun"], pairs["chance"]) == ("pair", 0.5)
    suites = facts["benchmarks"]["demo_suites"]
    assert (suites["noun"], suites["chance"]) == ("item", None)
    assert card_facts(layout_of(models=[]), FILE)["benchmarks"] == {}


def test_each_of_several_models_has_a_results_file_of_its_own():
    names = [path.rpartition("/")[2] for path in card_files(layout_of())]
    assert names[:4] == ["card.json", "index.html", "tables.md", "tables.tex"]
    assert names[4:] == ["results_ngram-5.json", "results_transformer-small.json"]
    single = card_files(layout_of(models=["ngram-5"]))
    assert single[4:] == ["results/demo/report_card/results.json"]


def test_tables_samples_and_licences_follow_the_campaign():
    facts = card_facts(layout_of(limit=40), FILE)
    pairs = facts["benchmarks"]["multiblimp"]
    assert pairs["whole"]["deu"] == "results/demo/items/multiblimp/deu.parquet"
    assert pairs["items"]["deu"] != pairs["whole"]["deu"]
    facts = card_facts(layout_of(), FILE)
    assert facts["benchmarks"]["multiblimp"]["whole"] == {}
    tables = card_tables(facts)
    assert len({*tables}) == len(tables)
    assert "results/demo/accuracies/printed/multiblimp.parquet" in tables
    assert not any("sensitivity" in table for table in tables)
    layout = layout_of(benchmarks=["turblimp"], languages=["tur"], unpinned="skip")
    cited = card_facts(layout, FILE)["benchmarks"]["turblimp"]["citation"]
    assert cited.endswith(f" Licence: {layout.licences_of('turblimp')}.")


def test_sensitivity_is_of_models_and_benchmarks_that_have_the_choice():
    layout = layout_of(report_card={"sensitivity": True})
    facts = card_facts(layout, FILE)["benchmarks"]
    # KenLM starts each sentence itself, and suites are no pairs.
    assert facts["multiblimp"]["sensitivity"] == {"transformer-small": ["deu", "eng", "fra"]}
    assert facts["demo_suites"]["sensitivity"] == {}
    tables = card_tables(card_facts(layout, FILE))
    assert "results/demo/sensitivity/multiblimp/deu/transformer-small/parity.parquet" in tables


@pytest.mark.parametrize(
    ("benchmarks", "declared", "published"),
    [
        (["demo_pairs"], True, set()),
        (["demo_pairs", "demo_suites"], True, {"demo_suites"}),
        (["multiblimp", "demo_pairs"], False, {"multiblimp", "clams", "blimp"}),
    ],
)
def test_declared_benchmarks_alone_ask_for_nothing_that_papers_print(
    benchmarks, declared, published
):
    layout = layout_of(benchmarks=benchmarks)
    assert layout.is_declared is declared
    assert {*layout.published_papers} >= published
    assert not declared or {*layout.published_papers} == published
