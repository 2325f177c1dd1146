"""Draw a balanced sample of a language's minimal pairs, at most 100 for each condition.

``sample_items`` reads the table of all pairs of a language. It writes the drawn pairs (the items of
the benchmark), and the funnel: counts of the other pairs by reason. A condition is a contrast:

    phenomenon  grammatical  ungrammatical  order  inflected
    sv#         SG           PL             SV     verb       She often sings. / She often sing.

Pairs with common traits, such as a frequent verb, get a low weight and are drawn less often. A pair
of a form with several values ("SG|DU") can belong to the condition of each value.
Source: MultiBLiMP 1.0, section 4.4. The authors drew without a seed, so their sample cannot be
repeated. Our sample depends only on the seed, the condition and the pairs.
"""

import heapq
import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from blimpworks.papers.multiblimp.settings import MultiblimpOptions, corrected
from blimpworks.papers.multiblimp.tables import ITEM_SCHEMA, write_funnel
from blimpworks.tables import ITEMS, read_table, write_rows

PairRow = dict[str, Any]
"""A row of the table of pairs; several values of one form are joined by "|", as in "SG|DU"."""


class Condition(NamedTuple):
    """Contrast of two values of the agreement feature, in one word order and type of word."""

    phenomenon: str
    grammatical: str
    ungrammatical: str
    order: str
    inflected: str
    """Type of the word that agrees: verb, aux or ptcp."""


def list_conditions(pairs: Iterable[PairRow]) -> list[Condition]:
    """List the conditions to sample, sorted: each contrast of single values, in both orders."""
    conditions: set[Condition] = set()
    for pair in pairs:
        values = (pair["grammatical"], pair["ungrammatical"])
        # Only single values make a condition: "SG|DU" is sampled with "SG" and with "DU".
        if not any("|" in value for value in values):
            for order in ("SV", "VS"):
                conditions.add(Condition(pair["phenomenon"], *values, order, pair["inflected"]))
    return sorted(conditions)


def select_pairs(
    pairs: Iterable[PairRow], condition: Condition, exact: bool = False
) -> list[PairRow]:
    """Select the pairs of a condition.

    Unless ``exact``, a pair with the value "3IMP" also belongs to the conditions of "3", because
    the authors' code looks for "3" in its text.
    """
    selected = []
    for pair in pairs:
        # "3" in "3IMP" is true of texts; in lists, only whole values are found.
        good, bad = pair["grammatical"], pair["ungrammatical"]
        if exact:
            good, bad = good.split("|"), bad.split("|")
        has_values = condition.grammatical in good and condition.ungrammatical in bad
        traits = (pair["phenomenon"], pair["order"], pair["inflected"])
        if has_values and traits == (condition.phenomenon, condition.order, condition.inflected):
            selected.append(pair)
    return selected


def compute_weights(pairs: Sequence[PairRow], published: bool) -> list[float]:
    """Compute each pair's weight: one over the product of its traits' relative frequencies.

    ``pairs`` are those of one condition. A subject of half of the pairs has the frequency 0.5, and
    thus doubles the weight.
    """
    traits_of_pairs = []
    for pair in pairs:
        attractors, congruent = pair["attractors"], pair["congruent_attractors"]
        traits = [
            ("subject", pair["subject"]),
            ("verb", pair["inflected_form"]),
            ("distance", pair["distance"]),
            ("only congruent", attractors > 0 and congruent == attractors),
            ("only incongruent", attractors > 0 and congruent == 0),
        ]
        if published:  # The authors' code adds two traits to the paper's.
            traits += [("has attractors", attractors > 0), ("sentence", pair["good"])]
        traits_of_pairs.append(traits)
    counts = Counter(trait for traits in traits_of_pairs for trait in traits)
    return [math.prod(len(pairs) / counts[trait] for trait in traits) for traits in traits_of_pairs]


def draw_pairs(
    pairs: Sequence[PairRow], condition: Condition, options: MultiblimpOptions
) -> list[PairRow]:
    """Draw at most ``per_condition`` of a condition's pairs by weight, without replacement.

    Each pair gets the key log(u) / weight, where u is random; the pairs with the largest keys are
    drawn. This equals drawing one after another (Efraimidis and Spirakis 2006), in any order of the
    input. Returns the pairs, sorted by item_id; ``weight`` is a share of the condition's weight.
    """
    weights = compute_weights(pairs, published=not corrected(options, "balance"))
    total = math.fsum(weights)
    keys: list[tuple[float, int]] = []  # (key, index of the pair)
    for i, (pair, weight) in enumerate(zip(pairs, weights, strict=True)):
        # A hash is used as the random u, so that the draw does not depend on other pairs.
        text = f"{options.sampling.seed}\x1f{tuple(condition)}\x1f{pair['item_id']}".encode()
        digest = int.from_bytes(blake2b(text, digest_size=8).digest())
        keys.append((math.log((digest + 0.5) / 2**64) / weight, i))
    drawn = [i for _, i in heapq.nlargest(options.sampling.per_condition, keys)]
    drawn.sort(key=lambda i: pairs[i]["item_id"])
    return [{**pairs[i], "weight": weights[i] / total} for i in drawn]


# Lines of the funnel: "-" counts pairs that are left out, "+" pairs that are counted again.
TOO_FEW = "- too few pairs of the phenomenon"
NO_AGREEMENT = "- no agreement"
AGAIN, NOWHERE = "+ in a further condition", "- in no condition"
ABOVE_LIMIT = "- above the condition's limit"


def sample_pairs(
    pairs: Sequence[PairRow], options: MultiblimpOptions, untested: Collection[str] = ()
) -> tuple[list[PairRow], dict[str, int]]:
    """Return the balanced sample, and the numbers of pairs for the funnel, keyed by reason.

    As in the release, a pair of two conditions can be drawn in both. When corrected, it is drawn
    only in the first condition that is kept. ``untested`` are constructions ("sv", "sp"): the
    label of their conditions is "?" (undecided), so none is dropped for lack of agreement.
    """
    counts = dict.fromkeys(("pairs", AGAIN, NOWHERE, TOO_FEW, NO_AGREEMENT, ABOVE_LIMIT), 0)
    counts["pairs"] = len(pairs)
    phenomenon_sizes = Counter(pair["phenomenon"] for pair in pairs)
    only_once = corrected(options, "memberships")
    used_ids: set[str] = set()
    # {id() of a pair: number of its conditions}, because rows that are dicts cannot be keys.
    condition_counts: Counter[int] = Counter()
    sample: list[PairRow] = []
    for condition in list_conditions(pairs):
        selected = select_pairs(pairs, condition, exact=only_once)
        members = [pair for pair in selected if pair["item_id"] not in used_ids]
        condition_counts.update(map(id, members))
        phenomenon, grammatical, ungrammatical, order, inflected = condition
        # The first pair with a value decides on its label: in reverse, it replaces all later ones.
        labels: dict[str, str] = {}  # {value: label}
        for pair in reversed(members):
            labels |= zip(pair["grammatical"].split("|"), pair["label"].split("|"), strict=True)
        label = "?" if phenomenon[:2] in untested else labels.get(grammatical, "?")
        if phenomenon_sizes[phenomenon] < options.sampling.minimum:
            counts[TOO_FEW] += len(members)
            continue
        if label == "-":
            counts[NO_AGREEMENT] += len(members)
            continue
        if only_once:
            used_ids.update(pair["item_id"] for pair in members)

        # From here on, a pair with several values has only the condition's values.
        of_condition = {
            "paradigm": f"{grammatical}>{ungrammatical}/{order}/{inflected}",
            "grammatical": grammatical,
            "ungrammatical": ungrammatical,
            "label": label,
        }
        for position, pair in enumerate(members):
            congruent = pair["attractor_values"].count(grammatical)
            members[position] = {**pair, **of_condition, "congruent_attractors": congruent}
        drawn = draw_pairs(members, condition, options)
        counts[ABOVE_LIMIT] += len(members) - len(drawn)
        sample += drawn
    counts[AGAIN] = condition_counts.total() - len(condition_counts)
    counts[NOWHERE] = len(pairs) - len(condition_counts)
    return sample, {**counts, "items": len(sample)}


def sample_items(
    pairs: Path,
    lang: str,
    untested: Collection[str],
    output: Path,
    funnel: Path,
    options: MultiblimpOptions,
) -> dict[str, int]:
    """Write a language's sampled items and the funnel; return the funnel's counts."""
    if corrected(options, "lost_statistics"):
        untested = ()
    items, counts = sample_pairs(read_table(ITEMS, pairs).to_pylist(), options, untested)
    write_rows(items, ITEM_SCHEMA, output)
    write_funnel(funnel, lang, {"sampling": counts})
    return counts
