"""Measure how long `blimpworks check` takes on a tree of many products, first and repeated.

Usage: python benchmarks/check.py [--products 10000] [--kilobytes 100] [--options=--full]
Products are random bytes. A product is made from an earlier product and a file that all share, and
has a record as jobs write it. Times are processor and wall seconds of the command.
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

from blimpworks.commands.declare import recorded_commands
from blimpworks.records.job import Job


def make_products(count: int, kilobytes: int) -> None:
    """Run jobs that write this number of products below results/."""
    rng = random.Random(1)
    command = recorded_commands()["sample_items"]
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
    """Run the command; return its wall and processor seconds, and its last line."""
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
    parser.add_argument("--kilobytes", type=int, default=100, help="of each product")
    parser.add_argument("--options", default="", help="of the command")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        make_products(given.products, given.kilobytes)
        for label in ("first", "again", "again"):
            wall, cpu, last = check(given.options.split())
            print(f"{label}: {wall:.2f} s, {cpu:.2f} s of a processor; {last}", flush=True)
        os.chdir("/")


if __name__ == "__main__":
    main()
