"""Find forms of a verb that another mood or tense makes right for a subject.

This rule is ours, not the authors': a form that replaces another is wrong only if no finite
reading of it fits the subject. Where lexicons lack a verb's forms, their other verbs decide.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from blimpworks.papers.multiblimp.items.features import COLUMNS_OF, UNDEFINED
from blimpworks.papers.multiblimp.items.inflection import AGREEING, Lexicon, LexiconRow, Query

Slot = tuple[str | None, str | None]
"""Mood and tense."""
Cell = tuple[tuple[str, frozenset[str]], ...]
"""Values that fit, for each agreement feature."""
Verdict = Literal["right", "undecided", "wrong"]
RULE, EXCEPTION = 0.5, 0.1
"""Shares of verbs with one form for two cells: a rule from the first on, chance below the
second."""
ENDINGS = (3, 2, 0)
"""Numbers of last letters that verbs share which inflect alike."""
ENOUGH = 5
"""Least number of verbs with both cells from which others are inferred."""


def slot_of(row: LexiconRow) -> Slot:
    """Return mood and tense of a reading."""
    return row.features.get("Mood"), row.features.get("Tense")


def cell_of(features: Query) -> Cell:
    """Return the agreement features of a query, or of a reading written as one."""
    return tuple((name, features[name]) for name in AGREEING if name in features)


def _is_finite(row: LexiconRow) -> bool:
    """Tell whether a reading can have a subject of any person; an imperative cannot."""
    features = row.features
    form = features.get("VerbForm", "FIN")
    return form == "FIN" and "Finiteness" not in features and features.get("Mood") != "IMP"


def _suits(row: LexiconRow, cell: Cell) -> bool:
    """Tell whether a reading agrees with a subject; an open or missing value does."""
    return all(row.features.get(name, UNDEFINED) in {*values, UNDEFINED} for name, values in cell)


@dataclass(slots=True)
class Paradigms:
    """Finite readings of verbs, for one agreement ``feature``.

    Readings count that could show the feature: those of lexicons that have a column for it.
    Moods that are ``bound`` to a governing verb make no form right.
    """

    feature: str
    lexicons: Sequence[Lexicon]
    bound: Collection[str] = ()
    _slots: dict[Slot, dict[str, list[LexiconRow]]] = field(default_factory=dict)
    _shown: set[Slot] = field(default_factory=set)
    """Slots where some verb shows the feature."""
    _vague: set[Slot] = field(default_factory=set)
    """Slots without a tense, of moods that have one elsewhere: these verbs are hardly annotated."""
    _shares: dict[tuple[Any, ...], float | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Sort the readings by slot and lemma."""
        slots: dict[Slot, dict[str, list[LexiconRow]]] = defaultdict(lambda: defaultdict(list))
        for lexicon in self.lexicons:
            column = lexicon.columns[self.feature]
            for lemma, rows in lexicon.by_lemma.items():
                for row in rows:
                    free = row.features.get("Mood") not in self.bound and not row.rare
                    if free and column in row.features and _is_finite(row):
                        slots[slot_of(row)][lemma].append(row)
                        if self._states(row):
                            self._shown.add(slot_of(row))
        self._slots = {slot: dict(lemmas) for slot, lemmas in slots.items()}
        tensed = {mood for mood, tense in slots if tense is not None}
        self._vague = {(mood, tense) for mood, tense in slots if tense is None and mood in tensed}

    def _states(self, row: LexiconRow) -> bool:
        """Tell whether a reading has a value of the feature."""
        values = (row.features.get(name, UNDEFINED) for name in COLUMNS_OF[self.feature])
        return any(value != UNDEFINED for value in values)

    def verdict(self, lemma: str, wrong: Iterable[LexiconRow], subject: Cell) -> Verdict:
        """Judge a form, by its readings ``wrong``, that replaces the form of a subject.

        The form is right if any of its readings agrees with the subject. Other verbs decide on
        slots that the lexicons lack of the verb. The form is undecided where some of those verbs
        have one form for both, or where none of them has another mood.
        """
        readings = [row for row in wrong if _is_finite(row)]
        forms = {row.form for row in readings}
        lacking: list[Slot] = []
        for slot, lemmas in self._slots.items():
            fitting = self._fitting(lemmas.get(lemma, ()), subject)
            if any(row.form in forms for row in fitting):
                return "right"
            if not fitting and slot not in self._vague:
                lacking.append(slot)
        shares = {
            (slot, row.bundle): share
            for row in readings
            for slot in lacking
            if (share := self._share(lemma, slot, subject, row)) is not None
        }
        if any(share >= RULE for share in shares.values()):
            return "right"
        moods = {row.features.get("Mood") for row in readings}
        foreign = {slot for slot in self._shown - self._vague if slot[0] not in moods}
        told = foreign - {*lacking} or foreign & {slot for slot, _ in shares}
        some = any(share >= EXCEPTION for share in shares.values())
        return "undecided" if some or (foreign and not told) else "wrong"

    def _fitting(self, rows: Iterable[LexiconRow], cell: Cell) -> list[LexiconRow]:
        """Return the readings of a verb's slot that agree with a subject.

        One that leaves the feature open counts only where no other states it, as *put* in the
        past, but not *sing* beside *sings*.
        """
        suiting = [row for row in rows if _suits(row, cell)]
        stating = [row for row in suiting if self._states(row)]
        return stating or suiting

    def _share(self, lemma: str, slot: Slot, subject: Cell, row: LexiconRow) -> float | None:
        """Return the share of verbs with one form for a subject in a slot and for a reading.

        The verbs are those that share the longest ending with the lemma of which enough have
        both forms. Return None where too few of any ending have them.
        """
        values = {n: frozenset({v}) for n, v in row.features.items() if v != UNDEFINED}
        for length in ENDINGS:
            key = (lemma[len(lemma) - length :], slot, subject, slot_of(row), cell_of(values))
            if key not in self._shares:
                same = [*self._compared(*key)]
                self._shares[key] = sum(same) / len(same) if len(same) >= ENOUGH else None
            if self._shares[key] is not None:
                return self._shares[key]
        return None

    def _compared(
        self, ending: str, slot: Slot, subject: Cell, other: Slot, cell: Cell
    ) -> Iterator[bool]:
        """Yield for each verb of an ending with both forms whether they are one."""
        if slot == other:
            return
        elsewhere = self._slots.get(other, {})
        for lemma, rows in self._slots[slot].items():
            if not lemma.endswith(ending) or lemma not in elsewhere:
                continue
            ours = {row.form for row in self._fitting(rows, subject)}
            suiting = (row for row in elsewhere[lemma] if _suits(row, cell))
            theirs = {row.form for row in suiting if self._states(row)}
            if ours and theirs:
                yield not ours.isdisjoint(theirs)
