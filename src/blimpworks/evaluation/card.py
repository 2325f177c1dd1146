"""The report card of an evaluation as data: its inputs, and the content of ``card.json``.

Accuracies, intervals (95 %) and differences are shares of 1. Log-probabilities and margins are in
nats; margins are per token, character or byte where the method divides. ``all`` as a language or
phenomenon means all of them together.

Without heavy imports, because the workflow collects the inputs.
"""

from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import Any, Literal, TypedDict, cast

from blimpworks.campaign.addresses import is_local
from blimpworks.campaign.engines import find_scorer
from blimpworks.campaign.layout import Layout
from blimpworks.campaign.parts import whole_items_table
from blimpworks.campaign.registry import find_benchmark, paper_of
from blimpworks.errors import UserError, reading
from blimpworks.json_files import load_json

ALL = "all"
FORMAT: Literal[2] = 2
"""Version of the file; it changes with the meaning of a field."""
MEAN = "mean"
"""Name, as a language, of the unweighted mean over languages."""
Record = dict[str, Any]
"""A row of one of the card's tables; the table's field names the keys."""
OUTPUTS = {"pair": "scores", "prompt": "answers"}
"""Folder of models' results by the benchmark's unit."""


# The inputs


class BenchmarkFacts(TypedDict):
    """A benchmark as the campaign runs it, with the paths of its tables."""

    label: str
    citation: str
    address: str
    """Address of the paper; empty where none is known."""
    unit: str
    """``pair`` or ``prompt``."""
    noun: str
    """An item's name: ``pair`` of sentences, ``prompt``, or ``item`` of any other kind."""
    data: str
    """Origin of its items, in words; may be empty."""
    methods: dict[str, list[str]]
    """Methods by model, the main method first."""
    mcnemar: str
    chance: float | None
    """Accuracy of guessing; None where unknown."""
    own_items: bool
    """Its paper prints accuracies of these items."""
    languages: dict[str, list[str]]
    items: dict[str, str]
    """Tables by language of the items that models are run on."""
    whole: dict[str, str]
    """Tables by language of all items, where ``items`` is a sample."""
    accuracies: str
    printed: str
    """Table of the accuracies that its paper prints; empty where there are none."""
    names: str
    """Printed names of its phenomena, as ``module:name``; empty where keys are names."""
    sensitivity: dict[str, list[str]]
    """Languages, by model, that are also scored with other first tokens."""


class Facts(TypedDict):
    """Inputs of a campaign's report card."""

    campaign: str
    description: str
    configfile: str
    results: str
    limit: int | None
    """Most items of a benchmark and language that models are run on; None for all."""
    worst: int
    languages: dict[str, str]
    models: dict[str, Record]
    """Keys of ``Model``; paths of ``manifests`` and of its first ``checkpoint``'s description."""
    benchmarks: dict[str, BenchmarkFacts]
    printed: dict[str, Record]
    """``label``, and ``parameters`` (billions or None), by name in tables of printed numbers."""


Coverage = Mapping[str, Mapping[str, list[str]]]
"""Languages by benchmark and model."""


def coverage(layout: Layout) -> Coverage:
    """Return the languages by benchmark and model, without benchmarks that no model is run on."""
    covered = {
        name: {model: layout.covered_by(model, name) for model in layout.models_of(name)}
        for name in layout.campaign.benchmarks
    }
    return {name: models for name, models in covered.items() if models}


def sensitivity_table(results: str, benchmark: str, lang: str, model: str) -> str:
    """Return the path of a table of accuracies by first token."""
    return f"{results}/sensitivity/{benchmark}/{lang}/{model}/parity.parquet"


def card_files(layout: Layout) -> list[str]:
    """Return the card's data, page, tables to paste, and a results file for each model."""
    models = card_models(layout, coverage(layout))
    names = [f"results_{name}.json" for name in models] if len(models) > 1 else ["results.json"]
    names = ["card.json", "index.html", "tables.md", "tables.tex", *names]
    return [f"{layout.results}/report_card/{name}" for name in names]


def card_models(layout: Layout, covered: Coverage) -> list[str]:
    """Return the models that are run on a benchmark, in the catalogue's order."""
    running = {model for models in covered.values() for model in models}
    return [name for name in layout.catalogue.models if name in running]


def card_tables(facts: Facts) -> list[str]:
    """Return every table and description that a report card is made from."""
    results, paths = facts["results"], []
    for name, benchmark in facts["benchmarks"].items():
        paths += [benchmark["accuracies"], *filter(None, [benchmark["printed"]])]
        paths += [*benchmark["items"].values(), *benchmark["whole"].values()]
        for model, languages in benchmark["languages"].items():
            for folder in ("judgements", OUTPUTS[benchmark["unit"]]):
                paths += [model_table(results, folder, name, lang, model) for lang in languages]
        for model, languages in benchmark["sensitivity"].items():
            paths += [sensitivity_table(results, name, lang, model) for lang in languages]
    for described in facts["models"].values():
        paths += [described["checkpoint"], *described["manifests"]]
    return list(dict.fromkeys(paths))


def model_table(results: str, folder: str, benchmark: str, lang: str, model: str) -> str:
    """Return the path of a model's ``judgements``, ``scores`` or ``answers`` in a language."""
    return f"{results}/{folder}/{benchmark}/{model}/{lang}.parquet"


def _model_facts(layout: Layout, name: str, covered: Coverage) -> Record:
    row = layout.catalogue.models[name]
    scorer = find_scorer(layout.engine_of(name), row.architecture)
    languages = {lang for models in covered.values() for lang in models.get(name, ())}
    scopes = sorted({layout.training.scope_of(name, lang) for lang in languages})
    scored = (
        lang
        for benchmark, models in covered.items()
        for lang in models.get(name, ())
        if find_benchmark(benchmark).unit == "pair"
    )
    return {
        "label": row.label,
        "hf_id": row.hf_id,
        "parameters": row.parameters,
        "architecture": row.architecture,
        "engine": layout.engine_of(name),
        "dtype": layout.dtype_of(name),
        "first_token": scorer.settle(
            "first_token", row.first_token, layout.campaign.scoring.first_token
        ),
        "tuning": row.tuning,
        "note": row.note if is_local(row.hf_id) else "",
        "manifests": sorted({layout.manifest_of(name, lang) for lang in scored}),
        "checkpoint": layout.training.checkpoint_in(name, scopes[0]),
        "checkpoints": len(scopes),
    }


def _benchmark_facts(
    layout: Layout, name: str, languages: Mapping[str, list[str]]
) -> BenchmarkFacts:
    benchmark, paper = find_benchmark(name), paper_of(name)
    covered = {lang for each in languages.values() for lang in each}
    every = [lang for lang in layout.item_languages(name) if lang in covered]
    items = {lang: layout.items_table(name, lang) for lang in every}
    whole = {lang: str(whole_items_table(layout.campaign, name, lang)) for lang in every}
    is_first = paper.benchmarks[0].name == name
    prompts = benchmark.unit == "prompt"
    pairs = not prompts and benchmark.judge == "judge"
    prints = paper.printed_accuracies and layout.printed_tables(paper.name)
    printed = f"{layout.results}/accuracies/printed/{paper.name}.parquet" if prints else ""
    sensitivity = {}
    if pairs and layout.campaign.report_card.sensitivity:
        for model, scored in languages.items():
            architecture = layout.catalogue.models[model].architecture
            # Other engines have no choice of a first token.
            if len(find_scorer(layout.engine_of(model), architecture).first_token) > 1:
                sensitivity[model] = scored
    return {
        "label": paper.citation.label if is_first else f"{paper.citation.label} ({name})",
        "citation": " ".join(
            [paper.citation.text]
            + [f"Licence: {stated}." for stated in [layout.licences_of(paper.name)] if stated]
            + [f"Contact: {stated}." for stated in [paper.citation.contact] if stated]
        ),
        "address": paper.citation.address,
        "unit": benchmark.unit,
        "noun": benchmark.unit if prompts or pairs else "item",
        "data": paper.caption(layout.campaign, layout.catalogue, ("items", "accuracies")),
        "methods": {model: layout.methods_of(name, model) for model in languages},
        "mcnemar": layout.mcnemar_of(name),
        "chance": 0.5 if pairs else None,
        "own_items": is_first,
        "languages": dict(languages),
        "items": items,
        "whole": {} if items == whole else whole,
        "accuracies": f"{layout.results}/accuracies/{name}.parquet",
        "printed": printed,
        "names": paper.names,
        "sensitivity": sensitivity,
    }


def card_facts(layout: Layout, configfile: str) -> Facts:
    """Collect the facts for the report card of a campaign, whose file is ``configfile``."""
    campaign, covered = layout.campaign, coverage(layout)
    codes = {lang for models in covered.values() for each in models.values() for lang in each}
    return {
        "campaign": campaign.campaign,
        "description": campaign.description,
        "configfile": str(Path(configfile).resolve()) if configfile[:2] == ".." else configfile,
        "results": layout.results,
        "limit": campaign.limit,
        "worst": campaign.report_card.worst,
        "languages": {
            lang: row.name for lang, row in layout.catalogue.languages.items() if lang in codes
        },
        "models": {
            name: _model_facts(layout, name, covered) for name in card_models(layout, covered)
        },
        "benchmarks": {
            name: _benchmark_facts(layout, name, each) for name, each in covered.items()
        },
        "printed": {
            name: {"label": row.label, "parameters": row.parameters}
            for name, row in layout.whole.models.items()
        },
    }


# The content


class Model(TypedDict):
    """A model as the campaign runs it, with facts from its checkpoint and its self-test."""

    label: str
    hf_id: str
    """Name on the hub or directory; empty for a model that is trained here."""
    revision: str
    """Commit on the hub, or digest of the directory's files; may be empty."""
    parameters: float | None
    """Billions."""
    architecture: str
    engine: str
    dtype: str
    first_token: str
    """Policy for the condition of the first token."""
    start: str
    """Condition of the first token; empty where the engine has no choice."""
    better_start: str
    """A sentence on a start that makes texts far likelier; may be empty."""
    note: str
    """Sentences on a model of this machine, or on an unused chat template; may be empty."""
    checks: dict[str, str]
    """Findings by check, in words."""
    tuning: str
    checkpoints: int
    """A monolingual model has one per language."""


class Row(TypedDict):
    """Accuracies of the models on a phenomenon of a language."""

    lang: str
    phenomenon: str
    label: str
    models: dict[str, Record]
    """Keys: ``accuracy``, ``low``, ``high``, ``n``, ``skipped``, ``ties`` and ``near_ties``.

    Models that skipped every item are left out. The interval is Wilson's. Near ties, ties included,
    have a margin whose sign rounding can change.
    """
    skipped: dict[str, Record]
    """Items by model: ``n`` skipped of all (``of``), and ``reasons`` with their numbers of items.

    Models that skipped no item are left out.
    """
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
    """Numbers of items by language (``lang``): run (``n``) and all (``of``)."""
    rows: list[Row]
    paradigms: list[Row]
    """Rows by language and paradigm (``label``), without skipped items and baselines."""
    rankings: list[Record]
    """Rankings by language (``lang``): ``places``, the best first, and ``notes`` on unlike items.

    A place has ``rank``, ``model``, ``label``, ``accuracy``, ``low``, ``high``, ``n`` and
    ``parameters`` (billions). It is ``ours`` if measured by this evaluation, else printed.
    """
    size_classes: dict[str, Record]
    """Printed ``models`` by model of that size, the largest ``gaps`` to their mean, a ``note``.

    A gap has a ``label`` (phenomenon, or language where print has no phenomena), ``accuracy``,
    ``printed`` and ``difference``. Empty where the paper prints no accuracies.
    """
    tests: list[Record]
    """McNemar's tests between models ``a`` and ``b`` on a language's items that both have judged.

    Keys: ``lang``, ``n``, ``skipped`` (by one or both), ``only_a``, ``only_b``, ``p``, and
    ``adjusted``, Holm's p over all tests of the card.
    """
    worst: dict[str, list[Record]]
    """Wrongly judged items by model, with large margins.

    Keys: ``item_id``, ``lang``, ``phenomenon``, ``paradigm``, ``margin``, ``sides`` and ``blocks``.
    A side has ``name``, ``text`` and ``logprob``, that of all its tokens. Blocks have the sides'
    words: a pair's sides are aligned in one, others have one each.
    """
    wrong: dict[str, list[Record]]
    """Wrong answers to prompts, by model.

    Keys: ``item_id``, ``lang``, ``phenomenon``, ``paradigm``, ``prompt``, ``answer``, ``status``,
    and ``expected``, empty where many answers are right.
    """
    written: dict[str, list[Record]]
    """Number of answers to prompts (``n``) in a language (``lang``), by model.

    Of them the limit of tokens ended some (``cut``), and some only repeat the prompt (``echoes``).
    Both are None where unknown. ``limit``: tokens of the longest answer that was cut.
    """
    sensitivity: dict[str, list[Record]]
    """Keys by model: ``accuracy``, ``low`` and ``high`` on a sample of pairs, by first token.

    Keys also: ``lang``, ``n``, ``own`` (the evaluation's), ``skipped`` (pairs without a score by
    it or the own), ``flips`` (decisions that differ) and ``flips_beyond`` (without near ties).
    ``first_token`` is in words where the token is known, else the policy.
    """
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
