"""CLAMS's tables of LSTMs: accuracies (1), gains by capitals (4), spread over seeds (5).

Source: Mueller, Nicolai, Petrou-Zeniou, Talmina and Linzen (2020).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section
from blimpworks.exhibits.formulas import PERPLEXITY
from blimpworks.exhibits.shared import Tables, best_of_each, read_plain, read_printed
from blimpworks.papers.clams.exhibits.common import (
    AGAIN,
    AVERAGE,
    AVERAGE_KEY,
    Accuracies,
    by_language,
    plain_or_list,
    printed_cells,
    printed_column,
    read_accuracies,
    shown_languages,
    two_digits,
)
from blimpworks.papers.clams.exhibits.facts import MONO, MULTI
from blimpworks.papers.clams.exhibits.formulas import GAIN, MODEL, PRINTED_GAIN, sd_over
from blimpworks.papers.clams.items.constructions import (
    AGREEMENT,
    CAPITALISED,
    CAPITALS,
    CONSTRUCTIONS,
)
from blimpworks.tables import PERPLEXITIES

PARTS = (MONO, MULTI)
PERPLEXITY_ROW = {"perplexity": "Test perplexity"}
NO_LSTM = " No LSTM of the campaign has judged any of it."
SEEDS = 2


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a table by language and part."""

    heads: Mapping[tuple[str, str], tuple[str, str]]

    @classmethod
    def of(cls, labels: Labels, only: Sequence[str] | None = None) -> "Columns":
        """Those of the languages shown, or of some of them alone."""
        languages = shown_languages(labels)
        chosen = {k: v for k, v in languages.items() if only is None or k in only}
        return cls(by_language(chosen, PARTS))

    @property
    def names(self) -> dict[tuple[str, str], str]:
        """Each column's name."""
        return {key: " ".join(head) for key, head in self.heads.items()}

    @property
    def printed(self) -> dict[str, str]:
        """Its name, by key of the printed numbers' column."""
        return {printed_column(*key): name for key, name in self.names.items()}

    def sections(self, *groups: Mapping[str, str]) -> list[Section]:
        """Sections of rows, by key with their names, under the same columns."""
        names = list(self.names.values())
        rows = [{name: name for name in group.values()} for group in groups]
        return [Section("", group, names) for group in rows if group]

    def exhibit(
        self, title: str, caption: str, cells: Sequence[Cell], *groups: Mapping[str, str]
    ) -> Exhibit:
        """The table; rows without any cell stay out of it."""
        present = {cell.row for cell in cells if cell.printed}
        kept = [{k: name for k, name in g.items() if name in present} for g in groups]
        kept = kept if present else [CONSTRUCTIONS]
        heads = {self.names[key]: head for key, head in self.heads.items()}
        caption += "" if present else NO_LSTM
        return Exhibit(title, caption, [*cells], heads=heads, sections=self.sections(*kept))


def _each(
    columns: Columns, make: Callable[[str, str, str, tuple[str, str]], Cell | None]
) -> list[Cell]:
    """Cells of all constructions and columns, where there are any."""
    made = [
        make(part, lang, construction, (name, columns.names[lang, part]))
        for construction, name in CONSTRUCTIONS.items()
        for lang, part in columns.heads
    ]
    return [cell for cell in made if cell is not None]


def _averages(found: Accuracies, columns: Columns, row: str) -> list[Cell]:
    made = [
        found.average(
            part,
            lang,
            CONSTRUCTIONS,
            (row, columns.names[lang, part]),
            (AVERAGE_KEY, printed_column(lang, part)),
        )
        for lang, part in columns.heads
    ]
    return [cell for cell in made if cell is not None]


# Table 1


def trained(labels: Labels) -> str:
    """What a caption says first of LSTMs that were trained here."""
    told = labels.facts.get("clams_training")
    return f"Models trained here, not the paper's: {told}. " if told else ""


def scored(labels: Labels) -> str:
    """What a measured table's caption says last: how decisions were made."""
    told = labels.facts.get("clams_scoring") if labels.source == "measured" else ""
    return f" {told}" if told else ""


def _perplexities(tables: Tables, found: Accuracies, columns: Columns) -> list[Cell]:
    """Mean perplexity over seeds of each part's models on each language's test text."""
    frames = [read_plain(PERPLEXITIES, path) for path in tables.get("perplexities", ())]
    rows = pd.concat(frames) if frames else pd.DataFrame({"lang": [], "model": []})
    (key, name), cells = next(iter(PERPLEXITY_ROW.items())), []
    for (lang, part), column in columns.names.items():
        inside = rows[(rows["lang"] == lang) & rows["model"].isin(found.models[part])]
        if not inside.empty:
            where = {"lang": lang, "model": plain_or_list([*inside["model"]])}
            value = PERPLEXITY(inside)
            stands_for = (key, printed_column(lang, part))
            place = (name, column)
            text = two_digits(value)
            cells.append(
                Cell(*place, value, text, PERPLEXITY, "perplexities", where, stands_for=stands_for)
            )
    return cells


def table1(tables: Tables, labels: Labels) -> Exhibit:
    """Table 1: accuracy of the LSTMs by construction and language, with averages.

    The published form has the printed averages, and what the printed accuracies make of them.
    """
    found, columns = read_accuracies(tables, labels), Columns.of(labels)
    last = {AVERAGE_KEY: AVERAGE}
    if labels.source == "published":
        rows = PERPLEXITY_ROW | CONSTRUCTIONS | last
        cells = printed_cells(tables, "table1", rows, columns.printed)
        cells += _averages(found, columns, AGAIN)
        last |= {"again": AGAIN}
        caption = "As printed; the last row is the mean of the seven printed accuracies above. "
    else:
        cells = _perplexities(tables, found, columns)
        cells += _each(columns, found.cell) + _averages(found, columns, AVERAGE)
        caption = trained(labels)
    # Only accuracies compare across columns.
    rated = [cell for cell in cells if cell.row in CONSTRUCTIONS.values()]
    exhibit = columns.exhibit(
        "Accuracy of LSTM language models by construction and language",
        f"{caption}Share of minimal pairs whose grammatical sentence is the more probable, for "
        "models of one language (Mono) and of all (Multi), mean over seeds; average: over "
        f"constructions. Chance is 0.5. Best of each construction in bold.{scored(labels)}",
        cells,
        PERPLEXITY_ROW,
        CONSTRUCTIONS,
        last,
    )
    exhibit.bold = best_of_each(rated, {*columns.names.values()}, digits=2)
    return exhibit


# Table 4


def signed(value: float) -> str:
    """As the paper prints gains: with a sign, two digits; a dash where nothing changes."""
    rounded = round(value, 2)
    return f"{rounded:+.2f}".replace("0.", ".", 1) if rounded else "—"


def _gain(found: Accuracies, construction: str | None) -> Callable[..., Cell | None]:
    """What makes the cell of one construction, or of the average."""
    wanted = [construction] if construction else [*CONSTRUCTIONS]

    def make(lang: str, part: str, place: tuple[str, str]) -> Cell | None:
        """The gain of a part on a language; None where either kind is missing."""
        both = found.of(part, lang, wanted, (AGREEMENT, CAPITALS))
        if both.rows["phenomenon"].nunique() < 2 or not both.covers(wanted):
            return None
        text = signed(GAIN(both.rows))
        key = construction or AVERAGE_KEY
        return both.cell(place, GAIN, stands_for=(key, printed_column(lang, part)), text=text)

    return make


def _printed_gains(tables: Tables, columns: Columns) -> list[Cell]:
    """Average gains from the gains and Table 1, relative to whose averages they are given."""
    printed = read_printed(tables)
    printed = printed[printed["exhibit"].isin(["table1", "table4"])]
    rows = [*CONSTRUCTIONS, AVERAGE_KEY]
    cells = []
    for key, name in columns.printed.items():
        inside = printed[(printed["column"] == key) & printed["row"].isin(rows)]
        before = inside[inside["exhibit"] == "table1"]
        gains = inside[(inside["exhibit"] == "table4") & (inside["row"] != AVERAGE_KEY)]
        where = {"exhibit": ["table1", "table4"], "row": rows, "column": key}
        value = PRINTED_GAIN(inside)
        if len(before) == len(rows) and len(gains) == len(CONSTRUCTIONS):
            place = (AGAIN, name)
            text, stands_for = signed(value), (AVERAGE_KEY, key)
            cells.append(
                Cell(*place, value, text, PRINTED_GAIN, "published", where, stands_for=stands_for)
            )
    return cells


def table4(tables: Tables, labels: Labels) -> Exhibit:
    """Table 4: what a capital first letter adds to the LSTMs' accuracy."""
    columns = Columns.of(labels, CAPITALISED if labels.source == "published" else None)
    last = {AVERAGE_KEY: AVERAGE}
    if labels.source == "published":
        cells = printed_cells(tables, "table4", CONSTRUCTIONS | last, columns.printed)
        cells += _printed_gains(tables, columns)
        last |= {"again": AGAIN}
        caption = (
            "As printed; the last row is the mean of Table 1's accuracies and these gains, less "
            "Table 1's average. "
        )
    else:
        found, caption = read_accuracies(tables, labels), ""
        makers = {name: _gain(found, key) for key, name in CONSTRUCTIONS.items()}
        makers[AVERAGE] = _gain(found, None)
        made = [
            make(lang, part, (row, columns.names[lang, part]))
            for row, make in makers.items()
            for lang, part in columns.heads
        ]
        cells = [cell for cell in made if cell is not None]
    return columns.exhibit(
        "Gains in accuracy by a capital first letter",
        f"{caption}Accuracy of the LSTMs on sentences that begin with a capital letter, less that "
        "of Table 1; a dash: no change. Hebrew has no capitals.",
        cells,
        CONSTRUCTIONS,
        last,
    )


# Table 5


def table5(tables: Tables, labels: Labels) -> Exhibit:
    """Table 5: standard deviation of the LSTMs' accuracy over seeds."""
    columns = Columns.of(labels)
    if labels.source == "published":
        cells = printed_cells(tables, "table5", CONSTRUCTIONS, columns.printed)
    else:
        found = read_accuracies(tables, labels)

        def spread(part: str, lang: str, key: str, place: tuple[str, str]) -> Cell | None:
            """The standard deviation of one construction; None without several seeds."""
            inside = found.of(part, lang, key)
            if inside.rows["model"].nunique() < SEEDS:
                return None
            formula = sd_over(MODEL)
            stands_for = (key, printed_column(lang, part))
            text = two_digits(formula(inside.rows))
            return inside.cell(place, formula, stands_for=stands_for, text=text)

        cells = _each(columns, spread)
    none = "" if cells else " No model was trained from several seeds."
    return columns.exhibit(
        "Standard deviation of the LSTMs' accuracy over seeds",
        f"Of the models of Table 1, as a share of 1, dividing by the number of seeds.{none}",
        cells,
        CONSTRUCTIONS,
    )
