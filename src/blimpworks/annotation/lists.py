"""Make the lists of pairs that participants judge: their pairs, order, and first sentences.

Judgements of pairs are assigned to the lists in turn, through all paradigms. The lists' numbers of
pairs of each paradigm, and in all, then differ by one at most. No list has a pair twice. Neither
order nor position of the sentences predicts the grammatical one.

Source: Adeeba, Dillon, Sajjad and Bhatt (2025), section 2.3. Attention checks are ours.
"""

import json
import logging
import unicodedata
from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from blimpworks.annotation.options import ValidationOptions
from blimpworks.annotation.spreadsheet import row_id
from blimpworks.errors import UserError
from blimpworks.tables import ITEMS, read_table

log = logging.getLogger(__name__)

Lists = tuple[int, ...]
"""Numbers of lists, from 0."""
Keys = Sequence[Hashable]
"""Nested groups of an element, the smallest first."""


class ItemPair(NamedTuple):
    """A minimal pair or single sentence and, if known, the sentence that it was made from."""

    item_id: str
    phenomenon: str
    paradigm: str
    good: str
    bad: str
    source: str | None = None
    acceptable: bool | None = None
    """Verdict on a single sentence, which is ``good`` as well as ``bad``."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """Keys that pairs of the same sentence share: its source, or its text."""
        return (self.good,) if self.source is None else (self.source, self.good)


class Allotment(NamedTuple):
    """The lists that get one pair of a paradigm."""

    paradigm: str
    lists: Lists


class Deal:
    """An assignment of pairs to lists.

    No list has a pair twice. Two pairs of one sentence in a list are a clash, and clashes are few.
    """

    def __init__(
        self,
        pairs: Collection[ItemPair],
        per_paradigm: int,
        participants: int,
        per_pair: int,
        random: np.random.Generator,
    ) -> None:
        """Draw pairs of each paradigm and assign them to lists, small paradigms first.

        A paradigm with fewer pairs than ``per_paradigm`` gives all. A pair of two paradigms is
        drawn for the smaller one. Each allotment takes the first pair with the fewest clashes. Then
        clashing pairs are exchanged for others of their paradigm while that reduces clashes.
        """
        waiting: dict[str, list[ItemPair]] = {}
        for pair in sorted(pairs, key=lambda pair: (pair.paradigm, pair.item_id)):
            waiting.setdefault(pair.paradigm, []).append(pair)
        taken = set[str]()
        for paradigm in sorted(waiting, key=lambda name: (len(waiting[name]), name)):
            waiting[paradigm] = [pair for pair in waiting[paradigm] if pair.item_id not in taken]
            taken |= {pair.item_id for pair in waiting[paradigm]}
        order = sorted(waiting, key=lambda name: (len(waiting[name]), name))
        waiting = {paradigm: _shuffled(waiting[paradigm], random) for paradigm in order}
        paradigms = [name for name in order for _ in waiting[name][:per_paradigm]]
        self.allotments: list[Allotment] = []
        """One for each pair. Each has the next ``per_pair`` lists, the first after the last."""
        for number, paradigm in enumerate(paradigms):
            slots = range(number * per_pair, (number + 1) * per_pair)
            lists = tuple(slot % participants for slot in slots)
            self.allotments.append(Allotment(paradigm, lists))
        self.pairs: list[ItemPair] = []
        # How often each list has each sentence.
        self._seen: list[Counter[str]] = [Counter() for _ in range(participants)]
        for paradigm, lists in self.allotments:
            chosen = min(waiting[paradigm], key=partial(self._clashes, lists=lists))
            waiting[paradigm].remove(chosen)
            self.pairs.append(chosen)
            self._count(chosen, lists, 1)
        while sum(self._improved(number, waiting) for number in self.clashing()):
            pass

    def clashing(self) -> list[int]:
        """Return the indices of pairs that share a list with another pair of their sentence."""
        return [number for number, pair in enumerate(self.pairs) if self._cost(number, pair)]

    def _clashes(self, pair: ItemPair, lists: Lists) -> int:
        return sum(self._seen[number][text] for number in lists for text in pair.sentences)

    def _count(self, pair: ItemPair, lists: Lists, by: int) -> None:
        for number in lists:
            for text in pair.sentences:
                self._seen[number][text] += by

    def _cost(self, number: int, pair: ItemPair) -> int:
        """Count the clashes of ``pair`` in the lists of another, which it would replace."""
        lists, present = self.allotments[number].lists, self.pairs[number].sentences
        return self._clashes(pair, lists) - len(lists) * len({*pair.sentences} & {*present})

    def _put(self, number: int, pair: ItemPair) -> ItemPair:
        before, lists = self.pairs[number], self.allotments[number].lists
        self._count(before, lists, -1)
        self._count(pair, lists, 1)
        self.pairs[number] = pair
        return before

    def _improved(self, number: int, waiting: Mapping[str, list[ItemPair]]) -> bool:
        """Exchange a pair for another one if clashes become fewer; return whether it did."""
        before, paradigm = self._cost(number, self.pairs[number]), self.allotments[number].paradigm
        if not before:
            return False
        for pair in waiting[paradigm]:
            if self._cost(number, pair) < before:
                waiting[paradigm].remove(pair)
                waiting[paradigm].append(self._put(number, pair))
                return True
        for partner, allotment in enumerate(self.allotments):
            if allotment.paradigm == paradigm and partner != number:
                exchanged = (number, partner)
                cost = sum(self._cost(n, self.pairs[n]) for n in exchanged)
                self._put(partner, self._put(number, self.pairs[partner]))
                if sum(self._cost(n, self.pairs[n]) for n in exchanged) < cost:
                    return True
                # Exchange them back.
                self._put(partner, self._put(number, self.pairs[partner]))
        return False


def _shuffled(pairs: Sequence[ItemPair], random: np.random.Generator) -> list[ItemPair]:
    return [pairs[number] for number in random.permutation(len(pairs))]


def _partners(keys: Sequence[Keys]) -> list[int | None]:
    """Return each element's partner: another single one of its smallest possible group, or None."""
    partners: list[int | None] = [None] * len(keys)
    waiting = [*range(len(keys))]
    for depth in range(len(keys[0]) if keys else 0):
        alone: dict[Hashable, int] = {}
        for number in waiting:
            partner = alone.pop(keys[number][depth], None)
            if partner is None:
                alone[keys[number][depth]] = number
            else:
                partners[number], partners[partner] = partner, number
        waiting = sorted(alone.values())
    return partners


def halve(first: Sequence[Keys], second: Sequence[Keys], random: np.random.Generator) -> list[bool]:
    """Divide elements into two halves, so that every group is divided in half (by one at most).

    ``first`` and ``second``: each element's groups by two classifications. Each group falls into
    couples and at most one single element; the two of a couple go to different halves. That is
    always possible: a cycle of partners, by either classification in turn, has an even length.
    """
    partners = (_partners(first), _partners(second))
    halves: dict[int, bool] = {}
    for start in range(len(first)):
        if start in halves:
            continue
        halves[start] = bool(random.integers(2))
        for direction in (0, 1):
            number, classification = start, direction
            partner = partners[classification][number]
            while partner is not None and partner not in halves:
                halves[partner] = not halves[number]
                number, classification = partner, 1 - classification
                partner = partners[classification][number]
    return [halves[number] for number in range(len(first))]


def apart(groups: Sequence[str], random: np.random.Generator) -> list[int]:
    """Return a random order of elements, as indices, with neighbours of different groups.

    Neighbours are of one group only where that cannot be avoided.
    """
    waiting: dict[str, list[int]] = {}
    for number in random.permutation(len(groups)):
        waiting.setdefault(groups[number], []).append(int(number))
    order: list[int] = []
    previous = ""
    while len(order) < len(groups):
        sizes = Counter({name: len(some) for name, some in waiting.items() if some})
        if len(sizes) > 1:
            sizes.pop(previous, None)
        # The group of more than half of the remaining elements, or a random one.
        previous, most = sizes.most_common(1)[0]
        if 2 * most <= len(groups) - len(order):
            names = sorted(sizes)
            shares = np.array([sizes[name] for name in names], float)
            previous = str(random.choice(names, p=shares / shares.sum()))
        order.append(waiting[previous].pop())
    return order


PRACTICE, PAIR, CHECK = "practice", "pair", "check"
"""Purposes of rows: trials before the start, pairs that count, and attention checks."""
DRAW, SIDES, ORDER, CHECKS, PRACTISED = range(5)
"""Independent random streams: draws from one do not change another."""
ITEM_COLUMNS = ["item_id", "phenomenon", "paradigm", "good", "bad", "treebank", "file", "sent_id"]
FEWEST, MOST = 5, 15
"""Words in the sentence of a check; longer sentences are used if there are no others."""
TRIES = 200


class ListRow(NamedTuple):
    """A row of a list, as in the table ``validation_key`` (without the language)."""

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
    """A pair or an attention check before it has a place in its list."""

    pair: ItemPair
    purpose: str
    first_is_good: bool
    wrong: str


def read_pairs(items: Path) -> list[ItemPair]:
    """Read the pairs or single sentences of an items table, one for each id and paradigm.

    Leaves out pairs of equal sentences, with a warning. Raises UserError for a table without pairs,
    and for items of conditions.
    """
    table = read_table(ITEMS, items)
    if "condition" in table.column_names:
        raise UserError(
            f"{items} has items of conditions, whose predictions people cannot judge; expected "
            "pairs or single sentences."
        )
    is_single = "acceptable" in table.column_names
    pairs = {}
    same = 0
    for row in table.select([*ITEM_COLUMNS, *(["acceptable"] if is_single else [])]).to_pylist():
        if row["good"] == row["bad"] and not is_single:
            same += 1
            continue
        location = [row["treebank"], row["file"], row["sent_id"]]
        source = json.dumps(location) if row["sent_id"] else None
        fields = {name: row[name] for name in ITEM_COLUMNS[:5]}
        pair = ItemPair(**fields, source=source, acceptable=row.get("acceptable"))
        pairs[row["item_id"], row["paradigm"]] = pair
    if not pairs:
        raise UserError(f"{items} has no pairs; expected some of each paradigm. Build them.")
    if same:
        log.warning("%d pairs of the same sentence twice are left out", same)
    return [*pairs.values()]


def _unrelated(pairs: Collection[ItemPair], used: Collection[ItemPair]) -> list[ItemPair]:
    """Return the pairs of sentences that no ``used`` pair has, in order of their ids."""
    seen = {text for pair in used for text in pair.sentences}
    free = [pair for pair in pairs if not seen & {*pair.sentences}]
    return sorted(free, key=lambda pair: (pair.item_id, pair.paradigm))


def _split(sentence: str) -> tuple[list[str], str]:
    """Return the words of a sentence, and its final punctuation."""
    body = sentence.strip()
    while body and unicodedata.category(body[-1])[0] in "PZ":
        body = body[:-1]
    return body.split(), sentence.strip()[len(body) :]


def suits(sentence: str) -> bool:
    """Return whether a sentence has enough words to be ungrammatical when scrambled."""
    return len({*_split(sentence)[0]}) >= FEWEST


def scrambled(sentence: str, random: np.random.Generator) -> str:
    """Shuffle the words of a sentence that ``suits``; its final punctuation stays."""
    sentence_words, end = _split(sentence)
    for _ in range(TRIES):
        order = [sentence_words[position] for position in random.permutation(len(sentence_words))]
        # Urdu sentences can stay grammatical when a phrase moves, so no two words stay neighbours.
        if order[-1] != sentence_words[-1] and not {*pairwise(sentence_words)} & {*pairwise(order)}:
            return " ".join(order) + end
    # The sentence has many repeated words.
    return " ".join(reversed(sentence_words)) + end


def _checks(
    pairs: Collection[ItemPair], entries: Sequence[_Entry], options: ValidationOptions, number: int
) -> list[_Entry]:
    """Make a list's attention checks from sentences of pairs that it does not have."""
    random = np.random.default_rng([options.seed, CHECKS, number])
    free = _shuffled(_unrelated(pairs, [entry.pair for entry in entries]), random)
    fit = [pair for pair in free if suits(pair.good)]
    fit.sort(key=lambda pair: len(_split(pair.good)[0]) > MOST)
    chosen = [*{pair.good: pair for pair in fit}.values()][: options.checks]
    if len(chosen) < options.checks:
        raise UserError(
            f"list {options.names[number]} can have {len(chosen)} attention checks (sentences of "
            f"{FEWEST} words or more that it does not have otherwise), expected {options.checks}; "
            "lower checks, per_paradigm or practice."
        )
    start = int(random.integers(2))
    turns = enumerate(chosen, start)
    # The grammatical sentence comes first in every other check.
    return [_Entry(p, CHECK, turn % 2 == 0, scrambled(p.good, random)) for turn, p in turns]


def _practice(pairs: Collection[ItemPair], dealt: Deal, options: ValidationOptions) -> list[_Entry]:
    """Choose the practice pairs of all lists: not judged in any, from each paradigm in turn.

    Pairs of sentences that no list has come first.
    """
    random = np.random.default_rng([options.seed, PRACTISED])
    judged = {pair.item_id for pair in dealt.pairs}
    unjudged = {pair.item_id: pair for pair in pairs if pair.item_id not in judged}
    new = {pair.item_id for pair in _unrelated(unjudged.values(), dealt.pairs)}
    shuffled = _shuffled(sorted(unjudged.values(), key=lambda pair: pair.item_id), random)
    turns: Counter[str] = Counter()
    ranks: dict[str, tuple[bool, int]] = {}
    for pair in sorted(shuffled, key=lambda pair: pair.item_id not in new):
        turns[pair.paradigm] += 1
        ranks[pair.item_id] = (pair.item_id not in new, turns[pair.paradigm])
    chosen = sorted(shuffled, key=lambda pair: ranks[pair.item_id])[: options.practice]
    if len(chosen) < options.practice:
        raise UserError(
            f"{len(chosen)} pairs are left to practise on, expected {options.practice}; lower "
            "practice or per_paradigm."
        )
    sides = halve([(pair.paradigm, "") for pair in chosen], [("",) for _ in chosen], random)
    return [_Entry(p, PRACTICE, side, p.bad) for p, side in zip(chosen, sides, strict=True)]


def _mixed(entries: Sequence[_Entry], random: np.random.Generator) -> list[_Entry]:
    return [entries[n] for n in apart([entry.pair.paradigm for entry in entries], random)]


def make_lists(pairs: Collection[ItemPair], options: ValidationOptions) -> list[ListRow]:
    """Make the rows of all lists, list by list; they do not depend on the order of ``pairs``.

    Raises UserError for too few pairs to practise on, or too few sentences for attention checks.
    """

    def stream(*steps: int) -> np.random.Generator:
        return np.random.default_rng([options.seed, *steps])

    people, per_pair = options.participants, options.per_pair
    dealt = Deal(pairs, options.per_paradigm, people, per_pair, stream(DRAW))
    sizes = Counter(pair.paradigm for pair in dealt.pairs)
    few = [f"{paradigm} ({n})" for paradigm, n in sorted(sizes.items()) if n < options.per_paradigm]
    if few:
        log.warning("fewer than %d pairs of %s", options.per_paradigm, ", ".join(few))
    if clashes := len(dealt.clashing()):
        log.warning("%d pairs share a list with another one of the same sentence", clashes)
    practice = _practice(pairs, dealt, options)
    # The first sentence is the good one in half of each pair's, paradigm's and list's judgements.
    slots: list[tuple[ItemPair, int]] = []
    for pair, allotment in zip(dealt.pairs, dealt.allotments, strict=True):
        slots += [(pair, number) for number in allotment.lists]
    by_item: list[Keys] = [(pair.item_id, pair.paradigm) for pair, _ in slots]
    by_list: list[Keys] = [((number, pair.paradigm), number) for pair, number in slots]
    lists: list[list[_Entry]] = [[] for _ in range(people)]
    sides = halve(by_item, by_list, stream(SIDES))
    for (pair, number), side in zip(slots, sides, strict=True):
        lists[number].append(_Entry(pair, PAIR, side, pair.bad))
    rows: list[ListRow] = []
    for number, entries in enumerate(lists):
        random = stream(ORDER, number)
        head = _mixed(practice, random)
        body = _mixed(entries, random)
        checks = _checks(pairs, [*practice, *entries], options, number)
        # Spread evenly; the last one first, so that earlier positions stay the same.
        size, name = len(body), options.names[number]
        for turn in reversed(range(len(checks))):
            body.insert(round((turn + 0.5) * size / len(checks)), checks[turn])
        for order, (pair, purpose, side, wrong) in enumerate([*head, *body], 1):
            row = row_id(options.seed, name, purpose, pair.item_id, side, pair.good, wrong)
            first, second = (pair.good, wrong) if side else (wrong, pair.good)
            is_good = side
            if pair.acceptable is not None:
                first, second, is_good = wrong, "", pair.acceptable and purpose != CHECK
            about = (pair.item_id, pair.phenomenon, pair.paradigm)
            rows.append(ListRow(row, name, order, purpose, *about, first, second, is_good))
    return rows
