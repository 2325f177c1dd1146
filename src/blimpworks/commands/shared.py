"""Define options that several commands share, and the packages that decide their products."""

from pathlib import Path
from typing import TYPE_CHECKING

from blimpworks.commands.declare import UNRECORDED, Arguments, Use
from blimpworks.commands.options import argument, each_once, option, tables_below, written

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
    """Return the use of a directory of results: the evaluations with outputs in ``folder``."""

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

    return Use(reads=lambda results, arguments: each_once(rows(results, arguments)), passes=rows)


RECORDED_IF_GIVEN = Use(records=lambda name, value: {name: value} if value else {})
"""Use of an option that earlier versions did not have, so that their records stay valid."""
BENCHMARK = option("Name of the benchmark.")
JSON = option("Print JSON.", "--json", default=False)
LANG = option("ISO 639-3 code of the language.")
LOG = option("The job's log; its attempts are entered beside it.", default=None)
METHOD = option("Method of judging.")
OUTPUT = written("Table to write.")
TABLE = option("Table to read.")
SEED = option("Decides all random choices.", default=0)
EACH = option("Items table; repeatable.")
OUTPUTS = option("Table to write; one for each items table.")

# A campaign has thousands of these tables, more than an argument of 128 KiB can name.
EVALUATED = option("Languages of each model, as a JSON object.", use=UNRECORDED)
EVALUATED_TABLES = argument(
    "Directory of MODEL/LANG.parquet.",
    use=Use(
        reads=lambda root, arguments: each_once(tables_below(root, arguments["models"])),
        passes=lambda root, arguments: tables_below(root, arguments["models"]),
    ),
)
SAMPLED = option(
    "Directory of the items, BENCHMARK/LANG.parquet; those of the results by default.",
    "--items",
    default=None,
    use=UNRECORDED,
)
RESULTS = argument("Directory of items, scores and judgements.", use=of_evaluations("scores"))
