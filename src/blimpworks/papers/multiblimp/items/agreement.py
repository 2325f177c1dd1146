"""Count how often verbs agree with their subjects, and test it (MultiBLiMP 1.0, section 4.2).

Reads a language's candidates (a subject and a verb each) and its lexicon. Writes the tests, which
label each condition by whether its verbs agree, and the numbers of cases that were tested.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from scipy.special import bdtr, bdtrc

from blimpworks.papers.multiblimp.items import inflection, words
from blimpworks.papers.multiblimp.settings import MultiblimpOptions, corrected
from blimpworks.papers.multiblimp.tables import AGREEMENT, AGREEMENT_COUNTS, BOTH_TYPES, CANDIDATES
from blimpworks.tables import LEXICON, read_table, write_rows

Key = tuple[str, str, str, str]
"""Verb type, order, subject value, verb value."""
Lookup = Callable[[str, str, str | None], Set[str]]
"""Function of a feature, a form and its annotation that returns the form's possible values."""
EDGE_COLUMNS = ("construction", "kind", "order", "subject_form", "subject_feats", "form", "feats")


def _agreed(subject: Set[str], verb: Set[str]) -> tuple[str, str] | None:
    """Return the values of a subject and a verb that count as evidence; None if they are unclear.

    If one of the two has a single value and the other has that value among others, they agree.
    """
    if len(subject) == 1 and len(verb) == 1:
        (value,), (verb_value,) = subject, verb
        return None if words.UNDEFINED in (value, verb_value) else (value, verb_value)
    fewer, more = sorted((subject, verb), key=len)
    if len(fewer) == 1 and fewer < more and words.UNDEFINED not in fewer:
        (value,) = fewer
        return value, value
    return None


def load_evidence(
    candidates: pa.Table, lexicon: pa.Table, construction: str, options: MultiblimpOptions
) -> tuple[Lookup, Lookup]:
    """Load the lookups of a construction's subjects and verbs.

    The first lexicon is UniMorph's, the second the treebank's (section 4.2).

    - Published, verbs: the values of both lexicons together, without undefined ones.
    - Published, participles: the treebank's values only where UniMorph has none; undefined stay.
    - Corrected: the word's own annotation, else the first lexicon, without undefined values.
    """
    participles = construction == "sp"
    annotation_first = corrected(options, "agreement_evidence")
    any_case = corrected(options, "letter_case")
    unite_lexicons = annotation_first or not participles

    def lookup(
        column: str, classes: Sequence[str], query: inflection.Query, as_participles: bool
    ) -> Lookup:
        """Load the lookup of the forms in a column, which are words of some classes."""
        forms = inflection.spellings(candidates[column], any_case)
        lexicons = [
            inflection.load_lexicon(lexicon, source, classes, "form", forms, as_participles)
            for source in (inflection.SOURCES[:1] if annotation_first else inflection.SOURCES)
        ]

        @cache
        def values_in(feature: str, form: str, feats: str | None) -> Set[str]:
            """Return the values of a feature that a form with some annotation can have."""
            features = words.parse_feats(feats)
            stated = [features[name] for name in words.COLUMNS_OF[feature] if name in features]
            if annotation_first and stated and stated[0]:
                return words.alternatives(stated[0])
            values: set[str] = set()
            for entries in lexicons:
                inflecting = entries.columns[feature]
                if inflecting and (unite_lexicons or not values):
                    rows = entries.rows.get(form, ())
                    if not rows and any_case:
                        rows = entries.rows.get(form.lower(), ())
                    values |= inflection.values_of(entries, rows, query, inflecting, inflecting)
            return values - {words.UNDEFINED} if unite_lexicons else values

        return values_in

    return (
        lookup("subject_form", inflection.SUBJECT_PARTS, inflection.NOMINATIVE, False),
        lookup("form", ("V",), inflection.INDICATIVE, participles),
    )


def count_agreement(
    candidates: pa.Table,
    evidence: tuple[Lookup, Lookup],
    lang: str,
    phenomenon: words.Phenomenon,
    options: MultiblimpOptions,
) -> Counter[Key]:
    """Count the combinations of subject value and verb value, by order and verb type."""
    of_subject, of_verb = (partial(lookup, phenomenon.feature) for lookup in evidence)
    counts: Counter[Key] = Counter()
    columns = [candidates[name].cast(pa.string()).to_pylist() for name in EDGE_COLUMNS[1:]]
    for verb_kind, order, subject_form, subject_feats, form, feats in zip(*columns, strict=True):
        if not phenomenon.meets_conditions(lang, words.parse_feats(feats)):
            continue
        pair = _agreed(of_subject(subject_form, subject_feats), of_verb(form, feats))
        if pair:
            verb_type = verb_kind if corrected(options, "verb_types") else BOTH_TYPES
            counts[verb_type, order, *pair] += 1
    return counts


class Tested(NamedTuple):
    """P of two one-sided exact binomial tests (more and less agreement), and the label."""

    p_greater: float
    p_less: float
    label: str


def label_of(agreeing: int, n: int, tests: int, options: MultiblimpOptions) -> Tested:
    """Test whether ``agreeing`` of ``n`` cases are more or fewer than the null hypothesis allows.

    ``tests`` is the number of tests that a language has of the phenomenon: it divides the corrected
    threshold (Bonferroni). Labels: "+" significant agreement; "?" undecided; "-" significant
    absence, which drops the condition. Published only: "~" is near-universal agreement without
    significance, in more than five cases, and no agreement at all is undecided.
    """
    settings = options.agreement
    null, threshold = settings.null_probability, settings.alpha / 2
    if corrected(options, "bonferroni"):
        threshold = settings.alpha / tests
    greater, less = float(bdtrc(agreeing - 1, n, null)), float(bdtr(agreeing, n, null))
    if agreeing == 0:
        greater = 1.0
    published = not corrected(options, "labels")
    label = "-" if less <= threshold else "?"
    if published and agreeing == 0:
        label = "?"
    elif greater <= threshold:
        label = "+"
    elif published and agreeing > 5 and agreeing / n > null:
        label = "~"
    return Tested(greater, less, label)


def measure_agreement(
    candidates: Path,
    lexicon: Path,
    lang: str,
    output: Path,
    counted: Path,
    options: MultiblimpOptions,
) -> Mapping[str, int]:
    """Write tests (``agreement``) and their counts; return the counted cases by phenomenon."""
    edges = read_table(CANDIDATES, candidates, EDGE_COLUMNS)
    entries = read_table(LEXICON, lexicon)
    counts: dict[str, Counter[Key]] = {}
    for construction in ("sv", "sp"):
        inside = edges.filter(pc.equal(edges["construction"].cast(pa.string()), construction))
        evidence = load_evidence(inside, entries, construction, options)
        for phenomenon in map(words.PHENOMENA.__getitem__, options.phenomena):
            if phenomenon.construction == construction:
                agreed = count_agreement(inside, evidence, lang, phenomenon, options)
                counts[phenomenon.name] = agreed
    tested: list[dict[str, Any]] = []
    counted_rows: list[dict[str, Any]] = []
    for name in options.phenomena:
        totals: Counter[tuple[str, str, str]] = Counter()
        for (verb_type, order, value, verb_value), count in sorted(counts[name].items()):
            totals[verb_type, order, value] += count
            condition = {"phenomenon": name, "verb_type": verb_type, "order": order}
            values = {"subject_value": value, "verb_value": verb_value}
            counted_rows.append(condition | values | {"count": count})
        for (verb_type, order, value), n in totals.items():
            agreeing = counts[name][verb_type, order, value, value]
            outcome = label_of(agreeing, n, 2 * len(totals), options)
            row = (name, verb_type, order, value, agreeing, n, agreeing / n, *outcome)
            tested.append(dict(zip(AGREEMENT.names, row, strict=True)))
    write_rows(tested, AGREEMENT, output)
    write_rows(counted_rows, AGREEMENT_COUNTS, counted)
    return {name: agreed.total() for name, agreed in counts.items()}
