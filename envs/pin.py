"""Pin the packages of ``envs/*.in`` in ``envs/*.txt``, and write conda's ``envs/*.yaml``.

``make envs`` runs it. An environment has the versions of the environment that it extends. The pins
of vLLM itself forbid that, so its environments prefer the versions of another if these fit.

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
    """The settings by which an environment is pinned."""

    extends: str | None = None
    """Environment whose pins this environment has too."""
    prefers: str | None = None
    """Environment whose versions are preferred if they fit."""
    overrides: str | None = None
    """File of requirements that replace requirements of packages."""
    platform: str | None = None
    """Platform to pin for, from the public index; None for this machine."""
    conda: tuple[str, ...] | None = ()
    """Programs of the conda environment; None for no conda environment."""
    deploy: bool = False
    """Whether a script installs the packages into the conda environment, because pip cannot."""


ENVIRONMENTS = {
    "core": Environment(),
    "train": Environment("core", conda=("cmake", "cxx-compiler", "libboost-devel", "zlib")),
    "dev": Environment("train", conda=None),
    "vllm-cpu": Environment(prefers="train", overrides="vllm-cpu.overrides", deploy=True),
    "vllm-cuda": Environment(prefers="train", platform="x86_64-manylinux_2_28"),
    "vllm-bench": Environment("vllm-cuda", platform="x86_64-manylinux_2_28", conda=None),
}


def _site_links() -> list[str]:
    """Return uv's options for pip's setting ``find-links``, which uv does not read."""
    for key in ("global.find-links", ":env:.find-links"):
        setting = subprocess.run(
            ["pip", "config", "get", key], capture_output=True, text=True, check=False
        )
        if setting.returncode == 0:
            return [word for link in setting.stdout.split() for word in ("--find-links", link)]
    return []


def _command(name: str, environment: Environment, output: Path) -> list[str]:
    command = ["uv", "pip", "compile", "-q", "--python-version", PYTHON, "--no-header"]
    command += ["--no-annotate", "--no-emit-find-links", f"{name}.in", "-o", str(output)]
    if environment.extends:
        command += ["-c", f"{environment.extends}.txt"]
    if environment.overrides:
        command += ["--override", environment.overrides]
    if environment.platform:
        return [*command, "--python-platform", environment.platform]
    return [*command, *_site_links()]


def pin(name: str, environment: Environment) -> list[str]:
    """Pin an environment; write and return its pins, without local versions such as ``+cpu``."""
    with tempfile.TemporaryDirectory() as directory:
        output = Path(directory) / "pins.txt"
        if environment.prefers:  # uv keeps the versions in its output file
            shutil.copy(ENVS / f"{environment.prefers}.txt", output)
        subprocess.run(_command(name, environment, output), cwd=ENVS, check=True)
        lines = output.read_text(encoding="utf-8").splitlines()
    pins = [line.partition("+")[0].strip() for line in lines if line.strip()]
    (ENVS / f"{name}.txt").write_text("\n".join(pins) + "\n", encoding="utf-8")
    return pins


def conda_file(environment: Environment, pins: list[str]) -> str:
    """Return the text of a conda environment file: Python, some programs, and the pins."""
    lines = ["channels:", "  - conda-forge", "dependencies:", f"  - python={PYTHON}", "  - pip"]
    lines += [f"  - {package}" for package in environment.conda or ()]
    if environment.deploy:  # with the digest, Snakemake makes it again when a pin changes
        digest = hashlib.sha256("\n".join(pins).encode()).hexdigest()
        lines.insert(0, f"# The post-deploy script installs the pins, which have SHA-256 {digest}")
    else:
        lines += ["  - pip:", *(f"      - {pin}" for pin in pins)]
    return "\n".join(lines) + "\n"


def main(names: list[str]) -> None:
    """Write the pins of the environments with these names, and conda's files; default: all."""
    for name, environment in ENVIRONMENTS.items():
        if names and name not in names:
            continue
        pins = pin(name, environment)
        if environment.conda is not None:
            text = conda_file(environment, pins)
            (ENVS / f"{name}.yaml").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
