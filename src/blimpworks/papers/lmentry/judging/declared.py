"""What a language pack declares of right and wrong answers, and the patterns of a task from it.

Source: Moroni, Aula-Blasco, Conia and others (2025), section 3.3.

A pattern is text in lower case with roles in braces (``{answer}``), groups ``(a|b)``, and ``?``
behind what may be left out. Nothing in it can repeat. ``<slot>`` stands for the words that tell a
task from its opposite. Marks around a role ("'., and others) are no part of a pattern: answers
may have them or not.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, NamedTuple, Self

from pydantic import Field, model_validator

from blimpworks.papers.lmentry.judging.roles import INFLECTED
from blimpworks.papers.lmentry.tasks import TASKS
from blimpworks.strict import Strict

Patterns = tuple[str, ...]
Roles = Annotated[tuple[str, ...], Field(min_length=2, max_length=2)]


_SLOT = re.compile(r"<(\w+)>")


def _check_tasks(tasks: Iterable[str]) -> None:
    unknown = [task for task in tasks if task not in TASKS]
    if unknown:
        raise ValueError(f"task {unknown[0]!r} is unknown; expected one of {', '.join(TASKS)}")


class Family(Strict):
    """Patterns of one task, or of some that differ in a few words."""

    tasks: Annotated[tuple[str, ...], Field(min_length=1)]
    """The tasks; with ``swap`` or ``slots`` the second is the first's opposite."""
    slots: dict[str, tuple[str, ...]] = Field(default={})
    """Words that stand for each ``<slot>``, one for each task."""
    exact: Patterns = ()
    """Whole answers that are right beside the bare answer ("{answer} does")."""
    accept: Patterns = ()
    """Sentences that are right: certainly as a whole answer, uncertainly inside one."""
    corrected: Patterns = ()
    """Further right sentences that the release's rules do not know."""
    published: Patterns = ()
    """Further sentences that only the release's rules accept: wrong, garbled or of another
    language."""
    swap: Roles | None = None
    """Two roles: exchanged, and with the other task's words, a pattern says the same."""
    never: tuple[str, ...] = ()
    """Slots whose patterns the release means to exchange so, but does not."""
    rewrites: dict[str, dict[str, str]] = Field(default={})
    """By task, what the release exchanges for what to make the converse of a pattern, one after the
    other, inside arguments too: "además" becomes "ademenos". In brackets: not inside them."""
    converse: bool = False
    """Whether these patterns are such converses of another family's."""
    same: Roles | None = None
    """Two roles that may be exchanged with no other change ("X rhymes with Y")."""
    reject: Patterns = ()
    """Whole answers that are wrong for certain; ``swap`` exchanges their roles no further."""
    published_reject: Patterns = ()
    """Further answers that only the release rejects."""
    corrected_reject: Patterns = ()
    """Further wrong answers that the release's rules do not know."""
    before: Patterns = ()
    """What may stand before a pattern ("of the words {word1} and {word2} ")."""
    after: Patterns = ()
    """What may stand behind one (" in alphabetical order")."""

    def _patterns(self) -> Patterns:
        """All patterns of the family, and what may stand before and behind them."""
        right = self.exact + self.accept + self.corrected + self.published
        wrong = self.reject + self.published_reject + self.corrected_reject
        return right + wrong + self.before + self.after

    @model_validator(mode="after")
    def _known(self) -> Self:
        _check_tasks(self.tasks)
        used = dict.fromkeys(_SLOT.findall(" ".join(self._patterns())))
        lacking = [name for name in used if name not in self.slots]
        if lacking:
            raise ValueError(
                f"patterns of {', '.join(self.tasks)} have the slot <{lacking[0]}>, which slots "
                f"lacks; add {lacking[0]} to slots, with one value for each task"
            )
        return self

    @model_validator(mode="after")
    def _slots_for_all(self) -> Self:
        short = [name for name, words in self.slots.items() if len(words) != len(self.tasks)]
        if short:
            raise ValueError(
                f"slots {', '.join(short)} need one value for each of the {len(self.tasks)} tasks"
            )
        return self


class PublishedWords(Strict):
    """What the release has in the place of a language's own, such as English in German scorers."""

    shared: Patterns | None = None
    article: dict[str, str] | None = None
    conjunction: str | None = None


class CorrectedWords(Strict):
    """What corrected verdicts alone know."""

    shared: Patterns = ()
    """Further sentences that are right in all tasks."""
    article: dict[str, str] = Field(default={})
    """How arguments of some kinds may be introduced, in the place of ``article``."""
    reasons: Patterns = ()
    """Words with which a reason begins, behind an answer ("because")."""
    either: Patterns = ()
    """Words between two answers of which none is given ("or")."""
    affirmed: dict[str, Patterns] = Field(default={})
    """Statements that say yes without the word, by task ("the list contains {category}"): the list
    of the prompt is no part of them."""
    denied: dict[str, Patterns] = Field(default={})
    """Statements that say no; they are looked for first ("not all the words are {category}")."""


class AnswerPatterns(Strict):
    """How answers are judged in one language."""

    shared: Patterns
    """Patterns of all tasks that accept sentences, with ``{answer}`` ("the answer is {answer}")."""
    article: dict[str, str]
    """How an argument may be introduced, by its kind (word, letter, number, sentence): a pattern
    with ``{}`` in its place ("(the word )?{}")."""
    families: tuple[Family, ...]
    """Patterns of tasks; a task may be in several."""
    conjunction: str = "and"
    """Word before the last of a list."""
    numerals: Patterns = ()
    """Words for the numbers from one, in order: how an answer may say a difference."""
    number_words: str | None = None
    """Language of num2words for numbers in words, or eu (Basque, and eu-release as the release
    spells it); None where it has none."""
    published_number_words: str | None = None
    """The one that the release's rules take, where it is another: none of ``numerals`` is then a
    right difference there."""
    wrong_numerals: Patterns = ()
    """Further numbers in words that are wrong differences ("zero")."""
    single: str = ""
    """Letters that are words by themselves ("ai")."""
    published_single: dict[str, str] = Field(default={})
    """Letters that are words by themselves in the release's rules, by task, where they differ."""
    accents: str = ""
    """Letters that count as the plain ones in corrected verdicts ("áéíóúü"; not "ñ")."""
    particles: Patterns = ()
    """Endings that an argument may have in an answer (Korean particles, Basque cases), which
    patterns have behind roles; corrected verdicts alone know them."""
    yes_words: Annotated[Patterns, Field(min_length=1)]
    """Answers that mean yes; the first is the one that prompts offer."""
    no_words: Annotated[Patterns, Field(min_length=1)]
    """Answers that mean no."""
    published: PublishedWords = PublishedWords()
    """What published verdicts have in the place of what is above."""
    corrected: CorrectedWords = CorrectedWords()
    """Words and sentences that corrected verdicts know beside what is above."""
    published_yes_no: Roles | None = None
    """Yes and no of the release's rules, where they are not the first of those."""
    published_categories: dict[str, Patterns] = Field(default={})
    """Other names of categories that the release's sentences on all words may have."""
    published_twice: bool = False
    """Whether the release's rule for words with a letter wants the letter twice."""
    published_marks: dict[str, str] = Field(default={})
    """Marks that an argument may have in the release's sentences, by task, where they are fewer."""
    published_unbounded: tuple[str, ...] = ()
    """Tasks in whose sentences the release finds an argument inside longer words too, each of
    ``published_marks`` at most once on either side, and nothing that introduces it."""
    endings: dict[str, str] = Field(default={})
    """Patterns of the endings of each case, which corrected verdicts take for an argument in that
    case (``{query_genitive}``); published verdicts decline the argument as the release does."""
    published_anywhere: bool = False
    """Whether the release takes a sentence whose last word is asked for with that word anywhere
    behind another, and finds the word inside longer ones."""
    published_scorers: dict[str, str] = Field(default={})
    """Tasks that the release scores with the patterns of another language, by that language's ISO
    639-3 code: published verdicts take the pack that stands beside this one."""
    lent: dict[str, "AnswerPatterns"] = Field(default={}, exclude=True)
    """Patterns of the packs named in ``published_scorers``, by language; set by ``read_pack``."""
    copulas: Patterns = ()
    """Words for "is" that are written on to another word (Korean 입니다); of a word's letters
    they are none, in corrected verdicts."""
    asks: dict[str, str] = Field(default={})
    """Published templates that ask for another task than theirs, by task and number
    (``any_words_from_category.2``): corrected verdicts are on what they ask."""

    @model_validator(mode="after")
    def _asks_of_tasks(self) -> Self:
        _check_tasks([key.rpartition(".")[0] for key in self.asks])
        _check_tasks(self.asks.values())
        _check_tasks(self.published_scorers)
        return self

    def of(self, variant: str) -> Self:
        """The patterns by which a variant of the rules, published or corrected, judges."""
        if variant != "published":
            more = self.corrected
            both = {"shared": self.shared + more.shared, "article": self.article | more.article}
            return self.model_copy(update=both)
        return self.model_copy(update=self.published.model_dump(exclude_none=True))

    def scoring(self, task: str, variant: str) -> "AnswerPatterns":
        """The patterns by which a variant of the rules judges ``task``.

        They are another language's, where the release takes those.
        """
        lender = self.published_scorers.get(task) if variant == "published" else None
        return (self.lent[lender] if lender else self).of(variant)


# Patterns of a task


_ROLE = re.compile(r"\{(\w+)\}")
UNSHARED = ("rhyming_word", "homophones")
"""Tasks in which the release doesn't accept the sentences of all tasks."""
Changed = Sequence[tuple[str, str]]
"""Roles whose argument has what the release exchanges, each with that."""
TWINS = ("distractor", "query")
"""Roles that are changed where the two are one word."""


class Framed(NamedTuple):
    """A sentence that is right, and what may stand before and behind it."""

    pattern: str
    before: Patterns = ()
    after: Patterns = ()


class TaskPatterns(NamedTuple):
    """All patterns of one task, slots filled and exchanges made; roles still stand in braces."""

    exact: tuple[str, ...]
    accept: tuple[Framed, ...]
    reject: tuple[str, ...]


def exchange(pattern: str, roles: Sequence[str]) -> str:
    """Return ``pattern`` with two roles in each other's place, whatever case they are in."""
    other = dict(zip(roles, reversed(roles), strict=True))
    for name, (base, case) in INFLECTED.items():
        if base in roles:
            other[name] = f"{other[base]}_{case}"
    return _ROLE.sub(lambda match: "{" + other.get(match[1], match[1]) + "}", pattern)


def fill(pattern: str, family: Family, number: int) -> str:
    """Return ``pattern`` with the slots' words for the task with a number in the family."""
    return _SLOT.sub(lambda match: family.slots[match[1]][number], pattern)


def rewrites_of(declared: AnswerPatterns, task: str) -> dict[str, str]:
    """Return what the release exchanges inside arguments too, where it makes converses."""
    rewrites: dict[str, str] = {}
    for family in declared.families:
        rewrites |= family.rewrites.get(task, {})
    return rewrites


def task_patterns(
    declared: AnswerPatterns, task: str, variant: str, changed: Changed = ()
) -> TaskPatterns:
    """Return the patterns of ``task`` in a variant, published or corrected, of all its families.

    ``changed``: roles of arguments that the release changes on the way, in published ones.
    Corrected verdicts also reject what says the contrary in any of the accepted forms.
    """
    families = [(f, f.tasks.index(task)) for f in declared.families if task in f.tasks]
    exact: list[str] = []
    accept: list[Framed] = []
    reject: list[str] = []
    frames: list[tuple[Patterns, Patterns]] = []
    for family, number in families:
        for pattern in family.exact:
            filled = fill(pattern, family, number)
            exact.append(filled)
            if family.same:
                twin = exchange(filled, family.same)
                # The release exchanges texts: a distractor that is the query becomes the answer.
                exact.append(twin.replace("{distractor}", "{answer}") if TWINS in changed else twin)
        before = tuple(fill(pattern, family, number) for pattern in family.before)
        after = tuple(fill(pattern, family, number) for pattern in family.after)
        frames.append((before, after))
        accepted = _accepted(family, number, variant, changed)
        accept += (Framed(pattern, before, after) for pattern in accepted)
        published = variant == "published"
        contrary = family.reject + (
            family.published_reject if published else family.corrected_reject
        )
        reject += (fill(pattern, family, number) for pattern in contrary)
        if not published and family.swap:
            for pattern in family.accept + family.corrected:
                if _SLOT.search(pattern):
                    reject.append(fill(exchange(pattern, family.swap), family, number))
                    reject.append(fill(pattern, family, 1 - number))
    if variant == "corrected" or task not in UNSHARED:
        before, after = frames[0] if frames else ((), ())
        accept += (Framed(pattern, before, after) for pattern in declared.shared)
    return TaskPatterns(
        tuple(dict.fromkeys(exact)), tuple(dict.fromkeys(accept)), tuple(dict.fromkeys(reject))
    )


def _accepted(family: Family, number: int, variant: str, changed: Changed) -> Iterator[str]:
    """Yield the sentences of a family that are right, with their converses."""
    published, swap = variant == "published", family.swap or ()
    if changed and family.converse:
        return
    if changed and family.tasks[number] in family.rewrites:
        sentences = family.accept + family.published
        rewritten = [fill(pattern, family, number) for pattern in sentences]
        # Converses as the release makes them, where arguments change on the way.
        for old, new in family.rewrites[family.tasks[number]].items():
            text = old.strip("()")
            roles = [f"{{{role}}}" for role, exchanged in changed if exchanged == old]
            for pattern in tuple(rewritten):
                if text in pattern or any(role in pattern for role in roles):
                    converse = exchange(pattern, swap).replace(text, new)
                    for role in roles:
                        converse = converse.replace(role, role[:-1] + "_rewritten}")
                    rewritten.append(converse)
        yield from rewritten
        return
    for pattern in family.accept + (family.published if published else family.corrected):
        filled = fill(pattern, family, number)
        yield filled
        slots = {*_SLOT.findall(pattern)}
        if slots and swap and not (published and slots & {*family.never}):
            # The converse says the same in the words of the opposite task.
            yield fill(exchange(pattern, swap), family, 1 - number)
        if family.same:
            yield exchange(filled, family.same)
