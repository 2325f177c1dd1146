"""Torch on one thread, so that its results repeat, and several of these side by side."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar

import torch

A = TypeVar("A")
B = TypeVar("B")


class once(cached_property[A]):
    """A ``cached_property`` that several threads may ask for at a time: one computes it."""

    _computing = RLock()

    if not TYPE_CHECKING:

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            """The value, computed by the first that asks."""
            with self._computing:
                return super().__get__(instance, owner)


@contextmanager
def single_thread() -> Iterator[None]:
    """Let torch compute on one CPU thread, then on as many as before.

    Sums of floats depend on how they are split among threads, so their number is fixed; and
    two threads that wait for each other on a busy machine are many times slower than one.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


class Workers:
    """As many threads as torch has for one operation, each of which computes passes of its own.

    The results of a pass do not depend on how many there are, unlike those of torch's own
    threads. On a GPU, and where torch has one thread, passes are computed by the caller.
    """

    def __init__(self, device: torch.device) -> None:
        """To be made in the main thread, which knows how many threads torch was given."""
        self.count = torch.get_num_threads() if device.type == "cpu" else 1
        self._pool = (
            ThreadPoolExecutor(self.count, initializer=torch.set_num_threads, initargs=(1,))
            if self.count > 1
            else None
        )

    @property
    def abreast(self) -> int:
        """How many batches an engine may be asked for at a time that computes with these.

        Of two, one keeps them busy while the other is prepared or written.
        """
        return min(2, self.count)

    def map(self, function: Callable[[A], B], values: Iterable[A]) -> list[B]:
        """``function`` of each value, in their order. Several callers share the threads."""
        if self._pool is None:
            with single_thread():
                return list(map(function, values))
        return list(self._pool.map(function, values))

    def close(self) -> None:
        """Leave out passes that have not begun; whoever waits for them gets a CancelledError."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
