"""Make forward passes of a causal model, of padded rows or rows of a prefix tree (``trie``)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch

from blimpworks.scoring.trie import Ids, Mask, Numbers, Plan, Trie, rectangle, sorted_numbers

CACHED = 1024
"""Most tokens in a pass on a CPU: more leave its cache, and take longer."""


def pass_size(requested: int, device: torch.device) -> int:
    """Return the most tokens in a pass, padding included."""
    return min(requested, CACHED) if device.type == "cpu" else requested


@dataclass(frozen=True, slots=True)
class Pass:
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
        trees = {
            name: None if table is None else table[rows, :width]
            for name, table in (("depth", self.depth), ("number", self.number), ("end", self.end))
        }
        return replace(
            self,
            ids=self.ids[rows, :width],
            read=self.read[rows, :width],
            parent=self.parent[edges] - cells,
            token=self.token[edges],
            place=self.place[edges],
            **trees,
        )


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
