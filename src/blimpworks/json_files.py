"""Read JSON from outside, with each key once in an object."""

import json
from typing import Any


def _fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"key {twice!r:.60} stands twice in an object; keep one")
    return fields


def load_json(text: str | bytes) -> Any:
    """Read a JSON text.

    Raises ValueError for malformed JSON and for a key that stands twice in an object (Python would
    take the last), RecursionError for too deep nesting.
    """
    return json.loads(text, object_pairs_hook=_fields)
