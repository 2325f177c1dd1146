"""Items of CLAMS: the pairs of evaluation sets, with their critical regions.

Source: Mueller, Nicolai, Petrou-Zeniou, Talmina and Linzen (2020), sections 4 and 5.2 and
appendix B. Sentences stay as they are tokenised in the sets, with a full stop after them, as
the authors score them.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from blimpworks.errors import UserError
from blimpworks.items import evenly, item_id, regions_of
from blimpworks.papers.clams.items.constructions import CAPITALS, STOP, has_capitals, phenomenon_of
from blimpworks.papers.clams.items.evaluation_sets import Pair, focus_of, read_pairs
from blimpworks.papers.clams.settings import ClamsOptions, variant_of
from blimpworks.tables import INT, ITEMS, STRING, extend, write_rows

# focus: the two words that tell a pair apart, null where there are more; line: of the
# ungrammatical sentence in its file.
ITEM_SCHEMA = extend(ITEMS, focus=STRING, line=INT)


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
    write_rows(rows, ITEM_SCHEMA, output)
    return len(rows)
