"""Collect what a model has to score, without repeats, and put it in order."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from itertools import pairwise
from os.path import commonprefix
from pathlib import Path
from typing import NamedTuple

import numpy as np

from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.errors import UserError
from blimpworks.scoring.engine import Encoded, Engine
from blimpworks.scoring.words import joined, joint, token_starts
from blimpworks.tables import ITEMS, read_table

PAYS = 0.4
"""Share of characters in common with the sentence before above which sharing pays."""


class Request(NamedTuple):
    """A sentence to score: whole, or only the tokens of one stretch."""

    text: str
    start: int = -1
    """First character of the stretch; negative for the whole sentence."""
    end: int = -1
    """The character after the stretch."""

    def restrict(self, encoded: Encoded) -> Encoded:
        """Mark the stretch's tokens as those to score."""
        if self.start < 0:
            return encoded
        space = joint(self.text, self.start)
        starts = token_starts(encoded.ends)
        scored = joined(starts, encoded.ends, space, self.start, self.end)
        return replace(encoded, to_score=scored)


def requests_of(items: Iterable[Path], *, regions: bool = False) -> set[Request]:
    """Return the distinct sentences, or regions, of items. Raises UserError where one lacks."""
    requests: set[Request] = set()
    for path in items:
        for side in ("good", "bad"):
            columns = [side, f"{side}_start", f"{side}_end"] if regions else [side]
            table = read_table(ITEMS, path, columns)
            for name in columns:
                if table[name].null_count:
                    raise UserError(
                        f"{path}: column {name!r} has {table[name].null_count} empty cells; "
                        "expected a value in each. Rebuild the items."
                    )
            rows = zip(*(table[name].to_pylist() for name in columns), strict=True)
            requests.update(Request(*row) for row in rows)
    return requests


def shared_characters(texts: Iterable[str]) -> float:
    """Return the share of characters that each sorted text shares with the one before."""
    ordered = sorted(texts)
    total = sum(map(len, ordered))
    # Characters are meant, not parts of paths.
    shared = sum(len(commonprefix(pair)) for pair in pairwise(ordered))  # noqa: RUF071
    return shared / total if total else 0.0


def by_prefix(requests: Collection[Request], engine: Engine, options: ScoringOptions) -> bool:
    """Whether to score in order of texts, so that those with the same beginning share a shard."""
    if not engine.shares_prefixes or options.sharing == "never":
        return False
    if options.sharing == "always":
        return True
    return shared_characters({request.text for request in requests}) >= PAYS


def in_order(requests: Collection[Request], *, prefixes: bool) -> list[Request]:
    """Sort ``requests`` by text, or by length and text, so that batches need little padding."""
    if prefixes:
        return sorted(requests)
    return sorted(requests, key=lambda request: (len(request.text), request))


def nothing_scored(count: int) -> np.ndarray:
    """Return log-probabilities of an unscored text: NaN, float32 [count]."""
    return np.full(count, np.nan, dtype=np.float32)
