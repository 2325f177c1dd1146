"""Requests in batches, and what to do when one fails: again, in parts, or not at all.

A request is whatever a model is asked, such as the ids of a sentence or a conversation; its
result whatever it says to that, such as log-probabilities or an answer, and never a string.
"""

from collections.abc import Callable, Sequence
from typing import Generic, Literal, TypeVar, cast

from blimpworks.scoring.engine import Failure

Prompt = list[int]
P = TypeVar("P")
R = TypeVar("R")
Trouble = Literal["out_of_memory", "refused", "lost", "deadly", "stray"]
"""Why a batch has no results. ``lost``: it may well be fine, whoever computed it is gone;
``deadly``: it ended whoever computed it; ``stray``: somebody else answered."""
Outcome = list[R] | Trouble
Attempt = Callable[[list[list[P]]], list[Outcome[R]]]
"""Runs batches: a result for each request of a batch, or the batch's trouble."""


def cut(numbers: Sequence[int], size: int) -> list[list[int]]:
    """Consecutive parts of at most ``size``."""
    return [list(numbers[a : a + size]) for a in range(0, len(numbers), size)]


class _Round(Generic[R]):
    """Results so far, and the batches still to be run."""

    def __init__(self, count: int, size: int) -> None:
        self.results: list[R | Failure | None] = [None] * count
        self.pending = cut(range(count), size)

    def settle(self, batch: list[int], outcome: Outcome[R]) -> None:
        """Keep what came of a batch, or queue it once more, in parts if it was too much."""
        if not isinstance(outcome, str):
            for number, row in zip(batch, outcome, strict=True):
                self.results[number] = row
        elif outcome in {"lost", "stray"}:
            self.pending.append(batch)
        elif outcome == "deadly":  # a new start costs more than many small requests
            self.pending += cut(batch, 1)
        elif len(batch) > 1:
            self.pending += cut(batch, (len(batch) + 1) // 2)
        else:
            self.results[batch[0]] = cast(Failure, outcome)


def run_batches(requests: Sequence[P], size: int, attempt: Attempt[P, R]) -> list[R | Failure]:
    """The result of each request, or why there is none, from batches of ``size``.

    A batch that is refused or too much for the memory is halved until the request that is to
    blame stands alone; of one that is deadly each request is tried alone, where ``attempt``
    says what its trouble is. ``attempt`` raises when there is no point in going on.
    """
    work = _Round[R](len(requests), size)
    while work.pending:
        batches, work.pending = work.pending, []
        outcomes = attempt([[requests[i] for i in batch] for batch in batches])
        for batch, outcome in zip(batches, outcomes, strict=True):
            work.settle(batch, outcome)
    return cast(list[R | Failure], work.results)
