"""From scores to judgements: which of two sentences a model prefers."""

import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.errors import UserError
from blimpworks.scoring.methods import Floats, Side, evaluate, find_method
from blimpworks.scoring.ties import TIES, TiePolicy
from blimpworks.tables import ITEMS, JUDGEMENTS, SCORES, read_table, write_table

log = logging.getLogger(__name__)


def align_scores(items: pa.Table, scores: pa.Table, path: Path) -> pa.Table:
    """The row of ``scores`` of each row of ``items``.

    Raises UserError, naming ``path`` as the table of the scores, when an item has none.
    """
    found = pc.index_in(items["item_id"], value_set=scores["item_id"])
    if found.null_count:
        item = items["item_id"][pc.is_null(found).to_pylist().index(True)]
        raise UserError(
            f"{path} has no scores of item {item}; it is of other items. Collect the scores again."
        )
    return scores.take(found)


def side_of(items: pa.Table, scores: pa.Table, side: str) -> Side:
    """Token scores of one side, ``good`` or ``bad``, of rows that belong together."""
    edges = (pc.fill_null(items[f"{side}_{edge}"], -1) for edge in ("start", "end"))
    start, end = (edge.to_numpy().astype(np.int64) for edge in edges)
    return Side(
        logprobs=scores[f"{side}_logprobs"].combine_chunks(),
        ends=scores[f"{side}_ends"].combine_chunks(),
        span_start=start,
        span_end=end,
        characters=pc.utf8_length(items[side]).to_numpy().astype(np.int64),
    )


def _verdicts(good: Floats, bad: Floats, ties: TiePolicy, near_tie: float) -> dict[str, pa.Array]:
    """Columns of judgements; all null where either value is NaN."""
    missing = np.isnan(good) | np.isnan(bad)
    tie = good == bad
    margin = np.where(tie, 0.0, good - bad)
    correct = np.where(tie, TIES[ties], (good > bad).astype(float))
    near = tie | (np.abs(margin) < near_tie)
    return {
        "value_good": pa.array(good, mask=np.isnan(good)),
        "value_bad": pa.array(bad, mask=np.isnan(bad)),
        "margin": pa.array(margin, mask=missing),
        "correct": pa.array(correct, mask=missing),
        "tie": pa.array(tie, mask=missing),
        "near_tie": pa.array(near, mask=missing),
    }


def judge(
    items: Path,
    scores: Path,
    output: Path,
    *,
    methods: Sequence[str],
    ties: TiePolicy,
    near_tie: float,
) -> int:
    """Write one judgement per row of ``items`` and method.

    To be right, the good sentence must have the greater value. Of equal values ``ties``
    decides: wrong (0, MultiBLiMP section 6), right (1) or half (0.5). A near tie is a tie, or
    a margin below ``near_tie``, in the method's unit. Items without a score (a sentence too
    long for the model, a region without a scored token) keep their row, with nulls, so that
    they can be counted; accuracies leave them out. Their number is logged and returned.

    Raises UserError when a table is missing, a method unknown, or an item has no scores.
    """
    chosen = {name: find_method(name) for name in methods}
    rows = read_table(ITEMS, items, list(ITEMS.names))
    aligned = align_scores(rows, read_table(SCORES, scores), scores)
    good, bad = (side_of(rows, aligned, side) for side in ("good", "bad"))
    labels = {name: rows[name] for name in ("item_id", "phenomenon", "paradigm")}
    tables = []
    for name, method in chosen.items():
        verdicts = _verdicts(evaluate(method, good), evaluate(method, bad), ties, near_tie)
        column = pa.array([name] * len(rows), pa.string())
        tables.append(pa.table({**labels, "method": column, **verdicts}))
    table = pa.concat_tables(tables)
    write_table(table, JUDGEMENTS, output)
    unjudged = int(table["correct"].null_count)
    if unjudged:
        log.warning("%s: %d of %d judgements are null: no score", output, unjudged, len(table))
    return unjudged
