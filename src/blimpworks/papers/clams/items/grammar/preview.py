"""What an author of a grammar wants to see of it before its sets are generated."""

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

from blimpworks.campaign.variants import Variant
from blimpworks.errors import UserError, reading
from blimpworks.files import text_of
from blimpworks.papers.clams.items.constructions import (
    CONSTRUCTIONS,
    ENGLISH,
    is_paradigm,
    phenomenon_of,
)
from blimpworks.papers.clams.items.grammar.generator import count_template, generate_template
from blimpworks.papers.clams.items.grammar.model import Grammar, Reference


def read_vocabulary(path: Path) -> set[str]:
    """Read words, one a line. Raises UserError for several words in a line."""
    with reading(path, "a vocabulary, one word a line, in UTF-8", "Correct the path or the file."):
        lines = text_of(path, "utf-8-sig").split("\n")
    words = [line.strip() for line in lines]
    for number, word in enumerate(words, start=1):
        if len(word.split()) > 1:
            raise UserError(
                f"{path}:{number}:1: found {word[:60]!r}; expected one word; write each on a "
                "line of its own."
            )
    return {word for word in words if word}


def preview(
    grammar: Grammar, variant: Variant, show: int, vocabulary: set[str] | None
) -> Iterator[str]:
    """Lines that say how much each template makes, its first ``show`` sets, and what is odd."""
    counts = [count_template(grammar, each, variant) for each in grammar.templates]
    varied = "; ".join(str(item.target) for item in grammar.vary)
    sets, lines = (sum(column) for column in zip(*counts, strict=True))
    size = f"{_counted(sets, 'minimal set')}, {_counted(lines, 'line')}"
    yield f"{_counted(len(counts), 'template')}, {size}; varied: {varied}"
    for template, (sets, lines) in zip(grammar.templates, counts, strict=True):
        yield f"\nline {template.place.line}: {template}"
        yield f"  {_counted(sets, 'set')}, {_counted(lines, 'line')}"
        for good, *bad in islice(generate_template(grammar, template, variant), show):
            yield f"    {good}"
            yield from (f"  * {sentence}" for sentence in bad)
        if show < sets:
            yield "    …"
    warnings = [*remarks(grammar, variant)]
    if vocabulary is not None:
        warnings.append(_missing(grammar, variant, vocabulary))
    if warnings:
        yield ""
        yield from warnings


def _counted(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def remarks(grammar: Grammar, variant: Variant) -> Iterator[str]:
    """Remark on what is allowed but seldom meant, each with its place."""
    yield from _unknown_paradigm(grammar.file)
    # Rules of the grammar's own file; of common ones, each grammar uses some.
    used = {
        defined
        for reference in _distinct(grammar)
        for defined in grammar.slot_rules(reference.target, variant)
    }
    for unused_rule in grammar.rules:
        own = [each.place for each in unused_rule.alternatives if each.place.file == grammar.file]
        if own and unused_rule.defined not in used:
            place = unused_rule.place if unused_rule.place.file == grammar.file else own[0]
            yield f"{place}: no template uses {unused_rule.defined}, and no wrong sentence has it"
    if variant == "published":
        yield from _repeated_items(grammar)
        # Slots for which the authors' program writes nothing.
        references = [r for template in grammar.templates for r in template.references]
        for uncovered in filter(grammar.uncovered, references):
            yield (
                f"{uncovered.place}: {uncovered.target} falls under no item of the vary statement: "
                "--variant published leaves out the sentence up to there, as the authors' program "
                "does; --variant corrected keeps it as it is"
            )
    for reference in _distinct(grammar):
        # Alternatives that are replaced by a word of the same form, and forms that replace none.
        right_rule, *others = grammar.slot_rules(reference.target, variant).values()
        for other in others:
            for unused in other.alternatives[len(right_rule.alternatives) :]:
                yield (
                    f"{unused.place}: {unused.text!r} of {other.defined} replaces nothing, as "
                    f"{right_rule.defined} has fewer alternatives"
                )
            for right, wrong in zip(right_rule.alternatives, other.alternatives, strict=False):
                if right.text == wrong.text:
                    yield (
                        f"{wrong.place}: {wrong.text!r} is the same for {right_rule.defined} and "
                        f"{other.defined}: sentences with it come as True and as False"
                    )
        # Alternatives that are empty, or that the rule has had before.
        rule = grammar.by_preterminal[reference.target]
        seen: set[str] = set()
        for alternative in rule.alternatives:
            if not alternative.text:
                yield f"{alternative.place}: an alternative of {rule.defined} is empty"
            if alternative.text in seen:
                yield (
                    f"{alternative.place}: {alternative.text!r} comes twice in {rule.defined}: "
                    "so do all sentences with it"
                )
            seen.add(alternative.text)


def _unknown_paradigm(file: Path) -> Iterator[str]:
    """A set is called like its grammar, and scored and shown by that name."""
    if is_paradigm(file.stem):
        return
    close = get_close_matches(file.stem, {**CONSTRUCTIONS, **ENGLISH})
    meant = f" (is {close[0]} meant?)" if close else ""
    yield (
        f"{file}: {file.stem} is none of CLAMS's paradigms{meant}: the set will be scored as "
        f"{phenomenon_of(file.stem)}, but no exhibit shows it"
    )


def _repeated_items(grammar: Grammar) -> Iterator[str]:
    """Items of the vary statement for which the authors' program has its latent fault."""
    covering = [grammar.items_for(reference.target) for reference in _distinct(grammar)]
    repeating = {item for items in covering if all(i.attributes for i in items) for item in items}
    for item in grammar.vary:
        if item.target in repeating:
            yield (
                f"{item.place}: {item.target} in the vary statement has attributes: --variant "
                "published repeats each grammatical sentence as an ungrammatical one, as the "
                "authors' program does; --variant corrected does not"
            )


def _distinct(grammar: Grammar) -> Iterable[Reference]:
    """The references of all templates, one for each preterminal."""
    references = (each for template in grammar.templates for each in template.references)
    return {each.target: each for each in references}.values()


def tokens_of(grammar: Grammar, variant: Variant) -> list[str]:
    """All words that generated sentences have, in the order in which the grammar has them."""
    tokens: dict[str, None] = {}
    for template in grammar.templates:
        for segment in grammar.segments(template, variant):
            if isinstance(segment, str):
                tokens[segment] = None
                continue
            for rule in grammar.slot_rules(segment.target, variant).values():
                for alternative in rule.alternatives:
                    tokens |= dict.fromkeys(alternative.text.split())
    return [*tokens]


def _missing(grammar: Grammar, variant: Variant, vocabulary: set[str]) -> str:
    """Which words of the grammar a vocabulary lacks, in a line."""
    tokens = tokens_of(grammar, variant)
    missing = [token for token in tokens if token not in vocabulary]
    if not missing:
        return f"all {len(tokens)} words are in the vocabulary"
    are = "is" if len(missing) == 1 else "are"
    return f"{len(missing)} of {len(tokens)} words {are} not in the vocabulary: {' '.join(missing)}"
