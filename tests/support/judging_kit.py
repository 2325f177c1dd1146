import math

import pyarrow as pa

from blimpworks.benchmarks.verdicts import judge_designs, judge_sentences
from blimpworks.judging.judge import Rules, judge
from blimpworks.tables import ITEMS, JUDGEMENTS, SCORES, read_table, write_table
from support import tiny


def write_scores(path, rows, statuses=None, ids=None, rounding=2.0**-24):
    """Write a scores table from (good, bad) lists of (log-probability, end) per item.

    ``ids`` are those of the tokens by item and side; the default is 7 in good and 8 in bad
    sentences. Log-probabilities have the relative error ``rounding``.
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


def _judged(
    judging, folder, items, rows, method, *, ties="wrong", near_tie=0.01, unknown=None, **more
):
    scores = write_scores(folder / "scores.parquet", rows, **more)
    output = folder / "judgements.parquet"
    unjudged = judging(items, scores, output, Rules([method], [ties], near_tie, unknown))
    judgements = read_table(JUDGEMENTS, output).to_pylist()
    assert unjudged == sum(row["correct"] is None for row in judgements)
    return judgements


def judged(folder, pairs, rows, *, method="full_sentence", columns=None, **more):
    items = tiny.write_items(folder / "items.parquet", pairs, **columns or {})
    return _judged(judge, folder, items, rows, method, **more)


class Condition:
    """A sentence of regions, each a text (or its name and text) and the surprisals of its tokens.

    Regions without a name are numbered. A token begins where the one before it ends: the first of a
    region with the space before it, each later one with the region's next character.
    """

    def __init__(self, *regions):
        self.names, self.spans, self.tokens, end = [], [], [], 0
        for number, (region, surprisals) in enumerate(regions, start=1):
            name, text = region if isinstance(region, tuple) else (str(number), region)
            start = end + 1 if end and text else end
            end = start + len(text)
            self.names.append(name)
            self.spans.append((start, end))
            ends = [start + i + 1 for i in range(len(surprisals) - 1)] + [end]
            self.tokens += [(-v, place) for v, place in zip(surprisals, ends, strict=False)]
        texts = (text[1] if isinstance(text, tuple) else text for text, _ in regions)
        self.sentence = " ".join(filter(None, texts))


def write_open_items(path, sentences, **columns):
    """Write an items table of single sentences, with columns beyond the schema."""
    more = {name: columns.pop(name) for name in [*columns] if name not in ITEMS.names}
    table = tiny.items_table([(sentence, sentence) for sentence in sentences], **columns)
    for name, values in more.items():
        table = table.append_column(name, pa.array(values))
    write_table(table, ITEMS, path)
    return path


def write_designs(path, items, predictions, **columns):
    """Write an items table of conditions by name, with item ids i0, i1, … by row."""
    rows = [(f"item {i}", name, each) for i, one in enumerate(items) for name, each in one.items()]
    formulas = predictions if isinstance(predictions[0], list) else [predictions] * len(items)
    return write_open_items(
        path,
        [each.sentence for _, _, each in rows],
        **{
            "item": [item for item, _, _ in rows],
            "condition": [name for _, name, _ in rows],
            "regions": [each.names for _, _, each in rows],
            "region_starts": [[start for start, _ in each.spans] for _, _, each in rows],
            "region_ends": [[end for _, end in each.spans] for _, _, each in rows],
            "predictions": [f for f, one in zip(formulas, items, strict=True) for _ in one],
        }
        | columns,
    )


def judged_designs(folder, items, predictions, *, method="critical_region", columns=None, **more):
    """Judge items of several conditions, whose tokens have the given surprisals."""
    path = write_designs(folder / "items.parquet", items, predictions, **columns or {})
    tokens = [(each.tokens, each.tokens) for one in items for each in one.values()]
    return _judged(judge_designs, folder, path, tokens, method, **more)


def judged_sentences(folder, values, acceptable, *, method="full_sentence", columns=None, **more):
    """Judge single sentences of one token, whose log-probabilities are ``values``."""
    columns = {"acceptable": acceptable} | (columns or {})
    items = write_open_items(folder / "items.parquet", ["a b"] * len(values), **columns)
    tokens = [([(value, 3)], [(value, 3)]) for value in values]
    return _judged(judge_sentences, folder, items, tokens, method, **more)
