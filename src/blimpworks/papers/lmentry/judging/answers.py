"""Normalise a model's answer, and mark the prompt's arguments in it, before patterns judge it.

A prompt is made from arguments, each with a role: "Which is bigger, 3 or 7?" has the ``answer`` 7
and the ``distractor`` 3. Patterns, such as "{answer} is bigger", are compiled once for a task, with
a character of Unicode's private use area for each role. The same characters mark the arguments in
an answer:

    "7 is bigger than 3"
    corrected rules: mask          A is bigger than D           (A, D: one character for each role)
    published rules: put_brackets  <A>7</A> is bigger than <D>3</D>

The authors' release instead inserts each prompt's arguments into the patterns. There, an argument
may overlap another, or be a word of the pattern ("the first word is *the*"). Published rules give
the same results, because brackets keep the text of arguments.
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

other: a word of a list that is not the answer; answer_ergative and others with a case: the
argument with a Basque ending; answer_rewritten: the argument after the release has exchanged
"more" and "less" in it; listed1 to listed5: the words of a list.
"""
_WITH_CASE = [name for name in ROLE_NAMES if "_" in name and not name.endswith("_rewritten")]
DECLINED_ROLES = {name: tuple(name.split("_")) for name in _WITH_CASE}
"""(argument, case) of each declined role, such as answer_ergative: (answer, ergative)."""
ROLE_CHARACTERS = "".join(ROLE.values())
PLACEHOLDER = chr(0xE000 + len(ROLE_NAMES))
"""Character in place of a text that must not be taken for an argument."""
_EITHER = f"[{ROLE['answer']}{ROLE['distractor']}]"
EITHER_ROLES = dict.fromkeys(("word1", "word2", "n1", "n2"), _EITHER)
"""Regular expressions of roles that match either of a prompt's two arguments."""
Arguments = Mapping[str, Any]
"""A prompt's arguments by name, such as {"answer": 7, "distractor": 3}."""
Particles = tuple[str, ...]  # endings of a language that words may have, such as Korean 는


class Argument(NamedTuple):
    """A text to look for in an answer, and its role."""

    text: str
    role: str
    """Private-use character of the argument's role."""
    is_expression: bool = False
    """Whether the text is a regular expression. (The release reads each argument as one.)"""
    inside_words: bool = False
    """Whether to look for the text also inside longer words."""


_SYNTAX = re.compile(r"[.?*+()\[\]{}|^$\\]")


def read_like_release(text: str, role: str) -> Iterator[Argument]:
    """Yield the texts that match an argument, which the release reads as a regular expression.

    Brackets only group. A final ``?`` makes a letter optional: "a word?" gives "a word" and "a
    wor". A text with other syntax is yielded as an expression.
    """
    plain = text.replace("(", "").replace(")", "")
    forms = (plain[:-1], plain[:-2]) if plain.endswith("?") else (plain,)
    if _SYNTAX.search(forms[0]):
        yield Argument(text, role, is_expression=True)
    else:
        yield from (Argument(form, role) for form in forms)


def find_word_end(text: str, start: int, end: int, particles: Particles) -> int:
    """Return the end of the word ``text[start:end]``, or of this word with one of ``particles``.

    Returns -1 if ``text[start:end]`` is inside of a longer word: "cat" in "cats".
    """
    if start and text[start].isalnum() and text[start - 1].isalnum():
        return -1
    if end == len(text) or not text[end].isalnum() or not text[end - 1].isalnum():
        return end
    if end - start < 2 and text[start:end].isascii():
        return -1  # a single letter has no particle: Basque "da" is not "d" with a particle
    for particle in particles:
        if text.startswith(particle, end):
            word_end = end + len(particle)
            if word_end == len(text) or not text[word_end].isalnum():
                return word_end
    return -1


def _occurrences(text: str, word: str, *, overlap: bool = True) -> Iterator[tuple[int, int]]:
    """Yield the (start, end) of each occurrence of ``word``; with ``overlap`` they may overlap."""
    step = 1 if overlap else max(1, len(word))
    start = text.find(word)
    while start >= 0:
        yield start, start + len(word)
        start = text.find(word, start + step)


def has_word(text: str, word: str, particles: Particles = ()) -> bool:
    """Return whether ``text`` contains ``word`` as a whole word."""
    return any(find_word_end(text, *span, particles) >= 0 for span in _occurrences(text, word))


def replace_word(text: str, argument: Argument, marks: str, particles: Particles = ()) -> str:
    """Replace each occurrence of an argument, and ``marks`` around it, by its role's character.

    Marks are quotation marks and stops. Only sentences are found inside words. Particles are kept.
    """
    role, fragments, copied_to = argument.role, list[str](), 0
    for start, end in _occurrences(text, argument.text):
        is_word = role == ROLE["sentence"] or find_word_end(text, start, end, particles) >= 0
        if start < copied_to or not is_word:
            continue
        fragments += [text[copied_to:start].rstrip(marks), role]
        copied_to = end
        while copied_to < len(text) and text[copied_to] in marks:
            copied_to += 1
    return "".join([*fragments, text[copied_to:]])


def mask(text: str, to_find: Iterable[Argument], marks: str, particles: Particles = ()) -> str:
    """Replace arguments, one after the other, by the characters of their roles."""
    for argument in to_find:
        # No pattern has the role ``other``, so these words need no particles.
        allowed = () if argument.role == ROLE["other"] else particles
        text = replace_word(text, argument, marks, allowed)
    return text


_FIRST = 0xE100
CLOSE = {role: chr(_FIRST + number) for number, role in enumerate(ROLE.values())}
OPEN = {role: chr(_FIRST + len(ROLE_NAMES) + number) for number, role in enumerate(ROLE.values())}
"""Brackets for each role's character. A closing bracket sorts before any opening one."""
BRACKETS = f"{CLOSE[ROLE[ROLE_NAMES[0]]]}-{OPEN[ROLE[ROLE_NAMES[-1]]]}"
"""Range of all brackets, for use in a character class."""
ANY_BRACKETS = f"[{BRACKETS}]*"
"""Expression of any number of brackets. Patterns allow these after each character, since a word of
a pattern may also be an argument."""
SPACE = rf"(?:[^a-z0-9{BRACKETS}]{ANY_BRACKETS})"
"""Expression of the release's space between words: any character but ASCII letters and digits."""
_INSIDE_WORDS = {ROLE[name] for name in ("sentence", *LISTED_ROLES)}


@lru_cache(maxsize=1024)
def _compile(expression: str) -> Any:
    # Return None for an invalid expression, with which the release would fail.
    try:
        return re2.compile(expression)
    except re2.error:
        return None


def find_spans(
    text: str, argument: Argument, particles: Particles = (), *, anywhere: bool = False
) -> Iterator[tuple[int, int]]:
    """Yield the (start, end) of each occurrence of an argument.

    Sentences and words of lists are also found inside longer words; with ``anywhere``, all
    arguments are. Other arguments must be whole words, with or without a particle.
    """
    inside_words = anywhere or argument.inside_words or argument.role in _INSIDE_WORDS
    if argument.is_expression:
        compiled = _compile(argument.text)
        spans = [match.span() for match in compiled.finditer(text)] if compiled else []
    else:
        spans = [*_occurrences(text, argument.text, overlap=not inside_words)]
    for start, end in spans:
        # A word boundary has a letter or digit on one side only.
        at_boundaries = all(
            (index > 0 and text[index - 1].isalnum())
            != (index < len(text) and text[index].isalnum())
            for index in (start, end)
        )
        has_particle = bool(particles) and find_word_end(text, start, end, particles) >= 0
        if inside_words or at_boundaries or has_particle:
            yield start, end


def put_brackets(
    text: str, to_find: Iterable[Argument], particles: Particles = (), *, anywhere: bool = False
) -> str:
    """Put brackets around each occurrence of each argument; ``particles`` stay outside.

    If two texts of one role begin at the same position, the first in ``to_find`` gets brackets.
    """
    end_of: dict[tuple[int, str], int] = {}  # end of an occurrence, by start and opening bracket
    empty: list[tuple[int, str]] = []  # start and brackets of occurrences of an empty text
    for argument in to_find:
        opening = OPEN[argument.role]
        for start, end in find_spans(text, argument, particles, anywhere=anywhere):
            if start < end:
                end_of.setdefault((start, opening), end)
            elif (start, opening) not in end_of:
                empty.append((start, opening + CLOSE[argument.role]))
    # In ``CLOSE``, brackets are len(ROLE_NAMES) code points below those in ``OPEN``, so that they
    # are sorted first. For "<A>7</A>", ``end_of`` is {(0, "<A>"): 1}, ``closing`` [(1, "</A>")].
    closing = [(end, chr(ord(opening) - len(ROLE_NAMES))) for (_, opening), end in end_of.items()]
    fragments, copied_to = [], 0
    for position, bracket in sorted([*end_of, *closing, *empty]):
        fragments += [text[copied_to:position], bracket]
        copied_to = position
    return "".join([*fragments, text[copied_to:]])


def between_brackets(role: str) -> str:
    """Return the expression of any text between a role's brackets."""
    return f"{OPEN[role]}[^{CLOSE[role]}]*{CLOSE[role]}"


PUBLISHED_MARKS = "\"'.,"
CORRECTED_MARKS = "\"'.,“”‘’«»„‚「」『』…"
_SPACES = re.compile("  +")
_BLANK = re.compile(r"\s+")
_MARKUP = "*`#_\u200b\u200c\u200d\u2060\ufeff"  # of Markdown, and invisible characters
# Characters of roles and brackets, which are removed if a model writes them.
_PRIVATE = ROLE_CHARACTERS + "".join(CLOSE.values()) + "".join(OPEN.values())
_NO_ROLES = str.maketrans(dict.fromkeys(_PRIVATE, " "))
_STRAIGHT = str.maketrans(dict.fromkeys("“”„", '"') | {"’": "'"})
# _PLAIN removes markup, and _ODD_TEXT finds what normalising changes except case. _FRENCH has
# quotation marks, and spaces before punctuation, with their replacements.
_PLAIN = str.maketrans(dict.fromkeys(_MARKUP) | {PLACEHOLDER: " "}) | _NO_ROLES | _STRAIGHT
_ODD_TEXT = re.compile(rf"[^\S ]|  | [!?:;]|[{re.escape(_MARKUP)}“”„’«»{_PRIVATE}{PLACEHOLDER}]")
_FRENCH = (("« ", '"'), ("«", '"'), (" »", '"'), ("»", '"'), *((f" {x}", x) for x in "!?:;"))
ASCII_WORD = re.compile(r"\b[a-z]+\b")
ASCII_TOKEN = re.compile(r"\b[a-z\d]+\b")
WORD = re.compile(r"[^\W_]+(?:[-'’·][^\W_]+)*")
"""Word of any script, with inner hyphens and apostrophes."""
LETTER_OR_DIGIT = re.compile(r"[^\W_]")


def normalise_published(text: str) -> str:
    """Normalise as the release does: lower case, single spaces, spaces in place of underscores."""
    if not text.isascii():
        text = text.translate(_NO_ROLES)
    return _SPACES.sub(" ", text.strip().lower()).replace("_", " ")


def normalise_corrected(text: str) -> str:
    """Normalise to NFC, lower case and straight quotes; remove markup, and spaces as in "oui !"."""
    text = unicodedata.normalize("NFC", text)
    if not _ODD_TEXT.search(text):
        return text.strip().lower()
    lines = text.translate(_PLAIN).lower().splitlines()
    trimmed = (_BLANK.sub(" ", line).strip() for line in lines)
    plain = "\n".join(line for line in trimmed if line)
    for french, usual in _FRENCH:
        plain = plain.replace(french, usual)
    return plain


def accent_table(accents: str) -> dict[int, str]:
    """Return a table for ``str.translate`` that removes the accents of the letters ``accents``."""
    return {ord(accented): unicodedata.normalize("NFD", accented)[0] for accented in accents}


# Possessive quantifiers (++) keep the time linear: hostile answers have long runs of digits.
LONGER_NUMBER = re.compile(r"(?<!\w)[-−]\d++(?:[.,]\d++)*+|(?<!\d)\d++(?:[.,]\d++)++")
"""Number with a sign, point or comma: in "−7" and "7.5", the argument 7 is not found."""
AFTER_ANSWER = re.compile(r"\{answer\}[^\w{]*(\w+)")
"""Word that directly follows ``{answer}`` in a pattern."""
ANSWER_CHARACTERS = ROLE["answer"] + ROLE["distractor"] + ROLE["other"]
EXCHANGE_ANSWER = str.maketrans(ANSWER_CHARACTERS, ROLE["distractor"] + 2 * ROLE["answer"])
"""Table that exchanges gold answer and distractor; other words become the gold answer."""


def any_of(texts: Iterable[str]) -> str:
    """Return the expression that matches each of ``texts``; without texts it never matches."""
    return "|".join(map(re.escape, texts)) or "(?!)"


@lru_cache(maxsize=4096)
def article_pattern(form: str, follow: frozenset[str]) -> re.Pattern[str]:
    """Return the pattern that finds ``form``, such as the gold answer "a", as a mere article.

    In "it is a letter", "a" is an article: inside a clause, unquoted, before a word. In "it is a
    because" it is the answer: "because" is in ``follow``, the words that may follow an answer.
    """
    after = rf"(?= [\"{ROLE_CHARACTERS}]| (?!(?:{any_of(sorted(follow))})\b)\w)"
    return re.compile(rf"(?<=[\w{ROLE_CHARACTERS}] )" + re.escape(form) + after)
