"""Change sentences by the operations of UrBLiMP's rules: delete, inflect, replace, add, move.

A draft is a copy of a treebank's sentence (a tree), which ``revise`` changes. Operations name words
as their rule's pattern does: {"V": 4, "S": 0} are names, and indices of words in the tree.

A complex is a word, such as a verb, with dependents that follow it, such as its auxiliaries. Their
relations are the operation's ``along``. An operation inflects the complex as a whole. For example,
it changes the gender of the Urdu complex *jāgī thī*, "had woken":

- A reading of a word is a cell that its form fills; a cell is a set of features that has forms in
  the pack. Before an auxiliary, *jāgī* is feminine singular or plural; *thī* is singular only.
- A feature of the complex is certain if all readings of some word agree in it. Both words show the
  feminine, *thī* also the singular.
- The new forms are masculine, in the certain number: *jāgā thā*, not *jāge the*.

New forms must be attested, so they must occur in some source.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import wordfreq

from blimpworks.errors import UserError
from blimpworks.linguistics.orthography import Orthography
from blimpworks.papers.urblimp.items import rules as declared
from blimpworks.papers.urblimp.items.inflection import cell_of, certain_features
from blimpworks.papers.urblimp.items.patterns import Tree, TreeWord
from blimpworks.papers.urblimp.items.rules import Language
from blimpworks.tables import LEXICON, read_table

BEGINNING, END = "^", "$"
"""Marks before the first word of a sentence, and after the last."""
LIST = "small"
"""Word list that wordfreq has for all its languages."""


class Attested:
    """Word forms that occur in some source, and the sentences and word bigrams of treebanks."""

    def __init__(
        self,
        trees: Iterable[Tree],
        orthography: Orthography,
        lexicon: Path | None = None,
        code: str | None = None,
    ) -> None:
        """Collect forms. Raises UserError if wordfreq does not know the language ``code``."""
        self.neighbours: set[tuple[str, str]] = set()
        self.sentences: set[tuple[str, ...]] = set()
        forms: set[str] = set()
        for tree in trees:
            tree_forms = [word.form for word in tree.words]
            forms.update(tree_forms)
            self.sentences.add(tuple(tree_forms))
            self.neighbours.update(zip([BEGINNING, *tree_forms], [*tree_forms, END], strict=True))
        if lexicon is not None:
            table = read_table(LEXICON, lexicon, ["form"])
            forms.update(map(orthography.word, set(table["form"].to_pylist())))
        if code is not None:
            try:
                forms.update(map(orthography.word, wordfreq.get_frequency_dict(code, LIST)))
            except (LookupError, ValueError):
                available = ", ".join(sorted(wordfreq.available_languages(LIST)))
                raise UserError(
                    f"the language pack's key 'attestation.wordfreq' is {code!r}, for which "
                    f"wordfreq has no list; expected one of {available}, or null to do without."
                ) from None
        # A form may be spelled as several words, each of which is then attested.
        self.forms = {word for form in forms for word in form.split()}

    def first_attested(self, forms: Iterable[str]) -> str:
        """Return the first of ``forms`` that is attested. Raises Rejected if none is."""
        for form in forms:
            if all(word in self.forms for word in form.split()):
                return form
        raise Rejected("not in the lexicon")


class Absent(LookupError):
    """A rule names a word that the draft lacks: the rule has deleted it, or is just moving it."""


class Rejected(Exception):
    """A match gives no pair; the message is the reason."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A word of a draft."""

    word: int
    """Index of the word in the tree; below zero for an added word."""
    form: str
    space: bool
    """Whether a space follows the word."""


@dataclass
class Draft:
    """A sentence to change: its words in their present order and forms."""

    tree: Tree
    slots: list[Slot]

    @property
    def forms(self) -> list[str]:
        return [slot.form for slot in self.slots]

    def position(self, index: int) -> int:
        """Return the position of a word of the tree. Raises Absent if it was left out."""
        for position, slot in enumerate(self.slots):
            if slot.word == index:
                return position
        raise Absent

    def size(self) -> int:
        """Count the words that spaces separate; a form such as a fused pronoun may have several."""
        return sum(len(form.split()) for form in self.forms)

    def word(self, index: int) -> TreeWord:
        """Return a word of the tree in its present form. Raises Absent if it was left out."""
        return self.tree.words[index].spelled(self.slots[self.position(index)].form)

    def spell(self, index: int, form: str) -> None:
        position = self.position(index)
        self.slots[position] = replace(self.slots[position], form=form)

    def insert(self, slots: Sequence[Slot], after: int) -> None:
        """Put words after a word of the tree, with a space between."""
        position = self.position(after)
        # ``Orthography.joined`` removes the space before punctuation.
        spaced = replace(self.slots[position], space=True)
        self.slots[position : position + 1] = [spaced, *slots]

    def text(self, orthography: Orthography) -> str:
        return orthography.joined((slot.form, slot.space) for slot in self.slots)

    def changed_positions(self, draft: "Draft", *, absent: bool) -> list[int]:
        """Return the positions of words of this draft that have another form in ``draft``.

        ``absent``: whether words that ``draft`` lacks count too, such as words added to this draft.
        """
        forms = {slot.word: slot.form for slot in draft.slots}
        positions: list[int] = []
        for position, slot in enumerate(self.slots):
            is_changed = forms[slot.word] != slot.form if slot.word in forms else absent
            if is_changed:
                positions.append(position)
        return positions


def revise(
    draft: Draft,
    operation: declared.Operation,
    nodes: dict[str, int],
    language: Language,
    attested: Attested,
) -> None:
    """Carry out an operation on a draft. Raises Rejected if the sentence does not allow it.

    ``nodes`` are the indices of words in the tree by their names in the rule: {"V": 4}. An added
    word, which is not in the tree, gets a name with an index below zero.
    """
    match operation:
        case declared.Delete():
            position = draft.position(nodes[operation.delete])
            del draft.slots[position]
            # ``Orthography.joined`` removes the space again if punctuation follows.
            if position:
                draft.slots[position - 1] = replace(draft.slots[position - 1], space=True)
        case declared.Inflect():
            _inflect(draft, operation, nodes, language, attested)
        case declared.Replace():
            index, table = nodes[operation.replace], language.tables[operation.by]
            old = draft.slots[draft.position(index)].form
            if old not in table:
                raise Rejected("not in the table")
            if table[old] == old:
                raise Rejected("no form by rule")
            draft.spell(index, attested.first_attested([table[old]]))
        case declared.Add():
            form = _agreeing_form(operation, draft.word(nodes[operation.agreeing]), language)
            # Added words get the indices -2, -3, …, because -1 stands for the head of a root.
            lowest = min(slot.word for slot in draft.slots)
            added = min(lowest, -1) - 1
            draft.insert([Slot(added, form, space=True)], nodes[operation.after])
            nodes[operation.name] = added
        case declared.Move():
            # The moved words follow the complex of the word ``after``, so auxiliaries stay with it.
            last = draft.tree.complex_of(nodes[operation.after], operation.along)[-1]
            # Other words that the rule names stay, even if they depend on the moved word.
            indices = draft.tree.subtree(nodes[operation.move], {*nodes.values()})
            positions = [draft.position(index) for index in indices]
            moved = [replace(draft.slots[position], space=True) for position in positions]
            draft.slots = [slot for slot in draft.slots if slot.word not in indices]
            draft.insert(moved, last)


def _agreeing_form(operation: declared.Add, agreeing: TreeWord, language: Language) -> str:
    """Return the form of the added word that agrees with another. Raises Rejected without any."""
    # The added word's class is closed: its endings are complete words, so the lemma is empty.
    named_forms = language.inflection.paradigms[operation.add].forms("").items()
    for reading in language.inflection.readings(agreeing):
        for cell_name, forms in named_forms:
            if cell_of(cell_name).items() <= reading.cell.items():
                return forms[0]
    raise Rejected("no form by rule")


def _new_values(tree: Tree, to: Mapping[str, str], nodes: Mapping[str, int]) -> dict[str, str]:
    """Return the new values of features; ``=S`` in ``to`` stands for the value of the word S.

    If S has no value of a feature, the result lacks the feature, which thus stays as it is.
    """
    values: dict[str, str] = {}
    for name, value in to.items():
        # A value that has no prefix is equal to this and is used as it is.
        unprefixed = value.removeprefix(declared.OF)
        new_value = (
            tree.words[nodes[unprefixed]].features.get(name) if unprefixed != value else value
        )
        if new_value:
            values[name] = new_value
    return values


def _inflect(
    draft: Draft,
    operation: declared.Inflect,
    nodes: Mapping[str, int],
    language: Language,
    attested: Attested,
) -> None:
    """Inflect a complex; the module's docstring defines the terms and has an example.

    Raises Rejected if no form changes, or if a new form is not attested or may be grammatical.
    """
    inflection, new_values = language.inflection, _new_values(draft.tree, operation.to, nodes)
    indices = draft.tree.complex_of(nodes[operation.inflect], operation.along)
    draft_words = [draft.word(index) for index in indices]
    with_next = [*zip(draft_words, [*draft_words[1:], None], strict=True)]  # (word, next word)
    readings = [inflection.readings(word, following) for word, following in with_next]
    certain = certain_features(readings)
    if operation.agreeing:
        features = draft.tree.words[nodes[operation.agreeing]].features
        if any(name in certain and certain[name] != features.get(name) for name in new_values):
            raise Rejected("does not agree as it is")
    changed: list[tuple[int, TreeWord, tuple[str, ...]]] = []  # index, word, new forms
    for index, (word, following), word_readings in zip(indices, with_next, readings, strict=True):
        if any(new_values.keys() & reading.cell.keys() for reading in word_readings):
            forms = inflection.inflect(word, new_values, following, certain)
            # If the present form also fills the new cell, it does not show the feature.
            if forms and word.form not in forms:
                changed.append((index, word, forms))
    if not changed:
        raise Rejected("no form by rule")
    # A new form that can also have these features is grammatical in this sentence too.
    also_grammatical = operation.unless.items()
    for index, word, forms in changed:
        new_form = attested.first_attested(forms)
        new_readings = inflection.readings(word.spelled(new_form)) if also_grammatical else []
        if any(also_grammatical <= reading.cell.items() for reading in new_readings):
            raise Rejected("the new form is licensed too")
        draft.spell(index, new_form)
