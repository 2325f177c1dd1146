"""Match names of files and headings with patterns."""

import re
from collections.abc import Sequence
from functools import cache
from itertools import chain, zip_longest
from typing import Any

from blimpworks.errors import UserError

LONGEST_PATTERN = 500
"""Characters of the longest pattern of names."""


@cache
def _compiled(names: str) -> tuple[list[str], list[Any]]:
    """Return columns and expressions of a pattern; RE2 matches in time linear in the name."""
    if len(names) > LONGEST_PATTERN:
        raise UserError(
            f"the pattern of names {names[:40]!r}… has {len(names)} characters; expected at most "
            f"{LONGEST_PATTERN}. Make it shorter."
        )
    # Not every environment has it that reads which benchmarks there are.
    import re2

    parts = re.split(r"(\*|\{\w+\})", names)
    columns = [part[1:-1] for part in parts[1::2] if part != "*"]
    expressions = []
    for much in ("", "?"):
        signs = {"*": f"[^/]*{much}"}
        each = (signs.get(part, f"([^/]+{much})") for part in parts[1::2])
        literal = map(re2.escape, parts[::2])
        expressions.append(re2.compile("".join(chain(*zip_longest(literal, each, fillvalue="")))))
    return columns, expressions


def columns_in(patterns: Sequence[str], name: str) -> dict[str, str] | None:
    """Return a name's text by column of the first pattern that fits it; None if none fits.

    ``*`` and ``{column}`` are text without a slash. Columns take as much text as they can. If a
    repeated column does not get the same text that way, all take as little as they can. Raises
    UserError for a pattern that is too long.
    """
    for pattern in patterns:
        columns, expressions = _compiled(pattern)
        for expression in expressions:
            match = expression.fullmatch(name)
            if match is None:
                break
            pairs = [*zip(columns, match.groups(), strict=True)]
            if {*pairs} == {*dict(pairs).items()}:
                return dict(pairs)
    return None
