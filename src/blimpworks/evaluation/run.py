"""Running the campaign of an evaluation with Snakemake, with progress for people."""

import logging
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from time import monotonic

from rich.console import Console

from blimpworks.campaign.catalogue import Catalogue
from blimpworks.campaign.reference import groups_of_models
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.cluster.status import Status, read_status
from blimpworks.cluster.text import duration
from blimpworks.errors import UserError
from blimpworks.evaluation.request import as_setting
from blimpworks.records.job import REPOSITORY

TARGET = "report_card"
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals of a user who wants a program to end: Ctrl-C, kill, and closing the terminal."""
STEPS = re.compile(r"(\d+) of (\d+) steps \(\d+%\) done")
OFTEN, RARELY = 1.0, 10.0
"""Seconds between two looks at the progress, on a terminal and elsewhere."""
MOST = 30
"""Lines of a failure that are shown."""
PLANNED = re.compile(r"^total +(\d+)$", re.MULTILINE)


@dataclass
class Output:
    """What Snakemake has said so far."""

    lines: list[str] = field(default_factory=list)
    steps: tuple[int, int] = (0, 0)
    """Done, and all."""

    def take(self, line: str) -> None:
        """Keep a line, and the number of steps where it has one."""
        self.lines.append(line.rstrip("\n"))
        if match := STEPS.search(line):
            self.steps = (int(match[1]), int(match[2]))
        elif match := PLANNED.match(line):
            self.steps = (0, int(match[1]))

    def failure(self) -> str:
        """What says why it failed: the workflow's own summary, or else its last words."""
        summaries = [i for i, line in enumerate(self.lines) if line.startswith("What failed:")]
        errors = [i for i, line in enumerate(self.lines) if "Error" in line]
        start = (summaries[-1:] or errors[:1] or [max(0, len(self.lines) - MOST)])[0]
        return "\n".join(self.lines[start : start + MOST])


def snakemake_command(
    campaign_file: Path,
    targets: Sequence[str],
    *,
    cores: int = 1,
    profile: str | None = None,
) -> list[str]:
    """The command that builds some targets of an evaluation's campaign, for the repository.

    Snakemake does not lock: who runs the command has `claimed` the evaluation's folder.
    """
    command = [sys.executable, "-m", "snakemake", "--configfile", as_setting(campaign_file)]
    command.append("--nolock")
    # A profile says itself how many jobs run at a time. Here one model has all cores: so the first
    # numbers are there soonest, and no two models share the memory.
    here = ["--cores", str(cores), "--set-threads", f"score={cores}"]
    command += ["--profile", profile] if profile else here
    return [*command, "--", *targets]


def _pace(status: Status) -> str:
    """How far the models are, and how long they still take."""
    words = []
    for model in status.models:
        if 0 < model.done < model.sentences:
            left = f", {duration(model.left)} left" if model.left else ""
            words.append(f"{model.model}: {model.done:,} of {model.sentences:,} sentences{left}")
    return "; ".join(words)


@dataclass
class Reporter:
    """Tells how far a run is: on one line of a terminal, or now and then in a log."""

    look: Callable[[], Status]
    output: Output
    console: Console
    started: float = field(default_factory=monotonic)
    first: float | None = None
    """Seconds until the first sentences had scores."""

    def text(self) -> str:
        """One line on how far the run is."""
        done, total = self.output.steps
        seconds = monotonic() - self.started
        try:
            status: Status | None = self.look()
        except (UserError, OSError):  # a file is just being written
            status = None
        if self.first is None and status and any(model.done for model in status.models):
            self.first = seconds
            self.console.print(f"First sentences scored after {seconds:.0f} s.")
        steps = f"{done} of {total} steps" if total else "planning"
        pace = _pace(status) if status else ""
        return " · ".join(part for part in (duration(seconds), steps, pace) if part)


@dataclass
class Interrupts:
    """Passes on to Snakemake what ends programs."""

    process: subprocess.Popen[str] | None = None
    caught: bool = False

    def pass_on(self, *_: object) -> None:
        """Interrupt Snakemake and its jobs, as a terminal does: then it ends in good order."""
        self.caught = True
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGINT)

    def ignore(self, *_: object) -> None:
        """Do nothing about a signal."""

    def follow(self, process: subprocess.Popen[str]) -> None:
        """Pass on to this process from now on, also what came while it was started."""
        self.process = process
        if self.caught:
            self.pass_on()


@contextmanager
def interrupts_passed_on() -> Iterator[Interrupts]:
    """Pass on interrupts in place of ending; what was started has ended after the block."""
    interrupts = Interrupts()
    ignored = [each for each in ENDING if signal.getsignal(each) == signal.SIG_IGN]
    signals = [each for each in ENDING if each not in ignored]
    before = {each: signal.signal(each, interrupts.pass_on) for each in signals}
    # What is ignored, as by nohup, stays ignored. But in a shell's background that is SIGINT, and
    # what is started with it ignored could not be interrupted at all; a handler is not inherited.
    if signal.SIGINT in ignored:
        before[signal.SIGINT] = signal.signal(signal.SIGINT, interrupts.ignore)
    try:
        yield interrupts
    finally:
        process = interrupts.process
        if process is not None and process.poll() is None:
            interrupts.pass_on()
            process.wait()
        for each, handler in before.items():
            signal.signal(each, handler)


def _read(process: subprocess.Popen[str], output: Output, log: Path) -> None:
    """Take in what Snakemake says, and write it into the log as long as that can be written."""
    assert process.stderr is not None
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("w", encoding="utf-8") as handle:
            for line in process.stderr:
                output.take(line)
                handle.write(line)
                handle.flush()
    except OSError as error:
        logging.getLogger(__name__).warning("%s cannot be written: %s", log, error)
        # Or else Snakemake would wait for a reader.
        for line in process.stderr:
            output.take(line)


def _follow(process: subprocess.Popen[str], reporter: Reporter) -> None:
    """Show the progress until the process ends."""
    console = reporter.console
    if console.is_terminal:
        with console.status("starting") as line:
            while not _ended(process, OFTEN):
                line.update(reporter.text())
        return
    before = ""
    while not _ended(process, RARELY):
        text = reporter.text()
        if text.partition(" · ")[2] != before:
            console.print(text, soft_wrap=True)
            before = text.partition(" · ")[2]


def _ended(process: subprocess.Popen[str], seconds: float) -> bool:
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def run_snakemake(
    command: Sequence[str], campaign: Campaign, catalogue: Catalogue, console: Console, lock: int
) -> float:
    """Run Snakemake in the repository with progress on the console; the seconds that it took.

    ``lock`` is the descriptor of `claimed`. What Snakemake says stands in ``snakemake.log``
    beside the campaign's other logs. Raises UserError, with what failed, where it does not
    succeed, and where it is interrupted.
    """
    log = REPOSITORY / campaign.pathvars.logs / "snakemake.log"
    groups = groups_of_models(campaign, catalogue)
    output = Output()
    reporter = Reporter(lambda: read_status(campaign, catalogue, groups), output, console)
    with interrupts_passed_on() as interrupts:
        # In a group of its own, so that it gets an interrupt once, from wherever one comes.
        process = subprocess.Popen(
            command, cwd=REPOSITORY, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, errors="replace",
            env=os.environ | {"PYTHONUNBUFFERED": "1"}, pass_fds=[lock], process_group=0,
        )  # fmt: skip
        interrupts.follow(process)
        reader = Thread(target=_read, args=(process, output, log), daemon=True)
        reader.start()
        _follow(process, reporter)
    reader.join()
    if process.returncode:
        raise UserError(_why_unfinished(output, log, interrupted=interrupts.caught))
    return monotonic() - reporter.started


def _why_unfinished(output: Output, log: Path, *, interrupted: bool) -> str:
    rest = "what is done is kept, and the same command goes on from there."
    if interrupted:
        return f"the evaluation was interrupted; {rest}"
    words = f"Snakemake's words are in {as_setting(log)}"
    return f"the evaluation did not finish; {rest} {words}:\n{output.failure()}"


def run_quietly(command: Sequence[str]) -> str:
    """Run Snakemake without progress, for what takes seconds; what it says.

    Raises UserError, with what failed, where it does not succeed.
    """
    done = subprocess.run(
        command, cwd=REPOSITORY, capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode:
        output = Output()
        for line in done.stderr.splitlines():
            output.take(line)
        raise UserError(f"Snakemake did not succeed:\n{output.failure()}")
    return done.stderr + done.stdout


def plan_text(command: Sequence[str]) -> str:
    """The table of jobs that Snakemake plans. Raises UserError, with why, where it cannot."""
    python, module, name, *options = command
    said = run_quietly([python, module, name, "--dry-run", *options])
    _, heading, table = said.partition("Job stats:\n")
    if not heading:
        return "Nothing to do: everything is there and as it should be."
    return table.partition("\n\n")[0]
