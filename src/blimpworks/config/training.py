"""Settings of the models that a campaign trains."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from blimpworks.config.base import Positive, Strict


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
    recipes: dict[str, Recipe] = Field(default={})
    """Recipes by name; a model of the catalogue with that ``recipe`` is trained by it."""
