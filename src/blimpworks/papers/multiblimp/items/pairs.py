"""Make minimal pairs of candidates: every other form of the agreeing word that passes the checks.

Source: MultiBLiMP 1.0, sections 4.1 and 4.3.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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
    """A word, or a contraction of several."""

    text: str
    space_after: bool
    words: range
    """CoNLL-U ids of the unit."""


@dataclass(slots=True)
class Surface:
    """One sentence's text units, and its treebank, file and name there."""

    origin: dict[str, str]
    units: list[Unit]

    def replace(self, word: int, form: str) -> tuple[str, str, int]:
        """Return the sentence with a word, with ``form``, and where they part [code points]."""
        at = next(i for i, unit in enumerate(self.units) if word in unit.words)
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
    units: dict[int, list[Unit]] = {}
    contractions: list[tuple[int, Unit]] = []
    for sentence, identifier, word, form, space_after in zip(*columns, strict=True):
        if word is not None:
            unit = Unit(form, space_after, range(word, word + 1))
            units.setdefault(sentence, []).append(unit)
        elif whole_contractions and "-" in identifier:
            first, last = map(int, identifier.split("-"))
            contractions.append((sentence, Unit(form, space_after, range(first, last + 1))))
    for sentence, contraction in contractions:
        of_sentence = units[sentence]
        at = [i for i, unit in enumerate(of_sentence) if unit.words.start in contraction.words]
        words = of_sentence[at[0] : at[-1] + 1]
        if "".join(unit.text for unit in words) == contraction.text:
            for unit in words:
                unit.space_after = False
            words[-1].space_after = contraction.space_after
        else:
            of_sentence[at[0] : at[-1] + 1] = [contraction]
    origins = read_table(SENTENCES, sentences, ["sentence", "treebank", "file", "sent_id", "line"])
    origins = origins.filter(pc.is_in(origins["sentence"], pa.array([*units], pa.int32())))
    return {
        row["sentence"]: Surface(
            {
                "treebank": row["treebank"],
                "file": row["file"],
                "sent_id": row["sent_id"] or f"line {row['line']}",
            },
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


def capitalised_like(form: str, original: str, rest_too: bool) -> str:
    """Return a form in the original's capitalisation; ``rest_too`` lower-cases the rest."""
    if not original[:1].isupper():
        return form
    return form.capitalize() if rest_too else form[:1].upper() + form[1:]


@dataclass(slots=True)
class PairBuilder:
    """Builder of the pairs of one phenomenon of one language."""

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
        """Build the items of all candidates, after all subjects are read; count the rejected.

        In the authors' code a verb keeps the features it takes from one subject: its other subjects
        find them there, and so does a later search for attractors.
        """
        lingers = not corrected(self.options, "copied_features")
        third = corrected(self.options, "subject_person")
        completed: dict[tuple[int, int], dict[str, str]] = {}
        candidates: list[tuple[Row, dict[str, str], list[str]]] = []
        for row in rows:
            verb = dict(parse_feats(row["feats"]))
            if lingers and verb:
                verb = completed.setdefault((row["sentence"], row["feats_of"]), verb)
            agrees = True
            for name, value in controller_of(row, verb, third).items():
                if name in AGREEMENT_FEATURES:
                    # The verb takes over what it lacks.
                    agrees &= verb.setdefault(name, value) == value
            if not agrees:
                self.rejected[MISMATCH] += 1
            elif not self.phenomenon.meets_conditions(self.lang, verb):
                self.rejected[CONDITION] += 1
            else:
                features = (
                    completed.get((row["sentence"], word), parse_feats(feats))
                    for word, feats in zip(row["between"], row["between_feats"], strict=True)
                )
                values = (between.get(self.phenomenon.feature) for between in features)
                attractors = [to_unimorph(value) for value in values if value is not None]
                candidates.append((row, verb, attractors))
        return [item for candidate in candidates for item in self._items(*candidate)]

    def _items(self, row: Row, verb: dict[str, str], attractors: list[str]) -> list[Row]:
        surface = self.surfaces[row["sentence"]]
        unit = next(unit for unit in surface.units if row["replaced"] in unit.words)
        if len(unit.words) > 1:
            self.rejected[CONTRACTION] += 1
            return []
        lemma, features = row["lemma"].replace("_", ""), tuple(sorted(verb.items()))
        swaps, rejected = self.inflector.swaps(row["form"], lemma, features, row["subject_form"])
        self.rejected += rejected
        of_candidate = {
            "lang": self.lang,
            "phenomenon": self.phenomenon.name,
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
            "inflected_lemma": lemma,
            "inflected_feats": "|".join(f"{name}={value}" for name, value in features),
            "inflected_upos": row["upos"],
            "replaced_id": row["replaced"],
            "distance": row["distance"],
            "attractors": len(attractors),
            "attractor_values": attractors,
            "good_form": unit.text,
            **surface.origin,
        }
        items: dict[str, Row] = {}
        for swap in swaps:
            before, after = "|".join(swap.before), "|".join(swap.after)
            new = capitalised_like(swap.form, unit.text, not corrected(self.options, "capitals"))
            good, bad, start = surface.replace(row["replaced"], new)
            key = (self.lang, self.phenomenon.name, *surface.origin.values())
            labels = (
                self.labels.get((row["kind"], row["order"], value))
                or self.labels.get((BOTH_TYPES, row["order"], value))
                or "?"
                for value in swap.before
            )
            item = of_candidate | {
                "paradigm": f"{before}>{after}/{row['order']}/{row['kind']}",
                "grammatical": before,
                "ungrammatical": after,
                "values": f"{before} -> {after}",
                "label": "|".join(labels),
                "item_id": item_id(*key, row["subject"], start, good, bad),
                "good": good,
                "bad": bad,
                "good_start": start,
                "good_end": start + len(unit.text),
                "bad_start": start,
                "bad_end": start + len(new),
                "bad_form": new,
            }
            item["congruent_attractors"] = sum(value in swap.before for value in attractors)
            # Forms that differ in case alone can become the same sentence, or the good one.
            same = item["bad"] == item["good"] or item["item_id"] in items
            self.rejected[SAME_FORM] += same
            if not same:
                items[item["item_id"]] = item
                self.undecided += swap.undecided
        return [*items.values()]


def load_resources(
    rows: Sequence[Row], lexicon: pa.Table, construction: str, any_case: bool
) -> tuple[Resource, ...]:
    """Load both sources' entries for the words of a construction's candidates."""
    lemmas = spellings((row["lemma"].replace("_", "") for row in rows), any_case)
    subjects = spellings((row["subject_form"] for row in rows), any_case)
    return tuple(
        Resource(
            load_lexicon(lexicon, source, ("V",), "lemma", lemmas, construction == "sp"),
            load_lexicon(lexicon, source, CONTEXT_PARTS, "form", subjects),
        )
        for source in SOURCES
    )


def ways_of(options: MultiblimpOptions, lang: str) -> Ways:
    """Return the decisions of the options about swaps of a language."""
    moods = read_cells(Path(__file__).with_name("bound_moods.tsv"))
    return Ways(
        letter_case=corrected(options, "letter_case"),
        other_features=corrected(options, "other_features"),
        right_forms=corrected(options, "right_forms"),
        bound_moods=tuple(row["mood"] for row in moods if row["lang"] == lang),
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
    """Write every surviving pair of a language as ``items``; return the funnel's counts."""
    edges = read_table(CANDIDATES, candidates).to_pylist()
    numbers = pa.array(sorted({row["sentence"] for row in edges}), pa.int32())
    words = read_tokens(tokens, SURFACE_COLUMNS, special, options)
    words = words.filter(pc.is_in(words["sentence"], numbers))
    surfaces = load_surfaces(
        words, sentences, whole_contractions=corrected(options, "contractions")
    )
    entries, tests = read_table(LEXICON, lexicon), read_table(AGREEMENT, agreement).to_pylist()
    ways = ways_of(options, lang)
    counts: dict[str, dict[str, int]] = {}
    items: list[Row] = []
    for construction in ("sv", "sp"):
        rows = [row for row in edges if row["construction"] == construction]
        resources = load_resources(rows, entries, construction, ways.letter_case)
        for phenomenon in map(PHENOMENA.__getitem__, options.phenomena):
            if phenomenon.construction != construction:
                continue
            labels = {
                (row["verb_type"], row["order"], row["value"]): row["label"]
                for row in tests
                if row["phenomenon"] == phenomenon.name
            }
            inflector = Inflector(phenomenon.feature, resources, ways)
            builder = PairBuilder(lang, phenomenon, inflector, labels, surfaces, options)
            pairs = builder.build(rows)
            items += pairs
            reasons = (*ALL_REASONS, RIGHT) if ways.right_forms else ALL_REASONS
            dropped = {f"- {reason}": builder.rejected[reason] for reason in reasons}
            made = {"candidates": len(rows), **dropped, "pairs": len(pairs)}
            if ways.right_forms:
                made[UNDECIDED] = builder.undecided
            counts[f"pairs {phenomenon.name}"] = made
    write_rows(items, ITEM_SCHEMA, output)
    write_funnel(funnel, lang, counts)
    return counts
