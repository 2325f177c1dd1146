"""Measure this machine's memory and GPUs, and choose engines and number formats that fit.

``session.Evaluation`` calls ``choose_engine``, ``choose_format`` and ``check_memory``. An engine is
a program that runs a model, such as vLLM; an environment is a Python with that program.
"""

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import psutil

from blimpworks.campaign.catalogue import ModelRow
from blimpworks.campaign.engines import default_engine, engines, find_engine, obstacle
from blimpworks.cluster.attempt import CGROUPS, memory_groups
from blimpworks.cluster.needs import Setup
from blimpworks.cluster.slurm import ask
from blimpworks.errors import UserError
from blimpworks.evaluation.models import ResolvedModel, size_text
from blimpworks.records.job import REPOSITORY

CPUINFO = Path("/proc/cpuinfo")
INSTRUCTIONS = {
    "bfloat16": {"avx512_bf16", "amx_bf16", "bf16"},
    "float16": {"avx512_fp16", "amx_fp16", "asimdhp"},
}
"""Flags of processors (x86, ARM), by number format; a format is fast with any one of the flags."""


@dataclass(frozen=True, slots=True)
class Machine:
    """Resources for running models."""

    memory_gb: float | None
    """Free and reclaimable memory within the limits of this process [GB]; None if unknown."""
    gpus_gb: tuple[float, ...] = ()
    """Free memory of each visible GPU [GB]."""
    environments: frozenset[str] = frozenset()
    """Engines with an installed environment."""
    slow_formats: frozenset[str] = frozenset()
    """Number formats for which the processor has no instructions."""


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def available_memory_gb() -> float | None:
    """Return the free and reclaimable memory [GB] within the limits of this process."""
    free_gb: list[float] = [psutil.virtual_memory().available / 1e9]
    try:
        groups = memory_groups()
    except OSError:
        return None
    # The limits of a control group (a folder) hold for the groups inside it as well.
    groups_with_parents = {folder for group in groups for folder in (group, *group.parents)}
    for group in groups_with_parents:
        for limit_file, usage_file in (
            ("memory.max", "memory.current"),  # cgroups v2
            ("memory.limit_in_bytes", "memory.usage_in_bytes"),  # v1
        ):
            limit, usage = _text_of(group / limit_file), _text_of(group / usage_file)
            # Where there is no limit, version 2 has "max".
            if group.is_relative_to(CGROUPS) and limit.isdecimal() and usage.isdecimal():
                lines = _text_of(group / "memory.stat").splitlines()
                stat = dict(line.split(maxsplit=1) for line in lines)
                # The kernel frees its cache of files when memory is needed. In version 1,
                # "inactive_file" would leave out the groups inside.
                cached = int(stat.get("total_inactive_file", stat.get("inactive_file", 0)))
                free_gb.append((int(limit) - int(usage) + cached) / 1e9)
    return min(free_gb)


def visible_gpus_gb() -> tuple[float, ...]:
    """Return the free memory [GB] of each GPU that this process may use."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None and visible.strip() in ("", "-1"):  # no GPU may be used
        return ()
    selection = ["-i", visible] if visible else []
    query = ["--query-gpu=memory.free", "--format=csv,noheader,nounits"]
    output = ask(["nvidia-smi", *selection, *query]) if shutil.which("nvidia-smi") else None
    numbers = [line.strip() for line in (output or "").splitlines()]
    # In MiB; a GPU that shares the memory of the host has "[N/A]".
    return tuple(int(text) * 2**20 / 1e9 for text in numbers if text.isdecimal())


@cache
def this_machine() -> Machine:
    """Return the resources of this machine, measured at the first call."""
    installed = {name for name, engine in engines().items() if engine.python(REPOSITORY)}
    formats = slow_formats(_text_of(CPUINFO))
    return Machine(available_memory_gb(), visible_gpus_gb(), frozenset(installed), formats)


def slow_formats(cpuinfo: str) -> frozenset[str]:
    """Return the number formats for which the text of ``/proc/cpuinfo`` has no flag.

    Without instructions, bfloat16 takes 6 times as long as float32, and float16 4 to 5 times.
    """
    flags: set[str] = set()
    for name, _, value in (line.partition(":") for line in cpuinfo.splitlines()):
        if name.strip() in ("flags", "Features"):
            flags |= {*value.split()}
    if not flags:
        return frozenset()
    return frozenset(name for name, fast in INSTRUCTIONS.items() if not flags & fast)


def choose_engine(row: ModelRow, choice: str = "auto", machine: Machine | None = None) -> ModelRow:
    """Return a model's row with the chosen engine, or with the fastest one of the machine.

    Raises UserError when the engine cannot run the model, or is not installed.
    """
    machine = machine or this_machine()
    if choice not in ("auto", *engines()):
        raise UserError(f"--engine is {choice!r}; expected auto, {', '.join(engines())}.")
    able = [engine for engine in engines().values() if row.architecture in engine.scorers]
    if choice != "auto":
        name = choice
    elif row.recipe:
        name = row.engine  # Models that are trained here are small.
    else:
        installed = machine.environments if machine.gpus_gb else ()
        fast = [engine.name for engine in able if engine.serves and engine.name in installed]
        name = next(iter(fast), default_engine(row.architecture).name)
    settings = {"dtype": row.dtype, "first_token": row.first_token}
    reason = obstacle(name, row.architecture, settings)  # why the engine cannot run it, or ""
    if row.recipe and name != row.engine:
        reason = f"the model is trained here and run by {row.engine} alone"
    if reason:
        names = ", ".join(engine.name for engine in able)
        hint = "Leave --engine out" if choice != "auto" else "Correct its settings"
        raise UserError(f"model {row.name!r}: {reason}. {hint}; {names} can run it.")
    chosen = find_engine(name)
    if chosen.interpreter and name not in machine.environments:
        raise UserError(
            f"--engine is {name!r}, whose environment ({chosen.interpreter} in {REPOSITORY}) is "
            f"not there; install it ({chosen.install}), or name the engine {able[0].name}."
        )
    return row.model_copy(update={"engine": name})


def choose_format(model: ResolvedModel, machine: Machine) -> ResolvedModel:
    """Return the model, but in float32 (with a note) if its format is slow and float32 fits."""
    row, engine = model.row, find_engine(model.row.engine)
    can_use_float32 = "float32" in engine.scorers[row.architecture].dtype
    if machine.gpus_gb or row.dtype not in machine.slow_formats or not can_use_float32:
        return model
    note = (
        f"{row.label} is run in float32: this processor has no instructions for {row.dtype}, which "
        f"would take several times as long; --dtype {row.dtype} keeps it."
    )
    float32_row = row.model_copy(update={"dtype": "float32"})
    float32_model = replace(model, row=float32_row, notes=(*model.notes, note))
    needed_gb = float32_model.weights_gb + engine.working_gb
    fits = not machine.memory_gb or needed_gb <= machine.memory_gb
    return float32_model if fits else model


def check_memory(models: Sequence[ResolvedModel], machine: Machine) -> list[str]:
    """Return a line on each model's memory. Raises UserError for a model that needs too much."""
    lines = []
    for model in models:
        row, weights = model.row, model.weights_gb
        engine = find_engine(row.engine)
        # All in GB: weights, memory for computing, and free memory.
        working, free, memory_name = engine.working_gb, machine.memory_gb, "of memory"
        if engine.serves and machine.gpus_gb:
            # An estimate of the memory on one GPU, with the size of the weights that are loaded.
            memory = Setup(row, engine, row.dtype).memory()._replace(weights=weights)
            working = memory.per_gpu(1) - weights
            free, memory_name = max(machine.gpus_gb), "of the GPU's memory"
        needed = weights + working
        size = size_text(weights) if weights else "of a size not known yet"
        need = (
            f"{needed:.1f} GB {memory_name}: weights {size} in {row.dtype}, "
            f"{working:.1f} GB to work with"
        )
        if free is not None and needed > free:
            remedies = []
            needed_by_half = weights / 2 + working
            can_be_halved = "bfloat16" in engine.scorers[row.architecture].dtype
            if row.dtype == "float32" and can_be_halved and needed_by_half <= free:
                remedies.append(f"--dtype bfloat16 ({needed_by_half:.1f} GB)")
            if engine.serves:
                on_cpu = default_engine(row.architecture).name
                remedies.append(f"--engine {on_cpu}, in the machine's memory")
            remedies.append("--profile slurm on a cluster, or a smaller model")
            raise UserError(
                f"model {row.name!r} needs {need}; {free:.1f} GB are free here. "
                f"Choose {', '.join(remedies)}."
            )
        available = "" if free is None else f" ({free:.1f} GB are free)"
        lines.append(f"{row.label} needs {need}{available}.")
    return lines
