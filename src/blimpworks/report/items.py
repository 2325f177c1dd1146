"""Write the data of the page of items: a campaign's pairs and sentences with verdicts by model.

All data are scripts: an index of sets (a benchmark in a language), and chunks of pairs and of
words, loaded when needed. A single sentence is a pair without the other side's sentence.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from blimpworks.exhibits.texts import language_tag
from blimpworks.judging.sample import CONDITIONS
from blimpworks.scoring.words import END, words_of
from blimpworks.tables import ITEMS, JUDGEMENTS, SCORES, read_table

CHUNK = 1000
"""Pairs in one script."""
WORDS = 200_000
"""Most pairs × models whose words the site has; further sets have verdicts alone."""
RIGHT, WRONG, HALF, ABSENT = "1", "0", "h", "-"
SIDES = ("good", "bad")
LABELS = ("phenomenon", "paradigm")
SCORED = ["item_id", *(f"{s}_{n}" for s in SIDES for n in ("logprobs", "ends"))]


@dataclass(frozen=True, slots=True)
class PairSet:
    """A benchmark in a language: its pairs, and the results of each model on them."""

    benchmark: str
    lang: str
    items: Path
    judgements: Mapping[str, Path]
    scores: Mapping[str, Path]
    method: str
    """The method of the shown decisions."""


def sets_from(facts: Mapping[str, Any]) -> list[PairSet]:
    """Return the workflow's sets from templates of paths; a model without languages has all."""
    sets = []
    for benchmark, of in facts.items():
        for lang, items in of["items"].items():
            models = [m for m, langs in of["models"].items() if langs is None or lang in langs]
            judgements, scores = (
                {model: Path(of[name].format(lang=lang, model=model)) for model in models}
                for name in ("judgements", "scores")
            )
            if models:
                tables = (Path(items), judgements, scores)
                sets.append(PairSet(benchmark, lang, *tables, of["method"]))
    return sets


def _pairs(path: Path) -> list[dict[str, Any]]:
    """Read the pairs or sentences of a table, each once; none where items have conditions."""
    table = read_table(ITEMS, path)
    if _conditions(table):
        return []
    alone = "acceptable" in table.column_names and table["good"] == table["bad"]
    label_column = ["acceptable"] if alone else []
    rows = table.select(["item_id", *LABELS, *SIDES, *label_column]).to_pylist()
    for row in rows if label_column else ():
        row["bad" if row["acceptable"] else "good"] = None
    return [*{row["item_id"]: row for row in reversed(rows)}.values()][::-1]


def _conditions(table: pa.Table) -> int:
    """Count items of several conditions; pairs may have columns with these names too."""
    has_conditions = {*table.column_names} >= CONDITIONS and table["good"] == table["bad"]
    return len(table["item"].unique()) if has_conditions else 0


def _verdicts(path: Path, method: str) -> dict[str, str]:
    rows = read_table(JUDGEMENTS, path, ["item_id", "method", "correct"]).to_pandas()
    rows = rows[rows["method"] == method]
    correct = rows["correct"].astype(float)
    cases = [correct.isna(), correct >= 1, correct > 0]
    letters = np.select(cases, [ABSENT, RIGHT, HALF], WRONG).tolist()
    return dict(zip(rows["item_id"], letters, strict=True))


def _words(row: Mapping[str, Any], scores: Mapping[str, Any], side: str) -> list[Any]:
    """Return the words' log-probabilities, and the words if spaces do not divide them."""
    if row[side] is None:
        return [[]]
    ends, logprobs = (scores[f"{side}_{name}"] or [] for name in ("ends", "logprobs"))
    word_scores = words_of(row[side], ends, logprobs)
    numbers = [word["logprob"] for word in word_scores]
    values = [None if number is None else round(number, 2) for number in numbers]
    texts = [word["text"] for word in word_scores]
    between_spaces = re.findall(r"\S+", row[side])
    alike = (texts[:-1] if texts and texts[-1] == END else texts) == between_spaces
    return [values] if alike else [values, texts]


def _script(name: str, content: Any) -> str:
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return f"blimpworksItems.receive({json.dumps(name)},{text});\n"


def item_scripts(
    sets: Sequence[PairSet], labels: Mapping[str, Mapping[str, str]], most_words: int = WORDS
) -> Iterator[tuple[str, str]]:
    """Yield names and texts of all scripts, the index last; no words beyond ``most_words``."""
    entries, written = [], 0
    omitted: Counter[str] = Counter()
    for pair_set in sets:
        rows = _pairs(pair_set.items)
        if not rows:
            omitted[pair_set.benchmark] += _conditions(read_table(ITEMS, pair_set.items))
            continue
        size = len(rows) * len(pair_set.scores)
        total_words = written + size <= most_words
        written += size if total_words else 0
        verdicts = [_verdicts(path, pair_set.method) for path in pair_set.judgements.values()]
        scores_by_model = [
            {row["item_id"]: row for row in read_table(SCORES, path, SCORED).to_pylist()}
            for path in (pair_set.scores.values() if total_words else ())
        ]
        paradigms: dict[tuple[str, str], int] = {}
        for number, start in enumerate(range(0, len(rows), CHUNK)):
            pairs, words_of_pairs = [], []
            for row in rows[start : start + CHUNK]:
                item = row["item_id"]
                labelled = (row["phenomenon"], row["paradigm"])
                paradigm = paradigms.setdefault(labelled, len(paradigms))
                letters = "".join(each.get(item, ABSENT) for each in verdicts)
                pairs.append([item, paradigm, row["good"], row["bad"], letters])
                scored = (scores.get(item) for scores in scores_by_model)
                words_of_pairs.append(
                    [s and [_words(row, s, side) for side in SIDES] for s in scored]
                )
            name = f"{pair_set.benchmark}.{pair_set.lang}.{number}"
            yield name, _script(name, pairs)
            if total_words:
                yield f"{name}.words", _script(f"{name}.words", words_of_pairs)
        entries.append(
            {
                "benchmark": pair_set.benchmark,
                "lang": pair_set.lang,
                "tag": language_tag(pair_set.lang),
                "pairs": len(rows),
                "chunks": math.ceil(len(rows) / CHUNK),
                "models": [*pair_set.judgements],
                "paradigms": [*paradigms],
                "words": total_words,
            }
        )
    if entries:
        content = {"sets": entries, "labels": labels, "omitted": [*omitted.items()]}
        yield "index", _script("index", content)
