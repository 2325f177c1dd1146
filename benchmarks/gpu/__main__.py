"""Measure the speed of scoring, answering and training on NVIDIA GPUs within ten minutes.

python benchmarks/gpu [--shape 1b 8b | tiny] [--models DIR] [--output DIR] [--seconds 600]
    [--only NAME ...] [--dtype bfloat16]

The order is that of importance. Each measurement runs in its process, with its time limit, so the
others run also if it crashes, hangs or runs out of memory. After each, gpu.json and gpu.md are
written to the output directory. The same command, called again, continues with measurements that
are not done. Without a GPU, ``--shape tiny`` runs all of them on the processor. A measurement
reports a missing package, such as vLLM, instead of its figures.
"""

import argparse
import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "src"))

from report import markdown  # noqa: E402

from blimpworks.files import write_text  # noqa: E402


@dataclass(frozen=True)
class Measurement:
    """A function that measures, with the seconds that it may take on an H100."""

    function: str
    module: str
    seconds: int
    every: bool = False
    """Whether it is done with every shape; otherwise with the first."""
    vllm: bool = False
    """Whether it needs vLLM."""


PLAN = (
    Measurement("machine", "hardware", 60),
    Measurement("models", "hardware", 120, every=True),
    Measurement("transformers", "scoring", 90, every=True),
    Measurement("in_process", "vllm_ways", 120, every=True, vllm=True),
    Measurement("served", "vllm_ways", 150, every=True, vllm=True),
    Measurement("arrays", "vllm_ways", 90, vllm=True),
    Measurement("arrays_served", "vllm_ways", 100, vllm=True),
    Measurement("sequences", "vllm_ways", 90, vllm=True),
    Measurement("graphs", "vllm_ways", 150, vllm=True),
    Measurement("peers", "scoring", 90),
    Measurement("parity_vllm", "vllm_ways", 90, vllm=True),
    Measurement("parity", "scoring", 60),
    Measurement("memory", "scoring", 60),
    Measurement("resume", "vllm_ways", 120),
    Measurement("generation", "vllm_ways", 200, vllm=True),
    Measurement("train_lstm", "training", 60),
    Measurement("crowded", "scoring", 60, vllm=True),
)
"""The measurements, in order of importance."""
LEAST = 0.2
"""Least share of a measurement's time limit that must be left to begin it."""


def steps(shapes):
    """Yield name, shape and measurement, in order: first those that are done with every shape."""
    for shape in shapes:
        for step in PLAN:
            if step.every or (step.function == "machine" and shape == shapes[0]):
                name = f"{step.function}-{shape}" if step.every else step.function
                yield name, shape, step
    for step in PLAN:
        if not step.every and step.function != "machine":
            yield step.function, shapes[0], step


def measure(options):
    """Run the measurement that ``--one`` names in this process."""
    [(name, shape, step)] = [row for row in steps(options.shape) if row[0] == options.one]
    from shapes import Bench

    logging_to_stderr()
    module = importlib.import_module(step.module)
    bench = Bench(
        name, shape, options.dtype, options.models, options.output / "work", options.rounds
    )
    getattr(module, step.function)(bench)


def logging_to_stderr():
    """Log to the standard error again, which scoring_kit turns off: the log is kept in a file."""
    import logging

    logging.disable(logging.NOTSET)
    logging.basicConfig(level=logging.INFO)


def title_of(step):
    """Return a measurement's docstring, without importing the packages that it needs."""
    import ast

    tree = ast.parse((Path(__file__).parent / f"{step.module}.py").read_text(encoding="utf-8"))
    [measuring] = [node for node in tree.body if getattr(node, "name", None) == step.function]
    return ast.get_docstring(measuring)


def end(process):
    """Kill a measurement with its process group; a server that it started then ends by itself."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    time.sleep(10)


def run(name, arguments, seconds, output):
    """Run a measurement in a process; return its status, rows and, after a failure, an error."""
    rows, log = output / "work" / f"{name}.jsonl", output / "work" / f"{name}.log"
    rows.unlink(missing_ok=True)
    command = [sys.executable, str(Path(__file__).parent), "--one", name, *arguments]
    path = os.pathsep.join([str(REPOSITORY / "src"), os.environ.get("PYTHONPATH", "")])
    with log.open("wb") as out:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            cwd=REPOSITORY,
            env=os.environ | {"PYTHONPATH": path},
        )
        try:
            status = "done" if process.wait(seconds) == 0 else "failed"
        except subprocess.TimeoutExpired:
            status = f"stopped after {seconds:.0f} s"
        except BaseException:
            end(process)
            raise
    if status != "done":
        end(process)
    result = {"status": status, "rows": []}
    if rows.exists():
        result["rows"] = [
            json.loads(line) for line in rows.read_text(encoding="utf-8").splitlines()
        ]
    if status != "done":
        lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        result["error"] = lines[-1][-300:] if lines else ""
    return result


def write(results, output):
    """Write gpu.json and gpu.md into the output directory."""
    write_text(output / "gpu.json", json.dumps(results, indent=1) + "\n")
    write_text(output / "gpu.md", markdown(results))


def earlier(output, settings):
    """Return the results of an earlier call with the same settings; empty ones at first."""
    try:
        results = json.loads((output / "gpu.json").read_bytes())
    except (OSError, ValueError):
        return {"settings": settings, "measurements": {}}
    if results["settings"] != settings:
        raise SystemExit(
            f"{output / 'gpu.json'} was measured with {results['settings']}, this would be with "
            f"{settings}; choose another --output, or remove that directory."
        )
    return results


def measure_all(options, until):
    """Run the measurements that are not done, while there is time; return all results."""
    settings = {"shapes": options.shape, "dtype": options.dtype, "python": sys.executable}
    results = earlier(options.output, settings)
    arguments = ["--shape", *options.shape]
    for name in ("dtype", "rounds", "models", "output"):
        arguments += [f"--{name}", str(getattr(options, name))]
    patience = max(1.0, options.seconds / 600)
    for name, _, step in steps(options.shape):
        before = results["measurements"].get(name, {})
        if before.get("status") == "done" or (options.only and name not in options.only):
            continue
        remaining, started = until - time.monotonic(), time.monotonic()
        if step.vllm and find_spec("vllm") is None:
            result = {"status": "not possible", "error": "vLLM is not installed"}
        elif before and remaining < LEAST * step.seconds:
            continue
        elif remaining < LEAST * step.seconds:
            result = {"status": "not reached", "error": f"{max(0, remaining):.0f} s were left"}
        else:
            result = run(name, arguments, min(remaining, patience * step.seconds), options.output)
        result |= {"title": title_of(step), "seconds": time.monotonic() - started}
        results["measurements"][name] = result
        write(results, options.output)
        print(f"{name}: {result['status']} {result.get('error', '')}".strip(), flush=True)
    return results


def parse():
    """Return the checked arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--shape", nargs="+", choices=("1b", "8b", "tiny"), default=["1b", "8b"])
    parser.add_argument("--dtype", default="bfloat16", choices=("bfloat16", "float16", "float32"))
    parser.add_argument("--models", type=Path, default=Path("resources/gpu-models"))
    parser.add_argument("--output", type=Path, default=Path("results/gpu"))
    parser.add_argument("--seconds", type=float, default=600, help="limit, with installation")
    parser.add_argument("--spent", type=float, default=0, help="seconds that have passed")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", nargs="+", help="measurements, by name")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    names = [name for name, _, _ in steps(options.shape)]
    if unknown := [name for name in options.only or () if name not in names]:
        parser.error(f"--only {unknown[0]} is no measurement; expected {', '.join(names)}")
    options.models, options.output = options.models.resolve(), options.output.resolve()
    return options


def main():
    options = parse()
    if options.one:
        return measure(options)
    until = time.monotonic() + options.seconds - options.spent
    if "tiny" not in options.shape and shutil.which("nvidia-smi") is None:
        raise SystemExit("nvidia-smi was not found: there is no GPU; --shape tiny needs none.")
    (options.output / "work").mkdir(parents=True, exist_ok=True)
    results = measure_all(options, until)
    print(f"\n{markdown(results)}")
    missing = [n for n, result in results["measurements"].items() if result["status"] != "done"]
    print(f"In {options.output}: gpu.json, gpu.md. Not done: {', '.join(missing) or 'nothing'}.")
    return None


if __name__ == "__main__":
    main()
