"""Judge answers that name a word, letter or number, and answers that say yes or no.

A judge compiles the language pack's patterns of a task; ``ask`` takes a prompt's arguments and
returns the function that judges answers to it. ``_published`` follows the authors' scorer step by
step, mistakes included; ``_corrected`` judges as the task asks.

Source: Moroni, Aula-Blasco, Conia and others (2025), section 3.3 and Tables 15 and 16.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product

from num2words import num2words

from blimpworks.papers.lmentry.items.languages import SPELLED, Case, decline
from blimpworks.papers.lmentry.judging import answers, compiling
from blimpworks.papers.lmentry.judging.answers import (
    LETTER_OR_DIGIT,
    ROLE,
    Argument,
    Arguments,
    mask,
)
from blimpworks.papers.lmentry.judging.compiling import END, NOTHING, Compiled, Substitutes, literal
from blimpworks.papers.lmentry.judging.declared import (
    RULES_OF,
    TWINS,
    AnswerPatterns,
    Ask,
    Changed,
    Family,
    Verdict,
    task_patterns,
)
from blimpworks.papers.lmentry.tasks import ANY_WORDS, is_yes

ANSWER, DISTRACTOR, OTHER = ROLE["answer"], ROLE["distractor"], ROLE["other"]
MARKS = compiling.MARKS["corrected"]
COUNTED = ("more_letters", "less_letters")
"""Tasks in which answers may state the difference of two words' lengths."""
_WORD_CASES: dict[str, Case] = {
    "ergative": "ergative",
    "comitative": "comitative_singular",
    "genitive": "genitive",
}
_CATEGORY_CASES: dict[str, tuple[Case, Case]] = {
    "absolutive": ("absolutive_singular", "absolutive_plural"),
    "comitative": ("comitative_singular", "comitative_plural"),
}
"""Cases of categories that words relate to, and of categories that words belong to."""


@lru_cache(maxsize=4096)
def number_forms(number: int, language: str | None) -> tuple[str, ...]:
    """Return a number in digits, and in lower-case words with and without hyphens.

    ``language``: that of num2words or ``SPELLED``; None for digits only.
    """
    digits = str(number)
    if language is None:
        return (digits,)
    speller = SPELLED.get(language)
    spelled_number = speller(number) if speller else str(num2words(number, lang=language)).lower()
    return tuple(dict.fromkeys((digits, spelled_number, spelled_number.replace("-", " "))))


def arguments_of(arguments: Arguments, variant: str) -> list[Argument]:
    """Return the arguments to look for in answers to a prompt without numbers."""
    published = variant == "published"
    lower = str.lower if published else answers.corrected_form
    named: list[Argument] = []
    for name in ("answer", "distractor", "query", "word", "category", "sentence"):
        if arguments.get(name):
            text, role = lower(str(arguments[name])), ROLE[name]
            named += answers.readings(text, role) if published else [Argument(text, role)]
    # Words of a list except the answer; the published rules take all of them, in order.
    listed = arguments.get("distractors", arguments.get("words", ()))
    word_roles = [ROLE["other"]] * len(listed)
    if published:
        if "category" in arguments and "answer_index" in arguments:
            index = int(arguments["answer_index"])
            listed = [*listed[:index], arguments["answer"], *listed[index:]]
        word_roles = [ROLE[name] for name in answers.LISTED_ROLES]
    pairs = zip(listed, word_roles, strict=False)
    named += (Argument(lower(str(word)), role) for word, role in pairs)
    # In the release a word such as "a?" is an expression that matches an empty text.
    return [argument for argument in named if argument.text or published]


def inflected(arguments: Arguments, prompt: str) -> list[Argument]:
    """Return the declined arguments (Basque).

    The prompt's form of a category shows whether words belong to it or relate to it.
    """
    inflections: list[Argument] = []
    for role, (name, case) in answers.INFLECTED.items():
        text = str(arguments.get(name, "")).lower()
        if not text:
            continue
        if name == "category":
            abstract, usual = _CATEGORY_CASES[case]
            named = decline(str(arguments[name]), "absolutive_singular")
            chosen = abstract if f'"{named}"' in prompt else usual
        else:
            chosen = _WORD_CASES[case]
        inflections += answers.readings(decline(text, chosen), ROLE[role])
    return inflections


def exchanged(named: list[Argument], rewrites: dict[str, str]) -> tuple[Changed, list[Argument]]:
    """Replace texts in arguments as the release does in converse sentences ("more" by "less").

    Return role and text of each replacement, and the arguments after it.
    """
    changed: dict[tuple[str, str], None] = {}
    rewritten: list[Argument] = []
    forms = ((old, form) for old, new in rewrites.items() for form in new.strip("()").split("|"))
    for (old, form), role in product(forms, ("answer", "distractor")):
        for argument in named:
            if argument.role == ROLE[role] and old in argument.text:
                changed[role, old] = None
                text = argument.text.replace(old, form)
                rewritten.append(Argument(text, ROLE[f"{role}_rewritten"]))
    return tuple(changed), rewritten


@dataclass(frozen=True, slots=True)
class Question:
    """Data of a prompt, for the judgement of answers to it."""

    named: Sequence[Argument]
    """Arguments, in the order of search."""
    forms: list[str]
    """Forms of the gold answer; the first as in the prompt."""
    hidden: bool
    """True if the release misses the gold answer because of its capitals."""
    sentence: str
    patterns: Compiled
    article: str
    """The gold answer if it may also be an article, else empty."""
    difference: int
    """Difference of two words' lengths if answers may state it, else 1."""


class ChoiceJudge:
    """Judge of a task with one right word, letter or number, in one language."""

    def __init__(self, declared: AnswerPatterns, task: str, variant: str) -> None:
        """Compile the patterns. Raises UserError for a faulty one."""
        published = variant == "published"
        self._rules, self._variant, self._particles = RULES_OF[task], variant, declared.particles
        self._numbers = "number" in self._rules.role_types.values()
        self._asks_letter = self._rules.role_types.get("answer") == "letter" and not published
        self._states_difference = task in COUNTED
        self._without_accents = answers.plain_letters(declared.accents)
        # What the release does otherwise: search inside words, replace texts, spell numbers.
        self._anywhere = published and task in declared.published_unbounded
        self._rewrites: dict[str, str] = {}
        for family in declared.families:
            self._rewrites |= family.rewrites.get(task, {})
        self._language, wrong_numerals = declared.number_words, declared.wrong_numerals
        if published:
            self._language = declared.published_number_words or self._language
        else:
            numerals = "|".join(declared.numerals).split("|")
            wrong_numerals = tuple(word for word in wrong_numerals if word not in numerals)

        @lru_cache(maxsize=512)
        def compiled(
            difference: int, substitutes: Substitutes, changed: Changed, *, brackets: bool
        ) -> Compiled:
            spelled = None
            if self._language != declared.number_words:
                spelled = number_forms(difference, self._language)[1:]
            counts = compiling.counts_of(difference, declared.numerals, spelled, wrong_numerals)
            return Compiled(
                declared, task, variant, counts, substitutes, changed, brackets=brackets
            )

        self._compiled = compiled
        usual = compiled(1, (), (), brackets=published)
        self._words = usual.words
        self._articles = self._words | frozenset(declared.single if self._asks_letter else "")
        exact = task_patterns(declared, task, variant).exact
        inflected_roles = {ROLE[name] for name in answers.INFLECTED if f"{{{name}}}" in exact}
        self._gold_roles = {ANSWER, *inflected_roles}
        reasons = declared.corrected.reasons
        # The start of a reason, or of a remark in brackets or after a dash.
        self._reason = re.compile(rf" ?[(–—]| - |[,;]?\s(?:{answers.any_of(reasons)})\b")
        # Two arguments joined by "or".
        role, joined = f"[{answers.ANSWERS}]", answers.any_of(declared.corrected.either)
        self._either = re.compile(rf"{role}\s*(?:{joined})\s(?:\w+ ){{0,2}}?{role}")
        # Words that may follow the gold answer, which is no article then.
        self._follow = usual.followers | {declared.conjunction, *reasons}

    def ask(self, arguments: Arguments, prompt: str) -> Ask:
        """Return the function that judges answers to a prompt."""
        gold, published = str(arguments["answer"]), self._variant == "published"
        if self._numbers:
            named = []
            for name in ("answer", "distractor"):
                number_texts = number_forms(int(arguments[name]), self._language)
                named += [Argument(form, ROLE[name]) for form in number_texts]
        else:
            named = arguments_of(arguments, self._variant)
        substitutes: Substitutes = ()
        changed: Changed = ()
        if published:
            if self._anywhere:
                named += inflected(arguments, prompt)
            changed, rewritten = exchanged(named, self._rewrites)
            named += rewritten
            if arguments.get("distractor") == arguments.get("query", ""):
                changed = (*changed, TWINS)
        else:
            named, substitutes = self._for_masking(named, gold)
        forms = [argument.text for argument in named if argument.role in self._gold_roles]
        article, difference = "", 1
        if not published and not self._numbers:
            article = next((form for form in forms if form in self._articles), "")
        if self._states_difference:
            difference = abs(len(gold) - len(str(arguments["distractor"])))
        question = Question(
            named=named,
            forms=forms,
            hidden=self._rules.absent != "any" and gold != gold.lower(),
            sentence=str(arguments.get("sentence", "")).lower(),
            patterns=self._compiled(difference, substitutes, changed, brackets=published),
            article=article,
            difference=difference,
        )
        return partial(self._published if published else self._corrected, question)

    def _for_masking(self, named: list[Argument], gold: str) -> tuple[list[Argument], Substitutes]:
        """Return arguments with distinct texts, the longest first, and their ``Substitutes``."""
        # Equal texts have the first one's role.
        role_of = {argument.text: argument.role for argument in reversed(named)}
        texts = sorted(role_of, key=lambda text: (-len(text), text))
        ordered = [Argument(text, role_of[text]) for text in texts]
        if self._asks_letter:
            ordered.append(Argument(gold.lower().translate(self._without_accents), ANSWER))
        # Masking also replaces words of patterns, such as the first word "the".
        words = [(text, role) for text, role, *_ in ordered if text in self._words]
        twins = [(a.role, role_of[a.text]) for a in named if a.role != role_of[a.text]]
        return ordered, tuple(dict.fromkeys((*words, *twins)))

    def _published(self, question: Question, text: str) -> Verdict:
        """Judge by the tests of the authors' scorer, in their order."""
        answer, forms, rules = answers.published_form(text), question.forms, self._rules
        if rules.absent:
            golds = [argument for argument in question.named if argument.role == ANSWER]
            present = any(any(answers.places(answer, gold)) for gold in golds)
            if question.hidden or not present:
                return Verdict(False, True, "absent")
        bare = "".join(c for c in answer if c.isalnum() or c in " _")
        if rules.echo and bare == question.sentence:
            return Verdict(False, True, "echo")
        tokens = answers.ASCII_TOKEN.findall(answer)
        # The release ignores words of other scripts, and repetitions of a word with digits.
        candidates = answers.ASCII_WORD.findall(answer) if rules.lone == "words" else [*{*tokens}]
        # Here only the digits of a number count, and a gold answer with capitals never does.
        gold_forms = [form for form in forms if form.isdigit()] if self._numbers else forms
        is_gold = candidates == gold_forms[:1] and not question.hidden
        if rules.lone and len(candidates) == 1 and not is_gold:
            return Verdict(False, True, "lone")
        marked = answers.bracketed(answer, question.named, anywhere=self._anywhere)
        if verdict := question.patterns.whole(marked):
            return verdict
        if not tokens:
            spoken = LETTER_OR_DIGIT.search(answer) is not None
            return Verdict(spoken, spoken, "vacuous" if spoken else "empty")
        if not question.hidden and all(token in forms for token in tokens):
            return Verdict(True, True, "repeated")
        return question.patterns.inside(marked) or NOTHING

    def _corrected(self, question: Question, answer: str) -> Verdict:
        """Judge by the patterns: of all of the answer, of a line or clause, or inside it."""
        # Patterns have no quotation marks around an answer; those around its words are optional.
        answer = answer.strip('"')
        if self._numbers:
            answer = answers.whole_numbers(answer)
        masked = self._masked(question, answer)
        if verdict := _line(masked, question.patterns):
            return verdict
        lines, rule = masked.split("\n"), "line"
        if len(lines) > 1:
            pieces = [lines[0], lines[-1]]
        else:
            # The text before a reason or a remark.
            reason = self._reason.search(masked)
            pieces, rule = [masked[: reason.start()]] if reason else [], "begins"
        for piece in pieces:
            if verdict := _line(piece, question.patterns):
                return Verdict(verdict.correct, False, rule, verdict.pattern)
        # An answer that also states another answer is wrong.
        inside, text = question.patterns.inside, self._either.sub(" ", masked.replace("\n", " "))
        verdict = inside(text)
        if verdict and inside(text.translate(answers.OTHERWISE)):
            return Verdict(False, False, "both", verdict.pattern)
        texts = (argument.text for argument in question.named)
        if not verdict and self._words & compiling.words_of(texts):
            # Arguments are words of a pattern: in "L'última lletra és l" the first l is no answer.
            marked = answers.bracketed(answer, question.named, self._particles)
            verdict = self._compiled(question.difference, (), (), brackets=True).whole(marked)
        if verdict:
            return verdict
        if not LETTER_OR_DIGIT.search(answer):
            return Verdict(False, True, "empty")
        # The answer may also be part of another argument, such as a sentence.
        forms = question.forms
        if ANSWER in masked or any(answers.find_word(answer, x, self._particles) for x in forms):
            return NOTHING
        alone = len(answers.WORD.findall(answer)) == 1
        return Verdict(False, True, "lone" if alone else "absent")

    def _masked(self, question: Question, answer: str) -> str:
        """Replace arguments by roles, except articles that are spelt like the gold answer."""
        form, named = question.article, question.named
        if not form:
            return mask(answer, named, MARKS, self._particles)
        longer = [argument for argument in named if len(argument.text) > len(form)]
        shorter = [argument for argument in named if len(argument.text) <= len(form)]
        masked = mask(answer, longer, MARKS, self._particles)
        masked = answers.article_uses(form, self._follow).sub(answers.HIDDEN, masked)
        return mask(masked, shorter, MARKS, self._particles).replace(answers.HIDDEN, form)


def _line(masked: str, patterns: Compiled) -> Verdict | None:
    """Judge a line with characters of roles in place of arguments; None if nothing decides."""
    verdict = patterns.whole(masked)
    if verdict or ANSWER not in masked:
        return verdict
    remainder = masked.replace(ANSWER, "")
    if LETTER_OR_DIGIT.search(remainder) or any(role in remainder for role in answers.ANY_ROLE):
        return None
    return Verdict(True, True, "repeated")


_CLAUSE = re.compile(rf"[\n,.:;] ?((?: ?[{ANSWER}{DISTRACTOR}])+)(?=\n|$)")
"""Yes or no as the last clause of a line: "in this case, no"."""
_CATEGORY_ROLES = [role for name, role in ROLE.items() if name != "answer"]
"""Roles for the names of one category: a role for each, since two names may begin at one place."""


def category_forms(category: str, prompt: str) -> tuple[str, ...]:
    """Return the release's forms of a Basque category in answers.

    Words relate to an abstract category, whose prompts have the first of these forms.
    """
    either = category.replace(" eta ", " edo ").lower()
    stem = decline(either, "comitative_singular")
    having = ("zerikusia duten", "lotura duten", "erlazioa duten")
    being = ("lotuta dauden", "erlazionatuta dauden")
    related = tuple(f"{stem} {relation} hitzak" for relation in (*having, *being))
    return related if related[0] in prompt.lower() else (decline(either, "absolutive_plural"),)


class YesNoJudge:
    """Judge of a task whose answer is yes or no, in one language."""

    def __init__(self, declared: AnswerPatterns, task: str, variant: str) -> None:
        """Compile the patterns. Raises UserError for a faulty one."""
        self._task, self._variant = task, variant
        categories = declared.published_categories if task != ANY_WORDS else {}
        self._category_names = {name.lower(): names for name, names in categories.items()}
        self._has_cases, self._particles = bool(declared.endings), declared.particles
        yes, no, published = declared.yes_words, declared.no_words, variant == "published"
        if published:
            yes_no = declared.published_yes_no or (yes[0], no[0])
            yes, no = yes_no[:1], yes_no[1:]
        self._forms = {True: tuple(map(str.lower, yes)), False: tuple(map(str.lower, no))}
        self._yes_no_arguments: dict[bool, list[Argument]] = {}
        for gold, forms in self._forms.items():
            named = [Argument(form, ANSWER) for form in forms]
            named += [Argument(form, DISTRACTOR) for form in self._forms[not gold]]
            # The longest first, so that no form is read as the beginning of another.
            self._yes_no_arguments[gold] = sorted(named, key=lambda a: -len(a.text))
        joins = [declared.conjunction, *declared.corrected.either]
        joined = "|".join(rf"{re.escape(word)}\s" for word in joins)
        either = "|".join(re.escape(forms[0].lower()) for forms in (yes, no))
        self._both = re.compile(rf"\W*(?:{either})\W*(?:/|{joined})\W*(?:{either})\b")
        self._patterns = {}
        for gold, forms in self._forms.items():
            bare = {}
            if published:
                # The release puts yes or no into its sentences without articles or marks.
                bare["answer"] = literal(forms[0], answers.PASSED)
                bare["category"] = "|".join(map(answers.between, _CATEGORY_ROLES))
            self._patterns[gold] = Compiled(declared, task, variant, bare, brackets=published)
        self._list = re.compile(rf"{OTHER}(?:(?:[\s,]|{joined})*{OTHER})*")
        self._statements: dict[bool, Compiled] = {}
        statements = {False: declared.corrected.denied, True: declared.corrected.affirmed}
        if published:
            statements = {}
        for affirmed, by_task in statements.items():
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
        # The release looks for each name of a category, also inside longer words.
        names = (*self._category_names.get(category, ()), category)
        if category and self._has_cases:
            names = category_forms(category, prompt)
        named = []
        for name, role in zip(names, _CATEGORY_ROLES, strict=False):
            readings = answers.readings(name, role) if name else ()
            named += [argument._replace(bare=True) for argument in readings]
        return partial(self._published, gold, named)

    def _published(self, gold: bool, category: Sequence[Argument], text: str) -> Verdict:
        """Judge by the tests of the authors' scorer, in their order."""
        answer = answers.published_form(text)
        right, wrong = self._forms[gold][0], self._forms[not gold][0]
        if re.fullmatch(re.escape(wrong) + END["published"], answer):
            return Verdict(correct=False, certain=True, rule="opposite")
        if not LETTER_OR_DIGIT.search(answer):
            return Verdict(correct=False, certain=False, rule="empty")
        if re.fullmatch(re.escape(right) + END["published"], answer):
            return Verdict(correct=True, certain=True, rule="whole", pattern="{answer}")
        if not answers.ASCII_TOKEN.search(answer):
            return Verdict(correct=True, certain=True, rule="vacuous")
        if all(token == right for token in answers.ASCII_TOKEN.findall(answer)):
            return Verdict(correct=True, certain=True, rule="repeated")
        begins = answer.startswith(right) and answers.find_word(answer[: len(right) + 1], right)
        return self._by_pattern(gold, answers.bracketed(answer, category), begins)

    def _by_pattern(self, gold: bool, masked: str, begins: bool) -> Verdict:
        if verdict := self._patterns[gold].whole(masked):
            return verdict
        if begins:
            return Verdict(correct=True, certain=False, rule="begins", pattern="{answer}")
        return self._patterns[gold].inside(masked) or NOTHING

    def _corrected(self, gold: bool, named: Sequence[Argument], answer: str) -> Verdict:
        """Judge by yes or no at the start, by the patterns, or by a statement without either."""
        if not LETTER_OR_DIGIT.search(answer):
            return Verdict(correct=False, certain=True, rule="empty")
        category = named[:1] if named[0].text else []
        arguments = [*category, *self._yes_no_arguments[gold]]
        # The category and yes or no are replaced by the characters of their roles.
        masked = mask(answer, arguments, answers.CORRECTED_MARKS).strip()
        has_more = LETTER_OR_DIGIT.search(masked) is not None
        if masked.startswith(DISTRACTOR):
            return Verdict(correct=False, certain=not has_more, rule="opposite")
        if masked.startswith(ANSWER) and not has_more and DISTRACTOR not in masked:
            return Verdict(correct=True, certain=True, rule="whole", pattern="{answer}")
        if self._both.match(answer):
            return Verdict(correct=False, certain=False, rule="both")
        verdict = self._by_pattern(gold, masked.replace("\n", " "), masked.startswith(ANSWER))
        if verdict != NOTHING:
            return verdict
        # Yes or no at the end of a line.
        clauses = "".join(_CLAUSE.findall(masked)).replace(" ", "")
        if clauses and (len({*clauses}) == 1 or masked.endswith(clauses[-1])):
            right = clauses[-1] == ANSWER
            pattern = "{answer}" if right else None
            return Verdict(correct=right, certain=False, rule="line", pattern=pattern)
        # A statement without yes or no. Repeated words of the prompt's list are removed first.
        listed = (argument for argument in named if argument.text)
        text = answer.replace("\n", " ")
        text = mask(text, listed, answers.CORRECTED_MARKS, self._particles)
        text = " ".join(self._list.sub(" ", text).replace("[ ]", " ").split())
        for affirmed, patterns in self._statements.items():
            if stated := patterns.whole(text) or patterns.inside(text):
                rule = stated.rule if affirmed == gold else "opposite"
                return stated._replace(correct=affirmed == gold, rule=rule)
        return NOTHING
