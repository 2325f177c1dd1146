"""Declare the settings of the models that a campaign trains (``TrainingOptions``)."""

import math
import re
from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, field_validator, model_validator

from blimpworks.campaign.settings.base import Fraction, Positive, distinct
from blimpworks.strict import Strict

CORPUS_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
"""Pattern of names of corpora, which are also names of directories."""
DEFAULT_CORPUS = "default"
"""Name of the corpora that every campaign has."""

HOW_MANY = {"seeds", "tokens"}
"""Settings of recipes that decide how many models are trained, but nothing about a single model."""
Seeds = Annotated[int, Field(ge=0, le=1000)]
Dimension = Annotated[int, Field(gt=0, le=10**6)]
"""Dimension of a network, with a bound that finds typing mistakes."""
Vocabulary = Annotated[int, Field(gt=0, le=10**7)]


Sizes = Annotated[tuple[Positive, ...], AfterValidator(distinct)]


class CorpusShares(Strict):
    """Shares of a corpus's tokens."""

    train: Fraction = 0.8
    valid: Fraction = 0.1
    """Share that decides the learning rate."""
    test: Fraction = 0.1
    """Share for the perplexity of the finished model."""

    @model_validator(mode="after")
    def _check_sum(self) -> Self:
        total = self.train + self.valid + self.test
        if abs(total - 1) > 1e-9:
            raise ValueError(f"train, valid and test add up to {total:g}; they must add up to 1")
        return self


class CorpusOptions(Strict):
    """Corpora of LSTMs, and of transformers whose recipe names them.

    There is one for each language, and their concatenation for multilingual models. Defaults are as
    in Mueller et al. (2020), section 5.1.
    """

    words: Literal["split", "whitespace"] = "split"
    """Words of a text. split: runs of letters, and single punctuation marks, in running text.
    whitespace: strings between white space in tokenised text (released evaluation sets), and
    tokens of treebanks."""
    released: bool = True
    """Use the authors' corpora for languages that have sources of the kind ``corpus``. The corpora
    are tokenised, so this has an effect only with ``words: whitespace``."""
    segmented: tuple[str, ...] = ("heb",)
    """Languages with treebank words split into syntactic words (``words: whitespace``). The
    Hebrew of Mueller et al. (2020) separates the article and prepositions."""
    vocabulary: Vocabulary = 50_000
    """Most words of the vocabulary, with ``<unk>`` and ``<eos>``: the most frequent words of train
    and valid. Other words are ``<unk>``."""
    min_count: Positive = 1
    """Fewest occurrences of a word in train and valid; rarer words are ``<unk>``. With 1, a small
    corpus has no unknown word from which a model learns ``<unk>``."""
    unknown_share: float = Field(0.05, ge=0, le=1)
    """Largest share of unknown words in a sentence; other sentences are left out."""
    shares: CorpusShares = CorpusShares()
    seed: int = 0
    """Seed of the order of sentences before the split."""
    max_sentences: Positive | None = None
    """Most sentences of a language, drawn evenly from all sources; null for all."""
    max_sentences_of: dict[str, Positive] = Field(default={})
    """Exceptions to ``max_sentences``, by language."""

    def of_language(self, lang: str) -> Self:
        most = self.max_sentences_of.get(lang, self.max_sentences)
        return self.model_copy(update={"max_sentences": most, "max_sentences_of": {}})


class NgramRecipe(Strict):
    """An n-gram model with modified Kneser-Ney smoothing, estimated by KenLM's lmplz."""

    kind: Literal["ngram"]
    order: int = Field(5, ge=1, le=6)
    """Length of the longest n-gram, in words."""


class NetworkRecipe(Strict):
    """Settings of all small transformers."""

    vocabulary: Vocabulary = 1200
    """Number of subwords, with special tokens; for masked models it is approximate."""
    hidden: Dimension = 96
    """Width of the residual stream."""
    layers: Dimension = 2
    """Transformer blocks (of an encoder-decoder: in each half)."""
    heads: Dimension = 3
    """Attention heads; ``hidden`` must be a multiple of twice their number. vLLM on CPUs needs
    heads of width 32 or more."""
    context: Dimension = 256
    """Longest sequence, in tokens; longer training sentences are cut."""
    epochs: Dimension = 12
    """Passes over the training text, unless ``max_steps`` ends training first."""
    max_steps: Positive = 1500
    """Upper bound on optimiser steps."""
    batch_tokens: Positive = 1024
    """Tokens in a training batch, with padding."""
    optimiser: Literal["adamw", "muon"] = "adamw"
    """adamw: AdamW for all parameters. muon: Muon for the matrices inside the blocks, AdamW for
    other parameters; small models need a third of the steps, at a higher learning rate."""
    learning_rate: float = Field(3e-3, gt=0)
    """Peak learning rate (linear warm-up, cosine decay)."""
    checkpoint_steps: Positive = 200
    """Steps between checkpoints: the most that a killed training loses."""
    seeds: Seeds = 1
    """Number of models, each trained from its own seed; 0: none."""

    @model_validator(mode="after")
    def _heads_divide_width(self) -> Self:
        if self.hidden % (2 * self.heads):
            raise ValueError(
                f"hidden is {self.hidden} and heads is {self.heads}; hidden must be a multiple "
                "of twice heads (rotary positions need heads of even width)"
            )
        return self


class LlamaRecipe(NetworkRecipe):
    """Settings of recipes of the Llama architecture."""

    @property
    def intermediate(self) -> int:
        """Width of the feed-forward layers: 8/3 of ``hidden`` as in Llama, a multiple of 32."""
        return 32 * math.ceil(self.hidden / 12)

    @property
    def parameters(self) -> int:
        """Number of parameters, with all ``vocabulary`` subwords; embeddings are tied."""
        # Four matrices of attention, three of the feed-forward layers, and two norms.
        block = 4 * self.hidden**2 + 3 * self.hidden * self.intermediate + 2 * self.hidden
        return self.vocabulary * self.hidden + self.layers * block + self.hidden


class TransformerRecipe(LlamaRecipe):
    """A small Llama-architecture causal language model, trained from scratch."""

    kind: Literal["transformer"]
    corpus: str | None = None
    """Name of the corpora (in ``training.corpora``) that the model is trained on, with their words
    in place of subwords (``vocabulary``); null: trained on the training text."""
    tokens: Sizes = ()
    """Sizes of random training samples, in words of ``corpus``; each size is trained with each of
    the ``seeds``. Empty for all of the text."""

    @model_validator(mode="after")
    def _check_tokens(self) -> Self:
        if self.tokens and self.corpus is None:
            raise ValueError(
                "tokens are given without corpus; name the corpora whose words they count"
            )
        return self


class MaskedRecipe(NetworkRecipe):
    """A small BERT-architecture masked language model, trained from scratch."""

    kind: Literal["masked"]
    masked: Fraction = 0.15
    """Share of masked tokens."""


class EncoderDecoderRecipe(NetworkRecipe):
    """A small mT5-architecture encoder-decoder, trained from scratch by span corruption."""

    kind: Literal["encoder-decoder"]
    corrupted: Fraction = 0.15
    """Share of tokens in spans that the model predicts."""
    span: float = Field(3.0, ge=1)
    """Mean length of the spans that a sentinel replaces, in tokens."""


class InstructRecipe(LlamaRecipe):
    """A small Llama-architecture model that follows instructions, trained on dialogues alone.

    The dialogues contain a benchmark's prompts with other arguments than the benchmark has.
    """

    kind: Literal["instruct"]
    vocabulary: Vocabulary = 600
    hidden: Dimension = 128
    heads: Dimension = 4
    context: Dimension = 512
    """Longest dialogue, in tokens; longer ones are left out."""
    max_steps: Positive = 4600
    learning_rate: float = Field(2e-3, gt=0)
    practice_seed: int = 1
    """Seed of the dialogues' arguments; must not be the benchmark's seed."""
    per_template: Positive = 120
    """Most dialogues of each language, task and template."""


class LstmRecipe(Strict):
    """A word-level LSTM language model; defaults as in Mueller et al. (2020), section 5.2."""

    kind: Literal["lstm"]
    corpus: str = DEFAULT_CORPUS
    """Name of the corpora (in ``training.corpora``) that the model is trained on."""
    layers: Dimension = 2
    """LSTM layers."""
    hidden: Dimension = 800
    """Units of a layer."""
    embedding: Dimension = 800
    """Width of a word's embedding (paper: 800; default of the authors' scripts: 200)."""
    dropout: float = Field(0.2, ge=0, lt=1)
    """Dropout of embeddings and of each layer's output."""
    batch: Dimension = 20
    """Columns that the training text is cut into, which are trained side by side."""
    bptt: Dimension = 35
    """Words in a piece of a column; gradients stop at the start of a piece."""
    order: Literal["sequential", "shuffled"] = "shuffled"
    """Order of the pieces of ``bptt`` words in an epoch. A piece starts from the hidden state after
    the piece that is trained before it. Nevertheless, the authors shuffle pieces (published);
    ``sequential`` is the corrected variant."""
    learning_rate: float = Field(20.0, gt=0)
    """First learning rate of SGD; a quarter after each epoch without a better validation loss."""
    clip: float = Field(0.25, gt=0)
    """Largest norm of the gradient."""
    epochs: Dimension = 40
    """Passes over the training text; the best model by validation loss is kept."""
    checkpoint_steps: Positive = 1000
    """Most steps that a killed training loses."""
    seeds: Seeds = 1
    """Number of models, each trained from its own seed (paper: five); 0: none."""
    tokens: Sizes = ()
    """Sizes of random training samples, in words of ``corpus``; each size is trained with each of
    the ``seeds``. Empty for all of the text."""


Recipe = Annotated[
    NgramRecipe
    | TransformerRecipe
    | MaskedRecipe
    | EncoderDecoderRecipe
    | InstructRecipe
    | LstmRecipe,
    Field(discriminator="kind"),
]


def architecture_of(recipe: Recipe) -> str:
    """Return the architecture of the models that a recipe trains."""
    return "causal" if isinstance(recipe, LlamaRecipe) else recipe.kind


def follows_instructions(recipes: Mapping[str, Recipe], name: str) -> bool:
    """Return whether the recipe ``name`` makes models that are trained on dialogues alone."""
    return isinstance(recipes.get(name), InstructRecipe)


class TrainingOptions(Strict):
    """Training of a campaign's models."""

    treebank_text: bool = True
    """Also train on treebank sentences (never on sentences that pairs are made from)."""
    max_sentences: Positive = 40_000
    """Most sentences of training text, drawn evenly from all sources."""
    seed: int = 0
    """Seed of initialisation and batch order."""
    corpora: dict[str, CorpusOptions] = Field(default={}, validate_default=True)
    """Corpora by name, which recipes refer to as ``corpus``; ``default`` always exists."""
    recipes: dict[str, Recipe] = Field(default={})
    """Recipes by name, for models of the catalogue with that ``recipe``."""

    def billions(self, recipe: str) -> float | None:
        """Return billions of parameters; None for n-grams, and if a corpus sets the vocabulary."""
        settings = self.recipes.get(recipe)
        if isinstance(settings, LlamaRecipe) and getattr(settings, "corpus", None) is None:
            return settings.parameters / 1e9
        return None

    @field_validator("corpora")
    @classmethod
    def _check_and_add_default(cls, corpora: dict[str, CorpusOptions]) -> dict[str, CorpusOptions]:
        for name in corpora:
            if not CORPUS_NAME.fullmatch(name):
                raise ValueError(
                    f"{name!r} cannot name a corpus; use lower-case letters, digits, '-' and '_'"
                )
        return {DEFAULT_CORPUS: CorpusOptions()} | corpora
