"""Plan a model's forward passes over many token sequences, so that common prefixes cost less.

Engines give the ids of sequences and get ``Pass`` objects: tables of ids for the model, and the
cells of these tables at which log-probabilities are read. ``padded_passes`` has a row for each
sequence. For ``packed_passes``, ``build_trie`` joins sequences in a prefix tree. A row has
the ancestors of a node, then that node and the next ones in depth-first order. Each node attends to
itself and its ancestors; its position is its depth. ``runs`` gives the tree level by level, for
LSTMs. ``Workers`` are the threads that compute passes.

An *edge* is a node with its parent, and so one log-probability to read. ``flat`` [tokens] has the
ids of all sequences one after the other; ``lengths`` [sequences] has their numbers of tokens.

The tree below is that of ``a b c``, ``a b d`` and ``a e``; ``end`` is the first node after a node's
subtree. A model predicts ``c`` and ``d`` from its state at ``b``, so nodes without children need
not be computed: two tokens are computed in place of eight::

    node   0 a   1 b   2 c   3 d   4 e
    parent -1    0     1     1     0
    end    5     4     3     4     5
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
    """A prefix tree (several trees if first tokens differ), with nodes in depth-first order."""

    token: Numbers
    """Id of each node [nodes]."""
    parent: Numbers
    """Number of each node's parent; -1 for a first token [nodes]."""
    depth: Numbers
    """Number of each node's ancestors [nodes]."""
    end: Numbers
    """First node after each node's subtree [nodes]."""
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
    """Return the numbers of sequences, sorted by ids, prefixes first [sequences]."""
    content = flat.astype(">u4").tobytes()  # bytes are ordered as the numbers
    bounds = [0, *(4 * np.cumsum(lengths)).tolist()]
    keys = [content[a:b] for a, b in pairwise(bounds)]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)


def _ends(node: Numbers, real: Mask, new: Mask) -> Numbers:
    """Return the ends of nodes, from the tables node, is_token and is_new of ``build_trie``."""
    # A row is the last with a node if the next row has a new node, or none, in that column.
    is_last = real.copy()
    is_last[:-1] &= new[1:] | ~real[1:]
    rows, columns = np.nonzero(is_last)
    ends = np.empty(new.sum(), dtype=np.int64)
    ends[node[rows, columns]] = np.cumsum(new.sum(axis=1))[rows]
    return ends


def build_trie(flat: Ids, lengths: Numbers, *, merge: bool = True) -> Trie:
    """Build the prefix tree of sequences.

    No id is negative; sequences may be equal or empty. The nodes do not depend on the order of
    sequences. Without ``merge``, only equal sequences have a common path.
    """
    # Each row of a sorted table is a sequence, so that rows with a common prefix are neighbours.
    order = sorted_numbers(flat, lengths)
    unsorted_rows, is_unsorted_token = rectangle(flat, lengths)
    rows, is_token = unsorted_rows[order], is_unsorted_token[order]
    columns = np.arange(rows.shape[1])
    # ``shared``: the first column in which a row differs from the row before it. This is the length
    # of their common prefix. A column beyond the last token differs in every row.
    differs = np.ones((len(rows), rows.shape[1] + 1), dtype=bool)
    differs[1:, :-1] = (rows[1:] != rows[:-1]) | ~is_token[1:] | ~is_token[:-1]
    differs[:1, 0] = True
    shared: Numbers = differs.argmax(axis=1)
    if not merge:
        # Keep a common prefix only if it is the whole of both sequences. ``np.roll`` moves the
        # length of the sequence before to each row. The first row has no prefix in common anyway.
        counts = is_token.sum(axis=1)
        shared[shared < np.maximum(counts, np.roll(counts, 1))] = 0
    # A node is new in one row, and is repeated in the rows below with the same prefix.
    is_new = is_token & (columns >= shared[:, None])
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
        paths=node[row_of_sequence][is_unsorted_token],
    )


class RowPlan(NamedTuple):
    """The rows in which a model computes a tree, and where log-probabilities are read.

    Only inner nodes, which have children, are computed. They are numbered among themselves.
    """

    token: Numbers
    """Id of each inner node [inner nodes]."""
    depth: Numbers
    """Number of each inner node's ancestors [inner nodes]."""
    end: Numbers
    """First inner node after each inner node's subtree [inner nodes]."""
    cells: Numbers
    """Number of the inner node in each cell, -1 for padding [rows, width]."""
    first: Numbers
    """Row r has results for the inner nodes first[r] to first[r + 1] - 1; its other cells are
    their ancestors [rows + 1]."""
    edge_node: Numbers
    """Nodes of the tree with a parent, in the order of parents [edges]."""
    edge_parent: Numbers
    """Number of the inner node that is its parent, never falling [edges]."""


def _cut(depth: Numbers, start: int, width: int) -> int:
    """Return the first inner node after a row of at most ``width`` cells from ``start``.

    The next row repeats the ancestors of its first node. So a row may be up to a quarter shorter
    than ``width`` if the next row then repeats fewer ancestors.
    """
    full = start + width - int(depth[start])
    if full >= len(depth):
        return len(depth)
    candidates = np.arange(max(start + 1, full - width // 4), full + 1)
    waste = full - candidates + depth[candidates]
    return int(candidates[len(waste) - 1 - waste[::-1].argmin()])


def _row(parent: list[int], start: int, stop: int) -> list[int]:
    """Return the nodes of a row: the ancestors of ``start``, then ``start`` to ``stop`` - 1."""
    path = []
    node = parent[start]
    while node >= 0:
        path.append(node)
        node = parent[node]
    return [*path[::-1], *range(start, stop)]


def plan_rows(trie: Trie, width: int) -> RowPlan:
    """Put inner nodes in rows of at most ``width`` cells, or more if a path is longer."""
    # Number the inner nodes: ``inner_before`` counts those before each node.
    is_inner = np.zeros(len(trie.token), dtype=bool)
    with_parent = np.flatnonzero(trie.parent >= 0)
    is_inner[trie.parent[with_parent]] = True
    inner_before = np.concatenate([[0], np.cumsum(is_inner)])
    number = inner_before[:-1]
    depth = trie.depth[is_inner]
    width = max(width, int(depth.max(initial=0)) + 1)
    parent_nodes = trie.parent[is_inner]
    parent = np.where(parent_nodes >= 0, number[parent_nodes], -1).tolist()
    first, rows = [0], []
    while first[-1] < len(depth):
        first.append(_cut(depth, first[-1], width))
        rows.append(_row(parent, *first[-2:]))
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    cells, is_node = rectangle(np.array([n for row in rows for n in row], dtype=np.int64), lengths)
    edges = with_parent[np.argsort(trie.parent[with_parent], kind="stable")]
    return RowPlan(
        token=trie.token[is_inner],
        depth=depth,
        end=inner_before[trie.end[is_inner]],
        cells=np.where(is_node, cells, -1),
        first=np.array(first, dtype=np.int64),
        edge_node=edges,
        edge_parent=number[trie.parent[edges]],
    )


class PathRun(NamedTuple):
    """Inner nodes of one depth, or of several depths between which no path branches or ends."""

    token: Numbers
    """Ids; each column is a path downwards [steps, nodes]."""
    parent: Numbers
    """Column of each path's parent in the last step of the run before; 0 at the top [nodes]."""
    edge_node: Numbers
    """Nodes of the tree that follow a cell [edges]."""
    edge_parent: Numbers
    """Number of that cell in ``token``, row by row, never falling [edges]."""


def _levels(trie: Trie) -> Iterator[PathRun]:
    """Yield the inner nodes of each depth, each with the edges to its children."""
    by_depth = np.argsort(trie.depth, kind="stable")
    nodes_above = np.empty(0, dtype=np.int64)
    for start, stop in pairwise(np.cumsum(np.bincount(trie.depth)).tolist()):
        children = by_depth[start:stop]
        nodes, edge_parent = np.unique(trie.parent[children], return_inverse=True)
        parent = np.searchsorted(nodes_above, trie.parent[nodes])
        yield PathRun(trie.token[nodes][None], parent, children, edge_parent)
        nodes_above = nodes


def _joined(levels: list[PathRun]) -> PathRun:
    """Join levels, in each of which every node has one child, to a run of several steps."""
    width = levels[0].token.shape[1]
    return PathRun(
        token=np.concatenate([level.token for level in levels]),
        parent=levels[0].parent,
        edge_node=np.concatenate([level.edge_node for level in levels]),
        edge_parent=np.concatenate([n * width + e.edge_parent for n, e in enumerate(levels)]),
    )


def runs(trie: Trie, most: int) -> Iterator[PathRun]:
    """Yield all inner nodes of ``trie`` from the top downwards.

    A run of several steps has at most ``most`` cells; a single depth may have more. A run is one
    call of the model, so long runs are faster where few nodes are parallel, as in long texts.
    """
    levels: list[PathRun] = []
    for level in _levels(trie):
        if levels:
            is_full = (len(levels) + 1) * len(level.parent) > most
            # Paths continue if each node has one child.
            continues = np.array_equal(level.parent, np.arange(levels[-1].token.shape[1]))
            if is_full or not continues:
                yield _joined(levels)
                levels = []
        levels.append(level)
    if levels:
        yield _joined(levels)


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
    """Number of the predicting cell, among those of ``read`` row by row, never falling [edges]."""
    token: Numbers
    """Id that is predicted [edges]."""
    result: Numbers
    """Index of the log-probability in the caller's results [edges]."""
    depth: Numbers | None = None
    """Position of each cell [rows, width]."""
    number: Numbers | None = None
    """Number of each cell's node [rows, width]."""
    end: Numbers | None = None
    """Number after its subtree. A cell attends to cells with number <= its number < end."""

    def halves(self) -> tuple["Pass", "Pass"]:
        """Divide a pass that needs too much memory into two with half of the rows."""
        middle = len(self.ids) // 2
        cells = int(self.read[:middle].sum())
        edges = int(np.searchsorted(self.parent, cells))
        return self._part(slice(middle), slice(edges), 0), self._part(
            slice(middle, None), slice(edges, None), cells
        )

    def _part(self, rows: slice, edges: slice, cells: int) -> "Pass":
        """Return some rows as a pass; ``cells`` is the number of read cells before them."""
        # The rows of one half may all be shorter than the longest row of the pass.
        width = int(np.flatnonzero(self.read[rows].any(axis=0))[-1]) + 1
        names = ("ids", "read", "depth", "number", "end")
        tables = ((name, getattr(self, name)) for name in names)
        cut: dict[str, Any] = {n: None if t is None else t[rows, :width] for n, t in tables}
        token, result = self.token[edges], self.result[edges]
        return self._replace(parent=self.parent[edges] - cells, token=token, result=result, **cut)


Rows = Literal["padded", "equal", "alone"]
"""Sequences that can be in one pass: of any lengths, only of equal length, or a single one."""


def make_batches(
    lengths: Sequence[int], order: Sequence[int], most: int, rows: Rows = "padded"
) -> Iterator[list[int]]:
    """Divide sequences into batches of at most ``most`` tokens, padding included.

    ``order`` has the numbers of sequences, sorted by length. A longer sequence has its own batch.
    """
    batch: list[int] = []
    for number in order:
        is_full = batch and (len(batch) + 1) * lengths[number] > most
        has_other_length = batch and rows != "padded" and lengths[number] != lengths[batch[0]]
        if is_full or has_other_length or (batch and rows == "alone"):
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch


def padded_passes(flat: Ids, lengths: Numbers, most: int, rows: Rows = "padded") -> Iterator[Pass]:
    """Put sequences into rows that are padded on the right.

    Passes have at most ``most`` cells, or one longer sequence, and do not depend on the order of
    sequences. A token's result has the token's index in ``flat``; a first token has none.
    """
    starts = np.cumsum(lengths) - lengths
    by_ids = sorted_numbers(flat, lengths)
    order = by_ids[np.argsort(lengths[by_ids], kind="stable")]
    order = order[lengths[order] > 1]
    for group in make_batches((lengths - 1).tolist(), order.tolist(), most, rows):
        # The last token of a sequence predicts nothing, so it is not in the row.
        counts = lengths[group] - 1
        shift = starts[group] - np.cumsum(counts) + counts
        predictor = np.arange(counts.sum()) + np.repeat(shift, counts)
        ids, read = rectangle(flat[predictor], counts)
        parent = np.arange(len(predictor))
        yield Pass(ids, read, parent, flat[predictor + 1].astype(np.int64), predictor + 1)


def packed_passes(trie: Trie, plan: RowPlan, most: int) -> Iterator[Pass]:
    """Put the rows of ``plan`` into passes of at most ``most`` cells; a longer row has its own.

    A node's result has the node's number in ``trie`` as its index; first tokens have none.
    """
    rows, width = plan.cells.shape
    rows_per_pass = max(1, most // max(1, width))
    for row in range(0, rows, rows_per_pass):
        cells = plan.cells[row : row + rows_per_pass]
        first, after = plan.first[row], plan.first[row + len(cells)]
        edges = slice(*np.searchsorted(plan.edge_parent, (first, after)))
        node_of_edge = plan.edge_node[edges]
        is_padding = cells < 0
        # Padding attends to itself, because attention to no cell gives NaN.
        number = np.where(is_padding, len(plan.token) + np.arange(width), cells)
        yield Pass(
            ids=np.where(is_padding, 0, plan.token[cells]),
            read=cells >= plan.first[row : row + len(cells), None],
            parent=plan.edge_parent[edges] - first,
            token=trie.token[node_of_edge],
            result=node_of_edge,
            depth=np.where(is_padding, 0, plan.depth[cells]),
            number=number,
            end=np.where(is_padding, number + 1, plan.end[cells]),
        )


A = TypeVar("A")
B = TypeVar("B")


class once(cached_property[A]):
    """A ``cached_property`` that is computed by one thread only; others wait for its value."""

    _computing = RLock()

    if not TYPE_CHECKING:

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            """Compute the value at the first access."""
            with self._computing:
                return super().__get__(instance, owner)


class Workers:
    """Threads that compute one batch each at a time. Their number changes no result."""

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
