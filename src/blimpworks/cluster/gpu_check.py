"""Check a machine's driver, libraries, packages and memory for scoring on NVIDIA GPUs.

``blimpworks check-gpu`` prints the result. ``describe_machine`` asks nvidia-smi and the Python that
scores; ``gpu_problems`` lists what must be changed before vLLM can run.
"""

import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from blimpworks.campaign.engines import find_engine
from blimpworks.cluster.slurm import ask
from blimpworks.strict import Strict

GLIBC = (2, 28)
"""Oldest C library that the wheels of ``envs/vllm-cuda.txt`` run with."""
DRIVERS = {13: 580, 12: 525, 11: 450}
"""Oldest driver for each major version of CUDA (NVIDIA's table of CUDA compatibility)."""
BFLOAT16 = 8.0
"""Lowest compute capability with bfloat16."""
SHARED_MEMORY = "/dev/shm"  # noqa: S108
"""File system in memory, by which vLLM's processes (one on each GPU of a model) exchange data."""
SHARED_BYTES = 2**30
"""Least size of ``SHARED_MEMORY`` for a model on several GPUs; Docker's default is 64 MiB."""
USED_BY_OTHERS = 0.1
"""Largest share of a GPU's memory that other processes may use; vLLM takes 0.9 for itself."""
QUERY = "name,driver_version,compute_cap,memory.total,memory.used"
PROBE = """
import json, sys
facts = {"python": sys.version.split()[0], "torch": None, "cuda": None, "kernels": [],
         "available": False, "vllm": None, "error": None}
try:
    import torch
    facts.update(torch=torch.__version__, cuda=torch.version.cuda,
                 kernels=torch.cuda.get_arch_list(), available=torch.cuda.is_available())
    import vllm
    facts["vllm"] = vllm.__version__
    import vllm.model_executor.models.llama
except Exception as error:
    facts["error"] = f"{type(error).__name__}: {error}"
print("\\n" + json.dumps(facts))
"""
"""Program that the scoring environment's Python runs. Its last line is JSON of ``Packages``, after
what the imports print. ``import vllm`` alone loads no model, so one of the models follows."""


class Packages(Strict):
    """Versions of packages in the scoring environment."""

    python: str
    torch: str | None = None
    cuda: str | None = None
    """CUDA version that torch was built for."""
    kernels: tuple[str, ...] = ()
    """Architectures of torch's kernels, such as ``sm_90``."""
    available: bool = False
    """Whether torch can use a GPU."""
    vllm: str | None = None
    error: str | None = None
    """Exception of a failed import."""


class Gpu(Strict):
    """A GPU as described by nvidia-smi."""

    name: str
    driver: str
    capability: float
    mib: int
    used_mib: int


class GpuMachine(Strict):
    """System, GPUs and packages of a machine."""

    system: str
    """Operating system and processor, such as ``Linux x86_64``."""
    glibc: tuple[int, int] | None
    shared_memory: int | None
    """Bytes of /dev/shm; None without it."""
    gpus: list[Gpu] | None
    """GPUs of the machine; None without nvidia-smi."""
    smi_error: str | None
    """Message of nvidia-smi when it failed."""
    packages: Packages | None
    """Packages of the scoring environment; None when its Python could not be run."""


def read_gpus(text: str) -> list[Gpu]:
    """Read GPUs from nvidia-smi's output for ``QUERY``: CSV without header and units."""
    rows = [[field.strip() for field in line.split(",")] for line in text.splitlines() if line]
    names = ("name", "driver", "capability", "mib", "used_mib")
    return [Gpu.model_validate(dict(zip(names, row, strict=True)), strict=False) for row in rows]


def _gpus() -> tuple[list[Gpu] | None, str | None]:
    """Return the GPUs (None without nvidia-smi), and the message of nvidia-smi if it fails."""
    command = ["nvidia-smi", f"--query-gpu={QUERY}", "--format=csv,noheader,nounits"]
    try:
        run = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=60, check=False
        )
        if run.returncode == 0:
            return read_gpus(run.stdout), None
        messages = (run.stdout + run.stderr).strip().splitlines()
        return [], messages[0] if messages else f"exit status {run.returncode}"
    except (FileNotFoundError, PermissionError):
        return None, None
    except (subprocess.TimeoutExpired, ValueError) as error:
        return [], str(error)


def describe_machine(python: Path | None = None) -> GpuMachine:
    """Describe this machine, and the packages of ``python``, the scoring environment's Python.

    The default is the Python of vLLM's environment in the current directory, which is the
    repository; without such an environment, the Python of this process.
    """
    python = python or find_engine("vllm").python(Path.cwd()) or Path(sys.executable)
    gpus, error = _gpus()
    library, version = platform.libc_ver()
    try:
        disk = os.statvfs(SHARED_MEMORY)
        shared_memory = disk.f_blocks * disk.f_frsize
    except OSError:
        shared_memory = None
    output = ask([str(python), "-c", PROBE], even_if_failed=True, timeout=600) or ""
    try:
        packages = Packages.model_validate_json(output.splitlines()[-1])
    except (IndexError, ValidationError):
        packages = None
    return GpuMachine(
        system=f"{platform.system()} {platform.machine()}",
        glibc=tuple(map(int, version.split(".")[:2])) if library == "glibc" else None,
        shared_memory=shared_memory,
        gpus=gpus,
        smi_error=error,
        packages=packages,
    )


def gpu_problems(machine: GpuMachine) -> Iterator[str]:
    """Yield the obstacles to scoring with vLLM on this machine's GPUs, one sentence each."""
    if machine.system != "Linux x86_64":
        yield f"This is {machine.system}; the pinned wheels are for Linux x86_64."
    if machine.glibc is None:
        yield "The C library is not glibc, which the wheels need; use a container with one."
    elif machine.glibc < GLIBC:
        yield (
            f"glibc is {machine.glibc[0]}.{machine.glibc[1]}, the wheels need "
            f"{GLIBC[0]}.{GLIBC[1]} or later; use a newer system or a container."
        )
    if machine.shared_memory is None or machine.shared_memory < SHARED_BYTES:
        size = (machine.shared_memory or 0) // 2**20
        yield (
            f"{SHARED_MEMORY} has {size:,} MiB; a model on several GPUs needs 1,024 "
            "(docker run --shm-size 8g)."
        )
    if machine.gpus is None:
        yield (
            "nvidia-smi was not found: there is no NVIDIA driver, or the container was started "
            "without --nv or --gpus all."
        )
    elif machine.smi_error:
        yield f"nvidia-smi fails ({machine.smi_error}); reload or reinstall the driver."
    elif not machine.gpus:
        yield "nvidia-smi shows no GPU; ask the scheduler for one (--gres=gpu:1)."
    for number, gpu in enumerate(machine.gpus or ()):
        if gpu.capability < BFLOAT16:
            yield (
                f"GPU {number} ({gpu.name}) has compute capability {gpu.capability}; bfloat16 "
                "needs 8.0: score with dtype float16 or float32."
            )
        if gpu.used_mib > USED_BY_OTHERS * gpu.mib:
            yield (
                f"GPU {number} ({gpu.name}): {gpu.used_mib:,} of {gpu.mib:,} MiB are in use by "
                "others; wait, or set scoring.vllm.gpu_memory lower."
            )
    yield from _package_problems(machine.packages, machine.gpus or [])


def _package_problems(packages: Packages | None, gpus: list[Gpu]) -> Iterator[str]:
    if packages is None:
        yield "The Python that scores does not run; `bash envs/install.sh vllm-cuda`."
        return
    if packages.torch is None:
        yield f"torch cannot be imported ({packages.error}); install the environment again."
        return
    if packages.cuda is None:
        yield (
            f"torch {packages.torch} is built for processors; install the CUDA environment: "
            "`bash envs/install.sh vllm-cuda`."
        )
    else:
        oldest_driver = DRIVERS.get(int(packages.cuda.partition(".")[0]), 0)
        for gpu in gpus[:1]:  # all GPUs of a machine have one driver
            if int(gpu.driver.partition(".")[0]) < oldest_driver:
                yield (
                    f"The driver is {gpu.driver}, CUDA {packages.cuda} of torch needs "
                    f"{oldest_driver} or later; update it, or install wheels for an older CUDA."
                )
            elif not packages.available:
                yield (
                    "nvidia-smi shows a GPU, but torch cannot use it; see CUDA_VISIBLE_DEVICES and "
                    "the devices of the container."
                )
        # Kernels of sm_86 run on compute capabilities 8.6 to 8.9: of the same major version, and
        # not older. Compare ten times these numbers: 86, or 90 for sm_90a.
        kernels = [int(re.sub(r"\D", "", architecture)) for architecture in packages.kernels]
        for gpu in gpus:
            version = round(10 * gpu.capability)
            suitable = [k for k in kernels if k // 10 == version // 10 and k <= version]
            if kernels and not suitable:
                yield (
                    f"torch {packages.torch} has no kernels for {gpu.name} (compute capability "
                    f"{gpu.capability}; it has {', '.join(packages.kernels)}); choose another GPU."
                )
    if packages.vllm is None:
        yield (
            f"vLLM cannot be imported ({packages.error}); `bash envs/install.sh vllm-cuda`, or "
            "score with the engine transformers."
        )
    elif packages.error:
        yield f"vLLM {packages.vllm} is here, but its models cannot be loaded ({packages.error})."


def gpu_text(machine: GpuMachine) -> str:
    """Describe a machine and its obstacles as text."""
    lines = [f"system: {machine.system}, glibc {'.'.join(map(str, machine.glibc or ('none',)))}"]
    for gpu in machine.gpus or ():
        lines.append(
            f"GPU: {gpu.name}, {gpu.mib:,} MiB, compute capability {gpu.capability}, driver "
            f"{gpu.driver}"
        )
    if packages := machine.packages:
        lines.append(
            f"packages: Python {packages.python}, torch {packages.torch} (CUDA {packages.cuda}), "
            f"vLLM {packages.vllm}"
        )
    problems = [*gpu_problems(machine)] or ["Ready to score on GPUs."]
    return "\n".join([*lines, *(f"- {problem}" for problem in problems)])


def as_json(machine: GpuMachine) -> str:
    """Describe a machine and its obstacles as JSON."""
    facts = machine.model_dump() | {"problems": [*gpu_problems(machine)]}
    return json.dumps(facts, indent=1)
