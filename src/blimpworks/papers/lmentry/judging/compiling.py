"""From patterns of a language pack to sets of expressions, compiled once.

RE2 matches in time proportional to the answer's length, whatever the expressions and the answer
are, and says which of a set of expressions fits.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import re2

from blimpworks.errors import UserError
from blimpworks.papers.lmentry.judging import normalise
from blimpworks.papers.lmentry.judging.declared import AnswerPatterns
from blimpworks.papers.lmentry.judging.families import Framed, TaskPatterns, task_patterns
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
"""Expressions of roles; those of words that are arguments too, by ``=`` and the word; and, by
``~``, that of what may stand behind each character."""
_TOUCHED = re.compile(r"[\"'.,]\{\w+\}|\{\w+\}[\"'.,]")
GAP = r"[^\pL\pN]"
ANY_CHARACTER = {"published": rf"[^\n{BRACKETS}]", "corrected": r"[. ]"}
"""What a full stop in a pattern of the release stands for, and what it was meant to."""
NEVER = r"[^\x00-\x{10FFFF}]"
"""Expression that nothing fits."""


class Pattern(NamedTuple):
    """An expression, and the text in the pack that it comes from."""

    source: str
    expression: str
    rule: str = "pattern"
    """What a verdict by it is called."""


def introduced(article: str, expression: str, words: Roles | None = None) -> str:
    """The expression of a role with what may introduce it; ``article`` has ``{}`` for it."""
    return "(?:" + _translate(article, {**(words or {}), "": expression}) + ")"


def words_of(patterns: Iterable[str]) -> frozenset[str]:
    """Words that stand in patterns."""
    return frozenset(word for each in patterns for word in _WORD.findall(_ROLE.sub(" ", each)))


def words_that_are(arguments: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Expressions of words of patterns that are arguments [text and role's character].

    In answers the role stands for the word there too ("the first word is *the*"), or for another
    role with the same text.
    """
    return {f"={text}": f"(?:{re2.escape(text)}|{role})" for text, role in arguments}


def role_expressions(
    articles: Mapping[str, str],
    kinds: Mapping[str, str],
    conjunction: str,
    words: Roles | None = None,
    endings: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Expression of each role of a task: its character with its article.

    ``kinds`` says of roles whether they are a letter, number or sentence; others are words.
    ``words``: of words that are arguments. ``endings``: patterns of the endings of each case.
    """
    plain = ROLE | CLASSES
    joined = (words or {}).get(f"={conjunction}", re.escape(conjunction))
    expressions = {
        name: introduced(
            articles.get(kinds.get(name, "word"), "{}"),
            (words or {}).get(f"={expression}", expression),
            words,
        )
        for name, expression in plain.items()
        if name != "other"
    }
    expressions |= _in_cases(expressions, endings or {}, words or {})
    named = f"[{ROLE['answer']}{ROLE['other']}]"
    listed = f"{GAP}*(?:{named}{GAP}*(?:{joined}{GAP}+)?)+"
    stop = {"any": ANY_CHARACTER["corrected"]}
    return expressions | {"words": listed} | stop | dict(words or {})


def bracketed_expressions(
    articles: Mapping[str, str],
    kinds: Mapping[str, str],
    conjunction: str,
    marks: str,
    *,
    once: bool = False,
    endings: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Expression of each role, for answers in which arguments stand between brackets.

    ``marks`` may stand around them, with ``once`` one at most on either side. ``endings``:
    patterns of the endings of each case; None where arguments in a case
    have brackets of their own, as in published verdicts.
    """
    passed = {"~": PASSED}
    expressions = {
        name: introduced(articles.get(kinds.get(name, "word"), "{}"), expression, passed)
        for name, expression in bracketed_roles(marks, once=once).items()
    }
    joined = _translate(conjunction, passed)
    joined = f"(?:{joined}{SPACE}+)?"
    *words, last = [f"{between(ROLE[name])}{PASSED}{SPACE}+" for name in LISTED]
    listed = "".join([f"{PASSED}{SPACE}*", *words, joined, last])
    if endings is not None:
        named = f"(?:{between(ROLE['answer'])}|{between(ROLE['other'])})"
        listed = f"{PASSED}{SPACE}*(?:{named}{PASSED}{SPACE}+{joined})+"
        expressions |= _in_cases(expressions, endings, passed)
    stop = {"any": ANY_CHARACTER["published" if endings is None else "corrected"] + PASSED}
    return expressions | {"words": listed} | stop | passed


def _in_cases(expressions: Roles, endings: Mapping[str, str], words: Roles) -> dict[str, str]:
    """Expressions of arguments in each case, from those without one."""
    return {
        name: expressions[base] + _translate(f"({endings.get(case, '')})", words)
        for name, (base, case) in INFLECTED.items()
    }


def passing(expressions: Mapping[str, str]) -> dict[str, str]:
    """Expressions of numbers and words, for answers with brackets."""
    return {
        name: "(?:" + expression.replace("\\ ", f"{PASSED}\\ {PASSED}") + ")" + PASSED
        for name, expression in expressions.items()
    }


def counts_of(
    true: int,
    numerals: Sequence[str],
    written: Sequence[str] | None = None,
    wrong: Sequence[str] = (),
) -> dict[str, str]:
    """Expressions of numbers: n is ``true``, w ``true`` in words; m any other, d one in digits.

    ``numerals`` [numbers from one]: words for each, ``|`` between them. ``written``: words for
    ``true``, where it has others than those, which are then all wrong. ``wrong``: words that
    are never right.
    """
    named = [[re2.escape(word) for word in each.split("|")] for each in numerals]
    right = named[true - 1] if 0 < true <= len(named) else []
    if written is not None:
        right = [re2.escape(word) for word in written]
    others = [word for words in named for word in words if word not in right]
    others += [re2.escape(word) for word in wrong]
    return {
        "n": f"(?:{'|'.join([str(true), *right])})",
        "m": f"(?:{'|'.join([*_other_digits(true), *others])})",
        "d": f"(?:{'|'.join(_other_digits(true))})",
        "w": f"(?:{'|'.join(right or [NEVER])})",
    }


def _other_digits(true: int) -> list[str]:
    """Expressions of all numbers in digits but one, by where they part from it."""
    digits = str(true)
    longer = [rf"{digits[:i]}[^\D{digits[i]}]\d*" for i in range(len(digits))]
    shorter = [rf"{digits[:i]}" for i in range(1, len(digits))]
    return [*longer, *shorter, rf"{digits}\d+"]


def _translate(pattern: str, roles: Roles) -> str:
    parts, passed = [], roles.get("~", "")
    for token in _TOKEN.findall(pattern):
        role = _ROLE.fullmatch(token)
        if token == r"\s":
            parts.append(rf"[\s{BRACKETS}]+" if passed else " ")
        elif token == r"\w":
            parts.append(rf"[\pL\pN{BRACKETS}]+")
        elif role:
            parts.append(roles[role[1]])
        elif token in "()|?":
            parts.append("(?:" if token == "(" else token)
        else:
            plain = token.removeprefix("\\")
            parts.append(roles.get(f"={plain}") or literal(plain, passed))
    return "".join(parts)


def literal(text: str, passed: str) -> str:
    """Expression of a text, with what may stand behind each character of it."""
    if not passed:
        return str(re2.escape(text))
    return "".join(f"(?:{re2.escape(character)}{passed})" for character in text)


def expression_of(pattern: str, roles: Roles) -> str:
    """A pattern as an expression of RE2.

    Raises UserError for an unknown role, a mark beside a role, or brackets that don't match.
    """
    unknown = [name for name in _ROLE.findall(pattern) if name not in roles]
    if unknown:
        known = ", ".join(sorted(role for role in roles if role.isalnum()))
        raise UserError(
            f"pattern {pattern!r} has the role {{{unknown[0]}}}; expected one of {known}."
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


def around(before: Sequence[str], base: str, after: Sequence[str]) -> str:
    """An expression with one of some others perhaps before, and one perhaps behind it."""
    start = f"(?:{'|'.join(before)})?" if before else ""
    end = f"(?:{'|'.join(after)})?" if after else ""
    return f"{start}(?:{base}){end}"


class PatternSet:
    """Patterns that are looked for together."""

    def __init__(self, patterns: Iterable[Pattern], *, whole: bool, end: str = r"\.?") -> None:
        """Compile them: for whole answers, with ``end`` behind, or for any place in one."""
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
        """The first pattern, in their order, that fits; None where none does."""
        if not self._patterns:
            return None
        matches = self._set.Match(text)
        return self._patterns[min(matches)] if matches else None


# The patterns of a task


class Compiled:
    """The patterns of a task, compiled."""

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
        """``counts``: expressions of the roles n and m, numbers that are right and wrong.

        ``arguments``: corrected, those, with their role, that are words of patterns too;
        published, names of roles that the release changes, with what it exchanges in them.
        ``brackets``: whether arguments stand between brackets in answers, rather than roles in
        their place. Raises UserError, with the pattern, where one cannot be read.
        """
        rules, published = RULES_OF[task], variant == "published"
        if published and not rules.inside:
            declared = declared.model_copy(update={"shared": ()})
        patterns = task_patterns(declared, task, variant, arguments if published else ())
        self.words = _words(declared, patterns)
        framed = [(each.pattern, *each.after) for each in patterns.accept]
        self.followers = normalise.followers(
            [*patterns.exact, *patterns.reject, *(each for more in framed for each in more)]
        )
        if brackets:
            self._roles, alone, bare = (
                each | passing(counts) for each in _bracketed(declared, task, rules.kinds, variant)
            )
        else:
            also = words_that_are(arguments)
            self._roles = role_expressions(
                declared.article, rules.kinds, declared.conjunction, also, declared.endings
            )
            self._roles |= counts
            alone = bare = self._roles
        reject = [self._rejected(pattern, bare) for pattern in patterns.reject]
        # What is a sentence of the release too has the marks that its sentences have.
        sentences = {framed.pattern for framed in patterns.accept} if published else set()
        exact = [
            self._read(pattern, "whole", alone)
            for pattern in ("{answer}", *patterns.exact)
            if pattern not in sentences
        ]
        accept = [self._framed(framed) for framed in patterns.accept]
        self._either = normalise.either_of(declared.corrected.either)
        self._whole = PatternSet([*reject, *exact, *accept], whole=True, end=END[variant])
        self._inside = PatternSet(accept if rules.inside else [], whole=False)

    def whole(self, masked: str) -> Verdict | None:
        """A verdict by a pattern that fits a whole answer."""
        match = self._whole.first(masked)
        if match is None:
            return None
        return Verdict(match.rule != "reject", True, match.rule, match.source)

    def inside(self, masked: str) -> Verdict | None:
        """A verdict by a pattern that fits somewhere in an answer."""
        match = self._inside.first(masked)
        return Verdict(True, False, "inside", match.source) if match else None

    def unopposed(self, masked: str) -> Verdict | None:
        """A verdict by a pattern inside an answer, unless it gives another answer too."""
        text = self._either.sub(" ", masked)
        verdict = self.inside(text)
        if verdict and self.inside(text.translate(normalise.OTHERWISE)):
            return Verdict(False, False, "both", verdict.pattern)
        return verdict

    def _read(self, pattern: str, rule: str = "pattern", roles: Roles | None = None) -> Pattern:
        roles = roles or self._roles
        return Pattern(pattern, roles.get("~", "") + expression_of(pattern, roles), rule)

    def _framed(self, framed: Framed) -> Pattern:
        """A pattern with what may stand around it."""
        compiled = self._read(framed.pattern)
        before, after = (
            [self._read(pattern).expression for pattern in each]
            for each in (framed.before, framed.after)
        )
        return compiled._replace(expression=around(before, compiled.expression, after))

    def _rejected(self, pattern: str, roles: dict[str, str]) -> Pattern:
        """A wrong difference, in ``roles``, is wrong whatever follows."""
        if "{m}" not in pattern and "{d}" not in pattern:
            return self._read(pattern, "reject")
        compiled = self._read(pattern, "reject", roles)
        return compiled._replace(expression=compiled.expression + r"(?s:.*)")


def _bracketed(
    declared: AnswerPatterns, task: str, kinds: Mapping[str, str], variant: str
) -> tuple[dict[str, str], ...]:
    """Expressions of roles between brackets: in sentences, alone, and in wrong differences."""
    marks, articles = MARKS[variant], declared.article
    roles = partial(bracketed_expressions, kinds=kinds, conjunction=declared.conjunction)
    if variant == "corrected":
        return (roles(articles, marks=marks, endings=declared.endings),) * 3
    some = declared.published_marks.get(task, marks)
    once = task in declared.published_unbounded
    inside = {} if once else articles
    # It looks for wrong differences in lower case, for articles with a capital.
    uncased = {kind: x for kind, x in inside.items() if x.upper() == x}
    return (
        roles(inside, marks=some, once=once),
        roles(articles, marks=marks),
        roles(uncased, marks=some, once=once),
    )


def _words(declared: AnswerPatterns, patterns: TaskPatterns) -> frozenset[str]:
    """Words of a task's patterns and what may stand before, behind and inside them."""
    framed = [(each.pattern, *each.before, *each.after) for each in patterns.accept]
    more = (*patterns.exact, *patterns.reject, *declared.article.values(), declared.conjunction)
    return words_of([*more, *(pattern for each in framed for pattern in each)])
