"""Store sentence scores: one row per sentence, keyed by the engine's key and the text.

Languages added later are scored in other company than together; engines whose batches move last
digits may then differ in these.
"""

import math
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import compress, pairwise
from os.path import commonprefix
from pathlib import Path
from typing import NamedTuple, get_args

import numpy as np
import pyarrow as pa

from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.errors import UserError
from blimpworks.scoring.engine import Encoded, Engine, Failure, Ids, LogProbs, Mask
from blimpworks.scoring.shards import ShardStore
from blimpworks.scoring.watch import Watch
from blimpworks.scoring.words import joined, joint, token_starts
from blimpworks.tables import ITEMS, read_table

PAYS = 0.4
"""Share of characters in common with the sentence before above which sharing pays."""


class Request(NamedTuple):
    """A sentence to score: whole, or only the tokens of one stretch."""

    text: str
    start: int = -1
    """First character of the stretch; negative for the whole sentence."""
    end: int = -1
    """The character after the stretch."""

    def restrict(self, encoded: Encoded) -> Encoded:
        """Mark the stretch's tokens as those to score."""
        if self.start < 0:
            return encoded
        space = joint(self.text, self.start)
        starts = token_starts(encoded.ends)
        scored = joined(starts, encoded.ends, space, self.start, self.end)
        return replace(encoded, to_score=scored)


def requests_of(items: Iterable[Path], *, regions: bool = False) -> set[Request]:
    """Return the distinct sentences, or regions, of items. Raises UserError where one lacks."""
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
    """Return the share of characters that each sorted text shares with the one before."""
    ordered = sorted(texts)
    total = sum(map(len, ordered))
    # Characters are meant, not parts of paths.
    shared = sum(len(commonprefix(pair)) for pair in pairwise(ordered))  # noqa: RUF071
    return shared / total if total else 0.0


def by_prefix(requests: Collection[Request], engine: Engine, options: ScoringOptions) -> bool:
    """Whether to score in order of texts, so that those with the same beginning share a shard."""
    if not engine.shares_prefixes or options.sharing == "never":
        return False
    if options.sharing == "always":
        return True
    return shared_characters({request.text for request in requests}) >= PAYS


def in_order(requests: Collection[Request], *, prefixes: bool) -> list[Request]:
    """Sort ``requests`` by text, or by length and text, so that batches need little padding."""
    if prefixes:
        return sorted(requests)
    return sorted(requests, key=lambda request: (len(request.text), request))


def nothing_scored(count: int) -> np.ndarray:
    """Return log-probabilities of an unscored text: NaN, float32 [count]."""
    return np.full(count, np.nan, dtype=np.float32)


Part = Sequence[Request]
"""Requests of one shard."""
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
    """The shards of one model's scores, in one directory."""

    schema, failed = SCHEMA, FAILED
    unit, task, retry_setting = "sentence", "scoring", "scoring.retry_failed"

    @staticmethod
    def content(request: Request) -> str:
        stretch = "" if request.start < 0 else f"{request.start}:{request.end}"
        return f"{stretch}|{request.text}"


def encode_requests(engine: Engine, requests: Sequence[Request]) -> list[Encoded]:
    """Return each request's tokens, with those of its stretch as the ones to score."""
    encoded = engine.encode([request.text for request in requests])
    return [
        request.restrict(encoded_request)
        for request, encoded_request in zip(requests, encoded, strict=True)
    ]


def encoded_ahead(engine: Engine, parts: Sequence[Sequence[Request]]) -> Iterator[list[Encoded]]:
    """Yield each part's tokens; while one is scored, the next is tokenized."""
    with ThreadPoolExecutor(1) as thread:
        coming = [thread.submit(encode_requests, engine, shard) for shard in parts[:1]]
        for shard in parts[1:]:
            coming.append(thread.submit(encode_requests, engine, shard))
            yield coming.pop(0).result()
        for last in coming:
            yield last.result()


def scored(
    engine: Engine, parts: Sequence[Part], keys: Mapping[Request, str], watch: Watch
) -> Iterator[tuple[Part, pa.Table]]:
    """Yield each part and its scores in order, scored ``engine.abreast`` at a time.

    When ``watch`` ends the run, parts that have begun are finished. Anything else that ends it,
    such as an interrupt, closes ``engine``, so that nobody waits for what is not written.
    """
    begun = deque[tuple[Part, Callable[[], pa.Table]]]()
    ending: Exception | None = None
    with ThreadPoolExecutor(engine.abreast) as threads:
        try:
            for shard, encoded in zip(parts, encoded_ahead(engine, parts), strict=True):
                if len(begun) == engine.abreast:
                    first, result = begun.popleft()
                    yield first, result()
                try:
                    watch.before()
                except Exception as error:
                    ending = error
                    break
                score = partial(score_shard, engine, {each: keys[each] for each in shard}, encoded)
                # Alone, it is scored in this thread.
                result = score if engine.abreast == 1 else threads.submit(score).result
                begun.append((shard, result))
            for shard, result in begun:
                yield shard, result()
        except BaseException:
            engine.close()
            raise
    if ending is not None:
        raise ending


def _lists(arrays: Sequence[Ids] | Sequence[LogProbs], kind: pa.DataType) -> pa.ListArray:
    offsets = np.concatenate([[0], np.cumsum([len(a) for a in arrays])]).astype(np.int32)
    return pa.ListArray.from_arrays(offsets, pa.array(np.concatenate(arrays), kind))


def _status(row: LogProbs, to_score: Mask | None) -> str:
    """Return the status of a text that the engine has scored.

    The first token, and unwanted ones, may have no score. Any other without a finite one (an
    overflow in half precision) would pass for a probable one in a sum.
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


def score_shard(engine: Engine, keys: Mapping[Request, str], encoded: list[Encoded]) -> pa.Table:
    """Score requests, given as tokens too, in one row each.

    ``status`` is ``ok``, ``too_long`` (for the model's context), ``empty`` (no token can be
    scored), ``not_finite`` (a token's score is no number), or an ``engine.Failure``. The lists ids,
    logprobs and ends have one length; logprobs is NaN for an unscored token.
    """
    limit = engine.limit
    fits = [limit is None or len(e.ids) <= limit for e in encoded]
    results = iter(engine.logprobs([*compress(encoded, fits)]))
    logprobs, statuses = list[LogProbs](), list[str]()
    for each, fit in zip(encoded, fits, strict=True):
        result = next(results) if fit else TOO_LONG
        if isinstance(result, str):
            logprobs.append(nothing_scored(len(each.ids)))
            statuses.append(result)
        else:
            logprobs.append(result)
            statuses.append(_status(result, each.to_score))
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
