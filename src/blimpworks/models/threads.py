"""Run torch on one thread, so that its results repeat, in several workers."""

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
    """A ``cached_property`` for several threads: only one computes it."""

    _computing = RLock()

    if not TYPE_CHECKING:

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            """Compute the value with the first access."""
            with self._computing:
                return super().__get__(instance, owner)


@contextmanager
def single_thread() -> Iterator[None]:
    """Run a block with torch on one CPU thread.

    Sums of floats depend on their split among threads, so the number is fixed. On a busy machine,
    two threads that wait for each other are also many times slower than one.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def device_name(device: torch.device) -> str:
    """Return ``cpu`` or the GPU's model, since models of GPU round differently."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type


class Workers:
    """Threads, as many as torch has, each with passes of its own; they decide no result."""

    def __init__(self, device: torch.device) -> None:
        """Call this in the main thread, which knows torch's number of threads."""
        self.count = torch.get_num_threads() if device.type == "cpu" else 1
        self._pool = (
            ThreadPoolExecutor(self.count, initializer=torch.set_num_threads, initargs=(1,))
            if self.count > 1
            else None
        )

    @property
    def abreast(self) -> int:
        """Number of batches to request at one time: one computes while another is prepared."""
        return min(2, self.count)

    def map(self, function: Callable[[A], B], values: Iterable[A]) -> list[B]:
        """Return ``function`` of each value, in order. Several callers share the threads."""
        if self._pool is None:
            with single_thread():
                return list(map(function, values))
        return list(self._pool.map(function, values))

    def close(self) -> None:
        """Cancel passes that have not begun; their callers get a CancelledError."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
