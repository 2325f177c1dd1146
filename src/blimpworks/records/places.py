"""Paths without the folders of this machine, for products that others read."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from blimpworks.records.job import REPOSITORY

_ABSOLUTE = re.compile(r"(?<![\w:/.~-])(?:/[^\s\"'\\/<>()\[\]{},;:|]+){2,}")
"""Text like an absolute path of at least two parts, and no address."""


def _last_part(match: re.Match[str]) -> str:
    path = match[0]
    try:
        return Path(path).name if Path(path).exists() else path
    except OSError:
        return path


def relative_texts(roots: Mapping[str, Path]) -> Callable[[str], str]:
    """Return a function that removes the paths of this machine from a text.

    A root's name replaces its absolute path. Paths below the current directory or the repository
    become relative to it. Other existing files keep their names alone.
    """
    here = {f"{folder}/": "" for folder in (Path.cwd(), REPOSITORY)}
    named = {f"{path}/": f"{name}/" for name, path in roots.items() if path.is_absolute()}
    alone = {str(path): name for name, path in roots.items() if path.is_absolute()}
    # The longest first: results may lie below the current directory.
    prefixes = sorted((here | alone | named).items(), key=lambda pair: -len(pair[0]))

    def relative(text: str) -> str:
        for prefix, name in prefixes:
            text = text.replace(prefix, name)
        return _ABSOLUTE.sub(_last_part, text)

    return relative
