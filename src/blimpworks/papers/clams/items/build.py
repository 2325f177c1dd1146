"""Read CLAMS's evaluation sets, count their minimal sets, and make items of their pairs.

``build_items`` and ``count_sets`` read files. A line has True (grammatical) or False, a tab and a
sentence. Each False line makes a pair with the True line before it. As in the authors' scoring,
sentences of items are tokenised, with a full stop. The authors' BERT script drops pairs that differ
in more than one word. Source: Mueller, Nicolai, Petrou-Zeniou, Talmina and Linzen (2020), sections
4 and 5.2, appendices B and D.
"""

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from blimpworks.errors import UserError, reading
from blimpworks.files import text_of
from blimpworks.items import evenly, item_id, regions_of
from blimpworks.papers.clams.items.sets import CAPITALS, STOP, has_capitals, phenomenon_of
from blimpworks.papers.clams.settings import ClamsOptions, variant_of
from blimpworks.tables import EVALUATION_SETS, ITEMS, read_schema, write_rows

log = logging.getLogger(__name__)

Pair = tuple[str, str]
"""A grammatical sentence and an ungrammatical one."""


def read_pairs(path: Path) -> Iterator[tuple[int, Pair]]:
    """Yield the pairs of a file, each after the line (from 1) of its ungrammatical sentence.

    Raises UserError for a malformed line, a True line without a False line after it, and a file
    that seems cut short. A complete file may lack the last line end, as the English files do.
    """
    with reading(path, "an evaluation set of CLAMS", "Retrieve or generate it again."):
        text = text_of(path).replace("\r\n", "\n")
    lines = text.removesuffix("\n").split("\n") if text else []
    if not lines:
        raise UserError(f"{path} has no pair; expected an evaluation set of CLAMS.")
    good, previous_verdict = "", "False"
    for line, entry in enumerate(lines, start=1):
        verdict, _, sentence = entry.partition("\t")
        if "\t" in sentence or sentence.isspace():
            sentence = ""
        begins_set = verdict == "True" and previous_verdict == "False" and line < len(lines)
        if begins_set and sentence:
            good = sentence
        elif verdict == "False" and good and sentence:
            if line == len(lines) and not text.endswith("\n"):
                _check_last(path, lines, (good, sentence))
            yield line, (good, sentence)
        else:
            raise UserError(
                f"{path}:{line}: {entry.rstrip()!r:.90} is not part of an evaluation set; expected "
                "True or False, a tab and a sentence; first True, and False after each True."
            )
        previous_verdict = verdict


def _check_last(path: Path, lines: Sequence[str], pair: Pair) -> None:
    """Raise UserError if the last sentence, which has no line end, seems cut off.

    A cut sentence lacks words that its grammatical sentence has, or ends in a piece of a word. Such
    a piece is new in the file, whose sentences have few words in many combinations.
    """
    good, bad = (sentence.split(" ") for sentence in pair)
    line_words = {word for line in lines[:-1] for word in line.partition("\t")[2].split(" ")}
    if len(bad) < len(good) or not line_words.issuperset(bad):
        raise UserError(
            f"{path}:{len(lines)}: the file ends in mid-line, with {pair[1]!r:.90}; expected a "
            "line end. Retrieve or generate it again, or end the line if it is complete."
        )


def focus_of(pair: Pair) -> str | None:
    """Return the two words in which a pair differs, such as ``laugh/laughs``; None for more."""
    good, bad = (sentence.split() for sentence in pair)
    if len(good) != len(bad):
        return None
    differing = [
        (first, second) for first, second in zip(good, bad, strict=True) if first != second
    ]
    return "/".join(sorted(differing[0])) if len(differing) == 1 else None


def count_sets(sets: Sequence[tuple[str, Path]], output: Path) -> int:
    """Write the number of minimal sets of each (language, path) and focus; return the sum."""
    rows: list[dict[str, Any]] = []
    for lang, path in sets:
        counts = Counter(focus_of(pair) for _, pair in read_pairs(path))
        for focus in sorted(counts, key=lambda focus: focus or ""):  # None first
            n = counts[focus]
            rows.append({"lang": lang, "paradigm": path.stem, "focus": focus, "n": n})
    write_rows(rows, EVALUATION_SETS, output)
    return sum(row["n"] for row in rows)


# `focus`: the two words in which a pair differs, null if it has more. `line`: the line of the
# ungrammatical sentence in its file.
ITEM_SCHEMA = read_schema(__file__, "schemas/items.tsv", ITEMS)


def capitalise(sentence: str, *, lower_rest: bool) -> str:
    """Capitalise the first letter; ``lower_rest`` lower-cases the rest of the first word.

    "iPods play" becomes "Ipods play" with ``lower_rest``, and else "IPods play".
    """
    word, space, further = sentence.partition(" ")
    word = word.capitalize() if lower_rest else word[:1].upper() + word[1:]
    return word + space + further


def _row(lang: str, phenomenon: str, path: Path, line: int, pair: Pair) -> dict[str, Any]:
    """Make the item of a pair; ``line`` has its ungrammatical sentence."""
    good, bad = (f"{sentence} {STOP}" for sentence in pair)
    labels = {"lang": lang, "phenomenon": phenomenon, "paradigm": path.stem}
    return {
        **labels,
        "item_id": item_id("clams", *labels.values(), good, bad),
        "good": good,
        "bad": bad,
        **regions_of(good, bad)._asdict(),
        "treebank": None,
        "file": f"{path.parent.name}/{path.name}",
        "sent_id": str(line),
        "focus": focus_of(pair),
        "line": line,
    }


def build_items(
    sets: Sequence[Path], lang: str, output: Path, options: ClamsOptions
) -> dict[str, int]:
    """Write a language's items, one for each ungrammatical sentence; return numbers of pairs.

    The numbers are {"pairs": …, "identical": …, "contradictory": …}, with a warning if needed. The
    ungrammatical sentence of an identical pair is also the pair's grammatical sentence. That of a
    contradictory pair is the grammatical sentence of another pair.
    """
    counts = Counter(dict.fromkeys(("pairs", "identical", "contradictory"), 0))
    rows: list[dict[str, Any]] = []
    lower_rest = variant_of(options, "capitals") == "published"
    paradigms = [path.stem for path in sets]
    for path in sets:
        if paradigms.count(path.stem) > 1:
            raise UserError(
                f"{path} is one of {paradigms.count(path.stem)} files of paradigm {path.stem}; "
                "expected one. Name each paradigm once."
            )
        phenomenon = phenomenon_of(path.stem)
        pairs = evenly(list(read_pairs(path)), options.per_paradigm)
        set_rows = [_row(lang, phenomenon, path, line, pair) for line, pair in pairs]
        with_capitals = options.capitals and has_capitals(path.stem)
        for line, pair in pairs if with_capitals else []:
            good, bad = (capitalise(sentence, lower_rest=lower_rest) for sentence in pair)
            # Sentences in a script without capitals do not change, and make no second pair.
            if (good, bad) != pair:
                set_rows.append(_row(lang, CAPITALS, path, line, (good, bad)))
        grammatical = {row["good"] for row in set_rows}
        identical = sum(row["bad"] == row["good"] for row in set_rows)
        contradictory = sum(row["bad"] in grammatical for row in set_rows) - identical
        if identical or contradictory:
            log.warning(
                "%s: of %d pairs, %d are twice the same sentence, and %d have an ungrammatical "
                "sentence that is the grammatical one of another pair; mend the grammar",
                *(path, len(set_rows), identical, contradictory),
            )
        counts.update(pairs=len(set_rows), identical=identical, contradictory=contradictory)
        rows += set_rows
    write_rows(rows, ITEM_SCHEMA, output)
    return dict(counts)
