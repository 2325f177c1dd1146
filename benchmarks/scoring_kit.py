"""Provide the benchmarks of scoring with models, pairs and functions that score them."""

import json
import logging
import lzma
import os
import random
import sys
import tempfile
import time
from contextlib import contextmanager, nullcontext
from pathlib import Path
from unittest import mock

import numpy as np
import pyarrow.parquet as pq
import torch
from transformers import LlamaConfig, LlamaForCausalLM
from transformers import logging as transformers_logging

REPOSITORY = Path(__file__).resolve().parents[1]
MIRROR = Path(os.environ.get("BLIMPWORKS_MIRROR", REPOSITORY.parent / "shared" / "mirror"))
sys.path.insert(0, str(REPOSITORY / "tests"))

from blimpworks.campaign.settings.scoring import ScoringOptions  # noqa: E402
from blimpworks.campaign.settings.training import TransformerRecipe  # noqa: E402
from blimpworks.scoring import run  # noqa: E402
from blimpworks.scoring.engine import load_engine  # noqa: E402
from blimpworks.scoring.run import Shards, collect_scores  # noqa: E402
from support import tiny  # noqa: E402

transformers_logging.set_verbosity_error()
transformers_logging.disable_progress_bar()
logging.disable(logging.WARNING)

SMALL = TransformerRecipe(
    kind="transformer",
    vocabulary=4096,
    hidden=128,
    layers=4,
    heads=4,
    context=256,
    epochs=2,
    max_steps=40,
    checkpoint_steps=1000,
)
"""Model of 1.3 million parameters, whose tokenizer splits English words as large models do."""


def _lines(path):
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        yield from lines


def blimp_rows(per_paradigm, start=0):
    """Yield good and bad sentences: ``per_paradigm`` pairs of each of BLiMP's 67 paradigms."""
    for path in sorted((MIRROR / "blimp" / "data").glob("*.jsonl.xz")):
        for line in list(_lines(path))[start : start + per_paradigm]:
            row = json.loads(line)
            yield row["sentence_good"], row["sentence_bad"]


def clams_sets(lang):
    """Yield each set of CLAMS in a language: its name, and (right or not, sentence) by line."""
    for path in sorted((MIRROR / "clams" / f"{lang}_evalset").glob("*.txt.xz")):
        rows = [line.rstrip("\n").split("\t")[:2] for line in _lines(path)]
        yield path.name.partition(".")[0], [(label == "True", text) for label, text in rows]


def clams_pairs(lang):
    """Yield (right, wrong) sentences on neighbouring lines of CLAMS' sets in a language."""
    for _, rows in clams_sets(lang):
        for (right, first), (second_right, second) in zip(rows[::2], rows[1::2], strict=False):
            if right != second_right:
                yield (first, second) if right else (second, first)


def items_pairs(path):
    """Return the (good, bad) pairs of an items table."""
    table = pq.read_table(path, columns=["good", "bad"])
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def sample(pairs, count):
    """Return a random sample of ``count`` pairs, in their order."""
    pairs = list(pairs)
    chosen = sorted(random.Random(0).sample(range(len(pairs)), min(count, len(pairs))))
    return [pairs[i] for i in chosen]


DEMO = TransformerRecipe(kind="transformer", max_steps=40, checkpoint_steps=1000)
"""The small transformer that the demo campaign trains: 0.3 million parameters."""


def train_small(directory, recipe=SMALL):
    """Train a small model for some steps on BLiMP's good sentences; return its checkpoint."""
    text = directory / "text.txt"
    lines = [good for good, _ in blimp_rows(60, start=500)]
    random.Random(0).shuffle(lines)
    text.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return tiny.make_transformer(text, directory / "small" / "checkpoint.json", recipe)


def random_llama(small, directory, dtype="float32", device="cpu", **sizes):
    """Make a Llama with random weights and a small model's tokenizer; return its checkpoint."""
    directory.mkdir()
    for pattern in ("tokenizer*", "chat_template*"):
        for path in small.parent.glob(pattern):
            (directory / path.name).write_bytes(path.read_bytes())
    settings = LlamaConfig(bos_token_id=0, eos_token_id=1, dtype=dtype, **sizes)
    torch.manual_seed(0)
    with torch.device(device):
        model = LlamaForCausalLM(settings).to(getattr(torch, dtype))
    model.save_pretrained(directory)
    del model
    return tiny.describe(directory, "causal")


@contextmanager
def loaded(engine):
    """Make ``score_items`` use a loaded engine, and leave it open."""
    use_engine = mock.patch.object(run, "load_engine", return_value=engine)
    # The engine stays open for the next round.
    with use_engine, mock.patch.object(run, "closing", nullcontext):
        yield


def score(engine, checkpoint, items, options, directory):
    """Score the pairs of an items table with shards in ``directory``; return the scores table."""
    manifest, store = directory / "manifest.json", directory / "shards"
    with loaded(engine):
        run.score_items([items], checkpoint, store, manifest, "transformers", options)
    return collect_scores(items, Shards(manifest, store), directory / "scores.parquet")


def ours(checkpoint, items, **options):
    """Return a function that scores all pairs with a loaded model and returns the scores table."""
    settings = ScoringOptions(**options)
    engine = load_engine(checkpoint, "transformers", settings)

    def go():
        with tempfile.TemporaryDirectory() as directory:
            return score(engine, checkpoint, items, settings, Path(directory))

    return go


def spent(function):
    """Return the wall and processor seconds of a call, as an array [2]."""
    clock, processor = time.perf_counter(), time.process_time()
    function()
    return np.array([time.perf_counter() - clock, time.process_time() - processor])
