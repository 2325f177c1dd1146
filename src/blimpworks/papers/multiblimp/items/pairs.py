"""Make minimal pairs: replace the word that agrees by another form of it.

``build_pairs`` reads a language's candidates (a subject and a verb that should agree), its lexicon,
and the labels of its agreement tests. It writes a row for each pair, and the funnel: counts of
rejected candidates and forms, by reason. A pair:

    good  She often sings.    good_form  sings    grammatical    SG
    bad   She often sing.     bad_form   sing     ungrammatical  PL

Attractors are words between subject and verb that have the agreement feature too.
Source: MultiBLiMP 1.0, sections 4.1 and 4.3.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import normalize

import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.items import item_id
from blimpworks.papers.multiblimp import tables
from blimpworks.papers.multiblimp.items import inflection, lookup, words
from blimpworks.papers.multiblimp.settings import MultiblimpOptions, corrected
from blimpworks.tables import LEXICON, SENTENCES, read_table, write_rows

SURFACE_COLUMNS = ("sentence", "id", "word", "form", "space_after")


@dataclass(slots=True)
class Unit:
    """A word, or a contraction of several ("du" of "de" and "le")."""

    text: str
    space_after: bool
    word_ids: range
    """CoNLL-U ids of its words."""


class Surface(NamedTuple):
    """A sentence as written."""

    origin: dict[str, str]
    """The ``treebank``, ``file`` and ``sent_id`` of the sentence."""
    units: list[Unit]


def load_surfaces(rows: pa.Table, sentences: Path, whole_contractions: bool) -> dict[int, Surface]:
    """Load sentences as written, keyed by their number, from rows of ``tokens``.

    With ``whole_contractions`` a contraction is one unit ("du"), except if its words are merely
    written together. Without, its words are separate units ("de le").
    """
    columns = (rows[name].to_pylist() for name in SURFACE_COLUMNS)
    units_by_sentence: dict[int, list[Unit]] = {}
    contractions: list[tuple[int, Unit]] = []
    for sentence, identifier, word, form, space_after in zip(*columns, strict=True):
        if word is not None:
            unit = Unit(form, space_after, range(word, word + 1))
            units_by_sentence.setdefault(sentence, []).append(unit)
        elif whole_contractions and "-" in identifier:
            first, last = map(int, identifier.split("-"))
            contractions.append((sentence, Unit(form, space_after, range(first, last + 1))))
    for sentence, contraction in contractions:
        units = units_by_sentence[sentence]
        # The contraction's words are the units from ``start`` up to ``end``.
        positions = [i for i, u in enumerate(units) if u.word_ids.start in contraction.word_ids]
        start, end = positions[0], positions[-1] + 1
        if "".join(unit.text for unit in units[start:end]) == contraction.text:
            for unit in units[start:end]:
                unit.space_after = False
            units[end - 1].space_after = contraction.space_after
        else:
            units[start:end] = [contraction]
    origins = read_table(SENTENCES, sentences, ["sentence", "treebank", "file", "sent_id"])
    numbers = pa.array([*units_by_sentence], pa.int32())
    surfaces: dict[int, Surface] = {}
    for origin in origins.filter(pc.is_in(origins["sentence"], numbers)).to_pylist():
        sentence = origin.pop("sentence")
        surfaces[sentence] = Surface(origin, units_by_sentence[sentence])
    return surfaces


Row = dict[str, Any]
MISMATCH = "values differ in the treebank"
CONDITION = "against the language's conditions"
CONTRACTION = "inside a contraction"
ALL_REASONS = (MISMATCH, CONDITION, CONTRACTION, *inflection.REJECTION_REASONS)
"""Reasons why a candidate or a form makes no pair."""
UNDECIDED = "of these, possibly right in another mood"
"""Line of the funnel: pairs whose bad form may be right in a mood that the lexicons lack."""


def subject_features(row: Row, verb: Mapping[str, str], third: bool) -> Mapping[str, str]:
    """Return the features of the subject in a row of candidates, which its ``verb`` should share.

    With ``third``, nouns and most pronouns without a person get the third person.
    """
    features = words.parse_feats(row["subject_feats"])
    # Personal pronouns have any person, and relative pronouns the person of another word.
    is_other_pronoun = features.get("PronType", "Prs") not in ("Prs", "Rel")
    if third and (row["subject_upos"] == "NOUN" or is_other_pronoun):
        # A verb annotated as "1,3" agrees with the third person.
        person = verb.get("Person", "3")
        return {"Person": person if "3" in person.split(",") else "3", **features}
    return features


def capitalised_like(form: str, original: str, lang: str, published: bool) -> str:
    """Return a form in the case of the original: capitalised, all capitals, or unchanged.

    With ``published``, all letters after a capital are lower-cased.
    """
    if not original[:1].isupper():
        return form
    if published:
        return form.capitalize()
    capitals = len(form) if len(original) > 1 and original.isupper() else 1
    return words.upper_case(form[:capitals], lang) + form[capitals:]


class Candidate(NamedTuple):
    """A row of candidates whose verb agrees with the subject in the treebank."""

    row: Row
    verb_features: dict[str, str]
    """The verb's features, with those agreement features of the subject that the verb lacks."""
    attractors: list[str]
    """Value of the agreement feature of each attractor, in UniMorph's names (SG, PL)."""


def _candidates(
    rows: Iterable[Row],
    lang: str,
    phenomenon: words.Phenomenon,
    options: MultiblimpOptions,
    counts: Counter[str],
) -> Iterator[Candidate]:
    """Yield the candidates that agree; add the numbers of rejected candidates to ``counts``.

    A verb that lacks a feature, such as Person, gets the subject's value. In the authors' code it
    keeps this value: the verb's next subject must have the same value, and the value counts where
    the verb is an attractor. A later row of the same verb can add features to the ``verb_features``
    of an earlier candidate, because both rows then have the same dict.
    """
    keeps_features = not corrected(options, "copied_features")
    third = corrected(options, "subject_person")
    # {(sentence, id of a verb): features so far}
    completed: dict[tuple[int, int], dict[str, str]] = {}
    for row in rows:
        verb = dict(words.parse_feats(row["feats"]))
        if keeps_features and verb:
            verb = completed.setdefault((row["sentence"], row["feats_of"]), verb)
        agrees = True
        for name, value in subject_features(row, verb, third).items():
            if name in words.AGREEMENT_FEATURES:
                # A verb without the feature gets the subject's value, so they agree.
                agrees &= verb.setdefault(name, value) == value
        if not agrees:
            counts[MISMATCH] += 1
        elif not phenomenon.meets_conditions(lang, verb):
            counts[CONDITION] += 1
        else:
            attractors = []
            for word_id, feats in zip(row["between"], row["between_feats"], strict=True):
                features = completed.get((row["sentence"], word_id), words.parse_feats(feats))
                if features.get(phenomenon.feature) is not None:
                    attractors.append(words.to_unimorph(features[phenomenon.feature]))
            yield Candidate(row, verb, attractors)


def _columns_of(
    candidate: Candidate,
    lang: str,
    phenomenon: words.Phenomenon,
    trace: inflection.Trace,
    labels: Mapping[tuple[str, str, str], str],
) -> Row:
    """Return the columns that all pairs of a candidate share, except those of the sentence."""
    row, verb, attractors = candidate
    # A value has the label of the test of this type of verb, or else of both types; "?" without.
    good_labels = []
    for value in trace.own_values:
        label = labels.get((row["kind"], row["order"], value))
        good_labels.append(label or labels.get((tables.BOTH_TYPES, row["order"], value), "?"))
    return {
        "lang": lang,
        "phenomenon": phenomenon.name,
        "order": row["order"],
        "inflected": row["kind"],
        "subject": row["subject_form"],
        "subject_id": row["subject"],
        "subject_lemma": row["subject_lemma"].replace("_", ""),
        "subject_upos": row["subject_upos"],
        "subject_feats": row["subject_feats"],
        "verb": row["verb_form"],
        "verb_id": row["verb"],
        "inflected_form": row["form"],
        "inflected_id": row["inflected"],
        "inflected_lemma": row["lemma"].replace("_", ""),
        "inflected_feats": "|".join(f"{name}={value}" for name, value in sorted(verb.items())),
        "inflected_upos": row["upos"],
        "replaced_id": row["replaced"],
        "distance": row["distance"],
        "attractors": len(attractors),
        "attractor_values": attractors,
        "congruent_attractors": sum(value in trace.own_values for value in attractors),
        "grammatical": "|".join(trace.own_values),
        "label": "|".join(good_labels),
    }


def _texts_around(position: int, units: Sequence[Unit]) -> tuple[str, str]:
    """Return the texts before and after a unit: ("She often ", ".") for "sings"."""
    texts = [unit.text + (" " if unit.space_after else "") for unit in units]
    space = " " if units[position].space_after else ""
    return "".join(texts[:position]).lstrip(), space + "".join(texts[position + 1 :])


def pairs_of(
    rows: Iterable[Row],
    lang: str,
    phenomenon: words.Phenomenon,
    inflector: inflection.Inflector,
    labels: Mapping[tuple[str, str, str], str],
    surfaces: Mapping[int, Surface],
    options: MultiblimpOptions,
) -> tuple[list[Row], Counter[str]]:
    """Make the pairs of a phenomenon from ``rows`` of candidates.

    ``labels`` are the labels of agreement tests, keyed by verb type, order and value, and
    ``surfaces`` the sentences, keyed by number. Returns the pairs, and counts of rejected
    candidates and forms by reason, and of UNDECIDED pairs.
    """
    unifies_code_points = corrected(options, "scripts")
    pairs: list[Row] = []
    counts: Counter[str] = Counter()
    # All candidates come before the first pair, because later rows can change earlier candidates.
    candidates = list(_candidates(rows, lang, phenomenon, options, counts))
    for candidate in candidates:
        row, features = candidate.row, tuple(sorted(candidate.verb_features.items()))
        origin, units = surfaces[row["sentence"]]
        position = next(i for i, unit in enumerate(units) if row["replaced"] in unit.word_ids)
        unit = units[position]
        if len(unit.word_ids) > 1:
            counts[CONTRACTION] += 1
            continue

        before, after = _texts_around(position, units)
        good, start = (before + unit.text + after).rstrip(), len(before)

        lemma = row["lemma"].replace("_", "")
        trace = inflector.trace(row["form"], lemma, features, row["subject_form"])
        counts.update(trace.rejected)
        columns = _columns_of(candidate, lang, phenomenon, trace, labels)
        pairs_by_sentence: dict[str, Row] = {}
        # A form such as "sing", judged to have the values ["PL"] and no objection.
        for form, judged in trace.forms.items():
            if judged.objection:
                continue
            bad_form = capitalised_like(form, unit.text, lang, not corrected(options, "capitals"))
            bad = (before + bad_form + after).rstrip()
            key = (lang, phenomenon.name, *origin.values(), row["subject"], start)
            identifier = item_id(*key, good, bad)
            # Forms that differ only in case or in code points may make one sentence, which may also
            # be the good sentence.
            composed = normalize("NFC", bad)
            sentence = composed if unifies_code_points else bad
            if composed == normalize("NFC", good) or sentence in pairs_by_sentence:
                counts[inflection.SAME_FORM] += 1
                continue
            counts[UNDECIDED] += judged.undecided
            grammatical, ungrammatical = columns["grammatical"], "|".join(judged.values)
            pairs_by_sentence[sentence] = {
                "item_id": identifier,
                **columns,
                **origin,
                "paradigm": f"{grammatical}>{ungrammatical}/{row['order']}/{row['kind']}",
                "ungrammatical": ungrammatical,
                "values": f"{grammatical} -> {ungrammatical}",
                "good": good,
                "good_form": unit.text,
                "good_start": start,
                "good_end": start + len(unit.text),
                "bad": bad,
                "bad_form": bad_form,
                "bad_start": start,
                "bad_end": start + len(bad_form),
            }
        pairs += pairs_by_sentence.values()
    return pairs, counts


def load_resources(
    rows: Sequence[Row], lexicon: pa.Table, construction: str, lang: str, any_case: bool
) -> tuple[list[lookup.Lexicon], list[lookup.Lexicon]]:
    """Load the lexicons of verbs, and of subjects, that a construction's candidates need.

    Each list has a lexicon for each of ``lookup.SOURCES``, in order.
    """
    lemmas = lookup.spellings((row["lemma"].replace("_", "") for row in rows), any_case, lang)
    subjects = lookup.spellings((row["subject_form"] for row in rows), any_case, lang)
    load, participles = partial(lookup.load_lexicon, lexicon), construction == "sp"
    return (
        [load(source, ("V",), "lemma", lemmas, participles) for source in lookup.SOURCES],
        [load(source, lookup.SUBJECT_PARTS, "form", subjects) for source in lookup.SOURCES],
    )


def build_pairs(
    candidates: Path,
    lexicon: Path,
    agreement: Path,
    tokens: Path,
    sentences: Path,
    lang: str,
    special: Sequence[str],
    output: Path,
    funnel: Path,
    options: MultiblimpOptions,
) -> dict[str, dict[str, int]]:
    """Write a language's pairs, and the funnel; return its counts by stage ("pairs sv#")."""
    edges = read_table(tables.CANDIDATES, candidates).to_pylist()
    numbers = pa.array(sorted({row["sentence"] for row in edges}), pa.int32())
    token_rows = words.read_tokens(tokens, SURFACE_COLUMNS, special, options)
    token_rows = token_rows.filter(pc.is_in(token_rows["sentence"], numbers))
    surfaces = load_surfaces(token_rows, sentences, corrected(options, "contractions"))
    entries = read_table(LEXICON, lexicon)
    tests = read_table(tables.AGREEMENT, agreement).to_pylist()
    any_case = corrected(options, "letter_case")
    drops_right_forms = corrected(options, "right_forms")
    counts: dict[str, dict[str, int]] = {}
    items: list[Row] = []
    for construction in ("sv", "sp"):  # subject and verb, subject and participle
        rows = [row for row in edges if row["construction"] == construction]
        resources = load_resources(rows, entries, construction, lang, any_case)
        for phenomenon in (words.PHENOMENA[name] for name in options.phenomena):
            if phenomenon.construction != construction:
                continue
            tested = [test for test in tests if test["phenomenon"] == phenomenon.name]
            labels = {(t["verb_type"], t["order"], t["value"]): t["label"] for t in tested}
            inflector = inflection.Inflector(phenomenon.feature, *resources, options, lang)
            pairs, rejected = pairs_of(rows, lang, phenomenon, inflector, labels, surfaces, options)
            items += pairs
            reasons = (*ALL_REASONS, inflection.RIGHT) if drops_right_forms else ALL_REASONS
            dropped = {f"- {reason}": rejected[reason] for reason in reasons}
            stage = {"candidates": len(rows), **dropped, "pairs": len(pairs)}
            if drops_right_forms:
                stage[UNDECIDED] = rejected[UNDECIDED]
            counts[f"pairs {phenomenon.name}"] = stage
    write_rows(items, tables.ITEM_SCHEMA, output)
    tables.write_funnel(funnel, lang, counts)
    return counts
