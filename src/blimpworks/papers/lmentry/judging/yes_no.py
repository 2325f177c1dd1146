"""Verdicts on answers that say yes or no.

Source: Moroni, Aula-Blasco, Conia and others (2025), section 3.3 and Tables 15 and 16.
"""

import re
from collections.abc import Sequence
from functools import partial

from blimpworks.papers.lmentry.judging import normalise
from blimpworks.papers.lmentry.judging.arguments import Arguments, categories, taken
from blimpworks.papers.lmentry.judging.compiling import END, NOTHING, Compiled, literal
from blimpworks.papers.lmentry.judging.declared import AnswerPatterns
from blimpworks.papers.lmentry.judging.roles import (
    PASSED,
    ROLE,
    Argument,
    between,
    bracketed,
    find_word,
    mask,
)
from blimpworks.papers.lmentry.judging.rules import Ask, Verdict
from blimpworks.papers.lmentry.tasks import ANY_WORDS, is_yes

ANSWER, DISTRACTOR = ROLE["answer"], ROLE["distractor"]
_NAMES = [role for name, role in ROLE.items() if name != "answer"]
"""Roles of a category's names, one for each: one name may begin another."""


class YesNoJudge:
    """Judges a task of this kind in one language."""

    def __init__(self, declared: AnswerPatterns, task: str, variant: str) -> None:
        """Compile its patterns. Raises UserError where one cannot be read."""
        self._task, self._variant = task, variant
        known_names = declared.published_categories if task != ANY_WORDS else {}
        self._categories = {name.lower(): other for name, other in known_names.items()}
        self._declined = bool(declared.endings)
        yes, no = declared.yes_words, declared.no_words
        if variant == "published":
            known = declared.published_yes_no or (yes[0], no[0])
            yes, no = known[:1], known[1:]
        self._forms = {True: tuple(map(str.lower, yes)), False: tuple(map(str.lower, no))}
        joins = [declared.conjunction, *declared.corrected.either]
        joined = "|".join(rf"{re.escape(word)}\s" for word in joins)
        forms = "|".join(re.escape(each[0].lower()) for each in (yes, no))
        self._both = re.compile(rf"\W*(?:{forms})\W*(?:/|{joined})\W*(?:{forms})\b")
        published = variant == "published"
        self._patterns = {
            gold: Compiled(declared, task, variant, self._answer(gold), brackets=published)
            for gold in self._forms
        }

    def _answer(self, gold: bool) -> dict[str, str]:
        """Expressions of the answer and the category, which are no whole words in the release.

        So "no" stands in "not" too. Nor have they articles or marks.
        """
        if self._variant != "published":
            return {}
        category = "|".join(between(role) for role in _NAMES)
        return {"answer": literal(self._forms[gold][0], PASSED), "category": category}

    def ask(self, arguments: Arguments, prompt: str) -> Ask:
        """What gives verdicts on answers to a prompt with some arguments."""
        category = str(arguments.get("category", "")).lower()
        gold = is_yes(self._task, arguments)
        if self._variant == "published":
            return partial(self._published, gold, self._named(category, prompt))
        return partial(self._corrected, gold, Argument(category, ROLE["category"]))

    def _named(self, category: str, prompt: str) -> list[Argument]:
        """A category by each name that the release looks for, inside longer words too."""
        names = (*self._categories.get(category, ()), category)
        if category and self._declined:
            names = categories(category, prompt)
        return [
            each._replace(bare=True)
            for name, role in zip(names, _NAMES, strict=False)
            if name
            for each in taken(name, role)
        ]

    def _masked(self, answer: str, gold: bool, category: Argument) -> str:
        known = [Argument(form, ANSWER) for form in self._forms[gold]]
        known += [Argument(form, DISTRACTOR) for form in self._forms[not gold]]
        known = [category, *sorted(known, key=lambda a: -len(a.text))]
        return mask(answer, (a for a in known if a.text), normalise.CORRECTED_MARKS)

    def _published(self, gold: bool, category: Sequence[Argument], text: str) -> Verdict:
        answer = normalise.published(text)
        right, wrong = self._forms[gold][0], self._forms[not gold][0]
        if re.fullmatch(re.escape(wrong) + END["published"], answer):
            return Verdict(False, True, "opposite")
        if not normalise.has_letter_or_digit(answer):
            return Verdict(False, False, "empty")
        if re.fullmatch(re.escape(right) + END["published"], answer):
            return Verdict(True, True, "whole", "{answer}")
        if not normalise.has_ascii_token(answer):
            return Verdict(True, True, "vacuous")
        if all(token == right for token in normalise.ascii_tokens(answer)):
            return Verdict(True, True, "repeated")
        marked = bracketed(answer, category)
        begins = answer.startswith(right) and find_word(answer[: len(right) + 1], right)
        return self._by_pattern(gold, marked, begins)

    def _by_pattern(self, gold: bool, masked: str, begins: bool) -> Verdict:
        verdict = self._patterns[gold].whole(masked)
        if verdict:
            return verdict
        if begins:
            return Verdict(True, False, "begins", "{answer}")
        return self._patterns[gold].inside(masked) or NOTHING

    def _corrected(self, gold: bool, category: Argument, text: str) -> Verdict:
        answer = normalise.corrected(text)
        if not normalise.has_letter_or_digit(answer):
            return Verdict(False, True, "empty")
        masked = self._masked(answer, gold, category).strip()
        alone = [word for word in normalise.words(masked) if word]
        if masked.startswith(DISTRACTOR):
            return Verdict(False, not alone, "opposite")
        if masked.startswith(ANSWER) and not alone and DISTRACTOR not in masked:
            return Verdict(True, True, "whole", "{answer}")
        if self._both.match(answer):
            return Verdict(False, False, "both")
        verdict = self._by_pattern(gold, masked.replace("\n", " "), masked.startswith(ANSWER))
        if not verdict.correct and masked.split("\n")[-1].strip(" .!") == ANSWER:
            return Verdict(True, False, "line", "{answer}")
        return verdict
