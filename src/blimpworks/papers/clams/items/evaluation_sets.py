"""The evaluation sets that CLAMS released: minimal sets, and the words that tell them apart.

Source: Mueller, Nicolai, Petrou-Zeniou, Talmina and Linzen (2020), appendix D. A file has a
sentence per line, after True (grammatical) or False and a tab; each False line belongs to the
True line before it. Their BERT script drops what differs in more than one word.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from blimpworks.errors import UserError
from blimpworks.tables import EVALUATION_SETS, write_rows

Pair = tuple[str, str]
"""The grammatical sentence, and an ungrammatical one."""


def read_pairs(path: Path) -> Iterator[tuple[int, Pair]]:
    """The pairs of a file, in order, each with the line (from 1) of its second sentence.

    Raises UserError naming the line that is none.
    """
    try:
        with path.open(encoding="utf-8") as handle:
            good: str | None = None
            for line, text in enumerate(handle, start=1):
                verdict, _, sentence = text.rstrip("\n").partition("\t")
                if verdict == "True" and sentence:
                    good = sentence
                elif verdict == "False" and sentence and good is not None:
                    yield line, (good, sentence)
                else:
                    raise UserError(
                        f"{path}:{line}: {text.rstrip()!r} is not part of an evaluation set; "
                        "expected True or False, a tab and a sentence, the first one True."
                    )
    except FileNotFoundError as error:
        raise UserError(f"{path} does not exist; expected an evaluation set of CLAMS.") from error


def focus_of(pair: Pair) -> str | None:
    """The two words that tell a pair apart, in alphabetical order, as ``laugh/laughs``.

    None where the sentences differ in more words than one, or in length.
    """
    good, bad = (sentence.split() for sentence in pair)
    if len(good) != len(bad):
        return None
    differing = [words for words in zip(good, bad, strict=True) if words[0] != words[1]]
    return "/".join(sorted(differing[0])) if len(differing) == 1 else None


def count_sets(sets: Sequence[tuple[str, Path]], output: Path) -> int:
    """Write how many minimal sets each file has by focus words; how many in all.

    ``sets``: languages and files, whose names are the paradigms. Raises UserError for a
    malformed file.
    """
    rows: list[dict[str, Any]] = []
    for lang, path in sets:
        counts = Counter(focus_of(pair) for _, pair in read_pairs(path))
        rows += [
            {"lang": lang, "paradigm": path.stem, "focus": focus, "n": counts[focus]}
            for focus in sorted(counts, key=lambda focus: focus or "")
        ]
    write_rows(rows, EVALUATION_SETS, output)
    return sum(row["n"] for row in rows)
