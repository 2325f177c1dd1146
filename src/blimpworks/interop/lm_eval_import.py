"""Items from what lm-evaluation-harness and data sets of its tasks hold: JSON documents.

A line of a samples file has the document under ``doc``; a line of a data set, such as a
paradigm, is the document itself. Three spellings of a pair are known.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

import pyarrow as pa

from blimpworks.errors import UserError
from blimpworks.tables import ITEMS, write_table

PAIRS = (("sentence_good", "sentence_bad"), ("sen", "wrong_sen"), ("good", "bad"))
PHENOMENA = ("phenomenon", "linguistics_term", "field")
PARADIGMS = ("paradigm", "UID", "feature_vals")
SHOWN = 20
"""Most problems that one message names."""
Span = tuple[int | None, int | None]
NOWHERE: Span = (None, None)
Doc = Mapping[str, Any]


def _first(doc: Doc, names: Sequence[str], otherwise: str) -> str:
    return next((str(doc[name]) for name in names if doc.get(name)), otherwise)


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    """Number of words that two sentences share from their beginning."""
    pairs = zip(first, second, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def differing_words(good: str, bad: str) -> tuple[Span, Span]:
    """The words that differ, from the first to the last, in each sentence.

    Nowhere where a sentence has none of its own: a word left out, or two equal sentences.
    """
    words = good.split(), bad.split()
    head = _common(*words)
    tail = _common(*(side[head:][::-1] for side in words))
    spans: list[Span] = []
    for text, side in zip((good, bad), words, strict=True):
        edges = [word.span() for word in re.finditer(r"\S+", text)]
        inside = edges[head : len(side) - tail]
        spans.append((inside[0][0], inside[-1][1]) if inside else NOWHERE)
    return spans[0], spans[1]


def _after(text: str, prefix: Any, word: Any) -> Span:
    """The span of ``word`` in ``text``, right after ``prefix``."""
    start = text.find(str(word), len(str(prefix)))
    return (start, start + len(str(word))) if start >= 0 else NOWHERE


def critical_regions(doc: Doc, good: str, bad: str) -> tuple[Span, Span]:
    """The critical regions of a document's two sentences, in code points.

    As it gives them; else the critical words of prefix methods; else the words that
    differ.
    """
    if doc.get("good_start") is not None and doc.get("bad_start") is not None:
        given = [(doc[f"{side}_start"], doc[f"{side}_end"]) for side in ("good", "bad")]
        return given[0], given[1]
    if doc.get("one_prefix_method"):
        words = doc["one_prefix_word_good"], doc["one_prefix_word_bad"]
        prefixes = [doc["one_prefix_prefix"]] * 2
    elif doc.get("two_prefix_method"):
        words = (doc["two_prefix_word"],) * 2
        prefixes = [doc["two_prefix_prefix_good"], doc["two_prefix_prefix_bad"]]
    else:
        return differing_words(good, bad)
    return _after(good, prefixes[0], words[0]), _after(bad, prefixes[1], words[1])


def _item(doc: Doc, lang: str, task: str) -> dict[str, Any]:
    """A document as a row of the items table. Raises ValueError for what is wrong with it."""
    names = next((pair for pair in PAIRS if {*pair} <= doc.keys()), None)
    if names is None:
        known = "; ".join(" and ".join(pair) for pair in PAIRS)
        raise ValueError(f"has no pair of sentences, expected {known}")
    for name in names:
        if not isinstance(doc[name], str) or not doc[name].strip():
            raise ValueError(f"{name} is {doc[name]!r}, expected a sentence")
    good, bad = doc[names[0]], doc[names[1]]
    paradigm = _first(doc, PARADIGMS, task)
    own = f"{lang}\t{paradigm}\t{good}\t{bad}"
    try:
        regions = critical_regions(doc, good, bad)
    except KeyError as error:
        raise ValueError(f"has no {error.args[0]}, which its prefix method needs") from error
    spans = dict(zip(("good", "bad"), regions, strict=True))
    edges = {f"{side}_{e}": span[i] for side, span in spans.items() for i, e in enumerate(EDGES)}
    return dict.fromkeys(ITEMS.names) | {
        "item_id": doc.get("item_id") or hashlib.blake2b(own.encode(), digest_size=8).hexdigest(),
        "lang": lang,
        "phenomenon": _first(doc, PHENOMENA, task),
        "paradigm": paradigm,
        **{"good": good, "bad": bad},
        **edges,
    }


EDGES = ("start", "end")


def _document(line: str, seen: set[int]) -> Doc | None:
    """The document of a line; None if the file had it before, under another filter.

    Raises ValueError for what is wrong with the line.
    """
    try:
        value = json.loads(line)
    except ValueError as error:
        raise ValueError(f"is not JSON ({error})") from error
    doc = value.get("doc", value) if isinstance(value, dict) else value
    if not isinstance(doc, dict):
        raise ValueError(f"is no document but {type(doc).__name__}")
    number = value.get("doc_id") if "doc" in value else None
    if number in seen:
        return None
    seen |= set() if number is None else {number}
    return doc


def _rows(path: Path, lang: str, problems: list[str]) -> Iterator[dict[str, Any]]:
    """Items of a file; what is wrong goes to ``problems``, with its line."""
    task, seen = path.stem.removeprefix("samples_").split("_20")[0], set[int]()
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} can't be read ({error}); expected lines of JSON.") from error
    for number, line in enumerate(lines, start=1):
        try:
            doc = _document(line, seen) if line.strip() else None
            if doc is not None:
                yield _item(doc, lang, task)
        except ValueError as error:
            problems.append(f"{path}:{number}: {error}.")


def import_items(files: Sequence[Path], lang: str, output: Path) -> int:
    """Write the items of samples files or data sets as an items table; return how many.

    Phenomenon and paradigm are the documents' own, else the file's name. Raises UserError
    with every problem's file and line; then nothing is written.
    """
    problems: list[str] = []
    rows = [row for path in files for row in _rows(path, lang, problems)]
    if problems:
        more = len(problems) - SHOWN
        last = [f"… and {more} more."] if more > 0 else []
        raise UserError("\n".join([*problems[:SHOWN], *last]))
    if not rows:
        raise UserError(f"{', '.join(map(str, files))}: no document; expected lines of JSON.")
    write_table(pa.Table.from_pylist(rows, ITEMS.arrow()), ITEMS, output)
    return len(rows)
