"""What a GPU machine lacks is said in one sentence each.

No machine of ours has a GPU: what nvidia-smi prints is made up here, after its documentation. The
packages are those that are really installed, but for CUDA builds of torch.
"""

import sys
from pathlib import Path

import pytest

from blimpworks.cluster import gpu_check

H100 = gpu_check.Gpu(
    name="NVIDIA H100 80GB HBM3", driver="580.95.05", capability=9.0, mib=81559, used_mib=1
)
KERNELS = ("sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120")
VERSIONS = {"python": "3.11.7", "torch": "2.13.0+cu130", "cuda": "13.0", "vllm": "0.32.0"}
PACKAGES = gpu_check.Packages(kernels=KERNELS, available=True, **VERSIONS)
HOST = {"system": "Linux x86_64", "glibc": (2, 28), "shared_memory": 2**33}
READY = gpu_check.Machine(**HOST, gpus=[H100], smi_error=None, packages=PACKAGES)


def changed(**facts):
    """A machine that is ready but for some facts, also of its one GPU and of its packages."""
    gpu = {name: facts.pop(name) for name in gpu_check.Gpu.model_fields if name in facts}
    packages = {name: facts.pop(name) for name in gpu_check.Packages.model_fields if name in facts}
    machine = READY.model_copy(update=facts)
    if gpu:
        machine = machine.model_copy(update={"gpus": [H100.model_copy(update=gpu)]})
    updated = READY.packages.model_copy(update=packages)
    return machine.model_copy(update={"packages": updated}) if packages else machine


def test_a_machine_that_lacks_nothing_is_ready():
    assert gpu_check.gpu_problems(READY) == []
    assert gpu_check.gpu_text(READY).endswith("Ready to score on GPUs.")


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        ({"system": "Darwin arm64"}, "This is Darwin arm64; the pinned wheels are for Linux"),
        ({"glibc": (2, 27)}, "glibc is 2.27, the wheels need 2.28 or later"),
        ({"glibc": None}, "The C library is not glibc"),
        ({"shared_memory": 2**26}, "/dev/shm has 64 MiB"),
        ({"gpus": None}, "nvidia-smi is not here: no NVIDIA driver"),
        ({"gpus": [], "smi_error": "No devices were found"}, "nvidia-smi fails (No devices"),
        ({"gpus": []}, "nvidia-smi shows no GPU; ask the scheduler"),
        ({"driver": "570.86"}, "The driver is 570.86, CUDA 13.0 of torch needs 580 or later"),
        ({"capability": 7.5}, "has compute capability 7.5; bfloat16 needs 8.0"),
        ({"kernels": ("sm_100",)}, "torch 2.13.0+cu130 has no kernels for NVIDIA H100"),
        ({"used_mib": 40000}, "40,000 of 81,559 MiB are in use by others"),
        ({"available": False}, "nvidia-smi shows a GPU, but torch cannot use it"),
        ({"torch": None, "error": "ImportError: x"}, "torch cannot be imported (ImportError: x)"),
        ({"cuda": None}, "torch 2.13.0+cu130 is built for processors"),
        ({"vllm": None, "error": "No module"}, "vLLM cannot be imported (No module)"),
        ({"error": "ImportError: y"}, "vLLM 0.32.0 is here, but its models cannot be loaded"),
        ({"packages": None}, "The Python that scores does not run"),
    ],
)
def test_each_lack_is_one_sentence(facts, sentence):
    [problem] = gpu_check.gpu_problems(changed(**facts))
    assert sentence in problem
    assert problem.endswith(".")
    assert "\n" not in problem


def test_gpus_are_read_as_nvidia_smi_lists_them():
    assert gpu_check.read_gpus("NVIDIA H100 80GB HBM3, 580.95.05, 9.0, 81559, 1\n") == [H100]


def test_this_machine_is_described_as_it_is():
    machine = gpu_check.describe_machine(Path(sys.executable))
    assert machine.packages.python == sys.version.split()[0]
    assert machine.packages.torch
    assert gpu_check.describe_machine(Path("/nowhere/python")).packages is None
