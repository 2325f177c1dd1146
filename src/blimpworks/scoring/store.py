"""Score sentences into a store: one row per sentence, with a key of the engine's key and the text.

Sentences of languages that are added later are in other batches than if all were scored together.
With engines for which batches change the last digits, these may then differ.
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
from blimpworks.items import APART
from blimpworks.scoring.engine import Encoded, Engine, Failure, Ids, LogProbs, Mask
from blimpworks.scoring.progress import Watch
from blimpworks.scoring.shards import ShardStore
from blimpworks.scoring.tokens import joined, joint, token_starts
from blimpworks.tables import ITEMS, read_table

PAYS = 0.4
"""Share of characters in common with the sentence before, from which sharing is faster."""


class Request(NamedTuple):
    """A sentence to score: all tokens, or only those of a region."""

    text: str
    start: int = -1
    """First character of the region; negative for the complete sentence."""
    end: int = -1
    """Character after the region."""

    def restrict(self, encoded: Encoded) -> Encoded:
        """Return a text's tokens with those of the region as the ones to score."""
        if self.start < 0:
            return encoded
        space = joint(self.text, self.start)
        starts = token_starts(encoded.ends)
        scored = joined(starts, encoded.ends, space, self.start, self.end)
        return replace(encoded, to_score=scored)


def requests_of(items: Iterable[Path], *, regions: bool = False) -> set[Request]:
    """Return the distinct sentences, or regions, of items. Raises UserError for empty cells."""
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
    """Return the share of characters in common prefixes of neighbours, for sorted texts."""
    ordered = sorted(texts)
    total = sum(map(len, ordered))
    # This counts characters, not parts of paths.
    shared = sum(len(commonprefix(pair)) for pair in pairwise(ordered))  # noqa: RUF071
    return shared / total if total else 0.0


def by_prefix(requests: Collection[Request], engine: Engine, options: ScoringOptions) -> bool:
    """Return whether to score texts in sorted order, so that common prefixes are in one shard."""
    if not engine.shares_prefixes or options.sharing == "never":
        return False
    if options.sharing == "always":
        return True
    return shared_characters({request.text for request in requests}) >= PAYS


def in_order(requests: Collection[Request], *, prefixes: bool) -> list[Request]:
    """Sort requests by text, or by length and text, so that batches need little padding."""
    if prefixes:
        return sorted(requests)
    return sorted(requests, key=lambda request: (len(request.text), request))


def nothing_scored(count: int) -> np.ndarray:
    """Return the log-probabilities of an unscored text: NaN, float32 [count]."""
    return np.full(count, np.nan, dtype=np.float32)


Part = Sequence[Request]
"""Requests of one shard."""
OK, TOO_LONG, EMPTY, NOT_FINITE = "ok", "too_long", "empty", "not_finite"
FAILED = frozenset({*get_args(Failure), NOT_FINITE})
"""Statuses that may be different on another machine, in another number format or later."""
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
    """Shards of the scores of one model, in one directory."""

    schema, failed = SCHEMA, FAILED
    unit, task, retry_setting = "sentence", "scoring", "scoring.retry_failed"

    @staticmethod
    def content(request: Request) -> str:
        stretch = "" if request.start < 0 else f"{request.start}:{request.end}"
        return f"{stretch}|{request.text}"


def encode_requests(engine: Engine, requests: Sequence[Request]) -> list[Encoded]:
    """Return the tokens of each request, with those of its region as the ones to score."""
    apart = next((request.text for request in requests if APART in request.text), None)
    if apart is not None and not engine.encodes_apart:
        raise UserError(
            f"{apart.replace(APART, '|')!r} has a word that is encoded apart from its context, "
            f"which {type(engine).__name__} does not do; leave its benchmark out, or choose "
            "another engine."
        )
    encoded = engine.encode([request.text for request in requests])
    return [
        request.restrict(encoded_request)
        for request, encoded_request in zip(requests, encoded, strict=True)
    ]


def encoded_ahead(engine: Engine, shards: Sequence[Sequence[Request]]) -> Iterator[list[Encoded]]:
    """Yield the tokens of each shard's requests; a thread tokenizes the next shard meanwhile."""
    with ThreadPoolExecutor(1) as thread:
        coming = [thread.submit(encode_requests, engine, shard) for shard in shards[:1]]
        for shard in shards[1:]:
            coming.append(thread.submit(encode_requests, engine, shard))
            yield coming.pop(0).result()
        for last in coming:
            yield last.result()


def scored(
    engine: Engine, shards: Sequence[Part], keys: Mapping[Request, str], watch: Watch
) -> Iterator[tuple[Part, pa.Table]]:
    """Yield the requests and the scores of each shard in order, ``engine.abreast`` at a time.

    If ``watch`` ends the run, the shards that have begun are finished. Any other exception, such as
    an interrupt, closes ``engine``, so that no shard is finished that will not be written.
    """
    begun = deque[tuple[Part, Callable[[], pa.Table]]]()
    ending: Exception | None = None
    with ThreadPoolExecutor(engine.abreast) as threads:
        try:
            for shard, encoded in zip(shards, encoded_ahead(engine, shards), strict=True):
                if len(begun) == engine.abreast:
                    first, result = begun.popleft()
                    yield first, result()
                try:
                    watch.before()
                except Exception as error:
                    ending = error
                    break
                score = partial(
                    score_shard, engine, {request: keys[request] for request in shard}, encoded
                )
                # A single shard at a time is scored in this thread.
                result = score if engine.abreast == 1 else threads.submit(score).result
                begun.append((shard, result))
            for shard, result in begun:
                yield shard, result()
        except BaseException:
            engine.close()
            raise
    if ending is not None:
        raise ending


def _lists(arrays: Sequence[Ids] | Sequence[LogProbs], value_type: pa.DataType) -> pa.ListArray:
    offsets = np.concatenate([[0], np.cumsum([len(a) for a in arrays])]).astype(np.int32)
    return pa.ListArray.from_arrays(offsets, pa.array(np.concatenate(arrays), value_type))


def _status(row: LogProbs, to_score: Mask | None) -> str:
    """Return the status of a text that the engine has scored.

    The first token, and those that are not to be scored, may have no score. Any other token
    without a finite score (after an overflow in half precision) would make the sum too large.
    """
    # Most texts have a score for each token, and thus a finite sum.
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
    """Score requests, whose tokens are ``encoded``, and return one row for each.

    ``status`` is ``ok``, ``too_long`` (for the model's context), ``empty`` (no token can be
    scored), ``not_finite`` (a token's score is no number), or an ``engine.Failure``. The lists ids,
    logprobs and ends have equal lengths; logprobs is NaN for an unscored token.
    """
    limit = engine.limit
    texts = [text for tokens in encoded for text in tokens.steps or (tokens,)]
    fits = [limit is None or len(text.ids) <= limit for text in texts]
    fitting = iter(engine.logprobs([*compress(texts, fits)]))
    results = iter([next(fitting) if fit else TOO_LONG for fit in fits])
    logprobs, statuses = list[LogProbs](), list[str]()
    for tokens in encoded:
        result: LogProbs | str = nothing_scored(len(tokens.ids))
        if not tokens.steps:
            result = next(results)
        for position, step in enumerate(tokens.steps, start=len(tokens.ids) - len(tokens.steps)):
            of_step = next(results)
            if isinstance(of_step, str):
                result = of_step
            elif not isinstance(result, str):
                result[position] = of_step[step.to_score][0]
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
        _lists([e.ids for e in encoded], pa.int32()),
        _lists(logprobs, pa.float32()),
        _lists([e.ends for e in encoded], pa.int32()),
        pa.array(statuses, pa.string()),
    ]
    return pa.table(columns, schema=SCHEMA)
