"""Does a language agree? Counts per subject value and word order, and their tests.

Source: MultiBLiMP 1.0, section 4.2.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pyarrow as pa
from scipy.stats import binomtest

from blimpworks.config import AgreementOptions, MultiblimpOptions
from blimpworks.multiblimp.conditions import meets_conditions
from blimpworks.multiblimp.decisions import corrected
from blimpworks.multiblimp.features import UNDEFINED, alternatives, parse_feats
from blimpworks.multiblimp.inflection import Lexicon, Query, load_lexicon, query_of, values_of
from blimpworks.tables import AGREEMENT, CANDIDATES, LEXICON, read_table, write_table

FEATURE_OF = {"sv#": "Number"}
"""Phenomenon to agreement feature (paper, section 4)."""
COLUMNS_OF = {"Number": ("Number[subj]", "Number")}
"""Lexicon columns that may carry a feature's inflection."""
CONTEXT_PARTS = ("N", "PRO", "PRON")
NOMINATIVE = query_of({"Case": "Nom"})
INDICATIVE = query_of({"Mood": "Ind"})
BOTH_TYPES = "both"
Key = tuple[str, str, str, str]
"""Verb type, order, subject value, verb value."""


@dataclass(frozen=True, slots=True)
class Resource:
    """One source of the lexicon: its verbs by lemma or form, its possible subjects."""

    verbs: Lexicon
    subjects: Lexicon


def load_resources(
    table: pa.Table, feature: str, lemmas: frozenset[str] | None
) -> dict[str, Resource]:
    """Both sources, ``unimorph`` first, each with the column that inflects in it."""
    columns = COLUMNS_OF[feature]
    return {
        source: Resource(
            load_lexicon(table, source, ("V",), columns, lemmas),
            load_lexicon(table, source, CONTEXT_PARTS, columns, None),
        )
        for source in ("unimorph", "ud")
    }


def _lexicon_values(lexicons: list[Lexicon], form: str, query: Query) -> set[str]:
    """Defined values of the inflecting columns over the rows of a form that fit a query."""
    found: set[str] = set()
    for lexicon in lexicons:
        if lexicon.column:
            found |= values_of(lexicon, lexicon.by_form.get(form, ()), query, lexicon.column)
    return found - {UNDEFINED}


def _annotated(feats: str | None, feature: str) -> set[str]:
    value = parse_feats(feats).get(feature)
    return set(alternatives(value)) if value else set()


def _agreed(subject: set[str], verb: set[str]) -> tuple[str, str] | None:
    """The pair of values that a subject and a verb are evidence for, if they are.

    Two single values count as they are; a single one contained in the other's counts as
    agreement; anything else is no evidence.
    """
    if len(subject) == 1 and len(verb) == 1:
        return next(iter(subject)), next(iter(verb))
    for single, other in ((subject, verb), (verb, subject)):
        if len(single) == 1 and single < other:
            return next(iter(single)), next(iter(single))
    return None


def count_agreement(
    candidates: pa.Table, lexicon: pa.Table, lang: str, phenomenon: str, options: MultiblimpOptions
) -> Counter[Key]:
    """How often each verb value goes with each subject value, per order and verb type."""
    feature = FEATURE_OF[phenomenon]
    resources = load_resources(lexicon, feature, None)
    verbs = [resource.verbs for resource in resources.values()]
    subjects = [resource.subjects for resource in resources.values()]

    @cache
    def verb_values(form: str, feats: str | None) -> set[str]:
        """Values a verb form can have."""
        own = _annotated(feats, feature) if corrected(options, "agreement_evidence") else set()
        return own or _lexicon_values(verbs, form, INDICATIVE)

    @cache
    def subject_values(form: str, feats: str | None) -> set[str]:
        """Values a subject's form can have."""
        own = _annotated(feats, feature) if corrected(options, "agreement_evidence") else set()
        return own or _lexicon_values(subjects, form, NOMINATIVE)

    counts: Counter[Key] = Counter()
    names = ("kind", "order", "subject_form", "subject_feats", "form", "feats")
    columns = [candidates[name].cast(pa.string()).to_pylist() for name in names]
    for kind, order, subject_form, subject_feats, form, feats in zip(*columns, strict=True):
        if not meets_conditions(phenomenon, lang, parse_feats(feats)):
            continue
        pair = _agreed(subject_values(subject_form, subject_feats), verb_values(form, feats))
        if pair:
            verb_type = kind if corrected(options, "verb_types") else BOTH_TYPES
            counts[verb_type, order, *pair] += 1
    return counts


def label_of(agreeing: int, n: int, options: AgreementOptions) -> tuple[float, float, str]:
    """P values of the two one-sided exact binomial tests, and the label they give.

    "+" significant agreement, "~" near-universal but too rare to be significant (more
    than five cases), "?" undecided, "-" significant absence: such a condition is dropped.
    The order of the decisions is the authors'.
    """
    threshold = options.alpha / 2
    greater = binomtest(agreeing, n, options.null_probability, alternative="greater").pvalue
    less = binomtest(agreeing, n, options.null_probability, alternative="less").pvalue
    if agreeing == 0:
        return greater, less, "?"
    if greater <= threshold:
        return greater, less, "+"
    if agreeing > 5 and agreeing / n > 0.9:
        return greater, less, "~"
    return greater, less, "-" if less <= threshold else "?"


def _rows(
    counts: Counter[Key], phenomenon: str, options: AgreementOptions
) -> list[dict[str, object]]:
    totals: Counter[tuple[str, str, str]] = Counter()
    for (verb_type, order, value, _), count in counts.items():
        totals[verb_type, order, value] += count
    rows: list[dict[str, object]] = []
    for (verb_type, order, value), n in sorted(totals.items()):
        agreeing = counts[verb_type, order, value, value]
        greater, less, label = label_of(agreeing, n, options)
        rows.append(
            {
                "phenomenon": phenomenon,
                "verb_type": verb_type,
                "order": order,
                "value": value,
                "agreeing": agreeing,
                "n": n,
                "probability": agreeing / n,
                "p_greater": greater,
                "p_less": less,
                "label": label,
            }
        )
    return rows


def measure_agreement(
    candidates: Path, lexicon: Path, lang: str, output: Path, options: MultiblimpOptions
) -> int:
    """Write the ``agreement`` table of a language: one row per phenomenon, order and value.

    Returns the number of subject-verb pairs that were evidence. Raises UserError when a
    table can't be read.
    """
    edges = read_table(CANDIDATES, candidates)
    entries = read_table(LEXICON, lexicon)
    rows: list[dict[str, object]] = []
    evidence = 0
    for phenomenon in options.phenomena:
        counts = count_agreement(edges, entries, lang, phenomenon, options)
        evidence += counts.total()
        rows += _rows(counts, phenomenon, options.agreement)
    write_table(pa.Table.from_pylist(rows, schema=AGREEMENT.arrow()), AGREEMENT, output)
    return evidence
