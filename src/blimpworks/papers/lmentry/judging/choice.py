"""Verdicts on answers that name one of some words, letters or numbers.

Source: Moroni, Aula-Blasco, Conia and others (2025), section 3.3.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from blimpworks.papers.lmentry.judging import normalise
from blimpworks.papers.lmentry.judging.arguments import (
    Arguments,
    arguments_of,
    changed_roles,
    in_order,
    inflected,
    number_forms,
    rewritten,
)
from blimpworks.papers.lmentry.judging.compiling import (
    MARKS,
    NOTHING,
    Compiled,
    counts_of,
    words_of,
)
from blimpworks.papers.lmentry.judging.declared import AnswerPatterns
from blimpworks.papers.lmentry.judging.families import TWINS, rewrites_of, task_patterns
from blimpworks.papers.lmentry.judging.roles import (
    ANY_ROLE,
    INFLECTED,
    ROLE,
    Argument,
    bracketed,
    find_word,
    mask,
    places,
)
from blimpworks.papers.lmentry.judging.rules import RULES_OF, Ask, Verdict

ANSWER = ROLE["answer"]
COUNTED = ("more_letters", "less_letters")


@dataclass(frozen=True, slots=True)
class Question:
    """What answers to one prompt are judged by."""

    known: Sequence[Argument]
    forms: list[str]
    """How the gold answer may be written; the first as in the prompt."""
    hidden: bool
    """Whether the release looks in vain for a gold answer with capitals."""
    sentence: str
    patterns: Compiled
    article: str
    """The gold answer, where it may be an article too; else nothing."""
    follow: frozenset[str]
    """Words that may follow the gold answer."""
    difference: int
    """Difference of two words' lengths, where answers may name it."""


class ChoiceJudge:
    """Judges a task of this kind in one language."""

    def __init__(self, declared: AnswerPatterns, task: str, variant: str) -> None:
        """Compile its patterns. Raises UserError where one cannot be read."""
        self._rules, self._variant = RULES_OF[task], variant
        self._marks = MARKS[variant]
        if variant == "published":
            self._marks = declared.published_marks.get(task, self._marks)
        self._numbers = "number" in self._rules.kinds.values()
        self._particles = declared.particles if variant == "corrected" else ()
        self._anywhere = variant == "published" and task in declared.published_unbounded
        self._letter = self._rules.kinds.get("answer") == "letter" and variant == "corrected"
        self._plain = normalise.plain_letters(declared.accents)
        self._language = declared.number_words
        if variant == "published" and declared.published_number_words:
            self._language = declared.published_number_words
        self._counted = task in COUNTED
        self._compiled = lru_cache(maxsize=512)(
            lambda n, special, brackets: Compiled(
                declared, task, variant, self._counts(n, declared), special, brackets=brackets
            )
        )
        published = variant == "published"
        self._words = self._compiled(1, (), published).words
        self._rewrites = rewrites_of(declared, task)
        exact = task_patterns(declared, task, variant).exact
        self._answers = {ROLE[name] for name in INFLECTED if f"{{{name}}}" in exact}
        self._answers.add(ANSWER)
        self._single = frozenset(declared.single) if self._letter else frozenset()
        reasons = declared.corrected.reasons
        self._reason = normalise.reason_of(reasons)
        self._follow = self._compiled(1, (), published).followers | {declared.conjunction, *reasons}

    def ask(self, arguments: Arguments, prompt: str) -> Ask:
        """What gives verdicts on answers to a prompt with some arguments."""
        named = arguments_of(
            arguments, self._variant, numbers=self._numbers, language=self._language
        )
        if self._variant == "published":
            if self._anywhere:
                named += inflected(arguments, prompt)
            changed = changed_roles(named, self._rewrites)
            if arguments.get("distractor") == arguments.get("query", ""):
                changed = (*changed, TWINS)
            known = [*named, *rewritten(named, self._rewrites)] if changed else named
            return partial(self._published, self._question(arguments, known, changed))
        known = in_order(named)
        if self._letter:
            gold = str(arguments["answer"]).lower()
            known.append(Argument(gold.translate(self._plain), ANSWER))
        return partial(self._corrected, self._question(arguments, known, self._both(named, known)))

    def _question(
        self,
        arguments: Arguments,
        known: Sequence[Argument],
        special: tuple[tuple[str, str], ...],
    ) -> Question:
        """``known``: in the order in which they are looked for; ``special``: see Compiled."""
        gold = str(arguments["answer"])
        forms = [each.text for each in known if each.role in self._answers]
        published = self._variant == "published"
        return Question(
            known,
            forms,
            self._rules.absent != "any" and gold != gold.lower(),
            str(arguments.get("sentence", "")).lower(),
            self._compiled(self._difference(arguments), special, published),
            "" if published else self._article(forms),
            self._follow,
            self._difference(arguments),
        )

    def _article(self, forms: Sequence[str]) -> str:
        """The gold answer, where it is a word by itself in the language or of its patterns."""
        words = self._words | self._single
        return next((form for form in forms if form in words and not self._numbers), "")

    def _both(
        self, named: Sequence[Argument], known: Sequence[Argument]
    ) -> tuple[tuple[str, str], ...]:
        """Arguments that are words of patterns too, such as the first word "the".

        And roles whose text another role has, with that other.
        """
        role_of = {each.text: each.role for each in reversed(known)}
        words = [each[:2] for each in known if each.text in self._words]
        lost = [
            (each.role, role_of[each.text])
            for each in named
            if role_of.get(each.text, each.role) != each.role
        ]
        return tuple(dict.fromkeys((*words, *lost)))

    def _counts(self, number: int, declared: AnswerPatterns) -> dict[str, str]:
        """Expressions of a difference; the release knows it in one language alone."""
        written = None
        if self._language != declared.number_words:
            written = number_forms(number, self._language)[1:]
        wrong = declared.wrong_numerals
        if self._variant == "corrected":
            numerals = "|".join(declared.numerals).split("|")
            wrong = tuple(word for word in wrong if word not in numerals)
        return counts_of(number, declared.numerals, written, wrong)

    def _difference(self, arguments: Arguments) -> int:
        """Difference of the two words' lengths, where answers may name it; else 1."""
        if not self._counted:
            return 1
        return abs(len(str(arguments["answer"])) - len(str(arguments["distractor"])))

    # As the release judges

    def _published(self, question: Question, text: str) -> Verdict:
        answer = normalise.published(text)
        wrong = self._published_wrong(question, answer)
        if wrong:
            return wrong
        marked = bracketed(answer, question.known, anywhere=self._anywhere)
        verdict = question.patterns.whole(marked)
        if verdict:
            return verdict
        if not normalise.has_ascii_token(answer):
            spoken = normalise.has_letter_or_digit(answer)
            return Verdict(spoken, spoken, "vacuous" if spoken else "empty")
        tokens = normalise.ascii_tokens(answer)
        if not question.hidden and all(token in question.forms for token in tokens):
            return Verdict(True, True, "repeated")
        return question.patterns.inside(marked) or NOTHING

    def _published_wrong(self, question: Question, answer: str) -> Verdict | None:
        rules, forms = self._rules, question.forms
        if rules.absent and (question.hidden or not _stands(answer, question.known)):
            return Verdict(False, True, "absent")
        if rules.echo and _bare(answer) == question.sentence:
            return Verdict(False, True, "echo")
        if not rules.lone:
            return None
        read = normalise.only_ascii_word if rules.lone == "words" else normalise.only_ascii_token
        lone = read(answer)
        # A number in words is another than its digits, a word with capitals than any.
        written = next(filter(str.isdigit, forms) if self._numbers else iter(forms), "")
        wrong = lone is not None and (question.hidden or lone != written)
        return Verdict(False, True, "lone") if wrong else None

    # As it should

    def _corrected(self, question: Question, answer: str) -> Verdict:
        # Quotation marks around an answer say nothing; those around its words are optional.
        answer = answer.strip('"')
        if self._numbers:
            answer = normalise.whole_numbers(answer)
        masked = self._masked(question, answer)
        verdict = _line(masked, question.patterns)
        if verdict:
            return verdict
        lines = masked.split("\n")
        for line in (lines[0], lines[-1]) if len(lines) > 1 else ():
            verdict = _line(line, question.patterns)
            if verdict:
                return Verdict(verdict.correct, False, "line", verdict.pattern)
        verdict = self._with_reason(question, masked) if len(lines) == 1 else None
        verdict = verdict or question.patterns.unopposed(masked.replace("\n", " "))
        return verdict or self._reread(question, answer) or self._missing(question, answer, masked)

    def _reread(self, question: Question, answer: str) -> Verdict | None:
        """A verdict on a whole answer in which words of a pattern are arguments too.

        "L'última lletra és l": the first l is no answer.
        """
        if self._words.isdisjoint(words_of(each.text for each in question.known)):
            return None
        marked = bracketed(answer, question.known, self._particles)
        return self._compiled(question.difference, (), True).whole(marked)

    def _with_reason(self, question: Question, masked: str) -> Verdict | None:
        """A verdict on what stands before a reason or a remark."""
        begins = self._reason.search(masked)
        verdict = _line(masked[: begins.start()], question.patterns) if begins else None
        return Verdict(verdict.correct, False, "begins", verdict.pattern) if verdict else None

    def _masked(self, question: Question, answer: str) -> str:
        """An answer with roles for arguments, but for articles that are written as the gold."""
        form, known = question.article, question.known
        if not form:
            return mask(answer, known, self._marks, self._particles)
        longer = [each for each in known if len(each.text) > len(form)]
        answer = normalise.hide(
            mask(answer, longer, self._marks, self._particles), form, question.follow
        )
        rest = [each for each in known if len(each.text) <= len(form)]
        return normalise.show(mask(answer, rest, self._marks, self._particles), form)

    def _missing(self, question: Question, answer: str, masked: str) -> Verdict:
        """Why an answer that fits no pattern is wrong."""
        if not normalise.has_letter_or_digit(answer):
            return Verdict(False, True, "empty")
        # What another role has taken, such as a sentence, may have it too.
        if ANSWER in masked or any(find_word(answer, x, self._particles) for x in question.forms):
            return NOTHING
        return Verdict(False, True, "lone" if len(normalise.words(answer)) == 1 else "absent")


def _line(masked: str, patterns: Compiled) -> Verdict | None:
    """A verdict on what is a whole answer, if there is one."""
    verdict = patterns.whole(masked)
    if verdict or ANSWER not in masked:
        return verdict
    rest = masked.replace(ANSWER, "")
    speaks = normalise.has_letter_or_digit(rest) or any(role in rest for role in ANY_ROLE)
    return None if speaks else Verdict(True, True, "repeated")


def _stands(answer: str, known: Sequence[Argument]) -> bool:
    """Whether the gold answer is there as a word."""
    return any(True for each in known if each.role == ANSWER for _ in places(answer, each))


def _bare(answer: str) -> str:
    """An answer's letters, digits, underscores and spaces alone."""
    return "".join(c for c in answer if c.isalnum() or c in " _")
