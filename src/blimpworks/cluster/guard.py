"""Cancel the SLURM jobs of dead runs, watch over the present run, and report failed jobs.

The workflow calls ``end_orphans`` and ``watch_over`` when a Snakemake run on SLURM starts, and
``failed_jobs_text`` when it fails. When a run is killed, its SLURM jobs go on writing files, which
the next run would write too. So each run writes RUN.json with {"pid": 4711, "host": "login1", …},
and touches this file while it is alive. The next run cancels the jobs of dead runs before it
submits any; each cancelled job loses at most a shard (file) of scores.
"""

import atexit
import json
import os
import platform
import re
import shutil
import signal
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from blimpworks.cluster.slurm import ask, slurm_states
from blimpworks.errors import UserError
from blimpworks.files import write_text
from blimpworks.records.journal import journal_path, read_attempts

RUNS = Path(".snakemake/blimpworks-runs")
"""Directory of the files of runs, relative to the working directory."""
SILENCE = 300.0
"""Seconds without a touch of its file after which a run on another machine is taken for dead."""
PATIENCE = 180.0
"""Seconds that SLURM may take to list jobs, or to end cancelled jobs."""
RUN_ID = re.compile(r"SLURM run ID: (\S+)")
"""Line of Snakemake's log with the run's id, which is the name of its SLURM jobs."""


def register(run: str) -> Path:
    """Write the file of this process's run, whose id is ``run``; return the file's path."""
    path, pid = RUNS / f"{run}.json", os.getpid()
    process = {"pid": pid, "host": platform.node(), "started": _start_time(pid)}
    write_text(path, json.dumps(process) + "\n")
    return path


def _start_time(pid: int) -> str | None:
    # Another process may get the pid of a dead run, but not its start time (field 22 of stat, the
    # twentieth after the name in brackets), in clock ticks since boot.
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return None


def is_alive(path: Path) -> bool:
    """Return whether a run's process exists, or another machine has touched its file recently."""
    try:
        process = json.loads(path.read_text(encoding="utf-8"))
        host, pid, started = (process[name] for name in ("host", "pid", "started"))
        seconds_silent = time.time() - path.stat().st_mtime
    except (OSError, ValueError, KeyError, TypeError):  # damaged, or deleted by the run
        return False
    if host == platform.node():
        return started is not None and _start_time(pid) == started
    return seconds_silent < SILENCE


def find_jobs(directory: Path) -> dict[str, str]:
    """Return {job id: run id} of this user's SLURM jobs with working directory ``directory``.

    Empty on a machine without SLURM. Raises UserError if SLURM does not answer in ``PATIENCE``.
    """
    if shutil.which("squeue") is None:
        return {}
    start = time.monotonic()
    # Print id, name and working directory. Snakemake names each job after its run.
    while (output := ask(["squeue", "-h", "-u", str(os.getuid()), "-o", "%i|%j|%Z"])) is None:
        if time.monotonic() - start > PATIENCE:
            raise UserError(
                f"squeue has not answered for {PATIENCE:.0f} s, so it is not known whether "
                "jobs of an earlier run still write here; run this again when SLURM is up."
            )
        time.sleep(5)
    rows = (line.strip().split("|") for line in output.splitlines())
    resolved = directory.resolve()
    return {row[0]: row[1] for row in rows if len(row) == 3 and Path(row[2]).resolve() == resolved}


def _is_alive_after_waiting(path: Path) -> bool:
    """Return whether a run is alive.

    A process on another machine may have died just after it touched its file. So wait until it
    touches the file again, or counts as dead (``SILENCE``).
    """
    with suppress(OSError, ValueError, KeyError, TypeError):  # damaged, or deleted by the run
        first_touch = path.stat().st_mtime
        if json.loads(path.read_text(encoding="utf-8"))["host"] == platform.node():
            return is_alive(path)
        while is_alive(path):
            time.sleep(5)
            if path.stat().st_mtime != first_touch:
                return True
    return False


def end_orphans(directory: Path) -> list[str]:
    """Cancel the SLURM jobs of dead runs in ``directory``, and wait until they are gone.

    Return their ids. Raises UserError when SLURM does not answer, or does not end them in time.
    """
    # Ask SLURM only if a run has left its file: most machines have no SLURM that answers.
    files = list((directory / RUNS).glob("*.json"))
    dead = {path.stem for path in files if not _is_alive_after_waiting(path)}
    jobs = find_jobs(directory) if dead else {}
    orphans = [job for job, run in jobs.items() if run in dead]
    if orphans:
        ask(["scancel", *orphans])
    # Jobs that have left the queue once are gone, and are not waited for again.
    start, remaining = time.monotonic(), {*orphans}
    while remaining and (remaining := remaining & find_jobs(directory).keys()):
        if time.monotonic() - start > PATIENCE:
            raise UserError(
                f"SLURM jobs {', '.join(sorted(remaining))} of an earlier run write to this "
                f"directory and did not end {PATIENCE:.0f} s after scancel; end them, then "
                "run this again."
            )
        time.sleep(1)
    # The jobs of these runs are gone. A run that has died since keeps its file until its jobs are
    # cancelled, and so does a run that has touched its file meanwhile.
    for path in files:
        if path.stem in dead and not is_alive(path):
            path.unlink(missing_ok=True)
    return orphans


PERIOD = 60.0
"""Seconds between two checks."""
OVERDUE = 1800.0
"""Seconds that Snakemake may take to notice the end of a job."""
WATCHDOG_VALUES = "BLIMPWORKS_WATCHDOG"
"""Environment variable with values that replace ``PERIOD`` and ``OVERDUE``, as ``60,1800``."""
COPIED_LOG = re.compile(r"^ *Logfile \S+:\n *={80}\n.*?^ *={80}$", re.MULTILINE | re.DOTALL)
"""Copy of a failed job's log in Snakemake's log: ``Logfile a.log:``, then text between two lines
of "=". It must not be searched: the job runs a Snakemake too, and its log has the same lines."""
EVENTS = re.compile(
    r"^Job (?P<job>\S+) has been submitted with SLURM jobid (?P<slurm>\d+)"  # a job or a group
    r"|^ {4}Job (?P<member>\d+): "  # a member of a group
    r"|^Finished jobid: (?P<done>\d+)\b"
    r"|^(?: {4}| {12})jobid: (?P<failed>\d+)$",  # in the report on a failed job or member
    re.MULTILINE,
)
"""Lines of Snakemake's log that say what happened to a job or group."""
ACTIVE = {
    *("PENDING", "CONFIGURING", "RUNNING", "RESIZING", "SIGNALING", "COMPLETING", "STAGE_OUT"),
    *("SUSPENDED", "STOPPED", "PREEMPTED", "REVOKED", "SPECIAL_EXIT", "RESV_DEL_HOLD"),
    *("REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED"),
}
"""SLURM states of jobs that run or will run."""


def find_awaited(log: str) -> set[str]:
    """Read from Snakemake's log the SLURM ids of the jobs that Snakemake waits for.

    Snakemake may submit several jobs as a group, in one SLURM job. The group has a UUID as id, a
    job has a number. The log does not say which group a member belongs to, or when a group has
    ended. So all groups count as awaited until all members of all groups have ended.
    """
    slurm_ids: dict[str, str] = {}  # by Snakemake's id of the job or group
    members: set[str] = set()  # unfinished jobs in groups
    for event in EVENTS.finditer(COPIED_LOG.sub("", log)):
        if event["job"]:
            slurm_ids[event["job"]] = event["slurm"]
        elif event["member"]:
            members.add(event["member"])
        else:
            ended = event["done"] or event["failed"]
            slurm_ids.pop(ended, None)
            members.discard(ended)
            if not members:
                # All groups have ended; jobs outside of groups have numbers.
                slurm_ids = {job: slurm for job, slurm in slurm_ids.items() if job.isdecimal()}
    return {*slurm_ids.values()}


class OverdueJobs:
    """Finds SLURM jobs that Snakemake still waits for ``overdue`` seconds after their end."""

    def __init__(self, overdue: float) -> None:
        self._overdue = overdue
        # Time when a job was first seen as over [s], by SLURM's id.
        self._over_since: dict[str, float] = {}

    def update(self, awaited: set[str], states: Mapping[str, str], moment: float) -> list[str]:
        """Return the overdue jobs if Snakemake waits for overdue jobs only, else none.

        ``awaited``: ids of the SLURM jobs that Snakemake waits for. ``states``: SLURM's state by
        id; a job without a state is over. ``moment``: present time in seconds.
        """
        over = {job for job in awaited if states.get(job) not in ACTIVE}
        self._over_since = {job: self._over_since.get(job, moment) for job in over}
        late = [job for job in over if moment - self._over_since[job] >= self._overdue]
        return sorted(late) if len(late) == len(awaited) else []


def _watch(log: Path, run_file: Path, period: float, overdue_jobs: OverdueJobs) -> None:
    while True:
        time.sleep(period)
        try:
            os.utime(run_file)
            awaited = find_awaited(log.read_text(encoding="utf-8", errors="replace"))
        except OSError:
            continue
        # When SLURM's controller is down, no job's state is known.
        if not awaited or "UP" not in (ask(["scontrol", "ping"]) or ""):
            continue
        late = overdue_jobs.update(awaited, slurm_states(awaited), time.monotonic())
        if late:
            print(
                f"\nblimpworks: SLURM jobs {', '.join(late)} are over, or SLURM has forgotten "
                "them, but Snakemake still waits for them and for nothing else. The run ends "
                "here; what is done is kept. Run the same command again: it goes on from there.\n",
                file=sys.stderr,
                flush=True,
            )
            os.kill(os.getpid(), signal.SIGINT)  # ends Snakemake as Ctrl-C does
            return


def watch_over(log: Path) -> None:
    """Register the SLURM run with this ``log``; a thread ends it when all its jobs are overdue."""
    run = RUN_ID.search(log.read_text(encoding="utf-8", errors="replace"))
    if run is None:
        return
    run_file = register(run[1])
    period, overdue = map(float, os.environ.get(WATCHDOG_VALUES, f"{PERIOD},{OVERDUE}").split(","))
    arguments = (log, run_file, period, OverdueJobs(overdue))
    threading.Thread(target=_watch, args=arguments, daemon=True).start()
    atexit.register(run_file.unlink, missing_ok=True)


# Patterns of Snakemake's reports on failed jobs and groups, such as:
#
# Error in rule score:
#     message: SLURM-job '7' failed, SLURM status is: 'NODE_FAIL'. For further error details see …
#     log: a.log, slurm/7.log (check log file(s) for error details)
REPORT_START = re.compile(r"^(?:    message: )?Error in (?=(?:rule|group) )", re.MULTILINE)
RULE_LOG = re.compile(r"^ +log: ([^,\s]+).* \(check log", re.MULTILINE)
"""Log of the rule; SLURM's log may follow."""
MEMBER_LOG = re.compile(r"^ {12}log: ([^,\s]+).* \(check log", re.MULTILINE)
"""Log of a group's member, indented further; finished and unstarted members are listed too."""
MESSAGE = re.compile(
    r"^    message: (.*?)(?:^    sbatch |For further error details see)", re.MULTILINE | re.DOTALL
)
"""Message of Snakemake's SLURM executor, up to its command for sbatch."""
ACCEPTED = "SLURM-job "
"""Start of the executor's message on a job that sbatch accepted, so that it may have a log."""


def _is_done(log: Path) -> bool:
    with suppress(UserError):
        attempts = read_attempts(journal_path(log))
        return bool(attempts) and attempts[-1].cause == "done"
    return False


def failed_jobs_text(text: str) -> str:
    """List the log of each failed job in Snakemake's log ``text``, and why the job failed."""
    messages: dict[str, str] = {}  # {log of a failed job: message of Snakemake's executor}
    _, *reports = REPORT_START.split(COPIED_LOG.sub("", text))
    for report in reports:
        match = MESSAGE.search(report)
        message = " ".join(match[1].split()) if match else ""
        members = (Path(name) for name in MEMBER_LOG.findall(report))
        unfinished = [str(log) for log in members if log.is_file() and not _is_done(log)]
        # The first log of a report is that of its rule or group.
        messages |= dict.fromkeys(unfinished or RULE_LOG.findall(report)[:1], message)
    lines = ["What failed:"]
    for name, message in messages.items():
        log, log_lines = Path(name), list[str]()
        # The log of a job that sbatch refused is from an earlier attempt.
        if log.is_file() and (not message or message.startswith(ACCEPTED)):
            log_lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        reason = log_lines[-1] if log_lines else message or "the log is empty"
        lines += [f"  {name}", f"    {reason}"]
    lines.append("Finished work is kept; the same command goes on from there.")
    return "\n".join(lines)
