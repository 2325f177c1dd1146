"""Match names of files and headings with patterns."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, zip_longest
from typing import Any

from blimpworks.errors import UserError

LONGEST_PATTERN = 500
"""Characters of the longest pattern of names."""


@dataclass(frozen=True, slots=True)
class NamePattern:
    """A pattern of names: ``*`` and ``{column}`` are text without a slash.

    RE2 matches in time linear in the name. Columns take as much text as they can. If a repeated
    column does not get the same text that way, all take as little as they can.
    """

    columns: tuple[str, ...]
    expressions: tuple[Any, ...]

    def values(self, name: str) -> dict[str, str] | None:
        """Return a name's text by column; None for a name that does not fit."""
        for expression in self.expressions:
            match = expression.fullmatch(name)
            if match is None:
                return None
            pairs = [*zip(self.columns, match.groups(), strict=True)]
            if {*pairs} == {*dict(pairs).items()}:
                return dict(pairs)
        return None


@cache
def pattern_of(names: str) -> NamePattern:
    """Read a pattern of names. Raises UserError for one that is too long."""
    if len(names) > LONGEST_PATTERN:
        raise UserError(
            f"the pattern of names {names[:40]!r}… has {len(names)} characters; expected at most "
            f"{LONGEST_PATTERN}. Make it shorter."
        )
    # Not every environment has it that reads which benchmarks there are.
    import re2

    parts = re.split(r"(\*|\{\w+\})", names)
    columns = tuple(part[1:-1] for part in parts[1::2] if part != "*")
    expressions = []
    for much in ("", "?"):
        signs = {"*": f"[^/]*{much}"}
        each = (signs.get(part, f"([^/]+{much})") for part in parts[1::2])
        literal = map(re2.escape, parts[::2])
        expressions.append(re2.compile("".join(chain(*zip_longest(literal, each, fillvalue="")))))
    return NamePattern(columns, tuple(expressions))


def columns_in(patterns: Sequence[str], name: str) -> dict[str, str] | None:
    """Return a file name's text by column; None where no pattern fits."""
    values = (pattern_of(pattern).values(name) for pattern in patterns)
    return next((each for each in values if each is not None), None)
