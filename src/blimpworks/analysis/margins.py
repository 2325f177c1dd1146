"""What drives a model's certainty: least squares on the margins of single pairs.

Source: MultiBLiMP, section 7.4 and Figure 7. The paper standardises its factors and gives no
more; here: the margin is in nats; numbers are standardised over the pairs of a model, so a
coefficient is nats per standard deviation; so are the two attractor indicators. An agreement
type is an indicator, not standardised: nats above subject–verb number, the commonest. Of
perplexity and frequency the logarithm is taken: both spread over orders of magnitude.
"""

import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.analysis.frequencies import RANKED_BY
from blimpworks.analysis.linear import ordinary_least_squares, standardise, varying
from blimpworks.scoring.judge import align_scores, side_of
from blimpworks.scoring.methods import Side, critical_region
from blimpworks.tables import FREQUENCIES, ITEMS, REGRESSIONS, SCORES, read_table, write_table

log = logging.getLogger(__name__)

ANALYSIS = "margin"
REFERENCE = "sv#"
TYPE = "agreement"
DISTANCE, PERPLEXITY, LENGTH = "distance", "log perplexity", "sentence length"
SUBWORDS, CONGRUENT, INCONGRUENT = "subword delta", "congruent attractors", "incongruent attractors"
FREQUENCY = "log frequency"
FACTORS = (DISTANCE, PERPLEXITY, LENGTH, SUBWORDS, CONGRUENT, INCONGRUENT, FREQUENCY)
COLUMNS = ["item_id", "lang", "phenomenon", "distance", "attractors", "congruent_attractors"]


def region_tokens(side: Side) -> np.ndarray:
    """Number of tokens that overlap each sentence's critical region [n]; NaN without one."""
    inside = critical_region(side)
    counts = np.bincount(side.row[inside], minlength=len(side.characters)).astype(float)
    return np.where(side.span_start < 0, np.nan, counts)


def factors(items: pa.Table, scores: pa.Table) -> pd.DataFrame:
    """One row per row of ``items``: margin in nats, agreement type, and the factors.

    ``scores`` are the rows of the same items. Distance is in words, whatever the order;
    length in words between spaces; length and perplexity (per token) are of the grammatical
    sentence; subword delta is how many more tokens the right form of the critical word has
    than the wrong one.
    """
    frame = items.select(COLUMNS).to_pandas().astype({"lang": object, "phenomenon": object})
    good, bad = (side_of(items, scores, side) for side in ("good", "bad"))
    logprob = scores["logprob_good"].to_numpy()
    other = frame["attractors"] - frame["congruent_attractors"]
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
            INCONGRUENT: (other > 0).astype(float),
        }
    )


def fit_margin(rows: pd.DataFrame) -> list[dict[str, float | str]]:
    """Least squares of the margin on agreement type and standardised factors.

    Rows without a score, a token in the critical region or (where frequencies are known at
    all) a frequency are left out. Factors that don't vary get no term.
    """
    complete = rows.dropna()
    kinds = complete[TYPE].value_counts()
    if kinds.empty:
        return []
    reference = REFERENCE if REFERENCE in kinds else kinds.index[0]
    types = pd.DataFrame(
        {
            f"{TYPE} {kind}": (complete[TYPE] == kind).astype(float)
            for kind in sorted(kinds.index)
            if kind != reference
        },
        index=complete.index,
    )
    numbers = varying(complete[[name for name in FACTORS if name in complete]])
    predictors = types.join(numbers.apply(standardise))
    return ordinary_least_squares(complete["margin"], predictors)


def _frequencies(paths: Sequence[Path]) -> pd.Series:
    """Decimal logarithm of each language's characters, for those that have any."""
    frames = [read_table(FREQUENCIES, path).to_pandas() for path in paths]
    found = pd.concat(frames).astype({"lang": object}).set_index("lang")[RANKED_BY]
    known = found[found > 0]
    return pd.Series(np.log10(known.to_numpy(float)), index=known.index)


def fit_margins(
    scored: Sequence[tuple[str, Path, Path]], frequencies: Sequence[Path], output: Path
) -> int:
    """Write the regressions of the margin, one for each model of (model, items, scores).

    ``frequencies`` is one table or none. Returns the number of terms; a model of which
    nothing can be estimated has none. Raises UserError when a table is missing or of another
    schema, or an item has no scores.
    """
    logs = _frequencies(frequencies) if frequencies else None
    terms: list[dict[str, object]] = []
    models = dict.fromkeys(model for model, _, _ in scored)
    for model in models:
        parts = []
        for name, items, scores in scored:
            if name == model:
                rows = read_table(ITEMS, items, [*ITEMS.names, *COLUMNS[3:]])
                parts.append(factors(rows, align_scores(rows, read_table(SCORES, scores), scores)))
        frame = pd.concat(parts, ignore_index=True)
        if logs is not None:
            frame[FREQUENCY] = frame["lang"].map(logs)
        found = fit_margin(frame)
        log.info("%s: %d rows, %d terms", model, len(frame), len(found))
        terms += [{"analysis": ANALYSIS, "model": model, **row} for row in found]
    table = pa.Table.from_pylist(terms, schema=REGRESSIONS.arrow())
    write_table(table, REGRESSIONS, output)
    return len(terms)
