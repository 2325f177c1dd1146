"""Train small transformers from scratch and repeatably, among them the causal one."""

import logging
import math
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedModel

from blimpworks.campaign.settings.training import LlamaRecipe, NetworkRecipe, TransformerRecipe
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
from blimpworks.models.fitting import Course, fit, repeatable, scratch_of, training_of
from blimpworks.models.text import training_sentences
from blimpworks.models.tokenizer import (
    BOS,
    BOS_ID,
    EOS,
    EOS_ID,
    save_tokenizer,
    train_tokenizer,
    word_tokenizer,
)

MOMENTUM = 0.95
COEFFICIENTS = (3.4445, -4.7750, 2.0315)
ITERATIONS = 5
STEP_SIZE = 0.2
"""Root mean square of AdamW's steps at a rate of one, to which Muon's are scaled."""
LEAST_NORM = 1e-7


def orthogonalised(matrix: torch.Tensor) -> torch.Tensor:
    """Bring the singular values of ``matrix`` [m, n] near one, by Newton-Schulz iteration."""
    wide = matrix.size(0) <= matrix.size(1)
    result = matrix if wide else matrix.T
    result = result / result.norm().clamp(min=LEAST_NORM)
    linear, cubic, quintic = COEFFICIENTS
    for _ in range(ITERATIONS):
        gram = result @ result.T
        higher = torch.addmm(gram, gram, gram, beta=cubic, alpha=quintic)
        result = torch.addmm(result, higher, result, beta=linear)
    return result if wide else result.T


class Muon(torch.optim.Optimizer):
    """Muon of some matrices, with steps of AdamW's size and decoupled weight decay.

    Like PyTorch's own with ``match_rms_adamw``, but in float32. PyTorch rounds to bfloat16, which
    is many times slower on processors without that format.
    """

    def __init__(self, matrices: Iterable[torch.nn.Parameter], *, weight_decay: float) -> None:
        """Set ``lr`` of its groups before each step."""
        super().__init__(matrices, {"lr": 0.0, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        """Change each matrix that has a gradient; ``closure`` is not used."""
        for group in self.param_groups:
            rate, decay = group["lr"], group["weight_decay"]
            for matrix in group["params"]:
                if matrix.grad is None:
                    continue
                state = self.state[matrix]
                if not state:
                    state["momentum_buffer"] = torch.zeros_like(matrix)
                momentum = state["momentum_buffer"]
                momentum.lerp_(matrix.grad, 1 - MOMENTUM)
                direction = orthogonalised(matrix.grad.lerp(momentum, MOMENTUM))
                matrix.mul_(1 - rate * decay)
                matrix.add_(direction, alpha=-rate * STEP_SIZE * max(matrix.shape) ** 0.5)


log = logging.getLogger(__name__)

WARM_UP = 0.05
BETAS = (0.9, 0.95)
WEIGHT_DECAY = 0.1
CLIP = 1.0
IGNORED = -100
Ids = NDArray[np.integer[Any]]
Batch = dict[str, torch.Tensor | int]
R = TypeVar("R", bound=NetworkRecipe)


@dataclass(frozen=True)
class Kind(Generic[R]):
    """Differences between causal, masked and encoder-decoder transformers."""

    architecture: str
    """Name of the architecture in checkpoints."""
    tokenizer: Callable[[list[str], int], Tokenizer]
    """Trains a tokenizer of a size on sentences."""
    specials: dict[str, str]
    """Special tokens by role."""
    model: Callable[[R, int], PreTrainedModel]
    """Makes a float32 model for a vocabulary's size, from torch's random state."""
    encode: Callable[[Tokenizer, list[str], int], list[Ids]]
    """Returns ids of each sentence, at most so many."""
    batch: Callable[[list[Ids], R, int, np.random.Generator], Batch]
    """Returns the model's arguments, with labels, for some sentences; draws what is guessed."""
    sentences: Callable[[Path], list[str]] = training_sentences
    """Reads sentences of the training file."""
    chat: str | None = None
    """Chat template of models that follow instructions."""


def new_model(recipe: LlamaRecipe, vocabulary: int, bos: int = BOS_ID) -> LlamaForCausalLM:
    """Make a float32 model from torch's random state; ``bos`` begins each sentence."""
    settings = LlamaConfig(
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
    model: LlamaForCausalLM = LlamaForCausalLM(settings)
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


def padded(rows: list[Ids], filler: int) -> torch.Tensor:
    """Return rows as one tensor [rows, longest], padded with ``filler`` on the right."""
    table = torch.full((len(rows), max(map(len, rows))), filler)
    for i, row in enumerate(rows):
        table[i, : len(row)] = torch.from_numpy(row)
    return table


def _next_tokens(
    rows: list[Ids], recipe: TransformerRecipe, vocabulary: int, draw: np.random.Generator
) -> Batch:
    return {"input_ids": padded(rows, EOS_ID), "labels": padded(rows, IGNORED)}


CAUSAL: Kind[TransformerRecipe] = Kind(
    architecture="causal",
    tokenizer=train_tokenizer,
    specials={"bos_token": BOS, "eos_token": EOS},
    model=new_model,
    encode=encode_sentences,
    batch=_next_tokens,
)


def of_words(corpus: Path) -> Kind[TransformerRecipe]:
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


def optimisers_of(model: PreTrainedModel, recipe: NetworkRecipe) -> list[torch.optim.Optimizer]:
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
        self, kind: Kind[R], model: PreTrainedModel, data: list[Ids], recipe: R, seed: int
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
    text: Path, checkpoint: Path, *, recipe: TransformerRecipe, seed: int, **names: str
) -> Checkpoint:
    """Train a causal model: ``CAUSAL``, or of words if the recipe names a corpus (``text``)."""
    model_kind = CAUSAL if recipe.corpus is None else of_words(text)
    return train_kind(model_kind, text, checkpoint, recipe=recipe, seed=seed, **names)
