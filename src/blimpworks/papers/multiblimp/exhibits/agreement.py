"""Agreement probabilities of MultiBLiMP's languages.

Source: Jumelet, Weissweiler, Nivre and Bisazza (2025), section 4.2 and Table 1.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

import pandas as pd

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section
from blimpworks.exhibits.formulas import COMPLEMENT
from blimpworks.exhibits.shared import Tables, printed_bold, printed_cell, read_plain, read_printed
from blimpworks.papers.multiblimp.exhibits import describe
from blimpworks.papers.multiblimp.exhibits.accuracies import FEATURES
from blimpworks.papers.multiblimp.exhibits.formulas import share
from blimpworks.papers.multiblimp.tables import AGREEMENT, AGREEMENT_COUNTS

ORDERS = ("SV", "VS")
AT_LEAST = 2
"""Languages that a campaign shows when it has none of those requested."""
PHENOMENON = "sv#"
"""What the paper's table is about."""
STUB = ("Subject", "Verb", "Order")


def _languages(
    requested: Sequence[str], counts: Mapping[str, pd.DataFrame], labels: Labels
) -> list[str]:
    """The requested languages that have counts; else the first whose words have several values."""
    if chosen := [lang for lang in requested if lang in counts]:
        return chosen
    known = [lang for lang in labels.languages if lang in counts]
    inflecting = [
        lang
        for lang in known
        if all(counts[lang][side].nunique() > 1 for side in ("subject_value", "verb_value"))
    ]
    return (inflecting or known)[:AT_LEAST]


def _values(counts: Sequence[pd.DataFrame], phenomenon: str) -> list[str]:
    """Values that occur on subject or verb; the singular stands behind, as in the paper."""
    values = {v for frame in counts for v in (*frame["subject_value"], *frame["verb_value"])}
    known = [value for value in FEATURES[phenomenon[2:]][1] if value in values]
    known.sort(key=lambda value: value == "SG")
    return known + sorted(values - {*known})


def _probabilities(
    counts: pd.DataFrame, lang: str, name: str, phenomenon: str, values: Sequence[str]
) -> list[Cell]:
    """Probability of each verb value given subject value and order, where there are counts."""
    cells: list[Cell] = []
    for order, subject in product(ORDERS, values):
        given = counts[(counts["order"] == order) & (counts["subject_value"] == subject)]
        n = int(given["count"].sum())
        where = {"lang": lang, "phenomenon": phenomenon, "order": order, "subject_value": subject}
        for verb in values if n else ():
            value = float(given["count"][given["verb_value"] == verb].sum() / n)
            row = f"{subject} {verb} {order}"
            text = f"{value:.3f}"
            cell = Cell(row, name, value, text, share(verb), "agreement_counts", where, n=n)
            cells.append(replace(cell, stands_for=(row, lang)))
    return cells


def _layout(
    cells: Sequence[Cell], rows: Sequence[str], bold: set[tuple[str, str]], phenomenon: str
) -> Exhibit:
    """The cells in the paper's form: values and word order, then a column per language."""
    present = {cell.row for cell in cells}
    rows = [row for row in rows if row in present]
    names = list(dict.fromkeys(cell.column for cell in cells))
    feature = FEATURES[phenomenon[2:]][0].lower()
    kind = {"sv": "verb", "sp": "participle"}[phenomenon[:2]]
    parts = [[row for row in rows if row.endswith(order)] for order in ORDERS]
    return Exhibit(
        **describe("table1", kind=kind, feature=feature),
        cells=sorted(cells, key=lambda cell: rows.index(cell.row)),
        stub={row: dict(zip(STUB, row.split(), strict=True)) for row in rows},
        bold=bold,
        heads={name: (f"P({kind} | subject, order)", name) for name in names},
        sections=[Section("", {r: r for r in part}, [*STUB, *names]) for part in parts if part],
        named=False,
    )


def table1(tables: Tables, labels: Labels) -> Exhibit:
    """Table 1: shares of verb values by subject value and order; significant agreement is bold."""
    if labels.source == "published":
        return _printed(tables, labels)
    phenomenon = labels.facts["table1"]["phenomenon"]
    frames = {path.stem: read_plain(AGREEMENT_COUNTS, path) for path in tables["agreement_counts"]}
    of_phenomenon = {lang: rows[rows["phenomenon"] == phenomenon] for lang, rows in frames.items()}
    counts = {lang: rows for lang, rows in of_phenomenon.items() if len(rows)}
    languages = _languages(labels.facts["table1"]["languages"], counts, labels)
    values = _values([counts[lang] for lang in languages], phenomenon)
    cells: list[Cell] = []
    for lang in languages:
        cells += _probabilities(counts[lang], lang, labels.languages[lang], phenomenon, values)
    tests = {p.stem: read_plain(AGREEMENT, p) for p in tables["agreement"] if p.stem in languages}
    bold = {
        (f"{value} {value} {order}", labels.languages[lang])
        for lang, frame in tests.items()
        for (value, order), marks in frame[frame["phenomenon"] == phenomenon].groupby(
            ["value", "order"]
        )["label"]
        if (marks == "+").all()
    }
    rows = [
        f"{subject} {verb} {order}"
        for order in ORDERS
        for subject in values
        for verb in (subject, *(v for v in values if v != subject))
    ]
    return _layout(cells, rows, bold, phenomenon)


def _printed(tables: Tables, labels: Labels) -> Exhibit:
    """The paper's own table, with its boldface."""
    printed = read_printed(tables, exhibit="table1")
    names = labels.languages
    rows = [row for _, row in printed.iterrows()]
    cells = [printed_cell(row, (row["row"], names[row["column"]])) for row in rows]
    bold = {(row, names[lang]) for row, lang in printed_bold(printed, "table1")}
    exhibit = _layout(cells, list(dict.fromkeys(printed["row"])), bold, PHENOMENON)
    # Each printed probability again, from that of the verb's other value.
    others = {(row["row"], row["column"]): row for row in rows}
    for row in rows:
        subject, verb, order = row["row"].split()
        opposite = {"SG": "PL", "PL": "SG"}[verb]
        place = (row["row"], f"{names[row['column']]}, from the other value")
        cell = printed_cell(others[f"{subject} {opposite} {order}", row["column"]], place)
        value = 1 - cell.value
        again = replace(cell, value=value, text=f"{value:.3f}", formula=COMPLEMENT)
        exhibit.cells.append(replace(again, stands_for=(row["row"], row["column"]), printed=False))
    return exhibit
