"""Test that images have the environments' pins, and that missing packages are named.

No test machine has a GPU: the output of nvidia-smi is invented after its documentation.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from blimpworks.cluster import gpu_check, software
from blimpworks.cluster.software import RECIPE, image_of, missing_images, missing_software, mounts
from blimpworks.errors import UserError
from support.paths import REPOSITORY

ENVIRONMENTS = ("core", "train", "vllm-cpu", "vllm-cuda")
RECIPES = ("containers/Dockerfile", "containers/blimpworks.def")


def text_of(name):
    return (REPOSITORY / name).read_text(encoding="utf-8")


def build(*arguments):
    command = ["bash", "containers/build.sh", *arguments]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)


def lines(text, pattern):
    return [*map(str.strip, re.findall(pattern, text, re.MULTILINE))]


def test_both_recipes_make_the_same_image():
    docker, apptainer = map(text_of, RECIPES)
    assert lines(docker, r"ARG BASE=(.+)") == lines(apptainer, r"^ +BASE=(.+)")
    assert lines(docker, r"ARG ENVIRONMENT=(.+)") == lines(apptainer, r"^ +ENVIRONMENT=(.+)")
    assert lines(docker, r"^COPY (.+)") == lines(apptainer, r"^ +(\S+ /opt/recipe/\S+)$")
    setup = "bash /opt/recipe/containers/setup.sh"
    assert all(setup in text for text in (docker, apptainer))
    [path] = lines(docker, r"ENV PATH=(\S+)")
    assert lines(apptainer, r"export PATH=(\S+)") == [path]
    # Both look in the folder that the script installs into.
    assert f" {path.partition('/bin')[0]}\n" in text_of("containers/setup.sh")


def test_docker_is_sent_what_the_recipe_copies_and_what_decides_its_content():
    sent = lines(text_of(".dockerignore"), r"^!(.+)")
    assert sent == [line.split()[0] for line in lines(text_of(RECIPES[0]), r"^COPY (.+)")]
    assert all(any(name == s or name.startswith(f"{s}/") for s in sent) for name in RECIPE)


def test_the_script_and_the_workflow_call_an_image_the_same():
    for environment in ENVIRONMENTS:
        assert (REPOSITORY / f"envs/{environment}.txt").is_file()
        done = build("--name", environment)
        assert REPOSITORY / done.stdout.strip() == image_of(REPOSITORY, environment)
    done = build("--name", "dev")
    assert done.returncode == 2
    assert done.stderr.startswith("no environment 'dev': expected core, train")


def test_another_pin_or_script_is_another_image_and_one_not_built_is_named(tmp_path):
    paths = [tmp_path / name.format(environment="core") for name in RECIPE]
    for path in paths:
        path.parent.mkdir(exist_ok=True)
        path.touch()
    images = {image_of(tmp_path, "core")}
    for path in paths:
        path.write_text("changed")
        images.add(image_of(tmp_path, "core"))
    assert len(images) == 1 + len(RECIPE)
    there, absent = images.pop(), "containers/vllm-cuda-0123456789ab.sif"
    there.parent.mkdir(exist_ok=True)
    there.touch()
    [said] = missing_images([str(there), absent])
    assert said.startswith(f"There is no image {absent}: `bash containers/build.sh vllm-cuda`")


def test_images_see_paths_through_their_links_and_those_that_are_not_yet_there(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "near").mkdir()
    (tmp_path / "near/link").symlink_to(tmp_path / "far")
    seen = mounts([tmp_path / "near/link/later/file", tmp_path / "near"])
    assert seen == [str(tmp_path / "far"), str(tmp_path / "near")]
    (tmp_path / "a,b").mkdir()
    with pytest.raises(UserError, match="a,b has a comma or colon in its name"):
        mounts([tmp_path / "a,b"])


@pytest.mark.slow
def test_a_job_of_the_demo_runs_in_its_image(tmp_path):
    """It needs Apptainer and an image: containers/build.sh train."""
    if not shutil.which("apptainer") or not image_of(REPOSITORY, "train").exists():
        pytest.skip("no apptainer, or no image of the environment train")
    target = "results/demo/tokens/fra.parquet"
    (tmp_path / "config").symlink_to(REPOSITORY / "config")
    command = ["snakemake", "-s", REPOSITORY / "workflow/Snakefile", "--directory", tmp_path]
    command += ["--configfile", REPOSITORY / "config/demo/config.yaml", "--cores", "1", target]
    command += ["--sdm", "apptainer"]
    if os.geteuid() == 0:  # for a machine that is itself a container with limited rights
        command += ["--apptainer-args=--userns"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Activating singularity image" in done.stderr
    record = (tmp_path / f"{target}.prov.json").read_text(encoding="utf-8")
    assert '"python"' in record


@pytest.fixture
def bare(tmp_path, monkeypatch):
    """Return a repository without environments, on a machine with nothing installed."""
    monkeypatch.setattr(software, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def executable(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o755)


def test_vllm_has_an_environment_of_its_own(bare):
    [said] = missing_software({"vllm"}, {"score"}, bare)
    assert said.startswith("vllm not installed: `bash envs/install.sh vllm-cuda` for GPUs")
    executable(bare / ".vllm/bin/python")
    assert [*missing_software({"vllm"}, (), bare)] == [said]
    (bare / ".vllm/lib/python3.11/site-packages/vllm").mkdir(parents=True)
    assert [*missing_software({"vllm"}, (), bare)] == []


def test_packages_of_engines_and_trainings_are_named_together(bare):
    [said] = missing_software({"lstm", "transformers"}, {"train_lstm"}, bare)
    assert said.startswith("torch, transformers not installed: `bash envs/install.sh train`")


def test_programs_of_kenlm_are_needed_to_train_alone(bare):
    assert [*missing_software((), {"score", "retrieve", "build_tokens"}, bare)] == []
    [said] = missing_software((), {"train_ngram"}, bare)
    assert said.startswith("KenLM's programs lmplz, build_binary are neither in .tools/bin nor")
    for name in software.KENLM:
        executable(bare / ".tools/bin" / name)
    assert [*missing_software((), {"train_ngram"}, bare)] == []


H100 = gpu_check.Gpu(
    name="NVIDIA H100 80GB HBM3", driver="580.95.05", capability=9.0, mib=81559, used_mib=1
)
KERNELS = ("sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120")
VERSIONS = {"python": "3.11.7", "torch": "2.13.0+cu130", "cuda": "13.0", "vllm": "0.32.0"}
PACKAGES = gpu_check.Packages(kernels=KERNELS, available=True, **VERSIONS)
HOST = {"system": "Linux x86_64", "glibc": (2, 28), "shared_memory": 2**33}
READY = gpu_check.GpuMachine(**HOST, gpus=[H100], smi_error=None, packages=PACKAGES)


def changed(**facts):
    """Return a machine that is ready but for some facts, also of its one GPU and its packages."""
    gpu = {name: facts.pop(name) for name in gpu_check.Gpu.model_fields if name in facts}
    packages = {name: facts.pop(name) for name in gpu_check.Packages.model_fields if name in facts}
    machine = READY.model_copy(update=facts)
    if gpu:
        machine = machine.model_copy(update={"gpus": [H100.model_copy(update=gpu)]})
    updated = READY.packages.model_copy(update=packages)
    return machine.model_copy(update={"packages": updated}) if packages else machine


def test_a_machine_that_lacks_nothing_is_ready():
    assert not [*gpu_check.gpu_problems(READY)]
    assert gpu_check.gpu_text(READY).endswith("Ready to score on GPUs.")


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        ({"system": "Darwin arm64"}, "This is Darwin arm64; the pinned wheels are for Linux"),
        ({"glibc": (2, 27)}, "glibc is 2.27, the wheels need 2.28 or later"),
        ({"glibc": None}, "The C library is not glibc"),
        ({"shared_memory": 2**26}, "/dev/shm has 64 MiB"),
        ({"gpus": None}, "nvidia-smi was not found: there is no NVIDIA driver"),
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
