"""Judge answers to questions with one right word, letter or number.

``PublishedChoice`` follows the authors' scorer with its mistakes, and ``CorrectedChoice`` judges as
the task asks. The judge of a task compiles the answer patterns of a language pack. Its method
``for_prompt`` takes the arguments of a prompt:

    {"answer": "cat", "distractor": "house", ...}      for "Which has less letters, cat or house?"

and returns a function from an answer to a verdict. The answer "cat has less letters" is right by
the pattern "{answer} has less letters".

Source: Moroni, Aula-Blasco, Conia and others (2025), section 3.3.
"""

import re
from collections.abc import Sequence
from functools import lru_cache, partial
from itertools import product

from num2words import num2words

from blimpworks.papers.lmentry.items.languages import SPELLED, Case, decline
from blimpworks.papers.lmentry.judging import answers, compiling
from blimpworks.papers.lmentry.judging.answers import ANSWER, DISTRACTOR, OTHER, ROLE, Argument
from blimpworks.papers.lmentry.judging.compiling import UNDECIDED, Matchers, compile_task, counts_of
from blimpworks.papers.lmentry.judging.declared import (
    RULES,
    TWINS,
    AnswerPatterns,
    Changed,
    Verdict,
    task_patterns,
)

ARGUMENT_NAMES = ("answer", "distractor", "query", "word", "category", "sentence")
"""Arguments to find in answers, in the order of search."""
LENGTH_TASKS = ("more_letters", "less_letters")  # answers may say "has 2 letters more"
_CASES: dict[str, tuple[Case, Case]] = {
    "ergative": ("ergative", "ergative"),
    "genitive": ("genitive", "genitive"),
    "absolutive": ("absolutive_singular", "absolutive_plural"),
    "comitative": ("comitative_singular", "comitative_plural"),
}
"""Declension in singular and plural, by the case in a role's name (``answer_comitative``)."""


@lru_cache(maxsize=4096)
def number_forms(number: int, language: str | None) -> tuple[str, ...]:
    """Return a number in digits, and in lower-case words with and without hyphens.

    ``language``: code of num2words, or a key of ``SPELLED``; None for digits only.
    """
    digits = str(number)
    if language is None:
        return (digits,)
    speller = SPELLED.get(language)
    spelled_number = speller(number) if speller else str(num2words(number, lang=language)).lower()
    return tuple(dict.fromkeys((digits, spelled_number, spelled_number.replace("-", " "))))


def numbers_to_find(arguments: answers.Arguments, language: str | None) -> list[Argument]:
    """Return the spellings of a prompt's two numbers, as texts to find in answers."""
    return [
        Argument(form, ROLE[name])
        for name in ("answer", "distractor")
        for form in number_forms(int(arguments[name]), language)
    ]


def decline_arguments(arguments: answers.Arguments, prompt: str) -> list[Argument]:
    """Return the arguments of a Basque prompt with the endings that the release's patterns need.

    Words are singular. A category is singular if it is so in the prompt: words relate to it ("art")
    rather than belong to it ("animals").
    """
    declined: list[Argument] = []
    for role, (name, case) in answers.DECLINED_ROLES.items():
        text = str(arguments.get(name, "")).lower()
        if text:
            singular, plural = _CASES[case]
            in_singular = f'"{decline(str(arguments[name]), "absolutive_singular")}"'
            is_plural = name == "category" and in_singular not in prompt
            form = decline(text, plural if is_plural else singular)
            declined += answers.read_like_release(form, ROLE[role])
    return declined


def rewrite_arguments(
    to_find: list[Argument], rewrites: dict[str, str]
) -> tuple[Changed, list[Argument]]:
    """Replace texts in gold answers and distractors, as the release does in whole patterns.

    The release makes the converse of "moreover has more letters" by ``rewrites``, {old: new text}:
    {"more": "(less|fewer)"} also changes the argument, to "lessover" or "fewerover". Returns the
    (role, old text) of each replacement, here ("answer", "more"), and the changed arguments.
    """
    changed: dict[tuple[str, str], None] = {}
    rewritten: list[Argument] = []
    for old, alternatives in rewrites.items():
        new_texts = alternatives.strip("()").split("|")
        for new, role in product(new_texts, ("answer", "distractor")):
            for argument in to_find:
                if argument.role == ROLE[role] and old in argument.text:
                    changed[role, old] = None
                    text = argument.text.replace(old, new)
                    rewritten.append(Argument(text, ROLE[f"{role}_rewritten"]))
    return tuple(changed), rewritten


def difference_of(task: str, arguments: answers.Arguments) -> int:
    """Return the difference of two words' lengths, in letters; 1 if no answer states it."""
    if task not in LENGTH_TASKS:
        return 1
    return abs(len(str(arguments["answer"])) - len(str(arguments["distractor"])))


class PublishedChoice:
    """Judge of a task with one right word, letter or number, by the authors' rules."""

    def __init__(self, declared: AnswerPatterns, task: str) -> None:
        """Compile the patterns. Raises UserError for a faulty pattern."""
        self._rules = RULES[task]
        self._asks_number = "number" in self._rules.role_types.values()
        # In some tasks the release finds arguments also inside words, replaces texts in arguments,
        # or spells numbers in another language.
        self._inside_words = task in declared.published_unbounded
        self._rewrites: dict[str, str] = {}
        for family in declared.families:
            self._rewrites |= family.rewrites.get(task, {})
        language = declared.published_number_words or declared.number_words
        self._number_language = language

        # Patterns depend on a prompt only by these two parameters, so that few sets are compiled.
        @lru_cache(maxsize=512)
        def compile_patterns(difference: int, changed: Changed) -> Matchers:
            spelled = None
            if language != declared.number_words:
                spelled = number_forms(difference, language)[1:]  # without digits
            counts = counts_of(difference, declared.numerals, spelled, declared.wrong_numerals)
            return compile_task(declared, task, "published", counts, (), changed, brackets=True)

        self._compile = compile_patterns
        compile_patterns(1, ())  # raises the error about a faulty pattern
        # Roles that are right as the full answer: in Basque also the gold answer with an ending.
        exact = task_patterns(declared, task, "published").exact
        declined_roles = {ROLE[name] for name in answers.DECLINED_ROLES if f"{{{name}}}" in exact}
        self._gold_roles = {ANSWER, *declined_roles}

    def _arguments_in(self, arguments: answers.Arguments) -> list[Argument]:
        """Return a prompt's arguments as the texts that the release finds."""
        if self._asks_number:
            return numbers_to_find(arguments, self._number_language)
        to_find: list[Argument] = []
        for name in ARGUMENT_NAMES:
            if arguments.get(name):
                to_find += answers.read_like_release(str(arguments[name]).lower(), ROLE[name])
        listed_words = arguments.get("distractors", arguments.get("words", ()))
        if "category" in arguments and "answer_index" in arguments:
            # The prompt lists the gold answer among the distractors.
            index = int(arguments["answer_index"])
            listed_words = [*listed_words[:index], arguments["answer"], *listed_words[index:]]
        for word, role in zip(listed_words, answers.LISTED_ROLES, strict=False):
            to_find.append(Argument(str(word).lower(), ROLE[role]))
        return to_find

    def for_prompt(self, arguments: answers.Arguments, prompt: str) -> compiling.AnswerJudge:
        to_find = self._arguments_in(arguments)
        if self._inside_words:
            to_find += decline_arguments(arguments, prompt)  # only Basque has such tasks
        changed, rewritten = rewrite_arguments(to_find, self._rewrites)
        to_find += rewritten
        if arguments.get("distractor") == arguments.get("query", ""):
            changed = (*changed, TWINS)
        patterns = self._compile(difference_of(self._rules.task, arguments), changed)
        # The release puts the model's answer in lower case, so that it never finds a gold answer
        # with capitals. Only by the rule "any" it puts the gold answer in lower case too.
        gold = str(arguments["answer"])
        is_findable = self._rules.absent == "any" or gold == gold.lower()
        # Spellings and declined forms of the gold answer; the first is as in the prompt.
        gold_forms = [argument.text for argument in to_find if argument.role in self._gold_roles]
        golds = [argument for argument in to_find if argument.role == ANSWER]
        rules = self._rules

        def has_gold(answer: str) -> bool:
            return is_findable and any(any(answers.find_spans(answer, gold)) for gold in golds)

        def is_other_word(answer: str) -> bool:
            # Return whether the only word of an answer is not the gold answer. The release counts
            # words of ASCII letters; by the rule "tokens", also of digits, and repeated words once.
            if rules.lone == "words":
                counted_words = answers.ASCII_WORD.findall(answer)
            else:
                counted_words = [*{*answers.ASCII_TOKEN.findall(answer)}]
            is_gold = is_findable and counted_words == gold_forms[:1]
            return len(counted_words) == 1 and not is_gold

        def judge(text: str) -> Verdict:
            answer = answers.normalise_published(text)
            if rules.absent and not has_gold(answer):
                return Verdict.wrong("absent")
            without_marks = "".join(c for c in answer if c.isalnum() or c in " _")
            if rules.echo and without_marks == str(arguments.get("sentence", "")).lower():
                return Verdict.wrong("echo")
            if rules.lone and is_other_word(answer):
                return Verdict.wrong("lone")
            marked = answers.put_brackets(answer, to_find, anywhere=self._inside_words)
            if verdict := patterns.full(marked):
                return verdict
            tokens = answers.ASCII_TOKEN.findall(answer)
            if not tokens:
                has_text = answers.LETTER_OR_DIGIT.search(answer) is not None
                return Verdict(has_text, has_text, "vacuous" if has_text else "empty")
            if is_findable and all(token in gold_forms for token in tokens):
                return Verdict.right("repeated")
            return patterns.inside(marked) or UNDECIDED

        return judge


class CorrectedChoice:
    """Judge of a task with one right word, letter or number, as the task asks."""

    def __init__(self, declared: AnswerPatterns, task: str) -> None:
        """Compile the patterns. Raises UserError for a faulty pattern."""
        self._rules, self._particles = RULES[task], declared.particles
        self._asks_number = "number" in self._rules.role_types.values()
        self._asks_letter = self._rules.role_types.get("answer") == "letter"
        self._number_language = declared.number_words
        self._without_accents = answers.accent_table(declared.accents)
        # A word may be wrong in the release only: in English "a single", which means one.
        numerals = "|".join(declared.numerals).split("|")
        wrong_numerals = tuple(word for word in declared.wrong_numerals if word not in numerals)

        # Patterns depend on a prompt only by these parameters, so that few sets are compiled.
        @lru_cache(maxsize=512)
        def compile_patterns(
            difference: int, substitutes: compiling.Substitutes, *, brackets: bool
        ) -> Matchers:
            counts = counts_of(difference, declared.numerals, None, wrong_numerals)
            return compile_task(declared, task, "corrected", counts, substitutes, brackets=brackets)

        self._compile = compile_patterns
        compile_patterns(1, (), brackets=False)  # raises the error about a faulty pattern
        patterns, reasons = task_patterns(declared, task, "corrected"), declared.corrected.reasons
        texts = [*patterns.exact, *patterns.reject]
        for framed in patterns.accept:
            texts += [*framed.before, framed.pattern, *framed.after]
        # A gold answer before one of these words is no article ("a is the first letter").
        after_answers = (word for text in texts for word in answers.AFTER_ANSWER.findall(text))
        self._not_after_articles = frozenset(after_answers) | {declared.conjunction, *reasons}
        articles_and_conjunction = [*declared.article.values(), declared.conjunction]
        self._pattern_words = compiling.words_of([*texts, *articles_and_conjunction])
        one_letter_words = declared.single if self._asks_letter else ""
        self._possible_articles = self._pattern_words.union(one_letter_words)
        # The start of a reason (", because"), or of a remark in brackets or after a dash.
        self._reason = re.compile(rf" ?[(–—]| - |[,;]?\s(?:{answers.any_of(reasons)})\b")
        # Two arguments joined by "or": "cat or the house".
        role, joined = f"[{ANSWER}{DISTRACTOR}{OTHER}]", answers.any_of(declared.corrected.either)
        self._either = re.compile(rf"{role}\s*(?:{joined})\s(?:\w+ ){{0,2}}?{role}")

    def _arguments_in(self, arguments: answers.Arguments) -> list[Argument]:
        """Return a prompt's arguments as they are in normalised answers."""
        if self._asks_number:
            return numbers_to_find(arguments, self._number_language)
        texts = [(arguments.get(name) or "", ROLE[name]) for name in ARGUMENT_NAMES]
        listed_words = arguments.get("distractors", arguments.get("words", ()))
        texts += [(word, OTHER) for word in listed_words]
        normalised = [Argument(answers.normalise_corrected(str(x)), role) for x, role in texts]
        return [argument for argument in normalised if argument.text]

    def for_prompt(self, arguments: answers.Arguments, prompt: str) -> compiling.AnswerJudge:
        in_prompt = self._arguments_in(arguments)
        # Distinct texts, the longest first. The first of arguments with equal texts gives the role.
        role_of: dict[str, str] = {}
        for argument in in_prompt:
            role_of.setdefault(argument.text, argument.role)
        distinct = sorted(role_of, key=lambda text: (-len(text), text))
        to_find = [Argument(text, role_of[text]) for text in distinct]
        if self._asks_letter:
            letter = str(arguments["answer"]).lower().translate(self._without_accents)
            to_find.append(Argument(letter, ANSWER))
        # Patterns must also match where masking replaces one of their words, such as "the", or
        # gives an argument the role of another argument with the same text.
        pairs = [(a.text, a.role) for a in to_find if a.text in self._pattern_words]
        pairs += [(a.role, role_of[a.text]) for a in in_prompt if a.role != role_of[a.text]]
        substitutes = tuple(dict.fromkeys(pairs))
        gold_forms = [argument.text for argument in to_find if argument.role == ANSWER]
        article = ""
        if not self._asks_number:
            article = next((form for form in gold_forms if form in self._possible_articles), "")
        difference = difference_of(self._rules.task, arguments)
        patterns = self._compile(difference, substitutes, brackets=False)
        return partial(self._judge, to_find, article, difference, patterns)

    def _mask(self, answer: str, to_find: Sequence[Argument], article: str) -> str:
        """Replace arguments by roles, the longest first, but no article spelt like an argument.

        For the gold answer "a", whose role is A here: "a is a letter" becomes "A is a letter".
        """
        mask = partial(answers.mask, marks=answers.CORRECTED_MARKS, particles=self._particles)
        longer = [argument for argument in to_find if len(argument.text) > len(article)]
        masked = mask(answer, longer)
        if article:
            shorter = [argument for argument in to_find if len(argument.text) <= len(article)]
            articles = answers.article_pattern(article, self._not_after_articles)
            masked = mask(articles.sub(answers.PLACEHOLDER, masked), shorter)
            masked = masked.replace(answers.PLACEHOLDER, article)
        return masked

    def _judge(
        self,
        to_find: Sequence[Argument],
        article: str,
        difference: int,
        patterns: Matchers,
        answer: str,
    ) -> Verdict:
        """Judge by patterns that match the full answer, a line or clause, or text inside of it.

        ``article``: the gold answer if it may also be an article ("a"), else empty. ``difference``:
        of the two words' lengths. ``answer``: normalised, without repetitions of the prompt.
        """
        # Patterns have no quotation marks around a full answer, and optional ones around its words.
        answer = answer.strip('"')
        if self._asks_number:
            # Replace marks by x in numbers such as -321, 321.5 and 321,000, which are not 321.
            answer = answers.LONGER_NUMBER.sub(lambda match: re.sub(r"\D", "x", match[0]), answer)
        masked = self._mask(answer, to_find, article)
        if verdict := _judge_line(masked, patterns):
            return verdict
        # The first or last line, or the text before a reason or a remark.
        lines, reason = masked.split("\n"), self._reason.search(masked)
        if len(lines) > 1:
            candidates, rule = [lines[0], lines[-1]], "line"
        else:
            candidates, rule = [masked[: reason.start()]] if reason else [], "begins"
        for candidate in candidates:
            if verdict := _judge_line(candidate, patterns):
                return Verdict(verdict.correct, False, rule, verdict.pattern)
        # A sentence inside the answer. An answer that also states another answer is wrong.
        text = self._either.sub(" ", masked.replace("\n", " "))
        verdict = patterns.inside(text)
        if verdict and patterns.inside(text.translate(answers.EXCHANGE_ANSWER)):
            return Verdict(False, False, "both", verdict.pattern)
        if not verdict and self._pattern_words & compiling.words_of(x.text for x in to_find):
            # A word of a pattern equals an argument, as the article l in "l'última lletra és l"
            # ("the last letter is l"). Unlike masks, brackets let it be word and argument.
            marked = answers.put_brackets(answer, to_find, self._particles)
            verdict = self._compile(difference, (), brackets=True).full(marked)
        if verdict:
            return verdict

        if not answers.LETTER_OR_DIGIT.search(answer):
            return Verdict.wrong("empty")
        # The gold answer may also be inside another argument, such as a sentence.
        golds = [argument.text for argument in to_find if argument.role == ANSWER]
        has_gold = any(answers.has_word(answer, gold, self._particles) for gold in golds)
        if ANSWER in masked or has_gold:
            return UNDECIDED
        is_one_word = len(answers.WORD.findall(answer)) == 1
        return Verdict.wrong("lone" if is_one_word else "absent")


def _judge_line(masked: str, patterns: Matchers) -> Verdict | None:
    """Judge a line with characters of roles in place of arguments; None without a decision."""
    verdict = patterns.full(masked)
    if verdict or ANSWER not in masked:
        return verdict
    # A line is also right if it has nothing but the gold answer, repeated or between marks.
    remainder = masked.replace(ANSWER, "")
    if answers.LETTER_OR_DIGIT.search(remainder) or {*remainder} & {*answers.ROLE_CHARACTERS}:
        return None
    return Verdict.right("repeated")
