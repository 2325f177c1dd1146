"""Versions of code that give the same numbers, so that what one has scored the other need not."""

from blimpworks.records.digest import code_digest

EQUAL: dict[str, str] = {}
"""Digest of an engine's code that gives the same numbers as an earlier one, and the digest of that.

A row is added after a comparison (docs/scoring.md, "What stays valid"). Other code, such as an
edited engine's, has no row, and scores under its own digest.
"""


def number_digest(*entries: str) -> str:
    """Digest of the code behind entry points (``module:name``), or of an earlier equal version."""
    digest = code_digest(*entries)
    return EQUAL.get(digest, digest)
