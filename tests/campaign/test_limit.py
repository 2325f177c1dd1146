"""What a campaign's limit says of items, before any are built."""

import pytest

from blimpworks.campaign.catalogue import load_catalogue
from blimpworks.campaign.load import check_campaign
from blimpworks.campaign.parts import score_parts
from blimpworks.campaign.reference import groups_of_models
from blimpworks.cluster.requests import expected_items
from blimpworks.errors import UserError

SETTINGS = {
    "campaign": "mine",
    "benchmarks": ["multiblimp", "demo_pairs"],
    "languages": ["eng"],
    "models": ["ngram-5"],
    "training": {"recipes": {"ngram": {"kind": "ngram"}}},
}


def expected(**settings):
    """Items to expect of each table that the campaign's model scores."""
    campaign = check_campaign({**SETTINGS, **settings}, "mine.yaml")
    catalogue = load_catalogue(campaign)
    [part] = score_parts(campaign, catalogue, groups_of_models(campaign, catalogue))
    items = expected_items(campaign, catalogue, part)
    return {str(path): expectation.pairs for path, expectation in items.items()}


@pytest.mark.parametrize(
    ("settings", "folder", "most"),
    [
        ({}, "results", 770),
        ({"limit": 100}, "results/sampled", 100),
        ({"limit": 3, "pathvars": {"results": "out"}}, "out/sampled", 3),
    ],
)
def test_with_a_limit_no_more_are_expected_and_they_are_a_sample(settings, folder, most):
    assert expected(**settings) == {
        f"{folder}/items/multiblimp/eng.parquet": most,
        f"{folder}/items/demo_pairs/eng.parquet": min(16, most),
    }


@pytest.mark.parametrize("limit", [0, -1, "few", 1.5])
def test_a_limit_is_a_positive_whole_number(limit):
    with pytest.raises(UserError, match="key 'limit'"):
        check_campaign({**SETTINGS, "limit": limit}, "mine.yaml")
