"""Make the tables of MultiBLiMP's data: Tables 1, 2 and 4, the funnel, and the regeneration.

Each function takes the campaign's tables and the names to print, and returns a table with cells.
``table1`` is of agreement counts (rows: values and orders, columns: languages), ``table2`` of items
(rows: phenomena, columns: values and orders), ``table4`` of sentences (rows: treebanks). ``funnel``
counts the candidates lost in each stage of generation, and ``regeneration`` compares numbers of
items with the release; neither is in the paper. Source: section 4.2, Table 5 (column n).
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product

import pandas as pd

from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section
from blimpworks.exhibits.formulas import COMPLEMENT, COUNT, KINDS, TOTAL, Formula, select_rows
from blimpworks.exhibits.shared import (
    Tables,
    by_place,
    formula_cell,
    printed_bold,
    printed_cell,
    read_plain,
    read_printed,
)
from blimpworks.papers.multiblimp.exhibits import describe
from blimpworks.papers.multiblimp.exhibits.facts import COMPLETE
from blimpworks.papers.multiblimp.exhibits.measures import (
    CERTAIN,
    ENOUGH_PAIRS,
    FEATURES,
    LANGUAGE_COUNT,
    ratio,
    share,
)
from blimpworks.papers.multiblimp.tables import AGREEMENT, AGREEMENT_COUNTS
from blimpworks.tables import FUNNEL, ITEMS, SENTENCES

ORDERS = ("SV", "VS")
FALLBACK_LANGUAGES = 2
"""Number of Table 1's languages, if the campaign has none of the languages in the settings."""
PHENOMENON = "sv#"
"""Phenomenon of the printed Table 1."""
STUB = ("Subject", "Verb", "Order")
"""Columns of Table 1 before the numbers; a row's name joins their texts: "SG PL VS"."""
VALUE_COLUMNS = ["subject_value", "verb_value"]


def table1(tables: Tables, labels: Labels) -> Exhibit:
    """Make Table 1: probability of the verb's value, given the subject's value and the word order.

    Significant agreement is bold. To check printed numbers, the published form has hidden cells: 1
    minus the printed probability of the other value (singular or plural).
    """
    names = labels.languages
    if labels.source == "published":
        phenomenon, printed = PHENOMENON, read_printed(tables, exhibit="table1")
        bold = {(row, names[lang]) for row, lang in printed_bold(printed)}
        numbers = by_place(printed)
        cells, hidden = list[Cell](), list[Cell]()
        for (row, lang), number in numbers.items():
            cells.append(printed_cell(number, (row, names[lang])))
            subject, verb, order = row.split()
            other_verb = "PL" if verb == "SG" else "SG"
            other_number = numbers[f"{subject} {other_verb} {order}", lang]
            cell = printed_cell(other_number, (row, f"{names[lang]}, from the other value"))
            cell = replace(cell, value=1 - cell.value, formula=COMPLEMENT, stands_for=(row, lang))
            hidden.append(replace(cell, text=f"{cell.value:.3f}", printed=False))
        printed_rows = list(dict.fromkeys(printed["row"]))
        cells = sorted(cells, key=lambda cell: printed_rows.index(cell.row)) + hidden
    else:
        phenomenon = labels.facts["table1"]["phenomenon"]
        cells, bold = _shares(tables, labels)
    rows = list(dict.fromkeys(cell.row for cell in cells))
    columns = list(dict.fromkeys(cell.column for cell in cells if cell.printed))
    if labels.source == "measured":
        # A language may have no cell in the first rows.
        languages = (*labels.facts["table1"]["languages"], *names)
        name_order = [names[lang] for lang in languages if lang in names]
        columns.sort(key=name_order.index)
    feature = FEATURES[phenomenon[2:]][0].lower()
    inflected = {"sv": "verb", "sp": "participle"}[phenomenon[:2]]
    by_order = ({row: row for row in rows if row.endswith(order)} for order in ORDERS)
    return Exhibit(
        **describe("table1", kind=inflected, feature=feature),
        cells=cells,
        stub={row: dict(zip(STUB, row.split(), strict=True)) for row in rows},
        bold=bold,
        heads={column: (f"P({inflected} | subject, order)", column) for column in columns},
        sections=[Section("", group, [*STUB, *columns]) for group in by_order if group],
        named=False,
    )


def _shares(tables: Tables, labels: Labels) -> tuple[list[Cell], set[tuple[str, str]]]:
    """Return the cells of the measured Table 1, and the keys of bold cells."""
    names, phenomenon = labels.languages, labels.facts["table1"]["phenomenon"]
    counts: dict[str, pd.DataFrame] = {}  # by language
    for path in tables["agreement_counts"]:
        rows = read_plain(AGREEMENT_COUNTS, path)
        rows = rows[rows["phenomenon"] == phenomenon]
        if len(rows):
            counts[path.stem] = rows

    # The languages in the settings, or else the first languages that inflect both words.
    languages = [lang for lang in labels.facts["table1"]["languages"] if lang in counts]
    if not languages:
        counted = [lang for lang in names if lang in counts]
        inflecting = [lang for lang in counted if (counts[lang][VALUE_COLUMNS].nunique() > 1).all()]
        languages = (inflecting or counted)[:FALLBACK_LANGUAGES]
    # Values that occur on a subject or a verb; the singular is last, as in the paper.
    present: set[str] = set()
    for lang in languages:
        present.update(counts[lang][VALUE_COLUMNS].to_numpy().flat)
    values = [value for value in FEATURES[phenomenon[2:]][1] if value in present]
    values = sorted(values, key=lambda value: value == "SG") + sorted(present - {*values})

    cells: list[Cell] = []
    for order, subject in product(ORDERS, values):
        # The verb that agrees with its subject is first.
        for verb in [subject, *(value for value in values if value != subject)]:
            row = f"{subject} {verb} {order}"
            for lang in languages:
                where = {"lang": lang, "phenomenon": phenomenon}
                where |= {"order": order, "subject_value": subject}
                condition, source = select_rows(counts[lang], where), "agreement_counts"
                n = int(condition["count"].sum())
                if n:
                    cell_key, formula = (row, names[lang]), share(verb)
                    cell = formula_cell(condition, cell_key, formula, source, where, ".3f", n=n)
                    cells.append(replace(cell, stands_for=(row, lang)))

    bold = set()
    for path in [path for path in tables["agreement"] if path.stem in languages]:
        tests = read_plain(AGREEMENT, path)
        tests = tests[tests["phenomenon"] == phenomenon]
        for (value, order), marks in tests.groupby(["value", "order"])["label"]:
            if (marks == "+").all():
                bold.add((f"{value} {value} {order}", names[path.stem]))
    return cells, bold


COUNTED_ORDERS = {"SV": ("SV",), "VS": ("VS",), "BOTH": ("SV", "VS")}
"""Word orders that a column of Table 2 counts, keyed by the last word of its name: "SG BOTH"."""
TOTALS = tuple(f"Total {order}" for order in COUNTED_ORDERS)
CONSTRUCTIONS = {"sv": "S-Verb", "sp": "S-Participle"}
"""Names of constructions in Table 2, keyed by the first two letters of the phenomenon."""
ROW_NAMES = {
    f"{code}{sign}": f"{name.upper()} {construction}"
    for (sign, (name, _)), (code, construction) in product(FEATURES.items(), CONSTRUCTIONS.items())
}
"""Rows of Table 2, keyed by phenomenon: heading of the section and name, "NUMBER S-Verb"."""


def table2(tables: Tables, labels: Labels) -> Exhibit:
    """Make Table 2: number of languages with at least ten pairs of a condition.

    A cell "61 (57)" has the number of languages with certain agreement in brackets, and this number
    has a hidden cell too. The last row counts languages with any pairs.
    """
    cells: list[Cell] = []
    if labels.source == "published":
        printed = read_printed(tables, exhibit="table2")
        present, totals = {*printed["row"]}, ["TOTAL"]
        texts = {(row["row"], row["column"]): row["text"] for _, row in printed.iterrows()}
        for _, row in printed.iterrows():
            cell = printed_cell(row, (ROW_NAMES.get(row["row"], row["row"]), row["column"]))
            certain = texts.get((row["row"], f"{row['column']} certain"))
            text = f"{cell.text} ({certain})" if certain else cell.text
            cells.append(replace(cell, text=text, printed=certain is not None))
    else:
        columns = ["lang", "phenomenon", "grammatical", "order", "label"]
        pairs = read_plain(ITEMS, tables["items"], columns)
        present, totals = {*pairs["phenomenon"]}, ["TOTAL", "TOTAL, any pairs"]
        for phenomenon, name in ROW_NAMES.items():
            if phenomenon in present:
                of_phenomenon = pairs[pairs["phenomenon"] == phenomenon]
                cells += _row_cells(of_phenomenon, name, phenomenon, LANGUAGE_COUNT)
        for total, formula in zip(totals, (LANGUAGE_COUNT, KINDS), strict=True):
            cells += _row_cells(pairs, total, total, formula)
    sections = []
    for sign, (feature, values) in FEATURES.items():
        keys = [key for key in ROW_NAMES if key in present and key[2:] == sign]
        if keys:
            rows = {ROW_NAMES[key]: CONSTRUCTIONS[key[:2]] for key in keys}
            of_values = [f"{value} {order}" for value in values for order in ORDERS]
            sections.append(Section(feature.upper(), rows, [*of_values, *TOTALS]))
    last = sections[-1].columns if sections else TOTALS
    sections.append(Section("", {total: total for total in totals}, last))
    shown_columns = [column for section in sections for column in section.columns]
    languages = len(labels.languages) if labels.source == "measured" else None
    return Exhibit(
        **describe("table2", languages=languages, enough=ENOUGH_PAIRS),
        cells=cells,
        heads={column: (column.split()[0], column.split()[1]) for column in shown_columns},
        sections=sections,
    )


def _row_cells(pairs: pd.DataFrame, row: str, key: str, formula: Formula) -> Iterator[Cell]:
    """Yield the cells of Table 2's ``row`` from its ``pairs``: by value and order, then by order.

    ``key`` is the row's phenomenon, or begins with TOTAL. Each cell precedes its hidden cell.
    """
    values = FEATURES[key[2:]][1] if key in ROW_NAMES else ()
    for value, order in product((*values, "Total"), COUNTED_ORDERS):
        if order == "BOTH" and value != "Total":
            continue
        column = f"{value} {order}"
        where: dict[str, object] = {"phenomenon": key} if key in ROW_NAMES else {}
        where["order"] = [*COUNTED_ORDERS[order]]
        if value != "Total":
            where["grammatical"] = value
        certain = {**where, "label": [*CERTAIN]}
        cells = []
        for name, filters in ((column, where), (f"{column} certain", certain)):
            n = len(select_rows(pairs, filters))
            cell = formula_cell(pairs, (row, name), formula, "items", filters, "d", n=n)
            cells.append(replace(cell, stands_for=(key, name)))
        yield replace(cells[0], text=f"{cells[0].text} ({cells[1].text})")
        yield replace(cells[1], printed=False)


IN_TABLE4 = 25
"""Number of treebanks in the paper's Table 4."""
KEYS = ["lang", "treebank"]
TABLE4_STUB = ("Language", "Corpus", "Characteristics")


def table4(tables: Tables, labels: Labels) -> Exhibit:
    """Make Table 4: excluded treebanks, reasons, and numbers of sentences read from them.

    The campaign should read 0 sentences of each treebank. The paper prints no numbers, so the
    published form has the reasons as cells.
    """
    cells: list[Cell] = []
    stub: dict[str, dict[str, str]] = {}
    if labels.source == "published":
        for _, row in read_printed(tables, exhibit="table4").iterrows():
            treebank, where = row["row"], {"exhibit": "table4", "row": row["row"]}
            language, _, corpus = treebank.removeprefix("UD_").partition("-")
            cells.append(Cell(treebank, TABLE4_STUB[2], 1, row["text"], COUNT, "published", where))
            stub[treebank] = {"Language": language.replace("_", " "), "Corpus": corpus}
        description = describe("table4_published")
        return Exhibit(**description, cells=cells, stub=stub, named=False, textual=True)
    entries = labels.facts["excluded"]
    sentences = read_plain(SENTENCES, [p for p in tables["sentences"] if p.stem in entries], KEYS)
    for lang in sorted(entries, key=labels.languages.__getitem__):
        for treebank, reason in sorted(entries[lang]):
            where, cell_key = {"lang": lang, "treebank": treebank}, (treebank, "Sentences read")
            cell = formula_cell(sentences, cell_key, COUNT, "sentences", where, "d")
            cells.append(replace(cell, n=int(cell.value)))
            texts = (labels.languages[lang], treebank.partition("-")[2], reason)
            stub[treebank] = dict(zip(TABLE4_STUB, texts, strict=True))
    description = describe("table4", languages=len(labels.languages), absent=IN_TABLE4 - len(stub))
    return Exhibit(**description, cells=cells, stub=stub, named=False)


def funnel(tables: Tables, labels: Labels) -> Exhibit:
    """Make the table of pairs that each stage of generation kept and dropped, by language."""
    counts = read_plain(FUNNEL, tables["funnel"])
    counts = counts.assign(first_word=counts["stage"].str.split().str[0])
    filters: dict[str, dict[str, object]] = {"All": {}}
    filters |= {name: {"lang": lang} for lang, name in labels.languages.items()}
    cells = []
    for row, row_filter in filters.items():
        groups = select_rows(counts, row_filter).groupby(["first_word", "reason"], sort=False)
        for (stage, reason), group in groups:
            n, stages = int(group["n"].sum()), list(group["stage"].unique())
            where = {**row_filter, "stage": stages, "reason": reason}
            cells.append(Cell(row, f"{stage}: {reason}", n, str(n), TOTAL, "funnel", where, n=n))
    columns = list(dict.fromkeys(cell.column for cell in cells))
    names = {row: row for row in (*labels.languages.values(), "All")}
    return Exhibit(
        **describe("funnel"),
        cells=cells,
        heads={column: ("", column.partition(": ")[2]) for column in columns},
        sections=[
            Section(stage, names, [name for name in columns if name.startswith(f"{stage}: ")])
            for stage in counts["first_word"].unique()
        ],
    )


ALL_LANGUAGES = "All"
COUNTED = (("Pairs", "pairs", "pairs"), ("Items", "sampling", "items"))
"""Column, first word of the funnel's stages, and "reason" of the rows that count kept pairs."""


def regeneration(tables: Tables, labels: Labels) -> Exhibit:
    """Make the table of items by language against the release. UserError for a bad funnel."""
    funnel = read_plain(FUNNEL, tables["funnel"])
    published: Mapping[str, int] = labels.facts["published_n"]
    sources, reasons = labels.facts["completeness"], labels.facts["reasons"]
    cells: list[Cell] = []
    stub: dict[str, dict[str, str]] = {}
    remarks: dict[str, dict[str, str]] = {}
    matching = 0
    for lang, name in [*labels.languages.items(), ("", ALL_LANGUAGES)]:
        published_n = published.get(lang) if lang else sum(published.values())
        for column, first_word, reason in COUNTED:
            of_reason = funnel["stage"][funnel["reason"] == reason].unique()
            stages = [stage for stage in of_reason if stage.split()[0] == first_word]
            if not stages:
                raise UserError(
                    f"the funnel has no stage {first_word!r} with {reason!r}; it has "
                    f"{', '.join(funnel['stage'].unique())}. Rebuild it with this version."
                )
            where: dict[str, object] = {"lang": lang} if lang else {}
            where |= {"stage": stages, "reason": reason}
            count = int(select_rows(funnel, where)["n"].sum())
            cells.append(Cell(name, column, count, str(count), TOTAL, "funnel", where, n=count))
        # Now ``count`` is the number of items.
        if published_n:
            value, formula = count / published_n, ratio(published_n)
            cell = Cell(name, "Ratio", value, f"{value:.3f}", formula, "funnel", where, n=count)
            cells.append(cell)
        matching += bool(lang) and count == published_n
        stub[name] = {"ISO": lang, "Paper": "" if published_n is None else str(published_n)}
        reason = reasons.get(lang, "") if count != published_n else ""
        remarks[name] = {"Sources missing": sources.get(lang, ""), "Reason": reason}
    return Exhibit(
        **describe(
            "regeneration",
            matching=matching,
            published=len(published),
            incomplete=sum(text != COMPLETE for text in sources.values()),
        ),
        cells=cells,
        stub=stub,
        remarks=remarks,
        widths={"Sources missing": 0.2, "Reason": 0.25},
    )
