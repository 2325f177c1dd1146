"""Compute batches of PyTorch engines in threads, each of which runs torch on one CPU thread."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar

import torch

from blimpworks.models.fitting import single_thread

A = TypeVar("A")  # argument of a function
B = TypeVar("B")  # its result


class once(cached_property[A]):
    """A ``cached_property`` that one thread computes, while other threads wait for its value."""

    _computing = RLock()  # one thread may enter it again, since a value may need another value

    if not TYPE_CHECKING:

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            """Compute the value at the first access."""
            with self._computing:
                return super().__get__(instance, owner)


class Workers:
    """Threads that compute one batch each at a time. Their number changes no result."""

    def __init__(self, device: torch.device) -> None:
        """Start as many threads as torch has in the calling thread, which must be the main one."""
        self.count = torch.get_num_threads() if device.type == "cpu" else 1
        self._pool = (
            ThreadPoolExecutor(self.count, initializer=torch.set_num_threads, initargs=(1,))
            if self.count > 1
            else None
        )

    @property
    def parallel_batches(self) -> int:
        """Number of shards to score at a time: one is computed while another is prepared."""
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
