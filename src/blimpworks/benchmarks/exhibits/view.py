"""Select the accuracies that tables and figures of declared benchmarks show, and make their cells.

``read_view`` returns a ``View``: the accuracies of a benchmark, and the models of each column of an
exhibit. A row has model, language, phenomenon, paradigm and accuracy. ``all`` marks the rows over
several paradigms:

    gpt2  eng  agreement  subject_verb  0.83    one paradigm;
    gpt2  eng  agreement  all           0.81    all paradigms of the phenomenon;
    gpt2  eng  all        all           0.79    all phenomena of the language.

``with_people`` adds the accuracies of people. People judge *units*: paradigms, or in some languages
whole phenomena, whose rows are like the second one above. If people and models judged different
units of a language, the language is *partial*: the view has only the rows of its common units.

A ``Cell`` is a number with the formula and the filter of rows from which it can be computed again.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import pandas as pd

from blimpworks.benchmarks.accuracies import HUMAN, RELEASED
from blimpworks.benchmarks.exhibits import describe
from blimpworks.benchmarks.exhibits.formulas import POOLED
from blimpworks.errors import UserError
from blimpworks.exhibits import shared
from blimpworks.exhibits.descriptions import Description
from blimpworks.exhibits.exhibit import Cell, Labels
from blimpworks.exhibits.formulas import select_rows
from blimpworks.exhibits.shared import SOURCE, Place, Tables, accuracy_cell, read_plain
from blimpworks.items import ALL
from blimpworks.reproduction.printed import IN_PRINT
from blimpworks.tables import ACCURACIES

PEOPLE, OVERALL, COUNT = "People", "All", "n"
"""Names of the column of people, of the row ``all``, and of the column of numbers of items."""
SEED = re.compile(r"_\d+$")
"""Seed at the end of a model's name, such as ``_3`` in ``lstm_3``."""


def ordered(present: Iterable[str], preferred: Iterable[str]) -> list[str]:
    """Return the names that are ``present``, ordered as ``preferred`` and then alphabetically."""
    names = {*present}
    return [name for name in dict.fromkeys([*preferred, *sorted(names)]) if name in names]


def printed_name(name: str) -> str:
    """Return a phenomenon's name in print, with spaces for underscores."""
    return OVERALL if name == ALL else name.replace("_", " ")


def column_names(labels: Mapping[str, str]) -> dict[str, str]:
    """Return the models' printed names by key, distinct from the names of all other columns."""
    from blimpworks.analysis.baselines import BASELINES

    return distinct_names(labels, ["", COUNT, PEOPLE, *map(str.capitalize, BASELINES.values())])


def family_of(model: str) -> str:
    """Return a model's name without its seed, the number after the last underscore."""
    return SEED.sub("", model).rstrip("_") or model


def distinct_names(names: Mapping[str, str], taken: Iterable[str] = ()) -> dict[str, str]:
    """Return names by key; a name that is ``taken``, or of several keys, becomes "name (key)"."""
    times = Counter([*names.values(), *taken])
    return {key: name if times[name] == 1 else f"{name} ({key})" for key, name in names.items()}


def languages_in(rows: pd.DataFrame, labels: Labels) -> dict[str, str]:
    """Return the printed names of the languages in ``rows`` by code, in the order of the labels."""
    names = distinct_names(dict(labels.languages))
    return {lang: names.get(lang, lang) for lang in ordered(rows["lang"].unique(), names)}


def number_text(value: float, form: str) -> str:
    """Format a number with a true minus sign, and zero without a sign."""
    return f"{value:z{form}}".replace("-", "−")


def with_interval(cell: Cell, form: str = ".1f") -> Cell:
    """Return the cell with the text "81.5 [79.0, 83.8]": value, and interval if it has one."""
    text = number_text(cell.value, form)
    if cell.low is not None and cell.high is not None:
        text += f" [{number_text(cell.low, form)}, {number_text(cell.high, form)}]"
    return replace(cell, text=text)


class CommonUnits(NamedTuple):
    """Facts for captions on the units that both people and models judged, in all languages."""

    by_both: Mapping[str, int]
    """Number of these units: {"paradigms": 40, "phenomena": 5}."""
    by_either: Mapping[str, int]
    """Number of units that people or models judged: {"paradigms": 67, "phenomena": 5}."""
    languages_without: Sequence[str]
    """Names of languages without such units."""


@dataclass(frozen=True)
class View:
    """Accuracies of a benchmark by one method, and the models of each column."""

    labels: Labels
    rows: pd.DataFrame
    columns: Mapping[str, Sequence[str]]
    """Models of each column, by its name; models that differ in the seed share a column."""
    partial_languages: frozenset[str] = frozenset()
    """Languages in which people and models judged different units; rows are of common units."""
    common_units: CommonUnits | None = None
    """Facts for captions; None without people, or if no language has common units."""

    @property
    def layout(self) -> str:
        """Layout of the items: pairs, sentences or conditions."""
        return str(self.labels.facts["benchmark"]["layout"])

    def described(self, key: str, **more: object) -> Description:
        """Return the title and caption of the exhibit ``key``; its templates get these values."""
        benchmark = self.labels.facts["benchmark"]
        return describe(
            key,
            name=benchmark["label"],
            measure="mean" if benchmark.get("right") == "mean" else self.layout,
            method=self.labels.method.replace("_", " "),
            released=self.labels.source == "published",
            chance=self.has_chance,
            several_seeds=any(len(models) > 1 for models in self.columns.values()),
            people=benchmark.get("people", ""),
            common=self.common_units,
            **more,
        )

    @property
    def has_chance(self) -> bool:
        """Whether figures have a line at chance."""
        return self.layout == "pairs"

    @cached_property
    def languages(self) -> dict[str, str]:
        """Printed names of the languages with accuracies, by code."""
        return languages_in(self.rows, self.labels)

    @cached_property
    def phenomena(self) -> list[str]:
        """Phenomena in the order of the benchmark's declaration, without ``all``."""
        present = {*self.rows["phenomenon"]} - {ALL}
        return ordered(present, self.labels.facts["benchmark"]["phenomena"])

    @cached_property
    def phenomenon_names(self) -> dict[str, str]:
        """Printed names of phenomena and of ``all``, made distinct by their keys."""
        return distinct_names({name: printed_name(name) for name in (*self.phenomena, ALL)})

    @cached_property
    def _positions(self) -> Mapping[Any, Any]:
        # {(language, phenomenon, paradigm, model): positions in ``rows``}
        return dict(self.rows.groupby(["lang", "phenomenon", "paradigm", "model"]).indices)

    def paradigms(self, lang: str) -> list[tuple[str, str]]:
        """List (phenomenon, paradigm) of a language's paradigms, with "2" before "10"."""
        rows = self.rows[(self.rows["lang"] == lang) & (self.rows["paradigm"] != ALL)]
        pairs = rows[["phenomenon", "paradigm"]].drop_duplicates().itertuples(index=False)
        rank = {phenomenon: number for number, phenomenon in enumerate(self.phenomena)}

        # "npi_10" has the key [(-1, "npi_"), (10, ""), (-1, "")].
        def sort_key(pair: tuple[str, str]) -> tuple[int, list[tuple[int, str]]]:
            phenomenon, paradigm = pair
            pieces = re.split(r"(\d+)", paradigm)
            numbered = [(int(text), "") if text.isdecimal() else (-1, text) for text in pieces]
            return rank[phenomenon], numbered

        return sorted(((str(name), str(paradigm)) for name, paradigm in pairs), key=sort_key)

    def prefix(self, lang: str) -> str:
        """Return how keys of a language's rows begin: "English: ", or "" for a single language."""
        return f"{self.languages[lang]}: " if len(self.languages) > 1 else ""

    def row_key(self, lang: str, phenomenon: str) -> str:
        return f"{self.prefix(lang)}{self.phenomenon_names[phenomenon]}"

    def row_keys(self) -> Iterator[tuple[str, str, str]]:
        """Yield language, phenomenon (``all`` last) and key of each row of a table."""
        for lang in self.languages:
            for phenomenon in (*self.phenomena, ALL):
                yield lang, phenomenon, self.row_key(lang, phenomenon)

    def paradigm_rows(
        self, lang: str, phenomenon: str, paradigm: str, models: Sequence[str]
    ) -> pd.DataFrame:
        """Return the rows of models that have all three labels; the last two may be ``all``."""
        keys = [(lang, phenomenon, paradigm, model) for model in models]
        return self.rows.iloc[[n for key in keys for n in self._positions.get(key, ())]]

    def phenomenon_rows(self, lang: str, phenomenon: str, models: Sequence[str]) -> pd.DataFrame:
        """Return the rows of models on a phenomenon, or on its units if it has no row.

        The phenomenon ``all`` has the units of all phenomena.
        """
        over_paradigms = self.paradigm_rows(lang, phenomenon, ALL, models)
        if not over_paradigms.empty:
            return over_paradigms
        chosen = (self.rows["lang"] == lang) & self.rows["model"].isin(models)
        if phenomenon != ALL:
            chosen &= self.rows["phenomenon"] == phenomenon
        # A partial language has rows of units only: (gpt2, eng, agreement, all) is one of them if
        # people judged whole phenomena.
        if lang not in self.partial_languages:
            chosen &= self.rows["paradigm"] != ALL
        return self.rows[chosen]

    def cell(self, rows: pd.DataFrame, key: Place) -> Cell | None:
        """Make the cell of the accuracy of ``rows`` in percent; None without rows.

        One row: its accuracy with the 95 % interval and, for measured pairs, the number of ties.
        Several rows of one model in a partial language: the accuracy over all their judgements
        (``POOLED``), if the numbers of judgements are known. Other rows: the mean accuracy.
        """
        if rows.empty:
            return None
        if len(rows) == 1:
            is_pair = self.layout == "pairs" and self.labels.source == "measured"
            return accuracy_cell(rows, key, ties=is_pair and HUMAN not in {*rows["model"]})
        # A row has an interval if its number of judgements is known.
        has_numbers = bool(rows["low"].notna().all())
        is_partial = {*rows["lang"]} <= self.partial_languages
        if rows["model"].nunique() == 1 and is_partial and has_numbers:
            return accuracy_cell(rows, key, POOLED, interval="pooled")
        return accuracy_cell(rows, key)


def read_view(tables: Tables, labels: Labels) -> View:
    """Read measured accuracies by the labels' method; or published ones, if the labels say so."""
    where: dict[str, Any] = {"benchmark": labels.facts["benchmark"]["name"]}
    if labels.source == "published":
        published = select_rows(read_plain(ACCURACIES, tables[SOURCE]), where)
        # Printed accuracies are shown only if no decisions of models are released.
        method = IN_PRINT if {*published["method"]} == {IN_PRINT} else RELEASED
        where["model"] = sorted({*published["model"]} - {HUMAN})
        rows = shared.read_accuracies(tables, where, method, models="any model")
        rows = rows.reset_index(drop=True)
        return View(labels, rows, _families(rows, labels))
    where["model"] = [*labels.models]
    rows = shared.read_accuracies(tables, where, labels.method)
    names, judged = column_names(labels.models), {*rows["model"]}
    return View(labels, rows, {name: [key] for key, name in names.items() if key in judged})


def _families(rows: pd.DataFrame, labels: Labels) -> dict[str, list[str]]:
    """Return the models of each column, the best first; seeds of a model share a column."""
    has_seeds = labels.facts["benchmark"].get("seeds")
    means = rows[rows["phenomenon"] == ALL].groupby("model")["accuracy"].mean()
    families: dict[str, list[str]] = {}
    for model in sorted({*rows["model"]}):
        families.setdefault(family_of(model) if has_seeds else model, []).append(model)
    # Models that are printed without an accuracy over all items have NaN, and come last.
    mean_by_family = {family: means.reindex(models).mean() for family, models in families.items()}
    ranked = [*pd.Series(mean_by_family).sort_values(ascending=False, kind="stable").index]
    names = column_names({family: labels.models.get(family, family) for family in ranked})
    return {name: families[family] for family, name in names.items()}


def with_people(view: View, tables: Tables) -> View:
    """Add people as the first column; leave out units that only people, or only models, judged.

    Raises UserError if the table of people has no method for the benchmark, or several.
    """
    people = read_plain(ACCURACIES, tables["people"])
    benchmark = view.labels.facts["benchmark"]["name"]
    people = people[(people["benchmark"] == benchmark) & (people["model"] == HUMAN)]
    methods = sorted({*people["method"]})
    if len(methods) != 1:
        raise UserError(
            f"{', '.join(map(str, tables['people']))} has accuracies of people on {benchmark} by "
            f"{', '.join(methods) or 'no method'}; expected one. Read people's judgements again."
        )
    people = people[people["lang"].isin(view.languages)]
    rows = pd.concat([view.rows, people], ignore_index=True)
    view = replace(view, rows=rows, columns={PEOPLE: [HUMAN], **view.columns})
    return view if people.empty else _without_other_units(view)


def _judged_units(rows: pd.DataFrame) -> set[tuple[str, str]]:
    """Return (phenomenon, paradigm) of the paradigms in rows; without paradigms, the phenomena."""
    keys = {*zip(rows["phenomenon"], rows["paradigm"], strict=True)}
    paradigms = {(phenomenon, paradigm) for phenomenon, paradigm in keys if paradigm != ALL}
    return paradigms or {(phenomenon, ALL) for phenomenon, _ in keys if phenomenon != ALL}


def _without_other_units(view: View) -> View:
    """Return the view without units that only models, or only people, judged."""
    kept, partial_languages, languages_without = [], set(), []
    by_both, by_either = Counter[str](), Counter[str]()
    for lang, name in view.languages.items():
        rows = view.rows[view.rows["lang"] == lang]
        is_human = rows["model"] == HUMAN
        by_people, by_models = _judged_units(rows[is_human]), _judged_units(rows[~is_human])
        units = "paradigms" if any(paradigm != ALL for _, paradigm in by_people) else "phenomena"
        if units == "phenomena":
            by_models = {(phenomenon, ALL) for phenomenon, _ in by_models}
        common, judged = by_people & by_models, by_people | by_models
        if not common:
            languages_without.append(name)
            continue
        by_both[units] += len(common)
        by_either[units] += len(judged)
        if common != judged:
            partial_languages.add(lang)
            keys = zip(rows["phenomenon"], rows["paradigm"], strict=True)
            rows = rows[[key in common for key in keys]]
        kept.append(rows)
    if not kept:
        return view
    return replace(
        view,
        rows=pd.concat(kept, ignore_index=True),
        partial_languages=frozenset(partial_languages),
        common_units=CommonUnits(by_both, by_either, languages_without),
    )
