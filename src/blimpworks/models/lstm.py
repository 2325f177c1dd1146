"""Word-level LSTM language models, as CLAMS trains them (Mueller et al. 2020, section 4.2)."""

import json
import logging
import shutil
from collections import Counter
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch.nn.functional import cross_entropy

from blimpworks.config import LstmRecipe, Strict
from blimpworks.errors import UserError
from blimpworks.files import atomic, sha256_of, write_text
from blimpworks.models.checkpoint import (
    NGRAM_FILES,
    Checkpoint,
    Trained,
    clear,
    seal,
    trained_checkpoint,
)
from blimpworks.models.fitting import fit, repeatable, scratch_of
from blimpworks.models.text import training_sentences
from blimpworks.models.words import split_at_spaces, split_words

log = logging.getLogger(__name__)

UNKNOWN, END = "<unk>", "<eos>"
UNKNOWN_ID, END_ID = 0, 1
WEIGHTS, SETTINGS, VOCABULARY = "model.safetensors", "config.json", NGRAM_FILES[1]
INITIAL = 0.1
"""Embeddings and output weights start uniformly within this of zero."""
ANNEALING = 4.0
"""What the learning rate is divided by when the validation loss does not improve."""
EVALUATION_BATCH = 10
State = tuple[torch.Tensor, torch.Tensor]
"""Hidden and cell state, each [layers, batch, hidden]."""


class LstmSettings(Strict):
    """What ``config.json`` beside an LSTM's weights holds."""

    words: Literal["split", "whitespace"]
    """What a word is; see ``LstmRecipe``."""
    vocabulary: int
    """Words, ``<unk>`` and ``<eos>`` included."""
    layers: int
    hidden: int
    embedding: int


class LstmModel(torch.nn.Module):
    """Embedding, LSTM and an output layer of its own weights."""

    def __init__(self, settings: LstmSettings, dropout: float = 0.0) -> None:
        """Fresh, from torch's random state."""
        super().__init__()
        width, hidden = settings.embedding, settings.hidden
        self.drop = torch.nn.Dropout(dropout)
        self.embedding = torch.nn.Embedding(settings.vocabulary, width)
        # Between layers; with one layer there is nothing in between.
        between = dropout if settings.layers > 1 else 0.0
        self.lstm = torch.nn.LSTM(width, hidden, settings.layers, dropout=between)
        self.head = torch.nn.Linear(hidden, settings.vocabulary)
        torch.nn.init.uniform_(self.embedding.weight, -INITIAL, INITIAL)
        torch.nn.init.uniform_(self.head.weight, -INITIAL, INITIAL)
        torch.nn.init.zeros_(self.head.bias)

    def forward(self, ids: torch.Tensor, state: State | None = None) -> tuple[torch.Tensor, State]:
        """Hidden states [time, batch, hidden] after each id of ``ids`` [time, batch].

        ``state`` is that before the first, None for zeros; that after the last is returned
        too. ``head`` makes logits of the following word from hidden states.
        """
        output, after = self.lstm(self.drop(self.embedding(ids)), state)
        return self.drop(output), after

    def fresh(self, batch: int) -> State:
        """The state before anything is read: zeros, on the model's device."""
        shape = self.lstm.num_layers, batch, self.lstm.hidden_size
        zeros = self.head.weight.new_zeros(shape)
        return zeros, zeros


def words_of(text: str, rule: Literal["split", "whitespace"]) -> list[tuple[str, int]]:
    """Words of ``text`` by a rule of ``LstmRecipe``, each with the offset at which it ends."""
    return split_words(text) if rule == "split" else split_at_spaces(text)


def load_lstm(directory: Path) -> tuple[LstmModel, list[str], LstmSettings]:
    """Model in float32, its words by id, and its settings. Raises UserError if they disagree."""
    settings = LstmSettings.model_validate_json((directory / SETTINGS).read_bytes())
    words = (directory / VOCABULARY).read_text(encoding="utf-8").rstrip("\n").split("\n")
    if len(words) != settings.vocabulary:
        raise UserError(
            f"{directory / VOCABULARY} has {len(words)} words, but {SETTINGS} beside it says "
            f"{settings.vocabulary}; train the model again."
        )
    model = LstmModel(settings)
    model.load_state_dict(load_file(directory / WEIGHTS))
    return model.eval(), words, settings


def make_vocabulary(sentences: list[list[str]], most: int, least: int) -> list[str]:
    """``<unk>``, ``<eos>``, then words by falling frequency, then by code points.

    At most ``most`` in all, and none that occurs less than ``least`` times.
    """
    counts = Counter(word for sentence in sentences for word in sentence)
    for special in (UNKNOWN, END):
        counts.pop(special, None)
    ranked = sorted(counts, key=lambda word: (-counts[word], word))
    frequent = [word for word in ranked if counts[word] >= least]
    return [UNKNOWN, END, *frequent[: most - 2]]


def columns(sentences: list[list[str]], ids: dict[str, int], width: int) -> torch.Tensor:
    """All sentences, ``<eos>`` after each, as one text cut into ``width`` columns [time, width]."""
    flat = [
        number
        for sentence in sentences
        for number in (*(ids.get(word, UNKNOWN_ID) for word in sentence), END_ID)
    ]
    height = len(flat) // width
    return torch.tensor(flat[: height * width]).view(width, height).t().contiguous()


def _pieces(text: torch.Tensor, length: int) -> list[int]:
    """Where the pieces of ``length`` words start of a text [time, width]."""
    return list(range(0, len(text) - 1, length))


class _Course:
    """Training of an LSTM with SGD and annealing; see ``fitting.Course``."""

    def __init__(
        self,
        model: LstmModel,
        text: torch.Tensor,
        held: torch.Tensor,
        recipe: LstmRecipe,
        seed: int,
    ) -> None:
        self.model, self.clip = model, recipe.clip
        self.optimiser = torch.optim.SGD(model.parameters(), lr=recipe.learning_rate)
        self._text, self._held, self._recipe, self._seed = text, held, recipe, seed
        self._starts = _pieces(text, recipe.bptt)
        self.steps = recipe.epochs * len(self._starts)
        self._order: list[int] = []
        self._order_epoch = -1
        self._hidden: State | None = None
        # Learning rate and best validation loss; part of what a resumed run needs.
        self._progress = torch.tensor([recipe.learning_rate, np.inf], dtype=torch.float64)
        self._best: dict[str, torch.Tensor] = {}

    def _start_of(self, step: int) -> int:
        """Where the piece of a step starts; the order of an epoch depends on seed and epoch."""
        epoch, number = divmod(step, len(self._starts))
        if epoch != self._order_epoch:
            draw = np.random.default_rng((self._seed, epoch))
            shuffled = self._recipe.order == "shuffled"
            count = len(self._starts)
            self._order = draw.permutation(count).tolist() if shuffled else list(range(count))
            self._order_epoch = epoch
        return self._starts[self._order[number]]

    def rate(self, step: int) -> float:
        """Learning rate of a step; each epoch begins with a look at the held-out text."""
        if step % len(self._starts) == 0:
            if step:
                self._anneal()
            self._hidden = None
        return float(self._progress[0])

    def _anneal(self) -> None:
        """Keep the weights if they are the best so far, else lower the learning rate."""
        rate, best = self._progress.tolist()
        loss = self.validation_loss()
        if loss < best:
            self._best = {k: v.detach().clone() for k, v in self.model.named_parameters()}
        else:
            rate /= ANNEALING
        self._progress = torch.tensor([rate, min(loss, best)], dtype=torch.float64)
        log.info("validation perplexity %.1f, learning rate %g", np.exp(loss), rate)

    @torch.no_grad()
    def validation_loss(self) -> float:
        """Mean loss per word of the held-out text, in nats."""
        self.model.eval()
        total, state = 0.0, None
        for start in _pieces(self._held, self._recipe.bptt):
            loss, state = self._piece(self._held, start, state)
            total += loss.item() * min(self._recipe.bptt, len(self._held) - 1 - start)
        self.model.train()
        return total / (len(self._held) - 1)

    def _piece(
        self, text: torch.Tensor, start: int, state: State | None
    ) -> tuple[torch.Tensor, State]:
        """Mean loss of a piece, whose first word is not guessed, and the state after it."""
        end = min(start + self._recipe.bptt, len(text) - 1)
        output, after = self.model(text[start:end], state)
        logits = self.model.head(output).flatten(0, 1)
        return cross_entropy(logits, text[start + 1 : end + 1].flatten()), after

    def loss(self, step: int) -> torch.Tensor:
        """Mean loss per word of the step's piece [], in nats; the hidden state is carried on."""
        loss, (hidden, cell) = self._piece(self._text, self._start_of(step), self._hidden)
        self._hidden = hidden.detach(), cell.detach()
        return loss

    def state(self) -> dict[str, torch.Tensor]:
        """Learning rate and best loss so far, hidden state, and the best epoch's weights."""
        found = {"progress": self._progress}
        if self._hidden is not None:
            found |= {"hidden": self._hidden[0], "cell": self._hidden[1]}
        return found | {f"best.{name}": value for name, value in self._best.items()}

    def restore(self, state: dict[str, torch.Tensor]) -> None:
        """Go on from what ``state`` gave."""
        self._progress = state["progress"]
        self._hidden = state["hidden"], state["cell"]
        best = ((name.partition("best.")[2], value) for name, value in state.items())
        self._best = {name: value for name, value in best if name}

    def finish(self) -> None:
        """Put the best epoch's weights into the model."""
        self._anneal()
        with torch.no_grad():
            for name, parameter in self.model.named_parameters():
                parameter.copy_(self._best[name])


def _split(sentences: list[list[str]], share: float) -> tuple[list[list[str]], list[list[str]]]:
    """Sentences to train on, and every k-th, held out to decide the learning rate on."""
    every = round(1 / share)
    held = sentences[every - 1 :: every]
    return [s for i, s in enumerate(sentences) if (i + 1) % every], held


def _prepare(text: Path, recipe: LstmRecipe) -> tuple[list[str], torch.Tensor, torch.Tensor]:
    """Vocabulary, training text and held-out text.

    Raises UserError when the text is missing, empty, or too short for its columns.
    """
    sentences = [
        [word for word, _ in words_of(line, recipe.words)] for line in training_sentences(text)
    ]
    train, held = _split(sentences, recipe.validation)
    words = make_vocabulary(train, recipe.vocabulary, recipe.min_count)
    ids = {word: number for number, word in enumerate(words)}
    tables = columns(train, ids, recipe.batch), columns(held, ids, EVALUATION_BATCH)
    if min(map(len, tables)) < 2:
        raise UserError(
            f"{text} is too short: {len(train)} sentences to train on and {len(held)} held out "
            f"do not fill {recipe.batch} and {EVALUATION_BATCH} columns of two words; give more "
            "text, or a recipe with a smaller batch or a larger share of validation."
        )
    return words, *tables


def _save(model: LstmModel, words: list[str], settings: LstmSettings, directory: Path) -> None:
    weights = {name: parameter.data for name, parameter in model.named_parameters()}
    with atomic(directory / WEIGHTS) as temporary:
        save_file(weights, temporary)
    write_text(directory / VOCABULARY, "".join(f"{word}\n" for word in words))
    write_text(directory / SETTINGS, json.dumps(settings.model_dump(), indent=1) + "\n")


def train_lstm(
    text: Path,
    checkpoint: Path,
    *,
    name: str,
    scope: str,
    recipe_name: str,
    recipe: LstmRecipe,
    seed: int,
) -> Checkpoint:
    """Train an LSTM on ``text`` (one sentence per line, ``<eos>`` after each).

    Sentences are in the order of the file. Of them a share is held out: after each epoch in
    which its loss did not fall, the learning rate falls to a quarter; the weights with the
    lowest are kept. Writes ``model.safetensors``, ``vocabulary.txt`` (ids are line numbers
    from 0) and ``config.json`` beside ``checkpoint``, then ``checkpoint`` itself. Resumes and
    repeats as ``transformer.train_kind`` does.

    Raises UserError when the text is missing or too short, or the directory holds other files.
    """
    words, table, held = _prepare(text, recipe)
    directory = checkpoint.parent
    clear(directory)
    source = Trained(
        recipe=recipe_name, settings=recipe.model_dump(), seed=seed, text_sha256=sha256_of(text)
    )
    shape = recipe.model_dump(include={"words", "layers", "hidden", "embedding"})
    settings = LstmSettings(vocabulary=len(words), **shape)
    with repeatable(seed):
        model = LstmModel(settings, recipe.dropout)
        course = _Course(model, table, held, recipe, seed)
        fit(course, source, scratch_of(directory), recipe.checkpoint_steps)
    _save(model, words, settings, directory)
    described = trained_checkpoint(name, scope, "lstm", source, first_token="eos")
    sealed = seal(checkpoint, described)
    shutil.rmtree(scratch_of(directory), ignore_errors=True)
    log.info("%s: %d words in the vocabulary", directory, len(words))
    return sealed
