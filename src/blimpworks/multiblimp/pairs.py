"""From candidates to minimal pairs: every other form of the agreeing word that survives.

Source: MultiBLiMP 1.0, sections 4.1 and 4.3.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pyarrow as pa

from blimpworks.config import MultiblimpOptions
from blimpworks.multiblimp.agreement import BOTH_TYPES, FEATURE_OF, load_resources
from blimpworks.multiblimp.conditions import meets_conditions
from blimpworks.multiblimp.decisions import corrected
from blimpworks.multiblimp.features import AGREEMENT_FEATURES, parse_feats, to_unimorph
from blimpworks.multiblimp.funnel import write_funnel
from blimpworks.multiblimp.surface import Surface, load_surfaces
from blimpworks.multiblimp.swaps import REASONS, Inflector, Swap
from blimpworks.tables import (
    AGREEMENT,
    CANDIDATES,
    INT,
    ITEMS,
    LABEL,
    LEXICON,
    STRING,
    read_table,
    write_table,
)

# Columns that MultiBLiMP adds to the items of every benchmark.
ITEM_SCHEMA = pa.schema(
    [
        *ITEMS.arrow(),
        ("grammatical", LABEL),
        ("ungrammatical", LABEL),
        ("order", LABEL),
        ("inflected", LABEL),
        ("label", LABEL),
        ("subject", STRING),
        ("good_form", STRING),
        ("bad_form", STRING),
        ("distance", INT),
        ("attractors", INT),
        ("congruent_attractors", INT),
        ("attractor_values", pa.list_(STRING)),
    ]
)


MISMATCH = "values differ in the treebank"
CONDITION = "against the language's conditions"
CONTRACTION = "inside a contraction"
ALL_REASONS = (MISMATCH, CONDITION, CONTRACTION, *REASONS)


@dataclass(frozen=True, slots=True)
class PairInputs:
    """Files that pairs are built from: one language's tables."""

    candidates: Path
    lexicon: Path
    agreement: Path
    tokens: Path
    sentences: Path


def adopt_features(verb: dict[str, str], subject: Mapping[str, str]) -> bool:
    """Give the verb the agreement features it lacks from its subject, in place.

    Returns False when both have one and differ: an annotation error or no agreement.
    """
    agreed = True
    for name in AGREEMENT_FEATURES:
        if name in subject:
            agreed &= verb.setdefault(name, subject[name]) == subject[name]
    return agreed


def item_id(*parts: object) -> str:
    """Content hash of a pair's defining parts: 16 hexadecimal digits."""
    return blake2b("\x1f".join(map(str, parts)).encode(), digest_size=8).hexdigest()


def capitalised_like(form: str, original: str) -> str:
    """A new form in the original's capitalisation; the authors lower-case the rest."""
    return form.capitalize() if original[:1].isupper() else form


@dataclass(slots=True)
class PairBuilder:
    """Builds the pairs of one phenomenon of one language."""

    lang: str
    phenomenon: str
    inflector: Inflector
    labels: dict[tuple[str, str, str], str]
    surfaces: dict[int, Surface]
    copies_linger: bool
    rejected: Counter[str] = field(default_factory=Counter)
    _verbs: dict[tuple[int, int], dict[str, str]] = field(default_factory=dict)

    def _features(self, row: dict[str, Any]) -> dict[str, str]:
        """The inflected word's features, with what earlier subjects of it left there.

        On a word that the treebank gives no features at all, nothing stays.
        """
        annotated = parse_feats(row["feats"])
        if not self.copies_linger or not annotated:
            return dict(annotated)
        word = row["verb"] if row["inflected_is_verb"] else row["inflected"]
        return self._verbs.setdefault((row["sentence"], word), dict(annotated))

    def build(self, row: dict[str, Any]) -> list[dict[str, Any]]:
        """The items of one candidate; what was rejected is counted."""
        verb = self._features(row)
        if not adopt_features(verb, parse_feats(row["subject_feats"])):
            self.rejected[MISMATCH] += 1
            return []
        if not meets_conditions(self.phenomenon, self.lang, verb):
            self.rejected[CONDITION] += 1
            return []
        surface = self.surfaces[row["sentence"]]
        if not surface.replaceable(row["replaced"]):
            self.rejected[CONTRACTION] += 1
            return []
        lemma = row["lemma"].replace("_", "")
        features = tuple(sorted(verb.items()))
        swaps, rejected = self.inflector.swaps(row["form"], lemma, features, row["subject_form"])
        self.rejected += rejected
        return [self._item(row, swap, surface) for swap in swaps]

    def _label(self, row: dict[str, Any], value: str) -> str:
        kinds = (row["kind"], BOTH_TYPES)
        found = (self.labels.get((kind, row["order"], value)) for kind in kinds)
        return next((label for label in found if label), "?")

    def _text(self, row: dict[str, Any], swap: Swap, surface: Surface) -> dict[str, Any]:
        """Both sentences, the critical region, and where the sentence comes from."""
        old = surface.form(row["replaced"])
        new = capitalised_like(swap.form, old)
        good, bad, start = surface.replace(row["replaced"], new)
        origin = {
            "treebank": surface.treebank,
            "file": surface.file,
            "sent_id": surface.sent_id,
        }
        return {
            "item_id": item_id(
                self.lang, self.phenomenon, *origin.values(), row["subject"], start, good, bad
            ),
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

    def _item(self, row: dict[str, Any], swap: Swap, surface: Surface) -> dict[str, Any]:
        """One pair; ``label`` has as many labels as ``grammatical`` has values."""
        before, after = "|".join(swap.before), "|".join(swap.after)
        attractors = [to_unimorph(value) for value in row["attractors"]]
        return {
            "lang": self.lang,
            "phenomenon": self.phenomenon,
            "paradigm": f"{before}>{after}/{row['order']}/{row['kind']}",
            "grammatical": before,
            "ungrammatical": after,
            "order": row["order"],
            "inflected": row["kind"],
            "label": "|".join(self._label(row, value) for value in swap.before),
            "subject": row["subject_form"],
            "distance": row["distance"],
            "attractors": len(attractors),
            "congruent_attractors": sum(value in swap.before for value in attractors),
            "attractor_values": attractors,
            **self._text(row, swap, surface),
        }


def _labels(agreement: list[dict[str, Any]], phenomenon: str) -> dict[tuple[str, str, str], str]:
    return {
        (row["verb_type"], row["order"], row["value"]): row["label"]
        for row in agreement
        if row["phenomenon"] == phenomenon
    }


def _read(paths: PairInputs) -> tuple[list[dict[str, Any]], pa.Table, list[dict[str, Any]]]:
    edges = read_table(CANDIDATES, paths.candidates).to_pylist()
    agreement = read_table(AGREEMENT, paths.agreement).to_pylist()
    return edges, read_table(LEXICON, paths.lexicon), agreement


def build_pairs(
    paths: PairInputs, lang: str, output: Path, funnel: Path, options: MultiblimpOptions
) -> dict[str, int]:
    """Write every surviving pair of a language as ``items``, and the stage's funnel.

    Returns the funnel's counts. Raises UserError when a table can't be read.
    """
    edges, lexicon, agreement = _read(paths)
    surfaces = load_surfaces(
        paths.tokens,
        paths.sentences,
        {row["sentence"] for row in edges},
        whole_contractions=corrected(options, "contractions"),
    )
    rejected: Counter[str] = Counter()
    items: list[dict[str, Any]] = []
    lemmas = frozenset(row["lemma"].replace("_", "") for row in edges)
    for phenomenon in options.phenomena:
        feature = FEATURE_OF[phenomenon]
        builder = PairBuilder(
            lang,
            phenomenon,
            Inflector(feature, load_resources(lexicon, feature, lemmas)),
            _labels(agreement, phenomenon),
            surfaces,
            copies_linger=not corrected(options, "copied_features"),
        )
        items += [i for row in edges if row["phenomenon"] == phenomenon for i in builder.build(row)]
        rejected += builder.rejected
    dropped = {f"- {reason}": rejected[reason] for reason in ALL_REASONS}
    counts = {"candidates": len(edges), **dropped, "pairs": len(items)}
    write_table(pa.Table.from_pylist(items, schema=ITEM_SCHEMA), ITEMS, output)
    write_funnel(funnel, lang, "pairs", counts)
    return counts
