"""What an attribute-varying grammar consists of, and what it must fulfil as a whole.

Source: Mueller et al. (2020), section 3. A *template* is an expansion of ``S[]``: words and
references to *preterminals*. A preterminal is a name with a set of attributes, ``V[3,s]``, and
has *alternatives*, each a word or several. The *vary statement* names the preterminals whose
other attribute sets make a sentence ungrammatical.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import NoReturn

from blimpworks.campaign.variants import Variant
from blimpworks.errors import UserError

START = "S"
"""Name of the left-hand side of templates."""

COMMON = "common.avg"
"""The file that the authors' program reads before each other one of its directory."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands: a file, a line and a column, both counted from 1."""

    file: Path
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


def fail(place: Place, mistake: str, expected: str, advice: str) -> NoReturn:
    """Raise the UserError that says in one sentence what is wrong at a place of a grammar."""
    raise UserError(f"{place}: found {mistake}; expected {expected}; {advice}.")


@dataclass(frozen=True, slots=True)
class Preterminal:
    """A name with an unordered set of attributes. ``written`` is how it first stood there."""

    name: str
    attributes: frozenset[str]
    written: str = field(compare=False, default="")

    def __str__(self) -> str:
        return self.written or f"{self.name}[{','.join(sorted(self.attributes))}]"


@dataclass(frozen=True, slots=True)
class Reference:
    """A preterminal that is named in a template or in the vary statement."""

    target: Preterminal
    place: Place


@dataclass(frozen=True, slots=True)
class Alternative:
    """One right-hand side of a preterminal: words with single spaces between them."""

    text: str
    place: Place


@dataclass(frozen=True, slots=True)
class Rule:
    """All alternatives of a preterminal, in order; ``place`` is that of its first line."""

    defined: Preterminal
    alternatives: tuple[Alternative, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Template:
    """An expansion of ``S[]``: words, as they stand, and references."""

    parts: tuple[str | Reference, ...]
    place: Place

    @property
    def references(self) -> tuple[Reference, ...]:
        """Its references, from left to right."""
        return tuple(part for part in self.parts if isinstance(part, Reference))

    def __str__(self) -> str:
        """As a line of a grammar has it."""
        parts = (part if isinstance(part, str) else str(part.target) for part in self.parts)
        return f"{START}[] {' '.join(parts)}"


@dataclass(frozen=True)
class Grammar:
    """A whole grammar: templates and rules in order of definition, and the vary statement.

    ``file`` is the grammar's own, not the one that it shares with others.
    """

    templates: tuple[Template, ...]
    rules: tuple[Rule, ...]
    vary: tuple[Reference, ...]
    file: Path

    @cached_property
    def by_preterminal(self) -> dict[Preterminal, Rule]:
        """Rules by what they define."""
        return {rule.defined: rule for rule in self.rules}

    def named(self, name: str) -> list[Rule]:
        """Rules of a name, whatever their attributes, in order of definition."""
        return [rule for rule in self.rules if rule.defined.name == name]

    def items_for(self, target: Preterminal) -> list[Preterminal]:
        """The vary statement's items that a preterminal falls under."""
        items = (item.target for item in self.vary)
        return [item for item in items if _falls_under(target, item)]

    def uncovered(self, reference: Reference) -> bool:
        """Whether its name is varied, but no item of the vary statement covers it."""
        named = any(item.target.name == reference.target.name for item in self.vary)
        return named and not self.items_for(reference.target)

    def segments(self, template: Template, variant: Variant) -> tuple[str | Reference, ...]:
        """The words and references that the sentences of a template consist of.

        The authors' program writes nothing for an uncovered slot and loses all before it; so
        does ``published``. ``corrected`` keeps such a slot as it is.
        """
        lost = 0
        for count, segment in enumerate(template.parts, start=1):
            if isinstance(segment, Reference) and self.uncovered(segment):
                lost = count if variant == "published" else 0
        return template.parts[lost:]

    def series(self, target: Preterminal, variant: Variant) -> list[list[Rule]]:
        """List the rule of a slot and those that replace it, by item of the vary statement.

        ``published`` has a series for each item where all have attributes, and repeats ``target``
        among its wrong forms, as the authors' program does.
        """
        rule, named = self.by_preterminal[target], self.named(target.name)
        items = list(dict.fromkeys(self.items_for(target)))
        if variant == "published" and items and all(item.attributes for item in items):
            return [
                [rule, *(form for form in named if _falls_under(form.defined, item))]
                for item in items
            ]
        forms = (r for r in named if any(_falls_under(r.defined, item) for item in items))
        return [[rule, *(form for form in forms if form is not rule)]]

    def slot_rules(self, target: Preterminal, variant: Variant) -> dict[Preterminal, Rule]:
        """The rules that may fill a slot, by what they define; the right one first."""
        return {rule.defined: rule for rules in self.series(target, variant) for rule in rules}


def _falls_under(target: Preterminal, item: Preterminal) -> bool:
    return target.name == item.name and item.attributes <= target.attributes


def listed(preterminals: Iterable[Preterminal]) -> str:
    """Preterminals in a sentence: ``V[3,s] and V[3,p]``."""
    *first, last = map(str, preterminals)
    return f"{', '.join(first)} and {last}" if first else last


# What must hold before anything is generated


def check_grammar(grammar: Grammar, variant: Variant, file: Path) -> None:
    """Raise UserError for what keeps ``grammar`` of ``file`` from generating sets."""
    if not grammar.templates and file.name == COMMON:
        fail(
            Place(file, 1, 1),
            f"no template, as {COMMON} is read with each of the others of its directory",
            "a grammar with templates, such as simple_agrmt.avg",
            f"name one of those instead of {COMMON}",
        )
    if not grammar.templates:
        fail(
            Place(file, 1, 1),
            "no template",
            f"at least one line such as {START}[] the N[s] V[s]",
            "write the sentences' frame as one",
        )
    if not grammar.vary:
        fail(
            Place(file, 1, 1),
            "no vary statement",
            "a line such as vary: V[]",
            "name the preterminal whose other forms are ungrammatical",
        )
    for item in grammar.vary:
        # A vary statement's item must be of some preterminal.
        rules = grammar.named(item.target.name)
        if not rules:
            _fail_undefined(grammar, item, "in the vary statement")
        if not any(item.target.attributes <= rule.defined.attributes for rule in rules):
            fail(
                item.place,
                f"{item.target} in the vary statement, whose attributes no {item.target.name} has",
                f"attributes of {listed(rule.defined for rule in rules)}",
                f"correct them, or write {item.target.name}[] to vary all",
            )
    for template in grammar.templates:
        _check_template(grammar, template, variant)


def _fail_undefined(grammar: Grammar, reference: Reference, where: str) -> NoReturn:
    """Say what is defined instead: the same name with other attributes, or a similar name."""
    name = reference.target.name
    same = [rule.defined for rule in grammar.named(name)]
    if same:
        expected = f"one of the attribute sets that {name} is defined with: {listed(same)}"
    else:
        names = list(dict.fromkeys(rule.defined.name for rule in grammar.rules))
        # Of a misspelt name the likely ones; of anything else a few, to show what there is.
        close = get_close_matches(name, names) or names[:5]
        known = f", such as {' or '.join(close)}" if close else "; there is none yet"
        expected = f"a name that a rule defines{known}"
    advice = f"correct it, or define it by a line that starts with {reference.target}"
    fail(reference.place, f"{reference.target} {where}, which no rule defines", expected, advice)


def _check_template(grammar: Grammar, template: Template, variant: Variant) -> None:
    for reference in template.references:
        if reference.target.name == START:
            fail(
                reference.place,
                f"{reference.target} in a template, which would be recursion",
                "words and preterminals",
                "write out what it stands for",
            )
        if reference.target not in grammar.by_preterminal:
            _fail_undefined(grammar, reference, "in a template")
    segments = grammar.segments(template, variant)
    references = (segment for segment in segments if isinstance(segment, Reference))
    varied = [reference for reference in references if grammar.items_for(reference.target)]
    # A template of which published leaves nothing makes no sentence.
    if segments and not varied:
        fail(
            template.place,
            "a template in which nothing varies",
            f"a reference that falls under {listed(item.target for item in grammar.vary)}",
            "put one in, or name one of the template's preterminals in the vary statement",
        )
    for reference in varied:
        _check_alternates(grammar, reference, variant)


def _check_alternates(grammar: Grammar, reference: Reference, variant: Variant) -> None:
    """There must be something to vary with, of one alternative for each of the referenced."""
    target = reference.target
    series = grammar.series(target, variant)
    if len({len(rules) for rules in series}) > 1:
        fail(
            reference.place,
            f"{target}, which falls under several items of the vary statement, of unequal numbers "
            "of attribute sets: the authors' program labels its sentences by chance",
            "items of as many attribute sets",
            "write one item, or use --variant corrected",
        )
    if len(series[0]) == 1:
        fail(
            reference.place,
            f"{target}, which is varied but has nothing to vary with",
            f"another attribute set of {target.name} that falls under the vary statement",
            f"define one, or write {target.name}[] in the vary statement",
        )
    for rule, *wrong in series:
        for other in wrong:
            count, expected = len(other.alternatives), len(rule.alternatives)
            if count < expected or (variant == "corrected" and count > expected):
                plural = "s" if count > 1 else ""
                fail(
                    other.place,
                    f"{count} alternative{plural} of {other.defined}",
                    f"{expected}, as many as {rule.defined} has at {rule.place}, of which each is "
                    "replaced by the one at its position",
                    "add what is missing, in the same order",
                )
