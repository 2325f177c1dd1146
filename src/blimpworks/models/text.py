"""Split texts into words and sentences, and build training text without sentences of items.

``build_text`` reads plain text files and treebanks and writes one sentence per line. Sentences that
a benchmark's items contain, or were made from, are left out, so that no model is trained on them.
"""

import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.campaign.settings.training import TrainingOptions
from blimpworks.errors import UserError, reading
from blimpworks.files import write_text
from blimpworks.items import evenly
from blimpworks.linguistics.orthography import read_orthography
from blimpworks.tables import ITEMS, SENTENCES, TOKENS, read_table


@cache
def _pattern() -> re.Pattern[str]:
    r"""Return a pattern for a run of word characters, or one other visible character.

    ``\w`` does not match combining marks, which Indian scripts need, nor the joiners inside words
    of Persian or Sinhala.
    """
    marks = (c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c)[0] == "M")
    inside = "".join(marks) + "\u200c\u200d"
    return re.compile(rf"[\w{inside}]+|[^\w\s\x00-\x1f{inside}]")


def split_words(text: str) -> list[tuple[str, int]]:
    """Return the words and punctuation marks of ``text``, each with its end offset.

    A run of letters, digits, combining marks and joiners is one word; so is any other visible
    character alone. Case is kept. Offsets count code points. Words contain no white space and no
    control characters, so words joined by spaces are split into the same words.
    """
    return [(match.group(), match.end()) for match in _pattern().finditer(text)]


def split_at_spaces(text: str) -> list[tuple[str, int]]:
    """Return the words of ``text`` between white space, each with its end offset."""
    return [(match.group(), match.end()) for match in re.finditer(r"\S+", text)]


HEADING = re.compile(r"^\s*=\s.*\s=\s*$")  # = Title =
# Sentences end at a full stop, closing quotes and white space, or at an East Asian full stop. They
# do not end before a lower-case letter, or after an initial or abbreviation ("J. Smith", "Dr. X").
BOUNDARY = re.compile(r"(?<=[.!?…।؟])([\"'”’»)\]]*)\s+|(?<=[。！？])")
ABBREVIATION = re.compile(r"(?:^|[\s(\"“])(?:\w|Mr|Mrs|Ms|Dr|St|No|vs|etc|Prof|Gen|Lt|Jr|Sr)\.$")
# WikiText has spaces around punctuation; its "@-@" marks a hyphen inside a word.
JOINED = re.compile(r"\s@([-,.])@\s")  # well @-@ known
CLOSING = re.compile(r"\s+([,.;:!?%)\]]|'(?:s|re|ve|d|ll|m|t)\b|n't\b)")  # end . / dog 's
OPENING = re.compile(r"([(\[$£])\s+")  # ( that
QUOTED = re.compile(r'"\s+([^"]*?)\s+"')  # " yes "
UNKNOWN = "<unk>"  # rare word in WikiText
Sentence = TypeVar("Sentence")


def read_sentences(text: Path) -> list[str]:
    """Read the sentences of a training text. Raises UserError if it is missing or not UTF-8."""
    with reading(text, "UTF-8 text", "Build it, or convert the file."):
        # Files of Windows begin with a mark, which would be a letter of the first sentence.
        return [line for line in text.read_text(encoding="utf-8-sig").split("\n") if line]


def training_sentences(text: Path) -> list[str]:
    """Read the sentences of a training text. Raises UserError if it is missing or empty."""
    sentences = read_sentences(text)
    if not sentences:
        raise UserError(f"{text} is empty; expected training text, one sentence per line.")
    return sentences


def clean(text: str) -> str:
    """Return ``text`` in Unicode form NFC, with single spaces for any white space."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def split_sentences(paragraph: str) -> list[str]:
    """Split a paragraph into sentences at their final punctuation, by a simple rule.

    The rule knows the full stops of Latin, Arabic, Devanagari and East Asian scripts. A sentence
    does not end after an initial or a few English abbreviations. No word is lost.
    """
    sentences, start = [], 0
    for match in BOUNDARY.finditer(paragraph):
        before = paragraph[start : match.start()]
        follows = paragraph[match.end() : match.end() + 1]
        if not follows.islower() and not ABBREVIATION.search(before):
            sentences.append(paragraph[start : match.end()])
            start = match.end()
    return [sentence for sentence in map(str.strip, [*sentences, paragraph[start:]]) if sentence]


def detokenise_wikitext(line: str) -> str:
    """Remove WikiText's spaces around punctuation, and its markers such as ``@-@``."""
    line = JOINED.sub(r"\1", line)
    line = QUOTED.sub(r'"\1"', line)
    return OPENING.sub(r"\1", CLOSING.sub(r"\1", line))


def plain_sentences(text: Path, *, tokenised: bool = False) -> Iterator[str]:
    """Yield the sentences of a plain text file with one sentence or paragraph per line.

    A file with headings of the form ``= Title =`` is WikiText. Headings and sentences with
    ``<unk>`` are left out, and spaces around punctuation are removed. A ``tokenised`` file has one
    sentence per line. A tokenised WikiText keeps its spaces and ``<unk>``, which are unknown words;
    only ``@-@``, ``@,@`` and ``@.@`` join two words. UserError for a file that is not UTF-8.
    """
    lines = read_sentences(text)
    wikitext = any(map(HEADING.match, lines))
    for line in lines:
        if wikitext and HEADING.match(line):
            continue
        if tokenised and not wikitext:
            yield clean(line)
            continue
        for sentence in split_sentences(clean(line)):
            if not wikitext:
                yield sentence
            elif tokenised:
                yield JOINED.sub(r"\1", sentence)
            elif UNKNOWN not in sentence:
                yield detokenise_wikitext(sentence)


class TreebankLine(NamedTuple):
    """One line of a treebank: a word (id 2), a multiword token (2-3) or an empty node (2.1)."""

    sentence: int
    form: str
    """Spelling."""
    id: str
    word: int | None
    """Number of a word in its sentence; None for multiword tokens and empty nodes."""
    space_after: bool


def _sentence_text(rows: Iterable[TreebankLine]) -> str:
    """Return a sentence's text: multiword tokens replace their words, empty nodes are left out."""
    pieces: list[str] = []
    last_covered = 0
    for row in rows:
        if row.word is None and "-" not in row.id:
            continue
        if row.word is None:
            last_covered = int(row.id.partition("-")[2])
        elif row.word <= last_covered:
            continue
        pieces.append(f"{row.form} " if row.space_after else row.form)
    return clean("".join(pieces))


def treebank_sentences(
    tokens: Path, *, spaced: bool = False, syntactic: bool = False
) -> dict[int, str]:
    """Return the text of each sentence of a table of tokens, keyed by number.

    A multiword token, such as ``zum``, stands in place of its words ``zu`` and ``dem``; with
    ``syntactic``, the words stand in place of the token. Empty nodes are left out. With ``spaced``
    there is a space after each word. Raises UserError if the table is missing or of another schema.
    """
    table = read_table(TOKENS, tokens, [*TreebankLine._fields])
    columns = (table[name].to_pylist() for name in TreebankLine._fields)
    lines = map(TreebankLine._make, zip(*columns, strict=True))
    sentences = {}
    for number, rows in groupby(lines, attrgetter("sentence")):
        kept = (row for row in rows if not syntactic or row.word is not None)
        spelled = (row._replace(space_after=spaced or row.space_after) for row in kept)
        sentences[number] = _sentence_text(spelled)
    return sentences


def _keys(table: pa.Table) -> pa.Array:
    """Return treebank, file and sent_id of each row as one text, null if an item has none."""
    columns = [pc.cast(table[c].combine_chunks(), pa.string()) for c in ("treebank", "file")]
    return pc.binary_join_element_wise(*columns, table["sent_id"].combine_chunks(), "\t")


def origins(tokens: Path, sentences: Path, items: list[Path]) -> set[str]:
    """Return treebank sentences that items were made from: the stated text, and joined tokens."""
    columns = ["sentence", "treebank", "file", "sent_id", "text"]
    table = read_table(SENTENCES, sentences, columns)
    keys_of_items: set[str | None] = set()
    for path in items:
        keys = _keys(read_table(ITEMS, path, ["treebank", "file", "sent_id"]))
        keys_of_items.update(keys.to_pylist())
    used_keys = pa.array(sorted(filter(None, keys_of_items)), pa.string())
    matching = table.filter(pc.is_in(_keys(table), used_keys))
    printed_texts = {clean(text) for text in matching["text"].to_pylist() if text is not None}
    text_of_sentence = treebank_sentences(tokens) if len(matching) else {}
    return printed_texts | {
        text_of_sentence[n] for n in matching["sentence"].to_pylist() if n in text_of_sentence
    }


def item_texts(items: list[Path]) -> set[str]:
    """Return the good and bad sentences of all items, cleaned as training sentences are."""
    texts: set[str] = set()
    for path in items:
        table = read_table(ITEMS, path, ["good", "bad"])
        for column in ("good", "bad"):
            texts.update(clean(text) for text in table[column].to_pylist() if text is not None)
    return texts


def keep_distinct(
    candidates: Sequence[tuple[Sentence, bool]], lack: str
) -> tuple[list[Sentence], dict[str, int]]:
    """Return the candidates that are not forbidden, each once, and counts of the omitted ones.

    A candidate is a sentence, and whether it is forbidden. The counts are ``held_out`` (forbidden)
    and ``repeated``. Raises UserError, which begins with ``lack``, if no sentence remains.
    """
    counts = {"held_out": 0, "repeated": 0}
    distinct: dict[Sentence, None] = {}
    for sentence, is_forbidden in candidates:
        if is_forbidden:
            counts["held_out"] += 1
        elif sentence in distinct:
            counts["repeated"] += 1
        elif sentence:
            distinct[sentence] = None
    if not distinct:
        raise UserError(
            f"{lack} is left of {len(candidates)} found ({counts['held_out']} belong to items); "
            "give text files or set training.treebank_text to true."
        )
    return [*distinct], counts


def build_text(
    tokens: Path | None,
    sentences: Path | None,
    text_files: list[Path],
    items: list[Path],
    output: Path,
    options: TrainingOptions,
    language: Path | None = None,
) -> dict[str, int]:
    """Write training text for one model to ``output``: UTF-8, one sentence per line.

    The sources are plain text files and, with ``options.treebank_text``, the treebank of ``tokens``
    and ``sentences``. A language pack ``language`` states a spelling for the text. Repetitions are
    left out, and sentences of items, or that items were made from. At most
    ``options.max_sentences`` are kept, evenly from all sources. Returns counts: ``kept``,
    ``available``, ``held_out``, ``repeated``. Raises UserError for a bad file, or if none remains.
    """
    forbidden = item_texts(items)
    candidates = [s for path in text_files for s in plain_sentences(path)]
    if tokens is not None and sentences is not None:
        forbidden |= origins(tokens, sentences, items)
        if options.treebank_text:
            candidates += treebank_sentences(tokens).values()
    if language is not None:
        spelled = read_orthography(language).text
        candidates = list(map(spelled, candidates))
        forbidden |= set(map(spelled, forbidden))
    checked = [(sentence, sentence in forbidden) for sentence in candidates]
    available, counts = keep_distinct(checked, f"{output}: no training sentence")
    kept = evenly(available, options.max_sentences)
    write_text(output, "".join(f"{sentence}\n" for sentence in kept))
    return {"kept": len(kept), "available": len(available), **counts}


def join_text(texts: list[Path], output: Path) -> dict[str, int]:
    """Join texts without repetitions; return counts. Raises UserError for an empty text."""
    lines = [line for text in texts for line in training_sentences(text)]
    kept = dict.fromkeys(lines)
    write_text(output, "".join(f"{line}\n" for line in kept))
    return {"kept": len(kept), "repeated": len(lines) - len(kept)}
