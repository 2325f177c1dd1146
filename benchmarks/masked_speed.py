"""Compare the speed of scoring with a masked model with that of peers, in pairs per second.

python benchmarks/masked_speed.py [--count N] [--words N] [--threads N] [--rounds N] [--layers N]
    [--hidden N] [--quick]

The benchmark measures two types of scores. Pseudo-log-likelihoods (Salazar et al. 2020) of
``--count`` pairs of BLiMP are compared with minicons' ``MaskedLMScorer`` on lists of several sizes.
The critical word alone is scored in ``--words`` neighbouring pairs of CLAMS that differ in one
token. There the peer masks the word, with one pass for each sentence (as the authors' script for
BERT) or for 64 sentences. The model is a BERT with a few training steps, which do not affect the
time. It is loaded before time is taken. All contenders run once in each round; the best round
counts.
"""

import argparse
import os
import tempfile
from itertools import islice
from pathlib import Path

import numpy as np
import scoring_kit as kit
import torch
from scoring_speed import batches, measure, totals_of
from transformers import AutoModelForMaskedLM, AutoTokenizer

from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.campaign.settings.training import MaskedRecipe
from blimpworks.scoring import run
from blimpworks.scoring.engine import load_engine
from blimpworks.scoring.run import Shards, collect_scores
from support import tiny


def critical(pair):
    """Return the index of the only word in which a pair differs; None for other pairs."""
    good, bad = (text.split() for text in pair)
    if len(good) != len(bad):
        return None
    differing = [n for n, both in enumerate(zip(good, bad, strict=True)) if len({*both}) > 1]
    if len(differing) != 1:
        return None
    return differing[0]


def spans(pair):
    """Yield both sentences of a pair, each with the span of its critical word in characters."""
    index = critical(pair)
    for text in pair:
        tokens = text.split()
        start = len(" ".join([*tokens[:index], ""]))
        yield text, start, start + len(tokens[index])


def neighbours(model, count):
    """Return at most ``count`` neighbouring pairs of CLAMS whose critical words are one token."""
    tokenizer = AutoTokenizer.from_pretrained(model)

    def is_single(pair):
        critical_words = [text[a:b] for text, a, b in spans(pair)]
        return all(
            len(tokenizer(word, add_special_tokens=False).input_ids) == 1 for word in critical_words
        )

    pairs = dict.fromkeys(pair for pair in kit.clams_pairs("en") if critical(pair) is not None)
    return [*islice(filter(is_single, islice(pairs, len(pairs) // 2, None)), count)]


def items_of(pairs, path):
    """Write an items table of pairs, with start and end of critical words; return its path."""
    columns = "good_start", "good_end", "bad_start", "bad_end"
    rows = [[edge for _, *edges in spans(pair) for edge in edges] for pair in pairs]
    return tiny.write_items(path, pairs, **dict(zip(columns, zip(*rows, strict=True), strict=True)))


def ours(checkpoint, items, score_type):
    """Return a function that scores all pairs with a loaded model and returns their scores."""
    options = ScoringOptions()
    engine = load_engine(checkpoint, "transformers", options)

    def go():
        with tempfile.TemporaryDirectory() as name, kit.loaded(engine):
            manifest, store = Path(name) / "manifest.json", Path(name) / "shards"
            paths = (checkpoint, store, manifest, "transformers", options)
            sentence_items, region_items = ([items], []) if score_type == "pll" else ([], [items])
            run.score_items(sentence_items, *paths, regions=region_items)
            scores = collect_scores(items, Shards(manifest, store), Path(name) / "scores.parquet")
            return totals_of(scores)

    return go


def minicons(directory, texts, size):
    """Return a function that scores texts with minicons, on lists of ``size`` sentences."""
    from minicons.scorer import MaskedLMScorer

    scorer = MaskedLMScorer(str(directory), "cpu")
    # minicons calls this method, which transformers has removed.
    scorer.tokenizer.batch_encode_plus = scorer.tokenizer

    def go():
        totals = []
        for batch in batches(texts, size):
            totals += scorer.sequence_score(batch, reduction=lambda x: x.sum(0).item())
        return totals

    return go


def one_word_masked(directory, sentences, size):
    """Return a function that scores masked critical words, ``size`` sentences a forward pass."""
    tokenizer = AutoTokenizer.from_pretrained(directory)
    model = AutoModelForMaskedLM.from_pretrained(directory).eval()

    @torch.no_grad()
    def go():
        totals = []
        for batch in batches(sentences, size):
            texts = [text[:a] + tokenizer.mask_token + text[b:] for text, a, b in batch]
            inputs = tokenizer(texts, return_tensors="pt", padding=True)
            inputs.pop("token_type_ids", None)
            rows, columns = (inputs.input_ids == tokenizer.mask_token_id).nonzero(as_tuple=True)
            word_ids = [
                tokenizer(text[a:b], add_special_tokens=False).input_ids for text, a, b in batch
            ]
            table = model(**inputs).logits[rows, columns].log_softmax(-1)
            totals += table[
                torch.arange(len(batch)), torch.tensor([ids[0] for ids in word_ids])
            ].tolist()
        return totals

    return go


def contenders(checkpoint, directory, counts, *, quick):
    """Return the function of each contender by name, by type of score."""
    blimp = kit.sample(kit.blimp_rows(1000), counts["pll"])
    blimp_items = tiny.write_items(directory / "blimp.parquet", blimp)
    texts = [text for pair in blimp for text in pair]
    model = checkpoint.parent
    clams = neighbours(model, counts["word"])
    clams_items = items_of(clams, directory / "clams.parquet")
    sentences = [span for pair in clams for span in spans(pair)]
    sizes = (2, 20) if quick else (1, 2, 10, 20, 64)
    return {
        "pll": {"blimpworks": ours(checkpoint, blimp_items, "pll")}
        | {f"minicons, lists of {size}": minicons(model, texts, size) for size in sizes},
        "word": {"blimpworks": ours(checkpoint, clams_items, "word")}
        | {
            f"transformers, {size} sentence{'s' * (size > 1)} a pass": one_word_masked(
                model, sentences, size
            )
            for size in (1, 64)
        },
    }


def report(title, pairs, seconds, totals):
    """Print speeds with one type of score, compared with blimpworks."""
    columns = "pairs/s", "processor ms per pair", "blimpworks is faster", "largest difference, nats"
    print(f"\n| {title} | {' | '.join(columns)} |")
    print("|---|--:|--:|--:|--:|")
    our_clock = seconds["blimpworks"][0]
    for name, (clock, processor) in seconds.items():
        speed = f"{pairs / clock:,.0f}", f"{processor / pairs * 1e3:.2f}"
        gap = np.abs(totals[name] - totals["blimpworks"]).max()
        cells = *speed, f"{clock / our_clock:.1f} times", f"{gap:.0e}"
        print(f"| {name} | {' | '.join(cells)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=500, help="number of BLiMP's pairs")
    parser.add_argument("--words", type=int, default=4000, help="number of CLAMS' pairs")
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--hidden", type=int, default=128)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="only minicons' likely best sizes")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    recipe = MaskedRecipe(
        kind="masked",
        vocabulary=4096,
        layers=options.layers,
        hidden=options.hidden,
        heads=options.hidden // 32,
        max_steps=20,
        checkpoint_steps=1000,
    )
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        text = directory / "text.txt"
        text.write_text("".join(f"{good}\n" for good, _ in kit.blimp_rows(60, start=500)))
        checkpoint = tiny.make_masked(text, directory / "model" / "checkpoint.json", recipe)
        counts = {"pll": options.count, "word": options.words}
        titles = {"pll": "pseudo-log-likelihoods, BLiMP", "word": "critical word, CLAMS"}
        by_type = contenders(checkpoint, directory, counts, quick=options.quick)
        print(
            f"{options.count} pairs of BLiMP, {options.words} of CLAMS, {options.threads} threads"
        )
        for score_type, named in by_type.items():
            seconds, totals = measure(named, options.rounds)
            report(titles[score_type], counts[score_type], seconds, totals)


if __name__ == "__main__":
    main()
