"""Measure the time of `blimpworks check` on many products: a first check and two repetitions.

Usage: python benchmarks/check.py [--products 10000] [--kilobytes 100] [--options=--full]
Products are files of random bytes. Each is made from an earlier product and a file that all share,
and has a record as jobs write it. Times are wall and processor seconds of the command, with the
start of Python.
"""

import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from blimpworks.commands.declare import find_command
from blimpworks.records.job import Job


def make_products(count: int, kilobytes: int) -> None:
    """Run ``count`` jobs, each of which writes a product below results/."""
    rng = random.Random(1)
    command = find_command("sample_items")
    shared = Path("settings.txt")
    shared.write_text("shared\n")
    paths: list[Path] = []
    for number in range(count):
        path = Path(f"results/stage{number % 20}/{number}.bin")
        inputs = [shared, *rng.sample(paths[-500:], min(1, len(paths)))]
        with Job(command, inputs=inputs, outputs=[path], params={"number": number}):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(rng.randbytes(1000 * kilobytes))
        paths.append(path)


def check(options: list[str]) -> tuple[float, float, str]:
    """Run `blimpworks check`; return its wall and processor seconds, and its last line."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "blimpworks", "check", "results", *options],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode:
        raise SystemExit(done.stdout[-2000:] + done.stderr[-2000:])
    return wall, cpu, done.stdout.splitlines()[-1]


def main() -> None:
    """Make the products and check them three times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--products", type=int, default=10_000)
    parser.add_argument("--kilobytes", type=int, default=100, help="size of each product, in kB")
    parser.add_argument("--options", default="", help="options of `blimpworks check`")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        make_products(arguments.products, arguments.kilobytes)
        for label in ("first check", "repeated", "repeated"):
            wall, cpu, last = check(arguments.options.split())
            print(f"{label}: {wall:.2f} s wall, {cpu:.2f} s processor time; {last}", flush=True)
        os.chdir("/")


if __name__ == "__main__":
    main()
