"""What a grammar must fulfil as a whole before anything is generated from it."""

from difflib import get_close_matches
from pathlib import Path
from typing import NoReturn

from blimpworks.campaign.variants import Variant
from blimpworks.papers.clams.items.grammar.model import (
    COMMON,
    START,
    Grammar,
    Place,
    Reference,
    Rule,
    Template,
    fail,
    listed,
)


def check_grammar(grammar: Grammar, variant: Variant, file: Path) -> None:
    """Raise UserError for the first thing that keeps ``grammar`` from generating minimal sets.

    ``file`` is where missing templates and a missing vary statement are looked for.
    """
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
        _check_item(grammar, item)
    for template in grammar.templates:
        _check_template(grammar, template, variant)


def _check_item(grammar: Grammar, item: Reference) -> None:
    """A vary statement's item must be of some preterminal."""
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
    varied = [each for each in template.references if grammar.items_for(each.target)]
    if not varied:
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
    alternates = grammar.alternates(target, variant)
    if not alternates:
        fail(
            reference.place,
            f"{target}, which is varied but has nothing to vary with",
            f"another attribute set of {target.name} that falls under the vary statement",
            f"define one, or write {target.name}[] in the vary statement",
        )
    rule = grammar.by_preterminal[target]
    for other in alternates:
        _check_alignment(rule, other)


def _check_alignment(rule: Rule, other: Rule) -> None:
    """The n-th alternatives of two attribute sets are forms of one word."""
    count, expected = len(other.alternatives), len(rule.alternatives)
    if count != expected:
        plural = "s" if count > 1 else ""
        fail(
            other.place,
            f"{count} alternative{plural} of {other.defined}",
            f"{expected}, as many as {rule.defined} has at {rule.place}, of which each is replaced "
            "by the one at its position",
            "add what is missing, in the same order",
        )
