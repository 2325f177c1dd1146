"""What CLAMS's exhibits share: accuracies by part, language and construction; cells of them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from blimpworks.analysis.accuracy import wilson
from blimpworks.exhibits.exhibit import Cell, Labels
from blimpworks.exhibits.formulas import Formula, select_rows
from blimpworks.exhibits.shared import Tables, printed_cell, read_plain, read_printed
from blimpworks.papers.clams.exhibits.facts import BENCHMARK, BERT, MBERT, MONO, MULTI, PRINTED
from blimpworks.papers.clams.exhibits.formulas import CONSTRUCTION, CORRECT, mean_over, with_more
from blimpworks.papers.clams.items.constructions import (
    AGREEMENT,
    LANGUAGES,
    construction_of,
    paradigms,
)
from blimpworks.tables import ACCURACIES

MASKED = "masked_critical_word"
"""The method of the measured masked models (section 5.2)."""
HEADINGS = {MONO: "Mono", MULTI: "Multi", BERT: "Mono", MBERT: "Multi"}
AVERAGE, AGAIN = "Average accuracy", "Average accuracy, from the rows above"
AVERAGE_KEY = "average"


def two_digits(value: float) -> str:
    """As the paper prints accuracies."""
    return f"{value:.2f}"


def plain_or_list(values: Sequence[str]) -> str | list[str]:
    """What a cell's filter holds of several values, or of one."""
    return values[0] if len(values) == 1 else [*values]


@dataclass(frozen=True, slots=True)
class Found:
    """Rows of accuracies, and the filter that selects them."""

    rows: pd.DataFrame
    where: dict[str, Any]

    def covers(self, constructions: Collection[str]) -> bool:
        """Whether every model (and phenomenon) here has all of some constructions."""
        known = self.rows.assign(construction=self.rows["paradigm"].map(construction_of))
        having = known.groupby(["model", "phenomenon"])["construction"].nunique()
        return not having.empty and bool((having == len(constructions)).all())

    def cell(
        self,
        place: tuple[str, str],
        formula: Formula,
        *,
        stands_for: tuple[str, str] | None = None,
        text: str | None = None,
        printed: bool = True,
    ) -> Cell:
        """A cell that a formula makes of the rows; two digits unless there is a text."""
        value = formula(self.rows)
        shown = two_digits(value) if text is None else text
        where = self.where
        return Cell(
            *place,
            value,
            shown,
            formula,
            "accuracies",
            where,
            printed=printed,
            stands_for=stands_for,
        )


@dataclass(frozen=True, slots=True)
class Accuracies:
    """A table of accuracies, measured or printed, and whose they are."""

    rows: pd.DataFrame
    models: Mapping[str, Sequence[str]]
    """Models by part."""
    labels: Labels

    def of(
        self,
        part: str | Sequence[str],
        langs: str | Iterable[str],
        constructions: str | Iterable[str],
        phenomenon: str | Sequence[str] = AGREEMENT,
    ) -> Found:
        """Accuracies of the models of a part (or several), on languages and constructions."""
        parts = [part] if isinstance(part, str) else [*part]
        wanted = [constructions] if isinstance(constructions, str) else [*constructions]
        masked = parts[0] in (BERT, MBERT)
        where: dict[str, Any] = {
            "benchmark": BENCHMARK,
            "model": [model for one in parts for model in self.models[one]],
            "lang": [langs] if isinstance(langs, str) else [*langs],
            "phenomenon": [phenomenon] if isinstance(phenomenon, str) else [*phenomenon],
            "paradigm": [p for c in wanted for p in paradigms(c, inanimate=masked)],
            "method": self._method(masked),
        }
        rows = select_rows(self.rows, where)
        for column in ("model", "lang", "phenomenon", "paradigm"):
            present = [value for value in where[column] if (rows[column] == value).any()]
            where[column] = plain_or_list(present) if present else where[column]
        return Found(rows, where)

    def _method(self, masked: bool) -> str:
        measured = self.labels.source == "measured"
        return MASKED if masked and measured else self.labels.method

    def cell(
        self,
        part: str,
        lang: str,
        construction: str,
        place: tuple[str, str],
        phenomenon: str = AGREEMENT,
        column: str = "",
    ) -> Cell | None:
        """Measured accuracy on one construction, over all its pairs; None without any.

        Of several seeds the mean, without an interval: pairs don't differ from seed to seed.
        ``column`` is the printed number's, where it has no part of its own.
        """
        found = self.of(part, lang, construction, phenomenon)
        if found.rows.empty:
            return None
        correct, n = found.rows["correct"].sum(), int(found.rows["n"].sum())
        one = found.rows["model"].nunique() == 1
        low, high = wilson(correct, n) if one else (None, None)
        stands_for = (construction, column or printed_column(lang, part))
        published = self.labels.facts.get("clams_counting") == "published"
        more = len(found.rows) if published and part in (MONO, MULTI) else 0
        value = float((correct + more) / (n + more))
        return Cell(
            *place,
            value,
            two_digits(value),
            with_more(more) if more else CORRECT,
            "judgements",
            found.where,
            n,
            low,
            high,
            stands_for=stands_for,
            ties=int(found.rows["ties"].sum()),
        )

    def average(
        self,
        part: str,
        lang: str,
        constructions: Iterable[str],
        place: tuple[str, str],
        stands_for: tuple[str, str],
        phenomenon: str = AGREEMENT,
    ) -> Cell | None:
        """Mean accuracy over constructions, each counting once; None if one is missing."""
        wanted = [*constructions]
        found = self.of(part, lang, wanted, phenomenon)
        if not found.covers(wanted):
            return None
        return found.cell(place, mean_over(CONSTRUCTION), stands_for=stands_for)


def read_accuracies(tables: Tables, labels: Labels) -> Accuracies:
    """Accuracies of CLAMS by paradigm; none where no model knows the words of any pair."""
    rows = read_plain(ACCURACIES, tables["accuracies"][0])
    return Accuracies(rows, labels.facts["clams_models"], labels)


def printed_column(lang: str, part: str) -> str:
    """Key of a printed number's column: language and model."""
    return f"{lang} {PRINTED[part]}"


def shown_languages(labels: Labels) -> dict[str, str]:
    """The paper's languages and then others, with their names, of those that have a label."""
    order = [lang for lang in LANGUAGES if lang in labels.languages]
    others = [] if labels.source == "published" else [*labels.languages]
    return {lang: labels.languages[lang] for lang in dict.fromkeys([*order, *others])}


def by_language(
    languages: Mapping[str, str], parts: Sequence[str]
) -> dict[tuple[str, str], tuple[str, str]]:
    """Headings, over and under, of columns by language and part."""
    return {
        (lang, part): (name, HEADINGS[part]) for lang, name in languages.items() for part in parts
    }


def printed_cells(
    tables: Tables, exhibit: str, rows: Mapping[str, str], columns: Mapping[str, str]
) -> list[Cell]:
    """The numbers that an exhibit prints in rows and columns, given by key with their names."""
    printed = read_printed(tables)
    inside = printed[(printed["exhibit"] == exhibit) & printed["value"].notna()]
    found = {(row["row"], row["column"]): row for _, row in inside.iterrows()}
    return [
        printed_cell(found[row, column], (row_name, column_name))
        for row, row_name in rows.items()
        for column, column_name in columns.items()
        if (row, column) in found
    ]
