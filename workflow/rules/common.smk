"""The campaign, its catalogue, and the few look-ups that rules share."""

import json
import re

from snakemake.exceptions import WorkflowError
from snakemake.utils import validate

from blimpworks.campaign.benchmarks import (
    BLIMP,
    GENERATED_OF,
    LMENTRY,
    RELEASED_DATA,
    URBLIMP,
    benchmarks_of,
    check_benchmarks,
    pack_file,
    paper_of,
    rules_folder,
)
from blimpworks.campaign.catalogue import UNIMORPH_KINDS, load_catalogue, whole_catalogue
from blimpworks.papers.clams.items import sets as clams_sets
from blimpworks.papers.clams.decisions import counts_one_more, variant_of
from blimpworks.papers.clams.decisions import methods_of as clams_methods
from blimpworks.campaign import parts
from blimpworks.campaign.settings.training import HOW_MANY
from blimpworks.campaign.settings.campaign import check_campaign
from blimpworks.errors import UserError
from blimpworks.papers.blimp.exhibits.facts import FACTS as BLIMP_FACTS
from blimpworks.exhibits.catalogue import EVALUATION, EXHIBITS
from blimpworks.campaign.exhibit_spec import FORMATS
from blimpworks.papers.blimp.exhibits.trained import FACTS as TRAINED_FACTS
from blimpworks.papers.clams.exhibits.facts import FACTS as CLAMS_FACTS
from blimpworks.papers.lmentry.exhibits.facts import LMENTRY_FACTS
from blimpworks.papers.lmentry.exhibits.names import LANGUAGES as LMENTRY_LANGUAGES
from blimpworks.papers.multiblimp.exhibits.facts import FACTS
from blimpworks.papers.multiblimp.exhibits.models import EVALUATION_FACTS, margin_models
from blimpworks.papers.urblimp.exhibits.models import FACTS as URBLIMP_FACTS
from blimpworks.papers.multiblimp.items.release import BENCHMARK as MULTIBLIMP
from blimpworks.papers.multiblimp.items.release import (
    FROM_TREEBANKS,
    RELEASED_ITEMS,
    is_released,
    origin_of_items,
    pinned_items,
    released_file,
    why_not,
)
from blimpworks.campaign.reference import groups_of_models
from blimpworks.campaign.engines import comparison_of, settle
from blimpworks.campaign.methods import find_method, regional
from blimpworks.judging.ties import tie_policy
from blimpworks.campaign.seeds import curves_of
from blimpworks.commands.registry import code_of

CAMPAIGN_FILE = os.path.relpath(
    (workflow.overwrite_configfiles or ["config/config.yaml"])[-1]
)
try:
    CAMPAIGN = check_campaign(config, CAMPAIGN_FILE)
    CATALOGUE = load_catalogue(CAMPAIGN)
    check_benchmarks(CAMPAIGN, CATALOGUE)
    # What the papers print is the same in every campaign.
    WHOLE = whole_catalogue(CAMPAIGN)
    GROUPS = groups_of_models(CAMPAIGN, CATALOGUE)
except UserError as error:
    raise WorkflowError(str(error)) from None
validate(config, str(ROOT / "workflow/schemas/campaign.schema.json"), set_default=False)

# Jobs run `python -m blimpworks`: with the interpreter that runs Snakemake, unless a
# rule's own environment puts its python first. Where a mirror lies decides no content, so
# it is no param of a rule.
os.environ.update(
    PATH=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
    PYTHONPATH=str(ROOT / "src"),
    BLIMPWORKS_MIRROR=str(CAMPAIGN.mirror or ""),
    TYPER_USE_RICH="0",  # a quarter of a second in every job
)
# vLLM pins too much to share an environment; it has its own, next to this one or by conda.
VLLM_PYTHON = (
    "python"
    if workflow.deployment_settings.deployment_method
    or not (ROOT / ".vllm/bin/python").exists()
    else str(ROOT / ".vllm/bin/python")
)
# Settings that do not decide scores.
AFTERWARDS = {"near_tie": True, "jobs": True, "vllm": {"build"}}
RESULTS, RESOURCES = CAMPAIGN.pathvars.results, CAMPAIGN.pathvars.resources

JUDGING = {
    "multiblimp": CAMPAIGN.multiblimp,
    "clams": CAMPAIGN.clams,
    LMENTRY: CAMPAIGN.lmentry,
    URBLIMP: CAMPAIGN.urblimp,
    **dict.fromkeys(benchmarks_of(BLIMP), CAMPAIGN.blimp),
}
READ_KINDS = (*UNIMORPH_KINDS, "text")
# Architectures that know words, not pieces of them.
WHOLE_WORDS = ("ngram", "lstm")
# Released corpora are missed only where a model is trained on such.
TRAINED = [CAMPAIGN.training.recipes.get(m.recipe) for m in CATALOGUE.models.values()]
CORPORA = [
    CAMPAIGN.training.corpora[r.corpus] for r in TRAINED if getattr(r, "corpus", None)
]
if any(c.released and c.words == "whitespace" for c in CORPORA):
    READ_KINDS += ("corpus",)
if is_released(CAMPAIGN):
    READ_KINDS += (RELEASED_ITEMS,)
# Tables that differ with the items of MultiBLiMP.
ON_ITEMS = EVALUATION | {"items", "funnel"}
LANGUAGES = list(CATALOGUE.languages)
KNOWN_FACTS = FACTS | EVALUATION_FACTS | CLAMS_FACTS | LMENTRY_FACTS | URBLIMP_FACTS
KNOWN_FACTS |= BLIMP_FACTS
PINS = {row.name: row for rows in CATALOGUE.treebanks.values() for row in rows}
PINS |= CATALOGUE.sources
KNOWN_FACTS |= TRAINED_FACTS


HUB_MODELS = [name for name, row in CATALOGUE.models.items() if row.hf_id]
FREQUENCY_SOURCE = "glotcc/v1.0-language-totals.tsv"
# Results that a paper's authors released: pinned files that one table is made from.
RELEASES = {
    "blimp": (
        "blimp/raw_results/blimp_full_results_summary.csv",
        "blimp/raw_results/summary/human_validation_summary.csv",
        "blimp/raw_results/summary/models_summary.jsonl",
    ),
}
# Single human judgements that they released.
RESPONSES = {"blimp": ("blimp/raw_results/all_outputs/human_responses.csv",)}
# The papers whose numbers are in the repository, whatever the campaign runs.
PAPERS = list(dict.fromkeys(spec.paper for spec in EXHIBITS.values() if spec.published))
PUBLISHED_EXHIBITS = [spec for spec in EXHIBITS.values() if spec.published]


def options(section):
    """Settings of a stage as JSON, for a command's --options."""
    return section.model_dump_json()


def printed_tables(paper):
    """The numbers that a paper prints, table by table."""
    return sorted(map(str, Path(CAMPAIGN.catalogue.published, paper).glob("*.csv")))


def usable(rows):
    """Paths of retrieved files; rows without a checksum only if the campaign insists."""
    return [
        f"{RESOURCES}/sources/{row.name}"
        for row in rows
        if row.sha256 or CAMPAIGN.unpinned == "error"
    ]


def frequency_tables():
    """The table of languages' frequencies, where its source can be had.

    The totals are sums over a published archive and have no address of their own.
    """
    row = CATALOGUE.sources.get(FREQUENCY_SOURCE)
    found = row and usable([row]) and (row.url or CAMPAIGN.mirror)
    return [f"{RESULTS}/frequencies/languages.parquet"] if found else []


def can_have(names):
    """Whether the campaign can have all of some sources, and there are any."""
    rows = [CATALOGUE.sources.get(name) for name in names]
    return bool(rows) and all(row and usable([row]) for row in rows)


def released_tables(paper):
    """The table of a paper's released results, where its sources can be had."""
    found = can_have(RELEASES.get(paper, ()))
    return [f"{RESULTS}/accuracies/released/{paper}.parquet"] if found else []


def ratings_tables(paper):
    """The table of single human judgements, where its source can be had."""
    found = can_have(RESPONSES.get(paper, ()))
    return [f"{RESULTS}/ratings/{paper}.parquet"] if found else []


def people_tables(paper):
    """The table of people's accuracies, where the campaign has asked them."""
    asked = paper == "urblimp" and CAMPAIGN.urblimp.annotations
    return [f"{RESULTS}/accuracies/people/{paper}.parquet"] if asked else []


def available(kind):
    """Pinned sources of a kind, if the campaign's catalogue has them and all can be had."""
    rows = [row for row in CATALOGUE.sources.values() if row.kind == kind]
    had = all(row.sha256 and (row.url or CAMPAIGN.mirror) for row in rows)
    return rows if had else []


def substituted(row):
    """The source that the campaign uses in place of a row, mostly the row itself."""
    return CATALOGUE.sources[CAMPAIGN.substitutes.get(row.name, row.name)]


def models_of(benchmark):
    """Models that a benchmark is run on."""
    rows = CATALOGUE.models.items()
    named = [
        name for name, row in rows if benchmark in parts.benchmarks_of(CAMPAIGN, row)
    ]
    return [name for name in named if covered_by(name, benchmark)]


def engine_of(model):
    """The engine that scores with a model in this campaign."""
    return parts.engine_of(CAMPAIGN, CATALOGUE.models[model])


def dtype_of(model):
    """Number format that a model is run in in this campaign."""
    row = CATALOGUE.models[model]
    engine, asked = engine_of(model), CAMPAIGN.scoring.dtype
    return settle(engine, row.architecture, "dtype", row.dtype, asked)


def judged_by(benchmark, model=None):
    """The methods, with their expressions, that a model decides a benchmark's pairs by.

    Without a model those that exhibits show.
    """
    architecture = CATALOGUE.models[model].architecture if model else ""
    if benchmark == "clams":
        return clams_methods(CAMPAIGN.clams, architecture)
    if benchmark == URBLIMP:
        return CAMPAIGN.urblimp.methods_of(architecture)
    return JUDGING[benchmark].methods


def methods_of(benchmark, model=None):
    """Their names."""
    if benchmark == LMENTRY:
        return [*CAMPAIGN.lmentry.methods]
    return [find_method(named).name for named in judged_by(benchmark, model)]


def ties_of(benchmark, model):
    """What ties count as, by each method of a benchmark."""
    chosen = JUDGING[benchmark]
    return [
        chosen.ties or tie_policy(benchmark, chosen.variant, method)
        for method in methods_of(benchmark, model)
    ]


def scoring_code(model):
    """Digest of the code that scores with a model."""
    return code_of("score", engine_of(model), CATALOGUE.models[model].architecture)


def item_languages(benchmark):
    """Languages that a benchmark has items in."""
    return [*parts.languages_of(CAMPAIGN, CATALOGUE, benchmark)]


def items_tables(benchmark):
    """Items of all languages of a benchmark."""
    return [
        str(parts.items_table(CAMPAIGN, benchmark, lang))
        for lang in item_languages(benchmark)
    ]


def covered_by(model, benchmark):
    """Languages of a benchmark that a model exists for."""
    row = CATALOGUE.models[model]
    return [*parts.covered_by(CAMPAIGN, CATALOGUE, GROUPS, row, benchmark)]


def unshown_tables():
    """Accuracies, or without models items, of benchmarks that no exhibit is called after."""
    papers = {spec.paper for spec in CAMPAIGN_EXHIBITS}
    return [
        path
        for name in CAMPAIGN.benchmarks
        if name in JUDGING and name not in papers
        for path in (
            [f"{RESULTS}/accuracies/{name}.parquet"]
            if models_of(name)
            else items_tables(name)
        )
    ]


def evaluated(benchmark, models):
    """The languages of each of some models, as a command's option."""
    return json.dumps({model: covered_by(model, benchmark) for model in models})


def evaluations(folder, benchmark, models):
    """Tables of some models, one per language."""
    return [
        f"{RESULTS}/{folder}/{benchmark}/{lang}/{model}.parquet"
        for model in models
        for lang in covered_by(model, benchmark)
    ]


def trained_by(kind):
    """Models that the workflow trains by recipes of one kind."""
    recipes = {name for name, r in CAMPAIGN.training.recipes.items() if r.kind == kind}
    return [name for name, row in CATALOGUE.models.items() if row.recipe in recipes]


def part_of(model, lang):
    """The part of a model's scores that a language is in: one job scores a part."""
    return parts.part_of(CAMPAIGN, CATALOGUE.models[model], lang)


def one_of(names):
    """A wildcard constraint that allows just these names."""
    return "|".join(map(re.escape, names)) or "(?!)"


def these(exhibits):
    """A wildcard constraint that allows just these exhibits, each below its paper's name.

    What is a table of one paper may be a figure of another.
    """
    allowed = (f"(?<={spec.paper}/){re.escape(spec.name)}" for spec in exhibits)
    return "|".join(allowed) or "(?!)"


def recipe_of(wildcards):
    """Recipe of the model that a job trains, as JSON; how many there are decides none of them."""
    recipe = CAMPAIGN.training.recipes[CATALOGUE.models[wildcards.model].recipe]
    return recipe.model_dump_json(exclude=HOW_MANY)


def corpus_name(model):
    """Name of the corpora that a model is trained on; None where it is the training text."""
    recipe = CAMPAIGN.training.recipes[CATALOGUE.models[model].recipe]
    return getattr(recipe, "corpus", None)


def scope_of(model, lang):
    """Which checkpoint of a model scores a language."""
    return lang if CATALOGUE.models[model].scope == "monolingual" else "multi"


def languages_of(scope, model):
    """Languages that a checkpoint of a model is for."""
    if scope != "multi":
        return [scope]
    benchmarks = parts.benchmarks_of(CAMPAIGN, CATALOGUE.models[model])
    covered = {lang for name in benchmarks for lang in covered_by(model, name)}
    return [lang for lang in LANGUAGES if lang in covered]


def seed_of(model):
    """Seed of a model that is trained here."""
    seed = CATALOGUE.seeds.get(model)
    return CAMPAIGN.training.seed + (seed.number if seed else 0)


def blocks(benchmark):
    """What one job makes tables of: all languages of a checkpoint, or one.

    For each kind of block: what tells its rules from others, the place of its logs, languages
    (or their wildcard) and models.
    """
    covering, parted = {}, []
    for model in models_of(benchmark):
        if model in PARTED:
            parted.append(model)
        else:
            languages = tuple(covered_by(model, benchmark))
            covering.setdefault(languages, []).append(model)
    whole = [
        (f"_{number}" if number else "", "{model}", languages, models)
        for number, (languages, models) in enumerate(covering.items())
        if languages
    ]
    by_language = ("_of_language", "{lang}/{model}", ["{lang}"], parted)
    return [*whole, by_language] if parted else whole


# Models whose languages are scored by jobs of their own.
PARTED = [
    name
    for name, row in CATALOGUE.models.items()
    if row.scope == "monolingual" or CAMPAIGN.scoring.jobs == "language"
]
# With the benchmark in their paths, rules for a hundred languages are told apart quickly.
BLOCKS = [
    (name, *block)
    for name in CAMPAIGN.benchmarks
    if name in JUDGING and name != LMENTRY
    for block in blocks(name)
]
# Of prompts, which models answer.
ANSWER_BLOCKS = blocks(LMENTRY) if LMENTRY in CAMPAIGN.benchmarks else []
CAMPAIGN_EXHIBITS = parts.exhibits_of(
    CAMPAIGN, CATALOGUE, parts.every_part(CAMPAIGN, CATALOGUE, GROUPS)
)
# Exhibits of MultiBLiMP that are made from treebanks, which released items do without.
REFUSED = [
    spec
    for spec in EXHIBITS.values()
    if is_released(CAMPAIGN)
    and spec.paper == MULTIBLIMP
    and FROM_TREEBANKS & {*spec.needs}
]
