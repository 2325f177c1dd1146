"""The store of sentence scores: one row per sentence, keyed by content.

Each model and scope of a results directory has a store of its own. A sentence's key digests
the engine's key and the text (with the stretch of it, if only that is scored), so sentences
that benchmarks or languages of that scope share are scored once, and nothing is reused that
another checkpoint, dtype, version of the code or first-token policy has made. Rows lie in
shards, Parquet files that are written whole or not at all, each named after the digest of
its bytes: one that was altered is found by its name.

Who adds languages later scores them in other company than who asks for all at once: engines whose
batches move last digits may differ in these.
"""

import math
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import compress
from typing import get_args

import numpy as np
import pyarrow as pa

from blimpworks.scoring.engine import Encoded, Engine, Failure, Ids, LogProbs, Mask
from blimpworks.scoring.plan import Request, nothing_scored
from blimpworks.scoring.shards import ShardStore
from blimpworks.scoring.watch import Watch

Part = Sequence[Request]
"""What one shard holds the scores of."""
OK, TOO_LONG, EMPTY, NOT_FINITE = "ok", "too_long", "empty", "not_finite"
FAILED = frozenset({*get_args(Failure), NOT_FINITE})
"""Statuses that another machine, number format or day can change."""
SCHEMA = pa.schema(
    [
        ("key", pa.string()),
        ("text", pa.string()),
        ("start", pa.int32()),
        ("end", pa.int32()),
        ("ids", pa.list_(pa.int32())),
        ("logprobs", pa.list_(pa.float32())),
        ("ends", pa.list_(pa.int32())),
        ("status", pa.string()),
    ]
)


class Store(ShardStore[Request]):
    """The shards of one model's scores, as they lie in one directory."""

    schema, failed = SCHEMA, FAILED
    unit, task, retry_setting = "sentence", "scoring", "scoring.retry_failed"

    @staticmethod
    def content(request: Request) -> str:
        """The stretch, if there is one, and the text."""
        stretch = "" if request.start < 0 else f"{request.start}:{request.end}"
        return f"{stretch}|{request.text}"


def encode_requests(engine: Engine, requests: Sequence[Request]) -> list[Encoded]:
    """Tokens of each request, with those of its stretch as the ones to score."""
    encoded = engine.encode([request.text for request in requests])
    return [request.restrict(each) for request, each in zip(requests, encoded, strict=True)]


def encoded_ahead(engine: Engine, parts: Sequence[Sequence[Request]]) -> Iterator[list[Encoded]]:
    """Tokens of the requests of each part; while one is scored, the next is tokenized."""
    with ThreadPoolExecutor(1) as thread:
        coming = [thread.submit(encode_requests, engine, part) for part in parts[:1]]
        for part in parts[1:]:
            coming.append(thread.submit(encode_requests, engine, part))
            yield coming.pop(0).result()
        for last in coming:
            yield last.result()


def one_by_one(
    engine: Engine, parts: Sequence[Part], keys: Mapping[Request, str], watch: Watch
) -> Iterator[tuple[Part, pa.Table]]:
    """Each part and its scores."""
    for part, encoded in zip(parts, encoded_ahead(engine, parts), strict=True):
        watch.before()
        yield part, score_shard(engine, {request: keys[request] for request in part}, encoded)


def side_by_side(
    engine: Engine, parts: Sequence[Part], keys: Mapping[Request, str], watch: Watch
) -> Iterator[tuple[Part, pa.Table]]:
    """Each part and its scores, in order; so many are scored at a time as ``engine`` can.

    When ``watch`` ends the run, those that have begun are finished first. When anything else does,
    such as an interrupt, ``engine`` is closed, so that nobody waits for what is not written.
    """
    begun = deque[tuple[Part, Future[pa.Table]]]()
    ending: Exception | None = None
    with ThreadPoolExecutor(engine.abreast) as threads:
        try:
            for part, encoded in zip(parts, encoded_ahead(engine, parts), strict=True):
                if len(begun) == engine.abreast:
                    first, scores = begun.popleft()
                    yield first, scores.result()
                try:
                    watch.before()
                except Exception as error:
                    ending = error
                    break
                chosen = {request: keys[request] for request in part}
                begun.append((part, threads.submit(score_shard, engine, chosen, encoded)))
            for part, scores in begun:
                yield part, scores.result()
        except BaseException:
            engine.close()
            raise
    if ending is not None:
        raise ending


def _lists(arrays: Sequence[Ids] | Sequence[LogProbs], kind: pa.DataType) -> pa.ListArray:
    offsets = np.concatenate([[0], np.cumsum([len(a) for a in arrays])]).astype(np.int32)
    return pa.ListArray.from_arrays(offsets, pa.array(np.concatenate(arrays), kind))


def _status(row: LogProbs, to_score: Mask | None) -> str:
    """Status of a text that the engine has scored.

    The first token may have no score, and tokens that nobody wants; any other without a
    finite one (an overflow in half precision, say) would pass for a probable one in a sum.
    """
    # No more than this for the many of which each token has a score; the sum is finite then.
    if len(row) and math.isfinite(row.sum()):
        return OK
    lost = ~np.isfinite(row)
    lost[:1] = np.isinf(row[:1])
    if to_score is not None:
        lost &= to_score
    if lost.any():
        return NOT_FINITE
    return EMPTY if np.isnan(row).all() else OK


def _scored(engine: Engine, encoded: list[Encoded]) -> tuple[list[LogProbs], list[str]]:
    """Log-probabilities of each text, NaN where there are none, and its status."""
    limit = engine.limit
    fits = [limit is None or len(e.ids) <= limit for e in encoded]
    results = iter(engine.logprobs([*compress(encoded, fits)]))
    rows, statuses = [], []
    for each, fit in zip(encoded, fits, strict=True):
        result = next(results) if fit else TOO_LONG
        if isinstance(result, str):
            row, status = nothing_scored(len(each.ids)), result
        else:
            row, status = result, _status(result, each.to_score)
        rows.append(row)
        statuses.append(status)
    return rows, statuses


def score_shard(engine: Engine, keys: Mapping[Request, str], encoded: list[Encoded]) -> pa.Table:
    """Scores of requests, given as tokens too, one row each, in their order.

    ``status`` is ``ok``; ``too_long`` (more tokens than the model's context), ``empty``
    (no token that could be scored), ``not_finite`` (a token whose score is no number), or why
    the engine failed (see ``engine.Failure``). The
    lists ids, logprobs and ends are of one length; logprobs is NaN for a token that is not
    scored.
    """
    logprobs, statuses = _scored(engine, encoded)
    columns = [
        pa.array(keys.values(), pa.string()),
        pa.array([request.text for request in keys], pa.string()),
        pa.array([request.start for request in keys], pa.int32()),
        pa.array([request.end for request in keys], pa.int32()),
        _lists([e.ids for e in encoded], pa.int32()),
        _lists(logprobs, pa.float32()),
        _lists([e.ends for e in encoded], pa.int32()),
        pa.array(statuses, pa.string()),
    ]
    return pa.table(columns, schema=SCHEMA)
