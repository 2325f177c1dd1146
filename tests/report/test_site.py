"""The report's site takes the place of an older one when it is whole, and not before."""

from pathlib import Path

import pytest
from sphinx.util.docutils import docutils_namespace

from blimpworks.errors import UserError
from blimpworks.report import pages
from blimpworks.report.read import Campaign, Inputs, Trees
from support import tiny


@pytest.fixture
def build(monkeypatch):
    """Builds a site of one page, with the real Sphinx, into a directory."""

    def run(output, text="Report\n======\n\nAll is well.\n"):
        inputs = Inputs.__new__(Inputs)
        object.__setattr__(inputs, "papers", [])
        object.__setattr__(inputs, "trees", Trees(Path("results"), "", frozenset(), frozenset()))
        monkeypatch.setattr(pages, "read_inputs", lambda *_: inputs)
        monkeypatch.setattr(pages, "assemble", lambda _: {"index.rst": text})
        campaign = Campaign("small", "", "", Path(), (), {}, {})
        with docutils_namespace():  # Sphinx is made for one site in a process
            return pages.build_report(campaign, None, output)

    return run


def test_a_new_site_takes_the_place_of_the_old_one(build, tmp_path):
    output = tmp_path / "report"
    output.mkdir()
    (output / "old.html").write_text("old")
    assert build(output)["pages"] >= 1
    assert "All is well." in (output / "index.html").read_text()
    assert not (output / "old.html").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["report"]


def test_the_old_site_stays_where_the_new_one_cannot_be_built(build, tmp_path):
    output = tmp_path / "report"
    build(output)
    before = tiny.contents(output)
    with pytest.raises(UserError, match="Sphinx cannot build the report"):
        build(output, "Report\n======\n\n:doc:`nowhere`\n")
    assert tiny.contents(output) == before
