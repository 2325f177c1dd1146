"""Deal pairs to participants' lists: who judges which pairs, in which order, which sentence first.

Slots of pairs go round the lists as cards are dealt, without a stop between paradigms. The lists'
numbers of pairs of each paradigm, and in all, then differ by one at most. No list has a pair twice.
Sides and orders give no answers away.

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

Group = tuple[int, ...]
"""Lists that have a pair, from 0."""
Keys = Sequence[Hashable]
"""Groups that contain a thing, nested: the smallest first."""


class Pair(NamedTuple):
    """A minimal pair and, where it is known, the sentence that it was made from."""

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
        """Keys that pairs of the same sentence share: its place, or its text."""
        return (self.good,) if self.source is None else (self.source, self.good)


class Deal:
    """Pairs dealt to lists: none twice to a list, and as few pairs of one sentence as possible."""

    def __init__(
        self,
        pairs: Collection[Pair],
        per_paradigm: int,
        participants: int,
        per_pair: int,
        random: np.random.Generator,
    ) -> None:
        """Draw pairs of each paradigm and deal them to lists, small paradigms first.

        A paradigm with fewer pairs gives all. A pair of two paradigms is drawn for the smaller one.
        Each place takes the first pair with the fewest clashes. Then clashing pairs are exchanged
        for others of their paradigm while that helps.
        """
        waiting: dict[str, list[Pair]] = {}
        for pair in sorted(pairs, key=lambda pair: (pair.paradigm, pair.item_id)):
            waiting.setdefault(pair.paradigm, []).append(pair)
        taken = set[str]()
        for paradigm in sorted(waiting, key=lambda name: (len(waiting[name]), name)):
            waiting[paradigm] = [pair for pair in waiting[paradigm] if pair.item_id not in taken]
            taken |= {pair.item_id for pair in waiting[paradigm]}
        order = sorted(waiting, key=lambda name: (len(waiting[name]), name))
        waiting = {paradigm: _shuffled(waiting[paradigm], random) for paradigm in order}
        paradigms = [name for name in order for _ in waiting[name][:per_paradigm]]
        slots = (range(n * per_pair, (n + 1) * per_pair) for n in range(len(paradigms)))
        groups = (tuple(slot % participants for slot in some) for some in slots)
        self.places = [*zip(paradigms, groups, strict=True)]
        """Paradigm of each pair, and the lists that get it."""
        self.pairs: list[Pair] = []
        self._seen: list[Counter[str]] = [Counter() for _ in range(participants)]
        for paradigm, group in self.places:
            chosen = min(waiting[paradigm], key=partial(self._clashes, group=group))
            waiting[paradigm].remove(chosen)
            self.pairs.append(chosen)
            self._count(chosen, group, 1)
        while sum(self._mended(number, waiting) for number in self.clashing()):
            pass

    def clashing(self) -> list[int]:
        """Return places, from 0, whose pair shares a list with another pair of its sentence."""
        return [number for number, pair in enumerate(self.pairs) if self._cost(number, pair)]

    def _clashes(self, pair: Pair, group: Group) -> int:
        return sum(self._seen[number][text] for number in group for text in pair.sentences)

    def _count(self, pair: Pair, group: Group, by: int) -> None:
        for number in group:
            for text in pair.sentences:
                self._seen[number][text] += by

    def _cost(self, number: int, pair: Pair) -> int:
        """Count the clashes that ``pair`` would have in a place, instead of the one there."""
        group, present = self.places[number][1], self.pairs[number].sentences
        return self._clashes(pair, group) - len(group) * len({*pair.sentences} & {*present})

    def _put(self, number: int, pair: Pair) -> Pair:
        before, group = self.pairs[number], self.places[number][1]
        self._count(before, group, -1)
        self._count(pair, group, 1)
        self.pairs[number] = pair
        return before

    def _mended(self, number: int, waiting: Mapping[str, list[Pair]]) -> bool:
        """Exchange a pair for another one if that makes fewer clashes; return whether."""
        before, paradigm = self._cost(number, self.pairs[number]), self.places[number][0]
        if not before:
            return False
        for pair in waiting[paradigm]:
            if self._cost(number, pair) < before:
                waiting[paradigm].remove(pair)
                waiting[paradigm].append(self._put(number, pair))
                return True
        for partner, (of_partner, _) in enumerate(self.places):
            if of_partner == paradigm and partner != number:
                exchanged = (number, partner)
                cost = sum(self._cost(n, self.pairs[n]) for n in exchanged)
                self._put(partner, self._put(number, self.pairs[partner]))
                if sum(self._cost(n, self.pairs[n]) for n in exchanged) < cost:
                    return True
                self._put(partner, self._put(number, self.pairs[partner]))
        return False


def _shuffled(pairs: Sequence[Pair], random: np.random.Generator) -> list[Pair]:
    return [pairs[number] for number in random.permutation(len(pairs))]


def _partners(keys: Sequence[Keys]) -> list[int | None]:
    """Couple each thing with another of its smallest group that has one left; None for the last."""
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


def halve(left: Sequence[Keys], right: Sequence[Keys], random: np.random.Generator) -> list[bool]:
    """Part things into two halves whose sizes differ by one at most in every group.

    ``left`` and ``right`` hold each thing's groups of two kinds. Each group falls into couples and
    at most one single; the two of a couple go to different halves. That is always possible: a round
    from partner to partner, by either kind in turn, has an even length.
    """
    partners = (_partners(left), _partners(right))
    sides: dict[int, bool] = {}
    for start in range(len(left)):
        if start in sides:
            continue
        sides[start] = bool(random.integers(2))
        for first in (0, 1):
            number, kind = start, first
            while (partner := partners[kind][number]) is not None and partner not in sides:
                sides[partner] = not sides[number]
                number, kind = partner, 1 - kind
    return [sides[number] for number in range(len(left))]


def apart(groups: Sequence[str], random: np.random.Generator) -> list[int]:
    """Order things at random, as numbers from 0, without neighbours of one group where possible."""
    waiting: dict[str, list[int]] = {}
    for number in random.permutation(len(groups)):
        waiting.setdefault(groups[number], []).append(int(number))
    order: list[int] = []
    previous = ""
    while len(order) < len(groups):
        sizes = Counter({name: len(some) for name, some in waiting.items() if some})
        if len(sizes) > 1:
            sizes.pop(previous, None)
        # The group that has more than half of what is left, or a random one.
        previous, most = sizes.most_common(1)[0]
        if 2 * most <= len(groups) - len(order):
            names = sorted(sizes)
            shares = np.array([sizes[name] for name in names], float)
            previous = str(random.choice(names, p=shares / shares.sum()))
        order.append(waiting[previous].pop())
    return order


PRACTICE, PAIR, CHECK = "practice", "pair", "check"
DRAW, SIDES, ORDER, CHECKS, PRACTISED = range(5)
"""Random streams, each independent of how much is drawn from another."""
COLUMNS = ["item_id", "phenomenon", "paradigm", "good", "bad", "treebank", "file", "sent_id"]
FEWEST, MOST = 5, 15
"""Words in the sentence of a check; longer sentences serve where there are no others."""
TRIES = 200


class Row(NamedTuple):
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
    """A pair or an attention check that has no place in its list yet."""

    pair: Pair
    part: str
    first_is_good: bool
    wrong: str


def read_pairs(items: Path) -> list[Pair]:
    """Read the pairs or single sentences of an items table, one for each id and paradigm.

    Leaves out pairs of equal sentences, with a warning. Raises UserError without pairs, and for
    conditions.
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
    for row in table.select([*COLUMNS, *(["acceptable"] if is_single else [])]).to_pylist():
        if row["good"] == row["bad"] and not is_single:
            same += 1
            continue
        location = [row["treebank"], row["file"], row["sent_id"]]
        source = json.dumps(location) if row["sent_id"] else None
        fields = {name: row[name] for name in COLUMNS[:5]}
        pairs[row["item_id"], row["paradigm"]] = Pair(
            **fields, source=source, acceptable=row.get("acceptable")
        )
    if not pairs:
        raise UserError(f"{items} has no pairs; expected some of each paradigm. Build them.")
    if same:
        log.warning("%d pairs of the same sentence twice are left out", same)
    return [*pairs.values()]


def _unrelated(pairs: Collection[Pair], others: Collection[Pair]) -> list[Pair]:
    seen = {text for pair in others for text in pair.sentences}
    free = [pair for pair in pairs if not seen & {*pair.sentences}]
    return sorted(free, key=lambda pair: (pair.item_id, pair.paradigm))


def _parted(sentence: str) -> tuple[list[str], str]:
    body = sentence.strip()
    while body and unicodedata.category(body[-1])[0] in "PZ":
        body = body[:-1]
    return body.split(), sentence.strip()[len(body) :]


def suits(sentence: str) -> bool:
    """Return whether a sentence has enough words to be scrambled beyond doubt."""
    return len({*_parted(sentence)[0]}) >= FEWEST


def scrambled(sentence: str, random: np.random.Generator) -> str:
    """Shuffle the words of a sentence that ``suits``; the marks at its end stay."""
    sentence_words, end = _parted(sentence)
    for _ in range(TRIES):
        order = [sentence_words[position] for position in random.permutation(len(sentence_words))]
        # Urdu sentences can survive the move of a phrase, but not that no word follows as before.
        if order[-1] != sentence_words[-1] and not {*pairwise(sentence_words)} & {*pairwise(order)}:
            return " ".join(order) + end
    # Of sentences with many repeated words.
    return " ".join(reversed(sentence_words)) + end


def _checks(
    pairs: Collection[Pair], entries: Sequence[_Entry], options: ValidationOptions, number: int
) -> list[_Entry]:
    """Make a list's attention checks from sentences of pairs that it does not have."""
    random = np.random.default_rng([options.seed, CHECKS, number])
    free = _shuffled(_unrelated(pairs, [entry.pair for entry in entries]), random)
    fit = sorted((p for p in free if suits(p.good)), key=lambda p: len(_parted(p.good)[0]) > MOST)
    chosen = [*{pair.good: pair for pair in fit}.values()][: options.checks]
    if len(chosen) < options.checks:
        raise UserError(
            f"list {options.names[number]} can have {len(chosen)} attention checks (sentences of "
            f"{FEWEST} words or more that it does not have otherwise), expected {options.checks}; "
            "lower checks, per_paradigm or practice."
        )
    start = int(random.integers(2))
    turns = enumerate(chosen, start)
    return [_Entry(p, CHECK, turn % 2 == 0, scrambled(p.good, random)) for turn, p in turns]


def _practice(pairs: Collection[Pair], dealt: Deal, options: ValidationOptions) -> list[_Entry]:
    """Choose pairs to practise on: for all lists the same, from each paradigm in turn, unjudged."""
    random = np.random.default_rng([options.seed, PRACTISED])
    judged = {pair.item_id for pair in dealt.pairs}
    unjudged = {pair.item_id: pair for pair in pairs if pair.item_id not in judged}
    new = {pair.item_id for pair in _unrelated(unjudged.values(), dealt.pairs)}
    shuffled = _shuffled(sorted(unjudged.values(), key=lambda pair: pair.item_id), random)
    turns: Counter[str] = Counter()
    ranked = []
    for pair in sorted(shuffled, key=lambda pair: pair.item_id not in new):
        turns[pair.paradigm] += 1
        ranked.append((pair.item_id not in new, turns[pair.paradigm], pair))
    ranked.sort(key=lambda rank: rank[:2])
    chosen = [pair for _, _, pair in ranked[: options.practice]]
    if len(chosen) < options.practice:
        raise UserError(
            f"{len(chosen)} pairs are left to practise on, expected {options.practice}; lower "
            "practice or per_paradigm."
        )
    sides = halve([(pair.paradigm, "") for pair in chosen], [("",) for _ in chosen], random)
    return [_Entry(p, PRACTICE, side, p.bad) for p, side in zip(chosen, sides, strict=True)]


def make_lists(pairs: Collection[Pair], options: ValidationOptions) -> list[Row]:
    """Make the rows of all lists, list by list; the order of ``pairs`` has no influence.

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
    # The sentences that come first are balanced in every grouping.
    dealt_to = zip(dealt.pairs, dealt.places, strict=True)
    slots = [(pair, number) for pair, (_, group) in dealt_to for number in group]
    by_item: list[Keys] = [(pair.item_id, pair.paradigm) for pair, _ in slots]
    by_list: list[Keys] = [((number, pair.paradigm), number) for pair, number in slots]
    lists: list[list[_Entry]] = [[] for _ in range(people)]
    sides = halve(by_item, by_list, stream(SIDES))
    for (pair, number), side in zip(slots, sides, strict=True):
        lists[number].append(_Entry(pair, PAIR, side, pair.bad))
    rows: list[Row] = []
    for number, entries in enumerate(lists):
        random = stream(ORDER, number)
        head, body = (
            [some[n] for n in apart([entry.pair.paradigm for entry in some], random)]
            for some in (practice, entries)
        )
        checks = _checks(pairs, [*practice, *entries], options, number)
        # Spread evenly; from the last, so that the other places stay.
        size, name = len(body), options.names[number]
        for turn in reversed(range(len(checks))):
            body.insert(round((turn + 0.5) * size / len(checks)), checks[turn])
        for order, (pair, part, side, wrong) in enumerate([*head, *body], 1):
            row = row_id(options.seed, name, part, pair.item_id, side, pair.good, wrong)
            first, second = (pair.good, wrong) if side else (wrong, pair.good)
            is_good = side
            if pair.acceptable is not None:
                first, second, is_good = wrong, "", pair.acceptable and part != CHECK
            about = (pair.item_id, pair.phenomenon, pair.paradigm)
            rows.append(Row(row, name, order, part, *about, first, second, is_good))
    return rows
