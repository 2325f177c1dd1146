"""Estimates of scoring before it is done: tokens, tokens per second, minutes to ask for."""

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from blimpworks.campaign.catalogue import Catalogue, ModelRow
from blimpworks.campaign.methods import regional
from blimpworks.campaign.paper import SENTENCE, Benchmark
from blimpworks.campaign.parts import Part, expected_items_of, items_table
from blimpworks.campaign.registry import find_benchmark
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.campaign.settings.site import ModelNeeds, Site
from blimpworks.cluster.needs import Needs

CRITICAL = 2.0
"""Tokens of a critical region, which is one word in most pairs."""
WRITTEN = 4.0
"""What a written token costs, to one that is read or scored: each goes through the model by
itself, in step with the others of its batch (an assumption)."""


class Expectation(NamedTuple):
    """What an items table is expected to hold for a model."""

    pairs: int
    """Rows of the table: pairs, or prompts."""
    tokens: float
    """Of a sentence, those that the model has to score; of a prompt, what reading it and
    writing the longest answer costs, in tokens that are scored."""
    texts: int = 2
    """Of a row: a pair has two sentences, a prompt is one. Texts that rows share are done once,
    so this is the most."""


ExpectationsOf = Callable[[Part], Mapping[Path, Expectation]]
"""What is expected of each items table that a part scores."""


def scores_regions(campaign: Campaign, row: ModelRow, benchmark: Benchmark) -> bool:
    """Whether a model scores critical regions alone: a masked one whose methods need no more."""
    if row.architecture != "masked":
        return False
    return regional(benchmark.methods(campaign, row.architecture))


def expected_items(campaign: Campaign, catalogue: Catalogue, part: Part) -> dict[Path, Expectation]:
    """List what each items table that a part scores should hold, whether it exists or not."""
    row = catalogue.models[part.model]
    expectations = {}
    for name, lang in part.sets:
        benchmark = find_benchmark(name)
        tokens, texts = benchmark.tokens, 2
        if benchmark.generation is not None:
            # If all answers run into the limit.
            tokens += WRITTEN * benchmark.generation.options(campaign).max_tokens
            texts = 1
        elif scores_regions(campaign, row, benchmark):
            tokens = CRITICAL
        number = expected_items_of(campaign, catalogue, name, lang)
        expectations[items_table(campaign, name, lang)] = Expectation(number, tokens, texts)
    return expectations


CORE_TERAFLOPS = 0.025
"""What one core does in float32 (an assumption: half of 3 GHz × 16 operations a cycle)."""
LSTM_TERAFLOPS = 0.05
"""What one core does of an LSTM, which multiplies whole levels of a prefix tree at a time (on
the safe side of 0.05 to 0.09, measured: the table in docs/engines.md)."""
LSTM_MULTIPLIED = 0.55
"""Share of an LSTM's parameters that a token is multiplied with: all but the embeddings, which
are looked up (50 of 90 million at 2 × 800 units and 50,000 words, 210 of 410 at 250,000)."""
LSTM_COMPUTED = 0.25
"""Share of an LSTM's tokens that are computed, since prefixes are shared (counted over all sets
of Mueller et al. 2020: 0.22 to 0.26 by language, most of them the two last tokens of each
sentence)."""
FLOAT32 = 1 / 16
"""Peak of a GPU in float32 to that in bfloat16 (data sheets: A100 1/16, H100 1/15)."""
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


class Speed(NamedTuple):
    """Tokens per second of a job."""

    tokens_per_second: float
    source: Literal["measured", "stated"]
    """measured: at this site, by its own file; stated: from peak, utilisation and size."""


@lru_cache(maxsize=4096)
def _rows(path: str, _changed: int) -> int:
    # The workflow reads this module each time it starts, and counts only then and when.
    import pyarrow.parquet as pq

    count: int = pq.read_metadata(path).num_rows
    return count


def count_pairs(items: Path) -> int | None:
    """Rows of an items table, None where it does not exist yet. Reads no data.

    A damaged one counts as not there: the job that reads it says so better.
    """
    try:
        return _rows(str(items), items.stat().st_mtime_ns)
    except (OSError, ValueError):  # Arrow's errors of format are of the latter kind
        return None


def expected_work(items: Mapping[Path, Expectation]) -> Expected:
    """Add up the texts and tokens of the tables ``items``: as they are, or as expected."""
    sentences, tokens = 0, 0.0
    for path, expected in items.items():
        count = count_pairs(path)
        new = expected.texts * (expected.pairs if count is None else count)
        sentences += new
        tokens += new * expected.tokens
    return Expected(sentences, round(tokens))


def speed_of(
    row: ModelRow, engine: str, needs: Needs, site: Site | None, dtype: str | None = None
) -> Speed:
    """Estimate tokens per second with a model on what it needs.

    Measured, if the site says so. Else a token takes 2 operations per parameter (one product
    and one sum for each weight), of which GPUs do utilisation × peak, and a sixteenth of that in
    float32 (``dtype``, the model's own unless given); the host sets a limit for small models.
    Without GPUs, n-gram models look words up, and the rest has the job's cores. An LSTM takes
    less (``LSTM_MULTIPLIED``, ``LSTM_COMPUTED``); a masked model computes a sentence for each
    token that it scores.
    """
    site = site or Site()
    measured = site.models.get(row.name, ModelNeeds()).tokens_per_second
    if measured is not None:
        return Speed(measured, "measured")
    if engine == "kenlm":
        return Speed(WORDS_PER_SECOND, "stated")
    if needs.kind is None:
        teraflops = needs.cores * (LSTM_TERAFLOPS if engine == "lstm" else CORE_TERAFLOPS)
    else:
        slower = FLOAT32 if (dtype or row.dtype) == "float32" else 1
        teraflops = site.utilisation * needs.kind.teraflops * needs.gpus * slower
    possible = teraflops * 1e12 / (2e9 * (row.parameters or SMALLEST))
    if engine == "lstm":
        possible /= LSTM_MULTIPLIED * LSTM_COMPUTED
    if row.architecture == "masked":
        possible /= SENTENCE
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
    minutes = math.ceil(MARGIN * seconds / 60) + GRACE
    return max(1, min(minutes, math.floor(max_hours * 60)))
