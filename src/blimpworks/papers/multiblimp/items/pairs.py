"""From candidates to minimal pairs: every other form of the agreeing word that survives.

Source: MultiBLiMP 1.0, sections 4.1 and 4.3.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.files import read_cells
from blimpworks.items import item_id
from blimpworks.papers.multiblimp.items.features import (
    AGREEMENT_FEATURES,
    PHENOMENA,
    Phenomenon,
    parse_feats,
    to_unimorph,
)
from blimpworks.papers.multiblimp.items.inflection import (
    CONTEXT_PARTS,
    SOURCES,
    Selection,
    load_lexicon,
    spellings,
)
from blimpworks.papers.multiblimp.items.orthography import read_tokens
from blimpworks.papers.multiblimp.items.swaps import (
    REASONS,
    RIGHT,
    SAME_FORM,
    Inflector,
    Resource,
    Swap,
    Ways,
)
from blimpworks.papers.multiblimp.settings import MultiblimpOptions, corrected
from blimpworks.papers.multiblimp.tables import (
    AGREEMENT,
    BOTH_TYPES,
    CANDIDATES,
    ITEM_SCHEMA,
    write_funnel,
)
from blimpworks.tables import LEXICON, SENTENCES, read_table, write_rows

SURFACE_COLUMNS = ("sentence", "id", "word", "form", "space_after")


@dataclass(slots=True)
class Unit:
    """A stretch of text without inner choice: a word, or a contraction of several."""

    text: str
    space_after: bool
    words: range
    """CoNLL-U ids that it stands for."""


@dataclass(slots=True)
class Surface:
    """One sentence's text units and where the sentence comes from."""

    treebank: str
    file: str
    sent_id: str
    units: list[Unit]

    def _at(self, word: int) -> int:
        return next(i for i, unit in enumerate(self.units) if word in unit.words)

    def form(self, word: int) -> str:
        """Text of the unit that holds a word."""
        return self.units[self._at(word)].text

    def replaceable(self, word: int) -> bool:
        """Whether a word is a unit of its own."""
        return len(self.units[self._at(word)].words) == 1

    def replace(self, word: int, form: str) -> tuple[str, str, int]:
        """Return the sentence with a word, with ``form``, and where they part [code points]."""
        at = self._at(word)
        spaced = [u.text + (" " if u.space_after else "") for u in self.units]
        before = "".join(spaced[:at]).lstrip()
        gap = " " if self.units[at].space_after else ""
        after = "".join(spaced[at + 1 :])
        good = (before + self.units[at].text + gap + after).rstrip()
        return good, (before + form + gap + after).rstrip(), len(before)


def load_surfaces(
    rows: pa.Table, sentences: Path, *, whole_contractions: bool
) -> dict[int, Surface]:
    """Load sentences of ``tokens`` rows by number; ``whole_contractions`` as one unit."""
    columns = (rows[name].to_pylist() for name in SURFACE_COLUMNS)
    by_sentence: dict[int, list[Unit]] = {}
    contractions: list[tuple[list[Unit], Unit]] = []
    for sentence, identifier, word, form, space_after in zip(*columns, strict=True):
        sentence_units = by_sentence.setdefault(sentence, [])
        if word is not None:
            sentence_units.append(Unit(form, space_after, range(word, word + 1)))
        elif whole_contractions and "-" in identifier:
            first, last = map(int, identifier.split("-"))
            contractions.append((sentence_units, Unit(form, space_after, range(first, last + 1))))
    for sentence_units, contraction in contractions:
        at = [i for i, unit in enumerate(sentence_units) if unit.words.start in contraction.words]
        words = sentence_units[at[0] : at[-1] + 1]
        if "".join(unit.text for unit in words) == contraction.text:
            for unit in words:
                unit.space_after = False
            words[-1].space_after = contraction.space_after
        else:
            sentence_units[at[0] : at[-1] + 1] = [contraction]
    units = by_sentence
    origins = read_table(SENTENCES, sentences, ["sentence", "treebank", "file", "sent_id", "line"])
    origins = origins.filter(pc.is_in(origins["sentence"], pa.array([*units], pa.int32())))
    return {
        row["sentence"]: Surface(
            row["treebank"],
            row["file"],
            row["sent_id"] or f"line {row['line']}",
            units[row["sentence"]],
        )
        for row in origins.to_pylist()
    }


Row = dict[str, Any]
MISMATCH = "values differ in the treebank"
CONDITION = "against the language's conditions"
CONTRACTION = "inside a contraction"
ALL_REASONS = (MISMATCH, CONDITION, CONTRACTION, *REASONS)
UNDECIDED = "of these, possibly right in another mood"
"""Of the pairs, those whose other form the lexicons don't have in every mood."""


def controller_of(row: Row, verb: Mapping[str, str], third: bool) -> Mapping[str, str]:
    """Complete a subject's features; with ``third`` nouns and most pronouns are third persons."""
    features = parse_feats(row["subject_feats"])
    pronoun = features.get("PronType", "Prs")
    if third and (row["subject_upos"] == "NOUN" or pronoun not in ("Prs", "Rel")):
        person = verb.get("Person", "3")
        return {"Person": person if "3" in person.split(",") else "3", **features}
    return features


def adopt_features(verb: dict[str, str], subject: Mapping[str, str]) -> bool:
    """Give the verb the subject's agreement features that it lacks; return whether all agree."""
    agreed = True
    for name in AGREEMENT_FEATURES:
        if name in subject:
            agreed &= verb.setdefault(name, subject[name]) == subject[name]
    return agreed


def capitalised_like(form: str, original: str, rest_too: bool) -> str:
    """A new form in the original's capitalisation; ``rest_too`` lower-cases what follows."""
    if not original[:1].isupper():
        return form
    return form.capitalize() if rest_too else form[:1].upper() + form[1:]


@dataclass(slots=True)
class Annotations:
    """What the treebank says of its words, and what verbs have taken from their subjects.

    In the authors' code what a verb takes from one subject ``lingers``: the verb's other
    subjects find it there, and so does a later search for attractors.
    """

    lingers: bool
    _taken: dict[tuple[int, int], dict[str, str]] = field(default_factory=dict)

    def of_verb(self, row: Row) -> dict[str, str]:
        """Return features of the inflected word, which the caller may complete if there are any."""
        annotated = parse_feats(row["feats"])
        if not self.lingers or not annotated:
            return dict(annotated)
        return self._taken.setdefault((row["sentence"], row["feats_of"]), dict(annotated))

    def attractors(self, row: Row, feature: str) -> list[str]:
        """Values of ``feature`` on the words between subject and verb, in UniMorph's spelling."""
        values = (
            self._taken.get((row["sentence"], word), parse_feats(feats)).get(feature)
            for word, feats in zip(row["between"], row["between_feats"], strict=True)
        )
        return [to_unimorph(value) for value in values if value is not None]


@dataclass(slots=True)
class PairBuilder:
    """Builds the pairs of one phenomenon of one language."""

    lang: str
    phenomenon: Phenomenon
    inflector: Inflector
    labels: Mapping[tuple[str, str, str], str]
    surfaces: Mapping[int, Surface]
    options: MultiblimpOptions
    rejected: Counter[str] = field(default_factory=Counter)
    undecided: int = 0
    """Pairs that another mood might make right."""

    def build(self, rows: Iterable[Row]) -> list[Row]:
        """Build the items of all candidates, after all subjects are read; count the rejected."""
        annotations = Annotations(lingers=not corrected(self.options, "copied_features"))
        third = corrected(self.options, "subject_person")
        kept: list[tuple[Row, dict[str, str], list[str]]] = []
        for row in rows:
            verb = annotations.of_verb(row)
            if not adopt_features(verb, controller_of(row, verb, third)):
                self.rejected[MISMATCH] += 1
            elif not self.phenomenon.meets_conditions(self.lang, verb):
                self.rejected[CONDITION] += 1
            else:
                attractors = annotations.attractors(row, self.phenomenon.feature)
                kept.append((row, verb, attractors))
        return [item for candidate in kept for item in self._items(*candidate)]

    def _items(self, row: Row, verb: dict[str, str], attractors: list[str]) -> list[Row]:
        surface = self.surfaces[row["sentence"]]
        if not surface.replaceable(row["replaced"]):
            self.rejected[CONTRACTION] += 1
            return []
        lemma, features = row["lemma"].replace("_", ""), tuple(sorted(verb.items()))
        swaps, rejected = self.inflector.swaps(row["form"], lemma, features, row["subject_form"])
        self.rejected += rejected
        known = {
            "inflected_feats": "|".join(f"{name}={value}" for name, value in features),
            "attractors": len(attractors),
            "attractor_values": attractors,
        }
        items: dict[str, Row] = {}
        for swap in swaps:
            congruent = sum(value in swap.before for value in attractors)
            item = self._item(row, swap, surface) | known | {"congruent_attractors": congruent}
            # Forms that differ in case alone can become the same sentence, or the good one.
            same = item["bad"] == item["good"] or item["item_id"] in items
            self.rejected[SAME_FORM] += same
            if not same:
                items[item["item_id"]] = item
                self.undecided += swap.undecided
        return [*items.values()]

    def _label(self, row: Row, value: str) -> str:
        kinds = (row["kind"], BOTH_TYPES)
        labels = (self.labels.get((kind, row["order"], value)) for kind in kinds)
        return next(filter(None, labels), "?")

    def _item(self, row: Row, swap: Swap, surface: Surface) -> Row:
        """One pair; ``label`` has as many labels as ``grammatical`` has values."""
        before, after = "|".join(swap.before), "|".join(swap.after)
        # Both sentences, the critical region, and where the sentence comes from.
        old = surface.form(row["replaced"])
        new = capitalised_like(swap.form, old, not corrected(self.options, "capitals"))
        good, bad, start = surface.replace(row["replaced"], new)
        origin = {name: getattr(surface, name) for name in ("treebank", "file", "sent_id")}
        key = (self.lang, self.phenomenon.name, *origin.values())
        return {
            "lang": self.lang,
            "phenomenon": self.phenomenon.name,
            "paradigm": f"{before}>{after}/{row['order']}/{row['kind']}",
            "grammatical": before,
            "ungrammatical": after,
            "order": row["order"],
            "inflected": row["kind"],
            "label": "|".join(self._label(row, value) for value in swap.before),
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
            "replaced_id": row["replaced"],
            "values": f"{before} -> {after}",
            "inflected_upos": row["upos"],
            "distance": row["distance"],
            "item_id": item_id(*key, row["subject"], start, good, bad),
            "good": good,
            "bad": bad,
            "good_start": start,
            "good_end": start + len(old),
            "bad_start": start,
            "bad_end": start + len(new),
            "good_form": old,
            "bad_form": new,
            **origin,
        }


def load_resources(
    rows: Sequence[Row], lexicon: pa.Table, construction: str, any_case: bool
) -> tuple[Resource, ...]:
    """Both sources' entries for the words of a construction's candidates."""
    lemmas = spellings((row["lemma"].replace("_", "") for row in rows), any_case)
    subjects = spellings((row["subject_form"] for row in rows), any_case)
    verbs = Selection(("V",), lemmas, "lemma", participles=construction == "sp")
    context = Selection(CONTEXT_PARTS, subjects, "form")
    return tuple(
        Resource(load_lexicon(lexicon, source, verbs), load_lexicon(lexicon, source, context))
        for source in SOURCES
    )


def ways_of(options: MultiblimpOptions, lang: str) -> Ways:
    """How the options have swaps of a language looked up."""
    moods = read_cells(Path(__file__).with_name("bound_moods.tsv"))
    return Ways(
        letter_case=corrected(options, "letter_case"),
        other_features=corrected(options, "other_features"),
        right_forms=corrected(options, "right_forms"),
        bound_moods=tuple(row["mood"] for row in moods if row["lang"] == lang),
    )


@dataclass(frozen=True, slots=True)
class _Tables:
    """The tables of one language, read."""

    lexicon: pa.Table
    agreement: list[Row]
    surfaces: Mapping[int, Surface]


def _build(
    rows: list[Row], construction: str, lang: str, tables: _Tables, options: MultiblimpOptions
) -> Iterator[tuple[str, list[Row], dict[str, int]]]:
    """Name, pairs and counts of each phenomenon of one construction."""
    ways = ways_of(options, lang)
    resources = load_resources(rows, tables.lexicon, construction, ways.letter_case)
    for phenomenon in map(PHENOMENA.__getitem__, options.phenomena):
        if phenomenon.construction != construction:
            continue
        inflector = Inflector(phenomenon.feature, resources, ways)
        labels = {
            (row["verb_type"], row["order"], row["value"]): row["label"]
            for row in tables.agreement
            if row["phenomenon"] == phenomenon.name
        }
        builder = PairBuilder(lang, phenomenon, inflector, labels, tables.surfaces, options)
        pairs = builder.build(rows)
        reasons = (*ALL_REASONS, RIGHT) if ways.right_forms else ALL_REASONS
        dropped = {f"- {reason}": builder.rejected[reason] for reason in reasons}
        counts = {"candidates": len(rows), **dropped, "pairs": len(pairs)}
        if ways.right_forms:
            counts[UNDECIDED] = builder.undecided
        yield phenomenon.name, pairs, counts


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
    """Write every surviving pair of a language as ``items``; return the funnel's counts."""
    edges = read_table(CANDIDATES, candidates).to_pylist()
    numbers = pa.array(sorted({row["sentence"] for row in edges}), pa.int32())
    words = read_tokens(tokens, SURFACE_COLUMNS, special, options)
    words = words.filter(pc.is_in(words["sentence"], numbers))
    whole = corrected(options, "contractions")
    tables = _Tables(
        read_table(LEXICON, lexicon),
        read_table(AGREEMENT, agreement).to_pylist(),
        load_surfaces(words, sentences, whole_contractions=whole),
    )
    counts: dict[str, dict[str, int]] = {}
    items: list[Row] = []
    for construction in ("sv", "sp"):
        rows = [row for row in edges if row["construction"] == construction]
        for name, pairs, of_phenomenon in _build(rows, construction, lang, tables, options):
            items += pairs
            counts[f"pairs {name}"] = of_phenomenon
    write_rows(items, ITEM_SCHEMA, output)
    write_funnel(funnel, lang, counts)
    return counts
