"""What every scoring engine does, and the table of engines.

An engine turns texts into token ids and ids into log-probabilities. Everything else
(de-duplication, shards, resuming, sums) is shared and knows no engine.
"""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from blimpworks.config import ScoringOptions
from blimpworks.errors import UserError
from blimpworks.files import sha256_of
from blimpworks.models.checkpoint import Checkpoint, read_checkpoint
from blimpworks.provenance.digest import code_digest

Ids = NDArray[np.int32]
LogProbs = NDArray[np.float32]

# Engine name of a checkpoint -> class. `provenance.verbs` lists the modules too, so that the
# digest of the code behind scores covers them.
ENGINES: dict[str, str] = {
    "kenlm": "blimpworks.scoring.kenlm_engine:KenlmEngine",
    "transformers": "blimpworks.scoring.transformers_engine:TransformersEngine",
}


@dataclass(frozen=True, slots=True)
class Encoded:
    """A text as tokens. What conditions the first token is not among them.

    ``ids`` [tokens]; ``ends`` [tokens]: how many code points of the text are complete after
    each token, never falling (a token that holds part of a character ends before it).
    """

    ids: Ids
    ends: Ids


class Engine(Protocol):
    """One loaded checkpoint."""

    key: str
    """All that decides a text's log-probabilities, apart from the text."""
    limit: int | None
    """Most ids that a text may have; None without limit."""

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """Tokens of each text."""
        ...

    def logprobs(self, batch: Sequence[Ids]) -> list[LogProbs]:
        """Natural log-probability of each id given those before it; NaN where unscored.

        One array per sequence, as long as it. The result does not depend on the order of
        the sequences.
        """
        ...


def load_engine(checkpoint: Path, options: ScoringOptions) -> Engine:
    """The engine that ``checkpoint`` (a ``checkpoint.json``) asks for, ready to score.

    Raises UserError when the checkpoint is missing, altered, or of an unknown engine.
    """
    described = read_checkpoint(checkpoint)
    if described.engine not in ENGINES:
        raise UserError(
            f"{checkpoint}: engine is {described.engine!r}, which this version cannot run; "
            f"expected one of {', '.join(sorted(ENGINES))}."
        )
    module, _, name = ENGINES[described.engine].partition(":")
    kind = getattr(importlib.import_module(module), name)
    return cast(Engine, kind(checkpoint, described, options))


def engine_key(kind: type, version: str, checkpoint: Path, described: Checkpoint) -> str:
    """Identity of an engine with a checkpoint: what content keys of its scores start with.

    ``kind`` is the engine's class; its code counts, and that which makes rows of its results.
    ``version`` names its software's versions and whatever else moves numbers, such as a device.
    """
    # Not by way of ENGINES, which one more engine would change, and with it all keys.
    entries = (f"{kind.__module__}:{kind.__name__}", "blimpworks.scoring.store:score_shard")
    code = code_digest(*entries)
    parts = (version, code, described.dtype, sha256_of(checkpoint), described.first_token)
    return "|".join(parts)
