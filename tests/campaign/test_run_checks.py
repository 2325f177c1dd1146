"""What a campaign names is run, or the campaign is refused with the reason."""

import pytest

from blimpworks.campaign.catalogue import load_catalogue
from blimpworks.campaign.load import check_campaign
from blimpworks.campaign.parts import check_runs
from blimpworks.campaign.reference import groups_of_models
from blimpworks.errors import UserError

RECIPES = {"ngram": {"kind": "ngram"}, "instruct-small": {"kind": "instruct"}}


def checked(**settings):
    """The message of a campaign that is refused; empty for one that is run."""
    try:
        chosen = {"campaign": "mine", "training": {"recipes": RECIPES}, **settings}
        campaign = check_campaign(chosen, "mine.yaml")
        catalogue = load_catalogue(campaign)
        check_runs(campaign, catalogue, groups_of_models(campaign, catalogue))
    except UserError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (
            {"benchmarks": ["multiblimp"], "languages": ["deu"], "models": ["gpt2"]},
            "model 'gpt2' of campaign 'mine' runs on none of its benchmarks (multiblimp: the model "
            "is of blimp alone (column papers)). Take it out of models",
        ),
        (
            {"benchmarks": ["lmentry"], "languages": ["deu"], "models": ["ngram-5"]},
            "lmentry: it has prompts, which ngram models cannot answer with kenlm",
        ),
        (
            {"benchmarks": ["multiblimp"], "languages": ["deu"], "models": ["instruct-small"]},
            "it has sentences to score, and the model is trained to answer prompts alone",
        ),
        (
            {"benchmarks": ["multiblimp"], "languages": ["xpg"], "models": ["goldfish"]},
            "it exists for the languages of 'goldfish' (column languages) alone",
        ),
        (
            {"benchmarks": ["multiblimp", "lmentry"], "languages": ["deu"], "models": ["ngram-5"]},
            "benchmark 'lmentry' of campaign 'mine' is run with none of its models (ngram-5: it "
            "has prompts",
        ),
        (
            {"benchmarks": ["multiblimp"], "languages": ["deu"], "models": ["ngram5"]},
            "Did you mean 'ngram-5'?",
        ),
        (
            {"benchmarks": ["multiblimp"], "languages": ["Germn"], "models": []},
            "Did you mean 'deu'?",
        ),
        (
            {"benchmarks": ["multiblimp"], "languages": ["deu"], "models": ["Llama-3.1-8b"]},
            "Did you mean 'llama-3.1-8b'?",
        ),
        (
            {"benchmarks": ["multiblimp"], "languages": ["deu"], "models": ["ngram-5"] * 2},
            "key 'models' is ['ngram-5', 'ngram-5']: 'ngram-5' stands there twice; keep one",
        ),
    ],
)
def test_what_cannot_be_run_is_one_sentence_with_the_reason(settings, says):
    message = checked(**settings)
    assert says in message
    assert "\n" not in message


@pytest.mark.parametrize(
    "settings",
    [
        {"benchmarks": ["multiblimp"], "languages": ["deu"], "models": ["ngram-5"]},
        {"benchmarks": ["multiblimp", "lmentry"], "languages": ["deu"], "models": []},
        {"benchmarks": ["multiblimp"], "languages": ["deu"], "models": "all"},
    ],
)
def test_what_can_be_run_is_let_through(settings):
    assert checked(**settings) == ""
