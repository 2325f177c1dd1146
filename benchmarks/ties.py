"""Ties by an n-gram model, beside what its ARPA file says in exact arithmetic.

python benchmarks/ties.py TEXT ITEMS SCORES [--order 5]

TEXT is what the model was trained on. It is estimated once more, for its ARPA file, whose numbers
are added up as fractions. The campaign that docs/scoring.md has the figures of makes all three:

snakemake --configfile config/blimp.yaml --cores 2 results/blimp/scores/blimp/eng/ngram-5.parquet
python benchmarks/ties.py results/blimp/training/text/eng.txt \\
    results/blimp/items/blimp/eng.parquet results/blimp/scores/blimp/eng/ngram-5.parquet
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
from blimpworks.judging.judge import PREFIX_METHODS, align_scores, margins, side_of  # noqa: E402
from blimpworks.judging.sides import REGIONS, rounding_bounds  # noqa: E402
from blimpworks.tables import ITEMS, SCORES, read_table  # noqa: E402
from support.arpa_kit import exact_values, read_arpa, write_arpa  # noqa: E402

COLUMNS = {
    "n": "pairs",
    "equal": "equal in exact arithmetic",
    "ties": "ties",
    "noise": "ties that are not equal",
    "gaps": "by, nats",
    "smallest": "smallest difference of no tie, nats",
    "bounds": "the same in bounds",
    "turned": "decided otherwise than exactly",
    "plain": "equal by plain sums too",
    "accuracies": "accuracy, ties wrong / half / decided by plain sums",
}


def exact_tokens(entries, words, side, order):
    """Log10 probability of each token of all sentences."""
    sentences = ([words[number] for number in ids[:-1]] for ids in side.ids.to_pylist())
    return [value for sentence in sentences for value in exact_values(entries, sentence, order)]


def sums(side, mask, values):
    """Of ``values`` of the tokens in ``mask``, for each sentence."""
    totals = [Fraction(0)] * len(side.ids)
    for token in np.flatnonzero(mask):
        totals[side.row[token]] += values[token]
    return totals


def measure(method, sides, values, usable):
    """What is told of a method, by column, and what counts as right: as judged, by plain sums."""
    masks = [REGIONS[method.tokens](side) for side in sides]
    totals = [sums(*each) for each in zip(sides, masks, values, strict=True)]
    exact = np.array([float(g - b) * math.log(10) for g, b in zip(*totals, strict=True)])[usable]
    plain = [sums(*each, side.value) for *each, side in zip(sides, masks, sides, strict=True)]
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
        "accuracies": " / ".join(f"{100 * each.mean():.1f}" for each in right),
    }
    return cells, right[0], right[-1]


def gained(paradigms, judged, plain):
    """Paradigms whose accuracy gains more than a point where plain sums decide, and both."""
    for paradigm in sorted({*paradigms}):
        rows = paradigms == paradigm
        before, after = (100 * each[rows].mean() for each in (judged, plain))
        if after - before > 1:
            yield f"{paradigm} {after:.1f} for {before:.1f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name in ("text", "items", "scores"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--order", type=int, default=5)
    given = parser.parse_args()
    items = read_table(ITEMS, given.items, [*ITEMS.names, PREFIX_METHODS])
    scores = align_scores(items, read_table(SCORES, given.scores), given.scores)
    sides = [side_of(items, scores, name) for name in ("good", "bad")]
    with tempfile.TemporaryDirectory() as directory:
        arpa = write_arpa(given.text, Path(directory), given.order)
        words = arpa.with_name("vocabulary.txt").read_text(encoding="utf-8").split("\n")
        used = {words[number] for side in sides for number in {*side.id.tolist()}} | {"<s>"}
        entries = read_arpa(arpa, used)
    values = [exact_tokens(entries, words, side, given.order) for side in sides]
    print(f"| method | {' | '.join(COLUMNS.values())} |\n|---{'|--:' * len(COLUMNS)}|")
    allowed, paradigms = items[PREFIX_METHODS].to_pylist(), np.array(items["paradigm"].to_pylist())
    told = []
    for name in ("full_sentence", *PREFIXES):
        usable = np.array([name not in PREFIXES or name in methods for methods in allowed])
        cells, *right = measure(find_method(name), sides, values, usable)
        print(f"| {name} | {' | '.join(str(cells[column]) for column in COLUMNS)} |")
        told.append(f"{name}, by plain sums: {'; '.join(gained(paradigms[usable], *right))}")
    print("\n" + "\n".join(told))


if __name__ == "__main__":
    main()
