"""Compare length and frequency of good and bad sentences, by paradigm."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import pandas as pd

from blimpworks.analysis.accuracy import wilson
from blimpworks.analysis.baselines import GROUP, ahead, baseline_rows, frequency, frequency_code
from blimpworks.benchmarks.designs import Design
from blimpworks.benchmarks.differences import count_words
from blimpworks.benchmarks.layouts import Item
from blimpworks.benchmarks.predictions import chance_of
from blimpworks.errors import UserError

DECISIVE, FEWEST = 0.75, 20
"""Share of pairs from which one measure decides alone, and pairs that this needs."""
PER_WORD = 1.5
"""Tokens of a word, without a tokenizer."""
CountTokens = Callable[[Sequence[str]], list[int]]


def token_counter(path: Path) -> CountTokens:
    """Read a tokenizer.json (or a model directory's) to count tokens; UserError without one."""
    file = path / "tokenizer.json" if path.is_dir() else path
    try:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(file))
    except ModuleNotFoundError as error:
        raise UserError("tokenizers is not installed; install blimpworks[train].") from error
    # The library raises bare exceptions.
    except Exception as error:
        raise UserError(
            f"{file} is no tokenizer that can be read ({error}); name a tokenizer.json."
        ) from error

    def count(sentences: Sequence[str]) -> list[int]:
        encodings = tokenizer.encode_batch([*sentences], add_special_tokens=False)
        return [len(encoding.ids) for encoding in encodings]

    return count


def _compared(
    rows: pd.DataFrame, lang: str, count: CountTokens | None
) -> Iterator[tuple[str, str, str]]:
    """Yield name and means of each measure of a paradigm, and its direction if it decides alone.

    It decides by the share of pairs whose good sentence has more; equal ones count half.
    """
    paired = bool(rows["acceptable"].isna().all())
    sides = rows["good"], rows["bad"]
    if not paired:
        accepted = rows["acceptable"].astype(bool)
        sides = rows["good"][accepted], rows["good"][~accepted]
    if not all(map(len, sides)) or rows["chance"].notna().any():
        return
    functions: dict[str, Callable[[pd.Series], Any]] = {
        "characters": lambda sentences: sentences.str.len(),
        "words": lambda sentences: sentences.map(count_words),
    }
    if count:
        functions["tokens"] = lambda sentences: count([*sentences])
    if code := frequency_code(lang):
        functions["Zipf"] = lambda sentences: sentences.map(lambda s: frequency(s, code))
    for name, function in functions.items():
        good, bad = (pd.Series([*function(side)], dtype=float) for side in sides)
        n = min(len(good), len(bad))
        if paired:
            right = ahead(good, bad)
        else:
            ranks = pd.concat([good, bad]).rank()[: len(good)]
            right = float(ranks.sum() - len(good) * (len(good) + 1) / 2) / max(len(good), len(bad))
        share, (low, high), reason = right / n, wilson(right, n), ""
        far = share >= DECISIVE or share <= 1 - DECISIVE
        if far and n >= FEWEST and not low <= 0.5 <= high:
            more = share >= 0.5
            if name == "Zipf":
                direction = "more frequent words" if more else "rarer words"
            else:
                direction = f"{'more' if more else 'fewer'} {name}"
            if not more:
                share, low, high = 1 - share, 1 - high, 1 - low
            reason = f"{direction} {100 * share:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"
        yield name, f"{good.mean():.1f} : {bad.mean():.1f}", reason


def _chance(item: Design) -> float | None:
    """Return the probability of a right answer; None for an item of effects alone."""
    if not item.predictions:
        return None
    if item.right == "mean":
        return fmean(chance_of((formula,)) for formula in item.predictions)
    return chance_of(item.predictions)


def measures(
    items: Sequence[Item | Design], patterns: Sequence[str], count: CountTokens | None
) -> tuple[list[dict[str, Any]], list[str]]:
    """Measure each paradigm; return a row of each, and those that one measure decides alone.

    ``patterns`` say how the sentences of each pair differ; they are empty for items without pairs.
    """
    frame = pd.DataFrame(
        {
            **{name: getattr(item, name) for name in GROUP},
            "good": getattr(item, "good", ""),
            "bad": getattr(item, "bad", ""),
            "acceptable": item.more.get("acceptable"),
            "chance": _chance(item) if isinstance(item, Design) else None,
        }
        for item in items
    )
    baselines = baseline_rows(frame)
    shares = baselines.assign(share=baselines["correct"] / baselines["n"])
    wide: Mapping[Any, Any] = {
        key: dict(zip(group["baseline"], group["share"], strict=True))
        for key, group in shares.groupby(GROUP, sort=False)
    }
    rows, decisive = [], []
    for key, group in frame.groupby(GROUP, sort=False):
        lang, _, paradigm = map(str, key)
        row: dict[str, Any] = {"lang": lang, "paradigm": paradigm, "n": len(group)}
        if patterns:
            pattern, n = Counter(patterns[i] for i in group.index).most_common(1)[0]
            row |= {"mostly": pattern, "share": f"{100 * n / len(group):.0f} %"}
        compared = [*_compared(group, lang, count)]
        row |= {name: means for name, means, _ in compared}
        row |= {name: f"{100 * share:.1f} %" for name, share in wide[key].items()}
        rows.append(row)
        reasons = "; ".join(reason for *_, reason in compared if reason)
        if reasons:
            decisive.append(f"{lang} {paradigm}, {len(group):,}: {reasons}")
    return rows, decisive
