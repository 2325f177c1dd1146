"""Judge words that must have a letter, lack it, or have it at an end (Tables 11, 12, 29 and 30)."""

import re
import string
import unicodedata
from collections.abc import Callable
from functools import cached_property, lru_cache, partial

import re2

from blimpworks.papers.lmentry.items.alphabet import in_letters
from blimpworks.papers.lmentry.judging import normalise
from blimpworks.papers.lmentry.judging.arguments import Arguments
from blimpworks.papers.lmentry.judging.compiling import (
    ANY_CHARACTER,
    NEVER,
    NOTHING,
    Pattern,
    PatternSet,
    expression_of,
    introduced,
)
from blimpworks.papers.lmentry.judging.declared import AnswerPatterns, task_patterns
from blimpworks.papers.lmentry.judging.rules import Ask, Verdict

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


def copulas_of(declared: AnswerPatterns) -> re.Pattern[str]:
    """Return an expression for copulas at a word's end."""
    copulas = "|".join(map(re.escape, declared.copulas)) or "(?!)"
    return re.compile(rf"(?:{copulas})(?![^\W_])")


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


class LetterPatterns:
    """Patterns for answers about one letter."""

    def __init__(self, declared: AnswerPatterns, task: str, variant: str, letter: str) -> None:
        """Compile the patterns of words. Raises UserError with a faulty pattern."""
        self._declared, self._task, self._variant = declared, task, variant
        corrected = variant == "corrected"
        self._spell = pattern_in_letters if corrected and is_jamo(letter) else str
        if corrected and task == "word_not_containing":
            right = rf"[^\PL{letter}]{{2,}}"
        else:
            published_words = {} if corrected else declared.published_single
            one_letter_words = published_words.get(task, declared.single)
            twice = declared.published_twice and not corrected
            right = right_word(task, letter, one_letter_words, twice=twice)
        character = re2.escape(letter) if letter.isalnum() or corrected else NEVER
        word, named = self._introduced("word", right), self._introduced("letter", character)
        stop = ANY_CHARACTER["corrected" if corrected else "published"]
        self._roles = {"word": word, "answer": word, "letter": named, "any": stop}
        if not corrected and task in declared.published_marks:
            marks = "".join(f"{re2.escape(mark)}?" for mark in declared.published_marks[task])
            self._roles |= dict.fromkeys(("word", "answer"), f"(?:{marks}{right}{marks})")
            if marks:
                self._roles["letter"] = f"(?:{marks}{re2.escape(letter)}{marks})"
        elif not corrected:
            # The release wants marks between a word and what is written on to it.
            self._roles["word_"] = self._roles["answer_"] = self._introduced("word", right, "+")
            self._roles["letter_"] = self._introduced("letter", character, "+")
        self.bare = re2.compile(right)
        self.whole = re2.compile(rf"{word}\.?")

    def _introduced(self, kind: str, text: str, repeat: str = "*") -> str:
        """Return a word's or letter's expression with article and marks (``repeat``: after it)."""
        article = self._spell(self._declared.article.get(kind, "{}"))
        return introduced(article, f"{_MARK}*{text}{_MARK}{repeat}")

    @cached_property
    def accept(self) -> tuple[PatternSet, PatternSet]:
        """Patterns of whole answers, and of parts of them."""
        declared, corrected = self._declared, self._variant == "corrected"
        if self._task == "word_not_containing":
            declared = declared.model_copy(update={"shared": ()})
        marks = declared.published_marks.get(self._task)
        patterns, inside = [], []
        for accepted in task_patterns(declared, self._task, self._variant).accept:
            text = accepted.pattern
            if corrected:
                text = self._spell(copulas_of(declared).sub("", text))
            if "word_" in self._roles:
                text = _WRITTEN_ON.sub(r"{\1_}", text)
            pattern = Pattern(accepted.pattern, expression_of(text, self._roles))
            patterns.append(pattern)
            if corrected:
                inside.append(self._at_clause_edge(pattern))
            elif marks is None:
                inside.append(_bounded(pattern))
            else:
                # The release has no boundaries at this task's word; at the letter it has them where
                # the list of the task's marks is empty.
                inside.append(pattern if marks else _bounded(pattern, "{letter}"))
        return PatternSet(patterns, whole=True), PatternSet(inside, whole=False)

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


def _bounded(pattern: Pattern, *roles: str) -> Pattern:
    """Require whole words at a pattern's ends that are ``roles`` (in braces; any by default)."""
    start = r"(?:^|[^\pL\pN_])" if pattern.source.startswith(roles or "{") else ""
    ends = pattern.source.endswith(roles or "}") and not pattern.source.endswith("{any}")
    end = r"(?:$|[^\pL\pN_])" if ends else ""
    return pattern._replace(expression=start + pattern.expression + end)


class SpellingJudge:
    """Judge of one such task in one language."""

    def __init__(self, declared: AnswerPatterns, task: str, variant: str) -> None:
        """Compile nothing yet; a letter's patterns are compiled at its first prompt."""
        self._declared, self._task, self._variant = declared, task, variant
        self._of_letter = lru_cache(maxsize=None)(
            lambda letter: LetterPatterns(declared, task, variant, letter)
        )
        self._without = task == "word_not_containing"
        self._copulas = copulas_of(declared)
        plain = normalise.plain_letters(declared.accents)
        self._without_accents: Callable[[str], str] = lambda word: word.translate(plain)

    def ask(self, arguments: Arguments, prompt: str) -> Ask:
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
        patterns = self._of_letter(letter)
        if patterns.whole.fullmatch(answer):
            return Verdict(correct=True, certain=True, rule="whole", pattern="{word}")
        if not self._without:
            if not normalise.ASCII_TOKEN.search(answer):
                return Verdict(correct=True, certain=True, rule="vacuous")
            tokens = normalise.ASCII_TOKEN.findall(answer)
            if all(patterns.bare.fullmatch(token) for token in tokens):
                return Verdict(correct=True, certain=True, rule="repeated")
        return self._by_pattern(patterns, answer)

    @staticmethod
    def _by_pattern(patterns: LetterPatterns, answer: str) -> Verdict:
        if patterns.whole.fullmatch(answer):
            return Verdict(correct=True, certain=True, rule="whole", pattern="{word}")
        whole_answer, inside = patterns.accept
        if match := whole_answer.first(answer):
            return Verdict(correct=True, certain=True, rule="pattern", pattern=match.source)
        if match := inside.first(answer):
            return Verdict(correct=True, certain=False, rule="inside", pattern=match.source)
        return NOTHING

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
        return self._by_pattern(self._of_letter(letter), spelled)

    def _right(self, word: str, letter: str, spell: Callable[[str], str]) -> bool:
        spelled = spell(word)
        if self._task == "starts_with_letter":
            fits = spelled.startswith(letter)
        elif self._task == "ends_with_letter":
            fits = spelled.endswith(letter)
        else:
            fits = (letter in spelled) != self._without
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
