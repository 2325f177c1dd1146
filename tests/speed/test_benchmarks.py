"""Scripts that measure speed run on the present code, at a tiny size."""

import subprocess
import sys

import pytest

from support.paths import REPOSITORY

TINY = {
    "conllu_speed": ["--repeat", "1"],
    "generator": ["--pairs", "2"],
    "grammars": ["--repeat", "1"],
    "host_cost": ["--sentences", "200", "--rounds", "1"],
}
OF_THE_MIRROR = {
    "scoring_speed": ["--count", "20", "--rounds", "1", "--model", "demo", "--quick"],
}


def table_of(name, options):
    """The table that a benchmark prints."""
    done = subprocess.run(
        [sys.executable, f"benchmarks/{name}.py", *options],
        cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [line for line in done.stdout.splitlines() if line.startswith("|")]


@pytest.mark.slow
@pytest.mark.parametrize("name", TINY)
def test_a_benchmark_prints_its_table(name):
    assert len(table_of(name, TINY[name])) > 2


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_THE_MIRROR)
def test_a_benchmark_of_upstream_data_prints_its_table(name, mirror):
    assert len(table_of(name, OF_THE_MIRROR[name])) > 2
