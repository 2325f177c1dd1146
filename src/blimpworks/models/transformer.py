"""Train small transformers from scratch and repeatably: causal, masked and encoder-decoders."""

import logging
import math
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

import numpy as np
import torch
import transformers
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch.nn.utils.rnn import pad_sequence
from transformers import PreTrainedModel

from blimpworks.campaign.settings import training as recipes
from blimpworks.files import named_errors, rust_errors
from blimpworks.models.checkpoint import Checkpoint, clear, seal, trained_checkpoint
from blimpworks.models.corpus import (
    END,
    SPECIALS,
    UNKNOWN,
    VOCABULARY,
    read_corpus,
    read_words,
    sentences_of,
)
from blimpworks.models.fitting import Course, Muon, fit, repeatable, scratch_of, training_of
from blimpworks.models.text import training_sentences
from blimpworks.models.tokenizer import (
    BERT,
    BOS,
    BOS_ID,
    EOS,
    EOS_ID,
    SENTINELS,
    T5,
    save_tokenizer,
    train_pieces,
    train_tokenizer,
    train_wordpiece,
    word_tokenizer,
)

log = logging.getLogger(__name__)

WARM_UP = 0.05
BETAS = (0.9, 0.95)
WEIGHT_DECAY = 0.1
CLIP = 1.0
IGNORED = -100
Ids = NDArray[np.integer[Any]]
Batch = dict[str, torch.Tensor | int]
R = TypeVar("R", bound=recipes.NetworkRecipe)


@dataclass(frozen=True)
class Kind(Generic[R]):
    """Differences between causal, masked and encoder-decoder transformers."""

    architecture: str
    tokenizer: Callable[[list[str], int], Tokenizer]
    """Trains a tokenizer of a size on sentences."""
    specials: dict[str, str]
    model: Callable[[R, int], PreTrainedModel]
    """Makes a float32 model for a vocabulary's size, from torch's random state."""
    encode: Callable[[Tokenizer, list[str], int], list[Ids]]
    """Returns ids of each sentence, at most so many."""
    batch: Callable[[list[Ids], R, int, np.random.Generator], Batch]
    """Returns the model's arguments, with labels, for some sentences; draws what is guessed."""
    sentences: Callable[[Path], list[str]] = training_sentences
    chat: str | None = None
    """Chat template of models that follow instructions."""


def new_model(recipe: recipes.LlamaRecipe, vocabulary: int, bos: int = BOS_ID) -> PreTrainedModel:
    """Make a float32 model from torch's random state; ``bos`` begins each sentence."""
    settings = transformers.LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=recipe.hidden,
        intermediate_size=recipe.intermediate,
        num_hidden_layers=recipe.layers,
        num_attention_heads=recipe.heads,
        num_key_value_heads=recipe.heads,
        max_position_embeddings=recipe.context,
        bos_token_id=bos,
        eos_token_id=EOS_ID,
        tie_word_embeddings=True,
        dtype="float32",
    )
    model: PreTrainedModel = transformers.LlamaForCausalLM(settings)
    return model


def encode_sentences(tokenizer: Tokenizer, sentences: list[str], context: int) -> list[Ids]:
    """Return ``<s> tokens </s>`` of each sentence, cut to ``context`` ids."""
    encoded = tokenizer.encode_batch_fast(sentences, add_special_tokens=False)
    return [np.array([BOS_ID, *e.ids, EOS_ID][:context], dtype=np.int64) for e in encoded]


def epoch_batches(lengths: NDArray[np.int64], most: int, seed: int, epoch: int) -> list[Ids]:
    """Return one epoch's batches, arrays of sentence numbers, in the order of training.

    Similar lengths share a batch of at most ``most`` tokens with padding. ``seed`` and ``epoch``
    alone decide among equal lengths, and the order of batches.
    """
    draw = np.random.default_rng((seed, epoch))
    order = draw.permutation(len(lengths))
    order = order[np.argsort(lengths[order], kind="stable")]
    batches, start = [], 0
    for end in range(1, len(order) + 1):
        full = end == len(order) or (end + 1 - start) * lengths[order[end]] > most
        if full:
            batches.append(order[start:end])
            start = end
    return [batches[i] for i in draw.permutation(len(batches))]


def padded(rows: list[Ids], filler: int, side: Literal["right", "left"] = "right") -> torch.Tensor:
    """Return rows as one tensor [rows, longest], padded with ``filler``."""
    tensors = [torch.from_numpy(row).long() for row in rows]
    return pad_sequence(tensors, batch_first=True, padding_value=filler, padding_side=side)


def _next_tokens(
    rows: list[Ids], recipe: recipes.TransformerRecipe, vocabulary: int, draw: np.random.Generator
) -> Batch:
    return {"input_ids": padded(rows, EOS_ID), "labels": padded(rows, IGNORED)}


CAUSAL: Kind[recipes.TransformerRecipe] = Kind(
    architecture="causal",
    tokenizer=train_tokenizer,
    specials={"bos_token": BOS, "eos_token": EOS},
    model=new_model,
    encode=encode_sentences,
    batch=_next_tokens,
)


def of_words(corpus: Path) -> Kind[recipes.TransformerRecipe]:
    """Return the kind of causal models of a corpus's words. Raises UserError for a bad corpus."""
    rule, vocabulary = read_corpus(corpus).words, read_words(corpus.parent / VOCABULARY)
    ids = {word: number for number, word in enumerate(vocabulary)}
    unknown, end = (ids[word] for word in SPECIALS)

    def encode(tokenizer: Tokenizer, sentences: list[str], context: int) -> list[Ids]:
        rows = ([ids.get(word, unknown) for word in text.split()] for text in sentences)
        return [np.array([end, *row, end][:context], dtype=np.int64) for row in rows]

    return Kind(
        architecture="causal",
        tokenizer=lambda sentences, size: word_tokenizer(vocabulary, rule),
        specials={"bos_token": END, "eos_token": END, "unk_token": UNKNOWN},
        model=partial(new_model, bos=end),
        encode=encode,
        batch=_next_tokens,
        sentences=lambda path: [
            " ".join(vocabulary) for vocabulary in sentences_of(path.parent / "train.txt")
        ],
    )


PAD, CLS, SEP, MASK = (list(BERT).index(f"{role}_token") for role in ("pad", "cls", "sep", "mask"))
"""Ids of special tokens of masked models; T5 pads with the same."""
KEPT, REPLACED = 0.1, 0.1
"""Shares of drawn tokens that stay, and that are replaced (Devlin et al. 2019, section 3.1)."""


def _new_bert(recipe: recipes.MaskedRecipe, vocabulary: int) -> PreTrainedModel:
    settings = transformers.BertConfig(
        vocab_size=vocabulary,
        hidden_size=recipe.hidden,
        num_hidden_layers=recipe.layers,
        num_attention_heads=recipe.heads,
        intermediate_size=4 * recipe.hidden,
        max_position_embeddings=recipe.context,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        pad_token_id=PAD,
        dtype="float32",
    )
    model: PreTrainedModel = transformers.BertForMaskedLM(settings)
    return model


def _encode_between(tokenizer: Tokenizer, sentences: list[str], context: int) -> list[Ids]:
    encoded = tokenizer.encode_batch_fast(sentences, add_special_tokens=False)
    rows = [[CLS, *e.ids[: context - 2], SEP] for e in encoded if e.ids]
    return [np.array(row, dtype=np.int64) for row in rows]


def mask_tokens(
    row: Ids, share: float, vocabulary: int, draw: np.random.Generator
) -> tuple[Ids, Ids]:
    """Mask some of a sentence's tokens [tokens]; return it with labels [tokens].

    ``share`` of the tokens between ``[CLS]`` and ``[SEP]``, at least one, are drawn. 80 % of them
    are masked, 10 % become a random token, 10 % stay. Other labels are ``IGNORED``.
    """
    inner = len(row) - 2
    count = min(inner, max(1, round(share * inner)))
    chosen = 1 + draw.choice(inner, count, replace=False)
    labels = np.full_like(row, IGNORED)
    labels[chosen] = row[chosen]
    fate = draw.random(count)
    random_ids = draw.integers(len(BERT), vocabulary, count)
    new = np.where(fate < KEPT, row[chosen], np.where(fate < KEPT + REPLACED, random_ids, MASK))
    corrupted = row.copy()
    corrupted[chosen] = new
    return corrupted, labels


def _masked_tokens(
    rows: list[Ids], recipe: recipes.MaskedRecipe, vocabulary: int, draw: np.random.Generator
) -> Batch:
    return _pairs([mask_tokens(row, recipe.masked, vocabulary, draw) for row in rows])


def _pairs(pairs: list[tuple[Ids, Ids]]) -> Batch:
    sources = [source for source, _ in pairs]
    return {
        "input_ids": padded(sources, PAD),
        "attention_mask": padded([np.ones_like(source) for source in sources], 0),
        "labels": padded([labels for _, labels in pairs], IGNORED),
    }


MASKED: Kind[recipes.MaskedRecipe] = Kind(
    architecture="masked",
    tokenizer=train_wordpiece,
    specials=BERT,
    model=_new_bert,
    encode=_encode_between,
    batch=_masked_tokens,
)


SENTINEL = len(T5)
"""Id of the first sentinel; the others follow. Decoding starts with the padding token, as in T5."""


def _new_t5(recipe: recipes.EncoderDecoderRecipe, vocabulary: int) -> PreTrainedModel:
    settings = transformers.MT5Config(
        vocab_size=vocabulary,
        d_model=recipe.hidden,
        d_kv=recipe.hidden // recipe.heads,
        d_ff=2 * recipe.hidden,
        num_layers=recipe.layers,
        num_decoder_layers=recipe.layers,
        num_heads=recipe.heads,
        dropout_rate=0.0,
        pad_token_id=PAD,
        eos_token_id=EOS_ID,
        decoder_start_token_id=PAD,
        dtype="float32",
    )
    model: PreTrainedModel = transformers.MT5ForConditionalGeneration(settings)
    return model


def _encode_alone(tokenizer: Tokenizer, sentences: list[str], context: int) -> list[Ids]:
    encoded = tokenizer.encode_batch_fast(sentences, add_special_tokens=False)
    return [np.array(e.ids[: context - 1], dtype=np.int64) for e in encoded if e.ids]


def _cuts(total: int, parts: int, rng: np.random.Generator) -> Ids:
    """Draw lengths [parts], each at least 1, that add up to ``total``, uniformly."""
    inside = np.sort(rng.choice(total - 1, parts - 1, replace=False)) + 1
    return np.diff(np.concatenate([[0], inside, [total]]))


def cut_spans(row: Ids, share: float, mean: float, rng: np.random.Generator) -> tuple[Ids, Ids]:
    """Take spans out of a sentence and return the two texts (Raffel et al. 2020, section 3.1.4).

    About ``share`` of the tokens, at least one, fall into spans of ``mean`` length. In the first
    array a sentinel replaces each span. In the second each span follows its sentinel, and one more
    sentinel ends the last. Both end with ``</s>``.
    """
    noise = min(len(row), max(1, round(share * len(row))))
    kept = len(row) - noise
    spans = min(max(1, round(noise / mean)), kept + 1, len(SENTINELS) - 1)
    # The first and last gap may be empty, but _cuts gives 1 at least: lend each a token for it.
    gaps = _cuts(kept + 2, spans + 1, rng)
    gaps[[0, -1]] -= 1
    lengths = _cuts(noise, spans, rng)
    pieces = np.split(row, np.cumsum(np.column_stack([gaps[:-1], lengths])))
    marks, end = [[SENTINEL + number] for number in range(spans + 1)], [EOS_ID]
    source = chain.from_iterable(zip(pieces[::2], [*marks[:-1], end], strict=True))
    target = chain.from_iterable(zip(marks, [*pieces[1::2], end], strict=True))
    return np.concatenate([*source]), np.concatenate([*target])


def _spans(
    rows: list[Ids], recipe: recipes.EncoderDecoderRecipe, vocabulary: int, rng: np.random.Generator
) -> Batch:
    return _pairs([cut_spans(row, recipe.corrupted, recipe.span, rng) for row in rows])


ENCODER_DECODER: Kind[recipes.EncoderDecoderRecipe] = Kind(
    architecture="encoder-decoder",
    tokenizer=train_pieces,
    specials=T5,
    model=_new_t5,
    encode=_encode_alone,
    batch=_spans,
)


def learning_rate(step: int, steps: int, peak: float) -> float:
    """Return the rate of a step (from 0): linear warm-up, then a cosine to zero."""
    warm = max(1, round(WARM_UP * steps))
    if step < warm:
        return peak * (step + 1) / warm
    return peak * 0.5 * (1 + math.cos(math.pi * (step - warm) / max(1, steps - warm)))


def hidden_matrices(model: PreTrainedModel) -> list[torch.nn.Parameter]:
    """Return the matrices of a model's blocks, without embeddings, output layer and vectors."""
    outer = [module for module in model.modules() if isinstance(module, torch.nn.Embedding)]
    outer.append(model.get_output_embeddings())  # type: ignore[no-untyped-call]
    outer_ids = {id(parameter) for module in outer for parameter in module.parameters()}
    return [each for each in model.parameters() if each.dim() == 2 and id(each) not in outer_ids]


def optimisers_of(
    model: PreTrainedModel, recipe: recipes.NetworkRecipe
) -> list[torch.optim.Optimizer]:
    """Return the optimisers among which parameters are divided; steps have AdamW's size."""
    muon = hidden_matrices(model) if recipe.optimiser == "muon" else []
    chosen = {id(parameter) for parameter in muon}
    other_parameters = [each for each in model.parameters() if id(each) not in chosen]
    adamw = torch.optim.AdamW(other_parameters, betas=BETAS, weight_decay=WEIGHT_DECAY)
    return [Muon(muon, weight_decay=WEIGHT_DECAY), adamw] if muon else [adamw]


class _Course(Course, Generic[R]):
    """Training of a transformer: seed and step decide batches and draws, so no state is kept."""

    model: PreTrainedModel

    clip = CLIP

    def __init__(
        self,
        kind: Kind[R],
        model: PreTrainedModel,
        data: list[Ids],
        recipe: R,
        seed: int,
    ) -> None:
        self.model = model
        self.optimisers = optimisers_of(model, recipe)
        self._kind, self._data, self._recipe, self._seed = kind, data, recipe, seed
        lengths = np.array([len(row) for row in data])
        epochs = (
            epoch_batches(lengths, recipe.batch_tokens, seed, epoch)
            for epoch in range(recipe.epochs)
        )
        self._plan = list(islice(chain.from_iterable(epochs), recipe.max_steps))
        self.steps = len(self._plan)

    def rate(self, step: int) -> float:
        return learning_rate(step, self.steps, self._recipe.learning_rate)

    def loss(self, step: int) -> torch.Tensor:
        rows = [self._data[i] for i in self._plan[step]]
        # A stream of its own for each step: a resumed run draws the same.
        draw = np.random.default_rng((self._seed, step, 1))
        vocabulary: int = self.model.config.vocab_size
        batch = self._kind.batch(rows, self._recipe, vocabulary, draw)
        loss: torch.Tensor = self.model(**batch).loss
        return loss


def train_kind(
    kind: Kind[R],
    text: Path,
    checkpoint: Path,
    *,
    name: str,
    scope: str,
    recipe_name: str,
    recipe: R,
    seed: int,
) -> Checkpoint:
    """Train a tokenizer and a model of ``kind`` on ``text`` (mostly, one sentence per line).

    Writes a Hugging Face model directory, then ``checkpoint``, its ``checkpoint.json``. Every
    ``recipe.checkpoint_steps`` steps the state goes to the hidden sibling
    ``.<directory>.training``. A killed run resumes from it to the same bytes. The sibling is
    removed at the end, an earlier model at the start.

    Raises UserError when the text is missing or empty, the directory holds other files, or the
    training diverges.
    """
    sentences = kind.sentences(text)
    directory = checkpoint.parent
    clear(directory)
    source = training_of(recipe_name, recipe, seed, text)
    with repeatable(seed):
        tokenizer = kind.tokenizer(sentences, recipe.vocabulary)
        model = kind.model(recipe, tokenizer.get_vocab_size())
        data = kind.encode(tokenizer, sentences, recipe.context)
        course = _Course(kind, model, data, recipe, seed)
        fit(course, source, scratch_of(directory), recipe.checkpoint_steps)
    save_tokenizer(tokenizer, directory, recipe.context, kind.specials, kind.chat)
    with named_errors(directory), rust_errors(directory / "model.safetensors"):
        model.save_pretrained(directory)
    sealed = seal(checkpoint, trained_checkpoint(name, scope, kind.architecture, source))
    shutil.rmtree(scratch_of(directory), ignore_errors=True)
    log.info("%s: %d parameters, %d sentences", directory, model.num_parameters(), len(sentences))
    return sealed


def train_transformer(
    text: Path, checkpoint: Path, *, recipe: recipes.TransformerRecipe, seed: int, **names: str
) -> Checkpoint:
    """Train a causal model: ``CAUSAL``, or of words if the recipe names a corpus (``text``)."""
    model_kind = CAUSAL if recipe.corpus is None else of_words(text)
    return train_kind(model_kind, text, checkpoint, recipe=recipe, seed=seed, **names)


train_masked = partial(train_kind, MASKED)
train_encoder_decoder = partial(train_kind, ENCODER_DECODER)
