r"""Compare ties of an n-gram model with exact arithmetic on the numbers of its ARPA file.

python benchmarks/ties.py TEXT ITEMS [--order 5]

The model is trained on TEXT and scores ITEMS. Exact arithmetic adds the numbers of its ARPA file as
fractions. Plain sums add the scores as floating-point numbers, without bounds of rounding. The
table has numbers of pairs by method. docs/ties.md has the figures for files of this campaign:

snakemake --configfile config/blimp.yaml --cores 2 results/blimp/training/text/eng.txt \
    results/blimp/items/blimp/eng.parquet
"""

import argparse
import math
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

import numpy as np

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY / "tests"))

from blimpworks.campaign.methods import PREFIXES, find_method  # noqa: E402
from blimpworks.campaign.settings.scoring import ScoringOptions  # noqa: E402
from blimpworks.campaign.settings.training import NgramRecipe  # noqa: E402
from blimpworks.judging.judge import (  # noqa: E402
    PREFIX_METHODS,
    TOKEN_SETS,
    align_scores,
    margins,
    rounding_bounds,
    side_of,
)
from blimpworks.scoring.run import Shards, collect_scores, score_items  # noqa: E402
from blimpworks.tables import ITEMS, read_table  # noqa: E402
from support import tiny  # noqa: E402
from support.arpa_kit import exact_values, read_arpa, write_arpa  # noqa: E402

COLUMNS = {
    "n": "pairs",
    "equal": "equal in exact arithmetic",
    "ties": "ties",
    "noise": "ties that are not equal",
    "gaps": "exact differences of these, nats",
    "smallest": "least exact difference without a tie, nats",
    "bounds": "the same, in bounds of rounding",
    "turned": "decided unlike exact arithmetic",
    "plain": "equal by plain sums too",
    "accuracies": "accuracy, ties wrong / half / decided by plain sums",
}


def exact_tokens(entries, vocabulary, side, order):
    """Return the base-10 log-probability of each token of all sentences, as fractions."""
    sentences = ([vocabulary[number] for number in ids[:-1]] for ids in side.ids.to_pylist())
    return [value for sentence in sentences for value in exact_values(entries, sentence, order)]


def sums(side, mask, values):
    """Return for each sentence the sum of the values of its tokens in ``mask``."""
    totals = [Fraction(0)] * len(side.ids)
    for token in np.flatnonzero(mask):
        totals[side.row[token]] += values[token]
    return totals


def measure(method, sides, values, usable):
    """Return a method's cells by column, and right decisions: as judged, and by plain sums."""
    masks = [TOKEN_SETS[method.tokens](side) for side in sides]
    totals = [sums(*arguments) for arguments in zip(sides, masks, values, strict=True)]
    exact = np.array([float(g - b) * math.log(10) for g, b in zip(*totals, strict=True)])[usable]
    plain = [sums(side, mask, side.value) for side, mask in zip(sides, masks, strict=True)]
    plain = np.array([float(good - bad) for good, bad in zip(*plain, strict=True)])[usable]
    margin = margins(method, *sides)[0][usable]
    bound = sum(rounding_bounds(method, side) for side in sides)[usable]
    tie, gap = margin == 0, np.abs(exact)
    gaps = gap[tie & (gap > 0)]
    right = [margin > 0, (margin > 0) + tie / 2, plain > 0]
    cells = {
        "n": len(margin),
        "equal": np.sum(exact == 0),
        "ties": np.sum(tie),
        "noise": len(gaps),
        "gaps": f"{gaps.min():.2g} to {gaps.max():.2g}" if len(gaps) else "",
        "smallest": f"{gap[~tie].min(initial=math.inf):.2g}",
        "bounds": f"{(gap / bound)[~tie].min(initial=math.inf):.2g}",
        "turned": np.sum(~tie & (np.sign(margin) != np.sign(exact))),
        "plain": np.sum((exact == 0) & (plain == 0)),
        "accuracies": " / ".join(f"{100 * verdicts.mean():.1f}" for verdicts in right),
    }
    return cells, right[0], right[-1]


def gained(paradigms, judged, plain):
    """Yield paradigms that gain over a point of accuracy by plain sums, with both accuracies."""
    for paradigm in sorted({*paradigms}):
        rows = paradigms == paradigm
        before, after = (100 * decisions[rows].mean() for decisions in (judged, plain))
        if after - before > 1:
            yield f"{paradigm} {after:.1f} for {before:.1f}"


def scores_of(text, items, order, directory):
    """Return the scores of an items table by an n-gram model of a text."""
    recipe = NgramRecipe(kind="ngram", order=order)
    checkpoint = tiny.make_ngram(text, directory / "model" / "checkpoint.json", recipe)
    shards = Shards(directory / "manifest.json", directory / "shards")
    score_items([items], checkpoint, shards.store, shards.manifest, "kenlm", ScoringOptions())
    return collect_scores(items, shards, directory / "scores.parquet")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("text", type=Path)
    parser.add_argument("items", type=Path)
    parser.add_argument("--order", type=int, default=5)
    options = parser.parse_args()
    items = read_table(ITEMS, options.items, [*ITEMS.names, PREFIX_METHODS])
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        scores = scores_of(options.text, options.items, options.order, directory)
        scores = align_scores(items, scores, options.items)
        sides = [side_of(items, scores, name) for name in ("good", "bad")]
        arpa = write_arpa(options.text, directory, options.order)
        vocabulary = (directory / "model/vocabulary.txt").read_text(encoding="utf-8").split("\n")
        used = {vocabulary[number] for side in sides for number in {*side.id.tolist()}} | {"<s>"}
        entries = read_arpa(arpa, used)
    values = [exact_tokens(entries, vocabulary, side, options.order) for side in sides]
    print(f"| method | {' | '.join(COLUMNS.values())} |\n|---{'|--:' * len(COLUMNS)}|")
    paradigms, sentences = np.array(items["paradigm"].to_pylist()), []
    prefixes = PREFIXES if PREFIX_METHODS in items.column_names else ()
    for method in map(find_method, ("full_sentence", *prefixes)):
        usable = np.ones(len(items), dtype=bool)
        if method.name in PREFIXES:
            usable = np.array([method.name in names for names in items[PREFIX_METHODS].to_pylist()])
        cells, *right = measure(method, sides, values, usable)
        print(f"| {method.name} | {' | '.join(str(cells[column]) for column in COLUMNS)} |")
        gains = "; ".join(gained(paradigms[usable], *right))
        sentences.append(f"{method.name}: accuracy in % by plain sums, for that as judged: {gains}")
    print("\n" + "\n".join(sentences))


if __name__ == "__main__":
    main()
