"""Torch on one thread, so that its results repeat."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


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
