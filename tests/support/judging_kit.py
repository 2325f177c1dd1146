"""Judgements of scores that a test writes itself."""

import math

import pyarrow as pa

from blimpworks.judging.judge import Rules, judge
from blimpworks.tables import JUDGEMENTS, SCORES, read_table, write_table
from support import tiny


def write_scores(path, rows, statuses=None, ids=None, rounding=2.0**-24):
    """A scores table from (good, bad) lists of (log-probability, end) per item.

    ``ids`` of the tokens, by item and side; those not given are 7 in good and 8 in bad sentences.
    Their log-probabilities are known to within ``rounding``, relatively.
    """
    data = {name: [] for name in SCORES.names}
    for i, sides in enumerate(rows):
        data["item_id"].append(f"i{i}")
        data["status"].append((statuses or {}).get(i, "ok"))
        data["rounding"].append(rounding)
        for side, tokens in zip(("good", "bad"), sides, strict=True):
            values = [value for value, _ in tokens]
            data[f"logprob_{side}"].append(math.fsum(values))
            data[f"tokens_{side}"].append(len(values))
            default = [{"good": 7, "bad": 8}[side]] * len(values)
            data[f"{side}_ids"].append((ids or {}).get((i, side), default))
            data[f"{side}_logprobs"].append(values)
            data[f"{side}_ends"].append([end for _, end in tokens])
    write_table(pa.table(data, schema=SCORES.arrow()), SCORES, path)
    return path


def judged(directory, pairs, rows, *, ties="wrong", near_tie=0.01, method="full_sentence", **more):
    unknown = more.pop("unknown", None)
    items = tiny.write_items(directory / "items.parquet", pairs, **more.pop("columns", {}))
    scores = write_scores(directory / "scores.parquet", rows, **more)
    output = directory / "judgements.parquet"
    judge(items, scores, output, Rules([method], [ties], near_tie, unknown))
    return read_table(JUDGEMENTS, output).to_pylist()
