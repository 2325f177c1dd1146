"""Compile a pack's patterns to sets of RE2 expressions, matched in time linear in the answer."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import re2

from blimpworks.errors import UserError
from blimpworks.papers.lmentry.judging import normalise, roles
from blimpworks.papers.lmentry.judging.declared import (
    RULES_OF,
    AnswerPatterns,
    Verdict,
    task_patterns,
)
from blimpworks.papers.lmentry.judging.roles import BRACKETS, CLASSES, INFLECTED, PASSED, ROLE

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
    texts = " ".join(_ROLE.sub(" ", pattern) for pattern in patterns)
    return frozenset(_WORD.findall(texts))


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


Matcher = Callable[[str], Verdict | None]
"""Returns a verdict by the first pattern that fits a text, or None."""


def matcher(patterns: Iterable[Pattern], *, whole: bool, end: str = r"\.?") -> Matcher:
    """Compile patterns for whole answers, followed by ``end``, or for any part of an answer.

    Verdicts by a part are uncertain.
    """
    options = re2.Options()
    options.max_mem = 1 << 26
    compiled = (re2.Set.FullMatchSet if whole else re2.Set.SearchSet)(options)
    listed = list(patterns)
    for pattern in listed:
        compiled.Add(f"(?:{pattern.expression}){end}" if whole else pattern.expression)
    if listed:
        compiled.Compile()

    def verdict(text: str) -> Verdict | None:
        matches = compiled.Match(text) if listed else None
        if not matches:
            return None
        pattern = listed[min(matches)]
        rule = pattern.rule if whole else "inside"
        return Verdict(rule != "reject", whole, rule, pattern.source)

    return verdict


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
        sentences += [sentence for framed in patterns.accept for sentence in framed.before]
        articles = (*declared.article.values(), declared.conjunction)
        self.words = words_of((*patterns.exact, *patterns.reject, *sentences, *articles))
        if brackets:
            usual, alone, wrong = _bracketed(declared, task, rules.kinds, variant, counts)
        else:
            usual = alone = wrong = {**_masked(declared, rules.kinds, arguments), **counts}
        whole_answers = []
        for pattern in patterns.reject:
            # A wrong difference is wrong whatever follows.
            differs = "{m}" in pattern or "{d}" in pattern
            compiled = compiled_pattern(pattern, wrong if differs else usual, "reject")
            expression = compiled.expression + (r"(?s:.*)" if differs else "")
            whole_answers.append(compiled._replace(expression=expression))
        # What is a sentence of the release too has the marks that its sentences have.
        marked = {framed.pattern for framed in patterns.accept} if published else set()
        exact = [pattern for pattern in ("{answer}", *patterns.exact) if pattern not in marked]
        whole_answers += [compiled_pattern(pattern, alone, "whole") for pattern in exact]
        accept = []
        for framed in patterns.accept:
            compiled = compiled_pattern(framed.pattern, usual)
            start, end = (
                "|".join(compiled_pattern(text, usual).expression for text in texts)
                for texts in (framed.before, framed.after)
            )
            expression = f"(?:{start})?(?:{compiled.expression})(?:{end})?"
            accept.append(compiled._replace(expression=expression))
        self.whole = matcher([*whole_answers, *accept], whole=True, end=END[variant])
        self.inside = matcher(accept if rules.inside else [], whole=False)


def compiled_pattern(pattern: str, roles: Roles, rule: str = "pattern") -> Pattern:
    """Return a pattern with its expression. Raises UserError with a faulty one."""
    return Pattern(pattern, roles.get("~", "") + expression_of(pattern, roles), rule)


def _masked(
    declared: AnswerPatterns, kinds: Mapping[str, str], arguments: Sequence[tuple[str, str]]
) -> Roles:
    """Return the expression of each role, for answers with roles in place of arguments.

    There the role stands for a pattern's word too ("the first word is *the*"), or for another role
    with the same text.
    """
    words = {f"={text}": f"(?:{re2.escape(text)}|{role})" for text, role in arguments}
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


def _bracketed(
    declared: AnswerPatterns, task: str, kinds: Mapping[str, str], variant: str, counts: Roles
) -> tuple[Roles, Roles, Roles]:
    """Return expressions of bracketed roles: in sentences, alone, and in wrong differences."""
    published, between = variant == "published", roles.between
    joined = f"(?:{_translate(declared.conjunction, {'~': PASSED})}{roles.SPACE}+)?"
    either = f"(?:{between(ROLE['answer'])}|{between(ROLE['distractor'])})"
    if published:
        *before, last = [f"{between(ROLE[name])}{PASSED}{roles.SPACE}+" for name in roles.LISTED]
        listed = "".join([f"{PASSED}{roles.SPACE}*", *before, joined, last])
    else:
        named = f"(?:{between(ROLE['answer'])}|{between(ROLE['other'])})"
        listed = f"{PASSED}{roles.SPACE}*(?:{named}{PASSED}{roles.SPACE}+{joined})+"
    usual = {"words": listed, "any": ANY_CHARACTER[variant] + PASSED, "~": PASSED}
    for name, expression in counts.items():
        spaced = expression.replace("\\ ", f"{PASSED}\\ {PASSED}")
        usual[name] = f"(?:{spaced}){PASSED}"
    bare = {name: between(role) for name, role in ROLE.items() if name != "other"}
    bare |= dict.fromkeys(CLASSES, either)

    def expressions(articles: Mapping[str, str], marks: str, *, once: bool = False) -> Roles:
        # With ``once`` at most one of the marks surrounds an argument.
        around = f"{PASSED}[{marks}]?{PASSED}" if once and marks else f"[{marks}{BRACKETS}]*"
        unmarked = {*INFLECTED} - {"category_absolutive"}
        texts = {
            name: f"{PASSED}{text}{PASSED}" if name in unmarked else f"{around}{text}{around}"
            for name, text in bare.items()
        }
        endings = None if published else declared.endings
        return role_expressions(texts, kinds, articles, endings, {"~": PASSED}) | usual

    marks, articles = MARKS[variant], declared.article
    if not published:
        return (expressions(articles, marks),) * 3
    some, once = declared.published_marks.get(task, marks), task in declared.published_unbounded
    inside = {} if once else articles
    # It looks for wrong differences in lower case, for articles with a capital.
    uncased = {name: article for name, article in inside.items() if article.upper() == article}
    return (
        expressions(inside, some, once=once),
        expressions(articles, marks),
        expressions(uncased, some, once=once),
    )
