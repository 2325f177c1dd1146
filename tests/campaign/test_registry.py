"""Test the registry of papers, and that no other module names a paper."""

import re
import subprocess
from dataclasses import replace
from importlib.metadata import EntryPoint

import pytest

from blimpworks.campaign import registry
from blimpworks.campaign.paper import ExhibitSpec, read_specs
from blimpworks.campaign.scoring_jobs import CampaignSelection
from blimpworks.errors import UserError
from support.paths import REPOSITORY

ROOMS = re.compile(r"src/blimpworks/papers/|workflow/rules/papers/|workflow/schemas/")
NAMES = re.compile(r"multiblimp|\bclams|clams\b|\bblimp(?!works)\b|blimp_|lmentry|urblimp", re.I)
CALLED = re.compile(r"blimpworks|BLIMPWORKS")


def test_no_shared_file_names_a_paper():
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    command += ["src", "workflow", "Snakefile"]
    listed = subprocess.check_output(command, cwd=REPOSITORY, text=True).splitlines()
    files = {name: REPOSITORY / name for name in listed if not ROOMS.match(name)}
    texts = {name: path.read_text("utf-8") for name, path in files.items() if path.is_file()}
    assert not {n: found for n in texts if (found := NAMES.findall(CALLED.sub("", texts[n])))}


def test_papers_come_in_the_order_in_which_reports_have_them():
    in_code = [name for name, paper in registry.papers().items() if not paper.needs_benchmark]
    assert in_code[:5] == ["multiblimp", "clams", "blimp", "lmentry", "urblimp"]
    assert [*registry.benchmarks()][:3] == ["multiblimp", "clams", "blimp"]


@pytest.mark.parametrize("name", registry.exhibits())
def test_every_kind_of_table_and_every_fact_that_an_exhibit_names_is_known(name):
    spec = registry.exhibits()[name]
    paper = registry.find_paper(spec.paper)
    assert {*spec.needs, *spec.optional, *spec.published} <= {*registry.CORE_TABLES, *paper.tables}
    assert {*spec.facts} <= paper.facts.keys()


def test_an_unknown_name_is_one_sentence():
    languages = CampaignSelection(None, None, {}).item_languages
    for find in (registry.find_benchmark, registry.paper_of, languages):
        with pytest.raises(UserError, match=r"^benchmark 'nope' is unknown; expected one of .+\.$"):
            find("nope")
    with pytest.raises(UserError, match=r"^paper 'clams': the kind of table 'nope' is unk.+\.$"):
        registry.table_kind("clams", "nope")


def test_a_table_that_two_papers_read_in_different_ways_is_refused(monkeypatch):
    name, table = next(
        (name, table)
        for paper in registry.papers().values()
        for name, table in paper.tables.items()
        if table.reader
    )
    assert registry.file_reader(name) is not None
    other = replace(table, reader="json:load")
    new = replace(registry.find_paper("clams"), tables={name: other})
    papers = {**registry.papers(), "new": new}
    monkeypatch.setattr(registry, "papers", lambda: papers)
    with pytest.raises(UserError, match=f"read their tables '{name}' in different ways"):
        registry.file_reader(name)


def test_a_paper_called_like_a_key_of_every_campaign_is_one_sentence(monkeypatch):
    paper = replace(registry.find_paper("clams"), name="models", benchmarks=())
    monkeypatch.setattr(registry, "_load", lambda entry: paper)
    monkeypatch.setattr(registry.pkgutil, "iter_modules", lambda _: [])
    with pytest.raises(UserError, match="'models' is a key of every campaign"):
        registered(monkeypatch, EntryPoint("models", "x:PAPER", "blimpworks.papers"))


def registered(monkeypatch, *entries):
    monkeypatch.setattr(registry, "entries_of", lambda group: entries)
    return registry.registered.__wrapped__()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("x", "nowhere.at_all:PAPER", r"^paper 'x': nowhere\.at_all:PAPER cannot be loaded"),
        ("x", "blimpworks.files:sha256_of", r"^paper 'x': .* expected a Paper of that name"),
        ("x", "blimpworks.papers.clams.paper:PAPER", r"expected a Paper of that name"),
        ("clams", "blimpworks.papers.clams.paper:PAPER", r"'clams' is registered twice; rename it"),
    ],
)
def test_a_paper_that_cannot_be_had_is_one_sentence(monkeypatch, name, value, message):
    with pytest.raises(UserError, match=message):
        registered(monkeypatch, EntryPoint(name, value, "blimpworks.papers"))


HEADINGS = "name\tkind\tfunction\ttitle\tneeds\tof_samples"
ROW = "fig1\tfigure\tcurves:draw\tAccuracy by size\taccuracies items\tyes"


def read(folder, *lines):
    path = folder / "specs.tsv"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return read_specs(path, "paper", "package.exhibits")


def test_a_row_names_an_exhibit_what_it_needs_and_its_function(tmp_path):
    (spec,) = read(tmp_path, HEADINGS, ROW)
    row = {"paper": "paper", "name": "fig1", "kind": "figure", "title": "Accuracy by size"}
    row |= {"needs": ("accuracies", "items"), "function": "package.exhibits.curves:draw"}
    assert spec == ExhibitSpec(**row, of_samples=True)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (("name\tkind\tfunction\ttitle", ROW), r"specs.tsv:1: .*missing columns: needs. Expected"),
        ((HEADINGS, ROW.replace("figure", "plot")), r"specs.tsv:2: column 'kind' is 'plot'.*table"),
        ((HEADINGS, ROW.replace(":", ".")), r"specs.tsv:2: column 'function' is 'curves.draw'"),
        ((HEADINGS, ROW.replace(":", ":1")), r"specs.tsv:2: column 'function' is 'curves:1draw'"),
        ((HEADINGS, ROW.replace("yes", "no")), r"specs.tsv:2: column 'of_samples' is 'no'.*yes or"),
        ((f"{HEADINGS}\tpaper", f"{ROW}\tq"), r"specs.tsv:1: unknown columns: paper"),
    ],
)
def test_a_wrong_table_is_refused_with_its_line(tmp_path, lines, message):
    with pytest.raises(UserError, match=message):
        read(tmp_path, *lines)
