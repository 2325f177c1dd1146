"""Exhibits that are one thing over and over, such as a table for each language."""

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

LEAST = 4
"""Fewer members make no series; they all stand on the page."""


def _split(title: str, languages: Iterable[str]) -> tuple[str, str]:
    """What a series is called and the member that a title is of; no name where it is of none."""
    stem, colon, member = title.partition(": ")
    if colon:
        return stem, member
    for language in languages:
        match = re.fullmatch(rf"(.+ in) ({re.escape(language)}\b.*?)(, part \d+)?", title)
        if match:
            return match[1], match[2]
    return "", title


def series_of(titles: Sequence[tuple[str, str]], languages: Iterable[str]) -> list[dict[str, Any]]:
    """Series among exhibits that follow one another, from their addresses and titles.

    Each has its ``title`` and ``members``: name, and the addresses of its exhibits. Titles such as
    "Accuracy in Italian, part 1" make one with a member for each of the ``languages``, "Templates:
    more letters" one with a member for each of what comes after the colon.
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
