"""Phenomena of paradigms, as a declaration groups them."""

from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import cache

from blimpworks.benchmarks.declaration import Declaration
from blimpworks.errors import UserError

# Here too, because its own module loads scipy, which explaining a number can do without.
ALL = "all"
"""What rows of accuracies say of whole phenomena, and of the whole benchmark."""


def grouping(declaration: Declaration) -> Callable[[str], str | None]:
    """The phenomenon of a paradigm, by the declaration; None where it does not say.

    Raises UserError, when it is called, for a paradigm that phenomena leave out.
    """

    @cache
    def phenomenon_of(paradigm: str) -> str | None:
        """The first phenomenon with a name or pattern that fits."""
        for phenomenon, patterns in declaration.phenomena.items():
            if any(fnmatchcase(paradigm, pattern) for pattern in patterns):
                return phenomenon
        if declaration.phenomena:
            raise UserError(
                f"paradigm {paradigm!r} is of no phenomenon of {declaration.label}; add it to one "
                f"of 'phenomena' ({', '.join(declaration.phenomena)})."
            )
        return None

    return phenomenon_of
