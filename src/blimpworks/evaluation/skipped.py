"""The items of an evaluation that got no verdict, and why, in words."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.evaluation.card import ALL, MEAN, Skipped
from blimpworks.evaluation.facts import OUTPUTS, BenchmarkFacts, model_table
from blimpworks.evaluation.judged import Judged
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
    manifest = next(
        (
            outputs.parents[3].joinpath(*Path(each["path"]).parts[-4:])
            for each in (made_by(outputs) or {}).get("inputs", [])
            if each["path"].endswith("/manifest.json")
        ),
        None,
    )
    limit = ""
    if manifest is not None and manifest.is_file():
        limit = json.loads(manifest.read_bytes()).get("checks", {}).get("limit", "")
    return f"longer than the model's {f'{int(limit):,} tokens' if limit else 'context'}"


def why_skipped(ids: Sequence[str], items: Path, outputs: Path, method: str) -> list[str]:
    """Why each of some items without a verdict by ``method`` has none, in words.

    ``outputs`` is the table of scores or answers, in a tree of results. Raises UserError when a
    table is broken.
    """
    statuses: dict[str, str] = {}
    if outputs.is_file():
        table = read_parquet(outputs, ["item_id", "status"])
        failed = table.filter(pc.not_equal(table["status"].cast(pa.string()), OK))
        statuses = {row["item_id"]: str(row["status"]) for row in failed.to_pylist()}
    rows = read_parquet(items, ["item_id", *CONDITIONS]) if statuses else pa.table({})
    if {*rows.column_names} >= CONDITIONS:
        of_rows = zip(rows["item"].to_pylist(), rows["item_id"].to_pylist(), strict=True)
        statuses = {item: statuses[row] for item, row in of_rows if row in statuses}
    words = WORDS | ({TOO_LONG: _too_long(outputs)} if TOO_LONG in statuses.values() else {})
    other = f"on which {method} gives no verdict, such as for unknown words"
    return [words.get(statuses.get(item, OK), other) for item in ids]


def skipped_items(
    name: str,
    benchmark: BenchmarkFacts,
    judgements: Mapping[str, Mapping[str, Judged]],
    results: str,
) -> Cells:
    """How many items got no verdict by the main methods, and why; also where every item got one.

    Of several languages also over all of them, and for their mean. ``judgements`` are by language
    and model. Raises UserError when a table is missing or broken.
    """
    cells: Cells = {}
    for lang, models in judgements.items():
        for model, judged in models.items():
            phenomena = judged.table["phenomenon"].to_pylist()
            for phenomenon, count in [(ALL, len(phenomena)), *Counter(phenomena).items()]:
                new: Skipped = {"n": 0, "of": count, "reasons": {}}
                cells.setdefault((lang, phenomenon), {})[model] = new
            lost = judged.table.filter(pa.array(np.isnan(judged.correct)))
            if not len(lost):
                continue
            outputs = model_table(results, OUTPUTS[benchmark["unit"]], name, lang, model)
            reasons = why_skipped(
                lost["item_id"].to_pylist(),
                Path(benchmark["items"][lang]),
                Path(outputs),
                benchmark["methods"][model][0],
            )
            for phenomenon, reason in zip(lost["phenomenon"].to_pylist(), reasons, strict=True):
                for each in (cells[lang, phenomenon][model], cells[lang, ALL][model]):
                    each["n"] += 1
                    each["reasons"][reason] = each["reasons"].get(reason, 0) + 1
    if len({lang for lang, _ in cells}) < 2:
        return cells
    together: Cells = {}
    for (_, phenomenon), skipped in cells.items():
        for model, each in skipped.items():
            empty: Skipped = {"n": 0, "of": 0, "reasons": {}}
            total = together.setdefault((ALL, phenomenon), {}).setdefault(model, empty)
            total["n"] += each["n"]
            total["of"] += each["of"]
            total["reasons"] = dict(Counter(total["reasons"]) + Counter(each["reasons"]))
    return {**cells, **together, (MEAN, ALL): together[ALL, ALL]}
