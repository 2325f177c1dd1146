"""Define scoring engines, which turn texts into token ids and these into log-probabilities."""

import importlib
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from blimpworks.campaign.engines import Choice, choose_engine
from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.errors import UserError
from blimpworks.files import sha256_of
from blimpworks.models.checkpoint import Checkpoint, read_checkpoint
from blimpworks.models.weights import (
    quantisation_of,
    refuse_adapter,
    refuse_own_code,
    refuse_quantised,
)
from blimpworks.records.digest import number_digest

log = logging.getLogger(__name__)


@contextmanager
def loading(directory: Path) -> Iterator[None]:
    """Turn what libraries raise on broken model files into a UserError about ``directory``."""
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
"""Why an engine could not score a possible text."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """A text as tokens, without what conditions the first.

    ``ids`` [tokens]; ``ends`` [tokens]: code points of the text complete after each token, never
    falling (a token with part of a character ends before it); ``to_score`` [tokens]: tokens to
    score, None for all. Only engines that pay for each token leave out the others.
    """

    ids: Ids
    ends: Ids
    to_score: Mask | None = None


class Engine(ABC):
    """One checkpoint, loaded with the first batch."""

    key: str
    """Key of everything that decides a text's log-probabilities, apart from the text."""
    regional: bool = False
    """Whether the work grows with the tokens to score, not with all tokens."""
    shares_prefixes: bool = False
    """Whether texts with the same beginning cost less in one batch."""
    abreast: int = 1
    """Batches that threads may score at one time."""

    @property
    def limit(self) -> int | None:
        """Most ids of a text; None without limit."""
        return None

    @abstractmethod
    def self_test(self) -> Any:
        """Test the loaded model (``selftest``). Raises UserError for one that it cannot score."""

    def follow(self, decisions: Mapping[str, str]) -> None:  # noqa: B027
        """Score by the decisions of the self-test, with a key that says so."""

    @abstractmethod
    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """Return each text's tokens. May run in another thread than ``logprobs``."""

    @abstractmethod
    def logprobs(self, batch: Sequence[Encoded]) -> list[LogProbs | Failure]:
        """Return each id's natural log-probability given those before it; NaN where unscored.

        Gives one array a text, as long as its ids, or a failure, independent of the batch's order.
        """

    def close(self) -> None:  # noqa: B027
        """Release all resources, such as a server; the engine is not used after that.

        May be called again, and while batches are scored: they end soon, if with an error.
        """


def encode_words(
    words: Sequence[tuple[str, int]], ids: Mapping[str, int], unknown: int, end: int
) -> Encoded:
    """Return words, each with where it ends, as tokens, and the end of the text as a last one."""
    ends = [after for _, after in words]
    return Encoded(
        np.array([*(ids.get(word, unknown) for word, _ in words), end], dtype=np.int32),
        np.array([*ends, max(ends, default=0)], dtype=np.int32),
    )


def build_engine(checkpoint: Path, choose: Callable[[Checkpoint], Choice], options: Any) -> Any:
    """Build the engine that ``choose`` names for a checkpoint with ``options``.

    Raises UserError when the checkpoint is missing, altered, not for this engine, an adapter or
    quantised, or has code of its own; the log names unmet requests.
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
    for reason in choice.unmet:
        log.info("%s: %s", described.name, reason)
    module, _, class_name = choice.address.partition(":")
    build = getattr(importlib.import_module(module), class_name)
    with loading(checkpoint.parent):
        return build(checkpoint, described.model_copy(update=choice.settings), options)


def load_engine(checkpoint: Path, name: str, options: ScoringOptions) -> Engine:
    """Load the engine ``name`` with a checkpoint's file. Raises UserError as ``build_engine``."""
    engine: Engine = build_engine(
        checkpoint, lambda own: choose_engine(name, own.architecture, own, options), options
    )
    return engine


def engine_key(
    kind: type, version: str, checkpoint: Path, described: Checkpoint, entries: tuple[str, ...] = ()
) -> str:
    """Return the identity of an engine with a checkpoint, which its scores' keys start with.

    ``kind`` is the engine's class, whose code counts, or instead only that of ``entries``
    (``module:name``) where no other code decides a number. The code that makes rows counts too.
    ``version`` names software versions and all else that moves numbers, such as a device.
    """
    # Not by way of the table of engines, which one more would change, and with it all keys.
    chosen = entries or (f"{kind.__module__}:{kind.__name__}",)
    rows = ("blimpworks.scoring.store:encode_requests", "blimpworks.scoring.store:score_shard")
    code = number_digest(*chosen, *rows)
    key_fields = (version, code, described.dtype, sha256_of(checkpoint), described.first_token)
    return "|".join(key_fields)
