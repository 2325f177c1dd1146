"""The texts of a crate: README, data dictionary, and formulas as code."""

import ast
import csv
import inspect
import json
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
    "workflow/": "the workflow's rules, for reading; to run them takes the repository",
    "config/": "the campaign's settings",
    "ro-crate-metadata.json": "all of this, and every job: its command, parameters, software, "
    "inputs and outputs, each with its SHA-256",
}
"""Possible contents of a crate."""


Descriptions = Mapping[tuple[str, str], tuple[str, str]]
"""Units and meanings by table and column; the table is ``*`` where all tables agree."""


def read_dictionary() -> Descriptions:
    """Return descriptions of columns."""
    with (HERE / "dictionary.tsv").open(encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file, delimiter="\t")]
    return {(row["table"], row["column"]): (row["unit"], row["meaning"]) for row in rows}


def describe(known: Descriptions, table: str, column: str) -> tuple[str, str]:
    """Return unit and meaning of a column of a kind of table; empty without a description.

    The first part of a kind such as items/BENCHMARK/all decides. Columns that benchmarks keep of
    their own files share one description.
    """
    kind = table.partition("/")[0]
    keys = ((kind, column), (ANY, column), (kind, ANY))
    return next((known[key] for key in keys if key in known), ("", ""))


def dictionary(tables: Mapping[str, Iterable[str]]) -> pd.DataFrame:
    """Return the data dictionary of a crate: table, column, unit, meaning."""
    known = read_dictionary()
    rows = [
        (table, column, *describe(known, table, column))
        for table, columns in tables.items()
        for column in columns
    ]
    return pd.DataFrame(rows, columns=["table", "column", "unit", "meaning"])


def example(cells: pd.DataFrame) -> tuple[Mapping[Any, Any], str]:
    """Return a cell, if possible a measured one of a table, and its formula in pandas."""
    order = [*EXPRESSIONS]
    with_formula = cells[cells["formula"].isin(order)].to_dict("records")
    if not with_formula:
        return cells.iloc[0].to_dict(), "rows  # and now its formula: see formulas.md"
    best = min(
        with_formula,
        key=lambda cell: (
            order.index(cell["formula"]),
            cell["form"] != "measured",
            not cell["exhibit"].startswith("table"),
            len(cell["filter"]),
        ),
    )
    return best, EXPRESSIONS[best["formula"]]


def readme(
    root: Path,
    cells: pd.DataFrame,
    copies: Iterable[Copied],
    licences: Mapping[str, int],
    gone: Sequence[Path],
    **about: str,
) -> str:
    """Return the README of a crate, with one of its numbers computed step by step.

    ``about``: title, description, citations, root_hash and version.
    """
    cell, expression = example(cells)
    first = {copy.kind: copy.place.as_posix() for copy in reversed([*copies])}
    missing = (
        f"{len(gone)} of the files behind these numbers (such as `{gone[0]}`) no longer existed "
        "when the crate was made: their content is known by its SHA-256 alone."
        if gone
        else "Every file behind these numbers was hashed again when the crate was made, and is "
        "what the record of its job says."
    )
    exhibits = len(cells[["paper", "form", "exhibit"]].drop_duplicates())
    template = Template((HERE / "README.template.md").read_text(encoding="utf-8"))
    contents = [
        f"| `{name}` | {meaning} |"
        for name, meaning in CONTENTS.items()
        if (root / name).exists() or name == "ro-crate-metadata.json"
    ]
    return template.substitute(
        about,
        contents="\n".join(contents),
        counts=f"{counted(len(cells), 'number')} of {counted(exhibits, 'exhibit')}",
        tables="\n".join(f"- {kind}, such as `{place}`" for kind, place in sorted(first.items())),
        **{name: cell[name] for name in ("paper", "form", "exhibit", "text", "formula")},
        row=json.dumps(cell["row"], ensure_ascii=False),
        column=json.dumps(cell["column"], ensure_ascii=False),
        expression=expression,
        licences="\n".join(f"- {name}: {counted(n, 'file')}" for name, n in licences.items()),
        missing=missing,
    )


PLAIN = (str, int, float, tuple, list, dict, frozenset)
"""Types of constants that are shown by value."""


def _ours(value: Any) -> bool:
    return callable(value) and str(getattr(value, "__module__", "")).startswith("blimpworks.")


def _applied(formula: Formula) -> Callable[..., Any]:
    return partial(formula.function, **formula.arguments) if formula.arguments else formula.function


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
        for name in value.__code__.co_names:
            mentioned = value.__globals__.get(name)
            if isinstance(mentioned, PLAIN):
                yield f"{name} = {mentioned!r}\n"
            elif _ours(mentioned):
                yield from _parts(mentioned, seen)
        if value.__name__ != "<lambda>":
            text = inspect.getsource(value)
            [node] = ast.parse(text).body
            yield "".join(text.splitlines(keepends=True)[node.lineno - 1 :])
    elif inspect.isclass(value) or _ours(type(value)):
        yield inspect.getsource(value if inspect.isclass(value) else type(value))


def _named(value: Any) -> str:
    if isinstance(value, Formula):
        return _named(_applied(value))
    if isinstance(value, partial):
        named = [f"{name}={_named(given)}" for name, given in value.keywords.items()]
        return f"partial({', '.join([_named(value.func), *map(_named, value.args), *named])})"
    if inspect.isfunction(value) and value.__name__ == "<lambda>":
        # Found in its module by its line.
        text = Path(inspect.getfile(value)).read_text(encoding="utf-8")
        nodes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Lambda))
        node = next(node for node in nodes if node.lineno == value.__code__.co_firstlineno)
        return textwrap.dedent(ast.get_source_segment(text, node) or "")
    is_named = inspect.isfunction(value) or inspect.isbuiltin(value)
    return value.__name__ if is_named else repr(value)


def formula_code(name: str) -> str:
    """Return the code of a formula and of what it uses. Raises UserError for an unknown one."""
    formula = formula_of(name)
    parts = dict.fromkeys(_parts(formula, set()))
    return "\n\n".join([*parts, f"formula = {_named(formula)}\n"])


def formulas_text(names: Iterable[str]) -> str:
    """Return the formulas as a Markdown page, each with its code."""
    head = (
        "# Formulas\n\nWhat `formula` in `cells.csv` stands for, as the function that the "
        "workflow applies to the rows\nthat a cell's `filter` selects (`rows`, a pandas data "
        "frame).\n"
    )
    codes = [f"## {name}\n\n```python\n{formula_code(name)}```\n" for name in names]
    return "\n".join([head, *codes])
