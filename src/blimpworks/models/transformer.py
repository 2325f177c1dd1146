"""Train small transformers from scratch: causal, masked, encoder-decoder, and on dialogues.

``train_by`` reads a text and writes a model in Hugging Face's layout with its tokenizer. Each type
of model has its ``ModelFunctions``, such as ``MASKED``: for tokenizer, weights and batches. A
*recipe* has the settings of a training: sizes, learning rate, number of epochs.
"""

import logging
import math
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Generic, TypeVar, cast

import numpy as np
import torch
import transformers
from tokenizers import Tokenizer
from transformers import PreTrainedModel

from blimpworks.campaign.settings import training as recipes
from blimpworks.files import named_errors, rust_errors
from blimpworks.models import corpus as corpora
from blimpworks.models import encoding
from blimpworks.models.checkpoint import Checkpoint, clear, seal, trained_checkpoint
from blimpworks.models.encoding import EOS_ID, IGNORED, PAD, Ids, padded
from blimpworks.models.fitting import Course, Muon, fit, repeatable, scratch_of, training_of
from blimpworks.models.text import training_sentences

log = logging.getLogger(__name__)
WARM_UP = 0.05
"""Share of the steps in which the learning rate rises."""
BETAS = (0.9, 0.95)  # of AdamW
WEIGHT_DECAY = 0.1  # of both optimisers
CLIP = 1.0  # largest norm of the gradient
Batch = dict[str, torch.Tensor | int]
"""Arguments of a model, with ``labels``."""
R = TypeVar("R", bound=recipes.NetworkRecipe)  # the recipe of a type of model


@dataclass(frozen=True)
class ModelFunctions(Generic[R]):
    """Functions and tokens of one type of model; types are causal, masked, encoder-decoder models.

    The comment on a function lists its arguments. A vocabulary's size is its number of tokens.
    """

    architecture: str
    tokenizer: Callable[[list[str], int], Tokenizer]
    """Trains a tokenizer: (sentences, vocabulary's size)."""
    specials: dict[str, str]
    """Special tokens by role, such as ``{"bos_token": "<s>"}``."""
    model: Callable[[R, int], PreTrainedModel]
    """Makes a float32 model from torch's random state: (recipe, vocabulary's size)."""
    encode: Callable[[Tokenizer, list[str], int], list[Ids]]
    """Returns the ids of each sentence: (tokenizer, sentences, largest number of its ids)."""
    batch: Callable[[list[Ids], R, int, np.random.Generator], Batch]
    """Makes a batch: (ids of each sentence, recipe, vocabulary's size, generator for masks)."""
    sentences: Callable[[Path], list[str]] = training_sentences
    """Reads the sentences of a training text: (path)."""
    chat: str | None = None
    """Chat template of models that follow instructions."""


def new_model(
    recipe: recipes.LlamaRecipe, vocabulary: int, bos: int = encoding.BOS_ID
) -> PreTrainedModel:
    """Make a float32 Llama from torch's random state; the token ``bos`` begins each sentence."""
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
    return cast(PreTrainedModel, transformers.LlamaForCausalLM(settings))


def _next_tokens(
    rows: list[Ids], recipe: recipes.TransformerRecipe, vocabulary: int, draw: np.random.Generator
) -> Batch:
    return {"input_ids": padded(rows, EOS_ID), "labels": padded(rows, IGNORED)}


CAUSAL: ModelFunctions[recipes.TransformerRecipe] = ModelFunctions(
    architecture="causal",
    tokenizer=encoding.train_tokenizer,
    specials={"bos_token": encoding.BOS, "eos_token": encoding.EOS},
    model=new_model,
    encode=encoding.encode_sentences,
    batch=_next_tokens,
)


def word_level_functions(corpus: Path) -> ModelFunctions[recipes.TransformerRecipe]:
    """Return the functions of causal models whose tokens are the words of a corpus.

    ``corpus``: path of a corpus.json; its folder has ``train.txt``, the sentences of the training.
    Raises UserError for a damaged corpus.
    """
    rule = corpora.read_corpus(corpus).words
    vocabulary = corpora.read_words(corpus.parent / corpora.VOCABULARY)
    ids = {word: number for number, word in enumerate(vocabulary)}
    unknown, end = (ids[word] for word in corpora.SPECIALS)

    # The vocabulary is the corpus's, so these functions train no tokenizer, and need none.
    def encode(tokenizer: Tokenizer, sentences: list[str], context: int) -> list[Ids]:
        rows = ([ids.get(word, unknown) for word in text.split()] for text in sentences)
        return [np.array([end, *row, end][:context], dtype=np.int64) for row in rows]

    def read(path: Path) -> list[str]:
        return [*map(" ".join, corpora.sentences_of(path.parent / "train.txt"))]

    return ModelFunctions(
        architecture="causal",
        tokenizer=lambda sentences, size: encoding.word_tokenizer(vocabulary, rule),
        specials={"bos_token": corpora.END, "eos_token": corpora.END, "unk_token": corpora.UNKNOWN},
        model=partial(new_model, bos=end),
        encode=encode,
        batch=_next_tokens,
        sentences=read,
    )


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
    return cast(PreTrainedModel, transformers.BertForMaskedLM(settings))


def _with_labels(pairs: list[tuple[Ids, Ids]]) -> Batch:
    """Make a batch from (ids, labels) of each sentence."""
    rows = [ids for ids, _ in pairs]
    return {
        "input_ids": padded(rows, PAD),
        "attention_mask": padded([np.ones_like(row) for row in rows], 0),
        "labels": padded([labels for _, labels in pairs], IGNORED),
    }


MASKED: ModelFunctions[recipes.MaskedRecipe] = ModelFunctions(
    architecture="masked",
    tokenizer=encoding.train_wordpiece,
    specials=encoding.BERT,
    model=_new_bert,
    encode=encoding.encode_between,
    batch=lambda rows, recipe, vocabulary, draw: _with_labels(
        [encoding.mask_tokens(row, recipe.masked, vocabulary, draw) for row in rows]
    ),
)


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
    return cast(PreTrainedModel, transformers.MT5ForConditionalGeneration(settings))


ENCODER_DECODER: ModelFunctions[recipes.EncoderDecoderRecipe] = ModelFunctions(
    architecture="encoder-decoder",
    tokenizer=encoding.train_pieces,
    specials=encoding.T5,
    model=_new_t5,
    encode=encoding.encode_alone,
    batch=lambda rows, recipe, vocabulary, draw: _with_labels(
        [encoding.cut_spans(row, recipe.corrupted, recipe.span, draw) for row in rows]
    ),
)


def _dialogue_batch(
    rows: list[Ids], recipe: recipes.InstructRecipe, vocabulary: int, draw: np.random.Generator
) -> Batch:
    """Align dialogues at their ends, so that logits are computed for answers alone."""
    labels = padded([encoding.answer_labels(row) for row in rows], IGNORED, "left")
    # One more than the longest answer, because the logits at the token before an answer predict
    # its first token.
    logit_count = 1 + int((labels != IGNORED).sum(1).max())
    return {
        "input_ids": padded(rows, EOS_ID, "left"),
        "attention_mask": padded([np.ones_like(row) for row in rows], 0, "left"),
        "labels": labels[:, -logit_count:],
        "logits_to_keep": logit_count,
    }


INSTRUCT: ModelFunctions[recipes.InstructRecipe] = ModelFunctions(
    architecture="causal",
    tokenizer=encoding.train_dialogue_tokenizer,
    specials={"bos_token": encoding.BOS, "eos_token": encoding.EOS, "pad_token": encoding.EOS},
    model=new_model,
    encode=encoding.encode_dialogues,
    batch=_dialogue_batch,
    sentences=encoding.read_dialogues,
    chat=encoding.TEMPLATE,
)


def learning_rate(step: int, steps: int, peak: float) -> float:
    """Return the learning rate of a step, from 0: a linear warm-up, then a cosine to zero."""
    warm = max(1, round(WARM_UP * steps))
    if step < warm:
        return peak * (step + 1) / warm
    return peak * 0.5 * (1 + math.cos(math.pi * (step - warm) / max(1, steps - warm)))


def hidden_matrices(model: PreTrainedModel) -> list[torch.nn.Parameter]:
    """Return the matrices of a model's layers, without embeddings and output layer."""
    outer = [module for module in model.modules() if isinstance(module, torch.nn.Embedding)]
    outer.append(model.get_output_embeddings())  # type: ignore[no-untyped-call]
    outer_ids = {id(parameter) for module in outer for parameter in module.parameters()}
    return [p for p in model.parameters() if p.dim() == 2 and id(p) not in outer_ids]


def optimisers_of(
    model: PreTrainedModel, recipe: recipes.NetworkRecipe
) -> list[torch.optim.Optimizer]:
    """Return the optimisers of a model: AdamW, or Muon for matrices and AdamW for the others."""
    matrices = hidden_matrices(model) if recipe.optimiser == "muon" else []
    matrix_ids = {id(parameter) for parameter in matrices}
    other_parameters = [p for p in model.parameters() if id(p) not in matrix_ids]
    adamw = torch.optim.AdamW(other_parameters, betas=BETAS, weight_decay=WEIGHT_DECAY)
    return [Muon(matrices, weight_decay=WEIGHT_DECAY), adamw] if matrices else [adamw]


class _Course(Course, Generic[R]):
    """Training of a transformer, as ``fitting.fit`` needs it.

    Batches and masks follow from the seed and the step, so snapshots need no random state of numpy.
    """

    model: PreTrainedModel
    clip = CLIP

    def __init__(
        self,
        functions: ModelFunctions[R],
        model: PreTrainedModel,
        data: list[Ids],
        recipe: R,
        seed: int,
    ) -> None:
        self.model = model
        self.optimisers = optimisers_of(model, recipe)
        self._functions, self._data, self._recipe, self._seed = functions, data, recipe, seed
        lengths = np.array([len(row) for row in data])
        epochs = (
            encoding.epoch_batches(lengths, recipe.batch_tokens, seed, epoch)
            for epoch in range(recipe.epochs)
        )
        # The numbers of sentences in the batch of each step.
        self._plan = list(islice(chain.from_iterable(epochs), recipe.max_steps))
        self.steps = len(self._plan)

    def rate(self, step: int) -> float:
        return learning_rate(step, self.steps, self._recipe.learning_rate)

    def loss(self, step: int) -> torch.Tensor:
        rows = [self._data[i] for i in self._plan[step]]
        # Each step has a random generator, so that a resumed run draws the same. The third number
        # makes it differ from the generators in ``epoch_batches``, whose seeds are (seed, epoch).
        draw = np.random.default_rng((self._seed, step, 1))
        vocabulary: int = self.model.config.vocab_size
        batch = self._functions.batch(rows, self._recipe, vocabulary, draw)
        loss: torch.Tensor = self.model(**batch).loss
        return loss


def train_by(
    functions: ModelFunctions[R],
    text: Path,
    checkpoint: Path,
    *,
    name: str,
    scope: str,
    recipe_name: str,
    recipe: R,
    seed: int,
) -> Checkpoint:
    """Train a tokenizer and a model by ``functions`` on ``text``.

    An earlier model is removed. A model in Hugging Face's layout is written beside ``checkpoint``,
    the checkpoint.json, which comes last. ``scope`` is a language or ``multi``. Every
    ``recipe.checkpoint_steps`` steps, a snapshot is written into a hidden folder, from which a
    killed run continues and ends with the same bytes. Raises UserError if the text is missing or
    empty, the directory has other files, or the training diverges.
    """
    sentences = functions.sentences(text)
    directory = checkpoint.parent
    clear(directory)
    source = training_of(recipe_name, recipe, seed, text)
    with repeatable(seed):
        tokenizer = functions.tokenizer(sentences, recipe.vocabulary)
        model = functions.model(recipe, tokenizer.get_vocab_size())
        data = functions.encode(tokenizer, sentences, recipe.context)
        course = _Course(functions, model, data, recipe, seed)
        fit(course, source, scratch_of(directory), recipe.checkpoint_steps)
    specials, chat = functions.specials, functions.chat
    encoding.save_tokenizer(tokenizer, directory, recipe.context, specials, chat)
    with named_errors(directory), rust_errors(directory / "model.safetensors"):
        model.save_pretrained(directory)
    sealed = seal(checkpoint, trained_checkpoint(name, scope, functions.architecture, source))
    shutil.rmtree(scratch_of(directory), ignore_errors=True)
    log.info("%s: %d parameters, %d sentences", directory, model.num_parameters(), len(sentences))
    return sealed


def train_transformer(
    text: Path, checkpoint: Path, *, recipe: recipes.TransformerRecipe, seed: int, **names: str
) -> Checkpoint:
    """Train a causal model; its tokens are words if ``text`` is the recipe's corpus.

    ``names`` are the arguments ``name``, ``scope`` and ``recipe_name`` of ``train_by``.
    """
    functions = CAUSAL if recipe.corpus is None else word_level_functions(text)
    return train_by(functions, text, checkpoint, recipe=recipe, seed=seed, **names)


train_masked = partial(train_by, MASKED)
train_encoder_decoder = partial(train_by, ENCODER_DECODER)


def train_instruct(
    text: Path, checkpoint: Path, *, recipe: recipes.InstructRecipe, seed: int, **names: str
) -> Checkpoint:
    """Train a causal model on dialogues, no more than its steps can use."""
    # Batches contain padding too, so training sees at most this number of tokens of dialogues.
    most = recipe.max_steps * recipe.batch_tokens
    functions = replace(INSTRUCT, encode=partial(encoding.encode_dialogues, most=most, seed=seed))
    return train_by(functions, text, checkpoint, recipe=recipe, seed=seed, **names)
