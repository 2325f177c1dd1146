"""Sentences in batches, and what to do when one fails: again, in parts, or not at all."""

from collections.abc import Callable, Sequence
from typing import Literal, cast

from blimpworks.scoring.engine import Failure, LogProbs

Prompt = list[int]
Trouble = Literal["out_of_memory", "refused", "lost", "deadly", "stray"]
"""Why a batch has no scores. ``lost``: it may well be fine, whoever computed it is gone;
``deadly``: it ended whoever computed it; ``stray``: somebody else answered."""
Outcome = list[LogProbs] | Trouble
Attempt = Callable[[list[list[Prompt]]], list[Outcome]]
"""Scores batches: log-probabilities of each prompt's ids after the first, or the trouble."""


def cut(numbers: Sequence[int], size: int) -> list[list[int]]:
    """Consecutive parts of at most ``size``."""
    return [list(numbers[a : a + size]) for a in range(0, len(numbers), size)]


class _Round:
    """Results so far, and the batches still to be scored."""

    def __init__(self, count: int, size: int) -> None:
        self.found: list[LogProbs | Failure | None] = [None] * count
        self.pending = cut(range(count), size)

    def settle(self, batch: list[int], outcome: Outcome) -> None:
        """Keep what came of a batch, or queue it once more, in parts if it was too much."""
        if not isinstance(outcome, str):
            for number, row in zip(batch, outcome, strict=True):
                self.found[number] = row
        elif outcome in {"lost", "stray"}:
            self.pending.append(batch)
        elif outcome == "deadly":  # a new start costs more than many small requests
            self.pending += cut(batch, 1)
        elif len(batch) > 1:
            self.pending += cut(batch, (len(batch) + 1) // 2)
        else:
            self.found[batch[0]] = cast(Failure, outcome)


def score_batches(prompts: list[Prompt], size: int, attempt: Attempt) -> list[LogProbs | Failure]:
    """Log-probabilities of each prompt, or why there are none, from batches of ``size``.

    A batch that is refused or too much for the memory is halved until the prompt that is to
    blame stands alone; of one that is deadly each prompt is tried alone, where ``attempt``
    says what its trouble is. ``attempt`` raises when there is no point in going on.
    """
    work = _Round(len(prompts), size)
    while work.pending:
        batches, work.pending = work.pending, []
        outcomes = attempt([[prompts[i] for i in batch] for batch in batches])
        for batch, outcome in zip(batches, outcomes, strict=True):
            work.settle(batch, outcome)
    return cast(list[LogProbs | Failure], work.found)
