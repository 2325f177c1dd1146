"""Software that a campaign's jobs need, looked for before any of them is started."""

import shutil
from collections.abc import Collection, Iterator
from importlib.util import find_spec
from pathlib import Path

ENGINES = {"kenlm": "kenlm", "lstm": "torch", "transformers": "transformers"}
"""The package that an engine beside vLLM needs, in the environment of Snakemake."""
KENLM = ("lmplz", "build_binary")
"""Programs that train n-gram models."""
CONDA = "or let conda make the environments: snakemake --sdm conda (or apptainer, docs/cluster.md)"


def has_vllm(root: Path) -> bool:
    """Whether vLLM is in ``.vllm`` of the repository, or where there is none, beside Snakemake."""
    if (root / ".vllm/bin/python").exists():
        return any((root / ".vllm").glob("lib/python*/site-packages/vllm"))
    return find_spec("vllm") is not None


def _has_program(root: Path, name: str) -> bool:
    return bool(shutil.which(name, path=str(root / ".tools/bin")) or shutil.which(name))


def missing_software(engines: Collection[str], rules: Collection[str], root: Path) -> Iterator[str]:
    """What the jobs of some engines and rules need and the repository at ``root`` lacks.

    Each with what to do. Packages are looked for, not imported.
    """
    if "vllm" in engines and not has_vllm(root):
        yield (
            "vLLM is not installed: `bash envs/install.sh vllm-cuda` for GPUs, `make vllm` for "
            f"processors, {CONDA}."
        )
    packages = {ENGINES[engine] for engine in engines if engine in ENGINES}
    packages |= {"torch" for rule in rules if rule.startswith("train_") and rule != "train_ngram"}
    absent = sorted(package for package in packages if find_spec(package) is None)
    if absent:
        yield f"{', '.join(absent)} not installed: `bash envs/install.sh train`, {CONDA}."
    programs = [name for name in KENLM if not _has_program(root, name)]
    if "train_ngram" in rules and programs:
        yield (
            f"KenLM's programs {', '.join(programs)} are neither in .tools/bin nor on PATH: "
            f"`bash envs/install.sh train` builds them, {CONDA}."
        )
