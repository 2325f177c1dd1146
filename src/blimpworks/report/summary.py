"""Counts and bars for the front page: what is reproduced, what deviates, what is missing."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from blimpworks.report.sections import Section
from blimpworks.reproduction.measured import AGREES, NOT_RUN
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
    """A status or verdict: its sign, its short name in CSS, and what it means."""

    name: str
    sign: str
    css: str
    meaning: str


STATUSES = (
    State(
        EXACT,
        "✓",
        "exact",
        "what others make of it rounds to it, or keeps the bound; a text: as released",
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
        "the printed number lies in the 95 % interval of ours; a text: the same",
    ),
    State(DIFFERS, "≠", "deviates", "it lies outside"),
    State(NOT_RUN, "·", "absent", "this campaign has no such number"),
)


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a bar: a state, how many numbers have it, and their share in percent."""

    state: State
    count: int
    share: float


def bar(counts: Counter[str], states: Sequence[State]) -> list[Part]:
    """The parts of a stacked bar, in the order of ``states``, without empty ones."""
    total = sum(counts[state.name] for state in states)
    return [
        Part(state, counts[state.name], 100 * counts[state.name] / total)
        for state in states
        if counts[state.name]
    ]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the front page's table: a paper, or one of its exhibits."""

    title: str
    address: str
    numbers: int
    against_print: list[Part]
    against_ours: list[Part]


def _line(title: str, address: str, statuses: Counter[str], verdicts: Counter[str]) -> Line:
    parts = bar(statuses, STATUSES), bar(verdicts, VERDICTS)
    return Line(title, address, statuses.total(), *parts)


def total(counts: Iterable[Counter[str]]) -> Counter[str]:
    """The sum of some counts."""
    return sum(counts, Counter[str]())


def paper_line(title: str, address: str, sections: Sequence[Section]) -> Line:
    """A paper's line: all its exhibits together."""
    statuses = total(section.statuses for section in sections)
    return _line(title, address, statuses, total(section.verdicts for section in sections))


def exhibit_line(section: Section) -> Line:
    """An exhibit's line."""
    address = f"{section.paper}.html#{section.anchor}"
    return _line(section.heading, address, section.statuses, section.verdicts)
