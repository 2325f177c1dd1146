"""Write files like BLiMP's released results, and simulated campaigns."""

import json
import re

import numpy as np
import pandas as pd

from blimpworks.analysis.accuracy import summarise
from blimpworks.campaign.catalogue import SourceRow
from blimpworks.judging.judge import Rules, judge
from blimpworks.papers.blimp import released_results
from blimpworks.papers.blimp.analysis import bin_accuracies
from blimpworks.papers.blimp.paradigms import ONE_PREFIX, PHENOMENON_OF, TWO_PREFIX
from blimpworks.papers.blimp.tables import ITEM_SCHEMA
from blimpworks.tables import ACCURACIES, SCORES, Evaluation, write_rows
from support import cells_kit
from support.mirror_kit import fetch, rows_of

SUMMARIES = (
    *("blimp_full_results_summary.csv", "summary/human_validation_summary.csv"),
    "summary/models_summary.jsonl",
)
METHODS = ("full_sentence", "one_prefix", "two_prefix")


def fetched(mirror, root, *names):
    sources = {row.name: row for row in rows_of(SourceRow, "sources.tsv")}
    return [fetch(sources[f"blimp/raw_results/{name}"], mirror, root) for name in names]


def release(mirror, root):
    output = root / "accuracies" / "released" / "blimp.parquet"
    released_results.read_blimp_release(*fetched(mirror, root, *SUMMARIES), output)
    return output


def ratings(mirror, root):
    output = root / "ratings" / "blimp.parquet"
    (responses,) = fetched(mirror, root, "all_outputs/human_responses.csv")
    released_results.read_ratings(responses, output)
    return output


def check_cells(exhibit, tables):
    """Check that each cell is the value of its formula, and inside its interval if it has one."""
    # The released table is stored below the directory of accuracies, so it is looked up there too.
    kinds = ("accuracies", "released", "data_sets")
    of_models = {"accuracies": [path for kind in kinds for path in tables.get(kind, ())]}
    cells_kit.check_cells(exhibit.cells, cells_kit.sources_of(tables | of_models))
    for cell in exhibit.cells:
        assert cell.low is None or cell.low <= cell.value <= cell.high, cell


def write_release(root, share=0.75):
    """Write files like the released ones, in which every accuracy is ``share``."""
    kinds = {"sentence": PHENOMENON_OF, "one-prefix": ONE_PREFIX, "two-prefix": TWO_PREFIX}
    results = [f"UID,type,{','.join(released_results.MODEL_BY_COLUMN)},n"]
    for kind, uids in kinds.items():
        results += [f"{uid},{kind},{share},{share},{share},{share},1000" for uid in uids]
    humans = ["Condition,accepted,total_mean,count"]
    humans += [f"{uid},4,{0.9 - number / 1000},100" for number, uid in enumerate(PHENOMENON_OF)]
    rerun = []
    for uid in (*PHENOMENON_OF, "overall"):
        shares = dict.fromkeys(released_results.RERUN_MODELS, share + 0.001 * (uid in ONE_PREFIX))
        rerun.append(json.dumps({"UID": uid} | shares))
    paths = [root / "results.csv", root / "humans.csv", root / "rerun.jsonl"]
    for path, lines in zip(paths, (results, humans, rerun), strict=True):
        path.write_text("\n".join(lines) + "\n")
    return paths


def campaign(path, models, least=200):
    """Write a simulated campaign's accuracies by three methods; in German, the first model errs."""
    random, tables = np.random.default_rng(11), []
    allowed = zip(METHODS, (PHENOMENON_OF, ONE_PREFIX, TWO_PREFIX), strict=True)
    judged_by = [(method, uid) for method, uids in allowed for uid in uids]
    for model, skill in models.items():
        judged = []
        for method, uid in judged_by:
            n = least + 50 * (len(uid) % 3)
            right = random.random(n) < min(1, skill * (1 + len(uid) % 7 / 20))
            keys = {"method": method, "phenomenon": PHENOMENON_OF[uid], "paradigm": uid}
            judged.append(pd.DataFrame({"correct": right.astype(float), **keys}))
        rows = pd.concat(judged).assign(tie=False, near_tie=False)
        tables.append(summarise(rows).assign(model=model, lang="eng"))
    tables.append(tables[0].assign(lang="deu", accuracy=0.0))
    rows = pd.concat(tables).assign(benchmark="blimp")
    write_rows(rows.to_dict("records"), ACCURACIES, path)
    return path


def write_items(path, per_paradigm=3):
    """Write items of all paradigms; both sentences of passive_1's first pair are the same."""
    rows = []
    for uid in PHENOMENON_OF:
        for number in range(per_paradigm):
            good = f"Some {'very ' * (number + len(uid) % 4)}old {uid} sleeps."
            same = uid == "passive_1" and number == 0
            prefixes = zip(METHODS[1:], (ONE_PREFIX, TWO_PREFIX), strict=True)
            bad = good if same else good.replace("sleeps", "sleep")
            start = good.index("sleeps")
            rows.append(
                {"item_id": f"{uid}-{number}", "lang": "eng", "paradigm": uid}
                | {"phenomenon": PHENOMENON_OF[uid], "good": good, "bad": bad}
                | {"good_start": start, "good_end": start + 6}
                | {"bad_start": start, "bad_end": start + (6 if same else 5)}
                | {"file": f"{uid}.jsonl", "sent_id": str(number), "line": number + 1}
                | {"prefix_methods": [method for method, uids in prefixes if uid in uids]}
                | {"identical": same}
            )
    write_rows(rows, ITEM_SCHEMA, path)
    return rows


def write_scores(path, items, seed, tied=()):
    """Write random scores; ``tied`` paradigms' pairs and identical ones are equally probable."""
    random = np.random.default_rng(seed)
    rows = []
    for item in items:
        tokens = -random.gamma(2, 2, 20).astype(np.float32)
        others = tokens + random.normal(-0.2, 1, 20).astype(np.float32)
        same = item["identical"] or item["paradigm"] in tied
        row = {"item_id": item["item_id"], "status": "scored"}
        for side, values, token in (("good", tokens, 1), ("bad", tokens if same else others, 2)):
            # Each word is one token, and all have one id.
            ends = [word.end() for word in re.finditer(r"\S+", item[side])]
            ids, logprobs = [1 if same else token] * len(ends), [*values[: len(ends)]]
            row |= {f"{side}_ids": ids, f"{side}_logprobs": logprobs, f"{side}_ends": ends}
            row[f"tokens_{side}"] = len(ids)
            row[f"logprob_{side}"] = float(np.sum(logprobs, dtype=float))
        rows.append(row)
    write_rows(rows, SCORES, path)


def evaluate(root, models, tied=()):
    """Write items, scores, judgements and bins of a simulated campaign; return their paths."""
    items = root / "items" / "blimp" / "eng.parquet"
    rows = write_items(items)
    evaluations = []
    for seed, model in enumerate(models):
        scores, judged = (
            root / kind / "blimp" / model / "eng.parquet" for kind in ("scores", "judgements")
        )
        write_scores(scores, rows, seed, tied)
        judge(items, scores, judged, Rules(METHODS, ["wrong"], 0.0))
        evaluations.append(Evaluation(model, "eng", items, scores, judged))
    bins = root / "bins" / "blimp.parquet"
    bin_accuracies(evaluations, METHODS[0], 5, bins)
    return {"items": [items], "judgements": [one.judgements for one in evaluations], "bins": [bins]}
