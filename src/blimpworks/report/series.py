"""Group exhibits that recur, such as a table for each language."""

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

LEAST = 4
"""Fewest members of a series."""


def _split(title: str, languages: Iterable[str]) -> tuple[str, str]:
    """Return the series and the member that a title is of; no series for most titles."""
    stem, colon, member = title.partition(": ")
    if colon:
        return stem, member
    for language in languages:
        match = re.fullmatch(rf"(.+ in) ({re.escape(language)}\b.*?)(, part \d+)?", title)
        if match:
            return match[1], match[2]
    return "", title


def series_of(titles: Sequence[tuple[str, str]], languages: Iterable[str]) -> list[dict[str, Any]]:
    """Find series among successive exhibits by title; each has ``title`` and ``members``.

    Series are over ``languages`` ("Accuracy in Italian, part 1") or after a colon ("Templates: …").
    """
    # The longest first: of two names of which one begins as the other, the whole.
    names = sorted(languages, key=len, reverse=True)
    split = [(address, *_split(title, names)) for address, title in titles]
    series = []
    for stem, group in groupby(split, key=lambda each: each[1]):
        members: dict[str, list[str]] = {}
        for address, _, member in group:
            members.setdefault(member, []).append(address)
        if stem and len(members) >= LEAST:
            series.append({"title": stem, "members": [*members.items()]})
    return series
