"""Compare verdicts on Multi-LMentry with a reader's labels of the same answers.

python benchmarks/reading.py EVALUATION [--model smollm2]

EVALUATION is the directory of an evaluation of SmolLM2-135M-Instruct (docs/lmentry_people.md).
``reading.tsv`` has the labels: ``read`` (the rules were improved on these) and ``held`` (held out).
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
    chosen = parser.parse_args()
    labels = pd.read_csv(Path(__file__).with_suffix(".tsv"), sep="\t")
    folder = chosen.evaluation / "results/judgements/lmentry"
    judged = pd.concat(
        read_table(JUDGEMENTS, folder / chosen.model / f"{lang}.parquet").to_pandas()
        for lang in sorted({*labels["lang"]})
    ).astype({"method": str})
    rows = labels.merge(judged, on="item_id")
    whole = rows.assign(lang="all")
    for (sample, method, lang), part in pd.concat([whole, rows]).groupby(
        ["sample", "method", "lang"]
    ):
        each = compare(part["correct"], part["right"])
        print(
            f"{sample} {method:9} {lang}: {each['n']} answers, {each['right_annotator']} right; "
            f"agreement {100 * each['accuracy']:.1f} % ({100 * each['low']:.1f}–"
            f"{100 * each['high']:.1f}), kappa {each['kappa']:.2f}"
        )
    missing = len(labels) - rows["item_id"].nunique()
    print(f"{missing} of {len(labels)} labels have no verdict in {chosen.evaluation}")


if __name__ == "__main__":
    main()
