"""Alignment of two sentences' pieces."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any

Token = dict[str, Any]
"""A piece with its log-probability, and whether it is compared (``critical``)."""
Pair = tuple[Token | None, Token | None]
"""A piece of the good and one of the bad sentence; None where a sentence has none."""


def align(good: Sequence[Token], bad: Sequence[Token]) -> Iterator[Pair]:
    """Yield pieces of two sentences in pairs, in order: equal ones, or at the same place."""
    first, second = ([str(token["piece"]) for token in side] for side in (good, bad))
    for _, a, b, c, d in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        yield from zip_longest(good[a:b], bad[c:d])


def shown_piece(token: Token | None) -> str:
    """Return a piece for people: ``·`` is a space, ``∅`` empty, a star marks critical ones."""
    if token is None:
        return ""
    piece = token["piece"].replace(" ", "·").replace("\n", "⏎") or "∅"
    return f"{piece}*" if token["critical"] else piece


def shown_number(token: Token | None) -> str:
    """Return the log-probability of a piece for people, in nats."""
    if token is None:
        return ""
    return "–" if token["logprob"] is None else f"{token['logprob']:.2f}"


def _columns(pairs: Sequence[Pair]) -> list[tuple[str, str, str, str]]:
    """Return piece and number of the good and of the bad sentence, padded to one width."""
    columns = []
    for pair in pairs:
        cells = [f(token) for token in pair for f in (shown_piece, shown_number)]
        width = max(map(len, cells))
        good, good_number, bad, bad_number = (cell.ljust(width) for cell in cells)
        columns.append((good, good_number, bad, bad_number))
    return columns


def aligned_lines(good: Sequence[Token], bad: Sequence[Token], width: int) -> list[str]:
    """Return both sentences' aligned pieces and log-probabilities, in blocks of ``width``."""
    blocks: list[list[str]] = []
    for cells in _columns([*align(good, bad)]):
        if not blocks or len(blocks[-1][0]) + len(cells[0]) > width:
            blocks.append([""] * 4)
        blocks[-1] = [f"{line}{cell}  " for line, cell in zip(blocks[-1], cells, strict=True)]
    signs = ("+", " ", "-", " ")
    rows = [(sign, line) for block in blocks for sign, line in zip(signs, block, strict=True)]
    return [f"{sign} {line}".rstrip() for sign, line in rows]
