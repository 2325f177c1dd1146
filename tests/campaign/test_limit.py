"""What a campaign's limit says of items, before any are built."""

import pytest

from blimpworks.campaign.catalogue import load_catalogue
from blimpworks.campaign.load import check_campaign
from blimpworks.campaign.parts import items_table, score_parts
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


def test_without_a_limit_all_items_are_expected_where_they_are_built():
    assert expected() == {
        "results/items/multiblimp/eng.parquet": 770,
        "results/items/demo_pairs/eng.parquet": 16,
    }


def test_with_a_limit_no_more_are_expected_and_they_are_a_sample():
    assert expected(limit=100) == {
        "results/sampled/items/multiblimp/eng.parquet": 100,
        "results/sampled/items/demo_pairs/eng.parquet": 16,
    }


def test_the_folder_of_samples_lies_in_the_results():
    campaign = check_campaign({**SETTINGS, "limit": 3, "pathvars": {"results": "out"}}, "")
    table = items_table(campaign, "multiblimp", "deu")
    assert table.as_posix() == "out/sampled/items/multiblimp/deu.parquet"


@pytest.mark.parametrize("limit", [0, -1, "few", 1.5])
def test_a_limit_is_a_positive_whole_number(limit):
    with pytest.raises(UserError, match="key 'limit'"):
        check_campaign({**SETTINGS, "limit": limit}, "mine.yaml")
