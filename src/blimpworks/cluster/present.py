"""What of a campaign's scores is there already."""

from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from blimpworks.campaign.parts import Kind
from blimpworks.errors import UserError
from blimpworks.generation.manifest import GenerationManifest
from blimpworks.scoring.run import Manifest, read_manifest


class Stored(NamedTuple):
    """What shards of a store hold."""

    sentences: int
    tokens: int
    bytes: int

    def __add__(self, other: object) -> "Stored":
        """The two together."""
        if not isinstance(other, Stored):
            return NotImplemented
        return Stored(*(a + b for a, b in zip(self, other, strict=True)))

    @property
    def mean(self) -> float | None:
        """Tokens of a mean sentence; None without any."""
        return self.tokens / self.sentences if self.sentences else None


NOTHING = Stored(0, 0, 0)


def _shard(path: Path) -> Stored:
    """Rows of a shard, from its metadata alone; nothing of one that cannot be read."""
    try:
        meta = pq.read_metadata(path)
    except (OSError, pa.ArrowException):
        return NOTHING
    tokens = 0
    for number in range(meta.num_row_groups):
        group = meta.row_group(number)
        columns = [group.column(i) for i in range(group.num_columns)]
        tokens += sum(c.num_values for c in columns if c.path_in_schema.startswith("ids."))
    return Stored(meta.num_rows, tokens, path.stat().st_size)


def read_kind(kind: Kind, manifest: Path) -> Manifest:
    """The manifest of a part that scores or answers. Raises UserError where there is none."""
    return read_manifest(manifest, GenerationManifest if kind == "answer" else Manifest)


def stored(store: Path) -> Stored:
    """What the shards in ``store``, a part's directory, hold."""
    return sum(map(_shard, sorted((store / "shards").glob("part-*.parquet"))), NOTHING)


def is_done(store: Path, kind: Kind = "score") -> bool:
    """Whether the part whose directory is ``store`` has its manifest."""
    try:
        read_kind(kind, store / "manifest.json")
    except UserError:
        return False
    return True
