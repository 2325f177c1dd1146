"""Compile the answer patterns of a language pack to sets of RE2 expressions.

``compile_task``, which the judges call, takes the patterns of a task, such as "{answer} has less
letters". It returns ``Matchers``: two functions from an answer to a verdict. First, ``answers``
marks the prompt's arguments in the answer in one of two ways. It replaces an argument by its role's
character, or puts brackets around it. Each ``{role}`` of a pattern becomes the expression of a
marked argument:

    marked answer         expression of the pattern
    A has less letters    A has less letters        (A: the character of the role ``answer``)
    <A>cat</A> has ...    <A>[^</A>]*</A> has ...   (<A> and </A> stand for single characters)

RE2 matches a set of expressions in a time that is linear in the length of the answer. "Expression"
means a regular expression as text.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import re2

from blimpworks.errors import UserError
from blimpworks.papers.lmentry.judging import answers
from blimpworks.papers.lmentry.judging.answers import ANY_BRACKETS, BRACKETS, ROLE, SPACE
from blimpworks.papers.lmentry.judging.declared import (
    RULES,
    AnswerPatterns,
    Changed,
    Verdict,
    task_patterns,
)

_ROLE = re.compile(r"\{(\w*)\}")
_LITERAL = r"[^\W\d_]+"
# Tokens of a pattern: {role}, escape such as \s, syntax, word (not before "?"), other character.
_TOKEN = re.compile(rf"\{{\w*\}}|\\.|[()|?]|{_LITERAL}(?!\?)|.", re.DOTALL)
_WORD = re.compile(_LITERAL)
END = {"published": r"\.?", "corrected": r"[.!。]*"}
"""Expression of marks that may follow a full answer, for each variant of the rules."""
MARKS = {"published": answers.PUBLISHED_MARKS, "corrected": answers.CORRECTED_MARKS}
UNDECIDED = Verdict(False, False, "none")
Roles = Mapping[str, str]
"""Expressions by role. Two more keys: ``AFTER_EACH``, and "=" + text for ``Substitutes``."""
AFTER_EACH = "~"  # key of the expression that may follow each character of a pattern
Substitutes = Sequence[tuple[str, str]]
"""Pairs (text, role): a text of patterns that equals an argument ("the", in a prompt about "the").
Marked answers have the character of the argument's role in its place. The text is a word, or the
character of another role."""
_TOUCHED = re.compile(r"[\"'.,]\{\w+\}|\{\w+\}[\"'.,]")  # a mark beside a role
NO_WORD_CHARACTER = r"[^\pL\pN]"
ANY_CHARACTER = {"published": rf"[^\n{BRACKETS}]", "corrected": r"[. ]"}
"""Expression of the role ``{any}``, by variant: any character; a full stop or space."""
NEVER = r"[^\x00-\x{10FFFF}]"  # expression that never matches


class Pattern(NamedTuple):
    """A pattern's text in the pack, and its RE2 expression."""

    source: str
    expression: str
    rule: str = "pattern"
    """Name of the rule that decides when the pattern matches."""


def add_article(article: str, expression: str, roles: Roles | None = None) -> str:
    """Return an argument's expression with its article, which is a pattern: "(the word )?{}"."""
    return "(?:" + _translate(article, {**(roles or {}), "": expression}) + ")"


def words_of(patterns: Iterable[str]) -> frozenset[str]:
    """Return the words of patterns, without the names of roles."""
    texts = " ".join(_ROLE.sub(" ", pattern) for pattern in patterns)
    return frozenset(_WORD.findall(texts))


def role_expressions(
    task: str, texts: Roles, articles: dict[str, str], endings: dict[str, str] | None, extra: Roles
) -> dict[str, str]:
    """Return the expression of each role of a task, with its article.

    ``texts``: expressions without articles, by role. ``articles``: patterns by the role's type
    (word, letter, number, sentence). ``endings``: patterns by case, to make the declined roles;
    None if ``texts`` has these. ``extra``: the entries of ``Roles`` that are no roles.
    """
    role_types = RULES[task].role_types
    expressions = {
        name: add_article(articles.get(role_types.get(name, "word"), "{}"), text, extra)
        for name, text in texts.items()
    }
    if endings is not None:
        for name, (base, case) in answers.DECLINED_ROLES.items():
            expressions[name] = expressions[base] + _translate(f"({endings.get(case, '')})", extra)
    return expressions


def counts_of(
    difference: int,
    numerals: Sequence[str],
    written: Sequence[str] | None = None,
    wrong: Sequence[str] = (),
) -> dict[str, str]:
    """Return the expressions of four roles: right and wrong differences of two words' lengths.

    n: the right ``difference``, in digits or words; w: the same in words only; m: any other number,
    in digits or words; d: any other number in digits only. ``numerals``: words for the numbers from
    one, with ``|`` between alternatives. ``written``: words for the difference, if ``numerals`` are
    wrong. ``wrong``: more wrong words.
    """
    right_words: Sequence[str] = ()
    if written is not None:
        right_words = written
    elif 0 < difference <= len(numerals):
        right_words = numerals[difference - 1].split("|")
    numeral_words = "|".join(numerals).split("|") if numerals else []
    wrong_words = [word for word in numeral_words if word not in right_words] + [*wrong]
    right = [re2.escape(word) for word in right_words]
    wrong_forms = [re2.escape(word) for word in wrong_words]
    # All other numbers in digits. For 12: numbers that differ in the first or second digit
    # ([^\D1]\d*, 1[^\D2]\d*), shorter numbers (1), and longer numbers (12\d+).
    digits = str(difference)
    differing = [rf"{digits[:i]}[^\D{digits[i]}]\d*" for i in range(len(digits))]
    shorter = [digits[:i] for i in range(1, len(digits))]
    in_digits = [*differing, *shorter, rf"{digits}\d+"]
    return {
        "n": f"(?:{'|'.join([digits, *right])})",
        "m": f"(?:{'|'.join([*in_digits, *wrong_forms])})",
        "d": f"(?:{'|'.join(in_digits)})",
        "w": f"(?:{'|'.join(right or [NEVER])})",
    }


def _translate(pattern: str, roles: Roles) -> str:
    """Return the RE2 expression of a pattern, all of whose roles are in ``roles``."""
    fragments, after_each = [], roles.get(AFTER_EACH, "")
    for token in _TOKEN.findall(pattern):
        role = _ROLE.fullmatch(token)
        if token == r"\s":
            fragments.append(rf"[\s{BRACKETS}]+" if after_each else " ")
        elif token == r"\w":
            fragments.append(rf"[\pL\pN{BRACKETS}]+")
        elif role:
            fragments.append(roles[role[1]])
        elif token in "()|?":
            fragments.append("(?:" if token == "(" else token)
        else:
            plain = token.removeprefix("\\")
            fragments.append(roles.get(f"={plain}") or literal(plain, after_each))
    return "".join(fragments)


def literal(text: str, after_each: str) -> str:
    """Return the expression of a text, with the expression ``after_each`` after each character."""
    if not after_each:
        return str(re2.escape(text))
    return "".join(f"(?:{re2.escape(character)}{after_each})" for character in text)


def expression_of(pattern: str, roles: Roles) -> str:
    """Return a pattern as an RE2 expression. Raises UserError for a faulty pattern."""
    unknown = [name for name in _ROLE.findall(pattern) if name not in roles]
    if unknown:
        role_names = ", ".join(sorted(role for role in roles if role.isalnum()))
        raise UserError(
            f"pattern {pattern!r} has the role {{{unknown[0]}}}; expected one of {role_names}."
        )
    if AFTER_EACH not in roles and _TOUCHED.search(pattern):
        raise UserError(
            f"pattern {pattern!r} has a mark (\"'.,) beside a role, which never matches: answers "
            "lose marks there; leave it out."
        )
    expression = _translate(pattern, roles)
    try:
        re2.compile(expression)
    except re2.error as error:
        raise UserError(f"pattern {pattern!r} cannot be read ({error}); correct it.") from error
    return expression


AnswerJudge = Callable[[str], Verdict]
"""Function that judges an answer to one prompt; its argument is the answer without reasoning."""
Matcher = Callable[[str], Verdict | None]
"""Function that returns the verdict by the first pattern that matches an answer; None without."""


def make_matcher(patterns: Iterable[Pattern], *, full: bool, end: str = r"\.?") -> Matcher:
    """Compile patterns to one function.

    With ``full``, a pattern with the expression ``end`` after it must match the whole answer.
    Otherwise the pattern may match inside the answer, and the verdict is uncertain.
    """
    options = re2.Options()
    options.max_mem = 1 << 26  # 64 MiB
    expressions = (re2.Set.FullMatchSet if full else re2.Set.SearchSet)(options)
    ordered = list(patterns)
    for pattern in ordered:
        expressions.Add(f"(?:{pattern.expression}){end}" if full else pattern.expression)
    if ordered:
        expressions.Compile()

    def match(text: str) -> Verdict | None:
        matches = expressions.Match(text) if ordered else None
        if not matches:
            return None
        pattern = ordered[min(matches)]
        rule = pattern.rule if full else "inside"
        return Verdict(rule != "reject", full, rule, pattern.source)

    return match


class Matchers(NamedTuple):
    """Matchers of a task's patterns: for full answers, and for sentences inside answers."""

    full: Matcher
    inside: Matcher


def compile_task(
    declared: AnswerPatterns,
    task: str,
    variant: str,
    expressions: dict[str, str],
    substitutes: Substitutes = (),
    changed: Changed = (),
    *,
    brackets: bool,
) -> Matchers:
    """Compile the patterns of a task. Raises UserError for a faulty pattern.

    ``expressions``: expressions of roles that are no arguments, such as the result of
    ``counts_of``. ``brackets``: whether brackets mark the arguments in answers; if not, characters
    of roles do, and ``substitutes`` apply. ``changed``: as in ``task_patterns``.
    """
    patterns = task_patterns(declared, task, variant, changed)
    if brackets:
        roles = _roles_in_brackets(declared, task, variant, expressions)
    else:
        roles = [{**_masked_roles(declared, task, substitutes), **expressions}] * 3
    in_sentences, in_answers, in_differences = roles

    exact = ["{answer}", *patterns.exact]
    if variant == "published":
        # An exact answer of the release that is also a sentence is compiled as a sentence only.
        accepted = {framed.pattern for framed in patterns.accept}
        exact = [pattern for pattern in exact if pattern not in accepted]
    wrong_answers: list[Pattern] = []
    for pattern in patterns.reject:
        if "{m}" in pattern or "{d}" in pattern:
            # Any text may follow a wrong difference.
            compiled = compile_pattern(pattern, in_differences, "reject")
            compiled = compiled._replace(expression=compiled.expression + r"(?s:.*)")
        else:
            compiled = compile_pattern(pattern, in_sentences, "reject")
        wrong_answers.append(compiled)
    exact_answers = [compile_pattern(pattern, in_answers, "whole") for pattern in exact]
    sentences: list[Pattern] = []
    for framed in patterns.accept:
        sentence = compile_pattern(framed.pattern, in_sentences)
        before, after = (
            "|".join(compile_pattern(text, in_sentences).expression for text in texts)
            for texts in (framed.before, framed.after)
        )
        expression = f"(?:{before})?(?:{sentence.expression})(?:{after})?"
        sentences.append(sentence._replace(expression=expression))
    # The first pattern that matches decides.
    in_order = [*wrong_answers, *exact_answers, *sentences]
    return Matchers(
        full=make_matcher(in_order, full=True, end=END[variant]),
        inside=make_matcher(sentences if RULES[task].inside else [], full=False),
    )


def compile_pattern(pattern: str, roles: Roles, rule: str = "pattern") -> Pattern:
    """Return a pattern with its expression. Raises UserError for a faulty pattern."""
    return Pattern(pattern, roles.get(AFTER_EACH, "") + expression_of(pattern, roles), rule)


def _masked_roles(declared: AnswerPatterns, task: str, substitutes: Substitutes) -> Roles:
    """Return the expression of each role, for answers with roles in place of arguments.

    ``substitutes``: an answer may have a role in place of a word of a pattern ("the first word is
    *the*"), or in place of another role.
    """
    either = {text: f"(?:{re2.escape(text)}|{role})" for text, role in substitutes}
    roles = (ROLE | answers.EITHER_ROLES).items()
    texts = {name: either.get(text, text) for name, text in roles if name != "other"}
    conjunction = either.get(declared.conjunction, re.escape(declared.conjunction))
    extra = {f"={text}": expression for text, expression in either.items()}
    word, gap = f"[{ROLE['answer']}{ROLE['other']}]", NO_WORD_CHARACTER
    return {
        **role_expressions(task, texts, declared.article, declared.endings, extra),
        "words": f"{gap}*(?:{word}{gap}*(?:{conjunction}{gap}+)?)+",
        "any": ANY_CHARACTER["corrected"],
        **extra,
    }


def _roles_in_brackets(
    declared: AnswerPatterns, task: str, variant: str, other_roles: Roles
) -> Sequence[Roles]:
    """Return the expressions of roles, for answers with brackets around arguments.

    They differ between sentences, exact answers and wrong differences (in this order).
    ``other_roles``: expressions of roles without articles and marks, such as numbers.
    """
    published, extra = variant == "published", {AFTER_EACH: ANY_BRACKETS}
    argument_of = {name: answers.between_brackets(role) for name, role in ROLE.items()}
    # Roles without articles and marks: ``words`` is a list of words, ``any`` is any character.
    conjunction = f"(?:{_translate(declared.conjunction, extra)}{SPACE}+)?"
    if published:
        # The release expects the words of a list in their order.
        gap = f"{ANY_BRACKETS}{SPACE}+"
        listed = [argument_of[name] + gap for name in answers.LISTED_ROLES]
        word_list = f"{ANY_BRACKETS}{SPACE}*" + "".join(listed[:-1]) + conjunction + listed[-1]
    else:
        word = f"(?:{argument_of['answer']}|{argument_of['other']})"
        word_list = f"{ANY_BRACKETS}{SPACE}*(?:{word}{ANY_BRACKETS}{SPACE}+{conjunction})+"
    without_marks = {"words": word_list, "any": ANY_CHARACTER[variant] + ANY_BRACKETS, **extra}
    for name, expression in other_roles.items():
        spaced = expression.replace("\\ ", f"{ANY_BRACKETS}\\ {ANY_BRACKETS}")
        without_marks[name] = f"(?:{spaced}){ANY_BRACKETS}"
    del argument_of["other"]  # no pattern has this role
    either = f"(?:{argument_of['answer']}|{argument_of['distractor']})"
    argument_of |= dict.fromkeys(answers.EITHER_ROLES, either)

    def with_marks(marks: str, articles: dict[str, str]) -> Roles:
        """Return the expressions of all roles: arguments between marks, after their articles."""
        texts = {}
        for name, argument in argument_of.items():
            # Declined arguments have no marks, except a category in the absolutive.
            is_declined = name in answers.DECLINED_ROLES and name != "category_absolutive"
            edge = ANY_BRACKETS if is_declined else marks
            texts[name] = f"{edge}{argument}{edge}"
        endings = None if published else declared.endings
        return role_expressions(task, texts, articles, endings, extra) | without_marks

    articles = declared.article
    exact_answers = with_marks(f"[{MARKS[variant]}{BRACKETS}]*", articles)
    if not published:
        return [exact_answers] * 3
    marks = declared.published_marks.get(task, MARKS[variant])
    around = f"[{marks}{BRACKETS}]*"
    if task in declared.published_unbounded:
        articles = {}
        around = f"{ANY_BRACKETS}[{marks}]?{ANY_BRACKETS}" if marks else ANY_BRACKETS
    # In wrong differences the release looks for articles with a capital, although answers are in
    # lower case. So it only finds articles of scripts without case.
    uncased = {name: article for name, article in articles.items() if article.upper() == article}
    return [with_marks(around, articles), exact_answers, with_marks(around, uncased)]
