import pytest
from hypothesis import given
from hypothesis import strategies as st

from blimpworks.papers.multiblimp.items.sampling import (
    Condition,
    compute_weights,
    draw_pairs,
    list_conditions,
    sample_pairs,
    select_pairs,
)
from blimpworks.papers.multiblimp.settings import MultiblimpOptions, SamplingOptions

PUBLISHED = MultiblimpOptions()


def sampling(**settings):
    return MultiblimpOptions(sampling=SamplingOptions(**settings))


def item(number, before="SG", after="PL", order="SV", kind="verb", **changes):
    values = changes.pop("attractor_values", [])
    labels = "|".join("+" for _ in before.split("|"))
    condition = {"phenomenon": "sv#", "grammatical": before, "ungrammatical": after}
    condition |= {"order": order, "inflected": kind, "label": labels}
    words = {"subject": "dog", "inflected_form": "sings", "good": f"sentence {number}"}
    between = {"distance": 1, "attractors": len(values), "attractor_values": values}
    between |= {"congruent_attractors": 0}
    return {"item_id": f"{number:016x}"} | condition | words | between | changes


def test_a_condition_needs_a_pair_with_single_values_in_either_order():
    items = [item(1), item(2, "SG|DU", order="VS"), item(3, "PL", "DU|SG", kind="aux")]
    assert list_conditions(items) == [("sv#", "SG", "PL", order, "verb") for order in ("SV", "VS")]


def test_a_pair_with_several_values_is_in_each_of_their_conditions():
    items = [item(1, "SG", "PL"), item(2, "SG", "DU"), item(3, "SG", "DU|PL")]
    sizes = {c[2]: len(select_pairs(items, c)) for c in list_conditions(items) if c[3] == "SV"}
    assert sizes == {"PL": 2, "DU": 2}
    chosen, _ = sample_pairs(items * 2, PUBLISHED)
    drawn = {c["paradigm"] for c in chosen if c["item_id"].endswith("3")}
    assert drawn == {"SG>PL/SV/verb", "SG>DU/SV/verb"}


def test_corrected_a_value_is_no_part_of_another():
    condition = Condition("svP", "3", "1", "SV", "verb")
    pair = item(1, "3IMP", "1", phenomenon="svP")
    assert select_pairs([pair], condition) == [pair]
    assert select_pairs([pair], condition, exact=True) == []


def test_a_drawn_pair_is_labelled_and_its_attractors_judged_by_the_conditions_value():
    several = item(9, "DU|SG", label="?|+", attractor_values=["DU", "SG", "SG"])
    chosen, _ = sample_pairs([*(item(n) for n in range(5)), several], PUBLISHED)
    (drawn,) = (c for c in chosen if c["item_id"].endswith("9"))
    assert (drawn["grammatical"], drawn["label"], drawn["congruent_attractors"]) == ("SG", "+", 2)


def test_each_phenomenon_is_counted_for_itself():
    few = [item(n, "3", "1", phenomenon="svP") for n in range(4)]
    many = [item(10 + n) for n in range(5)]
    chosen, counts = sample_pairs(few + many, PUBLISHED)
    assert {c["phenomenon"] for c in chosen} == {"sv#"}
    assert counts["- too few pairs of the phenomenon"] == 4


VALUES = st.sampled_from(["SG", "PL", "DU", "PL|SG", "DU|PL"])
ORDERS, SIGNS = st.sampled_from(["SV", "VS"]), st.sampled_from("+~?-")
ITEMS = st.lists(st.tuples(VALUES, VALUES, ORDERS, SIGNS), max_size=30)


@pytest.mark.parametrize("memberships", ["published", "corrected"])
@given(ITEMS, st.integers(1, 10))
def test_the_funnel_adds_up(memberships, traits, limit):
    items = [
        item(n, before, after, order, label="|".join(label for _ in before.split("|")))
        for n, (before, after, order, label) in enumerate(traits)
    ]
    options = MultiblimpOptions(
        sampling=SamplingOptions(per_condition=limit), decisions={"memberships": memberships}
    )
    chosen, counts = sample_pairs(items, options)
    signs = {"+": 1, "-": -1}
    changes = sum(signs[name[0]] * n for name, n in counts.items() if name[0] in signs)
    assert counts["pairs"] + changes == counts["items"] == len(chosen)
    assert all(n >= 0 for n in counts.values())
    if memberships == "corrected":
        assert len({c["item_id"] for c in chosen}) == len(chosen)


def test_weights_are_inverse_products_of_relative_frequencies():
    items = [item(1), item(2), item(3, subject="cat")]
    assert compute_weights(items, published=True) == pytest.approx([3 / 2 * 3, 3 / 2 * 3, 3 * 3])
    # Both have attractors that all agree or all disagree.
    between = ((0, 0), (2, 2), (2, 1), (1, 0))
    items = [
        item(number, attractors=n, congruent_attractors=congruent)
        for number, (n, congruent) in enumerate(between)
    ]
    rare, common = 4 / 1, 4 / 3
    sentence, has_none, has_some = 4 / 1, 4 / 1, 4 / 3
    weights = [has_none * common * common, has_some * rare * common]
    weights += [has_some * common * common, has_some * common * rare]
    expected = pytest.approx([sentence * weight for weight in weights])
    assert compute_weights(items, published=True) == expected


SUBJECTS = st.lists(st.sampled_from(["dog", "cat", "owl"]), min_size=5, max_size=40)


@given(SUBJECTS, st.integers(1, 20), st.integers(), st.randoms(use_true_random=False))
def test_a_draw_is_seeded_limited_and_blind_to_order(subjects, limit, seed, chance):
    options = sampling(per_condition=limit, seed=seed)
    items = [item(n, subject=s, distance=n % 3) for n, s in enumerate(subjects)]
    condition = list_conditions(items)[0]
    drawn = draw_pairs(items, condition, options)
    assert len(drawn) == min(limit, len(items))
    shuffled = items[:]
    chance.shuffle(shuffled)
    assert draw_pairs(shuffled, condition, options) == drawn
    assert len({d["item_id"] for d in drawn}) == len(drawn)


@given(SUBJECTS)
def test_conditions_draw_independently(subjects):
    options = sampling(per_condition=5)
    singular = [item(n) for n in range(20)]
    plural = [item(100 + n, "PL", "SG", subject=s) for n, s in enumerate(subjects)]

    def of_singular(chosen):
        return [c for c in chosen if c["grammatical"] == "SG"]

    alone, _ = sample_pairs(singular, options)
    together, _ = sample_pairs(singular + plural, options)
    assert of_singular(together) == of_singular(alone)


def test_rare_traits_are_drawn_more_often():
    rare = 0
    for seed in range(200):
        items = [item(n, subject="dog" if n < 19 else "cat", good="same") for n in range(20)]
        options = sampling(per_condition=1, seed=seed)
        rare += draw_pairs(items, list_conditions(items)[0], options)[0]["subject"] == "cat"
    assert 70 < rare < 130  # one in twenty without weights, one in two with them
