"""Run the campaign of an evaluation with Snakemake, show its progress, and explain a failure.

``session.Evaluation.run`` locks the evaluation's folder (``folder_lock``), and calls
``run_snakemake``. This starts Snakemake as another process. ``Output`` reads progress and failures
from printed lines, such as ``3 of 12 steps (25%) done``. ``Interrupts`` passes Ctrl-C on.
"""

import fcntl
import logging
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import Self

from rich.console import Console

from blimpworks.cluster.status import Status
from blimpworks.cluster.text import duration
from blimpworks.errors import UserError
from blimpworks.evaluation.request import as_setting
from blimpworks.records.job import REPOSITORY

TARGET = "report_card"
END_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that Ctrl-C, kill, and closing the terminal send."""
STEPS = re.compile(r"(\d+) of (\d+) steps \(\d+%\) done")
PLANNED = re.compile(r"^total +(\d+)$", re.MULTILINE)
"""Lines of Snakemake with the number of steps: ``3 of 12 steps (25%) done``, ``total   12``."""
TERMINAL_SECONDS, FILE_SECONDS = 1.0, 10.0
"""Seconds between two updates of the progress, on a terminal and in a file or pipe."""
MOST_FAILURE_LINES = 30


@contextmanager
def folder_lock(folder: Path) -> Iterator[int]:
    """Create and lock an evaluation's folder, and yield the file descriptor of the lock.

    The operating system releases the lock when all processes with the descriptor have ended.
    Snakemake's own lock is not used: after a power cut it stays, and would refuse the same command.
    Raises UserError when another process holds the lock.
    """
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise UserError(
            f"another process is running the evaluation in {folder}; wait until it is done or "
            "stop it, or name another directory."
        ) from None
    except OSError:
        pass  # Some network file systems cannot lock directories; then there is no lock.
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def snakemake_command(
    campaign: Path, target: str = TARGET, *, cores: int = 1, profile: str | None, dry_run: bool
) -> list[str]:
    """Return the command line that builds a target of a campaign file, in a locked folder."""
    # A profile sets the number of parallel jobs. Without one, a scoring job ("score") uses all
    # cores, so that the first numbers come early, and no two models share the memory. Jobs that
    # answer prompts keep one thread: another would take 0.56 GB, which no estimate includes.
    local_jobs = ["--cores", str(cores), "--set-threads", f"score={cores}"]
    jobs = ["--profile", profile] if profile else local_jobs
    snakemake = [sys.executable, "-m", "snakemake", "--configfile", as_setting(campaign)]
    options = ["--dry-run", "--nolock"] if dry_run else ["--nolock"]
    return [*snakemake, *options, *jobs, "--", target]


@dataclass
class Output:
    """Lines that Snakemake has printed so far, from which progress and failures are read."""

    lines: list[str] = field(default_factory=list)
    steps: tuple[int, int] = (0, 0)
    """Number of finished steps, and of all steps."""
    start_time: float = field(default_factory=monotonic)
    has_first_scores: bool = False
    """Whether the console has shown when the first sentences were scored."""

    def store(self, line: str) -> None:
        """Store a line, and the number of steps if the line has it."""
        self.lines.append(line.rstrip("\n"))
        if match := STEPS.search(line):
            self.steps = (int(match[1]), int(match[2]))
        elif match := PLANNED.match(line):
            self.steps = (0, int(match[1]))

    def read(self, stream: Iterable[str], log: Path) -> None:
        """Store the lines of a stream, and copy them to a log if the log can be written."""
        try:
            log.parent.mkdir(parents=True, exist_ok=True)
            with log.open("w", encoding="utf-8") as handle:
                for line in stream:
                    self.store(line)
                    handle.write(line)
                    handle.flush()
        except OSError as error:
            logging.getLogger(__name__).warning("%s cannot be written: %s", log, error)
            # Read on, because Snakemake would wait once its output buffer is full.
            for line in stream:
                self.store(line)

    def failure(self) -> str:
        """Return the lines from the workflow's summary on, or the first error on, or the last."""
        summaries = [i for i, line in enumerate(self.lines) if line.startswith("What failed:")]
        errors = [i for i, line in enumerate(self.lines) if "Error" in line]
        start = max(0, len(self.lines) - MOST_FAILURE_LINES)
        if summaries:
            start = summaries[-1]
        elif errors:
            start = errors[0]
        return "\n".join(self.lines[start : start + MOST_FAILURE_LINES])

    def progress(self, get_status: Callable[[], Status], console: Console) -> str:
        """Return a line: ``2 min · 3 of 12 steps · gpt2: 40 of 90 sentences, 1 min left``.

        ``get_status`` reads how many sentences are scored; a line is printed at the first of them.
        """
        seconds = monotonic() - self.start_time
        done, total = self.steps
        texts = [duration(seconds), f"{done} of {total} steps" if total else "planning"]
        try:
            models = get_status().models
        except (UserError, OSError):  # a file is incomplete while it is written
            return " · ".join(texts)
        if not self.has_first_scores and any(model.done for model in models):
            self.has_first_scores = True
            console.print(f"First sentences scored after {seconds:.0f} s.")
        paces = []
        for model in models:
            if 0 < model.done < model.sentences:
                time = f", {duration(model.seconds_left)} left" if model.seconds_left else ""
                count = f"{model.done:,} of {model.sentences:,} sentences"
                paces.append(f"{model.model}: {count}{time}")
        return " · ".join([*texts, "; ".join(paces)] if paces else texts)

    def follow(
        self, process: subprocess.Popen[str], get_status: Callable[[], Status], console: Console
    ) -> None:
        """Show progress until the process ends: in one changing line on a terminal, else lines."""
        on_terminal, printed_progress = console.is_terminal, ""
        changing_line = console.status("starting") if on_terminal else nullcontext()
        with changing_line as line:
            while True:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=TERMINAL_SECONDS if on_terminal else FILE_SECONDS)
                    return
                text = self.progress(get_status, console)
                _time, _, progress = text.partition(" · ")
                if line:
                    line.update(text)
                elif progress != printed_progress:  # more than the time has changed
                    console.print(text, soft_wrap=True)
                    printed_progress = progress


class Interrupts:
    """Context that forwards Ctrl-C and similar signals to Snakemake, and waits until it ends."""

    process: subprocess.Popen[str] | None = None
    caught = False

    def __enter__(self) -> Self:
        handlers = {number: signal.getsignal(number) for number in END_SIGNALS}
        # Ignored signals stay ignored, as under nohup.
        self.earlier_handlers = {n: h for n, h in handlers.items() if h != signal.SIG_IGN}
        for number in self.earlier_handlers:
            signal.signal(number, self.interrupt)
        # A shell starts background jobs with SIGINT ignored. Snakemake would inherit that, and
        # ``interrupt`` could not stop it. A handler is not inherited, even one that does nothing.
        if handlers[signal.SIGINT] == signal.SIG_IGN:
            self.earlier_handlers[signal.SIGINT] = signal.signal(signal.SIGINT, lambda *_: None)
        return self

    def interrupt(self, *_: object) -> None:
        """Interrupt Snakemake and its jobs as Ctrl-C does, so that they end cleanly."""
        self.caught = True
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGINT)

    def __exit__(self, *_: object) -> None:
        if self.process is not None and self.process.poll() is None:
            self.interrupt()
            self.process.wait()
        for number, handler in self.earlier_handlers.items():
            signal.signal(number, handler)


def run_snakemake(
    command: Sequence[str], log: Path, get_status: Callable[[], Status], console: Console, lock: int
) -> float:
    """Run Snakemake with progress on the console, and return the seconds that it took.

    ``get_status`` is as in ``Output.progress``. ``lock`` is the descriptor from ``folder_lock``,
    which Snakemake keeps open. Raises UserError when Snakemake fails or is interrupted.
    """
    output = Output()
    with Interrupts() as interrupts:
        # In another process group, Snakemake does not get Ctrl-C from the terminal as well.
        process = subprocess.Popen(
            command, cwd=REPOSITORY, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, errors="replace",
            env=os.environ | {"PYTHONUNBUFFERED": "1"}, pass_fds=[lock], process_group=0,
        )  # fmt: skip
        interrupts.process = process
        if interrupts.caught:  # before ``interrupts`` had the process
            interrupts.interrupt()
        reader = Thread(target=output.read, args=(process.stderr, log), daemon=True)
        reader.start()
        output.follow(process, get_status, console)
    reader.join()
    if process.returncode:
        remedy = "finished work is kept, and the same command goes on from there."
        if interrupts.caught:
            raise UserError(f"the evaluation was interrupted; {remedy}")
        raise UserError(
            f"the evaluation did not finish; {remedy} Snakemake's messages are in "
            f"{as_setting(log)}:\n{output.failure()}"
        )
    return monotonic() - output.start_time


def run_quietly(command: Sequence[str]) -> str:
    """Run Snakemake without progress, and return its output. Raises UserError when it fails."""
    done = subprocess.run(
        command, cwd=REPOSITORY, capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode:
        failure = Output(done.stderr.splitlines()).failure()
        raise UserError(f"Snakemake did not succeed:\n{failure}")
    return done.stderr + done.stdout
