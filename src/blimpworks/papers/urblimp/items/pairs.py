"""Pairs from rules: match, prepare, change, check; and what became of each match."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from blimpworks.errors import UserError
from blimpworks.papers.urblimp.items.attested import BEGINNING, END, Attested
from blimpworks.papers.urblimp.items.changes import Absent, Draft, Rejected, Revision
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
                yield self._outcome(rule, Draft.of(tree), None, EXCLUDED)
            else:
                yield self._result_of(rule, tree, match)

    def _result_of(self, rule: Rule, tree: Tree, match: Match) -> Outcome:
        """What becomes of a match that the rule does not exclude."""
        good, bad, reason = Draft.of(tree), None, ""
        nodes = dict(match)
        try:
            for operation in rule.prepare:
                Revision(self.language, self.attested, nodes, good).apply(operation)
            bad = good.copy()
            for operation in rule.change:
                Revision(self.language, self.attested, nodes, bad).apply(operation)
            self._check(rule, good, bad)
        except Rejected as error:
            reason = str(error)
        except Absent:
            raise UserError(_absent(rule, tree)) from None
        return self._outcome(rule, good, bad, reason)

    def _check(self, rule: Rule, good: Draft, bad: Draft) -> None:
        """Raise Rejected where the two sentences are no pair."""
        if bad.forms == good.forms:
            raise Rejected(SAME)
        if not _contiguous(good, good.changed_places(bad, absent=False)):
            raise Rejected(SCATTERED)
        if tuple(bad.forms) in self.attested.sentences:
            raise Rejected(SENTENCE)
        new = bad.changed_places(good, absent=True) if rule.context else []
        if new and all(self._beside(bad, place, rule) for place in new):
            raise Rejected(LICENSED)

    def _beside(self, bad: Draft, place: int, rule: Rule) -> bool:
        """Whether the treebank has a word of the draft beside the neighbours that the rule names.

        ``place`` is the word's in the bad draft.
        """
        previous, form, following = [BEGINNING, *bad.forms, END][place : place + 3]
        pairs = {"previous": (previous, form), "next": (form, following)}
        return all(self.attested.beside(*pairs[side]) for side in rule.context)

    def _outcome(self, rule: Rule, good: Draft, bad: Draft | None, reason: str) -> Outcome:
        return Outcome(
            rule=rule.name,
            tree=good.tree,
            good=good.text(self.language.orthography),
            bad=bad.text(self.language.orthography) if bad else "",
            change=_change(good, bad) if bad else "",
            constructed=bool(rule.prepare),
            reason=reason,
        )


def _contiguous(draft: Draft, places: Sequence[int]) -> bool:
    """Whether nothing but auxiliaries stands between the words in these places."""
    inner = range(min(places, default=0), max(places, default=0))
    between = [draft.slots[place].word for place in inner if place not in places]
    return all(index < 0 or draft.tree.words[index].upos == AUX for index in between)


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
