"""List every table and figure of the five papers, with the exhibit of blimpworks that rebuilds it.

``page`` returns the list in Markdown: ``blimpworks list-exhibits`` makes ``docs/exhibits.md``. Its
inputs are ``config/published/exhibits.tsv``, a list of the papers' tables and figures
(``read_inventory``), and the exhibits that blimpworks builds.
"""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from jinja2 import Template

from blimpworks.campaign.paper import ExhibitSpec
from blimpworks.campaign.registry import exhibits, find_paper
from blimpworks.campaign.table_files import read_rows
from blimpworks.errors import UserError
from blimpworks.strict import Strict

LIST = "exhibits.tsv"
"""File name of the list, among the printed numbers."""
PAGE = (Path(__file__).parent / "assets/inventory.md").read_text(encoding="utf-8")
WORDS_IN_LABELS = {"table": "Table", "fig": "Figure", "figure": "Figure"}
"""Word in the label of an exhibit, by the beginning of the exhibit's name."""


def exhibit_label(name: str) -> str:
    """Return the label of an exhibit in the paper; "" for an exhibit that no paper has.

    >>> exhibit_label("tableb2"), exhibit_label("fig3a"), exhibit_label("text41_5")
    ('Table B.2', 'Figure 3a', 'In the text (4.1, 5)')
    """
    if name.startswith("text"):
        numbers = re.findall(r"\d+", name)  # of sections, without dots
        sections = [f"{digits[0]}.{digits[1:]}".rstrip(".") for digits in numbers]
        return f"In the text ({', '.join(sections)})" if sections else "In the text"
    match = re.fullmatch(r"(table|figure|fig)_?([a-z]?)(\d+)([a-z]?)", name)
    if not match:
        return ""
    beginning, letter, number, panel = match.groups()
    return f"{WORDS_IN_LABELS[beginning]} {letter.upper()}{'.' if letter else ''}{number}{panel}"


class PrintedExhibit(Strict):
    """A table or figure of a paper."""

    paper: str
    exhibit: str
    """Name as in its caption, such as Table 9."""
    note: str
    """Reason why the exhibit is not built, or lacks a form; or a remark."""


def read_inventory(path: Path) -> list[PrintedExhibit]:
    """Read the list of the papers' exhibits. Raises UserError when one is listed twice."""
    rows = read_rows(PrintedExhibit, path)
    exhibit_keys = [(row.paper, row.exhibit) for row in rows]
    repeated = [" ".join(exhibit_key) for exhibit_key, n in Counter(exhibit_keys).items() if n > 1]
    if repeated:
        raise UserError(f"{path}: several rows are about {', '.join(repeated)}; keep one.")
    return rows


def spec_of(row: PrintedExhibit) -> ExhibitSpec | None:
    """Return the exhibit of blimpworks that rebuilds a printed one; None without one."""
    specs = (spec for spec in exhibits().values() if spec.paper == row.paper)
    return next((spec for spec in specs if exhibit_label(spec.name) == row.exhibit), None)


def unlisted(rows: Sequence[PrintedExhibit]) -> list[ExhibitSpec]:
    """Return the exhibits of blimpworks that rebuild no printed table or figure."""
    listed = {spec.key for row in rows if (spec := spec_of(row))}
    return [spec for spec in exhibits().values() if spec.key not in listed]


def page(rows: Sequence[PrintedExhibit]) -> str:
    """Return the list as a page in Markdown, with a table for each paper."""
    papers = {}
    for name in dict.fromkeys(spec.paper for spec in exhibits().values()):
        paper = find_paper(name)
        # Declared benchmarks all have the same exhibits (docs/benchmarks.md).
        if not paper.needs_benchmark:
            printed = [(row.exhibit, spec_of(row), row.note) for row in rows if row.paper == name]
            added = [spec for spec in unlisted(rows) if spec.paper == name]
            ours = [(exhibit_label(spec.name) or "ours", spec, "") for spec in added]
            papers[paper.citation.label] = [*printed, *ours]
    text: str = Template(PAGE, trim_blocks=True, keep_trailing_newline=True).render(papers=papers)
    return text
