"""Judge answers that say yes or no (Moroni and others 2025, section 3.3 and Tables 15 and 16)."""

import re
from collections.abc import Sequence
from functools import partial

from blimpworks.papers.lmentry.items.languages import decline
from blimpworks.papers.lmentry.judging import normalise, roles
from blimpworks.papers.lmentry.judging.compiling import END, NOTHING, Compiled, literal
from blimpworks.papers.lmentry.judging.declared import AnswerPatterns, Ask, Family, Verdict
from blimpworks.papers.lmentry.judging.roles import PASSED, ROLE, Argument, Arguments, mask
from blimpworks.papers.lmentry.tasks import ANY_WORDS, is_yes

ANSWER, DISTRACTOR, OTHER = ROLE["answer"], ROLE["distractor"], ROLE["other"]
_CLAUSE = re.compile(rf"[\n,.:;] ?((?: ?[{ANSWER}{DISTRACTOR}])+)(?=\n|$)")
"""Find yes or no as the last clause of a line: "in this case, no"."""
_CATEGORY_ROLES = [role for name, role in ROLE.items() if name != "answer"]
"""Roles of a category's names: another for each, since two names may begin at one place."""


def categories(category: str, prompt: str) -> tuple[str, ...]:
    """Return the release's forms of a category; a prompt has the first of an abstract one."""
    either = category.replace(" eta ", " edo ").lower()
    stem = decline(either, "comitative_singular")
    having = ("zerikusia duten", "lotura duten", "erlazioa duten")
    being = ("lotuta dauden", "erlazionatuta dauden")
    related = tuple(f"{stem} {each} hitzak" for each in (*having, *being))
    return related if related[0] in prompt.lower() else (decline(either, "absolutive_plural"),)


class YesNoJudge:
    """Judge of one such task in one language."""

    def __init__(self, declared: AnswerPatterns, task: str, variant: str) -> None:
        """Compile the patterns. Raises UserError for a faulty one."""
        self._task, self._variant = task, variant
        known_names = declared.published_categories if task != ANY_WORDS else {}
        self._categories = {name.lower(): names for name, names in known_names.items()}
        self._has_cases, self._particles = bool(declared.endings), declared.particles
        yes, no, published = declared.yes_words, declared.no_words, variant == "published"
        if published:
            published_words = declared.published_yes_no or (yes[0], no[0])
            yes, no = published_words[:1], published_words[1:]
        self._forms = {True: tuple(map(str.lower, yes)), False: tuple(map(str.lower, no))}
        self._yes_no_arguments = {
            gold: sorted(
                [Argument(form, ANSWER) for form in self._forms[gold]]
                + [Argument(form, DISTRACTOR) for form in self._forms[not gold]],
                key=lambda argument: -len(argument.text),
            )
            for gold in self._forms
        }
        joins = [declared.conjunction, *declared.corrected.either]
        joined = "|".join(rf"{re.escape(word)}\s" for word in joins)
        either = "|".join(re.escape(answer_words[0].lower()) for answer_words in (yes, no))
        self._both = re.compile(rf"\W*(?:{either})\W*(?:/|{joined})\W*(?:{either})\b")
        # The release puts yes or no into its sentences alone, without articles or marks.
        category = "|".join(roles.between(role) for role in _CATEGORY_ROLES)
        self._patterns = {
            gold: Compiled(
                declared,
                task,
                variant,
                {"answer": literal(forms[0], PASSED), "category": category} if published else {},
                brackets=published,
            )
            for gold, forms in self._forms.items()
        }
        self._list = re.compile(rf"{OTHER}(?:(?:[\s,]|{joined})*{OTHER})*")
        self._statements: dict[bool, Compiled] = {}
        statements = {False: declared.corrected.denied, True: declared.corrected.affirmed}
        for affirmed, by_task in ({} if published else statements).items():
            family = Family(tasks=(task,), accept=by_task.get(task, ()))
            alone = declared.model_copy(update={"shared": (), "families": (family,)})
            self._statements[affirmed] = Compiled(alone, task, variant, {}, brackets=False)

    def ask(self, arguments: Arguments, prompt: str) -> Ask:
        """Return the function that judges answers to a prompt."""
        category = str(arguments.get("category", "")).lower()
        gold = is_yes(self._task, arguments)
        if self._variant == "corrected":
            listed = (Argument(str(word).lower(), OTHER) for word in arguments.get("words", ()))
            return partial(self._corrected, gold, [Argument(category, ROLE["category"]), *listed])
        # The release looks for a category by each of its names, inside longer words too.
        names = (*self._categories.get(category, ()), category)
        if category and self._has_cases:
            names = categories(category, prompt)
        named = [
            argument._replace(bare=True)
            for name, role in zip(names, _CATEGORY_ROLES, strict=False)
            if name
            for argument in roles.readings(name, role)
        ]
        return partial(self._published, gold, named)

    def _published(self, gold: bool, category: Sequence[Argument], text: str) -> Verdict:
        answer = normalise.published(text)
        right, wrong = self._forms[gold][0], self._forms[not gold][0]
        if re.fullmatch(re.escape(wrong) + END["published"], answer):
            return Verdict(correct=False, certain=True, rule="opposite")
        if not normalise.LETTER_OR_DIGIT.search(answer):
            return Verdict(correct=False, certain=False, rule="empty")
        if re.fullmatch(re.escape(right) + END["published"], answer):
            return Verdict(correct=True, certain=True, rule="whole", pattern="{answer}")
        if not normalise.ASCII_TOKEN.search(answer):
            return Verdict(correct=True, certain=True, rule="vacuous")
        if all(token == right for token in normalise.ASCII_TOKEN.findall(answer)):
            return Verdict(correct=True, certain=True, rule="repeated")
        begins = answer.startswith(right) and roles.find_word(answer[: len(right) + 1], right)
        return self._by_pattern(gold, roles.bracketed(answer, category), begins)

    def _by_pattern(self, gold: bool, masked: str, begins: bool) -> Verdict:
        if verdict := self._patterns[gold].whole(masked):
            return verdict
        if begins:
            return Verdict(correct=True, certain=False, rule="begins", pattern="{answer}")
        return self._patterns[gold].inside(masked) or NOTHING

    def _corrected(self, gold: bool, named: Sequence[Argument], answer: str) -> Verdict:
        if not normalise.LETTER_OR_DIGIT.search(answer):
            return Verdict(correct=False, certain=True, rule="empty")
        category = named[:1] if named[0].text else []
        arguments = [*category, *self._yes_no_arguments[gold]]
        # A private character of its role replaces each argument, as it does yes and no.
        masked = mask(answer, arguments, normalise.CORRECTED_MARKS).strip()
        has_more = normalise.LETTER_OR_DIGIT.search(masked) is not None
        if masked.startswith(DISTRACTOR):
            return Verdict(correct=False, certain=not has_more, rule="opposite")
        if masked.startswith(ANSWER) and not has_more and DISTRACTOR not in masked:
            return Verdict(correct=True, certain=True, rule="whole", pattern="{answer}")
        if self._both.match(answer):
            return Verdict(correct=False, certain=False, rule="both")
        verdict = self._by_pattern(gold, masked.replace("\n", " "), masked.startswith(ANSWER))
        if verdict != NOTHING:
            return verdict
        # Yes or no at a line's end, or a statement without the word.
        clauses = "".join(_CLAUSE.findall(masked)).replace(" ", "")
        if clauses and (len({*clauses}) == 1 or masked.endswith(clauses[-1])):
            right = clauses[-1] == ANSWER
            pattern = "{answer}" if right else None
            return Verdict(correct=right, certain=False, rule="line", pattern=pattern)
        # Repeated words of the prompt's list say nothing: remove them, and brackets around them.
        listed = (argument for argument in named if argument.text)
        text = answer.replace("\n", " ")
        text = mask(text, listed, normalise.CORRECTED_MARKS, self._particles)
        text = " ".join(self._list.sub(" ", text).replace("[ ]", " ").split())
        for affirmed, patterns in self._statements.items():
            if stated := patterns.whole(text) or patterns.inside(text):
                rule = stated.rule if affirmed == gold else "opposite"
                return stated._replace(correct=affirmed == gold, rule=rule)
        return NOTHING
