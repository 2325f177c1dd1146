"""Measure which token before texts suits a causal model, without first tokens' own scores."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from blimpworks.models.starts import candidates, role_openers, start_text
from blimpworks.scoring.engine import Engine, LogProbs

if TYPE_CHECKING:  # transformers, which jobs without models lack
    from blimpworks.scoring.hub_loading import HubTokenizer

log = logging.getLogger(__name__)

NONE = np.empty(0, dtype=np.float32)

SAMPLE = 100
"""Texts that a start is chosen by; an eighth of them shows whether another is far better."""
WORSE = 0.1
"""Nats a token by which another start must be better to be reported."""
TIE = 0.01
"""Nats a token by which starts must differ for the better one to be chosen."""


@runtime_checkable
class StartedEngine(Engine, Protocol):
    """An engine of causal models, which reads the start of texts with each call."""

    prefix: list[int]
    """Ids that stand before every text."""
    tokenizer: "HubTokenizer"


@dataclass(frozen=True, slots=True)
class StartFinding:
    """The start of texts, and how likely they are after other starts."""

    policy: str
    """The start, as settings write it."""
    words: str
    """Start in words, such as ``after '<s>' (bos)``."""
    nats: dict[str, float]
    """Mean nats a token, the first left out, by start in words."""
    note: str
    """A sentence on a far better start, or empty."""


def measure(
    engine: StartedEngine, texts: Iterable[str], starts: Mapping[str, list[int]]
) -> dict[str, float]:
    """Return mean nats a token, first tokens left out, after each start [ids] that is possible."""
    engine_prefix = engine.prefix
    # Some of the texts, the same in any order, that fit behind each start.
    count = SAMPLE if engine.tokenizer.policy == "likeliest" else SAMPLE // 8
    digests = sorted({*texts}, key=lambda text: blake2b(text.encode()).digest())
    limit = engine.limit
    most = None if limit is None else limit + len(engine.prefix) - max(map(len, starts.values()))
    encoded = engine.encode(digests[:count])
    batch = [e for e in encoded if len(e.ids) > 1 and (most is None or len(e.ids) <= most)]
    rows = dict[str, list[LogProbs]]()
    for policy, ids in starts.items():
        engine.prefix = ids
        results = engine.logprobs(batch)
        rows[policy] = [NONE if isinstance(row, str) else row[1:] for row in results]
    engine.prefix = engine_prefix
    scored = {
        policy: policy_rows for policy, policy_rows in rows.items() if any(map(len, policy_rows))
    }
    complete_rows = [
        i for i in range(len(batch)) if all(len(policy_rows[i]) for policy_rows in scored.values())
    ]
    if not complete_rows or not scored:
        return {}
    return {
        policy: -float(np.concatenate([policy_rows[i] for i in complete_rows]).mean(dtype=float))
        for policy, policy_rows in scored.items()
    }


def _likeliest(hub: Any, starts: Mapping[str, list[int]], nats: Mapping[str, float]) -> str:
    """Return the start after which texts are likeliest, the usual one of equal ones.

    Never one that opens a role of a dialogue; none at all only where there is no other.
    """
    openers = role_openers(hub)
    able = {p: nats.get(p, np.inf) for p, ids in starts.items() if ids and not openers & {*ids}}
    best = min(able.values(), default=np.inf)
    return next((policy for policy, value in able.items() if value <= best + TIE), "skip")


def choose_start(engine: StartedEngine, texts: Iterable[str]) -> StartFinding:
    """Measure the starts of texts; under ``likeliest`` choose one."""
    hub, policy = engine.tokenizer.hub, engine.tokenizer.policy
    starts = candidates(hub)
    if policy != "likeliest" and engine.prefix not in starts.values():
        starts[policy] = engine.prefix
    nats = measure(engine, texts, starts)
    if policy == "likeliest":
        chosen = _likeliest(hub, starts, nats)
    else:
        chosen = next(each for each, ids in starts.items() if ids == engine.prefix)
    policy_texts = {each: start_text(hub, each, ids) for each, ids in starts.items()}
    best = min(nats, key=lambda each: nats[each], default=chosen)
    note = ""
    if nats.get(best, 0) < nats.get(chosen, 0) - WORSE:
        where = policy_texts | {"skip": "with nothing before them"}
        note = (
            f"Sentences are likelier {where[best]} ({nats[best]:.2f} nats a token) than "
            f"{where[chosen]} ({nats[chosen]:.2f}): --sensitivity measures the accuracy by each."
        )
        log.warning(note)
    log.info("first token %s", policy_texts[chosen])
    by_words = {policy_texts[each]: value for each, value in nats.items()}
    return StartFinding(chosen, policy_texts[chosen], by_words, note)
