"""Select the accuracies that exhibits of declared benchmarks show, with names and cells."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pandas as pd

from blimpworks.analysis.accuracy import ALL
from blimpworks.benchmarks.exhibits import describe
from blimpworks.benchmarks.exhibits.formulas import POOLED
from blimpworks.errors import UserError
from blimpworks.exhibits.accuracies import SOURCE, Place, accuracy_cell, read_accuracies
from blimpworks.exhibits.descriptions import Description
from blimpworks.exhibits.exhibit import Cell, Labels
from blimpworks.exhibits.formulas import select_rows
from blimpworks.exhibits.shared import Tables, read_plain
from blimpworks.reproduction.printed import PRINTED
from blimpworks.tables import ACCURACIES

RELEASED, HUMAN = "released", "human"
"""Method of released decisions, and model that means people."""
PEOPLE, OVERALL = "People", "All"
SEED = re.compile(r"_\d+$")
MEASURES = {
    "pairs": "pairs of which a model prefers the good sentence",
    "sentences": "sentences that a model rightly accepts or rejects",
    "conditions": "items of which a model meets all predictions",
    "mean": "predictions of an item that a model meets, on average over items",
}
"""Things that an accuracy counts in percent, by layout."""


def ordered(present: Iterable[str], preferred: Iterable[str]) -> list[str]:
    """Order names as ``preferred``, then alphabetically."""
    names = {*present}
    return [name for name in dict.fromkeys([*preferred, *sorted(names)]) if name in names]


def spoken(name: str) -> str:
    """Write a phenomenon's name as in print: with spaces for underscores."""
    return OVERALL if name == ALL else name.replace("_", " ")


def family_of(model: str) -> str:
    """Return a model's name without its seed, the number after the last underscore."""
    return SEED.sub("", model).rstrip("_") or model


def distinct(names: Mapping[str, str]) -> dict[str, str]:
    """Add the key to printed names that several keys have."""
    times = Counter(names.values())
    return {key: name if times[name] == 1 else f"{name} ({key})" for key, name in names.items()}


def languages_in(rows: pd.DataFrame, labels: Labels) -> dict[str, str]:
    """Return printed names of the languages of some rows, in the order of the labels."""
    names = distinct(dict(labels.languages))
    return {lang: names.get(lang, lang) for lang in ordered(rows["lang"].unique(), names)}


def number_text(value: float, form: str) -> str:
    """Format a number with a minus sign; zero has none."""
    return f"{value:z{form}}".replace("-", "−")


def with_interval(cell: Cell, form: str = ".1f") -> Cell:
    """Write a cell's value and its interval, if it has one, into its text."""
    text = number_text(cell.value, form)
    if cell.low is not None and cell.high is not None:
        text += f" [{number_text(cell.low, form)}, {number_text(cell.high, form)}]"
    return replace(cell, text=text)


@dataclass(frozen=True)
class View:
    """Accuracies of a benchmark by the method shown, and the models of each column."""

    labels: Labels
    rows: pd.DataFrame
    columns: Mapping[str, Sequence[str]]
    """Models by the name of their column; a family, whose models differ in their seed, is one."""
    partial: frozenset[str] = frozenset()
    """Languages with only the paradigms that people judged, and without sums of more."""
    shared: str = ""
    """Caption's sentence on paradigms that people and models share."""

    @property
    def name(self) -> str:
        """The benchmark's name in print."""
        return str(self.labels.facts["benchmark"]["label"])

    @property
    def layout(self) -> str:
        """Layout of the items: pairs, sentences or conditions."""
        return str(self.labels.facts["benchmark"]["layout"])

    def described(self, key: str, **more: object) -> Description:
        """Return the title and caption of an exhibit, with its measure and method."""
        how = f"method {self.labels.method.replace('_', ' ')}"
        if self.labels.source == "published":
            how = "released decisions"
        by_mean = self.labels.facts["benchmark"].get("right") == "mean"
        measure = f"{MEASURES['mean' if by_mean else self.layout]} ({how})"
        return describe(key, name=self.name, measure=measure, **more)

    @property
    def chance(self) -> str:
        """Caption's sentence on the line at chance, which figures of pairs have."""
        return " Broken line: chance." if self.layout == "pairs" else ""

    @cached_property
    def languages(self) -> dict[str, str]:
        """Printed names of the languages with accuracies."""
        return languages_in(self.rows, self.labels)

    @cached_property
    def phenomena(self) -> list[str]:
        """Phenomena in the benchmark's order, without ``all``."""
        present = {*self.rows["phenomenon"]} - {ALL}
        return ordered(present, self.labels.facts["benchmark"]["phenomena"])

    @cached_property
    def _places(self) -> Mapping[Any, Any]:
        return dict(self.rows.groupby(["lang", "phenomenon", "paradigm", "model"]).indices)

    def single(self, lang: str) -> list[tuple[str, str]]:
        """List phenomenon and paradigm of each single paradigm of a language, "2" before "10"."""
        rows = self.rows[(self.rows["lang"] == lang) & (self.rows["paradigm"] != ALL)]
        pairs = rows[["phenomenon", "paradigm"]].drop_duplicates().itertuples(index=False)
        rank = {phenomenon: number for number, phenomenon in enumerate(self.phenomena)}

        def by_number(pair: tuple[str, str]) -> tuple[int, list[tuple[int, str]]]:
            # As people sort names with numbers: 2 before 10.
            parts = re.split(r"(\d+)", pair[1])
            return rank[pair[0]], [(int(n), "") if n.isdecimal() else (-1, n) for n in parts]

        return sorted(((str(p), str(paradigm)) for p, paradigm in pairs), key=by_number)

    def prefix(self, lang: str) -> str:
        """Return the start of a language's rows: its name, if there are several."""
        return f"{self.languages[lang]}: " if len(self.languages) > 1 else ""

    def row(self, lang: str, phenomenon: str) -> str:
        """Return the key of the row of a phenomenon in a language."""
        return f"{self.prefix(lang)}{spoken(phenomenon)}"

    def lines(self) -> Iterator[tuple[str, str, str]]:
        """Yield languages and phenomena, ``all`` last, with the keys of their rows."""
        for lang in self.languages:
            for phenomenon in (*self.phenomena, ALL):
                yield lang, phenomenon, self.row(lang, phenomenon)

    def of(self, lang: str, phenomenon: str, paradigm: str, models: Sequence[str]) -> pd.DataFrame:
        """Return the rows of some models in one place."""
        keys = [(lang, phenomenon, paradigm, model) for model in models]
        indices = [index for key in keys for index in self._places.get(key, ())]
        return self.rows.iloc[indices]

    def behind(self, lang: str, phenomenon: str, models: Sequence[str]) -> pd.DataFrame:
        """Return the rows of models on a phenomenon or ``all``, else those of its paradigms."""
        whole = self.of(lang, phenomenon, ALL, models)
        if not whole.empty:
            return whole
        chosen = (self.rows["lang"] == lang) & self.rows["model"].isin(models)
        if phenomenon != ALL:
            chosen &= self.rows["phenomenon"] == phenomenon
        if lang not in self.partial:
            chosen &= self.rows["paradigm"] != ALL
        return self.rows[chosen]

    def cell(self, rows: pd.DataFrame, place: Place) -> Cell | None:
        """Average ``rows`` in percent without weights; None without any.

        One model's row brings its 95 % interval; judged pairs bring ties. Where a language is
        partial, one model's rows are pooled, so that each judgement counts once.
        """
        if rows.empty:
            return None
        alone = len(rows) == 1
        judged_pairs = self.layout == "pairs" and self.labels.source == "measured"
        ties = alone and judged_pairs and HUMAN not in {*rows["model"]}
        one_model = rows["model"].nunique() == 1 and bool(rows["low"].notna().all())
        if one_model and not alone and {*rows["lang"]} <= self.partial:
            return accuracy_cell(rows, place, POOLED, interval="pooled")
        return accuracy_cell(rows, place, ties=ties)


def read_view(tables: Tables, labels: Labels) -> View:
    """Read the campaign's accuracies by the method shown, or released or printed ones."""
    where: dict[str, Any] = {"benchmark": labels.facts["benchmark"]["name"]}
    published, method = labels.source == "published", labels.method
    if published:
        every = select_rows(read_plain(ACCURACIES, tables[SOURCE]), where)
        method = PRINTED if {*every["method"]} == {PRINTED} else RELEASED
        where["model"] = sorted({*every["model"]} - {HUMAN})
    else:
        where["model"] = [*labels.models]
    rows = read_accuracies(
        tables, where, method, whose="any model" if published else "the campaign's models"
    )
    rows = rows.reset_index(drop=True)
    if published:
        return View(labels, rows, _families(rows, labels))
    judged = {*rows["model"]}
    names = distinct(labels.models).items()
    return View(labels, rows, {name: [key] for key, name in names if key in judged})


def _families(rows: pd.DataFrame, labels: Labels) -> dict[str, list[str]]:
    means = rows[rows["phenomenon"] == ALL].groupby("model")["accuracy"].mean()
    families: dict[str, list[str]] = {}
    for model in sorted({*rows["model"]}):
        families.setdefault(family_of(model), []).append(model)
    ranked = sorted(families, key=lambda family: -means.reindex(families[family]).mean())
    names = distinct({family: labels.models.get(family, family) for family in ranked})
    return {name: families[family] for family, name in names.items()}


def with_people(view: View, tables: Tables) -> View:
    """Add people as first column. Raises UserError if they have not exactly one method."""
    people = read_plain(ACCURACIES, tables["people"])
    benchmark = view.labels.facts["benchmark"]["name"]
    people = people[(people["benchmark"] == benchmark) & (people["model"] == HUMAN)]
    methods = sorted({*people["method"]})
    if len(methods) != 1:
        raise UserError(
            f"{', '.join(map(str, tables['people']))} has accuracies of people on {benchmark} by "
            f"{', '.join(methods) or 'no method'}; expected one method. Read people's judgements "
            "again."
        )
    people = people[people["lang"].isin(view.languages)]
    rows = pd.concat([view.rows, people], ignore_index=True)
    view = replace(view, rows=rows, columns={PEOPLE: [HUMAN], **view.columns})
    return view if people.empty else _over_common(view)


def _units(rows: pd.DataFrame) -> set[tuple[str, str]]:
    units = {*zip(rows["phenomenon"], rows["paradigm"], strict=True)}
    return {unit for unit in units if unit[1] != ALL} or {u for u in units if u[0] != ALL}


def _over_common(view: View) -> View:
    """Keep what people and models both judged, with a sentence on it."""
    kept, partial, without = [], set(), []
    numbers = Counter[str]()
    for lang, name in view.languages.items():
        rows = view.rows[view.rows["lang"] == lang]
        people, models = (
            _units(rows[(rows["model"] == HUMAN) == human]) for human in (True, False)
        )
        unit = "paradigms" if any(paradigm != ALL for _, paradigm in people) else "phenomena"
        if unit == "phenomena":
            models = {(phenomenon, ALL) for phenomenon, _ in models}
        common = people & models
        if not common:
            without.append(name)
            continue
        numbers.update({unit: len(common), f"all {unit}": len(models)})
        if common < models:
            partial.add(lang)
            units = zip(rows["phenomenon"], rows["paradigm"], strict=True)
            rows = rows[[each in common for each in units]]
        kept.append(rows)
    if not kept:
        return view
    shared = [
        f" All and each phenomenon are over the {unit} that people and models both judged: "
        f"{numbers[unit]} of {numbers[f'all {unit}']}."
        for unit in ("paradigms", "phenomena")
        if numbers[unit]
    ]
    shared += [f" People judged nothing of {', '.join(without)}."] * bool(without)
    rows = pd.concat(kept, ignore_index=True)
    return replace(view, rows=rows, partial=frozenset(partial), shared="".join(shared))


def present(cells: Iterable[Cell | None]) -> Iterator[Cell]:
    """Skip absent cells."""
    return (cell for cell in cells if cell is not None)
