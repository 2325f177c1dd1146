"""Score sentences into a store: requests in, one row of token log-probabilities for each.

``run.score_items`` calls ``requests_of`` and ``score_shards``. A row's key is a hash of the
engine's key and the request: a score is used again only if nothing that decides it has changed.
If languages are added later, their sentences are in other batches than if all were scored together.
With some engines, this changes the last digits of scores. For example::

    Request("The dog barks.")  ->  ids [464, 3290, 21405, 13], ends [3, 7, 13, 14],
                                   logprobs [-3.1, -8.2, -6.0, -1.2], status "ok"
"""

import math
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import compress, pairwise
from pathlib import Path
from typing import NamedTuple, get_args

import numpy as np
import pyarrow as pa

from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.errors import UserError
from blimpworks.items import APART, common_prefix_length
from blimpworks.scoring.engine import Encoded, Engine, Failure, Ids, LogProbs, Mask
from blimpworks.scoring.progress import Watch
from blimpworks.scoring.shards import ShardStore
from blimpworks.scoring.tokens import overlaps_with_space, space_start, token_starts
from blimpworks.tables import ITEMS, read_table

WORTHWHILE_SHARE = 0.4
"""Share of characters in common with the text before, from which sharing prefixes is faster."""


class Request(NamedTuple):
    """A sentence to score: all tokens, or only those of a region."""

    text: str
    start: int = -1
    """Offset of the region's first character; negative for the complete sentence."""
    end: int = -1
    """Offset after the region's last character."""

    def restrict(self, encoded: Encoded) -> Encoded:
        """Mark the tokens of the region, and of the white space before it, as those to score."""
        if self.start < 0:
            return encoded
        space = space_start(self.text, self.start)
        starts = token_starts(encoded.ends)
        in_region = overlaps_with_space(starts, encoded.ends, space, self.start, self.end)
        return replace(encoded, to_score=in_region)


def requests_of(items: Iterable[Path], *, regions: bool = False) -> set[Request]:
    """Read the distinct sentences, or regions, of items. Raises UserError for empty cells."""
    requests: set[Request] = set()
    for path in items:
        for side in ("good", "bad"):
            columns = [side, f"{side}_start", f"{side}_end"] if regions else [side]
            table = read_table(ITEMS, path, columns)
            for name in columns:
                if table[name].null_count:
                    raise UserError(
                        f"{path}: column {name!r} has {table[name].null_count} empty cells; "
                        "expected a value in each. Rebuild the items."
                    )
            rows = zip(*(table[name].to_pylist() for name in columns), strict=True)
            requests.update(Request(*row) for row in rows)
    return requests


def shared_characters(texts: Iterable[str]) -> float:
    """Return the share of characters that sorted texts have in common with the text before them."""
    ordered = sorted(texts)
    total = sum(map(len, ordered))
    shared = sum(common_prefix_length(*pair) for pair in pairwise(ordered))
    return shared / total if total else 0.0


def sorts_by_prefix(requests: Collection[Request], engine: Engine, options: ScoringOptions) -> bool:
    """Return whether to sort texts, so that texts with a common prefix are in one shard."""
    if not engine.shares_prefixes or options.sharing == "never":
        return False
    if options.sharing == "always":
        return True
    return shared_characters({request.text for request in requests}) >= WORTHWHILE_SHARE


def sort_requests(requests: Collection[Request], *, prefixes: bool) -> list[Request]:
    """Sort requests by text with ``prefixes``, else by length, so that batches need few pads."""
    if prefixes:
        return sorted(requests)
    return sorted(requests, key=lambda request: (len(request.text), request))


def nothing_scored(count: int) -> np.ndarray:
    """Return the log-probabilities of an unscored text: NaN, float32 [count]."""
    return np.full(count, np.nan, dtype=np.float32)


Shard = Sequence[Request]
"""Requests whose rows are written into one file."""
OK, TOO_LONG, EMPTY, NOT_FINITE = "ok", "too_long", "empty", "not_finite"  # see score_shard
FAILED = frozenset({*get_args(Failure), NOT_FINITE})
"""Statuses of failures that may not recur on another machine, in another number format or later."""
SCHEMA = pa.schema(
    [
        ("key", pa.string()),
        ("text", pa.string()),
        ("start", pa.int32()),  # of the region; -1 for a complete sentence
        ("end", pa.int32()),
        ("ids", pa.list_(pa.int32())),
        ("logprobs", pa.list_(pa.float32())),
        ("ends", pa.list_(pa.int32())),  # of tokens; see ``Encoded``
        ("status", pa.string()),
    ]
)


class Store(ShardStore[Request]):
    """Shards of the scores of one model, in one directory."""

    schema, failed = SCHEMA, FAILED
    unit, task, retry_setting = "sentence", "scoring", "scoring.retry_failed"

    @staticmethod
    def content(request: Request) -> str:
        region = "" if request.start < 0 else f"{request.start}:{request.end}"
        return f"{region}|{request.text}"


def encode_requests(engine: Engine, requests: Sequence[Request]) -> list[Encoded]:
    """Return the tokens of each request, with ``to_score`` for its region. Raises UserError."""
    text = next((request.text for request in requests if APART in request.text), None)
    if text is not None and not engine.encodes_apart:
        raise UserError(
            f"{text.replace(APART, '|')!r} has a word that is encoded apart from its context, "
            f"which {type(engine).__name__} does not do; leave its benchmark out, or choose "
            "another engine."
        )
    encoded = engine.encode([request.text for request in requests])
    return [
        request.restrict(encoded_request)
        for request, encoded_request in zip(requests, encoded, strict=True)
    ]


def encode_ahead(engine: Engine, shards: Sequence[Shard]) -> Iterator[list[Encoded]]:
    """Yield the tokens of each shard's requests, while a thread tokenizes the next shard."""
    with ThreadPoolExecutor(1) as thread:
        futures = [thread.submit(encode_requests, engine, shard) for shard in shards[:1]]
        for shard in shards[1:]:
            futures.append(thread.submit(encode_requests, engine, shard))
            yield futures.pop(0).result()
        for last in futures:
            yield last.result()


def score_shards(
    engine: Engine, shards: Sequence[Shard], keys: Mapping[Request, str], watch: Watch
) -> Iterator[tuple[Shard, pa.Table]]:
    """Score shards in order, some at a time; yield the requests and rows of each shard.

    If ``watch`` ends the run, the shards that have begun are finished. Any other exception, such as
    an interrupt, closes ``engine``, so that no time is spent on shards that will not be written.
    """
    pending = deque[tuple[Shard, Callable[[], pa.Table]]]()  # the function returns the shard's rows
    watch_error: Exception | None = None  # raised by ``watch``
    with ThreadPoolExecutor(engine.parallel_batches) as threads:
        try:
            for shard, encoded in zip(shards, encode_ahead(engine, shards), strict=True):
                if len(pending) == engine.parallel_batches:
                    first_shard, get_rows = pending.popleft()
                    yield first_shard, get_rows()
                try:
                    watch.before()
                except Exception as error:
                    watch_error = error
                    break
                shard_keys = {request: keys[request] for request in shard}
                score = partial(score_shard, engine, shard_keys, encoded)
                # A single shard at a time is scored in this thread.
                get_rows = score if engine.parallel_batches == 1 else threads.submit(score).result
                pending.append((shard, get_rows))
            for shard, get_rows in pending:
                yield shard, get_rows()
        except BaseException:
            engine.close()
            raise
    if watch_error is not None:
        raise watch_error


def _list_column(
    arrays: Sequence[Ids] | Sequence[LogProbs], value_type: pa.DataType
) -> pa.ListArray:
    offsets = np.concatenate([[0], np.cumsum([len(a) for a in arrays])]).astype(np.int32)
    return pa.ListArray.from_arrays(offsets, pa.array(np.concatenate(arrays), value_type))


def _status(row: LogProbs, to_score: Mask | None) -> str:
    """Return the status of a text whose log-probabilities are ``row`` [tokens].

    The first token, and tokens that are not to be scored, may have no score. Any other token
    without a finite score (after an overflow in half precision) would be missing from the sum.
    """
    # Most texts have a score for each token, and thus a finite sum.
    if len(row) and math.isfinite(row.sum()):
        return OK
    is_lost = ~np.isfinite(row)
    is_lost[:1] = np.isinf(row[:1])  # NaN says that the first token is not predicted
    if to_score is not None:
        is_lost &= to_score
    if is_lost.any():
        return NOT_FINITE
    return EMPTY if np.isnan(row).all() else OK


def score_shard(engine: Engine, keys: Mapping[Request, str], encoded: list[Encoded]) -> pa.Table:
    """Score the requests in ``keys``, whose tokens are ``encoded``; return one row for each.

    Rows are of ``SCHEMA``. ``status`` is ``ok``, ``too_long`` (for the model's context), ``empty``
    (no token can be scored), ``not_finite`` (a token's score is no number), or an
    ``engine.Failure``. The lists ids, logprobs (NaN if unscored) and ends have equal lengths.
    """
    # A text with steps is scored by these: texts that each give the score of one of its last tokens
    # (``Encoded.steps``). Any other text is scored by itself.
    limit = engine.limit
    texts = [text for tokens in encoded for text in tokens.steps or (tokens,)]
    fits = [limit is None or len(text.ids) <= limit for text in texts]
    # Results in the order of ``texts``; the engine gets only those that fit.
    fitting_results = iter(engine.logprobs([*compress(texts, fits)]))
    results = iter([next(fitting_results) if fit else TOO_LONG for fit in fits])

    logprobs, statuses = list[LogProbs](), list[str]()
    for tokens in encoded:
        result: LogProbs | str = nothing_scored(len(tokens.ids))
        if not tokens.steps:
            result = next(results)
        # Without steps, this loop does nothing.
        for position, step in enumerate(tokens.steps, start=len(tokens.ids) - len(tokens.steps)):
            step_result = next(results)
            if isinstance(step_result, str):
                result = step_result
            elif not isinstance(result, str):
                result[position] = step_result[step.to_score][0]
        if isinstance(result, str):
            logprobs.append(nothing_scored(len(tokens.ids)))
            statuses.append(result)
        else:
            logprobs.append(result)
            statuses.append(_status(result, tokens.to_score))
    columns = [
        pa.array(keys.values(), pa.string()),
        pa.array([request.text for request in keys], pa.string()),
        pa.array([request.start for request in keys], pa.int32()),
        pa.array([request.end for request in keys], pa.int32()),
        _list_column([e.ids for e in encoded], pa.int32()),
        _list_column(logprobs, pa.float32()),
        _list_column([e.ends for e in encoded], pa.int32()),
        pa.array(statuses, pa.string()),
    ]
    return pa.table(columns, schema=SCHEMA)
