"""Count the items that baselines get right: by length, frequency of words, labels or chance.

Baselines use no grammar, so a model that knows grammar should get more items right.
``baseline_rows`` gets items, without any model's scores, and returns counts by paradigm.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

import langcodes
import pandas as pd
import wordfreq
from wordfreq.tokens import tokenize

GROUP = ["lang", "phenomenon", "paradigm"]
"""Columns that identify a row of the counts."""
BASELINES = {
    "longer": "longer",
    "shorter": "shorter",
    "frequent": "frequent words",
    "majority": "commoner label",
    "chance": "chance",
}
"""Names of baselines in tables and figures: of baselines of pairs, then of labelled single
sentences ("commoner label"), then of items with options ("chance")."""
BASELINE_COLUMNS = (*GROUP, "baseline", "correct", "n")
SERBO_CROATIAN = dict.fromkeys(("bos", "cnr", "hbs", "hrv", "srp"), "sh")
"""wordfreq's code for languages whose macrolanguage langcodes does not know."""


@cache
def frequency_code(lang: str) -> str | None:
    """Return wordfreq's code for a language (ISO 639-3) or its macrolanguage; None without one."""
    tags = [str(langcodes.standardize_tag(lang, macro=macro)) for macro in (False, True)]
    codes = [SERBO_CROATIAN.get(lang), *tags]
    available = [code for code in codes if code in wordfreq.available_languages()]
    if not available:
        return None
    try:
        # Chinese, Japanese and Korean need packages that may be missing.
        tokenize("的", available[0])
    except ModuleNotFoundError:
        return None
    return available[0]


_zipf = cache(wordfreq.zipf_frequency)


def frequency(sentence: str, code: str) -> float:
    """Return the mean Zipf frequency of the words: log10 of their count in a billion words."""
    values = [_zipf(word, code) for word in tokenize(sentence, code)]
    return sum(values) / len(values) if values else 0.0


def wins(first: pd.Series, second: pd.Series) -> float:
    """Return the number of rows in which ``first`` is above ``second``; equal values are a half."""
    return float((first > second).sum() + 0.5 * (first == second).sum())


def _group_baselines(rows: pd.DataFrame, lang: str) -> Iterator[tuple[str, float, int]]:
    """Yield (name, number of right items, number of items) of each baseline in a paradigm."""
    is_labelled = rows["acceptable"].notna()
    # Probability of a right guess, of items with options; other items are dropped.
    chance = rows["chance"].fillna(1 / rows["alternatives"]).dropna().astype(float)
    pairs = rows[~is_labelled & ~rows.index.isin(chance.index)]
    if len(pairs):
        n, good_length, bad_length = len(pairs), pairs["good"].str.len(), pairs["bad"].str.len()
        yield "longer", wins(good_length, bad_length), n
        yield "shorter", wins(bad_length, good_length), n
        code = frequency_code(lang)
        if code is not None:
            good = pairs["good"].map(lambda sentence: frequency(sentence, code))
            bad = pairs["bad"].map(lambda sentence: frequency(sentence, code))
            yield "frequent", wins(good, bad), n
    if is_labelled.any():
        n = int(is_labelled.sum())
        acceptable = int(rows.loc[is_labelled, "acceptable"].astype(bool).sum())
        yield "majority", float(max(acceptable, n - acceptable)), n
    if len(chance):
        yield "chance", float(chance.sum()), len(chance)


def one_row_per_item(items: pd.DataFrame) -> pd.DataFrame:
    """Return one row of each item, for tables with a row for each condition of an item.

    If the conditions are not options to choose from, the items have no baseline and are dropped.
    """
    if "item" not in items:
        return items
    if "alternatives" not in items:
        return items[:0]
    # Languages are separate, because an item and its translation may have the same id.
    return items[items["item"].isna() | ~items.duplicated(["lang", "item"])]


def baseline_rows(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the number of items of each paradigm that each baseline gets right; ties are a half.

    ``pairs`` has a row per item, with lang, phenomenon, paradigm, good and bad. Pairs have the
    baselines ``longer`` and ``shorter`` (in characters) and ``frequent`` (words). Single sentences
    have a column ``acceptable`` and the baseline ``majority`` (the paradigm's commoner label).
    Items with options have a column ``alternatives`` (number of options) or ``chance`` (probability
    of a right answer), and the baseline ``chance``.
    """
    absent_columns = {"acceptable", "alternatives", "chance"} - {*pairs.columns}
    frame = pairs.assign(**dict.fromkeys(absent_columns)).reset_index(drop=True)
    frame[["alternatives", "chance"]] = frame[["alternatives", "chance"]].astype(float)
    rows: list[tuple[Any, ...]] = []
    for key, group in frame.groupby(GROUP, sort=False, observed=True):
        rows += [(*key, *baseline) for baseline in _group_baselines(group, str(key[0]))]
    return pd.DataFrame(rows, columns=[*BASELINE_COLUMNS])
