"""Paths as others are given them: relative, so that nothing says on whose machine they lie."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from blimpworks.records.job import REPOSITORY

_ABSOLUTE = re.compile(r"(?<![\w:/.~-])(?:/[^\s\"'\\/<>()\[\]{},;:|]+){2,}")
"""Something that looks like an absolute path of two parts at least, and is no address."""


def _last_part(match: re.Match[str]) -> str:
    path = match[0]
    try:
        return Path(path).name if Path(path).exists() else path
    except OSError:
        return path


def relative_texts(roots: Mapping[str, Path]) -> Callable[[str], str]:
    """What takes the paths of this machine out of a text.

    Each of the ``roots`` that is absolute goes by its name, what lies below the current directory
    or the repository by its path from there, and of other files that exist the name alone stays.
    """
    here = {f"{folder}/": "" for folder in (Path.cwd(), REPOSITORY)}
    named = {f"{path}/": f"{name}/" for name, path in roots.items() if path.is_absolute()}
    alone = {str(path): name for name, path in roots.items() if path.is_absolute()}
    # The longest first: results may lie below the current directory.
    prefixes = sorted((here | alone | named).items(), key=lambda pair: -len(pair[0]))

    def relative(text: str) -> str:
        """The text without paths of this machine."""
        for prefix, name in prefixes:
            text = text.replace(prefix, name)
        return _ABSOLUTE.sub(_last_part, text)

    return relative
