"""Measure the perplexity of LSTMs on the test text of a corpus."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from blimpworks.errors import UserError
from blimpworks.models.checkpoint import Trained, read_checkpoint
from blimpworks.models.corpus import encode, read_corpus, sentences_of
from blimpworks.models.fitting import repeatable, training_device
from blimpworks.models.lstm import UNKNOWN_ID, evaluation_columns, load_lstm, mean_loss
from blimpworks.tables import PERPLEXITIES, write_table

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
