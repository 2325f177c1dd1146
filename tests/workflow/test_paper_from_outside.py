"""Test a paper in a distribution of its own, from items to report, without an edit of ours."""

import csv
import os
import shutil
import subprocess
import sys

import pytest

from support.checkout import copy_of, output_of
from support.paths import DATA

CAMPAIGN = "config/kablimp.yaml"
RESULTS = "results/demo"
pytestmark = pytest.mark.xdist_group("workflow")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Install the distribution ``kablimp`` into a directory and return it."""
    folder = tmp_path_factory.mktemp("kablimp")
    source, target = folder / "source", folder / "site"
    shutil.copytree(DATA / "kablimp", source)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    command += ["--no-build-isolation", "--target", str(target), str(source)]
    subprocess.run(command, check=True, capture_output=True)
    return target


@pytest.fixture(scope="module")
def checkout(built, installed, tmp_path_factory):
    """Run a campaign of that paper in a checkout and build its report."""
    checkout = copy_of(built, tmp_path_factory.mktemp("outside"))
    chosen = {"benchmarks": ["kablimp"], "languages": ["eng"], "models": ["ngram-5"]}
    checkout.change(CAMPAIGN, **chosen, kablimp={"pairs": 6})
    path = os.pathsep.join([str(checkout.path / "src"), str(installed)])
    run = checkout.run
    checkout.run = lambda *command, **more: run(*command, PYTHONPATH=path, **more)
    checkout.make("all", "report", campaign=CAMPAIGN)
    return checkout


def test_its_table_figure_and_page_of_the_report_are_built(checkout):
    folder = checkout.path / RESULTS / "exhibits/kablimp"
    with (folder / "table1.csv").open(encoding="utf-8") as handle:
        (row,) = csv.DictReader(handle)
    assert (row["Singular"], row["Plural"], row["Mean"]) == ("100.0", "50.0", "75.0")
    assert (folder / "fig1.png").stat().st_size > 1000
    page = (checkout.path / RESULTS / "report/kablimp.html").read_text("utf-8")
    assert "A Paper of One" in page
    assert "Nobody (2026)" in page


def test_its_printed_numbers_are_recomputed_by_its_formula(checkout):
    path = checkout.path / RESULTS / "reproduction/published.csv"
    with path.open(encoding="utf-8") as handle:
        rows = {row["row"]: row for row in csv.DictReader(handle) if row["paper"] == "kablimp"}
    assert {name: row["status"] for name, row in rows.items()} == {
        "singular": "not recomputable",
        "plural": "not recomputable",
        "mean": "exact",
    }
    assert rows["mean"]["rule"] == "100 × mean(accuracy) over paradigms"


def test_its_numbers_are_explained_down_to_its_items_and_its_products_checked(checkout):
    table = f"{RESULTS}/exhibits/kablimp/table1.csv"
    done = checkout.blimpworks("explain", table, "--row", "5-gram", "--column", "Mean")
    assert "computed again from those rows: 75 (the same)" in done.stdout
    assert "build_kablimp_items" in done.stdout
    done = checkout.blimpworks("check", f"{RESULTS}/exhibits/kablimp")
    assert "all as recorded" in done.stdout


def test_an_edit_of_its_code_runs_its_rules_again_and_no_others(checkout, installed):
    module = installed / "kablimp/items.py"
    before = module.read_text("utf-8")
    module.write_text(before.replace('"singer")', '"singer", "baker")'), "utf-8")
    try:
        done = checkout.snakemake("-n", "items", campaign=CAMPAIGN)
    finally:
        module.write_text(before, "utf-8")
    assert "build_kablimp_items" in output_of(done)
    assert "build_text" not in output_of(done)


def test_its_commands_and_settings_are_known(checkout):
    done = checkout.run("blimpworks", "build-kablimp-items", "--help")
    assert "Pairs of each paradigm." in done.stdout
    checkout.change("config/wrong.yaml", benchmarks=["kablimp"], kablimp={"pears": 6})
    done = checkout.snakemake("-n", campaign="config/wrong.yaml")
    assert "key 'kablimp.pears' is not a setting; did you mean 'pairs'?" in output_of(done)
