"""Write how far a running job is, for readers in another shell."""

import json
import logging
import os
import uuid
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from time import monotonic

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import AwareDatetime, NonNegativeInt

from blimpworks.errors import reading
from blimpworks.files import write_text
from blimpworks.records.journal import AttemptId, Scored, now
from blimpworks.scoring.watch import Watch
from blimpworks.strict import Strict

log = logging.getLogger(__name__)

ATTEMPT = "BLIMPWORKS_ATTEMPT"
"""Environment variable with the id of this process's attempt."""
RARELY = 2.0
"""Seconds between two versions of the file, since small shards take less than a write."""


class LanguageProgress(Strict):
    """Progress of one language."""

    sentences: NonNegativeInt
    done: NonNegativeInt


class Progressed(Scored):
    """Content of a progress file."""

    attempt: AttemptId
    updated: AwareDatetime
    languages: dict[str, LanguageProgress]
    """Progress by code of the language. A sentence that two languages share counts for both."""


def read_progress(path: Path) -> Progressed | None:
    """Read a progress file; None if missing. Raises UserError for another file."""
    with reading(path, "the progress of a job that scores", "Delete it: nothing depends on it."):
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        return Progressed.model_validate_json(content)


def scored_tokens(scores: pa.Table) -> int:
    """Count the tokens of a shard that have a score, or were written as answers."""
    if "tokens" in scores.column_names:
        return pc.sum(scores["tokens"]).as_py() or 0
    values = scores["logprobs"].combine_chunks().flatten()
    return pc.sum(pc.is_finite(values)).as_py() or 0


class Progress(Watch):
    """Keeps the progress file of one job. A failed write fails no job."""

    def __init__(self, path: Path, attempt: str | None = None) -> None:
        """Write at ``path``; ``attempt`` defaults to the environment's, or a new one."""
        self._path = path
        self._attempt = attempt or os.environ.get(ATTEMPT) or uuid.uuid4().hex
        # Times on the monotonic clock; seconds and tokens of the first two shards.
        self._started = self._begun = self._last = monotonic()
        self._shards: list[tuple[float, int]] = []
        self._written = -RARELY
        self._languages: dict[Hashable, tuple[str, ...]] = {}
        self._sentences: dict[str, int] = {}
        self._missing: Counter[str] = Counter()
        self._total = self._left = self._new = self._tokens = 0

    def begin(
        self, sentences: Mapping[str, Collection[Hashable]], missing: Collection[Hashable]
    ) -> None:
        """Count the sentences, and write the first version."""
        seen = set[Hashable]()
        for lang, requests in sentences.items():
            # In these steps, hashes of the sentences are not computed anew.
            shared = seen.intersection(requests)
            shared_requests = {request: (*self._languages[request], lang) for request in shared}
            self._languages |= dict.fromkeys(requests, (lang,)) | shared_requests
            seen.update(requests)
        self._sentences = {lang: len(requests) for lang, requests in sentences.items()}
        self._total, self._left = len(seen), len(missing)
        fresh = self._left == self._total
        self._missing = Counter(self._sentences) if fresh else self._by_language(missing)
        self._begun = self._last = monotonic()
        self._write()

    def wrote(self, part: Sequence[Hashable], scores: pa.Table) -> None:
        """Count a shard; write the next version, unless the last is too recent."""
        tokens = scored_tokens(scores)
        moment = monotonic()
        if len(self._shards) < 2:
            self._shards.append((moment - self._last, tokens))
        self._last = moment
        self._tokens += tokens
        self._new += len(part)
        self._left -= len(part)
        self._missing.subtract(self._by_language(part))
        if monotonic() - self._written >= RARELY:
            self._write()

    def _by_language(self, requests: Iterable[Hashable]) -> Counter[str]:
        return Counter(chain.from_iterable(map(self._languages.__getitem__, requests)))

    def end(self) -> None:
        self._write()

    def _write(self) -> None:
        # Engines load their model with the first batch. Loading is thus the time that the first
        # shard took beyond the pace of the second, the most similar one.
        load = None
        if len(self._shards) == 2:
            (first, tokens), (second, others) = self._shards
            usual = second * tokens / others if others else second
            load = self._begun - self._started + max(0.0, first - usual)
        score = self._last - self._started - (load or self._begun - self._started)
        progress = Progressed(
            attempt=self._attempt,
            updated=now(),
            sentences=self._total,
            done=self._total - self._left,
            new=self._new,
            tokens=self._tokens,
            load_seconds=None if load is None else round(load, 3),
            score_seconds=round(score, 3),
            languages={
                lang: LanguageProgress(sentences=n, done=n - self._missing[lang])
                for lang, n in sorted(self._sentences.items())
            },
        )
        text = json.dumps(progress.model_dump(mode="json"), indent=1)
        try:
            write_text(self._path, text + "\n")
        except OSError as error:
            log.warning("%s: how far this job is cannot be told there: %s", self._path, error)
        self._written = monotonic()
