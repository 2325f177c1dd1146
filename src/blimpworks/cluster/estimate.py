"""How long scoring takes, before it is done: tokens, tokens per second, minutes to ask for."""

import math
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from blimpworks.catalogue import ModelRow
from blimpworks.cluster.needs import Needs
from blimpworks.config.site import ModelNeeds, Site

PAIRS = 1240
"""Pairs of a language that has no items yet: MultiBLiMP's mean (about 125,000 in 101)."""
SENTENCES = 2
"""Sentences of a pair; those that pairs share are scored once, so this is the most."""
TOKENS = 30
"""Tokens of a sentence (an assumption: treebank sentences have some 15 words, and
multilingual vocabularies cut words of most languages into about two)."""
CORE_TERAFLOPS = 0.025
"""What one core does in float32 (an assumption: half of 3 GHz × 16 operations a cycle)."""
SMALLEST = 0.005
"""Billions of parameters of a model whose number is not known: one trained here."""
WORDS_PER_SECOND = 50_000.0
"""Of n-gram models, whatever their size: a look-up for each (an assumption on the safe side)."""
MARGIN, GRACE = 3, 10
"""Minutes to ask for are MARGIN × the estimate + GRACE."""


class Expected(NamedTuple):
    """Sentences and tokens that a job has to score."""

    sentences: int
    tokens: int
    known: bool
    """Whether all items exist; else some are expected to have MultiBLiMP's mean."""


class Speed(NamedTuple):
    """Tokens per second of a job."""

    tokens_per_second: float
    source: Literal["measured", "stated"]
    """measured: at this site, by its own file; stated: from peak, utilisation and size."""


@lru_cache(maxsize=4096)
def _rows(path: str, _changed: int) -> int:
    # The workflow reads this module each time it starts, and counts only then and when.
    import pyarrow.parquet as pq

    found: int = pq.read_metadata(path).num_rows
    return found


def count_pairs(items: Path) -> int | None:
    """Rows of an items table, None where it does not exist yet. Reads no data."""
    try:
        return _rows(str(items), items.stat().st_mtime_ns)
    except FileNotFoundError:
        return None


def expected_work(items: Iterable[Path], tokens_per_sentence: float = TOKENS) -> Expected:
    """What scoring the tables ``items`` takes; those that don't exist yet count as PAIRS."""
    counts = [count_pairs(path) for path in items]
    sentences = SENTENCES * sum(PAIRS if count is None else count for count in counts)
    known = all(count is not None for count in counts)
    return Expected(sentences, round(sentences * tokens_per_sentence), known)


def speed_of(row: ModelRow, engine: str, needs: Needs, site: Site | None) -> Speed:
    """Tokens per second with a model on what it needs.

    Measured, if the site says so. Else a token takes 2 operations per parameter (one product
    and one sum for each weight), of which GPUs do utilisation × peak; the host sets a limit for
    small models. Without GPUs, n-gram models look words up, and the rest has the job's cores.
    """
    site = site or Site()
    measured = site.models.get(row.name, ModelNeeds()).tokens_per_second
    if measured is not None:
        return Speed(measured, "measured")
    if engine == "kenlm":
        return Speed(WORDS_PER_SECOND, "stated")
    if needs.kind is None:
        reached = CORE_TERAFLOPS * needs.cores
    else:
        reached = site.utilisation * needs.kind.teraflops * needs.gpus
    possible = reached * 1e12 / (2e9 * (row.parameters or SMALLEST))
    return Speed(min(possible, site.host_tokens_per_second), "stated")


def score_seconds(tokens: float, weights_gb: float, speed: Speed, site: Site | None) -> float:
    """Seconds of a job that starts an engine, loads weights and scores ``tokens``."""
    site = site or Site()
    load = site.start_seconds + weights_gb / site.load_gb_per_second
    return load + tokens / speed.tokens_per_second


def minutes_to_ask(seconds: float, max_hours: float) -> int:
    """Minutes to ask SLURM for, at most ``max_hours``.

    Generous, because a job that runs out of them finishes its shard, ends cleanly and is queued
    again, while one that asks for much more than it needs waits longer.
    """
    wanted = math.ceil(MARGIN * seconds / 60) + GRACE
    return max(1, min(wanted, math.floor(max_hours * 60)))
