"""BLiMP's exhibits without Snakemake: from print, the release, or a made-up campaign."""

import numpy as np
import pyarrow as pa
from mirror_kit import CONFIG, fetch, rows_of

from blimpworks.analysis.accuracy import wilson
from blimpworks.blimp.paradigms import (
    ONE_PREFIX,
    PHENOMENON_OF,
    TWO_PREFIX,
)
from blimpworks.catalogue import ModelRow, SourceRow, read_rows
from blimpworks.exhibits.blimp.specs import SPECS
from blimpworks.exhibits.build import build_exhibit
from blimpworks.exhibits.exhibit import Labels
from blimpworks.exhibits.spec import FORMATS
from blimpworks.reproduction.accuracies import read_published
from blimpworks.reproduction.blimp_release import MODELS, read_blimp_release
from blimpworks.reproduction.published import Paper, compare
from blimpworks.tables import ACCURACIES, write_table

PRINTED = CONFIG / "published" / "blimp"
RESULTS = "blimp/raw_results/blimp_full_results_summary.csv"
HUMANS = "blimp/raw_results/summary/human_validation_summary.csv"


def labels_of_print():
    models = [row for row in read_rows(ModelRow, CONFIG / "models.tsv") if "blimp" in row.papers]
    names = {row.name: row.label for row in models}
    return Labels({"eng": "English"}, names, "printed", source="published")


def published(root, printed=PRINTED, released=None, outputs=False):
    """Build published forms below ``root``; the paper as it is compared with itself."""
    tables = {"printed": sorted(printed.glob("*.csv"))}
    accuracies = root / "accuracies" / "printed" / "blimp.parquet"
    read_published(tables["printed"], "blimp", accuracies)
    tables |= {"accuracies": [accuracies], "released": [released] if released else []}
    cells = {}
    for spec in (spec for spec in SPECS if spec.published):
        cells[spec.name] = root / f"{spec.name}.cells.parquet"
        files = [root / f"{spec.name}.{suffix}" for suffix in FORMATS[spec.kind]]
        build_exhibit(spec, tables, labels_of_print(), cells[spec.name], files if outputs else [])
    return Paper("blimp", tables["printed"], PRINTED / "reasons.tsv", cells, accuracies)


def statuses(paper):
    """Status of each printed number, by exhibit, row and column."""
    return {(r["exhibit"], r["row"], r["column"]): r["status"] for r in compare(paper)}


def release(mirror, root):
    """The authors' released results of the mirror as a table."""
    sources = {row.name: row for row in rows_of(SourceRow, "sources.tsv")}
    files = [fetch(sources[name], mirror, root) for name in (RESULTS, HUMANS)]
    output = root / "accuracies" / "released" / "blimp.parquet"
    read_blimp_release(*files, output)
    return output


def write_release(root, share=0.75):
    """Files like the released ones, in which every accuracy is the same share."""
    results = [f"UID,type,{','.join(MODELS)},n"]
    kinds = {"sentence": PHENOMENON_OF, "one-prefix": ONE_PREFIX, "two-prefix": TWO_PREFIX}
    results += [
        f"{uid},{kind},{share},{share},{share},{share},1000"
        for kind in kinds
        for uid in kinds[kind]
    ]
    humans = ["Condition,accepted,total_mean,count"]
    humans += [f"{uid},4,{0.9 - number / 1000},100" for number, uid in enumerate(PHENOMENON_OF)]
    paths = [root / "results.csv", root / "humans.csv"]
    for path, lines in zip(paths, (results, humans), strict=True):
        path.write_text("\n".join(lines) + "\n")
    return paths


def campaign(path, models, n=200):
    """Accuracies of a made-up campaign: each model by all three methods, some right at random."""
    random = np.random.default_rng(11)
    methods = {"full_sentence": PHENOMENON_OF, "one_prefix": ONE_PREFIX, "two_prefix": TWO_PREFIX}
    rows = []
    for model, skill in models.items():
        for method, paradigms in methods.items():
            for uid in paradigms:
                correct = float(random.binomial(n, min(1, skill * (1 + len(uid) % 7 / 20))))
                low, high = wilson(correct, n)
                rows.append(
                    dict.fromkeys(ACCURACIES.names)
                    | {"benchmark": "blimp", "model": model, "lang": "eng", "method": method}
                    | {"phenomenon": PHENOMENON_OF[uid], "paradigm": uid, "n": n}
                    | {"correct": correct, "accuracy": correct / n, "low": low, "high": high}
                )
    rows.append(rows[0] | {"paradigm": "all", "phenomenon": "all", "accuracy": 0.0})
    rows.append(rows[0] | {"lang": "deu", "accuracy": 0.0})
    write_table(pa.Table.from_pylist(rows, schema=ACCURACIES.arrow()), ACCURACIES, path)
    return path
