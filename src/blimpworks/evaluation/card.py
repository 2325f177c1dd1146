"""The report card of an evaluation as data, the content of ``card.json``.

Accuracies, intervals (95 %) and differences are shares of 1. Log-probabilities and margins are in
nats; margins are per token, character or byte where the method divides. ``all`` as a language or
phenomenon means all of them together.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import Literal, TypedDict, cast

from blimpworks.errors import UserError, reading
from blimpworks.evaluation.facts import Described
from blimpworks.files import write_text
from blimpworks.json_files import load_json
from blimpworks.scoring.words import Column

ALL = "all"
FORMAT: Literal[2] = 2
"""Version of the file; it changes with the meaning of a field."""
MEAN = "mean"
"""Name, as a language, of the unweighted mean over languages."""


class Model(Described):
    """A model, with facts from its checkpoint and its self-test, in words."""

    revision: str
    """Commit on the hub, or digest of the directory's files; may be empty."""
    start: str
    """Condition of the first token; empty where the engine has no choice."""
    better_start: str
    """A sentence on a start that makes texts far likelier; may be empty."""
    checks: dict[str, str]
    """Findings by check."""


class Accuracy(TypedDict):
    """Accuracy of a model on some items, with Wilson's interval."""

    accuracy: float
    low: float
    high: float
    n: int
    skipped: int
    ties: int
    near_ties: int
    """Items, ties included, whose margin rounding can change."""


class Skipped(TypedDict):
    """Items on which a model has no verdict."""

    n: int
    of: int
    reasons: dict[str, int]
    """Numbers of items."""


class Row(TypedDict):
    """Accuracies of the models on a phenomenon of a language."""

    lang: str
    phenomenon: str
    label: str
    models: dict[str, Accuracy]
    """Accuracies by model, without models that skipped every item."""
    skipped: dict[str, Skipped]
    """Numbers of skipped items by model, without models that skipped no item."""
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


class SizeClass(TypedDict):
    """The printed models of a model's size, and the largest gaps to them."""

    models: list[str]
    gaps: list[Gap]
    note: str


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
    """The sides' words: a pair's sides aligned in one block, else a block for each side."""


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
    """Condition in words where the token is known, else the policy."""
    own: bool
    n: int
    skipped: int
    """Pairs of the sample without a score by this condition or the evaluation's own."""
    accuracy: float | None
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
    chance: float | None
    items: list[Items]
    rows: list[Row]
    rankings: list[Ranking]
    size_classes: dict[str, SizeClass]
    """Classes by model; empty where the paper prints no accuracies."""
    tests: list[PairedTest]
    worst: dict[str, list[WorstItem]]
    wrong: dict[str, list[WrongAnswer]]
    written: dict[str, list[Written]]
    """Only for prompts."""
    sensitivity: dict[str, list[FirstToken]]
    unknown: dict[str, float]
    """Share of the sentences' words that are unknown, by model of words."""


class Card(TypedDict):
    """The report card of an evaluation."""

    format: Literal[2]
    campaign: str
    description: str
    date: str
    """End of the job that made the last table, in UTC; may be empty."""
    version: str
    commit: str
    """Commit of the repository that made the tables; may be empty."""
    limit: int | None
    """Most items per benchmark and language; None for all."""
    rerun: str
    results: str
    files: list[str]
    languages: dict[str, str]
    models: dict[str, Model]
    benchmarks: list[Benchmark]
    tests: int
    """Paired tests that were corrected for together."""


def rerun_command(campaign_file: str, cores: int = 2, profile: str | None = None) -> str:
    """Return the command line that builds a report card again, for people.

    >>> rerun_command("mine/campaign.yaml", profile="slurm")
    'snakemake --configfile mine/campaign.yaml --profile slurm report_card'
    """
    jobs = f"--profile {quote(profile)}" if profile else f"--cores {cores}"
    return f"snakemake --configfile {quote(campaign_file)} {jobs} report_card"


def read_card(path: Path) -> Card:
    """Read ``card.json``. Raises UserError for another file or version of the format."""
    remedy = f"Build it: {rerun_command('CAMPAIGN')}."
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
