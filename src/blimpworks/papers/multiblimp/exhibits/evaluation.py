"""Tables of accuracies on MultiBLiMP: Tables 3, 5 and B.2.

Source: Jumelet, Weissweiler, Nivre and Bisazza (2025).
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from blimpworks.analysis.accuracy import ALL
from blimpworks.analysis.comparisons import EXACT_BELOW
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import COUNT, select_rows
from blimpworks.exhibits.shared import (
    Tables,
    best_of_each,
    formula_cell,
    printed_bold,
    printed_cell,
    read_plain,
    read_printed,
    row_cell,
)
from blimpworks.papers.multiblimp.exhibits import describe
from blimpworks.papers.multiblimp.exhibits.accuracies import (
    PHENOMENA,
    accuracy_cell,
    overall_cells,
    read_accuracies,
    read_groups,
    unweighted_cell,
)
from blimpworks.papers.multiblimp.exhibits.formulas import LEAD_BELOW, LEADS, leads
from blimpworks.tables import COMPARISONS, ITEMS, read_table

RESOURCES = {"low": "Low", "mid": "Mid", "high": "High"}
SUBSETS = {"goldfish": "GF", "aya": "Aya", "eurollm": "EU"}
ENGLISH, EVERY, BEST = "Eng", "All", "#best"
HEADS = (
    {name: (construction, feature[0]) for name, (construction, feature) in PHENOMENA.items()}
    | {name: ("Resources", head) for name, head in RESOURCES.items()}
    | {name: ("Language subset", head) for name, head in SUBSETS.items()}
    | {"eng": ("Language subset", ENGLISH), ALL: ("Language subset", EVERY), "best": ("", BEST)}
)
"""Columns of Table 3 by their keys, and their headings."""
NAMES = {key: f"{upper} {lower}".strip() for key, (upper, lower) in HEADS.items()}


def _models(labels: Labels) -> list[str]:
    """Models of the tables, in print order: all that have a label unless facts choose."""
    chosen = labels.facts.get("table_models", labels.models)
    return [model for model in chosen if model in labels.models]


# Table 3


def _selections(tables: Tables, labels: Labels) -> Iterator[tuple[str, str, list[str]]]:
    """Key, phenomenon and languages of each of Table 3's columns of accuracies."""
    languages = list(labels.languages)
    for phenomenon in PHENOMENA:
        yield phenomenon, phenomenon, languages
    groups = read_groups(tables)
    for name in RESOURCES:
        yield name, ALL, groups.get(name, [])
    for name in SUBSETS:
        yield name, ALL, labels.facts["groups"][name]
    yield "eng", ALL, ["eng"]
    yield ALL, ALL, languages


def _best_cells(tables: Tables, labels: Labels) -> Iterator[Cell]:
    """In how many languages each model is significantly better than all others of the table."""
    comparisons = read_plain(COMPARISONS, tables["comparisons"][0])
    models = _models(labels)
    for model in models:
        others = [other for other in models if other != model]
        where = {"model_a": model, "model_b": others, "method": labels.method}
        rows = select_rows(comparisons, where)
        if len(rows):
            place = (labels.models[model], NAMES["best"])
            cell = formula_cell(rows, place, LEADS, "comparisons", where, n=rows["lang"].nunique())
            yield replace(cell, stands_for=(model, "best"))


def _absent(tables: Tables, cells: Sequence[Cell]) -> str:
    """What of Table 3 the caption must say is missing."""
    present = {cell.column for cell in cells}
    missing = [name for name in NAMES.values() if name not in present]
    if not missing:
        return ""
    why = "" if tables.get("frequencies") else " (there are no frequencies to rank languages by)"
    return f" Without any pair or comparison here{why}: {', '.join(missing)}."


def table3(tables: Tables, labels: Labels) -> Exhibit:
    """Table 3: accuracy by phenomenon, resources and subset; published, from Table 5 too."""
    rows = read_accuracies(tables, labels)
    # Cells of Table 3 by model, where the model has judged any of the column's pairs.
    chosen = [
        (key, rows[(rows["phenomenon"] == phenomenon) & rows["lang"].isin(languages)])
        for key, phenomenon, languages in _selections(tables, labels)
    ]
    cells = []
    for model in _models(labels):
        name = labels.models[model]
        for key, inside in chosen:
            judged = inside[inside["model"] == model]
            if len(judged):
                cell = accuracy_cell(judged, name, NAMES[key], labels, mean=key != "eng")
                cells.append(replace(cell, stands_for=(model, key)))
                cells.append(unweighted_cell(judged, name, f"{NAMES[key]}, mean", labels))
    if labels.source == "published":
        return _published_table3(cells, tables, labels)
    cells += _best_cells(tables, labels)
    whole = rows[rows["phenomenon"] == ALL]
    counts = whole.groupby("model")["lang"].nunique()
    return Exhibit(
        **describe("table3", level=LEAD_BELOW, absent=_absent(tables, cells)),
        cells=cells,
        heads={NAMES[key]: head for key, head in HEADS.items()},
        bold=best_of_each(
            [cell for cell in cells if cell.column != BEST],
            {labels.models[str(m)] for m in counts.index[counts == whole["lang"].nunique()]},
            by="column",
        ),
    )


def _published_table3(computed: Sequence[Cell], tables: Tables, labels: Labels) -> Exhibit:
    printed = read_printed(tables, exhibit="table3")
    cells: list[Cell] = []
    for model in _models(labels):
        name = labels.models[model]
        inside = printed[printed["row"] == model]
        cells += [printed_cell(r, (name, NAMES[r["column"]])) for _, r in inside.iterrows()]
        where = {"exhibit": "tableb2", "column": model}
        rows, listed_at = read_printed(tables, **where), (f"{name}, Table B.2", NAMES["best"])
        cells.append(
            formula_cell(rows, listed_at, COUNT, "published", where, stands_for=(model, "best"))
        )
        cells += overall_cells(printed, model, f"{name}, by group", NAMES[ALL])
        for cell in computed:
            if cell.row == name and cell.printed:
                # Only the column of one language is whole: Table 5 is cut off in our copy.
                place = cell.stands_for if cell.column == NAMES["eng"] else None
                cells.append(replace(cell, row=f"{name}, Table 5", stands_for=place))
    english = _agreement(cells, NAMES["eng"])
    bold = printed_bold(printed, "table3")
    # Over how many languages the cells of each column are, of how many.
    incomplete = []
    for key, _, languages in _selections(tables, labels):
        of = sum(lang in labels.languages for lang in languages)
        filters = [c.where["lang"] for c in computed if c.column == NAMES[key] and c.printed]
        sizes = sorted({len(langs) if isinstance(langs, list) else 1 for langs in filters})
        if sizes and sizes != [of]:
            span = "–".join(map(str, sorted({sizes[0], sizes[-1]})))
            incomplete.append(f"{HEADS[key][1]} {span} of {of}")
    return Exhibit(
        **describe("table3_published", coverage=(", ".join(incomplete) or "all"), english=english),
        cells=cells,
        heads={NAMES[key]: head for key, head in HEADS.items()},
        bold={(labels.models[model], NAMES[key]) for model, key in bold},
    )


def _agreement(cells: Sequence[Cell], column: str) -> str:
    """In how many pairs of rows a column has the same number twice, of how many."""
    values = {cell.row: round(cell.value, 1) for cell in cells if cell.column == column}
    pairs = [(row, f"{row}, Table 5") for row in values if f"{row}, Table 5" in values]
    return f"{sum(values[a] == values[b] for a, b in pairs)} of {len(pairs)}"


# Table 5


def table5(tables: Tables, labels: Labels) -> Exhibit:
    """Table 5: accuracy of each model on each language, over all its pairs."""
    models = _models(labels)
    rows = read_accuracies(tables, labels)
    rows = rows[(rows["phenomenon"] == ALL) & rows["model"].isin(models)]
    ranks = {name: rank for rank, name in enumerate((*labels.languages, *models))}
    rows = rows.sort_values(["lang", "model"], key=lambda column: column.map(ranks))
    published = labels.source == "published"
    # Pairs of each language, whoever judged them, before its accuracies.
    cells: list[Cell] = []
    sizes: dict[str, int] = {}
    if published:
        most = rows.groupby("lang", sort=False)["n"].max().items()
        sizes |= {str(lang): int(n) for lang, n in most}
        for _, row in read_printed(tables, exhibit="table5", column="n").iterrows():
            if row["row"] in sizes:
                cell = printed_cell(row, (labels.languages[row["row"]], "n"))
                cells.append(replace(cell, value=int(row["value"])))
        printed = printed_bold(read_printed(tables, exhibit="table5"), "table5")
        bold = {(labels.languages[lang], labels.models[model]) for lang, model in printed}
    else:
        paths = {path.stem: path for path in tables["items"]}
        sizes = {
            k: read_table(ITEMS, paths[k], ["item_id"]).num_rows for k in rows["lang"].unique()
        }
        for lang, n in sizes.items():
            cell = Cell(labels.languages[lang], "n", n, str(n), COUNT, "items", {"lang": lang})
            cells.append(replace(cell, stands_for=(lang, "n")))
    for i, row in rows.iterrows():
        lang, model = str(row["lang"]), str(row["model"])
        mark = "*" if row["n"] < sizes[lang] else ""
        place = (labels.languages[lang], labels.models[model])
        cell = accuracy_cell(rows.loc[[i]], *place, labels, mark)
        cells.append(replace(cell, stands_for=(lang, model)))
    starred = "; * some pairs are longer than the model's context and are left out"
    starred = starred if any(cell.text.endswith("*") for cell in cells) else ""
    legible = " Only what is legible in the paper's text, its bold included." if published else ""
    return Exhibit(
        **describe("table5", starred=starred, legible=legible),
        cells=cells,
        stub={labels.languages[k]: {"ISO": k} for k in sizes},
        # Family above size.
        heads={n: (n.rpartition(" ")[0], n.rpartition(" ")[2]) for n in labels.models.values()},
        bold=bold if published else best_of_each(cells, {*labels.models.values()}),
    )


# Table B.2


def form_of_test(labels: Labels) -> str:
    """How the campaign's McNemar's tests are done, for a caption."""
    if labels.facts["mcnemar"] == "published":
        return "chi-squared with continuity correction"
    return (
        f"exact binomial where they differ on fewer than {EXACT_BELOW} pairs, else chi-squared "
        "with continuity correction"
    )


def tableb2(tables: Tables, labels: Labels) -> Exhibit:
    """Table B.2: the significantly best model of each language, among ``rivals`` (Table 3: all)."""
    if labels.source == "published":
        return _published_b2(tables, labels)
    rows = read_accuracies(tables, labels)
    rows = rows[rows["phenomenon"] == ALL].set_index(["lang", "model"], drop=False)
    models = [model for model in labels.facts["rivals"] if model in labels.models]
    where = {"model_a": models, "model_b": models, "method": labels.method}
    leading = leads(select_rows(read_plain(COMPARISONS, tables["comparisons"][0]), where))
    cells: list[Cell] = []
    stub = {}
    keys = ("benchmark", "method", "lang", "model_a", "model_b")
    for model in models:
        for lang, name in labels.languages.items():
            for _, lead in select_rows(leading, {"model_a": model, "lang": lang}).iterrows():
                stub[name] = {
                    "Model": labels.models[model],
                    "Next": labels.models[lead["model_b"]],
                }
                cell = accuracy_cell(rows.loc[[(lang, model)]], name, "Accuracy", labels)
                cells.append(replace(cell, stands_for=(lang, model)))
                text = f"{lead['p']:.3f}"
                cell = row_cell("comparisons", lead, keys, "p", (name, "p"), text)
                cells.append(replace(cell, stands_for=(lang, "p")))
    none = "" if cells else " No model is ahead of all others so surely in any language."
    return Exhibit(
        **describe("tableb2", level=LEAD_BELOW, test=form_of_test(labels), none=none),
        cells=cells,
        stub=stub,
    )


def _published_b2(tables: Tables, labels: Labels) -> Exhibit:
    """Printed rows of Table B.2, with the accuracies that Table 5 has for the same cells."""
    printed = read_printed(tables, exhibit="tableb2")
    printed = printed[printed["row"].isin(labels.languages)]
    rows = read_accuracies(tables, labels).set_index(["lang", "model"], drop=False)
    cells: list[Cell] = []
    stub, differ = {}, []
    for _, row in printed.iterrows():
        lang, name = row["row"], labels.languages[row["row"]]
        if row["column"] == "p":
            cells.append(printed_cell(row, (name, "p")))
            continue
        model = row["column"]
        stub[name] = {"Model": labels.models[model]}
        cells.append(printed_cell(row, (name, "Accuracy")))
        if (lang, model) in rows.index:
            again = accuracy_cell(rows.loc[[(lang, model)]], name, "Table 5", labels)
            cells.append(replace(again, stands_for=(lang, model)))
            differ += [name] if round(again.value, 1) != row["value"] else []
    order = ["Accuracy", "p", "Table 5"]
    cells.sort(key=lambda cell: order.index(cell.column))
    return Exhibit(
        **describe(
            "tableb2_published",
            differing=", ".join(differ) or "none",
            by_model=", ".join(
                f"{name} {sum(s['Model'] == name for s in stub.values())}"
                for name in dict.fromkeys(s["Model"] for s in stub.values())
            ),
        ),
        cells=cells,
        stub=stub,
    )
