"""Test before scoring whether a model is loaded and run as it was made."""

import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from pydantic import Field, ValidationError

from blimpworks.files import write_text
from blimpworks.scoring.engine import Encoded, Engine, Failure, Ids, LogProbs
from blimpworks.scoring.starts import StartedEngine, choose_start
from blimpworks.strict import Strict

log = logging.getLogger(__name__)

FILE_NAME = "selftest.json"
VERSION = 1
"""Version of the tests; a stricter test raises it, so that models are tested again."""
Score = Callable[[Sequence[Encoded]], list[LogProbs | Failure]]


class Findings(Strict):
    """Findings of the self-test."""

    engine: str = ""
    """Key of the tested engine, without decisions, and version of the test."""
    checks: dict[str, str]
    """Finding of each check in words: weights, tokenizer, causality, padding, prefixes, …."""
    decisions: dict[str, str] = Field(default_factory=dict)
    """Departures from usual scoring because of a finding; part of the scores' keys."""


def run_self_test(engine: Engine, store: Path, texts: Sequence[str]) -> Findings:
    """Test an engine's model, unless ``store`` has its findings; make the engine follow them.

    ``texts`` are sentences to score, by which a start is chosen. The findings are stored in
    ``store`` and logged. Raises UserError for a model that cannot be scored rightly.
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
            findings.checks["first token"] = start.words
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
    """Return the key of an engine that follows decisions."""
    marks = " ".join(f"{name} {value}" for name, value in decisions.items())
    return f"{key}|{marks}" if marks else key


def probe_rows(ids: Ids, longest: int) -> list[Ids]:
    """Draw test sequences of ``ids``: four lengths from 1 to ``longest``."""
    draw = np.random.default_rng(0)
    lengths = sorted({1, *(max(1, longest * n // 3) for n in (1, 2, 3))})
    return [draw.choice(ids, size=length).astype(np.int32) for length in lengths]


def encoded(rows: Sequence[Ids]) -> list[Encoded]:
    """Return token sequences as texts of one character a token."""
    return [Encoded(row, np.arange(1, len(row) + 1, dtype=np.int32)) for row in rows]


def largest_gap(first: Sequence[LogProbs | Failure], second: Sequence[LogProbs | Failure]) -> float:
    """Return the largest difference [nats], infinite for a NaN that is not first in both."""
    gap = 0.0
    for a, b in zip(first, second, strict=True):
        if isinstance(a, str) or isinstance(b, str):
            return float("inf")
        scored = ~(np.isnan(a) & np.isnan(b) & (np.arange(len(a)) == 0))
        difference = np.abs(a[scored] - b[scored])
        # Written so that NaN is a difference too.
        if len(difference) and not difference.max() <= gap:
            gap = float(difference.max()) if np.isfinite(difference).all() else float("inf")
    return gap


def gap_behind(score: Score, ids: Ids, longest: int) -> float:
    """Measure how far log-probabilities depend on later tokens [nats], by cutting a sequence."""
    full_sequence, other_sequence = (
        np.random.default_rng(1).choice(ids, size=(2, longest)).astype(np.int32)
    )
    cuts = sorted({max(1, n) for n in (longest // 8, longest // 4, longest // 2, longest - 1)})
    rows = [full_sequence[:cut] for cut in cuts]
    rows += [np.concatenate([full_sequence[:cut], other_sequence[cut:]]) for cut in cuts[1::2]]
    reference, *results = (score(encoded([row]))[0] for row in (full_sequence, *rows))
    gap = 0.0
    for cut, result in zip((*cuts, *cuts[1::2]), results, strict=True):
        heads = [
            head_scores if isinstance(head_scores, str) else head_scores[:cut]
            for head_scores in (reference, result)
        ]
        gap = max(gap, largest_gap(heads[:1], heads[1:]))
    return gap


def gap_of_batches(score: Score, rows: Sequence[Ids]) -> float:
    """Measure how far log-probabilities depend on the other rows of a batch [nats]."""
    texts = encoded(rows)
    return largest_gap(score(texts), [score([text])[0] for text in texts])
