"""Reading settings: YAML files and JSON options as typed models, one sentence per mistake."""

import difflib
import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from blimpworks.errors import UserError
from blimpworks.strict import Strict

Options = TypeVar("Options", bound=BaseModel)
TAGS = ("union_tag_invalid", "union_tag_not_found")
"""Errors of a discriminator key."""
LONGEST = 100
"""Most characters of a value in a message; a longer one is shown as its type."""


def _key(error: ErrorDetails, settings: Any) -> str:
    """Return the key of an error, without pydantic's names of alternatives."""
    key_parts: list[str] = []
    for location in error["loc"]:
        in_list = (
            isinstance(settings, list) and isinstance(location, int) and location < len(settings)
        )
        if in_list or (isinstance(settings, dict) and location in settings):
            settings = settings[location]
            key_parts.append(str(location))
    if error["type"] == "missing":
        key_parts.append(str(error["loc"][-1]))
    if error["type"] in TAGS:
        key_parts.append(error["ctx"]["discriminator"].strip("'"))
    return ".".join(key_parts)


def _expected(error: ErrorDetails) -> str:
    if error["type"] in TAGS:
        return f"expected one of {error['ctx'].get('expected_tags', 'its values, see the schema')}"
    if error["type"] == "model_type":
        return "expected keys with values"
    text = error["msg"][:1].lower() + error["msg"][1:]
    return text.replace("value error, ", "").replace("valid tuple", "list")


def _unknown(key: str, own: Collection[str]) -> str:
    """Return the complaint on an unknown key, with a hint; top-level keys (``own``) come first."""
    *above, last = key.split(".")
    all_keys = [key for model in Strict.__subclasses__() for key in model.model_fields]
    near = difflib.get_close_matches(last, () if above else own, n=1)
    close = [k for k in (*near, *difflib.get_close_matches(last, all_keys, n=3)) if k not in above]
    hint = f"did you mean {close[0]!r}?" if close else "remove it or see workflow/schemas."
    if last in all_keys:
        hint = "it is one of another section: move it there, see workflow/schemas."
    return f"key {key!r} is not a setting; {hint}"


def _shown(key: str, value: Any) -> str:
    """Return key and value for a message, without long values."""
    text = repr(value)
    if not key:
        return f"the whole is {text}: " if len(text) <= LONGEST else ""
    return f"key {key!r} is {text if len(text) <= LONGEST else f'a {type(value).__name__}'}: "


def complaints(
    errors: Sequence[ErrorDetails], settings: Any, source: str, own: Collection[str] = ()
) -> str:
    """Return one sentence per wrong key: place, value, expectation.

    ``own`` are the possible top-level keys.
    """
    by_key: dict[str, list[ErrorDetails]] = {}
    for error in errors:
        by_key.setdefault(_key(error, settings), []).append(error)
    lines = []
    # A whole that is wrong because of a part of it has an error too.
    innermost_keys = [
        key for key in by_key if not any(longer_key.startswith(f"{key}.") for longer_key in by_key)
    ]
    for key, alike in ((key, by_key[key]) for key in innermost_keys):
        first, expected = alike[0], ", or ".join(dict.fromkeys(map(_expected, alike)))
        if first["type"] == "extra_forbidden":
            lines.append(f"{source}: {_unknown(key, own)}")
        elif first["type"] == "union_tag_not_found":
            lines.append(f"{source}: key {key!r} is missing; add it, see workflow/schemas.")
        elif first["type"] == "union_tag_invalid":
            tag = first["ctx"]["tag"]
            lines.append(f"{source}: key {key!r} is {tag!r}: {expected}.")
        elif first["type"] == "missing":
            lines.append(f"{source}: key {key!r} is missing; add it.")
        else:
            lines.append(f"{source}: {_shown(key, first['input'])}{expected}.")
    return "\n".join(lines)


def read_settings(path: Path, what: str) -> dict[str, Any]:
    """Read the mapping in a YAML file (``what``, for messages). Raises UserError without one."""
    from blimpworks.yaml_files import read_yaml  # options of commands are JSON mostly

    settings = read_yaml(path, f"a {what}")
    if not isinstance(settings, dict):
        raise UserError(f"{path} holds no mapping; expected a {what}.")
    return settings


def validated(kind: type[Options], settings: Any, source: str, context: object = None) -> Options:
    """Validate ``settings`` as ``kind``, whose validators may read a ``context``.

    Raises UserError with one line per problem: ``source``, key, value, expectation.
    """
    try:
        return kind.model_validate(settings, context=context)
    except ValidationError as error:
        fields = kind.model_fields
        raise UserError(complaints(error.errors(), settings, source, fields)) from error


def parse_yaml(kind: type[Options], path: Path, what: str, context: object = None) -> Options:
    """Read a YAML file and validate it. Raises UserError as ``validated``."""
    return validated(kind, read_settings(path, what), str(path), context)


def parse_options(kind: type[Options], text: str) -> Options:
    """Parse a command's JSON options. Raises UserError as ``validated``."""
    try:
        settings = json.loads(text)
    except ValueError as error:
        raise UserError(f"{kind.__name__}: {text!r} is not JSON ({error}); correct it.") from error
    return validated(kind, settings, kind.__name__)
