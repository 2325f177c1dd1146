"""Build UrBLiMP's minimal pairs: apply rules to treebanks' sentences, and record failed matches.

``build_items`` (at the end) reads a folder of rules and the tables of a treebank. It writes items
(pairs), counts of matches, and rejected matches. A match of a rule's pattern in a sentence ("tree")
names words of the sentence: {"V": 4, "S": 0}. The rule's operations change a copy of the sentence
("draft") into the other sentence of a pair. Some change a complex: a verb with its auxiliaries. New
forms must be attested in some source, and the new sentence must not be in the treebank.
Source: Adeeba, Dillon, Sajjad and Bhatt (2025), section 2, but with open data, because neither the
paper's treebank nor its corpus is public.
"""

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import wordfreq

from blimpworks.errors import UserError
from blimpworks.items import evenly, item_id, regions_of
from blimpworks.linguistics.orthography import Orthography
from blimpworks.papers.urblimp.items import patterns
from blimpworks.papers.urblimp.items import rules as declared
from blimpworks.papers.urblimp.items.inflection import cell_of, certain_features
from blimpworks.papers.urblimp.items.patterns import Tree, TreeWord
from blimpworks.papers.urblimp.items.rules import LANGUAGE, Language, Rule
from blimpworks.papers.urblimp.phenomena import PARADIGMS, PHENOMENON_OF
from blimpworks.papers.urblimp.settings import UrblimpOptions
from blimpworks.papers.urblimp.tables import DROPPED, ITEM_SCHEMA, KEPT, REJECTED, RULE_COUNTS
from blimpworks.tables import LEXICON, read_table, write_rows

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
    """A rule names a word that is not in the draft, because the rule deleted or is moving it."""


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
        """Return the positions of words that have another form in ``draft``.

        Words that are not in ``draft`` count as changed if ``absent``.
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
            # Added words have the indices -2, -3, …; a root has the head -1.
            lowest = min(slot.word for slot in draft.slots)
            added = min(lowest, -1) - 1
            draft.insert([Slot(added, form, space=True)], nodes[operation.after])
            nodes[operation.name] = added
        case declared.Move():
            last = draft.tree.complex_of(nodes[operation.after], operation.along)[-1]
            # Other words that the rule names stay, even if they are below the moved word.
            indices = draft.tree.subtree(nodes[operation.move], {*nodes.values()})
            positions = [draft.position(index) for index in indices]
            moved = [replace(draft.slots[position], space=True) for position in positions]
            draft.slots = [slot for slot in draft.slots if slot.word not in indices]
            draft.insert(moved, last)


def _agreeing_form(operation: declared.Add, agreeing: TreeWord, language: Language) -> str:
    """Return the form of the added word that agrees with another. Raises Rejected without any."""
    # In a closed class such as this paradigm, endings are complete words, so the lemma is empty.
    cells = language.inflection.paradigms[operation.add].forms("").items()
    for reading in language.inflection.readings(agreeing):
        for cell, forms in cells:
            if cell_of(cell).items() <= reading.cell.items():
                return forms[0]
    raise Rejected("no form by rule")


def _new_values(tree: Tree, to: Mapping[str, str], nodes: Mapping[str, int]) -> dict[str, str]:
    """Replace values such as ``=S`` by that of the word S; without a value the feature stays."""
    values: dict[str, str] = {}
    for name, value in to.items():
        node = value.removeprefix(declared.OF)
        new_value = tree.words[nodes[node]].features.get(name) if node != value else value
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
    """Inflect a complex, such as a verb and its auxiliaries. Raises Rejected if nothing changes."""
    inflection, new_values = language.inflection, _new_values(draft.tree, operation.to, nodes)
    # A reading is a cell of a paradigm that a form fills; it can depend on the following word.
    # A feature of the complex is certain if all readings of some word have the same value.
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
    unless = operation.unless.items()
    for index, word, forms in changed:
        new_form = attested.first_attested(forms)
        # A new form with the features ``operation.unless`` is grammatical here as well.
        new_readings = inflection.readings(word.spelled(new_form)) if unless else []
        if any(unless <= reading.cell.items() for reading in new_readings):
            raise Rejected("the new form is licensed too")
        draft.spell(index, new_form)


# Pairs


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
    # From the first to the last changed word, only auxiliaries and added words may be unchanged.
    changed = good.changed_positions(bad, absent=False)
    for position in range(min(changed, default=0), max(changed, default=0)):
        word = good.slots[position].word
        may_stay = word < 0 or good.tree.words[word].upos == "AUX"
        if position not in changed and not may_stay:
            raise Rejected("differs in several places")
    if tuple(bad.forms) in attested.sentences:
        raise Rejected("a sentence of the treebank")
    # The bad sentence may be grammatical if the treebank has all its new bigrams: each new form
    # with the word before it, after it, or both (``rule.context``).
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
