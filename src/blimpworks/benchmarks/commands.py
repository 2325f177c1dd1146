"""Commands of declared benchmarks: items, judgements, and what their authors released."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from blimpworks.commands import shared
from blimpworks.commands.declare import (
    AUTHOR,
    RECORDED,
    UNRECORDED,
    Arguments,
    Declared,
    Use,
    calls,
    command,
)
from blimpworks.commands.options import argument, option, pairs_of
from blimpworks.errors import UserError
from blimpworks.records.job import Planned

if TYPE_CHECKING:
    from blimpworks.judging.judge import Rules

PACKAGE = "blimpworks.benchmarks"


def _beside(declaration: Path, _given: Arguments) -> list[Path]:
    """The declaration, and every file in its folder, which it may name."""
    from blimpworks.benchmarks.files import local_files

    return [*local_files(declaration.parent).values()]


DECLARATION = argument("Declaration, benchmark.yaml.", use=Use(reads=_beside))
FILES = option("Source that it names; repeatable.", "--file", default=list)
SOURCES = option("Directory of the sources.", use=UNRECORDED)
READING = ("openpyxl", "pyarrow")
"""Packages of the commands that read files of benchmarks."""


@calls(f"{PACKAGE}.build:build_items", packages=(*READING, "lark"))
def build_declared_items(
    declaration: Path = DECLARATION,
    benchmark: str = shared.BENCHMARK,
    lang: str = shared.LANG,
    files: list[Path] = FILES,
    sources: Path = SOURCES,
    output: Path = shared.OUTPUT,
    most: int | None = option("Take at most so many of each paradigm.", default=None, min=1),
) -> None:
    """Turn the files of a declared benchmark into items of a language."""


@calls(
    f"{PACKAGE}.accuracies:read_people",
    packages=(*READING, *shared.STATISTICS),
    notes="rows",
    cheap=True,
)
def read_people(
    declaration: Path = DECLARATION,
    benchmark: str = shared.BENCHMARK,
    files: list[Path] = FILES,
    sources: Path = SOURCES,
    output: Path = shared.OUTPUT,
) -> None:
    """Make a table of people's accuracies on a declared benchmark."""


@calls(
    f"{PACKAGE}.accuracies:read_released",
    packages=(*READING, *shared.STATISTICS),
    notes="rows",
    cheap=True,
)
def read_released(
    declaration: Path = DECLARATION,
    benchmark: str = shared.BENCHMARK,
    files: list[Path] = FILES,
    sources: Path = SOURCES,
    output: Path = shared.OUTPUT,
) -> None:
    """Make a table of accuracies from the decisions that a benchmark's authors released."""


@calls(f"{PACKAGE}.accuracies:read_perplexities", packages=READING, notes="rows", cheap=True)
def read_perplexities(
    declaration: Path = DECLARATION,
    benchmark: str = shared.BENCHMARK,
    files: list[Path] = FILES,
    sources: Path = SOURCES,
    output: Path = shared.OUTPUT,
) -> None:
    """Make a table of the perplexities that a benchmark's authors released."""


ITEMS = shared.EACH
SCORES = option("Scores table; one for each items table.")
METHODS = option("Method, or name=expression; repeatable.", "--method")
TIES = option("What ties count as; one, or one a method.")
NEAR_TIE = option("Margins below this, in nats, are near ties.", use=RECORDED)
UNKNOWN = option("Leave out items with unknown words: any, or critical.", default=None)


def _judge_each(
    declared: Declared,
    library: "Callable[[Path, Path, Path, Rules], int]",
    items: Sequence[Path],
    scores: Sequence[Path],
    outputs: Sequence[Path],
    rules: "Rules",
) -> None:
    """Judge each items table with its scores, in a job of its own."""
    from blimpworks.campaign.methods import find_method

    methods = {m.name: asdict(m) for m in map(find_method, rules.methods)}
    params = {"methods": methods, "ties": rules.ties, "near_tie": rules.near_tie}
    params |= {"unknown": rules.unknown} if rules.unknown else {}
    pairs = pairs_of([*items], [*outputs])
    for (table, output), scored in zip(pairs, scores, strict=True):
        inputs = [table, scored]
        with (
            suppress(Planned),
            declared.job(inputs=inputs, outputs=[output], params=params) as job,
        ):
            job.note(unjudged=library(table, scored, output, rules))


@command(
    f"{PACKAGE}.judge_designs:judge_designs", packages=(*shared.ARROW, "lark", "pandas"), cheap=True
)
def judge_designs(
    items: list[Path] = ITEMS,
    scores: list[Path] = SCORES,
    method: list[str] = METHODS,
    ties: list[str] = TIES,
    near_tie: float = NEAR_TIE,
    output: list[Path] = shared.OUTPUTS,
    unknown: str | None = UNKNOWN,
) -> None:
    """Judge for each item of several conditions whether its predictions hold."""
    from blimpworks.benchmarks.judge_designs import judge_designs as library
    from blimpworks.judging.judge import Rules

    rules = Rules(method, ties, near_tie, unknown)
    _judge_each(judge_designs, library, items, scores, output, rules)


@command(f"{PACKAGE}.judge_sentences:judge_sentences", packages=shared.ARROW, cheap=True)
def judge_sentences(
    items: list[Path] = ITEMS,
    scores: list[Path] = SCORES,
    method: list[str] = METHODS,
    ties: list[str] = TIES,
    near_tie: float = NEAR_TIE,
    output: list[Path] = shared.OUTPUTS,
    unknown: str | None = UNKNOWN,
) -> None:
    """Judge for each sentence whether the model accepts it rightly, by a threshold."""
    from blimpworks.benchmarks.judge_sentences import judge_sentences as library
    from blimpworks.judging.judge import Rules

    rules = Rules(method, ties, near_tie, unknown)
    _judge_each(judge_sentences, library, items, scores, output, rules)


@command(panel=AUTHOR, example="show-benchmark rublimp")
def show_benchmark(
    name: str = argument("Benchmark, by its folder's name."),
    sources: Path = option("Directory of the sources.", default=Path("resources/sources")),
    show: int = option("Items to show.", default=5, min=1),
) -> None:
    """Show what a declaration reads from its files; write nothing."""
    from blimpworks.benchmarks.paper import declared_benchmarks
    from blimpworks.benchmarks.preview import preview

    declared = declared_benchmarks()
    if name not in declared:
        raise UserError(
            f"benchmark {name!r} has no folder in config/benchmarks; those that have one: "
            f"{', '.join(declared) or 'none'}."
        )
    for line in preview(declared[name], sources, show):
        typer.echo(line)


@command(panel=AUTHOR, example="pin-dataset RussianNLP/rublimp --folder config/benchmarks/mine")
def pin_dataset(
    dataset: str = argument("Data set of the Hugging Face hub, OWNER/NAME."),
    revision: str = option("Commit, tag or branch; the commit is recorded.", default="main"),
    split: str = option("Split to read; all files without one.", default=""),
    folder: Path = option("Folder of the benchmark, config/benchmarks/NAME."),
) -> None:
    """Add the files of a data set of the hub to a benchmark's sources, pinned."""
    from blimpworks.benchmarks import datasets

    for row in datasets.pin_dataset(datasets.Dataset(dataset, revision, split), folder):
        typer.echo(row.name)
    typer.echo(f"{folder / 'sources.tsv'}: write their names, or a pattern, as 'files'.")


@command(group="export")
def export_benchmark(
    items: list[Path] = argument("Items tables of pairs, one for each language."),
    folder: Path = option("Folder to write, config/benchmarks/NAME."),
    label: str = option("Name in tables and figures."),
    authors: str = option("Authors, with the year."),
) -> None:
    """Write pairs as a declared benchmark, which any campaign can run."""
    from blimpworks.benchmarks import export

    pairs = export.export_benchmark(items, folder, label, authors)
    typer.echo(f"{folder}: {pairs:,} pairs. Next: blimpworks show-benchmark {folder.name}")
