"""Estimate the tokens, the speed and the minutes of scoring jobs."""

import math
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from blimpworks.campaign.catalogue import Catalogue, ModelRow
from blimpworks.campaign.engines import find_engine
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
"""Cost of a generated token as a multiple of a scored one (an assumption): generated tokens go
through the model one by one.
"""


class Expectation(NamedTuple):
    """Expected content of an items table."""

    pairs: int
    """Rows of the table: pairs or prompts."""
    tokens: float
    """Scored tokens of a sentence; of a prompt, the cost of reading it and of the longest answer,
    in scored tokens.
    """
    texts: int = 2
    """Texts of a row: two sentences of a pair, one prompt. Shared texts are scored once, so this is
    an upper bound.
    """


def scores_regions(campaign: Campaign, row: ModelRow, benchmark: Benchmark) -> bool:
    """Tell whether a masked model scores critical regions alone, since its methods need no more."""
    if row.architecture != "masked":
        return False
    return regional(benchmark.methods(campaign, row.architecture))


def expected_items(campaign: Campaign, catalogue: Catalogue, part: Part) -> dict[Path, Expectation]:
    """List the expected content of each items table of a part, whether the table exists or not."""
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


FLOAT32 = 1 / 16
"""Peak of a GPU in float32 relative to bfloat16 (data sheets: A100 1/16, H100 1/15)."""
SMALLEST = 0.005
"""Billions of parameters assumed for a model without a stated number, which is trained here."""
MARGIN, GRACE = 3, 10
"""Minutes to ask for are MARGIN × the estimate + GRACE."""


class Expected(NamedTuple):
    """Number of sentences and tokens that a job has to score."""

    sentences: int
    tokens: int


class Speed(NamedTuple):
    """Scoring speed of a job."""

    tokens_per_second: float
    source: Literal["measured", "stated"]
    """measured: in the site's file; stated: from peak, utilisation and size."""


@lru_cache(maxsize=4096)
def _rows(path: str, _changed: int) -> int:
    # The workflow reads this module each time it starts, and counts only then and when.
    import pyarrow.parquet as pq

    count: int = pq.read_metadata(path).num_rows
    return count


def count_pairs(items: Path) -> int | None:
    """Count the rows of an items table by its metadata; None when it is missing or damaged.

    The job that reads a damaged table reports it.
    """
    try:
        return _rows(str(items), items.stat().st_mtime_ns)
    except (OSError, ValueError):  # Arrow's errors of format are of the latter kind
        return None


def expected_work(items: Mapping[Path, Expectation]) -> Expected:
    """Add up the texts and tokens of items tables, counted where a table exists."""
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
    """Estimate the tokens a second of a model on the resources ``needs``.

    A measurement in the site's file comes first. Else a token takes 2 operations per parameter, at
    utilisation × peak of the GPUs (a sixteenth in float32), limited by the host for small models.
    On CPUs engines use the job's cores; one may compute less, or have a speed of its own. A masked
    model computes a sentence per scored token.
    """
    site = site or Site()
    measured = site.models.get(row.name, ModelNeeds()).tokens_per_second
    if measured is not None:
        return Speed(measured, "measured")
    facts = find_engine(engine)
    if facts.tokens_per_second is not None:
        return Speed(facts.tokens_per_second, "stated")
    if needs.kind is None:
        teraflops = needs.cores * facts.core_teraflops
    else:
        slower = FLOAT32 if (dtype or row.dtype) == "float32" else 1
        teraflops = site.utilisation * needs.kind.teraflops * needs.gpus * slower
    possible = teraflops * 1e12 / (2e9 * (row.parameters or SMALLEST)) / facts.computed
    if row.architecture == "masked":
        possible /= SENTENCE
    return Speed(min(possible, site.host_tokens_per_second), "stated")


def score_seconds(tokens: float, weights_gb: float, speed: Speed, site: Site | None) -> float:
    """Estimate the seconds to start an engine, load weights and score ``tokens``."""
    site = site or Site()
    load = site.start_seconds + weights_gb / site.load_gb_per_second
    return load + tokens / speed.tokens_per_second


def minutes_to_ask(seconds: float, max_hours: float) -> int:
    """Return the minutes to ask SLURM for, at most ``max_hours``.

    The margin is moderate: a job out of time ends cleanly and is queued again, while a job that
    asks for too much waits longer.
    """
    minutes = math.ceil(MARGIN * seconds / 60) + GRACE
    return max(1, min(minutes, math.floor(max_hours * 60)))
