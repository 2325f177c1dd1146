"""UrBLiMP's printed numbers: what its other numbers make of each, and what is wrong with some."""

import json

import pyarrow.parquet as pq
import pytest

from blimpworks.campaign.catalogue import whole_catalogue
from blimpworks.campaign.reference import PublishedRow
from blimpworks.campaign.registry import exhibits
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.exhibits.exhibit import Labels
from blimpworks.exhibits.formulas import formula_of
from blimpworks.exhibits.render import build_exhibit
from blimpworks.papers.urblimp.paper import model_facts
from blimpworks.papers.urblimp.published import accuracies
from blimpworks.reproduction.comparisons import Paper
from blimpworks.reproduction.printed import read_published
from blimpworks.tables import CELLS
from support.paths import REPOSITORY

pytestmark = pytest.mark.xdist_group("urblimp-print")  # they share what is made once

PRINTED = REPOSITORY / "config/published/urblimp"
SPECS = {s.name: s for s in exhibits().values() if s.paper == "urblimp" and s.published}


@pytest.fixture(scope="module")
def labels():
    names = {"languages": "languages.tsv", "models": "models.tsv"}
    campaign = Campaign(
        campaign="x", catalogue={key: REPOSITORY / "config" / name for key, name in names.items()}
    )
    catalogue = whole_catalogue(campaign)
    models = {n: r.label for n, r in catalogue.models.items() if "urblimp" in r.papers}
    facts = {"urblimp_models": model_facts(campaign, catalogue)}
    return Labels({"urd": "Urdu"}, models, "printed", facts, "published")


@pytest.fixture(scope="module")
def paper(tmp_path_factory, labels):
    directory, tables = tmp_path_factory.mktemp("urblimp"), sorted(PRINTED.glob("*.csv"))
    result = directory / "accuracies.parquet"
    read_published(tables, "urblimp", result)
    sources = {"accuracies": [result], "printed": tables}
    cells = {}
    for name, spec in SPECS.items():
        needs = {need: sources[need] for need in spec.published}
        cells[name] = directory / f"{name}.cells.parquet"
        build_exhibit(spec, needs, labels, cells[name], [])
    return Paper("urblimp", tables, PRINTED / "reasons.tsv", cells, result)


def test_claims_without_a_number_are_counted(paper):
    cells = pq.read_table(paper.cells["text"], schema=CELLS.arrow()).to_pylist()
    counts = {c["row"]: (c["value"], c["n"]) for c in cells}
    assert counts["Dative object: noun, models above 92 %"] == (11, 17)
    assert counts["Dative object: pronoun, models above 92 %"] == (9, 17)
    assert counts["Ergativity: differential object marking, models below 90 %"] == (11, 17)
    ahead = "gemma-3-27b-pt ahead of Llama-3-70B and DeepSeek-R1-Llama-70B: paradigms"
    assert counts[ahead] == (9, 19)


def test_figure_1_has_the_models_that_the_text_names_and_granite(paper):
    cells = pq.read_table(paper.cells["fig1"], schema=CELLS.arrow()).to_pylist()
    assert {cell["row"]: round(cell["value"], 2) for cell in cells} == {
        "gemma-3-27b-pt": 92.51,
        "DeepSeek-R1-Llama-70B": 83.52,
        "Llama-3-70B": 83.15,
        "bloomz-7b1-p3": 83.15,
        "Alif-1.0-8B": 80.90,
        "granite-3.3-8b-base": 78.28,
        "mBERT": 67.42,
        "mT5-large": 57.30,
    }
    assert all(cell["low"] < cell["value"] < cell["high"] for cell in cells)


@pytest.mark.slow
def test_every_cell_can_be_computed_again_from_the_rows_it_names(paper):
    for path in paper.cells.values():
        for cell in pq.read_table(path, schema=CELLS.arrow()).to_pylist():
            rows = paper.tables[cell["source"]].select(json.loads(cell["filter"]))
            assert formula_of(cell["formula"])(rows) == pytest.approx(cell["value"], abs=1e-9), cell


def printed_row(**fields):
    empty = dict.fromkeys(PublishedRow.model_fields, "")
    return PublishedRow(**{**empty, "unit": "%", "row": "aspect", "column": "m", **fields})


def test_printed_accuracies_have_the_pairs_that_table_10_should_have():
    n = printed_row(exhibit="table10", column="n", text="400", value="400", corrected="401")
    result = printed_row(exhibit="table7", text="99.25", value="99.25")
    (accuracy,) = accuracies([n, result])
    place = accuracy.model, accuracy.lang, accuracy.phenomenon
    assert (*place, accuracy.n) == ("m", "urd", "aspect", 401)
    assert (accuracy.accuracy, accuracy.rounding) == pytest.approx((0.9925, 0.00005))
