"""The one way in which JSON from outside is read: each key once in an object."""

import json
from typing import Any


def _fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The fields of an object. Raises ValueError for a key that stands twice."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"key {twice!r:.60} stands twice in an object; keep one")
    return fields


def load_json(text: str | bytes) -> Any:
    """What a JSON text holds.

    Raises ValueError for what is no JSON and for a key that stands twice in one object (of which
    Python would take the last), RecursionError for what is nested too deeply.
    """
    return json.loads(text, object_pairs_hook=_fields)
