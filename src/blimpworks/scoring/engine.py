"""Define the interface of scoring engines: texts to token ids, and ids to log-probabilities.

A run calls ``load_engine``, then ``self_test``, ``encode`` and ``logprobs``, and finally ``close``.
Each subclass of ``Engine`` runs one type of model: transformers, vLLM, KenLM or an LSTM.
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


@contextmanager
def loading(directory: Path) -> Iterator[None]:
    """Turn errors of libraries for broken model files into a UserError about ``directory``."""
    try:
        yield
    except (UserError, MemoryError):
        raise
    except Exception as error:
        if type(error).__name__ == "OutOfMemoryError":
            raise
        message = " ".join(str(error).split()) or type(error).__name__
        raise UserError(
            f"{directory}: the model cannot be loaded ({message[:300]}); "
            "train or retrieve it again, or choose another engine."
        ) from error


Ids = NDArray[np.int32]
Mask = NDArray[np.bool_]
LogProbs = NDArray[np.float32]
Failure = Literal["out_of_memory", "refused"]
"""Reasons why an engine could not score a text."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """Tokens of a text, without those that an engine puts before it."""

    ids: Ids
    """Id of each token [tokens]."""
    ends: Ids
    """Number of characters of the text that are complete after each token [tokens]."""
    to_score: Mask | None = None
    """Whether to score each token [tokens]; None for all. Engines that are not ``regional`` score
    all tokens anyway."""
    steps: tuple["Encoded", ...] = ()
    """Texts that are scored in place of this one, each for one token; usually none."""


class Engine(ABC):
    """A model with the code that scores with it; the first batch loads the weights."""

    key: str
    """Text that states all that decides log-probabilities, apart from the texts to score."""
    regional: bool = False
    """Whether the engine takes less time for fewer tokens to score in a text of the same length."""
    shares_prefixes: bool = False
    """Whether texts with a common prefix take less time in one batch."""
    encodes_apart: bool = False
    """Whether ``encode`` can encode a word apart from its context (see ``items.APART``)."""
    abreast: int = 1
    """Number of batches that threads may score at the same time."""

    @property
    def limit(self) -> int | None:
        """Largest number of ids of a text; None without limit."""
        return None

    @abstractmethod
    def self_test(self) -> Any:
        """Test the model, see ``selftest``. Raises UserError if it cannot be scored."""

    def follow(self, decisions: Mapping[str, str]) -> None:  # noqa: B027
        """Change how texts are scored by the self-test's decisions, and add these to the key."""

    @abstractmethod
    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """Return the tokens of each text. May run in another thread than ``logprobs``."""

    @abstractmethod
    def logprobs(self, batch: Sequence[Encoded]) -> list[LogProbs | Failure]:
        """Return the natural log-probabilities of each text's ids, NaN for unscored ids.

        A result is as long as a text's ids, or a failure. It does not depend on the texts' order.
        """

    def close(self) -> None:  # noqa: B027
        """Release all resources, such as a server; the engine cannot be used afterwards.

        May be called again, and while batches are scored: they end soon, perhaps with an error.
        """


def encode_words(
    word_ends: Sequence[tuple[str, int]], ids: Mapping[str, int], unknown: int, end: int
) -> Encoded:
    """Return the tokens of words, which come with end offsets; the last id is ``end``."""
    ends = [after for _, after in word_ends]
    return Encoded(
        np.array([*(ids.get(word, unknown) for word, _ in word_ends), end], dtype=np.int32),
        np.array([*ends, max(ends, default=0)], dtype=np.int32),
    )


def build_engine(
    checkpoint: Path,
    choose: Callable[[Checkpoint], Choice],
    options: Any,
    trusted: Collection[str] = (),
) -> Any:
    """Build the engine that ``choose`` selects for a checkpoint, with ``options``.

    Settings that cannot be met are logged. ``trusted`` are digests of models' own code that may
    run. Raises UserError if the checkpoint is missing, altered, not for this engine, an adapter,
    quantised, or has code that is not trusted.
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
    digest covers the engine's class ``cls``, or ``entries`` (``module:name``) if only they decide
    numbers, and the code that makes rows.
    """
    # The class is not looked up in the table of engines: a new engine there would change all keys.
    chosen = entries or (f"{cls.__module__}:{cls.__name__}",)
    rows = ("blimpworks.scoring.store:encode_requests", "blimpworks.scoring.store:score_shard")
    code = number_digest(*chosen, *rows)
    key_fields = (version, code, described.dtype, sha256_of(checkpoint), described.first_token)
    return "|".join(key_fields)
