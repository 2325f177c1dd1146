"""Every exhibit of UrBLiMP: it is written in all formats, and each cell can be computed again."""

import json
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from blimpworks.annotation.tables import VALIDATION_PARTICIPANTS, VALIDATION_RATINGS
from blimpworks.campaign.exhibit_spec import FORMATS
from blimpworks.campaign.exhibits import exhibits
from blimpworks.exhibits.formula_lookup import formula_of
from blimpworks.exhibits.formulas import select_rows
from blimpworks.exhibits.render import build_exhibit
from blimpworks.exhibits.shared import read_plain, read_printed
from blimpworks.papers.urblimp.tables import LENGTHS, RULE_COUNTS, SURPRISALS
from blimpworks.tables import ACCURACIES, CELLS, ITEMS, JUDGEMENTS, read_table
from support import urblimp_models_kit as models
from support import urblimp_results_kit as results
from support.paths import REPOSITORY
from support.validation_kit import measured_people

PRINTED = sorted((REPOSITORY / "config/published/urblimp").glob("*.csv"))
SPECS = {spec.name: spec for spec in exhibits().values() if spec.paper == "urblimp"}
OF_PAIRS = ("rules", "samples", "lengths", "lengths_fig", "examples_fig")
"""Exhibits of pairs and words; others are of models and people."""
OF_PEOPLE = ("table9", "validation")
SCHEMAS = {
    "accuracies": ACCURACIES,
    "people": ACCURACIES,
    "judgements": JUDGEMENTS,
    "items": ITEMS,
    "rules": RULE_COUNTS,
    "lengths": LENGTHS,
    "surprisals": SURPRISALS,
    "validation_ratings": VALIDATION_RATINGS,
    "validation_participants": VALIDATION_PARTICIPANTS,
}
FEW = ("aspect", "oblique_verb", "oblique_pronoun")
CAMPAIGNS = {
    **dict.fromkeys(("one language", "two languages"), OF_PAIRS),
    "models and people": [name for name in SPECS if name not in OF_PAIRS],
    "one model": [name for name in SPECS if name not in (*OF_PAIRS, *OF_PEOPLE)],
}


@pytest.fixture(scope="module")
def campaigns(tmp_path_factory):
    """Tables and labels of each campaign."""
    root = tmp_path_factory.mktemp("urblimp")
    one = {"urd": results.URDU}
    labels = replace(
        models.LABELS, facts=models.LABELS.facts | {"urblimp_validation": {"per_pair": 3}}
    )
    for name in CAMPAIGNS:
        (root / name).mkdir()
    people, few = root / "models and people", root / "one model"
    measured = models.simulate(people, models.SKILL) | measured_people(people)
    return {
        "one language": (results.campaign(root / "one language", one, PRINTED), results.LABELS),
        "two languages": (
            results.campaign(root / "two languages", {"hin": results.HINDI} | one, PRINTED),
            results.LABELS,
        ),
        "models and people": (measured, labels),
        "one model": (
            models.simulate(few, {"ours": 0.7}, FEW),
            replace(labels, models={"ours": "Ours"}),
        ),
    }


@pytest.mark.parametrize(
    ("campaign", "name"), [(key, name) for key, names in CAMPAIGNS.items() for name in names]
)
def test_an_exhibit_is_written_and_its_cells_are_of_the_rows_they_name(
    campaigns, tmp_path, campaign, name
):
    tables, labels = campaigns[campaign]
    spec, cells = SPECS[name], tmp_path / "cells.parquet"
    outputs = {suffix: tmp_path / f"{name}.{suffix}" for suffix in FORMATS[spec.kind]}
    build_exhibit(spec, tables, labels, cells, [*outputs.values()])
    assert all(path.is_file() for path in outputs.values())
    page = outputs["html"].read_text(encoding="utf-8").removeprefix("<!DOCTYPE html>\n")
    ElementTree.fromstring(page)
    for cell in read_table(CELLS, cells).to_pylist():
        where = json.loads(cell["filter"])
        source = cell["source"]
        if source == "published":
            rows = read_printed(tables)
        else:
            of_people = source == "accuracies" and where.get("model") == "human"
            kind = "people" if of_people else source
            paths = tables[kind]
            if kind == "judgements":
                paths = [path for path in paths if path.stem == where["model"]]
            rows = read_plain(SCHEMAS[kind], paths)
        again = formula_of(cell["formula"])(select_rows(rows, where))
        assert again == pytest.approx(cell["value"], abs=1e-9), cell
