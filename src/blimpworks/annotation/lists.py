"""Make the lists of sentence pairs that participants judge, to validate a benchmark's items.

``make_lists`` takes the benchmark's minimal pairs and returns the rows of all lists, one list for
each participant; ``sheets`` writes the files. A row has two sentences, in random order:

    list  place  part      first                 second               first_is_good
    p01   1      practice  the cats sleeps .     the cats sleep .     False
    p01   2      pair      she sees herself .    she sees himself .   True
    p01   9      check     old the sleeps cat .  the old cat sleeps . False

The numbers of pairs on two lists differ by at most one, in all and for each paradigm (kind of
contrast). No list has a pair twice. The grammatical sentence is first in half of the rows. Pairs
that were made from the same sentence should be on different lists; two on one list "clash".

Source: Adeeba, Dillon, Sajjad and Bhatt (2025), section 2.3. Attention checks are ours.
"""

import json
import logging
import unicodedata
from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from functools import partial
from itertools import cycle, islice, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from blimpworks.annotation.options import ValidationOptions
from blimpworks.annotation.spreadsheet import row_id
from blimpworks.errors import UserError
from blimpworks.tables import ITEMS, read_table

log = logging.getLogger(__name__)

ListNumbers = tuple[int, ...]  # numbers of the lists that a pair is on, from 0
Groups = Sequence[Hashable]  # groups that an element is in, the smallest first: (pair, paradigm)


class ItemPair(NamedTuple):
    """A minimal pair, or a single sentence as ``good`` and ``bad``."""

    item_id: str
    phenomenon: str
    paradigm: str
    good: str
    bad: str
    source: str | None = None
    """Sentence of a treebank that the pair was made from (file and id), if known."""
    acceptable: bool | None = None
    """Whether a single sentence is acceptable; None for pairs."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """Source and grammatical sentence; two pairs that share one of them clash on a list."""
        return (self.good,) if self.source is None else (self.source, self.good)


class Assignment:
    """An assignment of pairs to lists: ``pairs[i]`` is on the lists ``lists[i]``.

    An index i is a "slot" of a paradigm, whose pairs can be exchanged. No list has a pair twice.
    """

    def __init__(
        self, pairs: Collection[ItemPair], options: ValidationOptions, random: Generator
    ) -> None:
        """Draw pairs of each paradigm and assign them to lists, small paradigms first."""
        # A pair of two paradigms belongs to the smaller one.
        sizes = Counter(pair.paradigm for pair in pairs)
        order = sorted(pairs, key=lambda pair: (sizes[pair.paradigm], pair.paradigm, pair.item_id))
        pair_by_id: dict[str, ItemPair] = {}
        for pair in order:
            pair_by_id.setdefault(pair.item_id, pair)
        by_paradigm: dict[str, list[ItemPair]] = {}
        for pair in pair_by_id.values():
            by_paradigm.setdefault(pair.paradigm, []).append(pair)
        small_first = sorted(by_paradigm, key=lambda name: (len(by_paradigm[name]), name))
        # Pairs on no list, by paradigm, in random order.
        unused = {paradigm: _shuffled(by_paradigm[paradigm], random) for paradigm in small_first}
        self.pairs: list[ItemPair] = []
        self.lists: list[ListNumbers] = []
        # For each list, {sentence: number of the list's pairs that have it}.
        self._counts: list[Counter[str]] = [Counter() for _ in range(options.participants)]
        # Each slot has the next ``per_pair`` lists; after the last list comes the first.
        list_numbers = cycle(range(options.participants))
        for paradigm_pairs in unused.values():
            for _ in range(min(len(paradigm_pairs), options.per_paradigm)):
                lists = tuple(islice(list_numbers, options.per_pair))
                chosen = min(paradigm_pairs, key=partial(self._count_clashes, lists=lists))
                paradigm_pairs.remove(chosen)
                self.pairs.append(chosen)
                self.lists.append(lists)
                self._add(chosen, lists, 1)
        # Exchange clashing pairs until no exchange reduces the number of clashes. ``sum`` tries all
        # clashing pairs; ``any`` would stop at the first exchange.
        while sum(self._improve(index, unused) for index in self.clashing()):
            pass

    def clashing(self) -> list[int]:
        """Return the indices of pairs that clash with another pair on a list."""
        return [index for index, pair in enumerate(self.pairs) if self._clashes_at(index, pair)]

    def _count_clashes(self, pair: ItemPair, lists: ListNumbers) -> int:
        return sum(self._counts[number][text] for number in lists for text in pair.sentences)

    def _add(self, pair: ItemPair, lists: ListNumbers, times: int) -> None:
        for number in lists:
            for text in pair.sentences:
                self._counts[number][text] += times

    def _clashes_at(self, index: int, pair: ItemPair) -> int:
        """Count the clashes of ``pair`` if it were in the slot at ``index``."""
        # Not those with the pair that is in the slot now, which would leave the slot's lists.
        lists, previous = self.lists[index], self.pairs[index]
        shared_sentences = {*pair.sentences} & {*previous.sentences}
        return self._count_clashes(pair, lists) - len(lists) * len(shared_sentences)

    def _replace(self, index: int, pair: ItemPair) -> ItemPair:
        """Put ``pair`` into the slot at ``index``, and return the pair that was there."""
        previous, lists = self.pairs[index], self.lists[index]
        self._add(previous, lists, -1)
        self._add(pair, lists, 1)
        self.pairs[index] = pair
        return previous

    def _improve(self, index: int, unused: Mapping[str, list[ItemPair]]) -> bool:
        """Exchange a pair for another pair if that reduces clashes; return whether it did."""
        paradigm = self.pairs[index].paradigm
        clashes = self._clashes_at(index, self.pairs[index])
        if not clashes:
            return False
        # Try pairs that are on no list, then pairs that are in other slots.
        for pair in unused[paradigm]:
            if self._clashes_at(index, pair) < clashes:
                unused[paradigm].remove(pair)
                unused[paradigm].append(self._replace(index, pair))
                return True
        for other_index, pair in enumerate(self.pairs):
            if pair.paradigm == paradigm and other_index != index:
                clashes_of_both = self._clashes_of_both(index, other_index)
                self._exchange(index, other_index)
                if self._clashes_of_both(index, other_index) < clashes_of_both:
                    return True
                self._exchange(index, other_index)  # back again
        return False

    def _clashes_of_both(self, *indices: int) -> int:
        return sum(self._clashes_at(index, self.pairs[index]) for index in indices)

    def _exchange(self, index: int, other_index: int) -> None:
        self._replace(other_index, self._replace(index, self.pairs[other_index]))


def _shuffled(pairs: Sequence[ItemPair], random: Generator) -> list[ItemPair]:
    return [pairs[index] for index in random.permutation(len(pairs))]


def _find_partners(groups: Sequence[Groups]) -> list[int | None]:
    """Pair up elements of the same group; return the index of each element's partner, or None.

    Partners are found in the smallest groups first, then among other elements in wider groups.
    """
    partners: list[int | None] = [None] * len(groups)
    unpaired = [*range(len(groups))]
    for depth in range(len(groups[0]) if groups else 0):
        # {group: index of its element that has no partner yet}
        waiting: dict[Hashable, int] = {}
        for index in unpaired:
            partner = waiting.pop(groups[index][depth], None)
            if partner is None:
                waiting[groups[index][depth]] = index
            else:
                partners[index], partners[partner] = partner, index
        unpaired = sorted(waiting.values())
    return partners


def halve(first: Sequence[Groups], second: Sequence[Groups], random: Generator) -> list[bool]:
    """Return whether each element is in the first half, so that halves of each group are equal.

    Numbers of a group's elements in the two halves differ by at most one. ``first`` and ``second``
    are the groups of each element by two classifications, such as by item and by list. An element
    has at most one partner by each classification, and partners go to different halves. That is
    possible: classifications alternate along a chain of partners, so closed chains are even.
    """
    by_first, by_second = _find_partners(first), _find_partners(second)
    in_first_half: dict[int, bool] = {}
    for start in range(len(first)):
        if start in in_first_half:
            continue
        in_first_half[start] = bool(random.integers(2))
        # Follow the two chains of partners from ``start`` on.
        for alternating in (cycle([by_first, by_second]), cycle([by_second, by_first])):
            index = start
            while (partner := next(alternating)[index]) is not None:
                if partner in in_first_half:
                    break
                in_first_half[partner] = not in_first_half[index]
                index = partner
    return [in_first_half[index] for index in range(len(first))]


PRACTICE, PAIR, CHECK = "practice", "pair", "check"
"""Purposes of rows: trials before the start, judged pairs, and attention checks (a grammatical
sentence beside its scrambled words)."""
DRAW, SIDES, ORDER, CHECKS, PRACTISED = range(5)
"""Seeds of random streams for the steps, so that a change of one step does not change the others.
"""
ITEM_COLUMNS = ["item_id", "phenomenon", "paradigm", "good", "bad", "treebank", "file", "sent_id"]
FEWEST_WORDS, MOST_WORDS = 5, 15  # in a check; longer sentences only if there are no others
TRIES = 200  # number of shuffles of a sentence's words before they are reversed


class ListRow(NamedTuple):
    """A row of a list, with the columns of ``VALIDATION_KEY`` (sheets.py) but the language."""

    row: str
    list: str
    place: int
    part: str
    item_id: str
    phenomenon: str
    paradigm: str
    first: str
    second: str
    first_is_good: bool


class _Entry(NamedTuple):
    """A row of a list before it has a position: a pair or an attention check."""

    pair: ItemPair
    purpose: str
    first_is_good: bool
    wrong: str
    """The sentence beside ``pair.good``: ``pair.bad``, or in a check the scrambled words."""


def read_pairs(items: Path) -> list[ItemPair]:
    """Read the pairs or single sentences of an items table, one for each id and paradigm.

    Pairs of equal sentences are left out, with a warning. Raises UserError for other tables.
    """
    table = read_table(ITEMS, items)
    if "condition" in table.column_names:
        raise UserError(
            f"{items} has items of conditions, whose predictions people cannot judge; expected "
            "pairs or single sentences."
        )
    is_single = "acceptable" in table.column_names
    columns = [*ITEM_COLUMNS, "acceptable"] if is_single else ITEM_COLUMNS
    pairs = {}
    equal = 0
    for row in table.select(columns).to_pylist():
        if row["good"] == row["bad"] and not is_single:
            equal += 1
            continue
        origin = [row["treebank"], row["file"], row["sent_id"]]
        source = json.dumps(origin) if row["sent_id"] else None
        fields = {name: row[name] for name in ("item_id", "phenomenon", "paradigm", "good", "bad")}
        pair = ItemPair(**fields, source=source, acceptable=row.get("acceptable"))
        pairs[row["item_id"], row["paradigm"]] = pair
    if not pairs:
        raise UserError(f"{items} has no pairs; expected some of each paradigm. Build them.")
    if equal:
        log.warning("%d pairs of the same sentence twice are left out", equal)
    return [*pairs.values()]


def _unrelated(pairs: Collection[ItemPair], used: Collection[ItemPair]) -> list[ItemPair]:
    """Return the pairs that share no sentence with any ``used`` pair, sorted by id."""
    used_sentences = {text for pair in used for text in pair.sentences}
    unrelated = [pair for pair in pairs if not used_sentences & {*pair.sentences}]
    return sorted(unrelated, key=lambda pair: (pair.item_id, pair.paradigm))


def _split(sentence: str) -> tuple[list[str], str]:
    """Return the words of a sentence, and its final punctuation."""
    body = sentence.strip()
    while body and unicodedata.category(body[-1])[0] in "PZ":
        body = body[:-1]
    return body.split(), sentence.strip()[len(body) :]


def suits(sentence: str) -> bool:
    """Return whether a sentence has enough words for a check: ``FEWEST_WORDS`` different words."""
    return len({*_split(sentence)[0]}) >= FEWEST_WORDS


def scrambled(sentence: str, random: Generator) -> str:
    """Shuffle the words of a sentence that ``suits``, and keep its final punctuation."""
    sentence_words, end = _split(sentence)
    for _ in range(TRIES):
        order = [sentence_words[position] for position in random.permutation(len(sentence_words))]
        # Urdu sentences can stay grammatical when a phrase moves, so no two words stay neighbours.
        has_neighbours = {*pairwise(sentence_words)} & {*pairwise(order)}
        if order[-1] != sentence_words[-1] and not has_neighbours:
            return " ".join(order) + end
    # With many repeated words, every order may have old neighbours.
    return " ".join(reversed(sentence_words)) + end


def _make_checks(
    pairs: Collection[ItemPair], entries: Sequence[_Entry], options: ValidationOptions, number: int
) -> list[_Entry]:
    """Make the attention checks of list ``number`` from pairs that share no sentence with it."""
    random = np.random.default_rng([options.seed, CHECKS, number])
    unrelated = _shuffled(_unrelated(pairs, [entry.pair for entry in entries]), random)
    usable = [pair for pair in unrelated if suits(pair.good)]
    usable.sort(key=lambda pair: len(_split(pair.good)[0]) > MOST_WORDS)  # long sentences last
    distinct = {pair.good: pair for pair in usable}
    chosen = [*distinct.values()][: options.checks]
    if len(chosen) < options.checks:
        raise UserError(
            f"list {options.names[number]} can have {len(chosen)} attention checks (sentences of "
            f"{FEWEST_WORDS} words or more that it does not have otherwise), expected "
            f"{options.checks}; lower checks, per_paradigm or practice."
        )
    # The grammatical sentence comes first in every second check.
    good_is_first = cycle([True, False] if random.integers(2) == 0 else [False, True])
    return [_Entry(p, CHECK, next(good_is_first), scrambled(p.good, random)) for p in chosen]


def _choose_practice(
    pairs: Collection[ItemPair], assigned: Assignment, options: ValidationOptions
) -> list[_Entry]:
    """Choose the practice pairs of all lists, among the pairs that no list has.

    Paradigms take turns. Pairs that share no sentence with any list come first.
    """
    random = np.random.default_rng([options.seed, PRACTISED])
    judged = {pair.item_id for pair in assigned.pairs}
    unjudged = {pair.item_id: pair for pair in pairs if pair.item_id not in judged}
    unrelated = {pair.item_id for pair in _unrelated(unjudged.values(), assigned.pairs)}
    shuffled = _shuffled(sorted(unjudged.values(), key=lambda pair: pair.item_id), random)
    # Sort by: whether a pair shares a sentence with a list; number among pairs of the paradigm.
    ranks: dict[str, tuple[bool, int]] = {}
    pair_counts: Counter[str] = Counter()  # by paradigm
    for pair in sorted(shuffled, key=lambda pair: pair.item_id not in unrelated):
        pair_counts[pair.paradigm] += 1
        ranks[pair.item_id] = (pair.item_id not in unrelated, pair_counts[pair.paradigm])
    chosen = sorted(shuffled, key=lambda pair: ranks[pair.item_id])[: options.practice]
    if len(chosen) < options.practice:
        raise UserError(
            f"{len(chosen)} pairs are left to practise on, expected {options.practice}; lower "
            "practice or per_paradigm."
        )
    # Half of each paradigm, and half of all, have the grammatical sentence first.
    groups = [(pair.paradigm, "all") for pair in chosen]
    halves = halve(groups, [("all",) for _ in chosen], random)
    return [_Entry(p, PRACTICE, first, p.bad) for p, first in zip(chosen, halves, strict=True)]


def _mix(entries: Sequence[_Entry], random: Generator) -> list[_Entry]:
    """Return entries in a random order that avoids neighbours of the same paradigm."""
    remaining: dict[str, list[_Entry]] = {}  # by paradigm
    for index in random.permutation(len(entries)):
        remaining.setdefault(entries[index].pair.paradigm, []).append(entries[index])
    order: list[_Entry] = []
    paradigm = ""  # of the previous entry
    while len(order) < len(entries):
        sizes = Counter({name: len(members) for name, members in remaining.items() if members})
        if len(sizes) > 1:
            sizes.pop(paradigm, None)
        # A paradigm with more than half of the remaining entries comes next, or neighbours would
        # be left at the end. Otherwise, draw a paradigm by the numbers of entries.
        paradigm, largest_size = sizes.most_common(1)[0]
        if 2 * largest_size <= len(entries) - len(order):
            names = sorted(sizes)
            shares = np.array([sizes[name] for name in names], float)
            paradigm = str(random.choice(names, p=shares / shares.sum()))
        order.append(remaining[paradigm].pop())
    return order


def make_lists(pairs: Collection[ItemPair], options: ValidationOptions) -> list[ListRow]:
    """Make the rows of all lists, list after list. The order of ``pairs`` does not matter.

    Raises UserError for too few pairs to practise on, or too few sentences for attention checks.
    """

    def stream(*steps: int) -> Generator:
        return np.random.default_rng([options.seed, *steps])

    assigned = Assignment(pairs, options, stream(DRAW))
    sizes = Counter(pair.paradigm for pair in assigned.pairs)
    few = [f"{paradigm} ({n})" for paradigm, n in sorted(sizes.items()) if n < options.per_paradigm]
    if few:
        log.warning("fewer than %d pairs of %s", options.per_paradigm, ", ".join(few))
    if clashes := len(assigned.clashing()):
        log.warning("%d pairs share a list with another one of the same sentence", clashes)
    practice = _choose_practice(pairs, assigned, options)
    # Decide which sentence is first: the good sentence in half of the judgements of each pair, of
    # each paradigm and of each list. A judgement is a pair with the number of a list.
    judgements: list[tuple[ItemPair, int]] = []
    for pair, lists in zip(assigned.pairs, assigned.lists, strict=True):
        judgements += [(pair, number) for number in lists]
    by_item: list[Groups] = [(pair.item_id, pair.paradigm) for pair, _ in judgements]
    by_list: list[Groups] = [((number, pair.paradigm), number) for pair, number in judgements]
    good_is_first = halve(by_item, by_list, stream(SIDES))
    entries_by_list: list[list[_Entry]] = [[] for _ in range(options.participants)]
    for (pair, number), first_is_good in zip(judgements, good_is_first, strict=True):
        entries_by_list[number].append(_Entry(pair, PAIR, first_is_good, pair.bad))
    rows: list[ListRow] = []
    for number, entries in enumerate(entries_by_list):
        random = stream(ORDER, number)
        head = _mix(practice, random)
        body = _mix(entries, random)
        checks = _make_checks(pairs, [*practice, *entries], options, number)
        # Checks have equal distances. The last is inserted first, so that it moves no earlier one.
        size, name = len(body), options.names[number]
        for check_number, check in reversed([*enumerate(checks)]):
            body.insert(round((check_number + 0.5) * size / len(checks)), check)
        for position, entry in enumerate([*head, *body], 1):
            pair, purpose, first_is_good, wrong = entry
            row = row_id(options.seed, name, purpose, pair.item_id, first_is_good, pair.good, wrong)
            first, second = (pair.good, wrong) if first_is_good else (wrong, pair.good)
            if pair.acceptable is not None:
                # A single sentence (good and wrong are equal), or in a check its scrambled words.
                first, second, first_is_good = wrong, "", pair.acceptable and purpose != CHECK
            about = (pair.item_id, pair.phenomenon, pair.paradigm)
            rows.append(ListRow(row, name, position, purpose, *about, first, second, first_is_good))
    return rows
