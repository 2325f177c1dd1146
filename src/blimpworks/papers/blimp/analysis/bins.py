"""Compute accuracy by properties of single pairs, in bins of equally many pairs.

Source: Warstadt et al. (2020), section 5.2 and Figure 2. The paper's log-probability is the
acceptable sentence's; here length and perplexity are, too. The paper does not say how it bins: here
by quantiles of each model's own values over all pairs that it judged.
"""

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.analysis.accuracy import wilson
from blimpworks.errors import UserError
from blimpworks.judging.judge import align_scores
from blimpworks.papers.blimp.tables import BINS
from blimpworks.tables import ITEMS, JUDGEMENTS, SCORES, Evaluation, read_table, write_frame

log = logging.getLogger(__name__)

LENGTH, PERPLEXITY = "length", "perplexity"
PROBABILITY, CONFIDENCE = "log-probability", "confidence"
FACTORS = (LENGTH, PERPLEXITY, PROBABILITY, CONFIDENCE)
SCORED = ["item_id", "logprob_good", "logprob_bad", "tokens_good"]
JUDGED = ["item_id", "method", "correct"]


def factors(items: pa.Table, scores: pa.Table) -> pd.DataFrame:
    """Return the factors of each pair; rows of ``items`` and ``scores`` correspond.

    Length (words between spaces), perplexity per scored token and log-probability [nats] are the
    grammatical sentence's. Confidence is the absolute difference of both log-probabilities. NaN
    without a score.
    """
    good, bad = (scores[f"logprob_{side}"].to_numpy() for side in ("good", "bad"))
    tokens = scores["tokens_good"].to_numpy().astype(float)
    return pd.DataFrame(
        {
            LENGTH: pc.list_value_length(pc.utf8_split_whitespace(items["good"])).to_numpy(),
            PERPLEXITY: np.exp(-good / np.where(tokens > 0, tokens, np.nan)),
            PROBABILITY: good,
            CONFIDENCE: np.abs(good - bad),
        }
    )


def bins_of(values: pd.Series, most: int) -> pd.Series:
    """Return the bin of each value, from 0, by quantiles; equal values share one."""
    ordered = np.sort(values.to_numpy())
    # Positions of the quantiles as whole numbers and parts of `most`: a float such as 0.6 * 10
    # lies a little above the value that it stands for, which would then change its bin.
    quotients, remainders = np.divmod(np.arange(most + 1) * (len(ordered) - 1), most)
    after = ordered[np.minimum(quotients + 1, len(ordered) - 1)]
    edges = np.unique(ordered[quotients] + remainders / most * (after - ordered[quotients]))
    numbers = np.searchsorted(edges[1:-1], values.to_numpy(), side="right")
    return pd.Series(pd.factorize(numbers, sort=True)[0], index=values.index)


def binned(rows: pd.DataFrame, most: int) -> Iterator[dict[str, object]]:
    """Yield accuracy in each bin of each factor, with Wilson's interval.

    ``rows`` have the factors and ``correct``; those without a factor's value are left out.
    """
    for factor in FACTORS:
        measured = rows[np.isfinite(rows[factor].astype(float)) & rows["correct"].notna()]
        if measured.empty:
            continue
        for number, inside in measured.groupby(bins_of(measured[factor], most)):
            values, correct, n = inside[factor], float(inside["correct"].sum()), len(inside)
            low, high = wilson(correct, n)
            yield {
                "factor": factor,
                "bin": int(str(number)),
                **{"least": values.min(), "most": values.max(), "mean": values.mean()},
                **{"correct": correct, "n": n, "accuracy": correct / n, "low": low, "high": high},
            }


def bin_accuracies(results: Sequence[Evaluation], method: str, bins: int, output: Path) -> int:
    """Write the accuracy of each model by factor in at most ``bins``; return the number of rows."""
    if not results:
        raise UserError(f"{output}: no judgements are given; name at least one model.")
    frames = []
    for evaluation in results:
        items = read_table(ITEMS, evaluation.items, ["item_id", "good"])
        scores = read_table(SCORES, evaluation.outputs, SCORED)
        rows = factors(items, align_scores(items, scores, evaluation.outputs))
        judged = read_table(JUDGEMENTS, evaluation.judgements, JUDGED).to_pandas()
        correct = judged[judged["method"] == method].set_index("item_id")["correct"]
        if correct.empty:
            raise UserError(
                f"{evaluation.judgements} has no judgements by method {method}; expected the "
                "method that the exhibits show. Judge by it."
            )
        rows = rows.assign(correct=correct.reindex(items["item_id"].to_pylist()).to_numpy())
        keys = {"model": evaluation.model, "lang": evaluation.lang, "method": method}
        frames.append(pd.DataFrame(binned(rows, bins)).assign(**keys))
    frame = pd.concat(frames)
    log.info("%s: %d rows of %d models", output, len(frame), len(results))
    write_frame(frame, BINS, output)
    return len(frame)
