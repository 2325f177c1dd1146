"""Join token sequences in a prefix tree, so that a model computes common prefixes once.

``build_trie`` makes the tree. Its nodes are tokens, numbered in depth-first order; ``end`` is the
number after the last node of a node's subtree. An *edge* is a node with its parent; it has one
log-probability. Transformers compute the tree in rows (see ``passes``), LSTMs level by level
(``runs``). In arguments, ``flat`` [tokens] has the ids of all sequences one after the other, and
``lengths`` [sequences] the number of tokens of each sequence.

The tree below is that of ``a b c``, ``a b d`` and ``a e``. A model predicts ``c`` and ``d`` from
its state at ``b``. So it computes only *inner* nodes, which have children: two tokens, not eight::

    node   0 a   1 b   2 c   3 d   4 e
    parent -1    0     1     1     0
    end    5     4     3     4     5
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from blimpworks.scoring.engine import Ids, Mask

Numbers = NDArray[np.int64]


class Trie(NamedTuple):
    """A prefix tree (several trees if first tokens differ), with nodes in depth-first order."""

    token: Numbers
    """Id of each node [nodes]."""
    parent: Numbers
    """Number of each node's parent; -1 for a first token [nodes]."""
    depth: Numbers
    """Number of each node's ancestors [nodes]."""
    end: Numbers
    """Number after the last node of each node's subtree [nodes]."""
    paths: Numbers
    """Node of each token of the sequences, in the order of ``flat`` [tokens]."""


def rectangle(flat: Ids | Numbers, lengths: Numbers) -> tuple[Numbers, Mask]:
    """Return ``flat`` as rows padded with 0, and which cells are tokens [sequences, longest]."""
    width = int(lengths.max(initial=0))
    is_token = np.arange(width) < lengths[:, None]
    rows = np.zeros(is_token.shape, dtype=np.int64)
    rows[is_token] = flat
    return rows, is_token


def sorted_numbers(flat: Ids, lengths: Numbers) -> Numbers:
    """Return the numbers of sequences in the order of their ids, prefixes first [sequences]."""
    content = flat.astype(">u4").tobytes()  # four bytes for an id; big-endian ones sort like ids
    bounds = [0, *(4 * np.cumsum(lengths)).tolist()]
    keys = [content[a:b] for a, b in pairwise(bounds)]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)


def _ends(node: Numbers, is_token: Mask, is_new: Mask) -> Numbers:
    """Return the ``end`` of each node [nodes], from tables that ``build_trie`` makes."""
    # A row is the last with a node if the next row has a new node, or no token, in that column.
    is_last = is_token.copy()
    is_last[:-1] &= is_new[1:] | ~is_token[1:]
    rows, columns = np.nonzero(is_last)
    # The subtree ends with this row, so its ``end`` is the number of all nodes up to the row.
    ends = np.empty(is_new.sum(), dtype=np.int64)
    ends[node[rows, columns]] = np.cumsum(is_new.sum(axis=1))[rows]
    return ends


def build_trie(flat: Ids, lengths: Numbers, *, merge: bool = True) -> Trie:
    """Build the prefix tree of sequences, which may be equal or empty; ids are not negative.

    The order of sequences changes no node. Without ``merge``, only equal sequences share a path.
    """
    # Sequences become rows of a table, in the order of their ids. So each row has its longest
    # common prefix with the row before it. Each cell after this prefix is a new node:
    #   rows  a b c    is_new  1 1 1    node  0 1 2
    #         a b d            0 0 1          0 1 3
    #         a e              0 1            0 4
    order = sorted_numbers(flat, lengths)
    rows_in_input_order, is_token_in_input_order = rectangle(flat, lengths)
    rows, is_token = rows_in_input_order[order], is_token_in_input_order[order]
    columns = np.arange(rows.shape[1])
    # The first column in which a row differs from the row before it is the length of their common
    # prefix. Columns beyond the last token differ in every row.
    differs = np.ones((len(rows), rows.shape[1] + 1), dtype=bool)
    differs[1:, :-1] = (rows[1:] != rows[:-1]) | ~is_token[1:] | ~is_token[:-1]
    differs[:1, 0] = True
    prefix_length: Numbers = differs.argmax(axis=1)
    if not merge:
        # Only a complete sequence that equals the one before counts as a common prefix. ``np.roll``
        # gives each row the length of the row before it, and the first row, which has no common
        # prefix, that of the last.
        counts = is_token.sum(axis=1)
        prefix_length[prefix_length < np.maximum(counts, np.roll(counts, 1))] = 0
    # A node is numbered where it is new, and repeated in the rows below with the same prefix.
    is_new = is_token & (columns >= prefix_length[:, None])
    node = np.where(is_new, np.cumsum(is_new).reshape(is_new.shape) - 1, -1)
    node = np.maximum.accumulate(node, axis=0)
    node_before = np.column_stack([np.full(len(node), -1, dtype=np.int64), node])[:, :-1]
    # ``paths`` has the order of ``flat``.
    row_of_sequence = np.empty_like(order)
    row_of_sequence[order] = np.arange(len(order))
    return Trie(
        token=rows[is_new],
        parent=node_before[is_new],
        depth=np.broadcast_to(columns, is_new.shape)[is_new],
        end=_ends(node, is_token, is_new),
        paths=node[row_of_sequence][is_token_in_input_order],
    )


class PathRun(NamedTuple):
    """Inner nodes of one depth, or of several depths between which no path branches or ends.

    The tree above has one run, since ``a`` has one inner child: token [[a], [b]], parent [0],
    edge_node [1, 4, 2, 3], edge_parent [0, 0, 1, 1].
    """

    token: Numbers
    """Ids of inner nodes: a row is a depth, and a column is a path downwards [steps, paths]."""
    parent: Numbers
    """Column, in the run before, of the node above each path; 0 for first tokens [paths]."""
    edge_node: Numbers
    """Number of each child of an inner node of this run, so of each predicted token [edges]."""
    edge_parent: Numbers
    """Cell of ``token`` that predicts this child: step x paths + column, ascending [edges]."""


def _levels(trie: Trie) -> Iterator[PathRun]:
    """Yield the inner nodes of each depth, as runs of one step."""
    by_depth = np.argsort(trie.depth, kind="stable")
    nodes_above = np.empty(0, dtype=np.int64)  # inner nodes of the depth above
    # ``by_depth[start:stop]`` are the nodes of one depth, from depth 1 on; parents are one above.
    for start, stop in pairwise(np.cumsum(np.bincount(trie.depth)).tolist()):
        children = by_depth[start:stop]
        nodes, edge_parent = np.unique(trie.parent[children], return_inverse=True)
        parent = np.searchsorted(nodes_above, trie.parent[nodes])
        yield PathRun(trie.token[nodes][None], parent, children, edge_parent)
        nodes_above = nodes


def _join_levels(levels: list[PathRun]) -> PathRun:
    """Join runs of one step, with equally many paths, to a run of several steps."""
    width = levels[0].token.shape[1]
    edge_parents = [step * width + level.edge_parent for step, level in enumerate(levels)]
    return PathRun(
        token=np.concatenate([level.token for level in levels]),
        parent=levels[0].parent,
        edge_node=np.concatenate([level.edge_node for level in levels]),
        edge_parent=np.concatenate(edge_parents),
    )


def runs(trie: Trie, max_cells: int) -> Iterator[PathRun]:
    """Yield all inner nodes of ``trie`` from the top downwards.

    A run of several steps has at most ``max_cells`` cells; a run of one depth may have more. A run
    is one call of the model, so long runs are faster if depths have few nodes, as in long texts.
    """
    levels: list[PathRun] = []
    for level in _levels(trie):
        if levels:
            is_full = (len(levels) + 1) * len(level.parent) > max_cells
            # Paths continue if each node of the last level has one inner child.
            continues = np.array_equal(level.parent, np.arange(levels[-1].token.shape[1]))
            if is_full or not continues:
                yield _join_levels(levels)
                levels = []
        levels.append(level)
    if levels:
        yield _join_levels(levels)
