"""Files that status and plan count are those that Snakemake retrieves, in every campaign."""

import re
from pathlib import Path

import pytest

from blimpworks.campaign.load import load_campaign
from blimpworks.campaign.scoring_jobs import CampaignSelection
from support.checkout import output_of
from support.paths import REPOSITORY

pytestmark = pytest.mark.long
CAMPAIGNS = sorted(
    str(path.relative_to(REPOSITORY))
    for folder in ("config", "config/demo")
    for path in (REPOSITORY / folder).glob("*.yaml")
    if re.search(r"^campaign:", path.read_text("utf-8"), re.MULTILINE)
)


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_the_files_that_are_counted_are_those_that_are_retrieved(untouched, monkeypatch, name):
    monkeypatch.chdir(untouched.path)
    selection = CampaignSelection.of(load_campaign(Path(name)))
    done = untouched.make("-n", campaign=name)
    retrieved = re.findall(r"Retrieve sources/(\S+)", output_of(done))
    assert sorted(selection.retrieved_files) == sorted(retrieved)
