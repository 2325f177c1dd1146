"""Rank models by accuracy over a campaign's declared benchmarks."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from blimpworks.campaign.registry import find_paper
from blimpworks.report.read import Cell, PaperInputs

MODELS = "models"
"""Exhibit with the accuracy of each model."""
OVERALL = "Accuracy"
"""Its column where a benchmark has one language; else columns are languages."""


@dataclass(frozen=True, slots=True)
class Column:
    """Accuracies on a benchmark, or on one of its languages."""

    title: str
    address: str
    cells: dict[str, Cell]
    """Cells by the model's label."""


@dataclass(frozen=True, slots=True)
class Line:
    """A model with its accuracies, in the order of the columns."""

    model: str
    cells: list[Cell | None]
    mean: float | None
    """Mean accuracy [%]; None for a model that lacks a column."""


def ranking(papers: Sequence[PaperInputs]) -> tuple[list[Column], list[Line]]:
    """Rank models by their mean over all columns; models that lack a column come last."""
    columns: list[Column] = []
    for paper in papers:
        label = find_paper(paper.name).citation.label
        anchor = f"{paper.name}-{MODELS}".replace("_", "-")
        address = f"{paper.name}.html#{anchor}"
        of_languages: dict[str, Column] = {}
        for exhibit in paper.exhibits:
            form = exhibit.forms.get("measured") if exhibit.name == MODELS else None
            for cell in form.cells if form else ():
                # Cells of single seeds have no keys of print.
                if cell.facts["printed_row"]:
                    language = cell.facts["column"]
                    title = label if language == OVERALL else f"{label}, {language}"
                    column = of_languages.setdefault(language, Column(title, address, {}))
                    column.cells[cell.facts["row"]] = cell
        columns += of_languages.values()
    models = dict.fromkeys(model for column in columns for model in column.cells)
    lines = []
    for model in models:
        cells = [column.cells.get(model) for column in columns]
        values = [cell.facts["value"] for cell in cells if cell]
        lines.append(Line(model, cells, fmean(values) if len(values) == len(columns) else None))
    return columns, sorted(lines, key=lambda line: (line.mean is None, -(line.mean or 0)))
