"""Find the obstacles of a campaign before it runs, such as missing software."""

import shutil
from collections.abc import Collection, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from rich.filesize import decimal

from blimpworks.campaign.addresses import is_local, offline_variable
from blimpworks.campaign.catalogue import ModelRow
from blimpworks.campaign.engines import INSTALL, Engine, find_engine
from blimpworks.campaign.parts import Part
from blimpworks.cluster.plan_data import DiskPlan, ModelPlan
from blimpworks.records.job import REPOSITORY

KENLM = ("lmplz", "build_binary")
"""Programs that train n-gram models."""
CONDA = "or let conda make the environments: snakemake --sdm conda (or apptainer, docs/cluster.md)"


def _is_installed(engine: Engine, root: Path) -> bool:
    """Tell whether an engine's own environment has its package, or else Snakemake's."""
    if python := engine.python(root):
        return any(python.parents[1].glob(f"lib/python*/site-packages/{engine.module}"))
    return find_spec(engine.module) is not None


def _has_program(root: Path, name: str) -> bool:
    return bool(shutil.which(name, path=str(root / ".tools/bin")) or shutil.which(name))


def missing_software(engines: Collection[str], rules: Collection[str], root: Path) -> Iterator[str]:
    """List the software that engines and rules need and the repository lacks, with the remedy.

    Packages are searched, not imported.
    """
    absent: dict[str, set[str]] = {}
    for engine in map(find_engine, engines):
        if not _is_installed(engine, root):
            absent.setdefault(engine.install, set()).add(engine.module)
    trained = any(rule.startswith("train_") and rule != "train_ngram" for rule in rules)
    if trained and find_spec("torch") is None:
        absent.setdefault(INSTALL, set()).add("torch")
    for install, packages in sorted(absent.items()):
        yield f"{', '.join(sorted(packages))} not installed: {install}, {CONDA}."
    programs = [name for name in KENLM if not _has_program(root, name)]
    if "train_ngram" in rules and programs:
        yield (
            f"KenLM's programs {', '.join(programs)} are neither in .tools/bin nor on PATH: "
            f"`bash envs/install.sh train` builds them, {CONDA}."
        )


def too_little_disk(disk: DiskPlan) -> Iterator[str]:
    """Name the directories whose file systems lack room."""
    if not disk.sufficient:
        needs = ", ".join(
            f"{name} need {decimal(size)}, {decimal(disk.free[name])} are free"
            for name, size in disk.added.items()
        )
        yield f"Too little disk: {needs}. Make room, or name other directories as pathvars."


def licences(rows: Sequence[ModelRow]) -> Iterator[str]:
    """Name the models of the hub whose licence is to be accepted; none offline."""
    gated = [row for row in rows if row.gated == "yes" and not is_local(row.hf_id)]
    if gated and not offline_variable():  # offline they come from a cache
        names = ", ".join(dict.fromkeys(row.hf_id for row in gated))
        yield (
            f"{len(gated)} models to retrieve are gated: the owner of the token must have accepted "
            f"their licences on https://huggingface.co: {names}."
        )


def without_software(parts: Sequence[Part], rules: Collection[str]) -> Iterator[str]:
    """List missing software that conda will not install either."""
    if shutil.which("conda") is None:
        yield from missing_software({part.engine for part in parts}, rules, REPOSITORY)


def endless(models: Sequence[ModelPlan], site: Path | None) -> Iterator[str]:
    """Name the models whose jobs would take more than a week on CPUs."""
    slow = [model for model in models if model.endless]
    own_gpu = site is None and shutil.which("nvidia-smi")
    if slow and not own_gpu:
        hours = max(model.hours for model in slow)
        where = f"{site} has no GPUs for them" if site else "no cluster is described"
        yield (
            f"{len(slow)} of {len(models)} models need GPUs, and {where}: on processors a job "
            f"would take up to {hours:,.0f} hours. Describe the cluster's GPUs (docs/cluster.md), "
            "or name smaller models in the campaign."
        )
