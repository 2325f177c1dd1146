"""Measure time and memory of generating BLiMP's paradigms, with and without pools of words.

python benchmarks/generator.py [--pairs 1000] [--repeat 1]

Pools keep the words that fit a draw. Without pools, each draw searches the lexicon, as a sampler
written after the definition does. CPU time is the least of several runs, without imports. Peak
memory is the growth in a process after the imports, also the least of the runs.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from blimpworks.papers.blimp.items.drawing import Builder
from blimpworks.papers.blimp.items.generate import generate_paradigms

BLIMP = Path(__file__).resolve().parents[1] / "config" / "blimp"
WAYS = ("pools", "no pools")


def measure(way, pairs):
    """Print the number of pairs, CPU seconds, and the growth of peak memory in KB, of one way."""
    if way == "no pools":
        Builder._pool = lambda self, key, make: make()
    declarations = sorted((BLIMP / "paradigms").glob("*.yaml"))
    with tempfile.TemporaryDirectory() as directory:
        outputs = [Path(directory, f"{path.stem}.jsonl") for path in declarations]
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        started = time.process_time()
        made = generate_paradigms(declarations, BLIMP / "lexicon", outputs, pairs, 0)
        spent = time.process_time() - started
    print(made, spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=1000, help="pairs of a paradigm, with pools")
    parser.add_argument("--repeat", type=int, default=1)
    arguments = parser.parse_args()
    print("| way | pairs | CPU s | pairs per CPU s | peak memory, MB |")
    print("|---|--:|--:|--:|--:|")
    for way in WAYS:
        # Without pools, a pair takes about a hundred times as long.
        pairs = arguments.pairs if way == "pools" else max(1, arguments.pairs // 100)
        command = [sys.executable, __file__, "--one", way, str(pairs)]
        runs = [
            subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
            for _ in range(arguments.repeat)
        ]
        made, seconds, kilobytes = zip(*runs, strict=True)
        spent = min(map(float, seconds))
        cells = (way, f"{int(made[0]):,}", f"{spent:.2f}", f"{int(made[0]) / spent:,.0f}")
        print(f"| {' | '.join(cells)} | {min(map(int, kilobytes)) / 1024:.1f} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        measure(sys.argv[2], int(sys.argv[3]))
    else:
        main()
