"""The texts of a crate: README, data dictionary, and formulas as code."""

import ast
import csv
import inspect
import json
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from string import Template
from typing import Any

import pandas as pd

from blimpworks.exhibits.formula_lookup import formula_of
from blimpworks.exhibits.formulas import ACCURACY, COUNT, TOTAL, UNWEIGHTED, VALUES, Formula
from blimpworks.exhibits.shared import counted
from blimpworks.interop.crate.tables import Copied

HERE = Path(__file__).parent
ANY = "*"
EXPRESSIONS = {
    ACCURACY.sentence: '100 * rows["correct"].mean()',
    UNWEIGHTED.sentence: '100 * rows["accuracy"].mean()',
    TOTAL.sentence: 'rows["n"].sum()',
    COUNT.sentence: "len(rows)",
    VALUES.sentence: 'rows["value"].sum()',
}
"""Formulas in pandas for the README, the best example first."""


CONTENTS = {
    "cells.csv": "every number of every exhibit: its value, its formula, and the filter that "
    "selects the rows it is computed from",
    "sources.csv": "in which files those rows are, by exhibit and kind of table",
    "formulas.md": "what each formula does, as code",
    "dictionary.csv": "what each column of each table means, and its unit",
    "items/": "the item sets, with [Croissant](https://mlcommons.org/croissant/) metadata",
    "tables/": "judgements with their margins, accuracies, and the other tables that numbers "
    "are computed from",
    "printed/": "the numbers that the papers print",
    "exhibits/": "the campaign's own tables and figures, as built",
    "published/": "the same made from what the papers print",
    "reproduction/": "printed numbers beside recomputed and beside measured ones",
    "code.csv": "which version (SHA-256) of which module each command ran",
    "ro-crate-metadata.json": "all of this, and every job: its command, parameters, software, "
    "inputs and outputs, each with its SHA-256",
    "workflow/": "the workflow's rules, for reading; to run them takes the repository",
    "config/": "the campaign's settings",
}
"""Possible contents of a crate, in the order of a reader's needs."""


@dataclass(frozen=True, slots=True)
class Column:
    """A row of the dictionary; ``table`` is ``*`` where all tables agree."""

    table: str
    column: str
    unit: str
    meaning: str


def read_dictionary() -> dict[tuple[str, str], Column]:
    """Return descriptions of columns, by table and column."""
    with (HERE / "dictionary.tsv").open(encoding="utf-8", newline="") as file:
        rows = [Column(**row) for row in csv.DictReader(file, delimiter="\t")]
    return {(row.table, row.column): row for row in rows}


def describe(known: Mapping[tuple[str, str], Column], table: str, column: str) -> Column:
    """Return the description of a column of a kind of table; empty without one.

    The first part of a kind such as items/BENCHMARK/all decides. Columns that benchmarks keep of
    their own files share one description.
    """
    table_kind = table.partition("/")[0]
    lookup_keys = ((table_kind, column), (ANY, column), (table_kind, ANY))
    description = next(
        (known[lookup_key] for lookup_key in lookup_keys if lookup_key in known), None
    )
    return description or Column(table, column, "", "")


def dictionary(tables: Mapping[str, Iterable[str]]) -> pd.DataFrame:
    """Return the data dictionary of a crate: table, column, unit, meaning."""
    descriptions = read_dictionary()
    rows = [
        (table, column, description.unit, description.meaning)
        for table, columns in tables.items()
        for column in columns
        for description in [describe(descriptions, table, column)]
    ]
    return pd.DataFrame(rows, columns=["table", "column", "unit", "meaning"])


def example(cells: pd.DataFrame) -> tuple[Mapping[Any, Any], str]:
    """Return a cell for an example of a computation, and its formula in pandas.

    Preferred is a measured cell of a table, with a short filter and a known formula.
    """
    with_formula = cells[cells["formula"].isin(list(EXPRESSIONS))]
    if with_formula.empty:
        return cells.iloc[0].to_dict(), "rows  # and now its formula: see formulas.md"
    ranks = pd.DataFrame(
        {
            "formula": with_formula["formula"].map([*EXPRESSIONS].index),
            "form": with_formula["form"] != "measured",
            "figure": ~with_formula["exhibit"].str.startswith("table"),
            "filter": with_formula["filter"].str.len(),
        }
    )
    best = ranks.sort_values(["formula", "form", "figure", "filter"]).index[0]
    return with_formula.loc[best].to_dict(), EXPRESSIONS[str(with_formula.at[best, "formula"])]


def _list(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def readme(
    root: Path,
    title: str,
    description: str,
    cells: pd.DataFrame,
    copies: Iterable[Copied],
    licences: Mapping[str, int],
    citations: Sequence[str],
    gone: Sequence[Path],
    root_hash: str,
    version: str,
) -> str:
    """Return the README of a crate, with one of its numbers computed step by step."""
    cell, expression = example(cells)
    first = {copy.kind: copy.place.as_posix() for copy in reversed([*copies])}
    tables = [f"{table_kind}, such as `{target}`" for table_kind, target in sorted(first.items())]
    missing = (
        f"{len(gone)} of the files behind these numbers (such as `{gone[0]}`) no longer existed "
        "when the crate was made: their content is known by its SHA-256 alone."
        if gone
        else "Every file behind these numbers was hashed again when the crate was made, and is "
        "what the record of its job says."
    )
    exhibits = len(cells[["paper", "form", "exhibit"]].drop_duplicates())
    template = Template((HERE / "README.template.md").read_text(encoding="utf-8"))
    here = {name: meaning for name, meaning in CONTENTS.items() if (root / name).exists()}
    here["ro-crate-metadata.json"] = CONTENTS["ro-crate-metadata.json"]
    return template.substitute(
        title=title,
        description=description,
        contents="\n".join(f"| `{name}` | {meaning} |" for name, meaning in here.items()),
        counts=f"{counted(len(cells), 'number')} of {counted(exhibits, 'exhibit')}",
        tables=_list(tables),
        **{name: cell[name] for name in ("paper", "form", "exhibit", "text", "formula")},
        row=json.dumps(cell["row"], ensure_ascii=False),
        column=json.dumps(cell["column"], ensure_ascii=False),
        expression=expression,
        licences=_list(
            [f"{name}: {n} {'file' if n == 1 else 'files'}" for name, n in licences.items()]
        ),
        citations="\n".join(citations),
        missing=missing,
        root_hash=root_hash,
        version=version,
    )


PLAIN = (str, int, float, tuple, list, dict, frozenset)
"""Types of constants that are shown by value."""


def _lambda(function: Callable[..., Any]) -> str:
    """Return the text of a lambda, found in its module by its line."""
    text = Path(inspect.getfile(function)).read_text(encoding="utf-8")
    line = function.__code__.co_firstlineno
    lambda_node = next(
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Lambda) and node.lineno == line
    )
    return textwrap.dedent(ast.get_source_segment(text, lambda_node) or "")


def _ours(value: Any) -> bool:
    module = getattr(value, "__module__", None) or ""
    return module.startswith("blimpworks.") and callable(value)


def _mentioned(function: Callable[..., Any], seen: set[int]) -> Iterator[str]:
    for name in function.__code__.co_names:
        value = function.__globals__.get(name)
        if isinstance(value, PLAIN):
            yield f"{name} = {value!r}\n"
        elif _ours(value):
            yield from _parts(value, seen)


def _parts(value: Any, seen: set[int]) -> Iterator[str]:
    """Yield the code behind a formula, function, partial, class or object, in order."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, Formula):
        yield from _parts(_applied(value), seen)
    elif isinstance(value, partial):
        for given in (*value.args, *value.keywords.values()):
            yield from _parts(given, seen)
        yield from _parts(value.func, seen)
    elif inspect.isfunction(value):
        yield from _mentioned(value, seen)
        if value.__name__ != "<lambda>":
            text = inspect.getsource(value)
            [node] = ast.parse(text).body
            yield "".join(text.splitlines(keepends=True)[node.lineno - 1 :])
    elif inspect.isclass(value) or _ours(type(value)):
        yield inspect.getsource(value if inspect.isclass(value) else type(value))


def _applied(formula: Formula) -> Callable[..., Any]:
    return partial(formula.function, **formula.arguments) if formula.arguments else formula.function


def _named(value: Any) -> str:
    if isinstance(value, Formula):
        return _named(_applied(value))
    if isinstance(value, partial):
        named = [f"{name}={_named(given)}" for name, given in value.keywords.items()]
        return f"partial({', '.join([_named(value.func), *map(_named, value.args), *named])})"
    if inspect.isfunction(value):
        return _lambda(value) if value.__name__ == "<lambda>" else value.__name__
    return value.__name__ if inspect.isbuiltin(value) else repr(value)


def formula_code(name: str) -> str:
    """Return the Python text of a formula and of the functions that it uses.

    Raises UserError for an unknown formula.
    """
    formula = formula_of(name)
    parts = dict.fromkeys(_parts(formula, set()))
    return "\n\n".join([*parts, f"formula = {_named(formula)}\n"])


def formulas_text(names: Iterable[str]) -> str:
    """Return the formulas as a Markdown page, each with its code."""
    parts = [
        "# Formulas\n\nWhat `formula` in `cells.csv` stands for, as the function that the "
        "workflow applies to the rows\nthat a cell's `filter` selects (`rows`, a pandas data "
        "frame).\n"
    ]
    parts += [f"## {name}\n\n```python\n{formula_code(name)}```\n" for name in names]
    return "\n".join(parts)
