"""Test before scoring that a model is loaded and run correctly, and choose the start of texts.

``run_self_test`` is called once for each model. It writes what it found into ``selftest.json``::

    {"engine": "transformers 5.0 cpu …|test 1",
     "checks": {"causality": "no token depends on what follows it", …},
     "decisions": {"rows": "equal"}}

A decision changes how the model is scored. A *start* is the token ids that are put before each
text. A *policy* names a start, such as ``bos`` (see ``models.facts``).
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from pydantic import Field, ValidationError

from blimpworks.errors import UserError
from blimpworks.files import write_text
from blimpworks.models.facts import candidates, role_openers, start_text
from blimpworks.scoring.engine import Encoded, Engine, Failure, Ids, LogProbs
from blimpworks.strict import Strict

if TYPE_CHECKING:  # transformers, which jobs without models lack
    from blimpworks.scoring.hub_loading import HubTokenizer

log = logging.getLogger(__name__)

SAMPLE = 100
"""Number of texts on which starts are measured."""
FAR = 0.3
"""Difference from the best start on few texts, above which a start is dropped [nats per token]."""
WORSE = 0.1
"""Difference from the chosen start above which a better one is reported [nats per token]."""
TIE = 0.01
"""Largest difference between starts that are equally good [nats per token]."""


class StartedEngine(Engine):
    """Engine of causal models; each call puts the ids of ``tokenizer.prefix`` before its texts."""

    tokenizer: "HubTokenizer"

    def follow(self, decisions: Mapping[str, str]) -> None:
        if "start" in decisions:
            self.tokenizer.start(decisions["start"])
        super().follow(decisions)


class StartFinding(NamedTuple):
    """The start that was chosen for a model's texts."""

    policy: str
    description: str
    """Description of the start, such as ``after '<s>' (bos)``."""
    note: str
    """Warning that another start is better by more than ``WORSE``; empty if none is."""


def measure(
    engine: StartedEngine, texts: Iterable[str], starts: Mapping[str, list[int]], count: int
) -> dict[str, float]:
    """Return the mean negative log-probability of a token for each policy [nats].

    ``starts`` has the ids of each policy; a policy by which no text can be scored has no result.
    Each text's first token is left out. ``count`` texts are drawn by their hashes, so the order of
    ``texts`` does not matter; drawn texts that are too long for the model are left out.
    """
    tokenizer, prefix = engine.tokenizer, engine.tokenizer.prefix
    drawn_texts = sorted({*texts}, key=lambda text: blake2b(text.encode()).digest())[:count]
    # ``limit`` is for texts after the present prefix; other starts may be longer.
    longest_row = np.inf if engine.limit is None else engine.limit + len(prefix)
    longest_text = longest_row - max(map(len, starts.values()))
    batch = [text for text in engine.encode(drawn_texts) if 1 < len(text.ids) <= longest_text]
    scores_by_policy = dict[str, list[LogProbs]]()
    for policy, ids in starts.items():
        tokenizer.prefix = ids
        nothing = np.empty(0, dtype=np.float32)
        scores = [nothing if isinstance(row, str) else row[1:] for row in engine.logprobs(batch)]
        if any(map(len, scores)):
            scores_by_policy[policy] = scores
    tokenizer.prefix = prefix
    # Policies are compared on the same texts: those that have scores under each policy.
    texts_by_number = zip(*scores_by_policy.values(), strict=True)
    usable = [number for number, scores in enumerate(texts_by_number) if all(map(len, scores))]
    if not usable:
        return {}
    return {
        policy: -float(np.concatenate([scores[number] for number in usable]).mean(dtype=float))
        for policy, scores in scores_by_policy.items()
    }


def _likeliest(hub: Any, starts: Mapping[str, list[int]], nats: Mapping[str, float]) -> str:
    """Return the policy with the smallest ``nats``, which ``measure`` returned.

    If several are equally good, the first in ``starts`` is returned. Empty starts, and starts with
    a token that opens a role of a dialogue, are left out; ``skip`` is returned if no start remains.
    """
    openers = role_openers(hub)
    possible = {p: nats.get(p, np.inf) for p, ids in starts.items() if ids and not openers & {*ids}}
    best = min(possible.values(), default=np.inf)
    return next((policy for policy, value in possible.items() if value <= best + TIE), "skip")


def choose_start(engine: StartedEngine, texts: Iterable[str]) -> StartFinding:
    """Measure starts of texts; return the best for the policy ``likeliest``, else the policy's."""
    hub, policy, prefix = engine.tokenizer.hub, engine.tokenizer.policy, engine.tokenizer.prefix
    starts = candidates(hub)
    if policy != "likeliest" and prefix not in starts.values():
        starts[policy] = prefix
    # A few texts are enough to warn of a better start, and to find the starts that are far worse.
    nats = measure(engine, texts, starts, SAMPLE // 8)
    if policy == "likeliest":
        highest = nats.get(_likeliest(hub, starts, nats), np.inf) + FAR
        good = {name: ids for name, ids in starts.items() if nats.get(name, np.inf) <= highest}
        nats = measure(engine, texts, good, SAMPLE)
        chosen = _likeliest(hub, good, nats)
    else:
        chosen = next(name for name, ids in starts.items() if ids == prefix)
    descriptions = {name: start_text(hub, name, ids) for name, ids in starts.items()}
    best = min(nats, key=lambda policy: nats[policy], default=chosen)
    note = ""
    if nats.get(best, 0) < nats.get(chosen, 0) - WORSE:
        phrases = descriptions | {"skip": "with nothing before them"}
        note = (
            f"Sentences are likelier {phrases[best]} ({nats[best]:.2f} nats a token) than "
            f"{phrases[chosen]} ({nats[chosen]:.2f}): --sensitivity measures the accuracy by each."
        )
        log.warning(note)
    log.info("first token %s", descriptions[chosen])
    return StartFinding(chosen, descriptions[chosen], note)


FILE_NAME = "selftest.json"
VERSION = 1
"""Version of the tests. It is raised with stricter tests, so that models are tested again."""
Score = Callable[[Sequence[Encoded]], list[LogProbs | Failure]]  # ``Engine.logprobs``


class Findings(Strict):
    """Content of ``selftest.json``."""

    engine: str = ""
    """Key of the tested engine, without decisions, and version of the tests."""
    checks: dict[str, str]
    """Finding in words by check: weights, tokenizer, causality, padding, prefixes, …."""
    decisions: dict[str, str] = Field(default_factory=dict)
    """Changes of scoring because of findings, by name; they are part of the keys of scores."""


def run_self_test(engine: Engine, store: Path, texts: Sequence[str]) -> Findings:
    """Test an engine's model, and make the engine follow the decisions.

    Findings in ``store`` about the same engine are used again; new ones are written there. A start
    is chosen on ``texts``, the sentences to score. Raises UserError for a model that fails a test.
    """
    path = store / FILE_NAME
    try:
        findings = Findings.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        findings = Findings(checks={})
    tested_engine = f"{engine.key}|test {VERSION}"
    if findings.engine != tested_engine:
        findings = engine.self_test().model_copy(update={"engine": tested_engine})
        engine.follow(findings.decisions)
        if isinstance(engine, StartedEngine):  # its start is a decision, which is followed below
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
    """Append decisions to an engine's key, such as ``…|rows equal``."""
    marks = " ".join(f"{name} {value}" for name, value in decisions.items())
    return f"{key}|{marks}" if marks else key


def ordinary_ids(hub: Any, frame: Sequence[int], size: int, directory: Path) -> Ids:
    """Return the ids below ``size`` that are not special; all ids if each one is special.

    ``frame`` are the ids that are put around each text. Raises UserError if one of them is not
    below ``size``, the size of the vocabulary of the model in ``directory``.
    """
    if frame and max(frame) >= size:
        token = hub.convert_ids_to_tokens(max(frame))
        raise UserError(
            f"{directory}: {token!r}, which is put around each sentence, has the id "
            f"{max(frame)}, but the model has {size} ids; expected an id below. Take the "
            "tokenizer that the model was trained with, or another first token."
        )
    all_ids = np.arange(size, dtype=np.int32)
    ids = np.setdiff1d(all_ids, hub.all_special_ids)
    return ids if len(ids) else all_ids


def probe_rows(ids: Ids, longest: int) -> list[Ids]:
    """Draw random sequences of ``ids`` with four lengths from 1 to ``longest``."""
    draw = np.random.default_rng(0)
    lengths = sorted({1, *(max(1, longest * n // 3) for n in (1, 2, 3))})
    return [draw.choice(ids, size=length).astype(np.int32) for length in lengths]


def encoded(rows: Sequence[Ids]) -> list[Encoded]:
    """Wrap sequences of ids as texts with one character for each token."""
    return [Encoded(row, np.arange(1, len(row) + 1, dtype=np.int32)) for row in rows]


def largest_gap(first: Sequence[LogProbs | Failure], second: Sequence[LogProbs | Failure]) -> float:
    """Return the largest difference [nats]; infinite for a failure or NaN.

    If both texts have NaN at the first token, it was not scored, and this is no difference.
    """
    gap = 0.0
    for a, b in zip(first, second, strict=True):
        if isinstance(a, str) or isinstance(b, str):
            return float("inf")
        scored = ~(np.isnan(a) & np.isnan(b) & (np.arange(len(a)) == 0))
        difference = np.abs(a[scored] - b[scored])
        # ``not … <=`` is also true for NaN.
        if len(difference) and not difference.max() <= gap:
            gap = float(difference.max()) if np.isfinite(difference).all() else float("inf")
    return gap


def gap_by_later(score: Score, ids: Ids, longest: int) -> float:
    """Measure how much log-probabilities depend on later tokens [nats].

    A random sequence of ``longest`` ids is compared with its beginnings, and with sequences that
    continue these beginnings by other ids. A causal model scores a beginning always alike.
    """
    sequence, replacement = np.random.default_rng(1).choice(ids, size=(2, longest)).astype(np.int32)
    cuts = sorted({max(1, n) for n in (longest // 8, longest // 4, longest // 2, longest - 1)})
    # For each cut, the beginning alone; for every second cut, also a row with other ids after it.
    rows = [sequence[:cut] for cut in cuts]
    rows += [np.concatenate([sequence[:cut], replacement[cut:]]) for cut in cuts[1::2]]
    reference, *results = (score(encoded([row]))[0] for row in (sequence, *rows))
    gap = 0.0
    for cut, result in zip((*cuts, *cuts[1::2]), results, strict=True):
        beginnings = [row if isinstance(row, str) else row[:cut] for row in (reference, result)]
        gap = max(gap, largest_gap(beginnings[:1], beginnings[1:]))
    return gap


def gap_of_batches(score: Score, rows: Sequence[Ids]) -> float:
    """Measure how much the log-probabilities of a row depend on other rows of its batch [nats]."""
    texts = encoded(rows)
    return largest_gap(score(texts), [score([text])[0] for text in texts])
