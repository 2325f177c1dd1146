"""Measure which token before texts suits a causal model, without first tokens' own scores."""

import logging
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

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


class StartedEngine(Engine):
    """An engine of causal models, which reads the tokenizer's ``prefix`` with each call."""

    tokenizer: "HubTokenizer"

    def follow(self, decisions: Mapping[str, str]) -> None:
        """Score by the decisions of the self-test."""
        if "start" in decisions:
            self.tokenizer.start(decisions["start"])
        super().follow(decisions)


class StartFinding(NamedTuple):
    """The start of texts."""

    policy: str
    """The start, as settings write it."""
    words: str
    """Start in words, such as ``after '<s>' (bos)``."""
    note: str
    """A sentence on a far better start, or empty."""


def measure(
    engine: StartedEngine, texts: Iterable[str], starts: Mapping[str, list[int]]
) -> dict[str, float]:
    """Return mean nats a token, first tokens left out, after each start [ids] that is possible."""
    tokenizer, usual = engine.tokenizer, engine.tokenizer.prefix
    # Some of the texts, the same in any order, that fit behind each start.
    count = SAMPLE if tokenizer.policy == "likeliest" else SAMPLE // 8
    digests = sorted({*texts}, key=lambda text: blake2b(text.encode()).digest())
    room = np.inf if engine.limit is None else engine.limit + len(usual)
    most = room - max(map(len, starts.values()))
    batch = [e for e in engine.encode(digests[:count]) if 1 < len(e.ids) <= most]
    rows = dict[str, list[LogProbs]]()
    for policy, ids in starts.items():
        tokenizer.prefix = ids
        results = engine.logprobs(batch)
        rows[policy] = [NONE if isinstance(row, str) else row[1:] for row in results]
    tokenizer.prefix = usual
    rows = {policy: scores for policy, scores in rows.items() if any(map(len, scores))}
    complete = [i for i in range(len(batch)) if all(len(scores[i]) for scores in rows.values())]
    if not complete or not rows:
        return {}
    return {
        policy: -float(np.concatenate([scores[i] for i in complete]).mean(dtype=float))
        for policy, scores in rows.items()
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
    hub, policy, prefix = engine.tokenizer.hub, engine.tokenizer.policy, engine.tokenizer.prefix
    starts = candidates(hub)
    if policy != "likeliest" and prefix not in starts.values():
        starts[policy] = prefix
    nats = measure(engine, texts, starts)
    if policy == "likeliest":
        chosen = _likeliest(hub, starts, nats)
    else:
        chosen = next(each for each, ids in starts.items() if ids == prefix)
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
    return StartFinding(chosen, policy_texts[chosen], note)
