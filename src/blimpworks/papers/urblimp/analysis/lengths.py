"""Pairs that the mean per token and the sum of log-probabilities decide differently.

UrBLiMP compares perplexities (Adeeba, Dillon, Sajjad and Bhatt 2025, section 3.1), which are means
per token. After a deletion the sentences have different numbers of tokens, and mean and sum need
not agree.
"""

from collections import Counter
from collections.abc import Sequence
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.campaign.methods import find_method
from blimpworks.campaign.registry import TIES
from blimpworks.errors import UserError
from blimpworks.judging.judge import align_scores, margins, side_of
from blimpworks.papers.urblimp.tables import LENGTHS, SURPRISALS
from blimpworks.tables import ITEMS, JUDGEMENTS, SCORES, Evaluation, read_table, write_rows

SIDES = ("good", "bad")
BY_TOKEN, BY_SUM = "per_token", "full_sentence"
DELETION = "deletion"
LONGEST = 14
"""Most words of a sentence that is shown, if there are such sentences."""
KINDS = ("phenomenon", "paradigm", "change")
Item = dict[Any, Any]


def _decisions(
    evaluation: Evaluation, items: pa.Table, scores: pa.Table, tie: float
) -> pd.DataFrame:
    """Return the pairs that a model has judged, with margins [nats] by token and in sum."""
    good, bad = (side_of(items, scores, side) for side in SIDES)
    pairs: pd.DataFrame = items.select(["item_id", *KINDS, *SIDES]).to_pandas()
    pairs = pairs.astype(dict.fromkeys(KINDS, str))
    for name in (BY_TOKEN, BY_SUM):
        pairs[name] = margins(find_method(name), good, bad)[0]
        pairs[f"{name} right"] = np.where(pairs[name] == 0, tie, pairs[name] > 0)
    pairs["differently"] = pairs[f"{BY_TOKEN} right"] != pairs[f"{BY_SUM} right"]
    tokens = scores.select([f"tokens_{side}" for side in SIDES]).to_pandas()
    pairs["unequal"] = tokens["tokens_good"] != tokens["tokens_bad"]
    pairs["row"] = range(len(pairs))
    judged = read_table(JUDGEMENTS, evaluation.judgements, ["item_id", "correct"])
    judged_ids = judged.filter(pc.is_valid(judged["correct"]))["item_id"].to_pylist()
    valid = pairs[[BY_TOKEN, BY_SUM]].notna().all(axis=1)
    return pairs[pairs["item_id"].isin(judged_ids) & valid]


def clearest_pair(pairs: Sequence[Item], deletions: Counter[str]) -> Item | None:
    """Return the pair that shows best how the methods differ; None if they never do.

    It is of the paradigm with most ``deletions`` that has such a pair, else of any. Short sentences
    come first, then the greatest difference of means per token.
    """
    differing = [pair for pair in pairs if pair["differently"] and pair["unequal"]]
    for paradigm, _ in sorted(deletions.items(), key=lambda each: (-each[1], each[0])):
        inside = [p for p in differing if (p["paradigm"], p["change"]) == (paradigm, DELETION)]
        if inside:
            differing = inside
            break

    def rank(pair: Item) -> tuple[object, ...]:
        return len(pair["good"].split()) > LONGEST, -abs(pair[BY_TOKEN]), pair["item_id"]

    return min(differing, key=rank, default=None)


def words_of(
    text: str, ends: Sequence[int], logprobs: Sequence[float | None]
) -> list[tuple[str | None, int, float]]:
    """Return the words of a text, each with its scored tokens and its surprisal in bits.

    ``ends`` [tokens] are the characters complete after each token, ``logprobs`` [tokens] nats. A
    token belongs to the word with its last character; white space alone belongs to the word after
    it. Tokens after the text, if any, make a last row whose word is None.
    """
    text_words = text.split()
    after, at = [], 0
    for word in text_words:
        at = text.index(word, at) + len(word)
        after.append(at)
    counts, bits = [0] * (len(text_words) + 1), [0.0] * (len(text_words) + 1)
    before = 0
    for end, value in zip(ends, logprobs, strict=True):
        # An empty token is part of the next character, or the end of the text.
        reached = end if text[before:end].strip() else end + 1
        index = next((i for i, last in enumerate(after) if reached <= last), len(text_words))
        if value is not None and not np.isnan(value):
            counts[index] += 1
            bits[index] -= value / log(2)
        before = end
    rows = list(zip([*text_words, None], counts, bits, strict=True))
    return rows if counts[-1] else rows[:-1]


def compare_lengths(
    results: Sequence[Evaluation], ties: str, output: Path, surprisals: Path
) -> dict[str, int]:
    """Write the decisions that differ by token and in sum, and one such pair word by word.

    ``ties`` is the tie policy. Returns the number of pairs, and of those decided differently.
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
        pairs = _decisions(evaluation, items, scores, TIES[ties])
        numbers = pairs.groupby([*KINDS], sort=False).agg(
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
            of_side = words_of(pair[side], row[f"{side}_ends"], row[f"{side}_logprobs"])
            for position, (word, tokens, bits) in enumerate(of_side, start=1):
                values = {"position": position, "word": word, "tokens": tokens, "bits": bits}
                word_items.append({**keys, "side": side, **values})
    write_rows(counts, LENGTHS, output)
    write_rows(word_items, SURPRISALS, surprisals)
    return {name: sum(row[name] for row in counts) for name in ("n", "differently")}
