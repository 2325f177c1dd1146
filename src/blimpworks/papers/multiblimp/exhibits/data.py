"""Make the tables of MultiBLiMP's data: Tables 1, 2 and 4, the funnel, and the regeneration.

The package's docstring explains exhibits and cells. The funnel counts the candidates lost in each
stage of generation; the regeneration compares the numbers of items with the release. Neither is in
the paper. Source: section 4.2, Tables 1, 2, 4 and 5 (column n).
"""

from collections.abc import Iterator, Mapping, Sequence
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
"""Languages of Table 1 in a campaign that has none of the requested ones."""
PHENOMENON = "sv#"
"""Phenomenon of the printed Table 1."""
STUB = ("Subject", "Verb", "Order")
"""Columns of Table 1 before the numbers; a row's name has their values: "SG PL VS"."""


def table1(tables: Tables, labels: Labels) -> Exhibit:
    """Make Table 1: shares of verb values by subject value and order; bold: significant agreement.

    The published form also has hidden cells, which check the print: 1 minus the printed probability
    of the other number (singular or plural).
    """
    published = labels.source == "published"
    phenomenon = PHENOMENON if published else labels.facts["table1"]["phenomenon"]
    cells, bold = _printed_shares(tables, labels) if published else _shares(tables, labels)
    rows = list(dict.fromkeys(cell.row for cell in cells))
    columns = list(dict.fromkeys(cell.column for cell in cells if cell.printed))
    if not published:
        # A language may have no cell in the first rows.
        languages = (*labels.facts["table1"]["languages"], *labels.languages)
        order = [labels.languages[lang] for lang in languages if lang in labels.languages]
        columns.sort(key=order.index)
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


def _printed_shares(tables: Tables, labels: Labels) -> tuple[list[Cell], set[tuple[str, str]]]:
    """List the cells of the printed Table 1, hidden ones last; and which are bold."""
    cells: list[Cell] = []
    hidden: list[Cell] = []
    names = labels.languages
    printed = read_printed(tables, exhibit="table1")
    numbers = by_place(printed)
    for (row, lang), number in numbers.items():
        cells.append(printed_cell(number, (row, names[lang])))
        subject, verb, order = row.split()
        opposite = numbers[f"{subject} {({'SG', 'PL'} - {verb}).pop()} {order}", lang]
        cell = printed_cell(opposite, (row, f"{names[lang]}, from the other value"))
        cell = replace(cell, value=1 - cell.value, formula=COMPLEMENT, stands_for=(row, lang))
        hidden.append(replace(cell, text=f"{cell.value:.3f}", printed=False))
    rows = list(dict.fromkeys(printed["row"]))
    cells.sort(key=lambda cell: rows.index(cell.row))
    return cells + hidden, {(row, names[lang]) for row, lang in printed_bold(printed)}


def _shares(tables: Tables, labels: Labels) -> tuple[list[Cell], set[tuple[str, str]]]:
    """List the cells of the measured Table 1; and which are bold, for significant agreement."""
    names, phenomenon = labels.languages, labels.facts["table1"]["phenomenon"]
    counts: dict[str, pd.DataFrame] = {}
    for path in tables["agreement_counts"]:
        frame = read_plain(AGREEMENT_COUNTS, path)
        frame = frame[frame["phenomenon"] == phenomenon]
        if len(frame):
            counts[path.stem] = frame

    # The requested languages, or else the first ones with several values of both words.
    languages = [lang for lang in labels.facts["table1"]["languages"] if lang in counts]
    sides = ["subject_value", "verb_value"]
    if not languages:
        counted = [lang for lang in names if lang in counts]
        inflecting = [lang for lang in counted if (counts[lang][sides].nunique() > 1).all()]
        languages = (inflecting or counted)[:FALLBACK_LANGUAGES]
    # Values that occur on a subject or a verb; the singular is last, as in the paper.
    present = {value for lang in languages for value in counts[lang][sides].to_numpy().flat}
    values = [value for value in FEATURES[phenomenon[2:]][1] if value in present]
    values = sorted(values, key=lambda value: value == "SG") + sorted(present - {*values})

    cells: list[Cell] = []
    for order, subject in product(ORDERS, values):
        # The value of a verb that agrees is first.
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
"""Word orders that a column counts, keyed by its name in Table 2."""
TOTALS = tuple(f"Total {order}" for order in COUNTED_ORDERS)
CONSTRUCTIONS = {"sv": "S-Verb", "sp": "S-Participle"}
"""Names of constructions in Table 2."""
ROW_NAMES = {
    f"{code}{sign}": f"{name.upper()} {construction}"
    for (sign, (name, _)), (code, construction) in product(FEATURES.items(), CONSTRUCTIONS.items())
}
"""Section's heading and row's name in Table 2, keyed by phenomenon: "NUMBER S-Verb"."""


def table2(tables: Tables, labels: Labels) -> Exhibit:
    """Make Table 2: number of languages with at least ten pairs of a condition.

    The last row counts languages with any pairs.
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
        for key, name in ROW_NAMES.items():
            if key in present:
                of_phenomenon, where = pairs[pairs["phenomenon"] == key], {"phenomenon": key}
                _, values = FEATURES[key[2:]]
                cells += _sizes(of_phenomenon, name, key, values, LANGUAGE_COUNT, where)
        for total, formula in zip(totals, (LANGUAGE_COUNT, KINDS), strict=True):
            cells += _sizes(pairs, total, total, (), formula, {})
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


def _sizes(
    pairs: pd.DataFrame,
    row: str,
    key: str,
    values: Sequence[str],
    formula: Formula,
    where: Mapping[str, object],
) -> Iterator[Cell]:
    """Yield the cells of a row: numbers of languages by value and order, then by order.

    Each cell is followed by a hidden one of languages with certain agreement. ``row`` is the name
    to print, ``key`` that of the paper's row, ``where`` selects the row's pairs.
    """
    orders_of_values = product((*values, "Total"), COUNTED_ORDERS)
    for value, order in orders_of_values:
        if order == "BOTH" and value != "Total":
            continue
        column, chosen = f"{value} {order}", {**where, "order": [*COUNTED_ORDERS[order]]}
        if value != "Total":
            chosen["grammatical"] = value
        certain = chosen | {"label": [*CERTAIN]}
        any_label, only_certain = (
            formula_cell(pairs, (row, name), formula, "items", filters, "d", stands_for=(key, name))
            for name, filters in ((column, chosen), (f"{column} certain", certain))
        )
        text = f"{any_label.text} ({only_certain.text})"
        yield replace(any_label, text=text, n=len(select_rows(pairs, chosen)))
        yield replace(only_certain, n=len(select_rows(pairs, certain)), printed=False)


IN_TABLE4 = 25
"""Number of treebanks in the paper's table."""
KEYS = ["lang", "treebank"]
TABLE4_STUB = ("Language", "Corpus", "Characteristics")


def table4(tables: Tables, labels: Labels) -> Exhibit:
    """Make Table 4: excluded treebanks and reasons, with the sentences that were read.

    The campaign should read 0 sentences of each. The paper has no numbers, so the published form
    has the reasons as cells.
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
    counts = counts.assign(part=counts["stage"].str.split().str[0])
    rows: dict[str, dict[str, object]] = {"All": {}}
    rows |= {name: {"lang": lang} for lang, name in labels.languages.items()}
    cells = []
    for row, of_language in rows.items():
        groups = select_rows(counts, of_language).groupby(["part", "reason"], sort=False)
        for (stage, reason), group in groups:
            n, stages = int(group["n"].sum()), list(group["stage"].unique())
            where = {**of_language, "stage": stages, "reason": reason}
            cells.append(Cell(row, f"{stage}: {reason}", n, str(n), TOTAL, "funnel", where, n=n))
    columns = list(dict.fromkeys(cell.column for cell in cells))
    names = {row: row for row in (*labels.languages.values(), "All")}
    return Exhibit(
        **describe("funnel"),
        cells=cells,
        heads={column: ("", column.partition(": ")[2]) for column in columns},
        sections=[
            Section(stage, names, [name for name in columns if name.startswith(f"{stage}: ")])
            for stage in counts["part"].unique()
        ],
    )


ALL_LANGUAGES = "All"
COUNTED = (("Pairs", "pairs", "pairs"), ("Items", "sampling", "items"))
"""Column, first word of the funnel's stages, and the reason under which kept pairs are counted."""


def regeneration(tables: Tables, labels: Labels) -> Exhibit:
    """Make the table that compares each language's number of items with the release.

    Raises UserError for an incomplete funnel.
    """
    funnel = read_plain(FUNNEL, tables["funnel"])
    published: Mapping[str, int] = labels.facts["published_n"]
    sources, reasons = labels.facts["completeness"], labels.facts["reasons"]
    cells: list[Cell] = []
    stub: dict[str, dict[str, str]] = {}
    remarks: dict[str, dict[str, str]] = {}
    matching = 0
    for lang, name in [*labels.languages.items(), ("", ALL_LANGUAGES)]:
        n = published.get(lang) if lang else sum(published.values())
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
        if n:
            text, formula = f"{count / n:.3f}", ratio(n)
            cells.append(Cell(name, "Ratio", count / n, text, formula, "funnel", where, n=count))
        matching += bool(lang) and count == n
        stub[name] = {"ISO": lang, "Paper": "" if n is None else str(n)}
        reason = reasons.get(lang, "") if count != n else ""
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
