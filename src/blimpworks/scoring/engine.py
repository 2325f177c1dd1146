"""What every scoring engine does.

An engine turns texts into token ids and ids into log-probabilities. Everything else
(de-duplication, order, shards, resuming, sums) is shared and knows no engine.
"""

import importlib
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from blimpworks.campaign.engines import Choice, choose_engine
from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.errors import UserError
from blimpworks.files import sha256_of
from blimpworks.models.checkpoint import Checkpoint, read_checkpoint
from blimpworks.models.own_code import refuse_own_code
from blimpworks.models.weights import quantisation_of, refuse_adapter, refuse_quantised
from blimpworks.records.equal_code import number_digest

log = logging.getLogger(__name__)


@contextmanager
def loading(directory: Path) -> Iterator[None]:
    """Turn what libraries raise on broken model files into one UserError about ``directory``.

    For a cut, missing or malformed file they raise anything from OSError to AttributeError.
    Running out of memory is no fault of the files and passes.
    """
    try:
        yield
    except (UserError, MemoryError):
        raise
    except Exception as error:
        if type(error).__name__ == "OutOfMemoryError":
            raise
        said = " ".join(str(error).split()) or type(error).__name__
        raise UserError(
            f"{directory}: the model cannot be loaded ({said[:300]}); "
            "train or retrieve it again, or choose another engine."
        ) from error


Ids = NDArray[np.int32]
Mask = NDArray[np.bool_]
LogProbs = NDArray[np.float32]
Failure = Literal["out_of_memory", "refused"]
"""Why an engine could not score a text that it should be able to score."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """A text as tokens. What conditions the first token is not among them.

    ``ids`` [tokens]; ``ends`` [tokens]: how many code points of the text are complete after
    each token, never falling (a token that holds part of a character ends before it);
    ``to_score`` [tokens]: which are to be scored, None for all. An engine that pays for each
    token leaves out the others, another may score them all the same.
    """

    ids: Ids
    ends: Ids
    to_score: Mask | None = None


class Engine(Protocol):
    """One checkpoint, loaded when the first batch asks for it."""

    key: str
    """All that decides a text's log-probabilities, apart from the text."""
    regional: bool
    """Whether the work grows with the number of tokens to score, not with that of all."""
    shares_prefixes: bool
    """Whether texts that begin alike cost less when they come in one batch."""

    abreast: int
    """How many batches may be scored at one time, each asked for by a thread of its own."""

    @property
    def limit(self) -> int | None:
        """Most ids that a text may have; None without limit."""
        ...

    def self_test(self) -> Any:
        """Findings of a test of the loaded model; see ``selftest.run_self_test``.

        Raises UserError for a model that this engine cannot score rightly.
        """
        ...

    def follow(self, decisions: Mapping[str, str]) -> None:
        """Score as the self-test has decided, with a key that says so."""
        ...

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """Tokens of each text. May run in another thread beside ``logprobs``."""
        ...

    def logprobs(self, batch: Sequence[Encoded]) -> list[LogProbs | Failure]:
        """Natural log-probability of each id given those before it; NaN where unscored.

        One array per text, as long as its ids, or why there is none. A text's result does
        not depend on the order of the batch.
        """
        ...

    def close(self) -> None:
        """Release what the engine holds, such as a server. It is not used after that.

        May be called again, and while batches are scored: they end soon, if with an error.
        """
        ...


def build_engine(checkpoint: Path, choose: Callable[[Checkpoint], Choice], options: Any) -> Any:
    """An object of the class that ``choose`` names for a checkpoint, made from it and ``options``.

    It gets a description of the checkpoint with the settings that were chosen; the log says which
    requests it cannot meet. Raises UserError when the checkpoint is missing, altered, not for
    this engine, has code of its own, or is an adapter or quantised.
    """
    described = read_checkpoint(checkpoint)
    refuse_own_code(checkpoint.parent)
    refuse_adapter(described.files, str(checkpoint.parent))
    try:
        choice = choose(described)
    except UserError as error:
        raise UserError(f"{checkpoint}: {error}") from error
    if "vllm" not in choice.address:
        refuse_quantised(quantisation_of(checkpoint.parent), str(checkpoint.parent))
    for reason in choice.unmet:
        log.info("%s: %s", described.name, reason)
    module, _, kind = choice.address.partition(":")
    build = getattr(importlib.import_module(module), kind)
    with loading(checkpoint.parent):
        return build(checkpoint, described.model_copy(update=choice.settings), options)


def load_engine(checkpoint: Path, name: str, options: ScoringOptions) -> Engine:
    """The engine ``name`` with a checkpoint (a ``checkpoint.json``), ready to score.

    Number format and first token are the checkpoint's unless ``options`` say otherwise and
    the engine leaves it open (``ENGINES``). Raises UserError as ``build_engine`` does.
    """

    def choose(described: Checkpoint) -> Choice:
        """How the engine scores a checkpoint that describes itself so."""
        return choose_engine(name, described.architecture, described, options)

    return cast(Engine, build_engine(checkpoint, choose, options))


def engine_key(
    kind: type,
    version: str,
    checkpoint: Path,
    described: Checkpoint,
    entries: tuple[str, ...] = (),
) -> str:
    """Identity of an engine with a checkpoint: what content keys of its scores start with.

    ``kind`` is the engine's class; its code counts, or in its place that of ``entries``
    (``module:name``) where more of the class than these decides no number; and that which
    makes rows of its results. ``version`` names its software's versions and whatever else
    moves numbers, such as a device.
    """
    # Not by way of the table of engines, which one more would change, and with it all keys.
    chosen = entries or (f"{kind.__module__}:{kind.__name__}",)
    rows = ("blimpworks.scoring.store:encode_requests", "blimpworks.scoring.store:score_shard")
    code = number_digest(*chosen, *rows)
    parts = (version, code, described.dtype, sha256_of(checkpoint), described.first_token)
    return "|".join(parts)
