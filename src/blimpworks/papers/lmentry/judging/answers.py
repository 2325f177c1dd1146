"""Normalise answers, and mark the arguments of their prompt in them, so that patterns can match.

Patterns are compiled once for a task. Answers and patterns mark arguments with characters of
Unicode's private use area, in one of two ways.

Corrected rules replace each argument by the character of its role, so that its text is never read
as syntax.

The release inserts a prompt's arguments into its patterns. Published rules therefore put brackets
around each occurrence of an argument, a pair for each role, and keep the words. Arguments may nest,
overlap, or be words of a pattern ("the first word is *the*"): every reading of the release's
patterns remains.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import re2

ROLE_NAMES = (
    *("answer", "distractor", "query", "word", "letter", "sentence", "category", "other"),
    *("answer_ergative", "answer_comitative", "answer_genitive"),
    *("query_ergative", "query_comitative", "query_genitive"),
    *("category_absolutive", "category_comitative", "answer_rewritten", "distractor_rewritten"),
    *(f"listed{number}" for number in range(1, 6)),
)
LISTED_ROLES = tuple(name for name in ROLE_NAMES if name.startswith("listed"))
ROLE = {name: chr(0xE000 + number) for number, name in enumerate(ROLE_NAMES)}
"""Private-use character of each role.

other: a word of a list that is not the answer; with a case: the declined argument in published
patterns; rewritten: the argument after the release has exchanged "more" and "less" inside words;
listed: words of a list, by position.
"""
_CASED = [name for name in ROLE_NAMES if "_" in name and not name.endswith("_rewritten")]
INFLECTED = {name: tuple(name.split("_")) for name in _CASED}
"""Argument and case of each declined role."""
ANY_ROLE = "".join(ROLE.values())
HIDDEN = chr(0xE000 + len(ROLE_NAMES))
"""Character in place of a word that looks like an argument but is not one."""
EITHER = f"[{ROLE['answer']}{ROLE['distractor']}]"
CLASSES = dict.fromkeys(("word1", "word2", "n1", "n2"), EITHER)
"""Expressions of roles that stand for either of two arguments."""
Arguments = Mapping[str, Any]
"""A prompt's arguments by name."""


class Argument(NamedTuple):
    """A text to look for in an answer, and its role."""

    text: str
    role: str
    """Private-use character of the argument's role."""
    syntax: bool = False
    """Whether the text is an RE2 expression, as in the release."""
    bare: bool = False
    """Whether the text may be part of a word."""


_SYNTAX = re.compile(r"[.?*+()\[\]{}|^$\\]")


def readings(text: str, role: str) -> Iterator[Argument]:
    """Yield the texts that match an argument as the release reads it: as a regular expression.

    A final ``?`` makes a letter optional. Other syntax is yielded as an expression.
    """
    plain = text.replace("(", "").replace(")", "")
    forms = (plain[:-1], plain[:-2]) if plain.endswith("?") else (plain,)
    if _SYNTAX.search(forms[0]):
        yield Argument(text, role, syntax=True)
    else:
        yield from (Argument(form, role) for form in forms)


def bounded(text: str, start: int, end: int, particles: tuple[str, ...]) -> int:
    """Return the end of the whole word at ``start``, particle included; -1 without one."""
    if start and text[start].isalnum() and text[start - 1].isalnum():
        return -1
    if end == len(text) or not text[end].isalnum() or not text[end - 1].isalnum():
        return end
    if end - start < 2 and text[start:end].isascii():
        return -1  # a single letter has no particle: Basque "da" is not "d" with a particle
    for particle in particles:
        past = end + len(particle)
        if text.startswith(particle, end) and (past == len(text) or not text[past].isalnum()):
            return past
    return -1


def find_word(text: str, word: str, particles: tuple[str, ...] = ()) -> bool:
    """Return whether ``text`` contains ``word`` as a whole word."""
    start = text.find(word)
    while start >= 0:
        if bounded(text, start, start + len(word), particles) >= 0:
            return True
        start = text.find(word, start + 1)
    return False


def replace_word(text: str, argument: Argument, marks: str, particles: tuple[str, ...] = ()) -> str:
    """Replace each occurrence of an argument, and the marks around it, by its role.

    Occurrences are whole words, but for a sentence. Particles stay.
    """
    word, role = argument.text, argument.role
    start = text.find(word)
    if start < 0:
        return text
    fragments, done = [], 0
    while start >= 0:
        end = start + len(word)
        if role != ROLE["sentence"] and bounded(text, start, end, particles) < 0:
            start = text.find(word, start + 1)
            continue
        while start > done and text[start - 1] in marks:
            start -= 1
        while end < len(text) and text[end] in marks:
            end += 1
        fragments += [text[done:start], role]
        done, start = end, text.find(word, end)
    return "".join([*fragments, text[done:]])


def mask(text: str, named: Iterable[Argument], marks: str, particles: tuple[str, ...] = ()) -> str:
    """Replace arguments by their roles, in the given order."""
    for argument in named:
        # No pattern is about the other words of a list, so they need no particles.
        allowed = () if argument.role == ROLE["other"] else particles
        text = replace_word(text, argument, marks, allowed)
    return text


_FIRST = 0xE100
CLOSE = {role: chr(_FIRST + number) for number, role in enumerate(ROLE.values())}
OPEN = {role: chr(_FIRST + len(ROLE_NAMES) + number) for number, role in enumerate(ROLE.values())}
"""Brackets (CLOSE and OPEN) by a role's character; sorted, closing brackets come first."""
BRACKETS = f"{CLOSE[ROLE[ROLE_NAMES[0]]]}-{OPEN[ROLE[ROLE_NAMES[-1]]]}"
PASSED = f"[{BRACKETS}]*"
"""Expression of any brackets, which patterns allow everywhere."""
SPACE = rf"(?:[^a-z0-9{BRACKETS}]{PASSED})"
"""Expression of the release's space between words."""
_UNBOUNDED = {ROLE[name] for name in ("sentence", *LISTED_ROLES)}


@lru_cache(maxsize=1024)
def _compiled(expression: str) -> Any:
    # None for a text that is no valid expression, for which the release would fail.
    try:
        return re2.compile(expression)
    except re2.error:
        return None


def places(
    text: str, argument: Argument, particles: tuple[str, ...] = (), *, anywhere: bool = False
) -> Iterator[tuple[int, int]]:
    """Yield the spans of an argument's occurrences.

    They are whole words, except for sentences, words of lists, ``bare`` arguments and ``anywhere``.
    """
    bare = anywhere or argument.bare or argument.role in _UNBOUNDED
    if argument.syntax:
        compiled = _compiled(argument.text)
        spans = [match.span() for match in (compiled.finditer(text) if compiled else ())]
    else:
        spans, start = [], text.find(argument.text)
        while start >= 0:
            end = start + len(argument.text)
            spans.append((start, end))
            start = text.find(argument.text, max(end, start + 1) if bare else start + 1)
    for start, end in spans:
        # Either end is a boundary: a letter or digit on one side only.
        edges = (
            (at > 0 and text[at - 1].isalnum()) != (at < len(text) and text[at].isalnum())
            for at in (start, end)
        )
        if bare or all(edges) or (particles and bounded(text, start, end, particles) >= 0):
            yield start, end


def bracketed(
    text: str, named: Iterable[Argument], particles: tuple[str, ...] = (), *, anywhere: bool = False
) -> str:
    """Put brackets around each occurrence of each argument; ``particles`` stay outside.

    If two texts of one role begin at the same place, the first argument counts.
    """
    edges: dict[tuple[int, str], int] = {}
    empty: list[tuple[int, str]] = []
    for argument in named:
        opening = OPEN[argument.role]
        for start, end in places(text, argument, particles, anywhere=anywhere):
            if start < end:
                edges.setdefault((start, opening), end)
            elif (start, opening) not in edges:
                empty.append((start, opening + CLOSE[argument.role]))
    if not edges and not empty:
        return text
    closing = [(end, chr(ord(opening) - len(ROLE_NAMES))) for (_, opening), end in edges.items()]
    fragments, done = [], 0
    for position, bracket in sorted([*edges, *closing, *empty]):
        fragments += [text[done:position], bracket]
        done = position
    return "".join([*fragments, text[done:]])


def between(role: str) -> str:
    """Return the expression of a role's argument between its brackets."""
    return f"{OPEN[role]}[^{CLOSE[role]}]*{CLOSE[role]}"


PUBLISHED_MARKS = "\"'.,"
CORRECTED_MARKS = "\"'.,“”‘’«»„‚「」『』…"
_SPACES = re.compile(" +")
_BLANK = re.compile(r"\s+")
_MARKUP = "*`#_\u200b\u200c\u200d\u2060\ufeff"
# Characters of roles are removed from answers, which may contain them.
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


def published_form(text: str) -> str:
    """Normalise as the release does: lower case, single spaces, a space for each underscore."""
    if not text.isascii():
        text = text.translate(_NO_ROLES)
    text = text.strip().lower()
    if "  " in text:
        text = _SPACES.sub(" ", text)
    return text.replace("_", " ")


def corrected_form(text: str) -> str:
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
    """Return a table for ``str.translate`` that removes the accents of some letters."""
    return {ord(accented): unicodedata.normalize("NFD", accented)[0] for accented in accents}


# Possessive quantifiers, so that no run of digits is read twice: hostile answers are long.
_LONGER = re.compile(r"(?<!\w)[-−]\d++(?:[.,]\d++)*+|(?<!\d)\d++(?:[.,]\d++)++")
_NOT_DIGIT = re.compile(r"\D")
_FOLLOWER = re.compile(r"\{answer\}[^\w{]*(\w+)")
ANSWERS = ROLE["answer"] + ROLE["distractor"] + ROLE["other"]
OTHERWISE = str.maketrans(ANSWERS, ROLE["distractor"] + 2 * ROLE["answer"])
"""Table for ``str.translate`` that exchanges the gold answer with the other arguments."""


def whole_numbers(text: str) -> str:
    """Replace the digits of numbers such as -321, 321.5 and 321,000, which are not 321, by x."""
    return _LONGER.sub(lambda match: _NOT_DIGIT.sub("x", match[0]), text)


def followers(patterns: Iterable[str]) -> frozenset[str]:
    """Return the words that directly follow the answer in patterns."""
    return frozenset(word for pattern in patterns for word in _FOLLOWER.findall(pattern))


def any_of(texts: Iterable[str]) -> str:
    """Return the expression of alternative texts; it never matches without any."""
    return "|".join(map(re.escape, texts)) or "(?!)"


@lru_cache(maxsize=4096)
def article_uses(form: str, follow: frozenset[str]) -> re.Pattern[str]:
    """Return the pattern of ``form`` as an article, for a gold answer such as "a".

    An article stands inside a clause, without quotation marks, before a word not in ``follow``.
    """
    after = rf"(?= [\"{ANY_ROLE}]| (?!(?:{any_of(sorted(follow))})\b)\w)"
    return re.compile(rf"(?<=[\w{ANY_ROLE}] )" + re.escape(form) + after)


LEAST = 12
"""Characters of the shortest text that counts as a repetition of the prompt."""
LEAST_CUT = 3
"""Fewest words of a second occurrence that the answer's end cuts off."""
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
    """Three or more words without marks between them, which every repetition contains."""
    text: str
    question: bool


def read_prompt(
    prompt: str, arguments: Arguments, *, writing: bool
) -> tuple[list[Sentence], re.Match[str] | None]:
    """Return a prompt's sentences and, if it asks to write something, its first three words.

    ``writing``: whether the prompt asks for words that it does not contain.
    """
    text, quoted = corrected_form(prompt), str(arguments.get("sentence", ""))
    if quoted:
        quoted = corrected_form(quoted)
        text = text.replace(quoted, HIDDEN)
    return [*_sentences(text, quoted)], _OPENING.match(text) if writing else None


@lru_cache(maxsize=256)
def _instruction(verb: str, asked_for: str) -> re.Pattern[str]:
    # Other words may follow the first ones, and the verb may have another ending.
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
    """Remove repetitions of the prompt from an answer: sentences with labels, and instructions.

    A question's words stay if a full stop follows: in some languages they are then a statement.
    """
    hinted = [sentence for sentence in sentences if sentence.hint in answer]
    spans = [match.span() for match in WORD.finditer(answer)] if hinted else []
    text = f" {' '.join(answer[start:end] for start, end in spans)} "
    echoes = [
        (*span, sentence.question) for sentence in hinted for span in _repetitions(text, sentence)
    ]
    remaining_texts, done = [], 0
    for first, last, question in sorted(echoes):
        start, end = spans[first][0], spans[last][1]
        if start < done or (question and _STATED.match(answer, end)):
            continue
        # Limited, so that no run of marks is read again and again: hostile answers are long.
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


def _repetitions(text: str, sentence: Sentence) -> Iterator[tuple[int, int]]:
    """Yield the first and last word of each occurrence of a sentence, as indices.

    The end of the text may cut off the last one.
    """
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
    total, end = text.count(" ") - 1, text.split()[1 - size :]
    for length in range(len(end), 0 if count > 1 else LEAST_CUT - 1, -1):
        *before, last = sentence_words[:length]
        if end[-length:-1] == before and last.startswith(end[-1]):
            yield total - length, total - 1
            return
