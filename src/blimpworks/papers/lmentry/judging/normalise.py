"""Normalise answers for the comparison with patterns.

Corrected verdicts also find contexts that change an argument's meaning: an article written as the
gold word or letter, a longer number, a reason after an answer, two alternatives. They remove a
prompt's own text from answers, word by word.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from blimpworks.papers.lmentry.judging.roles import ANY_ROLE, CLOSE, HIDDEN, OPEN, ROLE, Arguments

PUBLISHED_MARKS = "\"'.,"
CORRECTED_MARKS = "\"'.,“”‘’«»„‚「」『』…"
_SPACES = re.compile(" +")
_BLANK = re.compile(r"\s+")
_MARKUP = "*`#_\u200b\u200c\u200d\u2060\ufeff"
# An answer may hold the characters of roles, and is not to be taken for one then.
_PRIVATE = "".join((ANY_ROLE, *CLOSE.values(), *OPEN.values()))
_NO_ROLES = str.maketrans(dict.fromkeys(_PRIVATE, " "))
_STRAIGHT = str.maketrans(dict.fromkeys("“”„", '"') | {"’": "'"})
_PLAIN = str.maketrans(dict.fromkeys(_MARKUP) | {HIDDEN: " "}) | _NO_ROLES | _STRAIGHT
_ODD_TEXT = re.compile(rf"[^\S ]|  | [!?:;]|[{re.escape(_MARKUP)}“”„’«»{_PRIVATE}{HIDDEN}]")
_FRENCH = (("« ", '"'), ("«", '"'), (" »", '"'), ("»", '"'), *((f" {x}", x) for x in "!?:;"))
ASCII_WORD = re.compile(r"\b[a-z]+\b")
ASCII_TOKEN = re.compile(r"\b[a-z\d]+\b")
WORD = re.compile(r"[^\W_]+(?:[-'’·][^\W_]+)*")
"""Word of any script, with inner hyphens and apostrophes."""
LETTER_OR_DIGIT = re.compile(r"[^\W_]")


def published(text: str) -> str:
    """Normalise as the release does: lower case, single spaces, a space for each underscore."""
    if not text.isascii():
        text = text.translate(_NO_ROLES)
    text = text.strip().lower()
    if "  " in text:
        text = _SPACES.sub(" ", text)
    return text.replace("_", " ")


def corrected(text: str) -> str:
    """Normalise to NFC, lower case and straight marks, without markup and French spaces."""
    if not text.isascii() and not unicodedata.is_normalized("NFC", text):
        text = unicodedata.normalize("NFC", text)
    if not _ODD_TEXT.search(text):
        return text.strip().lower()
    lines = text.translate(_PLAIN).lower().splitlines()
    kept = (_BLANK.sub(" ", line).strip() for line in lines)
    plain = "\n".join(line for line in kept if line)
    for french, usual in _FRENCH:
        plain = plain.replace(french, usual)
    return plain


def plain_letters(accents: str) -> dict[int, str]:
    """Return a table for ``str.translate`` that removes accents."""
    return {ord(accented): unicodedata.normalize("NFD", accented)[0] for accented in accents}


# No run of digits is read twice: hostile answers are long.
_LONGER = re.compile(r"(?<!\w)[-−]\d++(?:[.,]\d++)*+|(?<!\d)\d++(?:[.,]\d++)++")
_NOT_DIGIT = re.compile(r"\D")
_FOLLOWER = re.compile(r"\{answer\}[^\w{]*(\w+)")
ANSWERS = ROLE["answer"] + ROLE["distractor"] + ROLE["other"]
OTHERWISE = str.maketrans(ANSWERS, ROLE["distractor"] + 2 * ROLE["answer"])
"""Table for ``str.translate`` that exchanges the gold answer with the others."""


def whole_numbers(text: str) -> str:
    """Hide digits of -321, 321.5 and 321,000, which do not contain the number 321."""
    return _LONGER.sub(lambda match: _NOT_DIGIT.sub("x", match[0]), text)


def followers(patterns: Iterable[str]) -> frozenset[str]:
    """Return words that follow the answer in patterns."""
    return frozenset(word for pattern in patterns for word in _FOLLOWER.findall(pattern))


def any_of(words: Iterable[str]) -> str:
    """Return the expression of some words; without any it never matches."""
    return "|".join(map(re.escape, words)) or "(?!)"


@lru_cache(maxsize=4096)
def article_uses(form: str, follow: frozenset[str]) -> re.Pattern[str]:
    """Find ``form`` as an article: unquoted in a clause before a word that is not in ``follow``."""
    after = rf"(?= [\"{ANY_ROLE}]| (?!(?:{any_of(sorted(follow))})\b)\w)"
    return re.compile(rf"(?<=[\w{ANY_ROLE}] )" + re.escape(form) + after)


LEAST = 12
"""Characters of the shortest text that counts as a repetition."""
MORE = 3
"""Words of a repetition that the answer's end cuts off, if it is the second one."""
LABEL = 40
"""Characters of the longest label before a repetition, with marks."""
_ENDS = re.compile(r"(?<=[.?!。])[\s\"]+|\n")
_PHRASE = re.compile(r"[^\W_]+ [^\W_]+(?: [^\W_]+)+")
_BEFORE = re.compile(r"(?:(?:^|(?<=\n))[^\W_]+(?: [^\W_]+)?:\s*)?[\"'¿¡\[(-]*$")
_BEHIND = re.compile(r"[\"'?!:.…\])]*")
_OPENING = re.compile(r"([^\W\d_]+) ([^\W\d_]+ [^\W\d_]+)\b")
_STATED = re.compile(r"\.(?![\"'])")
_LABEL = re.compile(r"[^\W_]+ ?:|[\W_]+")


class Sentence(NamedTuple):
    """A sentence of a prompt in lower case."""

    hint: str
    """Three words or more without marks, which every repetition contains."""
    text: str
    question: bool


def read_prompt(
    prompt: str, arguments: Arguments, *, writing: bool
) -> tuple[list[Sentence], re.Match[str] | None]:
    """Read a prompt's sentences, and the first three words of an instruction to write something.

    ``writing``: whether it asks for words that it does not contain.
    """
    text, quoted = corrected(prompt), str(arguments.get("sentence", ""))
    if quoted:
        quoted = corrected(quoted)
        text = text.replace(quoted, HIDDEN)
    return [*_sentences(text, quoted)], _OPENING.match(text) if writing else None


@lru_cache(maxsize=256)
def _instruction(verb: str, asked_for: str) -> re.Pattern[str]:
    # Other words may stand behind the first ones; the verb may have another ending.
    return re.compile(
        rf"^[^\w\n]*{re.escape(verb[:4])}\w* {re.escape(asked_for)}\b[^\n:.?!]*"
        r"[\W_]*?(?=[^\W_]|\n|$)",
        re.MULTILINE,
    )


def _sentences(text: str, quoted: str) -> Iterator[Sentence]:
    for sentence in _ENDS.split(text):
        clause = sentence.find("¿")
        if clause > 0:
            yield from _sentences(sentence[clause:], quoted)
        quoted_sentence = sentence.replace(HIDDEN, quoted)
        if len(quoted_sentence) >= LEAST:
            hint = _PHRASE.search(sentence)
            question = sentence.rstrip('" ').endswith("?")
            yield Sentence(hint[0] if hint else "", quoted_sentence, question)


def without_prompt(answer: str, sentences: list[Sentence], opening: re.Match[str] | None) -> str:
    """Return an answer without its prompt's sentences, their labels, and reworded instructions.

    A question's words before a full stop stay: in some languages they are the statement.
    """
    hinted = [sentence for sentence in sentences if sentence.hint in answer]
    spans = [match.span() for match in WORD.finditer(answer)] if hinted else []
    text = f" {' '.join(answer[start:end] for start, end in spans)} "
    echoes = ((*span, x.question) for x in hinted for span in _found(text, x))
    remaining_texts, done = [], 0
    for first, last, question in sorted(echoes):
        start, end = spans[first][0], spans[last][1]
        if start < done or (question and _STATED.match(answer, end)):
            continue
        # No run of marks is read again and again: hostile answers are long.
        before = _BEFORE.search(answer, max(done, start - LABEL), start)
        remaining_texts.append(answer[done : before.start() if before else start])
        behind = _BEHIND.match(answer, end)
        done = behind.end() if behind else end
    if done:
        lines = (line.strip() for line in "\n".join([*remaining_texts, answer[done:]]).split("\n"))
        answer = "\n".join(line for line in lines if line and not _LABEL.fullmatch(line))
    if opening and opening[2] in answer:
        return _instruction(opening[1], opening[2]).sub("", answer).strip()
    return answer


def _found(text: str, sentence: Sentence) -> Iterator[tuple[int, int]]:
    """Yield first and last word of each occurrence, also of one that the text's end cuts off."""
    sentence_words = WORD.findall(sentence.text)
    joined, size = f" {' '.join(sentence_words)} ", len(sentence_words)
    number = done = count = 0
    start = text.find(joined)
    if start < 0:
        return
    while start >= 0:
        number += text.count(" ", done, start)
        yield number, number + size - 1
        count += 1
        done, start = start, text.find(joined, start + len(joined) - 1)
    total, ends = text.count(" ") - 1, text.split()[1 - size :]
    for length in range(len(ends), 0 if count > 1 else MORE - 1, -1):
        if ends[-length:-1] == sentence_words[: length - 1] and sentence_words[
            length - 1
        ].startswith(ends[-1]):
            yield total - length, total - 1
            return
