"""Items of CLAMS: the pairs of evaluation sets, with their critical regions.

Source: Mueller, Nicolai, Petrou-Zeniou, Talmina and Linzen (2020), sections 4 and 5.2 and
appendix B. Sentences stay as they are tokenised in the sets, with a full stop after them, as
the authors score them.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from blimpworks.clams.constructions import CAPITALS, STOP, has_capitals, phenomenon_of
from blimpworks.clams.decisions import variant_of
from blimpworks.clams.evaluation_sets import Pair, focus_of, read_pairs
from blimpworks.config import ClamsOptions
from blimpworks.errors import UserError
from blimpworks.items import evenly, item_id
from blimpworks.tables import INT, ITEMS, STRING, write_table

# focus: the two words that tell a pair apart, null where there are more; line: of the
# ungrammatical sentence in its file.
ITEM_SCHEMA = pa.schema([*ITEMS.arrow(), ("focus", STRING), ("line", INT)])


class Regions(NamedTuple):
    """Half-open character spans of what tells two sentences apart."""

    good_start: int
    good_end: int
    bad_start: int
    bad_end: int


def _shared(first: Sequence[str], second: Sequence[str]) -> int:
    """How many words two sentences begin with in common."""
    words = enumerate(zip(first, second, strict=False))
    return next((i for i, (a, b) in words if a != b), min(len(first), len(second)))


def _width(words: Sequence[str]) -> int:
    """Characters of words and of the space after each."""
    return sum(map(len, words)) + len(words)


def regions_of(good: str, bad: str) -> Regions:
    """The words between the longest common beginning and the longest common end.

    All words where the sentences are the same. Where one sentence has a word more, the region
    of the other takes in the word after it, so that none is empty.
    """
    sides = good.split(" "), bad.split(" ")
    shortest = min(map(len, sides))
    before = min(_shared(*sides), shortest - 1) if good != bad else 0
    rest = [side[before + 1 :][::-1] for side in sides]
    after = _shared(*rest) if good != bad else 0
    start = _width(sides[0][:before])
    good_end, bad_end = (_width(side[: len(side) - after]) - 1 for side in sides)
    return Regions(start, good_end, start, bad_end)


def capitalise(sentence: str, *, rest_too: bool) -> str:
    """``sentence`` with a capital first letter; ``rest_too`` lower-cases the rest of its word."""
    word, space, rest = sentence.partition(" ")
    word = word.capitalize() if rest_too else word[:1].upper() + word[1:]
    return word + space + rest


def _row(lang: str, phenomenon: str, path: Path, line: int, pair: Pair) -> dict[str, Any]:
    good, bad = (f"{sentence} {STOP}" for sentence in pair)
    named = {"lang": lang, "phenomenon": phenomenon, "paradigm": path.stem}
    return {
        **named,
        "item_id": item_id("clams", *named.values(), good, bad),
        "good": good,
        "bad": bad,
        **regions_of(good, bad)._asdict(),
        "treebank": None,
        "file": f"{path.parent.name}/{path.name}",
        "sent_id": str(line),
        "focus": focus_of(pair),
        "line": line,
    }


def _rows(lang: str, path: Path, options: ClamsOptions) -> Iterator[dict[str, Any]]:
    """Items of a set, those with a capital first letter after the others."""
    pairs = evenly(list(read_pairs(path)), options.per_paradigm)
    if not pairs:
        raise UserError(f"{path} has no pair; expected an evaluation set of CLAMS.")
    for line, pair in pairs:
        yield _row(lang, phenomenon_of(path.stem), path, line, pair)
    if not (options.capitals and has_capitals(path.stem)):
        return
    rest_too = variant_of(options, "capitals") == "published"
    for line, (good, bad) in pairs:
        changed = capitalise(good, rest_too=rest_too), capitalise(bad, rest_too=rest_too)
        # Scripts without capitals have no such pairs.
        if changed != (good, bad):
            yield _row(lang, CAPITALS, path, line, changed)


def build_items(sets: Sequence[Path], lang: str, output: Path, options: ClamsOptions) -> int:
    """Write the items of a language's evaluation sets, whose files are called as paradigms.

    One row per ungrammatical sentence, in the order of the files, also where a pair stands
    twice. Returns the number of rows. Raises UserError for a malformed or empty file.
    """
    rows = [row for path in sets for row in _rows(lang, path, options)]
    table = pa.Table.from_pylist(rows, schema=ITEM_SCHEMA)
    write_table(table, ITEMS, output)
    return len(rows)
