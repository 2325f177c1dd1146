"""Find software that a campaign needs and this machine lacks."""

import os
import shutil
from collections.abc import Collection, Iterator
from importlib.util import find_spec
from pathlib import Path

from blimpworks.campaign.engines import INSTALL, find_engine

KENLM = ("lmplz", "build_binary")
"""Programs that train n-gram models."""
CONDA = "or let conda make the environments: snakemake --sdm conda (or apptainer, docs/cluster.md)"


def missing_software(engines: Collection[str], rules: Collection[str], root: Path) -> Iterator[str]:
    """List the software that engines and rules need and the repository lacks, with the remedy.

    Packages are searched, not imported.
    """
    absent: dict[str, set[str]] = {}
    for engine in map(find_engine, engines):
        if python := engine.python(root):
            found = any(python.parents[1].glob(f"lib/python*/site-packages/{engine.module}"))
        else:
            found = find_spec(engine.module) is not None
        if not found:
            absent.setdefault(engine.install, set()).add(engine.module)
    trained = any(rule.startswith("train_") and rule != "train_ngram" for rule in rules)
    if trained and find_spec("torch") is None:
        absent.setdefault(INSTALL, set()).add("torch")
    for install, packages in sorted(absent.items()):
        yield f"{', '.join(sorted(packages))} not installed: {install}, {CONDA}."
    path = f"{root / '.tools/bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    programs = [name for name in KENLM if not shutil.which(name, path=path)]
    if "train_ngram" in rules and programs:
        yield (
            f"KenLM's programs {', '.join(programs)} are neither in .tools/bin nor on PATH: "
            f"`bash envs/install.sh train` builds them, {CONDA}."
        )
