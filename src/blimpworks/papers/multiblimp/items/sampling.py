"""Draw a balanced sample of pairs from each condition; common traits are drawn less often.

Reads all pairs of a language; writes the drawn ones, and counts of the others by reason. Source:
MultiBLiMP 1.0, section 4.4. The authors drew without a seed, so their selection cannot be
repeated. This one depends only on the seed, the condition and the pairs.
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
"""Phenomenon, grammatical value, ungrammatical value, order, and type of the inflected word."""

TOO_FEW = "- too few pairs of the phenomenon"
NO_AGREEMENT = "- no agreement"
AGAIN, NOWHERE = "+ in a further condition", "- in no condition"
ABOVE_LIMIT = "- above the condition's limit"


def conditions(items: Iterable[Item]) -> list[Condition]:
    """List the conditions to sample, sorted: each pair of single values, in both word orders."""
    found: set[Condition] = set()
    for item in items:
        phenomenon, inflected = item["phenomenon"], item["inflected"]
        grammatical, ungrammatical = item["grammatical"], item["ungrammatical"]
        if "|" not in grammatical + ungrammatical:  # a form with several values is no condition
            for order in ("SV", "VS"):
                found.add((phenomenon, grammatical, ungrammatical, order, inflected))
    return sorted(found)


def members(items: Iterable[Item], condition: Condition, exact: bool = False) -> list[Item]:
    """Select the pairs of a condition; unless ``exact``, values may be parts of others ("3IMP")."""
    phenomenon, grammatical, ungrammatical, order, inflected = condition
    inside = []
    for item in items:
        good, bad = item["grammatical"], item["ungrammatical"]
        if exact:
            good, bad = good.split("|"), bad.split("|")
        same = (item["phenomenon"], item["order"], item["inflected"])
        if same == (phenomenon, order, inflected) and grammatical in good and ungrammatical in bad:
            inside.append(item)
    return inside


def _traits(item: Item, published: bool) -> tuple[tuple[str, Any], ...]:
    """Return traits to balance; two more than in the paper are in the authors' code."""
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
    """Return each pair's weight: one over the product of its traits' relative frequencies."""
    traits = [_traits(item, published) for item in items]
    counts = Counter(trait for pair_traits in traits for trait in pair_traits)
    return [math.prod(len(items) / counts[trait] for trait in of_pair) for of_pair in traits]


def draw(items: Sequence[Item], condition: Condition, options: MultiblimpOptions) -> list[Item]:
    """Draw at most ``per_condition`` pairs by weight, without replacement.

    Each pair gets the key log(u) / weight, and the pairs with the largest keys are drawn. This has
    the distribution of drawing one after another (Efraimidis and Spirakis 2006), whatever the order
    of the input. Returns the pairs in order of item_id, with their share of the condition's weight.
    """
    settings = options.sampling
    weighted = weights(items, published=not corrected(options, "balance"))
    total = math.fsum(weighted)
    keyed = []
    for i, (item, weight) in enumerate(zip(items, weighted, strict=True)):
        # A hash stands for the random u, so that the draw does not depend on other pairs.
        text = f"{settings.seed}\x1f{condition}\x1f{item['item_id']}".encode()
        digest = int.from_bytes(blake2b(text, digest_size=8).digest())
        keyed.append((math.log((digest + 0.5) / 2**64) / weight, i))
    drawn = [i for _, i in heapq.nlargest(settings.per_condition, keyed)]
    drawn.sort(key=lambda i: items[i]["item_id"])
    return [{**items[i], "weight": weighted[i] / total} for i in drawn]


def sample(
    items: Sequence[Item], options: MultiblimpOptions, untested: Collection[str] = ()
) -> tuple[list[Item], dict[str, int]]:
    """Return the balanced selection, and the number of dropped pairs by reason.

    As in the release, a pair of two conditions can be drawn in both. When corrected, it is drawn
    only in the first that is kept. The conditions of an ``untested`` construction ("sv", "sp")
    count as undecided.
    """
    counts = dict.fromkeys(("pairs", AGAIN, NOWHERE, TOO_FEW, NO_AGREEMENT, ABOVE_LIMIT), 0)
    counts["pairs"] = len(items)
    sizes = Counter(item["phenomenon"] for item in items)
    once = corrected(options, "memberships")
    taken: set[str] = set()
    memberships: Counter[int] = Counter()
    chosen: list[Item] = []
    for condition in conditions(items):
        inside = [item for item in members(items, condition, once) if item["item_id"] not in taken]
        memberships.update(map(id, inside))
        phenomenon, grammatical, ungrammatical, order, inflected = condition
        label = "?"
        for item in inside if phenomenon[:2] not in untested else ():
            pairs = zip(item["grammatical"].split("|"), item["label"].split("|"), strict=True)
            label_of = dict(pairs)
            if grammatical in label_of:
                label = label_of[grammatical]
                break
        if sizes[phenomenon] < options.sampling.minimum:
            counts[TOO_FEW] += len(inside)
        elif label == "-":
            counts[NO_AGREEMENT] += len(inside)
        else:
            taken |= {item["item_id"] for item in inside} if once else set()
            # Attractors agree or not with the condition's value, whatever others the pair has.
            changed = {
                "paradigm": f"{grammatical}>{ungrammatical}/{order}/{inflected}",
                "grammatical": grammatical,
                "ungrammatical": ungrammatical,
                "label": label,
            }
            for position, item in enumerate(inside):
                congruent = item["attractor_values"].count(grammatical)
                inside[position] = {**item, **changed, "congruent_attractors": congruent}
            drawn = draw(inside, condition, options)
            counts[ABOVE_LIMIT] += len(inside) - len(drawn)
            chosen += drawn
    counts[AGAIN] = memberships.total() - len(memberships)
    counts[NOWHERE] = len(items) - len(memberships)
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
