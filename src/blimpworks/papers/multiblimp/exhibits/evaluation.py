"""Make Tables 3, 5 and B.2 of MultiBLiMP, and the tables of numbers in its text.

Each function takes the paths of the campaign's tables and the names to print, and returns a table
with its cells (numbers):

- ``table3`` (section 6.2): a model's accuracy by phenomenon and by group of languages;
- ``table5`` and ``tableb2``: accuracies by language and model, and each language's best model;
- ``text72_73`` (7.2, 7.3): effects of models' size, and languages in which one model is better;
- ``text``: numbers of all other sections, such as that of pairs.

Most cells are computed from the table of accuracies, which has rows such as gemma-3-27b, eng, all
phenomena, n 770, accuracy 0.98. Cells of the published form are printed numbers, beside numbers
that are computed from other tables of the paper.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from blimpworks.analysis.statistics import EXACT_BELOW
from blimpworks.exhibits import shared
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import COUNT, LANGS, QUOTIENT, Formula, of_row, select_rows
from blimpworks.files import read_cells
from blimpworks.items import ALL
from blimpworks.papers.multiblimp.analysis import SIZE, fit_size
from blimpworks.papers.multiblimp.exhibits import describe, measures
from blimpworks.papers.multiblimp.exhibits.measures import (
    AGREEMENT_TYPES,
    LEAD_BELOW,
    accuracy_cell,
)
from blimpworks.papers.multiblimp.tables import FREQUENCIES
from blimpworks.tables import COMPARISONS, ITEMS, REGRESSIONS, read_table

RESOURCES = {"low": "Low", "mid": "Mid", "high": "High"}
"""Printed names of resource groups: languages with little, more and much text on the web."""
SUBSETS = {"goldfish": "GF", "aya": "Aya", "eurollm": "EU"}
"""Printed names of groups of languages that a family of models is made for."""
BEST = "#best"
"""Column of Table 3: number of languages in which a model is better than every other model."""
TABLE3_HEADS = (
    {name: (construction, feature[0]) for name, (construction, feature) in AGREEMENT_TYPES.items()}
    | {name: ("Resources", head) for name, head in RESOURCES.items()}
    | {name: ("Language subset", head) for name, head in SUBSETS.items()}
    | {"eng": ("Language subset", "Eng"), ALL: ("Language subset", "All"), "best": ("", BEST)}
)
"""Upper and lower heading of Table 3's columns, keyed by phenomenon or group of languages."""
GROUP_SIZES = {"low": 44_077, "mid": 49_294, "high": 27_934}
"""Number of the release's pairs in each resource group, where GlotCC's characters rank languages.
The numbers are counted, not fitted to Table 3; a fit gives nearly the same shares."""
PARTIAL_MODELS = {"goldfish"}
"""Models of some languages only, so that ``GROUP_SIZES`` are not their numbers of pairs."""
TABLE3_NAMES = {key: f"{upper} {lower}".strip() for key, (upper, lower) in TABLE3_HEADS.items()}
"""Names of Table 3's columns, keyed by phenomenon or group of languages: "Resources Low"."""
HEADS_BY_NAME = {TABLE3_NAMES[key]: head for key, head in TABLE3_HEADS.items()}


def _models(labels: Labels) -> list[str]:
    return [model for model in labels.facts["table_models"] if model in labels.models]


def _column_filters(tables: shared.Tables, labels: Labels) -> dict[str, dict[str, Any]]:
    """Return the filter of accuracies of each column of Table 3, keyed as ``TABLE3_HEADS``.

    For example ``{"sv#": {"phenomenon": "sv#", "lang": ["deu", …]}, "low": {…}, …}``.
    """
    all_languages = [*labels.languages]
    # Without a table of frequencies, the resource groups are empty.
    rows = shared.read_plain(FREQUENCIES, tables.get("frequencies"))
    languages_by_group = {name: list(rows["lang"][rows["resources"] == name]) for name in RESOURCES}
    languages_by_group |= {name: labels.facts["groups"].get(name, []) for name in SUBSETS}
    languages_by_group |= {"eng": ["eng"], ALL: all_languages}
    filters = {name: {"phenomenon": name, "lang": all_languages} for name in AGREEMENT_TYPES}
    for name, languages in languages_by_group.items():
        filters[name] = {"phenomenon": ALL, "lang": languages}
    return filters


def table3(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Make Table 3: accuracy of each model by phenomenon, resource group and group of languages."""
    rows = measures.read_accuracies(tables, labels)
    filters, models = _column_filters(tables, labels), _models(labels)
    cells: list[Cell] = []
    for model, (key, where) in product(models, filters.items()):
        judged = select_rows(rows, {"model": model, **where})
        if len(judged):  # the model has judged some of the column's pairs
            row, column = labels.models[model], TABLE3_NAMES[key]
            # All columns but that of English are means over languages.
            cell = accuracy_cell(judged, (row, column), labels, mean=key != "eng")
            cells.append(replace(cell, stands_for=(model, key)))
            cells.append(measures.unweighted_cell(judged, (row, f"{column}, mean")))
    if labels.source == "published":
        return _published_table3(cells, tables, labels)
    # Number of languages in which a model is significantly better than every other of the table.
    comparisons = shared.read_plain(COMPARISONS, tables["comparisons"][0])
    for model in models:
        rivals = [name for name in models if name != model]
        where = {"model_a": model, "model_b": rivals, "method": labels.method}
        tests = select_rows(comparisons, where)
        if len(tests):
            cell_key, n = (labels.models[model], BEST), tests["lang"].nunique()
            cell = shared.formula_cell(tests, cell_key, measures.LEADS, "comparisons", where, n=n)
            cells.append(replace(cell, stands_for=(model, "best")))
    filled_columns = {cell.column for cell in cells}
    empty = [name for name in TABLE3_NAMES.values() if name not in filled_columns]
    # The best accuracy of a column is bold, among models that have judged all languages.
    overall = rows[rows["phenomenon"] == ALL]
    language_counts = overall.groupby("model")["lang"].nunique()
    complete_models = language_counts.index[language_counts == overall["lang"].nunique()]
    complete_names = {labels.models[str(model)] for model in complete_models}
    accuracies = [cell for cell in cells if cell.column != BEST]
    return Exhibit(
        **describe("table3", level=LEAD_BELOW, absent=empty, ranked=tables.get("frequencies")),
        cells=cells,
        heads=HEADS_BY_NAME,
        bold=shared.best_of_each(accuracies, complete_names, by="column"),
    )


def _published_table3(computed: Sequence[Cell], tables: shared.Tables, labels: Labels) -> Exhibit:
    """Make Table 3 as printed, and below each model numbers from other tables, to check it.

    ``computed`` are the cells of ``table3`` from the accuracies that Table 5 prints. Numbers of
    languages are counted in Table B.2, and the column All is computed from Low, Mid and High.
    """
    printed = shared.read_printed(tables, exhibit="table3")
    computed = [cell for cell in computed if cell.printed]
    cells: list[Cell] = []
    # Number of printed English accuracies, and of those that Table 5 confirms.
    compared = equal = 0
    for model in _models(labels):
        name = labels.models[model]
        numbers = shared.by_place(printed[printed["row"] == model])
        for (_, key), row in numbers.items():
            cells.append(shared.printed_cell(row, (name, TABLE3_NAMES[key])))
        where: dict[str, object] = {"exhibit": "tableb2", "column": model}
        rows, cell_key = shared.read_printed(tables, **where), (f"{name}, Table B.2", BEST)
        cell = shared.formula_cell(rows, cell_key, COUNT, "published", where)
        cells.append(replace(cell, stands_for=(model, "best")))
        # Compute the accuracy over all pairs from the accuracies of the resource groups.
        where = {"exhibit": "table3", "row": model, "column": [*GROUP_SIZES]}
        has_groups = all((model, group) in numbers for group in GROUP_SIZES)
        if has_groups and model not in PARTIAL_MODELS:
            total = sum(GROUP_SIZES.values())
            mean = measures.weighted_values(**GROUP_SIZES, total=total)
            cell_key = (f"{name}, by group", TABLE3_NAMES[ALL])
            cell = shared.formula_cell(printed, cell_key, mean, "published", where, ".1f", n=total)
            cells.append(replace(cell, stands_for=(model, ALL), printed=False))
        for cell in [cell for cell in computed if cell.row == name]:
            # Our copy of Table 5 lacks languages, so that only the English column is complete.
            is_english = cell.column == TABLE3_NAMES["eng"]
            stands_for = cell.stands_for if is_english else None
            cells.append(replace(cell, row=f"{name}, Table 5", stands_for=stands_for))
            if is_english and (model, "eng") in numbers:
                compared += 1
                equal += round(cell.value, 1) == round(numbers[model, "eng"]["value"], 1)
    # Columns whose computed cells lack languages, such as "Low 17–20 of 61".
    incomplete = []
    for key, column_filter in _column_filters(tables, labels).items():
        expected_count = sum(lang in labels.languages for lang in column_filter["lang"])
        filters = [cell.where["lang"] for cell in computed if cell.column == TABLE3_NAMES[key]]
        # Numbers of languages in the cells of the column; a filter is a language or a list.
        counts = {len(lang) if isinstance(lang, list) else 1 for lang in filters}
        if counts and counts != {expected_count}:
            span = "–".join(map(str, sorted({min(counts), max(counts)})))
            incomplete.append(f"{TABLE3_HEADS[key][1]} {span} of {expected_count}")
    bold = shared.printed_bold(printed)
    return Exhibit(
        **describe("table3_published", incomplete=incomplete, equal=equal, compared=compared),
        cells=cells,
        heads=HEADS_BY_NAME,
        bold={(labels.models[model], TABLE3_NAMES[key]) for model, key in bold},
    )


def table5(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Make Table 5: pairs of each language, and accuracy of each model on them (*: on some)."""
    models = _models(labels)
    rows = measures.read_accuracies(tables, labels)
    rows = rows[(rows["phenomenon"] == ALL) & rows["model"].isin(models)]
    # A model may be called like a language, so each column has ranks of its own.
    ranks: dict[Any, dict[str, int]] = {}
    for column, names in (("lang", labels.languages), ("model", models)):
        ranks[column] = {name: rank for rank, name in enumerate(names)}
    rows = rows.sort_values([*ranks], key=lambda values: values.map(ranks[values.name]))
    published = labels.source == "published"
    # The first column is the language's number of pairs, whether a model judged them or not.
    cells: list[Cell] = []
    sizes: dict[str, int] = {}  # number of pairs, keyed by language
    if published:
        most_judged = rows.groupby("lang", sort=False)["n"].max().items()
        sizes = {str(lang): int(n) for lang, n in most_judged}
        for _, row in shared.read_printed(tables, exhibit="table5", column="n").iterrows():
            if row["row"] in sizes:
                cell = shared.printed_cell(row, (labels.languages[row["row"]], "n"))
                cells.append(replace(cell, value=int(row["value"])))
        printed = shared.printed_bold(shared.read_printed(tables, exhibit="table5"))
        bold = {(labels.languages[lang], labels.models[model]) for lang, model in printed}
    else:
        paths = {path.stem: path for path in tables["items"]}
        for lang in rows["lang"].unique():
            sizes[lang] = n = read_table(ITEMS, paths[lang], ["item_id"]).num_rows
            cell = Cell(labels.languages[lang], "n", n, str(n), COUNT, "items", {"lang": lang})
            cells.append(replace(cell, stands_for=(lang, "n")))
    for index, row in rows.iterrows():
        lang, model = str(row["lang"]), str(row["model"])
        star = "*" if row["n"] < sizes[lang] else ""
        cell_key = (labels.languages[lang], labels.models[model])
        cell = accuracy_cell(rows.loc[[index]], cell_key, labels, stands_for=(lang, model))
        cells.append(replace(cell, text=f"{cell.text}{star}"))
    starred = any(cell.text.endswith("*") for cell in cells)
    return Exhibit(
        **describe("table5", starred=starred, published=published),
        cells=cells,
        stub={labels.languages[lang]: {"ISO": lang} for lang in sizes},
        # Headings have the family above the size.
        heads={n: (n.rpartition(" ")[0], n.rpartition(" ")[2]) for n in labels.models.values()},
        bold=bold if published else shared.best_of_each(cells, {*labels.models.values()}),
    )


def tableb2(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Make Table B.2: the significantly best model of each language, accuracy, and p-value.

    Models of the fact ``rivals`` compete; p is of McNemar's test against the second-best model. The
    published form also has the accuracies of Table 5.
    """
    rows = measures.read_accuracies(tables, labels)
    rows = rows[rows["phenomenon"] == ALL].set_index(["lang", "model"], drop=False)
    if labels.source == "published":
        return _published_tableb2(rows, tables, labels)
    stub: dict[str, dict[str, str]] = {}
    cells: list[Cell] = []
    models = [model for model in labels.facts["rivals"] if model in labels.models]
    where = {"model_a": models, "model_b": models, "method": labels.method}
    comparisons = shared.read_plain(COMPARISONS, tables["comparisons"][0])
    comparisons = measures.leads(select_rows(comparisons, where))
    keys = ("benchmark", "method", "lang", "model_a", "model_b")
    for model, (lang, name) in product(models, labels.languages.items()):
        for _, lead in select_rows(comparisons, {"model_a": model, "lang": lang}).iterrows():
            stub[name] = {"Model": labels.models[model], "Next": labels.models[lead["model_b"]]}
            key, cell_key = (lang, model), (name, "Accuracy")
            cells.append(accuracy_cell(rows.loc[[key]], cell_key, labels, stands_for=key))
            cell = shared.row_cell("comparisons", lead, keys, "p", (name, "p"), f"{lead['p']:.3f}")
            cells.append(replace(cell, stands_for=(lang, "p")))
    exact_below = EXACT_BELOW if labels.facts["mcnemar"] == "corrected" else 0
    description = describe("tableb2", level=LEAD_BELOW, exact_below=exact_below, empty=not cells)
    return Exhibit(**description, cells=cells, stub=stub)


def _published_tableb2(rows: pd.DataFrame, tables: shared.Tables, labels: Labels) -> Exhibit:
    """Make Table B.2 as printed, beside accuracies of Table 5: ``rows``, by language and model."""
    stub: dict[str, dict[str, str]] = {}
    cells_by_column: dict[str, list[Cell]] = {"Accuracy": [], "p": [], "Table 5": []}
    differing_languages = []
    for _, number in shared.read_printed(tables, exhibit="tableb2").iterrows():
        lang, model = key = (number["row"], number["column"])
        if lang not in labels.languages:
            continue
        # A row has two numbers: p, and the accuracy in the column of the best model.
        name, column = labels.languages[lang], "p" if model == "p" else "Accuracy"
        cells_by_column[column].append(shared.printed_cell(number, (name, column)))
        if column == "Accuracy":
            stub[name] = {"Model": labels.models[model]}
        if key in rows.index:
            cell = accuracy_cell(rows.loc[[key]], (name, "Table 5"), labels, stands_for=key)
            cells_by_column["Table 5"].append(cell)
            if round(cell.value, 1) != number["value"]:
                differing_languages.append(name)
    counts = Counter(texts["Model"] for texts in stub.values())
    description = describe("tableb2_published", differing=differing_languages, counts=counts)
    cells = [cell for cells in cells_by_column.values() for cell in cells]
    return Exhibit(**description, cells=cells, stub=stub)


WINS_BELOW = 0.05
"""Level of significance for all pairs of models. Section 7.3 gives it for the two sizes of Llama3
alone; footnote 7 has 0.1 for Table B.2."""
FAMILIES = {"aya": "Aya", "eurollm": "EuroLLM", "goldfish": "Goldfish"}
"""Printed names of families of models, keyed by the group of languages that they are made for."""
REGRESSION = read_cells(Path(__file__).with_name("regression.tsv"))
"""Numbers of the regression: keys of the printed number, term and column of the table of
regressions, title of the cell's row, and decimals."""


def text72_73(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Make the table of section 7.2's regression, and of languages by better model (7.3)."""
    if labels.source == "published":
        recomputation = shared.Recomputation({QUOTIENT: "{:.1f} %", of_row("value"): "{text}"})
        printed = shared.read_printed(tables)
        cells, faults = shared.printed_statements(printed, recomputation, exhibit="text72_73")
        return Exhibit(**describe("text72_73_published", faults=faults), cells=cells)
    cells = []
    regressions = shared.read_plain(REGRESSIONS, tables["regressions"])
    regressions = regressions[regressions["analysis"] == SIZE]
    keys = ("analysis", "model", "term")
    for number in REGRESSION:
        column, cell_key = number["column"], (number["title"], shared.VALUE)
        printed_key = (number["printed_row"], number["printed_column"])
        for _, row in regressions[regressions["term"] == number["term"]].iterrows():
            text = f"{row[column]:.{number['decimals']}f}".replace("-", "−")
            cell = shared.row_cell("regressions", row, keys, column, cell_key, text)
            cells.append(replace(cell, n=row["n"], stands_for=printed_key))
    reason = ""
    if not cells:
        _, reason = fit_size(measures.read_accuracies(tables, labels), labels.facts["models"])
    cells += _comparison_cells(tables, labels)
    exact_below = EXACT_BELOW if labels.facts["mcnemar"] == "corrected" else 0
    return Exhibit(
        **describe("text72_73", level=WINS_BELOW, exact_below=exact_below, no_regression=reason),
        cells=cells,
    )


def _comparison_cells(tables: shared.Tables, labels: Labels) -> Iterator[Cell]:
    """Yield cells of section 7.3: numbers of languages in which one of two models is better.

    The two models are those of a panel of Figure 6, in either order. If the second model is made
    for a group of languages, a further cell counts the languages of this group.
    """
    comparisons, source = shared.read_plain(COMPARISONS, tables["comparisons"][0]), "comparisons"
    comparisons = comparisons[comparisons["lang"].isin(labels.languages)]
    for model, group_model, group in labels.facts["pairs"]:
        for better, rival in ((model, group_model), (group_model, model)):
            where = {"model_a": better, "model_b": rival, "method": labels.method}
            rows = select_rows(comparisons, where)
            if rows.empty:
                continue
            name, rival_name = labels.models[better], labels.models[rival]
            title, printed_row = f"{name} better than {rival_name}", f"{better}>{rival}"
            cell_key = (f"{title}: languages", shared.VALUE)
            cell = shared.formula_cell(rows, cell_key, measures.wins(WINS_BELOW), source, where)
            yield replace(cell, stands_for=(printed_row, "languages"))
            if better == model:
                cell_key = (f"{name} and {rival_name}: languages compared", shared.VALUE)
                yield shared.formula_cell(rows, cell_key, COUNT, source, where)
            in_group = rows["lang"].isin(labels.facts["groups"].get(group, []))
            if better == group_model and in_group.any():
                where = {**where, "lang": list(rows["lang"][in_group])}
                cell_key = (f"{title}: of the {FAMILIES[group]} languages", shared.VALUE)
                share, n = measures.win_share(WINS_BELOW), sum(in_group)
                cell = shared.formula_cell(rows, cell_key, share, source, where, ".0f")
                text = f"{measures.won(rows[in_group], WINS_BELOW).sum()} of {n} ({cell.text} %)"
                yield replace(cell, text=text, n=n, stands_for=(printed_row, f"{group} share"))


MEASURED: dict[shared.Place, tuple[str, Formula, Mapping[str, str]]] = {
    ("data", "pairs"): ("MultiBLiMP 1.0: pairs", COUNT, {}),
    ("data", "languages"): ("MultiBLiMP 1.0: languages", LANGS, {}),
}
for _key, _name in (("sv#", "Subject-verb number"), ("spP", "Subject-participle person")):
    _title = f"{_name} agreement: languages"
    MEASURED[_key, "languages"] = (_title, measures.LANGUAGE_COUNT, {"phenomenon": _key})
"""Title, formula and filter of the campaign's items, keyed by printed row and column."""


def text(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Make the table of numbers in the text, except sections 7.2 and 7.3, by statement."""
    if labels.source == "published":
        recomputation = shared.Recomputation(
            dict.fromkeys((COUNT, measures.DIFFERENCE, of_row("value")), "{:g}")
        )
        cells, faults = shared.printed_statements(shared.read_printed(tables), recomputation)
        return Exhibit(**describe("text_published", faults=faults), cells=cells)
    items = shared.read_plain(ITEMS, tables["items"], ["lang", "phenomenon"])
    cells = []
    for printed_key, (title, formula, where) in MEASURED.items():
        cell = shared.formula_cell(items, (title, shared.VALUE), formula, "items", where, ",.0f")
        cells.append(replace(cell, stands_for=printed_key))
    return Exhibit(**describe("text", enough=measures.ENOUGH_PAIRS), cells=cells)
