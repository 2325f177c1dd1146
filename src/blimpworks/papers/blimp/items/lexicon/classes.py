"""Classes of nouns, wider and narrower ones, and the restrictions that name them."""

from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from blimpworks.campaign.settings.parsing import read_settings
from blimpworks.errors import UserError

EXCLUDED = "!"
"""Before the name of a class that a restriction excludes."""


def _below(tree: Mapping[str, Any], above: tuple[str, ...]) -> Iterator[tuple[str, frozenset[str]]]:
    for name, narrower in tree.items():
        yield name, frozenset((*above, name))
        yield from _below(narrower or {}, (*above, name))


class Classes:
    """A hierarchy of classes: which ones each falls under."""

    def __init__(self, wider: Mapping[str, frozenset[str]]) -> None:
        """``wider``: for each class all that it falls under, itself included."""
        self.wider = wider
        self._accepts = lru_cache(maxsize=None)(self._decide)

    def check(self, restriction: str) -> str | None:
        """The first word of a restriction that is no class, if any."""
        words = (word.removeprefix(EXCLUDED) for word in restriction.split())
        return next((word for word in words if word not in self.wider), None)

    def accepts(self, restriction: str, classes: tuple[str, ...]) -> bool:
        """Whether nouns of some classes satisfy a restriction.

        It names classes, any of which will do, and after "!" those that will not; an empty one
        is satisfied by all.
        """
        return self._accepts(restriction, classes)

    def _decide(self, restriction: str, classes: tuple[str, ...]) -> bool:
        words = restriction.split()
        accepted = {word for word in words if not word.startswith(EXCLUDED)}
        excluded = {word.removeprefix(EXCLUDED) for word in words} - accepted
        held = {name for each in classes for name in self.wider[each]}
        return not held & excluded and (not accepted or bool(held & accepted))

    def within(self, restriction: str, wide: str, known: Collection[tuple[str, ...]]) -> bool:
        """Whether all of the ``known`` classes that satisfy a restriction satisfy ``wide`` too."""
        satisfying = [each for each in known if self.accepts(restriction, each)]
        return all(self.accepts(wide, each) for each in satisfying)


def read_classes(path: Path) -> Classes:
    """Read a hierarchy. Raises UserError when it is missing, or a class stands twice in it."""
    classes: dict[str, frozenset[str]] = {}
    for name, wider in _below(read_settings(path, "hierarchy of classes"), ()):
        if name in classes:
            raise UserError(f"{path}: class {name!r} stands twice; name it once.")
        classes[name] = wider
    return Classes(classes)
