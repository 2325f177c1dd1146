"""Formulas of BLiMP's tables and figures: functions from rows to the number that a cell shows.

A ``Formula`` has a sentence that readers see beside the number: ``SPREAD(rows)`` is a number, and
``SPREAD.sentence`` is "100 × standard deviation of accuracy". ``@formula`` makes a function with
parameters a family of formulas: the sentence of ``difference(ADJECTIVE)`` contains the phrase of
the contrast. Rows are accuracies (model, method, paradigm, accuracy from 0 to 1), unless the
sentence names other columns: human ratings (pair, correct), judgements (margin), printed numbers.
Source: Warstadt et al. (2020), sections 5.1, 5.3, 6.1, 6.2 and Figure 6.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import pandas as pd

from blimpworks.exhibits.formulas import Formula, choice, formula
from blimpworks.papers.blimp.paradigms import HUMAN, PARADIGMS, RERUN

THRESHOLD = 0.8
"""Share of a paradigm's validated pairs that a majority must agree on (section 3.4)."""
MAJORITY_ABOVE = 0.5
"""Share of right ratings above which the majority is right on a pair (section 3.4)."""
_NOUNS = PARADIGMS["determiner_noun_agreement"]
_VERBS = PARADIGMS["subject_verb_agreement"]
_ATTRACTING = tuple(uid for uid in _VERBS if uid.startswith("distractor"))


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two groups of paradigms (names); models should have ``higher`` accuracy on the first."""

    phrase: str
    """Phrase for the difference in the sentence of its formula."""
    higher: tuple[str, ...]
    lower: tuple[str, ...]


ADJECTIVE = Contrast(
    "without − with an adjective between determiner and noun",
    tuple(uid for uid in _NOUNS if "_with_adj" not in uid),
    tuple(uid for uid in _NOUNS if "_with_adj" in uid),
)
# In paradigms with an attractor the pairs differ in the verb and subjects have regular plurals, as
# in example (3-a) of the paper. Only one paradigm without an attractor has both properties.
ATTRACTOR = Contrast(
    "of regular subjects and differing verbs without − with an attractor",
    ("regular_plural_subject_verb_agreement_1",),
    _ATTRACTING,
)
IRREGULARITY = Contrast(
    "of regular − of irregular nouns",
    tuple(u for u in (*_NOUNS, *_VERBS) if "irregular" not in u and u not in _ATTRACTING),
    tuple(u for u in (*_NOUNS, *_VERBS) if "irregular" in u),
)
CONTRASTS = {"adjective": ADJECTIVE, "attractor": ATTRACTOR, "irregularity": IRREGULARITY}


@formula(
    "100 × (mean(accuracy) {contrast})",
    contrast=choice({contrast.phrase: contrast for contrast in CONTRASTS.values()}),
)
def difference(rows: pd.DataFrame, contrast: Contrast) -> float:
    """Return the difference of accuracy between two groups of paradigms, in points."""
    groups = (contrast.higher, contrast.lower)
    higher, lower = (rows["accuracy"][rows["paradigm"].isin(uids)].mean() for uids in groups)
    return float(100 * (higher - lower))


@formula("{end}, over models, of {formula}", end=choice({"largest": max, "smallest": min}))
def extreme(rows: pd.DataFrame, end: Callable[..., float], formula: Formula) -> float:
    """Return the largest (``max``) or smallest value that a formula has on one model's rows."""
    return end(formula(model_rows) for _, model_rows in rows.groupby("model"))


def _align(rows: pd.DataFrame, by: str = "model") -> pd.DataFrame:
    # Accuracies [paradigms, models] on the paradigms that both models have.
    return rows.pivot(index="paradigm", columns=by, values="accuracy").dropna()


def common(rows: pd.DataFrame, by: str = "model") -> int:
    """Count the paradigms that two models (or other values of a column ``by``) both have."""
    return len(_align(rows, by))


def _pearson(rows: pd.DataFrame, by: str = "model") -> float:
    # pandas is enough here. scipy is slow to import, and ``blimpworks explain`` calls this, too.
    wide = _align(rows, by)
    return float(wide.iloc[:, 0].corr(wide.iloc[:, 1]))


def pearson_interval(rows: pd.DataFrame, by: str = "model") -> tuple[float, float]:
    """Return the 95 % interval of the correlation by Fisher's z, for four or more paradigms."""
    from scipy.stats import pearsonr

    wide = _align(rows, by)
    interval = pearsonr(wide.iloc[:, 0], wide.iloc[:, 1]).confidence_interval()
    return float(interval.low), float(interval.high)


def _agreement(rows: pd.DataFrame, *, majority: bool) -> float:
    """Return the percentage of right ratings (or right majorities), as a mean over paradigms."""
    pairs = rows.groupby(["paradigm", "pair"])["correct"].mean()
    values = (pairs > MAJORITY_ABOVE).astype(float) if majority else pairs
    return float(100 * values.groupby("paradigm").mean().mean())


def _mean_accuracy(rows: pd.DataFrame, tie: float) -> float:
    """Return the mean over paradigms of accuracy in percent; a tie counts as ``tie``, 0 or 0.5."""
    judged = rows[rows["margin"].notna()]
    right = (judged["margin"] > 0) + tie * (judged["margin"] == 0)
    return float(100 * right.groupby(judged["paradigm"]).mean().mean())


def _extrapolated(rows: pd.DataFrame) -> float:
    """Return log10 of the tokens that a model needs for human accuracy, by its printed slope.

    ``rows``: printed numbers. The slope is accuracy (0 to 1) per doubling of the text. There are
    also the tokens of the complete text, and from Table 3 human and model's accuracy [percent].
    """
    slope = float(rows["value"][rows["column"].str.startswith("slope ")].item())
    tokens = float(rows["value"][rows["column"] == "training tokens"].item())
    table3, is_human = rows["exhibit"] == "table3", rows["row"] == HUMAN
    target = float(rows["value"][table3 & is_human].item())
    reached = float(rows["value"][table3 & ~is_human].item())
    doublings = (target - reached) / 100 / slope
    return math.log10(tokens) + doublings * math.log10(2)


def _change(rows: pd.DataFrame) -> float:
    rerun, accuracies = rows["method"] == RERUN, rows["accuracy"]
    return float(100 * (accuracies[rerun].mean() - accuracies[~rerun].mean()))


PEARSON = Formula("Pearson's r of two models' accuracies over paradigms", _pearson)
SETS_PEARSON = Formula(
    "Pearson's r of accuracies on two sets of pairs over paradigms",
    partial(_pearson, by="benchmark"),
)
DISTANCE = Formula(
    "100 × |difference of two models' mean(accuracy)|",
    lambda rows: 100 * rows.groupby("model")["accuracy"].mean().diff().abs().iloc[1],
)
SPREAD = Formula("100 × standard deviation of accuracy", lambda rows: 100 * rows["accuracy"].std())
HIGHEST = Formula("100 × largest accuracy", lambda rows: 100 * rows["accuracy"].max())
LOWEST = Formula("100 × smallest accuracy", lambda rows: 100 * rows["accuracy"].min())
REJECTED = Formula(
    f"number of rows with accuracy below {THRESHOLD}",
    lambda rows: (rows["accuracy"] < THRESHOLD).sum(),
)
FARTHEST = Formula(
    "largest |difference| of two rows' values, column by column",
    lambda rows: rows.groupby("column")["value"].agg(lambda pair: pair.max() - pair.min()).max(),
)
RATIO = Formula(
    "first value ÷ second value", lambda rows: rows["value"].iloc[0] / rows["value"].iloc[1]
)
INDIVIDUAL_AGREEMENT = Formula(
    "100 × mean over paradigms of the pairs' mean(correct)", partial(_agreement, majority=False)
)
MAJORITY_AGREEMENT = Formula(
    "100 × mean over paradigms of the share of pairs with mean(correct) > 0.5",
    partial(_agreement, majority=True),
)
TIES_WRONG = Formula(
    "100 × mean over paradigms of the share of margin > 0", partial(_mean_accuracy, tie=0)
)
TIES_HALF = Formula(
    "100 × mean over paradigms of the share of margin > 0 + half that of margin = 0",
    partial(_mean_accuracy, tie=0.5),
)
MARGIN_COUNT = Formula("number of rows with a margin", lambda rows: rows["margin"].notna().sum())
CHANGE = Formula("100 × (accuracy of the rerun − accuracy of the published run), means", _change)
ASSIGNMENTS = Formula("number of assignments", lambda rows: rows["assignment"].nunique())
WORKERS = Formula("number of workers", lambda rows: rows["worker"].nunique())
EXTRAPOLATED = Formula(
    "log10(training tokens × 2 ^ ((human − model's accuracy) ÷ slope))", _extrapolated
)
