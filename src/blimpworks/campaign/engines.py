"""Which class scores or generates with an engine, and what can be chosen.

Without heavy imports, because the workflow and plans ask.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from blimpworks.campaign.settings.scoring import POLICIES
from blimpworks.errors import UserError

FORMATS = ("float32", "bfloat16", "float16")
SETTINGS = ("dtype", "first_token")
MODEL = "model"
"""Leaves a setting as the catalogue has it for each model."""


class Engine(NamedTuple):
    """An engine with models of one architecture: its class, and what it leaves open."""

    name: str
    architecture: str
    scorer: str
    """Its class below ``blimpworks.scoring``, as ``module:Class``: by name, because each needs
    packages that the others' environments may lack."""
    dtype: tuple[str, ...] = FORMATS
    first_token: tuple[str, ...] = (*POLICIES, "token")

    @property
    def address(self) -> str:
        """Its class as ``module:Class``."""
        return f"blimpworks.scoring.{self.scorer}"

    def obstacle(self, setting: str, requested: str) -> str | None:
        """Why it cannot score with a ``dtype`` or ``first_token``; None if it can."""
        possible = getattr(self, setting)
        if requested.partition(":")[0] in (MODEL, *possible):
            return None
        return (
            f"{setting} is {requested}, but the engine {self.name} scores {self.architecture} "
            f"models with {' or '.join(possible)} only"
        )

    def settle(self, setting: str, own: str, requested: str) -> str:
        """``dtype`` or ``first_token`` (``setting``) that it scores a model with.

        It is the model's ``own`` unless another is ``requested`` for and the engine can follow:
        one switch for all models of a campaign leaves alone those that have no choice.
        """
        return requested if requested.partition(":")[0] in getattr(self, setting) else own


ENGINES = {
    (engine.name, engine.architecture): engine
    for engine in (
        # KenLM computes in float32 and starts each sentence itself.
        Engine("kenlm", "ngram", "kenlm_engine:KenlmEngine", ("float32",), ("bos",)),
        Engine("lstm", "lstm", "lstm_engine:LstmEngine", ("float32",), ("eos", "skip")),
        Engine("transformers", "causal", "transformers_engine:TransformersEngine"),
        # `bos` is the one frame that the tokenizer puts around a sentence.
        Engine(
            "transformers", "encoder-decoder", "seq2seq_engine:Seq2seqEngine", FORMATS, ("bos",)
        ),
        Engine("transformers", "masked", "masked_engine:MaskedEngine", FORMATS, ("bos",)),
        Engine("vllm", "causal", "vllm_engine:VllmEngine"),
    )
}
"""By name of the engine and architecture of a checkpoint."""


def find_engine(name: str, architecture: str) -> Engine:
    """The engine ``name`` for models of an architecture.

    Raises UserError, with the pairs there are, for one that there isn't.
    """
    if (name, architecture) not in ENGINES:
        known = ", ".join(" with ".join(pair) for pair in sorted(ENGINES))
        raise UserError(
            f"engine {name!r} cannot run architecture {architecture!r}; expected one of: {known}."
        )
    return ENGINES[name, architecture]


class Choice(NamedTuple):
    """The class that runs a model, and how."""

    address: str
    """``module:Class``."""
    settings: dict[str, str]
    """Number format and first token."""
    unmet: tuple[str, ...] = ()
    """Requests that the engine cannot meet, and why."""


def choose_engine(name: str, architecture: str, own: object, requested: object) -> Choice:
    """What scores with a model: the engine ``name``, with the model's ``own`` settings or others.

    These, and those that are ``requested`` of all models, are its ``dtype`` and ``first_token``.
    Raises UserError as ``find_engine`` does.
    """
    engine = find_engine(name, architecture)
    pairs = {each: (getattr(own, each), getattr(requested, each)) for each in SETTINGS}
    unmet = (
        f"{reason}; it stays {kept}"
        for each, (kept, other) in pairs.items()
        if (reason := engine.obstacle(each, other))
    )
    settings = {each: engine.settle(each, *pair) for each, pair in pairs.items()}
    return Choice(engine.address, settings, tuple(unmet))


def obstacle(name: str, architecture: str, settings: Mapping[str, str]) -> str | None:
    """Why the engine ``name`` cannot score so, None if it can.

    ``settings`` are settings of scoring: of its ``dtype`` and ``first_token`` each is possible
    or ``model``, where they are given.
    """
    engine = ENGINES.get((name, architecture))
    if engine is None:
        return f"the engine {name} runs no {architecture} models"
    reasons = (engine.obstacle(each, settings.get(each, MODEL)) for each in SETTINGS)
    return next(filter(None, reasons), None)


class Comparison(NamedTuple):
    """What the parity report compares where nobody says otherwise."""

    reference: str
    variants: tuple[str, ...]


COMPARISONS: dict[str, Comparison] = {
    # Full precision, each sentence by itself.
    "causal": Comparison(
        "transformers:float32:sharing-never", ("transformers:bfloat16", "transformers:skip")
    ),
    "encoder-decoder": Comparison(
        "transformers:float32", ("transformers:bfloat16", "transformers:seq2seq.form=target")
    ),
    "lstm": Comparison("lstm", ("lstm:skip",)),
    "masked": Comparison(
        "transformers:float32", ("transformers:bfloat16", "transformers:within-word")
    ),
    "ngram": Comparison("kenlm", ()),
}
"""Comparisons by a model's architecture."""


def comparison_of(
    architecture: str, reference: str | None, variants: Sequence[str] | None
) -> Comparison:
    """A parity report's reference and variants; None for what suits the architecture.

    Raises UserError for an architecture that no engine runs.
    """
    if architecture not in COMPARISONS:
        known = ", ".join(COMPARISONS)
        raise UserError(f"architecture {architecture!r} is unknown; expected one of {known}.")
    usual = COMPARISONS[architecture]
    return Comparison(
        reference or usual.reference, usual.variants if variants is None else tuple(variants)
    )


GENERATION_ENGINES: dict[str, str] = {
    "transformers": "blimpworks.generation.transformers_engine:TransformersGenerator",
    "vllm": "blimpworks.generation.vllm_engine:VllmGenerator",
}
"""Class of each engine that answers, by name, because each needs packages of its own."""
GENERATION_ARCHITECTURE = "causal"
"""The one architecture that answers."""


def can_generate(name: str, architecture: str) -> bool:
    """Whether models of an architecture can answer with the engine ``name``."""
    return architecture == GENERATION_ARCHITECTURE and name in GENERATION_ENGINES


def choose_generation_engine(
    name: str, architecture: str, own: object, requested: object
) -> Choice:
    """What answers with a model; otherwise as ``choose_engine``.

    Raises UserError for an engine or architecture that cannot answer.
    """
    if not can_generate(name, architecture):
        raise UserError(
            f"engine {name!r} with architecture {architecture!r} cannot answer prompts; expected "
            f"architecture {GENERATION_ARCHITECTURE!r} with one of: "
            f"{', '.join(sorted(GENERATION_ENGINES))}."
        )
    choice = choose_engine(name, architecture, own, requested)
    return choice._replace(address=GENERATION_ENGINES[name])
