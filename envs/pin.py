"""Pin the environments anew: ``envs/*.in`` to exact ``envs/*.txt`` and conda's ``envs/*.yaml``.

Run through ``make envs``. Each environment is compiled under the pins of the one it grows
from, so that a package has one version everywhere.
"""

import subprocess
from pathlib import Path

ENVS = Path(__file__).parent
PYTHON = "3.11"
GROWS_FROM = {"core": None, "train": "core", "dev": "train"}
CONDA = {
    "core": [],
    "train": ["cmake", "cxx-compiler", "libboost-devel", "zlib"],
}


def _site_links() -> list[str]:
    """A site's own wheels, which pip knows of and uv does not."""
    for key in ("global.find-links", ":env:.find-links"):
        found = subprocess.run(
            ["pip", "config", "get", key], capture_output=True, text=True, check=False
        )
        if found.returncode == 0:
            return [part for link in found.stdout.split() for part in ("--find-links", link)]
    return []


def pin(name: str) -> list[str]:
    """Compile one environment; return its pins. A build's local version is left out."""
    command = ["uv", "pip", "compile", "-q", "--python-version", PYTHON, "--no-header"]
    command += ["--no-annotate", "--no-emit-find-links", *_site_links(), f"{name}.in"]
    if parent := GROWS_FROM[name]:
        command += ["-c", f"{parent}.txt"]
    done = subprocess.run(command, cwd=ENVS, capture_output=True, text=True, check=True)
    pins = [line.partition("+")[0].strip() for line in done.stdout.splitlines() if line.strip()]
    (ENVS / f"{name}.txt").write_text("\n".join(pins) + "\n", encoding="utf-8")
    return pins


def conda_file(packages: list[str], pins: list[str]) -> str:
    """The environment for Snakemake's ``--sdm conda``: Python, some programs, the same pins."""
    lines = ["channels:", "  - conda-forge", "dependencies:", f"  - python={PYTHON}", "  - pip"]
    lines += [f"  - {package}" for package in packages]
    lines += ["  - pip:", *(f"      - {pin}" for pin in pins)]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Pin all environments."""
    for name in GROWS_FROM:
        pins = pin(name)
        if name in CONDA:
            text = conda_file(CONDA[name], pins)
            (ENVS / f"{name}.yaml").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
