"""Settings of the models that a campaign trains."""

import math
import re
from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, field_validator, model_validator

from blimpworks.campaign.settings.base import Fraction, Positive
from blimpworks.strict import Strict

CORPUS_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
"""Names of corpora: they are names of directories."""
DEFAULT_CORPUS = "default"
"""A corpus that each campaign has, with or without settings of its own."""

HOW_MANY = {"seeds", "tokens"}
"""Settings of recipes that say how many models there are, and decide none of them."""
Seeds = Annotated[int, Field(ge=0, le=1000)]
Dimension = Annotated[int, Field(gt=0, le=10**6)]
"""Of a network: more than any that is trained here can have."""


Vocabulary = Annotated[int, Field(gt=0, le=10**7)]


def _apart(sizes: tuple[int, ...]) -> tuple[int, ...]:
    if len({*sizes}) < len(sizes):
        raise ValueError("sizes must not be repeated")
    return sizes


Sizes = Annotated[tuple[Positive, ...], AfterValidator(_apart)]


class CorpusShares(Strict):
    """How a corpus is split, by tokens."""

    train: Fraction = 0.8
    valid: Fraction = 0.1
    """What the learning rate is decided on."""
    test: Fraction = 0.1
    """What the perplexity of the finished model is measured on."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        total = self.train + self.valid + self.test
        if abs(total - 1) > 1e-9:
            raise ValueError(f"train, valid and test add up to {total:g}; they must add up to 1")
        return self


class CorpusOptions(Strict):
    """Corpora of LSTMs: one per language, and their concatenation.

    Defaults as in Mueller et al. (2020), section 5.1.
    """

    words: Literal["split", "whitespace"] = "split"
    """What a word is: runs of letters and single punctuation marks of running text; or what
    stands between white space in text that is tokenised already (as released evaluation sets may
    be), and the tokens of treebanks."""
    released: bool = True
    """Use released corpora as they are for the languages whose files the sources have (kind
    ``corpus``). They are tokenised, so only with ``words: whitespace``."""
    segmented: tuple[str, ...] = ("heb",)
    """Languages whose treebanks give syntactic words in place of surface tokens (``whitespace``):
    the Hebrew of Mueller et al. (2020) sets the article and prepositions apart."""
    vocabulary: Vocabulary = 50_000
    """Most words, ``<unk>`` and ``<eos>`` included: the most frequent of train and valid; the
    others are ``<unk>``."""
    min_count: Positive = 1
    """A word that occurs less often in train and valid counts as ``<unk>``. At 1 a small corpus
    has no unknown word to learn ``<unk>`` from."""
    unknown_share: float = Field(0.05, ge=0, le=1)
    """Sentences with a larger share of unknown words are left out."""
    shares: CorpusShares = CorpusShares()
    seed: int = 0
    """Of the order of sentences before they are split."""
    max_sentences: Positive | None = None
    """Most sentences of a language, drawn evenly from all sources; no bound where there is none."""
    max_sentences_of: dict[str, Positive] = Field(default={})
    """By language, where another number holds than ``max_sentences``."""

    def of_language(self, lang: str) -> Self:
        """These options as they hold for one language."""
        most = self.max_sentences_of.get(lang, self.max_sentences)
        return self.model_copy(update={"max_sentences": most, "max_sentences_of": {}})


class NgramRecipe(Strict):
    """An n-gram model with modified Kneser-Ney smoothing, estimated by KenLM's lmplz."""

    kind: Literal["ngram"]
    order: int = Field(5, ge=1, le=6)
    """Length of the longest n-gram, in words."""


class NetworkRecipe(Strict):
    """What recipes of all small transformers have in common."""

    vocabulary: Vocabulary = 1200
    """Size of the vocabulary of subwords, special tokens included (masked: about)."""
    hidden: Dimension = 96
    """Width of the residual stream."""
    layers: Dimension = 2
    """Transformer blocks (of an encoder-decoder: in each half)."""
    heads: Dimension = 3
    """Attention heads; ``hidden`` must be a multiple of twice as many. Heads of 32 suit vLLM
    on CPUs too, smaller ones don't."""
    context: Dimension = 256
    """Longest sequence, in tokens; longer training sentences are cut."""
    epochs: Dimension = 12
    """Passes over the training text, unless ``max_steps`` ends training first."""
    max_steps: Positive = 1500
    """Upper bound on optimiser steps."""
    batch_tokens: Positive = 1024
    """Tokens in a training batch, padding included."""
    optimiser: Literal["adamw", "muon"] = "adamw"
    """AdamW of all parameters; or Muon of the matrices inside the blocks and AdamW of the rest,
    with which small models learn as much in a third of the steps, at a higher learning rate."""
    learning_rate: float = Field(3e-3, gt=0)
    """Peak learning rate (linear warm-up, cosine decay)."""
    checkpoint_steps: Positive = 200
    """A killed training loses at most this many steps."""
    seeds: Seeds = 1
    """How many models are trained, each from a seed of its own; 0: none."""

    @model_validator(mode="after")
    def _heads_divide_width(self) -> Self:
        if self.hidden % (2 * self.heads):
            raise ValueError(
                f"hidden is {self.hidden} and heads is {self.heads}; hidden must be a multiple "
                "of twice heads (rotary positions need heads of even width)"
            )
        return self


class LlamaRecipe(NetworkRecipe):
    """What recipes of the Llama architecture have in common."""

    @property
    def intermediate(self) -> int:
        """Width of the feed-forward layers: 8/3 of ``hidden`` as in Llama, a multiple of 32."""
        return 32 * math.ceil(self.hidden / 12)

    @property
    def parameters(self) -> int:
        """Number of parameters, with all ``vocabulary`` subwords; embeddings are tied."""
        block = 4 * self.hidden**2 + 3 * self.hidden * self.intermediate + 2 * self.hidden
        return self.vocabulary * self.hidden + self.layers * block + self.hidden


class TransformerRecipe(LlamaRecipe):
    """A small Llama-architecture causal language model, trained from scratch."""

    kind: Literal["transformer"]
    corpus: str | None = None
    """Name of the corpora (of ``training.corpora``) whose words it knows and is trained on, in
    place of subwords of its own (``vocabulary``); null for the training text."""
    tokens: Sizes = ()
    """Sizes of training text, in words of ``corpus``: of each a model is trained for each of the
    ``seeds``, on a random sample of its own. Without, all of the text."""

    @model_validator(mode="after")
    def _samples_of_a_corpus(self) -> Self:
        if self.tokens and self.corpus is None:
            raise ValueError(
                "tokens are given without corpus; name the corpora of training.corpora whose words "
                "they count"
            )
        return self


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


class InstructRecipe(LlamaRecipe):
    """A small Llama-architecture model that follows instructions, trained on dialogues alone.

    They are made of a benchmark's prompts with other arguments than the benchmark's own.
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
    """Of the arguments that dialogues are about; must not be the benchmark's seed."""
    per_template: Positive = 120
    """At most so many dialogues of each language, task and template."""


class LstmRecipe(Strict):
    """A word-level LSTM language model; defaults as in Mueller et al. (2020), section 5.2."""

    kind: Literal["lstm"]
    corpus: str = DEFAULT_CORPUS
    """Name of the corpora (of ``training.corpora``) that it is trained on."""
    layers: Dimension = 2
    """LSTM layers."""
    hidden: Dimension = 800
    """Units of a layer."""
    embedding: Dimension = 800
    """Width of a word's embedding (800 in the paper, 200 where the authors' scripts leave the
    default)."""
    dropout: float = Field(0.2, ge=0, lt=1)
    """Of embeddings and of each layer's output."""
    batch: Dimension = 20
    """Columns that the training text is cut into."""
    bptt: Dimension = 35
    """Words that the loss is propagated back through."""
    order: Literal["sequential", "shuffled"] = "shuffled"
    """Order of the pieces of ``bptt`` words in an epoch. The authors shuffle them (published),
    though the hidden state is carried from each to the next; in sequence it fits (corrected)."""
    learning_rate: float = Field(20.0, gt=0)
    """Of SGD, at first; a quarter after each epoch that does not improve the validation loss."""
    clip: float = Field(0.25, gt=0)
    """Largest norm of the gradient."""
    epochs: Dimension = 40
    """Passes over the training text; the best by validation loss is kept."""
    checkpoint_steps: Positive = 1000
    """A killed training loses at most this many steps."""
    seeds: Seeds = 1
    """How many models are trained, each from a seed of its own; five in the paper; 0: none."""
    tokens: Sizes = ()
    """Sizes of training text, in words of ``corpus``: of each a model is trained for each of the
    ``seeds``, on a random sample of its own. Without, all of the text."""


Recipe = Annotated[
    NgramRecipe
    | TransformerRecipe
    | MaskedRecipe
    | EncoderDecoderRecipe
    | InstructRecipe
    | LstmRecipe,
    Field(discriminator="kind"),
]


def follows_instructions(recipes: Mapping[str, Recipe], name: str) -> bool:
    """Whether the recipe of that name makes models that are trained on dialogues alone."""
    return isinstance(recipes.get(name), InstructRecipe)


class TrainingOptions(Strict):
    """Training of the campaign's own models."""

    treebank_text: bool = True
    """Train on treebank sentences too (never on those that pairs are made from)."""
    max_sentences: Positive = 40_000
    """Training text is cut after this many sentences, drawn evenly from all sources."""
    seed: int = 0
    """Seed of initialisation and batch order."""
    corpora: dict[str, CorpusOptions] = Field(default={}, validate_default=True)
    """Corpora of LSTMs by name; ``default`` is there unless it is given."""
    recipes: dict[str, Recipe] = Field(default={})
    """Recipes by name; a model of the catalogue with that ``recipe`` is trained by it."""

    def billions(self, recipe: str) -> float | None:
        """Billions of parameters of the models of a recipe.

        None where the recipe alone does not decide them: the words of a corpus do, or n-grams.
        """
        match self.recipes.get(recipe):
            case TransformerRecipe(corpus=str()):
                return None
            case LlamaRecipe(parameters=parameters):
                return parameters / 1e9
            case _:
                return None

    @field_validator("corpora")
    @classmethod
    def _default_corpus(cls, corpora: dict[str, CorpusOptions]) -> dict[str, CorpusOptions]:
        for name in corpora:
            if not CORPUS_NAME.fullmatch(name):
                raise ValueError(
                    f"{name!r} cannot name a corpus; use lower-case letters, digits, '-' and '_'"
                )
        return {DEFAULT_CORPUS: CorpusOptions()} | corpora
