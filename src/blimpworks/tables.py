"""Define, write and read the tables between rules, each with one schema.

A schema is a file in ``schemas``, or in a paper's package, so that a change makes only products of
that table stale. This module describes what column names do not say. Tables are Parquet with zstd.
Only open schemas (``items``: covariates of a benchmark) allow further columns.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from blimpworks.errors import UserError
from blimpworks.files import read_cells
from blimpworks.parquet import open_parquet, write_parquet
from blimpworks.records.job import current_job

if TYPE_CHECKING:
    import pandas as pd

METADATA_KEY = b"blimpworks"
STRING = pa.string()
LABEL = pa.dictionary(pa.int32(), STRING)
INT, FLOAT, BOOL = pa.int32(), pa.float64(), pa.bool_()
LONG = pa.int64()


@dataclass(frozen=True, slots=True)
class TableSchema:
    """Columns of a table; an ``open`` schema allows further columns after these."""

    name: str
    columns: tuple[tuple[str, pa.DataType], ...]
    open: bool = False

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.columns]

    def arrow(self) -> pa.Schema:
        """Return the declared columns as an Arrow schema."""
        return pa.schema([pa.field(name, data_type) for name, data_type in self.columns])


def declare(name: str, *, open: bool = False, **columns: pa.DataType) -> TableSchema:
    """Return the schema of a table; ``open`` allows further columns."""
    return TableSchema(name, tuple(columns.items()), open)


KINDS: Mapping[str, pa.DataType] = {
    "string": STRING,
    "label": LABEL,
    "int": INT,
    "long": LONG,
    "float": FLOAT,
    "bool": BOOL,
    "list of int": pa.list_(INT),
    "list of float": pa.list_(pa.float32()),
    "list of string": pa.list_(STRING),
}
"""Types of columns by their names in files of schemas."""


def read_schema(
    module: str, path: str, base: TableSchema | None = None, *, open: bool = False
) -> TableSchema:
    """Read a schema from a file beside a module: a column and its type in each row.

    ``module``: the module's file. The table is called after the schema's file, or after ``base``,
    whose columns come first.
    """
    table = Path(module).parent / path
    columns = tuple((row["column"], KINDS[row["kind"]]) for row in read_cells(table))
    if base is None:
        return TableSchema(table.stem, columns, open)
    return TableSchema(base.name, base.columns + columns, base.open)


# One row per line of a sentence: words, multiword ranges (id "3-4"), empty nodes
# ("3.1"). `sentence` joins to the sentences table; `word` is the id of a word and
# null for ranges and empty nodes; `line` counts from 1 in the treebank file.
# "_" is null except in form and lemma, where it can be the real thing.
TOKENS = read_schema(__file__, "schemas/tokens.tsv")
SENTENCES = read_schema(__file__, "schemas/sentences.tsv")
# features: "Mood=IND|Number=SG|…", UniMorph spelling, sorted by name.
LEXICON = read_schema(__file__, "schemas/lexicon.tsv")
# Character spans of the critical region are half-open, in code points.
ITEMS = read_schema(__file__, "schemas/items.tsv", open=True)
FUNNEL = read_schema(__file__, "schemas/funnel.tsv")
# *_ends: for each scored token the character offset at which it ends. rounding: largest relative
# error of a token's log-probability, by the engine that scored.
SCORES = read_schema(__file__, "schemas/scores.tsv")
JUDGEMENTS = read_schema(__file__, "schemas/judgements.tsv", open=True)
# n: pairs that were judged; skipped: those that could not be (a sentence too long for the
# model, a critical word of several tokens where the method wants one), which don't count.
# rounding: how far a printed accuracy may be from what it was rounded from; origin: where it
# is printed (EXHIBIT/ROW/COLUMN of config/published); both are null if it is computed. accuracy
# is correct ÷ n, but where a published script counts an item too many (low and high are of n all
# the same), and where one divides by a nominal number of prompts (low and high are too).
ACCURACIES = read_schema(__file__, "schemas/accuracies.tsv")
# A way to score against the reference: differences are absolute, in nats (those of margins in
# the method's unit); unmatched: tokens that only one of the two has scored. flips: decisions
# that differ, flips_beyond those of them that are near ties of neither; low and high: 95 %.
# impossible: why the model cannot be scored so; then there are no numbers.
PARITY = read_schema(__file__, "schemas/parity.tsv")
# What a language has of a WALS feature: the category, and how much morphology that is, from 0
# to 1; null where it is set aside. `wals` is the language's code there.
MORPHOLOGY = read_schema(__file__, "schemas/morphology.tsv")
# Of a word-level model on the test text of a corpus of one language. words: those that were
# guessed, <eos> of each sentence included; unknown: those of them that are <unk>; loss: mean of
# their negative log-probabilities, in nats; perplexity: its exponential.
PERPLEXITIES = read_schema(__file__, "schemas/perplexities.tsv")
# n: minimal sets that differ in these two words alone; focus is null where in several.
EVALUATION_SETS = read_schema(__file__, "schemas/evaluation_sets.tsv")
# Two models on the pairs of a language that both have judged: how many only one of them got
# right, and McNemar's p. Each two models stand in two rows, one in either order.
COMPARISONS = read_schema(__file__, "schemas/comparisons.tsv")
# model is "all" where models are the observations; low and high: 95 % interval.
REGRESSIONS = read_schema(__file__, "schemas/regressions.tsv")
# What a regression makes of each language; observed, fitted and residual in percent.
RESIDUALS = read_schema(__file__, "schemas/residuals.tsv")
# filter: JSON object column -> value (or list) that selects the cell's rows in the
# tables called `source`; low and high: 95 % interval where there is one; text: as printed;
# printed_row, printed_column: where the paper's own number stands in config/published.
CELLS = read_schema(__file__, "schemas/cells.tsv")
# Items that are prompts. phenomenon: a task or one of its subsets; paradigm: `template=1`, and
# where one of two arguments is right, which: `template=1/answer=2`. number counts the prompts of a
# template from 1, nominal is how many the release's settings say it has. arguments: JSON object of
# what the templates and the judge want to know: word, sentence, letter, query, words, category,
# answer, distractor …; answer is the gold answer, null where many are right.
PROMPTS = read_schema(__file__, "schemas/prompts.tsv")
# What models write. text is the whole of it, reasoning included; status: `ok`, or why there is no
# text. finish: `stop`, or `length` where it ran into the limit. tokens: that it wrote. opened:
# whether the chat template had begun reasoning (`<think>`), so that text begins inside it.
ANSWERS = read_schema(__file__, "schemas/answers.tsv")


def _describe(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name}: {field.type}" for field in schema)


def _check(actual: pa.Schema, schema: TableSchema, where: str) -> None:
    declared = schema.arrow()
    head = pa.schema(list(actual)[: len(declared)])
    if not head.equals(declared) or (len(actual) > len(declared) and not schema.open):
        raise UserError(
            f"{where}: columns are ({_describe(actual)}), expected the {schema.name} table "
            f"({_describe(declared)}). Rebuild it with this version of blimpworks."
        )


def write_table(table: pa.Table, schema: TableSchema, path: Path) -> None:
    """Check ``table`` against ``schema`` and write it, whole or not at all.

    Embeds the deterministic fields of the current job's record in the file's metadata. Declared
    columns come first and in order. Raises UserError when the columns don't fit.
    """
    missing = [c for c in schema.names if c not in table.column_names]
    if missing:
        raise UserError(
            f"{path}: the {schema.name} table lacks its column(s) {', '.join(missing)}."
        )
    extra = [c for c in table.column_names if c not in schema.names]
    table = table.select(schema.names + extra)
    fields = list(schema.arrow()) + [table.schema.field(c) for c in extra]
    table = table.cast(pa.schema(fields))
    _check(table.schema, schema, str(path))
    job = current_job()
    record = {"table": schema.name, "made_by": job.made_by if job else None}
    metadata = {METADATA_KEY: json.dumps(record, ensure_ascii=False, sort_keys=True).encode()}
    write_parquet(table.replace_schema_metadata(metadata), path)


def write_rows(rows: Sequence[Mapping[str, Any]], schema: TableSchema, path: Path) -> None:
    """Write the columns of a schema from rows, which may have other keys too.

    Missing columns are null. Raises UserError when the values don't fit.
    """
    write_table(pa.Table.from_pylist([*rows], schema=schema.arrow()), schema, path)


def write_frame(frame: "pd.DataFrame", schema: TableSchema, path: Path) -> None:
    """Write the columns of a schema from a data frame, without its index.

    Raises UserError when the values don't fit, KeyError for a missing column.
    """
    write_table(pa.Table.from_pandas(frame[schema.names], preserve_index=False), schema, path)


class Evaluation(NamedTuple):
    """Tables of one model on the pairs or prompts of one language."""

    model: str
    lang: str
    items: Path
    outputs: Path
    """Scores of pairs, or responses to prompts."""
    judgements: Path


def made_by(path: Path) -> dict[str, Any] | None:
    """Return the record embedded in a table: command, inputs, parameters, code; None without.

    Raises UserError when the file is missing or broken.
    """
    with open_parquet(path, "a table in Parquet", "Build it.") as file:
        record = (file.schema_arrow.metadata or {}).get(METADATA_KEY)
    job: dict[str, Any] | None = json.loads(record)["made_by"] if record else None
    return job


def read_table(schema: TableSchema, path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a table of a schema, or only its ``columns``.

    Raises UserError when the file is missing, broken or of another schema.
    """
    with open_parquet(path, f"the {schema.name} table", "Build it.") as file:
        _check(file.schema_arrow.remove_metadata(), schema, str(path))
        return file.read(columns=None if columns is None else [*columns])
