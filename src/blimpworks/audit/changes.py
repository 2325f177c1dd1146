"""Differences between two jobs: parameters, definitions of code, packages."""

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from blimpworks.records.digest import definitions, module_path
from blimpworks.records.job import REPOSITORY, run_git

ABSENT = "absent"
LONGEST = 70
SOURCES = Path("src")
Text = Callable[[str], str | None]
"""Returns the source of a module as one run had it, or None if it is lost."""


def flatten(value: Any, prefix: str = "") -> dict[str, Any]:
    """Return leaves of nested objects by dotted path; lists are leaves."""
    if not isinstance(value, Mapping) or not value:
        return {prefix: value}
    leaves: dict[str, Any] = {}
    for key, inner in value.items():
        leaves |= flatten(inner, f"{prefix}.{key}" if prefix else str(key))
    return leaves


def shortened(value: Any) -> str:
    """Return a value as JSON, cut if it is long."""
    text = value if value is ABSENT else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def changed_values(before: Any, after: Any) -> dict[str, tuple[Any, Any]]:
    """Return leaves that differ, by dotted path, with both values."""
    old, new = flatten(before), flatten(json.loads(json.dumps(after)))
    return {
        path: (old.get(path, ABSENT), new.get(path, ABSENT))
        for path in [*old, *(new.keys() - old.keys())]
        if old.get(path, ABSENT) != new.get(path, ABSENT)
    }


@cache
def _shown(repository: Path, commit: str, path: str) -> bytes | None:
    return run_git(repository, "show", f"{commit}:{path}")


def _copies(module: str, commit: str | None, repositories: Iterable[Path]) -> Iterable[bytes]:
    """Yield contents of a module's file in the working trees, and in the commit of the run."""
    base = str(SOURCES.joinpath(*module.split(".")))
    for repository in repositories:
        for path in (f"{base}.py", f"{base}/__init__.py"):
            if (repository / path).is_file():
                yield (repository / path).read_bytes()
            if commit and (content := _shown(repository, commit, path)) is not None:
                yield content


def texts_of(record: Mapping[str, Any], repositories: Collection[Path] = (REPOSITORY,)) -> Text:
    """Return a function for sources of a record's modules, if a copy has the recorded SHA-256."""

    def text(module: str) -> str | None:
        recorded_hash = record["sources"].get(module)
        for content in _copies(module, record["git"]["commit"], repositories):
            if hashlib.sha256(content).hexdigest() == recorded_hash:
                return content.decode("utf-8")
        return None

    return text


def text_now(module: str) -> str | None:
    """Return the module's source in the working tree of this code."""
    path = module_path(module)
    return path.read_text(encoding="utf-8") if path else None


def changed_code(
    before: Mapping[str, str],
    after: Mapping[str, str],
    old: Text,
    new: Text,
    reached: Collection[tuple[str, str]] | None = None,
) -> tuple[list[str], list[str]]:
    """Return modules that differ between two jobs (SHA-256 by module), with their definitions.

    ``reached``: existing definitions that count. Modules with changed comments alone are left out.
    The second list has modules that perhaps differ, because a source is lost.
    """
    changed: list[str] = []
    perhaps: list[str] = []
    for module in sorted({*before, *after}):
        if before.get(module) == after.get(module):
            continue
        if module not in before or module not in after:
            changed.append(f"{module} ({'new' if module not in before else 'no longer used'})")
            continue
        old_text, new_text = old(module), new(module)
        if old_text is None or new_text is None:
            perhaps.append(f"{module} (perhaps)")
            continue
        first, second = definitions(old_text), definitions(new_text)
        names = [
            name or "statements run on import"
            for name in {**first, **second}
            if first.get(name) != second.get(name)
            and (not name or reached is None or name not in second or (module, name) in reached)
        ]
        if names:
            changed.append(f"{module} ({', '.join(names)})")
    return changed, perhaps
