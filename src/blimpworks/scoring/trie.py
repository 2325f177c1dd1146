"""Build prefix trees of token sequences, and passes of a model over their rows or padded ones.

A row holds a stretch of the tree in depth-first order, after its ancestors. Each node attends to
its ancestors and itself, at the position of its depth. Leaves are read from their parents. For
models with a state from token to token, ``runs`` gives the tree level by level.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

Ids = NDArray[np.int32]
Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Trie(NamedTuple):
    """A prefix tree (a forest where first tokens differ), nodes in depth-first order.

    ``token``, ``parent`` (-1 for a first token), ``depth`` (from 0), ``end`` (first node after its
    subtree) [nodes]; ``paths`` [tokens]: node of each token of the sequences, one after another in
    order of arrival.
    """

    token: Numbers
    parent: Numbers
    depth: Numbers
    end: Numbers
    paths: Numbers


def rectangle(flat: Ids | Numbers, lengths: Numbers) -> tuple[Numbers, Mask]:
    """Return rows [sequences, longest] of ``flat`` [tokens], padded with 0, and their mask."""
    width = int(lengths.max(initial=0))
    real = np.arange(width) < lengths[:, None]
    rows = np.zeros(real.shape, dtype=np.int64)
    rows[real] = flat
    return rows, real


def sorted_numbers(flat: Ids, lengths: Numbers) -> Numbers:
    """Return the order [sequences] of sequences by their ids, prefixes first."""
    content = flat.astype(">u4").tobytes()  # compares as the numbers do
    bounds = [0, *(4 * np.cumsum(lengths)).tolist()]
    keys = [content[a:b] for a, b in pairwise(bounds)]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)


def _ends(node: Numbers, real: Mask, new: Mask) -> Numbers:
    """Return the first node after each node's subtree; ``node`` [sequences, longest], sorted."""
    # A node's last sequence is the one before which the next brings a new node at its depth.
    last = real.copy()
    last[:-1] &= new[1:] | ~real[1:]
    rows, columns = np.nonzero(last)
    ends = np.empty(new.sum(), dtype=np.int64)
    ends[node[rows, columns]] = np.cumsum(new.sum(axis=1))[rows]
    return ends


def build_trie(flat: Ids, lengths: Numbers, *, merge: bool = True) -> Trie:
    """Build the prefix tree of the sequences in ``flat`` [tokens] of ``lengths`` [sequences].

    No id is negative; sequences may repeat or be empty. The nodes do not depend on their order.
    Without ``merge`` only equal sequences share a path.
    """
    order = sorted_numbers(flat, lengths)
    arrived, is_token = rectangle(flat, lengths)
    rows, real = arrived[order], is_token[order]
    columns = np.arange(rows.shape[1])
    # How many first tokens each row shares with the row before.
    differ = np.ones((len(rows), rows.shape[1] + 1), dtype=bool)
    differ[1:, :-1] = (rows[1:] != rows[:-1]) | ~real[1:] | ~real[:-1]
    differ[:1, 0] = True
    shared: Numbers = differ.argmax(axis=1)
    if not merge:
        counts = real.sum(axis=1)
        shared[shared < np.maximum(counts, np.roll(counts, 1))] = 0
    new = real & (columns >= shared[:, None])
    # A node is found again below the row that brought it, up to where rows part.
    node = np.where(new, np.cumsum(new).reshape(new.shape) - 1, -1)
    node = np.maximum.accumulate(node, axis=0)
    before = np.column_stack([np.full(len(node), -1, dtype=np.int64), node])[:, :-1]
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return Trie(
        token=rows[new],
        parent=before[new],
        depth=np.broadcast_to(columns, new.shape)[new],
        end=_ends(node, real, new),
        paths=node[rank][is_token],
    )


class Plan(NamedTuple):
    """The nodes to compute, their rows, and where log-probabilities are read.

    Inner nodes are those with children, numbered in depth-first order.

    ``token``, ``depth``, ``end`` (first number after its subtree) [inner nodes]; ``cells`` [rows,
    width]: number of an inner node, -1 for padding; ``first`` [rows + 1]: row r is read for the
    numbers ``first[r]`` to ``first[r + 1]``, and earlier cells only repeat their ancestors;
    ``edge_node`` [edges]: nodes with a parent, in the parents' order; ``edge_parent`` [edges]: the
    parent's number, rising.
    """

    token: Numbers
    depth: Numbers
    end: Numbers
    cells: Numbers
    first: Numbers
    edge_node: Numbers
    edge_parent: Numbers


def _cut(depth: Numbers, start: int, width: int) -> int:
    """Return where the stretch from ``start`` ends: it fills a row of ``width``, or nearly so.

    The next row repeats its first node's ancestors; an earlier cut can cost less than that.
    """
    full = start + width - int(depth[start])
    if full >= len(depth):
        return len(depth)
    candidates = np.arange(max(start + 1, full - width // 4), full + 1)
    waste = full - candidates + depth[candidates]
    return int(candidates[len(waste) - 1 - waste[::-1].argmin()])


def _row(parent: list[int], start: int, stop: int) -> list[int]:
    path = []
    node = parent[start]
    while node >= 0:
        path.append(node)
        node = parent[node]
    return [*path[::-1], *range(start, stop)]


def plan_rows(trie: Trie, width: int) -> Plan:
    """Put inner nodes in rows of at most ``width``, or as long as the longest path."""
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


class Run(NamedTuple):
    """Inner nodes of one depth, or of several between which no path branches, begins or ends.

    ``token`` [steps, nodes]: columns are paths downwards; ``parent`` [nodes]: column of the parent
    in the last step of the run before (0 at the top, for the one state of nothing read);
    ``edge_node`` [edges]: nodes of the tree that follow a cell; ``edge_parent`` [edges]: number of
    that cell, row by row, never falling.
    """

    token: Numbers
    parent: Numbers
    edge_node: Numbers
    edge_parent: Numbers


def _levels(trie: Trie) -> Iterator[Run]:
    by_depth = np.argsort(trie.depth, kind="stable")
    above = np.empty(0, dtype=np.int64)
    for start, stop in pairwise(np.cumsum(np.bincount(trie.depth)).tolist()):
        below = by_depth[start:stop]
        nodes, edge_parent = np.unique(trie.parent[below], return_inverse=True)
        parent = np.searchsorted(above, trie.parent[nodes])
        yield Run(trie.token[nodes][None], parent, below, edge_parent)
        above = nodes


def _joined(levels: list[Run]) -> Run:
    width = levels[0].token.shape[1]
    return Run(
        token=np.concatenate([level.token for level in levels]),
        parent=levels[0].parent,
        edge_node=np.concatenate([level.edge_node for level in levels]),
        edge_parent=np.concatenate([n * width + e.edge_parent for n, e in enumerate(levels)]),
    )


def runs(trie: Trie, most: int) -> Iterator[Run]:
    """Yield all inner nodes of ``trie`` from the top downwards.

    A run of several steps has at most ``most`` cells; one depth alone may have more nodes. Joined
    steps are faster where few nodes are parallel, as for long texts.
    """
    waiting: list[Run] = []
    for level in _levels(trie):
        if waiting:
            full = (len(waiting) + 1) * len(level.parent) > most
            # Whether the paths continue one to one.
            goes_on = np.array_equal(level.parent, np.arange(waiting[-1].token.shape[1]))
            if full or not goes_on:
                yield _joined(waiting)
                waiting = []
        waiting.append(level)
    if waiting:
        yield _joined(waiting)


CACHED = 1024
"""Most tokens in a pass on a CPU: more leave its cache, and take longer."""


def pass_size(requested: int, device: torch.device) -> int:
    """Return the most tokens in a pass, padding included."""
    return min(requested, CACHED) if device.type == "cpu" else requested


class Pass(NamedTuple):
    """One forward pass over rows of tokens, and the log-probabilities that it gives.

    ``ids`` [rows, width]; ``read`` [rows, width]: cells whose hidden states are needed; ``parent``
    [edges]: number of such a cell, in order of rows, never falling; ``token`` [edges]: the token
    that it predicts; ``place`` [edges]: place of its log-probability in the results. Only rows of a
    tree have ``depth`` [rows, width], each cell's position, ``number`` and ``end``. A cell sees the
    cells of its row with ``number`` <= its own < ``end``: itself and its ancestors.
    """

    ids: Numbers
    read: Mask
    parent: Numbers
    token: Numbers
    place: Numbers
    depth: Numbers | None = None
    number: Numbers | None = None
    end: Numbers | None = None

    def halves(self) -> tuple["Pass", "Pass"]:
        """Halve a pass that needs too much memory, by rows."""
        middle = len(self.ids) // 2
        cells = int(self.read[:middle].sum())
        edges = int(np.searchsorted(self.parent, cells))
        return self._part(slice(middle), slice(edges), 0), self._part(
            slice(middle, None), slice(edges, None), cells
        )

    def _part(self, rows: slice, edges: slice, cells: int) -> "Pass":
        # Shorter rows may have shared the pass with longer ones.
        width = int(np.flatnonzero(self.read[rows].any(axis=0))[-1]) + 1
        names = ("ids", "read", "depth", "number", "end")
        tables = ((name, getattr(self, name)) for name in names)
        cut: dict[str, Any] = {n: None if t is None else t[rows, :width] for n, t in tables}
        token, place = self.token[edges], self.place[edges]
        return self._replace(parent=self.parent[edges] - cells, token=token, place=place, **cut)


Rows = Literal["padded", "equal", "alone"]
"""Which sequences share a pass: of any length, of one length, or none."""


def make_batches(
    lengths: Sequence[int], order: Sequence[int], most: int, rows: Rows = "padded"
) -> Iterator[list[int]]:
    """Cut ``order`` (by rising length) into batches of at most ``most`` padded tokens, or a row."""
    batch: list[int] = []
    for number in order:
        full = batch and (len(batch) + 1) * lengths[number] > most
        has_other_length = batch and rows != "padded" and lengths[number] != lengths[batch[0]]
        if full or has_other_length or (batch and rows == "alone"):
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch


def padded_passes(flat: Ids, lengths: Numbers, most: int, rows: Rows = "padded") -> Iterator[Pass]:
    """Put sequences, one after another in ``flat`` [tokens], in rows padded on the right.

    Similar lengths share a pass of at most ``most`` cells, or one sequence. A token's result has
    its place in ``flat``; a first token has none. The sequences' order does not matter.
    """
    starts = np.cumsum(lengths) - lengths
    ranked = sorted_numbers(flat, lengths)
    order = ranked[np.argsort(lengths[ranked], kind="stable")]
    order = order[lengths[order] > 1]
    for group in make_batches((lengths - 1).tolist(), order.tolist(), most, rows):
        counts = lengths[group] - 1
        shift = starts[group] - np.cumsum(counts) + counts
        cell_of_token = np.arange(counts.sum()) + np.repeat(shift, counts)
        ids, read = rectangle(flat[cell_of_token], counts)
        parent = np.arange(len(cell_of_token))
        yield Pass(ids, read, parent, flat[cell_of_token + 1].astype(np.int64), cell_of_token + 1)


def packed_passes(trie: Trie, plan: Plan, most: int) -> Iterator[Pass]:
    """Put the rows of ``plan`` in passes of at most ``most`` cells, or one row.

    Results have the places of the nodes of ``trie``; first tokens have none.
    """
    rows, width = plan.cells.shape
    step = max(1, most // max(1, width))
    for a in range(0, rows, step):
        cells = plan.cells[a : a + step]
        first, after = plan.first[a], plan.first[a + len(cells)]
        edges = slice(*np.searchsorted(plan.edge_parent, (first, after)))
        node_of_edge = plan.edge_node[edges]
        padding = cells < 0
        # Padding sees itself alone: attention to nothing at all is not a number.
        number = np.where(padding, len(plan.token) + np.arange(width), cells)
        yield Pass(
            ids=np.where(padding, 0, plan.token[cells]),
            read=cells >= plan.first[a : a + len(cells), None],
            parent=plan.edge_parent[edges] - first,
            token=trie.token[node_of_edge],
            place=node_of_edge,
            depth=np.where(padding, 0, plan.depth[cells]),
            number=number,
            end=np.where(padding, number + 1, plan.end[cells]),
        )
