"""Whether models fit into memory, before they are loaded."""

from pathlib import Path

import pytest

from blimpworks.errors import UserError
from blimpworks.evaluation import machine as library
from blimpworks.evaluation.machine import Machine, check_memory, choose_format, slow_formats
from blimpworks.evaluation.models import ResolvedModel
from blimpworks.evaluation.request import repository_catalogue

CATALOGUE = repository_catalogue().models
GB = 10**9
HERE = {"engine": "transformers"}


def model(name, **changes):
    row = CATALOGUE[name].model_copy(update=changes)
    return ResolvedModel(name, row, (name,), in_catalogue=True)


def test_what_a_model_needs_is_its_weights_and_what_its_engine_works_with():
    small = model("gpt2", engine="transformers")
    large = model("llama-3.1-8b", engine="transformers")
    assert check_memory([small, large], Machine(20.0)) == [
        "GPT-2 small needs 1.8 GB of memory: weights 496 MB in float32, 1.3 GB to work with "
        "(20.0 GB are free).",
        "Llama3 8B needs 17.4 GB of memory: weights 16.1 GB in bfloat16, 1.3 GB to work with "
        "(20.0 GB are free).",
    ]
    (line,) = check_memory([model("llama-3.1-70b", engine="transformers")], Machine(None))
    assert line.endswith("1.3 GB to work with."), "a machine that does not say its memory"


@pytest.mark.parametrize(
    ("cpuinfo", "slow"),
    [
        ("flags\t\t: fpu avx2 f16c\nflags\t\t: fpu avx2 f16c\n", {"bfloat16", "float16"}),
        ("flags\t\t: fpu avx512f avx512_bf16\n", {"float16"}),
        ("Features\t: fp asimd asimdhp bf16\n", set()),
        ("model name\t: unknown\n", set()),
        ("", set()),
    ],
    ids=["x86", "x86 with bfloat16", "ARM", "without flags", "without the file"],
)
def test_a_number_format_is_slow_where_no_instruction_is_for_it(cpuinfo, slow):
    assert slow_formats(cpuinfo) == slow


@pytest.mark.parametrize(
    ("machine", "dtype"),
    [
        (Machine(64.0, slow_formats=frozenset({"bfloat16"})), "float32"),
        (Machine(None, slow_formats=frozenset({"bfloat16"})), "float32"),
        (Machine(20.0, slow_formats=frozenset({"bfloat16"})), "bfloat16"),
        (Machine(64.0, slow_formats=frozenset({"float16"})), "bfloat16"),
        (Machine(64.0, (80.0,), slow_formats=frozenset({"bfloat16"})), "bfloat16"),
    ],
    ids=["slow", "slow, memory unknown", "float32 does not fit", "fast", "on a GPU"],
)
def test_a_slow_number_format_gives_way_to_float32_where_that_fits(machine, dtype):
    chosen = choose_format(model("llama-3.1-8b", engine="transformers"), machine)
    assert chosen.row.dtype == dtype
    note = "Llama3 8B is run in float32: this processor has no instructions for bfloat16"
    assert [each[: len(note)] for each in chosen.notes] == [note] * (dtype == "float32")


@pytest.mark.parametrize(
    ("name", "changes", "machine", "says"),
    [
        (
            *("llama-3.1-8b", HERE, Machine(16.0)),
            r"'llama-3.1-8b' needs 17.4 GB of memory: .*; 16.0 GB are free here. Choose --profile",
        ),
        # float32 is halved where that helps, and not where it does not.
        ("gpt2-xl", HERE, Machine(6.0), r"Choose --dtype bfloat16 \(4.4 GB\)"),
        ("gpt2-xl", HERE, Machine(4.0), "Choose --profile slurm"),
        ("llama-3.1-8b", {}, Machine(64.0, (16.0,)), "of the GPU's memory: .*; 16.0 GB are free"),
        ("llama-3.1-8b", {}, Machine(64.0, (16.0,)), "Choose --engine transformers, in the mach"),
        # vLLM on CPUs keeps keys and values in the machine's memory.
        ("llama-3.1-8b", {}, Machine(20.0), "needs 22.1 GB of memory"),
    ],
)
def test_what_cannot_fit_is_refused_with_what_to_do(name, changes, machine, says):
    with pytest.raises(UserError, match=says):
        check_memory([model("ngram-5"), model(name, **changes)], machine)


@pytest.fixture
def groups(tmp_path, monkeypatch):
    """Control groups of a container within a slice, on a machine with 8 GB to spare."""
    own = tmp_path / "slice" / "own"
    own.mkdir(parents=True)
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 16000000 kB\nMemAvailable: 8000000 kB\nHugePages_Total: 0\n")
    monkeypatch.setattr(library, "MEMINFO", meminfo)
    monkeypatch.setattr(library, "CGROUPS", tmp_path)
    monkeypatch.setattr(library, "memory_groups", lambda: [own])
    return own


def limit(group: Path, most, used, cache):
    (group / "memory.max").write_text(f"{most}\n")
    (group / "memory.current").write_text(f"{used}\n")
    (group / "memory.stat").write_text(f"anon 5\ninactive_file {cache}\n")


def test_memory_is_limited_by_each_control_group_and_caches_do_not_count(groups):
    limit(groups, "max", GB, 0)
    assert library.available_memory_gb() == pytest.approx(8.192)
    limit(groups, 6 * GB, 3 * GB, 2 * GB)
    assert library.available_memory_gb() == pytest.approx(5.0)
    limit(groups.parent, 4 * GB, 2 * GB, 0)
    assert library.available_memory_gb() == pytest.approx(2.0)
    # Control groups of the first version.
    (groups / "memory.limit_in_bytes").write_text("3000000000\n")
    (groups / "memory.usage_in_bytes").write_text("2000000000\n")
    (groups / "memory.stat").write_text("inactive_file 1\ntotal_inactive_file 500000000\n")
    assert library.available_memory_gb() == pytest.approx(1.5)


@pytest.fixture
def driver(tmp_path, monkeypatch):
    """A driver's program that tells of two GPUs, or of those that it is asked for."""
    program = tmp_path / "nvidia-smi"
    program.write_text(
        '#!/bin/sh\ncase "$*" in *"-i 1"*) echo 40000;; *) echo 143000; echo 40000;; esac\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return monkeypatch


def test_gpus_are_those_that_this_process_may_use(driver):
    both = (143000 * 2**20 / GB, 40000 * 2**20 / GB)
    assert library.visible_gpus_gb() == both
    driver.setenv("CUDA_VISIBLE_DEVICES", "1")
    assert library.visible_gpus_gb() == both[1:]
    for nothing in ("", "-1"):
        driver.setenv("CUDA_VISIBLE_DEVICES", nothing)
        assert library.visible_gpus_gb() == ()
    driver.delenv("CUDA_VISIBLE_DEVICES")
    driver.setenv("PATH", "/nowhere")
    assert library.visible_gpus_gb() == ()
