"""Items of UrBLiMP: pairs from rules over treebanks, and the outcome of each match.

Source: Adeeba, Dillon, Sajjad and Bhatt (2025), section 2. The data are open ones, because neither
the paper's treebank nor its corpus is public.
"""

import difflib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from blimpworks.errors import UserError
from blimpworks.items import evenly, item_id, regions_of
from blimpworks.papers.urblimp.items.changes import (
    BEGINNING,
    END,
    Absent,
    Attested,
    Draft,
    Rejected,
    revise,
)
from blimpworks.papers.urblimp.items.patterns import holds, matches
from blimpworks.papers.urblimp.items.rules import (
    LANGUAGE,
    Fault,
    Language,
    Rule,
    read_declaration,
    read_language,
)
from blimpworks.papers.urblimp.items.trees import Tree, plain_trees, read_trees
from blimpworks.papers.urblimp.phenomena import PARADIGMS, PHENOMENON_OF
from blimpworks.papers.urblimp.settings import UrblimpOptions
from blimpworks.papers.urblimp.tables import DROPPED, ITEM_SCHEMA, KEPT, REJECTED, RULE_COUNTS
from blimpworks.tables import write_rows


class Outcome(NamedTuple):
    """A match of a rule, with its pair or the reason for none."""

    rule: str
    tree: Tree
    good: str
    bad: str
    change: str
    """deletion (fewer words than ``good``), move or replacement; empty without ``bad``."""
    constructed: bool
    """Whether the grammatical sentence is not the treebank's own."""
    reason: str
    """Why there is no pair; empty where there is one."""


def outcomes_of(
    rule: Rule, tree: Tree, language: Language, attested: Attested
) -> Iterator[Outcome]:
    """Yield the outcome of each match of a rule in a tree, in the order of its words.

    Raises UserError for a rule that changes a word which it has left out.
    """
    for match in matches(rule.pattern, tree):
        good, bad, reason = Draft.of(tree), None, ""
        nodes = dict(match)
        try:
            if any(holds(excluded, tree, match) for excluded in rule.without):
                raise Rejected("excluded by the rule")
            for operation in rule.prepare:
                revise(good, operation, nodes, language, attested)
            bad = good.copy()
            for operation in rule.change:
                revise(bad, operation, nodes, language, attested)
            if bad.forms == good.forms:
                raise Rejected("the same sentence")
            # Only auxiliaries may stand between changed words.
            changed = good.changed_positions(bad, absent=False)
            for at in range(min(changed, default=0), max(changed, default=0)):
                word = good.slots[at].word
                if at not in changed and word >= 0 and good.tree.words[word].upos != "AUX":
                    raise Rejected("differs in several places")
            if tuple(bad.forms) in attested.sentences:
                raise Rejected("a sentence of the treebank")
            # Licensed if the treebank has all new words beside the same neighbours.
            beside = []
            for at in bad.changed_positions(good, absent=True) if rule.context else ():
                previous, form, following = [BEGINNING, *bad.forms, END][at : at + 3]
                pairs = {"previous": (previous, form), "next": (form, following)}
                beside += [pairs[side] in attested.neighbours for side in rule.context]
            if beside and all(beside):
                raise Rejected("the treebank has it beside the same words")
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
            change = "move" if bad.moved else "replacement"
            change = "deletion" if bad.size() < good.size() else change
        yield Outcome(
            rule=rule.name,
            tree=tree,
            good=good.text(language.orthography),
            bad=bad.text(language.orthography) if bad else "",
            change=change,
            constructed=bool(rule.prepare),
            reason=reason,
        )


ORIGIN = ("treebank", "file", "sent_id", "line")
Row = dict[str, Any]


def _check_faults(language: Language, trees: Sequence[Tree]) -> None:
    """Raise UserError if the pack names a faulty sentence that its file does not have."""
    present = {(tree.file, tree.sent_id) for tree in trees}
    files = {file for file, _ in present}
    for fault in language.faults:
        for file, sentences in fault.sentences.items():
            absent = [name for name in sentences if file in files and (file, name) not in present]
            if absent:
                raise UserError(
                    f"the language pack's faults name {absent[0]!r}, which {file} does not have; "
                    "expected its sentences alone. Read the new release and name them anew."
                )


def _check_files(rules: Path) -> None:
    """Raise UserError for a visible file among the rules that nothing would read."""
    expected = {f"{name}.yaml" for name in (LANGUAGE, *PARADIGMS)}
    visible = {path.name for path in rules.glob("[!.]*")}
    if visible - expected:
        name = min(visible - expected)
        near = difflib.get_close_matches(name, expected, n=1, cutoff=0)
        raise UserError(
            f"{rules / name} is neither a language pack nor called after a paradigm, as "
            f"{near[0]} is; expected nothing else among rules. Rename it, or move it away."
        )


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
    """Write a language's items, by all rules in the folder ``rules``; return pairs by paradigm.

    Rules without edges also apply to plain ``text``. ``counts`` gets the numbers of matches by
    outcome, ``rejected`` the matches without a pair. Items are in the order of the paper's
    paradigms, their rules and the treebanks.
    """
    _check_files(rules)
    language = read_language(rules / f"{LANGUAGE}.yaml")
    trees = list(read_trees(tokens, sentences, language.orthography))
    code = language.attestation.wordfreq
    attested = Attested(trees, language.orthography, lexicon, code)
    # A language with none of the named files has all of its own.
    chosen = {*(options.files or ())} & {tree.file for tree in trees}
    selected = [tree for tree in trees if not chosen or tree.file in chosen]
    faults: Sequence[Fault] = ()
    if options.variant == "corrected":
        _check_faults(language, trees)
        faults = language.faults
    plain = [t for path in text for t in plain_trees(path, language.orthography)]
    items: list[Row] = []
    results: list[Row] = []
    dropped: list[Row] = []
    for paradigm in PARADIGMS:
        path = rules / f"{paradigm}.yaml"
        if not path.exists():
            continue
        keys = {"lang": lang, "phenomenon": PHENOMENON_OF[paradigm], "paradigm": paradigm}
        declared = read_declaration(path, language).of_variant(options.variant)
        outcomes: list[Outcome] = []
        pairs: set[tuple[str, str]] = set()
        for rule in declared:
            for tree in (*selected, *(plain if rule.source == "text" else ())):
                try:
                    found = [*outcomes_of(rule, tree, language, attested)]
                except UserError as error:
                    raise UserError(f"{path}: {error}") from None
                for outcome in found:
                    reason, pair = outcome.reason, (outcome.good, outcome.bad)
                    if not reason and (fault := next((f for f in faults if f.is_in(tree)), None)):
                        reason = f"faulty in the treebank: {fault.about}"
                    elif not reason and pair in pairs:
                        reason = "made before"
                    elif not reason:
                        pairs.add(pair)
                    outcomes.append(outcome._replace(reason=reason))
        made = [outcome for outcome in outcomes if not outcome.reason]
        kept = {id(outcome) for outcome in evenly(made, options.per_paradigm)}
        numbers: Counter[tuple[str, str]] = Counter()
        for outcome in outcomes:
            beyond = not outcome.reason and id(outcome) not in kept
            reason = "beyond per_paradigm" if beyond else outcome.reason
            numbers[outcome.rule, reason] += 1
            origin = {name: getattr(outcome.tree, name) for name in ORIGIN}
            row = keys | outcome._asdict() | origin | {"reason": reason}
            if reason:
                dropped.append(row)
                continue
            good, bad = outcome.good, outcome.bad
            spans = regions_of(good, bad)
            items.append(
                {
                    **row,
                    **spans._asdict(),
                    "item_id": item_id("urblimp", lang, paradigm, good, bad),
                    "treebank": row["treebank"] or None,
                    "focus_good": good[spans.good_start : spans.good_end],
                    "focus_bad": bad[spans.bad_start : spans.bad_end],
                }
            )
        # A rule without a match has a row too.
        matched = {name for name, _ in numbers}
        numbers.update({(rule.name, ""): 0 for rule in declared if rule.name not in matched})
        for (name, reason), n in numbers.items():
            became = {"rule": name, "outcome": DROPPED if reason else KEPT, "reason": reason}
            results.append(keys | became | {"n": n})
    if not items:
        raise UserError(f"{rules}: no rule gives a pair of {sentences}; expected some.")
    write_rows(items, ITEM_SCHEMA, output)
    write_rows(results, RULE_COUNTS, counts)
    write_rows(dropped, REJECTED, rejected)
    return dict(Counter(row["paradigm"] for row in items))
