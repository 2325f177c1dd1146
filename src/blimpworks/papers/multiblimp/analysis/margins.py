"""Fit models' certainty: least squares on the margins of single pairs (section 7.4, Figure 7).

The paper standardises its factors and says no more. Here the margin is in nats, and numbers and
both attractor indicators are standardised over the pairs of a model: a coefficient is nats per
standard deviation. An agreement type is an indicator: nats above subject-verb number (or else the
commonest type), which the table names. Perplexity and frequency, which spread over orders of
magnitude, are logarithms.
"""

import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.analysis.linear import (
    INTERCEPT,
    enough,
    ordinary_least_squares,
    standardise,
    varying,
)
from blimpworks.judging.judge import align_scores, side_of
from blimpworks.judging.sides import Side, critical_region
from blimpworks.papers.multiblimp.analysis.frequencies import RANKED_BY
from blimpworks.papers.multiblimp.tables import FREQUENCIES
from blimpworks.tables import ITEMS, REGRESSIONS, SCORES, read_table, write_rows

log = logging.getLogger(__name__)

ANALYSIS = "margin"
REFERENCE = "sv#"
TYPE = "agreement"
DISTANCE, PERPLEXITY, LENGTH = "distance", "log perplexity", "sentence length"
SUBWORDS, CONGRUENT, INCONGRUENT = "subword delta", "congruent attractors", "incongruent attractors"
FREQUENCY = "log frequency"
FACTORS = (DISTANCE, PERPLEXITY, LENGTH, SUBWORDS, CONGRUENT, INCONGRUENT, FREQUENCY)
COVARIATES = ["distance", "attractors", "congruent_attractors"]
COLUMNS = ["item_id", "lang", "phenomenon", *COVARIATES]
# Rows that are no estimates, by what they stand under in place of ``ANALYSIS``.
COMPARED = "margin: reference"
"""The agreement type (term) that the others are compared with."""
CONSTANT = "margin: without variation"
"""A factor (term) that is the same in all pairs."""
UNKNOWN = "margin: no frequencies"
"""There is no frequencies table."""
TEXTLESS = "margin: without text"
"""Number of pairs (n) of languages that the corpus has no text of."""
FEW, COLLINEAR = "margin: too few pairs", "margin: collinear"
"""Why nothing could be estimated."""
Terms = list[dict[str, float | str]]


def region_tokens(side: Side) -> np.ndarray:
    """Count the tokens that overlap each sentence's critical region [n]; NaN without one."""
    inside = critical_region(side)
    counts = np.bincount(side.row[inside], minlength=len(side.characters)).astype(float)
    return np.where(side.span_start < 0, np.nan, counts)


def factors(items: pa.Table, scores: pa.Table) -> pd.DataFrame:
    """Compute margin in nats, agreement type and factors, one row per row of ``items``.

    ``scores`` are the rows of the same items. Distance is in words, whatever the order; length in
    words between spaces; length and perplexity (per token) are of the grammatical sentence; subword
    delta is the tokens of the right form of the critical word less those of the wrong one.
    """
    frame = items.select(COLUMNS).to_pandas().astype({"lang": object, "phenomenon": object})
    good, bad = (side_of(items, scores, side) for side in ("good", "bad"))
    logprob = scores["logprob_good"].to_numpy()
    incongruent = frame["attractors"] - frame["congruent_attractors"]
    return pd.DataFrame(
        {
            "margin": logprob - scores["logprob_bad"].to_numpy(),
            "lang": frame["lang"],
            TYPE: frame["phenomenon"],
            DISTANCE: frame["distance"].abs(),
            PERPLEXITY: -logprob / scores["tokens_good"].to_numpy(),
            LENGTH: pc.list_value_length(pc.utf8_split_whitespace(items["good"])).to_numpy(),
            SUBWORDS: region_tokens(good) - region_tokens(bad),
            CONGRUENT: (frame["congruent_attractors"] > 0).astype(float),
            INCONGRUENT: (incongruent > 0).astype(float),
        }
    )


def _remark(kind: str, term: str, n: int) -> dict[str, float | str]:
    return {"analysis": kind, "term": term, "n": n}


def fit_margin(rows: pd.DataFrame) -> Terms:
    """Fit the margin on agreement type and standardised factors by least squares.

    Leaves out rows without a score, a token in the critical region or (unless none has any) a
    frequency, and factors that don't vary. Remarks follow the estimates, under other analyses: see
    ``COMPARED`` and below.
    """
    remarks: Terms = []
    if FREQUENCY not in rows:
        remarks.append(_remark(UNKNOWN, FREQUENCY, len(rows)))
    elif without := int(rows[FREQUENCY].isna().sum()):
        remarks.append(_remark(TEXTLESS, FREQUENCY, without))
        if without == len(rows):
            rows = rows.drop(columns=FREQUENCY)
    complete = rows.dropna()
    type_counts = complete[TYPE].value_counts()
    if type_counts.empty:
        return [*remarks, _remark(FEW, INTERCEPT, 0)]
    reference = REFERENCE if REFERENCE in type_counts else str(type_counts.index[0])
    factors = complete[[name for name in FACTORS if name in complete]]
    numbers = varying(factors)
    n = len(complete)
    remarks += [_remark(CONSTANT, str(name), n) for name in factors if name not in numbers]
    indicators = {
        f"{TYPE} {code}": (complete[TYPE] == code).astype(float)
        for code in sorted(type_counts.index)
        if code != reference
    }
    predictors = pd.DataFrame(indicators, index=complete.index).join(numbers.apply(standardise))
    estimates = ordinary_least_squares(complete["margin"], predictors)
    if not estimates:
        return [*remarks, _remark(COLLINEAR if enough(predictors) else FEW, INTERCEPT, n)]
    remarks.append(_remark(COMPARED, f"{TYPE} {reference}", int(type_counts[reference])))
    return [{"analysis": ANALYSIS, **row} for row in estimates] + remarks


def fit_margins(
    scored: Sequence[tuple[str, Path, Path]], frequencies: Sequence[Path], output: Path
) -> int:
    """Write the margin's regressions of each (model, items, scores); return the number of rows."""
    logs = None
    if frequencies:
        # Decimal logarithm of each language's characters, for those that have any.
        frames = [read_table(FREQUENCIES, path).to_pandas() for path in frequencies]
        counts = pd.concat(frames).astype({"lang": object}).set_index("lang")[RANKED_BY]
        counts = counts[counts > 0]
        logs = pd.Series(np.log10(counts.to_numpy(float)), index=counts.index)
    terms: list[dict[str, object]] = []
    models = dict.fromkeys(model for model, _, _ in scored)
    for model in models:
        parts = []
        for name, items, scores in scored:
            if name == model:
                rows = read_table(ITEMS, items, [*ITEMS.names, *COVARIATES])
                parts.append(factors(rows, align_scores(rows, read_table(SCORES, scores), scores)))
        frame = pd.concat(parts, ignore_index=True)
        if logs is not None:
            frame[FREQUENCY] = frame["lang"].map(logs)
        fitted = fit_margin(frame)
        log.info("%s: %d rows, %d terms", model, len(frame), len(fitted))
        terms += [{"model": model, **row} for row in fitted]
    write_rows(terms, REGRESSIONS, output)
    return len(terms)
