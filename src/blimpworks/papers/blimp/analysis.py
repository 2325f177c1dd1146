"""Statistics that only BLiMP needs: accuracy in bins of pairs, and learning curves.

``bin_accuracies`` writes a table of bins. A bin has the pairs with similar values of a factor, a
property such as the length of the sentence. ``fit_curves`` writes a table of curves. A curve is an
architecture trained on texts of several sizes. A command calls each function.

Source: Warstadt et al. (2020), section 5.2 and Figure 2 on bins, section 6.3 on curves. Values of
all factors but confidence are of the acceptable sentence; the paper says so of log-probability
only. It does not define bins. Ours are between quantiles of a model's values over all pairs that it
judged. A curve is fitted by ordinary least squares of accuracy on the binary logarithm of tokens,
and extrapolated to human accuracy.
"""

import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from blimpworks import tables
from blimpworks.analysis.accuracy import wilson
from blimpworks.analysis.statistics import INTERCEPT, is_estimable, ordinary_least_squares
from blimpworks.errors import UserError
from blimpworks.items import ALL
from blimpworks.judging.judge import align_scores
from blimpworks.papers.blimp.paradigms import HUMAN, PHENOMENON_OF
from blimpworks.papers.blimp.released_results import INDIVIDUAL
from blimpworks.papers.blimp.tables import BINS
from blimpworks.tables import read_table

log = logging.getLogger(__name__)

LENGTH, PERPLEXITY = "length", "perplexity"
PROBABILITY, CONFIDENCE = "log-probability", "confidence"
FACTORS = (LENGTH, PERPLEXITY, PROBABILITY, CONFIDENCE)
SCORE_COLUMNS = ["item_id", "logprob_good", "logprob_bad", "tokens_good"]
JUDGEMENT_COLUMNS = ["item_id", "method", "correct"]


def factors(items: pa.Table, scores: pa.Table) -> pd.DataFrame:
    """Return the factors of pairs [pairs, FACTORS]; rows of ``items`` and ``scores`` correspond.

    Length (words), perplexity per scored token, and log-probability (nats) are those of the
    grammatical sentence; confidence is |log P(good) − log P(bad)|. Without a score they are NaN.
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


def bins_of(values: pd.Series, bins: int) -> pd.Series:
    """Return the bin of each value, from 0 to at most ``bins`` - 1; equal values share a bin."""
    ordered = np.sort(values.to_numpy())
    last = len(ordered) - 1
    # Edges of bins are the quantiles 0/bins to bins/bins. Quantile i/bins is at position i × last ÷
    # bins of the ordered values, interpolated between two of them. Positions are whole numbers and
    # remainders, because a float such as 0.6 * 10 is a little too large for the value there.
    positions, remainders = np.divmod(np.arange(bins + 1) * last, bins)
    below, above = ordered[positions], ordered[np.minimum(positions + 1, last)]
    edges = np.unique(below + remainders / bins * (above - below))
    numbers = np.searchsorted(edges[1:-1], values.to_numpy(), side="right")
    without_gaps = pd.factorize(numbers, sort=True)[0]  # a bin may be empty
    return pd.Series(without_gaps, index=values.index)


def binned(rows: pd.DataFrame, bins: int) -> Iterator[dict[str, object]]:
    """Yield a row for each bin of each factor, with accuracy and Wilson's interval.

    ``rows``: the factors of pairs, and whether a model is right on each ("correct").
    """
    for factor in FACTORS:
        # Pairs without a value of the factor are left out.
        measured = rows[np.isfinite(rows[factor].astype(float)) & rows["correct"].notna()]
        if measured.empty:
            continue
        for number, pairs in measured.groupby(bins_of(measured[factor], bins)):
            values, correct, n = pairs[factor], float(pairs["correct"].sum()), len(pairs)
            low, high = wilson(correct, n)
            row = {"factor": factor, "bin": int(str(number)), "correct": correct, "n": n}
            row |= {"least": values.min(), "most": values.max(), "mean": values.mean()}
            yield row | {"accuracy": correct / n, "low": low, "high": high}


def bin_accuracies(
    results: Sequence[tables.Evaluation], method: str, bins: int, output: Path
) -> int:
    """Write the accuracy of each model in at most ``bins`` bins of each factor; count the rows."""
    if not results:
        raise UserError(f"{output}: no judgements are given; name at least one model.")
    frames = []
    for evaluation in results:
        items = read_table(tables.ITEMS, evaluation.items, ["item_id", "good"])
        scores = read_table(tables.SCORES, evaluation.outputs, SCORE_COLUMNS)
        rows = factors(items, align_scores(items, scores, evaluation.outputs))
        judged = read_table(tables.JUDGEMENTS, evaluation.judgements, JUDGEMENT_COLUMNS).to_pandas()
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
    tables.write_frame(frame, BINS, output)
    return len(frame)


# Learning curves

DOUBLING, TO_HUMAN = "log2 tokens", "log10 tokens at human accuracy"
"""Terms of a curve: accuracy (0 to 1) gained by a text of double length, and the length of text at
which the line reaches human accuracy."""
Curves = Mapping[str, Mapping[str, int]]
"""Numbers of training tokens: {architecture (row of models.tsv): {model of it: tokens}}."""
Rows = list[dict[str, Any]]


def phenomena_accuracies(accuracies: pd.DataFrame) -> pd.DataFrame:
    """Return mean accuracies (0 to 1) [models, phenomena]; the last column is over all paradigms.

    ``accuracies``: rows of one method, by model and paradigm.
    """
    rows = accuracies[accuracies["paradigm"].isin(PHENOMENON_OF)].astype({"model": object})
    phenomena = rows["paradigm"].astype(object).map(PHENOMENON_OF)
    means = rows.groupby(["model", phenomena])["accuracy"].mean().unstack()
    return means.assign(**{ALL: rows.groupby("model")["accuracy"].mean()})


def fit_curve(accuracies: pd.Series, tokens: pd.Series, human: float | None = None) -> Rows:
    """Return the terms of a curve: intercept, slope per doubling, tokens at ``human`` accuracy.

    ``accuracies`` and ``tokens`` are [models]. Fewer than two sizes or three models give no terms.
    Equal accuracies give a slope of exactly 0, without R².
    """
    logarithms = pd.DataFrame({DOUBLING: np.log2(tokens.astype(float))})
    rows: Rows = ordinary_least_squares(accuracies, logarithms)
    if not rows and is_estimable(logarithms):  # the regression gives no rows for equal accuracies
        for term, value in ((INTERCEPT, float(accuracies.mean())), (DOUBLING, 0.0)):
            interval = dict.fromkeys(("coefficient", "low", "high"), value)
            rows.append({"term": term, **interval, "standard_error": 0.0, "n": len(accuracies)})
    if rows and human is not None:
        line = {row["term"]: row["coefficient"] for row in rows}
        if line[DOUBLING] > 0:  # a line that falls never reaches human accuracy
            log2_tokens = (human - line[INTERCEPT]) / line[DOUBLING]
            fit = {name: rows[0][name] for name in ("n", "r2")}
            rows.append({"term": TO_HUMAN, "coefficient": log2_tokens * math.log10(2), **fit})
    return rows


def _read(path: Path, models: set[str], method: str) -> pd.DataFrame:
    rows: pd.DataFrame = read_table(tables.ACCURACIES, path).to_pandas()
    return rows[rows["model"].isin(models) & (rows["method"] == method)]


def fit_curves(
    accuracies: Path, humans: Path | None, curves: Curves, method: str, output: Path
) -> int:
    """Write a regression for each curve and phenomenon, and over all; return the number of rows.

    ``humans`` is a table with human accuracies; without it, nothing is extrapolated. ``method`` is
    the method of models' accuracies; human accuracies are by single ratings. The column ``model``
    of the written table has the rows of models.tsv that ``curves`` names.
    """
    models = {model for sizes in curves.values() for model in sizes}
    measured = phenomena_accuracies(_read(accuracies, models, method))
    human = pd.Series(dtype=float)
    if humans is not None:
        released = phenomena_accuracies(_read(humans, {HUMAN}, INDIVIDUAL))
        human = released.iloc[0] if len(released) else human
    rows: Rows = []
    for row, sizes in curves.items():
        tokens = pd.Series(sizes)
        for phenomenon in measured:
            values = measured[phenomenon].reindex(tokens.index).dropna()
            terms = fit_curve(values, tokens[values.index], human.get(phenomenon))
            rows += [{"analysis": phenomenon, "model": row, **term} for term in terms]
    tables.write_rows(rows, tables.REGRESSIONS, output)
    return len(rows)
