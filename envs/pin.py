"""Pin the environments again: ``envs/*.in`` to exact ``envs/*.txt`` and conda's ``envs/*.yaml``.

Run through ``make envs``. An environment is compiled under the pins of the one it grows from,
so that a package has one version everywhere; where its own pins forbid that, as vLLM's do, it
takes the versions of the one it leans on as far as they fit.

python envs/pin.py [NAME ...]
"""

import hashlib
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ENVS = Path(__file__).parent
PYTHON = "3.11"


@dataclass(frozen=True)
class Environment:
    """How an environment is pinned."""

    grows_from: str | None = None
    """Environment whose pins hold here too."""
    leans_on: str | None = None
    """Environment whose versions are taken where they fit."""
    overrides: str | None = None
    """File of requirements that replace those of packages."""
    platform: str | None = None
    """Pinned for this platform and the public index alone, not for this machine."""
    conda: tuple[str, ...] | None = ()
    """Programs of the conda environment; None for no such file."""
    deploy: bool = False
    """Whether a script installs the packages into the conda environment, pip being unable to."""


ENVIRONMENTS = {
    "core": Environment(),
    "train": Environment("core", conda=("cmake", "cxx-compiler", "libboost-devel", "zlib")),
    "dev": Environment("train", conda=None),
    "vllm-cpu": Environment(leans_on="train", overrides="vllm-cpu.overrides", deploy=True),
    "vllm-cuda": Environment(leans_on="train", platform="x86_64-manylinux_2_28"),
    "vllm-bench": Environment("vllm-cuda", platform="x86_64-manylinux_2_28", conda=None),
}


def _site_links() -> list[str]:
    """A site's own wheels, which pip knows of and uv does not."""
    for key in ("global.find-links", ":env:.find-links"):
        setting = subprocess.run(
            ["pip", "config", "get", key], capture_output=True, text=True, check=False
        )
        if setting.returncode == 0:
            return [part for link in setting.stdout.split() for part in ("--find-links", link)]
    return []


def _command(name: str, environment: Environment, output: Path) -> list[str]:
    command = ["uv", "pip", "compile", "-q", "--python-version", PYTHON, "--no-header"]
    command += ["--no-annotate", "--no-emit-find-links", f"{name}.in", "-o", str(output)]
    if environment.grows_from:
        command += ["-c", f"{environment.grows_from}.txt"]
    if environment.overrides:
        command += ["--override", environment.overrides]
    if environment.platform:
        return [*command, "--python-platform", environment.platform]
    return [*command, *_site_links()]


def pin(name: str, environment: Environment) -> list[str]:
    """Compile one environment; return its pins. A build's local version is left out."""
    with tempfile.TemporaryDirectory() as directory:
        output = Path(directory) / "pins.txt"
        if environment.leans_on:  # uv keeps the versions that its output file has
            shutil.copy(ENVS / f"{environment.leans_on}.txt", output)
        subprocess.run(_command(name, environment, output), cwd=ENVS, check=True)
        lines = output.read_text(encoding="utf-8").splitlines()
    pins = [line.partition("+")[0].strip() for line in lines if line.strip()]
    (ENVS / f"{name}.txt").write_text("\n".join(pins) + "\n", encoding="utf-8")
    return pins


def conda_file(environment: Environment, pins: list[str]) -> str:
    """The environment for Snakemake's ``--sdm conda``: Python, some programs, the same pins."""
    lines = ["channels:", "  - conda-forge", "dependencies:", f"  - python={PYTHON}", "  - pip"]
    lines += [f"  - {package}" for package in environment.conda or ()]
    if environment.deploy:  # the digest makes Snakemake build it again when a pin changes
        digest = hashlib.sha256("\n".join(pins).encode()).hexdigest()
        lines.insert(0, f"# The post-deploy script installs the pins, which have SHA-256 {digest}")
    else:
        lines += ["  - pip:", *(f"      - {pin}" for pin in pins)]
    return "\n".join(lines) + "\n"


def main(names: list[str]) -> None:
    """Pin the environments ``names``, all without any."""
    for name, environment in ENVIRONMENTS.items():
        if names and name not in names:
            continue
        pins = pin(name, environment)
        if environment.conda is not None:
            text = conda_file(environment, pins)
            (ENVS / f"{name}.yaml").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
