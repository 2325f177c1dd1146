"""Items from JSON documents of lm-evaluation-harness and of data sets of its tasks.

A line of a samples file has the document under ``doc``; a line of a data set is the document. Three
spellings of a pair are known.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from blimpworks.errors import UserError
from blimpworks.json_files import load_json
from blimpworks.tables import ITEMS, write_table

PAIRS = (("sentence_good", "sentence_bad"), ("sen", "wrong_sen"), ("good", "bad"))
PHENOMENA = ("phenomenon", "linguistics_term", "field")
PARADIGMS = ("paradigm", "UID", "feature_vals")
PREFIXED = {
    "one_prefix": ("prefix", "prefix", "word_good", "word_bad"),
    "two_prefix": ("prefix_good", "prefix_bad", "word", "word"),
}
"""Names of prefixes and critical words of both sentences, by prefix method.

The hub's copy, which the harness reads, names the method but lacks the words.
"""
SHOWN = 20
"""Most problems in one message."""
Span = tuple[int | None, int | None]
NOWHERE: Span = (None, None)
Doc = Mapping[str, Any]
First = dict[str, tuple[str, Mapping[str, Any], set[str]]]
"""Document by id: place and row of its first occurrence, and its paradigms so far."""


def differing_words(good: str, bad: str) -> tuple[Span, Span]:
    """Return the span of differing words of each sentence; ``NOWHERE`` where it has none."""
    words = good.split(), bad.split()
    same = [first == second for first, second in zip(*words, strict=False)]
    head = [*same, False].index(False)
    ends = zip(*(side[head:][::-1] for side in words), strict=False)
    tail = [*(first == second for first, second in ends), False].index(False)
    spans: list[Span] = []
    for text, side in zip((good, bad), words, strict=True):
        edges = [word.span() for word in re.finditer(r"\S+", text)]
        inside = edges[head : len(side) - tail]
        spans.append((inside[0][0], inside[-1][1]) if inside else NOWHERE)
    return spans[0], spans[1]


def critical_regions(doc: Doc, good: str, bad: str) -> tuple[Span, Span]:
    """Return the critical regions of a document's two sentences, in code points.

    They are the document's own, or the critical words of prefix methods, or the differing words.
    Raises ValueError where a part of a prefix method's fields is missing.
    """
    if doc.get("good_start") is not None and doc.get("bad_start") is not None:
        given = [(doc[f"{side}_start"], doc.get(f"{side}_end")) for side in ("good", "bad")]
        return given[0], given[1]
    for method, columns in PREFIXED.items():
        names = [f"{method}_{column}" for column in columns]
        lacking = [name for name in names if doc.get(name) in (None, "")]
        if not doc.get(f"{method}_method") or len(lacking) == len(names):
            continue
        if lacking:
            raise ValueError(f"has no {lacking[0]}, which its prefix method needs")
        spans = []
        for text, prefix, word in zip((good, bad), names[:2], names[2:], strict=True):
            start = text.find(str(doc[word]), len(str(doc[prefix])))
            spans.append((start, start + len(str(doc[word]))) if start >= 0 else NOWHERE)
        return spans[0], spans[1]
    return differing_words(good, bad)


def sentences_of(doc: Doc) -> tuple[str, str]:
    """Return the good and the bad sentence of a document. Raises ValueError without them."""
    names = next((pair for pair in PAIRS if {*pair} <= doc.keys()), None)
    if names is None:
        known = "; ".join(" and ".join(pair) for pair in PAIRS)
        raise ValueError(f"has no pair of sentences, expected {known}")
    for name in names:
        if not isinstance(doc[name], str) or not doc[name].strip():
            raise ValueError(f"{name} is {doc[name]!r}, expected a sentence")
    return doc[names[0]], doc[names[1]]


def _item(doc: Doc, lang: str, task: str) -> dict[str, Any]:
    """Return a document as a row of the items table. Raises ValueError for its faults."""
    good, bad = sentences_of(doc)
    phenomenon, paradigm = (
        next((str(doc[name]) for name in names if doc.get(name)), task)
        for names in (PHENOMENA, PARADIGMS)
    )
    content = f"{lang}\t{paradigm}\t{good}\t{bad}".encode()  # refuses half characters
    item_id = doc.get("item_id")
    if item_id is None:
        item_id = hashlib.blake2b(content, digest_size=8).hexdigest()
    elif type(item_id) not in (str, int) or not str(item_id).strip():
        raise ValueError(f"item_id is {item_id!r}, expected a text or a whole number")
    row: dict[str, Any] = dict.fromkeys(ITEMS.names)
    row |= {"item_id": str(item_id), "lang": lang, "phenomenon": phenomenon}
    row |= {"paradigm": paradigm, "good": good, "bad": bad}
    for side, span in zip(("good", "bad"), critical_regions(doc, good, bad), strict=True):
        row[f"{side}_start"], row[f"{side}_end"] = start, end = span
        are_numbers = all(type(edge) is int for edge in span)
        if span != NOWHERE and not (
            are_numbers and 0 <= (start or 0) < (end or 0) <= len(row[side])
        ):
            raise ValueError(
                f"the region of the {side} sentence goes from {start!r} to {end!r}, expected whole "
                f"numbers of characters inside its {len(row[side])}, the first one smaller"
            )
    return row


def _document(line: str, seen: set[str]) -> Doc | None:
    """Return a line's document, None if the file had it. Raises ValueError for its faults."""
    try:
        value = load_json(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"is not JSON ({error})") from error
    doc = value.get("doc", value) if isinstance(value, dict) else value
    if not isinstance(doc, dict):
        raise ValueError(f"is no document but {type(doc).__name__}")
    number = value.get("doc_id") if "doc" in value else None
    if number is None:
        return doc
    is_new = repr(number) not in seen
    seen.add(repr(number))
    return doc if is_new else None


def _rows(path: Path, lang: str, first: First, problems: list[str]) -> Iterator[dict[str, Any]]:
    """Yield items of a file; faults, with their lines, go to ``problems``.

    Scores are by id, so each pair needs its own. A pair may be in several paradigms, with one id.
    """
    task, seen = path.stem.removeprefix("samples_").split("_20")[0], set[str]()
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} can't be read ({error}); expected lines of JSON.") from error
    for number, line in enumerate(lines, start=1):
        try:
            doc = _document(line, seen) if line.strip() else None
            if doc is None:
                continue
            row = _item(doc, lang, task)
            address, earlier, paradigms = first.setdefault(
                row["item_id"], (f"{path}:{number}", row, set())
            )
            same = all(row[key] == earlier[key] for key in ("good", "bad"))
            if not same or row["paradigm"] in paradigms:
                raise ValueError(
                    f"its item_id {row['item_id']!r} is that of {'this' if same else 'another'} "
                    f"pair in {address}; "
                    + ("leave one out" if same else "make ids unique over all files")
                )
            paradigms.add(row["paradigm"])
            yield row
        except ValueError as error:
            problems.append(f"{path}:{number}: {error}.")


def import_items(files: Sequence[Path], lang: str, output: Path) -> int:
    """Write the items of samples files or data sets as an items table; return their number.

    Phenomenon and paradigm are the documents' own, else the file's name. Raises UserError with
    every problem's file and line, such as an id of two pairs; then nothing is written.
    """
    if not re.fullmatch("[a-z]{3}", lang):
        raise UserError(
            f"--lang is {lang!r}; expected the ISO 639-3 code of the items' language, three "
            "lower-case letters such as eng."
        )
    problems: list[str] = []
    first: First = {}
    rows = [row for path in files for row in _rows(path, lang, first, problems)]
    if problems:
        more = [f"… and {len(problems) - SHOWN} more."] if problems[SHOWN:] else []
        raise UserError("\n".join([*problems[:SHOWN], *more]))
    if not rows:
        raise UserError(f"{', '.join(map(str, files))}: no document; expected lines of JSON.")
    write_table(pa.Table.from_pylist(rows, ITEMS.arrow()), ITEMS, output)
    return len(rows)
