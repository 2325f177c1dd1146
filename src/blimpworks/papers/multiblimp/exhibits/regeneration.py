"""How far a campaign regenerates the release: pairs of each language beside the paper's.

Source: Jumelet, Weissweiler, Nivre and Bisazza (2025), Table 5 (column n). Not an exhibit of
the paper.
"""

from collections.abc import Mapping, Sequence

import pandas as pd

from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import TOTAL, select_rows
from blimpworks.exhibits.shared import Tables, read_plain
from blimpworks.papers.multiblimp.exhibits import describe
from blimpworks.papers.multiblimp.exhibits.facts import COMPLETE
from blimpworks.papers.multiblimp.exhibits.formulas import ratio
from blimpworks.tables import FUNNEL

ALL = "All"
# Column, first word of the funnel's stages, and the reason that counts what is left.
COUNTED = (("Pairs", "pairs", "pairs"), ("Items", "sampling", "items"))


def _stages(funnel: pd.DataFrame, stage: str, reason: str) -> list[str]:
    """The funnel's stages of one kind, such as one per phenomenon.

    Raises UserError when there are none that count ``reason``.
    """
    inside = funnel[funnel["reason"] == reason]["stage"].unique()
    stages = [name for name in inside if name.split()[0] == stage]
    if not stages:
        raise UserError(
            f"the funnel has no stage {stage!r} with {reason!r}; it has "
            f"{', '.join(funnel['stage'].unique())}. Rebuild it with this version."
        )
    return stages


def _cells(
    funnel: pd.DataFrame, row: str, published: int | None, chosen: Mapping[str, object]
) -> list[Cell]:
    """Pairs, items, and items against the paper's number, of one language or of all."""
    cells: list[Cell] = []
    for column, stage, reason in COUNTED:
        stages = _stages(funnel, stage, reason)
        where = {**chosen, "stage": stages, "reason": reason}
        n = int(select_rows(funnel, where)["n"].sum())
        cells.append(Cell(row, column, n, str(n), TOTAL, "funnel", where, n=n))
    if published:
        value, formula = n / published, ratio(published)
        cells.append(Cell(row, "Ratio", value, f"{value:.3f}", formula, "funnel", where, n=n))
    return cells


def _matching(cells: Sequence[Cell], published: Mapping[str, int]) -> int:
    """Languages with exactly the paper's number of items."""
    items = {cell.where.get("lang"): cell.value for cell in cells if cell.column == "Items"}
    return sum(items.get(lang) == n for lang, n in published.items())


def regeneration(tables: Tables, labels: Labels) -> Exhibit:
    """Items of each language against the release, what its sources lack, why it differs.

    ``labels.facts`` has the release's numbers, the sources' completeness and the reasons.
    Raises UserError when the funnel lacks a stage.
    """
    funnel = read_plain(FUNNEL, tables["funnel"])
    published: Mapping[str, int] = labels.facts["published_n"]
    sources, reasons = labels.facts["completeness"], labels.facts["reasons"]
    cells: list[Cell] = []
    stub = {ALL: {"ISO": "", "Paper": str(sum(published.values()))}}
    remarks = {ALL: {"Sources missing": "", "Reason": ""}}
    for lang, name in labels.languages.items():
        n = published.get(lang)
        cells += _cells(funnel, name, n, {"lang": lang})
        differs = cells[-1].text != "1.000" or cells[-1].n != n
        stub[name] = {"ISO": lang, "Paper": "" if n is None else str(n)}
        remarks[name] = {
            "Sources missing": sources[lang],
            "Reason": reasons.get(lang, "") if differs else "",
        }
    return Exhibit(
        **describe(
            "regeneration",
            matching=_matching(cells, published),
            published=len(published),
            incomplete=sum(text != COMPLETE for text in sources.values()),
        ),
        cells=[*cells, *_cells(funnel, ALL, sum(published.values()), {})],
        stub={name: stub[name] for name in (*labels.languages.values(), ALL)},
        remarks=remarks,
        widths={"Sources missing": 0.2, "Reason": 0.25},
    )
