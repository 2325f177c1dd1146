"""Declare the commands for benchmarks that are declared as data, in a ``benchmark.yaml``.

Commands of campaigns build items, judge models' scores on them, and read released accuracies. Other
commands help authors to check a benchmark, draft its declaration, or have people judge it.

A job records its inputs and products. ``@command(calls=…)`` runs the named function in a job, with
the arguments of the same names; ``recorded=`` runs the body in a job. Other bodies open it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from blimpworks.annotation.options import ValidationOptions
from blimpworks.commands import declare, shared
from blimpworks.commands.declare import AUTHOR, command
from blimpworks.commands.options import argument, option, settings, written

PACKAGE = "blimpworks.benchmarks"


def _files_beside(declaration: Path, _arguments: declare.Arguments) -> list[Path]:
    """List the files in a declaration's folder, which a job reads as well."""
    from blimpworks.benchmarks.files import local_files

    return [*local_files(declaration.parent).values()]


DECLARATION = argument("Declaration, benchmark.yaml.", use=declare.Use(inputs_from=_files_beside))
FILES = option("Source that the declaration names; repeatable.", "--file", default=list)
SOURCES = option("Directory of the sources.", use=declare.UNRECORDED)
READING = ("openpyxl", "pyarrow")
"""Packages that read a benchmark's files; a product's record has their versions."""


@command(calls=f"{PACKAGE}.build:build_items", packages=(*READING, "lark"))
def build_declared_items(
    declaration: Path = DECLARATION,
    benchmark: str = shared.BENCHMARK,
    lang: str = shared.LANG,
    files: list[Path] = FILES,
    sources: Path = SOURCES,
    output: Path = shared.OUTPUT,
    most: int | None = option("Largest number of items of a paradigm.", default=None, min=1),
) -> None:
    """Turn the files of a declared benchmark into items of a language."""


@command(
    calls=f"{PACKAGE}.accuracies:read_people", packages=(*READING, *shared.STATISTICS), cheap=True
)
def read_people(
    declaration: Path = DECLARATION,
    benchmark: str = shared.BENCHMARK,
    files: list[Path] = FILES,
    sources: Path = SOURCES,
    items: list[Path] = shared.ITEMS_TABLES,
    output: Path = shared.OUTPUT,
) -> None:
    """Make a table of people's accuracies on a declared benchmark."""


def _declare_reader(name: str, text: str, packages: tuple[str, ...]) -> declare.Declared:
    """Declare a command that calls the function ``name`` of ``accuracies``."""

    def read(
        declaration: Path = DECLARATION,
        benchmark: str = shared.BENCHMARK,
        files: list[Path] = FILES,
        sources: Path = SOURCES,
        output: Path = shared.OUTPUT,
    ) -> None:
        pass  # ``calls`` states the function

    read.__name__, read.__doc__ = name, text
    calls = f"{PACKAGE}.accuracies:{name}"
    return command(calls=calls, packages=packages, notes="rows", cheap=True)(read)


read_released = _declare_reader(
    "read_released",
    "Make a table of accuracies from the decisions that a benchmark's authors released.",
    (*READING, *shared.STATISTICS),
)
read_perplexities = _declare_reader(
    "read_perplexities",
    "Make a table of the perplexities that a benchmark's authors released.",
    READING,
)


def _declare_judge(name: str, text: str, packages: tuple[str, ...]) -> declare.Declared:
    """Declare a command that calls the function ``name`` of ``verdicts`` for each items table."""

    def judge(
        items: list[Path] = shared.ITEMS_TABLES,
        scores: list[Path] = shared.SCORES_TABLES,
        method: list[str] = shared.METHODS,
        ties: list[str] = shared.TIES,
        near_tie: float = shared.NEAR_TIE,
        output: list[Path] = shared.OUTPUTS,
        unknown: str | None = shared.UNKNOWN,
    ) -> None:
        from blimpworks.benchmarks import verdicts
        from blimpworks.judging.judge import Rules

        rules = Rules(method, ties, near_tie, unknown)
        # ``judge_each`` opens the job of the command that is declared below.
        shared.judge_each(declared, getattr(verdicts, name), rules, items, scores, output)

    judge.__name__, judge.__doc__ = name, text
    declared = command(f"{PACKAGE}.verdicts:{name}", packages=packages, cheap=True)(judge)
    return declared


judge_designs = _declare_judge(
    "judge_designs",
    "Judge for each item of several conditions whether its predictions hold.",
    (*shared.ARROW, "lark", "pandas"),
)
judge_sentences = _declare_judge(
    "judge_sentences",
    "Judge for each sentence whether the model accepts it rightly, by a threshold.",
    shared.ARROW,
)

BENCHMARK = argument("Benchmark, by its folder's name, or the path of its folder or declaration.")
RETRIEVED = option("Directory of the sources.", default=Path("resources/sources"))


@command(panel=AUTHOR, example="show-benchmark rublimp")
def show_benchmark(
    name: str = BENCHMARK,
    sources: Path = RETRIEVED,
    show: int = option("Number of items to show.", default=5, min=1),
) -> None:
    """Show the items that a declaration reads from its files; write nothing."""
    from blimpworks.benchmarks.check import preview
    from blimpworks.benchmarks.paper import find_declared

    for line in preview(find_declared(name), sources, show):
        typer.echo(line)


@command(panel=AUTHOR, example="check-benchmark rublimp --html rublimp.html")
def check_benchmark(
    name: str = BENCHMARK,
    sources: Path = RETRIEVED,
    tokenizer: Path | None = option(
        "Tokenizer to count tokens with: a tokenizer.json, or a model's directory.", default=None
    ),
    show: int = option("Number of lines to show of each finding.", default=5, min=1),
    html: Path | None = option("HTML page to write, with findings and items.", default=None),
    most: int | None = option(
        "Largest number of items of each paradigm on the page.", default=None, min=1
    ),
) -> None:
    """Check a benchmark before its release: copies, contradictions, lengths, baselines.

    Exit 1 if there are errors, and 0 if there are only warnings.
    """
    from blimpworks.benchmarks.check import check, report, token_counter, write_page
    from blimpworks.benchmarks.paper import find_declared

    result = check(find_declared(name), sources, token_counter(tokenizer) if tokenizer else None)
    for line in report(result, show):
        typer.echo(line)
    if html is not None:
        write_page(result, html, show, most)
    raise typer.Exit(1 if result.errors else 0)


@command(
    panel=AUTHOR,
    example="new-benchmark pairs.csv --folder config/benchmarks/mine --authors 'Li (2026)'",
)
def new_benchmark(
    files: list[Path] = argument("Files with items."),
    folder: Path = option("Folder of the benchmark to write, config/benchmarks/NAME."),
    authors: str = option("Authors, with the year."),
    lang: list[str] = option("Language, as ISO 639-3 or CODE=NAME; repeatable.", default=list),
) -> None:
    """Write a draft of a declaration, guessed from the headings and values of its files."""
    from blimpworks.benchmarks.check import preview
    from blimpworks.benchmarks.drafts import INCOMPLETE, guess_declaration
    from blimpworks.benchmarks.paper import find_declared

    lines = [*guess_declaration(files, folder, authors, lang)]
    for line in lines:
        typer.echo(line)
    # The last line about an incomplete draft says so; such a draft has no items to show.
    if INCOMPLETE not in lines[-1]:
        for line in preview(find_declared(str(folder)), folder, 3):
            typer.echo(line)


LISTS = "Settings of the lists, as JSON."


@command(
    "blimpworks.annotation.sheets:write_lists",
    packages=shared.ARROW,
    panel=AUTHOR,
    example="judgement-sheets rublimp --lang rus --folder sheets",
)
def judgement_sheets(
    items: str = argument("Items table, or a declared benchmark by name or path."),
    lang: str = shared.LANG,
    folder: Path = option("Folder for LANG.NAME.csv, a key, and a table for PCIbex."),
    options: ValidationOptions = settings(ValidationOptions, LISTS, default="{}"),
    sources: Path = RETRIEVED,
) -> None:
    """Divide the items of a benchmark among annotators, and write a sheet for each."""
    from blimpworks.annotation.sheets import write_lists
    from blimpworks.benchmarks.build import build_items
    from blimpworks.benchmarks.paper import find_declared

    table = Path(items)
    if table.suffix != ".parquet":
        declared = find_declared(items)
        table = folder / f"{lang}.items.parquet"
        files = [*declared.source_files(sources).values()]
        build_items(declared.path, files, sources, declared.name, lang, table)
    sheets = [folder / f"{lang}.{name}.csv" for name in options.names]
    key, pcibex = folder / f"{lang}.key.parquet", folder / f"{lang}.pcibex.csv"
    params = {"lang": lang, "options": options.model_dump(mode="json")}
    with judgement_sheets.job(inputs=[table], outputs=[key, pcibex, *sheets], params=params) as job:
        number = write_lists(table, lang, sheets, key, pcibex, options)
        job.note(items=number)
    typer.echo(f"{number} items on {len(sheets)} lists")


@command(
    recorded="blimpworks.annotation.sheets:read_validation",
    packages=("numpy", "pandas", "pyarrow", "statsmodels"),
    cheap=True,
)
def read_judgements(
    sheets: list[Path] = argument("Filled sheets.", use=declare.FILLED_IN),
    benchmark: str = shared.BENCHMARK,
    keys: list[Path] = option("Key of sheets; repeatable.", "--key"),
    ratings: Path = written("Table of ratings to write."),
    participants: Path = written("Table of participants to write."),
    accuracies: Path = written("Table of people's accuracies to write."),
    options: ValidationOptions = settings(
        ValidationOptions,
        LISTS,
        default="{}",
        use=declare.dumped(mode="json", include={"check_threshold", "per_pair"}),
    ),
) -> Mapping[str, Any]:
    """Read filled sheets without people who fail the attention checks, and measure accuracies."""
    from blimpworks.annotation import sheets as library

    outputs = (ratings, participants, accuracies)
    facts = library.read_validation(sheets, keys, benchmark, outputs, options)
    typer.echo(", ".join(f"{name}: {value:.4g}" for name, value in facts.items()))
    return facts


@command(panel=AUTHOR, example="pin-dataset RussianNLP/rublimp --folder config/benchmarks/mine")
def pin_dataset(
    dataset: str = argument("Data set of the Hugging Face hub, OWNER/NAME."),
    revision: str = option("Commit, tag or branch; the commit is recorded.", default="main"),
    split: str = option("Split to read; by default all files.", default=""),
    folder: Path = option("Folder of the benchmark, config/benchmarks/NAME."),
) -> None:
    """Add the files of a data set of the hub to a benchmark's sources, with checksums."""
    from blimpworks.benchmarks import hub

    for row in hub.pin_dataset(dataset, revision, split, folder):
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
    from blimpworks.benchmarks import drafts

    pairs = drafts.export_benchmark(items, folder, label, authors)
    typer.echo(f"{folder}: {pairs:,} pairs. Next: blimpworks show-benchmark {folder.name}")
