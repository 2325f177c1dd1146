"""Define options that several commands share, and the packages that decide their products."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blimpworks.campaign.methods import find_method
from blimpworks.commands.declare import UNRECORDED, Arguments, Declared, Use
from blimpworks.commands.options import argument, each_once, option, pairs_of, tables_below, written
from blimpworks.records.job import Planned

if TYPE_CHECKING:
    from blimpworks.tables import Evaluation

SPELLING = ("numpy", "pyarrow", "unidecode", "indic-transliteration")
"""Packages of commands that normalise the spelling of words."""
ARROW = ("numpy", "pyarrow")
"""Packages of commands that read and write tables."""
STATISTICS = ("numpy", "pandas", "pyarrow", "scipy")
"""Packages of commands that compute statistics."""
MODELLING = (*STATISTICS, "statsmodels")
"""Packages of commands that fit statistical models."""


def of_evaluations(folder: str) -> Use:
    """Return the use of an option for a results directory, below which evaluations have tables.

    The tables are inputs of the job, and the command gets a list of ``Evaluation`` in place of the
    directory.
    """

    def rows(results: Path, arguments: Arguments) -> "list[Evaluation]":
        """List the evaluations of the chosen models and benchmark."""
        from blimpworks.tables import Evaluation

        benchmark = arguments["benchmark"]
        items = (arguments.get("items") or results / "items") / benchmark
        judgements = results / "judgements" / benchmark
        outputs = tables_below(results / folder / benchmark, arguments["models"])
        return [
            Evaluation(model, lang, items / path.name, path, judgements / model / path.name)
            for model, lang, path in outputs
        ]

    return Use(
        inputs_from=lambda results, arguments: each_once(rows(results, arguments)), convert=rows
    )


RECORDED_IF_GIVEN = Use(parameters_from=lambda name, value: {name: value} if value else {})
"""Use of an option that is recorded only if it is given, so that records that were made before the
option existed stay valid."""
BENCHMARK = option("Name of the benchmark.")
JSON = option("Print JSON.", "--json")
LANG = option("ISO 639-3 code of the language.")
LOG = option("The job's log; its attempts are entered beside it.")
METHOD = option("Method of judging.")
OUTPUT = written("Table to write.")
TABLE = option("Table to read.")
SEED = option("Seed of all random choices.", default=0)
ITEMS_TABLES = option("Items table; repeatable.")
OUTPUTS = option("Table to write; one for each items table.")
SCORES_TABLES = option("Scores table; one for each items table.")
METHODS = option("Method, or name=expression; repeatable.")
TIES = option("Tie policy: one, or one for each method.")
NEAR_TIE = option("Margins below this, in nats, are near ties.")
UNKNOWN = option("Leave out items with unknown words: any, or critical.")

# These options name tables by a directory and a JSON object, because the paths of all tables can
# exceed the limit of a command line (128 KiB).
EVALUATED = option("Languages of each model, as a JSON object.", use=UNRECORDED)
EVALUATED_TABLES = argument(
    "Directory of MODEL/LANG.parquet.",
    use=Use(
        inputs_from=lambda root, arguments: each_once(tables_below(root, arguments["models"])),
        convert=lambda root, arguments: tables_below(root, arguments["models"]),
    ),
)
SAMPLED = option(
    "Directory of the items, BENCHMARK/LANG.parquet; those of the results by default.",
    "--items",
    use=UNRECORDED,
)
RESULTS = argument("Directory of items, scores and judgements.", use=of_evaluations("scores"))


def judge_each(
    command: Declared,
    judge: Callable[[Path, Path, Path, Any], int],
    rules: Any,
    items: list[Path],
    scores: list[Path],
    outputs: list[Path],
) -> None:
    """Judge each items table by its scores, in a job of ``command``; ``judge`` gets ``rules``."""
    methods = {method.name: asdict(method) for method in map(find_method, rules.methods)}
    params = {"methods": methods, "ties": rules.ties, "near_tie": rules.near_tie}
    params |= {"unknown": rules.unknown} if rules.unknown else {}
    targets = [target for _, target in pairs_of(items, outputs)]
    for inputs, target in zip(pairs_of(items, scores, "--scores"), targets, strict=True):
        # A dry run only plans jobs: opening a job then raises Planned, and the next is opened.
        with suppress(Planned), command.job(inputs=inputs, outputs=[target], params=params) as job:
            job.note(unjudged=judge(*inputs, target, rules))
