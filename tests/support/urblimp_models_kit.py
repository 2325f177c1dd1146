"""A UrBLiMP campaign of simulated models, each right with a probability of its own."""

import numpy as np
import pyarrow as pa

from blimpworks.analysis.accuracy import compute_accuracies
from blimpworks.exhibits.exhibit import Labels
from blimpworks.papers.urblimp.exhibits.models import GEMMA, TUNED
from blimpworks.papers.urblimp.phenomena import PARADIGMS, PHENOMENON_OF
from blimpworks.tables import ITEMS, JUDGEMENTS, write_table

METHOD = "perplexity"
N = 20
SKILL = dict(zip(GEMMA, (0.6, 0.7, 0.8, 0.9), strict=True)) | {
    **dict(zip(TUNED, (0.5, 0.65, 0.75, 0.85), strict=True)),
    "llama-3-70b": 0.95,
    "deepseek-r1-distill-llama-70b": 0.88,
    "ours": 0.55,
}
FACTS = {
    name: {
        "parameters": 1.5 if name == "ours" else None,
        "family": name.split("-")[0],
        "tuning": "chat" if name.endswith("-it") else "base",
    }
    for name in SKILL
}
LABELS = Labels(
    {"urd": "Urdu"}, {name: name.title() for name in SKILL}, METHOD, {"urblimp_models": FACTS}
)


def item(paradigm, number):
    spans = dict.fromkeys(("good_start", "good_end", "bad_start", "bad_end"), 0)
    return {
        **{"item_id": f"{paradigm}-{number:02}", "lang": "urd", "paradigm": paradigm},
        **{"phenomenon": PHENOMENON_OF[paradigm], "good": "وہ بولا", "bad": "وہ بولی"},
        **spans,
        **dict.fromkeys(("treebank", "file", "sent_id")),
    }


def judgement(pair, correct):
    keys = {name: pair[name] for name in ("item_id", "phenomenon", "paradigm")}
    values = dict.fromkeys(("value_good", "value_bad", "margin"), 0.0)
    verdict = {"correct": float(correct), "tie": False, "near_tie": False}
    return keys | values | verdict | {"method": METHOD}


def simulate(root, skill, paradigms=PARADIGMS):
    """Items, and the judgements of models that are right with a known probability."""
    items = [item(paradigm, number) for paradigm in paradigms for number in range(N)]
    paths = {"items": [root / "urd.parquet"], "judgements": []}
    write_table(pa.Table.from_pylist(items), ITEMS, paths["items"][0])
    judged = []
    for seed, (model, probability) in enumerate(skill.items()):
        random = np.random.default_rng(seed)
        path = root / f"{model}.parquet"
        rows = [judgement(pair, random.random() < probability) for pair in items]
        write_table(pa.Table.from_pylist(rows, schema=JUDGEMENTS.arrow()), JUDGEMENTS, path)
        judged.append((model, "urd", path))
        paths["judgements"].append(path)
    paths["accuracies"] = [root / "accuracies.parquet"]
    compute_accuracies(judged, "urblimp", paths["accuracies"][0])
    return paths


def cell(exhibit, row, column):
    (chosen,) = [c for c in exhibit.cells if (c.row, c.column) == (row, column)]
    return chosen
