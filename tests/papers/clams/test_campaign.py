"""Test CLAMS's settings before a run: languages, seeds, methods and ties."""

from pathlib import Path

import pytest

from blimpworks.campaign.catalogue import load_catalogue
from blimpworks.campaign.load import check_campaign, load_campaign
from blimpworks.campaign.registry import find_benchmark
from blimpworks.campaign.scoring_jobs import CampaignSelection
from blimpworks.campaign.seeds import from_seeds
from blimpworks.campaign.settings.site import ModelNeeds, Site, for_seeds
from blimpworks.cluster.needs import setup_of
from blimpworks.cluster.plan import make_plan
from blimpworks.errors import UserError
from blimpworks.papers.clams.items.sets import grammars_of
from blimpworks.papers.clams.paper import clams_models, clams_training
from blimpworks.papers.clams.settings import ClamsOptions, counts_one_more, methods_of

FIVE = ("deu", "eng", "fra", "heb", "rus")


def loaded(name="clams", **changes):
    campaign = load_campaign(Path(f"config/{name}.yaml")).model_copy(update=changes)
    return campaign, load_catalogue(campaign)


def test_a_benchmark_has_the_languages_that_it_has_items_of():
    selection = CampaignSelection(*loaded("config"), {})
    assert selection.item_languages("clams") == FIVE
    assert len(selection.item_languages("multiblimp")) == 101
    assert selection.item_languages("blimp") == ("eng",)
    assert len(selection.item_sets) == 101 + 5 + 1 + 9 + 1


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
    description = clams_training(campaign, catalogue)
    assert description.startswith("lstm-small (1 × ")
    assert description.count("5 seeds") == 2
    text = "trained on treebanks and plain text, 1,500 sentences a language at most"
    assert f"{text}, 20,000 of English), 5 seeds; " in description
    assert f"{text}), 5 seeds" in description


def test_a_bound_for_a_language_that_there_is_not_is_refused():
    settings = {"campaign": "x", "training": {"corpora": {"c": {"max_sentences_of": {"en": 9}}}}}
    message = r"corpora\.c\.max_sentences_of: language 'en' .* is not in .*'eng'"
    with pytest.raises(UserError, match=message):
        load_catalogue(check_campaign(settings, "x.yaml"))


def test_each_seed_is_scored_by_parts_of_its_own():
    parts = CampaignSelection.of(loaded()[0]).jobs
    languages = {(p.model, p.name): p.languages for p in parts}
    assert languages["lstm-small-seed1", "heb"] == ("heb",)
    assert languages["lstm-small-multi-seed5", "multi"] == FIVE
    assert languages["masked-small-eng", "eng"] == ("eng",)
    assert len(parts) == 5 * 5 + 5 + 1 + 1


PUBLISHED_COUNTING = {"variant": "corrected", "decisions": {"counting": "published"}}


@pytest.mark.parametrize(
    ("settings", "architecture", "method", "one_more"),
    [
        ({}, "lstm", "without_end", True),
        ({"variant": "corrected"}, "lstm", "full_sentence", False),
        ({"methods": ("one_prefix",)}, "causal", "one_prefix", False),
        ({}, "masked", "masked_critical_word", False),
        (PUBLISHED_COUNTING, "lstm", "full_sentence", True),
    ],
)
def test_methods_and_counting_follow_the_decisions(settings, architecture, method, one_more):
    options = ClamsOptions(**settings)
    assert methods_of(options, architecture) == (method,)
    assert counts_one_more(options, architecture) == one_more


def test_a_seed_is_not_named_in_a_campaign_but_follows_from_the_recipe():
    with pytest.raises(
        UserError, match="Name 'lstm-small': which seeds it has follows from 'seeds'"
    ):
        loaded(models=("lstm-small-seed1",))
    with pytest.raises(UserError, match="Correct it or add a row"):
        loaded(models=("lstm-tiny-seed1",))


def test_a_row_that_is_called_like_a_seed_of_another_is_refused():
    campaign, catalogue = loaded()
    row = catalogue.models["masked-small-eng"].model_copy(update={"recipe": "lstm-small"})
    with pytest.raises(UserError, match=r"'x-seed5' has the name of seed 5 of 'x', whose recipe"):
        from_seeds(campaign, {"x": row}, {"x", "x-seed5"})
    # Two rows whose trainings have one name.
    lstm = campaign.training.recipes["lstm-small"]
    sampled = campaign.training.model_copy(
        update={"recipes": {"a": lstm.model_copy(update={"tokens": (1000,)}), "b": lstm}}
    )
    campaign = campaign.model_copy(update={"training": sampled})
    rows = {"x": row.model_copy(update={"recipe": "a"})}
    rows |= {"x-1k": row.model_copy(update={"recipe": "b"})}
    with pytest.raises(UserError, match=r"'x-1k-seed1' has the name of seed 1 of 'x-1k', whose"):
        from_seeds(campaign, rows, {*rows})


def test_what_a_site_says_of_a_model_holds_for_its_seeds_unless_it_says_more(tmp_path):
    campaign, catalogue = loaded()
    selection = CampaignSelection(campaign, catalogue, {})
    measured = {"lstm-small": 10, "lstm-small-seed2": 20, "other": 30}
    said = Site(models={n: ModelNeeds(tokens_per_second=rate) for n, rate in measured.items()})
    site = for_seeds(said, catalogue.seeds)
    names = ("lstm-small-seed1", "lstm-small-seed2", "lstm-small-multi-seed1")
    setups = [setup_of(selection, name, site) for name in names]
    speeds = [setup.speed(setup.needs()) for setup in setups]
    assert speeds[:2] == [(10, "measured"), (20, "measured")]
    assert speeds[2].source == "stated"
    empty = campaign.pathvars.model_copy(update={"results": str(tmp_path)})
    plan = make_plan(
        CampaignSelection.of(campaign.model_copy(update={"pathvars": empty})), said, None
    )
    rates = {model.model: model.tokens_per_second for model in plan.models}
    assert [rates[name] for name in names[:2]] == [10, 20]
    assert "models of the site's file that this campaign lacks: other." in plan.notes


def test_the_files_to_retrieve_are_those_of_its_models_and_benchmarks():
    campaign, _ = loaded()

    def files(**changes):
        return set(CampaignSelection.of(campaign.model_copy(update=changes)).retrieved_files)

    names = files()
    # The workflow has as many jobs of the rule retrieve.
    assert len(names) == 93
    assert sum(name.startswith("wals/") for name in names) == 3
    assert not any(name.startswith(("unimorph/", "clams/fr_replication")) for name in names)
    assert any(name.startswith("unimorph/") for name in files(benchmarks=("multiblimp", "clams")))
    assert {name.partition("/")[0] for name in files(models=())} == {"clams"}
    generated = campaign.clams.model_copy(update={"grammars": ("fra",)})
    assert any("fr_replication" in name for name in files(clams=generated))


def test_released_corpora_take_the_place_of_treebanks():
    lstms = ("clams-lstm-mono", "clams-lstm-multi")
    campaign, catalogue = loaded("config", benchmarks=("clams",), languages=FIVE, models=lstms)
    names = CampaignSelection.of(campaign).retrieved_files
    assert sum(catalogue.sources[name].kind == "corpus" for name in names) == 4 * len(FIVE)
    assert not any(name.startswith("ud/") for name in names)


def test_pairs_are_expected_by_benchmark_language_and_settings():
    campaign, catalogue = loaded("config")

    def expected(lang, benchmark="clams", **settings):
        options = campaign.clams.model_copy(update=settings)
        changed = campaign.model_copy(update={"clams": options})
        return find_benchmark(benchmark).expected_units(changed, catalogue, lang)

    assert expected("eng") == 157_346 + 51_780
    assert expected("heb") == expected("heb", capitals=False) == 40_820
    assert expected("rus", capitals=False) == 40_120
    assert expected("eng", per_paradigm=100) == 100 * (22 + 7)
    assert expected("eng", grammars=("eng",)) == expected("ita") == 2 * 51_780
    assert expected("eng", benchmark="multiblimp") == catalogue.languages["eng"].paper_n
