"""How a campaign differs from what the papers' numbers are about."""

import pytest

from blimpworks.campaign.catalogue import load_catalogue
from blimpworks.campaign.comparability import basis_of
from blimpworks.campaign.load import check_campaign, load_campaign
from support.paths import REPOSITORY


def basis(paper, path="config/config.yaml", **changes):
    campaign = load_campaign(REPOSITORY / path)
    if changes:
        settings = campaign.model_dump(mode="json", exclude_unset=True) | changes
        campaign = check_campaign(settings, path)
    return basis_of(campaign, load_catalogue(campaign), paper)


@pytest.mark.parametrize("paper", ["multiblimp", "blimp", "clams", "lmentry"])
def test_the_papers_campaign_has_their_data_items_and_methods(paper):
    own = basis(paper)
    assert (own["data"], own["items"], own["method"]) == ({}, {}, "")
    assert "gemma-3-27b" not in own["models"]


def test_the_papers_campaign_has_the_languages_of_the_paper():
    assert len(basis("multiblimp")["languages"]) == 101
    assert len(basis("lmentry")["languages"]) == 9


def test_embedded_treebanks_and_trained_models_are_named():
    own = basis("multiblimp", "config/demo/config.yaml")
    assert own["languages"] == ["deu", "eng", "fra"]
    assert "UD_German-Demo" in own["data"]["deu"]
    assert own["models"]["ngram-5"] == "a model trained here"


def test_pairs_drawn_anew_are_other_pairs_and_their_number_may_be_compared():
    own = basis("multiblimp", "config/regeneration.yaml")
    assert "drawn anew" in own["items"]["deu"]
    assert "abk" not in own["data"]


def test_a_sample_another_variant_and_another_method_are_named():
    assert basis("blimp", limit=50)["items"] == {"eng": "a sample of 50"}
    assert "corrected" in basis("blimp", blimp={"variant": "corrected"})["method"]
    other = {"items": "released", "methods": ["per_token=mean(all)"]}
    assert basis("multiblimp", multiblimp=other)["method"]


def test_a_file_that_is_missing_and_a_substitute_are_named():
    own = basis("multiblimp", "config/mirror.yaml")
    assert "unimorph/eng/eng.args in place of unimorph/eng/eng" in own["data"]["eng"]
    assert "abk" not in own["data"]


def test_data_of_the_campaigns_own_are_named(tmp_path):
    folder = tmp_path / "lmentry"
    folder.mkdir()
    catalogue = {"lmentry": str(folder)}
    own = basis("lmentry", "config/lmentry.yaml", catalogue=catalogue)
    assert all("other data" in reason for reason in own["data"].values())


def test_a_paper_that_the_campaign_does_not_run_has_nothing_to_compare():
    assert basis("clams", "config/demo/config.yaml")["languages"] == []
