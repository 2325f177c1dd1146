"""Prefix trees of token sequences, and rows in which a causal model computes each node once.

Sentences of a benchmark made from templates share most of their beginnings. In the tree of
all sequences a prefix is one path, however many sentences begin with it, and the hidden state
that a causal model has at a node depends on that path alone. A row holds a stretch of the
tree in depth-first order, with the ancestors that lie before the stretch repeated at its
front: each node then attends to its ancestors and itself, at the position that its depth is.
A node that nothing follows has no part in it, for its own log-probability is read from its
parent.

For models that carry a state from a token to the next, ``runs`` gives the tree level by level:
the state after a node depends on its path alone and is made from the state after its parent, so
all inner nodes of one depth can be computed in one step, each once, from the states of the depth
before, which are not needed afterwards.

Nothing but numpy: a model comes in elsewhere (``passes``, ``decoder``).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int32]
Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Trie:
    """A prefix tree (a forest where first tokens differ), nodes in depth-first order.

    ``token``, ``parent`` (-1 for a first token), ``depth`` (0 for a first token), ``end``
    (first node after those below it) [nodes]; ``paths`` [tokens]: node of each token of each
    sequence, one after another in the order they came.
    """

    token: Numbers
    parent: Numbers
    depth: Numbers
    end: Numbers
    paths: Numbers


def rectangle(flat: Ids | Numbers, lengths: Numbers) -> tuple[Numbers, Mask]:
    """Rows [sequences, longest] of sequences given one after another, and where they have tokens.

    ``flat`` [tokens]; padded with 0 on the right.
    """
    width = int(lengths.max(initial=0))
    real = np.arange(width) < lengths[:, None]
    rows = np.zeros(real.shape, dtype=np.int64)
    rows[real] = flat
    return rows, real


def sorted_numbers(flat: Ids, lengths: Numbers) -> Numbers:
    """Order [sequences] of the sequences by their ids, a beginning before what continues it."""
    content = flat.astype(">u4").tobytes()  # compares as the numbers do
    bounds = [0, *(4 * np.cumsum(lengths)).tolist()]
    keys = [content[a:b] for a, b in pairwise(bounds)]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)


def _shared(rows: Numbers, real: Mask) -> Numbers:
    """How many first tokens each row has in common with the one before it."""
    differ = np.ones((len(rows), rows.shape[1] + 1), dtype=bool)
    differ[1:, :-1] = (rows[1:] != rows[:-1]) | ~real[1:] | ~real[:-1]
    differ[:1, 0] = True
    lengths: Numbers = differ.argmax(axis=1)
    return lengths


def _ends(node: Numbers, real: Mask, new: Mask) -> Numbers:
    """First node after those below each node; ``node`` [sequences, longest], sorted."""
    # A node's last sequence is the one before which the next brings a new node at its depth.
    last = real.copy()
    last[:-1] &= new[1:] | ~real[1:]
    rows, columns = np.nonzero(last)
    ends = np.empty(new.sum(), dtype=np.int64)
    ends[node[rows, columns]] = np.cumsum(new.sum(axis=1))[rows]
    return ends


def build_trie(flat: Ids, lengths: Numbers, *, merge: bool = True) -> Trie:
    """The prefix tree of sequences, given one after another.

    ``flat`` [tokens]: their ids, none negative; ``lengths`` [sequences]; they may repeat or
    be empty. Nodes, and so all that is computed from them, do not depend on their order.
    Without ``merge`` none but equal sequences have a path in common.
    """
    order = sorted_numbers(flat, lengths)
    arrived, there = rectangle(flat, lengths)
    rows, real = arrived[order], there[order]
    columns = np.arange(rows.shape[1])
    shared = _shared(rows, real)
    if not merge:
        counts = real.sum(axis=1)
        shared[shared < np.maximum(counts, np.roll(counts, 1))] = 0
    new = real & (columns >= shared[:, None])
    # A node is found again below the row that brought it, up to where rows part.
    node = np.where(new, np.cumsum(new).reshape(new.shape) - 1, -1)
    node = np.maximum.accumulate(node, axis=0)
    before = np.column_stack([np.full(len(node), -1, dtype=np.int64), node])[:, :-1]
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return Trie(
        token=rows[new],
        parent=before[new],
        depth=np.broadcast_to(columns, new.shape)[new],
        end=_ends(node, real, new),
        paths=node[place][there],
    )


@dataclass(frozen=True, slots=True)
class Plan:
    """What of a tree is computed, in which rows, and where its log-probabilities are read.

    Inner nodes are those that something follows, numbered in depth-first order.

    ``token``, ``depth``, ``end`` (first number after those below it) [inner nodes];
    ``cells`` [rows, width]: number of an inner node, -1 for padding; ``first`` [rows + 1]:
    the numbers ``first[r]`` to ``first[r + 1]`` are read from row r, and what stands before
    them in the row only repeats their ancestors; ``edge_node`` [edges]: nodes of the tree
    that have a parent, by parent; ``edge_parent`` [edges]: the parent's number, rising.
    """

    token: Numbers
    depth: Numbers
    end: Numbers
    cells: Numbers
    first: Numbers
    edge_node: Numbers
    edge_parent: Numbers

    @property
    def owned(self) -> Mask:
        """Cells [rows, width] that hold what is read from their row."""
        return self.cells >= self.first[:-1, None]


def _cut(depth: Numbers, start: int, width: int) -> int:
    """Where the stretch from ``start`` ends: it fills a row of ``width``, or nearly so.

    The next row repeats as many ancestors as its first node has; cutting a little earlier
    can cost less than that.
    """
    full = start + width - int(depth[start])
    if full >= len(depth):
        return len(depth)
    candidates = np.arange(max(start + 1, full - width // 4), full + 1)
    waste = full - candidates + depth[candidates]
    return int(candidates[len(waste) - 1 - waste[::-1].argmin()])


def _row(parent: list[int], start: int, stop: int) -> list[int]:
    """Ancestors of inner node ``start``, then the numbers up to ``stop``."""
    path = []
    node = parent[start]
    while node >= 0:
        path.append(node)
        node = parent[node]
    return [*path[::-1], *range(start, stop)]


def plan_rows(trie: Trie, width: int) -> Plan:
    """Inner nodes of ``trie`` in rows of at most ``width``, or as long as the longest path."""
    inner = np.zeros(len(trie.token), dtype=bool)
    linked = np.flatnonzero(trie.parent >= 0)
    inner[trie.parent[linked]] = True
    below = np.concatenate([[0], np.cumsum(inner)])
    number = below[:-1]
    depth = trie.depth[inner]
    width = max(width, int(depth.max(initial=0)) + 1)
    upwards = trie.parent[inner]
    parent = np.where(upwards >= 0, number[upwards], -1).tolist()
    first, rows = [0], []
    while first[-1] < len(depth):
        first.append(_cut(depth, first[-1], width))
        rows.append(_row(parent, *first[-2:]))
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    cells, real = rectangle(np.array([n for row in rows for n in row], dtype=np.int64), lengths)
    edges = linked[np.argsort(trie.parent[linked], kind="stable")]
    return Plan(
        token=trie.token[inner],
        depth=depth,
        end=below[trie.end[inner]],
        cells=np.where(real, cells, -1),
        first=np.array(first, dtype=np.int64),
        edge_node=edges,
        edge_parent=number[trie.parent[edges]],
    )


@dataclass(frozen=True, slots=True)
class Run:
    """Inner nodes of one depth, or of several between which no path branches, begins or ends.

    ``token`` [steps, nodes]: columns are paths downwards; ``parent`` [nodes]: the column, in
    the last step of the run before, of what stands before the first step (0 at the top,
    where that is the one state of nothing read); ``edge_node`` [edges]: nodes of the tree
    that follow on one of the cells; ``edge_parent`` [edges]: number of that cell, row by
    row, never falling.
    """

    token: Numbers
    parent: Numbers
    edge_node: Numbers
    edge_parent: Numbers

    def goes_on(self, before: "Run") -> bool:
        """Whether the paths of the run before go on here one to one."""
        return np.array_equal(self.parent, np.arange(before.token.shape[1]))


def _levels(trie: Trie) -> Iterator[Run]:
    """Inner nodes of each depth, in depth-first order."""
    by_depth = np.argsort(trie.depth, kind="stable")
    above = np.empty(0, dtype=np.int64)
    for start, stop in pairwise(np.cumsum(np.bincount(trie.depth)).tolist()):
        below = by_depth[start:stop]
        nodes, edge_parent = np.unique(trie.parent[below], return_inverse=True)
        parent = np.searchsorted(above, trie.parent[nodes])
        yield Run(trie.token[nodes][None], parent, below, edge_parent)
        above = nodes


def _joined(levels: list[Run]) -> Run:
    """Levels of which each but the first goes on from the one before."""
    width = levels[0].token.shape[1]
    return Run(
        token=np.concatenate([level.token for level in levels]),
        parent=levels[0].parent,
        edge_node=np.concatenate([level.edge_node for level in levels]),
        edge_parent=np.concatenate([n * width + e.edge_parent for n, e in enumerate(levels)]),
    )


def runs(trie: Trie, most: int) -> Iterator[Run]:
    """All inner nodes of ``trie`` from the top downwards.

    A run of several steps has at most ``most`` cells; one depth alone may have more nodes.
    Joining steps matters for long texts: a model takes a sequence faster than its tokens one
    by one when there are few beside each other.
    """
    waiting: list[Run] = []
    for level in _levels(trie):
        full = (len(waiting) + 1) * len(level.parent) > most
        if waiting and (full or not level.goes_on(waiting[-1])):
            yield _joined(waiting)
            waiting = []
        waiting.append(level)
    if waiting:
        yield _joined(waiting)
