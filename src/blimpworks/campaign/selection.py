"""Which rows of a catalogue a campaign names."""

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

from blimpworks.campaign.seeds import row_called
from blimpworks.errors import UserError

Row = TypeVar("Row")


def select_rows(
    names: Sequence[str] | Literal["all"], known: dict[str, Row], what: str, path: Path
) -> dict[str, Row]:
    """The wanted rows, in catalogue order. Raises UserError for an unknown name."""
    if names == "all":
        return known
    for name in names:
        if name not in known:
            raise UserError(
                f"{what} {name!r} of the campaign is not in {path}, which has "
                f"{', '.join(list(known)[:8])}, … ({len(known)} in all). "
                f"{_remedy(name, known)}"
            )
    return {name: row for name, row in known.items() if name in names}


def _remedy(name: str, known: Mapping[str, Any]) -> str:
    """What to do about a name that no row has."""
    if model := row_called(name, known):
        return (
            f"Name {model!r}: which seeds it has follows from 'seeds' of its recipe, and which "
            "sizes from 'tokens'."
        )
    called = {key.casefold(): key for key in known}
    for key, row in known.items():
        for column in ("name", "label", "hf_id"):
            called.setdefault(getattr(row, column, key).casefold(), key)
    close = difflib.get_close_matches(name.casefold(), called, n=1)
    return f"Did you mean {called[close[0]]!r}?" if close else "Correct it or add a row."
