"""Train word-level LSTMs and measure their perplexity (Mueller et al. 2020, section 5.2).

``train_lstm`` cuts a training text, one long array of word ids, into columns, which form a batch.
Each step reads a piece: ``recipe.bptt`` successive words of all columns. It starts from the final
state of the step before. The authors shuffled the pieces (``recipe.order: shuffled``), so that a
state comes from an unrelated piece.
"""

import json
import logging
import shutil
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch.nn.functional import cross_entropy

from blimpworks.campaign.settings.training import LstmRecipe
from blimpworks.errors import UserError
from blimpworks.files import atomic, write_text
from blimpworks.models import checkpoint as checkpoints
from blimpworks.models import corpus as corpora
from blimpworks.models import fitting
from blimpworks.models.text import split_at_spaces, split_words
from blimpworks.strict import Strict
from blimpworks.tables import PERPLEXITIES, write_rows

log = logging.getLogger(__name__)

UNKNOWN_ID, END_ID = corpora.SPECIALS.index(corpora.UNKNOWN), corpora.SPECIALS.index(corpora.END)
# The list of words has the same name as that of n-gram models.
WEIGHTS, SETTINGS, VOCABULARY = "model.safetensors", "config.json", checkpoints.NGRAM_FILES[1]
INITIAL = 0.1
"""Bound of the uniform distribution of initial embeddings and output weights."""
ANNEALING = 4.0
"""Divisor of the learning rate after an epoch in which the validation loss did not improve."""
EVALUATION_BATCH = 10
"""Number of columns into which a text is cut to measure its loss, so that it is a batch."""
State = tuple[torch.Tensor, torch.Tensor]
"""Hidden and cell state, each [layers, batch, hidden]."""


class LstmSettings(Strict):
    """Content of the ``config.json`` beside the weights of an LSTM."""

    words: Literal["split", "whitespace"]
    """Rule for splitting texts into words; see ``CorpusOptions``."""
    vocabulary: int
    """Number of words, with ``<unk>`` and ``<eos>``."""
    layers: int
    hidden: int
    embedding: int


class LstmModel(torch.nn.Module):
    """Embedding, LSTM and an output layer that has its own weights."""

    def __init__(self, settings: LstmSettings, dropout: float = 0.0) -> None:
        """Draw initial weights from torch's random state."""
        super().__init__()
        width, hidden = settings.embedding, settings.hidden
        self.drop = torch.nn.Dropout(dropout)
        self.embedding = torch.nn.Embedding(settings.vocabulary, width)
        # torch warns about dropout between layers if there is one layer.
        between = dropout if settings.layers > 1 else 0.0
        self.lstm = torch.nn.LSTM(width, hidden, settings.layers, dropout=between)
        self.head = torch.nn.Linear(hidden, settings.vocabulary)
        torch.nn.init.uniform_(self.embedding.weight, -INITIAL, INITIAL)
        torch.nn.init.uniform_(self.head.weight, -INITIAL, INITIAL)
        torch.nn.init.zeros_(self.head.bias)

    def forward(self, ids: torch.Tensor, state: State | None = None) -> tuple[torch.Tensor, State]:
        """Return the hidden states [time, batch, hidden] after ``ids`` [time, batch].

        ``state`` is the state before the first id, None for zeros; the state after the last id is
        returned too. ``head`` computes logits of the next word from hidden states.
        """
        output, after = self.lstm(self.drop(self.embedding(ids)), state)
        return self.drop(output), after

    def fresh(self, batch: int) -> State:
        """Return a state of zeros on the model's device."""
        shape = self.lstm.num_layers, batch, self.lstm.hidden_size
        zeros = self.head.weight.new_zeros(shape)
        return zeros, zeros


def words_of(text: str, rule: Literal["split", "whitespace"]) -> list[tuple[str, int]]:
    """Return the words of ``text`` by a rule of ``CorpusOptions``, each with its end offset."""
    return split_words(text) if rule == "split" else split_at_spaces(text)


def load_lstm(directory: Path) -> tuple[LstmModel, list[str], LstmSettings]:
    """Load an LSTM, its words in the order of ids, and its settings.

    Raises UserError if the number of words is not that of the settings.
    """
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


def columns(flat: corpora.Ids, width: int) -> torch.Tensor:
    """Cut an array of ids into ``width`` columns [time, width], without the remainder.

    In two columns, 0 to 6 become ``[[0, 3], [1, 4], [2, 5]]``.
    """
    height = len(flat) // width
    table = flat[: height * width].reshape(width, height).T
    return torch.from_numpy(np.ascontiguousarray(table))


def evaluation_columns(flat: corpora.Ids) -> torch.Tensor:
    """Cut a text whose loss is measured into ten columns [time, columns], fewer if it is short."""
    return columns(flat, max(1, min(EVALUATION_BATCH, len(flat) // 2)))


def _loss_of_words(
    model: LstmModel, text: torch.Tensor, start: int, end: int, state: State | None
) -> tuple[torch.Tensor, State]:
    """Return the mean loss of predicting ``text[start + 1 : end + 1]``, and the next state.

    ``text`` has word ids [time, columns]; ``state`` is the state before its row ``start``.
    """
    output, after = model(text[start:end], state)
    logits = model.head(output).flatten(0, 1)
    return cross_entropy(logits, text[start + 1 : end + 1].flatten().long()), after


@torch.no_grad()
def mean_loss(model: LstmModel, text: torch.Tensor, length: int) -> float:
    """Return the mean loss per word of a text [time, columns], ``<eos>`` included [nats].

    Each column keeps its state from one sentence to the next; its first word is not predicted.
    ``length`` words are computed at a time.
    """
    was_training = model.training
    model.eval()
    total, state = 0.0, None
    for start in range(0, len(text) - 1, length):
        end = min(start + length, len(text) - 1)
        loss, state = _loss_of_words(model, text, start, end, state)
        total += loss.item() * (end - start)
    model.train(was_training)
    return total / (len(text) - 1)


class _Course(fitting.Course):
    """Training of an LSTM by SGD, with a learning rate that falls by annealing.

    ``fit`` calls ``rate`` before each step. An epoch's first call validates the epoch before.
    """

    model: LstmModel

    def __init__(
        self,
        model: LstmModel,
        text: torch.Tensor,
        validation_text: torch.Tensor,
        recipe: LstmRecipe,
        seed: int,
    ) -> None:
        self.model, self.clip = model, recipe.clip
        self.optimisers = [torch.optim.SGD(model.parameters(), lr=recipe.learning_rate)]
        self._text, self._validation_text, self._recipe = text, validation_text, recipe
        # Rows of the text at which pieces begin; a step reads one piece.
        starts = np.arange(0, len(text) - 1, recipe.bptt)
        orders = [starts] * recipe.epochs
        if recipe.order == "shuffled":
            draws = (np.random.default_rng((seed, epoch)) for epoch in range(recipe.epochs))
            orders = [draw.permutation(starts) for draw in draws]
        self._starts: list[int] = np.concatenate(orders).tolist()
        self.steps, self._steps_per_epoch = len(self._starts), len(starts)
        self._hidden: State | None = None  # after the last step; None (zeros) at a new epoch
        # Learning rate and best validation loss, which snapshots contain.
        self._progress = torch.tensor([recipe.learning_rate, np.inf], dtype=torch.float64)
        self._best: dict[str, torch.Tensor] = {}  # weights with the best validation loss

    def rate(self, step: int) -> float:
        """Return the learning rate. First, at a new epoch, anneal it and reset the hidden state."""
        if step % self._steps_per_epoch == 0:
            if step:
                self._anneal(step // self._steps_per_epoch)
            self._hidden = None
        return float(self._progress[0])

    def _anneal(self, epoch: int) -> None:
        """After ``epoch`` epochs, keep the weights if they are the best, else lower the rate."""
        rate, best = self._progress.tolist()
        loss = self.validation_loss()
        if not np.isfinite(loss):
            raise fitting.DivergedError(f"the validation loss is {loss} after epoch {epoch}")
        if loss < best:
            self._best = {k: v.detach().clone() for k, v in self.model.named_parameters()}
        else:
            rate /= ANNEALING
        self._progress = torch.tensor([rate, min(loss, best)], dtype=torch.float64)
        log.info("validation perplexity %.1f, learning rate %g", np.exp(loss), rate)

    def validation_loss(self) -> float:
        return mean_loss(self.model, self._validation_text, self._recipe.bptt)

    def loss(self, step: int) -> torch.Tensor:
        start = self._starts[step]
        end = min(start + self._recipe.bptt, len(self._text) - 1)
        loss, (hidden, cell) = _loss_of_words(self.model, self._text, start, end, self._hidden)
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
        # Names such as best.head.bias; the other tensors of the state get the empty name.
        best = ((name.partition("best.")[2], value.to(device)) for name, value in state.items())
        self._best = {name: value for name, value in best if name}

    def finish(self) -> None:
        """Restore the weights of the best epoch."""
        self._anneal(self._recipe.epochs)
        with torch.no_grad():
            for name, parameter in self.model.named_parameters():
                parameter.copy_(self._best[name])


def _save(model: LstmModel, vocabulary: list[str], settings: LstmSettings, directory: Path) -> None:
    weights = {name: parameter.data.cpu() for name, parameter in model.named_parameters()}
    with atomic(directory / WEIGHTS) as temporary:
        save_file(weights, temporary)
    write_text(directory / VOCABULARY, "".join(f"{word}\n" for word in vocabulary))
    write_text(directory / SETTINGS, json.dumps(settings.model_dump(), indent=1) + "\n")


class TrainedLstm(NamedTuple):
    """Result of training an LSTM."""

    checkpoint: checkpoints.Checkpoint
    perplexity: float
    """Perplexity on the corpus's test text."""
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
    """Train an LSTM on a corpus; ``corpus`` is its ``corpus.json``.

    After each epoch without a lower loss on ``valid.txt``, the learning rate falls to a quarter.
    The weights with the lowest loss are kept. ``recipe.order`` says if epochs shuffle the text.
    Writes ``model.safetensors``, ``vocabulary.txt`` (of the corpus) and ``config.json`` beside
    ``checkpoint``, then ``checkpoint``. As in ``transformer.train_by``, a run can be resumed and
    repeated with the same result, on a GPU of the same model. Raises UserError if the corpus is
    missing, altered or too short, the directory has other files, or the training diverges.
    """
    rule = corpora.read_corpus(corpus).words
    vocabulary = corpora.read_words(corpus.parent / corpora.VOCABULARY)
    ids = {word: number for number, word in enumerate(vocabulary)}
    # Word ids of the texts train, valid and test.
    flat = [
        corpora.encode(corpora.sentences_of(corpus.parent / f"{split}.txt"), ids)
        for split in corpora.SPLITS
    ]
    if len(flat[0]) < 2 * recipe.batch or min(map(len, flat)) < 2:
        lengths = ", ".join(f"{len(text):,}" for text in flat)
        raise UserError(
            f"{corpus}: too short: its texts have {lengths} words (train, valid, test), but "
            f"{recipe.batch} columns of two words are to be filled; give more text, or a recipe "
            "with a smaller batch."
        )
    texts = [columns(flat[0], recipe.batch), *map(evaluation_columns, flat[1:])]
    directory = checkpoint.parent
    checkpoints.clear(directory)
    source = fitting.training_of(recipe_name, recipe, seed, corpus)
    shape = recipe.model_dump(include={"layers", "hidden", "embedding"})
    settings = LstmSettings(words=rule, vocabulary=len(vocabulary), **shape)
    device = fitting.training_device()
    with fitting.repeatable(seed):
        # The CPU draws the initial weights, so that they are the same for every device.
        model = LstmModel(settings, recipe.dropout).to(device)
        train, valid, test = (text.to(device) for text in texts)
        course = _Course(model, train, valid, recipe, seed)
        fitting.fit(course, source, fitting.scratch_of(directory), recipe.checkpoint_steps)
        perplexity = float(np.exp(mean_loss(model, test, recipe.bptt)))
    _save(model, vocabulary, settings, directory)
    described = checkpoints.trained_checkpoint(name, scope, "lstm", source, first_token="eos")
    sealed = checkpoints.seal(checkpoint, described)
    trained = TrainedLstm(sealed, perplexity, fitting.device_name(device))
    shutil.rmtree(fitting.scratch_of(directory), ignore_errors=True)
    log.info("%s: %d words, test perplexity %.2f", directory, len(vocabulary), perplexity)
    return trained


TIME_STEPS = 35
"""Number of words computed at a time if the recipe of a model states none."""


def measure_perplexity(checkpoint: Path, corpus: Path, lang: str, output: Path) -> dict[str, Any]:
    """Measure the perplexity of an LSTM on ``test.txt`` of a corpus; write it as a table's one row.

    As in training, the loss is that of ``mean_loss`` over the sentences, each with ``<eos>``, in
    ten columns. A multilingual model is thus measured on the test text of each language (Mueller et
    al. 2020, Table 1). Raises UserError if a file is missing or altered, the model is no LSTM
    trained here, or the corpus has words by another rule.
    """
    described = checkpoints.read_checkpoint(checkpoint)
    if described.architecture != "lstm" or not isinstance(described.source, checkpoints.Trained):
        raise UserError(
            f"{checkpoint}: is of architecture {described.architecture!r}; perplexity is measured "
            "of LSTMs that are trained here: give one's checkpoint.json."
        )
    recipe = described.source.settings
    model, vocabulary, settings = load_lstm(checkpoint.parent)
    rule = corpora.read_corpus(corpus).words
    if settings.words != rule:
        raise UserError(
            f"{corpus} has words by the rule {rule!r}, but the model of {checkpoint} "
            f"was trained with {settings.words!r}; measure it on the corpus of its recipe."
        )
    ids = {word: number for number, word in enumerate(vocabulary)}
    text = evaluation_columns(corpora.encode(corpora.sentences_of(corpus.parent / "test.txt"), ids))
    if len(text) < 2:
        raise UserError(f"{corpus.parent / 'test.txt'} has no two words; give a longer corpus.")
    device = fitting.training_device()
    with fitting.repeatable(0):
        loss = mean_loss(model.to(device), text.to(device), recipe.get("bptt", TIME_STEPS))
    predicted_ids = text[1:]
    row = {
        "lang": lang,
        "model": described.name,
        "corpus": str(recipe.get("corpus", "")),
        "words": predicted_ids.numel(),
        "unknown": int((predicted_ids == UNKNOWN_ID).sum()),
        "loss": loss,
        "perplexity": float(np.exp(loss)),
    }
    write_rows([row], PERPLEXITIES, output)
    return row
