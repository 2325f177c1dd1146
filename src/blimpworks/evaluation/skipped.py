"""The items of an evaluation that got no verdict, and why, in words."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from blimpworks.evaluation.card import ALL, MEAN, Skipped
from blimpworks.evaluation.facts import OUTPUTS, BenchmarkFacts, model_table
from blimpworks.evaluation.judged import Judgements
from blimpworks.judging.sample import CONDITIONS
from blimpworks.parquet import read_parquet
from blimpworks.tables import made_by

OK, TOO_LONG = "ok", "too_long"
WORDS = {
    "refused": "refused by the engine, such as for tokens that the model has no embedding of",
    "out_of_memory": "for which the memory did not suffice",
    "not_finite": "with a score that is no number",
    "empty": "without a token that could be scored",
}
"""Statuses of sentences and prompts without a result, in words; without ``too_long``."""
Cells = dict[tuple[str, str], dict[str, Skipped]]
"""By language and phenomenon, then by model; ``all`` as a phenomenon is all of them."""


def _too_long(outputs: Path) -> str:
    """What a text that does not fit is, with the limit that the manifest of the scores states."""
    for entry in (made_by(outputs) or {}).get("inputs", []):
        if entry["path"].endswith("/manifest.json"):
            manifest = outputs.parents[3].joinpath(*Path(entry["path"]).parts[-4:])
            if manifest.is_file():
                limit = json.loads(manifest.read_bytes()).get("checks", {}).get("limit", "")
                if limit:
                    return f"longer than the model's {int(limit):,} tokens"
            break
    return "longer than the model's context"


def why_skipped(ids: Sequence[str], items: Path, outputs: Path, method: str) -> list[str]:
    """Say in words why each of some items has no verdict by ``method``.

    ``outputs`` is the table of scores or answers, in a tree of results. Raises UserError when a
    table is broken.
    """
    statuses: dict[str, str] = {}
    if outputs.is_file():
        table = read_parquet(outputs, ["item_id", "status"]).to_pandas()
        failed = table[table["status"] != OK]
        statuses = dict(zip(failed["item_id"], failed["status"].astype(str), strict=True))
    if statuses:
        rows = read_parquet(items, ["item_id", *CONDITIONS])
        if {*rows.column_names} >= CONDITIONS:
            of_rows = zip(rows["item"].to_pylist(), rows["item_id"].to_pylist(), strict=True)
            statuses = {item: statuses[row] for item, row in of_rows if row in statuses}
    words = WORDS | ({TOO_LONG: _too_long(outputs)} if TOO_LONG in statuses.values() else {})
    other = f"on which {method} gives no verdict, such as for unknown words"
    return [words.get(statuses.get(item, OK), other) for item in ids]


def skipped_items(
    name: str, benchmark: BenchmarkFacts, judgements: Judgements, results: str
) -> Cells:
    """Count the items that got no verdict by the main methods, by why; also where all got one.

    Of several languages also over all of them, and for their mean. Raises UserError when a table
    is missing or broken.
    """
    cells: Cells = {}
    for lang, models in judgements.items():
        for model, judged in models.items():
            for phenomenon, count in [(ALL, len(judged)), *Counter(judged["phenomenon"]).items()]:
                new: Skipped = {"n": 0, "of": count, "reasons": {}}
                cells.setdefault((lang, phenomenon), {})[model] = new
            lost = judged[judged["correct"].isna()]
            if lost.empty:
                continue
            outputs = model_table(results, OUTPUTS[benchmark["unit"]], name, lang, model)
            reasons = why_skipped(
                lost["item_id"].tolist(),
                Path(benchmark["items"][lang]),
                Path(outputs),
                benchmark["methods"][model][0],
            )
            for phenomenon, reason in zip(lost["phenomenon"], reasons, strict=True):
                for cell in (cells[lang, phenomenon][model], cells[lang, ALL][model]):
                    cell["n"] += 1
                    cell["reasons"][reason] = cell["reasons"].get(reason, 0) + 1
    if len(judgements) < 2:
        return cells
    together: Cells = {}
    for (_, phenomenon), skipped in cells.items():
        for model, cell in skipped.items():
            empty: Skipped = {"n": 0, "of": 0, "reasons": {}}
            total = together.setdefault((ALL, phenomenon), {}).setdefault(model, empty)
            total["n"] += cell["n"]
            total["of"] += cell["of"]
            total["reasons"] = dict(Counter(total["reasons"]) + Counter(cell["reasons"]))
    return {**cells, **together, (MEAN, ALL): together[ALL, ALL]}
