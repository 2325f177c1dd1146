"""Train word-level LSTMs and measure their perplexity (Mueller et al. 2020, section 5.2)."""

import json
import logging
import shutil
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import torch
from safetensors.torch import load_file, save_file
from torch.nn.functional import cross_entropy

from blimpworks.campaign.settings.training import LstmRecipe
from blimpworks.errors import UserError
from blimpworks.files import atomic, write_text
from blimpworks.models.checkpoint import (
    Checkpoint,
    Trained,
    clear,
    read_checkpoint,
    seal,
    trained_checkpoint,
)
from blimpworks.models.corpus import (
    END,
    SPECIALS,
    SPLITS,
    UNKNOWN,
    Ids,
    encode,
    read_corpus,
    sentences_of,
)
from blimpworks.models.corpus import VOCABULARY as CORPUS_VOCABULARY
from blimpworks.models.corpus import read_words as read_vocabulary
from blimpworks.models.fitting import (
    Course,
    DivergedError,
    fit,
    repeatable,
    scratch_of,
    training_device,
    training_of,
)
from blimpworks.models.threads import device_name
from blimpworks.models.weights import NGRAM_FILES
from blimpworks.models.words import split_at_spaces, split_words
from blimpworks.strict import Strict
from blimpworks.tables import PERPLEXITIES, write_table

log = logging.getLogger(__name__)

UNKNOWN_ID, END_ID = SPECIALS.index(UNKNOWN), SPECIALS.index(END)
WEIGHTS, SETTINGS, VOCABULARY = "model.safetensors", "config.json", NGRAM_FILES[1]
INITIAL = 0.1
"""Bound of the uniform initial embeddings and output weights."""
ANNEALING = 4.0
"""Divisor of the learning rate when the validation loss does not improve."""
EVALUATION_BATCH = 10
"""Columns of a text whose loss is measured."""
State = tuple[torch.Tensor, torch.Tensor]
"""Hidden and cell state, each [layers, batch, hidden]."""


class LstmSettings(Strict):
    """Content of ``config.json`` beside an LSTM's weights."""

    words: Literal["split", "whitespace"]
    """Rule for words; see ``CorpusOptions``."""
    vocabulary: int
    """Words, with ``<unk>`` and ``<eos>``."""
    layers: int
    hidden: int
    embedding: int


class LstmModel(torch.nn.Module):
    """Embedding, LSTM and an output layer with its own weights."""

    def __init__(self, settings: LstmSettings, dropout: float = 0.0) -> None:
        """Initialise from torch's random state."""
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
        """Return hidden states [time, batch, hidden] after ``ids`` [time, batch], and a state.

        ``state`` is that before the first id, None for zeros; the one after the last is returned.
        ``head`` turns hidden states into logits of the next word.
        """
        output, after = self.lstm(self.drop(self.embedding(ids)), state)
        return self.drop(output), after

    def fresh(self, batch: int) -> State:
        """Return the zero state, on the model's device."""
        shape = self.lstm.num_layers, batch, self.lstm.hidden_size
        zeros = self.head.weight.new_zeros(shape)
        return zeros, zeros


def words_of(text: str, rule: Literal["split", "whitespace"]) -> list[tuple[str, int]]:
    """Return words of ``text`` by a rule of ``CorpusOptions``, each with its end offset."""
    return split_words(text) if rule == "split" else split_at_spaces(text)


def load_lstm(directory: Path) -> tuple[LstmModel, list[str], LstmSettings]:
    """Load model in float32, words by id, and settings. Raises UserError if they disagree."""
    settings = LstmSettings.model_validate_json((directory / SETTINGS).read_bytes())
    vocabulary = (directory / VOCABULARY).read_text(encoding="utf-8").rstrip("\n").split("\n")
    if len(vocabulary) != settings.vocabulary:
        raise UserError(
            f"{directory / VOCABULARY} has {len(vocabulary)} words, but {SETTINGS} beside it says "
            f"{settings.vocabulary}; train the model again."
        )
    model = LstmModel(settings)
    model.load_state_dict(load_file(directory / WEIGHTS))
    return model.eval(), vocabulary, settings


def columns(flat: Ids, width: int) -> torch.Tensor:
    """Cut a run of ids into ``width`` columns [time, width], without the remainder."""
    height = len(flat) // width
    table = flat[: height * width].reshape(width, height).T
    return torch.from_numpy(np.ascontiguousarray(table))


def evaluation_columns(flat: Ids) -> torch.Tensor:
    """Cut a text into columns for its loss [time, columns]: ten, or fewer if short."""
    return columns(flat, max(1, min(EVALUATION_BATCH, len(flat) // 2)))


def _piece(
    model: LstmModel, text: torch.Tensor, start: int, end: int, state: State | None
) -> tuple[torch.Tensor, State]:
    """Return the mean loss [] of the words after each of a piece, and the state after it."""
    output, after = model(text[start:end], state)
    logits = model.head(output).flatten(0, 1)
    return cross_entropy(logits, text[start + 1 : end + 1].flatten().long()), after


@torch.no_grad()
def mean_loss(model: LstmModel, text: torch.Tensor, length: int) -> float:
    """Return the mean loss per word of a text [time, columns], with ``<eos>``, in nats.

    A column's hidden state goes on over lines; its first word is not guessed. Pieces of ``length``
    words are computed at a time.
    """
    was = model.training
    model.eval()
    total, state = 0.0, None
    for start in range(0, len(text) - 1, length):
        end = min(start + length, len(text) - 1)
        loss, state = _piece(model, text, start, end, state)
        total += loss.item() * (end - start)
    model.train(was)
    return total / (len(text) - 1)


class _Course(Course):
    """Training of an LSTM with SGD and annealing."""

    model: LstmModel

    def __init__(
        self,
        model: LstmModel,
        text: torch.Tensor,
        held: torch.Tensor,
        recipe: LstmRecipe,
        seed: int,
    ) -> None:
        self.model, self.clip = model, recipe.clip
        self.optimisers = [torch.optim.SGD(model.parameters(), lr=recipe.learning_rate)]
        self._text, self._held, self._recipe = text, held, recipe
        starts = np.arange(0, len(text) - 1, recipe.bptt)
        orders = [starts] * recipe.epochs
        if recipe.order == "shuffled":
            draws = (np.random.default_rng((seed, epoch)) for epoch in range(recipe.epochs))
            orders = [draw.permutation(starts) for draw in draws]
        self._starts: list[int] = np.concatenate(orders).tolist()
        self.steps, self._epoch = len(self._starts), len(starts)
        self._hidden: State | None = None
        # Learning rate and best validation loss; part of what a resumed run needs.
        self._progress = torch.tensor([recipe.learning_rate, np.inf], dtype=torch.float64)
        self._best: dict[str, torch.Tensor] = {}

    def rate(self, step: int) -> float:
        """Return the learning rate; start an epoch by annealing (but the first) and a new state."""
        if step % self._epoch == 0:
            if step:
                self._anneal(step // self._epoch)
            self._hidden = None
        return float(self._progress[0])

    def _anneal(self, epoch: int) -> None:
        """Keep the best weights so far, or lower the rate, after ``epoch`` finished epochs."""
        rate, best = self._progress.tolist()
        loss = self.validation_loss()
        if not np.isfinite(loss):
            raise DivergedError(f"the validation loss is {loss} after epoch {epoch}")
        if loss < best:
            self._best = {k: v.detach().clone() for k, v in self.model.named_parameters()}
        else:
            rate /= ANNEALING
        self._progress = torch.tensor([rate, min(loss, best)], dtype=torch.float64)
        log.info("validation perplexity %.1f, learning rate %g", np.exp(loss), rate)

    def validation_loss(self) -> float:
        return mean_loss(self.model, self._held, self._recipe.bptt)

    def loss(self, step: int) -> torch.Tensor:
        start = self._starts[step]
        end = min(start + self._recipe.bptt, len(self._text) - 1)
        loss, (hidden, cell) = _piece(self.model, self._text, start, end, self._hidden)
        self._hidden = hidden.detach(), cell.detach()
        return loss

    def state(self) -> dict[str, torch.Tensor]:
        state = {"progress": self._progress}
        if self._hidden is not None:
            state |= {"hidden": self._hidden[0], "cell": self._hidden[1]}
        return state | {f"best.{name}": value for name, value in self._best.items()}

    def restore(self, state: dict[str, torch.Tensor]) -> None:
        self._progress = state["progress"]
        device = self._text.device
        self._hidden = state["hidden"].to(device), state["cell"].to(device)
        best = ((name.partition("best.")[2], value.to(device)) for name, value in state.items())
        self._best = {name: value for name, value in best if name}

    def finish(self) -> None:
        """Put the best epoch's weights into the model."""
        self._anneal(self._recipe.epochs)
        with torch.no_grad():
            for name, parameter in self.model.named_parameters():
                parameter.copy_(self._best[name])


def _save(model: LstmModel, words: list[str], settings: LstmSettings, directory: Path) -> None:
    weights = {name: parameter.data.cpu() for name, parameter in model.named_parameters()}
    with atomic(directory / WEIGHTS) as temporary:
        save_file(weights, temporary)
    write_text(directory / VOCABULARY, "".join(f"{word}\n" for word in words))
    write_text(directory / SETTINGS, json.dumps(settings.model_dump(), indent=1) + "\n")


class TrainedLstm(NamedTuple):
    """An LSTM that was trained here."""

    checkpoint: Checkpoint
    perplexity: float
    """Perplexity of the corpus's test text."""
    device: str


def train_lstm(
    corpus: Path,
    checkpoint: Path,
    *,
    name: str,
    scope: str,
    recipe_name: str,
    recipe: LstmRecipe,
    seed: int,
) -> TrainedLstm:
    """Train an LSTM on the corpus that ``corpus``, a ``corpus.json``, describes.

    After each epoch without a lower loss of ``valid.txt``, the learning rate falls to a quarter;
    the weights with the lowest loss are kept. Epochs shuffle pieces of the text (``recipe.order``).
    Writes ``model.safetensors``, ``vocabulary.txt`` (the corpus's) and ``config.json`` beside
    ``checkpoint``, then ``checkpoint``. Resumes, and repeats with the same result, as
    ``transformer.train_kind`` does: after a GPU, on GPUs of its kind.

    Raises UserError when the corpus is missing, altered or too short, the directory holds other
    files, or the training diverges.
    """
    rule = read_corpus(corpus).words
    vocabulary = read_vocabulary(corpus.parent / CORPUS_VOCABULARY)
    ids = {word: number for number, word in enumerate(vocabulary)}
    flat = [encode(sentences_of(corpus.parent / f"{split}.txt"), ids) for split in SPLITS]
    if len(flat[0]) < 2 * recipe.batch or min(map(len, flat)) < 2:
        lengths = ", ".join(f"{len(text):,}" for text in flat)
        raise UserError(
            f"{corpus}: too short: its texts have {lengths} words (train, valid, test), but "
            f"{recipe.batch} columns of two words are to be filled; give more text, or a recipe "
            "with a smaller batch."
        )
    texts = [columns(flat[0], recipe.batch), *map(evaluation_columns, flat[1:])]
    directory = checkpoint.parent
    clear(directory)
    source = training_of(recipe_name, recipe, seed, corpus)
    shape = recipe.model_dump(include={"layers", "hidden", "embedding"})
    settings = LstmSettings(words=rule, vocabulary=len(vocabulary), **shape)
    device = training_device()
    with repeatable(seed):
        # Drawn on the CPU, so that the first weights are the same everywhere.
        model = LstmModel(settings, recipe.dropout).to(device)
        train, valid, test = (text.to(device) for text in texts)
        course = _Course(model, train, valid, recipe, seed)
        fit(course, source, scratch_of(directory), recipe.checkpoint_steps)
        perplexity = float(np.exp(mean_loss(model, test, recipe.bptt)))
    _save(model, vocabulary, settings, directory)
    described = trained_checkpoint(name, scope, "lstm", source, first_token="eos")
    trained = TrainedLstm(seal(checkpoint, described), perplexity, device_name(device))
    shutil.rmtree(scratch_of(directory), ignore_errors=True)
    log.info("%s: %d words, test perplexity %.2f", directory, len(vocabulary), perplexity)
    return trained


PIECE = 35
"""Words computed at a time if a model's recipe states no number."""


def measure_perplexity(checkpoint: Path, corpus: Path, lang: str, output: Path) -> dict[str, Any]:
    """Write a table with one row, of a model on ``test.txt`` of a language's corpus.

    Measured as in training (``lstm.mean_loss``): sentences in a row, each with ``<eos>``, which
    counts, in ten columns whose first word is not guessed. A multilingual model is thus measured on
    each language's test text (Mueller et al. 2020, Table 1).

    Raises UserError when a file is missing or altered, the model is no LSTM trained here, or its
    words differ from the corpus's.
    """
    of_model = read_checkpoint(checkpoint)
    if of_model.architecture != "lstm" or not isinstance(of_model.source, Trained):
        raise UserError(
            f"{checkpoint}: is of architecture {of_model.architecture!r}; perplexity is measured "
            "of LSTMs that are trained here: give one's checkpoint.json."
        )
    recipe = of_model.source.settings
    model, words, settings = load_lstm(checkpoint.parent)
    described = read_corpus(corpus)
    if settings.words != described.words:
        raise UserError(
            f"{corpus} has words by the rule {described.words!r}, but the model of {checkpoint} "
            f"was trained with {settings.words!r}; measure it on the corpus of its recipe."
        )
    ids = {word: number for number, word in enumerate(words)}
    text = evaluation_columns(encode(sentences_of(corpus.parent / "test.txt"), ids))
    if len(text) < 2:
        raise UserError(f"{corpus.parent / 'test.txt'} has no two words; give a longer corpus.")
    device = training_device()
    with repeatable(0):
        loss = mean_loss(model.to(device), text.to(device), recipe.get("bptt", PIECE))
    guessed = text[1:]
    row = {
        "lang": lang,
        "model": of_model.name,
        "corpus": str(recipe.get("corpus", "")),
        "words": guessed.numel(),
        "unknown": int((guessed == UNKNOWN_ID).sum()),
        "loss": loss,
        "perplexity": float(np.exp(loss)),
    }
    write_table(pa.table({column: [value] for column, value in row.items()}), PERPLEXITIES, output)
    return row
