"""Write the check of a benchmark and its items as one printable, self-contained page."""

from collections.abc import Iterator
from pathlib import Path

import langcodes
from jinja2 import Environment, FileSystemLoader

from blimpworks.benchmarks.check import Check
from blimpworks.benchmarks.designs import SENTENCE, Condition, Design
from blimpworks.benchmarks.layouts import Item
from blimpworks.benchmarks.predictions import Prediction
from blimpworks.benchmarks.preview import counted
from blimpworks.files import write_text
from blimpworks.items import evenly

ASSETS = Path(__file__).parent / "assets"
TEXTS = ("lang", "paradigm", "mostly")
NOTE = (
    "mostly: how the bad sentence comes from the good one in most pairs, and their share. "
    "characters, words, tokens, Zipf (frequency of words): means of good and of bad sentences. "
    "longer, shorter, frequent, majority, chance: what these baselines get right."
)
Segments = list[tuple[str, str | None]]
"""Texts that make up a sentence, each with the name of its region, or None outside of regions."""


def _segments(sentence: str, spans: list[tuple[int, int, str]]) -> Segments:
    segments: Segments = []
    end = 0
    for start, after, region in sorted(spans):
        segments += [(sentence[end:start], None), (sentence[start:after], region)]
        end = after
    return [*segments, (sentence[end:], None)]


def _condition(condition: Condition, item: Design) -> Segments:
    """Divide a condition by the regions that predictions name."""
    formulas = (Prediction.parse(formula).places for formula in item.predictions)
    named = {region for places in formulas for region, name in places if name == condition.name}
    regions = zip(condition.regions, condition.placed(), strict=True)
    spans = [
        (*span, region)
        for region, span in regions
        if region in named - {SENTENCE} and span[0] < span[1]
    ]
    return _segments(condition.sentence, spans)


def _sentences(item: Item | Design) -> Iterator[tuple[str, Segments]]:
    if isinstance(item, Design):
        for condition in item.conditions:
            yield condition.name, _condition(condition, item)
    elif "acceptable" in item.more:
        yield "+" if item.more["acceptable"] else "−", [(item.good, None)]
    else:
        spans = item.regions
        yield "+", _segments(item.good, [(spans.good_start, spans.good_end, "")])
        yield "−", _segments(item.bad, [(spans.bad_start, spans.bad_end, "")])


def write_page(check: Check, path: Path, show: int, most: int | None = None) -> None:
    """Write a check as HTML: findings, measures, and at most ``most`` items of each paradigm.

    The first ``show`` lines of a finding are open; a click shows the others.
    """
    groups: dict[tuple[str, str, str], list[Item | Design]] = {}
    for item in check.items:
        groups.setdefault((item.lang, item.phenomenon, item.paradigm), []).append(item)
    environment = Environment(
        loader=FileSystemLoader(ASSETS), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["tag"] = langcodes.standardize_tag
    page = environment.get_template("check.html.jinja").render(
        check=check,
        show=show,
        number=counted(len(check.items), check.unit),
        columns=[*dict.fromkeys(name for row in check.rows for name in row)],
        texts=TEXTS,
        note=NOTE,
        paradigms={key: evenly(items, most) for key, items in groups.items()},
        totals={key: len(items) for key, items in groups.items()},
        counts={key: counted(len(items), check.unit) for key, items in groups.items()},
        sentences=_sentences,
    )
    write_text(path, page)
