"""Software of jobs: images have what the environments pin, and what is missing is named."""

import os
import re
import shutil
import subprocess

import pytest

from blimpworks.cluster import stops
from blimpworks.cluster.images import RECIPE, image_of, missing_images, mounts
from blimpworks.cluster.stops import missing_software
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
    # Where the script installs is where both look.
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
    """Only where Apptainer is and the image was built: containers/build.sh train."""
    if not shutil.which("apptainer") or not image_of(REPOSITORY, "train").exists():
        pytest.skip("no apptainer, or no image of the environment train")
    target = "results/demo/tokens/fra.parquet"
    (tmp_path / "config").symlink_to(REPOSITORY / "config")
    command = ["snakemake", "-s", REPOSITORY / "workflow/Snakefile", "--directory", tmp_path]
    command += ["--configfile", REPOSITORY / "config/demo/config.yaml", "--cores", "1", target]
    command += ["--sdm", "apptainer"]
    if os.geteuid() == 0:  # of a machine that is a container itself, with less than all rights
        command += ["--apptainer-args=--userns"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Activating singularity image" in done.stderr
    record = (tmp_path / f"{target}.prov.json").read_text(encoding="utf-8")
    assert '"python"' in record


# What jobs need is looked for where they will run it


@pytest.fixture
def bare(tmp_path, monkeypatch):
    """A repository without environments, on a machine with nothing installed."""
    monkeypatch.setattr(stops, "find_spec", lambda name: None)
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
    for name in stops.KENLM:
        executable(bare / ".tools/bin" / name)
    assert [*missing_software((), {"train_ngram"}, bare)] == []
