"""Normalise a model's answer, and mark the prompt's arguments in it, before patterns judge it.

A prompt is made from arguments, each with a role: "Which is bigger, 3 or 7?" has the ``answer`` 7
and the ``distractor`` 3. Patterns, such as "{answer} is bigger", are compiled once for a task, with
a character of Unicode's private use area for each role. The same characters mark the arguments in
an answer:

    "7 is bigger than 3"
    corrected rules: mask          A is bigger than D           (A, D: one character for each role)
    published rules: put_brackets  <A>7</A> is bigger than <D>3</D>

The authors' release instead inserts each prompt's arguments into the patterns. An argument may then
also match a word of a pattern ("the first word is *the*"), and arguments may overlap. Brackets
allow the same matches, because they keep the arguments' text.
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
_NAMES_WITH_CASE = [name for name in ROLE_NAMES if "_" in name and not name.endswith("_rewritten")]
DECLINED_ROLES = {name: tuple(name.split("_")) for name in _NAMES_WITH_CASE}
"""(argument, case) of each declined role, such as answer_ergative: (answer, ergative)."""
ROLE_CHARACTERS = "".join(ROLE.values())
ANSWER, DISTRACTOR, OTHER = ROLE["answer"], ROLE["distractor"], ROLE["other"]
PLACEHOLDER = chr(0xE000 + len(ROLE_NAMES))
"""Stand-in for a text that the next step must not change or divide, and that is put back later."""
EITHER_ROLES = dict.fromkeys(("word1", "word2", "n1", "n2"), f"[{ANSWER}{DISTRACTOR}]")
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

    Brackets only group: "(a) word" gives "a word". A final ``?`` makes a letter optional: "a word?"
    gives "a word" and "a wor". A text with other syntax ("a w*rd") is yielded as an expression.
    """
    plain = text.replace("(", "").replace(")", "")
    forms = (plain[:-1], plain[:-2]) if plain.endswith("?") else (plain,)
    if _SYNTAX.search(forms[0]):
        yield Argument(text, role, is_expression=True)
    else:
        yield from (Argument(form, role) for form in forms)


def _divides_word(text: str, index: int) -> bool:
    return 0 < index < len(text) and text[index - 1].isalnum() and text[index].isalnum()


def _is_word_boundary(text: str, index: int) -> bool:
    # As \b in the release's patterns: a letter or digit is on one side, and none on the other. So
    # a mark, such as the tilde of "~까지", has a boundary only beside a letter or digit.
    before = index > 0 and text[index - 1].isalnum()
    after = index < len(text) and text[index].isalnum()
    return before != after


def find_word_end(text: str, start: int, end: int, particles: Particles) -> int:
    """Return the end of the word ``text[start:end]``, or of this word with one of ``particles``.

    Returns -1 if ``text[start:end]`` is inside a longer word. For "cat" without particles, the end
    is 3 in "cat, dog" and -1 in "cats" or "bobcat". With the particle "s", it is 4 in "cats".
    """
    if _divides_word(text, start):
        return -1
    if not _divides_word(text, end):
        return end
    if end - start < 2 and text[start:end].isascii():
        return -1  # a single letter has no particle: Basque "da" is not "d" with a particle
    for particle in particles:
        end_with_particle = end + len(particle)
        if text.startswith(particle, end) and not _divides_word(text, end_with_particle):
            return end_with_particle
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

    An argument is a word, perhaps with a particle, which is kept. Only a sentence may begin or end
    inside a word. With the role A and the particle "s", the word "cat" is replaced so: 'is "cat"?
    cats, bobcat' becomes 'is A? As, bobcat'.
    """
    role, fragments = argument.role, list[str]()
    copied_to = 0  # end of the text that ``fragments`` has already
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
        # Other words are found without particles only, since no pattern contains ``{other}``.
        endings = () if argument.role == OTHER else particles
        text = replace_word(text, argument, marks, endings)
    return text


_FIRST_CLOSE, _FIRST_OPEN = 0xE100, 0xE100 + len(ROLE_NAMES)
CLOSE = {role: chr(_FIRST_CLOSE + number) for number, role in enumerate(ROLE.values())}
OPEN = {role: chr(_FIRST_OPEN + number) for number, role in enumerate(ROLE.values())}
"""Opening bracket of each role's character; ``CLOSE`` has the closing ones. Closing brackets have
lower code points, so that ``put_brackets`` sorts them before opening ones at the same position."""
BRACKETS = f"{min(CLOSE.values())}-{max(OPEN.values())}"
"""Range of all brackets, for use in a character class."""
ANY_BRACKETS = f"[{BRACKETS}]*"
"""Expression of any number of brackets. Patterns allow these after each character, since a word of
a pattern may also be an argument."""
SPACE = rf"(?:[^a-z0-9{BRACKETS}]{ANY_BRACKETS})"
"""Expression of what separates words in the release: any character but ASCII letters and digits,
with any brackets after it."""
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
        # A whole word may overlap an occurrence inside a longer word: "na na" in "banana na na".
        spans = [*_occurrences(text, argument.text, overlap=not inside_words)]
    for start, end in spans:
        is_word = _is_word_boundary(text, start) and _is_word_boundary(text, end)
        has_particle = particles and find_word_end(text, start, end, particles) >= 0
        if inside_words or is_word or has_particle:
            yield start, end


def put_brackets(
    text: str, to_find: Iterable[Argument], particles: Particles = (), *, anywhere: bool = False
) -> str:
    """Put brackets around each occurrence of each argument; ``particles`` stay outside.

    If two texts of one role begin at the same position, the first in ``to_find`` gets brackets.
    """
    end_of: dict[tuple[int, str], int] = {}  # end of each occurrence, by its start and role
    insertions: list[tuple[int, str]] = []  # brackets to insert, each after its position in text
    for argument in to_find:
        role = argument.role
        for start, end in find_spans(text, argument, particles, anywhere=anywhere):
            if start < end:
                end_of.setdefault((start, role), end)
            elif (start, role) not in end_of:
                # The argument is an expression that matches an empty text, such as "a*".
                insertions.append((start, OPEN[role] + CLOSE[role]))
    for (start, role), end in end_of.items():
        insertions += [(start, OPEN[role]), (end, CLOSE[role])]
    fragments, copied_to = [], 0
    for position, brackets in sorted(insertions):
        fragments += [text[copied_to:position], brackets]
        copied_to = position
    return "".join([*fragments, text[copied_to:]])


def between_brackets(role: str) -> str:
    """Return the expression of a role's brackets with any text between them."""
    return f"{OPEN[role]}[^{CLOSE[role]}]*{CLOSE[role]}"


PUBLISHED_MARKS = "\"'.,"
CORRECTED_MARKS = "\"'.,“”‘’«»„‚「」『』…"
_SPACES = re.compile("  +")
_BLANK = re.compile(r"\s+")
_MARKUP = "*`#_\u200b\u200c\u200d\u2060\ufeff"  # of Markdown, and invisible characters
# A model may write characters that mark arguments. They are replaced by spaces.
_PRIVATE = ROLE_CHARACTERS + "".join(CLOSE.values()) + "".join(OPEN.values()) + PLACEHOLDER
_PRIVATE_TO_SPACE = str.maketrans(dict.fromkeys(_PRIVATE, " "))
_STRAIGHT = str.maketrans(dict.fromkeys("“”„", '"') | {"’": "'"})
_TO_PLAIN = str.maketrans(dict.fromkeys(_MARKUP)) | _PRIVATE_TO_SPACE | _STRAIGHT
_FRENCH_MARKS = (("« ", '"'), ("«", '"'), (" »", '"'), ("»", '"'), *((f" {c}", c) for c in "!?:;"))
# Finds what ``normalise_corrected`` replaces, except capitals. Few answers have any of it.
_TO_NORMALISE = re.compile(rf"[^\S ]|  | [!?:;]|[{re.escape(_MARKUP)}“”„’«»{_PRIVATE}]")
ASCII_WORD = re.compile(r"\b[a-z]+\b")
ASCII_TOKEN = re.compile(r"\b[a-z\d]+\b")
WORD = re.compile(r"[^\W_]+(?:[-'’·][^\W_]+)*")
"""Word of any script, with inner hyphens and apostrophes."""
LETTER_OR_DIGIT = re.compile(r"[^\W_]")


def normalise_published(text: str) -> str:
    """Normalise as the release does: lower case, single spaces, spaces in place of underscores."""
    if not text.isascii():
        text = text.translate(_PRIVATE_TO_SPACE)
    return _SPACES.sub(" ", text.strip().lower()).replace("_", " ")


def normalise_corrected(text: str) -> str:
    """Normalise to NFC, lower case and straight quotes; remove markup, and spaces as in "oui !"."""
    text = unicodedata.normalize("NFC", text)
    if not _TO_NORMALISE.search(text):
        return text.strip().lower()
    lines = text.translate(_TO_PLAIN).lower().splitlines()
    trimmed = (_BLANK.sub(" ", line).strip() for line in lines)
    plain = "\n".join(line for line in trimmed if line)
    for french, usual in _FRENCH_MARKS:
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
EXCHANGE_ANSWER = str.maketrans({ANSWER: DISTRACTOR, DISTRACTOR: ANSWER, OTHER: ANSWER})
"""Table that turns wrong answers in a masked text into the gold answer. If a pattern also matches
the translated text, the text states a wrong answer."""


def any_of(texts: Iterable[str]) -> str:
    """Return the expression that matches each of ``texts``; without texts it never matches."""
    return "|".join(map(re.escape, texts)) or "(?!)"


@lru_cache(maxsize=4096)
def article_pattern(form: str, after_answers: frozenset[str]) -> re.Pattern[str]:
    """Return the pattern that finds ``form``, such as the gold answer "a", as a mere article.

    An article is between a word and another word, an argument or a quotation mark: "it is a
    letter". ``after_answers``: words that follow an answer, but no article: "it is a because".
    """
    before = rf"(?<=[\w{ROLE_CHARACTERS}] )"
    noun = rf"(?!(?:{any_of(sorted(after_answers))})\b)\w"
    return re.compile(rf"{before}{re.escape(form)}(?= [\"{ROLE_CHARACTERS}]| {noun})")
