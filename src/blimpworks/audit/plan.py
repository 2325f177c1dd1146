"""The jobs that a campaign would run now, from a dry run of Snakemake.

A dry run prints every job's command. Each is handed to ``blimpworks``, which stops where it would
start the job: so parameters are spelt as in the job's record, whatever its options look like.
"""

import logging
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blimpworks.commands.registry import command_lines
from blimpworks.errors import UserError
from blimpworks.records.job import Planned, planning

TARGETS = ("all", "published", "reproduction")
COMMAND = re.compile(r"Shell command: \S*python\S* -m blimpworks (.+)")


@dataclass(frozen=True, slots=True)
class PlannedJob:
    """A job as it would be: its command's name, parameters, inputs and outputs."""

    command: str
    params: dict[str, Any]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def _commands(campaign: Path) -> list[str]:
    """Commands of all jobs of a campaign, in full. Raises UserError when there is no plan."""
    dry = ["-n", "-F", "-p", "--cores", "1", "--nolock", "--configfile", str(campaign)]
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", *dry, "--", *TARGETS],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"COLUMNS": "10000"},
    )
    if done.returncode:
        said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        raise UserError(
            f"Snakemake has no plan for campaign {campaign}: {' '.join(said[-3:]) or 'no message'} "
            "Correct that, or check without --configfile."
        )
    return COMMAND.findall(done.stdout + done.stderr)


def _jobs_of(arguments: list[str], run: Callable[[list[str]], Any]) -> list[PlannedJob]:
    """The jobs behind a command line; none where it cannot say before it has its inputs."""
    with planning() as planned:
        try:
            run(arguments)
        except Planned:
            pass
        except (UserError, OSError, ImportError) as error:
            logging.getLogger(__name__).debug("%s: %s", arguments[:1], error)
    return [
        PlannedJob(
            job.command.name, job.params, tuple(map(str, job.inputs)), tuple(map(str, job.outputs))
        )
        for job in planned
    ]


def planned_jobs(campaign: Path, run: Callable[[Sequence[str]], object]) -> dict[str, PlannedJob]:
    """The jobs that the campaign would run now, by their first output.

    ``campaign`` is its configuration, ``run`` runs a command line of this package in this process;
    the current directory must be the workflow's. Raises UserError
    when there is no such file, or Snakemake cannot plan it.
    """
    if not campaign.is_file():
        raise UserError(f"{campaign} does not exist; expected a campaign file.")
    jobs: dict[str, PlannedJob] = {}
    for command in _commands(campaign):
        arguments = shlex.split(command)
        if ">" in arguments:
            arguments = arguments[: arguments.index(">")]
        for line in command_lines(arguments):
            jobs |= {os.path.normpath(job.outputs[0]): job for job in _jobs_of(line, run)}
    return jobs
