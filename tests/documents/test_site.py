"""Test that links of the documentation's site work and its references come from the code."""

import subprocess
import sys

import pytest

from blimpworks.commands.declare import declared_commands
from support.paths import REPOSITORY

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("site")]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the site as `make docs` does, which fails if a link leads nowhere."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "docs/site/build.py", str(folder)],
        cwd=REPOSITORY, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_it_has_a_page_of_each_document_tutorial_and_notebook(site):
    pages = {path.relative_to(site).with_suffix("") for path in site.rglob("*.html")}
    for kind, suffix in (("docs", "md"), ("docs/site", "md"), ("notebooks", "ipynb")):
        folder = REPOSITORY / kind
        above = REPOSITORY if kind == "notebooks" else folder
        missing = {
            path.relative_to(above).with_suffix("") for path in folder.glob(f"*.{suffix}")
        } - pages
        assert not missing


def test_every_command_for_people_is_described(site):
    page = (site / "reference/commands.html").read_text(encoding="utf-8")
    for each in declared_commands().values():
        if each.panel:
            assert f"{' '.join(each.words)}<a " in page
            assert each.example.split()[0] in page


def test_every_setting_of_a_campaign_is_described(site):
    page = (site / "reference/settings.html").read_text(encoding="utf-8")
    for key in ("languages", "batch_tokens", "near_tie", "unpinned", "teraflops"):
        assert f">{key}</span>" in page


def test_the_interface_for_notebooks_is_described(site):
    page = (site / "reference/interface.html").read_text(encoding="utf-8")
    assert "load_results" in page
    assert "load_items" in page
