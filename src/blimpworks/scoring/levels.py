"""Prefix trees level by level, for models that carry a state from a token to the next.

The state after a node depends on its path alone, and is made from the state after its parent.
So all inner nodes of one depth can be computed in one step, each once, from the states of the
depth before, which are not needed afterwards. Nothing but numpy, as in ``trie``.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from blimpworks.scoring.trie import Numbers, Trie


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
