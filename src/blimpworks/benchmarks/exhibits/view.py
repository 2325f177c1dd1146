"""Select and compute the numbers that tables and figures of declared benchmarks show.

``read_view`` returns a ``View``: the accuracies of a benchmark, and the models of each column of an
exhibit. A row has model, language, phenomenon, paradigm and accuracy. With the paradigm ``all``, as
in (gpt2, eng, agreement, all, 0.81), it is over the phenomenon; with both ``all``, the language.

A ``Cell`` is a number with the formula and the filter of rows from which it can be computed again.
A formula is a function with ``@formula``, or a constant made by ``Formula``.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from blimpworks.benchmarks.accuracies import HUMAN, RELEASED
from blimpworks.benchmarks.exhibits import describe
from blimpworks.errors import UserError
from blimpworks.exhibits import shared
from blimpworks.exhibits.descriptions import Description
from blimpworks.exhibits.exhibit import Cell, Labels
from blimpworks.exhibits.formulas import PHRASE, Formula, choice, formula, select_rows
from blimpworks.exhibits.shared import SOURCE, Place, Tables, accuracy_cell, read_plain
from blimpworks.items import ALL
from blimpworks.reproduction.printed import IN_PRINT
from blimpworks.tables import ACCURACIES

PEARSON, SPEARMAN = "Pearson's r", "Spearman's ρ"
PARADIGM, PHENOMENON = "paradigm", "phenomenon"
COEFFICIENTS = choice({name: name for name in (PEARSON, SPEARMAN)})


def accuracies_by(rows: pd.DataFrame, unit: str) -> pd.DataFrame:
    """Return accuracies [paradigm or phenomenon, model], NaN where a model has none."""
    chosen = rows[rows[PARADIGM] != ALL]
    if unit == PHENOMENON:
        # Unless all models have rows of phenomena, phenomena are means over paradigms.
        phenomena = rows[(rows[PARADIGM] == ALL) & (rows[PHENOMENON] != ALL)]
        if {*phenomena["model"]} == {*rows["model"]}:
            chosen = phenomena
    keys = ["lang", PHENOMENON] + ([PARADIGM] if unit == PARADIGM else [])
    wide = chosen.pivot_table(index=keys, columns="model", values="accuracy")
    return wide.reindex(columns=sorted({*rows["model"]}))


def correlate(accuracies: pd.DataFrame, coefficient: str) -> float:
    """Correlate two columns over rows with both; NaN for fewer than two, and a constant column."""
    complete = accuracies.dropna()
    values = (complete.rank() if coefficient == SPEARMAN else complete).to_numpy(float)
    # Equal accuracies can differ by rounding.
    if len(values) < 2 or (np.ptp(values, axis=0) < 1e-12).any():
        return float("nan")
    return float(np.corrcoef(values, rowvar=False)[0, 1])


@formula("{coefficient} of two models' accuracies, {unit} by {unit}", coefficient=COEFFICIENTS)
def correlation(rows: pd.DataFrame, coefficient: str, unit: str) -> float:
    """Correlate the accuracies of two models over their common paradigms or phenomena."""
    return correlate(accuracies_by(rows, unit), coefficient)


@formula("100 × share of items that the baseline {name} gets right")
def baseline(rows: pd.DataFrame, name: str) -> float:
    """Compute a baseline's accuracy in percent; an item with equal sentences is half right."""
    from blimpworks.analysis.baselines import baseline_rows, one_row_per_item

    counts = baseline_rows(one_row_per_item(rows))
    chosen = counts[counts["baseline"] == name]
    return float(100 * chosen["correct"].sum() / chosen["n"].sum())


def rated(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return two columns, ``column`` and ``rating``, of the judged items that people rated."""
    if "rating" not in rows:
        return pd.DataFrame(columns=[column, "rating"], dtype=float)
    return rows.loc[rows["correct"].notna(), [column, "rating"]].dropna()


@formula("{coefficient} of {column} and rating", coefficient=COEFFICIENTS)
def with_rating(rows: pd.DataFrame, coefficient: str, column: str) -> float:
    """Correlate a column of judgements with people's ratings, over items that have both."""
    return correlate(rated(rows, column), coefficient)


@formula("number of rows with {column} and rating")
def rated_count(rows: pd.DataFrame, column: str) -> float:
    """Count the judged items that people rated."""
    return float(len(rated(rows, column)))


def _matthews(rows: pd.DataFrame) -> float:
    from blimpworks.benchmarks.verdicts import matthews_correlation

    judged = rows[rows["correct"].notna()]
    acceptable, accepted = (judged[name].to_numpy(bool) for name in ("acceptable", "accepted"))
    both = (acceptable & accepted).sum()
    return float(matthews_correlation(len(judged), acceptable.sum(), accepted.sum(), both))


def effects_in(rows: pd.DataFrame, name: str) -> pd.Series:
    """Return the values of an effect [nats], in the rows whose ``effect_names`` list it."""
    effects = rows[["effect_names", "effects"]].dropna().explode(["effect_names", "effects"])
    return effects["effects"][effects["effect_names"] == name].astype(float).dropna()


@formula("mean of the effect {name}", name=PHRASE)
def mean_effect(rows: pd.DataFrame, name: str) -> float:
    """Average an effect over the rows that have it."""
    return float(effects_in(rows, name).mean())


@formula("number of rows with the effect {name}", name=PHRASE)
def effect_count(rows: pd.DataFrame, name: str) -> int:
    """Count the rows that have an effect."""
    return len(effects_in(rows, name))


OF_PARADIGMS = Formula(
    "100 × mean of the accuracies of single paradigms",
    lambda rows: float(100 * rows["accuracy"][rows[PARADIGM] != ALL].mean()),
)
POOLED = Formula(
    "100 × sum(correct) ÷ sum(n)", lambda rows: 100 * rows["correct"].sum() / rows["n"].sum()
)
MATTHEWS = Formula("Matthews' correlation of acceptable and accepted", _matthews)
VERDICT_COUNT = Formula("number of rows with a verdict", lambda rows: rows["correct"].notna().sum())
UNRATED = Formula(
    "number of rows with a verdict and without rating",
    lambda rows: rows["correct"].notna().sum() - len(rated(rows, "correct")),
)
WRONG = Formula("number of rows where correct is 0", lambda rows: (rows["correct"] == 0).sum())
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


@dataclass(frozen=True)
class View:
    """Accuracies of a benchmark by one method, and the models of each column."""

    labels: Labels
    rows: pd.DataFrame
    columns: Mapping[str, Sequence[str]]
    """Models of each column, by its name; models that differ in the seed share a column."""
    partial: frozenset[str] = frozenset()
    """Languages with units (paradigms, else phenomena) that only models, or only people, judged.
    ``rows`` has neither these units nor the rows over all units."""
    common_units: Mapping[str, Any] = field(default_factory=dict)
    """Facts for captions: ``numbers`` of units that both people and models judged, and names of the
    languages ``without`` such units."""

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
            shared=self.common_units,
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
        """Return the rows of models on a phenomenon, or on its paradigms if it has no row."""
        summed = self.paradigm_rows(lang, phenomenon, ALL, models)
        if not summed.empty:
            return summed
        chosen = (self.rows["lang"] == lang) & self.rows["model"].isin(models)
        if phenomenon != ALL:
            chosen &= self.rows["phenomenon"] == phenomenon
        # In a partial language, a row with the paradigm ``all`` is no sum, but a unit: a phenomenon
        # that people judged as a whole.
        if lang not in self.partial:
            chosen &= self.rows["paradigm"] != ALL
        return self.rows[chosen]

    def cell(self, rows: pd.DataFrame, key: Place) -> Cell | None:
        """Make the cell of the mean accuracy of ``rows``, in percent; None without rows.

        A single row gives its 95 % interval too, and for measured pairs its ties. Several rows give
        the mean of their accuracies. Rows of one model in a ``partial`` language give the accuracy
        over all their judgements (``POOLED``), if the numbers of judgements are known.
        """
        if rows.empty:
            return None
        if len(rows) == 1:
            is_pair = self.layout == "pairs" and self.labels.source == "measured"
            return accuracy_cell(rows, key, ties=is_pair and HUMAN not in {*rows["model"]})
        # Accuracies of an unknown number of judgements have no interval.
        has_numbers = bool(rows["low"].notna().all())
        if rows["model"].nunique() == 1 and has_numbers and {*rows["lang"]} <= self.partial:
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
    """Add people as the first column; leave out what only people, or only models, judged.

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
    return view if people.empty else _over_common_units(view)


def _judged_units(rows: pd.DataFrame) -> set[tuple[str, str]]:
    """Return (phenomenon, paradigm) of the paradigms in rows; without paradigms, the phenomena."""
    units = {*zip(rows["phenomenon"], rows["paradigm"], strict=True)}
    paradigms = {(name, paradigm) for name, paradigm in units if paradigm != ALL}
    return paradigms or {(name, paradigm) for name, paradigm in units if name != ALL}


def _over_common_units(view: View) -> View:
    """Return the view without units that only models, or only people, judged."""
    kept, partial, languages_without = [], set(), []
    numbers = Counter[str]()  # such as {"paradigms": 40 judged by both, "all paradigms": 67}
    for lang, name in view.languages.items():
        rows = view.rows[view.rows["lang"] == lang]
        is_human = rows["model"] == HUMAN
        by_people, by_models = _judged_units(rows[is_human]), _judged_units(rows[~is_human])
        unit = "paradigms" if any(paradigm != ALL for _, paradigm in by_people) else "phenomena"
        if unit == "phenomena":
            by_models = {(phenomenon, ALL) for phenomenon, _ in by_models}
        common, judged = by_people & by_models, by_people | by_models
        if not common:
            languages_without.append(name)
            continue
        numbers.update({unit: len(common), f"all {unit}": len(judged)})
        if common != judged:
            partial.add(lang)
            units = zip(rows["phenomenon"], rows["paradigm"], strict=True)
            rows = rows[[unit_key in common for unit_key in units]]
        kept.append(rows)
    if not kept:
        return view
    rows = pd.concat(kept, ignore_index=True)
    common_units = {"numbers": numbers, "without": languages_without}
    return replace(view, rows=rows, partial=frozenset(partial), common_units=common_units)
