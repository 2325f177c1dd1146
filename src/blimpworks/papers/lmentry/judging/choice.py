"""Judge answers that name a word, letter or number (Moroni and others 2025, section 3.3)."""

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
from blimpworks.papers.lmentry.judging.declared import TWINS, AnswerPatterns, task_patterns
from blimpworks.papers.lmentry.judging.roles import (
    ANY_ROLE,
    HIDDEN,
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
    """A prompt's data for judging answers to it."""

    named: Sequence[Argument]
    """Arguments, in the order of search."""
    forms: list[str]
    """Forms of the gold answer; the first as in the prompt."""
    hidden: bool
    """Whether the release misses the gold answer because of its capitals."""
    sentence: str
    patterns: Compiled
    article: str
    """The gold answer if it may also be an article, else empty."""
    difference: int
    """Difference of two words' lengths if answers may name it, else 1."""


class ChoiceJudge:
    """Judge of one such task in one language."""

    def __init__(self, declared: AnswerPatterns, task: str, variant: str) -> None:
        """Compile the patterns. Raises UserError for a faulty one."""
        self._rules, self._variant, self._declared = RULES_OF[task], variant, declared
        published = variant == "published"
        self._marks, self._particles = MARKS[variant], declared.particles
        self._language = declared.number_words
        if published:
            self._marks, self._particles = declared.published_marks.get(task, self._marks), ()
            self._language = declared.published_number_words or self._language
        self._numbers = "number" in self._rules.kinds.values()
        self._anywhere = published and task in declared.published_unbounded
        self._letter = self._rules.kinds.get("answer") == "letter" and not published
        self._plain = normalise.plain_letters(declared.accents)
        self._counted = task in COUNTED
        self._compiled = lru_cache(maxsize=512)(
            lambda n, special, brackets: Compiled(
                declared, task, variant, self._counts(n), special, brackets=brackets
            )
        )
        compiled = self._compiled(1, (), published)
        self._words = compiled.words
        self._articles = self._words | frozenset(declared.single if self._letter else "")
        self._rewrites: dict[str, str] = {}
        for family in declared.families:
            self._rewrites |= family.rewrites.get(task, {})
        exact = task_patterns(declared, task, variant).exact
        self._answers = {ROLE[name] for name in INFLECTED if f"{{{name}}}" in exact} | {ANSWER}
        reasons = declared.corrected.reasons
        self._reason = normalise.reason_of(reasons)
        # Words that may follow the gold answer.
        self._follow = compiled.followers | {declared.conjunction, *reasons}

    def _counts(self, number: int) -> dict[str, str]:
        declared, written = self._declared, None
        if self._language != declared.number_words:
            written = number_forms(number, self._language)[1:]
        wrong = declared.wrong_numerals
        if self._variant == "corrected":
            numerals = "|".join(declared.numerals).split("|")
            wrong = tuple(word for word in wrong if word not in numerals)
        return counts_of(number, declared.numerals, written, wrong)

    def ask(self, arguments: Arguments, prompt: str) -> Ask:
        """Return the function that judges answers to a prompt."""
        gold = str(arguments["answer"])
        named = arguments_of(
            arguments, self._variant, numbers=self._numbers, language=self._language
        )
        published = self._variant == "published"
        if published:
            if self._anywhere:
                named += inflected(arguments, prompt)
            special = changed_roles(named, self._rewrites)
            if arguments.get("distractor") == arguments.get("query", ""):
                special = (*special, TWINS)
            if special:
                named += rewritten(named, self._rewrites)
        else:
            ordered = in_order(named)
            if self._letter:
                ordered.append(Argument(gold.lower().translate(self._plain), ANSWER))
            # Arguments that are words of patterns too, such as the first word "the", and roles
            # whose text another role has, with that other.
            role_of = {argument.text: argument.role for argument in reversed(ordered)}
            word_roles = [argument[:2] for argument in ordered if argument.text in self._words]
            lost = [
                (argument.role, role_of[argument.text])
                for argument in named
                if role_of.get(argument.text, argument.role) != argument.role
            ]
            named, special = ordered, tuple(dict.fromkeys((*word_roles, *lost)))
        forms = [argument.text for argument in named if argument.role in self._answers]
        articles = () if published or self._numbers else (f for f in forms if f in self._articles)
        difference = 1
        if self._counted:
            difference = abs(len(gold) - len(str(arguments["distractor"])))
        question = Question(
            named,
            forms,
            self._rules.absent != "any" and gold != gold.lower(),
            str(arguments.get("sentence", "")).lower(),
            self._compiled(difference, special, published),
            next(iter(articles), ""),
            difference,
        )
        return partial(self._published if published else self._corrected, question)

    def _published(self, question: Question, text: str) -> Verdict:
        answer = normalise.published(text)
        wrong = self._published_wrong(question, answer)
        if wrong:
            return Verdict(False, True, wrong)
        marked = bracketed(answer, question.named, anywhere=self._anywhere)
        verdict = question.patterns.whole(marked)
        if verdict:
            return verdict
        if not normalise.ASCII_TOKEN.search(answer):
            spoken = normalise.LETTER_OR_DIGIT.search(answer) is not None
            return Verdict(spoken, spoken, "vacuous" if spoken else "empty")
        tokens = normalise.ASCII_TOKEN.findall(answer)
        if not question.hidden and all(token in question.forms for token in tokens):
            return Verdict(True, True, "repeated")
        return question.patterns.inside(marked) or NOTHING

    def _published_wrong(self, question: Question, answer: str) -> str:
        """Return the rule that makes an answer certainly wrong, or an empty text."""
        rules, forms = self._rules, question.forms
        if rules.absent:
            gold = (argument for argument in question.named if argument.role == ANSWER)
            if question.hidden or not any(
                True for argument in gold for _ in places(answer, argument)
            ):
                return "absent"
        if rules.echo:
            bare = "".join(c for c in answer if c.isalnum() or c in " _")
            if bare == question.sentence:
                return "echo"
        if not rules.lone:
            return ""
        # The release ignores words of other scripts, and a repeated word with digits.
        if rules.lone == "words":
            found = normalise.ASCII_WORD.findall(answer)
        else:
            found = [*{*normalise.ASCII_TOKEN.findall(answer)}]
        # A number in words differs from its digits, a word with capitals from any.
        written = next(filter(str.isdigit, forms) if self._numbers else iter(forms), "")
        return "lone" if len(found) == 1 and (question.hidden or found != [written]) else ""

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
        if len(lines) > 1:
            for line in (lines[0], lines[-1]):
                verdict = _line(line, question.patterns)
                if verdict:
                    return Verdict(verdict.correct, False, "line", verdict.pattern)
        elif begins := self._reason.search(masked):
            # What stands before a reason or a remark is judged.
            verdict = _line(masked[: begins.start()], question.patterns)
            if verdict:
                return Verdict(verdict.correct, False, "begins", verdict.pattern)
        verdict = question.patterns.unopposed(masked.replace("\n", " "))
        if not verdict and self._words & words_of(argument.text for argument in question.named):
            # Words of a pattern are arguments: in "L'última lletra és l" the first l is no answer.
            marked = bracketed(answer, question.named, self._particles)
            verdict = self._compiled(question.difference, (), True).whole(marked)
        return verdict or self._missing(question, answer, masked)

    def _missing(self, question: Question, answer: str, masked: str) -> Verdict:
        if not normalise.LETTER_OR_DIGIT.search(answer):
            return Verdict(False, True, "empty")
        # Another role, such as a sentence, may contain the answer too.
        if ANSWER in masked or any(find_word(answer, x, self._particles) for x in question.forms):
            return NOTHING
        alone = len(normalise.WORD.findall(answer)) == 1
        return Verdict(False, True, "lone" if alone else "absent")

    def _masked(self, question: Question, answer: str) -> str:
        """Replace arguments by roles, but leave articles that are written as the gold answer."""
        form, named = question.article, question.named
        if not form:
            return mask(answer, named, self._marks, self._particles)
        longer = [argument for argument in named if len(argument.text) > len(form)]
        shorter = [argument for argument in named if len(argument.text) <= len(form)]
        masked = mask(answer, longer, self._marks, self._particles)
        masked = normalise.article_uses(form, self._follow).sub(HIDDEN, masked)
        return mask(masked, shorter, self._marks, self._particles).replace(HIDDEN, form)


def _line(masked: str, patterns: Compiled) -> Verdict | None:
    verdict = patterns.whole(masked)
    if verdict or ANSWER not in masked:
        return verdict
    without = masked.replace(ANSWER, "")
    speaks = normalise.LETTER_OR_DIGIT.search(without) or any(role in without for role in ANY_ROLE)
    return None if speaks else Verdict(True, True, "repeated")
