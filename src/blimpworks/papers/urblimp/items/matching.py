"""Where a pattern holds in a tree."""

from collections.abc import Iterator, Mapping, Sequence

from blimpworks.papers.urblimp.items.patterns import Comparison, Edge, Order, Pattern
from blimpworks.papers.urblimp.items.trees import Tree

Match = Mapping[str, int]
"""Indices of words by the names that a pattern gives them."""


def _edge_holds(edge: Edge, tree: Tree, found: Match) -> bool:
    child = tree.words[found[edge.child]]
    return child.head == found[edge.head] and edge.allows(child.relation)


def _order_holds(order: Order, found: Match) -> bool:
    distance = found[order.second] - found[order.first]
    return distance == 1 if order.adjacent else distance > 0


def _comparison_holds(comparison: Comparison, tree: Tree, found: Match) -> bool:
    pair = (comparison.first, comparison.second)
    first, second = (tree.words[found[node]].features.get(name) for node, name in pair)
    return first is not None and second is not None and (first == second) == comparison.equal


def _relations_hold(pattern: Pattern, tree: Tree, found: Match, node: str) -> bool:
    """Whether what the pattern says of a node and of others found before it holds."""

    def decided(*names: str) -> bool:
        """Whether all these nodes are found, the new one among them."""
        return node in names and all(name in found for name in names)

    return (
        all(_edge_holds(e, tree, found) for e in pattern.edges if decided(e.head, e.child))
        and all(_order_holds(o, found) for o in pattern.orders if decided(o.first, o.second))
        and all(
            _comparison_holds(c, tree, found)
            for c in pattern.comparisons
            if decided(c.first[0], c.second[0])
        )
    )


def _places(pattern: Pattern, tree: Tree, found: Match, node: str) -> Sequence[int]:
    """Where a node can be: at an edge's other end if that is found, or else anywhere."""
    for edge in pattern.edges:
        if edge.child == node and edge.head in found:
            return tree.children.get(found[edge.head], ())
        if edge.head == node and edge.child in found:
            return [head] if (head := tree.words[found[edge.child]].head) >= 0 else []
    return range(len(tree.words))


def _extend(
    pattern: Pattern, tree: Tree, found: dict[str, int], left: Sequence[str]
) -> Iterator[Match]:
    if not left:
        yield dict(found)
        return
    node, *rest = left
    features = pattern.nodes[node]
    for index in _places(pattern, tree, found, node):
        word = tree.words[index]
        if index in found.values() or not all(f.holds(word.features) for f in features):
            continue
        found[node] = index
        if _relations_hold(pattern, tree, found, node):
            yield from _extend(pattern, tree, found, rest)
        del found[node]


def matches(pattern: Pattern, tree: Tree, known: Match | None = None) -> Iterator[Match]:
    """Each way in which distinct words fulfil a pattern, in the order of the words.

    ``known`` fixes the words that some names of the pattern stand for; they too must have the
    features that the pattern asks for.
    """
    found = dict(known or {})
    for name in pattern.nodes:
        if name not in found:
            continue
        word = tree.words[found[name]]
        if not all(feature.holds(word.features) for feature in pattern.nodes[name]):
            return
        if not _relations_hold(pattern, tree, found, name):
            return
    yield from _extend(pattern, tree, found, [name for name in pattern.nodes if name not in found])


def holds(pattern: Pattern, tree: Tree, known: Match) -> bool:
    """Whether a pattern holds in a tree, of some words that are known."""
    return next(matches(pattern, tree, known), None) is not None
