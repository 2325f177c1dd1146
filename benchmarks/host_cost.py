"""Measure the cost of scoring beside the model, in microseconds of processor time per token.

python benchmarks/host_cost.py [--sentences N] [--rounds N]

An engine returns prepared arrays, with lengths like those of real sentences. They pass through the
real code: keys, shards, manifest, scores table. The stages of planning measure what the causal
engine needs beside its forward passes, with and without a prefix tree. The least of the rounds
counts for each stage.
"""

import argparse
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import scoring_kit as kit

from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.scoring import run
from blimpworks.scoring.engine import Encoded
from blimpworks.scoring.passes import packed_passes, padded_passes, plan_rows
from blimpworks.scoring.progress import UNWATCHED
from blimpworks.scoring.selftest import Findings
from blimpworks.scoring.store import Request, Store, requests_of, score_shards, sort_requests
from blimpworks.scoring.trie import build_trie
from support import tiny


class Ready:
    """An engine that returns prepared log-probabilities."""

    key = "transformers 5.0.0 torch 2.0.0 cpu batch_tokens 8192 sharing auto|" + "0" * 64
    limit = 2048
    regional = False
    shares_prefixes = True
    parallel_batches = 1

    def __init__(self, encoded, logprobs):
        self._encoded, self._logprobs = encoded, logprobs

    def self_test(self):
        return Findings(checks={})

    def follow(self, decisions):
        """Do nothing, because no decision is needed."""

    def encode(self, texts):
        return [self._encoded[text] for text in texts]

    def logprobs(self, batch):
        return [self._logprobs[len(encoded.ids)] for encoded in batch]

    def close(self):
        """Do nothing."""


def synthetic(count, seed=0):
    """Return tokens by sentence (4 to 40 each, 12 on average), and scores by number of tokens."""
    draw = np.random.default_rng(seed)
    lengths = np.clip(draw.poisson(8, count) + draw.geometric(0.25, count), 4, 40)
    encoded, scores = {}, {}
    for number, length in enumerate(lengths.tolist()):
        ids = draw.integers(0, 50_000, length, dtype=np.int32)
        ends = np.cumsum(draw.integers(2, 7, length)).astype(np.int32)
        encoded[f"{number} ".ljust(int(ends[-1]), "x")] = Encoded(ids, ends)
        scores.setdefault(length, -draw.exponential(5, length).astype(np.float32))
    return encoded, scores


def plans(encoded, sharing):
    """Plan the passes of all shards of a thousand sentences, as the causal engine does."""
    texts = sorted(encoded)
    for start in range(0, len(texts), 1000):
        rows = [encoded[text].ids for text in texts[start : start + 1000]]
        flat, lengths = np.concatenate(rows), np.array([len(row) for row in rows])
        if sharing:
            trie = build_trie(flat, lengths)
            list(packed_passes(trie, plan_rows(trie, 64), 1024))
        else:
            list(padded_passes(flat, lengths, 1024))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sentences", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    encoded, scores = synthetic(options.sentences)
    engine, scoring_options = Ready(encoded, scores), ScoringOptions()
    tokens = sum(len(e.ids) for e in encoded.values())
    texts = list(encoded)
    seconds = Counter()
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        pairs = list(zip(texts[::2], texts[1::2], strict=True))
        items = tiny.write_items(root / "items.parquet", pairs)
        checkpoint = tiny.describe(root, "causal")
        requests = sort_requests({Request(text) for text in texts}, prefixes=False)

        def shards(number):
            run.fill_store(
                Store(root / f"s{number}"),
                {"eng": requests},
                engine.key,
                checkpoint,
                root / f"s{number}.json",
                scoring_options,
                list,
                lambda batches, keys: score_shards(engine, batches, keys, UNWATCHED),
                UNWATCHED,
            )

        def to_table(number):
            kit.score(engine, checkpoint, items, scoring_options, root / f"w{number}")

        stages = {
            "the engine's arrays to shards on disk": shards,
            "items to scores table, without the engine": to_table,
            "items to requests, a part of the row above": lambda _: requests_of([items]),
            "planning padded rows": lambda _: plans(encoded, sharing=False),
            "planning a prefix tree and its rows": lambda _: plans(encoded, sharing=True),
        }
        for number in range(options.rounds):
            for label, stage in stages.items():
                spent = kit.spent(lambda stage=stage, number=number: stage(number))[1]
                seconds[label] = min(seconds.get(label, spent), spent)
    print(
        f"{len(texts)} sentences, {tokens} tokens\n\n| stage | processor µs per token |\n|---|--:|"
    )
    for label, best in seconds.items():
        print(f"| {label} | {best / tokens * 1e6:.2f} |")


if __name__ == "__main__":
    main()
