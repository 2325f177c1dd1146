"""Count answers that the limit of tokens cut off, and answers that repeat their prompt."""

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.evaluation.card import Written
from blimpworks.evaluation.facts import BenchmarkFacts, model_table
from blimpworks.parquet import read_parquet
from blimpworks.tables import ANSWERS, read_table


def written_answers(
    model: str, name: str, benchmark: BenchmarkFacts, results: str
) -> list[Written]:
    """Count a model's answers in each language.

    Judgements of earlier versions have neither count. Raises UserError when a table is missing or
    broken.
    """
    counts: list[Written] = []
    for lang in benchmark["languages"][model]:
        rows = read_parquet(Path(model_table(results, "judgements", name, lang, model)))
        rows = rows.filter(
            pc.equal(rows["method"].cast(pa.string()), benchmark["methods"][model][0])
        )
        rows = rows.filter(pc.is_valid(rows["correct"]))
        path = Path(model_table(results, "answers", name, lang, model))
        given = read_table(ANSWERS, path, ["finish", "tokens"])
        cut = given.filter(pc.equal(given["finish"].cast(pa.string()), "length"))
        counts.append(
            {
                "lang": lang,
                "n": len(rows),
                "cut": _count(rows, "cut"),
                "limit": pc.max(cut["tokens"]).as_py() or 0,
                "echoes": _count(rows, "echo"),
            }
        )
    return counts


def _count(rows: pa.Table, name: str) -> int | None:
    """Count rows whose column is true; None where a row does not say."""
    if name not in rows.column_names or rows[name].null_count:
        return None
    return int(pc.sum(rows[name]).as_py() or 0)
