"""The report card of an evaluation as data: what ``card.json`` holds.

Accuracies, bounds of intervals and differences are shares of 1, log-probabilities and margins
are in nats (margins per token, character or byte where the method divides), and intervals are at
95 %. ``all`` as a language or phenomenon stands for all of them together.
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
"""As a language: the mean over languages, each of which counts once."""


class Model(Described):
    """A model, and what was read of it."""

    revision: str
    """Commit of the hub's repository, or digest of the directory's files; empty without any."""
    start: str
    """What conditions the first token, in words; empty where the engine has no choice."""
    better_start: str
    """A sentence on a start after which texts are likelier by far; empty where there is none."""
    checks: dict[str, str]
    """Findings of the self-test of its first checkpoint, in words, by check."""


class Accuracy(TypedDict):
    """Accuracy of a model on some items, with Wilson's interval."""

    accuracy: float
    low: float
    high: float
    n: int
    skipped: int
    """Items that could not be judged, and don't count."""
    ties: int
    near_ties: int
    """Items whose margin is within what rounding can move; ties are among them."""


class Skipped(TypedDict):
    """Items that a model could not be judged on."""

    n: int
    of: int
    """Items, those that were judged included."""
    reasons: dict[str, int]
    """Items by why they were skipped, in words."""


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
    """How many items of a language models were run on, of how many there are."""

    lang: str
    n: int
    of: int


class Ranked(TypedDict):
    """A place in a ranking."""

    rank: int
    model: str
    label: str
    ours: bool
    """Whether it is of this evaluation, not of print."""
    accuracy: float
    low: float | None
    high: float | None
    n: int | None
    parameters: float | None


class Ranking(TypedDict):
    """The models that a paper prints accuracies of and ours, the best first."""

    lang: str
    places: list[Ranked]
    notes: list[str]
    """In which ways the printed numbers are not of the same items as ours."""


class Gap(TypedDict):
    """How far a model is behind (below 0) the printed models of its size."""

    label: str
    """Phenomenon, or language where print has no phenomena."""
    accuracy: float
    printed: float
    """Mean accuracy of the printed models of its size."""
    difference: float


class SizeClass(TypedDict):
    """The printed models of a model's size, and where it is most behind them."""

    models: list[str]
    gaps: list[Gap]
    note: str
    """Why there are no gaps; else empty."""


class PairedTest(TypedDict):
    """McNemar's test between two models on the items of a language that both have judged."""

    lang: str
    a: str
    b: str
    n: int
    skipped: int
    """Items that one of them, or neither, could be judged on."""
    only_a: int
    only_b: int
    p: float
    adjusted: float
    """Holm's p over all tests of the card."""


class Side(TypedDict):
    """A sentence, and the log-probability of all its tokens."""

    name: str
    """``good``, ``bad``, or what its condition is called."""
    text: str
    logprob: float | None


class WorstItem(TypedDict):
    """An item that a model got wrong by a large margin."""

    item_id: str
    lang: str
    phenomenon: str
    paradigm: str
    margin: float
    sides: list[Side]
    blocks: list[list[Column]]
    """The sides' words: both aligned, or a block for each where they are no pair."""


class WrongAnswer(TypedDict):
    """A prompt that a model answered wrongly."""

    item_id: str
    lang: str
    phenomenon: str
    paradigm: str
    prompt: str
    expected: str
    """Empty where many answers are right."""
    answer: str
    status: str
    """``ok``, or why there is no answer."""


class Written(TypedDict):
    """What a model's answers in a language are, whether right or wrong."""

    lang: str
    n: int
    cut: int | None
    """Answers that the limit of tokens ended; None where that is not known."""
    limit: int
    """Tokens of the longest of them."""
    echoes: int | None
    """Answers that repeat the prompt and say nothing else; None where that is not known."""


class FirstToken(TypedDict):
    """Accuracy on a sample of a language's pairs, with one way to condition the first token."""

    lang: str
    first_token: str
    """In words where the token is known, else the policy."""
    own: bool
    """Whether it is how the evaluation was run."""
    n: int
    skipped: int
    """Pairs of the sample that this way or the evaluation's own gave no score."""
    accuracy: float | None
    """None where every pair was skipped."""
    low: float | None
    high: float | None
    flips: int
    """Decisions that differ from the evaluation's own."""
    flips_beyond: int
    """Those of them that are no near ties."""


class Benchmark(TypedDict):
    """All that the card says of a benchmark."""

    name: str
    label: str
    citation: str
    address: str
    unit: str
    """``pair`` (of sentences), ``prompt``, or ``item`` of several or single sentences."""
    data: str
    """Where the items come from, as a phrase; empty where nothing is said of it."""
    phenomena: dict[str, str]
    methods: dict[str, str]
    """Method that each model's items are judged by."""
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
    """By model; none where items are no prompts."""
    sensitivity: dict[str, list[FirstToken]]
    unknown: dict[str, float]
    """Share of its sentences' words that a model of words does not know, by such a model."""


class Card(TypedDict):
    """The report card of an evaluation."""

    format: Literal[2]
    campaign: str
    description: str
    date: str
    """When the last table was made, in UTC; empty where no record says so."""
    version: str
    """Of blimpworks."""
    commit: str
    """Of the repository that the tables were made with; empty where no record says so."""
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
    """The report card in a file ``card.json``.

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
