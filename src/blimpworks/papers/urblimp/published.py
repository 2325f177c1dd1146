"""Accuracies that UrBLiMP prints of single paradigms: Tables 7 to 9, and section 4.1.

The phenomena of Table 4 are means of these, and are recomputed from them. Those of mBERT and
mT5, of which no paradigms are printed, are not among the accuracies: what they are shares of
is not known.
"""

from collections.abc import Iterator, Sequence

from blimpworks.campaign.reference import PublishedRow
from blimpworks.errors import UserError
from blimpworks.papers.urblimp.phenomena import HUMAN, LANG, PARADIGMS, PHENOMENON_OF
from blimpworks.reproduction.printed import PrintedAccuracy


def _model_and_paradigm(row: PublishedRow) -> tuple[str, str] | None:
    """Model and paradigm that a printed number is an accuracy of, if it is one."""
    if row.exhibit in ("table7", "table8") and row.column != "average":
        return row.column, row.row
    if row.exhibit == "table9" and row.row != "average":
        return HUMAN, row.row
    if row.exhibit == "text" and row.column in PARADIGMS and row.unit == "%":
        return row.row, row.column
    return None


def accuracies(printed: Sequence[PublishedRow]) -> Iterator[PrintedAccuracy]:
    """Accuracies of models over all pairs of a paradigm, and of people, over pairs unknown.

    Raises UserError for an unknown paradigm, or one whose number of pairs is missing.
    """
    # Pairs of each paradigm by Table 10: corrected where that is known, else as printed.
    rows = [row for row in printed if row.exhibit == "table10"]
    sizes = {row.row: int(row.sound) for row in rows if row.sound}
    for row in printed:
        accuracy_of = _model_and_paradigm(row)
        if accuracy_of is None or row.value is None:
            continue
        model, paradigm = accuracy_of
        if paradigm not in sizes or paradigm not in PARADIGMS or not 0 <= row.value <= 100:
            raise UserError(
                f"{row.exhibit}: row {row.row!r}, column {row.column!r} is {row.text!r}; expected "
                "percent, of a paradigm that table10 has the number of pairs of."
            )
        yield PrintedAccuracy(
            model=model,
            lang=LANG,
            accuracy=row.value / 100,
            rounding=row.half_unit / 100,
            origin=row.place,
            n=None if model == HUMAN else sizes[paradigm],
            phenomenon=PHENOMENON_OF[paradigm],
            paradigm=paradigm,
        )
