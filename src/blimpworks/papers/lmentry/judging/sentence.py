"""Judge sentences with or without a word, or with one at an end (Tables 9, 10, 27 and 28)."""

import re
from collections.abc import Sequence
from functools import partial

import re2

from blimpworks.papers.lmentry.judging import normalise
from blimpworks.papers.lmentry.judging.arguments import Arguments, readings
from blimpworks.papers.lmentry.judging.compiling import (
    ANY_CHARACTER,
    NEVER,
    Pattern,
    PatternSet,
    expression_of,
    introduced,
)
from blimpworks.papers.lmentry.judging.declared import AnswerPatterns, task_patterns
from blimpworks.papers.lmentry.judging.roles import (
    BRACKETS,
    PASSED,
    ROLE,
    SPACE,
    Argument,
    between,
    bracketed,
    find_word,
    places,
    replace_word,
    without_particle,
)
from blimpworks.papers.lmentry.judging.rules import Ask, Verdict

WORD = ROLE["word"]
MARKS = r"[\"'.,]*"
BREAK = rf"[^a-z0-9{WORD}]"
"""The release's space between words."""
WORDS = rf"[\pL\pN](?:{PASSED}[\pL\pN])+"
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
        return find_word(text, word)
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

    def ask(self, arguments: Arguments, prompt: str) -> Ask:
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
            lines = [line for line in lines if find_word(line, word, self._particles)]
            if not lines:
                return Verdict(False, True, "absent")
            enough = any(len(normalise.WORD.findall(line)) > 1 for line in lines)
            return Verdict(enough, True, "made" if enough else "short")
        if find_word(answer, word, self._particles):
            # A clause before the sentence may name the word that it is to lack.
            sentence = without_lead(answer)
            if sentence == answer or find_word(sentence, word, self._particles):
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
        named, listed, short = WORD, BREAK, [f"[{single_patterns}]"] if single_patterns else []
        roles: dict[str, str] = {}
        if variant == "published":
            named, listed, roles = between(WORD), SPACE, {"~": PASSED}
        else:
            short.append(WORD)
        marks = MARKS.replace("]", f"{BRACKETS}]")
        word = introduced(declared.article.get("word", "{}"), f"{marks}{named}{marks}", roles)
        valid = f"{PASSED}(?:{'|'.join([*short, WORDS])})"
        self._text = (
            f"{PASSED}{listed}*{word}{listed}+{valid}[^\n]*"
            if self._first
            else f"[^\n]*{valid}{PASSED}{listed}+{word}{listed}*"
        )
        self._whole = re2.compile(self._text)
        start = roles.get("~", "")
        roles |= {"any": ANY_CHARACTER[variant] + start}
        text = self._text
        if variant == "published":
            # The sentence may stand in the place of the answer in what all tasks accept.
            answered = {**roles, "answer": text}
            shared = (expression_of(pattern, answered) for pattern in declared.shared)
            text = "(?:" + "|".join([text, *shared]) + ")"
        roles |= {"text": text, "word": word}
        accepted = task_patterns(declared.model_copy(update={"shared": ()}), task, variant).accept
        patterns = [
            Pattern(each.pattern, start + expression_of(each.pattern, roles)) for each in accepted
        ]
        self._patterns = PatternSet(patterns, whole=True, end=r"\.?" if self._first else "")
        end = "" if self._first or declared.published_anywhere else "$"
        self._inside = PatternSet(
            [Pattern(p.source, p.expression + end) for p in patterns], whole=False
        )

    def ask(self, arguments: Arguments, prompt: str) -> Ask:
        """Return the function that judges answers to a prompt."""
        word = str(arguments["word"]).lower()
        if self._variant == "published":
            return partial(self._published, [*readings(word, WORD)])
        return partial(self._corrected, normalise.corrected(word))

    def _published(self, argument: Sequence[Argument], text: str) -> Verdict:
        answer = normalise.published(text)
        if not any(True for form in argument for _ in places(answer, form)):
            return Verdict(False, True, "absent")
        marked = bracketed(answer, argument, anywhere=self._anywhere)
        if self._whole.fullmatch(marked):
            return Verdict(True, True, "made")
        if not normalise.ASCII_TOKEN.search(answer):
            return Verdict(True, True, "vacuous")
        for patterns, certain in ((self._patterns, True), (self._inside, False)):
            match = patterns.first(marked)
            if match:
                return Verdict(True, certain, "pattern" if certain else "inside", match.source)
        return Verdict(False, False, "none")

    def _corrected(self, word: str, answer: str) -> Verdict:
        """Accept a line, or its part after a colon, with the word at that end and another word."""
        if not find_word(answer, word, self._particles):
            return Verdict(False, True, "absent")
        lines = answer.split("\n")
        # A label, such as "A:", is no word of a sentence.
        answer_lines = [line for line in lines if not _LABEL.match(line)]
        answer_lines += (line.partition(":")[2] for line in lines if ":" in line)
        for answer_line in answer_lines:
            masked = replace_word(answer_line, Argument(word, WORD), "", self._particles)
            before, role, after = (masked.partition if self._first else masked.rpartition)(WORD)
            after = without_particle(after, self._particles)
            outside, inside = (before, after) if self._first else (after, before)
            # The word again is no other word.
            speaks = normalise.LETTER_OR_DIGIT.search
            if role and speaks(inside) and not speaks(outside):
                return Verdict(True, answer_line == answer, "made")
        match = self._patterns.first(replace_word(answer, Argument(word, WORD), ""))
        if match:
            return Verdict(True, True, "pattern", match.source)
        return Verdict(False, len(lines) == 1, "none")
