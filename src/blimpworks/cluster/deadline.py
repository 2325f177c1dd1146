"""The end of an allocation, and stopping before it where nothing is lost."""

import os
import time
from collections import deque
from collections.abc import Collection, Hashable, Mapping, Sequence

import pyarrow as pa

from blimpworks.errors import OutOfTime, UserError
from blimpworks.scoring.watch import Watch

DEADLINE = "BLIMPWORKS_DEADLINE"
"""Environment variable that holds when the allocation ends, in seconds since 1970."""
RESERVE = 30.0
"""Seconds to end an engine, and to tell what became of the job."""
CAUTION = 1.5
"""How much longer than the slowest shard so far another may take."""


class Deadline(Watch):
    """Ends a run before the first shard that might not be written in time."""

    def __init__(self, moment: float) -> None:
        """The allocation ends at ``moment``, in seconds since 1970."""
        self._moment = moment
        self._shards: list[float] = []
        self._begun = deque[float]()
        """When each shard began that is not written yet."""
        self._total = self._left = 0

    def begin(
        self, sentences: Mapping[str, Collection[Hashable]], missing: Collection[Hashable]
    ) -> None:
        """Learn how many sentences there are."""
        self._total, self._left = len(set().union(*sentences.values())), len(missing)

    def before(self) -> None:
        """Let a shard begin. Raises OutOfTime where it would not fit any more."""
        # The first shard has the loading of the model in it.
        slowest = max(self._shards[1:] or self._shards or [0.0])
        left = self._moment - time.time()
        if left < slowest * CAUTION + RESERVE:
            raise OutOfTime(
                f"{self._total - self._left} of {self._total} sentences have scores; the "
                f"allocation ends in {max(left, 0):.0f} s, and a shard takes up to "
                f"{slowest:.0f} s. Stopped between shards; the same job goes on from there."
            )
        self._begun.append(time.monotonic())

    def wrote(self, part: Sequence[Hashable], scores: pa.Table) -> None:
        """Take the time of a shard."""
        self._shards.append(time.monotonic() - self._begun.popleft())
        self._left -= len(part)


def deadline_of(environment: Mapping[str, str] = os.environ) -> Watch:
    """The deadline that the environment sets; a watch that ends nothing where it sets none.

    Raises UserError when what it sets is no moment.
    """
    text = environment.get(DEADLINE)
    if not text:
        return Watch()
    try:
        return Deadline(float(text))
    except ValueError as error:
        raise UserError(
            f"{DEADLINE} is {text!r}; expected when the allocation ends, in seconds since 1970."
        ) from error
