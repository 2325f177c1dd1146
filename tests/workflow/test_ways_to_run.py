"""The workflow is planned the same however it is started."""

import re
import shutil
import subprocess

import pytest

from support.checkout import output_of

DEMO = "config/demo/config.yaml"
pytestmark = pytest.mark.xdist_group("untouched")  # so that `usual` is planned once
MODULE = """configfile: "{root}/config/demo/config.yaml"


module blimpworks:
    snakefile:
        gitfile("{clone}", path="workflow/Snakefile", tag="v1")
    config:
        config


use rule * from blimpworks as bw_*
"""


def jobs(done):
    """How many jobs a dry run plans, by rule."""
    assert done.returncode == 0, output_of(done)
    rows = re.findall(r"^(?:bw_)?(\w+) +(\d+)$", output_of(done), re.MULTILINE)
    return {rule: int(n) for rule, n in rows if rule != "total"}


@pytest.fixture(scope="module")
def usual(untouched):
    planned = jobs(untouched.snakemake("-n", campaign=DEMO))
    assert planned["build_table"] > 1
    return planned


def test_by_its_own_file_in_another_directory(untouched, usual, tmp_path):
    arguments = ("-n", "-s", "workflow/Snakefile", "--directory", str(tmp_path))
    assert jobs(untouched.snakemake(*arguments, campaign=str(untouched.path / DEMO))) == usual


def test_without_benchmarks_there_is_nothing_but_print(untouched):
    untouched.change("config/none.yaml", benchmarks=[])
    planned = jobs(untouched.snakemake("-n", "published", campaign="config/none.yaml"))
    assert "score" not in planned
    assert planned["read_published"] == 5


def test_as_a_module_of_another_workflow(untouched, usual, tmp_path):
    """What snakedeploy writes, with a clone here in place of a host's."""
    clone = tmp_path / "clone"
    left_out = shutil.ignore_patterns(".git", ".snakemake", ".venv", ".vllm", ".tools")
    shutil.copytree(untouched.path, clone, symlinks=True, ignore=left_out)
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b.c", "-C", str(clone))
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "all"), ("tag", "v1")):
        subprocess.run([*git, *words], check=True)
    (tmp_path / "Snakefile").write_text(MODULE.format(root=untouched.path, clone=clone))
    arguments = ("-n", "--cores=2", "--directory", str(tmp_path), "-s", str(tmp_path / "Snakefile"))
    assert jobs(untouched.run("snakemake", *arguments)) == usual
