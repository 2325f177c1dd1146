"""The configuration of a campaign: the one typed source of every setting.

Unknown keys are refused, so a typo is an error that names the key. The JSON Schemas in
``workflow/schemas`` are generated from these models (``blimpworks schemas``) and a test
fails when they drift.
"""

import difflib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar, get_args

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from blimpworks.errors import UserError

Variant = Literal["published", "corrected"]
Benchmark = Literal["multiblimp", "clams", "blimp", "lmentry", "urblimp"]
Method = Literal["full_sentence", "per_token", "per_character", "critical_region"]
Phenomenon = Literal["sv#", "svG", "svP", "sp#", "spG", "spP"]
EngineName = Literal["vllm", "transformers", "kenlm", "lstm"]
Positive = Annotated[int, Field(gt=0)]
Options = TypeVar("Options", bound=BaseModel)
Fraction = Annotated[float, Field(gt=0, lt=1)]


class Strict(BaseModel):
    """Base of all settings: immutable, unknown keys refused.

    The docstrings of fields become descriptions in the schemas (see ``schemas.py``; having
    pydantic read them would cost each command a tenth of a second).
    """

    # Models are built when first used: most commands use a few of them.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


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
    published: Path = Path("config/published")
    """One directory per paper, with the numbers that its exhibits print."""


class TreebankOptions(Strict):
    """How treebanks are read."""

    malformed: Literal["error", "set_aside"] = "error"
    """Stop at a malformed sentence, or leave it out and list it in a report."""
    max_words: Positive = 64
    """Longest sentence that pairs are made from, in syntactic words."""


class LexiconOptions(Strict):
    """Frequency filters of the lexicon derived from treebanks (MultiBLiMP, section 3)."""

    form_ratio: float = Field(3.0, ge=1)
    """A form is dropped when the most frequent form of its lemma and features is more than
    this many times as frequent."""
    bundle_ratio: float = Field(10.0, ge=1)
    """A hapax feature bundle is dropped when a bundle at most two tags away is more than
    this many times as frequent for the same form."""


class AgreementOptions(Strict):
    """The binomial tests that label a condition (MultiBLiMP, section 4.2)."""

    null_probability: Fraction = 0.9
    """Probability of agreement under the null hypothesis."""
    alpha: Fraction = 0.1
    """Significance level, halved for the two one-sided tests."""


class SamplingOptions(Strict):
    """Balanced sampling (MultiBLiMP, section 4.4)."""

    per_condition: Positive = 100
    """At most this many pairs of a condition are kept."""
    minimum: Positive = 5
    """A phenomenon with fewer pairs than this in a language yields no items."""
    seed: int = 0
    """Seed of the draw; each condition draws independently of all others."""


class Decisions(Strict):
    """Where the authors' code departs from the paper's text (or from what was meant).

    Each decision follows ``variant`` of the campaign unless it is set here.
    """

    finiteness: Variant | None = None
    """published: any verb form qualifies; corrected: VerbForm=Fin only (section 4.1)."""
    first_word_auxiliary: Variant | None = None
    """published: when the auxiliary is the first word, the main verb is replaced by the
    auxiliary's other form; corrected: the auxiliary is."""
    attractor_window: Variant | None = None
    """published: the word right before the later of subject and verb is never an
    attractor; corrected: it is looked at."""
    copied_features: Variant | None = None
    """published: features copied from a subject stay on the verb for its next subject;
    corrected: each subject meets the verb as annotated."""
    agreement_evidence: Variant | None = None
    """published: values come from the lexicons alone, and those of participles from the
    treebank lexicon only where UniMorph has none; corrected: from the treebank's
    annotation first, as section 4.2 says, then from both lexicons."""
    contractions: Variant | None = None
    """published: the words of a contraction stand apart in the sentence ("de le");
    corrected: as the treebank's text has them ("du"), and none of them is replaced."""
    verb_types: Variant | None = None
    """published: agreement is counted over verbs and auxiliaries together; corrected: for
    each apart, as section 4.2 says."""
    bonferroni: Variant | None = None
    """published: alpha is halved, whatever the number of tests; corrected: it is divided by
    the number of tests that the language has of the phenomenon (section 4.2)."""
    labels: Variant | None = None
    """published: a value that never agrees is undecided however often it occurs, and one
    that agrees in more than nine of ten of at least six cases is near-universal without
    significance; corrected: the tests alone decide (section 4.2)."""
    marked_sentences: Variant | None = None
    """published: sentences with a corrected or code-switched word (MISC) are dropped too;
    corrected: only those that section 4.1 names."""
    rare_readings: Variant | None = None
    """published: hapax readings near a far more frequent one of the form are dropped from
    the treebank lexicon; corrected: only rare forms are, as section 3.2 says."""
    first_entry: Variant | None = None
    """published: the treebank lexicon's first entry is lost when it is read; corrected: it
    stays."""
    missing_words: Variant | None = None
    """published: lemmas and forms such as "nan" and "null" are lost, read as missing cells;
    corrected: they are words."""
    capitals: Variant | None = None
    """published: a form in place of a capitalised one is lower-cased after its first letter
    ("McDonald" would be "Mcdonald"); corrected: the rest keeps its case."""
    scripts: Variant | None = None
    """published: diacritics, scripts and alternative forms are levelled for the languages
    that the authors' runs reached; corrected: for those that appendix A.1 names."""
    lost_statistics: Variant | None = None
    """published: no condition is dropped in the languages whose released numbers show that
    their agreement statistics were not applied (``untested`` in the table of languages);
    corrected: their tests decide too."""
    balance: Variant | None = None
    """published: the draw also balances the sentence and whether it has attractors;
    corrected: only the five traits of section 4.4."""
    memberships: Variant | None = None
    """published: a pair of several values ("3 -> 1|2") can be drawn in each of its
    conditions, and then stands twice; corrected: it belongs to the first kept alone."""


class ExhibitOptions(Strict):
    """What MultiBLiMP's exhibits show where that is open."""

    table1_languages: tuple[str, ...] = ("nld", "tur")
    """Languages of Table 1; a campaign without them shows two of its own that inflect."""
    table1_phenomenon: str = Field("sv#", pattern="^s[vp][#GP]$")
    """Phenomenon of Table 1."""


class MultiblimpOptions(Strict):
    """Generation of MultiBLiMP pairs."""

    variant: Variant = "published"
    """Behaviour of the authors' code, or of the paper's text where the two differ."""
    decisions: Decisions = Decisions()
    phenomena: Annotated[tuple[Phenomenon, ...], Field(min_length=1)] = get_args(Phenomenon)
    """Agreement of a verb (sv) or participle (sp) with its subject in number (#), gender (G)
    or person (P)."""
    lexicon: LexiconOptions = LexiconOptions()
    agreement: AgreementOptions = AgreementOptions()
    sampling: SamplingOptions = SamplingOptions()
    methods: Annotated[tuple[Method, ...], Field(min_length=1)] = ("full_sentence",)
    """How a pair is decided; the first is the one that exhibits show (section 6)."""
    ties: Literal["wrong", "right", "half"] = "wrong"
    """What equal values count as (the authors' comparison is strict)."""
    exhibits: ExhibitOptions = ExhibitOptions()


class NgramRecipe(Strict):
    """An n-gram model with modified Kneser-Ney smoothing, estimated by KenLM's lmplz."""

    kind: Literal["ngram"]
    order: int = Field(5, ge=1, le=6)
    """Length of the longest n-gram, in words."""


class TransformerRecipe(Strict):
    """A small Llama-architecture causal language model, trained from scratch."""

    kind: Literal["transformer"]
    vocabulary: Positive = 1200
    """Size of the byte-level BPE vocabulary, special tokens included."""
    hidden: Positive = 96
    """Width of the residual stream."""
    layers: Positive = 2
    """Transformer blocks."""
    heads: Positive = 4
    """Attention heads; ``hidden`` must be a multiple of twice as many."""
    context: Positive = 256
    """Longest sequence, in tokens; longer training sentences are cut."""
    epochs: Positive = 12
    """Passes over the training text, unless ``max_steps`` ends training first."""
    max_steps: Positive = 1500
    """Upper bound on optimiser steps."""
    batch_tokens: Positive = 1024
    """Tokens in a training batch, padding included."""
    learning_rate: float = Field(3e-3, gt=0)
    """Peak learning rate of AdamW (linear warm-up, cosine decay)."""
    checkpoint_steps: Positive = 200
    """A killed training loses at most this many steps."""

    @model_validator(mode="after")
    def _heads_divide_width(self) -> Self:
        if self.hidden % (2 * self.heads):
            raise ValueError(
                f"hidden is {self.hidden} and heads is {self.heads}; hidden must be a multiple "
                "of twice heads (rotary positions need heads of even width)"
            )
        return self


Recipe = Annotated[NgramRecipe | TransformerRecipe, Field(discriminator="kind")]


class TrainingOptions(Strict):
    """Training of the campaign's own models."""

    treebank_text: bool = True
    """Train on treebank sentences too (never on those that pairs are made from)."""
    max_sentences: Positive = 40_000
    """Training text is cut after this many sentences, drawn evenly from all sources."""
    seed: int = 0
    """Seed of initialisation and batch order."""
    recipes: dict[str, Recipe] = {}
    """Recipes by name; a model of the catalogue with that ``recipe`` is trained by it."""


class ScoringOptions(Strict):
    """How sentences become log-probabilities."""

    shard: int = Field(1000, ge=1, le=1000)
    """Sentences per shard; a killed job loses at most one shard."""
    batch_tokens: Positive = 8192
    """Tokens per forward pass, padding included."""
    near_tie: float = Field(1e-3, ge=0)
    """A margin smaller than this, in nats, is counted as a near tie."""


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
    """What to do with a catalogue row that has no checksum: stop when it is needed, or do
    without the file."""
    substitutes: dict[str, str] = {}
    """Sources to use in place of others, by name: {wanted: used}."""
    benchmarks: tuple[Benchmark, ...] = ("multiblimp",)
    """Benchmarks to build and score."""
    languages: tuple[str, ...] | Literal["all"] = "all"
    """ISO 639-3 codes of the catalogue, or all of it."""
    models: tuple[str, ...] | Literal["all"] = "all"
    """Names of models of the catalogue, all that the papers evaluate, or none: then the data
    alone are built."""
    engines: dict[EngineName, EngineName] = {}
    """Scoring engines to use in place of others: {of the catalogue: used}."""
    treebanks: TreebankOptions = TreebankOptions()
    multiblimp: MultiblimpOptions = MultiblimpOptions()
    training: TrainingOptions = TrainingOptions()
    scoring: ScoringOptions = ScoringOptions()


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
    close = difflib.get_close_matches(key.rpartition(".")[2], _known_keys(), n=1)
    hint = f"did you mean {close[0]!r}?" if close else "remove it or see workflow/schemas."
    return f"key {key!r} is not a setting; {hint}"


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
            what = f"key {key!r} is" if key else "the whole is"
            lines.append(f"{source}: {what} {first['input']!r}: {expected}.")
    return "\n".join(lines)


def check_campaign(settings: dict[str, Any], source: str) -> Campaign:
    """Validate ``settings`` read from ``source`` (a file's name, for the message).

    Raises UserError with one line per problem: file, key, what was found, what is expected.
    """
    try:
        return Campaign.model_validate(settings)
    except ValidationError as error:
        raise UserError(complaints(error.errors(), settings, source)) from error


def load_campaign(path: Path) -> Campaign:
    """Read and validate a campaign file. Raises UserError when it is missing or wrong."""
    try:
        settings = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UserError(f"{path} does not exist; expected a campaign file.") from error
    except yaml.YAMLError as error:
        raise UserError(f"{path} is not valid YAML: {' '.join(str(error).split())}") from error
    if not isinstance(settings, dict):
        raise UserError(f"{path} holds no mapping; expected the settings of a campaign.")
    return check_campaign(settings, str(path))


def parse_options(kind: type[Options], text: str) -> Options:
    """Options passed to a command as JSON. Raises UserError when they don't fit ``kind``."""
    try:
        settings = json.loads(text)
    except ValueError as error:
        raise UserError(f"{kind.__name__}: {text!r} is not JSON ({error}); correct it.") from error
    try:
        return kind.model_validate(settings)
    except ValidationError as error:
        raise UserError(complaints(error.errors(), settings, kind.__name__)) from error
