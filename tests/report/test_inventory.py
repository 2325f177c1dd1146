"""The list of every table and figure of the five papers, against what can be built."""

import re

import pytest
from typer.testing import CliRunner

from blimpworks.campaign.exhibits import exhibits
from blimpworks.cli import app
from blimpworks.report.inventory import read_inventory, spec_of, unlisted
from support.paths import REPOSITORY

LIST = REPOSITORY / "config/published/exhibits.tsv"
TEXTS = {"lmentry": "multi_lmentry"}
"""Papers whose text is not called like their benchmark."""


@pytest.fixture(scope="module")
def listed():
    return read_inventory(LIST)


def test_the_page_is_what_the_list_and_the_catalogue_make():
    done = CliRunner().invoke(app, ["list-exhibits", f"--printed={LIST.parent}"])
    assert done.stdout == (REPOSITORY / "docs/exhibits.md").read_text(encoding="utf-8")


def test_an_exhibit_that_nobody_builds_and_one_without_a_form_need_a_note(listed):
    for row in listed:
        spec = spec_of(row)
        assert row.note or (spec and spec.needs and spec.published), row
    unbuilt = {(row.paper, row.exhibit) for row in listed if spec_of(row) is None}
    assert unbuilt <= {("multiblimp", "Figure 2")}, "a drawing without numbers"


def test_each_exhibit_that_claims_to_be_of_a_paper_is_in_its_list(listed):
    ours = {spec.name for spec in unlisted(listed)}
    assert not [name for name in ours if re.match(r"(table|fig)[a-z]?\d", name)]
    built = [row for row in listed if spec_of(row)]
    assert len(built) + len(unlisted(listed)) == len(exhibits())


@pytest.mark.mirror
@pytest.mark.parametrize("paper", ["multiblimp", "clams", "blimp", "lmentry", "urblimp"])
def test_all_that_a_paper_numbers_is_listed_and_nothing_else(mirror, listed, paper):
    path = mirror.parent / "papers" / f"{TEXTS.get(paper, paper)}.txt"
    if not path.is_file():
        pytest.skip(f"no text of the paper at {path}")
    mentions = re.findall(r"\b(Table|Fig)(?:ure|s|\.)? (\d+)", path.read_text(encoding="utf-8"))
    named = {f"{'Figure' if kind == 'Fig' else kind} {number}" for kind, number in mentions}
    numbered = {row.exhibit for row in listed if row.paper == paper}
    assert named == {name for name in numbered if "B." not in name}
