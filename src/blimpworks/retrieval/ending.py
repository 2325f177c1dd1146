"""Downloads end with the workflow that they belong to."""

import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import FrameType
from typing import Any

import psutil

COMMANDS = {"retrieve", "retrieve-model"}


def _downloads() -> Iterator[psutil.Process]:
    """Processes below this one that run a command that downloads."""
    for child in psutil.Process().children(recursive=True):
        try:
            words = child.cmdline()
        except psutil.Error:  # it has just ended
            continue
        if "blimpworks" in words and COMMANDS & {*words}:
            yield child


def _ending(before: Any) -> Callable[[int, FrameType | None], None]:
    """A handler that ends downloads, and then does what was done ``before``."""

    def handle(number: int, frame: FrameType | None) -> None:
        """End downloads on a signal."""
        try:
            for process in _downloads():
                with suppress(psutil.Error):  # it has just ended
                    process.terminate()
        finally:
            if callable(before):
                before(number, frame)

    return handle


def end_downloads_on_signals() -> None:
    """Let SIGINT and SIGTERM to this process end the downloads below it.

    Snakemake waits for jobs that run when it is told to end: for minutes, where a host does not
    answer. What was downloaded stays, and the next run goes on from there.
    """
    with suppress(ValueError):  # only the main thread, which Snakemake's caller may not be, can
        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, _ending(signal.getsignal(each)))
