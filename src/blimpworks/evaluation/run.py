"""Run an evaluation's campaign with Snakemake, and show its progress."""

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
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals of Ctrl-C, kill, and closing the terminal."""
STEPS = re.compile(r"(\d+) of (\d+) steps \(\d+%\) done")
OFTEN, RARELY = 1.0, 10.0
"""Seconds between two looks at the progress, on a terminal and elsewhere."""
MOST = 30
"""Lines of a failure that are shown."""
PLANNED = re.compile(r"^total +(\d+)$", re.MULTILINE)


@contextmanager
def claimed(folder: Path) -> Iterator[int]:
    """Lock an evaluation's folder, made if missing; yield the lock's file descriptor.

    The lock ends with its last process, unlike Snakemake's own, so the same command can go on after
    a power cut. Raises UserError when another process runs the evaluation.
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
        pass  # Some disks of networks lock no directories: there nothing keeps others out.
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def snakemake_command(
    campaign_file: Path, targets: Sequence[str], *, cores: int = 1, profile: str | None = None
) -> list[str]:
    """Return the command for targets of a campaign; the caller has ``claimed`` its folder."""
    # A profile says itself how many jobs run at a time. Here one model has all cores: so the first
    # numbers are there soonest, and no two models share the memory.
    local_arguments = ["--cores", str(cores), "--set-threads", f"score={cores}"]
    jobs = ["--profile", profile] if profile else local_arguments
    snakemake = [sys.executable, "-m", "snakemake", "--configfile", as_setting(campaign_file)]
    return [*snakemake, "--nolock", *jobs, "--", *targets]


@dataclass
class Output:
    """Snakemake's output so far, shown as progress on a line of a terminal, or in a log."""

    lines: list[str] = field(default_factory=list)
    steps: tuple[int, int] = (0, 0)
    """Done, and all."""
    started: float = field(default_factory=monotonic)
    has_first: bool = False
    """The first scores have been reported."""

    def take(self, line: str) -> None:
        """Keep a line, and its number of steps if it has one."""
        self.lines.append(line.rstrip("\n"))
        if match := STEPS.search(line):
            self.steps = (int(match[1]), int(match[2]))
        elif match := PLANNED.match(line):
            self.steps = (0, int(match[1]))

    def read(self, stream: Iterable[str], log: Path) -> None:
        """Take in a stream, and copy it to a log as long as the log can be written."""
        try:
            log.parent.mkdir(parents=True, exist_ok=True)
            with log.open("w", encoding="utf-8") as handle:
                for line in stream:
                    self.take(line)
                    handle.write(line)
                    handle.flush()
        except OSError as error:
            logging.getLogger(__name__).warning("%s cannot be written: %s", log, error)
            # Or else Snakemake would wait for a reader.
            for line in stream:
                self.take(line)

    def failure(self) -> str:
        """Return the reason of a failure: the workflow's own summary, else the last lines."""
        summaries = [i for i, line in enumerate(self.lines) if line.startswith("What failed:")]
        errors = [i for i, line in enumerate(self.lines) if "Error" in line]
        start = (summaries[-1:] or errors[:1] or [max(0, len(self.lines) - MOST)])[0]
        return "\n".join(self.lines[start : start + MOST])

    def progress(self, look: Callable[[], Status], console: Console) -> str:
        """Return a line with time, steps, and each model's progress and remaining time."""
        seconds = monotonic() - self.started
        done, total = self.steps
        texts = [duration(seconds), f"{done} of {total} steps" if total else "planning"]
        try:
            models = look().models
        except (UserError, OSError):  # a file is just being written
            return " · ".join(texts)
        if not self.has_first and any(model.done for model in models):
            self.has_first = True
            console.print(f"First sentences scored after {seconds:.0f} s.")
        paces = []
        for model in models:
            if 0 < model.done < model.sentences:
                time = f", {duration(model.seconds_left)} left" if model.seconds_left else ""
                count = f"{model.done:,} of {model.sentences:,} sentences"
                paces.append(f"{model.model}: {count}{time}")
        return " · ".join([*texts, "; ".join(paces)] if paces else texts)

    def follow(
        self, process: subprocess.Popen[str], look: Callable[[], Status], console: Console
    ) -> None:
        """Show the progress until the process ends."""
        on_terminal, progress = console.is_terminal, ""
        with console.status("starting") if on_terminal else nullcontext() as line:
            while True:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=OFTEN if on_terminal else RARELY)
                    return
                text = self.progress(look, console)
                if line:
                    line.update(text)
                elif progress != text.partition(" · ")[2]:
                    console.print(text, soft_wrap=True)
                    progress = text.partition(" · ")[2]


class Interrupts:
    """Forwards signals that end programs to Snakemake; after the block it has ended."""

    process: subprocess.Popen[str] | None = None
    caught = False

    def __enter__(self) -> Self:
        handlers = {number: signal.getsignal(number) for number in ENDING}
        self.before = {n: h for n, h in handlers.items() if h != signal.SIG_IGN}
        for number in self.before:
            signal.signal(number, self.pass_on)
        # What is ignored, as by nohup, stays ignored. But in a shell's background that is SIGINT,
        # and what is started with it ignored could not be interrupted at all; a handler is not
        # inherited.
        if handlers[signal.SIGINT] == signal.SIG_IGN:
            self.before[signal.SIGINT] = signal.signal(signal.SIGINT, lambda *_: None)
        return self

    def pass_on(self, *_: object) -> None:
        """Interrupt Snakemake and its jobs, as a terminal does, so that they end cleanly."""
        self.caught = True
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGINT)

    def follow(self, process: subprocess.Popen[str]) -> None:
        """Forward to this process from now on; also a signal that came while it was started."""
        self.process = process
        if self.caught:
            self.pass_on()

    def __exit__(self, *_: object) -> None:
        if self.process is not None and self.process.poll() is None:
            self.pass_on()
            self.process.wait()
        for number, handler in self.before.items():
            signal.signal(number, handler)


def run_snakemake(
    command: Sequence[str], log: Path, look: Callable[[], Status], console: Console, lock: int
) -> float:
    """Run Snakemake with progress on the console; return the seconds.

    Raises UserError if it fails.
    """
    output = Output()
    with Interrupts() as interrupts:
        # In a group of its own, so that it gets an interrupt once, from wherever one comes.
        process = subprocess.Popen(
            command, cwd=REPOSITORY, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, errors="replace",
            env=os.environ | {"PYTHONUNBUFFERED": "1"}, pass_fds=[lock], process_group=0,
        )  # fmt: skip
        interrupts.follow(process)
        reader = Thread(target=output.read, args=(process.stderr, log), daemon=True)
        reader.start()
        output.follow(process, look, console)
    reader.join()
    if process.returncode:
        ending = "what is done is kept, and the same command goes on from there."
        if interrupts.caught:
            raise UserError(f"the evaluation was interrupted; {ending}")
        raise UserError(
            f"the evaluation did not finish; {ending} Snakemake's words are in {as_setting(log)}:\n"
            f"{output.failure()}"
        )
    return monotonic() - output.started


def run_quietly(command: Sequence[str]) -> str:
    """Run Snakemake without progress; return its output. Raises UserError when it fails."""
    done = subprocess.run(
        command, cwd=REPOSITORY, capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode:
        failure = Output(done.stderr.splitlines()).failure()
        raise UserError(f"Snakemake did not succeed:\n{failure}")
    return done.stderr + done.stdout
