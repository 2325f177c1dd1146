"""Measure how time and memory of each step grow with pairs, languages and models.

Usage: python benchmarks/growth.py [--pairs 1000 10000 100000 1000000] [--network 100000]
           [--tables 10 100 1000 10000] [--plot docs/images/growth.png]

Steps are commands of the workflow's jobs. Each runs in a process, on pairs of English sentences
from lists of words. The 5-gram model scores all pairs; the demo's small transformer scores sets of
at most ``--network`` pairs. ``--tables`` are numbers of judgement tables, one for each language and
model, with a hundred pairs each. Time is processor time. Memory is the peak of resident memory,
which includes Python and its imports.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, product
from pathlib import Path
from typing import Any

WORDS = """
today yesterday often sometimes once later soon here there outside inside now
old young small tall quiet clever famous happy tired brave lonely proud
dog cat bird child friend teacher doctor farmer singer baker lawyer pilot
house tree river garden window table school bridge station market tower field
see know like help find hear follow visit watch remember praise thank
man woman boy girl king queen guest guide neighbour tailor driver writer
again alone together twice gladly rarely always slowly
"""
"""Words by position, as in "today the old dog near the house sees the man again"."""
TRANSFORMER = {"kind": "transformer", "max_steps": 40}
"""Recipe of the demo's model with few training steps, which do not affect the time of scoring."""
REQUEST = 2000
"""Megabytes that profiles/slurm requests at the first attempt of a job that does not score."""
SETTINGS = """\
label: Growth
title: Agreement in sentences made of lists of words
authors: blimpworks (2026)
languages: {eng: English}
data:
  - {layout: pairs, files: pairs.jsonl, good: good, bad: bad, constants: {paradigm: agreement}}
"""


@dataclass(frozen=True, slots=True)
class Use:
    """Processor seconds and peak megabytes of a step with ``size`` pairs or tables."""

    step: str
    size: int
    seconds: float
    megabytes: float


def pairs() -> Iterator[tuple[str, str]]:
    """Yield 24 million (good, bad) pairs, whose verbs do or do not agree with their subjects."""
    positions = [line.split() for line in WORDS.strip().splitlines()]
    for group in positions:
        random.Random(1).shuffle(group)
    # The first word changes fastest, so that neighbours have no long prefix in common.
    for adverb, obj, verb, landmark, noun, adjective, time in product(*reversed(positions)):
        before, after = f"{time} the {adjective} {noun} near the {landmark}", f"the {obj} {adverb}"
        yield f"{before} {verb}s {after}", f"{before} {verb} {after}"


def run(step: str, size: int, *command: str | Path) -> Use:
    """Run a command of blimpworks; return its time and memory. Ends the benchmark if it fails.

    This process must stay small, because Linux counts its memory in the peak of a child.
    """
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "blimpworks", *map(str, command)], stdout=output, stderr=output
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            output.seek(0)
            raise SystemExit(f"{step} of {size}: {output.read().decode()[-2000:]}")
    return Use(step, size, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def models(folder: Path) -> dict[str, tuple[Path, str]]:
    """Train a 5-gram model and the demo's transformer; return checkpoint and engine by name."""
    text = folder / "text.txt"
    text.write_text("".join(f"{good}\n" for good, _ in islice(pairs(), 2000)), encoding="utf-8")
    recipes = {
        "5-gram": ("train-ngram", {"kind": "ngram", "order": 5}, "kenlm", ()),
        "transformer": ("train-transformer", TRANSFORMER, "transformers", ("--seed", "0")),
    }
    trained = {}
    for model, (command, recipe, engine, seed) in recipes.items():
        checkpoint = folder / model / "checkpoint.json"
        about = ("--name", model, "--scope", "eng", "--recipe-name", model)
        named = ("--recipe", json.dumps(recipe), "--output", checkpoint)
        run(command, 2000, command, text, *about, *named, *seed)
        trained[model] = (checkpoint, engine)
    return trained


def declared(folder: Path, size: int) -> Path:
    """Write a benchmark with ``size`` pairs; return the path of its declaration."""
    folder.mkdir()
    with (folder / "pairs.jsonl").open("w", encoding="utf-8") as file:
        for good, bad in islice(pairs(), size):
            file.write(json.dumps({"good": good, "bad": bad}) + "\n")
    declaration = folder / "benchmark.yaml"
    declaration.write_text(SETTINGS, encoding="utf-8")
    return declaration


def of_pairs(
    folder: Path, size: int, network: int, trained: dict[str, tuple[Path, str]]
) -> Iterator[Use]:
    """Yield the use of each step from a declaration to accuracies, for ``size`` pairs."""
    declaration, items = declared(folder / "growth", size), folder / "items.parquet"
    about = ("--sources", folder, "--benchmark", "growth", "--lang", "eng")
    yield run("items", size, "build-declared-items", declaration, *about, "--output", items)
    for model, (checkpoint, engine) in trained.items():
        if engine == "transformers" and size > network:
            continue
        model_folder = folder / model
        stored = ("--store", model_folder / "shards", "--manifest", model_folder / "manifest.json")
        loaded = ("--checkpoint", checkpoint, "--engine", engine, "--options", "{}")
        yield run(f"scores, {model}", size, "score", items, *loaded, *stored)
    scores, table = folder / "scores.parquet", folder / "judgements/5-gram/eng.parquet"
    model_folder = folder / "5-gram"
    stored = ("--store", model_folder / "shards", "--manifest", model_folder / "manifest.json")
    yield run("collecting", size, "collect-scores", "--items", items, *stored, "--output", scores)
    rules = ("--method", "full_sentence", "--ties", "wrong", "--near-tie", "0")
    judged = ("--items", items, "--scores", scores, "--output", table)
    yield run("judgements", size, "judge", *judged, *rules)
    yield accuracies("accuracies", size, folder, {"5-gram": ["eng"]})


def accuracies(step: str, size: int, folder: Path, judged: dict[str, list[str]]) -> Use:
    """Compute accuracies from judgements below a folder, for languages by model; return the use."""
    about = ("--models", json.dumps(judged), "--benchmark", "growth")
    output = folder / "accuracies.parquet"
    return run(step, size, "compute-accuracies", folder / "judgements", *about, "--output", output)


def of_tables(folder: Path, table: Path, sizes: list[int]) -> Iterator[Use]:
    """Yield the use of computing accuracies from judgement tables of ten models, for each size."""
    for size in sizes:
        languages = [f"l{number:04}" for number in range(size // 10)]
        judged = {f"model{number}": languages for number in range(10)}
        for lang in languages:
            for model in judged:
                path = folder / f"judgements/{model}/{lang}.parquet"
                path.parent.mkdir(parents=True, exist_ok=True)
                if not path.exists():
                    shutil.copy(table, path)
        yield accuracies("accuracies of tables", size, folder, judged)


def draw(uses: list[Use], path: Path) -> None:
    """Plot processor seconds and megabytes of each step by size, on logarithmic axes."""
    from matplotlib.ticker import EngFormatter, NullFormatter

    from blimpworks.exhibits.style import SMALL, house_style, new_figure

    with house_style():
        figure = new_figure(7, 3.2)
        labels = {"seconds": "processor time (s)", "megabytes": "peak memory (MB)"}
        for axes, (quantity, label) in zip(figure.subplots(1, 2), labels.items(), strict=True):
            for step in dict.fromkeys(use.step for use in uses):
                of_step = [use for use in uses if use.step == step]
                values = [getattr(use, quantity) for use in of_step]
                axes.plot([use.size for use in of_step], values, marker="o", ms=3, label=step)
            axes.set(xscale="log", yscale="log", xlabel="pairs, or tables", ylabel=label)
            for axis in (axes.xaxis, axes.yaxis):
                axis.set_major_formatter(EngFormatter(sep=""))
                axis.set_minor_formatter(NullFormatter())
        axes.axhline(REQUEST, color="black", ls="--", lw=1)
        axes.annotate("first request of SLURM", (0, REQUEST), (3, 3), size=SMALL,
                      xycoords=("axes fraction", "data"), textcoords="offset points")  # fmt: skip
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=4)
        figure.savefig(path, dpi=150)


def main() -> None:
    """Measure and print the use of all steps; plot it if there is ``--plot``."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    numbers: dict[str, Any] = {"type": int, "nargs": "+"}
    parser.add_argument("--pairs", default=[10**3, 10**4, 10**5, 10**6], **numbers)
    parser.add_argument("--tables", default=[10, 100, 1000, 10_000], **numbers)
    parser.add_argument("--network", type=int, default=10**5, help="most pairs for the transformer")
    parser.add_argument("--plot", type=Path, help="file of a plot to draw")
    options = parser.parse_args()
    uses: list[Use] = []

    def show(use: Use) -> None:
        uses.append(use)
        print(f"{use.step:22} {use.size:>9,} {use.seconds:9.1f} s {use.megabytes:8,.0f} MB")
        sys.stdout.flush()

    with tempfile.TemporaryDirectory() as name:
        trained = models(Path(name))
        for number, size in enumerate([100, *options.pairs]):
            folder = Path(name) / str(number)
            folder.mkdir()
            for use in of_pairs(folder, size, options.network, trained):
                if number:
                    show(use)
        table = Path(name) / "0/judgements/5-gram/eng.parquet"
        for use in of_tables(Path(name) / "tables", table, options.tables):
            show(use)
    if options.plot:
        draw(uses, options.plot)


if __name__ == "__main__":
    main()
