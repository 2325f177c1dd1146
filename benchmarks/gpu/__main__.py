"""All that we want to know of a machine with NVIDIA GPUs, in one go and within ten minutes.

python benchmarks/gpu [--shape 1b 8b | tiny] [--models DIR] [--output DIR] [--seconds 600]
    [--only NAME ...] [--dtype bfloat16]

Each measurement runs in a process of its own with a time of its own, so that one that crashes,
hangs or runs out of memory costs itself alone; they come in order of importance until the time
is over. After each, gpu.json and gpu.md are written again in the output directory. The same
command goes on with what has not been done. Without a GPU, ``--shape tiny`` runs everything
on the processor; what needs vLLM or another package that is absent says so.
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
    """A function of a module, and how long it may take on an H100."""

    kind: str
    """Name of the function."""
    module: str
    seconds: int
    every: bool = False
    """Whether it is done with each shape, not with the first alone."""
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
"""In order of importance."""
LEAST = 0.2
"""Share of its time without which a measurement is not begun."""


def steps(shapes):
    """Name, shape and measurement, in order: what is done with each shape comes first."""
    for shape in shapes:
        for each in PLAN:
            if each.every or (each.kind == "machine" and shape == shapes[0]):
                yield f"{each.kind}-{shape}" if each.every else each.kind, shape, each
    for each in PLAN:
        if not each.every and each.kind != "machine":
            yield each.kind, shapes[0], each


def measure(given):
    """One measurement, in this process."""
    [(name, shape, step)] = [each for each in steps(given.shape) if each[0] == given.one]
    from shapes import Bench

    logging_to_stderr()
    module = importlib.import_module(step.module)
    bench = Bench(name, shape, given.dtype, given.models, given.output / "work", given.rounds)
    getattr(module, step.kind)(bench)


def logging_to_stderr():
    """Undo what keeps the other benchmarks quiet: a log is wanted where nobody watches."""
    import logging

    logging.disable(logging.NOTSET)
    logging.basicConfig(level=logging.INFO)


def title_of(step):
    """What a measurement is, from its docstring, without importing what it needs."""
    import ast

    tree = ast.parse((Path(__file__).parent / f"{step.module}.py").read_text(encoding="utf-8"))
    [function] = [node for node in tree.body if getattr(node, "name", None) == step.kind]
    return ast.get_docstring(function)


def end(process):
    """Kill a measurement with its group; a server that it has started ends by itself then."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    time.sleep(10)


def run(name, arguments, seconds, output):
    """Status, rows and the last line of the log of a measurement in a process of its own."""
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
    """Both files again."""
    write_text(output / "gpu.json", json.dumps(results, indent=1) + "\n")
    write_text(output / "gpu.md", markdown(results))


def earlier(output, settings):
    """Results of an earlier call that this one goes on from."""
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


def measure_all(given, until):
    """Run every measurement that has not been done, as far as time allows."""
    settings = {"shapes": given.shape, "dtype": given.dtype, "python": sys.executable}
    results = earlier(given.output, settings)
    arguments = ["--shape", *given.shape, "--dtype", given.dtype, "--rounds", str(given.rounds)]
    arguments += ["--models", str(given.models), "--output", str(given.output)]
    patience = max(1.0, given.seconds / 600)
    for name, _, step in steps(given.shape):
        was = results["measurements"].get(name, {})
        if was.get("status") == "done" or (given.only and name not in given.only):
            continue
        left, started = until - time.monotonic(), time.monotonic()
        if step.vllm and find_spec("vllm") is None:
            result = {"status": "not possible", "error": "vLLM is not installed"}
        elif was and left < LEAST * step.seconds:
            continue
        elif left < LEAST * step.seconds:
            result = {"status": "not reached", "error": f"{max(0, left):.0f} s were left"}
        else:
            result = run(name, arguments, min(left, patience * step.seconds), given.output)
        result |= {"title": title_of(step), "seconds": time.monotonic() - started}
        results["measurements"][name] = result
        write(results, given.output)
        print(f"{name}: {result['status']} {result.get('error', '')}".strip(), flush=True)
    return results


def parse():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--shape", nargs="+", choices=("1b", "8b", "tiny"), default=["1b", "8b"])
    parser.add_argument("--dtype", default="bfloat16", choices=("bfloat16", "float16", "float32"))
    parser.add_argument("--models", type=Path, default=Path("resources/gpu-models"))
    parser.add_argument("--output", type=Path, default=Path("results/gpu"))
    parser.add_argument("--seconds", type=float, default=600, help="for all, set-up included")
    parser.add_argument("--spent", type=float, default=0, help="of these, before this began")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", nargs="+", help="measurements, by name")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    names = [name for name, _, _ in steps(given.shape)]
    if unknown := [name for name in given.only or () if name not in names]:
        parser.error(f"--only {unknown[0]} is no measurement; expected {', '.join(names)}")
    given.models, given.output = given.models.resolve(), given.output.resolve()
    return given


def main():
    given = parse()
    if given.one:
        return measure(given)
    until = time.monotonic() + given.seconds - given.spent
    if "tiny" not in given.shape and shutil.which("nvidia-smi") is None:
        raise SystemExit("There is no GPU here (no nvidia-smi); --shape tiny tries it out without.")
    (given.output / "work").mkdir(parents=True, exist_ok=True)
    results = measure_all(given, until)
    print(f"\n{markdown(results)}")
    left = [n for n, each in results["measurements"].items() if each["status"] != "done"]
    print(f"In {given.output}: gpu.json, gpu.md. Not done: {', '.join(left) or 'nothing'}.")
    return None


if __name__ == "__main__":
    main()
