"""Define watches, which follow the filling of a store and may end it between two shards."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # each small command imports this
    import pyarrow as pa


class Watch:
    """Is told of each step of a run; this one does nothing. No watch decides a score."""

    def begin(
        self, sentences: Mapping[str, Collection[Hashable]], missing: Collection[Hashable]
    ) -> None:
        """Take note of all ``sentences`` by language and those ``missing``; the engine is open."""

    def before(self) -> None:
        """Take note that a shard is next. May raise to end the run, which loses nothing here."""

    def wrote(self, part: Sequence[Hashable], scores: "pa.Table") -> None:
        """Take note of a written shard with the scores of ``part``."""

    def end(self) -> None:
        """Take note of the end, whether or not all sentences have scores."""


UNWATCHED = Watch()


class Watches(Watch):
    """Tells several watches everything in turn."""

    def __init__(self, *watches: Watch) -> None:
        """The first that ends the run does."""
        self.watches = watches

    def begin(
        self, sentences: Mapping[str, Collection[Hashable]], missing: Collection[Hashable]
    ) -> None:
        """See ``Watch``."""
        for watch in self.watches:
            watch.begin(sentences, missing)

    def before(self) -> None:
        """See ``Watch``."""
        for watch in self.watches:
            watch.before()

    def wrote(self, part: Sequence[Hashable], scores: "pa.Table") -> None:
        """See ``Watch``."""
        for watch in self.watches:
            watch.wrote(part, scores)

    def end(self) -> None:
        """See ``Watch``."""
        for watch in self.watches:
            watch.end()
