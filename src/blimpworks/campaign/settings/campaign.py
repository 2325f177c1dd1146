"""The configuration of a campaign: the one typed source of every setting.

Unknown keys are refused, so a typo is an error that names the key. The JSON Schemas in
``workflow/schemas`` are generated from these models (``blimpworks schemas``) and a test
fails when they drift.
"""

import difflib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

import yaml
from pydantic import BaseModel, Field, ValidationError
from pydantic_core import ErrorDetails

from blimpworks.campaign.methods import find_method
from blimpworks.campaign.settings.base import Method, Positive, Strict, TiePolicy, Variant
from blimpworks.campaign.settings.scoring import (
    Dtype,
    EngineName,
    MaskedOptions,
    NearTies,
    ParityOptions,
    ScoringOptions,
    Seq2seqOptions,
    VllmOptions,
)
from blimpworks.campaign.settings.training import (
    HOW_MANY,
    CorpusOptions,
    CorpusShares,
    EncoderDecoderRecipe,
    InstructRecipe,
    LstmRecipe,
    MaskedRecipe,
    NetworkRecipe,
    NgramRecipe,
    Recipe,
    TrainingOptions,
    TransformerRecipe,
    follows_instructions,
)
from blimpworks.errors import UserError
from blimpworks.papers.blimp.settings import BlimpOptions
from blimpworks.papers.clams.settings import ClamsDecisions, ClamsOptions
from blimpworks.papers.lmentry.settings import (
    AnsweringOptions,
    AnswerOptions,
    LmentryOptions,
    SheetOptions,
)
from blimpworks.papers.multiblimp.settings import (
    AgreementOptions,
    Decisions,
    ExhibitOptions,
    LexiconOptions,
    MultiblimpOptions,
    SamplingOptions,
)
from blimpworks.papers.urblimp.settings import UrblimpOptions, ValidationOptions

__all__ = [
    "HOW_MANY",
    "AgreementOptions",
    "AnswerOptions",
    "AnsweringOptions",
    "Benchmark",
    "BlimpOptions",
    "Campaign",
    "ClamsDecisions",
    "ClamsOptions",
    "CorpusOptions",
    "CorpusShares",
    "Decisions",
    "Dtype",
    "EncoderDecoderRecipe",
    "EngineName",
    "ExhibitOptions",
    "InstructRecipe",
    "LexiconOptions",
    "LmentryOptions",
    "LstmRecipe",
    "MaskedOptions",
    "MaskedRecipe",
    "Method",
    "MultiblimpOptions",
    "NearTies",
    "NetworkRecipe",
    "NgramRecipe",
    "ParityOptions",
    "PathVars",
    "Recipe",
    "ReportOptions",
    "SamplingOptions",
    "ScoringOptions",
    "Seq2seqOptions",
    "SheetOptions",
    "Strict",
    "TiePolicy",
    "TrainingOptions",
    "TransformerRecipe",
    "TreebankOptions",
    "UrblimpOptions",
    "ValidationOptions",
    "Variant",
    "VllmOptions",
    "check_campaign",
    "complaints",
    "follows_instructions",
    "load_campaign",
    "parse_options",
    "parse_rows",
    "parse_yaml",
    "read_settings",
]

Benchmark = Literal["multiblimp", "clams", "blimp", "blimp_generated", "lmentry", "urblimp"]
Options = TypeVar("Options", bound=BaseModel)


class PathVars(Strict):
    """Where the campaign's files go (Snakemake's path variables of the same names)."""

    results: str = "results"
    """Products: items, scores, judgements, exhibits."""
    resources: str = "resources"
    """Retrieved and prepared inputs: treebanks, lexicons, models, training text."""
    logs: str = "logs"
    """One log per job."""
    benchmarks: str = "logs/benchmarks"
    """Wall time and memory of each job, as Snakemake measures them."""


class CatalogueFiles(Strict):
    """The tables that say what can be used; a campaign selects from them."""

    languages: Path = Path("config/languages.tsv")
    """One row per language."""
    treebanks: Path = Path("config/treebanks.tsv")
    """One row per treebank file, pinned."""
    sources: Path = Path("config/sources.tsv")
    """One row per other file, pinned."""
    models: Path = Path("config/models.tsv")
    """One row per language model."""
    groups: Path = Path("config/language_groups.tsv")
    """One row per language of a group that exhibits report on."""
    frequency_codes: Path = Path("config/frequency_codes.tsv")
    """One row per language that the frequency table knows under other codes."""
    grammars: Path = Path("config/grammars")
    """One directory per language, with attribute-varying grammars of our own."""
    blimp: Path = Path("config/blimp")
    """Lexicon and paradigms that BLiMP's pairs are generated from."""
    lmentry: Path = Path("config/lmentry")
    """Declarations of Multi-LMentry's tasks, and its language packs."""
    urblimp: Path = Path("config/urblimp")
    """One directory per language, with its pack and the rules of UrBLiMP's paradigms."""
    published: Path = Path("config/published")
    """One directory per paper, with the numbers that its exhibits print."""


class TreebankOptions(Strict):
    """How treebanks are read."""

    reader: Literal["columnar", "conllu"] = "columnar"
    """Whole files at once, or each sentence by the conllu package: same tables, much slower."""
    malformed: Literal["error", "set_aside"] = "error"
    """Stop at a malformed sentence, or leave it out and list it in a report."""
    max_words: Positive = 64
    """Longest sentence that pairs are made from, in syntactic words."""


class ReportOptions(Strict):
    """The reproduction report."""

    corrected: Path | None = None
    """Results tree of a campaign like this one in the variant "corrected", shown beside it."""


class Campaign(Strict):
    """A campaign: which benchmarks, languages and models, and how."""

    campaign: str = Field(pattern=r"^[a-z][a-z0-9_-]*$")
    """Name of the campaign."""
    description: str = ""
    """One sentence for people."""
    pathvars: PathVars = PathVars()
    catalogue: CatalogueFiles = CatalogueFiles()
    mirror: Path | None = None
    """Directory with copies of the pinned files (plain or .xz), read before the network."""
    unpinned: Literal["error", "skip"] = "error"
    """Stop when a catalogue row without a checksum is needed, or do without its file."""
    substitutes: dict[str, str] = Field(default={})
    """Sources to use in place of others, by name: {wanted: used}."""
    benchmarks: tuple[Benchmark, ...] = ("multiblimp",)
    """Benchmarks to build and score; ``blimp_generated`` has the paradigms of ``blimp``, with
    pairs that are generated here."""
    languages: tuple[str, ...] | Literal["all"] = "all"
    """ISO 639-3 codes of the catalogue, or all of it."""
    models: tuple[str, ...] | Literal["all"] = "all"
    """Names of models of the catalogue, all that the papers evaluate, or none: then the data
    alone are built."""
    engines: dict[EngineName, EngineName] = Field(default={})
    """Scoring engines to use in place of others: {of the catalogue: used}."""
    treebanks: TreebankOptions = TreebankOptions()
    multiblimp: MultiblimpOptions = MultiblimpOptions()
    clams: ClamsOptions = ClamsOptions()
    blimp: BlimpOptions = BlimpOptions()
    lmentry: LmentryOptions = LmentryOptions()
    urblimp: UrblimpOptions = UrblimpOptions()
    training: TrainingOptions = TrainingOptions()
    scoring: ScoringOptions = ScoringOptions()
    parity: ParityOptions = ParityOptions()
    report: ReportOptions = ReportOptions()
    site: Path | None = None
    """Description of the cluster that jobs run on (docs/cluster.md); None for
    ``config/site.yaml``, if there is one. It decides nothing but what jobs ask for."""


LONGEST = 300
"""Characters of a value that a message repeats; of longer ones it has the type."""


def _known_keys() -> list[str]:
    return [key for model in Strict.__subclasses__() for key in model.model_fields]


def _inside(settings: Any, part: int | str) -> bool:
    """Whether ``part`` is a key or an index of ``settings``."""
    if isinstance(settings, list):
        return isinstance(part, int) and part < len(settings)
    return isinstance(settings, dict) and part in settings


def _key(error: ErrorDetails, settings: Any) -> str:
    """The key that an error is about, without the names pydantic adds for alternatives."""
    parts: list[str] = []
    for part in error["loc"]:
        if _inside(settings, part):
            settings = settings[part]
            parts.append(str(part))
    if error["type"] == "missing":
        parts.append(str(error["loc"][-1]))
    return ".".join(parts)


def _expected(error: ErrorDetails) -> str:
    """What pydantic expected, in the words of the file."""
    text = error["msg"][:1].lower() + error["msg"][1:]
    return text.replace("value error, ", "").replace("valid tuple", "list")


def _unknown(key: str) -> str:
    *above, last = key.split(".")
    known = _known_keys()
    close = [k for k in difflib.get_close_matches(last, known, n=3) if k not in above]
    hint = f"did you mean {close[0]!r}?" if close else "remove it or see workflow/schemas."
    if last in known:
        hint = "it is one of another section: move it there, see workflow/schemas."
    return f"key {key!r} is not a setting; {hint}"


def _shown(key: str, value: Any) -> str:
    """Key and value as a message has them: no long value, and nothing of a long whole."""
    text = repr(value)
    if not key:
        return f"the whole is {text}: " if len(text) <= LONGEST else ""
    return f"key {key!r} is {text if len(text) <= LONGEST else f'a {type(value).__name__}'}: "


def complaints(errors: Sequence[ErrorDetails], settings: Any, source: str) -> str:
    """One sentence per key that is wrong: where it stands, what it is, what is expected."""
    told: dict[str, list[ErrorDetails]] = {}
    for error in errors:
        told.setdefault(_key(error, settings), []).append(error)
    lines = []
    for key, found in told.items():
        first, expected = found[0], ", or ".join(dict.fromkeys(map(_expected, found)))
        if first["type"] == "extra_forbidden":
            lines.append(f"{source}: {_unknown(key)}")
        elif first["type"] == "missing":
            lines.append(f"{source}: key {key!r} is missing; add it.")
        else:
            lines.append(f"{source}: {_shown(key, first['input'])}{expected}.")
    return "\n".join(lines)


def check_campaign(settings: dict[str, Any], source: str) -> Campaign:
    """Validate ``settings`` read from ``source`` (a file's name, for the message).

    Raises UserError with one line per problem: file, key, what was found, what is expected.
    """
    try:
        campaign = Campaign.model_validate(settings)
    except ValidationError as error:
        raise UserError(complaints(error.errors(), settings, source)) from error
    methods: dict[str, Sequence[str]] = {
        "multiblimp.methods": campaign.multiblimp.methods,
        "clams.methods": campaign.clams.methods or (),
        "clams.masked_methods": campaign.clams.masked_methods,
        "blimp.methods": campaign.blimp.methods,
        "urblimp.methods": campaign.urblimp.methods or (),
    }
    for key, named in methods.items():
        try:
            [find_method(name) for name in named]
        except UserError as error:
            raise UserError(f"{source}: key {key!r}: {error}") from error
    _check_corpora(campaign.training, source)
    _check_practice(campaign, source)
    for lang in campaign.clams.grammars:
        if lang not in campaign.languages and campaign.languages != "all":
            raise UserError(
                f"{source}: key 'clams.grammars' names {lang!r}, which is not among 'languages' "
                f"({', '.join(campaign.languages)}); add it there, or take it out here."
            )
    return campaign


def _check_corpora(training: TrainingOptions, source: str) -> None:
    """Each recipe's corpus must be among the campaign's."""
    for name, recipe in training.recipes.items():
        corpus = getattr(recipe, "corpus", None)
        if corpus is not None and corpus not in training.corpora:
            raise UserError(
                f"{source}: key 'training.recipes.{name}.corpus' is {corpus!r}, which "
                f"training.corpora lacks (it has: {', '.join(training.corpora)}); add it there, "
                "or correct the name."
            )


def _check_practice(campaign: Campaign, source: str) -> None:
    """Dialogues must be about other arguments than the benchmark's."""
    for name, recipe in campaign.training.recipes.items():
        if getattr(recipe, "practice_seed", None) == campaign.lmentry.seed:
            raise UserError(
                f"{source}: key 'training.recipes.{name}.practice_seed' is {campaign.lmentry.seed},"
                " as is lmentry.seed, so that a model would be trained on what it is asked; choose "
                "another number."
            )


def read_settings(path: Path, what: str) -> dict[str, Any]:
    """The mapping in a YAML file. Raises UserError when there is none; it expected ``what``."""
    try:
        settings = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UserError(f"{path} does not exist; expected a {what}.") from error
    except UnicodeDecodeError as error:
        raise UserError(
            f"{path} is not in UTF-8 ({error.reason} at byte {error.start}); expected a {what} "
            "in UTF-8: save it so."
        ) from error
    except yaml.YAMLError as error:
        raise UserError(f"{path} is not valid YAML: {' '.join(str(error).split())}") from error
    if not isinstance(settings, dict):
        raise UserError(f"{path} holds no mapping; expected a {what}.")
    return settings


def parse_yaml(kind: type[Options], path: Path, what: str, context: object = None) -> Options:
    """What a YAML file holds, as ``kind``, whose validators may read a ``context``.

    Raises UserError, by file and key, where it is wrong.
    """
    settings = read_settings(path, what)
    try:
        return kind.model_validate(settings, context=context)
    except ValidationError as error:
        raise UserError(complaints(error.errors(), settings, str(path))) from error


def load_campaign(path: Path) -> Campaign:
    """Read and validate a campaign file. Raises UserError when it is missing or wrong."""
    return check_campaign(read_settings(path, "campaign file"), str(path))


def _json(kind: type[BaseModel], text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise UserError(f"{kind.__name__}: {text!r} is not JSON ({error}); correct it.") from error


def parse_options(kind: type[Options], text: str) -> Options:
    """Options passed to a command as JSON. Raises UserError when they don't fit ``kind``."""
    settings = _json(kind, text)
    try:
        return kind.model_validate(settings)
    except ValidationError as error:
        raise UserError(complaints(error.errors(), settings, kind.__name__)) from error


def parse_rows(kind: type[Options], text: str) -> list[Options]:
    """A JSON list passed to a command. Raises UserError when a member does not fit ``kind``."""
    rows = _json(kind, text)
    if not isinstance(rows, list):
        raise UserError(f"{kind.__name__}: {text!r} is no list; expected [{{…}}, …].")
    return [parse_options(kind, json.dumps(row)) for row in rows]
