"""Define the interface of scoring engines: texts to token ids, and ids to log-probabilities.

Each subclass of ``Engine`` runs one type of model: transformers, vLLM, KenLM or an LSTM. A run
(``run.score_items``) calls ``load_engine``, then ``self_test``, ``encode``, ``logprobs`` and
``close`` of the engine. For example::

    encode(["the dog"])  ->  [Encoded(ids=[5, 9], ends=[3, 7])]
    logprobs(...)        ->  [[-2.5, -4.0]]
"""

import importlib
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from blimpworks.campaign.engines import Choice, choose_engine
from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.errors import UserError
from blimpworks.files import sha256_of
from blimpworks.models import own_code
from blimpworks.models.checkpoint import (
    Checkpoint,
    quantisation_of,
    read_checkpoint,
    refuse_adapter,
    refuse_own_code,
    refuse_quantised,
)
from blimpworks.records.digest import number_digest

log = logging.getLogger(__name__)


Ids = NDArray[np.int32]  # [tokens]
Mask = NDArray[np.bool_]  # [tokens]
LogProbs = NDArray[np.float32]  # natural logarithms, NaN for unscored tokens [tokens]
Failure = Literal["out_of_memory", "refused"]
"""Reasons why an engine could not score a text. ``refused``: the text has an id that the model does
not have, or a server refuses the text or dies of it."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """Tokens of a text, without the tokens that an engine puts before the text."""

    ids: Ids
    """Id of each token [tokens]."""
    ends: Ids
    """End offset of each token: number of the text's characters that it completes [tokens]."""
    to_score: Mask | None = None
    """Whether to score each token [tokens]; None for all. Only ``regional`` engines heed it."""
    steps: tuple["Encoded", ...] = ()
    """Texts to score in place of this text, one for each of its last tokens: for a word ``barking``
    that is encoded apart from its context, "the dog bark" and "the dog barking". Usually empty."""


class Engine(ABC):
    """A model with the code that scores with it; the first batch loads the weights."""

    key: str
    """Text that states all that decides log-probabilities, apart from the texts to score."""
    regional: bool = False
    """Whether the engine takes less time if it scores only some tokens (a region) of a text."""
    shares_prefixes: bool = False
    """Whether texts with a common prefix take less time in one batch."""
    encodes_apart: bool = False
    """Whether ``encode`` tokenizes a word and its context separately (see ``items.APART``)."""
    parallel_batches: int = 1
    """Number of batches that threads may score at the same time with this engine."""

    @property
    def limit(self) -> int | None:
        """Largest number of ids of a text; None without limit."""
        return None

    @abstractmethod
    def self_test(self) -> Any:
        """Test the model; return ``selftest.Findings``. Raises UserError if it fails the test."""

    def follow(self, decisions: Mapping[str, str]) -> None:  # noqa: B027
        """Obey the self-test's decisions (``Findings.decisions``), and append them to ``key``."""

    @abstractmethod
    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """Return the tokens of each text. May run in another thread than ``logprobs``."""

    @abstractmethod
    def logprobs(self, batch: Sequence[Encoded]) -> list[LogProbs | Failure]:
        """Return the natural log-probabilities of each text's ids, NaN for unscored ids [tokens].

        A text that cannot be scored gets a ``Failure``. The order of texts changes no result.
        """

    def close(self) -> None:  # noqa: B027
        """Release all resources, such as a server; the engine cannot be used afterwards.

        May be called twice, and while batches are scored; these end soon, perhaps by an error.
        """


def encode_words(
    word_ends: Sequence[tuple[str, int]], ids: Mapping[str, int], unknown: int, end: int
) -> Encoded:
    """Return the tokens of a text that is split into words with their end offsets.

    ``ids`` are ids by word, and other words get ``unknown``. The token ``end`` follows, with the
    end offset of the last word: [("the", 3), ("dog", 7)] has the ends [3, 7, 7].
    """
    ends = [offset for _, offset in word_ends]
    return Encoded(
        np.array([*(ids.get(word, unknown) for word, _ in word_ends), end], dtype=np.int32),
        np.array([*ends, max(ends, default=0)], dtype=np.int32),
    )


@contextmanager
def loading(directory: Path) -> Iterator[None]:
    """Turn errors of libraries for broken model files into a UserError about ``directory``."""
    try:
        yield
    except (UserError, MemoryError):
        raise
    except Exception as error:
        if type(error).__name__ == "OutOfMemoryError":  # of torch, which not every engine imports
            raise
        message = " ".join(str(error).split()) or type(error).__name__
        raise UserError(
            f"{directory}: the model cannot be loaded ({message[:300]}); "
            "train or retrieve it again, or choose another engine."
        ) from error


def build_engine(
    checkpoint: Path,
    choose: Callable[[Checkpoint], Choice],
    options: Any,
    trusted: Collection[str] = (),
) -> Any:
    """Build the engine that ``choose`` selects for a checkpoint.json, with ``options``.

    Requested settings that the engine does not support are logged. ``trusted`` are digests of
    models' own code that may run. Raises UserError if the checkpoint is missing, altered, not for
    this engine, an adapter, quantised, or has code that is not trusted.
    """
    described = read_checkpoint(checkpoint)
    refuse_own_code(checkpoint.parent)
    refuse_adapter(described.files, str(checkpoint.parent))
    try:
        choice = choose(described)
    except UserError as error:
        raise UserError(f"{checkpoint}: {error}") from error
    if not choice.quantised:
        refuse_quantised(quantisation_of(checkpoint.parent), str(checkpoint.parent))
    if own_code.FILE in described.files:
        if not choice.own_code:
            raise UserError(
                f"{checkpoint.parent} has code of its own, which this engine does not run; choose "
                "the engine transformers."
            )
        own_code.admit_code(checkpoint.parent, trusted)
    for reason in choice.unmet:
        log.info("%s: %s", described.name, reason)
    module, _, class_name = choice.address.partition(":")
    build = getattr(importlib.import_module(module), class_name)
    with loading(checkpoint.parent):
        return build(checkpoint, described.model_copy(update=choice.settings), options)


def load_engine(
    checkpoint: Path, name: str, options: ScoringOptions, trusted: Collection[str] = ()
) -> Engine:
    """Load the engine ``name`` for a checkpoint.json, as ``build_engine`` does."""
    choose = partial(choose_engine, name, requested=options)
    engine: Engine = build_engine(checkpoint, choose, options, trusted)
    return engine


def engine_key(
    cls: type, version: str, checkpoint: Path, described: Checkpoint, entries: tuple[str, ...] = ()
) -> str:
    """Return an engine's key: ``VERSION|DIGEST OF CODE|DTYPE|CHECKPOINT'S SHA-256|FIRST TOKEN``.

    ``version`` names software versions and all else that changes numbers, such as a device. The
    digest covers the engine's class ``cls``, and the functions that make rows of scores. In place
    of the class it covers ``entries`` (``module:name``) if only these decide numbers.
    """
    # The class is not looked up in the table of engines: a new engine there would change all keys.
    engine_code = entries or (f"{cls.__module__}:{cls.__name__}",)
    row_code = ("blimpworks.scoring.store:encode_requests", "blimpworks.scoring.store:score_shard")
    code = number_digest(*engine_code, *row_code)
    key_fields = (version, code, described.dtype, sha256_of(checkpoint), described.first_token)
    return "|".join(key_fields)
