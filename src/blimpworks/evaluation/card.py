"""The report card of an evaluation as data: its inputs (``Facts``) and its content (``Card``).

The workflow calls ``card_facts`` to collect the inputs: settings of the campaign, and paths of
tables. From these, ``build.build_card`` makes the content: the results of models on benchmarks.

Accuracies, intervals (95 %) and differences are shares of 1. Log-probabilities and margins are in
nats; margins are per token, character or byte if the method normalises by length. ``all`` as a
language or phenomenon means all of them together. The workflow imports this module on each start,
so it must not import heavy packages.
"""

from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import Any, Literal, NotRequired, TypedDict, cast

from blimpworks.campaign.addresses import is_local
from blimpworks.campaign.engines import find_scorer
from blimpworks.campaign.layout import Layout
from blimpworks.campaign.registry import find_benchmark, paper_of
from blimpworks.campaign.scoring_jobs import whole_items_table
from blimpworks.errors import UserError, reading
from blimpworks.evaluation.suites import read_suite
from blimpworks.files import load_json

FORMAT: Literal[2] = 2
"""Version of the file's format; it changes when the meaning of a field changes."""
MEAN = "mean"
"""Language code of rows with the unweighted mean over languages."""
Record = dict[str, Any]
"""A row of a table of the card; the documentation of the table lists the keys."""
CURVES = "curves.svg"
"""Figure of a suite's numbers over the course of training."""
OUTPUTS = {"pair": "scores", "prompt": "answers"}
"""Folder of the models' outputs in the results, by the unit of the benchmark."""


# The inputs


class BenchmarkFacts(TypedDict):
    """Inputs on a benchmark: the campaign's settings, and the paths of its tables."""

    label: str
    citation: str
    address: str
    """Address of the paper; empty where none is known."""
    unit: str
    """``pair`` or ``prompt``."""
    noun: str
    """Noun for an item: ``pair`` (of sentences), ``prompt``, or else ``item``."""
    data: str
    """Phrase on the origin of its items; may be empty."""
    methods: dict[str, list[str]]
    """Judging methods of each model, the main method first."""
    mcnemar: str
    """Form of McNemar's test: ``published`` (as in the paper) or ``corrected`` (exact if few)."""
    chance: float | None
    """Accuracy of guessing; None where unknown."""
    own_items: bool
    """True for the paper's own items, False for new items that are made in the same way."""
    languages: dict[str, list[str]]
    """Languages in which each model is run."""
    items: dict[str, str]
    """Paths, by language, of tables of the items that models are run on."""
    all_items: dict[str, str]
    """Paths, by language, of tables of all items; empty unless ``items`` are samples."""
    accuracies: str
    """Path of the table of the models' accuracies."""
    printed: str
    """Path of the table of accuracies that the paper prints; empty if there are none."""
    names: str
    """Address (``module:name``) of printed names of phenomena; empty if keys serve as names."""
    sensitivity: dict[str, list[str]]
    """Languages, by model, in which sentences are also scored with other first tokens."""


class Facts(TypedDict):
    """Inputs of a campaign's report card."""

    campaign: str
    description: str
    configfile: str
    results: str
    limit: int | None
    """Most items of a benchmark and language that models are run on; None for all."""
    worst: int
    """Number of worst items or wrong answers of each model in the card."""
    languages: dict[str, str]
    """English names by ISO 639-3 code."""
    models: dict[str, Record]
    """Some keys of ``Model``, and paths: ``manifests``, which list the files with the model's
    scores, and ``checkpoint``, the description of the model's first checkpoint."""
    benchmarks: dict[str, BenchmarkFacts]
    printed: dict[str, Record]
    """``label`` and ``parameters`` (billions, or None) of models in the papers' tables."""
    suite: Record | None
    """Fields of a ``suites.Suite``; None without a suite."""
    curves: bool
    """Whether the models are checkpoints of a training run."""


Coverage = Mapping[str, Mapping[str, list[str]]]
"""{benchmark: {model: languages in which the model is run}}: {"mine": {"gpt2": ["eng"]}}."""


def coverage(layout: Layout) -> Coverage:
    """Return the languages of each model on each benchmark that has models."""
    covered = {}
    for name in layout.campaign.benchmarks:
        models = layout.models_of(name)
        if models:
            covered[name] = {model: [*layout.covered_by(model, name)] for model in models}
    return covered


def sensitivity_table(results: str, benchmark: str, lang: str, model: str) -> str:
    """Return the path of a table of accuracies by first token."""
    return f"{results}/sensitivity/{benchmark}/{lang}/{model}/parity.parquet"


def card_files(layout: Layout) -> list[str]:
    """Return the paths of a card's files: data, page, tables, curves if any, results by model."""
    models = card_models(layout, coverage(layout))
    names = [f"results_{name}.json" for name in models] if len(models) > 1 else ["results.json"]
    card = layout.campaign.report_card
    pictures = [CURVES] if card.curves and card.suite else []
    names = ["card.json", "index.html", "tables.md", "tables.tex", *pictures, *names]
    return [f"{layout.results}/report_card/{name}" for name in names]


def card_models(layout: Layout, covered: Coverage) -> list[str]:
    """Return the models that are run on any benchmark, in the catalogue's order."""
    running = {model for models in covered.values() for model in models}
    return [name for name in layout.catalogue.models if name in running]


def card_tables(facts: Facts) -> list[str]:
    """Return the paths of all tables and descriptions that a report card is made from."""
    results, paths = facts["results"], []
    for name, benchmark in facts["benchmarks"].items():
        paths += [benchmark["accuracies"], *filter(None, [benchmark["printed"]])]
        paths += [*benchmark["items"].values(), *benchmark["all_items"].values()]
        for model, languages in benchmark["languages"].items():
            for folder in ("judgements", OUTPUTS[benchmark["unit"]]):
                paths += [model_table(results, folder, name, lang, model) for lang in languages]
        for model, languages in benchmark["sensitivity"].items():
            paths += [sensitivity_table(results, name, lang, model) for lang in languages]
    for model_facts in facts["models"].values():
        paths += [model_facts["checkpoint"], *model_facts["manifests"]]
    return list(dict.fromkeys(paths))


def model_table(results: str, folder: str, benchmark: str, lang: str, model: str) -> str:
    """Return the path of a model's ``judgements``, ``scores`` or ``answers`` in a language."""
    return f"{results}/{folder}/{benchmark}/{model}/{lang}.parquet"


def _model(layout: Layout, name: str, covered: Coverage) -> Record:
    row = layout.catalogue.models[name]
    scorer = find_scorer(layout.engine_of(name), row.architecture)
    languages, languages_of_scores = set[str](), set[str]()
    for benchmark, languages_by_model in covered.items():
        languages_of_model = languages_by_model.get(name, ())
        languages.update(languages_of_model)
        if find_benchmark(benchmark).unit == "pair":  # prompts have answers, not scores
            languages_of_scores.update(languages_of_model)
    # A monolingual model has a checkpoint for each language, other models have one.
    scopes = sorted({layout.training.scope_of(name, lang) for lang in languages})
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
        # ``models.in_languages`` writes notes on local models for the card.
        "note": row.note if is_local(row.hf_id) else "",
        "manifests": sorted({layout.manifest_of(name, lang) for lang in languages_of_scores}),
        "checkpoint": layout.training.checkpoint_in(name, scopes[0]),
        "checkpoints": len(scopes),
    }


def _benchmark(layout: Layout, name: str, languages: Mapping[str, list[str]]) -> BenchmarkFacts:
    benchmark, paper = find_benchmark(name), paper_of(name)
    has_prompts = benchmark.unit == "prompt"
    # The command "judge" compares the two sentences of pairs; other commands judge other items.
    has_pairs = not has_prompts and benchmark.judge == "judge"
    used = {lang for languages_of_model in languages.values() for lang in languages_of_model}
    langs = [lang for lang in layout.item_languages(name) if lang in used]
    items = {lang: layout.items_table(name, lang) for lang in langs}
    all_items = {lang: str(whole_items_table(layout.campaign, name, lang)) for lang in langs}
    # The first benchmark has the paper's own items, other benchmarks have new ones of that form.
    is_first = paper.benchmarks[0].name == name
    is_printed = paper.printed_accuracies and layout.printed_tables(paper.name)
    printed = f"{layout.results}/accuracies/printed/{paper.name}.parquet" if is_printed else ""
    licences, contact = layout.licences_of(paper.name), paper.citation.contact
    licence = f"Licence: {licences}." if licences else ""
    contact = f"Contact: {contact}." if contact else ""
    sensitivity = {}
    if has_pairs and layout.campaign.report_card.sensitivity:
        for model, languages_of_model in languages.items():
            architecture = layout.catalogue.models[model].architecture
            # Some engines allow no choice of the first token.
            if len(find_scorer(layout.engine_of(model), architecture).first_token) > 1:
                sensitivity[model] = languages_of_model
    return {
        "label": paper.citation.label if is_first else f"{paper.citation.label} ({name})",
        "citation": " ".join(filter(None, (paper.citation.text, licence, contact))),
        "address": paper.citation.address,
        "unit": benchmark.unit,
        "noun": benchmark.unit if has_prompts or has_pairs else "item",
        "data": paper.caption(layout.campaign, layout.catalogue, ("items", "accuracies")),
        "methods": {model: layout.methods_of(name, model) for model in languages},
        "mcnemar": layout.mcnemar_of(name),
        "chance": 0.5 if has_pairs else None,
        "own_items": is_first,
        "languages": dict(languages),
        "items": items,
        "all_items": {} if items == all_items else all_items,
        "accuracies": f"{layout.results}/accuracies/{name}.parquet",
        "printed": printed,
        "names": paper.names,
        "sensitivity": sensitivity,
    }


def card_facts(layout: Layout, configfile: str) -> Facts:
    """Collect the inputs for the report card of the campaign in ``configfile``."""
    campaign, covered = layout.campaign, coverage(layout)
    codes = {lang for models in covered.values() for langs in models.values() for lang in langs}
    suite, rows = campaign.report_card.suite, layout.catalogue.languages
    return {
        "campaign": campaign.campaign,
        "description": campaign.description,
        # A path with ".." holds only in the current directory, so the card has it in full.
        "configfile": str(Path(configfile).resolve()) if configfile[:2] == ".." else configfile,
        "results": layout.results,
        "limit": campaign.limit,
        "worst": campaign.report_card.worst,
        "languages": {lang: row.name for lang, row in rows.items() if lang in codes},
        "models": {name: _model(layout, name, covered) for name in card_models(layout, covered)},
        "benchmarks": {name: _benchmark(layout, name, models) for name, models in covered.items()},
        "printed": {
            name: {"label": row.label, "parameters": row.parameters}
            for name, row in layout.complete.models.items()
        },
        "suite": read_suite(suite).model_dump(mode="json") if suite else None,
        "curves": campaign.report_card.curves,
    }


# The content


class Model(TypedDict):
    """A model: how the campaign runs it, its checkpoint, and the findings of its self-test."""

    label: str
    hf_id: str
    """Name on the hub, or directory; empty for a model that is trained here."""
    revision: str
    """Commit on the hub, or digest of the directory's files; may be empty."""
    parameters: float | None
    """Billions."""
    architecture: str
    engine: str
    dtype: str
    first_token: str
    """Rule for the token before a sentence, such as ``bos``: the start symbol."""
    start: str
    """Token before a sentence; empty if the engine allows no choice."""
    better_start: str
    """Remark on another start token that makes texts much more likely; may be empty."""
    note: str
    """Remarks on a local model, its code, or an unused chat template; may be empty."""
    checks: dict[str, str]
    """Texts of findings, by name of the check."""
    tuning: str
    checkpoints: int
    """Number of checkpoints: a monolingual model has one for each language."""


class Row(TypedDict):
    """Accuracies of the models on a phenomenon of a language."""

    lang: str
    phenomenon: str
    label: str
    models: dict[str, Record]
    """Keys: ``accuracy``, ``low``, ``high``, ``n``, ``skipped``, ``ties`` and ``near_ties``.

    Models that skipped every item are left out. The interval is Wilson's; the interval of a mean
    follows from the intervals of the averaged accuracies. Near ties, ties among them, have margins
    that rounding could turn.
    """
    skipped: dict[str, Record]
    """Items without a verdict, by model, such as {"n": 3, "of": 90, "reasons": {"empty": 3}}.

    ``of`` is the number of all items. Models that skipped no item are left out.
    """
    baselines: dict[str, float]
    """Accuracies, by name, of baselines that use only length, word frequency, labels or chance."""


class Benchmark(TypedDict):
    """The results of all models on a benchmark."""

    name: str
    label: str
    citation: str
    address: str
    unit: str
    """``pair`` (of sentences), ``prompt``, or ``item`` of one or several sentences."""
    data: str
    """Phrase on the origin of the items; may be empty."""
    phenomena: dict[str, str]
    """Names for people, by key."""
    methods: dict[str, str]
    """The main method of each model, which decides its accuracies."""
    chance: float | None
    items: list[Record]
    """Records such as {"lang": "eng", "n": 90, "of": 300}: models are run on ``n`` of all items."""
    rows: list[Row]
    """Rows by language and phenomenon."""
    paradigms: list[Row]
    """Rows by language and paradigm (``label``), without skipped items and baselines."""
    rankings: list[Record]
    """Models ranked by accuracy: a record for each language (``lang``).

    ``places`` are the ranked models, the best first, with ``rank``, ``model``, ``label``,
    ``accuracy``, ``low``, ``high``, ``n`` and ``parameters`` (billions). ``ours`` is True for a
    model of this evaluation, False for a printed one. ``notes`` say how their items differ.
    """
    size_classes: dict[str, Record]
    """Comparison of each model with printed ones of similar size; empty if the paper prints none.

    ``models`` are the printed models, ``gaps`` the largest differences to their mean accuracy, and
    ``note`` says why there is none. A gap has a ``label`` (phenomenon, or language if the paper
    prints no phenomena), ``accuracy``, ``printed`` (the mean) and ``difference``.
    """
    tests: list[Record]
    """McNemar's tests between models ``a`` and ``b`` in a language.

    Keys: ``lang``, ``n`` (items that both models judged), ``skipped`` (items that one or both
    skipped), ``only_a`` and ``only_b`` (items on which one model alone is right). ``adjusted`` is
    Holm's correction of ``p`` over all tests of the card.
    """
    worst: dict[str, list[Record]]
    """Wrongly judged items with the largest margins, by model.

    Keys: ``item_id``, ``lang``, ``phenomenon``, ``paradigm``, ``margin``, ``sides`` and ``blocks``.
    A side is a sentence, with ``name``, ``text`` and ``logprob``, the sum over the tokens. Blocks
    have the words: one block aligns the two sides of a pair; other sentences have separate blocks.
    """
    wrong: dict[str, list[Record]]
    """Wrong answers to prompts, by model.

    Keys: ``item_id``, ``lang``, ``phenomenon``, ``paradigm``, ``prompt``, ``answer``, ``status``,
    and ``expected``, which is empty if many answers are right.
    """
    written: dict[str, list[Record]]
    """Number of judged answers to prompts (``n``) in each language (``lang``), by model.

    ``cut`` counts answers that reached the limit of tokens, ``echoes`` answers that only repeat the
    prompt; ``cut`` and ``echoes`` are None if unknown. ``limit``: tokens of the longest cut answer.
    """
    sensitivity: dict[str, list[Record]]
    """Accuracies on a sample of pairs with each possible token before a sentence, by model.

    ``first_token`` names the token, or else the rule that chooses it; ``own`` is True for the token
    of this evaluation. Other keys: ``lang``, ``n``, ``skipped``, ``accuracy``, ``low``, ``high``,
    ``flips`` (decisions that differ from those with the evaluation's token) and ``flips_beyond``
    (flips that rounding does not explain). Pairs without a score by both tokens are skipped.
    """
    unknown: dict[str, float]
    """Share of the sentences' words that a model does not know, by model of words.
    """


class SuiteTable(TypedDict):
    """The table of a suite of benchmarks."""

    label: str
    address: str
    """Address of the printed numbers."""
    rows: list[Record]
    """A record for each task, with ``label``, ``benchmark``, ``measure`` (as ``suites.Task``),
    ``sampled`` (True if not all items are run), ``models`` and ``printed``.

    ``models`` has a record by model: ``value``, ``low``, ``high`` (95 %), ``n``, ``ties`` and
    ``skipped``; ``value`` is None for the reasons in ``show.NO_NUMBER``. Accuracies and shares of
    variance are from 0 to 1 there, but in percent in ``printed``, the printed numbers by model.
    """
    other_starts: list[str]
    """Labels of causal models whose first-token policy is not the suite's."""
    missing: dict[str, str]
    """Reasons why tasks are not run, by the task's label."""


class Card(TypedDict):
    """The report card of an evaluation."""

    format: Literal[2]
    campaign: str
    description: str
    date: str
    """Time (UTC) when the last table was finished; may be empty."""
    version: str
    commit: str
    """Commit of the repository that made the tables; may be empty."""
    limit: int | None
    rerun: str
    results: str
    files: list[str]
    languages: dict[str, str]
    models: dict[str, Model]
    benchmarks: list[Benchmark]
    tests: int
    """Number of paired tests, for which p-values are corrected."""
    suite: NotRequired[SuiteTable | None]
    """Table of the suite; None without a suite, absent from cards of earlier versions."""


def rerun_command(campaign_file: str, cores: int = 2, profile: str | None = None) -> str:
    """Return the command line that builds a report card again.

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
