"""Settings of the models that a campaign trains."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from blimpworks.config.base import Fraction, Positive, Strict


class NgramRecipe(Strict):
    """An n-gram model with modified Kneser-Ney smoothing, estimated by KenLM's lmplz."""

    kind: Literal["ngram"]
    order: int = Field(5, ge=1, le=6)
    """Length of the longest n-gram, in words."""


class NetworkRecipe(Strict):
    """What recipes of all small transformers have in common."""

    vocabulary: Positive = 1200
    """Size of the vocabulary of subwords, special tokens included (masked: about)."""
    hidden: Positive = 96
    """Width of the residual stream."""
    layers: Positive = 2
    """Transformer blocks (of an encoder-decoder: in each half)."""
    heads: Positive = 3
    """Attention heads; ``hidden`` must be a multiple of twice as many. Heads of 32 suit vLLM
    on CPUs too, smaller ones don't."""
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


class TransformerRecipe(NetworkRecipe):
    """A small Llama-architecture causal language model, trained from scratch."""

    kind: Literal["transformer"]


class MaskedRecipe(NetworkRecipe):
    """A small BERT-architecture masked language model, trained from scratch."""

    kind: Literal["masked"]
    masked: Fraction = 0.15
    """Share of the tokens that the model has to guess."""


class EncoderDecoderRecipe(NetworkRecipe):
    """A small mT5-architecture encoder-decoder, trained from scratch by span corruption."""

    kind: Literal["encoder-decoder"]
    corrupted: Fraction = 0.15
    """Share of the tokens that the model has to guess."""
    span: float = Field(3.0, ge=1)
    """Mean length of the spans that a sentinel stands for, in tokens."""


class LstmRecipe(Strict):
    """A word-level LSTM language model; defaults as CLAMS trains them (section 4.2)."""

    kind: Literal["lstm"]
    words: Literal["split", "whitespace"] = "split"
    """What a word is: runs of letters and single punctuation marks of running text, or what
    stands between white space, for text that is tokenised already (as that of CLAMS is)."""
    vocabulary: Positive = 50_000
    """Most words, ``<unk>`` and ``<eos>`` included; the rarest give way to ``<unk>``."""
    min_count: Positive = 1
    """A word that occurs less often counts as ``<unk>``. At 1 a small text has no unknown word
    to learn ``<unk>`` from."""
    layers: Positive = 2
    """LSTM layers."""
    hidden: Positive = 800
    """Units of a layer."""
    embedding: Positive = 800
    """Width of a word's embedding (800 in the paper, 200 where the authors' scripts leave the
    default)."""
    dropout: float = Field(0.2, ge=0, lt=1)
    """Of embeddings and of each layer's output."""
    batch: Positive = 20
    """Columns that the training text is cut into."""
    bptt: Positive = 35
    """Words that the loss is propagated back through."""
    order: Literal["sequential", "shuffled"] = "shuffled"
    """Order of the pieces of ``bptt`` words in an epoch. The authors shuffle them (published),
    though the hidden state is carried from each to the next; in sequence it fits (corrected)."""
    learning_rate: float = Field(20.0, gt=0)
    """Of SGD, at first; a quarter after each epoch that does not improve the validation loss."""
    clip: float = Field(0.25, gt=0)
    """Largest norm of the gradient."""
    epochs: Positive = 40
    """Passes over the training text; the best by validation loss is kept."""
    validation: float = Field(0.1, gt=0, le=0.5)
    """Share of the sentences, evenly spaced, that the learning rate is decided on."""
    checkpoint_steps: Positive = 1000
    """A killed training loses at most this many steps."""


Recipe = Annotated[
    NgramRecipe | TransformerRecipe | MaskedRecipe | EncoderDecoderRecipe | LstmRecipe,
    Field(discriminator="kind"),
]


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
