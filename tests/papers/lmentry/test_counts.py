"""The exhibit that sets numbers of prompts beside Table 54."""

import pytest

from blimpworks.campaign.catalogue import load_catalogue
from blimpworks.campaign.load import check_campaign
from blimpworks.exhibits.exhibit import Labels
from blimpworks.papers.lmentry.exhibits.names import LMENTRY_FACTS
from blimpworks.papers.lmentry.items.prompts import build_prompts
from blimpworks.papers.lmentry.settings import LmentryOptions
from support.lmentry_kit import PRINTED, build
from support.lmentry_prompts_kit import (
    DECLARATIONS,
    PACKS,
    files_of,
    needs_mirror,
    write_resources,
)

BASE = {"campaign": "counts", "benchmarks": ["lmentry"], "models": []}


def campaign_of(lang, **options):
    return check_campaign({**BASE, "languages": [lang], "lmentry": options}, "test")


def exhibit_of(items, campaign, root):
    facts = {"lmentry_counts": LMENTRY_FACTS["lmentry_counts"](campaign, load_catalogue(campaign))}
    tables = {"items": items, "printed": sorted(PRINTED.glob("*.csv"))}
    return build("counts", tables, Labels({}, facts=facts), root)[0]


def sentence_of(exhibit, task):
    return next(iter(exhibit.remarks[task].values()))


@needs_mirror
@pytest.mark.parametrize("variant", ["published", "corrected"])
def test_each_difference_of_a_real_language_has_its_reason(tmp_path, variant):
    files, items = files_of("deu", tmp_path), tmp_path / "deu.parquet"
    build_prompts(files, PACKS["deu"], DECLARATIONS, items, LmentryOptions(variant=variant))
    exhibit = exhibit_of([items], campaign_of("deu", variant=variant), tmp_path)
    assert "parts of speech" in sentence_of(exhibit, "starts with word")
    assert sentence_of(exhibit, "bigger number") == ""
    assert not any("not explained" in str(texts) for texts in exhibit.remarks.values())
    cells = {(cell.row, cell.column): cell.text for cell in exhibit.cells}
    assert cells["starts with word", "DE printed"] == "3,000"
    assert cells["starts with word", "DE made"] == "495"


@pytest.mark.slow
def test_differences_that_nobody_has_explained_say_so_and_limits_of_a_campaign_too(tmp_path):
    files, items = write_resources(tmp_path / "in"), tmp_path / "ita.parquet"
    for options, said in (({}, "not explained"), ({"per_template": 2}, "keeps at most 2 prompts")):
        build_prompts(files, PACKS["ita"], DECLARATIONS, items, LmentryOptions(**options))
        exhibit = exhibit_of([items], campaign_of("ita", **options), tmp_path)
        assert said in sentence_of(exhibit, "sentence containing")
