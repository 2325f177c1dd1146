"""Tables about MultiBLiMP's data: conditions, treebanks left out, the funnel, pairs regenerated.

Source: Jumelet, Weissweiler, Nivre and Bisazza (2025), Tables 2 and 4, and Table 5 (column n).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

import pandas as pd

from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section
from blimpworks.exhibits.formulas import COUNT, KINDS, TOTAL, Formula, select_rows
from blimpworks.exhibits.shared import Tables, printed_cell, read_plain, read_printed
from blimpworks.papers.multiblimp.exhibits import describe
from blimpworks.papers.multiblimp.exhibits.accuracies import CERTAIN, FEATURES
from blimpworks.papers.multiblimp.exhibits.facts import COMPLETE
from blimpworks.papers.multiblimp.exhibits.formulas import ENOUGH_PAIRS, LANGUAGES, ratio
from blimpworks.tables import FUNNEL, ITEMS, SENTENCES, read_table

ORDERS = {"SV": ("SV",), "VS": ("VS",), "BOTH": ("SV", "VS")}
TOTALS = tuple(f"Total {order}" for order in ORDERS)
# As Table 2 prints them.
CONSTRUCTIONS = {"sv": "S-Verb", "sp": "S-Participle"}
HEADINGS = {name.upper(): values for name, values in FEATURES.values()}
ROWS = {
    f"{kind}{sign}": (name.upper(), construction)
    for (sign, (name, _)), (kind, construction) in product(FEATURES.items(), CONSTRUCTIONS.items())
}
"""Heading and name of each phenomenon's row, in the paper's order."""


# Table 2


def _table2_row(
    pairs: pd.DataFrame,
    row: str,
    values: Sequence[str],
    formula: Formula,
    where: Mapping[str, object],
) -> list[Cell]:
    """Cells of one row: each value in both orders, then the totals over all values."""
    cells: list[Cell] = []
    for value, order in product((*values, "Total"), ORDERS):
        if order == "BOTH" and value != "Total":
            continue
        inside = pairs[pairs["order"].isin(ORDERS[order])]
        chosen: dict[str, object] = {**where, "order": list(ORDERS[order])}
        if value != "Total":
            inside = inside[inside["grammatical"] == value]
            chosen["grammatical"] = value
        # Languages with enough pairs, and those with enough pairs of certain agreement.
        column = f"{value} {order}"
        certain = inside[inside["label"].isin(CERTAIN)]
        least = ENOUGH_PAIRS if formula == LANGUAGES else 1
        sizes = [int((frame["lang"].value_counts() >= least).sum()) for frame in (inside, certain)]
        text = f"{sizes[0]} ({sizes[1]})"
        both = Cell(row, column, sizes[0], text, formula, "items", chosen, n=len(inside))
        inner = replace(
            both,
            column=f"{column} certain",
            value=sizes[1],
            text=str(sizes[1]),
            where={**chosen, "label": list(CERTAIN)},
            n=len(certain),
            printed=False,
        )
        key = str(chosen.get("phenomenon", row))
        cells += [replace(cell, stands_for=(key, cell.column)) for cell in (both, inner)]
    return cells


def table2_sections(rows: Mapping[str, str]) -> list[Section]:
    """Parts of Table 2 for its rows, which are feature and construction, or a total."""
    sections = []
    for feature, values in HEADINGS.items():
        inside = {row: name for row, name in rows.items() if row.startswith(feature)}
        if inside:
            columns = [f"{value} {order}" for value in values for order in ORDERS["BOTH"]]
            sections.append(Section(feature, inside, [*columns, *TOTALS]))
    totals = {row: name for row, name in rows.items() if row.startswith("TOTAL")}
    last = sections[-1].columns if sections else TOTALS
    return [*sections, Section("", totals, last)] if totals else sections


def _table2_rows(phenomena: Sequence[str]) -> dict[str, str]:
    return {" ".join(names): names[1] for key, names in ROWS.items() if key in phenomena}


def _table2_layout(cells: Sequence[Cell], rows: Mapping[str, str], caption: str) -> Exhibit:
    sections = table2_sections(rows)
    columns = [column for section in sections for column in section.columns]
    return Exhibit(
        **describe("table2", caption=caption, enough=ENOUGH_PAIRS),
        cells=list(cells),
        heads={column: (column.split()[0], column.split()[1]) for column in columns},
        sections=sections,
    )


def table2(tables: Tables, labels: Labels) -> Exhibit:
    """Table 2: languages with at least ten pairs per condition; the last row has any pairs."""
    if labels.source == "published":
        return _printed_table2(tables)
    pairs = read_plain(
        ITEMS, tables["items"], ["lang", "phenomenon", "grammatical", "order", "label"]
    )
    cells: list[Cell] = []
    for phenomenon, names in ROWS.items():
        inside = pairs[pairs["phenomenon"] == phenomenon]
        if len(inside):
            where = {"phenomenon": phenomenon}
            cells += _table2_row(inside, " ".join(names), HEADINGS[names[0]], LANGUAGES, where)
    totals = {"TOTAL": LANGUAGES, "TOTAL, any pairs": KINDS}
    for row, formula in totals.items():
        cells += _table2_row(pairs, row, (), formula, {})
    rows = _table2_rows(list(pairs["phenomenon"].unique())) | {row: row for row in totals}
    caption = f"Number of the campaign's {len(labels.languages)} languages"
    exhibit = _table2_layout(cells, rows, caption)
    exhibit.caption += " The last row counts languages with any pairs."
    return exhibit


def _printed_table2(tables: Tables) -> Exhibit:
    """Table 2 as the paper prints it."""
    printed = read_printed(tables, exhibit="table2")
    names = {key: " ".join(parts) for key, parts in ROWS.items()}
    texts = {(row["row"], row["column"]): row["text"] for _, row in printed.iterrows()}
    cells = []
    for _, row in printed.iterrows():
        cell = printed_cell(row, (names.get(row["row"], row["row"]), row["column"]))
        sure = texts.get((row["row"], f"{row['column']} certain"))
        text = cell.text if sure is None else f"{cell.text} ({sure})"
        cells.append(replace(cell, text=text, printed=sure is not None))
    rows = _table2_rows(list(printed["row"])) | {"TOTAL": "TOTAL"}
    return _table2_layout(cells, rows, "As the paper prints it: languages")


# Table 4


IN_TABLE4 = 25
"""Treebanks that the paper lists."""
WITH_PAIRS = IN_TABLE4 - 2
"""Those of the 101 languages that it has pairs of."""
TABLE4_STUB = ("Language", "Corpus", "Characteristics")


def table4(tables: Tables, labels: Labels) -> Exhibit:
    """Table 4: treebanks left out and why, with how many of their sentences are read: none."""
    if labels.source == "published":
        return _printed_table4(tables)
    cells: list[Cell] = []
    texts: dict[str, tuple[str, ...]] = {}
    entries = labels.facts["excluded"]
    paths = {path.stem: path for path in tables["sentences"]}
    for lang in sorted(entries, key=labels.languages.__getitem__):
        read = [read_table(SENTENCES, paths[lang], ["treebank"])] if lang in paths else []
        sentences = Counter(name for table in read for name in table["treebank"].to_pylist())
        for treebank, reason in sorted(entries[lang]):
            n = sentences[treebank]
            where = {"lang": lang, "treebank": treebank}
            cell = Cell(treebank, "Sentences read", n, str(n), COUNT, "sentences", where, n=n)
            cells.append(cell)
            texts[treebank] = (labels.languages[lang], treebank.partition("-")[2], reason)
    stub = {row: dict(zip(TABLE4_STUB, before, strict=True)) for row, before in texts.items()}
    others = ", and those of languages that the campaign has not"
    description = describe(
        "table4",
        languages=len(labels.languages),
        more=IN_TABLE4 - len(texts),
        others=others if len(texts) < WITH_PAIRS else "",
    )
    return Exhibit(
        **description,
        cells=cells,
        stub=stub,
        named=False,
    )


def _printed_table4(tables: Tables) -> Exhibit:
    """The paper's own list; its reasons are the cells, as it has no numbers."""
    cells: list[Cell] = []
    stub: dict[str, dict[str, str]] = {}
    for _, row in read_printed(tables, exhibit="table4").iterrows():
        where = {"exhibit": "table4", "row": row["row"]}
        language, _, corpus = row["row"].removeprefix("UD_").partition("-")
        cells.append(Cell(row["row"], TABLE4_STUB[2], 1, row["text"], COUNT, "published", where))
        stub[row["row"]] = {"Language": language.replace("_", " "), "Corpus": corpus}
    description = describe("table4_published")
    return Exhibit(**description, cells=cells, stub=stub, named=False, textual=True)


# Funnel


def _funnel_cells(counts: pd.DataFrame, row: str, where: Mapping[str, object]) -> list[Cell]:
    """One row of the funnel: what each step kept or dropped, over all phenomena."""
    cells = []
    for (part, reason), rows in counts.groupby(["part", "reason"], sort=False):
        n, stages = int(rows["n"].sum()), list(rows["stage"].unique())
        chosen: dict[str, object] = {**where, "stage": stages, "reason": reason}
        cells.append(Cell(row, f"{part}: {reason}", n, str(n), TOTAL, "funnel", chosen, n=n))
    return cells


def funnel(tables: Tables, labels: Labels) -> Exhibit:
    """What each stage of generation kept and dropped; not an exhibit of the paper."""
    counts = read_plain(FUNNEL, tables["funnel"])
    counts = counts.assign(part=counts["stage"].str.split().str[0])
    cells = _funnel_cells(counts, "All", {})
    for lang, name in labels.languages.items():
        cells += _funnel_cells(counts[counts["lang"] == lang], name, {"lang": lang})
    columns = list(dict.fromkeys(cell.column for cell in cells))
    rows = {row: row for row in (*labels.languages.values(), "All")}
    return Exhibit(
        **describe("funnel"),
        cells=cells,
        heads={column: ("", column.partition(": ")[2]) for column in columns},
        sections=[
            Section(part, rows, [name for name in columns if name.startswith(f"{part}: ")])
            for part in counts["part"].unique()
        ],
    )


# Pairs regenerated

ALL = "All"
# Column, first word of the funnel's stages, and the reason that counts what is left.
COUNTED = (("Pairs", "pairs", "pairs"), ("Items", "sampling", "items"))


def _regeneration_cells(
    funnel: pd.DataFrame, row: str, published: int | None, chosen: Mapping[str, object]
) -> list[Cell]:
    """Pairs, items, and items against the paper's number, of one language or of all."""
    cells: list[Cell] = []
    for column, stage, reason in COUNTED:
        inside = funnel[funnel["reason"] == reason]["stage"].unique()
        stages = [name for name in inside if name.split()[0] == stage]
        if not stages:
            raise UserError(
                f"the funnel has no stage {stage!r} with {reason!r}; it has "
                f"{', '.join(funnel['stage'].unique())}. Rebuild it with this version."
            )
        where = {**chosen, "stage": stages, "reason": reason}
        n = int(select_rows(funnel, where)["n"].sum())
        cells.append(Cell(row, column, n, str(n), TOTAL, "funnel", where, n=n))
    if published:
        value, formula = n / published, ratio(published)
        cells.append(Cell(row, "Ratio", value, f"{value:.3f}", formula, "funnel", where, n=n))
    return cells


def regeneration(tables: Tables, labels: Labels) -> Exhibit:
    """Compare each language's items with the release. Raises UserError for an incomplete funnel."""
    funnel = read_plain(FUNNEL, tables["funnel"])
    published: Mapping[str, int] = labels.facts["published_n"]
    sources, reasons = labels.facts["completeness"], labels.facts["reasons"]
    cells: list[Cell] = []
    stub = {ALL: {"ISO": "", "Paper": str(sum(published.values()))}}
    remarks = {ALL: {"Sources missing": "", "Reason": ""}}
    for lang, name in labels.languages.items():
        n = published.get(lang)
        cells += _regeneration_cells(funnel, name, n, {"lang": lang})
        differs = cells[-1].text != "1.000" or cells[-1].n != n
        stub[name] = {"ISO": lang, "Paper": "" if n is None else str(n)}
        remarks[name] = {
            "Sources missing": sources[lang],
            "Reason": reasons.get(lang, "") if differs else "",
        }
    items = {cell.where.get("lang"): cell.value for cell in cells if cell.column == "Items"}
    return Exhibit(
        **describe(
            "regeneration",
            matching=sum(items.get(lang) == n for lang, n in published.items()),
            published=len(published),
            incomplete=sum(text != COMPLETE for text in sources.values()),
        ),
        cells=[*cells, *_regeneration_cells(funnel, ALL, sum(published.values()), {})],
        stub={name: stub[name] for name in (*labels.languages.values(), ALL)},
        remarks=remarks,
        widths={"Sources missing": 0.2, "Reason": 0.25},
    )
