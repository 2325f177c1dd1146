"""Engines: the classes that score or generate, and their settings.

Without heavy imports, because the workflow and plans use it.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from blimpworks.campaign.settings.scoring import POLICIES
from blimpworks.errors import UserError

FORMATS = ("float32", "bfloat16", "float16")
SETTINGS = ("dtype", "first_token")
MODEL = "model"
"""Keeps a setting as the catalogue has it for each model."""


def _head(setting: str) -> str:
    # ``token:<s>`` is ``token``; other settings are unchanged.
    return setting.partition(":")[0]


class Engine(NamedTuple):
    """An engine for models of one architecture: its class and possible settings."""

    name: str
    architecture: str
    scorer: str
    """``module:Class`` below ``blimpworks.scoring``, not imported: its packages may be missing."""
    dtype: tuple[str, ...] = FORMATS
    first_token: tuple[str, ...] = (*POLICIES, "token")

    @property
    def address(self) -> str:
        """Its class as ``module:Class``."""
        return f"blimpworks.scoring.{self.scorer}"

    def obstacle(self, setting: str, requested: str) -> str | None:
        """Return why it cannot score with a ``dtype`` or ``first_token``; None if it can."""
        possible = getattr(self, setting)
        if _head(requested) in (MODEL, *possible):
            return None
        return (
            f"{setting} is {requested}, but the engine {self.name} scores {self.architecture} "
            f"models with {' or '.join(possible)} only"
        )

    def settle(self, setting: str, own: str, requested: str) -> str:
        """Return the ``dtype`` or ``first_token`` (``setting``) that it scores a model with.

        It is the model's ``own`` unless the engine can use the ``requested`` one. So a campaign can
        set bfloat16 for all models: an engine that has float32 alone keeps it.
        """
        return requested if _head(requested) in getattr(self, setting) else own


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
"""Engines by name and architecture."""


def find_engine(name: str, architecture: str) -> Engine:
    """Return the engine ``name`` for an architecture. Raises UserError for an unknown pair."""
    if (name, architecture) not in ENGINES:
        engine_names = ", ".join(" with ".join(pair) for pair in sorted(ENGINES))
        raise UserError(
            f"engine {name!r} cannot run architecture {architecture!r}; expected one of: "
            f"{engine_names}."
        )
    return ENGINES[name, architecture]


class Choice(NamedTuple):
    """The class that runs a model, and its settings."""

    address: str
    """``module:Class``."""
    settings: dict[str, str]
    """Number format and first token."""
    unmet: tuple[str, ...] = ()
    """Requests that the engine cannot meet, with reasons."""


def choose_engine(name: str, architecture: str, own: object, requested: object) -> Choice:
    """Choose class and settings for scoring with a model.

    ``own`` (the model's) and ``requested`` (the campaign's) have ``dtype`` and ``first_token``.
    Raises UserError as ``find_engine``.
    """
    engine = find_engine(name, architecture)
    pairs = {setting: (getattr(own, setting), getattr(requested, setting)) for setting in SETTINGS}
    unmet = (
        f"{reason}; it stays {kept}"
        for setting, (kept, requested_value) in pairs.items()
        if (reason := engine.obstacle(setting, requested_value))
    )
    settings = {setting: engine.settle(setting, *pair) for setting, pair in pairs.items()}
    return Choice(engine.address, settings, tuple(unmet))


def obstacle(name: str, architecture: str, settings: Mapping[str, str]) -> str | None:
    """Return why the engine ``name`` cannot score with ``settings``, None if it can."""
    engine = ENGINES.get((name, architecture))
    if engine is None:
        return f"the engine {name} runs no {architecture} models"
    reasons = (engine.obstacle(setting, settings.get(setting, MODEL)) for setting in SETTINGS)
    return next(filter(None, reasons), None)


class Comparison(NamedTuple):
    """Reference and variants of a parity report."""

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
"""Default comparisons, by architecture."""


def comparison_of(
    architecture: str, reference: str | None, variants: Sequence[str] | None
) -> Comparison:
    """Return a parity report's reference and variants; None stands for the default.

    Raises UserError for an unknown architecture.
    """
    if architecture not in COMPARISONS:
        architectures = ", ".join(COMPARISONS)
        raise UserError(
            f"architecture {architecture!r} is unknown; expected one of {architectures}."
        )
    usual = COMPARISONS[architecture]
    return Comparison(
        reference or usual.reference, usual.variants if variants is None else tuple(variants)
    )


GENERATION_ENGINES: dict[str, str] = {
    "transformers": "blimpworks.generation.transformers_engine:TransformersGenerator",
    "vllm": "blimpworks.generation.vllm_engine:VllmGenerator",
}
"""Class of each engine for generation, not imported: its packages may be missing."""
GENERATION_ARCHITECTURE = "causal"
"""The only architecture with generation."""


def can_generate(name: str, architecture: str) -> bool:
    """Return whether models of an architecture can answer with the engine ``name``."""
    return architecture == GENERATION_ARCHITECTURE and name in GENERATION_ENGINES


def choose_generation_engine(
    name: str, architecture: str, own: object, requested: object
) -> Choice:
    """Choose class and settings for answering with a model, as ``choose_engine``.

    Raises UserError for an engine or architecture without generation.
    """
    if not can_generate(name, architecture):
        raise UserError(
            f"engine {name!r} with architecture {architecture!r} cannot answer prompts; expected "
            f"architecture {GENERATION_ARCHITECTURE!r} with one of: "
            f"{', '.join(sorted(GENERATION_ENGINES))}."
        )
    choice = choose_engine(name, architecture, own, requested)
    return choice._replace(address=GENERATION_ENGINES[name])
