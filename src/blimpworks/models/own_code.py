"""Refuse models with their own code beside them, which libraries would run; it is never run."""

import json
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from blimpworks.errors import UserError, reading

CONFIGURATIONS = (
    "config.json",
    "config.*.json",
    *(f"{part}_config.json" for part in ("tokenizer", "generation", "audio_tokenizer")),
    *(f"{part}_config.json" for part in ("processor", "preprocessor", "video_preprocessor")),
)
"""Files in which transformers looks for classes of a model, tokenizer or processor.

The second pattern is for single versions of transformers. Other files may hold anything.
"""
PROGRAMS = ("*.py", "custom_generate/*.py")
"""Files that transformers would import."""
REMEDY = "Name another directory, or download the model again."


def read_json(path: Path, what: str) -> dict[str, Any]:
    """Read a model's JSON file, called ``what`` in messages. Raises UserError for a bad one."""
    with reading(path, what, REMEDY):
        content = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(content, dict):
            raise ValueError(f"it holds a {type(content).__name__} in place of fields")
    return content


def values_of(content: Any, key: str) -> Iterator[Any]:
    """Yield the values of ``key`` in a configuration, and in nested ones."""
    if isinstance(content, dict):
        yield content.get(key)
        content = [*content.values()]
    if isinstance(content, list):
        yield from chain.from_iterable(values_of(element, key) for element in content)


def refuse_named_code(files: Iterable[Path], where: str | None = None) -> None:
    """Raise UserError, about ``where``, if a configuration names code (``auto_map``)."""
    for path in files:
        if not any(map(path.match, CONFIGURATIONS)):
            continue
        if any(values_of(read_json(path, "a model's configuration"), "auto_map")):
            raise UserError(
                f"{f'{where}: {path.name}' if where else path} names code of its own (auto_map), "
                "which is never run; name a model that transformers has itself, or, if its own "
                "class for it computes the same, a copy without auto_map."
            )


def refuse_own_code(folder: Path) -> None:
    """Raise UserError if a model's directory has or names Python files."""
    program = min(chain.from_iterable(map(folder.glob, PROGRAMS)), default=None)
    if program is not None:
        raise UserError(
            f"{program} is code of its own beside a model, which is never run; expected weights, "
            "configuration and tokenizer. Move it away, or name a model that transformers has "
            "itself."
        )
    refuse_named_code(sorted(folder.glob("*.json")))
