"""Make the exhibits of UrBLiMP's accuracies: Tables 4 and 7 to 9, Figures 1 and 2.

Each exhibit has two forms. The measured form has numbers from a campaign's table of accuracies; the
published form has numbers from the paper. The paper's figures print no numbers, so their published
form has those of Tables 7 and 8 and of section 4.1. Table 4 has models in rows and phenomena in
columns. Tables 7 and 8 have paradigms in rows and models in columns. Table 9 is on people.

A cell is a number of an exhibit. Its ``cell_key`` is its (row, column) there, such as
("gemma-3-4b-pt", "Average"). Its ``printed_key`` is the (row, column) of the same number in the
paper's tables, ("gemma-3-4b", "average"), with which a measured number is compared.
``claims`` and ``data`` also call the functions on models and accuracies.
Source: Adeeba, Dillon, Sajjad and Bhatt (2025).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import seaborn as sns

from blimpworks.errors import UserError
from blimpworks.exhibits import shared, style
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import ACCURACY, MEAN, truncate
from blimpworks.exhibits.shared import Place, Tables, printed_cell, read_plain
from blimpworks.files import read_cells
from blimpworks.items import ALL
from blimpworks.papers.urblimp.exhibits import describe
from blimpworks.papers.urblimp.exhibits.formulas import MACRO, macro_weights
from blimpworks.papers.urblimp.phenomena import BENCHMARK, HUMAN, LANG, PARADIGMS, PHENOMENA
from blimpworks.papers.urblimp.phenomena import SHORT_NAMES as TICK_LABELS
from blimpworks.papers.urblimp.settings import PSEUDO
from blimpworks.tables import ACCURACIES

_ROWS = read_cells(Path(__file__).with_name("models.tsv"))
PRINTED_NAMES = {row["model"]: row["name"] for row in _ROWS}
"""Models' names in the paper, in the order of Table 4."""


def _models_in_group(name: str) -> tuple[str, ...]:
    return tuple(row["model"] for row in _ROWS if name in row["groups"].split())


GEMMA, GEMMA_TUNED = _models_in_group("gemma"), _models_in_group("tuned")
"""Gemma models of four sizes, pretrained and instruction-tuned."""
TOP = _models_in_group("top")
"""Models of Table 6."""
RIVALS = _models_in_group("rival")
"""Models of Figure 2: a small one and two larger ones."""
IN_TABLE8 = _models_in_group("instructed")
"""Models of the paper's Table 8. Its Table 7 has all others, even if they are instruction-tuned."""
FAMILIES = {"alif-1.0-8b-instruct": "Alif"}
"""{model: name of its family in Figure 1}, in place of the catalogue's family."""
STAND_INS = 4
"""Number of models that exhibits show for a campaign without the paper's models."""


def model_names(models: Mapping[str, str]) -> dict[str, str]:
    """Return {model: printed name}: the paper's models in its order, then others by label."""
    names = {model: name for model, name in PRINTED_NAMES.items() if model in models}
    return names | {model: label for model, label in models.items() if model not in names}


def choose_models(preferred: Sequence[str], models: Sequence[str]) -> list[str]:
    """Return the ``preferred`` models among ``models``, or the first ``STAND_INS`` if under two."""
    present = [name for name in preferred if name in models]
    return present if len(present) > 1 else [*models][:STAND_INS]


def is_instructed(name: str, facts: Mapping[str, Any]) -> bool:
    """Tell whether a model is in Table 8: as in the paper, or by the catalogue's ``facts``."""
    if name in PRINTED_NAMES:
        return name in IN_TABLE8
    return bool(facts[name]["tuning"] == "chat")


ORDER = {paradigm: rank for rank, paradigm in enumerate(PARADIGMS)}
"""Ranks of paradigms in the paper's order."""


def _caption_values(rows: pd.DataFrame, labels: Labels) -> dict[str, Any]:
    # Models that guess masked tokens are judged by another method than the labels': ``PSEUDO``.
    has_masked_models = PSEUDO.get(labels.method) in {*rows["method"]}
    return {"method": labels.method, "masked": has_masked_models}


def _sort_paradigms(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.sort_values("paradigm", key=lambda column: column.map(ORDER), kind="stable")


def read_paradigms(tables: Tables, labels: Labels) -> pd.DataFrame:
    """Read accuracies (0 to 1) of the labels' models and of people, a row for each paradigm.

    Paradigms are in the paper's order. If the labels' method is perplexity, models that guess
    masked tokens have accuracies by pseudo-perplexity (``PSEUDO``, section 3.1). Raises UserError
    if no model has accuracies, or if a paradigm is unknown.
    """
    where = {"benchmark": BENCHMARK, "lang": LANG, "model": [*labels.models, HUMAN]}
    method = labels.method
    rows = shared.read_accuracies(tables, where, method, PSEUDO.get(method))
    rows = rows[rows["paradigm"] != ALL]
    unknown = sorted({*rows["paradigm"]} - PARADIGMS.keys())
    if unknown:
        raise UserError(
            f"{tables['accuracies'][0]}: paradigm {unknown[0]!r} is none of {BENCHMARK}; expected "
            f"one of {', '.join(PARADIGMS)}."
        )
    return _sort_paradigms(rows)


def read_models(tables: Tables, labels: Labels) -> pd.DataFrame:
    """Read the accuracies that ``read_paradigms`` returns, without people."""
    rows = read_paradigms(tables, labels)
    return rows[rows["model"] != HUMAN]


def _read_people(tables: Tables) -> pd.DataFrame:
    # A campaign without people's accuracies has no rows.
    return _sort_paradigms(read_plain(ACCURACIES, tables.get("people")))


def complete_models(rows: pd.DataFrame) -> list[str]:
    """Return the models that have accuracies on all paradigms of ``rows``."""
    counts = rows.groupby("model", sort=False)["paradigm"].nunique()
    return list(counts.index[counts == rows["paradigm"].nunique()])


def printed_numbers(tables: Tables, labels: Labels, exhibit: str) -> dict[Place, pd.Series]:
    """Read an exhibit's printed numbers by (row, column); empty for a measured form."""
    if labels.source == "measured":
        return {}
    return shared.by_place(shared.read_printed(tables, exhibit=exhibit))


def percent_text(percent: float) -> str:
    """Format a percentage as the paper prints it: to two decimals, halves up."""
    return f"{truncate(percent + 0.005, 2):.2f}"


def accuracy_cell(
    rows: pd.DataFrame, cell_key: Place, labels: Labels, printed_key: Place | None = None
) -> Cell:
    """Make a cell of the mean accuracy of ``rows`` in percent.

    The cell has a 95 % interval if the rows are of one model and have numbers of pairs. For several
    models there is no interval, because their errors on the same pairs depend on each other.
    """
    # Only measured accuracies of models come from judgements, which tell the number of ties.
    has_judgements = labels.source == "measured" and HUMAN not in {*rows["model"]}
    has_ties = has_judgements and rows["model"].nunique() == 1
    cell = shared.accuracy_cell(
        rows, cell_key, text=percent_text, ties=has_ties, stands_for=printed_key
    )
    if len(rows) == 1 and has_judgements:
        # The accuracy is that of a paradigm, so the cell can be traced to judgements.
        return replace(cell, formula=ACCURACY, source="judgements")
    return cell


def macro_cell(rows: pd.DataFrame, cell_key: Place, printed_key: Place | None = None) -> Cell:
    """Make a cell of a model's average over phenomena, each the mean over its paradigms."""
    weights = list(macro_weights(rows))
    return shared.accuracy_cell(
        rows, cell_key, MACRO, weights=weights, text=percent_text, stands_for=printed_key
    )


AVERAGE, AVERAGE_HEAD = "average", "Average"
"""Row or column of a mean in the paper's numbers, and in our exhibits."""
ACCURACY_HEAD, MACRO_HEAD = "Accuracy", "Mean of the phenomena"
INTERVAL, PAIRS = "95 % interval", "Pairs"


def _printed_average(numbers: Mapping[str, pd.Series], cell_key: Place, model: str) -> Cell:
    """Make the cell of the mean of the ``numbers`` by phenomenon that Table 4 has of a model."""
    where = {"exhibit": "table4", "row": model, "column": [*numbers]}
    value = sum(float(row["value"]) for row in numbers.values()) / len(numbers)
    mean = Cell(*cell_key, value, percent_text(value), MEAN, "published", where)
    return replace(mean, stands_for=(model, AVERAGE))


def table4(tables: Tables, labels: Labels) -> Exhibit:
    """Tabulate Table 4: each model's accuracy on each phenomenon, the mean of its paradigms.

    The published form computes these means from Tables 7 to 9. For mBERT and mT5, which these
    tables lack, it shows the numbers that Table 4 prints, and their mean.
    """
    rows = read_paradigms(tables, labels)
    people = _read_people(tables)
    people = people[people["paradigm"].isin(rows["paradigm"])]
    rows = rows if people.empty else pd.concat([rows, people], ignore_index=True)
    printed = printed_numbers(tables, labels, "table4")
    finished = complete_models(rows)
    has_people = (rows["model"] == HUMAN).any()
    names = model_names({**labels.models, HUMAN: HUMAN} if has_people else labels.models)
    # A model has a number for a phenomenon if it has one for each paradigm that any model has.
    paradigm_counts = rows.groupby("phenomenon")["paradigm"].nunique()
    phenomena = [phenomenon for phenomenon in PHENOMENA if phenomenon in paradigm_counts]
    cells: list[Cell] = []
    for model, name in names.items():
        model_rows = rows[rows["model"] == model]
        numbers = {key: printed[model, key] for key in phenomena if (model, key) in printed}
        for phenomenon in phenomena:
            cell_key, printed_key = (name, PHENOMENA[phenomenon]), (model, phenomenon)
            accuracies = model_rows[model_rows["phenomenon"] == phenomenon]
            if len(accuracies) == paradigm_counts[phenomenon]:
                cells.append(accuracy_cell(accuracies, cell_key, labels, printed_key))
            elif phenomenon in numbers:
                cells.append(printed_cell(numbers[phenomenon], cell_key))
        cell_key = (name, AVERAGE_HEAD)
        if model in finished:
            cells.append(macro_cell(model_rows, cell_key, (model, AVERAGE)))
        elif numbers:
            cells.append(_printed_average(numbers, cell_key, model))
    published = labels.source == "published"
    compared = set() if published else {*names.values()} - {names.get(HUMAN)}
    best = shared.best_of_each(cells, compared, "column", digits=2)
    description = describe("table4", published=published, **_caption_values(rows, labels))
    return Exhibit(**description, cells=cells, bold=best)


def _paradigm_table(tables: Tables, labels: Labels, *, exhibit: str, tuning: str) -> Exhibit:
    """Make the table of paradigms (rows) by model, with means over models.

    ``tuning`` says which models: "pretrained" or "instruction-tuned". Models without accuracy on
    some paradigm are left out, because they would distort the means. The measured form names these
    models in the caption.
    """
    rows = read_paradigms(tables, labels)
    printed = printed_numbers(tables, labels, exhibit)
    facts, finished = labels.facts["urblimp_models"], complete_models(rows)
    instructed = tuning == "instruction-tuned"
    names: dict[str, str] = {}
    incomplete: list[str] = []
    for model, name in model_names(labels.models).items():
        if model in facts and is_instructed(model, facts) == instructed:
            if model in finished:
                names[model] = name
            elif labels.source == "measured" and (rows["model"] == model).any():
                incomplete.append(name)
    rows = rows[rows["model"].isin([*names])]
    cells: list[Cell] = []
    for paradigm, accuracies in rows.groupby("paradigm", sort=False):
        title = PARADIGMS[str(paradigm)]
        by_model = accuracies.set_index("model", drop=False)
        for model, name in names.items():
            cell_key, printed_key = (title, name), (str(paradigm), model)
            if printed_key in printed:
                cells.append(printed_cell(printed[printed_key], cell_key))
            elif model in by_model.index:
                cells.append(accuracy_cell(by_model.loc[[model]], cell_key, labels, printed_key))
        cell_key, printed_key = (title, AVERAGE_HEAD), (str(paradigm), AVERAGE)
        cells.append(accuracy_cell(accuracies, cell_key, labels, printed_key))
    # "gemma-3-4b-pt" becomes "gemma-3" above "4b-pt", unless all upper lines would be equal.
    heads = {}
    for name in names.values():
        upper, *lower = name.rsplit("-", 2)
        heads[name] = (upper, "-".join(lower)) if len(lower) > 1 else ("", name)
    if len({upper for upper, _ in heads.values()}) < 2:
        heads = {}
    best = shared.best_of_each(cells, {*names.values()}, "row", digits=2)
    values = {"tuning": tuning, "empty": not names, "incomplete": incomplete}
    description = describe("paradigms", **values, **_caption_values(rows, labels))
    return Exhibit(**description, cells=cells, heads=heads, bold=best)


table7 = partial(_paradigm_table, exhibit="table7", tuning="pretrained")
"""Tabulate Table 7: accuracy of each pretrained model on each paradigm, and their mean."""
table8 = partial(_paradigm_table, exhibit="table8", tuning="instruction-tuned")
"""Tabulate Table 8: accuracy of each instruction-tuned model on each paradigm, and their mean."""


PEOPLE_AVERAGE = (AVERAGE_HEAD, ACCURACY_HEAD), (AVERAGE, "accuracy")
"""Keys of people's mean in Table 9: ``cell_key`` and ``printed_key``."""


def _published_table9(tables: Tables, labels: Labels) -> Exhibit:
    rows = read_paradigms(tables, labels)
    cells = [
        printed_cell(number, (PARADIGMS[row], ACCURACY_HEAD))
        for (row, _), number in printed_numbers(tables, labels, "table9").items()
        if row != AVERAGE
    ]
    cell_key, printed_key = PEOPLE_AVERAGE
    cells.append(accuracy_cell(rows[rows["model"] == HUMAN], cell_key, labels, printed_key))
    return Exhibit(**describe("table9_published"), cells=cells)


def table9(tables: Tables, labels: Labels) -> Exhibit:
    """Tabulate Table 9: accuracy of people on each paradigm, and the mean."""
    if labels.source == "published":
        return _published_table9(tables, labels)
    rows = _read_people(tables)
    cells = []
    for paradigm, accuracies in rows.groupby("paradigm", sort=False):
        title, printed_key = PARADIGMS[str(paradigm)], (str(paradigm), "accuracy")
        cells.append(accuracy_cell(accuracies, (title, ACCURACY_HEAD), labels, printed_key))
    cell_key, printed_key = PEOPLE_AVERAGE
    cells.append(accuracy_cell(rows, cell_key, labels, printed_key))
    cells.append(macro_cell(rows, (MACRO_HEAD, ACCURACY_HEAD)))
    stub, remarks = {}, {}
    for cell in cells:
        stub[cell.row] = {PAIRS: f"{cell.n:,}"}
        interval = "" if cell.low is None else f"{cell.low:.1f} to {cell.high:.1f}"
        remarks[cell.row] = {INTERVAL: interval}
    return Exhibit(**describe("table9"), cells=cells, stub=stub, remarks=remarks)


CHANCE = 50
GENDER = "subject_verb_gender"
SPREAD = 0.28
"""Distance between the models of a paradigm in Figure 2, in rows."""


def fig1(tables: Tables, labels: Labels) -> Exhibit:
    """Draw Figure 1: accuracy on agreement in gender, a bar for the best model of each family."""
    rows = read_models(tables, labels)
    rows = rows[rows["paradigm"] == GENDER].sort_values("accuracy", ascending=False, kind="stable")
    facts, names = labels.facts["urblimp_models"], model_names(labels.models)
    families = rows["model"].map(lambda model: FAMILIES.get(model) or str(facts[model]["family"]))
    best = rows["model"][~families.duplicated()]
    cells = [
        accuracy_cell(rows.loc[[index]], (names[model], PARADIGMS[GENDER]), labels)
        for index, model in best.items()
    ]
    figure = style.new_figure(style.COLUMN_INCHES, 0.6 + 0.22 * max(len(cells), 3))
    axes = figure.subplots()
    if cells:
        bars = style.with_ends(style.frame_of(cells))
        sns.barplot(bars, x="value", y="row", color=style.BLUE, width=0.65, ax=axes, **style.BARS)
        for y, cell in enumerate(cells):
            end = max(cell.value, cell.high or 0)
            axes.text(end + 2, y, f"{cell.value:.1f}", va="center", fontsize=7)
        axes.grid(visible=False, axis="y")
        axes.set(xlim=(0, 112), xticks=range(0, 101, 25), xlabel="accuracy (%)", ylabel=None)
        style.mark_chance(axes, CHANCE, upright=True)
    else:
        style.say(axes, "not judged")
    return Exhibit(**describe("fig1"), cells=cells, figure=figure)


def fig2(tables: Tables, labels: Labels) -> Exhibit:
    """Draw Figure 2: accuracy of a small and two larger models (colours) on each paradigm (y)."""
    rows = read_models(tables, labels)
    models, names = choose_models(RIVALS, complete_models(rows)), model_names(labels.models)
    by_paradigm = rows.set_index(["paradigm", "model"], drop=False)
    cells = [
        accuracy_cell(by_paradigm.loc[[(paradigm, model)]], (title, names[model]), labels)
        for model in models
        for paradigm, title in PARADIGMS.items()
        if (paradigm, model) in by_paradigm.index
    ]
    judged = {cell.row for cell in cells}
    paradigms = [paradigm for paradigm, title in PARADIGMS.items() if title in judged]
    titles = [PARADIGMS[paradigm] for paradigm in paradigms]
    figure = style.new_figure(style.COLUMN_INCHES, 1.1 + 0.21 * max(len(titles), 3))
    axes = figure.subplots()
    if not cells:
        style.say(axes, "no model has judged all paradigms")
        return Exhibit(**describe("fig2"), cells=cells, figure=figure)

    points = style.with_ends(style.frame_of(cells))
    count = points["column"].nunique()
    sns.pointplot(
        points, x="value", y="row", hue="column", order=titles, palette=style.colours(count),
        markers=[*style.MARKERS[:count]], dodge=SPREAD * (count - 1), ax=axes, **style.POINTS,
    )  # fmt: skip
    axes.set_yticks(range(len(titles)), [TICK_LABELS[paradigm] for paradigm in paradigms])
    lowest = min(CHANCE, *(cell.value if cell.low is None else cell.low for cell in cells)) - 2
    axes.set(xlabel="accuracy (%)", ylabel=None, ylim=(len(titles) - 0.4, -0.6), xlim=(lowest, 102))
    axes.grid(visible=True, axis="y")
    axes.set_xticks(range(10 * math.ceil(lowest / 10), 101, 10))
    style.mark_chance(axes, CHANCE, upright=True)
    axes.legend().remove()  # the figure's legend, above the axes, replaces it
    figure.legend(loc="outside upper center", ncols=3, handletextpad=0.1, columnspacing=0.8)
    return Exhibit(**describe("fig2"), cells=cells, figure=figure)
