"""Compute batches in threads, each with one thread of torch."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar

import torch

from blimpworks.models.fitting import single_thread

A = TypeVar("A")
B = TypeVar("B")


class once(cached_property[A]):
    """A ``cached_property`` that is computed by one thread only; others wait for its value."""

    _computing = RLock()

    if not TYPE_CHECKING:

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            """Compute the value at the first access."""
            with self._computing:
                return super().__get__(instance, owner)


class Workers:
    """Threads that compute one batch each at a time. Their number changes no result."""

    def __init__(self, device: torch.device) -> None:
        """Start the threads; call this in the main thread, which has torch's number of threads."""
        self.count = torch.get_num_threads() if device.type == "cpu" else 1
        self._pool = (
            ThreadPoolExecutor(self.count, initializer=torch.set_num_threads, initargs=(1,))
            if self.count > 1
            else None
        )

    @property
    def parallel_batches(self) -> int:
        """Number of batches to compute at a time: one is computed while another is prepared."""
        return min(2, self.count)

    def map(self, function: Callable[[A], B], values: Iterable[A]) -> list[B]:
        """Return ``function`` of each value, in order. Several callers may share the threads."""
        if self._pool is None:
            with single_thread():
                return list(map(function, values))
        return list(self._pool.map(function, values))

    def close(self) -> None:
        """Cancel calls that have not begun; their callers get a CancelledError."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
