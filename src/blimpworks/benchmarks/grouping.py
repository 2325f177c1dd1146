"""Phenomena of paradigms, as a declaration groups them."""

from collections.abc import Callable, Collection
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from blimpworks.benchmarks.declaration import Declaration, declaration_in
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


def check_phenomena(declaration: Declaration, paradigms: Collection[str], folder: Path) -> None:
    """Raise UserError for a pattern of ``phenomena`` that none of the paradigms is left for."""
    left = {*paradigms}
    for phenomenon, patterns in declaration.phenomena.items():
        for pattern in patterns:
            fitting = {paradigm for paradigm in left if fnmatchcase(paradigm, pattern)}
            if not fitting:
                raise UserError(
                    f"{declaration_in(folder)}: key phenomena.{phenomenon}: {pattern!r} fits no "
                    "paradigm that others before it leave; those of the files are "
                    f"{', '.join(sorted(paradigms)[:6])}. Correct it."
                )
            left -= fitting
