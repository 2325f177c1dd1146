"""Ask SLURM for the allocation of this job, and end the work before the allocation ends.

The controller is asked: steps inside steps lose most environment variables.
"""

import os
import platform
import re
import time
from collections import deque
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from blimpworks.cluster.slurm import ask, mebibytes
from blimpworks.errors import OutOfTime, UserError
from blimpworks.scoring.watch import Watch

if TYPE_CHECKING:  # each small command finds its allocation
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Allocation:
    """Resources of a job; fields without an answer are None or empty."""

    slurm_job: str | None
    """Job id; None outside of SLURM."""
    node: str
    gpus: tuple[str, ...] = ()
    """Name of each GPU by its driver, or else by SLURM."""
    mem_mb: int | None = None
    minutes: int | None = None
    cores: int | None = None
    ends: float | None = None
    """End of the allocation in seconds since 1970."""
    requeue: bool = False
    """Whether SLURM may start the job again."""

    def place(self) -> dict[str, Any]:
        """Return the fields that records of products keep."""
        return {"slurm_job": self.slurm_job, "node": self.node, "gpus": self.gpus}


def _named_gpus(fields: dict[str, str]) -> tuple[str, ...]:
    """Return the names of a job's GPUs by their driver, or SLURM's names without a driver."""
    tres = fields.get("TRES", "") + "," + fields.get("AllocTRES", "")
    counts = re.findall(r"gres/gpu:([^=,]+)=(\d+)", tres) or re.findall(
        r"gres[:/]gpu(?::([^:,=]+))?[:=](\d+)", fields.get("TresPerNode", "") or tres
    )
    allocated = [name or "gpu" for name, count in dict(counts).items() for _ in range(int(count))]
    if not allocated:
        return ()
    output = ask(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]) or ""
    names = tuple(line.strip() for line in output.splitlines() if line.strip())
    # Of a shared job, this process has some.
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    allocated = allocated[: len(visible.split(","))] if visible else allocated
    # A site without cgroups for devices shows all GPUs of the node.
    return names[: len(allocated)] or (*allocated,)


def read_job(line: str) -> dict[str, str]:
    """Read the fields of a job from one line of ``scontrol show job -o``."""
    return dict(re.findall(r"(\w[\w/:]*)=(\S*)", line))


@cache
def find_allocation() -> Allocation:
    """Find the allocation of this process; SLURM is asked once."""
    job, node = os.environ.get("SLURM_JOB_ID"), platform.node()
    if not job:
        return Allocation(None, node)
    fields = read_job(ask(["scontrol", "show", "job", "-o", job]) or "")
    # [DAYS-]HH:MM:SS; other words are a limit without end.
    limit = re.fullmatch(r"(?:(\d+)-)?(\d+):(\d+):(\d+)", fields.get("TimeLimit", ""))
    days, hours, minutes, seconds = (int(n or 0) for n in limit.groups()) if limit else (0,) * 4
    ends: float | None
    try:
        ends = datetime.fromisoformat(fields.get("EndTime", "")).timestamp()
    except ValueError:
        # In an image there is no scontrol to ask; SLURM itself tells its jobs.
        stated = os.environ.get("SLURM_JOB_END_TIME", "")
        ends = float(stated) if stated.isdecimal() else None
    return Allocation(
        slurm_job=job,
        node=fields.get("BatchHost") or os.environ.get("SLURMD_NODENAME") or node,
        gpus=_named_gpus(fields),
        mem_mb=mebibytes(fields.get("MinMemoryNode", ""), unit="M"),
        minutes=(days * 24 + hours) * 60 + minutes + (seconds > 0) if limit else None,
        cores=int(fields["NumCPUs"]) if fields.get("NumCPUs", "").isdecimal() else None,
        ends=ends,
        # A job of somebody's own, in which Snakemake runs as a whole, is not ours to requeue.
        requeue=fields.get("Requeue") == "1" and fields.get("Comment", "").startswith("rule_"),
    )


DEADLINE = "BLIMPWORKS_DEADLINE"
"""Environment variable with the end of the allocation in seconds since 1970."""
RESERVE = 30.0
"""Seconds to end an engine and to write the journal."""
CAUTION = 1.5
"""Longest time of the next shard, as a multiple of the slowest shard so far."""


class Deadline(Watch):
    """Stops a run before the first shard that might not be written in time."""

    def __init__(self, moment: float) -> None:
        self._moment = moment
        self._shards: list[float] = []
        self._begun = deque[float]()
        """Moments when each shard began that is not written yet [s, monotonic clock]."""
        self._total = self._left = 0

    def begin(
        self, sentences: Mapping[str, Collection[Hashable]], missing: Collection[Hashable]
    ) -> None:
        self._total, self._left = len(set().union(*sentences.values())), len(missing)

    def before(self) -> None:
        """Let a shard begin. Raises OutOfTime when the shard would not end in time."""
        # The first shard has the loading of the model in it.
        slowest = max(self._shards[1:] or self._shards or [0.0])
        seconds_left = self._moment - time.time()
        if seconds_left < slowest * CAUTION + RESERVE:
            raise OutOfTime(
                f"{self._total - self._left} of {self._total} sentences have scores; the "
                f"allocation ends in {max(seconds_left, 0):.0f} s, and a shard takes up to "
                f"{slowest:.0f} s. Stopped between shards; the same job goes on from there."
            )
        self._begun.append(time.monotonic())

    def wrote(self, part: Sequence[Hashable], scores: "pa.Table") -> None:
        self._shards.append(time.monotonic() - self._begun.popleft())
        self._left -= len(part)


def deadline_of(environment: Mapping[str, str] = os.environ) -> Watch:
    """Return the deadline that the environment sets, or a watch without any.

    Raises UserError when the variable holds no number.
    """
    text = environment.get(DEADLINE)
    if not text:
        return Watch()
    try:
        return Deadline(float(text))
    except ValueError as error:
        raise UserError(
            f"{DEADLINE} is {text!r}; expected when the allocation ends, in seconds since 1970."
        ) from error
