"""Build UrBLiMP's minimal pairs: apply rules to treebanks' sentences, and record failed matches.

``build_items`` (at the end) reads a folder of rules and the tables of a treebank. It writes items
(pairs), counts of matches, and rejected matches. A match of a rule's pattern in a sentence (a tree)
names words of the sentence: {"V": 4, "S": 0}. The rule's operations change copies of the sentence
(``drafts``) into the good and the bad sentence of a pair. The bad one must not be in the treebank.

Source: Adeeba, Dillon, Sajjad and Bhatt (2025), section 2, but with open data, because neither the
paper's treebank nor its corpus is public.
"""

import difflib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from blimpworks.errors import UserError
from blimpworks.items import evenly, item_id, regions_of
from blimpworks.papers.urblimp.items import patterns
from blimpworks.papers.urblimp.items import rules as declared
from blimpworks.papers.urblimp.items.drafts import (
    BEGINNING,
    END,
    Absent,
    Attested,
    Draft,
    Rejected,
    Slot,
    revise,
)
from blimpworks.papers.urblimp.items.patterns import Tree
from blimpworks.papers.urblimp.items.rules import LANGUAGE, Language, Rule
from blimpworks.papers.urblimp.phenomena import PARADIGMS, PHENOMENON_OF
from blimpworks.papers.urblimp.settings import UrblimpOptions
from blimpworks.papers.urblimp.tables import DROPPED, ITEM_SCHEMA, KEPT, REJECTED, RULE_COUNTS
from blimpworks.tables import write_rows


class Outcome(NamedTuple):
    """The outcome of a rule's match: a pair, or the reason why there is none."""

    rule: str
    tree: Tree
    good: str
    bad: str
    change: str
    """Type of change: deletion (``bad`` has fewer words), move, replacement, or "" without bad."""
    constructed: bool
    """Whether the rule has changed the treebank's sentence to make the grammatical one."""
    reason: str
    """Why there is no pair; empty where there is one."""


def apply_rule(rule: Rule, tree: Tree, language: Language, attested: Attested) -> Iterator[Outcome]:
    """Yield the outcome of each match of a rule in a tree, in the order of its words.

    Raises UserError for a rule that changes a word which it has deleted.
    """
    for match in patterns.matches(rule.pattern, tree):
        slots = [Slot(i, word.form, word.space) for i, word in enumerate(tree.words)]
        good, bad, reason = Draft(tree, slots), None, ""
        nodes = dict(match)
        try:
            if tree.contracted:
                raise Rejected("in a sentence with a token of several words")
            if any(patterns.holds(excluded, tree, match) for excluded in rule.without):
                raise Rejected("excluded by the rule")
            for operation in rule.prepare:
                revise(good, operation, nodes, language, attested)
            bad = Draft(tree, [*good.slots])
            for operation in rule.change:
                revise(bad, operation, nodes, language, attested)
            _check_pair(good, bad, rule, attested)
        except Rejected as error:
            reason = str(error)
        except Absent:
            raise UserError(
                f"rule {rule.name!r} changes a word, or puts another after it, that it deletes or "
                f"moves itself, in sentence {tree.sent_id!r} ({tree.file}:{tree.line}); expected "
                "a word that stays. Correct 'along' of its operations."
            ) from None
        moves = any(isinstance(operation, declared.Move) for operation in rule.change)
        if bad is None:
            change = ""
        elif bad.size() < good.size():
            change = "deletion"
        else:
            change = "move" if moves else "replacement"
        yield Outcome(
            rule=rule.name,
            tree=tree,
            good=good.text(language.orthography),
            bad=bad.text(language.orthography) if bad else "",
            change=change,
            constructed=bool(rule.prepare),
            reason=reason,
        )


def _check_pair(good: Draft, bad: Draft, rule: Rule, attested: Attested) -> None:
    """Raise Rejected for drafts that are no minimal pair, or a bad one that may be grammatical."""
    if bad.forms == good.forms:
        raise Rejected("the same sentence")
    # The sentences must differ in one place, so words between changed words must change too.
    # Auxiliaries may stay, as may words that the rule added to the good sentence.
    changed = good.changed_positions(bad, absent=False)
    for position in range(min(changed, default=0), max(changed, default=0)):
        word = good.slots[position].word
        may_stay = word < 0 or good.tree.words[word].upos == "AUX"
        if position not in changed and not may_stay:
            raise Rejected("differs in several places")
    if tuple(bad.forms) in attested.sentences:
        raise Rejected("a sentence of the treebank")
    # If the treebank has each new form beside the same words, the bad sentence may be grammatical.
    # The rule says which words to compare: the one before, the one after, or both.
    bigrams: list[tuple[str, str]] = []
    previous_forms, following_forms = [BEGINNING, *bad.forms], [*bad.forms[1:], END]
    for position in bad.changed_positions(good, absent=True):
        form = bad.forms[position]
        before, after = (previous_forms[position], form), (form, following_forms[position])
        bigrams += [before if side == "previous" else after for side in rule.context]
    if bigrams and attested.neighbours.issuperset(bigrams):
        raise Rejected("the treebank has it beside the same words")


ORIGIN = ("treebank", "file", "sent_id", "line")
"""Columns of items that are attributes of the tree."""
Row = dict[str, Any]
"""{column: value}."""


def _check_faults(language: Language, trees: Sequence[Tree]) -> None:
    """Raise UserError if the language pack names a faulty sentence that is not in its file."""
    present = {(tree.file, tree.sent_id) for tree in trees}
    files = {file for file, _ in present}
    for fault in language.faults:
        for file, sentences in fault.sentences.items():
            absent = [name for name in sentences if file in files and (file, name) not in present]
            if absent:
                raise UserError(
                    f"the language pack's faults name {absent[0]!r}, which {file} does not have; "
                    "expected only its sentences. Correct the names by the new release."
                )


def _check_files(rules: Path) -> None:
    """Raise UserError for a visible file in the folder of rules that nothing would read."""
    expected = {f"{name}.yaml" for name in (LANGUAGE, *PARADIGMS)}
    visible = {path.name for path in rules.glob("[!.]*")}
    if visible - expected:
        name = min(visible - expected)
        near = difflib.get_close_matches(name, expected, n=1, cutoff=0)
        raise UserError(
            f"{rules / name} is neither {LANGUAGE}.yaml nor called like a paradigm, as "
            f"{near[0]} is; expected no other files among rules. Rename it, or move it away."
        )


def _outcomes_of_paradigm(
    rules: Sequence[Rule],
    trees: Mapping[str, Sequence[Tree]],
    language: Language,
    attested: Attested,
    options: UrblimpOptions,
) -> list[Outcome]:
    """Apply a paradigm's rules; also reject pairs that are faulty, repeated or beyond the limit.

    ``trees`` are {``source`` of a rule: sentences}. Outcomes are in the order of rules and trees.
    """
    faults = language.faults if options.variant == "corrected" else ()
    outcomes: list[Outcome] = []
    pairs_so_far: set[tuple[str, str]] = set()
    for rule in rules:
        for tree in trees[rule.source]:
            for outcome in apply_rule(rule, tree, language, attested):
                pair, reason = (outcome.good, outcome.bad), outcome.reason
                if not reason:
                    tree_faults = [fault for fault in faults if fault.is_in(tree)]
                    if tree_faults:
                        reason = f"faulty in the treebank: {tree_faults[0].about}"
                    elif pair in pairs_so_far:
                        reason = "made before"
                    else:
                        pairs_so_far.add(pair)
                outcomes.append(outcome._replace(reason=reason))
    with_pair = [number for number, outcome in enumerate(outcomes) if not outcome.reason]
    kept = {*evenly(with_pair, options.per_paradigm)}
    for number in with_pair:
        if number not in kept:
            outcomes[number] = outcomes[number]._replace(reason="beyond per_paradigm")
    return outcomes


def _item_fields(outcome: Outcome, lang: str, paradigm: str) -> Row:
    """Return the columns of a pair's item that its match does not have."""
    good, bad = outcome.good, outcome.bad
    spans = regions_of(good, bad)
    return {
        "item_id": item_id("urblimp", lang, paradigm, good, bad),
        "treebank": outcome.tree.treebank or None,
        "focus_good": good[spans.good_start : spans.good_end],
        "focus_bad": bad[spans.bad_start : spans.bad_end],
        **spans._asdict(),
    }


def build_items(
    rules: Path,
    lang: str,
    tokens: Path,
    sentences: Path,
    output: Path,
    counts: Path,
    rejected: Path,
    options: UrblimpOptions,
    lexicon: Path | None = None,
    text: Sequence[Path] = (),
) -> dict[str, int]:
    """Apply the rules in a folder and write a language's items; return {paradigm: pairs}.

    Rules with ``source: text`` also apply to the files of plain ``text``. The table ``counts`` gets
    the number of matches for each rule and outcome, ``rejected`` the matches without a pair. Items
    are ordered by paradigm, rule and treebank. Raises UserError for malformed rules or packs, names
    of faulty sentences that do not exist, and if there is no pair.
    """
    _check_files(rules)
    language = declared.read_language(rules / f"{LANGUAGE}.yaml")
    trees = list(patterns.read_trees(tokens, sentences, language.orthography))
    attested = Attested(trees, language.orthography, lexicon, language.attestation.wordfreq)
    # If the settings name none of the language's files, all are used.
    chosen = {*(options.files or ())} & {tree.file for tree in trees}
    selected = [tree for tree in trees if not chosen or tree.file in chosen]
    if options.variant == "corrected":
        _check_faults(language, trees)
    with_text = [*selected]
    for path in text:
        with_text += patterns.plain_trees(path, language.orthography)
    trees_by_source = {"treebank": selected, "text": with_text}
    items: list[Row] = []
    count_rows: list[Row] = []
    dropped: list[Row] = []
    for paradigm in PARADIGMS:
        path = rules / f"{paradigm}.yaml"
        if not path.exists():
            continue
        paradigm_rules = declared.read_declaration(path, language).of_variant(options.variant)
        try:
            outcomes = _outcomes_of_paradigm(
                paradigm_rules, trees_by_source, language, attested, options
            )
        except UserError as error:
            raise UserError(f"{path}: {error}") from None
        keys = {"lang": lang, "phenomenon": PHENOMENON_OF[paradigm], "paradigm": paradigm}
        for outcome in outcomes:
            origin = {name: getattr(outcome.tree, name) for name in ORIGIN}
            row = keys | outcome._asdict() | origin
            if outcome.reason:
                dropped.append(row)
            else:
                items.append(row | _item_fields(outcome, lang, paradigm))
        # Numbers of matches by rule and reason; the reason of pairs is "".
        numbers = Counter((outcome.rule, outcome.reason) for outcome in outcomes)
        # A rule without a match has a row of 0 pairs.
        matched = {name for name, _ in numbers}
        numbers.update({(rule.name, ""): 0 for rule in paradigm_rules if rule.name not in matched})
        for (name, reason), number in numbers.items():
            result = DROPPED if reason else KEPT
            fields = {"rule": name, "outcome": result, "reason": reason, "n": number}
            count_rows.append(keys | fields)
    if not items:
        raise UserError(f"{rules}: no rule gives a pair of {sentences}; expected some.")
    write_rows(items, ITEM_SCHEMA, output)
    write_rows(count_rows, RULE_COUNTS, counts)
    write_rows(dropped, REJECTED, rejected)
    return dict(Counter(row["paradigm"] for row in items))
