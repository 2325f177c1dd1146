"""Build prefix trees of token sequences, and passes of a model over rows of a tree or padded rows.

For example, the sequences ``a b c``, ``a b d`` and ``a e`` make one tree of five nodes::

    node   0 a   1 b   2 c   3 d   4 e
    parent -1    0     1     1     0
    end    5     4     3     4     5     (first node after the node's subtree)

A model predicts ``c`` and ``d`` from its state at ``b``: the log-probability of a token is read at
its parent, so leaves need not be computed. Here ``a`` and ``b`` are, two tokens for eight.

A row of a tree has the ancestors of a node, then nodes from there in depth-first order. Each node
attends to itself and its ancestors; its position is its depth. For models with a state from token
to token, ``runs`` gives the tree level by level. ``Workers`` are the threads that run passes.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import pairwise
from threading import RLock
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from blimpworks.models.fitting import single_thread

Ids = NDArray[np.int32]
Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Trie(NamedTuple):
    """A prefix tree (a forest if first tokens differ), with nodes in depth-first order.

    ``token``, ``parent`` (-1 for a first token), ``depth`` (from 0), ``end`` (first node after its
    subtree) [nodes]; ``paths`` [tokens]: node of each token of the sequences, in their first order.
    """

    token: Numbers
    parent: Numbers
    depth: Numbers
    end: Numbers
    paths: Numbers


def rectangle(flat: Ids | Numbers, lengths: Numbers) -> tuple[Numbers, Mask]:
    """Return ``flat`` [tokens] as rows padded with 0 [sequences, longest], and their mask."""
    width = int(lengths.max(initial=0))
    real = np.arange(width) < lengths[:, None]
    rows = np.zeros(real.shape, dtype=np.int64)
    rows[real] = flat
    return rows, real


def sorted_numbers(flat: Ids, lengths: Numbers) -> Numbers:
    """Return the numbers of sequences, sorted by ids, prefixes first [sequences]."""
    content = flat.astype(">u4").tobytes()  # bytes are ordered as the numbers
    bounds = [0, *(4 * np.cumsum(lengths)).tolist()]
    keys = [content[a:b] for a, b in pairwise(bounds)]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)


def _ends(node: Numbers, real: Mask, new: Mask) -> Numbers:
    """Return the first node after each subtree; ``node`` is [sequences, longest], sorted."""
    # The last sequence with a node is before a sequence with a new node at that depth.
    last = real.copy()
    last[:-1] &= new[1:] | ~real[1:]
    rows, columns = np.nonzero(last)
    ends = np.empty(new.sum(), dtype=np.int64)
    ends[node[rows, columns]] = np.cumsum(new.sum(axis=1))[rows]
    return ends


def build_trie(flat: Ids, lengths: Numbers, *, merge: bool = True) -> Trie:
    """Build the prefix tree of the sequences in ``flat`` [tokens] of ``lengths`` [sequences].

    No id is negative; sequences may be equal or empty. The nodes do not depend on the order of
    sequences. Without ``merge``, only equal sequences have a common path.
    """
    order = sorted_numbers(flat, lengths)
    arrived, is_token = rectangle(flat, lengths)
    rows, real = arrived[order], is_token[order]
    columns = np.arange(rows.shape[1])
    # Length of the common prefix of each row and the row before.
    differ = np.ones((len(rows), rows.shape[1] + 1), dtype=bool)
    differ[1:, :-1] = (rows[1:] != rows[:-1]) | ~real[1:] | ~real[:-1]
    differ[:1, 0] = True
    shared: Numbers = differ.argmax(axis=1)
    if not merge:
        # Keep a common prefix only where it is the whole of this sequence and of the one before,
        # whose length ``np.roll`` moves here. (The first has none before, but shares nothing.)
        counts = real.sum(axis=1)
        shared[shared < np.maximum(counts, np.roll(counts, 1))] = 0
    new = real & (columns >= shared[:, None])
    # A node is in the row that introduced it, and in the rows below with the same prefix.
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


class RowPlan(NamedTuple):
    """The nodes to compute, their rows, and the cells from which log-probabilities are read.

    Inner nodes are those with children, numbered in depth-first order.
    """

    token: Numbers
    """Token of each inner node [inner nodes]."""
    depth: Numbers
    """Number of its ancestors [inner nodes]."""
    end: Numbers
    """First number after its subtree [inner nodes]."""
    cells: Numbers
    """Number of the inner node in each cell, -1 for padding [rows, width]."""
    first: Numbers
    """Row r has results for the numbers first[r] to first[r + 1]; its other cells are their
    ancestors [rows + 1]."""
    edge_node: Numbers
    """Nodes with a parent, in the order of parents [edges]."""
    edge_parent: Numbers
    """Number of the parent, rising [edges]."""


def _cut(depth: Numbers, start: int, width: int) -> int:
    """Return the node before which a row of ``width`` ends that begins with ``start``.

    The next row repeats the ancestors of its first node. A row may be a little shorter than
    ``width`` if that saves more repeated ancestors.
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


def plan_rows(trie: Trie, width: int) -> RowPlan:
    """Put inner nodes in rows of at most ``width`` cells, or more if a path is longer."""
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
    return RowPlan(
        token=trie.token[inner],
        depth=depth,
        end=below[trie.end[inner]],
        cells=np.where(real, cells, -1),
        first=np.array(first, dtype=np.int64),
        edge_node=edges,
        edge_parent=number[trie.parent[edges]],
    )


class PathRun(NamedTuple):
    """Inner nodes of one depth, or of several depths between which no path branches or ends.

    ``token`` [steps, nodes]: each column is a path downwards; ``parent`` [nodes]: column of the
    parent in the last step of the run before (0 at the top, for the initial state); ``edge_node``
    [edges]: nodes of the tree that follow a cell; ``edge_parent`` [edges]: number of that cell, row
    by row, never falling.
    """

    token: Numbers
    parent: Numbers
    edge_node: Numbers
    edge_parent: Numbers


def _levels(trie: Trie) -> Iterator[PathRun]:
    by_depth = np.argsort(trie.depth, kind="stable")
    above = np.empty(0, dtype=np.int64)
    for start, stop in pairwise(np.cumsum(np.bincount(trie.depth)).tolist()):
        below = by_depth[start:stop]
        nodes, edge_parent = np.unique(trie.parent[below], return_inverse=True)
        parent = np.searchsorted(above, trie.parent[nodes])
        yield PathRun(trie.token[nodes][None], parent, below, edge_parent)
        above = nodes


def _joined(levels: list[PathRun]) -> PathRun:
    width = levels[0].token.shape[1]
    return PathRun(
        token=np.concatenate([level.token for level in levels]),
        parent=levels[0].parent,
        edge_node=np.concatenate([level.edge_node for level in levels]),
        edge_parent=np.concatenate([n * width + e.edge_parent for n, e in enumerate(levels)]),
    )


def runs(trie: Trie, most: int) -> Iterator[PathRun]:
    """Yield all inner nodes of ``trie`` from the top downwards.

    A run of several steps has at most ``most`` cells; a single depth may have more nodes. Runs of
    several steps are faster if few nodes are parallel, as for long texts.
    """
    waiting: list[PathRun] = []
    for level in _levels(trie):
        if waiting:
            full = (len(waiting) + 1) * len(level.parent) > most
            # Paths continue if each node has one child.
            continues = np.array_equal(level.parent, np.arange(waiting[-1].token.shape[1]))
            if full or not continues:
                yield _joined(waiting)
                waiting = []
        waiting.append(level)
    if waiting:
        yield _joined(waiting)


CACHED = 1024
"""Largest number of tokens in a pass on a CPU; more tokens do not fit into its cache."""


def pass_size(requested: int, device: torch.device) -> int:
    """Return the largest number of tokens in a pass, padding included."""
    return min(requested, CACHED) if device.type == "cpu" else requested


class Pass(NamedTuple):
    """One forward pass over rows of tokens, and the log-probabilities that it computes.

    ``ids`` [rows, width]; ``read`` [rows, width]: cells whose hidden states are needed; ``parent``
    [edges]: number of such a cell, in order of rows, never falling; ``token`` [edges]: the token
    that it predicts; ``result`` [edges]: index of its log-probability in the results.

    Only rows of a tree have ``depth`` [rows, width], the position of each cell, ``number`` and
    ``end``. A cell attends to the cells of its row with ``number`` <= its number < ``end``, which
    are itself and its ancestors.
    """

    ids: Numbers
    read: Mask
    parent: Numbers
    token: Numbers
    result: Numbers
    depth: Numbers | None = None
    number: Numbers | None = None
    end: Numbers | None = None

    def halves(self) -> tuple["Pass", "Pass"]:
        """Divide a pass that needs too much memory into two with half of the rows."""
        middle = len(self.ids) // 2
        cells = int(self.read[:middle].sum())
        edges = int(np.searchsorted(self.parent, cells))
        return self._part(slice(middle), slice(edges), 0), self._part(
            slice(middle, None), slice(edges, None), cells
        )

    def _part(self, rows: slice, edges: slice, cells: int) -> "Pass":
        # The rows of one half may all be shorter than the longest row of the pass.
        width = int(np.flatnonzero(self.read[rows].any(axis=0))[-1]) + 1
        names = ("ids", "read", "depth", "number", "end")
        tables = ((name, getattr(self, name)) for name in names)
        cut: dict[str, Any] = {n: None if t is None else t[rows, :width] for n, t in tables}
        token, result = self.token[edges], self.result[edges]
        return self._replace(parent=self.parent[edges] - cells, token=token, result=result, **cut)


Rows = Literal["padded", "equal", "alone"]
"""Sequences that can be in one pass: of any lengths, of equal length, or one alone."""


def make_batches(
    lengths: Sequence[int], order: Sequence[int], most: int, rows: Rows = "padded"
) -> Iterator[list[int]]:
    """Divide ``order`` (by rising length) into batches of at most ``most`` tokens, with padding.

    A longer sequence is a batch alone.
    """
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
    """Put the sequences in ``flat`` [tokens] into rows that are padded on the right.

    Sequences of similar length are in a pass of at most ``most`` cells; a longer sequence is alone.
    The result of a token has its index in ``flat``; a first token has none. The passes do not
    depend on the order of sequences.
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


def packed_passes(trie: Trie, plan: RowPlan, most: int) -> Iterator[Pass]:
    """Put the rows of ``plan`` into passes of at most ``most`` cells; a longer row is alone.

    The result of a node of ``trie`` has its number as index; first tokens have none.
    """
    rows, width = plan.cells.shape
    step = max(1, most // max(1, width))
    for a in range(0, rows, step):
        cells = plan.cells[a : a + step]
        first, after = plan.first[a], plan.first[a + len(cells)]
        edges = slice(*np.searchsorted(plan.edge_parent, (first, after)))
        node_of_edge = plan.edge_node[edges]
        padding = cells < 0
        # Padding attends to itself, because attention to no cell gives NaN.
        number = np.where(padding, len(plan.token) + np.arange(width), cells)
        yield Pass(
            ids=np.where(padding, 0, plan.token[cells]),
            read=cells >= plan.first[a : a + len(cells), None],
            parent=plan.edge_parent[edges] - first,
            token=trie.token[node_of_edge],
            result=node_of_edge,
            depth=np.where(padding, 0, plan.depth[cells]),
            number=number,
            end=np.where(padding, number + 1, plan.end[cells]),
        )


A = TypeVar("A")
B = TypeVar("B")


class once(cached_property[A]):
    """A ``cached_property`` that only one of several threads computes."""

    _computing = RLock()

    if not TYPE_CHECKING:

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            """Compute the value at the first access."""
            with self._computing:
                return super().__get__(instance, owner)


class Workers:
    """Threads that each compute batches alone. Their number changes no result."""

    def __init__(self, device: torch.device) -> None:
        """Start the threads; call this in the main thread, which has torch's number of threads."""
        self.count = torch.get_num_threads() if device.type == "cpu" else 1
        self._pool = (
            ThreadPoolExecutor(self.count, initializer=torch.set_num_threads, initargs=(1,))
            if self.count > 1
            else None
        )

    @property
    def abreast(self) -> int:
        """Number of batches to compute at a time: one is computed while another is prepared."""
        return min(2, self.count)

    def map(self, function: Callable[[A], B], values: Iterable[A]) -> list[B]:
        """Return ``function`` of each value, in order. Several callers may share the threads."""
        if self._pool is None:
            with single_thread():
                return list(map(function, values))
        return list(self._pool.map(function, values))

    def close(self) -> None:
        """Cancel calls that have not begun; their callers get a CancelledError."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
