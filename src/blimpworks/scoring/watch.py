"""What looks on while a store is filled: it may report, or end the run between two shards."""

from collections.abc import Collection, Hashable, Mapping, Sequence

import pyarrow as pa


class Watch:
    """Told of each step of a run; this one does nothing with it.

    It decides no score: what a watch of another kind does is no part of the code behind one.
    """

    def begin(
        self, sentences: Mapping[str, Collection[Hashable]], missing: Collection[Hashable]
    ) -> None:
        """The engine is open; of the ``sentences`` of each language, these are ``missing``."""

    def before(self) -> None:
        """A shard is next. May raise to end the run here, where nothing is lost."""

    def wrote(self, part: Sequence[Hashable], scores: pa.Table) -> None:
        """The shard with the scores of ``part`` was written."""

    def end(self) -> None:
        """The run is over, whether all sentences have scores or it was ended."""


UNWATCHED = Watch()


class Watches(Watch):
    """Several watches, each told of everything in turn."""

    def __init__(self, *watches: Watch) -> None:
        """Of several that may end the run, the first does."""
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

    def wrote(self, part: Sequence[Hashable], scores: pa.Table) -> None:
        """See ``Watch``."""
        for watch in self.watches:
            watch.wrote(part, scores)

    def end(self) -> None:
        """See ``Watch``."""
        for watch in self.watches:
            watch.end()
