"""Make BLiMP's tables: Tables 1 to 4, the erratum of Tables 3 and 4, and numbers of the text.

Each function makes the table of its name, from accuracies of paradigms (see ``accuracies``, which
explains cells and ``uid``) and printed numbers. Rows are models in Table 3 and paradigms in Table
4. A cell has titles of row and column, such as ("GPT-2", "Anaphor agreement"). Its ``stands_for``
has the keys of the number in ``config/published/blimp`` that it is compared with: ("gpt2-large",
"anaphor_agreement"). The measured form of a table has a campaign's numbers. The published form has
the paper's, and numbers computed from these or from the released results.
Source: Warstadt et al. (2020). Since August 2021 the authors' repository calls Tables 3 and 4
misreported and has accuracies of a second run. The paper and its released results show which
numbers are wrong (docs/blimp_numbers.md).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import pandas as pd
from statsmodels.stats.proportion import confint_proportions_2indep

from blimpworks.exhibits import shared
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section
from blimpworks.exhibits.formulas import COUNT, PARADIGM_COUNT, PRODUCT, SUM, UNWEIGHTED, Formula
from blimpworks.exhibits.formulas import select_rows as select
from blimpworks.files import read_cells
from blimpworks.items import ALL
from blimpworks.papers.blimp import paradigms as blimp
from blimpworks.papers.blimp.exhibits import accuracies as acc
from blimpworks.papers.blimp.exhibits import describe, formulas
from blimpworks.papers.blimp.paradigms import HUMAN, NAMES, PARADIGMS, PHENOMENON_OF, RERUN
from blimpworks.papers.blimp.released_results import MAJORITY, METHODS
from blimpworks.tables import ACCURACIES, ITEMS

_RELATED_ROWS = read_cells(Path(__file__).with_name("related.tsv"))
RELATED = {row["key"]: row["name"] for row in _RELATED_ROWS}
"""Names of the rows of Table 1, by the key of their printed numbers."""
HEADING_LINES = {acc.OVERALL: ("", "Overall"), **blimp.PHENOMENA}
"""Headings of Table 3 in two lines, by phenomenon."""
HEADINGS = {key: " ".join(lines).strip() for key, lines in HEADING_LINES.items()}
BY_PAIR = "Overall, by pair"
HEADS = {HEADINGS[key]: lines for key, lines in HEADING_LINES.items()}
HEADS[BY_PAIR] = ("Overall,", "by pair")
SHOULD_READ = "Should read"


def table1(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Tabulate Table 1, as printed: studies that judge networks by minimal pairs, by phenomenon."""
    printed = shared.read_printed(tables)
    cells, studies = [], {}
    for key, name in RELATED.items():
        where = {"exhibit": "table1", "row": key}
        rows = select(printed, where)
        cells.append(shared.formula_cell(rows, (name, "Studies"), COUNT, "published", where))
        studies[name] = {"Which": "; ".join(rows["text"])}
    return Exhibit(**describe("table1"), cells=cells, remarks=studies, widths={"Which": 0.55})


def table2(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Tabulate Table 2: the number of paradigms of each phenomenon, with an example pair."""
    if labels.source == "published":
        rows = acc.read_own(tables, labels)
        printed = shared.read_printed(tables, exhibit="table2")
        cells = shared.printed_cells(printed, NAMES, {"N": "N"})
        for phenomenon, name in NAMES.items():
            accuracies = rows[rows["paradigm"].isin(PARADIGMS[phenomenon])]
            cell_key = (name, "Rows of Table 4")
            number = acc.computed_cell(accuracies, cell_key, PARADIGM_COUNT, form="{:.0f}")
            cells.append(replace(number, stands_for=(phenomenon, "N")))
        return Exhibit(**describe("table2_published"), cells=cells)
    items = shared.read_plain(ITEMS, tables["items"], ["item_id", "paradigm", "good", "bad"])
    rank = {uid: number for number, uid in enumerate(PHENOMENON_OF)}
    cells, examples = [], {}
    for phenomenon, name in NAMES.items():
        where = {"paradigm": [*PARADIGMS[phenomenon]]}
        rows = select(items, where)
        if rows.empty:
            continue
        number = acc.formula_cell(items, (name, "N"), PARADIGM_COUNT, "items", where)
        cells.append(replace(number, stands_for=(phenomenon, "N")))
        cells.append(acc.formula_cell(items, (name, "Pairs"), COUNT, "items", where))
        first = rows.iloc[rows["paradigm"].map(rank).argmin()]
        examples[name] = {"Acceptable": first["good"], "Unacceptable": first["bad"]}
    widths = {"Acceptable": 0.35, "Unacceptable": 0.35}
    return Exhibit(**describe("table2"), cells=cells, remarks=examples, widths=widths)


def _table3_cells(
    rows: pd.DataFrame, labels: Labels, suffix: str = "", *, compared: bool = True
) -> Iterator[Cell]:
    # ``suffix``: end of the names of rows; ``compared``: whether cells stand for printed numbers.
    for model, name in acc.model_names(rows, labels).items():
        for phenomenon, heading in HEADINGS.items():
            accuracies = acc.rows_of_model(rows, model, acc.paradigms_of(phenomenon))
            if not accuracies.empty:
                stands_for = (model, phenomenon) if compared else None
                cell_key = (f"{name}{suffix}", heading)
                yield acc.mean_cell(accuracies, cell_key, stands_for=stands_for)


def table3(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Tabulate Table 3: accuracy of models and humans, overall and on each phenomenon."""
    rows = acc.read_own(tables, labels)
    if labels.source == "measured":
        # After each mean over paradigms: accuracy over all pairs, printed for "Overall" only.
        where = {"method": labels.method, "lang": blimp.LANG, "benchmark": blimp.BENCHMARK}
        pooled = shared.read_plain(ACCURACIES, tables[acc.OWN][0])
        pooled = select(pooled, where | {"paradigm": ALL})
        phenomenon_of_heading = {heading: key for key, heading in HEADINGS.items()}
        phenomenon_of_heading[HEADINGS[acc.OVERALL]] = ALL
        cells: list[Cell] = []
        for cell in _table3_cells(rows, labels):
            cells.append(cell)
            phenomenon = phenomenon_of_heading[cell.column]
            of_cell = {"model": cell.where["model"], "phenomenon": phenomenon}
            for _, row in select(pooled, of_cell).iterrows():
                cell_key = (cell.row, f"{cell.column}, by pair")
                where_row = {key: row[key] for key in (*acc.KEYS, "phenomenon")}
                by_pair = shared.row_accuracy_cell(row, cell_key, where_row, text=acc.percent_text)
                cells.append(replace(by_pair, printed=by_pair.column == BY_PAIR))
        best = shared.best_of_each(cells, {*labels.models.values()}, by="column")
        cells += _table3_cells(acc.read_humans(tables, labels), labels)
        description = describe("table3", **acc.models_of(tables, labels))
        return Exhibit(**description, cells=cells, heads=HEADS, bold=best)
    # Below each printed row, the means of Table 4's rows and of the released results.
    printed = shared.read_printed(tables, exhibit="table3")
    released = acc.read_released(tables)
    exact = not released.empty
    names = {**labels.models, HUMAN: "Human"}
    printed_numbers = shared.printed_cells(printed, names, HEADINGS)
    cells = []
    for model, name in names.items():
        cells += [cell for cell in printed_numbers if cell.row == name]
        from_table4 = rows[rows["model"] == model]
        from_release = released[released["model"] == model]
        cells += _table3_cells(from_table4, labels, ", Table 4", compared=not exact)
        cells += _table3_cells(from_release, labels, ", released")
    return Exhibit(**describe("table3_published", released=exact), cells=cells, heads=HEADS)


def _table4_cells(rows: pd.DataFrame, labels: Labels, suffix: str = "") -> Iterator[Cell]:
    for uid, (model, name) in product(PHENOMENON_OF, acc.model_names(rows, labels).items()):
        accuracies = acc.rows_of_model(rows, model, [uid])
        if not accuracies.empty:
            cell = acc.mean_cell(accuracies, (uid, f"{name}{suffix}"), stands_for=(uid, model))
            yield replace(cell, text=f"{cell.value + acc.HALF_UP:.0f}")


def table4(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Tabulate Table 4: accuracy of models and humans on each paradigm, in whole percent."""
    remarks: dict[str, dict[str, str]] = {}
    heads: dict[str, tuple[str, str]] = {}
    if labels.source == "measured":
        description = describe("table4", **acc.models_of(tables, labels))
        cells = [*_table4_cells(acc.read_own(tables, labels), labels)]
        cells += _table4_cells(acc.read_humans(tables, labels), labels)
    else:
        description = describe("table4_published")
        printed = shared.read_printed(tables, exhibit="table4")
        all_names = {**labels.models, HUMAN: "Human"}
        names = {model: all_names[model] for model in printed["column"] if model in all_names}
        cells = shared.printed_cells(printed, {uid: uid for uid in PHENOMENON_OF}, names)
        for cell in _table4_cells(acc.read_released(tables), labels, ", released"):
            cells.append(replace(cell, printed=False))
        # Columns "Should read" have the right numbers in place of wrong ones of the paper.
        columns = {model: f"{SHOULD_READ}, {name}" for model, name in names.items()}
        heads = {column: (SHOULD_READ, names[model]) for model, column in columns.items()}
        remarks = {str(uid): dict.fromkeys(heads, "") for uid in printed["row"]}
        for _, row in printed[printed["corrected"].notna()].iterrows():
            remarks[row["row"]][columns[row["column"]]] = f"{row['corrected']:.0f}"
    prefixes = dict.fromkeys(blimp.ONE_PREFIX, "1") | dict.fromkeys(blimp.TWO_PREFIX, "2")
    rows, stub = {cell.row for cell in cells}, {}
    for uid in (uid for uid in PHENOMENON_OF if uid in rows):
        stub[uid] = {"Phenomenon": NAMES[PHENOMENON_OF[uid]], "Prefix": prefixes.get(uid, "")}
    return Exhibit(**description, cells=cells, stub=stub, remarks=remarks, heads=heads)


# The erratum: Table 3 as printed, recomputed from the same run's 67 paradigms, and from a later run

PRINTED = "printed"
PUBLISHED_RUN = METHODS["sentence"]
RUNS = {"Published run": PUBLISHED_RUN, "Run of 2021": RERUN}
CHANGED = "Change"
SMALLEST_CHANGE = 0.05
"""Smallest change that is not shown as zero, in points."""
MOST_PARADIGMS = 15
"""Number of paradigms that the table shows, with the largest changes."""


def _compare_runs(
    rows: pd.DataFrame, published: shared.Place, rerun: shared.Place, change: shared.Place
) -> list[Cell]:
    """Make three cells of the ``rows``: mean accuracies in both runs, and the change.

    ``published``, ``rerun``, ``change``: (row, column) of each cell.
    """
    cell = acc.computed_cell(rows, change, formulas.CHANGE)
    signed = f"{cell.value:+.1f}".replace("-", "−")
    return [
        acc.mean_cell(rows[rows["method"] == PUBLISHED_RUN], published),
        acc.mean_cell(rows[rows["method"] == RERUN], rerun),
        replace(cell, text=signed if abs(cell.value) >= SMALLEST_CHANGE else "0.0"),
    ]


def erratum(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Tabulate Table 3 as printed, as corrected by the released results, and of the run of 2021."""
    printed = shared.read_printed(tables, exhibit="table3")
    rows = acc.read_released(tables, [*RUNS.values()])
    # Humans were not run again.
    model_rows = printed[printed["row"] != HUMAN]
    names = {model: name for model, name in labels.models.items() if model in {*model_rows["row"]}}
    # Each model has a row as printed, and three more if the released results are available.
    further_versions = () if rows.empty else ("corrected", "run of 2021", "change")
    versions = (PRINTED, *further_versions)
    titles = [f"{name}, {version}" for name, version in product(names.values(), versions)]
    sections = [Section("Model", {title: title for title in titles}, [*HEADINGS.values()])]
    row_names = {model: f"{name}, {PRINTED}" for model, name in names.items()}
    printed_numbers = shared.printed_cells(model_rows, row_names, HEADINGS)
    faulty = model_rows[model_rows["fault"] != ""]
    bold = {(row_names[row["row"]], HEADINGS[row["column"]]) for _, row in faulty.iterrows()}
    cells: list[Cell] = []
    for model, name in names.items():
        cells += [cell for cell in printed_numbers if cell.row == row_names[model]]
        if rows.empty:
            continue
        for phenomenon, heading in HEADINGS.items():
            accuracies = acc.rows_of_model(rows, model, acc.paradigms_of(phenomenon))
            cell_keys = [(f"{name}, {version}", heading) for version in further_versions]
            cells += _compare_runs(accuracies, *cell_keys)
    # A second section lists the paradigms that changed most.
    changes: list[str] = []  # numbers of changed paradigms, "GPT-2 43"
    if len(rows):
        wide = rows.pivot(index=["model", "paradigm"], columns="method", values="accuracy")
        # Accuracies over a thousand pairs have three digits; rounding removes floating-point noise.
        change = (wide[RERUN] - wide[PUBLISHED_RUN]).abs().round(9)
        changed = (change > 0).groupby("model").sum()
        changes = [f"{name} {changed[model]}" for model, name in names.items()]
        change = change[change > 0].sort_values(ascending=False, kind="stable")
        printed_titles: dict[str, str] = {}
        for number, (model, uid) in enumerate(change.index):
            title, is_printed = f"{names[model]}: {uid}", number < MOST_PARADIGMS
            cell_keys = [(title, column) for column in (*RUNS, CHANGED)]
            for cell in _compare_runs(acc.rows_of_model(rows, model, [uid]), *cell_keys):
                cells.append(replace(cell, printed=is_printed))
            if is_printed:
                printed_titles[title] = title
        sections.append(Section("What moved most", printed_titles, [*RUNS, CHANGED]))
    description = describe("erratum", changes=changes, most=MOST_PARADIGMS)
    return Exhibit(**description, cells=cells, sections=sections, heads=HEADS, bold=bold)


# Numbers of the running text. A key is the (row, column) of a printed number.
LSTM, TXL, GPT2, NGRAM = "lstm-gulordava", "transformer-xl-wt103", "gpt2-large", "blimp-5gram"
SUBJECTS = {
    HUMAN: "Humans",
    "validation": "Validation",
    "neural models": "Neural models",
    "sub-word models": "Models with sub-words (TXL, GPT-2)",
}
"""Names of the rows of printed numbers that are not of one model."""
RECOMPUTATION = shared.Recomputation(
    dict.fromkeys((COUNT, formulas.FARTHEST, PRODUCT, formulas.RATIO, SUM), "{:,.10g}")
)
"""Computes numbers of the text from other printed numbers, by formula and format."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A number of the text: a formula, and the models and paradigms of its accuracies."""

    formula: Formula
    models: tuple[str, ...]
    paradigms: tuple[str, ...] = tuple(PHENOMENON_OF)
    form: str = "{:.1f}"
    majority: bool = False
    """True for accuracies of human majorities, which are released separately."""


def _contrast(name: str, *models: str, end: Callable[..., float] | None = None) -> Statement:
    """Return the statement of the contrast ``name`` (``CONTRASTS``) in the models' accuracies.

    ``end``: state the ``models``' largest (``max``) or smallest (``min``) contrast.
    """
    contrast = formulas.CONTRASTS[name]
    formula = formulas.difference(contrast)
    formula = formulas.extreme(end, formula) if end else formula
    return Statement(formula, models, (*contrast.higher, *contrast.lower))


ISLANDS = PARADIGMS["island_effects"]
# A line: (row, column) of the printed number, then its formula, models and paradigms.
STATEMENTS: dict[shared.Place, Statement] = {
    (HUMAN, "individual"): Statement(UNWEIGHTED, (HUMAN,)),
    (HUMAN, "argument_structure"): Statement(UNWEIGHTED, (HUMAN,), PARADIGMS["argument_structure"]),
    (GPT2, "below human, islands"): Statement(formulas.DISTANCE, (GPT2, HUMAN), ISLANDS),
    (TXL, f"r with {LSTM}"): Statement(formulas.PEARSON, (TXL, LSTM), form="{:.3f}"),
    (NGRAM, "adjective"): _contrast("adjective", NGRAM),
    ("neural models", "largest adjective"): _contrast("adjective", LSTM, TXL, GPT2, end=max),
    ("neural models", "smallest adjective"): _contrast("adjective", LSTM, TXL, GPT2, end=min),
    **{(model, "attractor"): _contrast("attractor", model) for model in (GPT2, LSTM, TXL)},
    ("sub-word models", "largest irregularity"): _contrast("irregularity", TXL, GPT2, end=max),
    (LSTM, "irregularity"): _contrast("irregularity", LSTM),
    (HUMAN, "aggregate"): Statement(UNWEIGHTED, (HUMAN,), majority=True),
    # No paradigms here: all validated paradigms, even the rejected ones.
    ("validation", "rejected"): Statement(formulas.REJECTED, (HUMAN,), (), "{:.0f}", majority=True),
    (HUMAN, "largest majority"): Statement(formulas.HIGHEST, (HUMAN,), majority=True),
    (HUMAN, "smallest majority"): Statement(formulas.LOWEST, (HUMAN,), majority=True),
}


def _statement_cell(
    key: shared.Place, column: str, rows: pd.DataFrame, tables: shared.Tables, labels: Labels
) -> Cell | None:
    """Make the cell of a statement in ``column``; None if one of its models lacks a paradigm.

    ``key`` is a key of ``STATEMENTS``, or a model and the name of a contrast. ``rows``: accuracies
    of models and humans.
    """
    subject, number = key
    statement = STATEMENTS.get(key) or _contrast(number, subject)
    subject_name = SUBJECTS.get(subject) or labels.models.get(subject, subject)
    correlations = {f"r with {model}": f"r with {name}" for model, name in labels.models.items()}
    number_name = {**labels.models, **correlations}.get(number, number)
    cell_key = (f"{subject_name}: {number_name.replace('_', ' ')}", column)
    if statement.majority:
        released = acc.read_released(tables, [MAJORITY], rejected=not statement.paradigms)
        if released.empty:
            return None
        cell = acc.computed_cell(released, cell_key, statement.formula, statement.form)
        return replace(cell, stands_for=key)
    rows = rows[rows["model"].isin(statement.models) & rows["paradigm"].isin(statement.paradigms)]
    if len(rows) < len(statement.models) * len(statement.paradigms):
        return None
    if statement.formula == UNWEIGHTED:
        return acc.mean_cell(rows, cell_key, stands_for=key)
    low, high = _interval(statement.formula, rows)
    cell = acc.computed_cell(rows, cell_key, statement.formula, statement.form)
    return replace(cell, stands_for=key, low=low, high=high)


def _interval(formula: Formula, rows: pd.DataFrame) -> tuple[float | None, float | None]:
    """Return the 95 % interval of a correlation (Fisher's z) or contrast (Newcombe's), or nulls."""
    if formula == formulas.PEARSON:
        return formulas.pearson_interval(rows)
    contrast = formula.arguments.get("contrast")
    if contrast is None or rows[["correct", "n"]].isna().any(axis=None):
        return None, None
    counts: list[float] = []
    for group in (contrast.higher, contrast.lower):
        total = rows[rows["paradigm"].isin(group)][["correct", "n"]].sum()
        counts += [float(total["correct"]), float(total["n"])]
    low, high = confint_proportions_2indep(*counts, method="newcomb")
    return 100 * float(low), 100 * float(high)


def text(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Tabulate the text's statements on accuracies; published forms have all printed numbers."""
    if labels.source == "measured":
        rows = acc.read_all(tables, labels)
        contrasts = {name: contrast.phrase for name, contrast in formulas.CONTRASTS.items()}
        # Statements of the paper, contrasts of all models, and statements on majorities.
        stated_keys = [key for key in STATEMENTS if key[1] not in formulas.CONTRASTS]
        keys = [key for key in stated_keys if not STATEMENTS[key].majority]
        keys += product(acc.model_names(rows, labels), contrasts)
        keys += [key for key in stated_keys if STATEMENTS[key].majority]
        optional_cells = [_statement_cell(key, shared.VALUE, rows, tables, labels) for key in keys]
        cells = [cell for cell in optional_cells if cell is not None]
        return Exhibit(**describe("text", **contrasts), cells=cells)

    released = acc.read_released(tables)
    rows = acc.read_own(tables, labels) if released.empty else released

    def recompute(key: shared.Place, _title: str) -> Cell | None:
        if key not in STATEMENTS:
            return None
        return _statement_cell(key, shared.AGAIN, rows, tables, labels)

    printed = shared.read_printed(tables)
    cells, faults = shared.printed_statements(printed, RECOMPUTATION, recompute)
    description = describe("text_published", released=not released.empty, faults=faults)
    return Exhibit(**description, cells=cells)
