"""What this machine has to run models with: memory, GPUs, the environment of vLLM."""

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from blimpworks.cluster.attempt import CGROUPS, memory_groups
from blimpworks.cluster.slurm import ask
from blimpworks.records.job import REPOSITORY

MEMINFO = Path("/proc/meminfo")
VLLM = ".vllm/bin/python"
"""Interpreter of the environment of vLLM, in the repository (``make vllm``)."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What models can be run with."""

    memory_gb: float | None
    """Memory that is free or can be reclaimed, within what this process may have; None where the
    system does not say."""
    gpus_gb: tuple[float, ...] = ()
    """Free memory of each visible GPU."""
    has_vllm: bool = False
    """Whether the environment of vLLM is there."""


def _number(path: Path) -> int | None:
    """The number that a file of the kernel holds; None for ``max``, or without the file."""
    try:
        text = path.read_text(encoding="utf-8").strip()
    except OSError:
        return None
    return int(text) if text.isdecimal() else None


def _reclaimable(group: Path) -> int:
    """Bytes of a control group's use that the kernel takes back when they are needed."""
    try:
        lines = (group / "memory.stat").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0
    values = dict(line.split(maxsplit=1) for line in lines)
    return int(values.get("total_inactive_file", values.get("inactive_file", 0)))


def _left_in(groups: Iterable[Path]) -> list[float]:
    """GB that control groups leave, of those that have a limit (cgroups v2, v1)."""
    left = []
    for group in groups:
        for limit, used in (
            ("memory.max", "memory.current"),
            ("memory.limit_in_bytes", "memory.usage_in_bytes"),
        ):
            most, now = _number(group / limit), _number(group / used)
            if most is not None and now is not None:
                left.append((most - now + _reclaimable(group)) / 1e9)
    return left


def available_memory_gb() -> float | None:
    """GB that this process can have: free and reclaimable, within limits of its control groups."""
    try:
        lines = MEMINFO.read_text(encoding="utf-8").splitlines()
        own = memory_groups()
    except OSError:
        return None
    fields = {name: value.split() for name, _, value in (line.partition(":") for line in lines)}
    groups = dict.fromkeys(each for group in own for each in (group, *group.parents))
    below = [group for group in groups if group.is_relative_to(CGROUPS)]
    free = [int(fields["MemAvailable"][0]) * 1024 / 1e9] if "MemAvailable" in fields else []
    return min([*free, *_left_in(below)], default=None)


def visible_gpus_gb() -> tuple[float, ...]:
    """Free GB of each GPU that this process may use."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None and visible.strip() in ("", "-1"):
        return ()
    some = ["-i", visible] if visible else []
    query = ["--query-gpu=memory.free", "--format=csv,noheader,nounits"]
    output = ask(["nvidia-smi", *some, *query]) if shutil.which("nvidia-smi") else None
    numbers = [line.strip() for line in (output or "").splitlines()]
    # In MiB; a GPU that shares the host's memory says [N/A].
    return tuple(int(text) * 2**20 / 1e9 for text in numbers if text.isdecimal())


@cache
def this_machine() -> Machine:
    """The machine that this process runs on; looks once."""
    has_vllm = (REPOSITORY / VLLM).exists()
    return Machine(available_memory_gb(), visible_gpus_gb(), has_vllm)
