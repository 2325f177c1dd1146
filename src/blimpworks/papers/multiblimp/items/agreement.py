"""Count how often a language's verbs agree with their subjects, and test whether it is a rule.

``measure_agreement`` reads the language's candidates (a subject and a verb each) and its lexicon,
and writes two tables: counts of combinations of values, and a test of each condition. A condition
is a value of the subject in a word order. For example, verbs and auxiliaries together, in number,
after singular subjects:

    sv#, both, SV: subject SG, verb SG 950 times, verb PL 3 times -> p = 1e-30, label "+".

Values of a word are from the lexicon's readings of its form, or from its annotation in the treebank
("Number=Sing"). A reading that leaves the feature open has the value ``words.UNDEFINED``.
Source: MultiBLiMP 1.0, section 4.2.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from scipy.special import bdtr, bdtrc

from blimpworks.papers.multiblimp.items import lookup, words
from blimpworks.papers.multiblimp.settings import MultiblimpOptions, corrected
from blimpworks.papers.multiblimp.tables import AGREEMENT, AGREEMENT_COUNTS, BOTH_TYPES, CANDIDATES
from blimpworks.tables import LEXICON, read_table, write_rows


class Combination(NamedTuple):
    """Values of a subject and its verb in a word order; equal combinations are counted."""

    verb_type: str
    """verb or aux, or both together (``BOTH_TYPES``)."""
    order: str
    subject_value: str
    verb_value: str


ValuesOf = Callable[[str, str, str | None], Set[str]]
"""Function of a feature, a form and the form's annotation that returns the form's possible values:
("Number", "sheep", None) gives {"SG", "PL"}."""
COUNTED_COLUMNS = ("kind", "order", "subject_form", "subject_feats", "form", "feats")
"""Columns of candidates from which combinations are counted."""


def load_evidence(
    candidates: pa.Table,
    lexicon: pa.Table,
    construction: str,
    lang: str,
    options: MultiblimpOptions,
) -> tuple[ValuesOf, ValuesOf]:
    """Return the functions that find the values of a construction's subjects and of its verbs.

    ``candidates`` are those of the construction, sv or sp (participles). Values come from
    (section 4.2, decision ``agreement_evidence``):

    - published, sv: UniMorph and the treebank's lexicon together, without undefined values;
    - published, sp: UniMorph, or else the treebank's lexicon; undefined values are kept;
    - corrected: the word's annotation in its sentence, or else UniMorph; without undefined values.
    """
    annotation_first = corrected(options, "agreement_evidence")
    any_case = corrected(options, "letter_case")
    # Published, sp: the treebank's lexicon counts only without values of UniMorph.
    unimorph_first = construction == "sp" and not annotation_first
    sources = ("unimorph",) if annotation_first else lookup.SOURCES  # UniMorph is first

    def load(
        column: str, parts_of_speech: Sequence[str], query: lookup.Query, participles: bool
    ) -> ValuesOf:
        """Return the function for the forms in a ``column`` of the candidates.

        Only readings of a form that fit the query count, such as the nominative of subjects.
        """
        forms = lookup.spellings(candidates[column], any_case, lang)
        lexicons = [
            lookup.load_lexicon(lexicon, source, parts_of_speech, "form", forms, participles)
            for source in sources
        ]

        @cache
        def values_of(feature: str, form: str, feats: str | None) -> Set[str]:
            annotated = words.parse_feats(feats)
            # "Number[subj]", if the word has it, precedes "Number".
            for name in words.STATED_AS[feature] if annotation_first else ():
                if annotated.get(name):
                    return words.alternatives(annotated[name])
            values: set[str] = set()
            for of_source in lexicons:
                inflecting = of_source.columns[feature]
                is_needed = not (unimorph_first and values)
                if inflecting and is_needed:
                    rows = of_source.rows.get(form, ())
                    if not rows and any_case:
                        rows = of_source.rows.get(words.lower_case(form, lang), ())
                    values |= lookup.collect_values(of_source, rows, query, inflecting, inflecting)
            return values if unimorph_first else values - {words.UNDEFINED}

        return values_of

    return (
        load("subject_form", lookup.SUBJECT_PARTS, lookup.NOMINATIVE, participles=False),
        load("form", ("V",), lookup.INDICATIVE, participles=construction == "sp"),
    )


def count_agreement(
    candidates: pa.Table,
    evidence: tuple[ValuesOf, ValuesOf],
    lang: str,
    phenomenon: words.Phenomenon,
    options: MultiblimpOptions,
) -> Counter[Combination]:
    """Count the combinations of values in a construction's candidates, where both are certain.

    ``evidence`` are the functions of ``load_evidence``.
    """
    (values_of_subject, values_of_verb), feature = evidence, phenomenon.feature
    counts: Counter[Combination] = Counter()
    columns = [candidates[name].cast(pa.string()).to_pylist() for name in COUNTED_COLUMNS]
    for verb_kind, order, subject_form, subject_feats, form, feats in zip(*columns, strict=True):
        if not phenomenon.meets_conditions(lang, words.parse_feats(feats)):
            continue
        subject = values_of_subject(feature, subject_form, subject_feats)
        verb = values_of_verb(feature, form, feats)
        # If one word has one value, and the other word has this and further values, both have this
        # value: "the sheep (SG, PL) sleeps (SG)" is singular.
        fewer, more = sorted((subject, verb), key=len)
        if len(fewer) == 1 and fewer < more:
            subject = verb = fewer
        if len(subject) == len(verb) == 1 and words.UNDEFINED not in subject | verb:
            verb_type = verb_kind if corrected(options, "verb_types") else BOTH_TYPES
            counts[Combination(verb_type, order, *subject, *verb)] += 1
    return counts


def run_binomial_tests(
    agreeing: int, n: int, tests: int, options: MultiblimpOptions
) -> tuple[float, float, str]:
    """Test whether the share ``agreeing`` of ``n`` is above or below ``null_probability``.

    Returns the p values of the two one-sided exact binomial tests (above, below), and the label:

    - "+": significantly above, "-": significantly below, so that the condition makes no pairs;
    - "~" (published only): above without significance, in more than five agreeing cases;
    - "?": undecided; as published, also if no verb agrees, however many verbs there are.

    ``tests`` is the language's number of tests of the phenomenon, by which the corrected variant
    divides the threshold (Bonferroni).
    """
    null = options.agreement.null_probability
    divisor = tests if corrected(options, "bonferroni") else 2
    threshold = options.agreement.alpha / divisor
    # Probabilities of at least, and of at most, as many agreeing cases under the null hypothesis.
    # ``bdtrc(k, …)`` is that of more than k.
    greater = float(bdtrc(agreeing - 1, n, null)) if agreeing else 1.0
    less = float(bdtr(agreeing, n, null))
    published = not corrected(options, "labels")
    if greater <= threshold:
        label = "+"
    elif published and agreeing > 5 and agreeing / n > null:
        label = "~"
    elif less <= threshold and not (published and agreeing == 0):
        label = "-"
    else:
        label = "?"
    return greater, less, label


def measure_agreement(
    candidates: Path,
    lexicon: Path,
    lang: str,
    output: Path,
    counted: Path,
    options: MultiblimpOptions,
) -> Mapping[str, int]:
    """Write the tests (``output``) and the counts (``counted``); return cases by phenomenon."""
    edges = read_table(CANDIDATES, candidates, ("construction", *COUNTED_COLUMNS))
    entries = read_table(LEXICON, lexicon)
    counts: dict[str, Counter[Combination]] = {}  # {phenomenon: counts}
    for construction in ("sv", "sp"):  # subject and verb, subject and participle
        rows = edges.filter(pc.equal(edges["construction"].cast(pa.string()), construction))
        evidence = load_evidence(rows, entries, construction, lang, options)
        for phenomenon in (words.PHENOMENA[name] for name in options.phenomena):
            if phenomenon.construction == construction:
                counts[phenomenon.name] = count_agreement(rows, evidence, lang, phenomenon, options)
    tested_rows: list[dict[str, Any]] = []
    counted_rows: list[dict[str, Any]] = []
    for name in options.phenomena:
        # Number of verbs of each condition, keyed by verb type, order and subject's value.
        totals: Counter[tuple[str, str, str]] = Counter()
        for combination, count in sorted(counts[name].items()):
            totals[combination[:3]] += count
            counted_rows.append({"phenomenon": name, **combination._asdict(), "count": count})
        for (verb_type, order, value), n in totals.items():
            agreeing = counts[name][Combination(verb_type, order, value, value)]
            # Each condition has two one-sided tests.
            outcome = run_binomial_tests(agreeing, n, 2 * len(totals), options)
            row = (name, verb_type, order, value, agreeing, n, agreeing / n, *outcome)
            tested_rows.append(dict(zip(AGREEMENT.names, row, strict=True)))
    write_rows(tested_rows, AGREEMENT, output)
    write_rows(counted_rows, AGREEMENT_COUNTS, counted)
    return {name: of_phenomenon.total() for name, of_phenomenon in counts.items()}
