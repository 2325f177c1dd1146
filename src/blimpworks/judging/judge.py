"""Judge pairs of sentences by token scores: which sentence a model prefers, by each method.

``judge`` reads a table of pairs (good and bad sentence), and a table with the log-probabilities of
the sentences' tokens. A method, such as ``sum(all)`` or ``mean(region)``, computes a sentence's
value. The margin is the good sentence's value less the bad sentence's value. Docstrings give the
length of arrays in brackets: [n] sentences or pairs, [t] tokens of all these sentences. The output
has a row for each pair and method:

    item_id  method    value_good  value_bad  margin  correct  tie    near_tie
    p1       sum(all)  -31.2       -33.7      2.5     1.0      False  False
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from blimpworks.campaign.methods import PREFIXES, Method, find_method
from blimpworks.campaign.registry import TIES
from blimpworks.errors import UserError
from blimpworks.scoring import tokens
from blimpworks.scoring.tokens import Floats, Integers
from blimpworks.tables import ITEMS, JUDGEMENTS, SCORES, read_table, write_table

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Side:
    """Scores of the t tokens of n sentences: all good sentences of n pairs, or all bad ones."""

    texts: pa.StringArray
    logprobs: pa.ListArray
    """n lists, NaN where a token is unscored."""
    ends: pa.ListArray
    """n lists: number of the sentence's characters that are complete after each token."""
    ids: pa.ListArray
    """n lists: id of each token."""
    rounding: Floats
    """[n] rounding error of a log-probability, relative to the larger of its size and 1 nat."""
    span_start: Integers
    """[n] first character of the critical region; negative without a region."""
    span_end: Integers
    """[n] end of the critical region: the character after its last."""

    @cached_property
    def row(self) -> Integers:
        """[t] index of each token's sentence."""
        rows: Integers = pc.list_parent_indices(self.logprobs).to_numpy(zero_copy_only=False)
        return rows

    @cached_property
    def value(self) -> Floats:
        """[t] log-probability of each token in nats."""
        flat = self.logprobs.flatten().to_numpy(zero_copy_only=False)
        return np.asarray(flat, dtype=np.float64)

    @cached_property
    def id(self) -> Integers:
        """[t] id of each token."""
        return np.asarray(self.ids.flatten().to_numpy(zero_copy_only=False), dtype=np.int64)

    @cached_property
    def end(self) -> Integers:
        """[t] end of each token: number of characters complete after it."""
        return np.asarray(self.ends.flatten().to_numpy(zero_copy_only=False), dtype=np.int64)

    @cached_property
    def start(self) -> Integers:
        """[t] start of each token: the end of the previous token in its sentence, or 0."""
        start = np.zeros_like(self.end)
        same_sentence = self.row[1:] == self.row[:-1]
        start[1:] = np.where(same_sentence, self.end[:-1], 0)
        return start

    @cached_property
    def last(self) -> Mask:
        """[t] True for the last token of each sentence."""
        last: Mask = np.ones(len(self.row), dtype=bool)
        last[:-1] = self.row[1:] != self.row[:-1]
        return last

    @cached_property
    def characters(self) -> Integers:
        """[n] length of each sentence in code points."""
        return np.asarray(pc.utf8_length(self.texts), dtype=np.int64)

    @cached_property
    def bytes(self) -> Integers:
        """[n] length of each sentence in bytes of UTF-8."""
        return np.asarray(pc.binary_length(self.texts), dtype=np.int64)

    @cached_property
    def joint(self) -> Integers:
        """[n] first character of the white space before the critical region."""
        pairs = zip(self.texts.to_pylist(), self.span_start.tolist(), strict=True)
        return np.array([tokens.space_start(text, first) for text, first in pairs], dtype=np.int64)


def without_end(side: Side) -> Mask:
    """Mask all tokens [t] but a last token without characters, such as ``</s>``."""
    is_end_symbol: Mask = side.last & (side.start == side.end)
    return ~is_end_symbol


def critical_region(side: Side) -> Mask:
    """Mask tokens [t] that overlap the critical region."""
    first, after = side.span_start[side.row], side.span_end[side.row]
    return tokens.overlaps(side.start, side.end, first, after)


def joined_region(side: Side) -> Mask:
    """Mask tokens [t] of the critical region and of the white space before it."""
    first, after = side.span_start[side.row], side.span_end[side.row]
    return tokens.overlaps_with_space(side.start, side.end, side.joint[side.row], first, after)


TOKEN_SETS: dict[str, Callable[[Side], Mask]] = {
    "all": lambda side: np.ones(len(side.value), dtype=bool),
    "text": without_end,
    "region": joined_region,
}
"""Function for each ``Method.tokens``, which masks the tokens [t] whose scores a method uses. In
"Cats sleep .</s>", ``text`` is all tokens but "</s>", and ``region`` is " sleep"."""


def divisors(method: Method, side: Side) -> Floats:
    """Return the divisor of each sentence's sum of log-probabilities [n]; NaN without a value.

    A region has a value only if all its tokens have scores. A region that begins with an unscored
    first token (``skip``) cannot be compared with one whose tokens all have scores.
    """
    chosen = TOKEN_SETS[method.tokens](side)
    count = len(side.characters)
    scored = np.bincount(side.row[chosen & ~np.isnan(side.value)], minlength=count)
    divisor = scored.astype(np.float64) if method.aggregate == "mean" else np.ones(count)
    if method.length is not None:
        length: Integers = getattr(side, method.length)
        divisor *= length
    usable = scored > 0
    n_tokens = np.bincount(side.row[chosen], minlength=count)
    if method.aggregate == "only":
        usable &= n_tokens == 1
    if method.tokens == "region":
        usable &= n_tokens == scored
    return np.where(usable & (divisor > 0), divisor, np.nan)


def totals(method: Method, side: Side) -> Floats:
    """Return the value of each sentence [n] by a method, in nats; NaN without a value."""
    return _sums(method, side, side.value) / divisors(method, side)


def rounding_bounds(method: Method, side: Side) -> Floats:
    """Return the largest possible rounding error of each sentence's value [n], in nats."""
    errors = tokens.rounding_errors(side.value, side.rounding[side.row])
    return _sums(method, side, errors) / divisors(method, side)


def _sums(method: Method, side: Side, values: Floats) -> Floats:
    chosen = TOKEN_SETS[method.tokens](side) & ~np.isnan(side.value)
    return tokens.exact_sums(side.row[chosen], values[chosen], len(side.characters))


def with_common_scores(good: Side, bad: Side) -> Side:
    """Return ``bad``, with the scores of ``good`` if both sentences of a pair have the same tokens.

    Such a pair must be a tie, but scores that were computed in different batches can differ.
    """
    count = len(good.characters)
    # [n] Pairs with the same tokens: first those with equally many, then without other ids.
    alike: Mask = np.bincount(good.row, minlength=count) == np.bincount(bad.row, minlength=count)
    in_equal_length = alike[good.row]  # [t] whether a token of ``good`` is in such a pair
    differs = good.id[in_equal_length] != bad.id[alike[bad.row]]
    alike[good.row[in_equal_length][differs]] = False
    # A score of ``good`` replaces that of ``bad``, unless only ``bad`` has a score there.
    values = bad.value.copy()
    good_values, bad_values = good.value[alike[good.row]], values[alike[bad.row]]
    values[alike[bad.row]] = np.where(np.isnan(good_values), bad_values, good_values)
    offsets = np.concatenate([[0], np.cumsum(pc.list_value_length(bad.logprobs))])
    logprobs = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(values))
    return replace(bad, logprobs=logprobs)


def in_unit(method: Method, total: Floats) -> Floats:
    """Convert values from nats to the method's unit, such as perplexities."""
    for change in method.changes:
        total = np.exp(total) if change == "exp" else -total
    return total


log = logging.getLogger(__name__)

PREFIX_METHODS = "prefix_methods"  # column of items: prefix methods that can judge the pair
RATING = "rating"  # column of items with people's grades
UNKNOWN_ID = 0  # id of ``<unk>`` in every whole-word model trained here


def count_repeats(
    table: pa.Table, keys: Sequence[str], alike: Sequence[str], path: Path, content: str
) -> int:
    """Return the number of rows that repeat the ``keys`` of an earlier row.

    A file may have a pair twice, which is then judged twice. Repeated rows must be equal in the
    columns ``alike``, since other tables refer to rows by key. Raises UserError if they differ; the
    message names ``path`` and ``content`` (such as "scores").
    """
    names = pc.binary_join_element_wise(*(table[key].cast(pa.string()) for key in keys), "\t")
    names = names.combine_chunks()
    # For each row, the number of the first row with the same keys.
    first = pc.index_in(names, value_set=names).to_numpy(zero_copy_only=False)
    repeated = np.flatnonzero(first != np.arange(len(first)))
    values = table.select([*alike])
    later = values.take(pa.array(repeated)).to_pylist()
    earlier = values.take(pa.array(first[repeated])).to_pylist()
    for row, later_values, earlier_values in zip(repeated, later, earlier, strict=True):
        # Compare texts, since NaN does not equal NaN.
        if repr(later_values) != repr(earlier_values):
            name = names[int(row)].as_py().replace("\t", " ")
            raise UserError(
                f"{path}: rows {first[row] + 1} and {row + 1} are both of {name!r}, but have "
                f"different {content}; expected one name for each. Build the table again."
            )
    return len(repeated)


def align_scores(items: pa.Table, scores: pa.Table, path: Path) -> pa.Table:
    """Return the row of ``scores`` for each item.

    Raises UserError for an item without a row, or with two rows that differ.
    """
    count_repeats(scores, ["item_id"], scores.column_names, path, "scores")
    positions = pc.index_in(items["item_id"], value_set=scores["item_id"])
    if positions.null_count:
        item = items["item_id"][pc.is_null(positions).to_pylist().index(True)]
        raise UserError(
            f"{path} has no scores of item {item}, expected all items. Collect the scores again."
        )
    return scores.take(positions)


def side_of(items: pa.Table, scores: pa.Table, side: str, side_class: type[Side] = Side) -> Side:
    """Return the token scores of the ``good`` or ``bad`` sentences, from aligned tables."""
    start = pc.fill_null(items[f"{side}_start"], -1).to_numpy()
    end = pc.fill_null(items[f"{side}_end"], -1).to_numpy()
    return side_class(
        texts=items[side].combine_chunks(),
        logprobs=scores[f"{side}_logprobs"].combine_chunks(),
        ends=scores[f"{side}_ends"].combine_chunks(),
        ids=scores[f"{side}_ids"].combine_chunks(),
        rounding=scores["rounding"].to_numpy(),
        span_start=start.astype(np.int64),
        span_end=end.astype(np.int64),
    )


def margins(method: Method, good: Side, bad: Side) -> tuple[Floats, Floats]:
    """Return the margin of each pair [n] in nats, and the smaller divisor of its sentences [n].

    A positive margin means that the model prefers the good sentence. Zero is a tie: rounding can
    explain the difference (see ``scoring.tokens``). NaN: a sentence has no value. Noise of a sum of
    log-probabilities is divided too, so margin times divisor is compared with ``Rules.near_tie``.
    """
    bad = with_common_scores(good, bad)
    difference = totals(method, good) - totals(method, bad)
    bound = rounding_bounds(method, good) + rounding_bounds(method, bad)
    difference = np.where(np.abs(difference) <= bound, 0.0, difference)
    divisor = np.fmin(divisors(method, good), divisors(method, bad))
    return (difference if method.higher else -difference), divisor


def without_unknown(side: Side, which: str) -> Mask:
    """Mask sentences [n] without unknown words: ``any``, or in the ``critical`` region."""
    unknown = side.id == UNKNOWN_ID
    if which == "critical":
        unknown &= critical_region(side)
    has_no_unknown: Mask = np.bincount(side.row[unknown], minlength=len(side.characters)) == 0
    return has_no_unknown


@dataclass(frozen=True)
class Rules:
    """Settings of the judgement of pairs."""

    methods: Sequence[str]
    """Names, or ``name=expression``."""
    ties: Sequence[str]
    """One policy for all methods, or a policy for each: wrong (0), right (1) or half (0.5)."""
    near_tie: float
    """Noise of a sum of log-probabilities, in nats."""
    unknown: str | None = None
    """Leave out pairs with unknown words: ``any``, or in the ``critical`` region; None for none."""


def tie_values(methods: Sequence[Method], ties: Sequence[str]) -> dict[str, float]:
    """Return ``correct`` of a tie (0, 0.5 or 1) for each method.

    Raises UserError for a repeated method, an unknown policy, or a wrong number of policies.
    """
    names = [method.name for method in methods]
    is_unknown = not {*ties} <= {*TIES}
    if is_unknown or len({*names}) < len(names) or len(ties) not in (1, len(names)):
        raise UserError(
            f"methods are {', '.join(names)} and tie policies {', '.join(ties) or 'none'}; "
            f"expected distinct methods, and {', '.join(TIES)} for all or for each."
        )
    policies = ties if len(ties) > 1 else [ties[0]] * len(names)
    return {name: TIES[policy] for name, policy in zip(names, policies, strict=True)}


def right_of(margins: Floats, ties: float) -> Floats:
    """Return ``correct`` of each margin: 1 above 0, ``ties`` for a margin of 0, and 0 below."""
    return np.where(margins == 0, ties, (margins > 0).astype(float))


def verdict_columns(
    margin: Floats, missing: Mask, *, correct: Floats, tie: Mask, near: Mask
) -> dict[str, pa.Array]:
    """Return the columns margin, correct, tie and near_tie [n], null where ``missing``.

    ``near``: whether noise could reverse the verdict. A tie is always a near tie.
    """
    columns = {"margin": margin, "correct": correct, "tie": tie, "near_tie": tie | near}
    return {name: pa.array(values, mask=missing) for name, values in columns.items()}


def judgement_table(
    rows: pa.Table, method: Method, columns: Mapping[str, Any], item: str = "item_id"
) -> pa.Table:
    """Return a method's judgements: labels of items (ids in column ``item``), and ``columns``."""
    labels = {"item_id": rows[item]}
    for name in ("phenomenon", "paradigm", RATING):
        if name in rows.column_names:
            labels[name] = rows[name]
    methods = pa.array([method.name] * len(rows), pa.string())
    return pa.table({**labels, "method": methods, **columns})


def write_judgements(tables: Sequence[pa.Table], output: Path) -> int:
    """Write the judgements by all methods; log and return the number of null verdicts."""
    table = pa.concat_tables(tables)
    write_table(table, JUDGEMENTS, output)
    unjudged = int(table["correct"].null_count)
    if unjudged:
        reasons = "no score, or unknown words"
        log.warning("%s: %d of %d judgements are null: %s", output, unjudged, len(table), reasons)
    return unjudged


def judge(items: Path, scores: Path, output: Path, rules: Rules) -> int:
    """Write a judgement for each row of ``items`` and method; return the number without a verdict.

    Values are in the method's unit; margins are in nats, positive for the good sentence. A near
    tie is a tie, or a margin that noise of ``rules.near_tie`` nats in a sum of log-probabilities
    could make. Prefix methods have rows only for items that allow these methods.

    Items without a verdict have rows with nulls, which accuracies leave out. Reasons: a sentence is
    too long for the model; the rules exclude its unknown words; the critical word has several
    tokens, and the method requires one.

    Raises UserError for an unknown method, items without scores, or different rows with one id.
    """
    chosen = [find_method(name) for name in rules.methods]
    policies = tie_values(chosen, rules.ties)
    rows = read_table(ITEMS, items, [*ITEMS.names, PREFIX_METHODS, RATING])
    repeated = count_repeats(rows, ["item_id"], ["good", "bad"], items, "sentences")
    if repeated:
        log.info("%s: %d of %d pairs repeat an earlier pair", items, repeated, len(rows))
    aligned = align_scores(rows, read_table(SCORES, scores), scores)
    good, bad = (side_of(rows, aligned, side) for side in ("good", "bad"))
    usable: Mask = np.ones(len(aligned), dtype=bool)
    if rules.unknown:
        usable = without_unknown(good, rules.unknown) & without_unknown(bad, rules.unknown)
    tables = []
    for method in chosen:
        columns = {}
        for name, side in (("value_good", good), ("value_bad", bad)):
            value = in_unit(method, totals(method, side))
            columns[name] = pa.array(value, mask=np.isnan(value))
        margin, divisor = margins(method, good, bad)
        # Without a verdict, all columns but the values are null.
        columns |= verdict_columns(
            margin,
            np.isnan(margin) | ~usable,
            correct=right_of(margin, policies[method.name]),
            tie=margin == 0,
            near=np.abs(margin) * divisor < rules.near_tie,
        )
        table = judgement_table(rows, method, columns)
        if method.name in PREFIXES and PREFIX_METHODS in rows.column_names:
            allowed = rows[PREFIX_METHODS].to_pylist()
            table = table.filter(pa.array([method.name in names for names in allowed]))
        tables.append(table)
    return write_judgements(tables, output)
