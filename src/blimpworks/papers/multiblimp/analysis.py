"""Count the web's text of each language, and fit regressions of models' accuracy and margins.

A command calls each of these functions:

- ``build_frequencies``: GlotCC's counts of text → frequencies of the languages;
- ``fit_regressions``: accuracies → regressions on models' size and on languages' frequency;
- ``fit_margins``: scores of pairs → regressions of the margin, the log-probability of a pair's
  grammatical sentence minus that of the other sentence [nats].

GlotCC is a corpus of web pages in many languages; a language's frequency is its number of
characters there. A table of regressions has a row for each term: (size, coefficient 2.1, p 0.001).
Source: MultiBLiMP 1.0, sections 6.3 and 7.1 (frequency), 7.2 (size) and 7.4 (margins), Figures 1
and 7.
"""

import csv
import logging
import math
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from blimpworks import tables
from blimpworks.analysis import statistics
from blimpworks.campaign.catalogue import LanguageRow
from blimpworks.campaign.reference import FrequencyCodesRow
from blimpworks.campaign.table_files import keyed, read_rows
from blimpworks.errors import reading
from blimpworks.files import BadLine, table_rows
from blimpworks.items import ALL
from blimpworks.judging.judge import Side, align_scores, critical_region, side_of
from blimpworks.papers.multiblimp.tables import FREQUENCIES

log = logging.getLogger(__name__)

# Frequencies

UNITS = ("documents", "sentences", "words", "characters")
RANKED_BY = "characters"
"""Unit of GlotCC's counts (Kargaran et al. 2024) that ranks languages. Inferred from the averages
of Table 3, which no other unit fits (docs/multiblimp_numbers.md)."""
RESOURCE_GROUPS = {"low": 0.6, "mid": 0.9, "high": 1.0}
"""Upper end of each group, as a share of the languages, the least frequent first."""
Counts = dict[str, int]
"""Numbers of ``UNITS``."""


def read_totals(path: Path) -> dict[str, Counts]:
    """Read GlotCC's counts by ISO 639-3 code. Raises UserError for a missing or broken table."""
    totals: dict[str, Counts] = {}
    line_of_code: dict[str, int] = {}  # line of each code with suffix
    expected = f"GlotCC's totals (code, {', '.join(UNITS)}, between tabs)"
    with reading(path, expected, "Retrieve them again."):
        for line, row in table_rows(path, ("code", *UNITS), delimiter="\t", quoting=csv.QUOTE_NONE):
            code = row["code"]
            if line_of_code.setdefault(code, line) != line:
                raise BadLine(line, f"{code!r} is in line {line_of_code[code]} too")
            if len(code) < 3:
                raise BadLine(line, f"the code is {code!r}")
            # A suffix names the script: "kaz_Cyrl".
            counts = totals.setdefault(code[:3], dict.fromkeys(UNITS, 0))
            for unit in UNITS:
                if not (row[unit].isascii() and row[unit].isdecimal()):
                    raise BadLine(line, f"{unit} of {code!r} is {row[unit] or 'missing'}")
                counts[unit] += int(row[unit])
    return totals


def resource_group(rank: int, languages: int) -> str:
    """Return the resource group of a rank (1: least frequent) among a number of ``languages``."""
    return next(name for name, share in RESOURCE_GROUPS.items() if rank <= share * languages)


def frequencies(
    languages: list[str], codes: Mapping[str, tuple[str, ...]], totals: Mapping[str, Counts]
) -> list[dict[str, object]]:
    """Return rows of frequencies: each language's counts, summed over its codes, and rank.

    ``codes`` has the languages whose codes in GlotCC are not their ISO 639-3 code. ``totals`` are
    GlotCC's counts by code. A language without text has the counts 0.
    """
    rows: list[dict[str, object]] = []
    for lang in sorted(languages):
        with_text = [code for code in codes.get(lang, (lang,)) if code in totals]
        counts = {unit: sum(totals[code][unit] for code in with_text) for unit in UNITS}
        rows.append({"lang": lang, "codes": ",".join(with_text) or None, **counts})
    rows.sort(key=lambda row: (row[RANKED_BY], row["lang"]))
    return [
        {**row, "rank": rank, "resources": resource_group(rank, len(rows))}
        for rank, row in enumerate(rows, start=1)
    ]


def build_frequencies(totals: Path, languages: Path, codes: Path, output: Path) -> int:
    """Write the frequencies of the catalogue's ``languages``; return how many have any text."""
    rows_of_codes = keyed(read_rows(FrequencyCodesRow, codes), "lang", codes)
    codes_of = {lang: row.codes for lang, row in rows_of_codes.items()}
    names = [row.lang for row in read_rows(LanguageRow, languages) if row.is_of("multiblimp")]
    rows = frequencies(names, codes_of, read_totals(totals))
    tables.write_rows(rows, FREQUENCIES, output)
    return sum(row["codes"] is not None for row in rows)


# Accuracy by size and by frequency

SIZE, FREQUENCY = "size", "frequency"
"""The two analyses of accuracy, named by their term of interest. The paper gives no unit for the
effect of size. The standardised logarithm of the number of parameters fits its numbers best
(docs/multiblimp_numbers.md)."""
CHAT = "post-training"
"""Term of chat models against base models."""
ENOUGH_LANGUAGES = 4
"""Fewest languages for a curve of two parameters."""
Rows = list[dict[Any, Any]]
Facts = Mapping[str, Mapping[str, Any]]
"""``parameters`` in billions or None, ``family`` and ``tuning`` of models, keyed by model."""


def overall(accuracies: pd.DataFrame) -> pd.DataFrame:
    """Return pairs and accuracy in percent of each model and language, over all phenomena."""
    overall_rows = accuracies[(accuracies["phenomenon"] == ALL) & (accuracies["paradigm"] == ALL)]
    return overall_rows.assign(percent=100 * overall_rows["accuracy"])


def fit_size(accuracies: pd.DataFrame, models: Facts) -> tuple[Rows, str]:
    """Fit accuracy on size, family and tuning by least squares (section 7.2).

    Size is the standardised logarithm of parameters; tuning and each family but one are 0 or 1.
    Returns rows of regressions and "", or no rows and the reason.
    """
    # Average accuracy in percent over all pairs, for each model that has all languages.
    rows = overall(accuracies)
    by_model = rows.assign(weighted=rows["percent"] * rows["n"]).groupby("model", observed=True)
    means = by_model["weighted"].sum() / by_model["n"].sum()
    means = means[by_model["lang"].nunique() == rows["lang"].nunique()]
    sized_models = [name for name in means.index if models.get(name, {}).get("parameters")]
    if len(sized_models) < 2:
        return [], "too few models of known size and with all languages (fewer than two)"
    means = means[sized_models]
    facts = pd.DataFrame([models[name] for name in sized_models], index=sized_models)
    size = statistics.standardise(facts["parameters"].astype(float).map(math.log10))
    predictors = pd.DataFrame({SIZE: size, CHAT: (facts["tuning"] == "chat").astype(float)})
    families = pd.get_dummies(facts["family"], "family", " ", drop_first=True).astype(float)
    # Predictors that are the same for all models are left out.
    predictors = statistics.varying_columns(predictors.join(families))
    if not statistics.has_enough_rows(predictors):
        return [], f"too few models of known size and with all languages ({len(sized_models)})"
    if not statistics.is_estimable(predictors):
        return [], "size, family and tuning can't be told apart"
    if statistics.is_constant(means):
        return [], "all models have the same accuracy"
    terms = statistics.ordinary_least_squares(means, predictors)
    return [{"analysis": SIZE, "model": ALL, **term} for term in terms], ""


def logistic(x: Any, intercept: float, slope: float) -> Any:
    """Return accuracy in percent that grows from 0 to 100 with ``x``."""
    from scipy.special import expit

    return 100 * expit(intercept + slope * x)


def _fit_curve(x: np.ndarray, y: np.ndarray) -> Rows:
    """Fit ``logistic``; return a row for each parameter, or none if no curve fits."""
    n = len(x)
    if n < ENOUGH_LANGUAGES or len({*x}) < 2 or len({*y}) < 2:
        return []
    # Slow to import, and the figures that import this module fit nothing.
    from scipy.optimize import OptimizeWarning, curve_fit
    from scipy.stats import t as student

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", OptimizeWarning)
            parameters, covariance = curve_fit(logistic, x, y, p0=(0.0, 0.1), maxfev=10_000)
    except (RuntimeError, OptimizeWarning) as error:
        log.warning("no logistic curve fits: %s", error)
        return []
    residuals = y - logistic(x, *parameters)
    r2 = 1 - float((residuals**2).sum() / ((y - y.mean()) ** 2).sum())
    rows = []
    # Tests and intervals are by t with n − 2 degrees of freedom.
    for i, term in enumerate(("intercept", FREQUENCY)):
        coefficient, deviation = float(parameters[i]), float(np.sqrt(covariance[i, i]))
        half_width = float(student.ppf(0.975, n - 2)) * deviation
        t = coefficient / deviation if deviation else np.nan
        p = float(2 * student.sf(abs(t), n - 2))
        values = (coefficient, deviation, t, p, coefficient - half_width, coefficient + half_width)
        numbers = dict(zip(statistics.ESTIMATES, values, strict=True))
        rows.append({"term": term, **numbers, "n": n, "r2": r2})
    return rows


def _log_characters(frequencies: pd.DataFrame) -> pd.Series:
    """Return the decimal logarithm of characters of each language that has any text."""
    ranked = frequencies[frequencies[RANKED_BY] > 0]
    return pd.Series(np.log10(ranked[RANKED_BY].to_numpy(float)), ranked["lang"].astype(object))


def fit_frequency(accuracies: pd.DataFrame, frequencies: pd.DataFrame) -> tuple[Rows, Rows]:
    """Fit each model's accuracy on the logarithm of characters (Figure 1).

    Returns rows of regressions, two per model, and of residuals, one per model and language.
    Languages without text, and models that no curve fits, have none.
    """
    logs = _log_characters(frequencies)
    terms: Rows = []
    residuals: Rows = []
    rows = overall(accuracies)
    with_text = rows[rows["lang"].isin(logs.index)]
    for model, of_model in with_text.groupby("model", sort=False):
        x, y = logs[of_model["lang"]].to_numpy(), of_model["percent"].to_numpy()
        key, curve = {"analysis": FREQUENCY, "model": model}, _fit_curve(x, y)
        if not curve:
            continue
        terms += [key | term for term in curve]
        fitted = logistic(x, *(term["coefficient"] for term in curve))
        numbers = {"predictor": x, "observed": y, "fitted": fitted, "residual": y - fitted}
        rows_of_model = pd.DataFrame({**key, "lang": of_model["lang"], **numbers})
        residuals += rows_of_model.to_dict("records")
    return terms, residuals


def fit_regressions(
    accuracies: Path,
    frequencies: Sequence[Path],
    models: Facts,
    method: str,
    output: Path,
    residuals: Path,
) -> int:
    """Write regressions of accuracy by a method on size and on frequency; return how many terms.

    ``frequencies`` is one table or none; the rows of ``residuals`` are accuracies minus the curve.
    """
    rows = tables.read_table(tables.ACCURACIES, accuracies).to_pandas()
    plain = dict.fromkeys(rows.select_dtypes("category"), object)
    rows = rows[rows["method"] == method].astype(plain)
    terms, _ = fit_size(rows, models)
    residual_rows: Rows = []
    for path in frequencies:
        counts = tables.read_table(FREQUENCIES, path).to_pandas()
        curves, residual_rows = fit_frequency(rows, counts)
        terms += curves
    tables.write_rows(terms, tables.REGRESSIONS, output)
    tables.write_rows(residual_rows, tables.RESIDUALS, residuals)
    return len(terms)


# Margins

MARGIN = "margin"
REFERENCE = "sv#"
"""Agreement type (phenomenon) with which the others are compared, if there are pairs of it."""
AGREEMENT_TYPE = "agreement"
"""Beginning of the terms of agreement types, such as "agreement svP"."""
DISTANCE, PERPLEXITY, LENGTH = "distance", "log perplexity", "sentence length"
SUBWORDS, CONGRUENT, INCONGRUENT = "subword delta", "congruent attractors", "incongruent attractors"
LOG_FREQUENCY = "log frequency"
FACTORS = (DISTANCE, PERPLEXITY, LENGTH, SUBWORDS, CONGRUENT, INCONGRUENT, LOG_FREQUENCY)
"""Numbers on which the margin depends; ``factors`` describes them."""
COVARIATES = ["distance", "attractors", "congruent_attractors"]
ITEM_COLUMNS = ["item_id", "lang", "phenomenon", *COVARIATES]
# Values of the column ``analysis`` in rows that are remarks, not estimates.
COMPARED = "margin: reference"
"""The row's term is the agreement type with which the others are compared."""
UNVARYING = "margin: without variation"
"""The row's term is a factor that is the same in all pairs."""
UNKNOWN = "margin: no frequencies"
"""There is no frequencies table."""
TEXTLESS = "margin: without text"
"""The row's n is the number of pairs of languages without text in the corpus."""
FEW, COLLINEAR = "margin: too few pairs", "margin: collinear"
CONSTANT = "margin: constant"
"""Nothing could be estimated, because of few pairs, collinear factors or equal margins."""


def _region_tokens(side: Side) -> np.ndarray:
    """Count the tokens that overlap each sentence's differing word [n]; NaN without such a word."""
    in_region = critical_region(side)
    counts = np.bincount(side.row[in_region], minlength=len(side.characters)).astype(float)
    return np.where(side.span_start < 0, np.nan, counts)


def factors(items: pa.Table, scores: pa.Table) -> pd.DataFrame:
    """Compute margin in nats, agreement type and factors, one row per row of ``items``.

    ``scores`` has the scores of the same item in each row. Distance is that of subject and verb in
    words. Length, in words between spaces, and perplexity, per token, are the grammatical
    sentence's. The subword delta is the number of tokens of the right form minus that of the wrong
    form. Attractors between subject and verb are congruent if they have the subject's value. A
    factor of attractors is 1 if there are such attractors, and otherwise 0.
    """
    frame = items.select(ITEM_COLUMNS).to_pandas().astype({"lang": object, "phenomenon": object})
    good, bad = (side_of(items, scores, side) for side in ("good", "bad"))
    logprob = scores["logprob_good"].to_numpy()
    incongruent = frame["attractors"] - frame["congruent_attractors"]
    return pd.DataFrame(
        {
            "margin": logprob - scores["logprob_bad"].to_numpy(),
            "lang": frame["lang"],
            AGREEMENT_TYPE: frame["phenomenon"],
            DISTANCE: frame["distance"].abs(),
            PERPLEXITY: -logprob / scores["tokens_good"].to_numpy(),
            LENGTH: pc.list_value_length(pc.utf8_split_whitespace(items["good"])).to_numpy(),
            SUBWORDS: _region_tokens(good) - _region_tokens(bad),
            CONGRUENT: (frame["congruent_attractors"] > 0).astype(float),
            INCONGRUENT: (incongruent > 0).astype(float),
        }
    )


def _remark(analysis: str, term: str, n: int) -> dict[str, Any]:
    return {"analysis": analysis, "term": term, "n": n}


def fit_margin(rows: pd.DataFrame) -> Rows:
    """Fit the margin on agreement type and standardised factors by least squares.

    The paper standardises its factors and says no more. Here numbers and both attractor indicators
    are standardised over the pairs of a model, so a coefficient is nats per standard deviation. An
    agreement type is an indicator: nats above the type ``REFERENCE``, or above the commonest type
    if there are no pairs of ``REFERENCE``.

    ``rows`` are those of ``factors``, perhaps with the column ``LOG_FREQUENCY``. Rows without a
    score, a critical region or a frequency are left out, and so are factors that don't vary. If no
    row has a frequency, that factor is left out. Returns estimates, then remarks: rows whose
    ``analysis`` is ``COMPARED`` or a constant below it.
    """
    remarks: Rows = []
    if LOG_FREQUENCY not in rows:
        remarks.append(_remark(UNKNOWN, LOG_FREQUENCY, len(rows)))
    elif without_text := int(rows[LOG_FREQUENCY].isna().sum()):
        remarks.append(_remark(TEXTLESS, LOG_FREQUENCY, without_text))
        if without_text == len(rows):
            rows = rows.drop(columns=LOG_FREQUENCY)
    complete_rows = rows.dropna()
    types = complete_rows[AGREEMENT_TYPE]
    type_counts = types.value_counts()
    if type_counts.empty:
        return [*remarks, _remark(FEW, statistics.INTERCEPT, 0)]
    reference = REFERENCE if REFERENCE in type_counts else str(type_counts.index[0])
    all_factors = complete_rows[[name for name in FACTORS if name in complete_rows]]
    varying, n = statistics.varying_columns(all_factors), len(complete_rows)
    remarks += [_remark(UNVARYING, str(name), n) for name in all_factors if name not in varying]
    indicators = pd.get_dummies(types, prefix=AGREEMENT_TYPE, prefix_sep=" ", dtype=float)
    reference_term = f"{AGREEMENT_TYPE} {reference}"
    predictors = indicators.drop(columns=reference_term).join(varying.apply(statistics.standardise))
    estimates = statistics.ordinary_least_squares(complete_rows["margin"], predictors)
    if not estimates:
        if not statistics.has_enough_rows(predictors):
            reason = FEW
        else:
            reason = CONSTANT if statistics.is_estimable(predictors) else COLLINEAR
        return [*remarks, _remark(reason, statistics.INTERCEPT, n)]
    remarks.append(_remark(COMPARED, reference_term, int(type_counts[reference])))
    return [{"analysis": MARGIN, **row} for row in estimates] + remarks


def fit_margins(
    scored: Sequence[tuple[str, Path, Path]], frequencies: Sequence[Path], output: Path
) -> int:
    """Write a regression of the margin for each model; return the number of rows.

    ``scored`` has model, table of items and table of scores, once for each model and language.
    """
    counts = [tables.read_table(FREQUENCIES, path).to_pandas() for path in frequencies]
    logs = _log_characters(pd.concat(counts)) if counts else None
    terms: Rows = []
    paths_by_model: dict[str, list[tuple[Path, Path]]] = {}
    for model, items, scores in scored:
        paths_by_model.setdefault(model, []).append((items, scores))
    for model, paths in paths_by_model.items():
        frames = []
        for items, scores in paths:
            rows = tables.read_table(tables.ITEMS, items, [*tables.ITEMS.names, *COVARIATES])
            scores_of_rows = tables.read_table(tables.SCORES, scores)
            frames.append(factors(rows, align_scores(rows, scores_of_rows, scores)))
        frame = pd.concat(frames, ignore_index=True)
        if logs is not None:
            frame[LOG_FREQUENCY] = frame["lang"].map(logs)
        fitted = fit_margin(frame)
        log.info("%s: %d rows, %d terms", model, len(frame), len(fitted))
        terms += [{"model": model, **row} for row in fitted]
    tables.write_rows(terms, tables.REGRESSIONS, output)
    return len(terms)
