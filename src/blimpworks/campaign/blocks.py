"""What jobs make tables of: all languages that a checkpoint covers, or one at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from blimpworks.campaign.registry import find_benchmark

if TYPE_CHECKING:
    from blimpworks.campaign.layout import Layout


@dataclass(frozen=True)
class Block:
    """What one job makes tables of: all languages of a checkpoint, or one."""

    benchmark: str
    suffix: str
    """What tells its rules from those of the benchmark's other blocks."""
    place: str
    """Place of its logs, with wildcards."""
    languages: tuple[str, ...]
    """Languages, or their wildcard."""
    models: tuple[str, ...]


def blocks_of(layout: Layout, unit: str) -> list[Block]:
    """Blocks of all the campaign's benchmarks of pairs, or of prompts.

    With the benchmark in their paths, rules for a hundred languages are told apart quickly.
    """
    names = (n for n in layout.campaign.benchmarks if find_benchmark(n).unit == unit)
    return [block for name in names for block in _of_benchmark(layout, name)]


def _of_benchmark(layout: Layout, benchmark: str) -> list[Block]:
    covering: dict[tuple[str, ...], list[str]] = {}
    alone = []
    for model in layout.models_of(benchmark):
        if model in layout.parted:
            alone.append(model)
        else:
            covering.setdefault(tuple(layout.covered_by(model, benchmark)), []).append(model)
    blocks = [
        Block(benchmark, f"_{number}" if number else "", "{model}", languages, tuple(models))
        for number, (languages, models) in enumerate(covering.items())
        if languages
    ]
    if alone:
        blocks.append(Block(benchmark, "_of_language", "{lang}/{model}", ("{lang}",), tuple(alone)))
    return blocks
