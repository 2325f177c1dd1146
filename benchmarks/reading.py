"""Compare verdicts on answers to Multi-LMentry with a reader's labels of the same answers.

python benchmarks/reading.py EVALUATION [--model smollm2]

EVALUATION is the directory of an evaluation of SmolLM2-135M-Instruct (docs/lmentry_people.md).
``reading.tsv`` has the labels in two samples: ``read`` (the rules were improved with these) and
``held`` (held out). Each line has, for a sample, method and language: the number of answers; the
number that the reader found right; agreement with its interval; Cohen's kappa.
"""

import argparse
from pathlib import Path

import pandas as pd

from blimpworks.papers.lmentry.verdicts import compare
from blimpworks.tables import JUDGEMENTS, read_table


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("evaluation", type=Path)
    parser.add_argument("--model", default="smollm2")
    options = parser.parse_args()
    labels = pd.read_csv(Path(__file__).with_suffix(".tsv"), sep="\t")
    folder = options.evaluation / "results/judgements/lmentry"
    judged = pd.concat(
        read_table(JUDGEMENTS, folder / options.model / f"{lang}.parquet").to_pandas()
        for lang in sorted({*labels["lang"]})
    ).astype({"method": str})
    rows = labels.merge(judged, on="item_id")
    all_languages = rows.assign(lang="all")
    for (sample, method, lang), group in pd.concat([all_languages, rows]).groupby(
        ["sample", "method", "lang"]
    ):
        result = compare(group["correct"], group["right"])
        print(
            f"{sample} {method:9} {lang}: {result['n']} answers, "
            f"{result['right_annotator']} right; agreement "
            f"{100 * result['accuracy']:.1f} % ({100 * result['low']:.1f}–"
            f"{100 * result['high']:.1f}), kappa {result['kappa']:.2f}"
        )
    missing = len(labels) - rows["item_id"].nunique()
    print(f"{missing} of {len(labels)} labels have no verdict in {options.evaluation}")


if __name__ == "__main__":
    main()
