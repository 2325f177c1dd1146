"""Statuses of printed numbers and verdicts on measured ones, with signs, and bars of them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from blimpworks.reproduction.measured import AGREES, NOT_COMPARABLE, NOT_RUN
from blimpworks.reproduction.measured import DEVIATES as DIFFERS
from blimpworks.reproduction.published import (
    COMPLEMENT,
    DEVIATES,
    ERRATUM,
    EXACT,
    GARBLED,
    NOT_RECOMPUTABLE,
    ROUNDING,
)


@dataclass(frozen=True, slots=True)
class State:
    """A status or verdict: its sign, its short name in CSS, and its meaning."""

    name: str
    sign: str
    css: str
    meaning: str


STATUSES = (
    State(
        EXACT,
        "✓",
        "exact",
        "computed from other printed numbers, it rounds to this or keeps the bound; "
        "a text: as released",
    ),
    State(ROUNDING, "≈", "rounding", "it differs by no more than rounding explains"),
    State(COMPLEMENT, "¬", "complement", "1 less another printed number, so no evidence"),
    State(ERRATUM, "!", "erratum", "the paper contradicts itself or its data; the note says how"),
    State(GARBLED, "~", "garbled", "our copy of the paper's text cannot be read here"),
    State(NOT_RECOMPUTABLE, "·", "absent", "no other printed number determines it"),
    State(DEVIATES, "≠", "deviates", "it differs, and nothing explains why"),
)
VERDICTS = (
    State(
        AGREES,
        "✓",
        "exact",
        "the printed number lies in the 95 % interval of the measured one; a text: the same",
    ),
    State(DIFFERS, "≠", "deviates", "it lies outside, though both are about the same"),
    State(
        NOT_COMPARABLE,
        "∥",
        "other",
        "the measured one is of another model, language or items; the panel says which",
    ),
    State(NOT_RUN, "·", "absent", "this campaign has no such number"),
)


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a bar: a state, its count, and its share in percent."""

    state: State
    count: int
    share: float


def bar(counts: Counter[str], states: Sequence[State]) -> list[Part]:
    """Return the parts of a stacked bar, in the order of ``states``, without empty ones."""
    total = sum(counts[state.name] for state in states)
    return [
        Part(state, counts[state.name], 100 * counts[state.name] / total)
        for state in states
        if counts[state.name]
    ]
