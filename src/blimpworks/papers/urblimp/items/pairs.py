"""Pairs from rules: match, prepare, change, check; and what became of each match."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from blimpworks.errors import UserError
from blimpworks.papers.urblimp.items.attested import BEGINNING, END, Attested
from blimpworks.papers.urblimp.items.changes import Absent, Draft, Rejected, Revision
from blimpworks.papers.urblimp.items.patterns import holds, matches
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
        """Make the outcome of each match of a rule in a tree, in the order of its words.

        Raises UserError for a rule that changes a word which it has left out.
        """
        orthography = self.language.orthography
        for match in matches(rule.pattern, tree):
            good, bad, reason = Draft.of(tree), None, ""
            nodes = dict(match)
            try:
                if any(holds(excluded, tree, match) for excluded in rule.without):
                    raise Rejected(EXCLUDED)
                for operation in rule.prepare:
                    Revision(self.language, self.attested, nodes, good).apply(operation)
                bad = good.copy()
                for operation in rule.change:
                    Revision(self.language, self.attested, nodes, bad).apply(operation)
                self._check(rule, good, bad)
            except Rejected as error:
                reason = str(error)
            except Absent:
                raise UserError(
                    f"rule {rule.name!r} changes a word, or puts another after it, that it leaves "
                    f"out or moves itself, in sentence {tree.sent_id!r} ({tree.file}:{tree.line}); "
                    "expected a word that stays: see what its operations have under along."
                ) from None
            change = ""
            if bad:
                change = MOVE if bad.moved else REPLACEMENT
                change = DELETION if bad.size() < good.size() else change
            yield Outcome(
                rule=rule.name,
                tree=tree,
                good=good.text(orthography),
                bad=bad.text(orthography) if bad else "",
                change=change,
                constructed=bool(rule.prepare),
                reason=reason,
            )

    def _check(self, rule: Rule, good: Draft, bad: Draft) -> None:
        """Raise Rejected where the two sentences are no pair."""
        if bad.forms == good.forms:
            raise Rejected(SAME)
        # Between the words that change there may be auxiliaries alone.
        changed = good.changed_places(bad, absent=False)
        for at in range(min(changed, default=0), max(changed, default=0)):
            word = good.slots[at].word
            if at not in changed and word >= 0 and good.tree.words[word].upos != AUX:
                raise Rejected(SCATTERED)
        if tuple(bad.forms) in self.attested.sentences:
            raise Rejected(SENTENCE)
        new = bad.changed_places(good, absent=True) if rule.context else []
        if new and all(self._beside(bad, at, rule) for at in new):
            raise Rejected(LICENSED)

    def _beside(self, bad: Draft, at: int, rule: Rule) -> bool:
        """Tell whether the treebank has a word of the draft beside the neighbours that count."""
        previous, form, following = [BEGINNING, *bad.forms, END][at : at + 3]
        pairs = {"previous": (previous, form), "next": (form, following)}
        return all(pairs[side] in self.attested.neighbours for side in rule.context)
