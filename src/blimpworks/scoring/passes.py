"""Divide token sequences into forward passes of a model, in padded rows or in rows of their tree.

Engines give the ids of sequences and get ``Pass`` objects: tables of ids for the model, and the
cells of these tables at which log-probabilities are read. ``padded_passes`` makes one row for each
sequence. ``packed_passes`` makes the rows of a prefix tree (see ``trie``) by a plan from
``plan_rows``. In a row of a tree, each token attends to itself and its ancestors, and its position
is its depth. If ``b`` and ``e``, which both follow ``a``, do not fit into one row, the second row
repeats ``a``::

    a b    log-probabilities are read at a and b
    a e    log-probabilities are read at e
"""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import torch

from blimpworks.scoring.engine import Ids, Mask
from blimpworks.scoring.trie import Numbers, Trie, rectangle, sorted_numbers

CACHED = 1024
"""Largest number of tokens in a pass on a CPU; more tokens do not fit into its cache."""


def pass_size(requested: int, device: torch.device) -> int:
    """Return the largest number of tokens in a pass, padding included."""
    return min(requested, CACHED) if device.type == "cpu" else requested


class Pass(NamedTuple):
    """One forward pass over rows; only rows of a tree have ``depth``, ``number`` and ``end``."""

    ids: Numbers
    """Ids for the model [rows, width]."""
    read: Mask
    """Which cells predict a token, so that their hidden states are needed [rows, width]."""
    parent: Numbers
    """Index of the predicting cell among the cells to read, row by row, ascending [edges]."""
    token: Numbers
    """Predicted id [edges]."""
    result: Numbers
    """Index of the log-probability in the caller's array of results [edges]."""
    depth: Numbers | None = None
    """Position of each cell [rows, width]."""
    number: Numbers | None = None
    """Number of each cell's node [rows, width]."""
    end: Numbers | None = None
    """Number after the last node of each cell's subtree [rows, width]. A cell with number c attends
    to the cells with number <= c < end."""

    def halves(self) -> tuple["Pass", "Pass"]:
        """Divide a pass that needs too much memory into two passes with half of the rows."""
        middle = len(self.ids) // 2
        # The first half has so many cells to read, and these predict so many tokens.
        cells = int(self.read[:middle].sum())
        edges = int(np.searchsorted(self.parent, cells))
        first = self._select(slice(middle), slice(edges), 0)
        return first, self._select(slice(middle, None), slice(edges, None), cells)

    def _select(self, rows: slice, edges: slice, cells: int) -> "Pass":
        """Return some rows as a pass; ``cells`` is the number of read cells before them."""
        # Columns that are padding in all rows are cut off. The last cell of each row is read.
        width = int(np.flatnonzero(self.read[rows].any(axis=0))[-1]) + 1
        selected: dict[str, Any] = {}
        for name in ("ids", "read", "depth", "number", "end"):
            table = getattr(self, name)
            selected[name] = None if table is None else table[rows, :width]
        for name in ("token", "result"):
            selected[name] = getattr(self, name)[edges]
        return self._replace(parent=self.parent[edges] - cells, **selected)


Batching = Literal["padded", "equal", "alone"]
"""Sequences that may share a pass: of any lengths (padded), only of equal length, or none."""


def make_batches(
    lengths: Sequence[int], order: Sequence[int], max_cells: int, batching: Batching = "padded"
) -> Iterator[list[int]]:
    """Divide sequences into batches of at most ``max_cells`` tokens, padding included.

    ``order`` has the numbers of sequences, sorted by length. A longer sequence has its own batch.
    """
    batch: list[int] = []
    for number in order:
        is_full = batch and (len(batch) + 1) * lengths[number] > max_cells
        has_other_length = batch and batching != "padded" and lengths[number] != lengths[batch[0]]
        if is_full or has_other_length or (batch and batching == "alone"):
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch


def padded_passes(
    flat: Ids, lengths: Numbers, max_cells: int, batching: Batching = "padded"
) -> Iterator[Pass]:
    """Put sequences into rows that are padded on the right.

    ``flat`` and ``lengths`` are as in ``trie``. Passes have at most ``max_cells`` cells, or one
    longer sequence, and do not depend on the order of sequences. The result of a token has its
    index in ``flat``; first tokens have no result.
    """
    starts = np.cumsum(lengths) - lengths
    by_ids = sorted_numbers(flat, lengths)
    order = by_ids[np.argsort(lengths[by_ids], kind="stable")]
    order = order[lengths[order] > 1]
    for group in make_batches((lengths - 1).tolist(), order.tolist(), max_cells, batching):
        # The last token of a sequence predicts nothing, so it is not in the row.
        counts = lengths[group] - 1
        shift = starts[group] - np.cumsum(counts) + counts
        # Index in ``flat`` of each token of the rows, which predicts the token after it: 3 0 1 for
        # the sequences ``a b c`` and ``d e``, since the shorter one is first.
        predictor = np.arange(counts.sum()) + np.repeat(shift, counts)
        ids, read = rectangle(flat[predictor], counts)
        parent = np.arange(len(predictor))
        yield Pass(ids, read, parent, flat[predictor + 1].astype(np.int64), predictor + 1)


class RowPlan(NamedTuple):
    """The rows in which a model computes the inner nodes of a tree."""

    node: Numbers
    """Node in each cell, -1 for padding [rows, width]."""
    read: Mask
    """Which cells are read; other cells repeat ancestors, or are padding [rows, width]."""


def _row_stop(depth: Sequence[int], start: int, width: int) -> int:
    """Return the number after the last inner node of a row of at most ``width`` cells.

    ``depth`` has the depth of each inner node, and ``start`` is the row's first node. The next row
    repeats the ancestors of its first node. So this row may end up to a quarter of ``width`` early,
    where it wastes the fewest cells: its empty cells, and the ancestors that the next row repeats.
    """
    longest = start + width - depth[start]
    if longest >= len(depth):
        return len(depth)
    shortest = max(start + 1, longest - width // 4)
    return min(range(longest, shortest - 1, -1), key=lambda stop: longest - stop + depth[stop])


def plan_rows(trie: Trie, width: int) -> RowPlan:
    """Put each inner node in a row of at most ``width`` cells, or more if a path is longer.

    A row has an inner node's ancestors, then this node and the next ones in depth-first order.
    """
    is_inner = np.zeros(len(trie.token), dtype=bool)
    is_inner[trie.parent[trie.parent >= 0]] = True
    inner = np.flatnonzero(is_inner)
    parent, depth = trie.parent.tolist(), trie.depth[inner].tolist()
    width = max(width, max(depth, default=0) + 1)
    rows, ancestor_counts, start = list[Numbers](), list[int](), 0
    while start < len(inner):
        stop = _row_stop(depth, start, width)
        ancestors, node = list[int](), parent[inner[start]]
        while node >= 0:
            ancestors.append(node)
            node = parent[node]
        rows.append(np.concatenate([np.array(ancestors[::-1], dtype=np.int64), inner[start:stop]]))
        ancestor_counts.append(len(ancestors))
        start = stop
    nodes = np.concatenate([inner[:0], *rows])
    cells, is_node = rectangle(nodes, np.array([len(row) for row in rows], dtype=np.int64))
    is_ancestor = np.arange(cells.shape[1]) < np.array(ancestor_counts, dtype=np.int64)[:, None]
    return RowPlan(np.where(is_node, cells, -1), is_node & ~is_ancestor)


def packed_passes(trie: Trie, plan: RowPlan, max_cells: int) -> Iterator[Pass]:
    """Put the rows of ``plan`` into passes of at most ``max_cells`` cells, or of one longer row.

    The index of a node's result is its number in ``trie``; first tokens have no result.
    """
    # Numbers of the nodes that have a parent, in the order of their parents.
    children = np.argsort(trie.parent, kind="stable")
    children = children[trie.parent[children] >= 0]
    parents = trie.parent[children]
    rows, width = plan.node.shape
    rows_per_pass = max(1, max_cells // max(1, width))
    for row in range(0, rows, rows_per_pass):
        rows_of_pass = slice(row, row + rows_per_pass)
        node, read = plan.node[rows_of_pass], plan.read[rows_of_pass]
        read_nodes = node[read]
        # Rows have consecutive inner nodes, and so consecutive edges.
        of_pass = slice(*np.searchsorted(parents, (read_nodes[0], read_nodes[-1] + 1)))
        predicted_nodes = children[of_pass]
        is_padding = node < 0
        # Padding attends to itself, because attention to no cell gives NaN.
        number = np.where(is_padding, len(trie.token) + np.arange(width), node)
        yield Pass(
            ids=np.where(is_padding, 0, trie.token[node]),
            read=read,
            parent=np.searchsorted(read_nodes, parents[of_pass]),
            token=trie.token[predicted_nodes],
            result=predicted_nodes,
            depth=np.where(is_padding, 0, trie.depth[node]),
            number=number,
            end=np.where(is_padding, number + 1, trie.end[node]),
        )
