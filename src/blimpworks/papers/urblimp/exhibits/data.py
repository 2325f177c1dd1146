"""Show UrBLiMP's data: Tables 1, 2, 3 and 10, outcomes of the rules, and people's agreement.

Source: Adeeba, Dillon, Sajjad and Bhatt (2025), section 2. The exhibits ``rules``, ``samples`` and
``validation`` are ours: in the paper, linguists reviewed all pairs, and people's judgements have a
mean accuracy and one kappa.
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
from blimpworks.exhibits.formulas import (
    COUNT,
    PARADIGM_COUNT,
    TOTAL,
    UNWEIGHTED,
    Formula,
    of_row,
    sum_of,
)
from blimpworks.exhibits.shared import (
    Place,
    Tables,
    formula_cell,
    printed_cell,
    read_plain,
    read_printed,
    where_of,
)
from blimpworks.files import read_cells
from blimpworks.items import evenly
from blimpworks.papers.urblimp.exhibits import describe, formulas
from blimpworks.papers.urblimp.exhibits import evaluation as acc
from blimpworks.papers.urblimp.phenomena import BENCHMARK, LANG, PARADIGMS, PHENOMENA
from blimpworks.papers.urblimp.tables import DROPPED, KEPT, RULE_COUNTS
from blimpworks.tables import ITEMS, read_table

DATASETS = {
    row.pop("key"): tuple(row.values())
    for row in read_cells(Path(__file__).with_name("datasets.tsv"))
}
"""Name, language and method of the data sets of Table 1."""
PAIRS, NUMBER_OF_PARADIGMS, TUNING = "Pairs", "Paradigms", "Instruction-tuned"
EXAMPLE = {"good": "Grammatical", "bad": "Ungrammatical"}
WIDTHS = dict.fromkeys(EXAMPLE.values(), 0.3)


def _items(tables: Tables) -> pd.DataFrame:
    columns = ["item_id", "lang", "phenomenon", "paradigm", "good", "bad"]
    items = read_plain(ITEMS, tables["items"], columns)
    return items[(items["lang"] == LANG) & items["paradigm"].isin(PARADIGMS)]


def _of(items: pd.DataFrame) -> dict[str, Any]:
    return {"lang": LANG, "paradigm": list(dict.fromkeys(items["paradigm"]))}


def _with_examples(
    description: Description, cells: list[Cell], items: Mapping[str, pd.DataFrame]
) -> Exhibit:
    """Make a table that has, beside the cells of each row, a pair of the row's ``items``.

    The pair with the lowest id is taken: ids are content hashes, so the choice is random.
    """
    tag = language_tag(LANG)
    firsts = {row: of_row.sort_values("item_id").iloc[0] for row, of_row in items.items()}
    return Exhibit(
        **description,
        cells=cells,
        remarks={
            row: {name: str(first[column]) for column, name in EXAMPLE.items()}
            for row, first in firsts.items()
        },
        widths=WIDTHS,
        textual=True,
        written_in={(row, column): tag for row in firsts for column in EXAMPLE.values()},
    )


def paradigms_cell(rows: pd.DataFrame, cell_key: Place, key: Place) -> Cell:
    """Make a cell of the number of paradigms in ``rows`` of items or accuracies."""
    if "accuracy" in rows:
        source, where = "accuracies", where_of(rows)
    else:
        source, where = "items", _of(rows)
    return formula_cell(rows, cell_key, PARADIGM_COUNT, source, where, stands_for=key)


def table_models(tables: Tables, labels: Labels) -> pd.DataFrame:
    """Read accuracies of the models that have all paradigms: those of Tables 7 and 8."""
    rows = acc.read_models(tables, labels)
    return rows[rows["model"].isin(acc.complete(rows))]


def table1(tables: Tables, labels: Labels) -> Exhibit:
    """Tabulate Table 1: data sets of minimal pairs with their numbers of pairs and paradigms."""
    heads = {"size": PAIRS, "paradigms": NUMBER_OF_PARADIGMS}
    cells = [
        printed_cell(number, (DATASETS[row][0], heads[column]))
        for (row, column), number in acc.printed_of(tables, labels, "table1").items()
    ]
    name, size = DATASETS[BENCHMARK][0], (BENCHMARK, "size")
    if labels.source == "published":
        name = f"{name}, Tables 7, 8 and 10"
        rows = table_models(tables, labels)
        # Some printed numbers are illegible: the total uses the implied ones instead.
        where: dict[str, Any] = {"exhibit": "table10", "column": "n"}
        numbers = read_printed(tables, **where)
        formula, source, form = formulas.PAPER_TOTAL, "published", ",.0f"
    else:
        rows = numbers = _items(tables)
        where, formula, source, form = _of(numbers), COUNT, "items", ","
    cell_key = (name, PAIRS)
    cells.append(formula_cell(numbers, cell_key, formula, source, where, form, stands_for=size))
    cells.append(paradigms_cell(rows, (name, NUMBER_OF_PARADIGMS), (BENCHMARK, "paradigms")))
    names = {cell.row for cell in cells}
    about = {name: facts for name, *facts in DATASETS.values() if name in names}
    return Exhibit(
        **describe("table1"),
        cells=cells,
        stub={name: {"Language": language} for name, (language, _) in about.items()},
        remarks={name: {"Method": method} for name, (_, method) in about.items()},
    )


def table2(tables: Tables, labels: Labels) -> Exhibit:
    """Tabulate Table 2: the phenomena with their number of paradigms.

    The measured form adds a pair of each phenomenon.
    """
    measured = labels.source == "measured"
    rows = _items(tables) if measured else table_models(tables, labels)
    cells: list[Cell] = []
    items: dict[str, pd.DataFrame] = {}
    for phenomenon, (name, _) in PHENOMENA.items():
        inside = rows[rows["phenomenon"] == phenomenon]
        if not inside.empty:
            cells.append(paradigms_cell(inside, (name, NUMBER_OF_PARADIGMS), (phenomenon, "n")))
            items[name] = inside
    and_more = ", and one pair of it." if measured else ", as many as Tables 7 and 8 have."
    description = describe("table2", and_more=and_more)
    if measured:
        return _with_examples(description, cells, items)
    return Exhibit(**description, cells=cells, widths=WIDTHS)


def table3(tables: Tables, labels: Labels) -> Exhibit:
    """Tabulate Table 3: the models with their sizes and instruction tuning.

    The measured form adds the number of pairs that each model judged.
    """
    names = acc.names_of(labels.models)
    if labels.source == "published":
        printed = read_printed(tables, exhibit="table3").set_index("row", drop=False)
        sizes = {row["row"]: row for _, row in printed[printed["column"] == "size"].iterrows()}
        tuning = printed[printed["column"] == "it"]["text"].str.lower()
        names = {model: name for model, name in names.items() if model in sizes}
        return Exhibit(
            **describe("table3_published"),
            cells=[printed_cell(sizes[model], (name, "Size")) for model, name in names.items()],
            remarks={name: {TUNING: tuning[model]} for model, name in names.items()},
        )
    facts = labels.facts["urblimp_models"]
    rows = acc.read_paradigms(tables, labels)
    cells, stub, tuned = [], {}, {}
    for model, name in names.items():
        of_model = rows[rows["model"] == model]
        if of_model.empty:
            continue
        where, n = where_of(of_model), int(of_model["n"].sum())
        cells.append(formula_cell(of_model, (name, PAIRS), TOTAL, "accuracies", where, n=n))
        size = facts[model]["parameters"]
        stub[name] = {"Size": "" if size is None else shared.size_text(size)}
        tuned[name] = {TUNING: "yes" if acc.is_instructed(model, facts) else "no"}
    return Exhibit(**describe("table3"), cells=cells, stub=stub, remarks=tuned)


def table10(tables: Tables, labels: Labels) -> Exhibit:
    """Tabulate Table 10: the number of pairs of each paradigm.

    The measured form adds one of the pairs.
    """
    cells: list[Cell] = []
    if labels.source == "published":
        rows = table_models(tables, labels)
        printed = acc.printed_of(tables, labels, "table10")
        implied = 0.0
        for paradigm, name in PARADIGMS.items():
            key, cell_key = (paradigm, "n"), (name, "N, implied")
            if key in printed:
                cells.append(printed_cell(printed[key], (name, "N")))
            inside = rows[rows["paradigm"] == paradigm]
            if not isnan(n := formulas.IMPLIED(inside)):
                where = where_of(inside)
                cell = formula_cell(inside, cell_key, formulas.IMPLIED, "accuracies", where, "d")
                cells.append(replace(cell, stands_for=key))
                implied += int(n)
        return Exhibit(**describe("table10_published", implied=int(implied)), cells=cells)
    items = _items(tables)
    pairs: dict[str, pd.DataFrame] = {}
    for paradigm, name in PARADIGMS.items():
        inside = items[items["paradigm"] == paradigm]
        if not inside.empty:
            where, n = {"lang": LANG, "paradigm": paradigm}, len(inside)
            fields: dict[str, Any] = {"n": n, "stands_for": (paradigm, "n")}
            cells.append(formula_cell(inside, (name, "N"), COUNT, "items", where, "d", **fields))
            pairs[name] = inside
    return _with_examples(describe("table10", pairs=len(items)), cells, pairs)


# Outcomes of the rules

SOURCE = "rules"
MATCHES, CONSTRUCTED = "Matches", "Constructed"
PRINTED, IMPLIED = "Paper", "Paper, implied"
RULE_HEADS = {
    PAIRS: ("Pairs", "kept"),
    CONSTRUCTED: ("Pairs", "constructed"),
    PRINTED: ("N of the paper", "printed"),
    IMPLIED: ("N of the paper", "implied"),
}
REASON_GROUP = {
    "excluded by the rule": "excluded",
    "no form by rule": "no form",
    "not in the table": "no form",
    "not in the lexicon": "no such word",
    "made before": "repeated",
    "the same sentence": "same",
    "differs in several places": "several places",
    "the treebank has it beside the same words": "attested",
    "a sentence of the treebank": "attested",
    "beyond per_paradigm": "beyond limit",
    "faulty in the treebank": "faulty",
}
"""Columns of reasons (up to a colon), some together."""
OTHER = "other"
REJECTIONS = tuple(f"Rejected: {name}" for name in dict.fromkeys((*REASON_GROUP.values(), OTHER)))
RULE_COLUMNS = (MATCHES, PAIRS, CONSTRUCTED, PRINTED, IMPLIED, *REJECTIONS)
ALL_PARADIGMS = "All paradigms"
MOST_SAMPLES = 20
"""Pairs of each paradigm to read, taken evenly."""
PAIR, RULE, CHANGE, ORIGIN, PARADIGM = "Pair", "Rule", "Change", "Source", "Paradigm"
SPANS = ("good_start", "good_end", "bad_start", "bad_end")
SHOWN = ("item_id", "lang", "paradigm", "good", "bad", *SPANS, "file", "line", "rule", "change")


def _counts(
    rows: pd.DataFrame,
    items: pd.DataFrame,
    row: str,
    where: Mapping[str, Any],
    printed: Sequence[Cell] = (),
) -> Iterator[Cell]:
    """Yield cells that count matches, pairs, constructed pairs, and rejected matches by reason."""
    kept = {**where, "outcome": KEPT}
    constructed = {**where, "constructed": True}
    yield formula_cell(rows, (row, MATCHES), TOTAL, SOURCE, where)
    yield formula_cell(rows[rows["outcome"] == KEPT], (row, PAIRS), TOTAL, SOURCE, kept)
    built = items[items["constructed"].astype(bool)]
    yield formula_cell(built, (row, CONSTRUCTED), COUNT, "items", constructed)
    yield from printed
    dropped = rows[rows["outcome"] == DROPPED]
    names = dropped["reason"].map(lambda reason: REASON_GROUP.get(reason.partition(":")[0], OTHER))
    for column in REJECTIONS:
        inside = dropped["Rejected: " + names == column]
        if not inside.empty:
            chosen = {**where, "outcome": DROPPED, "reason": sorted({*inside["reason"]})}
            yield formula_cell(inside, (row, column), TOTAL, SOURCE, chosen)


def _languages_of(present: Collection[str], labels: Labels) -> list[str]:
    """Sort the languages ``present``: the paper's first, then in the order of the campaign."""
    order = dict.fromkeys([LANG, *labels.languages, *sorted(present)])
    return [lang for lang in order if lang in present]


def rules(tables: Tables, labels: Labels) -> Exhibit:
    """Tabulate the matches of each paradigm's rules: pairs, and matches rejected by reason."""
    counts = read_plain(RULE_COUNTS, tables[SOURCE])
    keys = ["lang", "paradigm", "rule"]
    items = read_plain(ITEMS, tables["items"], [*keys, "constructed"])
    items = items.astype(dict.fromkeys(keys, str))
    printed = read_printed(tables, exhibit="table10", column="n")
    langs = _languages_of({*counts["lang"]}, labels)
    cells: list[Cell] = []
    titles: list[dict[str, str]] = []
    for lang in langs:
        language = labels.languages.get(lang, lang)
        prefix = f"{language}: " if len(langs) > 1 else ""
        of_lang, lang_items = (table[table["lang"] == lang] for table in (counts, items))
        of_language: list[Cell] = []
        for paradigm, name in PARADIGMS.items():
            matches = of_lang[of_lang["paradigm"] == paradigm]
            pairs = lang_items[lang_items["paradigm"] == paradigm]
            if matches.empty and lang != LANG:
                continue
            row, where = f"{prefix}{name}", {"lang": lang, "paradigm": paradigm}
            # For some paradigms the paper's accuracies imply a different number of pairs.
            of_paper: list[Cell] = []
            numbers = printed[(printed["row"] == paradigm) & (lang == LANG)]
            for _, number in numbers.iterrows():
                if not pd.isna(number["value"]):
                    cell = printed_cell(number, (row, PRINTED))
                    of_paper.append(replace(cell, stands_for=None))
                if not pd.isna(number["corrected"]):
                    implied, text = (row, IMPLIED), f"{float(number['corrected']):,.0f}"
                    cell_keys = ("exhibit", "row", "column")
                    cell = shared.row_cell(
                        "published", number, cell_keys, "corrected", implied, text
                    )
                    of_paper.append(cell)
            of_language += _counts(matches, pairs, row, where, of_paper)
            # Cells of single rules are in the data files, not in the printed table.
            for rule in dict.fromkeys(matches["rule"]):
                of_rule, rule_pairs = (table[table["rule"] == rule] for table in (matches, pairs))
                of_where = {**where, "rule": rule}
                for cell in _counts(of_rule, rule_pairs, f"{row}, rule {rule}", of_where):
                    of_language.append(replace(cell, printed=False))
        of_language += _counts(of_lang, lang_items, f"{prefix}{ALL_PARADIGMS}", {"lang": lang})
        cells += of_language
        rows = {c.row: c.row.removeprefix(prefix) for c in of_language if c.printed}
        titles.append({language: language, **rows} if prefix else rows)
    present = {cell.column for cell in cells if cell.printed}
    columns = [column for column in RULE_COLUMNS if column in present]
    matched = {*counts["paradigm"][counts["n"] > 0]}
    none = [name for paradigm, name in PARADIGMS.items() if paradigm not in matched]
    without = f" No place matches: {', '.join(none)}." if none else ""
    heads = {column: ("Rejected", column.partition(": ")[2]) for column in columns if ":" in column}
    return Exhibit(
        **describe("rules", without=without),
        cells=cells,
        heads=RULE_HEADS | heads,
        sections=[Section(PARADIGM, rows, columns) for rows in titles],
    )


def samples(tables: Tables, labels: Labels) -> Exhibit:
    """List twenty pairs of each paradigm; the filter of each cell selects the item."""
    by_lang: dict[str, list[dict[str, Any]]] = {}
    for path in tables["items"]:
        items = read_table(ITEMS, path, [*SHOWN, "constructed"]).to_pylist()
        by_lang |= {items[0]["lang"]: items} if items else {}
    cells: list[Cell] = []
    sections: list[Section] = []
    stub, remarks, written = {}, {}, {}
    for lang in _languages_of(by_lang, labels):
        prefix = f"{labels.languages.get(lang, lang)}: " if len(by_lang) > 1 else ""
        for paradigm, name in PARADIGMS.items():
            pairs = [item for item in by_lang[lang] if item["paradigm"] == paradigm]
            if not pairs:
                continue
            sample, title = [*evenly(pairs, MOST_SAMPLES)], f"{prefix}{name}"
            head = f"{title} ({len(sample)} of {len(pairs):,})"
            rows = {head: head}
            for number, item in enumerate(sample, start=1):
                row = f"{item['item_id']} {item['paradigm']}"
                where = {key: item[key] for key in ("lang", "item_id", "paradigm")}
                cells.append(Cell(row, PAIR, 1, shared.marked(item), COUNT, "items", where, n=1))
                constructed = ", constructed" if item["constructed"] else ""
                stub[row] = {PARADIGM: title}
                remarks[row] = {
                    RULE: item["rule"],
                    CHANGE: f"{item['change']}{constructed}",
                    ORIGIN: f"{item['file']}:{item['line']}",
                }
                written[row, PAIR] = language_tag(lang)
                rows[row] = str(number)
            sections.append(Section("", rows, [PAIR, RULE, CHANGE, ORIGIN]))
    return Exhibit(
        **describe("samples", most=MOST_SAMPLES),
        cells=cells,
        stub=stub,
        remarks=remarks,
        widths={PAIR: 0.5, ORIGIN: 0.15},
        sections=sections,
        textual=True,
        written_in=written,
    )


# People's agreement

RATED, PEOPLE = "validation_ratings", "validation_participants"
VALUE, NUMBER = "κ", "Number"
KAPPA_ROWS = {
    "published": "Sentence chosen (published)",
    "corrected": "Right and wrong (corrected)",
    "free": "Free-marginal (Randolph)",
}
ACCURACY, JUDGED, PASSED, CHECKS, COUNTED = "Accuracy (%)", "Pairs", "Passed", "Checks", "Counted"
INTERVAL, LEFT_OUT = "95 % interval", "left out: failed attention checks"


def validation(tables: Tables, labels: Labels) -> Exhibit:
    """Tabulate kappas of people's judgements, the numbers of judgements, and each participant."""
    from blimpworks.papers.urblimp.analysis import kappa_interval

    ratings = read_plain(VALIDATION_RATINGS, tables[RATED][0])
    people = read_plain(VALIDATION_PARTICIPANTS, tables[PEOPLE][0])
    per_pair = int(labels.facts["urblimp_validation"]["per_pair"])
    pairs = int(formulas.complete(per_pair)(ratings))
    kappas: list[Cell] = []
    for name, row in KAPPA_ROWS.items():
        formula = formulas.kappa(name, per_pair)
        low, high = (None if isnan(end) else end for end in kappa_interval(name, ratings, per_pair))
        fields: dict[str, Any] = {"n": pairs, "low": low, "high": high}
        kappas.append(formula_cell(ratings, (row, VALUE), formula, RATED, {}, ".2f", **fields))

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
    if pairs and per_pair > 1:
        numbers["Unanimous pairs (%)"] = formulas.unanimous(per_pair), RATED
        numbers["Two judgements agree (%)"] = formulas.agreement(per_pair), RATED
    rows_of = {RATED: ratings, PEOPLE: people}
    counts: list[Cell] = []
    for row, (formula, source) in numbers.items():
        where: dict[str, Any] = {"left_out": True} if row == LEFT_OUT else {}
        form = ".1f" if "%" in row else ",.0f"
        counts.append(formula_cell(rows_of[source], (row, NUMBER), formula, source, where, form))

    # The prefix distinguishes participants from rows of the same name.
    names = {f"participant {name}": str(name) for name in people["participant"]}
    columns = {JUDGED: TOTAL, CHECKS: of_row("checks"), PASSED: of_row("passed")}
    participants: list[Cell] = []
    for row, name in names.items():
        where = {"participant": name}
        person = people[people["participant"].astype(str) == name]
        if n := int(person["n"].item()):
            low, high = (float(100 * person[end].item()) for end in ("low", "high"))
            fields, cell_key = {"n": n, "low": low, "high": high}, (row, ACCURACY)
            cell = formula_cell(person, cell_key, UNWEIGHTED, PEOPLE, where, ".1f", **fields)
            participants.append(cell)
        for column, formula in columns.items():
            participants.append(formula_cell(person, (row, column), formula, PEOPLE, where, ",.0f"))

    sections = {
        "Kappa": ([cell for cell in kappas if not isnan(cell.value)], [VALUE, INTERVAL]),
        "Counts": (counts, [NUMBER]),
        "Participant": (participants, [JUDGED, ACCURACY, INTERVAL, CHECKS, PASSED, COUNTED]),
    }
    cells = [cell for section, _ in sections.values() for cell in section]
    remarks = {cell.row: {INTERVAL: "", COUNTED: ""} for cell in cells}
    for cell in cells:
        if cell.low is not None and cell.high is not None:
            digits = 2 if cell.column == VALUE else 1
            remarks[cell.row][INTERVAL] = f"{cell.low:.{digits}f} to {cell.high:.{digits}f}"
    for row, left_out in zip(names, people["left_out"], strict=True):
        remarks[row][COUNTED] = "no" if left_out else "yes"
    return Exhibit(
        **describe("validation", per_pair=per_pair),
        cells=cells,
        sections=[
            Section(title, {c.row: names.get(c.row, c.row) for c in section}, columns)
            for title, (section, columns) in sections.items()
            if section
        ],
        remarks=remarks,
    )
