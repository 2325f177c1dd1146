"""Find the formula of a sentence in a table of cells.

It must fit exactly one formula or template, shared or of a paper. Papers' modules are loaded by
name, so the digest of a command that looks formulas up lacks theirs. This is safe: cells are
rebuilt when their formulas change.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from string import Formatter
from types import ModuleType
from typing import Any, get_type_hints

from blimpworks.campaign.registry import papers
from blimpworks.errors import UserError
from blimpworks.exhibits import formulas
from blimpworks.exhibits.formulas import Formula, Notation, Template


def formula_modules() -> Iterator[ModuleType]:
    """Yield the modules that declare formulas: the shared one, and those of papers."""
    yield formulas
    for paper in papers().values():
        yield from map(import_module, paper.formulas)


@cache
def declared() -> tuple[Formula | Template[Any], ...]:
    """Return all formulas and templates once, without formulas made from templates."""
    values = [value for module in formula_modules() for value in vars(module).values()]
    declared_formulas = {id(v): v for v in values if isinstance(v, Formula | Template)}
    return tuple(
        v for v in declared_formulas.values() if isinstance(v, Template) or not v.arguments
    )


@cache
def _reader(template: Template[Any]) -> tuple[re.Pattern[str], Mapping[str, Notation]]:
    types = get_type_hints(template.function)
    notations: dict[str, Notation] = {}
    pattern = ""
    for text, name, _, _ in Formatter().parse(template.text):
        pattern += re.escape(text)
        if name in notations:
            pattern += f"(?P={name})"
        elif name:
            notations[name] = template.notations.get(name) or NOTATIONS[types[name]]
            pattern += f"(?P<{name}>{notations[name].pattern})"
    return re.compile(pattern), notations


def formulas_of(sentence: str) -> list[Formula]:
    """List every formula of this sentence; more than one is a mistake."""
    matches = [value for value in declared() if isinstance(value, Formula)]
    for template in (value for value in declared() if isinstance(value, Template)):
        pattern, notations = _reader(template)
        if match := pattern.fullmatch(sentence):
            # A UserError says that what stands in the place of a formula is none.
            with suppress(UserError):
                values = {name: notation.read(match[name]) for name, notation in notations.items()}
                matches.append(template(**values))
    return [formula for formula in matches if formula.sentence == sentence]


@cache
def formula_of(sentence: str) -> Formula:
    """Find the formula of a sentence. Raises UserError unless exactly one has it."""
    matches = formulas_of(sentence)
    if len(matches) != 1:
        raise UserError(
            f"{len(matches)} formulas are called {sentence!r}; expected one. If the cell is from "
            "another version of this package, build its exhibit again."
        )
    return matches[0]


NOTATIONS: dict[Any, Notation] = {
    int: Notation(r"\d+", read=int),
    float: Notation(r"[\d.]+(?:e-?\d+)?", read=float),
    str: Notation(r"\S+"),
    Formula: Notation(".+", read=formula_of),
}
