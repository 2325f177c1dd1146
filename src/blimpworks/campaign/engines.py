"""Which class scores or generates with an engine, and what can be chosen.

Without heavy imports, because the workflow and plans ask.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from blimpworks.errors import UserError

# Name of an engine and architecture of a checkpoint -> class, by name, because each needs
# packages that the others' environments may lack.
ENGINES: dict[tuple[str, str], str] = {
    ("kenlm", "ngram"): "blimpworks.scoring.kenlm_engine:KenlmEngine",
    ("lstm", "lstm"): "blimpworks.scoring.lstm_engine:LstmEngine",
    ("transformers", "causal"): "blimpworks.scoring.transformers_engine:TransformersEngine",
    ("transformers", "encoder-decoder"): "blimpworks.scoring.seq2seq_engine:Seq2seqEngine",
    ("transformers", "masked"): "blimpworks.scoring.masked_engine:MaskedEngine",
    ("vllm", "causal"): "blimpworks.scoring.vllm_engine:VllmEngine",
}


def find_engine(name: str, architecture: str) -> str:
    """Class of the engine ``name`` for an architecture, as ``module:Class``.

    Raises UserError, with the pairs there are, for one that there isn't.
    """
    if (name, architecture) not in ENGINES:
        known = ", ".join(" with ".join(pair) for pair in sorted(ENGINES))
        raise UserError(
            f"engine {name!r} cannot run architecture {architecture!r}; expected one of: {known}."
        )
    return ENGINES[name, architecture]


class Choices(NamedTuple):
    """What an engine leaves open for models of an architecture."""

    dtype: tuple[str, ...]
    first_token: tuple[str, ...]


FORMATS = ("float32", "bfloat16", "float16")
CHOICES: dict[tuple[str, str], Choices] = {
    # KenLM computes in float32 and starts each sentence itself.
    ("kenlm", "ngram"): Choices(("float32",), ("bos",)),
    ("lstm", "lstm"): Choices(("float32",), ("eos", "skip")),
    ("transformers", "causal"): Choices(FORMATS, ("bos", "eos", "skip")),
    # `bos` is the one frame that the tokenizer puts around a sentence.
    ("transformers", "encoder-decoder"): Choices(FORMATS, ("bos",)),
    ("transformers", "masked"): Choices(FORMATS, ("bos",)),
    ("vllm", "causal"): Choices(FORMATS, ("bos", "eos", "skip")),
}
MODEL = "model"
"""Leaves a setting as the catalogue has it for each model."""


def obstacle(name: str, architecture: str, settings: Mapping[str, str]) -> str | None:
    """Why the engine ``name`` cannot score so, None if it can.

    ``settings`` are settings of scoring: of its ``dtype`` and ``first_token`` each is possible
    or ``model``, where they are given.
    """
    if (name, architecture) not in ENGINES:
        return f"the engine {name} runs no {architecture} models"
    for setting, possible in CHOICES[name, architecture]._asdict().items():
        if settings.get(setting, MODEL) not in (MODEL, *possible):
            return (
                f"{setting} is {settings[setting]}, but the engine {name} scores {architecture} "
                f"models with {' or '.join(possible)} only"
            )
    return None


def settle(name: str, architecture: str, setting: str, own: str, requested: str) -> str:
    """``dtype`` or ``first_token`` (``setting``) that the engine ``name`` scores a model with.

    It is the model's ``own`` unless another is ``requested`` for and the engine can follow: one
    switch for all models of a campaign leaves alone those that have no choice.
    """
    follows = requested != MODEL and obstacle(name, architecture, {setting: requested}) is None
    return requested if follows else own


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


def find_generation_engine(name: str, architecture: str) -> str:
    """Class that answers with the engine ``name``, as ``module:Class``.

    Raises UserError for an engine or architecture that cannot answer.
    """
    if not can_generate(name, architecture):
        raise UserError(
            f"engine {name!r} with architecture {architecture!r} cannot answer prompts; expected "
            f"architecture {GENERATION_ARCHITECTURE!r} with one of: "
            f"{', '.join(sorted(GENERATION_ENGINES))}."
        )
    return GENERATION_ENGINES[name]
