"""What an author of a grammar wants to see of it before its sets are generated."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from blimpworks.clams.grammar.generator import count_template, generate_template
from blimpworks.clams.grammar.model import Grammar, Reference, Variant
from blimpworks.errors import UserError

COMMON = "common.avg"
"""The file that the authors' program reads before each other one of its directory."""


def common_beside(path: Path) -> Path | None:
    """The ``common.avg`` in a grammar's directory, if there is one and it isn't the grammar."""
    found = path.with_name(COMMON)
    return found if found != path and found.is_file() else None


def read_vocabulary(path: Path) -> set[str]:
    """The words of a file that has one a line.

    Raises UserError for a file that cannot be read, and for a line with several words.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(
            f"{path} cannot be read ({error}); expected a vocabulary, one word a line, in UTF-8."
        ) from error
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
    templates = f"{len(counts)} template{'s' if len(counts) > 1 else ''}"
    yield f"{templates}, {sets:,} minimal sets, {lines:,} lines; varied: {varied}"
    for template, (sets, lines) in zip(grammar.templates, counts, strict=True):
        yield f"\nline {template.place.line}: {template}"
        yield f"  {sets:,} sets, {lines:,} lines"
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


def remarks(grammar: Grammar, variant: Variant) -> Iterator[str]:
    """What is allowed but seldom meant, each with its place.

    Forms that don't differ where they should, and alternatives that come twice (by which
    sentences do).
    """
    for reference in _distinct(grammar):
        rule = grammar.by_preterminal[reference.target]
        for other in grammar.alternates(reference.target, variant):
            for one, two in zip(rule.alternatives, other.alternatives, strict=True):
                if one.text == two.text:
                    yield (
                        f"{two.place}: {two.text!r} is the same for {rule.defined} and "
                        f"{other.defined}: sentences with it come as True and as False"
                    )
        seen: set[str] = set()
        for alternative in rule.alternatives:
            if alternative.text in seen:
                yield (
                    f"{alternative.place}: {alternative.text!r} comes twice in {rule.defined}: "
                    "so do all sentences with it"
                )
            seen.add(alternative.text)


def _distinct(grammar: Grammar) -> Iterable[Reference]:
    """The references of all templates, one for each preterminal."""
    references = (each for template in grammar.templates for each in template.references)
    return {each.target: each for each in references}.values()


def tokens_of(grammar: Grammar, variant: Variant) -> list[str]:
    """All words that generated sentences have, in the order in which the grammar has them."""
    found: dict[str, None] = {}
    for template in grammar.templates:
        for part in template.parts:
            if isinstance(part, str):
                found[part] = None
                continue
            rules = [grammar.by_preterminal[part.target]]
            rules += grammar.alternates(part.target, variant)
            for rule in rules:
                for alternative in rule.alternatives:
                    found |= dict.fromkeys(alternative.text.split(" "))
    return [*found]


def _missing(grammar: Grammar, variant: Variant, vocabulary: set[str]) -> str:
    tokens = tokens_of(grammar, variant)
    missing = [token for token in tokens if token not in vocabulary]
    if not missing:
        return f"all {len(tokens)} words are in the vocabulary"
    return f"{len(missing)} of {len(tokens)} words are not in the vocabulary: {' '.join(missing)}"
