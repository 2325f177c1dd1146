"""Compare the speed of reading a treebank with that of the conllu package, in tokens per second.

python benchmarks/conllu_speed.py [FILE.conllu[.xz]] [--repeat 3]

Measures the CPU time of one thread: the least of several runs, after one that is not counted. A
token is a line of a sentence (ranges and empty nodes included), so both readers count the same
tokens. Ours also checks the treebank and makes tables; the conllu package does neither.
"""

import argparse
import lzma
import tempfile
import time
from pathlib import Path

import conllu
import pyarrow as pa

from blimpworks.campaign.settings.base import TreebankOptions
from blimpworks.linguistics.treebanks import read_treebank

DEMO = Path(__file__).resolve().parents[1] / "config" / "demo" / "data" / "ud"
DEMO_COPIES = 50


def contents(path):
    """Return a treebank's bytes, decompressed, and its name; by default, the demo's, repeated."""
    if path is None:
        files = sorted(DEMO.glob("*/*.conllu"), key=lambda p: (p.stat().st_size, p))
        return files[-1].read_bytes() * DEMO_COPIES, f"{files[-1].name} ×{DEMO_COPIES}"
    data = path.read_bytes()
    return (lzma.decompress(data) if path.suffix == ".xz" else data), path.name


def read_to_tables(path):
    return len(read_treebank(path, "benchmark", TreebankOptions()).tokens)


def read_with_the_package(path):
    with path.open(encoding="utf-8") as handle:
        return sum(len(sentence) for sentence in conllu.parse_incr(handle))


READS = {
    "conllu alone": read_with_the_package,
    "with checks, to tables": read_to_tables,
}


def seconds(read, path, repeat):
    """Return the number of tokens that ``read`` counts, and its least CPU seconds of the runs."""
    tokens, times = read(path), []
    for _ in range(repeat):
        started = time.process_time()
        assert read(path) == tokens
        times.append(time.process_time() - started)
    return tokens, min(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", type=Path, help="default: the demo's largest treebank")
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()

    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    data, label = contents(arguments.file)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "benchmark.conllu"
        path.write_bytes(data)
        measured = {name: seconds(read, path, arguments.repeat) for name, read in READS.items()}
    [tokens] = {tokens for tokens, _ in measured.values()}

    print(f"{label}: {tokens:,} tokens, {len(data) / 1e6:.1f} MB, best of {arguments.repeat}\n")
    print("| reader | tokens/s | CPU s |\n|---|--:|--:|")
    for name, (_, spent) in measured.items():
        print(f"| {name} | {tokens / spent:,.0f} | {spent:.2f} |")


if __name__ == "__main__":
    main()
