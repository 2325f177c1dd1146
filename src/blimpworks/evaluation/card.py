"""The report card of an evaluation as data, the content of ``card.json``.

Accuracies, intervals (95 %) and differences are shares of 1. Log-probabilities and margins are in
nats; margins are per token, character or byte where the method divides. ``all`` as a language or
phenomenon means all of them together.
"""

import json
from pathlib import Path
from shlex import quote
from typing import Any, Literal, TypedDict, cast

from blimpworks.errors import UserError, reading
from blimpworks.evaluation.facts import Described
from blimpworks.files import write_text
from blimpworks.json_files import load_json

ALL = "all"
FORMAT: Literal[2] = 2
"""Version of the file; it changes with the meaning of a field."""
MEAN = "mean"
"""Name, as a language, of the unweighted mean over languages."""
Record = dict[str, Any]
"""A row of one of the card's tables; the table's field names the keys."""


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


class Row(TypedDict):
    """Accuracies of the models on a phenomenon of a language."""

    lang: str
    phenomenon: str
    label: str
    models: dict[str, Record]
    """By model, without models that skipped every item: accuracy, its Wilson interval from low to
    high, n, skipped, ties, and near_ties (ties included), whose margin rounding can change."""
    skipped: dict[str, Record]
    """By model, without models that skipped no item: n skipped of all (of), and the reasons, each
    with its number of items."""
    baselines: dict[str, float]
    """Share that length, frequency of words, labels or chance alone get right, by name."""


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
    items: list[Record]
    """By language (lang): the number of items that models were run on (n), and of all (of)."""
    rows: list[Row]
    rankings: list[Record]
    """By language (lang): the models in print and ours (places), the best first, and notes on
    differences between the items. A place has rank, model, label, ours (measured by this evaluation
    and not printed), accuracy, low, high, n, and parameters in billions, each None if unknown."""
    size_classes: dict[str, Record]
    """By model: the printed models of its size (models), a note, and the largest gaps to their
    mean: label (phenomenon, or language where print has no phenomena), accuracy, printed,
    difference. Empty where the paper prints no accuracies."""
    tests: list[Record]
    """McNemar's tests between models a and b on the n items of a language that both have judged,
    without those skipped by one or both: only_a, only_b, p, and Holm's p for all tests of the card
    (adjusted)."""
    worst: dict[str, list[Record]]
    """By model: wrongly judged items with large margins. Keys: item_id, lang, phenomenon, paradigm,
    margin; sides (name, text, and the log-probability of all tokens, logprob); blocks with the
    sides' words, aligned in one block for a pair, else in a block for each side."""
    wrong: dict[str, list[Record]]
    """By model: wrong answers to prompts. Keys: item_id, lang, phenomenon, paradigm, prompt,
    expected (empty where many answers are right), answer, status."""
    written: dict[str, list[Record]]
    """Only for prompts, by model: n answers in a language (lang); how many the limit of tokens
    ended (cut) and how many only repeat the prompt (echoes), both None where unknown; tokens of
    the longest answer that was cut (limit)."""
    sensitivity: dict[str, list[Record]]
    """By model: accuracy, low and high on a sample of n pairs of a language (lang), by first_token,
    in words where the token is known, else the policy; whether it is the evaluation's own; pairs
    skipped by one of the two; flips, decisions that differ; flips_beyond, without near ties."""
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
