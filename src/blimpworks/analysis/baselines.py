"""Count items of a benchmark that length, frequency of words, or chance alone gets right."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import langcodes
import pandas as pd
import wordfreq
from wordfreq.tokens import tokenize

GROUP = ["lang", "phenomenon", "paradigm"]
BASELINES = {
    "longer": "longer",
    "shorter": "shorter",
    "frequent": "frequent words",
    "majority": "commoner label",
    "chance": "chance",
}
"""Names in print."""
COLUMNS = (*GROUP, "baseline", "correct", "n")
SERBO_CROATIAN = dict.fromkeys(("bos", "cnr", "hbs", "hrv", "srp"), "sh")
"""wordfreq's code of languages whose macrolanguage langcodes does not know."""


@cache
def frequency_code(lang: str) -> str | None:
    """Return wordfreq's code for a language (ISO 639-3) or its macrolanguage, or None."""
    tags = [str(langcodes.standardize_tag(lang, macro=macro)) for macro in (False, True)]
    codes = [SERBO_CROATIAN.get(lang), *tags]
    code = next((code for code in codes if code in wordfreq.available_languages()), None)
    try:
        # Chinese, Japanese and Korean need packages that may be missing.
        if code:
            tokenize("的", code)
    except ModuleNotFoundError:
        return None
    return code


_zipf = cache(wordfreq.zipf_frequency)


def frequency(sentence: str, code: str) -> float:
    """Return the words' mean Zipf frequency: log10 of the count in a billion words."""
    values = [_zipf(word, code) for word in tokenize(sentence, code)]
    return sum(values) / len(values) if values else 0.0


def ahead(first: pd.Series, second: pd.Series) -> float:
    """Count rows whose first value is above the second; equal values count half."""
    return float((first > second).sum() + 0.5 * (first == second).sum())


def _group_baselines(rows: pd.DataFrame, lang: str) -> Iterator[tuple[str, float, int]]:
    """Yield name, right items and number of items of each baseline in one paradigm.

    Rows with a label have ``majority``, rows with options ``chance``, all others are pairs.
    """
    labelled = rows["acceptable"].notna()
    chance = rows["chance"].fillna(1 / rows["alternatives"]).dropna().astype(float)
    pairs = rows[~labelled & ~rows.index.isin(chance.index)]
    if len(pairs):
        sides, n = (pairs["good"], pairs["bad"]), len(pairs)
        good, bad = (side.str.len() for side in sides)
        yield "longer", ahead(good, bad), n
        yield "shorter", ahead(bad, good), n
        code = frequency_code(lang)
        if code is not None:
            yield "frequent", ahead(*(side.map(lambda s: frequency(s, code)) for side in sides)), n
    if labelled.any():
        right, n = int(rows.loc[labelled, "acceptable"].astype(bool).sum()), int(labelled.sum())
        yield "majority", float(max(right, n - right)), n
    if len(chance):
        yield "chance", float(chance.sum()), len(chance)


def one_row_per_item(items: pd.DataFrame) -> pd.DataFrame:
    """Keep one row of each item, and none of items whose conditions are not answers to choose."""
    if "item" not in items:
        return items
    if "alternatives" not in items:
        return items[:0]
    return items[items["item"].isna() | ~items.duplicated("item")]


def baseline_rows(pairs: pd.DataFrame) -> pd.DataFrame:
    """Count the right items of each baseline in each paradigm; ties count half.

    ``pairs`` has a row per item: lang, phenomenon, paradigm, good, bad; perhaps acceptable (of
    single sentences), alternatives (number of options) or chance (probability of a right answer).
    Pairs have ``longer`` and ``shorter`` (characters) and ``frequent`` (words), single sentences
    ``majority`` (the paradigm's commoner label), items with options ``chance``.
    """
    optional = dict.fromkeys({"acceptable", "alternatives", "chance"} - {*pairs.columns})
    frame = pairs.assign(**optional).reset_index(drop=True)
    frame[["alternatives", "chance"]] = frame[["alternatives", "chance"]].astype(float)
    rows: list[tuple[Any, ...]] = []
    for key, group in frame.groupby(GROUP, sort=False, observed=True):
        rows += [(*key, *baseline) for baseline in _group_baselines(group, str(key[0]))]
    return pd.DataFrame(rows, columns=[*COLUMNS])
