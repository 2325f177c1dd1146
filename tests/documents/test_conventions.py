"""Test that files which other programs read agree with the repository and with each other."""

import json
import re

import pytest
import yaml

import blimpworks
from blimpworks.campaign.registry import papers
from support.paths import REPOSITORY

ACTION = re.compile(r"uses: (\S+?)@([0-9a-f]{40}) # v[\d.]+$")


def text_of(name):
    return (REPOSITORY / name).read_text(encoding="utf-8")


CITATION = yaml.safe_load(text_of("CITATION.cff"))
ZENODO, CODEMETA = (json.loads(text_of(name)) for name in (".zenodo.json", "codemeta.json"))


@pytest.mark.parametrize(
    "described", [CITATION, ZENODO, CODEMETA], ids=["cff", "zenodo", "codemeta"]
)
def test_versions_are_those_of_the_package(described):
    assert described["version"] == blimpworks.__version__


def test_licences_and_titles_are_alike():
    assert ZENODO["license"] == CITATION["license"]
    assert CODEMETA["license"].endswith(f"/{CITATION['license']}")
    assert ZENODO["title"] == CITATION["title"]


def test_whoever_cites_us_is_told_to_cite_the_papers():
    cited = {reference["title"] for reference in CITATION["references"]}
    rooms = [paper for paper in papers().values() if paper.printed is None]  # data alone needs none
    assert rooms
    assert {paper.citation.title for paper in rooms} <= cited


def test_the_changelog_begins_with_the_version():
    first = re.search(r"^## (\S+)", text_of("CHANGELOG.md"), re.MULTILINE)
    assert first[1] == blimpworks.__version__


def test_the_catalog_of_workflows_finds_what_it_expects():
    """The catalog's standardized usage requires these files, and the type of deployment."""
    for name in ("workflow/Snakefile", "config/README.md", "config/config.yaml"):
        assert (REPOSITORY / name).is_file()
    usage = yaml.safe_load(text_of(".snakemake-workflow-catalog.yml"))["usage"]
    deployed = usage["software-stack-deployment"]
    assert deployed["conda"] is True
    assert [*(REPOSITORY / "envs").glob("*.yaml")]
    assert deployed["apptainer"] is True
    assert "container:" in text_of("workflow/rules/software.smk")
    # Mandatory flags name a campaign to test with.
    named = re.findall(r"config/\S+\.yaml", yaml.safe_dump(usage["mandatory-flags"], width=9999))
    assert [(REPOSITORY / name).is_file() for name in named] == [True] * len(named) != []


def test_actions_are_pinned_and_run_what_everybody_runs():
    text = text_of(".github/workflows/ci.yml")
    lines = [line.strip().removeprefix("- ") for line in text.splitlines() if "uses:" in line]
    assert lines
    assert all(map(ACTION.fullmatch, lines))
    steps = yaml.safe_load(text)["jobs"]["ci"]["steps"]
    assert [step["run"] for step in steps if "run" in step] == ["bash .ci/run"]


def test_hooks_before_a_commit_are_make_targets():
    hooks = yaml.safe_load(text_of(".pre-commit-config.yaml"))["repos"][0]["hooks"]
    targets = {*re.findall(r"^([a-z-]+):", text_of("Makefile"), re.MULTILINE)}
    entries = [hook["entry"].split() for hook in hooks]
    assert entries
    assert all(program == "make" and target in targets for program, target in entries)
