"""Test `make gpu` at a tiny size on the processor, and its report."""

import json
import subprocess
import sys

import pytest

from support.gguf_kit import write_wheel
from support.paths import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "benchmarks/gpu"))
from report import markdown, table


def results(**measurements):
    done = {
        name: {"status": "done", "title": "T.", "rows": rows} for name, rows in measurements.items()
    }
    return {"settings": {"shapes": ["1b"], "dtype": "bfloat16"}, "measurements": done}


def speed(way, rate):
    return {"engine": way, "tokens/s": rate, "teraflops": rate * 2.5e-3}


def test_goals_are_compared_with_the_best_way_and_served_with_in_process():
    rows = {
        "machine": [{"format": "bfloat16", "peak, teraflops": 500.0}],
        "in_process-1b": [speed("vLLM, in process", 100_000.0)],
        "served-1b": [speed("vLLM, served", 80_000.0)],
        "transformers-1b": [speed("transformers, padded", 130_000.0)],
    }
    text = markdown(results(**rows))
    assert "| 1b: 120,000 tokens/s | 130,000 | transformers, padded | yes |" in text
    assert "| 1b: served at least 0.9 of in process | 0.8 |  | no |" in text
    assert "| transformers, padded | 130,000 | 325 | 0.65 |" in text


def test_what_failed_or_was_not_reached_is_said():
    run = results(memory=[])
    run["measurements"]["memory"] |= {"status": "not reached", "error": "3 s were left"}
    assert "**not reached**: 3 s were left" in markdown(run)


def test_cells_cannot_break_a_table():
    rows = [{"a": "x|y", "b": None}, {"a": 0.00012}]
    assert table(rows) == ["| a |", "|---|", "| x/y |", "| 1e-04 |"]


def make_gpu(tmp_path, **variables):
    variables = {name: str(value) for name, value in variables.items()}
    folders = {"MODELS": str(tmp_path / "models"), "OUTPUT": str(tmp_path / "out")}
    return subprocess.run(
        ["make", "gpu", *(f"{name}={value}" for name, value in (folders | variables).items())],
        cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=1200,
    )  # fmt: skip


def test_without_a_gpu_it_says_so(tmp_path):
    done = make_gpu(tmp_path, PATH=f"{tmp_path}:/usr/bin:/bin")
    assert done.returncode != 0
    assert "There is no GPU here (no nvidia-smi); SHAPE=tiny tries it out" in done.stderr


@pytest.mark.long
def test_a_measurement_that_is_stopped_costs_itself_alone(tmp_path):
    """Only named measurements run; one gets no time, and a second call makes up for it."""
    names = "machine models-tiny transformers-tiny"
    common = {"SHAPE": "tiny", "DTYPE": "float32", "PYTHON": sys.executable}
    make_gpu(tmp_path, **common, LIMIT=1, ONLY="machine")
    read = lambda: json.loads((tmp_path / "out/gpu.json").read_bytes())["measurements"]  # noqa: E731
    assert read()["machine"]["status"] == "not reached"
    done = make_gpu(tmp_path, **common, LIMIT=3000, ONLY=f"{names} in_process-tiny")
    assert done.returncode == 0, done.stderr
    report = read()
    assert {report[name]["status"] for name in names.split()} == {"done"}, report
    assert all(row["tokens/s"] > 0 for row in report["transformers-tiny"]["rows"])
    assert "share of peak" in (tmp_path / "out/gpu.md").read_text()


@pytest.mark.long
def test_wheels_in_parts_are_put_over_what_a_python_has(tmp_path, request):
    """It needs no network, and uses torch of the named Python."""
    wheels = tmp_path / "wheels"
    write_wheel(wheels, "blimpworks_probe", "import torch\n", "blimpworks_probe.py")
    [whole] = wheels.iterdir()
    for name, part in (("aa", whole.read_bytes()[:200]), ("ab", whole.read_bytes()[200:])):
        whole.with_name(f"{whole.name}.{name}").write_bytes(part)
    whole.unlink()
    request.addfinalizer(lambda: subprocess.run(["rm", "-rf", REPOSITORY / ".gpu"], check=True))
    done = make_gpu(
        tmp_path, WHEELS=wheels, PYTHON=sys.executable, SHAPE="tiny", LIMIT=1, ONLY="machine"
    )
    assert done.returncode == 0, done.stderr
    probe = [REPOSITORY / ".gpu/bin/python", "-c", "import blimpworks_probe, torch"]
    subprocess.run(probe, check=True)
