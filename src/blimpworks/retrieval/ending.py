"""Downloads end with the workflow that they belong to."""

import signal
from contextlib import suppress
from types import FrameType

import psutil

COMMANDS = {"retrieve", "retrieve-model"}


def end_downloads_on_signals() -> None:
    """Let SIGINT and SIGTERM to this process end the downloads below it.

    Snakemake waits for jobs that run when it is told to end: for minutes, where a host does not
    answer. What was downloaded stays, and the next run goes on from there.
    """
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def handle(number: int, frame: FrameType | None) -> None:
        """End downloads, then do what the signal did before."""
        try:
            for process in psutil.Process().children(recursive=True):
                with suppress(psutil.Error):  # it has just ended
                    command = process.cmdline()
                    if "blimpworks" in command and COMMANDS & {*command}:
                        process.terminate()
        finally:
            following = before[signal.Signals(number)]
            if callable(following):
                following(number, frame)

    with suppress(ValueError):  # only the main thread, which Snakemake's caller may not be, can
        for number in before:
            signal.signal(number, handle)
