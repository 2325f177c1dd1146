"""Measure the speed of training an LSTM, in words per second."""

import random
import time
from unittest import mock

import torch
from shapes import GPU, synthetic

from blimpworks.campaign.settings.training import CorpusOptions, LstmRecipe
from blimpworks.models import lstm
from support import tiny

LINES = 40_000 if GPU else 200
PAPER = {} if GPU else {"layers": 1, "hidden": 32, "embedding": 32, "batch": 4}


def text_with_many_words(path):
    """Write a text of up to 36,000 made-up words; the papers' vocabularies have 50,000."""
    draw = random.Random(1)
    with path.open("w", encoding="utf-8") as lines:
        for good, _ in synthetic(LINES):
            lines.write(" ".join(f"{word}{draw.randrange(100)}" for word in good.split()) + "\n")
    return path


def train_lstm(bench):
    """Train an LSTM for an epoch in float32, by CLAMS's recipe, with up to 36,000 words."""
    text = text_with_many_words(bench.work / "lstm.txt")
    corpus = tiny.corpus_of(text, CorpusOptions(words="whitespace", unknown_share=1))
    recipe = LstmRecipe(kind="lstm", epochs=1, **PAPER)
    clock = {}

    def fit(course, *arguments, usual=lstm.fitting.fit):
        started = time.perf_counter()
        usual(course, *arguments)
        if GPU:
            torch.cuda.synchronize()
        trained = course.steps * recipe.bptt * recipe.batch
        clock.update(seconds=time.perf_counter() - started, words=trained)

    with mock.patch.object(lstm.fitting, "fit", fit):
        lstm.train_lstm(
            corpus,
            bench.work / "lstm" / "checkpoint.json",
            name="lstm",
            scope="eng",
            recipe_name="lstm",
            recipe=recipe,
            seed=0,
        )
    shape = f"{recipe.layers} x {recipe.hidden}, {recipe.batch} columns, {recipe.bptt} words"
    bench.emit(
        **{
            "recipe": shape,
            "words/s": clock["words"] / clock["seconds"],
            "words": clock["words"],
            "seconds": clock["seconds"],
        }
    )
