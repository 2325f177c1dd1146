"""Test before scoring that a model is loaded and run correctly, and choose the start of texts."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from pydantic import Field, ValidationError

from blimpworks.files import write_text
from blimpworks.models.facts import candidates, role_openers, start_text
from blimpworks.scoring.engine import Encoded, Engine, Failure, Ids, LogProbs
from blimpworks.strict import Strict

if TYPE_CHECKING:  # transformers, which jobs without models lack
    from blimpworks.scoring.hub_loading import HubTokenizer

log = logging.getLogger(__name__)

NONE = np.empty(0, dtype=np.float32)

SAMPLE = 100
"""Number of texts by which a start is chosen; an eighth of them rules out bad starts."""
FAR = 0.3
"""Difference to the best start by which the eighth rules out a start [nats per token]."""
WORSE = 0.1
"""Difference by which another start must be better to be reported [nats per token]."""
TIE = 0.01
"""Largest difference between starts that count as equally good [nats per token]."""


class StartedEngine(Engine):
    """Engine of causal models, which reads ``tokenizer.prefix`` at each call."""

    tokenizer: "HubTokenizer"

    def follow(self, decisions: Mapping[str, str]) -> None:
        if "start" in decisions:
            self.tokenizer.start(decisions["start"])
        super().follow(decisions)


class StartFinding(NamedTuple):
    """Start of texts, and what was found about others."""

    policy: str
    """First-token policy."""
    description: str
    """Description of the start, such as ``after '<s>' (bos)``."""
    note: str
    """Sentence about a far better start; empty without one."""


def measure(
    engine: StartedEngine, texts: Iterable[str], starts: Mapping[str, list[int]], count: int
) -> dict[str, float]:
    """Return the mean negative log-probability of tokens by policy [nats].

    ``starts`` are the ids before each text by policy; impossible ones have no result. First tokens
    do not count. ``count`` of the texts are measured, in any order the same, without those that
    are too long with a start.
    """
    tokenizer, prefix = engine.tokenizer, engine.tokenizer.prefix
    digests = sorted({*texts}, key=lambda text: blake2b(text.encode()).digest())
    room = np.inf if engine.limit is None else engine.limit + len(prefix)
    most = room - max(map(len, starts.values()))
    batch = [e for e in engine.encode(digests[:count]) if 1 < len(e.ids) <= most]
    rows = dict[str, list[LogProbs]]()
    for policy, ids in starts.items():
        tokenizer.prefix = ids
        results = engine.logprobs(batch)
        rows[policy] = [NONE if isinstance(row, str) else row[1:] for row in results]
    tokenizer.prefix = prefix
    rows = {policy: scores for policy, scores in rows.items() if any(map(len, scores))}
    complete = [i for i in range(len(batch)) if all(len(scores[i]) for scores in rows.values())]
    if not complete or not rows:
        return {}
    return {
        policy: -float(np.concatenate([scores[i] for i in complete]).mean(dtype=float))
        for policy, scores in rows.items()
    }


def _likeliest(hub: Any, starts: Mapping[str, list[int]], nats: Mapping[str, float]) -> str:
    """Return the policy with the likeliest texts; of equal ones, the first of ``starts``.

    Starts that open a role of a dialogue are left out; ``skip`` is returned if there is no other.
    """
    openers = role_openers(hub)
    possible = {p: nats.get(p, np.inf) for p, ids in starts.items() if ids and not openers & {*ids}}
    best = min(possible.values(), default=np.inf)
    return next((policy for policy, value in possible.items() if value <= best + TIE), "skip")


def choose_start(engine: StartedEngine, texts: Iterable[str]) -> StartFinding:
    """Measure the starts of texts; under ``likeliest`` choose the best."""
    hub, policy, prefix = engine.tokenizer.hub, engine.tokenizer.policy, engine.tokenizer.prefix
    starts = candidates(hub)
    if policy != "likeliest" and prefix not in starts.values():
        starts[policy] = prefix
    nats = measure(engine, texts, starts, SAMPLE // 8)
    if policy == "likeliest":
        # Starts that are far worse for a few texts are not measured on all.
        most = nats.get(_likeliest(hub, starts, nats), np.inf) + FAR
        near = {name: ids for name, ids in starts.items() if nats.get(name, np.inf) <= most}
        nats = measure(engine, texts, near, SAMPLE)
        chosen = _likeliest(hub, near, nats)
    else:
        chosen = next(name for name, ids in starts.items() if ids == prefix)
    policy_texts = {name: start_text(hub, name, ids) for name, ids in starts.items()}
    best = min(nats, key=lambda policy: nats[policy], default=chosen)
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


FILE_NAME = "selftest.json"
VERSION = 1
"""Version of the tests. It is raised with stricter tests, so that models are tested again."""
Score = Callable[[Sequence[Encoded]], list[LogProbs | Failure]]


class Findings(Strict):
    """Findings of the self-test of a model."""

    engine: str = ""
    """Key of the tested engine, without decisions, and version of the tests."""
    checks: dict[str, str]
    """Finding in words by check: weights, tokenizer, causality, padding, prefixes, …."""
    decisions: dict[str, str] = Field(default_factory=dict)
    """Changes of scoring because of findings, by name; they are part of the keys of scores."""


def run_self_test(engine: Engine, store: Path, texts: Sequence[str]) -> Findings:
    """Test an engine's model, unless ``store`` has the findings; make the engine follow them.

    ``texts`` are sentences to score, by which a start is chosen. The findings are written into
    ``store`` and logged. Raises UserError for a model that cannot be scored correctly.
    """
    path = store / FILE_NAME
    try:
        findings = Findings.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        findings = Findings(checks={})
    tested = f"{engine.key}|test {VERSION}"
    if findings.engine != tested:
        findings = engine.self_test().model_copy(update={"engine": tested})
        engine.follow(findings.decisions)
        if isinstance(engine, StartedEngine):
            start = choose_start(engine, texts)
            findings.checks["first token"] = start.description
            if start.note:
                findings.checks["other starts"] = start.note
            if engine.tokenizer.policy == "likeliest":
                findings.decisions["start"] = start.policy
        store.mkdir(parents=True, exist_ok=True)
        write_text(path, findings.model_dump_json(indent=1) + "\n")
    engine.follow(findings.decisions)
    for name, finding in findings.checks.items():
        log.info("checked %s: %s", name, finding)
    return findings


def marked_key(key: str, decisions: Mapping[str, str]) -> str:
    """Return an engine's key with the decisions that it follows."""
    marks = " ".join(f"{name} {value}" for name, value in decisions.items())
    return f"{key}|{marks}" if marks else key


def probe_rows(ids: Ids, longest: int) -> list[Ids]:
    """Draw random sequences of ``ids`` with four lengths from 1 to ``longest``."""
    draw = np.random.default_rng(0)
    lengths = sorted({1, *(max(1, longest * n // 3) for n in (1, 2, 3))})
    return [draw.choice(ids, size=length).astype(np.int32) for length in lengths]


def encoded(rows: Sequence[Ids]) -> list[Encoded]:
    """Return sequences of ids as texts with one character per token."""
    return [Encoded(row, np.arange(1, len(row) + 1, dtype=np.int32)) for row in rows]


def largest_gap(first: Sequence[LogProbs | Failure], second: Sequence[LogProbs | Failure]) -> float:
    """Return the largest difference [nats]; infinite for a NaN, but for a first one in both."""
    gap = 0.0
    for a, b in zip(first, second, strict=True):
        if isinstance(a, str) or isinstance(b, str):
            return float("inf")
        scored = ~(np.isnan(a) & np.isnan(b) & (np.arange(len(a)) == 0))
        difference = np.abs(a[scored] - b[scored])
        # NaN counts as a difference.
        if len(difference) and not difference.max() <= gap:
            gap = float(difference.max()) if np.isfinite(difference).all() else float("inf")
    return gap


def gap_behind(score: Score, ids: Ids, longest: int) -> float:
    """Measure how much log-probabilities depend on later tokens [nats], by cutting a sequence."""
    sequence, replacement = np.random.default_rng(1).choice(ids, size=(2, longest)).astype(np.int32)
    cuts = sorted({max(1, n) for n in (longest // 8, longest // 4, longest // 2, longest - 1)})
    rows = [sequence[:cut] for cut in cuts]
    rows += [np.concatenate([sequence[:cut], replacement[cut:]]) for cut in cuts[1::2]]
    reference, *results = (score(encoded([row]))[0] for row in (sequence, *rows))
    gap = 0.0
    for cut, result in zip((*cuts, *cuts[1::2]), results, strict=True):
        heads = [row if isinstance(row, str) else row[:cut] for row in (reference, result)]
        gap = max(gap, largest_gap(heads[:1], heads[1:]))
    return gap


def gap_of_batches(score: Score, rows: Sequence[Ids]) -> float:
    """Measure how much log-probabilities depend on other rows of the batch [nats]."""
    texts = encoded(rows)
    return largest_gap(score(texts), [score([text])[0] for text in texts])
