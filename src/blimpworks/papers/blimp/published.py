"""Accuracies that BLiMP prints: Table 4, by paradigm and model, humans included.

Three groups of numbers are in each other's rows. Those of argument structure, and of determiners
and nouns with an adjective, follow the order of the authors' file of results; their labels don't.
That order is by name, with paradigms of animate subjects elsewhere. The human numbers of two
paradigms of subject-verb agreement are exchanged, in that file as well, but not in the released
summary of the validation.
"""

from collections.abc import Iterator, Sequence

from blimpworks.campaign.reference import PublishedRow
from blimpworks.papers.blimp.paradigms import HUMAN, LANG, PARADIGMS, PHENOMENON_OF
from blimpworks.reproduction.printed import PrintedAccuracy, printed_accuracy

PAIRS = 1000
"""Number of pairs of a paradigm (abstract)."""
_ARGUMENTS = PARADIGMS["argument_structure"]
_ADJECTIVES = tuple(u for u in PARADIGMS["determiner_noun_agreement"] if "_with_adj" in u)
MISPLACED = {
    **dict(zip(_ARGUMENTS, (*_ARGUMENTS[2:], *_ARGUMENTS[:2]), strict=True)),
    **dict(zip(_ADJECTIVES, (*_ADJECTIVES[1:], *_ADJECTIVES[:1]), strict=True)),
}
"""Rows of Table 4, and the paradigms of their numbers."""
_FIRST, _SECOND = (f"irregular_plural_subject_verb_agreement_{n}" for n in "12")
MISPLACED_HUMANS = {**MISPLACED, _FIRST: _SECOND, _SECOND: _FIRST}


def paradigm_of(row: PublishedRow) -> str:
    """Return the paradigm of a number of Table 4."""
    misplaced = MISPLACED_HUMANS if row.column == HUMAN else MISPLACED
    return misplaced.get(row.row, row.row)


def accuracies(printed: Sequence[PublishedRow]) -> Iterator[PrintedAccuracy]:
    """Yield accuracies of paradigms, with those in another's row put into place.

    Numbers of human ratings are not printed. Raises UserError for a row that is no paradigm, or a
    number that is no percentage.
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
                n=None if row.column == HUMAN else PAIRS,
                phenomenon=PHENOMENON_OF.get(paradigm),
                paradigm=paradigm,
            )
