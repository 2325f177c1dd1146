"""A campaign can name models of this machine that no table of models has."""

import pytest

from blimpworks.campaign.catalogue import load_catalogue
from blimpworks.campaign.load import check_campaign
from blimpworks.errors import UserError

DEMO = {
    "campaign": "own",
    "benchmarks": ["multiblimp"],
    "languages": ["deu"],
    "models": [],
    "mirror": "config/demo/data",
    "catalogue": {"treebanks": "config/demo/treebanks.tsv", "sources": "config/demo/sources.tsv"},
}


def models_of(**settings):
    return load_catalogue(check_campaign(DEMO | settings, "own.yaml")).models


def test_a_path_is_a_model_under_the_name_that_the_campaign_gives_it():
    row = models_of(own_models={"mine": {"path": "./checkpoints/mine"}})["mine"]
    assert (row.label, row.hf_id, row.scope) == ("mine", "./checkpoints/mine", "multilingual")
    assert (row.architecture, row.engine, row.dtype) == ("causal", "transformers", "float32")
    own = {"path": "./{lang}.arpa", "architecture": "ngram", "engine": "kenlm", "label": "3-gram"}
    row = models_of(own_models={"grams": own}, models=["gpt2"])["grams"]
    assert (row.label, row.scope) == ("3-gram", "monolingual")


def test_own_models_are_run_beside_those_of_the_table():
    own = {"mine": {"path": "./checkpoints/mine"}}
    assert [*models_of(own_models=own, models=["goldfish"])] == ["goldfish", "mine"]
    assert "mine" in models_of(own_models=own, models="all")


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ({"mine": {"path": "gpt2"}}, r"expected a path \(beginning with"),
        ({"gpt2": {"path": "./mine"}}, "has a model of this name too; choose another"),
        ({"My model": {"path": "./mine"}}, "'My model'.*name"),
        ({"mine": {"path": "./mine", "engine": "llama.cpp"}}, "own_models.mine.engine"),
    ],
)
def test_what_cannot_be_a_model_is_refused(own, message):
    with pytest.raises(UserError, match=message):
        models_of(own_models=own)
