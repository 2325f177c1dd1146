"""Make the tables of UrBLiMP's data: its pairs, models and annotators.

``table1``, ``table2``, ``table3`` and ``table10`` make the paper's tables; ``rules``, ``samples``
and ``validation`` make tables of ours. Arguments are ``tables``, the paths of input tables by name
(such as items: lang, paradigm, good, bad), and ``labels``: names to show, and whether numbers are
``measured`` by a campaign or ``published`` by the paper.

A cell is a number with its formula. Its ``cell_key`` are the titles of its row and column:
("Honorific", "N"). ``where`` selects the rows of an input table that the formula gets: {column:
value or values}. ``stands_for`` is the (row, column) of the paper's number in
``config/published/urblimp``: ("honorific", "n").
Source: Adeeba, Dillon, Sajjad and Bhatt (2025), section 2.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isnan
from pathlib import Path
from typing import Any

import pandas as pd

from blimpworks.annotation.sheets import VALIDATION_PARTICIPANTS, VALIDATION_RATINGS
from blimpworks.exhibits import shared
from blimpworks.exhibits.descriptions import Description
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section, language_tag
from blimpworks.exhibits.formulas import COUNT, N_SUM, PARADIGM_COUNT, UNWEIGHTED, Formula, sum_of
from blimpworks.exhibits.formulas import of_row as column_of_row
from blimpworks.exhibits.shared import Place, Tables, formula_cell, printed_cell, read_plain
from blimpworks.files import read_cells
from blimpworks.items import evenly
from blimpworks.papers.urblimp.exhibits import describe, evaluation, formulas
from blimpworks.papers.urblimp.phenomena import BENCHMARK, KAPPAS, LANG, PARADIGMS, PHENOMENA
from blimpworks.papers.urblimp.tables import DROPPED, KEPT, RULE_COUNTS
from blimpworks.tables import ITEMS, read_table

DATASETS = {
    row.pop("key"): tuple(row.values())
    for row in read_cells(Path(__file__).with_name("datasets.tsv"))
}
"""(name, language, method) of the data sets of Table 1, by the row of their printed numbers."""
PAIRS, NUMBER_OF_PARADIGMS, TUNING = "Pairs", "Paradigms", "Instruction-tuned"
EXAMPLE = {"good": "Grammatical", "bad": "Ungrammatical"}
"""Headings of an example's two sentences, by the column of the items."""
WIDTHS = dict.fromkeys(EXAMPLE.values(), 0.3)


def _read_items(tables: Tables) -> pd.DataFrame:
    columns = ["item_id", "lang", "phenomenon", "paradigm", "good", "bad"]
    items = read_plain(ITEMS, tables["items"], columns)
    return items[(items["lang"] == LANG) & items["paradigm"].isin(PARADIGMS)]


def _filter_of(items: pd.DataFrame) -> dict[str, Any]:
    return {"lang": LANG, "paradigm": list(dict.fromkeys(items["paradigm"]))}


def _with_examples(
    description: Description, cells: list[Cell], items: Mapping[str, pd.DataFrame]
) -> Exhibit:
    """Return a table with an example pair after each row; ``items`` are {row: its pairs}."""
    remarks: dict[str, dict[str, str]] = {}
    languages: dict[Place, str] = {}
    for row, row_items in items.items():
        # Ids are hashes of the content, so the pair with the lowest id is a random choice.
        first = row_items.sort_values("item_id").iloc[0]
        remarks[row] = {head: str(first[column]) for column, head in EXAMPLE.items()}
        languages |= {(row, head): language_tag(LANG) for head in EXAMPLE.values()}
    fields: dict[str, Any] = {"widths": WIDTHS, "textual": True, "written_in": languages}
    return Exhibit(**description, cells=cells, remarks=remarks, **fields)


def paradigms_cell(rows: pd.DataFrame, cell_key: Place, key: Place) -> Cell:
    """Make a cell that counts the paradigms in ``rows``, for the printed number ``key``."""
    if "accuracy" in rows:
        source, where = "accuracies", shared.where_of(rows)
    else:
        source, where = "items", _filter_of(rows)
    return formula_cell(rows, cell_key, PARADIGM_COUNT, source, where, stands_for=key)


def table_models(tables: Tables, labels: Labels) -> pd.DataFrame:
    """Read the accuracies of models that judged all paradigms (Tables 7 and 8), without people."""
    rows = evaluation.read_models(tables, labels)
    return rows[rows["model"].isin(evaluation.complete_models(rows))]


def table1(tables: Tables, labels: Labels) -> Exhibit:
    """Tabulate Table 1: data sets of minimal pairs with their numbers of pairs and paradigms."""
    heads = {"size": PAIRS, "paradigms": NUMBER_OF_PARADIGMS}
    printed = evaluation.printed_numbers(tables, labels, "table1")
    cells: list[Cell] = []
    for (dataset, column), number in printed.items():
        cells.append(printed_cell(number, (DATASETS[dataset][0], heads[column])))
    # One more row for UrBLiMP: numbers of the paper's other tables, or of the campaign's items.
    name, stands_for = DATASETS[BENCHMARK][0], (BENCHMARK, "size")
    if labels.source == "published":
        name = f"{name}, Tables 7, 8 and 10"
        rows = table_models(tables, labels)
        # Some printed numbers are illegible; the total has the numbers that accuracies imply.
        where = {"exhibit": "table10", "column": "n"}
        numbers, formula = shared.read_printed(tables, **where), formulas.PAPER_TOTAL
        pairs = formula_cell(numbers, (name, PAIRS), formula, "published", where, ",.0f")
    else:
        rows = _read_items(tables)
        pairs = formula_cell(rows, (name, PAIRS), COUNT, "items", _filter_of(rows))
    cells.append(replace(pairs, stands_for=stands_for))
    cells.append(paradigms_cell(rows, (name, NUMBER_OF_PARADIGMS), (BENCHMARK, "paradigms")))
    titles = {cell.row for cell in cells}
    datasets = [dataset for dataset in DATASETS.values() if dataset[0] in titles]
    return Exhibit(
        **describe("table1"),
        cells=cells,
        stub={title: {"Language": language} for title, language, _ in datasets},
        remarks={title: {"Method": method} for title, _, method in datasets},
    )


def table2(tables: Tables, labels: Labels) -> Exhibit:
    """Tabulate Table 2: each phenomenon's number of paradigms; measured forms add an example."""
    measured = labels.source == "measured"
    rows = _read_items(tables) if measured else table_models(tables, labels)
    cells: list[Cell] = []
    items: dict[str, pd.DataFrame] = {}
    for phenomenon, name in PHENOMENA.items():
        chosen = rows[rows["phenomenon"] == phenomenon]
        if not chosen.empty:
            cells.append(paradigms_cell(chosen, (name, NUMBER_OF_PARADIGMS), (phenomenon, "n")))
            items[name] = chosen
    description = describe("table2", measured=measured)
    if measured:
        return _with_examples(description, cells, items)
    return Exhibit(**description, cells=cells, widths=WIDTHS)


def table3(tables: Tables, labels: Labels) -> Exhibit:
    """Tabulate Table 3: models' sizes and instruction tuning; measured forms count pairs judged."""
    names = evaluation.model_names(labels.models)
    if labels.source == "published":
        printed = shared.read_printed(tables, exhibit="table3").set_index("row", drop=False)
        sizes = {row["row"]: row for _, row in printed[printed["column"] == "size"].iterrows()}
        tuning = printed[printed["column"] == "it"]["text"].str.lower()
        names = {model: name for model, name in names.items() if model in sizes}
        return Exhibit(
            **describe("table3_published"),
            cells=[printed_cell(sizes[model], (name, "Size")) for model, name in names.items()],
            remarks={name: {TUNING: tuning[model]} for model, name in names.items()},
        )
    facts = labels.facts["urblimp_models"]
    rows = evaluation.read_paradigms(tables, labels)
    cells, stub, tuned = [], {}, {}
    for model, name in names.items():
        model_rows = rows[rows["model"] == model]
        if model_rows.empty:
            continue
        where, n = shared.where_of(model_rows), int(model_rows["n"].sum())
        cells.append(formula_cell(model_rows, (name, PAIRS), N_SUM, "accuracies", where, n=n))
        size = facts[model]["parameters"]
        stub[name] = {"Size": "" if size is None else shared.size_text(size)}
        tuned[name] = {TUNING: "yes" if evaluation.is_instructed(model, facts) else "no"}
    return Exhibit(**describe("table3"), cells=cells, stub=stub, remarks=tuned)


def table10(tables: Tables, labels: Labels) -> Exhibit:
    """Tabulate Table 10: each paradigm's number of pairs; measured forms add one of the pairs."""
    cells: list[Cell] = []
    if labels.source == "published":
        # Beside the printed N is the smallest N of which all accuracies are shares (.667: 2 of 3).
        rows = table_models(tables, labels)
        printed = evaluation.printed_numbers(tables, labels, "table10")
        implied_total = 0
        for paradigm, name in PARADIGMS.items():
            key, cell_key = (paradigm, "n"), (name, "N, implied")
            if key in printed:
                cells.append(printed_cell(printed[key], (name, "N")))
            accuracies = rows[rows["paradigm"] == paradigm]
            implied = formulas.IMPLIED(accuracies)
            if not isnan(implied):
                source, where = "accuracies", shared.where_of(accuracies)
                cell = formula_cell(accuracies, cell_key, formulas.IMPLIED, source, where, "d")
                cells.append(replace(cell, stands_for=key))
                implied_total += int(implied)
        return Exhibit(**describe("table10_published", implied=implied_total), cells=cells)

    items = _read_items(tables)
    pairs: dict[str, pd.DataFrame] = {}
    for paradigm, name in PARADIGMS.items():
        chosen = items[items["paradigm"] == paradigm]
        if not chosen.empty:
            where = {"lang": LANG, "paradigm": paradigm}
            fields: dict[str, Any] = {"n": len(chosen), "stands_for": (paradigm, "n")}
            cells.append(formula_cell(chosen, (name, "N"), COUNT, "items", where, "d", **fields))
            pairs[name] = chosen
    return _with_examples(describe("table10", pairs=len(items)), cells, pairs)


# Outcomes of the rules that make pairs from a treebank's sentences. A match is a point in a
# sentence where a rule applies; the match becomes a pair or is rejected.

MATCH_COUNTS = "rules"
"""Name of the input table with the number of matches by paradigm, rule, outcome and reason."""
MATCHES, CONSTRUCTED = "Matches", "Constructed"
PAPER, IMPLIED = "Paper", "Paper, implied"
"""Columns: the paper's number of pairs as printed, and as the paper's accuracies imply."""
RULE_HEADS = {
    PAIRS: ("Pairs", "kept"),
    CONSTRUCTED: ("Pairs", "constructed"),
    PAPER: ("N of the paper", "printed"),
    IMPLIED: ("N of the paper", "implied"),
}
_REJECTIONS_FILE = Path(__file__).with_name("rejections.tsv")
REASON_GROUP = {row["reason"]: row["column"] for row in read_cells(_REJECTIONS_FILE)}
"""{reason: its group}. The column "Rejected: no form" counts the matches of a group."""
OTHER = "other"
REJECTIONS = tuple(f"Rejected: {name}" for name in dict.fromkeys((*REASON_GROUP.values(), OTHER)))
RULE_HEADS |= {column: ("Rejected", column.removeprefix("Rejected: ")) for column in REJECTIONS}
RULE_COLUMNS = (MATCHES, PAIRS, CONSTRUCTED, PAPER, IMPLIED, *REJECTIONS)
ALL_PARADIGMS = "All paradigms"
MOST_SAMPLES = 20
PAIR, RULE, CHANGE, ORIGIN, PARADIGM = "Pair", "Rule", "Change", "Source", "Paradigm"
SAMPLE_COLUMNS = ("item_id", "lang", "paradigm", "good", "bad", "file", "line", "rule", "change")


def _count_cells(
    counts: pd.DataFrame,
    items: pd.DataFrame,
    row: str,
    where: Mapping[str, Any],
    printed: Sequence[Cell] = (),
) -> Iterator[Cell]:
    """Yield the cells of a row: matches, pairs, constructed pairs, rejected matches by reason.

    ``where`` selects a language, a paradigm or a rule. ``counts`` has its numbers of matches, and
    ``items`` the pairs of all languages. ``printed`` are cells of the paper's numbers.
    """
    yield formula_cell(counts, (row, MATCHES), N_SUM, MATCH_COUNTS, where)
    yield formula_cell(counts, (row, PAIRS), N_SUM, MATCH_COUNTS, {**where, "outcome": KEPT})
    constructed = {**where, "constructed": True}
    yield formula_cell(items, (row, CONSTRUCTED), COUNT, "items", constructed)
    yield from printed
    dropped = counts[counts["outcome"] == DROPPED]
    groups = dropped["reason"].map(lambda reason: REASON_GROUP.get(reason.partition(":")[0], OTHER))
    columns = "Rejected: " + groups
    for column in REJECTIONS:
        rejected = dropped[columns == column]
        if not rejected.empty:
            reasons = {**where, "outcome": DROPPED, "reason": sorted({*rejected["reason"]})}
            yield formula_cell(rejected, (row, column), N_SUM, MATCH_COUNTS, reasons)


def _rule_cells(
    counts: pd.DataFrame, items: pd.DataFrame, row: str, where: Mapping[str, Any]
) -> Iterator[Cell]:
    # Hidden cells of each rule of a paradigm, which only data files have.
    for rule in dict.fromkeys(counts["rule"]):
        rule_counts, rule_where = counts[counts["rule"] == rule], {**where, "rule": rule}
        for cell in _count_cells(rule_counts, items, f"{row}, rule {rule}", rule_where):
            yield replace(cell, printed=False)


def _paper_cells(printed: pd.DataFrame, paradigm: str, row: str) -> Iterator[Cell]:
    # The paper's number of pairs as printed and, if it differs, as its accuracies imply.
    for _, number in printed[printed["row"] == paradigm].iterrows():
        if not pd.isna(number["value"]):
            # Table 10 is where the campaign's number is compared with this one.
            yield replace(printed_cell(number, (row, PAPER)), stands_for=None)
        if not pd.isna(number["corrected"]):
            text, keys = f"{float(number['corrected']):,.0f}", shared.PRINTED_KEYS
            yield shared.row_cell("published", number, keys, "corrected", (row, IMPLIED), text)


def _in_order(present: Collection[str], labels: Labels) -> list[str]:
    """Sort the languages ``present``: Urdu first, then in the campaign's order."""
    order = dict.fromkeys([LANG, *labels.languages, *sorted(present)])
    return [lang for lang in order if lang in present]


def rules(tables: Tables, labels: Labels) -> Exhibit:
    """Tabulate the matches of each paradigm's rules: pairs, and matches rejected by reason."""
    counts = read_plain(RULE_COUNTS, tables[MATCH_COUNTS])
    keys = ["lang", "paradigm", "rule"]
    items = read_plain(ITEMS, tables["items"], [*keys, "constructed"])
    items = items.astype(dict.fromkeys(keys, str))
    printed = shared.read_printed(tables, exhibit="table10", column="n")
    langs = _in_order({*counts["lang"]}, labels)
    cells: list[Cell] = []
    row_titles: list[dict[str, str]] = []  # {row: title}, by language
    for lang in langs:
        language = labels.languages.get(lang, lang)
        prefix = f"{language}: " if len(langs) > 1 else ""
        lang_counts = counts[counts["lang"] == lang]
        lang_cells: list[Cell] = []
        for paradigm, name in PARADIGMS.items():
            row, where = f"{prefix}{name}", {"lang": lang, "paradigm": paradigm}
            paradigm_counts = lang_counts[lang_counts["paradigm"] == paradigm]
            # Paradigms of Urdu have a row even without rules, for the paper's number.
            if paradigm_counts.empty and lang != LANG:
                continue
            paper_cells = [*_paper_cells(printed, paradigm, row)] if lang == LANG else []
            lang_cells += _count_cells(paradigm_counts, items, row, where, paper_cells)
            lang_cells += _rule_cells(paradigm_counts, items, row, where)
        lang_cells += _count_cells(lang_counts, items, f"{prefix}{ALL_PARADIGMS}", {"lang": lang})
        cells += lang_cells
        titles = {cell.row: cell.row.removeprefix(prefix) for cell in lang_cells if cell.printed}
        row_titles.append({language: language, **titles} if prefix else titles)
    # Columns without numbers are left out; the caption names the paradigms without a match.
    filled = {cell.column for cell in cells if cell.printed}
    columns = [column for column in RULE_COLUMNS if column in filled]
    matched = {*counts["paradigm"][counts["n"] > 0]}
    unmatched = [name for paradigm, name in PARADIGMS.items() if paradigm not in matched]
    return Exhibit(
        **describe("rules", unmatched=unmatched),
        cells=cells,
        heads=RULE_HEADS,
        sections=[Section(PARADIGM, titles, columns) for titles in row_titles],
    )


def samples(tables: Tables, labels: Labels) -> Exhibit:
    """List up to twenty pairs of each paradigm, taken evenly; each cell's filter selects a pair."""
    by_lang: dict[str, list[dict[str, Any]]] = {}
    for path in tables["items"]:
        items = read_table(ITEMS, path, [*SAMPLE_COLUMNS, *shared.SPANS, "constructed"]).to_pylist()
        if items:
            by_lang[items[0]["lang"]] = items
    cells: list[Cell] = []
    sections: list[Section] = []
    stub, remarks, languages = {}, {}, {}
    for lang in _in_order(by_lang, labels):
        prefix = f"{labels.languages.get(lang, lang)}: " if len(by_lang) > 1 else ""
        for paradigm, name in PARADIGMS.items():
            pairs = [item for item in by_lang[lang] if item["paradigm"] == paradigm]
            if not pairs:
                continue
            sample, title = [*evenly(pairs, MOST_SAMPLES)], f"{prefix}{name}"
            # A row without cells, above the rows of pairs.
            heading = f"{title} ({len(sample)} of {len(pairs):,})"
            row_titles = {heading: heading}
            for number, item in enumerate(sample, start=1):
                row = f"{item['item_id']} {item['paradigm']}"
                where = {key: item[key] for key in ("lang", "item_id", "paradigm")}
                cells.append(Cell(row, PAIR, 1, shared.marked(item), COUNT, "items", where, n=1))
                change = f"{item['change']}" + (", constructed" if item["constructed"] else "")
                origin = f"{item['file']}:{item['line']}"
                stub[row] = {PARADIGM: title}
                remarks[row] = {RULE: item["rule"], CHANGE: change, ORIGIN: origin}
                languages[row, PAIR] = language_tag(lang)
                row_titles[row] = str(number)
            sections.append(Section("", row_titles, [PAIR, RULE, CHANGE, ORIGIN]))
    description, widths = describe("samples", most=MOST_SAMPLES), {PAIR: 0.5, ORIGIN: 0.15}
    fields: dict[str, Any] = {"widths": widths, "textual": True, "written_in": languages}
    texts: dict[str, Any] = {"stub": stub, "remarks": remarks}
    return Exhibit(**description, cells=cells, sections=sections, **texts, **fields)


# People's agreement
RATED, PEOPLE = "validation_ratings", "validation_participants"
"""Names of the input tables: judgements of people (item_id, choice), and a row per participant."""
VALUE, NUMBER = "κ", "Number"
ACCURACY, JUDGED, PASSED, CHECKS, COUNTED = "Accuracy (%)", "Pairs", "Passed", "Checks", "Counted"
INTERVAL, LEFT_OUT = "95 % interval", "left out: failed attention checks"


def _kappa_cells(ratings: pd.DataFrame, per_pair: int) -> Iterator[Cell]:
    from blimpworks.papers.urblimp.analysis import kappa_interval

    pairs = int(formulas.complete(per_pair)(ratings))
    for name, fields in KAPPAS.items():
        formula, cell_key = formulas.kappa(name, per_pair), (fields["title"], VALUE)
        cell = formula_cell(ratings, cell_key, formula, RATED, {}, ".2f", n=pairs)
        low, high = kappa_interval(name, ratings, per_pair)
        if not isnan(cell.value):
            yield cell if isnan(low) else replace(cell, low=low, high=high)


def _number_cells(ratings: pd.DataFrame, people: pd.DataFrame, per_pair: int) -> Iterator[Cell]:
    """Yield numbers of participants, attention checks, judgements and pairs."""
    # The formula and input table of each row.
    numbers: dict[str, tuple[Formula, str]] = {
        "Participants": (COUNT, PEOPLE),
        LEFT_OUT: (COUNT, PEOPLE),
        "Attention checks": (sum_of("checks"), PEOPLE),
        "passed": (sum_of("passed"), PEOPLE),
        "Judgements that count": (COUNT, RATED),
        "Pairs judged": (formulas.NUMBER_OF_PAIRS, RATED),
        f"with {per_pair} judgements": (formulas.complete(per_pair), RATED),
        "left out of κ": (formulas.incomplete(per_pair), RATED),
    }
    if formulas.complete(per_pair)(ratings) and per_pair > 1:
        numbers["Unanimous pairs (%)"] = formulas.unanimous(per_pair), RATED
        numbers["Two judgements agree (%)"] = formulas.agreement(per_pair), RATED
    for row, (formula, source) in numbers.items():
        rows = ratings if source == RATED else people
        # The formulas of other rows get the whole table.
        where = {"left_out": True} if row == LEFT_OUT else {}
        form = ".1f" if "%" in row else ",.0f"
        yield formula_cell(rows, (row, NUMBER), formula, source, where, form)


def _participant_cells(people: pd.DataFrame, rows: Mapping[str, str]) -> Iterator[Cell]:
    """Yield accuracy, pairs and attention checks of each participant; ``rows`` are {row: name}."""
    counts = {JUDGED: N_SUM, CHECKS: column_of_row("checks"), PASSED: column_of_row("passed")}
    for row, name in rows.items():
        person, where = people[people["participant"].astype(str) == name], {"participant": name}
        n = int(person["n"].item())
        if n:
            cell = formula_cell(person, (row, ACCURACY), UNWEIGHTED, PEOPLE, where, ".1f", n=n)
            low, high = 100 * float(person["low"].item()), 100 * float(person["high"].item())
            yield replace(cell, low=low, high=high)
        for column, formula in counts.items():
            yield formula_cell(person, (row, column), formula, PEOPLE, where, ",.0f")


def validation(tables: Tables, labels: Labels) -> Exhibit:
    """Tabulate kappas of people's judgements, numbers of judgements, and a row per participant."""
    ratings = read_plain(VALIDATION_RATINGS, tables[RATED][0])
    people = read_plain(VALIDATION_PARTICIPANTS, tables[PEOPLE][0])
    per_pair = int(labels.facts["urblimp_validation"]["per_pair"])
    # A participant's row has a prefix, because a participant may be called like another row.
    names = {f"participant {name}": str(name) for name in people["participant"]}
    kappas = [*_kappa_cells(ratings, per_pair)]
    numbers = [*_number_cells(ratings, people, per_pair)]
    participants = [*_participant_cells(people, names)]
    cells = [*kappas, *numbers, *participants]
    remarks = {cell.row: {INTERVAL: "", COUNTED: ""} for cell in cells}
    for cell in cells:
        if cell.low is not None and cell.high is not None:
            digits = 2 if cell.column == VALUE else 1
            remarks[cell.row][INTERVAL] = f"{cell.low:.{digits}f} to {cell.high:.{digits}f}"
    for row, left_out in zip(names, people["left_out"], strict=True):
        remarks[row][COUNTED] = "no" if left_out else "yes"

    sections: list[Section] = []
    for title, section_cells, headings in (
        ("Kappa", kappas, [VALUE, INTERVAL]),
        ("Counts", numbers, [NUMBER]),
        ("Participant", participants, [JUDGED, ACCURACY, INTERVAL, CHECKS, PASSED, COUNTED]),
    ):
        if section_cells:
            row_names = {cell.row: names.get(cell.row, cell.row) for cell in section_cells}
            sections.append(Section(title, row_names, headings))
    description = describe("validation", per_pair=per_pair)
    return Exhibit(**description, cells=cells, sections=sections, remarks=remarks)
