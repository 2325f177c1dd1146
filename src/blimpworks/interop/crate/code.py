"""The formulas of cells as code for readers of a crate."""

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from blimpworks.exhibits.formula_lookup import formula_of
from blimpworks.exhibits.formulas import Formula

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
