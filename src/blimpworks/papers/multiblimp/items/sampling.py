"""Draw a balanced sample: at most so many pairs of each condition, the common ones less often.

Source: MultiBLiMP 1.0, section 4.4. The authors drew without a seed, so nobody can repeat their
selection; this one depends on the seed, the condition and the pairs alone.
"""

import heapq
import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from blimpworks.papers.multiblimp.settings import MultiblimpOptions, corrected
from blimpworks.papers.multiblimp.tables import ITEM_SCHEMA, write_funnel
from blimpworks.tables import ITEMS, read_table, write_rows

Item = dict[str, Any]
Condition = tuple[str, str, str, str, str]
"""Phenomenon, grammatical value, ungrammatical value, order, inflected word's kind."""

TOO_FEW = "- too few pairs of the phenomenon"
NO_AGREEMENT = "- no agreement"
AGAIN, NOWHERE = "+ in a further condition", "- in no condition"
ABOVE_LIMIT = "- above the condition's limit"


def conditions(items: Iterable[Item]) -> list[Condition]:
    """List conditions to sample, sorted: each pair of single values, in both word orders."""
    swaps = {
        (i["phenomenon"], i["grammatical"], i["ungrammatical"], i["inflected"])
        for i in items
        if "|" not in i["grammatical"] and "|" not in i["ungrammatical"]
    }
    return sorted((p, g, u, order, k) for p, g, u, k in swaps for order in ("SV", "VS"))


def members(items: Iterable[Item], condition: Condition, exact: bool = False) -> list[Item]:
    """Select pairs of a condition; without ``exact`` its values may be parts of others ("3IMP")."""
    phenomenon, grammatical, ungrammatical, order, inflected = condition
    return [
        item
        for item in items
        if (item["phenomenon"], item["order"], item["inflected"]) == (phenomenon, order, inflected)
        and grammatical in (item["grammatical"].split("|") if exact else item["grammatical"])
        and ungrammatical in (item["ungrammatical"].split("|") if exact else item["ungrammatical"])
    ]


def _traits(item: Item, published: bool) -> tuple[tuple[str, Any], ...]:
    """Return traits to balance; sentence and attractor presence are in the authors' code only."""
    incongruent = item["attractors"] - item["congruent_attractors"]
    traits = (
        ("subject", item["subject"]),
        ("verb", item["inflected_form"]),
        ("distance", item["distance"]),
        ("only congruent", item["attractors"] > 0 and incongruent == 0),
        ("only incongruent", item["attractors"] > 0 and item["congruent_attractors"] == 0),
    )
    more = (("has attractors", item["attractors"] > 0), ("sentence", item["good"]))
    return traits + more if published else traits


def weights(items: Sequence[Item], published: bool) -> list[float]:
    """Weigh each pair by one over the product of its traits' relative frequencies."""
    traits = [_traits(item, published) for item in items]
    counts = Counter(trait for pair_traits in traits for trait in pair_traits)
    return [math.prod(len(items) / counts[trait] for trait in of_pair) for of_pair in traits]


def draw(items: Sequence[Item], condition: Condition, options: MultiblimpOptions) -> list[Item]:
    """Draw at most ``per_condition`` pairs by weight, without replacement.

    Each pair gets the key log(u) / weight and the largest keys win: the same distribution as
    drawing one after another (Efraimidis and Spirakis 2006), whatever the order of the input.
    Returns the pairs in order of item_id, with their weight relative to all pairs of the condition.
    """
    settings = options.sampling
    weighted = weights(items, published=not corrected(options, "balance"))
    total = math.fsum(weighted)
    keyed = []
    for i, (item, weight) in enumerate(zip(items, weighted, strict=True)):
        text = f"{settings.seed}\x1f{condition}\x1f{item['item_id']}".encode()
        digest = int.from_bytes(blake2b(text, digest_size=8).digest())
        keyed.append((math.log((digest + 0.5) / 2**64) / weight, i))
    chosen = sorted(
        (i for _, i in heapq.nlargest(settings.per_condition, keyed)),
        key=lambda i: items[i]["item_id"],
    )
    return [{**items[i], "weight": weighted[i] / total} for i in chosen]


def sample(
    items: Sequence[Item], options: MultiblimpOptions, untested: Collection[str] = ()
) -> tuple[list[Item], dict[str, int]]:
    """Return the balanced selection, and counts of the dropped by reason.

    A pair that is a member of two conditions can be drawn in both, as in the release; corrected,
    only in the first that is kept. Conditions of an ``untested`` construction ("sv", "sp") count as
    undecided.
    """
    counts = dict.fromkeys(("pairs", AGAIN, NOWHERE, TOO_FEW, NO_AGREEMENT, ABOVE_LIMIT), 0)
    counts["pairs"] = len(items)
    sizes = Counter(item["phenomenon"] for item in items)
    once = corrected(options, "memberships")
    taken: set[str] = set()
    standing: Counter[int] = Counter()
    chosen: list[Item] = []
    for condition in conditions(items):
        inside = [i for i in members(items, condition, once) if i["item_id"] not in taken]
        standing.update(map(id, inside))
        labels = (
            labelled
            for i in inside
            for labelled in zip(i["grammatical"].split("|"), i["label"].split("|"), strict=True)
        )
        label = next((str(label) for value, label in labels if value == condition[1]), "?")
        label = "?" if condition[0][:2] in untested else label
        if sizes[condition[0]] < options.sampling.minimum:
            counts[TOO_FEW] += len(inside)
        elif label == "-":
            counts[NO_AGREEMENT] += len(inside)
        else:
            taken |= {item["item_id"] for item in inside} if once else set()
            _, grammatical, ungrammatical, order, inflected = condition
            # Seen as a pair of the condition, its attractors agree with that one value or not.
            seen = {
                "paradigm": f"{grammatical}>{ungrammatical}/{order}/{inflected}",
                "grammatical": grammatical,
                "ungrammatical": ungrammatical,
                "label": label,
            }
            inside = [
                {**i, **seen, "congruent_attractors": i["attractor_values"].count(grammatical)}
                for i in inside
            ]
            drawn = draw(inside, condition, options)
            counts[ABOVE_LIMIT] += len(inside) - len(drawn)
            chosen += drawn
    counts[AGAIN] = standing.total() - len(standing)
    counts[NOWHERE] = len(items) - len(standing)
    return chosen, {**counts, "items": len(chosen)}


def sample_items(
    pairs: Path,
    lang: str,
    untested: Collection[str],
    output: Path,
    funnel: Path,
    options: MultiblimpOptions,
) -> dict[str, int]:
    """Write the sampled ``items`` of a language; return the funnel's counts."""
    lost = () if corrected(options, "lost_statistics") else untested
    items, counts = sample(read_table(ITEMS, pairs).to_pylist(), options, lost)
    write_rows(items, ITEM_SCHEMA, output)
    write_funnel(funnel, lang, {"sampling": counts})
    return counts
