"""Compute three statistics that only UrBLiMP needs (Adeeba, Dillon, Sajjad and Bhatt 2025).

``compare_scores`` tests models against each other by their scores on phenomena. ``kappa`` measures
whether people choose the same sentence of a minimal pair. Formulas of exhibits call both.
``compare_lengths``, of the command with its name, reads items and scores. It writes how often the
mean and the sum of token log-probabilities decide a pair differently, and the words of such a pair.
"""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy.stats import norm, wilcoxon
from statsmodels.stats.inter_rater import fleiss_kappa
from statsmodels.stats.multitest import multipletests

from blimpworks.campaign.methods import find_method
from blimpworks.campaign.registry import TIES
from blimpworks.errors import UserError
from blimpworks.items import SIDES
from blimpworks.judging.judge import align_scores, margins, side_of
from blimpworks.papers.urblimp.phenomena import KAPPAS
from blimpworks.papers.urblimp.tables import LENGTHS, SURPRISALS
from blimpworks.tables import ITEMS, JUDGEMENTS, SCORES, Evaluation, read_table, write_rows

# Tests between models. Sections 4.3 and 4.4 name the two-tailed test and Holm's correction. What
# they leave open follows from the p-values of Tables 5 and 6: observations are the ten phenomena,
# zero differences are dropped, and p is exact. The 19 paradigms, Pratt's treatment of zeros or the
# normal approximation give other values.

DECIMALS = 9
"""Decimals to which differences are rounded, so that equal ones are tied."""


def compare_scores(scores: pd.DataFrame, pairs: Sequence[tuple[str, str]]) -> pd.DataFrame:
    """Test pairs of models by Wilcoxon's signed-rank test, with Holm's correction for all pairs.

    ``scores`` is [observations, models]. Observations that a model of the pair lacks are left out,
    and differences of zero; ties get their mean rank. The two-sided p is exact for up to 50
    differences, or 13 if some are tied, and otherwise of a normal approximation. It is 1 if no
    scores differ. Return a row for each pair, in order: first, second (the models), n (number of
    differences), p and holm (p after the correction).
    """
    rows = []
    for first, second in pairs:
        differences = (scores[first] - scores[second]).dropna().astype(float).round(DECIMALS)
        differences = differences[differences != 0]
        p = 1.0
        if len(differences):
            # "auto" is also exact for few tied differences; "exact" assumes that none are tied.
            p = float(wilcoxon(differences.to_numpy(), method="auto").pvalue)
        rows.append({"first": first, "second": second, "n": len(differences), "p": p})
    tests = pd.DataFrame(rows, columns=["first", "second", "n", "p"])
    return tests.assign(holm=multipletests(tests["p"], method="holm")[1] if rows else [])


# People's judgements. Section 2.3 has a Fleiss' kappa of 0.89 without its categories;
# docs/urblimp_people.md says why they can only be the sentences, and not right and wrong.
# kappas.tsv declares this kappa and two others, each with its reason.

Z = float(norm.ppf(0.975))
"""Standard errors from an estimate to the ends of its 95 % interval."""
Counts = NDArray[np.int64]
"""Numbers of judgements [pair, category]; rows have the same sum, ``per_pair``."""


def complete_pairs(ratings: pd.DataFrame, per_pair: int) -> pd.DataFrame:
    """Count right choices (sum) and judgements (count) of pairs with ``per_pair`` judgements.

    ``ratings`` have a row for each judgement: item_id and chose_good.
    """
    pairs = ratings.groupby("item_id")["chose_good"].agg(["sum", "count"])
    return pairs[pairs["count"] == per_pair]


def counts_of(name: str, ratings: pd.DataFrame, per_pair: int) -> Counts:
    """Count judgements in the two categories of a kappa.

    Categories "outcomes" are right and wrong. Categories "sentences" are the first and the second
    sentence of a pair. The grammatical sentence is the first in half of the pairs, chosen by hashes
    of their ids; it is not the order that participants saw.
    """
    pairs = complete_pairs(ratings, per_pair)
    right, wrong = pairs["sum"], per_pair - pairs["sum"]
    if KAPPAS[name]["categories"] == "outcomes":
        return np.column_stack([right, wrong]).astype(np.int64)
    by_hash = sorted(
        pairs.index, key=lambda item: blake2b(str(item).encode(), digest_size=8).digest()
    )
    good_is_second = pairs.index.isin(by_hash[1::2])  # every second pair
    first, second = np.where(good_is_second, [wrong, right], [right, wrong])
    return np.column_stack([first, second]).astype(np.int64)


def _kappa(counts: Counts, method: str) -> float:
    """Compute a kappa; NaN without two judgements of a pair, or if it is 0 ÷ 0."""
    if not len(counts) or counts[0].sum() < 2:
        return math.nan
    # If all judgements are in one category, Fleiss' chance agreement is 1.
    if method == "fleiss" and (counts.sum(axis=0) == 0).any():
        return math.nan
    return float(fleiss_kappa(counts, method=method))


def kappa(name: str, ratings: pd.DataFrame, per_pair: int) -> float:
    """Compute a kappa over the pairs with exactly ``per_pair`` judgements; NaN if undefined."""
    return _kappa(counts_of(name, ratings, per_pair), KAPPAS[name]["method"])


def kappa_interval(name: str, ratings: pd.DataFrame, per_pair: int) -> tuple[float, float]:
    """Return a kappa's 95 % interval by the jackknife over pairs; NaN if undefined.

    The interval is symmetric about the estimate, but its upper end is at most 1.
    """
    method = KAPPAS[name]["method"]
    counts = counts_of(name, ratings, per_pair)
    value, n = _kappa(counts, method), len(counts)
    if math.isnan(value) or n < 2:
        return math.nan, math.nan
    without_pair = np.array([_kappa(np.delete(counts, row, axis=0), method) for row in range(n)])
    error = math.sqrt((n - 1) / n * float(((without_pair - without_pair.mean()) ** 2).sum()))
    return value - Z * error, min(1.0, value + Z * error)


def agreements(ratings: pd.DataFrame, per_pair: int) -> pd.Series:
    """Return for each pair the share of couples of judgements that agree: ⅓ if 2 of 3 are right."""
    pairs = complete_pairs(ratings, per_pair)
    right = pairs["sum"]
    agreeing = right * (right - 1) + (per_pair - right) * (per_pair - right - 1)
    shares: pd.Series = agreeing / (per_pair * (per_pair - 1))
    return shares


# Lengths. UrBLiMP compares perplexities (section 3.1), which are means per token. After a deletion
# the sentences have different numbers of tokens, and mean and sum need not agree.

BY_TOKEN, BY_SUM = "per_token", "full_sentence"
DELETION = "deletion"
LONGEST_EXAMPLE = 14
"""Most words of a short sentence; a pair with one is shown in preference to others."""
GROUP_COLUMNS = ("phenomenon", "paradigm", "change")
Item = dict[Any, Any]
"""A row of a table, by column."""


def _decide(evaluation: Evaluation, items: pa.Table, scores: pa.Table, tie: float) -> pd.DataFrame:
    """Return a row for each pair that a model has judged, with decisions by mean and by sum.

    ``items`` and ``scores`` are in the same order. Columns: "per_token" and "full_sentence" are
    margins [nats]. "per_token right" and "full_sentence right" are 1, 0, or ``tie`` for a margin of
    0; ``differently`` tells whether they differ, ``unequal`` whether the numbers of tokens do.
    ``row`` is the pair's index in ``items``.
    """
    good, bad = (side_of(items, scores, side) for side in SIDES)
    pairs: pd.DataFrame = items.select(["item_id", *GROUP_COLUMNS, *SIDES]).to_pandas()
    pairs = pairs.astype(dict.fromkeys(GROUP_COLUMNS, str))
    for name in (BY_TOKEN, BY_SUM):
        pairs[name] = margins(find_method(name), good, bad)[0]
        pairs[f"{name} right"] = np.where(pairs[name] == 0, tie, pairs[name] > 0)
    pairs["differently"] = pairs[f"{BY_TOKEN} right"] != pairs[f"{BY_SUM} right"]
    tokens = scores.select(["tokens_good", "tokens_bad"]).to_pandas()
    pairs["unequal"] = tokens["tokens_good"] != tokens["tokens_bad"]
    pairs["row"] = range(len(pairs))
    judged = read_table(JUDGEMENTS, evaluation.judgements, ["item_id", "correct"])
    judged_ids = judged.filter(pc.is_valid(judged["correct"]))["item_id"].to_pylist()
    valid = pairs[[BY_TOKEN, BY_SUM]].notna().all(axis=1)
    return pairs[pairs["item_id"].isin(judged_ids) & valid]


def clearest_pair(pairs: Sequence[Item], deletions: Counter[str]) -> Item | None:
    """Return the pair that shows best how mean and sum differ; None if they decide all pairs alike.

    ``pairs`` are rows of ``_decide``; ``deletions`` are numbers of deletions by paradigm. Pairs by
    deletion come first, those of the paradigm with most deletions before others. Next come short
    sentences, then the greatest difference of means per token.
    """

    def rank(pair: Item) -> tuple[object, ...]:
        paradigm_rank = 1, ""  # after all deletions, whose ranks are below zero
        if pair["change"] == DELETION:
            paradigm_rank = -deletions[pair["paradigm"]], pair["paradigm"]
        is_long = len(pair["good"].split()) > LONGEST_EXAMPLE
        return paradigm_rank, is_long, -abs(pair[BY_TOKEN]), pair["item_id"]

    differing = [pair for pair in pairs if pair["differently"] and pair["unequal"]]
    return min(differing, key=rank, default=None)


class WordSurprisal(NamedTuple):
    """A word, None for the end of the text, with its number of scored tokens and surprisal."""

    word: str | None
    tokens: int
    bits: float


def words_of(
    text: str, ends: Sequence[int], logprobs: Sequence[float | None]
) -> list[WordSurprisal]:
    """Return the words of a text with their surprisal.

    ``ends`` [tokens] are the numbers of characters that are complete after each token; ``logprobs``
    [tokens] are in nats; None or NaN for tokens without a score. A token belongs to the word in
    which it ends, without white space at its end. A token of white space, or of no character (such
    as the first byte of one), belongs to the next word. The tokens "he", " r", "an" and the end of
    the text have the ends 2, 4, 6 and 6; the words are "he" (1 token), "ran" (2) and None (1).
    """
    text_words = text.split()
    word_ends, end_of_word = [], 0
    for word in text_words:
        end_of_word = text.index(word, end_of_word) + len(word)
        word_ends.append(end_of_word)
    counts, bits = [0] * (len(text_words) + 1), [0.0] * (len(text_words) + 1)
    start = 0
    for end, value in zip(ends, logprobs, strict=True):
        # The token belongs to the first word that ends after ``reached`` characters or more.
        reached = len(text[:end].rstrip()) if text[start:end].strip() else end + 1
        index = bisect_left(word_ends, reached)
        if value is not None and not np.isnan(value):
            counts[index] += 1
            bits[index] -= value / math.log(2)
        start = end
    rows = [*map(WordSurprisal, [*text_words, None], counts, bits)]
    return rows if counts[-1] else rows[:-1]


def compare_lengths(
    results: Sequence[Evaluation], ties: str, output: Path, surprisals: Path
) -> dict[str, int]:
    """Count pairs that mean and sum decide differently, and write the clearest pair word by word.

    ``ties`` names the tie policy. Returns the numbers of pairs, and of pairs decided differently.
    """
    if not results:
        raise UserError(f"{output}: no judgements are given; name at least one model.")
    counts: list[Item] = []
    word_items: list[Item] = []
    for evaluation in results:
        items = read_table(ITEMS, evaluation.items, [*ITEMS.names, "change"])
        if "change" not in items.column_names:
            raise UserError(
                f"{evaluation.items} has no column change; make the pairs of UrBLiMP again."
            )
        scores = align_scores(items, read_table(SCORES, evaluation.outputs), evaluation.outputs)
        pairs = _decide(evaluation, items, scores, TIES[ties])
        numbers = pairs.groupby([*GROUP_COLUMNS], sort=False).agg(
            n=("row", "size"),
            unequal=("unequal", "sum"),
            by_token=(f"{BY_TOKEN} right", "sum"),
            by_sum=(f"{BY_SUM} right", "sum"),
            differently=("differently", "sum"),
        )
        names = {"model": evaluation.model, "lang": evaluation.lang}
        counts += numbers.reset_index().assign(**names).to_dict("records")
        deletions = items.filter(pc.equal(items["change"], DELETION))["paradigm"]
        pair = clearest_pair(pairs.to_dict("records"), Counter(deletions.to_pylist()))
        if pair is None:
            continue
        (row,) = scores.slice(pair["row"], 1).to_pylist()
        keys = names | {name: pair[name] for name in ("paradigm", "item_id")}
        for side in SIDES:
            side_words = words_of(pair[side], row[f"{side}_ends"], row[f"{side}_logprobs"])
            for position, word in enumerate(side_words, start=1):
                word_items.append({**keys, "side": side, "position": position, **word._asdict()})
    write_rows(counts, LENGTHS, output)
    write_rows(word_items, SURPRISALS, surprisals)
    return {name: sum(row[name] for row in counts) for name in ("n", "differently")}
