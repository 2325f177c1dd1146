"""Lists of pairs for participants: who judges what, in which order, which sentence first.

Source: Adeeba, Dillon, Sajjad and Bhatt (2025), section 2.3. Attention checks are ours.
"""

import json
import logging
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path

import numpy as np

from blimpworks.annotation.design import (
    Deal,
    Keys,
    Pair,
    apart,
    deal,
    halve,
    spread,
)
from blimpworks.annotation.options import ValidationOptions
from blimpworks.errors import UserError
from blimpworks.tables import ITEMS, read_table

log = logging.getLogger(__name__)

PRACTICE, PAIR, CHECK = "practice", "pair", "check"
DRAW, SIDES, ORDER, CHECKS, PRACTISED = range(5)
"""Random streams: what each decides does not depend on how much is drawn from another."""
COLUMNS = ["item_id", "phenomenon", "paradigm", "good", "bad", "treebank", "file", "sent_id"]
FEWEST, MOST = 5, 15
"""Words of a sentence for a check; longer ones are taken where there are no others."""
TRIES = 200


@dataclass(frozen=True, slots=True)
class Row:
    """What stands in a list, as in the table ``validation_key`` (without the language)."""

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


@dataclass(frozen=True, slots=True)
class _Entry:
    """A pair, or an attention check, that waits for its place in a list."""

    pair: Pair
    part: str
    first_is_good: bool
    wrong: str


def read_pairs(items: Path) -> list[Pair]:
    """Read the pairs of an items table, or its single sentences, one for each id and paradigm.

    A pair of the same sentence twice is left out, with a warning. Raises UserError for a table
    that is missing or of another schema, without pairs, or with items of conditions.
    """
    table = read_table(ITEMS, items)
    if "condition" in table.column_names:
        raise UserError(
            f"{items} has items of conditions, whose predictions people cannot judge; expected "
            "pairs or single sentences."
        )
    single = "acceptable" in table.column_names
    pairs = {}
    same = 0
    for row in table.select([*COLUMNS, *(["acceptable"] if single else [])]).to_pylist():
        if row["good"] == row["bad"] and not single:
            same += 1
            continue
        place = [row["treebank"], row["file"], row["sent_id"]]
        source = json.dumps(place) if row["sent_id"] else None
        fields = {name: row[name] for name in COLUMNS[:5]}
        pairs[row["item_id"], row["paradigm"]] = Pair(
            **fields, source=source, acceptable=row.get("acceptable")
        )
    if not pairs:
        raise UserError(f"{items} has no pairs; expected some of each paradigm. Build them.")
    if same:
        log.warning("%d pairs of the same sentence twice are left out", same)
    return [*pairs.values()]


def _stream(options: ValidationOptions, *steps: int) -> np.random.Generator:
    return np.random.default_rng([options.seed, *steps])


def _lists_of(dealt: Deal, options: ValidationOptions) -> list[list[_Entry]]:
    """The pairs of each list; the sentences that come first are balanced in every grouping."""
    places = zip(dealt.pairs, dealt.places, strict=True)
    slots = [(pair, number) for pair, (_, group) in places for number in group]
    left: list[Keys] = [(pair.item_id, pair.paradigm) for pair, _ in slots]
    right: list[Keys] = [((number, pair.paradigm), number) for pair, number in slots]
    lists: list[list[_Entry]] = [[] for _ in range(options.participants)]
    sides = halve(left, right, _stream(options, SIDES))
    for (pair, number), side in zip(slots, sides, strict=True):
        lists[number].append(_Entry(pair, PAIR, side, pair.bad))
    return lists


def _shuffled(pairs: Sequence[Pair], random: np.random.Generator) -> list[Pair]:
    return [pairs[number] for number in random.permutation(len(pairs))]


def _unrelated(pairs: Collection[Pair], others: Collection[Pair]) -> list[Pair]:
    """Pairs of sentences that none of the ``others`` is made from, by id."""
    seen = {text for pair in others for text in pair.sentences}
    free = [pair for pair in pairs if not seen & {*pair.sentences}]
    return sorted(free, key=lambda pair: (pair.item_id, pair.paradigm))


# Attention checks: a grammatical sentence against its words in an order that no sentence has.


def _parted(sentence: str) -> tuple[list[str], str]:
    """Words of a sentence, and the marks that end it."""
    body = sentence.strip()
    while body and unicodedata.category(body[-1])[0] in "PZ":
        body = body[:-1]
    return body.split(), sentence.strip()[len(body) :]


def suits(sentence: str) -> bool:
    """Whether a sentence has words enough to be scrambled beyond doubt."""
    words, _ = _parted(sentence)
    return len(words) >= FEWEST and len({*words}) >= FEWEST


def is_short(sentence: str) -> bool:
    """Whether a sentence is read at a glance."""
    return len(_parted(sentence)[0]) <= MOST


def scrambled(sentence: str, random: np.random.Generator) -> str:
    """The words of a sentence that ``suits``, in a random order; the marks at its end stay."""
    words, end = _parted(sentence)
    for _ in range(TRIES):
        order = [words[place] for place in random.permutation(len(words))]
        # Urdu sentences can survive the move of a phrase, but not that no word follows as before.
        if order[-1] != words[-1] and not {*pairwise(words)} & {*pairwise(order)}:
            return " ".join(order) + end
    # Of sentences with many repeated words.
    return " ".join(reversed(words)) + end


def _checks(
    pairs: Collection[Pair], entries: Sequence[_Entry], options: ValidationOptions, number: int
) -> list[_Entry]:
    """A list's attention checks, from sentences of pairs that it does not have."""
    random = _stream(options, CHECKS, number)
    free = _shuffled(_unrelated(pairs, [entry.pair for entry in entries]), random)
    fit = sorted((p for p in free if suits(p.good)), key=lambda pair: not is_short(pair.good))
    chosen = [*{pair.good: pair for pair in fit}.values()][: options.checks]
    if len(chosen) < options.checks:
        raise UserError(
            f"list {options.names[number]} can have {len(chosen)} attention checks (sentences of "
            f"{FEWEST} words or more that it does not have otherwise), expected {options.checks}; "
            "lower checks, per_paradigm or practice."
        )
    start = int(random.integers(2))
    return [
        _Entry(pair, CHECK, turn % 2 == 0, scrambled(pair.good, random))
        for turn, pair in enumerate(chosen, start)
    ]


def _practice(pairs: Collection[Pair], dealt: Deal, options: ValidationOptions) -> list[_Entry]:
    """Pairs to practise on, the same for all: of each paradigm in turn, and nobody's otherwise."""
    random, judged = _stream(options, PRACTISED), {pair.item_id for pair in dealt.pairs}
    rest = {pair.item_id: pair for pair in pairs if pair.item_id not in judged}
    new = {pair.item_id for pair in _unrelated(rest.values(), dealt.pairs)}
    shuffled = _shuffled(sorted(rest.values(), key=lambda pair: pair.item_id), random)
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


def _ordered(entries: Sequence[_Entry], random: np.random.Generator) -> list[_Entry]:
    return [entries[n] for n in apart([entry.pair.paradigm for entry in entries], random)]


def _rows(entries: Sequence[_Entry], name: str, seed: int) -> Iterator[Row]:
    for place, entry in enumerate(entries, 1):
        pair, sentences = entry.pair, (entry.pair.good, entry.wrong)
        known = json.dumps([seed, name, entry.part, pair.item_id, entry.first_is_good, *sentences])
        # Its letter keeps spreadsheets from reading it as a number.
        row = "r" + blake2b(known.encode(), digest_size=8).hexdigest()
        right = entry.first_is_good
        first, second = sentences if right else sentences[::-1]
        if pair.acceptable is not None:
            first, second, right = entry.wrong, "", pair.acceptable and entry.part != CHECK
        about = (pair.item_id, pair.phenomenon, pair.paradigm)
        yield Row(row, name, place, entry.part, *about, first, second, right)


def make_lists(pairs: Collection[Pair], options: ValidationOptions) -> list[Row]:
    """All rows of all lists, list by list from the top.

    The same for the same pairs and options, in whatever order the pairs come. Raises UserError
    where there are too few pairs to practise on, or sentences for attention checks.
    """
    people, each = options.participants, options.per_pair
    dealt = deal(pairs, options.per_paradigm, people, each, _stream(options, DRAW))
    sizes = Counter(pair.paradigm for pair in dealt.pairs)
    few = [f"{kind} ({n})" for kind, n in sorted(sizes.items()) if n < options.per_paradigm]
    if few:
        log.warning("fewer than %d pairs of %s", options.per_paradigm, ", ".join(few))
    if again := len(dealt.clashing()):
        log.warning("%d pairs share a list with another one of the same sentence", again)
    practice = _practice(pairs, dealt, options)
    rows: list[Row] = []
    for number, entries in enumerate(_lists_of(dealt, options)):
        random = _stream(options, ORDER, number)
        head, body = _ordered(practice, random), _ordered(entries, random)
        checks = _checks(pairs, [*practice, *entries], options, number)
        checks_before = spread(len(checks), len(body)) if checks else []
        entries_in_order = head
        for position in range(len(body) + 1):
            entries_in_order += [
                check
                for check, before in zip(checks, checks_before, strict=True)
                if before == position
            ]
            entries_in_order += body[position : position + 1]
        rows += _rows(entries_in_order, options.names[number], options.seed)
    return rows
