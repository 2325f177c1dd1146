"""Define watches, which follow the filling of a store and may end it between two shards."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # each small command imports this
    import pyarrow as pa


class Watch:
    """Is told of each step of a run, and tells others, if it has any. No watch decides a score."""

    others: "tuple[Watch, ...]" = ()

    def __init__(self, *others: "Watch") -> None:
        """Tell ``others`` everything in turn; the first that ends the run does."""
        self.others = others

    def begin(
        self, sentences: Mapping[str, Collection[Hashable]], missing: Collection[Hashable]
    ) -> None:
        """Take note of all ``sentences`` by language and those ``missing``; the engine is open."""
        for watch in self.others:
            watch.begin(sentences, missing)

    def before(self) -> None:
        """Take note that a shard is next. May raise to end the run, which loses nothing here."""
        for watch in self.others:
            watch.before()

    def wrote(self, part: Sequence[Hashable], scores: "pa.Table") -> None:
        """Take note of a written shard with the scores of ``part``."""
        for watch in self.others:
            watch.wrote(part, scores)

    def end(self) -> None:
        """Take note of the end, whether or not all sentences have scores."""
        for watch in self.others:
            watch.end()


UNWATCHED = Watch()
