"""What a campaign makes of CLAMS: languages, seeds, methods and ties, before anything runs."""

from pathlib import Path

import pytest

from blimpworks.catalogue import load_catalogue
from blimpworks.clams.decisions import counts_one_more, methods_of
from blimpworks.clams.sets import grammars_of, set_files
from blimpworks.cluster.parts import item_sets, languages_of, score_parts
from blimpworks.config import Campaign, ClamsDecisions, ClamsOptions, load_campaign
from blimpworks.errors import UserError
from blimpworks.exhibits.clams.facts import clams_models, clams_training
from blimpworks.reference import groups_of_models

ROOT = Path(__file__).resolve().parents[1]
FIVE = ("deu", "eng", "fra", "heb", "rus")


@pytest.fixture(autouse=True)
def here(monkeypatch):
    monkeypatch.chdir(ROOT)


def loaded(name="clams", **changes):
    campaign = load_campaign(Path(f"config/{name}.yaml")).model_copy(update=changes)
    return campaign, load_catalogue(campaign)


def test_a_benchmark_has_the_languages_that_it_has_items_of():
    campaign, catalogue = loaded("config")
    assert languages_of(campaign, catalogue, "clams") == FIVE
    assert len(languages_of(campaign, catalogue, "multiblimp")) == 101
    assert len(item_sets(campaign, catalogue)) == 106


def test_a_grammar_of_ours_adds_a_language():
    options = ClamsOptions(grammars=("ita",))
    campaign, catalogue = loaded(clams=options, languages=(*FIVE, "ita"))
    assert set(languages_of(campaign, catalogue, "clams")) == {*FIVE, "ita"}
    files = set_files(campaign, catalogue, "ita")
    assert Path("results/clams/sets/clams/ita/prep_anim.txt") in files
    assert len(files) == 7


def test_languages_without_grammars_of_ours_have_the_authors():
    campaign, catalogue = loaded()
    assert grammars_of(campaign, catalogue, "eng").common == Path("config/grammars/eng/common.avg")
    common = Path("resources/clams/sources/clams/fr_replication/common.avg")
    assert grammars_of(campaign, catalogue, "fra").common == common
    with pytest.raises(UserError, match=r"clams\.grammars names 'abk', but there is no grammar in"):
        grammars_of(campaign, catalogue, "abk")


def test_a_recipe_with_seeds_makes_a_model_of_each():
    campaign, catalogue = loaded()
    seeds = [f"lstm-small-seed{number}" for number in range(1, 6)]
    assert clams_models(campaign, catalogue)["mono"] == seeds
    assert {catalogue.row_of(name) for name in seeds} == {"lstm-small"}
    assert catalogue.models["lstm-small-seed2"].label == "LSTM (small), seed 2"
    told = clams_training(campaign, catalogue)
    assert told.startswith("lstm-small (1 × ")
    assert told.count("5 seeds") == 2


def test_the_papers_models_are_trained_from_five_seeds_with_its_settings():
    campaign, catalogue = loaded("config")
    models = clams_models(campaign, catalogue)
    assert models["multi"] == [f"clams-lstm-multi-seed{number}" for number in range(1, 6)]
    assert (
        "clams-lstm-mono (2 × 800 units, embeddings of 800, corpus 'wikipedia'), 5 seeds"
        in clams_training(campaign, catalogue)
    )


def test_each_seed_is_scored_by_parts_of_its_own():
    campaign, catalogue = loaded()
    parts = score_parts(campaign, catalogue, groups_of_models(campaign, catalogue))
    found = {(p.model, p.part): p.languages for p in parts}
    assert found["lstm-small-seed1", "heb"] == ("heb",)
    assert found["lstm-small-multi-seed5", "multi"] == FIVE
    assert found["masked-small-eng", "eng"] == ("eng",)
    assert len(parts) == 5 * 5 + 5 + 1 + 1


def test_models_that_no_benchmark_of_the_campaign_needs_need_no_recipe():
    campaign = Campaign(campaign="x", benchmarks=("multiblimp",))
    assert "clams-lstm-mono" in load_catalogue(campaign).models


@pytest.mark.parametrize(
    ("options", "architecture", "methods", "one_more"),
    [
        (ClamsOptions(), "lstm", ("without_end",), True),
        (ClamsOptions(variant="corrected"), "lstm", ("full_sentence",), False),
        (ClamsOptions(methods=("one_prefix",)), "causal", ("one_prefix",), False),
        (ClamsOptions(), "masked", ("masked_critical_word",), False),
        (
            ClamsOptions(variant="corrected", decisions=ClamsDecisions(counting="published")),
            "lstm",
            ("full_sentence",),
            True,
        ),
    ],
)
def test_methods_and_counting_follow_architecture_and_decisions(
    options, architecture, methods, one_more
):
    assert methods_of(options, architecture) == methods
    assert counts_one_more(options, architecture) == one_more
