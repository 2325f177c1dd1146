"""Judge pairs by scores: which of two sentences a model prefers."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.campaign.methods import PREFIXES, Method, find_method
from blimpworks.campaign.registry import TIES
from blimpworks.errors import UserError
from blimpworks.judging.sides import (
    Mask,
    Side,
    critical_region,
    divisors,
    rounding_bounds,
    shown,
    totals,
    with_common_scores,
)
from blimpworks.scoring.resolution import Floats
from blimpworks.tables import ITEMS, JUDGEMENTS, SCORES, read_table, write_table

log = logging.getLogger(__name__)

PREFIX_METHODS = "prefix_methods"
"""Items column that names the prefix methods each pair allows."""
RATING = "rating"
UNKNOWN_ID = 0
"""Id of ``<unk>`` in every whole-word model trained here."""


def count_repeats(
    table: pa.Table, keys: Sequence[str], alike: Sequence[str], path: Path, what: str
) -> int:
    """Return how many rows repeat the ``keys`` of an earlier row.

    Files may have a pair twice, and each row counts. Raises UserError that names ``path`` and
    ``what`` if such rows differ in the columns ``alike``, since other tables look rows up by name.
    """
    names = pc.binary_join_element_wise(*(table[key].cast(pa.string()) for key in keys), "\t")
    names = names.combine_chunks()
    first = pc.index_in(names, value_set=names).to_numpy(zero_copy_only=False)
    again = np.flatnonzero(first != np.arange(len(first)))
    if len(again):
        values = table.select([*alike])
        # As text, since no number is like NaN.
        pairs = (values.take(pa.array(rows)).to_pylist() for rows in (again, first[again]))
        for row, (mine, before) in zip(again, zip(*pairs, strict=True), strict=True):
            if repr(mine) != repr(before):
                name = names[int(row)].as_py().replace("\t", " ")
                raise UserError(
                    f"{path}: rows {first[row] + 1} and {row + 1} are both of {name!r}, but have "
                    f"different {what}; expected one name for each. Build the table again."
                )
    return len(again)


def align_scores(items: pa.Table, scores: pa.Table, path: Path) -> pa.Table:
    """Return the row of ``scores`` for each item; UserError for an item without, or with two."""
    count_repeats(scores, ["item_id"], scores.column_names, path, "scores")
    positions = pc.index_in(items["item_id"], value_set=scores["item_id"])
    if positions.null_count:
        item = items["item_id"][pc.is_null(positions).to_pylist().index(True)]
        raise UserError(
            f"{path} has no scores of item {item}; it is of other items. Collect the scores again."
        )
    return scores.take(positions)


def side_of(items: pa.Table, scores: pa.Table, side: str, side_class: type[Side] = Side) -> Side:
    """Return token scores of one side, ``good`` or ``bad``, from aligned tables."""
    edges = (pc.fill_null(items[f"{side}_{edge}"], -1) for edge in ("start", "end"))
    start, end = (edge.to_numpy().astype(np.int64) for edge in edges)
    return side_class(
        texts=items[side].combine_chunks(),
        logprobs=scores[f"{side}_logprobs"].combine_chunks(),
        ends=scores[f"{side}_ends"].combine_chunks(),
        ids=scores[f"{side}_ids"].combine_chunks(),
        rounding=scores["rounding"].to_numpy(),
        span_start=start,
        span_end=end,
    )


def margins(method: Method, good: Side, bad: Side) -> tuple[Floats, Floats]:
    """Return each good sentence's lead [n] in nats, and the divisor of its noise [n].

    A positive lead prefers the good sentence. Zero is a tie: rounding alone can explain the
    difference (see ``resolution``). NaN: a sentence has no value. Noise in a sum of
    log-probabilities is divided like the sums, at most by the shorter sentence's divisor.
    """
    bad = with_common_scores(good, bad)
    ahead = totals(method, good) - totals(method, bad)
    bound = rounding_bounds(method, good) + rounding_bounds(method, bad)
    ahead = np.where(np.abs(ahead) <= bound, 0.0, ahead)
    divisor = np.fmin(divisors(method, good), divisors(method, bad))
    return (ahead if method.higher else -ahead), divisor


def without_unknown(side: Side, which: str) -> Mask:
    """Mask sentences [n] without unknown words: ``any`` in all, or ``critical`` in the region."""
    unknown = side.id == UNKNOWN_ID
    if which == "critical":
        unknown &= critical_region(side)
    has_no_unknown: Mask = np.bincount(side.row[unknown], minlength=len(side.characters)) == 0
    return has_no_unknown


@dataclass(frozen=True)
class Rules:
    """Rules that pairs are judged by."""

    methods: Sequence[str]
    """Names, or ``name=expression``."""
    ties: Sequence[str]
    """One policy for all methods, or one for each: wrong (0), right (1) or half (0.5)."""
    near_tie: float
    """Noise of a sum of log-probabilities, in nats."""
    unknown: str | None = None
    """Leave out pairs with ``any`` unknown word, or with ``critical`` ones; None keeps all."""


def tie_values(methods: Sequence[Method], ties: Sequence[str]) -> dict[str, float]:
    """Return the value of a tie by method."""
    names = [method.name for method in methods]
    unknown = not {*ties} <= {*TIES}
    if unknown or len({*names}) < len(names) or len(ties) not in (1, len(names)):
        raise UserError(
            f"methods are {', '.join(names)} and tie policies {', '.join(ties) or 'none'}; "
            f"expected distinct methods, and {', '.join(TIES)} for all or for each."
        )
    policies = ties if len(ties) > 1 else [ties[0]] * len(names)
    return {name: TIES[policy] for name, policy in zip(names, policies, strict=True)}


def right_of(margins: Floats, ties: float) -> Floats:
    """Return 1 for a margin above 0, ``ties`` for 0, else 0."""
    return np.where(margins == 0, ties, (margins > 0).astype(float))


def verdict_columns(
    margin: Floats, missing: Mask, *, correct: Floats, tie: Mask, near: Mask
) -> dict[str, pa.Array]:
    """Make the columns margin, correct, tie and near_tie [n], null where ``missing``.

    ``near`` marks verdicts that noise could turn; ties are near ties too.
    """
    columns = {"margin": margin, "correct": correct, "tie": tie, "near_tie": tie | near}
    return {name: pa.array(values, mask=missing) for name, values in columns.items()}


def judgement_table(
    rows: pa.Table, method: Method, columns: Mapping[str, Any], item: str = "item_id"
) -> pa.Table:
    """Join labels of items, the method's name and ``columns``; ``item`` names the ids' column."""
    names = {"item_id": item, **{name: name for name in ("phenomenon", "paradigm", RATING)}}
    labels = {name: rows[column] for name, column in names.items() if column in rows.column_names}
    methods = pa.array([method.name] * len(rows), pa.string())
    return pa.table({**labels, "method": methods, **columns})


def write_judgements(tables: Sequence[pa.Table], output: Path) -> int:
    """Write the judgements by each method; log and return how many are null."""
    table = pa.concat_tables(tables)
    write_table(table, JUDGEMENTS, output)
    unjudged = int(table["correct"].null_count)
    if unjudged:
        reasons = "no score, or unknown words"
        log.warning("%s: %d of %d judgements are null: %s", output, unjudged, len(table), reasons)
    return unjudged


def judge(items: Path, scores: Path, output: Path, rules: Rules) -> int:
    """Write one judgement per row of ``items`` and method; return how many have no verdict.

    Values are as the method shows them; margins are in nats, positive for the good sentence. A near
    tie is a tie, or a margin that noise of ``rules.near_tie`` nats in a sum of log-probabilities
    could make. Items without a verdict keep their row with nulls, so that they can be counted;
    accuracies leave them out. Reasons: a sentence too long for the model, a critical word of
    several tokens for a method that wants one, unknown words that the rules exclude. Prefix methods
    have rows only for items that allow them.

    Raises UserError for an unknown method, an item without scores, or a name of different pairs or
    scores.
    """
    chosen = [find_method(name) for name in rules.methods]
    policies = tie_values(chosen, rules.ties)
    rows = read_table(ITEMS, items, [*ITEMS.names, PREFIX_METHODS, RATING])
    repeated = count_repeats(rows, ["item_id"], ["good", "bad"], items, "sentences")
    if repeated:
        log.info("%s: %d of %d pairs stand there before", items, repeated, len(rows))
    aligned = align_scores(rows, read_table(SCORES, scores), scores)
    good, bad = (side_of(rows, aligned, side) for side in ("good", "bad"))
    usable: Mask = np.ones(len(aligned), dtype=bool)
    for side in (good, bad) if rules.unknown else ():
        usable &= without_unknown(side, str(rules.unknown))
    tables = []
    for method in chosen:
        # Without a verdict, all but the values are null.
        margin, divisor = margins(method, good, bad)
        values = [shown(method, totals(method, side)) for side in (good, bad)]
        columns = [pa.array(value, mask=np.isnan(value)) for value in values]
        verdicts = verdict_columns(
            margin,
            np.isnan(margin) | ~usable,
            correct=right_of(margin, policies[method.name]),
            tie=margin == 0,
            near=np.abs(margin) * divisor < rules.near_tie,
        )
        values_by_name = dict(zip(("value_good", "value_bad"), columns, strict=True))
        table = judgement_table(rows, method, values_by_name | verdicts)
        if method.name in PREFIXES and PREFIX_METHODS in rows.column_names:
            allowed = rows[PREFIX_METHODS].to_pylist()
            table = table.filter(pa.array([method.name in names for names in allowed]))
        tables.append(table)
    return write_judgements(tables, output)
