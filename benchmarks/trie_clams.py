"""Compare scoring CLAMS with and without shared prefixes, in computed tokens, time and scores.

python benchmarks/trie_clams.py [LANG ...] [--shards N] [--sets N]

Tokens are counted for all sets of a language (in the mirror), or for the first ``--sets``. The
table has the tokens of all sentences (with BOS), those of distinct sentences, and cells of prefix
trees. Cells include padding and repeated ancestors. Trees have a thousand sentences, as shards in
scoring. Time and scores are compared on some evenly spread shards, with a model that the
benchmark trains. Time is processor time, the least of two rounds.
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
    """Train a model on a sample of texts, whose words it knows; return its checkpoint."""
    lines = random.Random(0).sample(texts, min(4000, len(texts)))
    path = directory / "text.txt"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return tiny.make_transformer(path, directory / "model" / "checkpoint.json", kit.SMALL)


def cells(encoded):
    """Return the number of computed cells of prefix trees, in shards of a thousand sentences."""
    cells = 0
    for start in range(0, len(encoded), 1000):
        rows = [np.append(0, e.ids).astype(np.int32) for e in encoded[start : start + 1000]]
        lengths = np.array([len(row) for row in rows])
        trie = build_trie(np.concatenate(rows), lengths)
        cells += plan_rows(trie, ROW_TOKENS["cpu"]).node.size
    return cells


def compare(checkpoint, texts, rounds=2):
    """Return least processor seconds, and log-probabilities, without and with shared prefixes."""
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
    """Return the cells of a language's row."""
    chosen_sets = islice(kit.clams_sets(lang), sets)
    all_texts = [text for _, rows in chosen_sets for _, text in rows]
    texts = sorted(set(all_texts))
    with tempfile.TemporaryDirectory() as name:
        checkpoint = train(texts, Path(name))
        engine = load_engine(checkpoint, "transformers", ScoringOptions())
        encoded = engine.encode(texts)
        length = {text: len(e.ids) + 1 for text, e in zip(texts, encoded, strict=True)}
        naive, distinct = sum(length[text] for text in all_texts), sum(length.values())
        computed = cells(encoded)
        starts = np.linspace(0, max(0, len(texts) // 1000 - 1), shards).astype(int) * 1000
        chosen = [text for start in sorted({*starts}) for text in texts[start : start + 1000]]
        seconds, totals = compare(checkpoint, chosen)
    pairs = zip(totals["never"], totals["auto"], strict=True)
    gap = max(np.nanmax(np.abs(plain - shared)) for plain, shared in pairs)
    sums = {
        sharing: dict(zip(chosen, (np.nansum(row, dtype=float) for row in rows), strict=True))
        for sharing, rows in totals.items()
    }
    scored_pairs = [pair for pair in kit.clams_pairs(lang) if all(text in length for text in pair)]
    scored_pairs = [pair for pair in scored_pairs if all(text in sums["auto"] for text in pair)]
    changed = sum(
        (sums["never"][good] > sums["never"][bad]) != (sums["auto"][good] > sums["auto"][bad])
        for good, bad in scored_pairs
    )
    speed = seconds["never"] / seconds["auto"]
    counts = [f"{count:,}" for count in (len(all_texts), naive, distinct, computed)]
    ratios = [f"{naive / computed:.1f}", f"{distinct / computed:.1f}", f"{speed:.1f}"]
    overlap = f"{shared_characters(texts):.2f}"
    decisions = f"{changed} of {len(scored_pairs):,}"
    return [lang, *counts, *ratios, overlap, f"{gap:.0e}", decisions]


COLUMNS = (
    "language",
    "sentences",
    "tokens",
    "tokens of distinct sentences",
    "cells computed",
    "tokens per cell",
    "distinct tokens per cell",
    "times as fast",
    "share of shared characters",
    "largest difference of a token, nats",
    "different decisions",
)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("languages", nargs="*", default=["de", "en", "fr", "he", "ru"])
    parser.add_argument("--shards", type=int, default=6)
    parser.add_argument("--sets", type=int, help="number of sets; default: all")
    options = parser.parse_args()
    print(f"| {' | '.join(COLUMNS)} |\n|---{'|--:' * (len(COLUMNS) - 1)}|")
    for lang in options.languages:
        print(f"| {' | '.join(measure(lang, options.shards, options.sets))} |", flush=True)


if __name__ == "__main__":
    main()
