"""The report card of an evaluation as data, the content of ``card.json``.

Accuracies, bounds of intervals and differences are shares of 1; intervals are at 95 %.
Log-probabilities and margins are in nats; margins are per token, character or byte where the method
divides. ``all`` as a language or phenomenon means all of them together.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypedDict, cast

from blimpworks.errors import UserError, reading
from blimpworks.evaluation.facts import Described
from blimpworks.files import write_text
from blimpworks.json_files import load_json
from blimpworks.scoring.words import Column

ALL = "all"
FORMAT: Literal[2] = 2
"""Of the file; it changes with the meaning of a field."""
MEAN = "mean"
"""As a language: the unweighted mean over languages."""


class Model(Described):
    """A model, with facts from its checkpoint and its self-test."""

    revision: str
    """Commit of the hub's repository, or digest of the directory's files; empty without any."""
    start: str
    """Condition of the first token, in words; empty where the engine has no choice."""
    better_start: str
    """A sentence on a start that makes texts far likelier; empty where there is none."""
    checks: dict[str, str]
    """Findings of its first checkpoint's self-test, in words, by check."""


class Accuracy(TypedDict):
    """Accuracy of a model on some items, with Wilson's interval."""

    accuracy: float
    low: float
    high: float
    n: int
    skipped: int
    """Items without a verdict, which do not count."""
    ties: int
    near_ties: int
    """Items, ties included, whose margin rounding can change."""


class Skipped(TypedDict):
    """Items on which a model has no verdict."""

    n: int
    of: int
    """All items, judged or skipped."""
    reasons: dict[str, int]
    """Number of items by reason, in words."""


class Row(TypedDict):
    """Accuracies of the models on a phenomenon of a language."""

    lang: str
    phenomenon: str
    label: str
    models: dict[str, Accuracy]
    """Without models that skipped every item."""
    skipped: dict[str, Skipped]
    """By model, without models that skipped no item."""
    baselines: Mapping[str, float]
    """Share that length, frequency of words, labels or chance alone get right, by name."""


class Items(TypedDict):
    """Number of a language's items that models were run on, and of all items."""

    lang: str
    n: int
    of: int


class Ranked(TypedDict):
    """A place in a ranking."""

    rank: int
    model: str
    label: str
    ours: bool
    """Measured by this evaluation; else printed."""
    accuracy: float
    low: float | None
    high: float | None
    n: int | None
    parameters: float | None


class Ranking(TypedDict):
    """The models with printed accuracies and ours, the best first."""

    lang: str
    places: list[Ranked]
    notes: list[str]
    """Differences between the printed numbers' items and ours."""


class Gap(TypedDict):
    """Difference between a model and the printed models of its size."""

    label: str
    """Phenomenon, or language where print has no phenomena."""
    accuracy: float
    printed: float
    """Mean accuracy of the printed models of its size."""
    difference: float
    """Below 0 where the model is worse."""


class SizeClass(TypedDict):
    """The printed models of a model's size, and the largest gaps to them."""

    models: list[str]
    gaps: list[Gap]
    note: str
    """Reason why there are no gaps; else empty."""


class PairedTest(TypedDict):
    """McNemar's test between two models on the items of a language that both have judged."""

    lang: str
    a: str
    b: str
    n: int
    skipped: int
    """Items without a verdict of one of them or of both."""
    only_a: int
    only_b: int
    p: float
    adjusted: float
    """Holm's p over all tests of the card."""


class Side(TypedDict):
    """A sentence, and the log-probability of all its tokens."""

    name: str
    """``good``, ``bad``, or the name of its condition."""
    text: str
    logprob: float | None


class WorstItem(TypedDict):
    """A wrongly judged item with a large margin."""

    item_id: str
    lang: str
    phenomenon: str
    paradigm: str
    margin: float
    sides: list[Side]
    blocks: list[list[Column]]
    """The sides' words: both sides of a pair aligned in one block, else a block for each side."""


class WrongAnswer(TypedDict):
    """A prompt with a model's wrong answer."""

    item_id: str
    lang: str
    phenomenon: str
    paradigm: str
    prompt: str
    expected: str
    """Empty where many answers are right."""
    answer: str
    status: str
    """``ok``, or the reason why there is no answer."""


class Written(TypedDict):
    """Counts of a model's answers in a language, right or wrong."""

    lang: str
    n: int
    cut: int | None
    """Answers that the limit of tokens ended; None where unknown."""
    limit: int
    """Tokens of the longest answer that was cut."""
    echoes: int | None
    """Answers that only repeat the prompt; None where unknown."""


class FirstToken(TypedDict):
    """Accuracy on a sample of a language's pairs, with one condition of the first token."""

    lang: str
    first_token: str
    """In words where the token is known, else the policy."""
    own: bool
    """The evaluation's own condition."""
    n: int
    skipped: int
    """Pairs of the sample without a score by this condition or the evaluation's own."""
    accuracy: float | None
    """None where every pair was skipped."""
    low: float | None
    high: float | None
    flips: int
    """Decisions that differ from the evaluation's own."""
    flips_beyond: int
    """Flips without near ties."""


class Benchmark(TypedDict):
    """A benchmark in the card."""

    name: str
    label: str
    citation: str
    address: str
    unit: str
    """``pair`` (of sentences), ``prompt``, or ``item`` of several or single sentences."""
    data: str
    """Origin of the items, as a phrase; may be empty."""
    phenomena: dict[str, str]
    methods: dict[str, str]
    """Judging method by model."""
    chance: float | None
    items: list[Items]
    rows: list[Row]
    rankings: list[Ranking]
    size_classes: dict[str, SizeClass]
    """By model; empty where the paper prints no accuracies."""
    tests: list[PairedTest]
    worst: dict[str, list[WorstItem]]
    """By model, the worst first."""
    wrong: dict[str, list[WrongAnswer]]
    written: dict[str, list[Written]]
    """By model; only for prompts."""
    sensitivity: dict[str, list[FirstToken]]
    unknown: dict[str, float]
    """Share of the sentences' words that are unknown, by model of words."""


class Card(TypedDict):
    """The report card of an evaluation."""

    format: Literal[2]
    campaign: str
    description: str
    date: str
    """End of the job that made the last table, in UTC; empty without a record."""
    version: str
    """Of blimpworks."""
    commit: str
    """Commit of the repository that made the tables; empty without a record."""
    limit: int | None
    """Most items of a benchmark and language that models were run on; None for all."""
    rerun: str
    """Command that builds the card again."""
    results: str
    files: list[str]
    languages: dict[str, str]
    models: dict[str, Model]
    benchmarks: list[Benchmark]
    tests: int
    """Paired tests that were corrected for together."""


def read_card(path: Path) -> Card:
    """Read a report card from a file ``card.json``.

    Raises UserError when the file is missing, no JSON, or of another version of the format.
    """
    remedy = "Build it: snakemake --configfile CAMPAIGN --cores 2 report_card."
    with reading(path, "a report card (card.json)", remedy):
        card = load_json(path.read_text(encoding="utf-8"))
    if not isinstance(card, dict) or card.get("format") != FORMAT:
        raise UserError(
            f"{path} is no report card of format {FORMAT}; give a card.json that this version of "
            "blimpworks has written, or build it again."
        )
    return cast(Card, card)


def write_card(card: Card, path: Path) -> None:
    """Write a report card as JSON."""
    write_text(path, json.dumps(card, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
