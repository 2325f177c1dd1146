"""Test that notebooks run on a finished campaign without changes to it, and are stored empty."""

from pathlib import Path

import nbformat
import pytest

from support import tiny
from support.paths import REPOSITORY

NOTEBOOKS = sorted((REPOSITORY / "notebooks").glob("*.ipynb"))
PAPERS = {path.name for path in (REPOSITORY / "config/published").iterdir() if path.is_dir()}
each = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


PRINTED = {
    "audit": (" judgements: ", "0 not as listed", "blimpworks judge, ", "de_demo-ud-test.conllu")
}
"""Texts that notebooks print, by name: the audit computes a number again, and shows its origin."""


def cells(notebook, kind):
    return [cell for cell in notebook.cells if cell.cell_type == kind]


def printed(notebook):
    outputs = [output for cell in cells(notebook, "code") for output in cell.outputs]
    return "".join(output.text for output in outputs if output.output_type == "stream")


def executed(path, checkout, monkeypatch):
    """Run all cells of a notebook in a checkout, as a reader does; return the notebook."""
    client = pytest.importorskip("nbclient")
    monkeypatch.delenv("BLIMPWORKS_RESULTS", raising=False)
    monkeypatch.setenv("PYTHONPATH", str(checkout.path / "src"))
    notebook = nbformat.read(checkout.path / path.relative_to(REPOSITORY), as_version=4)
    where = {"metadata": {"path": str(checkout.path / "notebooks")}}
    client.NotebookClient(notebook, timeout=300, resources=where).execute()
    return notebook


@each
@pytest.mark.xdist_group("workflow")
def test_a_notebook_runs_and_leaves_the_results_as_they_were(path, evidence, monkeypatch):
    before = tiny.contents(evidence.path / "results")
    notebook = executed(path, evidence, monkeypatch)
    assert all(cell.execution_count for cell in cells(notebook, "code") if cell.source.strip())
    assert [text for text in PRINTED.get(path.stem, ()) if text not in printed(notebook)] == []
    assert tiny.contents(evidence.path / "results") == before


@pytest.mark.xdist_group("workflow")
def test_the_audit_finds_a_table_that_was_changed_in_the_crate(evidence, monkeypatch, tmp_path):
    client = pytest.importorskip("nbclient")
    table = evidence.path / "results/demo/crate/tables/judgements/multiblimp/ngram-5/deu.csv"
    content = table.read_text("utf-8")
    right = content.replace(",1.0,False", ",0.0,False", 1)
    assert right != content
    table.write_text(right, encoding="utf-8")
    try:
        with pytest.raises(client.exceptions.CellExecutionError, match="AssertionError"):
            executed(REPOSITORY / "notebooks/audit.ipynb", evidence, monkeypatch)
    finally:
        table.write_text(content, encoding="utf-8")


def test_the_audit_imports_nothing_of_blimpworks():
    notebook = nbformat.read(REPOSITORY / "notebooks/audit.ipynb", as_version=4)
    code = "\n".join(cell.source for cell in cells(notebook, "code"))
    imported = {
        line.split()[1] for line in code.splitlines() if line.startswith(("import", "from"))
    }
    assert imported == {"hashlib", "json", "os", "pathlib", "pandas"}


@each
def test_a_notebook_is_stored_without_outputs(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert all(not c.outputs and c.execution_count is None for c in cells(notebook, "code"))
    assert notebook.metadata.kernelspec.name == "python3"


def test_there_is_at_most_one_notebook_a_paper_and_the_audit():
    assert {Path(path).stem for path in NOTEBOOKS} <= PAPERS | {"audit"}
