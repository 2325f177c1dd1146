"""Judge answers that name a word, letter or number (Moroni and others 2025, section 3.3)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from num2words import num2words

from blimpworks.papers.lmentry.items.languages import SPELLED, Case, decline
from blimpworks.papers.lmentry.judging import compiling, normalise, roles
from blimpworks.papers.lmentry.judging.compiling import NOTHING, Compiled
from blimpworks.papers.lmentry.judging.declared import (
    RULES_OF,
    TWINS,
    AnswerPatterns,
    Ask,
    Changed,
    Verdict,
    task_patterns,
)
from blimpworks.papers.lmentry.judging.roles import INFLECTED, ROLE, Argument, Arguments, mask

ANSWER = ROLE["answer"]
COUNTED = ("more_letters", "less_letters")
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
    """Return a number in digits, and in lower-case words with and without hyphens."""
    digits = str(number)
    if language is None:
        return (digits,)
    speller = SPELLED.get(language)
    spelled_number = speller(number) if speller else str(num2words(number, lang=language)).lower()
    return tuple(dict.fromkeys((digits, spelled_number, spelled_number.replace("-", " "))))


def arguments_of(arguments: Arguments, variant: str) -> list[Argument]:
    """List the arguments to look for in answers to prompts without numbers."""
    published = variant == "published"
    lower = str.lower if published else normalise.corrected
    named: list[Argument] = []
    for name in ("answer", "distractor", "query", "word", "category", "sentence"):
        if arguments.get(name):
            text, role = lower(str(arguments[name])), ROLE[name]
            named += roles.readings(text, role) if published else [Argument(text, role)]
    # Words of a list beside the answer; published, all in their order.
    listed = arguments.get("distractors", arguments.get("words", ()))
    word_roles = [ROLE["other"]] * len(listed)
    if published:
        if "category" in arguments and "answer_index" in arguments:
            index = int(arguments["answer_index"])
            listed = [*listed[:index], arguments["answer"], *listed[index:]]
        word_roles = [ROLE[name] for name in roles.LISTED]
    pairs = zip(listed, word_roles, strict=False)
    named += (Argument(lower(str(word)), role) for word, role in pairs)
    # A question mark lets the release leave out the one letter that stands before it.
    return [argument for argument in named if argument.text or published]


def inflected(arguments: Arguments, prompt: str) -> list[Argument]:
    """Return declined arguments; the prompt's form shows whether words belong to the category."""
    inflections: list[Argument] = []
    for role, (name, case) in INFLECTED.items():
        text = str(arguments.get(name, "")).lower()
        if not text:
            continue
        if name == "category":
            abstract, usual = _CATEGORY_CASES[case]
            named = decline(str(arguments[name]), "absolutive_singular")
            chosen = abstract if f'"{named}"' in prompt else usual
        else:
            chosen = _WORD_CASES[case]
        inflections += roles.readings(decline(text, chosen), ROLE[role])
    return inflections


def exchanged(named: list[Argument], rewrites: dict[str, str]) -> tuple[Changed, list[Argument]]:
    """Return roles and their texts that the release exchanges in converses, and the results."""
    found = [
        (role, old, argument.text.replace(old, form))
        for old, new in rewrites.items()
        for form in new.strip("()").split("|")
        for role in ("answer", "distractor")
        for argument in named
        if argument.role == ROLE[role] and old in argument.text
    ]
    changed = dict.fromkeys((role, old) for role, old, _ in found)
    return tuple(changed), [Argument(text, ROLE[f"{role}_rewritten"]) for role, _, text in found]


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
        self._rules, self._variant, published = RULES_OF[task], variant, variant == "published"
        self._marks, self._particles = compiling.MARKS[variant], declared.particles
        self._language, wrong = declared.number_words, declared.wrong_numerals
        if published:
            self._marks, self._particles = declared.published_marks.get(task, self._marks), ()
            self._language = declared.published_number_words or self._language
        else:
            numerals = "|".join(declared.numerals).split("|")
            wrong = tuple(word for word in wrong if word not in numerals)
        self._numbers = "number" in self._rules.kinds.values()
        self._anywhere = published and task in declared.published_unbounded
        self._letter = self._rules.kinds.get("answer") == "letter" and not published
        self._plain = normalise.plain_letters(declared.accents)
        self._counted = task in COUNTED

        @lru_cache(maxsize=512)
        def compiled(number: int, special: Changed, *, brackets: bool) -> Compiled:
            written = None
            if self._language != declared.number_words:
                written = number_forms(number, self._language)[1:]
            counts = compiling.counts_of(number, declared.numerals, written, wrong)
            return Compiled(declared, task, variant, counts, special, brackets=brackets)

        self._compiled = compiled
        usual = compiled(1, (), brackets=published)
        self._words = usual.words
        self._articles = self._words | frozenset(declared.single if self._letter else "")
        self._rewrites: dict[str, str] = {}
        for family in declared.families:
            self._rewrites |= family.rewrites.get(task, {})
        exact = task_patterns(declared, task, variant).exact
        self._answers = {ROLE[name] for name in INFLECTED if f"{{{name}}}" in exact} | {ANSWER}
        reasons = declared.corrected.reasons
        # The start of a reason, a bracketed remark or a remark after a dash.
        self._reason = re.compile(rf" ?[(–—]| - |[,;]?\s(?:{normalise.any_of(reasons)})\b")
        # Two arguments joined by "or".
        named, joined = f"[{normalise.ANSWERS}]", normalise.any_of(declared.corrected.either)
        self._either = re.compile(rf"{named}\s*(?:{joined})\s(?:\w+ ){{0,2}}?{named}")
        # Words that may follow the gold answer.
        self._follow = usual.followers | {declared.conjunction, *reasons}

    def ask(self, arguments: Arguments, prompt: str) -> Ask:
        """Return the function that judges answers to a prompt."""
        gold, published = str(arguments["answer"]), self._variant == "published"
        if self._numbers:
            named = [
                Argument(form, ROLE[name])
                for name in ("answer", "distractor")
                for form in number_forms(int(arguments[name]), self._language)
            ]
        else:
            named = arguments_of(arguments, self._variant)
        if published:
            if self._anywhere:
                named += inflected(arguments, prompt)
            special, results = exchanged(named, self._rewrites)
            named += results
            if arguments.get("distractor") == arguments.get("query", ""):
                special = (*special, TWINS)
        else:
            # The longest first; of equal texts the first role.
            role_of = {argument.text: argument.role for argument in reversed(named)}
            texts = sorted(role_of, key=lambda text: (-len(text), text))
            ordered = [Argument(text, role_of[text]) for text in texts]
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
            self._compiled(difference, special, brackets=published),
            next(iter(articles), ""),
            difference,
        )
        return partial(self._published if published else self._corrected, question)

    def _published(self, question: Question, text: str) -> Verdict:
        answer, forms, rules = normalise.published(text), question.forms, self._rules
        if rules.absent:
            golds = [argument for argument in question.named if argument.role == ANSWER]
            if question.hidden or not any(any(roles.places(answer, gold)) for gold in golds):
                return Verdict(False, True, "absent")
        bare = "".join(c for c in answer if c.isalnum() or c in " _") if rules.echo else None
        if bare == question.sentence:
            return Verdict(False, True, "echo")
        tokens = normalise.ASCII_TOKEN.findall(answer)
        # The release ignores words of other scripts, and a repeated word with digits.
        found = normalise.ASCII_WORD.findall(answer) if rules.lone == "words" else [*{*tokens}]
        # A number in words differs from its digits, a word with capitals from any.
        written = next(filter(str.isdigit, forms) if self._numbers else iter(forms), "")
        if rules.lone and len(found) == 1 and (question.hidden or found != [written]):
            return Verdict(False, True, "lone")
        marked = roles.bracketed(answer, question.named, anywhere=self._anywhere)
        if verdict := question.patterns.whole(marked):
            return verdict
        if not tokens:
            spoken = normalise.LETTER_OR_DIGIT.search(answer) is not None
            return Verdict(spoken, spoken, "vacuous" if spoken else "empty")
        if not question.hidden and all(token in forms for token in tokens):
            return Verdict(True, True, "repeated")
        return question.patterns.inside(marked) or NOTHING

    def _corrected(self, question: Question, answer: str) -> Verdict:
        # Quotation marks around an answer say nothing; those around its words are optional.
        answer = answer.strip('"')
        if self._numbers:
            answer = normalise.whole_numbers(answer)
        masked = self._masked(question, answer)
        if verdict := _line(masked, question.patterns):
            return verdict
        lines, rule = masked.split("\n"), "line"
        if len(lines) > 1:
            pieces = [lines[0], lines[-1]]
        else:
            # What stands before a reason or a remark is judged.
            begins = self._reason.search(masked)
            pieces, rule = [masked[: begins.start()]] if begins else [], "begins"
        for piece in pieces:
            if verdict := _line(piece, question.patterns):
                return Verdict(verdict.correct, False, rule, verdict.pattern)
        # Wrong if the text also gives another answer.
        inside, text = question.patterns.inside, self._either.sub(" ", masked.replace("\n", " "))
        verdict = inside(text)
        if verdict and inside(text.translate(normalise.OTHERWISE)):
            return Verdict(False, False, "both", verdict.pattern)
        named = (argument.text for argument in question.named)
        if not verdict and self._words & compiling.words_of(named):
            # Words of a pattern are arguments: in "L'última lletra és l" the first l is no answer.
            marked = roles.bracketed(answer, question.named, self._particles)
            verdict = self._compiled(question.difference, (), brackets=True).whole(marked)
        if verdict:
            return verdict
        if not normalise.LETTER_OR_DIGIT.search(answer):
            return Verdict(False, True, "empty")
        # Another role, such as a sentence, may contain the answer too.
        forms = question.forms
        if ANSWER in masked or any(roles.find_word(answer, x, self._particles) for x in forms):
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
        masked = normalise.article_uses(form, self._follow).sub(roles.HIDDEN, masked)
        return mask(masked, shorter, self._marks, self._particles).replace(roles.HIDDEN, form)


def _line(masked: str, patterns: Compiled) -> Verdict | None:
    verdict = patterns.whole(masked)
    if verdict or ANSWER not in masked:
        return verdict
    without = masked.replace(ANSWER, "")
    speaks = normalise.LETTER_OR_DIGIT.search(without) or any(x in without for x in roles.ANY_ROLE)
    return None if speaks else Verdict(True, True, "repeated")
