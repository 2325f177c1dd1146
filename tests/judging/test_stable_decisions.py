"""No batch, order, shard, sharing of prefixes or number of threads turns a decision."""

from itertools import cycle

import pytest
import torch

from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.judging.judge import Rules, judge
from blimpworks.scoring.collect import Shards, collect_scores
from blimpworks.scoring.run import score_items
from blimpworks.tables import JUDGEMENTS, read_table
from support import tiny

LSTM = tiny.LSTM.model_copy(update={"hidden": 200, "embedding": 120, "epochs": 1})
MODELS = {
    "kenlm": tiny.make_ngram,
    # As wide as LSTMs whose products of other shapes round differently.
    "lstm": lambda text, checkpoint: tiny.make_lstm(text, checkpoint, LSTM),
    "transformers": tiny.make_transformer,
}
OTHER_WAYS = (
    {"batch_tokens": 64},
    {"shard": 7},
    {"sharing": "always"},
    {"sharing": "never", "batch_tokens": 300, "shard": 90},
)


def pairs_with_ties():
    """Sentences against others, against themselves reordered, and against unknown words."""
    first, second = tiny.sentences(900, seed=11), tiny.sentences(900, seed=12)
    for good, other, kind in zip(first, second, cycle("otu"), strict=False):
        the, noun, verb, *rest = good.split(" ")
        bad = {"o": other, "t": " ".join([the, verb, noun, *rest])}.get(kind)
        unknown = [" ".join([the, word, verb, *rest]) for word in ("zebra", "yak")]
        yield (good, bad) if bad else tuple(unknown)


def decisions(directory, pairs, engine, checkpoint, options):
    """What each pair counts as and whether it is a tie, by its sentences."""
    items = tiny.write_items(directory / "items.parquet", pairs)
    store, manifest = directory / "store", directory / "manifest.json"
    score_items([items], checkpoint, store, manifest, engine, ScoringOptions(**options))
    scores, output = directory / "scores.parquet", directory / "judgements.parquet"
    collect_scores(items, Shards(manifest, store), scores)
    judge(items, scores, output, Rules(["full_sentence"], ["wrong"], 0.001))
    rows = read_table(JUDGEMENTS, output).to_pylist()
    return {pair: (r["correct"], r["tie"]) for pair, r in zip(pairs, rows, strict=True)}


@pytest.mark.slow
@pytest.mark.parametrize("engine", MODELS)
def test_decisions_are_the_same_however_sentences_are_computed(tmp_path, engine):
    text = tiny.write_corpus(tmp_path / "text.txt")
    checkpoint = MODELS[engine](text, tmp_path / "model" / "checkpoint.json")
    pairs = [*dict.fromkeys(pairs_with_ties())]
    usual = decisions(tmp_path / "usual", pairs, engine, checkpoint, {})
    assert {tie for _, tie in usual.values()} == {True, False} or engine == "transformers"
    threads = torch.get_num_threads()
    for number, options in enumerate(OTHER_WAYS):
        torch.set_num_threads(1 + number % 2)
        others = decisions(tmp_path / str(number), pairs[::-1], engine, checkpoint, options)
        assert others == usual, options
    torch.set_num_threads(threads)
