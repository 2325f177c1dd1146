"""Judge sentences that must have a word, lack it, or have it at an end; and words, with a letter.

Source: Moroni, Aula-Blasco, Conia and others (2025), Tables 9 to 12 and 27 to 30.
"""

import re
import string
import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import re2

from blimpworks.papers.lmentry.items.languages import in_letters
from blimpworks.papers.lmentry.judging import normalise, roles
from blimpworks.papers.lmentry.judging.compiling import (
    ANY_CHARACTER,
    NEVER,
    NOTHING,
    Matcher,
    Pattern,
    compiled_pattern,
    expression_of,
    introduced,
    matcher,
)
from blimpworks.papers.lmentry.judging.declared import AnswerPatterns, Ask, Verdict, task_patterns
from blimpworks.papers.lmentry.tasks import LETTERS

WORD = roles.ROLE["word"]
MARKS = r"[\"'.,]*"
BREAK = rf"[^a-z0-9{WORD}]"
"""The release's space between words."""
WORDS = rf"[\pL\pN](?:{roles.PASSED}[\pL\pN])+"
_LABEL = re.compile(r"[^\W_]{1,2}:")
_LEAD = re.compile(r"[^\n]*:\n|[^\n:\"]*\"[^\n:]*:")


def without_lead(answer: str) -> str:
    """Remove a lead with a colon, such as "Here is a sentence:", if more than a word follows."""
    lead = _LEAD.match(answer)
    sentence = answer[lead.end() :] if lead else ""
    return sentence if len(normalise.WORD.findall(sentence)) > 1 else answer


_GROUPING = str.maketrans("", "", "()")
"""Removes brackets: in the release a word is an expression, in which they only group."""


def has_bounded(text: str, word: str) -> bool:
    """Return whether ``text`` has ``word`` between the release's boundaries.

    A mark, such as the tilde of "~까지", has a boundary only next to a letter or digit.
    """
    if word[:1].isalnum() and word[-1:].isalnum():
        return roles.find_word(text, word)
    return re.search(rf"\b{re.escape(word)}\b", text) is not None


class SentenceJudge:
    """Judge of sentences that must contain a word, or must not."""

    def __init__(self, declared: AnswerPatterns, task: str, variant: str) -> None:
        """``task`` says whether the word is wanted."""
        self._containing, self._variant = task == "sentence_containing", variant
        self._particles = declared.particles
        # The release also takes words for "the sentence", with nothing of one; those with a
        # capital it looks for in vain, so that leaves scripts without.
        article = declared.article.get("sentence", "{}")
        cased = article.upper() != article
        self._named = re2.compile(NEVER if cased else introduced(article, NEVER))

    def ask(self, arguments: roles.Arguments, prompt: str) -> Ask:
        """Return the function that judges answers to a prompt."""
        word = str(arguments["word"]).lower()
        if self._variant == "published":
            return partial(self._with if self._containing else self._without, word)
        return partial(self._corrected, normalise.corrected(word))

    def _with(self, word: str, text: str) -> Verdict:
        """Judge as published: a line has the word and more, or names "the sentence"."""
        word = word.translate(_GROUPING)
        answer = normalise.published(text)
        lines = answer.split("\n")
        present = any(has_bounded(line, word) and len(line) > len(word) for line in lines)
        present = present or self._named.search(answer) is not None
        return Verdict(present, True, "made" if present else "absent")

    def _without(self, word: str, text: str) -> Verdict:
        """Judge as published: the word is absent, and there are two words of ASCII letters."""
        answer = normalise.published(text)
        if has_bounded(answer, word.translate(_GROUPING)):
            return Verdict(False, True, "present")
        number = len(normalise.ASCII_WORD.findall(answer))
        if number < 2:
            return Verdict(False, number == 0, "short" if number else "empty")
        return Verdict(True, word not in answer, "made")

    def _corrected(self, word: str, answer: str) -> Verdict:
        if not normalise.LETTER_OR_DIGIT.search(answer):
            return Verdict(False, True, "empty")
        sentence = answer
        if self._containing:
            lines = without_lead(answer).split("\n")
            lines = [line for line in lines if roles.find_word(line, word, self._particles)]
            if not lines:
                return Verdict(False, True, "absent")
            enough = any(len(normalise.WORD.findall(line)) > 1 for line in lines)
            return Verdict(enough, True, "made" if enough else "short")
        if roles.find_word(answer, word, self._particles):
            # A clause before the sentence may name the word that it is to lack.
            sentence = without_lead(answer)
            if sentence == answer or roles.find_word(sentence, word, self._particles):
                return Verdict(False, True, "present")
        enough = len(normalise.WORD.findall(sentence)) > 1
        return Verdict(enough, enough and word not in answer, "made" if enough else "short")


class EdgeJudge:
    """Judge of sentences that must start or end with a word."""

    def __init__(self, declared: AnswerPatterns, task: str, variant: str) -> None:
        """Compile the patterns, which have ``{text}`` for the sentence itself."""
        self._first, self._variant = task == "starts_with_word", variant
        self._anywhere = declared.published_anywhere
        self._particles = declared.particles
        single_patterns = declared.published_single.get(task, declared.single)
        named, gap, short = WORD, BREAK, [f"[{single_patterns}]"] if single_patterns else []
        expressions: dict[str, str] = {}
        if variant == "published":
            named, gap, expressions = roles.between(WORD), roles.SPACE, {"~": roles.PASSED}
        else:
            short.append(WORD)
        marks = MARKS.replace("]", f"{roles.BRACKETS}]")
        word = introduced(declared.article.get("word", "{}"), f"{marks}{named}{marks}", expressions)
        valid = f"{roles.PASSED}(?:{'|'.join([*short, WORDS])})"
        text = (
            f"{roles.PASSED}{gap}*{word}{gap}+{valid}[^\n]*"
            if self._first
            else f"[^\n]*{valid}{roles.PASSED}{gap}+{word}{gap}*"
        )
        self._whole = re2.compile(text)
        expressions["any"] = ANY_CHARACTER[variant] + expressions.get("~", "")
        if variant == "published":
            # The sentence may stand in the place of the answer in what all tasks accept.
            answered = {**expressions, "answer": text}
            shared = (expression_of(pattern, answered) for pattern in declared.shared)
            text = "(?:" + "|".join([text, *shared]) + ")"
        expressions |= {"text": text, "word": word}
        accepted = task_patterns(declared.model_copy(update={"shared": ()}), task, variant).accept
        patterns = [compiled_pattern(framed.pattern, expressions) for framed in accepted]
        self._patterns = matcher(patterns, whole=True, end=r"\.?" if self._first else "")
        end = "" if self._first or declared.published_anywhere else "$"
        inside = (pattern._replace(expression=pattern.expression + end) for pattern in patterns)
        self._inside = matcher(inside, whole=False)

    def ask(self, arguments: roles.Arguments, prompt: str) -> Ask:
        """Return the function that judges answers to a prompt."""
        word = str(arguments["word"]).lower()
        if self._variant == "published":
            return partial(self._published, [*roles.readings(word, WORD)])
        return partial(self._corrected, normalise.corrected(word))

    def _published(self, argument: Sequence[roles.Argument], text: str) -> Verdict:
        answer = normalise.published(text)
        if not any(any(roles.places(answer, form)) for form in argument):
            return Verdict(False, True, "absent")
        marked = roles.bracketed(answer, argument, anywhere=self._anywhere)
        if self._whole.fullmatch(marked):
            return Verdict(True, True, "made")
        if not normalise.ASCII_TOKEN.search(answer):
            return Verdict(True, True, "vacuous")
        return self._patterns(marked) or self._inside(marked) or NOTHING

    def _corrected(self, word: str, answer: str) -> Verdict:
        """Accept a line, or its part after a colon, with the word at that end and another word."""
        if not roles.find_word(answer, word, self._particles):
            return Verdict(False, True, "absent")
        argument, lines = roles.Argument(word, WORD), answer.split("\n")
        # A label, such as "A:", is no word of a sentence.
        answer_lines = [line for line in lines if not _LABEL.match(line)]
        answer_lines += (line.partition(":")[2] for line in lines if ":" in line)
        for answer_line in answer_lines:
            masked = roles.replace_word(answer_line, argument, "", self._particles)
            before, role, after = (masked.partition if self._first else masked.rpartition)(WORD)
            for particle in self._particles:
                stem = after.removeprefix(particle)
                if stem != after and not stem[:1].isalnum():
                    after = stem
                    break
            outside, inside = (before, after) if self._first else (after, before)
            # The word again is no other word.
            speaks = normalise.LETTER_OR_DIGIT.search
            if role and speaks(inside) and not speaks(outside):
                return Verdict(True, answer_line == answer, "made")
        verdict = self._patterns(roles.replace_word(answer, argument, ""))
        return verdict or Verdict(False, len(lines) == 1, "none")


ANY = r"[\pL\pN_]"
_ANSWER_ROLES = ("{word}", "{answer}")
ENDS = {"starts_with_letter": 0, "ends_with_letter": -1}
"""Index of the letter in tasks on a letter at an end."""
_MARK = r"[\"'.,]"
_INSIDE = str.maketrans(dict.fromkeys("-'’·"))
_WRITTEN_ON = re.compile(r"\{(\w+)\}(?=\(*[^\W_])")


def is_jamo(letter: str) -> bool:
    """Return whether a letter is one of Hangul's."""
    return unicodedata.name(letter[:1], "").startswith("HANGUL LETTER")


def pattern_in_letters(pattern: str) -> str:
    """Decompose the Hangul of a pattern; ``?`` still applies to a whole syllable."""
    return in_letters(re.sub(r"([가-힣])\?", r"(\1)?", pattern))


def right_word(task: str, letter: str, one_letter_words: str, *, twice: bool) -> str:
    """Return the expression of words that the release accepts; ``twice`` is for German."""
    character = re2.escape(letter)
    is_word = letter in one_letter_words
    if task == "starts_with_letter":
        return f"{character}(?:-?{ANY}+){'?' if is_word else ''}"  # of t: "to", not "t"
    if task == "ends_with_letter":
        return f"{ANY}{'*' if is_word else '+'}{character}"  # of t: "at", not "t"
    if task == "word_not_containing":
        other_letters = string.ascii_lowercase.replace(letter, "")
        others = "".join(f"|{x}" for x in one_letter_words if x != letter)
        return f"(?:[{other_letters}]{{2,}}{others})"  # of t: "me", not "it"
    if not letter.isalnum():
        # The release wants a word's boundary on either side, which an apostrophe has inside words.
        return f"{ANY}+{character}{ANY}+"  # "it's", not "cats'"
    longer = f"(?:{ANY}+{character}{ANY}*|{ANY}*{character}{ANY}+|{character}-{ANY}+)"
    if twice:
        return f"{ANY}*{character}{ANY}*{longer}"  # of t: "tat", not "at"
    return f"{ANY}*{character}{ANY}*" if is_word else longer  # of t: "at", not "t"


def _bounded(pattern: Pattern, *roles: str) -> Pattern:
    """Require whole words at a pattern's ends that are ``roles`` (in braces; any by default)."""
    start = r"(?:^|[^\pL\pN_])" if pattern.source.startswith(roles or "{") else ""
    ends = pattern.source.endswith(roles or "}") and not pattern.source.endswith("{any}")
    end = r"(?:$|[^\pL\pN_])" if ends else ""
    return pattern._replace(expression=start + pattern.expression + end)


class LetterPatterns(NamedTuple):
    """Patterns for answers about one letter."""

    bare: Any
    """Right word alone."""
    whole: Any
    """Answer that is a right word."""
    sentences: Matcher
    inside: Matcher

    def verdict(self, answer: str) -> Verdict:
        """Return a verdict by the first pattern that fits."""
        if self.whole.fullmatch(answer):
            return Verdict(correct=True, certain=True, rule="whole", pattern="{word}")
        return self.sentences(answer) or self.inside(answer) or NOTHING


class SpellingJudge:
    """Judge of one such task in one language."""

    def __init__(self, declared: AnswerPatterns, task: str, variant: str) -> None:
        """Compile nothing yet; a letter's patterns are compiled when an answer needs them."""
        self._declared, self._task, self._variant = declared, task, variant
        self._patterns = lru_cache(maxsize=None)(self._compiled)
        self._without = task == "word_not_containing"
        self._copulas = re.compile(rf"(?:{normalise.any_of(declared.copulas)})(?![^\W_])")
        plain = normalise.plain_letters(declared.accents)
        self._without_accents: Callable[[str], str] = lambda word: word.translate(plain)

    def _compiled(self, letter: str) -> LetterPatterns:
        """Compile the patterns of one letter. Raises UserError with a faulty pattern."""
        declared, task, corrected = self._declared, self._task, self._variant == "corrected"
        spell = pattern_in_letters if corrected and is_jamo(letter) else str

        def named(kind: str, text: str, repeat: str = "*") -> str:
            # A word or letter with article and marks, ``repeat`` after it.
            article = spell(declared.article.get(kind, "{}"))
            return introduced(article, f"{_MARK}*{text}{_MARK}{repeat}")

        if corrected and self._without:
            right = rf"[^\PL{letter}]{{2,}}"
        else:
            published_words = {} if corrected else declared.published_single
            one_letter_words = published_words.get(task, declared.single)
            twice = declared.published_twice and not corrected
            right = right_word(task, letter, one_letter_words, twice=twice)
        character = re2.escape(letter) if letter.isalnum() or corrected else NEVER
        word, marks = named("word", right), declared.published_marks.get(task)
        expressions = {"word": word, "answer": word, "letter": named("letter", character)}
        expressions["any"] = ANY_CHARACTER[self._variant]
        if not corrected and marks is not None:
            around = "".join(f"{re2.escape(mark)}?" for mark in marks)
            expressions |= dict.fromkeys(("word", "answer"), f"(?:{around}{right}{around})")
            if marks:
                expressions["letter"] = f"(?:{around}{re2.escape(letter)}{around})"
        elif not corrected:
            # The release wants marks between a word and what is written on to it.
            expressions["word_"] = expressions["answer_"] = named("word", right, "+")
            expressions["letter_"] = named("letter", character, "+")
        if self._without:
            declared = declared.model_copy(update={"shared": ()})
        sentences, inside = [], []
        for accepted in task_patterns(declared, task, self._variant).accept:
            text = accepted.pattern
            if corrected:
                text = spell(self._copulas.sub("", text))
            if "word_" in expressions:
                text = _WRITTEN_ON.sub(r"{\1_}", text)
            pattern = Pattern(accepted.pattern, expression_of(text, expressions))
            sentences.append(pattern)
            if corrected:
                inside.append(self._at_clause_edge(pattern))
            elif marks is None:
                inside.append(_bounded(pattern))
            else:
                # The release has no boundaries at this task's word; at the letter it has them where
                # the list of the task's marks is empty.
                inside.append(pattern if marks else _bounded(pattern, "{letter}"))
        return LetterPatterns(
            re2.compile(right),
            re2.compile(rf"{word}\.?"),
            matcher(sentences, whole=True),
            matcher(inside, whole=False),
        )

    def _at_clause_edge(self, pattern: Pattern) -> Pattern:
        """Require the answered word at a clause's edge, unlike "that" in "a word that fits"."""
        start = end = ""
        if pattern.source.startswith(_ANSWER_ROLES):
            start = r"(?:^|\n|[^\pL\pN_\s]) *"
        if pattern.source.endswith(_ANSWER_ROLES):
            reasons = "".join(rf"|\s{re2.escape(x)}\b" for x in self._declared.corrected.reasons)
            end = rf"(?:$| *[^\pL\pN_ ]{reasons})"
        if start or end:
            return pattern._replace(expression=f"{start}(?:{pattern.expression}){end}")
        return _bounded(pattern)

    def ask(self, arguments: roles.Arguments, prompt: str) -> Ask:
        """Return the function that judges answers to a prompt."""
        letter = str(arguments["letter"]).lower()
        if self._variant == "published":
            return partial(self._published, letter, normalise.published(prompt))
        spell = in_letters if is_jamo(letter) else self._without_accents
        return partial(self._corrected, letter, spell, normalise.corrected(prompt))

    def _published(self, letter: str, prompt: str, text: str) -> Verdict:
        answer = normalise.published(text)
        if self._without:
            if _echoes(answer, prompt, letter):
                return Verdict(correct=False, certain=True, rule="echo")
            if not re2.search(r"[^\pL\pN_]", answer) and letter in answer:
                return Verdict(correct=False, certain=True, rule="present")
        elif self._task in ENDS:
            end = ENDS[self._task]
            if all(word[end] != letter for word in normalise.ASCII_WORD.findall(answer)):
                return Verdict(correct=False, certain=True, rule="absent")
        if not normalise.LETTER_OR_DIGIT.search(answer):
            return Verdict(correct=False, certain=False, rule="empty")
        patterns = self._patterns(letter)
        if not self._without and not patterns.whole.fullmatch(answer):
            if not normalise.ASCII_TOKEN.search(answer):
                return Verdict(correct=True, certain=True, rule="vacuous")
            tokens = normalise.ASCII_TOKEN.findall(answer)
            if all(patterns.bare.fullmatch(token) for token in tokens):
                return Verdict(correct=True, certain=True, rule="repeated")
        return patterns.verdict(answer)

    def _corrected(
        self, letter: str, spell: Callable[[str], str], prompt: str, answer: str
    ) -> Verdict:
        """Judge a single word by its letters, several words by patterns."""
        answer = self._copulas.sub("", answer)
        if not normalise.LETTER_OR_DIGIT.search(answer):
            return Verdict(correct=False, certain=True, rule="empty")
        if _echoes(answer, prompt, letter):
            return Verdict(correct=False, certain=True, rule="echo")
        answer_words = normalise.WORD.findall(answer)
        distinct = set(answer_words)
        if len(distinct) == 1:
            right = self._right(answer_words[0], letter, spell)
            rule, pattern = ("whole", "{word}") if right else ("absent", None)
            return Verdict(correct=right, certain=True, rule=rule, pattern=pattern)
        # Any sentence has words without the letter, so only babble is surely no answer.
        if self._without:
            is_wrong = any(map(_is_babble, distinct))
        else:
            is_wrong = not any(self._right(word, letter, spell) for word in distinct)
        if is_wrong:
            return Verdict(correct=False, certain=True, rule="absent")
        # A line, or what follows a colon, may be the word; else the patterns say which is.
        for line in (answer.split("\n", maxsplit=1)[0], answer.rpartition(":")[2]):
            only = normalise.WORD.findall(line)
            if len(only) == 1 and line != answer:
                right = self._right(only[0], letter, spell)
                return Verdict(correct=right, certain=False, rule="line")
        spelled = in_letters(answer) if spell is in_letters else answer
        return self._patterns(letter).verdict(spelled)

    def _right(self, word: str, letter: str, spell: Callable[[str], str]) -> bool:
        spelled = spell(word)
        fits = LETTERS[self._task](spelled, letter)
        long = len(spelled) > 1 or word in self._declared.single
        return fits and long and not _is_babble(word) and spelled.translate(_INSIDE).isalpha()


def _is_babble(word: str) -> bool:
    # Few letters again and again, as in "mmmmm", are no word.
    return len(word) >= 4 * len({*word})


def _echoes(answer: str, prompt: str, letter: str) -> bool:
    before, quoted, after = prompt.partition(f'"{letter}"')
    if not quoted:
        return answer == prompt
    shape = re.escape(before) + r'"\w"' + re.escape(after)
    return re.fullmatch(shape, answer) is not None
