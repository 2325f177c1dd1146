"""Make the tables of MultiBLiMP's data: Tables 1, 2 and 4, the funnel, and the regeneration.

Each function takes the paths of the campaign's tables and the names to print, and returns a table
with its cells (numbers):

- ``table1`` (section 4.2): rows are values and word order, such as "SG PL VS", columns languages;
- ``table2`` (6.1): rows are phenomena, such as "NUMBER S-Verb", columns value and order: "SG VS";
- ``table4`` (A.1): rows are excluded treebanks, the column has the sentences read from them;
- ``funnel``: rows are languages, columns the pairs that each stage of generation kept and dropped;
- ``regeneration``: rows are languages, columns numbers of pairs, beside the release's (Table 5).

A value is one of the agreement feature: SG is singular. Word orders are SV (subject before verb)
and VS. The last two tables are not in the paper.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product

import pandas as pd

from blimpworks.errors import UserError
from blimpworks.exhibits import shared
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section
from blimpworks.exhibits.formulas import COMPLEMENT, COUNT, LANGS, N_SUM, Formula, select_rows
from blimpworks.papers.multiblimp.exhibits import describe, measures
from blimpworks.papers.multiblimp.exhibits.facts import COMPLETE
from blimpworks.papers.multiblimp.tables import AGREEMENT, AGREEMENT_COUNTS
from blimpworks.tables import FUNNEL, ITEMS, SENTENCES

ORDERS = ("SV", "VS")
FALLBACK_LANGUAGES = 2
"""Number of Table 1's languages, if the campaign has none of the languages in the settings."""
PRINTED_PHENOMENON = "sv#"
"""Phenomenon of the printed Table 1: subject-verb agreement in number."""
STUB = ("Subject", "Verb", "Order")
"""Columns of Table 1 before the numbers; a row's name joins their texts: "SG PL VS"."""
VALUE_COLUMNS = ["subject_value", "verb_value"]
Table1Cells = tuple[list[Cell], set[shared.Place], list[str]]
"""Cells of Table 1, (row, column) of bold cells, and names of the languages in print order."""


def table1(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Make Table 1: probability of the verb's value, given the subject's value and the word order.

    Significant agreement is bold. To check printed numbers, the published form has hidden cells: 1
    minus the printed probability of the other value (singular or plural).
    """
    if labels.source == "published":
        phenomenon = PRINTED_PHENOMENON
        cells, bold, languages = _printed_probabilities(tables, labels)
    else:
        phenomenon = labels.facts["table1"]["phenomenon"]
        cells, bold, languages = _measured_probabilities(tables, labels)
    rows = list(dict.fromkeys(cell.row for cell in cells))
    feature = measures.FEATURES[phenomenon[2:]][0].lower()
    inflected = {"sv": "verb", "sp": "participle"}[phenomenon[:2]]
    by_order = ({row: row for row in rows if row.endswith(order)} for order in ORDERS)
    return Exhibit(
        **describe("table1", kind=inflected, feature=feature),
        cells=cells,
        stub={row: dict(zip(STUB, row.split(), strict=True)) for row in rows},
        bold=bold,
        heads={name: (f"P({inflected} | subject, order)", name) for name in languages},
        sections=[Section("", group, [*STUB, *languages]) for group in by_order if group],
        named=False,
    )


def _printed_probabilities(tables: shared.Tables, labels: Labels) -> Table1Cells:
    """Return the printed cells of Table 1, then the hidden cells that check them."""
    printed, names = shared.read_printed(tables, exhibit="table1"), labels.languages
    numbers = shared.by_place(printed)
    cells, hidden = list[Cell](), list[Cell]()
    for (row, lang), number in numbers.items():
        cells.append(shared.printed_cell(number, (row, names[lang])))
        subject, verb, order = row.split()
        other_verb = "PL" if verb == "SG" else "SG"
        other_number = numbers[f"{subject} {other_verb} {order}", lang]
        cell = shared.printed_cell(other_number, (row, f"{names[lang]}, from the other value"))
        cell = replace(cell, value=1 - cell.value, formula=COMPLEMENT, stands_for=(row, lang))
        hidden.append(replace(cell, text=f"{cell.value:.3f}", printed=False))
    printed_rows = list(dict.fromkeys(printed["row"]))
    cells.sort(key=lambda cell: printed_rows.index(cell.row))
    bold = {(row, names[lang]) for row, lang in shared.printed_bold(printed)}
    languages = [names[lang] for lang in dict.fromkeys(lang for _, lang in numbers)]
    return cells + hidden, bold, languages


def _measured_probabilities(tables: shared.Tables, labels: Labels) -> Table1Cells:
    """Return the cells of Table 1, from the campaign's counts of agreement."""
    names, phenomenon = labels.languages, labels.facts["table1"]["phenomenon"]
    counts_by_language: dict[str, pd.DataFrame] = {}
    for path in tables["agreement_counts"]:
        rows = shared.read_plain(AGREEMENT_COUNTS, path)
        rows = rows[rows["phenomenon"] == phenomenon]
        if len(rows):
            counts_by_language[path.stem] = rows

    # The languages in the settings, or else the first languages that inflect both words.
    chosen = labels.facts["table1"]["languages"]
    languages = [lang for lang in chosen if lang in counts_by_language]
    if not languages:
        counted = [lang for lang in names if lang in counts_by_language]
        value_counts = {lang: counts_by_language[lang][VALUE_COLUMNS].nunique() for lang in counted}
        inflecting = [lang for lang in counted if (value_counts[lang] > 1).all()]
        languages = (inflecting or counted)[:FALLBACK_LANGUAGES]
    # Values that occur on a subject or a verb; the singular is last, as in the paper.
    present_values: set[str] = set()
    for lang in languages:
        present_values.update(counts_by_language[lang][VALUE_COLUMNS].to_numpy().flat)
    values = [value for value in measures.FEATURES[phenomenon[2:]][1] if value in present_values]
    values = sorted(values, key=lambda value: value == "SG") + sorted(present_values - {*values})

    cells: list[Cell] = []
    for order, subject in product(ORDERS, values):
        # The verb that agrees with its subject is first.
        for verb in [subject, *(value for value in values if value != subject)]:
            row = f"{subject} {verb} {order}"
            for lang in languages:
                where = {"lang": lang, "phenomenon": phenomenon}
                where |= {"order": order, "subject_value": subject}
                counts, source = select_rows(counts_by_language[lang], where), "agreement_counts"
                n = int(counts["count"].sum())
                if n:
                    cell_key, formula = (row, names[lang]), measures.share(verb)
                    cell = shared.formula_cell(counts, cell_key, formula, source, where, ".3f", n=n)
                    cells.append(replace(cell, stands_for=(row, lang)))

    # If verbs and auxiliaries are tested apart, both tests must be significant.
    bold = set()
    for path in [path for path in tables["agreement"] if path.stem in languages]:
        tests = shared.read_plain(AGREEMENT, path)
        tests = tests[tests["phenomenon"] == phenomenon]
        for (value, order), test_labels in tests.groupby(["value", "order"])["label"]:
            if (test_labels == "+").all():
                bold.add((f"{value} {value} {order}", names[path.stem]))
    return cells, bold, [names[lang] for lang in languages]


COUNTED_ORDERS = {"SV": ("SV",), "VS": ("VS",), "BOTH": ("SV", "VS")}
"""Word orders that a column of Table 2 counts, keyed by the last word of its name: "SG BOTH"."""
TOTAL_COLUMNS = tuple(f"Total {order}" for order in COUNTED_ORDERS)
TOTAL_ROWS = {"TOTAL": measures.LANGUAGE_COUNT, "TOTAL, any pairs": LANGS}
"""Formula of the rows over all phenomena; the paper prints only the first of these rows."""
CONSTRUCTIONS = {"sv": "S-Verb", "sp": "S-Participle"}
"""Names of constructions in Table 2, keyed by the first two letters of the phenomenon."""
ROW_NAMES = {
    f"{code}{sign}": f"{name.upper()} {construction}"
    for sign, (name, _) in measures.FEATURES.items()
    for code, construction in CONSTRUCTIONS.items()
}
"""Rows of Table 2, keyed by phenomenon: heading of the section and name, "NUMBER S-Verb"."""


def table2(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Make Table 2: number of languages with at least ten pairs of a condition.

    A cell "61 (57)" has the number of languages with certain agreement in brackets, and this number
    has a hidden cell too. The last row counts languages with any pairs.
    """
    cells: list[Cell] = []
    if labels.source == "published":
        printed = shared.read_printed(tables, exhibit="table2")
        texts = {(row["row"], row["column"]): row["text"] for _, row in printed.iterrows()}
        # The number in brackets is that of the column "SG VS certain", whose own cell is hidden.
        for _, row in printed.iterrows():
            cell = shared.printed_cell(row, (ROW_NAMES.get(row["row"], row["row"]), row["column"]))
            certain_text = texts.get((row["row"], f"{row['column']} certain"))
            text = f"{cell.text} ({certain_text})" if certain_text else cell.text
            cells.append(replace(cell, text=text, printed=certain_text is not None))
    else:
        columns = ["lang", "phenomenon", "grammatical", "order", "label"]
        pairs = shared.read_plain(ITEMS, tables["items"], columns)
        for phenomenon, name in ROW_NAMES.items():
            of_phenomenon = pairs[pairs["phenomenon"] == phenomenon]
            if len(of_phenomenon):
                cells += _row_cells(of_phenomenon, name, phenomenon, measures.LANGUAGE_COUNT)
        for total, formula in TOTAL_ROWS.items():
            cells += _row_cells(pairs, total, None, formula)
    rows_with_cells = {cell.row for cell in cells}
    sections = []
    for sign, (feature, values) in measures.FEATURES.items():
        names = {ROW_NAMES[code + sign]: name for code, name in CONSTRUCTIONS.items()}
        rows = {row: name for row, name in names.items() if row in rows_with_cells}
        if rows:
            of_values = [f"{value} {order}" for value in values for order in ORDERS]
            sections.append(Section(feature.upper(), rows, [*of_values, *TOTAL_COLUMNS]))
    # The totals repeat the columns of the section above them, so they need no headings.
    last_columns = sections[-1].columns if sections else TOTAL_COLUMNS
    totals = {total: total for total in TOTAL_ROWS if total in rows_with_cells}
    sections.append(Section("", totals, last_columns))
    shown_columns = [column for section in sections for column in section.columns]
    languages = len(labels.languages) if labels.source == "measured" else None
    return Exhibit(
        **describe("table2", languages=languages, enough=measures.ENOUGH_PAIRS),
        cells=cells,
        heads={column: (column.split()[0], column.split()[1]) for column in shown_columns},
        sections=sections,
    )


def _row_cells(
    pairs: pd.DataFrame, row: str, phenomenon: str | None, formula: Formula
) -> Iterator[Cell]:
    """Yield the cells of Table 2's ``row`` from its ``pairs``: by value and order, then by order.

    ``phenomenon`` is None for a row over all phenomena. Each cell precedes its hidden cell.
    """
    values = measures.FEATURES[phenomenon[2:]][1] if phenomenon else ()
    columns = [*product(values, ORDERS), *product(["Total"], COUNTED_ORDERS)]
    for value, order in columns:
        where: dict[str, object] = {"phenomenon": phenomenon} if phenomenon else {}
        where["order"] = [*COUNTED_ORDERS[order]]
        if value != "Total":
            where["grammatical"] = value
        column, only_certain = f"{value} {order}", {**where, "label": [*measures.CERTAIN]}
        cells = []
        for name, filters in ((column, where), (f"{column} certain", only_certain)):
            n = len(select_rows(pairs, filters))
            cell = shared.formula_cell(pairs, (row, name), formula, "items", filters, "d", n=n)
            cells.append(replace(cell, stands_for=(phenomenon or row, name)))
        yield replace(cells[0], text=f"{cells[0].text} ({cells[1].text})")
        yield replace(cells[1], printed=False)


KEYS = ["lang", "treebank"]
TABLE4_STUB = ("Language", "Corpus", "Characteristics")


def table4(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Make Table 4: excluded treebanks, reasons, and numbers of sentences read from them.

    The campaign should read 0 sentences of each treebank. The paper prints no numbers, so the
    published form has the reasons as cells.
    """
    cells: list[Cell] = []
    stub: dict[str, dict[str, str]] = {}
    if labels.source == "published":
        for _, row in shared.read_printed(tables, exhibit="table4").iterrows():
            treebank, where = row["row"], {"exhibit": "table4", "row": row["row"]}
            language, _, corpus = treebank.removeprefix("UD_").partition("-")
            cells.append(Cell(treebank, TABLE4_STUB[2], 1, row["text"], COUNT, "published", where))
            stub[treebank] = {"Language": language.replace("_", " "), "Corpus": corpus}
        description = describe("table4_published")
        return Exhibit(**description, cells=cells, stub=stub, named=False, textual=True)
    # {language: [[treebank, reason], …]}
    excluded = labels.facts["excluded"]
    paths = [path for path in tables["sentences"] if path.stem in excluded]
    sentences = shared.read_plain(SENTENCES, paths, KEYS)
    for lang in sorted(excluded, key=labels.languages.__getitem__):
        for treebank, reason in sorted(excluded[lang]):
            where, cell_key = {"lang": lang, "treebank": treebank}, (treebank, "Sentences read")
            cell = shared.formula_cell(sentences, cell_key, COUNT, "sentences", where, "d")
            cells.append(replace(cell, n=int(cell.value)))
            texts = (labels.languages[lang], treebank.partition("-")[2], reason)
            stub[treebank] = dict(zip(TABLE4_STUB, texts, strict=True))
    description = describe("table4", languages=len(labels.languages))
    return Exhibit(**description, cells=cells, stub=stub, named=False)


ALL_LANGUAGES = "All"
"""Row of the sums over languages."""


def funnel(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Make the table of pairs that each stage of generation kept and dropped, by language.

    A stage of the funnel such as "pairs sv#" is of one phenomenon; its first word names the column.
    """
    counts = shared.read_plain(FUNNEL, tables["funnel"])
    counts = counts.assign(first_word=counts["stage"].str.split().str[0])
    filters: dict[str, dict[str, object]] = {ALL_LANGUAGES: {}}
    filters |= {name: {"lang": lang} for lang, name in labels.languages.items()}
    cells = []
    for row, row_filter in filters.items():
        groups = select_rows(counts, row_filter).groupby(["first_word", "reason"], sort=False)
        for (stage, reason), group in groups:
            n, stages = int(group["n"].sum()), list(group["stage"].unique())
            where = {**row_filter, "stage": stages, "reason": reason}
            cells.append(Cell(row, f"{stage}: {reason}", n, str(n), N_SUM, "funnel", where, n=n))
    columns = list(dict.fromkeys(cell.column for cell in cells))
    names = {row: row for row in (*labels.languages.values(), ALL_LANGUAGES)}
    return Exhibit(
        **describe("funnel"),
        cells=cells,
        heads={column: ("", column.partition(": ")[2]) for column in columns},
        sections=[
            Section(stage, names, [name for name in columns if name.startswith(f"{stage}: ")])
            for stage in counts["first_word"].unique()
        ],
    )


COUNTED = {"Pairs": ("pairs", "pairs"), "Items": ("sampling", "items")}
"""First word of the funnel's stages, and "reason" of the rows that count kept pairs, by column."""


def regeneration(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Make the table of items by language against the release. UserError for a bad funnel."""
    funnel = shared.read_plain(FUNNEL, tables["funnel"])
    # {column: filter of the funnel's rows that it sums up}
    filters: dict[str, dict[str, object]] = {}
    for column, (first_word, reason) in COUNTED.items():
        of_reason = funnel["stage"][funnel["reason"] == reason].unique()
        stages = [stage for stage in of_reason if stage.split()[0] == first_word]
        if not stages:
            raise UserError(
                f"the funnel has no stage {first_word!r} with {reason!r}; it has "
                f"{', '.join(funnel['stage'].unique())}. Rebuild it with this version."
            )
        filters[column] = {"stage": stages, "reason": reason}

    def sum_cell(row: str, column: str, row_filter: Mapping[str, object]) -> Cell:
        where = {**row_filter, **filters[column]}
        n = int(select_rows(funnel, where)["n"].sum())
        return Cell(row, column, n, str(n), N_SUM, "funnel", where, n=n)

    # Number of pairs in the release, by language; languages of other sources have none.
    published: Mapping[str, int] = labels.facts["published_n"]
    missing_sources, reasons = labels.facts["completeness"], labels.facts["reasons"]
    cells: list[Cell] = []
    stub: dict[str, dict[str, str]] = {}
    remarks: dict[str, dict[str, str]] = {}
    matching_count = 0
    for lang, name in [*labels.languages.items(), ("", ALL_LANGUAGES)]:
        row_filter: dict[str, object] = {"lang": lang} if lang else {}
        cells += [sum_cell(name, column, row_filter) for column in filters]
        # Only languages of the release can be compared with it.
        compared = sum_cell(name, "Items", row_filter or {"lang": [*published]})
        published_n = published.get(lang) if lang else sum(published.values())
        if published_n:
            value = compared.value / published_n
            text, formula = f"{value:.3f}", measures.ratio(published_n)
            cell = replace(compared, column="Ratio", value=value, text=text, formula=formula)
            cells.append(cell)
        is_equal = compared.value == published_n
        matching_count += bool(lang) and is_equal
        stub[name] = {"ISO": lang, "Paper": "" if published_n is None else str(published_n)}
        reason = "" if is_equal else reasons.get(lang, "")
        remarks[name] = {"Sources missing": missing_sources.get(lang, ""), "Reason": reason}
    return Exhibit(
        **describe(
            "regeneration",
            matching=matching_count,
            published=len(published),
            incomplete=sum(text != COMPLETE for text in missing_sources.values()),
        ),
        cells=cells,
        stub=stub,
        remarks=remarks,
        widths={"Sources missing": 0.2, "Reason": 0.25},
    )
