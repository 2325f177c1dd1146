"""Measure what sharing prefixes saves on CLAMS, in tokens and time, and compare the scores.

python benchmarks/trie_clams.py [LANG ...] [--shards N] [--sets N]

Tokens are counted for all sets of a language (in the mirror), in shards of a thousand sentences as
in scoring: each sentence of each set with BOS, distinct sentences, and cells in the rows of prefix
trees (with padding and repeated ancestors). ``--sets`` takes the first sets of a language only.
Time and scores are compared on some evenly spread shards, with a model that the benchmark trains.
"""

import argparse
import random
import tempfile
from itertools import islice
from pathlib import Path

import numpy as np
import scoring_kit as kit

from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.scoring.engine import load_engine
from blimpworks.scoring.passes import plan_rows
from blimpworks.scoring.store import shared_characters
from blimpworks.scoring.transformers_engine import ROW_TOKENS
from blimpworks.scoring.trie import build_trie
from support import tiny


def train(texts, directory):
    """Train a model that has the language's words."""
    lines = random.Random(0).sample(texts, min(4000, len(texts)))
    path = directory / "text.txt"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return tiny.make_transformer(path, directory / "model" / "checkpoint.json", kit.SMALL)


def cells(encoded):
    """Return the cells that are computed for prefix trees of shards of a thousand sentences."""
    cells = 0
    for start in range(0, len(encoded), 1000):
        rows = [np.append(0, e.ids).astype(np.int32) for e in encoded[start : start + 1000]]
        lengths = np.array([len(row) for row in rows])
        trie = build_trie(np.concatenate(rows), lengths)
        cells += plan_rows(trie, ROW_TOKENS["cpu"]).node.size
    return cells


def compare(checkpoint, texts, rounds=2):
    """Return the best processor seconds without and with sharing, and both scores of each text."""
    seconds, totals = {}, {}
    engines = {
        sharing: load_engine(checkpoint, "transformers", ScoringOptions(sharing=sharing))
        for sharing in ("never", "auto")
    }
    encoded = engines["auto"].encode(texts)
    for _ in range(rounds):
        for sharing, engine in engines.items():

            def go(sharing=sharing, engine=engine):
                rows = []
                for start in range(0, len(encoded), 1000):
                    rows += engine.logprobs(encoded[start : start + 1000])
                totals[sharing] = rows

            spent = kit.spent(go)[1]
            seconds[sharing] = min(seconds.get(sharing, spent), spent)
    return seconds, totals


def measure(lang, shards, sets):
    """Measure one row of the table."""
    chosen_sets = islice(kit.clams_sets(lang), sets)
    every = [text for _, rows in chosen_sets for _, text in rows]
    texts = sorted(set(every))
    with tempfile.TemporaryDirectory() as name:
        checkpoint = train(texts, Path(name))
        engine = load_engine(checkpoint, "transformers", ScoringOptions())
        encoded = engine.encode(texts)
        length = {text: len(e.ids) + 1 for text, e in zip(texts, encoded, strict=True)}
        naive, distinct = sum(length[text] for text in every), sum(length.values())
        computed = cells(encoded)
        starts = np.linspace(0, max(0, len(texts) // 1000 - 1), shards).astype(int) * 1000
        chosen = [text for start in sorted({*starts}) for text in texts[start : start + 1000]]
        seconds, totals = compare(checkpoint, chosen)
    pairs = zip(totals["never"], totals["auto"], strict=True)
    apart = max(np.nanmax(np.abs(one - other)) for one, other in pairs)
    sums = {
        sharing: dict(zip(chosen, (np.nansum(row, dtype=float) for row in rows), strict=True))
        for sharing, rows in totals.items()
    }
    known = [pair for pair in kit.clams_pairs(lang) if all(text in length for text in pair)]
    known = [pair for pair in known if all(text in sums["auto"] for text in pair)]
    turned = sum(
        (sums["never"][good] > sums["never"][bad]) != (sums["auto"][good] > sums["auto"][bad])
        for good, bad in known
    )
    speed = seconds["never"] / seconds["auto"]
    counts = [f"{count:,}" for count in (len(every), naive, distinct, computed)]
    ratios = [f"{naive / computed:.1f}", f"{distinct / computed:.1f}", f"{speed:.1f}"]
    overlap = f"{shared_characters(texts):.2f}"
    decisions = f"{turned} of {len(known):,}"
    return [lang, *counts, *ratios, overlap, f"{apart:.0e}", decisions]


COLUMNS = (
    "language",
    "sentences",
    "tokens one by one",
    "of distinct sentences",
    "cells computed",
    "fewer",
    "fewer than distinct",
    "faster (processor time)",
    "characters shared",
    "largest difference of a token, nats",
    "other decisions",
)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("languages", nargs="*", default=["de", "en", "fr", "he", "ru"])
    parser.add_argument("--shards", type=int, default=6)
    parser.add_argument("--sets", type=int, help="all, unless given")
    given = parser.parse_args()
    print(f"| {' | '.join(COLUMNS)} |\n|---{'|--:' * (len(COLUMNS) - 1)}|")
    for lang in given.languages:
        print(f"| {' | '.join(measure(lang, given.shards, given.sets))} |", flush=True)


if __name__ == "__main__":
    main()
