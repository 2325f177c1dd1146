"""Compile the answer patterns of a language pack to sets of RE2 expressions.

``Compiled`` takes the pack's patterns of a task ("the answer is {answer}"); its matchers return the
verdict on an answer whose arguments are marked by ``answers``. Each ``{role}`` of a pattern becomes
the expression of an argument. RE2 matches a set in time linear in the answer.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import re2

from blimpworks.errors import UserError
from blimpworks.papers.lmentry.judging import answers
from blimpworks.papers.lmentry.judging.answers import BRACKETS, PASSED, ROLE, SPACE, between
from blimpworks.papers.lmentry.judging.declared import (
    RULES_OF,
    AnswerPatterns,
    Changed,
    Verdict,
    task_patterns,
)

_ROLE = re.compile(r"\{(\w*)\}")
_LITERAL = r"[^\W\d_]+"
_TOKEN = re.compile(rf"\{{\w*\}}|\\.|[()|?]|{_LITERAL}(?!\?)|.", re.DOTALL)
_WORD = re.compile(_LITERAL)
END = {"published": r"\.?", "corrected": r"[.!。]*"}
MARKS = {"published": answers.PUBLISHED_MARKS, "corrected": answers.CORRECTED_MARKS}
NOTHING = Verdict(False, False, "none")
Roles = Mapping[str, str]
"""Expressions by role, and by keys that are no roles: ``AFTER_EACH``, and ``=text`` for a text of
patterns that has a substitute."""
AFTER_EACH = "~"
"""Key of the expression that may follow each character."""
Substitutes = Sequence[tuple[str, str]]
"""Texts of patterns (words, or roles), each with the role that answers may have in its place."""
_TOUCHED = re.compile(r"[\"'.,]\{\w+\}|\{\w+\}[\"'.,]")  # a mark beside a role
GAP = r"[^\pL\pN]"
ANY_CHARACTER = {"published": rf"[^\n{BRACKETS}]", "corrected": r"[. ]"}
"""Meaning of a full stop in a pattern: the release's, and the intended one."""
NEVER = r"[^\x00-\x{10FFFF}]"
"""Expression that never matches."""


class Pattern(NamedTuple):
    """A pattern's text in the pack, and its RE2 expression."""

    source: str
    expression: str
    rule: str = "pattern"
    """Rule of verdicts by the pattern."""


def introduced(article: str, expression: str, roles: Roles | None = None) -> str:
    """Return a role's expression with its introduction, a pattern with ``{}`` for the role."""
    return "(?:" + _translate(article, {**(roles or {}), "": expression}) + ")"


def words_of(patterns: Iterable[str]) -> frozenset[str]:
    """Return the words in patterns, without roles."""
    texts = " ".join(_ROLE.sub(" ", pattern) for pattern in patterns)
    return frozenset(_WORD.findall(texts))


def role_expressions(
    task: str, texts: Roles, articles: dict[str, str], endings: dict[str, str] | None, keyed: Roles
) -> dict[str, str]:
    """Return the expression of each role of a task, with its article.

    ``texts``: expressions of the roles without articles. ``articles``: by type of role.
    ``endings``: patterns of case endings; None if ``texts`` has the declined arguments.
    ``keyed``: expressions by keys that are no roles.
    """
    role_types = RULES_OF[task].role_types
    expressions = {
        name: introduced(articles.get(role_types.get(name, "word"), "{}"), text, keyed)
        for name, text in texts.items()
    }
    if endings is not None:
        for name, (base, case) in answers.INFLECTED.items():
            expressions[name] = expressions[base] + _translate(f"({endings.get(case, '')})", keyed)
    return expressions


def counts_of(
    difference: int,
    numerals: Sequence[str],
    written: Sequence[str] | None = None,
    wrong: Sequence[str] = (),
) -> dict[str, str]:
    """Return expressions of numbers by role: right and wrong differences of two words' lengths.

    n: the right ``difference``; w: the same in words; m: any other number; d: another number in
    digits. ``numerals``: words for the numbers from one, alternatives separated by ``|``.
    ``written``: other words for the difference, which make all ``numerals`` wrong. ``wrong``: words
    that are never right.
    """
    right_words: Sequence[str] = ()
    if written is not None:
        right_words = written
    elif 0 < difference <= len(numerals):
        right_words = numerals[difference - 1].split("|")
    numeral_words = "|".join(numerals).split("|") if numerals else []
    wrong_words = [*(word for word in numeral_words if word not in right_words), *wrong]
    right = [re2.escape(word) for word in right_words]
    wrong_forms = [re2.escape(word) for word in wrong_words]
    # All other numbers in digits, by the first digit that differs, or by their length.
    digits = str(difference)
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
    """Return the RE2 expression of a pattern."""
    fragments, passed = [], roles.get(AFTER_EACH, "")
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
    """Return the expression of a text, with the expression ``passed`` after each character."""
    if not passed:
        return str(re2.escape(text))
    return "".join(f"(?:{re2.escape(character)}{passed})" for character in text)


def expression_of(pattern: str, roles: Roles) -> str:
    """Return a pattern as an RE2 expression. Raises UserError for a faulty one."""
    unknown = [name for name in _ROLE.findall(pattern) if name not in roles]
    if unknown:
        role_names = ", ".join(sorted(role for role in roles if role.isalnum()))
        raise UserError(
            f"pattern {pattern!r} has the role {{{unknown[0]}}}; expected one of {role_names}."
        )
    if AFTER_EACH not in roles and _TOUCHED.search(pattern):
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


Matcher = Callable[[str], Verdict | None]
"""Function that returns a verdict by the first pattern that matches a text, or None."""


def matcher(patterns: Iterable[Pattern], *, full: bool, end: str = r"\.?") -> Matcher:
    """Compile patterns that match a ``full`` answer, followed by ``end``, or a part of an answer.

    Verdicts by a part are uncertain.
    """
    options = re2.Options()
    options.max_mem = 1 << 26
    compiled = (re2.Set.FullMatchSet if full else re2.Set.SearchSet)(options)
    listed = list(patterns)
    for pattern in listed:
        compiled.Add(f"(?:{pattern.expression}){end}" if full else pattern.expression)
    if listed:
        compiled.Compile()

    def verdict(text: str) -> Verdict | None:
        matches = compiled.Match(text) if listed else None
        if not matches:
            return None
        pattern = listed[min(matches)]
        rule = pattern.rule if full else "inside"
        return Verdict(rule != "reject", full, rule, pattern.source)

    return verdict


class Compiled:
    """The compiled patterns of a task."""

    def __init__(
        self,
        declared: AnswerPatterns,
        task: str,
        variant: str,
        expressions: dict[str, str],
        substitutes: Substitutes = (),
        changed: Changed = (),
        *,
        brackets: bool,
    ) -> None:
        """Compile the patterns. Raises UserError for a faulty one.

        ``expressions``: of other roles, such as the numbers of ``counts_of``. ``substitutes``: for
        answers without brackets. ``changed``: for published patterns. ``brackets``: answers have
        brackets around arguments; otherwise characters of roles in their place.
        """
        rules, published = RULES_OF[task], variant == "published"
        if published and not rules.inside:
            declared = declared.model_copy(update={"shared": ()})
        patterns = task_patterns(declared, task, variant, changed)
        sentences = [sentence for f in patterns.accept for sentence in (f.pattern, *f.after)]
        self.followers = answers.followers([*patterns.exact, *patterns.reject, *sentences])
        sentences += [sentence for framed in patterns.accept for sentence in framed.before]
        articles = (*declared.article.values(), declared.conjunction)
        self.words = words_of((*patterns.exact, *patterns.reject, *sentences, *articles))
        if brackets:
            roles = _bracketed(declared, task, variant, expressions)
        else:
            usual = {**_masked(declared, task, substitutes), **expressions}
            roles = RoleExpressions(usual, usual, usual)
        full_answers = []
        for pattern in patterns.reject:
            # An answer with a wrong difference is wrong, whatever follows.
            differs = "{m}" in pattern or "{d}" in pattern
            of_pattern = roles.wrong_differences if differs else roles.sentences
            compiled = compiled_pattern(pattern, of_pattern, "reject")
            expression = compiled.expression + (r"(?s:.*)" if differs else "")
            full_answers.append(compiled._replace(expression=expression))
        exact = ["{answer}", *patterns.exact]
        if published:
            # An exact answer of the release that is also a sentence is compiled as a sentence only.
            accepted = {framed.pattern for framed in patterns.accept}
            exact = [pattern for pattern in exact if pattern not in accepted]
        for pattern in exact:
            full_answers.append(compiled_pattern(pattern, roles.exact_answers, "whole"))
        accept = []
        for framed in patterns.accept:
            compiled = compiled_pattern(framed.pattern, roles.sentences)
            before = [compiled_pattern(text, roles.sentences).expression for text in framed.before]
            after = [compiled_pattern(text, roles.sentences).expression for text in framed.after]
            start, end = "|".join(before), "|".join(after)
            expression = f"(?:{start})?(?:{compiled.expression})(?:{end})?"
            accept.append(compiled._replace(expression=expression))
        # ``whole`` judges a full answer, ``inside`` an answer that contains a sentence.
        self.whole = matcher([*full_answers, *accept], full=True, end=END[variant])
        self.inside = matcher(accept if rules.inside else [], full=False)


def compiled_pattern(pattern: str, roles: Roles, rule: str = "pattern") -> Pattern:
    """Return a pattern with its expression. Raises UserError for a faulty one."""
    return Pattern(pattern, roles.get(AFTER_EACH, "") + expression_of(pattern, roles), rule)


def _masked(declared: AnswerPatterns, task: str, substitutes: Substitutes) -> Roles:
    """Return the expression of each role, for answers with roles in place of arguments.

    A role may then replace a word of a pattern ("the first word is *the*"), or another role with
    the same text.
    """
    either = {text: f"(?:{re2.escape(text)}|{role})" for text, role in substitutes}
    roles = (ROLE | answers.CLASSES).items()
    texts = {name: either.get(text, text) for name, text in roles if name != "other"}
    joined = either.get(declared.conjunction, re.escape(declared.conjunction))
    keyed = {f"={text}": expression for text, expression in either.items()}
    listed = f"[{ROLE['answer']}{ROLE['other']}]"
    return {
        **role_expressions(task, texts, declared.article, declared.endings, keyed),
        "words": f"{GAP}*(?:{listed}{GAP}*(?:{joined}{GAP}+)?)+",
        "any": ANY_CHARACTER["corrected"],
        **keyed,
    }


class RoleExpressions(NamedTuple):
    """Expressions of roles by what a pattern is for."""

    sentences: Roles
    exact_answers: Roles
    wrong_differences: Roles


def _bracketed(declared: AnswerPatterns, task: str, variant: str, bare: Roles) -> RoleExpressions:
    """Return the expressions of roles, for answers with brackets around arguments.

    ``bare``: those of roles without articles and marks, such as numbers.
    """
    published, keyed = variant == "published", {AFTER_EACH: PASSED}
    argument_of = {name: between(role) for name, role in ROLE.items()}
    conjunction = f"(?:{_translate(declared.conjunction, keyed)}{SPACE}+)?"
    if published:
        # The release expects the words of a list in their order.
        *firsts, last = [f"{argument_of[name]}{PASSED}{SPACE}+" for name in answers.LISTED_ROLES]
        words = "".join([f"{PASSED}{SPACE}*", *firsts, conjunction, last])
    else:
        word = f"(?:{argument_of['answer']}|{argument_of['other']})"
        words = f"{PASSED}{SPACE}*(?:{word}{PASSED}{SPACE}+{conjunction})+"
    without_marks = {"words": words, "any": ANY_CHARACTER[variant] + PASSED, **keyed}
    for name, expression in bare.items():
        spaced = expression.replace("\\ ", f"{PASSED}\\ {PASSED}")
        without_marks[name] = f"(?:{spaced}){PASSED}"
    del argument_of["other"]  # no pattern names it
    either = f"(?:{argument_of['answer']}|{argument_of['distractor']})"
    argument_of |= dict.fromkeys(answers.CLASSES, either)

    def with_marks(marks: str, articles: dict[str, str]) -> Roles:
        """Add an expression of marks on both sides of each argument, and its article."""
        texts = {}
        for name, argument in argument_of.items():
            # Declined arguments have no marks, except a category in the absolutive.
            declined = name in answers.INFLECTED and name != "category_absolutive"
            edge = PASSED if declined else marks
            texts[name] = f"{edge}{argument}{edge}"
        endings = None if published else declared.endings
        return role_expressions(task, texts, articles, endings, keyed) | without_marks

    articles = declared.article
    exact_answers = with_marks(f"[{MARKS[variant]}{BRACKETS}]*", articles)
    if not published:
        return RoleExpressions(exact_answers, exact_answers, exact_answers)
    marks = declared.published_marks.get(task, MARKS[variant])
    around = f"[{marks}{BRACKETS}]*"
    if task in declared.published_unbounded:
        articles = {}
        around = f"{PASSED}[{marks}]?{PASSED}" if marks else PASSED
    # The release looks for wrong differences in the lower-case answer, where no article with a
    # capital is.
    uncased = {k: article for k, article in articles.items() if article.upper() == article}
    sentences, wrong_differences = with_marks(around, articles), with_marks(around, uncased)
    return RoleExpressions(sentences, exact_answers, wrong_differences)
