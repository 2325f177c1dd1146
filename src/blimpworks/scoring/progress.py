"""Follow a job while it scores: watches, which may end it, and a file with its progress.

``run.score_items`` and ``generation.engine.answer_items`` call a ``Watch`` before and after each
shard (a file with rows of results). The watch ``Progress`` writes a file, which ``blimpworks
status`` reads::

    {"attempt": "5f2c…", "updated": "2026-11-02T10:15:00Z", "sentences": 4000, "done": 1500,
     "languages": {"eng": {"sentences": 4000, "done": 1500}}, …}
"""

import json
import logging
import os
import uuid
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from pydantic import AwareDatetime, NonNegativeInt

from blimpworks.errors import reading
from blimpworks.files import write_text
from blimpworks.records.journal import AttemptId, Scored, now
from blimpworks.strict import Strict

if TYPE_CHECKING:  # slow to import, and every small command imports this module
    import pyarrow as pa


class Watch:
    """Observer of a run, which by itself only calls its ``watches``. No watch changes a score."""

    watches: "tuple[Watch, ...]" = ()  # for subclasses that do not call ``__init__``

    def __init__(self, *watches: "Watch") -> None:
        """Take the watches to call at each step, in this order; each may end the run."""
        self.watches = watches

    def begin(
        self, sentences: Mapping[str, Collection[Hashable]], missing: Collection[Hashable]
    ) -> None:
        """Note all ``sentences`` by language, and the ``missing`` ones. The engine is open now."""
        for watch in self.watches:
            watch.begin(sentences, missing)

    def before(self) -> None:
        """Note that a shard is next. May raise an exception to end the run; no score is lost."""
        for watch in self.watches:
            watch.before()

    def wrote(self, requests: Sequence[Hashable], scores: "pa.Table") -> None:
        """Note that a shard was written, whose table has the ``scores`` of the ``requests``."""
        for watch in self.watches:
            watch.wrote(requests, scores)

    def end(self) -> None:
        """Note the end of the run, whether or not all sentences have scores."""
        for watch in self.watches:
            watch.end()


UNWATCHED = Watch()
log = logging.getLogger(__name__)
ATTEMPT = "BLIMPWORKS_ATTEMPT"
"""Environment variable with the id of this attempt, one run of a job."""
WRITE_INTERVAL = 2.0
"""Shortest time between two writes of the file [s]; a write can take longer than a small shard."""


class LanguageProgress(Strict):
    """Numbers of sentences of one language: all, and those with scores."""

    sentences: NonNegativeInt
    done: NonNegativeInt


class ProgressFile(Scored):
    """Content of a progress file: numbers of sentences and tokens, and times [s] (``Scored``)."""

    attempt: AttemptId
    updated: AwareDatetime
    languages: dict[str, LanguageProgress]
    """Progress by code of the language. A sentence of two languages counts for both."""


def read_progress(path: Path) -> ProgressFile | None:
    """Read a progress file; None if it is missing. Raises UserError for a bad file."""
    with reading(path, "the progress of a job that scores", "Delete it: nothing depends on it."):
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        return ProgressFile.model_validate_json(content)


def scored_tokens(scores: "pa.Table") -> int:
    """Count the tokens of a shard: tokens with a score, or the tokens of answers."""
    import pyarrow.compute as pc

    if "tokens" in scores.column_names:
        return pc.sum(scores["tokens"]).as_py() or 0
    values = scores["logprobs"].combine_chunks().flatten()
    return pc.sum(pc.is_finite(values)).as_py() or 0


class Progress(Watch):
    """Watch that writes the progress file of a job. If it cannot be written, the job goes on."""

    def __init__(self, path: Path, attempt: str | None = None) -> None:
        """Write to ``path``. Without ``attempt``, its id is read from ``ATTEMPT``, or drawn."""
        self._path = path
        self._attempt = attempt or os.environ.get(ATTEMPT) or uuid.uuid4().hex
        # Times of the monotonic clock [s]: of this object, of ``begin``, and of the last shard.
        self._created_at = self._begun_at = self._last_shard_at = monotonic()
        self._written_at = -WRITE_INTERVAL  # so that the first write is never too early
        # (seconds, tokens) of the first two shards.
        self._first_shards: list[tuple[float, int]] = []
        self._langs_of_request: dict[Hashable, tuple[str, ...]] = {}
        self._sentences_by_lang: dict[str, int] = {}
        self._missing_by_lang: Counter[str] = Counter()
        self._total = self._missing = self._new = self._tokens = 0

    def begin(
        self, sentences: Mapping[str, Collection[Hashable]], missing: Collection[Hashable]
    ) -> None:
        """Count the sentences, and write the file."""
        seen, langs_of = set[Hashable](), self._langs_of_request
        for lang, requests in sentences.items():
            # A sentence belongs to all its languages. Sets are fast, since they store hashes.
            langs_of_repeated = {
                request: (*langs_of[request], lang) for request in seen.intersection(requests)
            }
            langs_of.update(dict.fromkeys(requests, (lang,)))
            langs_of.update(langs_of_repeated)
            seen.update(requests)
        self._sentences_by_lang = {lang: len(requests) for lang, requests in sentences.items()}
        self._total, self._missing = len(seen), len(missing)
        if self._missing == self._total:
            self._missing_by_lang = Counter(self._sentences_by_lang)
        else:
            self._missing_by_lang = self._count_by_lang(missing)
        self._begun_at = self._last_shard_at = monotonic()
        self._write()

    def wrote(self, requests: Sequence[Hashable], scores: "pa.Table") -> None:
        """Count the requests of a shard; write the file unless the last write was too recent."""
        tokens = scored_tokens(scores)
        moment = monotonic()
        if len(self._first_shards) < 2:
            self._first_shards.append((moment - self._last_shard_at, tokens))
        self._last_shard_at = moment
        self._tokens += tokens
        self._new += len(requests)
        self._missing -= len(requests)
        self._missing_by_lang.subtract(self._count_by_lang(requests))
        if monotonic() - self._written_at >= WRITE_INTERVAL:
            self._write()

    def _count_by_lang(self, requests: Iterable[Hashable]) -> Counter[str]:
        return Counter(chain.from_iterable(map(self._langs_of_request.__getitem__, requests)))

    def end(self) -> None:
        self._write()

    def _write(self) -> None:
        # Engines load their model with the first batch. So the time for loading is that before
        # ``begin``, plus the extra time of the first shard: what it took beyond the time at the
        # second shard's speed. Until the second shard, only the time before ``begin`` is known.
        load_seconds = None
        before_seconds = self._begun_at - self._created_at
        if len(self._first_shards) == 2:
            (first_time, first_tokens), (second_time, second_tokens) = self._first_shards
            expected = second_time * first_tokens / second_tokens if second_tokens else second_time
            load_seconds = before_seconds + max(0.0, first_time - expected)
        total_seconds = self._last_shard_at - self._created_at
        score_seconds = total_seconds - (load_seconds or before_seconds)
        progress = ProgressFile(
            attempt=self._attempt,
            updated=now(),
            sentences=self._total,
            done=self._total - self._missing,
            new=self._new,
            tokens=self._tokens,
            load_seconds=None if load_seconds is None else round(load_seconds, 3),
            score_seconds=round(score_seconds, 3),
            languages={
                lang: LanguageProgress(sentences=count, done=count - self._missing_by_lang[lang])
                for lang, count in sorted(self._sentences_by_lang.items())
            },
        )
        text = json.dumps(progress.model_dump(mode="json"), indent=1)
        try:
            write_text(self._path, text + "\n")
        except OSError as error:
            log.warning("%s: the progress of this job cannot be written: %s", self._path, error)
        self._written_at = monotonic()
