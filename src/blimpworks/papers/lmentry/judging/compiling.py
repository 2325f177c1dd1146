"""Compile the answer patterns of a language pack to sets of RE2 expressions.

``compile_task``, which the judges call, takes the patterns of a task, such as "{answer} has less
letters". It returns ``Matchers``: two functions from an answer to a verdict. First, ``answers``
marks the prompt's arguments in the answer in one of two ways. It replaces an argument by its role's
character, which masks the answer, or puts brackets around it. Each ``{role}`` of a pattern becomes
the expression of a marked argument:

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
_MARK_BESIDE_ROLE = re.compile(r"[\"'.,]\{\w+\}|\{\w+\}[\"'.,]")
END = {"published": r"\.?", "corrected": r"[.!。]*"}
"""Expression of marks that may follow a full answer, for each variant of the rules."""
MARKS = {"published": answers.PUBLISHED_MARKS, "corrected": answers.CORRECTED_MARKS}
UNDECIDED = Verdict(False, False, "none")
Substitutes = Sequence[tuple[str, str]]
"""Pairs (text, role) of a text of patterns that equals an argument, and the argument's character.
In a prompt about the word "the", masked answers have the character in place of each "the". The text
is a word, or the character of another role."""
NO_WORD_CHARACTER = r"[^\pL\pN]"
ANY_CHARACTER = {"published": rf"[^\n{BRACKETS}]", "corrected": r"[. ]"}
"""Expression of the role ``{any}``, by variant: any character; a full stop or space."""
NEVER = r"[^\x00-\x{10FFFF}]"  # expression that never matches
Texts = Mapping[str, str]


class Pattern(NamedTuple):
    """A pattern's text in the pack, and its RE2 expression."""

    source: str
    expression: str
    rule: str = "pattern"
    """Name of the rule that decides when the pattern matches."""


class Expressions(NamedTuple):
    """The expressions that patterns are translated by."""

    roles: Mapping[str, str]
    """Expression of each role."""
    after_each: str = ""
    """Expression of what may follow each character of a pattern: any brackets, or nothing."""
    substitutes: Mapping[str, str] = {}
    """Expressions of texts that ``Substitutes`` has, by text: "(?:the|A)" for "the"."""


def add_article(article: str, argument: str, expressions: Expressions | None = None) -> str:
    """Return an argument's expression with its article, which is a pattern: "(the word )?{}"."""
    # The braces in an article are a role with an empty name.
    with_argument = (expressions or Expressions({}))._replace(roles={"": argument})
    return f"(?:{_translate(article, with_argument)})"


def words_of(patterns: Iterable[str]) -> frozenset[str]:
    """Return the words of patterns, without the names of roles."""
    texts = " ".join(_ROLE.sub(" ", pattern) for pattern in patterns)
    return frozenset(_WORD.findall(texts))


def _add_articles(
    task: str, arguments: Texts, articles: Texts, endings: Texts | None, expressions: Expressions
) -> dict[str, str]:
    """Return the expression of each role of a task, with its article.

    ``arguments``: expressions without articles, by role. ``articles``: patterns by the role's type
    (word, letter, number, sentence). ``endings``: patterns by case, to make the declined roles;
    None if ``arguments`` has these. ``expressions``: translation of articles and endings.
    """
    role_types = RULES[task].role_types
    roles: dict[str, str] = {}
    for name, argument in arguments.items():
        article = articles.get(role_types.get(name, "word"), "{}")
        roles[name] = add_article(article, argument, expressions)
    if endings is not None:
        for name, (base, case) in answers.DECLINED_ROLES.items():
            roles[name] = roles[base] + _translate(f"({endings.get(case, '')})", expressions)
    return roles


def counts_of(
    difference: int,
    numerals: Sequence[str],
    written: Sequence[str] | None = None,
    wrong: Sequence[str] = (),
) -> dict[str, str]:
    """Return the expressions of four roles: right and wrong differences of two words' lengths.

    n: the right ``difference``, in digits or words; w: the same in words only; m: any other number,
    in digits or words; d: any other number in digits only. ``numerals``: words for the numbers from
    one, with ``|`` between alternatives. ``written``: the difference in words of another language,
    if the release spells it so; all ``numerals`` are then wrong. ``wrong``: more wrong words.
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


def _translate(pattern: str, expressions: Expressions) -> str:
    r"""Return the RE2 expression of a pattern, all of whose roles are in ``expressions``.

    For masked answers, "(the word )?{answer}" becomes r"(?:the\ word\ )?A".
    """
    fragments, after_each = [], expressions.after_each
    for token in _TOKEN.findall(pattern):
        role = _ROLE.fullmatch(token)
        if role:
            fragments.append(expressions.roles[role[1]])
        elif token == r"\s":
            fragments.append(rf"[\s{BRACKETS}]+" if after_each else " ")
        elif token == r"\w":
            fragments.append(rf"[\pL\pN{BRACKETS}]+")
        elif token in "()|?":
            fragments.append("(?:" if token == "(" else token)
        else:
            plain = token.removeprefix("\\")
            fragments.append(expressions.substitutes.get(plain) or literal(plain, after_each))
    return "".join(fragments)


def literal(text: str, after_each: str) -> str:
    """Return the expression of a text, with the expression ``after_each`` after each character."""
    if not after_each:
        return str(re2.escape(text))
    return "".join(f"(?:{re2.escape(character)}{after_each})" for character in text)


def expression_of(pattern: str, expressions: Expressions) -> str:
    """Return a pattern as an RE2 expression. Raises UserError for a faulty pattern."""
    unknown = [name for name in _ROLE.findall(pattern) if name not in expressions.roles]
    if unknown:
        raise UserError(
            f"pattern {pattern!r} has the role {{{unknown[0]}}}; expected one of "
            f"{', '.join(sorted(expressions.roles))}."
        )
    if not expressions.after_each and _MARK_BESIDE_ROLE.search(pattern):
        raise UserError(
            f"pattern {pattern!r} has a mark (\"'.,) beside a role, which never matches: answers "
            "lose marks there; leave it out."
        )
    expression = _translate(pattern, expressions)
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

    With ``full``, a pattern with the expression ``end`` after it must match the whole answer, and
    the verdict is certain. Otherwise the pattern may match inside the answer, and it is uncertain.
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
    other_roles: Texts,
    substitutes: Substitutes = (),
    changed: Changed = (),
    *,
    brackets: bool,
) -> Matchers:
    """Compile the patterns of a task. Raises UserError for a faulty pattern.

    ``other_roles``: expressions of roles that are no arguments, such as the result of
    ``counts_of``. ``brackets``: whether brackets mark the arguments in answers; if not, characters
    of roles do, and ``substitutes`` apply. ``changed``: as in ``task_patterns``.
    """
    patterns = task_patterns(declared, task, variant, changed)
    if brackets:
        in_sentences, in_exact_answers, in_differences = _expressions_for_brackets(
            declared, task, variant, other_roles
        )
    else:
        masked = _expressions_for_masks(declared, task, substitutes, other_roles)
        in_sentences = in_exact_answers = in_differences = masked
    exact = ["{answer}", *patterns.exact]
    if variant == "published":
        # In the release, an exact answer that is also a sentence may have a sentence's marks only.
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
    exact_answers = [compile_pattern(pattern, in_exact_answers, "whole") for pattern in exact]

    def optional(texts: Iterable[str]) -> str:
        expressions = [compile_pattern(text, in_sentences).expression for text in texts]
        return f"(?:{'|'.join(expressions)})?"

    sentences: list[Pattern] = []
    for framed in patterns.accept:
        sentence = compile_pattern(framed.pattern, in_sentences)
        before, after = optional(framed.before), optional(framed.after)
        expression = f"{before}(?:{sentence.expression}){after}"
        sentences.append(sentence._replace(expression=expression))
    # The first pattern that matches decides.
    in_order = [*wrong_answers, *exact_answers, *sentences]
    return Matchers(
        full=make_matcher(in_order, full=True, end=END[variant]),
        inside=make_matcher(sentences if RULES[task].inside else [], full=False),
    )


def compile_pattern(pattern: str, expressions: Expressions, rule: str = "pattern") -> Pattern:
    """Return a pattern with its expression. Raises UserError for a faulty pattern."""
    expression = expressions.after_each + expression_of(pattern, expressions)
    return Pattern(pattern, expression, rule)


def _expressions_for_masks(
    declared: AnswerPatterns, task: str, substitutes: Substitutes, other_roles: Texts
) -> Expressions:
    """Return the expressions for answers with roles' characters in place of arguments."""
    alternatives = {text: f"(?:{re2.escape(text)}|{role})" for text, role in substitutes}
    arguments: dict[str, str] = {}
    for name, role in (ROLE | answers.EITHER_ROLES).items():
        if name != "other":  # no pattern has this role
            arguments[name] = alternatives.get(role, role)
    without_roles = Expressions({}, substitutes=alternatives)
    roles = _add_articles(task, arguments, declared.article, declared.endings, without_roles)
    # A list of words in any order, with a conjunction before any of them.
    word, gap = f"[{answers.ANSWER}{answers.OTHER}]", NO_WORD_CHARACTER
    conjunction = alternatives.get(declared.conjunction, re.escape(declared.conjunction))
    roles["words"] = f"{gap}*(?:{word}{gap}*(?:{conjunction}{gap}+)?)+"
    roles["any"] = ANY_CHARACTER["corrected"]
    return Expressions({**roles, **other_roles}, substitutes=alternatives)


def _bracketed_list(conjunction: str, *, in_order: bool) -> str:
    # A list of words, each in brackets: in the prompt's order (the release), or in any order.
    conjunction = f"(?:{_translate(conjunction, Expressions({}, ANY_BRACKETS))}{SPACE}+)?"
    start, gap = f"{ANY_BRACKETS}{SPACE}*", f"{ANY_BRACKETS}{SPACE}+"
    if in_order:
        listed = [answers.between_brackets(ROLE[name]) + gap for name in answers.LISTED_ROLES]
        return start + "".join(listed[:-1]) + conjunction + listed[-1]
    word = "|".join(map(answers.between_brackets, (answers.ANSWER, answers.OTHER)))
    return f"{start}(?:(?:{word}){gap}{conjunction})+"


def _expressions_for_brackets(
    declared: AnswerPatterns, task: str, variant: str, other_roles: Texts
) -> tuple[Expressions, Expressions, Expressions]:
    """Return the expressions for answers with brackets around arguments.

    They are for sentences, for exact answers, and for wrong differences of lengths.
    """
    published, without_roles = variant == "published", Expressions({}, ANY_BRACKETS)
    arguments = {name: answers.between_brackets(role) for name, role in ROLE.items()}
    del arguments["other"]  # no pattern has this role
    either = f"(?:{arguments['answer']}|{arguments['distractor']})"
    arguments |= dict.fromkeys(answers.EITHER_ROLES, either)
    without_marks = {
        "words": _bracketed_list(declared.conjunction, in_order=published),
        "any": ANY_CHARACTER[variant] + ANY_BRACKETS,
    }
    for name, expression in other_roles.items():
        # An argument may begin or end at a space of the expression, and so have brackets there.
        spaced = expression.replace("\\ ", f"{ANY_BRACKETS}\\ {ANY_BRACKETS}")
        without_marks[name] = f"(?:{spaced}){ANY_BRACKETS}"

    def with_marks(marks: str, articles: Texts) -> Expressions:
        # Put the expression ``marks`` around arguments, and articles before them.
        marked_arguments = {}
        for name, argument in arguments.items():
            # Declined arguments have no marks, except a category in the absolutive.
            is_declined = name in answers.DECLINED_ROLES and name != "category_absolutive"
            edge = ANY_BRACKETS if is_declined else marks
            marked_arguments[name] = f"{edge}{argument}{edge}"
        endings = None if published else declared.endings
        roles = _add_articles(task, marked_arguments, articles, endings, without_roles)
        return without_roles._replace(roles=roles | without_marks)

    articles = declared.article
    exact_answers = with_marks(f"[{MARKS[variant]}{BRACKETS}]*", articles)
    if not published:
        return exact_answers, exact_answers, exact_answers
    marks = declared.published_marks.get(task, MARKS[variant])
    around = f"[{marks}{BRACKETS}]*"
    if task in declared.published_unbounded:
        articles = {}
        around = f"{ANY_BRACKETS}[{marks}]?{ANY_BRACKETS}" if marks else ANY_BRACKETS
    # In wrong differences the release looks for articles with a capital, although answers are in
    # lower case. So it only finds articles of scripts without case.
    uncased = {name: article for name, article in articles.items() if article.upper() == article}
    return with_marks(around, articles), exact_answers, with_marks(around, uncased)
