"""Pairs from rules: match, prepare, change, check; and what became of each match."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from blimpworks.errors import UserError
from blimpworks.papers.urblimp.items.attested import BEGINNING, END, Attested
from blimpworks.papers.urblimp.items.changes import Rejected, apply
from blimpworks.papers.urblimp.items.drafts import Absent, Draft, changed_indices, new_indices
from blimpworks.papers.urblimp.items.patterns import Match, holds, matches
from blimpworks.papers.urblimp.items.rules import Language, Rule
from blimpworks.papers.urblimp.items.trees import Tree

SAME = "the same sentence"
SCATTERED = "differs in several places"
LICENSED = "the treebank has it beside the same words"
SENTENCE = "a sentence of the treebank"
EXCLUDED = "excluded by the rule"
AUX = "AUX"
DELETION, MOVE, REPLACEMENT = "deletion", "move", "replacement"


class Outcome(NamedTuple):
    """A match of a rule, and what became of it."""

    rule: str
    tree: Tree
    good: str
    bad: str
    change: str
    """deletion, of a sentence with fewer words than the other; else move, or replacement. Empty
    where no other sentence was begun."""
    constructed: bool
    """Whether the grammatical sentence is not the treebank's own."""
    reason: str
    """Why it gives no pair; empty where it gives one."""


@dataclass(frozen=True)
class Maker:
    """What rules of one language are applied with."""

    language: Language
    attested: Attested

    def outcomes(self, rule: Rule, tree: Tree) -> Iterator[Outcome]:
        """What becomes of each match of a rule in a tree, in the order of its words.

        Raises UserError for a rule that changes a word which it has left out.
        """
        for match in matches(rule.pattern, tree):
            if any(holds(excluded, tree, match) for excluded in rule.without):
                yield self._outcome(rule, tree, Draft.of(tree), None, EXCLUDED)
            else:
                yield self._made(rule, tree, match)

    def _made(self, rule: Rule, tree: Tree, match: Match) -> Outcome:
        good, bad, reason = Draft.of(tree), None, ""
        tools = (self.language, self.attested)
        named = dict(match)
        try:
            for operation in rule.prepare:
                apply(operation, tree, named, good, tools)
            bad = good.copy()
            for operation in rule.change:
                apply(operation, tree, named, bad, tools)
            self._check(rule, tree, good, bad)
        except Rejected as error:
            reason = str(error)
        except Absent:
            raise UserError(_absent(rule, tree)) from None
        return self._outcome(rule, tree, good, bad, reason)

    @staticmethod
    def _contiguous(good: Draft, tree: Tree, places: Sequence[int]) -> bool:
        """Whether nothing but auxiliaries stands between the changed words."""
        between = [good.slots[p].word for p in range(places[0], places[-1]) if p not in places]
        return all(index < 0 or tree.words[index].upos == AUX for index in between)

    def _check(self, rule: Rule, tree: Tree, good: Draft, bad: Draft) -> None:
        """Raise Rejected where the two sentences are no pair."""
        places = changed_indices(good, bad)
        forms = [slot.form for slot in bad.slots]
        if forms == [slot.form for slot in good.slots]:
            raise Rejected(SAME)
        if places and not self._contiguous(good, tree, places):
            raise Rejected(SCATTERED)
        if tuple(forms) in self.attested.sentences:
            raise Rejected(SENTENCE)
        new = new_indices(good, bad) if rule.context else []
        if new and all(self._beside(bad, place, rule) for place in new):
            raise Rejected(LICENSED)

    def _beside(self, bad: Draft, place: int, rule: Rule) -> bool:
        """Whether the treebank has a word of the draft beside the neighbours that the rule names.

        ``place`` is the word's in the bad draft.
        """
        forms = [BEGINNING, *(slot.form for slot in bad.slots), END]
        pairs = {"previous": (forms[place], forms[place + 1])}
        pairs["next"] = (forms[place + 1], forms[place + 2])
        return all(self.attested.beside(*pairs[side]) for side in rule.context)

    def _outcome(
        self, rule: Rule, tree: Tree, good: Draft, bad: Draft | None, reason: str
    ) -> Outcome:
        spelled = self.language.orthography
        text, change = (bad.text(spelled), _change(good, bad)) if bad else ("", "")
        return Outcome(
            rule.name, tree, good.text(spelled), text, change, bool(rule.prepare), reason
        )


def _change(good: Draft, bad: Draft) -> str:
    """What kind of change makes a sentence of the other one, whatever operations did it."""
    if bad.size() < good.size():
        return DELETION
    return MOVE if bad.moved else REPLACEMENT


def _absent(rule: Rule, tree: Tree) -> str:
    return (
        f"rule {rule.name!r} changes a word, or puts another after it, that it leaves out or moves "
        f"itself, in sentence {tree.sent_id!r} ({tree.file}:{tree.line}); expected a word that "
        "stays: see what its operations have under along."
    )
