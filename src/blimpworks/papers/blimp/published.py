"""Read the accuracies that BLiMP prints: Table 4, by paradigm and model, humans included.

Within three groups of paradigms, numbers are in wrong rows:

- Argument structure: two rows too high. ``causative`` has the numbers of ``inchoative``, two rows
  below; the last two rows have those of the first two. The numbers follow the order of the
  authors' file of results, the labels do not.
- Determiners and nouns with an adjective: one row too high, for the same reason. ``…_with_adj_2``
  has the numbers of ``…_with_adj_irregular_1``; the last row has those of the first.
- Subject-verb agreement: ``irregular_plural_…_1`` and ``…_2`` have each other's human numbers, also
  in the authors' file of results, but not in the released summary of the validation.
"""

from collections.abc import Iterator, Sequence

from blimpworks.campaign.reference import PublishedRow
from blimpworks.papers.blimp.paradigms import HUMAN, LANG, PARADIGMS, PHENOMENON_OF, RELEASED_PAIRS
from blimpworks.reproduction.printed import PrintedAccuracy, printed_accuracy

_ARGUMENTS = PARADIGMS["argument_structure"]
_ADJECTIVES = tuple(u for u in PARADIGMS["determiner_noun_agreement"] if "_with_adj" in u)
MISPLACED = {
    **dict(zip(_ARGUMENTS, (*_ARGUMENTS[2:], *_ARGUMENTS[:2]), strict=True)),
    **dict(zip(_ADJECTIVES, (*_ADJECTIVES[1:], *_ADJECTIVES[:1]), strict=True)),
}
"""{label of a row of Table 4: paradigm that the numbers in this row belong to}, two rows or one row
below; after the last row follows the first."""
_FIRST, _SECOND = (f"irregular_plural_subject_verb_agreement_{n}" for n in "12")
MISPLACED_HUMANS = {**MISPLACED, _FIRST: _SECOND, _SECOND: _FIRST}


def paradigm_of(row: PublishedRow) -> str:
    """Return the paradigm that a number of Table 4 belongs to."""
    misplaced = MISPLACED_HUMANS if row.column == HUMAN else MISPLACED
    return misplaced.get(row.row, row.row)


def accuracies(printed: Sequence[PublishedRow]) -> Iterator[PrintedAccuracy]:
    """Yield the accuracies of Table 4, each for the paradigm that it belongs to.

    The paper does not print numbers of human ratings. Raises UserError for a row that is not a
    paradigm, or a number that is not a percentage.
    """
    for row in printed:
        if row.exhibit == "table4":
            paradigm = paradigm_of(row)
            yield printed_accuracy(
                row,
                "a paradigm's name and percent",
                valid=row.row in PHENOMENON_OF,
                model=row.column,
                lang=LANG,
                n=None if row.column == HUMAN else RELEASED_PAIRS,
                phenomenon=PHENOMENON_OF.get(paradigm),
                paradigm=paradigm,
            )
