"""What SLURM has given this job, as far as it can be asked on the node.

Asked from the controller, not from the environment: steps inside steps lose most variables.
"""

import os
import platform
import re
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cache
from typing import Any

from blimpworks.cluster.slurm import ask

UNITS = {"K": 1 / 1024, "M": 1, "G": 1024, "T": 1024**2}


@dataclass(frozen=True, slots=True)
class Allocation:
    """A job's place and share; fields that nobody answers for are None or empty."""

    slurm_job: str | None
    """Id; None outside of SLURM, and then nothing but the node is known."""
    node: str
    gpus: tuple[str, ...] = ()
    """Name of each GPU, as its driver tells it; where there is none, as SLURM calls it."""
    mem_mb: int | None = None
    minutes: int | None = None
    cores: int | None = None
    ends: float | None = None
    """When its time is over, in seconds since 1970."""
    requeue: bool = False
    """Whether SLURM may start it again."""

    def requested(self) -> dict[str, int]:
        """What the job asked for; zeros outside of SLURM."""
        return {
            "mem_mb": self.mem_mb or 0,
            "minutes": self.minutes or 0,
            "gpus": len(self.gpus),
            "cores": self.cores or 0,
        }

    def place(self) -> dict[str, Any]:
        """The part that records of products keep."""
        fields = asdict(self)
        return {name: fields[name] for name in ("slurm_job", "node", "gpus")}


def _minutes(limit: str) -> int | None:
    """Minutes of a time limit (``[DAYS-]HH:MM:SS``); None for one without end."""
    match = re.fullmatch(r"(?:(\d+)-)?(\d+):(\d+):(\d+)", limit)
    if not match:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return (days * 24 + hours) * 60 + minutes + (seconds > 0)


def _megabytes(text: str) -> int | None:
    match = re.fullmatch(r"([\d.]+)([KMGT])?", text)
    return round(float(match[1]) * UNITS[match[2] or "M"]) if match else None


def _epoch(text: str) -> float | None:
    """Seconds since 1970 of a local time as SLURM writes it."""
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return None


def _end_in_environment() -> float | None:
    """The end that SLURM itself says to its jobs: in an image there is no scontrol to ask."""
    text = os.environ.get("SLURM_JOB_END_TIME", "")
    return float(text) if text.isdecimal() else None


def _allocated_gpus(fields: dict[str, str]) -> tuple[str, ...]:
    """GPUs of a job as SLURM calls them, one name each."""
    tres = fields.get("TRES", "") + "," + fields.get("AllocTRES", "")
    kinds = re.findall(r"gres/gpu:([^=,]+)=(\d+)", tres) or re.findall(
        r"gres[:/]gpu(?::([^:,=]+))?[:=](\d+)", fields.get("TresPerNode", "") or tres
    )
    return tuple(kind or "gpu" for kind, count in dict(kinds).items() for _ in range(int(count)))


def _named_gpus(allocated: tuple[str, ...]) -> tuple[str, ...]:
    """Names of this job's GPUs by their driver; SLURM's where there is no driver."""
    if not allocated:
        return ()
    output = ask(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"])
    names = tuple(line.strip() for line in (output or "").splitlines() if line.strip())
    # Of a shared job, this process has some.
    own = os.environ.get("CUDA_VISIBLE_DEVICES")
    allocated = allocated[: len(own.split(","))] if own else allocated
    # A site without cgroups for devices shows all GPUs of the node.
    return names[: len(allocated)] or allocated


def read_job(line: str) -> dict[str, str]:
    """Fields of a job from one line of ``scontrol show job -o``."""
    return dict(re.findall(r"(\w[\w/:]*)=(\S*)", line))


@cache
def find_allocation() -> Allocation:
    """The allocation that this process is in; asks SLURM once."""
    job, node = os.environ.get("SLURM_JOB_ID"), platform.node()
    if not job:
        return Allocation(None, node)
    fields = read_job(ask(["scontrol", "show", "job", "-o", job]) or "")
    return Allocation(
        slurm_job=job,
        node=fields.get("BatchHost") or os.environ.get("SLURMD_NODENAME") or node,
        gpus=_named_gpus(_allocated_gpus(fields)),
        mem_mb=_megabytes(fields.get("MinMemoryNode", "")),
        minutes=_minutes(fields.get("TimeLimit", "")),
        cores=int(fields["NumCPUs"]) if fields.get("NumCPUs", "").isdecimal() else None,
        ends=_epoch(fields.get("EndTime", "")) or _end_in_environment(),
        # A job of somebody's own, in which Snakemake runs as a whole, is not ours to requeue.
        requeue=fields.get("Requeue") == "1" and fields.get("Comment", "").startswith("rule_"),
    )
