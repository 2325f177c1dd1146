"""Compile a pack's patterns to sets of RE2 expressions, matched in time linear in the answer."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import re2

from blimpworks.errors import UserError
from blimpworks.papers.lmentry.judging import normalise
from blimpworks.papers.lmentry.judging.declared import AnswerPatterns, task_patterns
from blimpworks.papers.lmentry.judging.roles import (
    BRACKETS,
    CLASSES,
    INFLECTED,
    LISTED,
    PASSED,
    ROLE,
    SPACE,
    between,
    bracketed_roles,
)
from blimpworks.papers.lmentry.judging.rules import RULES_OF, Verdict

_ROLE = re.compile(r"\{(\w*)\}")
_LITERAL = r"[^\W\d_]+"
_TOKEN = re.compile(rf"\{{\w*\}}|\\.|[()|?]|{_LITERAL}(?!\?)|.", re.DOTALL)
_WORD = re.compile(_LITERAL)
END = {"published": r"\.?", "corrected": r"[.!。]*"}
MARKS = {"published": normalise.PUBLISHED_MARKS, "corrected": normalise.CORRECTED_MARKS}
NOTHING = Verdict(False, False, "none")
Roles = Mapping[str, str]
"""Expressions by role; ``=word``: of a word that is an argument too; ``~``: of what may follow each
character."""
_TOUCHED = re.compile(r"[\"'.,]\{\w+\}|\{\w+\}[\"'.,]")
GAP = r"[^\pL\pN]"
ANY_CHARACTER = {"published": rf"[^\n{BRACKETS}]", "corrected": r"[. ]"}
"""Meaning of a full stop in a pattern of the release, and the intended one."""
NEVER = r"[^\x00-\x{10FFFF}]"
"""Expression that never matches."""


class Pattern(NamedTuple):
    """An expression and its text in the pack."""

    source: str
    expression: str
    rule: str = "pattern"
    """Name of a verdict by it."""


def introduced(article: str, expression: str, words: Roles | None = None) -> str:
    """Return a role's expression with its introduction: ``article`` has ``{}`` for the role."""
    return "(?:" + _translate(article, {**(words or {}), "": expression}) + ")"


def words_of(patterns: Iterable[str]) -> frozenset[str]:
    """Return the words in patterns."""
    return frozenset(
        word for pattern in patterns for word in _WORD.findall(_ROLE.sub(" ", pattern))
    )


def role_expressions(
    texts: Mapping[str, str],
    kinds: Mapping[str, str],
    articles: Mapping[str, str],
    endings: Mapping[str, str] | None,
    words: Roles,
) -> dict[str, str]:
    """Return the expression of each role of a task, with its article.

    ``texts``: expressions of the roles alone. ``kinds``: roles that are a letter, number or
    sentence; others are words. ``endings``: patterns of case endings; None if declined arguments
    have their own texts. ``words``: expressions of pattern words that are arguments too.
    """
    expressions = {
        name: introduced(articles.get(kinds.get(name, "word"), "{}"), text, words)
        for name, text in texts.items()
    }
    if endings is not None:
        for name, (base, case) in INFLECTED.items():
            expressions[name] = expressions[base] + _translate(f"({endings.get(case, '')})", words)
    return expressions


def masked_expressions(declared: AnswerPatterns, kinds: Mapping[str, str], words: Roles) -> Roles:
    """Return the expression of each role, for answers with roles in place of arguments."""
    texts = {
        name: words.get(f"={text}", text)
        for name, text in (ROLE | CLASSES).items()
        if name != "other"
    }
    conjunction = declared.conjunction
    joined = words.get(f"={conjunction}", re.escape(conjunction))
    named = f"[{ROLE['answer']}{ROLE['other']}]"
    return {
        **role_expressions(texts, kinds, declared.article, declared.endings, words),
        "words": f"{GAP}*(?:{named}{GAP}*(?:{joined}{GAP}+)?)+",
        "any": ANY_CHARACTER["corrected"],
        **words,
    }


def bracketed_expressions(
    articles: Mapping[str, str],
    kinds: Mapping[str, str],
    conjunction: str,
    marks: str,
    *,
    once: bool = False,
    endings: Mapping[str, str] | None = None,
) -> Roles:
    """Return the expression of each role, for answers with arguments between brackets.

    ``marks`` may surround them, at most one with ``once``. ``endings``: those of corrected
    verdicts.
    """
    passed = {"~": PASSED}
    joined = f"(?:{_translate(conjunction, passed)}{SPACE}+)?"
    if endings is None:
        *word_expressions, last = [f"{between(ROLE[name])}{PASSED}{SPACE}+" for name in LISTED]
        listed = "".join([f"{PASSED}{SPACE}*", *word_expressions, joined, last])
    else:
        named = f"(?:{between(ROLE['answer'])}|{between(ROLE['other'])})"
        listed = f"{PASSED}{SPACE}*(?:{named}{PASSED}{SPACE}+{joined})+"
    return {
        **role_expressions(bracketed_roles(marks, once=once), kinds, articles, endings, passed),
        "words": listed,
        "any": ANY_CHARACTER["published" if endings is None else "corrected"] + PASSED,
        **passed,
    }


def counts_of(
    true: int,
    numerals: Sequence[str],
    written: Sequence[str] | None = None,
    wrong: Sequence[str] = (),
) -> dict[str, str]:
    """Return expressions of numbers by role.

    n is ``true``, w ``true`` in words, m any other number, d another one in digits. ``numerals``
    [numbers from one]: words for each, separated by ``|``. ``written``: other words for ``true``,
    which make all ``numerals`` wrong. ``wrong``: words that are never right.
    """
    named = [[re2.escape(word) for word in numeral.split("|")] for numeral in numerals]
    right = named[true - 1] if 0 < true <= len(named) else []
    if written is not None:
        right = [re2.escape(word) for word in written]
    wrong_forms = [word for number_forms in named for word in number_forms if word not in right]
    wrong_forms += [re2.escape(word) for word in wrong]
    # All other numbers in digits, by where they part from the right one.
    digits = str(true)
    longer = [rf"{digits[:i]}[^\D{digits[i]}]\d*" for i in range(len(digits))]
    shorter = [digits[:i] for i in range(1, len(digits))]
    in_digits = [*longer, *shorter, rf"{digits}\d+"]
    return {
        "n": f"(?:{'|'.join([digits, *right])})",
        "m": f"(?:{'|'.join([*in_digits, *wrong_forms])})",
        "d": f"(?:{'|'.join(in_digits)})",
        "w": f"(?:{'|'.join(right or [NEVER])})",
    }


def _translate(pattern: str, roles: Roles) -> str:
    fragments, passed = [], roles.get("~", "")
    for token in _TOKEN.findall(pattern):
        role = _ROLE.fullmatch(token)
        if token == r"\s":
            fragments.append(rf"[\s{BRACKETS}]+" if passed else " ")
        elif token == r"\w":
            fragments.append(rf"[\pL\pN{BRACKETS}]+")
        elif role:
            fragments.append(roles[role[1]])
        elif token in "()|?":
            fragments.append("(?:" if token == "(" else token)
        else:
            plain = token.removeprefix("\\")
            fragments.append(roles.get(f"={plain}") or literal(plain, passed))
    return "".join(fragments)


def literal(text: str, passed: str) -> str:
    """Return the expression of a text, with ``passed`` after each character."""
    if not passed:
        return str(re2.escape(text))
    return "".join(f"(?:{re2.escape(character)}{passed})" for character in text)


def expression_of(pattern: str, roles: Roles) -> str:
    """Return a pattern as an RE2 expression. Raises UserError with a faulty one."""
    unknown = [name for name in _ROLE.findall(pattern) if name not in roles]
    if unknown:
        role_names = ", ".join(sorted(role for role in roles if role.isalnum()))
        raise UserError(
            f"pattern {pattern!r} has the role {{{unknown[0]}}}; expected one of {role_names}."
        )
    if "~" not in roles and _TOUCHED.search(pattern):
        raise UserError(
            f"pattern {pattern!r} has a mark (\"'.,) beside a role, which never matches: marks "
            "there are taken off answers; leave it out."
        )
    expression = _translate(pattern, roles)
    try:
        re2.compile(expression)
    except re2.error as error:
        raise UserError(f"pattern {pattern!r} cannot be read ({error}); correct it.") from error
    return expression


class PatternSet:
    """Patterns that are matched together."""

    def __init__(self, patterns: Iterable[Pattern], *, whole: bool, end: str = r"\.?") -> None:
        """Compile patterns for whole answers, followed by ``end``, or for any part of an answer."""
        self._patterns = list(patterns)
        self._whole = whole
        if not self._patterns:
            return
        options = re2.Options()
        options.max_mem = 1 << 26
        make = re2.Set.FullMatchSet if whole else re2.Set.SearchSet
        self._set = make(options)
        for pattern in self._patterns:
            self._set.Add(f"(?:{pattern.expression}){end}" if whole else pattern.expression)
        self._set.Compile()

    def first(self, text: str) -> Pattern | None:
        """Return the first pattern that fits, or None."""
        matches = self._set.Match(text) if self._patterns else None
        return self._patterns[min(matches)] if matches else None


class Compiled:
    """Compiled patterns of a task."""

    def __init__(
        self,
        declared: AnswerPatterns,
        task: str,
        variant: str,
        counts: dict[str, str],
        arguments: Sequence[tuple[str, str]] = (),
        *,
        brackets: bool,
    ) -> None:
        """``counts``: expressions of the roles n and m, right and wrong numbers.

        ``arguments``: corrected: those that are pattern words too, with their role; published:
        changed roles, each with the exchanged text. ``brackets``: answers have arguments between
        brackets rather than roles. Raises UserError with a faulty pattern.
        """
        rules, published = RULES_OF[task], variant == "published"
        if published and not rules.inside:
            declared = declared.model_copy(update={"shared": ()})
        patterns = task_patterns(declared, task, variant, arguments if published else ())
        sentences = [sentence for f in patterns.accept for sentence in (f.pattern, *f.after)]
        self.followers = normalise.followers([*patterns.exact, *patterns.reject, *sentences])
        before = [sentence for framed in patterns.accept for sentence in framed.before]
        self.words = words_of(
            (
                *patterns.exact,
                *patterns.reject,
                *sentences,
                *before,
                *declared.article.values(),
                declared.conjunction,
            )
        )
        if brackets:
            roles, alone, wrong = _bracketed(declared, task, rules.kinds, variant, counts)
        else:
            # In answers the role stands for the word there too ("the first word is *the*"), or for
            # another role with the same text.
            argument_expressions = {
                f"={text}": f"(?:{re2.escape(text)}|{role})" for text, role in arguments
            }
            roles = {**masked_expressions(declared, rules.kinds, argument_expressions), **counts}
            alone = wrong = roles
        whole_answers = []
        for pattern in patterns.reject:
            if "{m}" in pattern or "{d}" in pattern:
                # A wrong difference is wrong whatever follows.
                compiled = _compiled(pattern, wrong, "reject")
                whole_answers.append(compiled._replace(expression=compiled.expression + r"(?s:.*)"))
            else:
                whole_answers.append(_compiled(pattern, roles, "reject"))
        # What is a sentence of the release too has the marks that its sentences have.
        marked = {framed.pattern for framed in patterns.accept} if published else set()
        exact = [pattern for pattern in ("{answer}", *patterns.exact) if pattern not in marked]
        whole_answers += [_compiled(pattern, alone, "whole") for pattern in exact]
        accept = []
        for framed in patterns.accept:
            compiled = _compiled(framed.pattern, roles)
            start, end = (
                f"(?:{'|'.join(_compiled(text, roles).expression for text in texts)})?"
                if texts
                else ""
                for texts in (framed.before, framed.after)
            )
            accept.append(compiled._replace(expression=f"{start}(?:{compiled.expression}){end}"))
        self._either = normalise.either_of(declared.corrected.either)
        self._whole = PatternSet([*whole_answers, *accept], whole=True, end=END[variant])
        self._inside = PatternSet(accept if rules.inside else [], whole=False)

    def whole(self, masked: str) -> Verdict | None:
        """Return a verdict by a pattern that fits the whole answer."""
        match = self._whole.first(masked)
        if match is None:
            return None
        return Verdict(match.rule != "reject", True, match.rule, match.source)

    def inside(self, masked: str) -> Verdict | None:
        """Return a verdict by a pattern that fits a part of the answer."""
        match = self._inside.first(masked)
        return Verdict(True, False, "inside", match.source) if match else None

    def unopposed(self, masked: str) -> Verdict | None:
        """Return a verdict by a pattern inside; wrong if the text also gives another answer."""
        text = self._either.sub(" ", masked)
        verdict = self.inside(text)
        if verdict and self.inside(text.translate(normalise.OTHERWISE)):
            return Verdict(False, False, "both", verdict.pattern)
        return verdict


def _compiled(pattern: str, roles: Roles, rule: str = "pattern") -> Pattern:
    return Pattern(pattern, roles.get("~", "") + expression_of(pattern, roles), rule)


def _bracketed(
    declared: AnswerPatterns, task: str, kinds: Mapping[str, str], variant: str, counts: Roles
) -> tuple[Roles, Roles, Roles]:
    """Return expressions of bracketed roles: in sentences, alone, and in wrong differences."""
    marks, articles = MARKS[variant], declared.article
    expressions = partial(bracketed_expressions, kinds=kinds, conjunction=declared.conjunction)
    numbers = {
        name: "(?:" + expression.replace("\\ ", f"{PASSED}\\ {PASSED}") + ")" + PASSED
        for name, expression in counts.items()
    }
    if variant == "corrected":
        roles = {**expressions(articles, marks=marks, endings=declared.endings), **numbers}
        return roles, roles, roles
    some = declared.published_marks.get(task, marks)
    once = task in declared.published_unbounded
    inside = {} if once else articles
    # It looks for wrong differences in lower case, for articles with a capital.
    uncased = {bracket_kind: x for bracket_kind, x in inside.items() if x.upper() == x}
    return (
        {**expressions(inside, marks=some, once=once), **numbers},
        {**expressions(articles, marks=marks), **numbers},
        {**expressions(uncased, marks=some, once=once), **numbers},
    )
