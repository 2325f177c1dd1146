"""Read the accuracies that UrBLiMP prints by paradigm: Tables 7 to 9, and section 4.1.

The accuracies by phenomenon of Table 4 are means of these, and are recomputed from them. mBERT and
mT5 are left out: the paper prints no accuracies of their paradigms, so denominators are unknown.
"""

from collections.abc import Iterator, Sequence

from blimpworks.campaign.reference import PublishedRow
from blimpworks.papers.urblimp.phenomena import HUMAN, LANG, PARADIGMS, PHENOMENON_OF
from blimpworks.reproduction.printed import PrintedAccuracy, printed_accuracy


def accuracies(printed: Sequence[PublishedRow]) -> Iterator[PrintedAccuracy]:
    """Yield accuracies of models over all pairs of a paradigm, and of people over some pairs.

    The paper does not print how many pairs of a paradigm people judged, so their n is None. Raises
    UserError for an unknown paradigm, or one without a number of pairs.
    """
    # Numbers of pairs by paradigm. ``sound`` is the corrected number, or else the printed one.
    rows = [row for row in printed if row.exhibit == "table10"]
    sizes = {row.row: int(row.sound) for row in rows if row.sound}
    for row in printed:
        if row.exhibit in ("table7", "table8") and row.column != "average":
            model, paradigm = row.column, row.row
        elif row.exhibit == "table9" and row.row != "average":
            model, paradigm = HUMAN, row.row
        elif row.exhibit == "text" and row.column in PARADIGMS and row.unit == "%":
            model, paradigm = row.row, row.column
        else:
            continue
        if row.value is None:
            continue
        yield printed_accuracy(
            row,
            "percent, and the paradigm's number of pairs in table10",
            valid=paradigm in sizes and paradigm in PARADIGMS,
            model=model,
            lang=LANG,
            n=None if model == HUMAN else sizes.get(paradigm),
            phenomenon=PHENOMENON_OF.get(paradigm),
            paradigm=paradigm,
        )
