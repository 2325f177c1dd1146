"""What the items of a benchmark are expected to be like before they are built."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from blimpworks.campaign.catalogue import Catalogue, ModelRow
from blimpworks.campaign.methods import regional
from blimpworks.campaign.paper import Benchmark
from blimpworks.campaign.parts import Part, items_table
from blimpworks.campaign.registry import find_benchmark
from blimpworks.campaign.settings.campaign import Campaign

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


def _expectation(
    campaign: Campaign, catalogue: Catalogue, row: ModelRow, name: str, lang: str
) -> Expectation:
    benchmark = find_benchmark(name)
    number = benchmark.expected_units(campaign, catalogue, lang)
    if benchmark.generation is not None:
        # If all answers run into the limit.
        written = WRITTEN * benchmark.generation.options(campaign).max_tokens
        return Expectation(number, benchmark.tokens + written, texts=1)
    partial = scores_regions(campaign, row, benchmark)
    return Expectation(number, CRITICAL if partial else benchmark.tokens)


def expected_items(campaign: Campaign, catalogue: Catalogue, part: Part) -> dict[Path, Expectation]:
    """What is expected of each items table that a part scores, whether it exists or not."""
    row = catalogue.models[part.model]
    return {
        items_table(campaign, name, lang): _expectation(campaign, catalogue, row, name, lang)
        for name, lang in part.sets
    }
