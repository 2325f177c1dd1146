"""Report missing packages, programs and images that a campaign's jobs need, with a remedy each."""

import hashlib
import os
import shutil
from collections.abc import Collection, Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

from blimpworks.errors import UserError

RECIPE = (
    "envs/{environment}.txt",
    "envs/{environment}.overrides",
    "envs/install.sh",
    "envs/build_kenlm.sh",
    "containers/setup.sh",
)
"""Files that decide the content of an image; an environment may lack all but the first."""


def image_of(root: Path, environment: str) -> Path:
    """Return the path of an environment's image, built or not. Raises FileNotFoundError."""
    packages, *optional = (root / name.format(environment=environment) for name in RECIPE)
    digest = hashlib.sha256(packages.read_bytes())
    for file in optional:
        digest.update(file.read_bytes() if file.exists() else b"")
    return root / "containers" / f"{environment}-{digest.hexdigest()[:12]}.sif"


def missing_images(images: Iterable[str]) -> list[str]:
    """Return a sentence for each image that does not exist, with the command that builds it."""
    absent = sorted(image for image in images if not Path(image).exists())
    return [
        f"There is no image {image}: `bash containers/build.sh "
        f"{Path(image).stem.rpartition('-')[0]}` makes it (docs/cluster_files.md)."
        for image in absent
    ]


def mounts(paths: Iterable[Path]) -> list[str]:
    """List the directories to mount into an image, so that each path, and its target, exists there.

    For a path that does not exist yet, list the nearest directory above it. Raises UserError for a
    name with "," or ":", which Apptainer's list of mounts cannot contain.
    """
    directories = set()
    for path in paths:
        for name in (path.absolute(), path.resolve()):
            directories.add(next(folder for folder in (name, *name.parents) if folder.is_dir()))
    directories.discard(Path("/"))
    for directory in directories:
        if set(str(directory)) & set(",:"):
            raise UserError(
                f"{directory} has a comma or colon in its name, and cannot be mounted into images; "
                "rename it, or run without --sdm apptainer."
            )
    # A mounted directory has all directories below it.
    return sorted(str(folder) for folder in directories if not directories & {*folder.parents})


KENLM = ("lmplz", "build_binary")
"""Programs that train n-gram models."""
CONDA = "or let conda make the environments: snakemake --sdm conda (docs/cluster_files.md)"


def missing_software(engines: Collection[str], rules: Collection[str], root: Path) -> Iterator[str]:
    """Yield a remedy for each missing package or program. Raises UserError for unknown engines."""
    # Not at the top: containers/build.sh imports this module with Python's standard library alone.
    from blimpworks.campaign.engines import INSTALL, find_engine

    absent: dict[str, set[str]] = {}
    for engine in map(find_engine, engines):  # look for packages, but import none
        if python := engine.python(root):  # ENVIRONMENT/bin/python of the engine's environment
            environment = python.parents[1]
            is_installed = any(environment.glob(f"lib/python*/site-packages/{engine.module}"))
        else:
            is_installed = find_spec(engine.module) is not None
        if not is_installed:
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
