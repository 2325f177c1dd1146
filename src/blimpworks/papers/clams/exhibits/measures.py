"""Compute CLAMS's accuracies by formulas, and lay them out by construction and language.

``results`` and ``figures`` call this module. ``read_accuracies`` reads a table with a row for each
model, language, phenomenon and paradigm. A paradigm is a construction (a type of sentence), with
the type of nouns if there are several: "prep_anim". A phenomenon is agreement, or the same pairs
with a capital first letter. A series is a group of models: MONO, MULTI, BERT or MBERT.

``Accuracies.select`` selects rows, a ``Measure`` makes a cell of the selected rows, and
``Grid.cells`` does so for a whole section of a table:

    row "Simple agreement" (a construction), column "French Multi" (a ``SeriesColumn``): 0.93
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import pandas as pd

from blimpworks.analysis.accuracy import wilson
from blimpworks.exhibits import formulas
from blimpworks.exhibits.descriptions import Description
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section
from blimpworks.exhibits.formulas import Formula, Notation, choice, formula, select_rows
from blimpworks.exhibits.shared import Place, Tables, printed_cells, read_plain, read_printed
from blimpworks.papers.clams.exhibits import BENCHMARK
from blimpworks.papers.clams.items import sets as clams
from blimpworks.papers.clams.items.sets import AGREEMENT, CAPITALS, CONSTRUCTIONS, construction_of
from blimpworks.papers.clams.paper import BERT, MBERT, MONO, MULTI, PRINTED_MODELS, SERIES
from blimpworks.tables import ACCURACIES

CONSTRUCTION, LANGUAGE, MODEL = "construction", "lang", "model"
TABLE_1, AVERAGE_KEY = "table1", "average"
Order = Sequence[Sequence[str]]
"""Groups of languages with the same rank, the lowest rank first."""

# A formula is described by a sentence that contains its parameters. A ``Notation`` of a parameter
# has a pattern, a function that writes a value, and one that reads it again. Examples:
#     ORDER: "deu < eng = fra" for [["deu"], ["eng", "fra"]]
#     TIES, MORE: "… (correct − 0.5 × ties + 1) ÷ (n + 1)" for −0.5 and 1 (see ``counted``)
#     TIES, MORE: "… (correct + 1 × ties) ÷ (n)" for 1 and 0
ORDER = Notation(
    ".+",
    lambda order: " < ".join(" = ".join(tied) for tied in order),
    lambda text: [tied.split(" = ") for tied in text.split(" < ")],
)
MIXED = choice({"": False, ", with capitals where there are any,": True})
TIES = Notation(
    r" [−+] [\d.]+ ×",
    lambda ties: f" {'−' if ties < 0 else '+'} {abs(ties):g} ×",
    lambda text: float(text.strip(" ×").replace("−", "-").replace(" ", "")),
)
MORE = Notation(
    r"(?: \+ \d+)?",
    lambda more: f" + {more}" if more else "",
    lambda text: int(text.removeprefix(" + ") or 0),
)


def accuracies_by(rows: pd.DataFrame, *units: str) -> pd.Series:
    """Return the mean accuracy (0 to 1) by ``units``, among LANGUAGE, CONSTRUCTION and MODEL.

    First, the paradigms of a construction (animate and inanimate nouns) are pooled: a model's
    accuracy on a construction in a language is over all pairs. The mean gives equal weight to these
    accuracies. Printed accuracies without n, the number of pairs, have one paradigm a construction.
    """
    weighted = rows.assign(
        construction=rows["paradigm"].astype(object).map(construction_of),
        weight=rows["n"].fillna(1).astype(float),
    )
    weighted["right"] = weighted["accuracy"] * weighted["weight"]
    groups = weighted.groupby([LANGUAGE, CONSTRUCTION, MODEL], observed=True)
    sums = groups[["right", "weight"]].sum()
    return (sums["right"] / sums["weight"]).groupby([*units], observed=True).mean()


def _as_printed(rows: pd.DataFrame) -> pd.Series:
    # Accuracies as in Tables 1 and 2, which are means over seeds. Rounding removes errors of
    # floating-point numbers.
    return accuracies_by(rows, LANGUAGE, CONSTRUCTION).round(12)


def _gain(rows: pd.DataFrame) -> float:
    with_capitals = rows["phenomenon"] == CAPITALS
    before = accuracies_by(rows[~with_capitals], CONSTRUCTION).mean()
    after = accuracies_by(rows[with_capitals], CONSTRUCTION).mean()
    return float(after - before)


def _printed_gain(rows: pd.DataFrame) -> float:
    is_average = rows["row"] == AVERAGE_KEY
    of_constructions = rows[~is_average]
    before = rows[is_average & (rows["exhibit"] == TABLE_1)]["value"].item()
    # Accuracy after = accuracy (Table 1) + gain (Table 4); the mean is over constructions.
    after = of_constructions["value"].sum() / of_constructions["row"].nunique()
    # Values are hundredths, so a remainder of floating-point numbers is no gain.
    return round(float(after - before), 9)


def _least_lead(rows: pd.DataFrame) -> float:
    # The lead of a language is the number of percentage points by which its monolingual LSTM is
    # better than the multilingual one. Printed columns are "fra clams-lstm-mono".
    names = rows["column"].str.split(" ", expand=True).set_axis(["language", "model"], axis=1)
    wide = rows.join(names).pivot(index="language", columns="model", values="value")
    leads = wide[PRINTED_MODELS[MONO]] - wide[PRINTED_MODELS[MULTI]]
    return float(100 * leads.min())


def _feature_counts(rows: pd.DataFrame) -> pd.Series:
    return rows.dropna(subset="value").groupby(LANGUAGE, observed=True).size()


@formula("mean over {unit} of accuracy")
def mean_over(rows: pd.DataFrame, unit: str) -> float:
    """Return the mean over ``unit`` (see ``accuracies_by``) of accuracy, with equal weights."""
    return float(accuracies_by(rows, unit).mean())


@formula("population SD over {unit} of accuracy")
def sd_over(rows: pd.DataFrame, unit: str) -> float:
    """Return the population standard deviation over ``unit`` (see ``accuracies_by``)."""
    return float(accuracies_by(rows, unit).std(ddof=0))


@formula("Spearman's ρ of mean accuracy{mixed} and the order {order}", order=ORDER, mixed=MIXED)
def rho(rows: pd.DataFrame, order: Order, *, mixed: bool = False) -> float:
    """Correlate mean accuracy with an order of languages; NaN if all accuracies are equal.

    If ``mixed``, languages with capitals have their accuracies on sentences with a capital first
    letter only, and Hebrew has its accuracies on agreement.
    """
    if mixed:
        with_capitals = rows["phenomenon"] == CAPITALS
        rows = rows[with_capitals | ~rows["lang"].isin(rows["lang"][with_capitals])]
    ranks = {lang: rank for rank, tied in enumerate(order) for lang in tied}
    means = accuracies_by(rows, LANGUAGE)
    if means.nunique() < 2:
        return math.nan
    # The correlation of a frame does not import scipy, which is slow; that of a series does.
    pairs = pd.DataFrame({"rank": [ranks[str(lang)] for lang in means.index], "mean": [*means]})
    return float(pairs.corr(method="spearman").to_numpy()[0, 1])


@formula("sum of value × {numerator} ÷ {denominator}")
def fraction_of(rows: pd.DataFrame, numerator: int, denominator: int) -> float:
    """Return a fraction of the only row's value."""
    return float(rows["value"].item() * (numerator / denominator))


@formula("(sum(correct) + {sets}) ÷ (n + {sets})")
def with_more(rows: pd.DataFrame, sets: int) -> float:
    """Return accuracy if each of ``sets`` paradigms has one more pair, judged rightly.

    A row is a judgement. The authors' script counts right pairs and all pairs from 1.
    """
    return float((rows["correct"].sum() + sets) / (rows["correct"].count() + sets))


@formula("mean over construction of (correct{ties} ties{more}) ÷ (n{more})", ties=TIES, more=MORE)
def counted(rows: pd.DataFrame, ties: float, more: int) -> float:
    """Return mean accuracy of constructions under another way of counting.

    ``ties``: what is added to ``correct`` for each tie; ``more``: what is added to ``correct`` and
    to ``n`` of each paradigm.
    """
    right = rows["correct"] + ties * rows["ties"] + more
    with_accuracy = rows.assign(accuracy=right / (rows["n"] + more))
    return float(accuracies_by(with_accuracy, CONSTRUCTION).mean())


CORRECT = formulas.column_mean("correct")
COMPLEXITY = formulas.column_mean("value")
PAIRS_PER_MODEL = Formula(
    "sum of n ÷ number of models", lambda rows: rows["n"].sum() / rows["model"].nunique()
)
LEAST = Formula("least accuracy of a construction", lambda rows: _as_printed(rows).min())
GREATEST = Formula("greatest accuracy of a construction", lambda rows: _as_printed(rows).max())
GAIN = Formula("mean accuracy of the second phenomenon − of the first", _gain)
PRINTED_GAIN = Formula("mean(Table 1 + Table 4) − Table 1's average", _printed_gain)
LEAD = Formula("100 × least difference between first and second model of a language", _least_lead)
FEWEST = Formula("fewest values of a language", lambda rows: _feature_counts(rows).min())
MOST_FEATURES = Formula("most values of a language", lambda rows: _feature_counts(rows).max())
MASKED = "masked_critical_word"
"""Method of the measured masked models (section 5.2)."""
AVERAGE = "Average accuracy"
RECOMPUTED_AVERAGE = "Average accuracy, from the rows above"


def narrowed(rows: pd.DataFrame, where: Mapping[str, Any]) -> dict[str, Any]:
    """Return the filter without the values of lists that no row has, so that it is short.

    {"lang": ["fra"], "paradigm": ["prep", "prep_anim"]} becomes {"lang": "fra", "paradigm": "prep"}
    if no row has prep_anim. A list without any value of the rows stays.
    """
    narrow = dict(where)
    for column, values in where.items():
        listed = values if isinstance(values, list) else []
        present = [value for value in listed if (rows[column] == value).any()]
        if present:
            narrow[column] = present[0] if len(present) == 1 else present
    return narrow


@dataclass(frozen=True, slots=True)
class Selection:
    """Rows of accuracies, and the filter that selects them."""

    rows: pd.DataFrame
    where: Mapping[str, Any]
    constructions: Sequence[str]
    """Selected constructions, including those without accuracies."""
    one_more: bool
    """True if accuracy is computed as if each paradigm had one more right pair (``with_more``)."""

    @property
    def complete(self) -> bool:
        """True if each model has accuracies on all constructions, by language and phenomenon.

        All models must have the same phenomena, such as agreement with and without capitals.
        """
        rows = self.rows
        constructions = rows["paradigm"].map(construction_of)
        counts = constructions.groupby([rows["model"], rows["lang"], rows["phenomenon"]]).nunique()
        # A row for each model and language, and a column for each phenomenon.
        table = counts.unstack(fill_value=0)
        return not table.empty and bool((table == len(self.constructions)).all(axis=None))

    def cell(self, cell_key: Place, formula: Formula, form: str = ".2f", **more: Any) -> Cell:
        """Make the cell of a formula's value for the rows; ``more`` are further fields of it."""
        value = formula(self.rows)
        return Cell(*cell_key, value, f"{value:{form}}", formula, "accuracies", self.where, **more)


def _as_list(names: str | Iterable[str]) -> list[str]:
    return [names] if isinstance(names, str) else [*names]


@dataclass(frozen=True, slots=True)
class Accuracies:
    """A table of accuracies, measured or printed."""

    rows: pd.DataFrame
    labels: Labels

    def select(
        self,
        series: str,
        langs: str | Iterable[str],
        constructions: str | Iterable[str],
        phenomenon: str | Sequence[str] = AGREEMENT,
    ) -> Selection:
        """Select accuracies of a series of models on languages and constructions.

        LSTMs have paradigms with animate nouns only, as in the paper, unless ``constructions``
        names a paradigm ("prep_inanim"). Printed accuracies all have the labels' method.
        """
        selected = _as_list(constructions)
        masked = series in (BERT, MBERT)
        paradigms: list[str] = []
        for construction in selected:
            paradigms += clams.paradigms(construction, inanimate=masked)
        measured_masked = masked and self.labels.source == "measured"
        where: dict[str, Any] = {
            "benchmark": BENCHMARK,
            "model": [*self.labels.facts["clams_models"][series]],
            "lang": _as_list(langs),
            "phenomenon": _as_list(phenomenon),
            "paradigm": paradigms,
            "method": MASKED if measured_masked else self.labels.method,
        }
        rows = select_rows(self.rows, where)
        one_more = self.labels.facts.get("clams_counting") == "published" and not masked
        return Selection(rows, narrowed(rows, where), selected, one_more)

    def select_common(
        self,
        series: str,
        langs: Collection[str],
        constructions: Iterable[str] = tuple(CONSTRUCTIONS),
        phenomena: Sequence[str] = (AGREEMENT,),
    ) -> Selection | None:
        """Select accuracies on the constructions that all ``langs`` have; None if there is none."""
        rows = self.select(series, langs, constructions, phenomena).rows
        construction_of_row = rows["paradigm"].map(construction_of)
        common = []
        for construction in constructions:
            langs_with_it = {*rows["lang"][construction_of_row == construction]}
            if langs_with_it.issuperset(langs):
                common.append(construction)
        return self.select(series, langs, common, phenomena) if common else None


def read_accuracies(tables: Tables, labels: Labels) -> Accuracies:
    """Read accuracies, a row a paradigm; no rows if all pairs were skipped for unknown words."""
    return Accuracies(read_plain(ACCURACIES, tables["accuracies"][0]), labels)


Measure = Callable[[Selection, Place, Place], Cell | None]
"""Function that makes a cell of a selection, or None if the selection lacks accuracies.

Arguments: the selection, titles of the cell's row and column, and the (row, column) keys of the
paper's number that the cell is compared with (``stands_for``)."""


def accuracy(selection: Selection, cell_key: Place, stands_for: Place) -> Cell | None:
    """Make the cell of accuracy over all pairs and seeds; None without any pair."""
    rows = selection.rows
    if rows.empty:
        return None
    correct, n = rows["correct"].sum(), int(rows["n"].sum())
    # Judgements by several seeds are not independent, so they have no such interval.
    low, high = wilson(correct, n) if rows["model"].nunique() == 1 else (None, None)
    added = len(rows) if selection.one_more else 0
    value = float((correct + added) / (n + added))
    # From judgements, with a row for each pair, the formula gives the same ``value``.
    formula = with_more(added) if added else CORRECT
    text, where = f"{value:.2f}", selection.where
    cell = Cell(*cell_key, value, text, formula, "judgements", where, n, low, high)
    return replace(cell, stands_for=stands_for, ties=int(rows["ties"].sum()))


def measure_by(
    formula: Formula,
    form: str = ".2f",
    applies: Callable[[Selection], bool] = lambda selection: not selection.rows.empty,
) -> Measure:
    """Return a measure that computes a formula for selections that ``applies`` accepts."""

    def measure(selection: Selection, cell_key: Place, stands_for: Place) -> Cell | None:
        if not applies(selection):
            return None
        return selection.cell(cell_key, formula, form, stands_for=stands_for)

    return measure


average = measure_by(mean_over(CONSTRUCTION), applies=lambda selection: selection.complete)
"""Measure of mean accuracy over constructions with equal weights; None if any is missing."""


@dataclass(frozen=True, slots=True)
class SeriesColumn:
    """A column of a table: a language and a series of models.

    ``name`` is its title in the table, ``key`` the column of the paper's numbers.
    """

    lang: str
    series: str
    head: Place
    """Heading in two lines, such as ("French", "Multi"); the upper one may be empty."""
    printed_key: str = ""
    """The ``key``, if it is not the language and the paper's model ("fra clams-lstm-multi")."""
    suffix: str = ""
    """Ending that makes the name unique in the table, such as ", reflexives"."""

    @property
    def name(self) -> str:
        return " ".join(filter(None, self.head)) + self.suffix

    @property
    def key(self) -> str:
        return self.printed_key or f"{self.lang} {PRINTED_MODELS[self.series]}"


@dataclass(frozen=True, slots=True)
class Grid:
    """A section of a table: constructions in rows, languages and models in columns."""

    columns: Sequence[SeriesColumn]
    rows: Mapping[str, str] = field(default_factory=lambda: CONSTRUCTIONS)
    """Titles of rows by construction (or paradigm): {"vp_coord": "VP coordination (short)"}."""
    phenomenon: str | Sequence[str] = AGREEMENT
    title: str = ""

    def cells(
        self, accuracies: Accuracies, measure: Measure, overall: Mapping[str, str] | None = None
    ) -> list[Cell]:
        """Make a cell for each row and column where the measure has one.

        By default, a cell is about the construction of its row. ``overall`` ({key: title}) replaces
        the grid's rows by rows such as averages, whose cells are each about all constructions.
        """
        cells = []
        rows = overall or self.rows
        for (key, title), column in product(rows.items(), self.columns):
            constructions = self.rows if overall else key
            selected = (column.series, column.lang, constructions, self.phenomenon)
            selection = accuracies.select(*selected)
            cells.append(measure(selection, (title, column.name), (key, column.key)))
        return [cell for cell in cells if cell is not None]

    def printed(
        self,
        tables: Tables,
        exhibit: str,
        rows: Mapping[str, str] | None = None,
        columns: Mapping[str, str] | None = None,
    ) -> list[Cell]:
        """Make cells of the numbers that ``exhibit`` prints in ``rows`` and ``columns``.

        ``rows``, ``columns``: titles by key of the printed numbers; by default the grid's.
        """
        rows = rows or self.rows
        columns = columns or {column.key: column.name for column in self.columns}
        # The exhibit's other numbers belong to other grids.
        printed = read_printed(tables, exhibit=exhibit, row=[*rows], column=[*columns])
        return printed_cells(printed, rows, columns)

    def section(self, *more_rows: str) -> Section:
        """Return the section of the grid's rows, with ``more_rows`` (names) at its end."""
        names = dict.fromkeys([*self.rows.values(), *more_rows])
        columns = [column.name for column in self.columns]
        return Section(self.title, {name: name for name in names}, columns)


def columns_of(languages: Mapping[str, str], series_names: Iterable[str]) -> list[SeriesColumn]:
    """Return a column for each language (names by code) and series of models."""
    heads = product(languages.items(), series_names)
    return [
        SeriesColumn(lang, series, (name, SERIES[series]["heading"]))
        for (lang, name), series in heads
    ]


def grid_cells(
    grids: Sequence[Grid], exhibit: str, tables: Tables, labels: Labels, measure: Measure
) -> list[Cell]:
    """Make the cells of grids: the exhibit's printed numbers, or measured numbers."""
    if labels.source == "published":
        return [cell for grid in grids for cell in grid.printed(tables, exhibit)]
    accuracies = read_accuracies(tables, labels)
    return [cell for grid in grids for cell in grid.cells(accuracies, measure)]


def by_phenomenon(
    columns: Sequence[SeriesColumn], phenomena: Iterable[tuple[str, str, Mapping[str, str]]]
) -> list[Grid]:
    """Make a grid for each phenomenon: its code, its title, and its titles of rows by key.

    Names of columns end in the phenomenon, except for agreement.
    """
    grids = []
    for phenomenon, title, rows in phenomena:
        grid_columns = columns
        if phenomenon != AGREEMENT:
            grid_columns = [replace(column, suffix=f", {phenomenon}") for column in columns]
        grids.append(Grid(grid_columns, rows, phenomenon, title))
    return grids


def table_of(
    description: Description,
    cells: Sequence[Cell],
    grids: Sequence[Grid],
    sections: Sequence[Section] | None = None,
) -> Exhibit:
    """Return the table of ``cells``, by default with a section for each grid."""
    heads = {column.name: column.head for grid in grids for column in grid.columns}
    layout = [grid.section() for grid in grids] if sections is None else sections
    return Exhibit(**description, cells=[*cells], heads=heads, sections=layout)


def stand_ins(labels: Labels, cells: Iterable[Cell], *series_names: str) -> list[str]:
    """Return for a caption the models that ``cells`` show in place of the paper's models.

    An example: ["BERT tiny"] if the campaign has it in place of "bert-base-uncased".
    """
    shown_models: set[str] = set()
    for cell in cells:
        shown_models.update(_as_list(cell.where.get(MODEL, ())))
    models = labels.facts["clams_models"]
    return [
        labels.models.get(model, model)
        for series in series_names
        for model in models[series]
        if model in shown_models and model != PRINTED_MODELS[series]
    ]


def shown_languages(labels: Labels) -> dict[str, str]:
    """Return the names of the languages to show by code, the paper's languages first."""
    ours = () if labels.source == "published" else labels.languages
    order = dict.fromkeys([*clams.LANGUAGES, *ours])
    return {lang: labels.languages[lang] for lang in order if lang in labels.languages}
