"""Generating minimal sets from a grammar, in a stream.

A template is worked through from left to right. For a preterminal that does not vary, the outer
loop goes over its alternatives and the inner one over the sentences so far, so that the first
slot varies fastest; for one that varies, the outer loop goes over the sentences so far. The
sentences so far are generated anew in each round of an outer loop, never held in a list, so
memory does not grow with what is generated. The price is that every sentence passes through all
slots, where with lists the first slots would be done once.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from math import prod
from pathlib import Path

from blimpworks.campaign.variants import Variant
from blimpworks.errors import UserError
from blimpworks.files import atomic
from blimpworks.papers.clams.items.grammar.model import (
    Grammar,
    Reference,
    Template,
    common_beside,
    fail,
    read_grammar,
)

MinimalSet = tuple[str, ...]
"""A grammatical sentence, then the ungrammatical ones that belong to it."""
Stream = Callable[[], Iterator[MinimalSet]]
Column = tuple[str, ...]
"""The k-th alternative of a varied preterminal, then that of each of its alternates."""
LINES_AT_ONCE = 4096
MOST_LINES = 20_000_000
"""Lines of the largest file of sets; the largest released one has fewer than 100,000."""


def generate(grammar: Grammar, variant: Variant) -> Iterator[MinimalSet]:
    """All minimal sets of a checked grammar, template by template (paper, section 3).

    Where a template has several varied slots, ``published`` calls a sentence grammatical
    whose last one is, as the authors' program does; ``corrected`` one all of whose slots are,
    followed by all its ungrammatical variants.
    """
    for template in grammar.templates:
        yield from generate_template(grammar, template, variant)


def generate_template(
    grammar: Grammar, template: Template, variant: Variant
) -> Iterator[MinimalSet]:
    """The minimal sets of one of a grammar's templates."""
    segments = grammar.segments(template, variant)
    stream: Stream = partial(iter, [("",)] if segments else [])
    optional = False
    for number, segment in enumerate(segments):
        columns = _columns(grammar, segment, variant, " " if number else "")
        optional |= not number and any("" in column for column in columns)
        if isinstance(segment, str) or not grammar.items_for(segment.target):
            stream = partial(_fixed, stream, [words for (words,) in columns])
        else:
            stream = partial(_split if variant == "published" else _widened, stream, columns)
    if optional:  # Without the first word, the space before the second one comes first.
        return (tuple([text.removeprefix(" ") for text in sentences]) for sentences in stream())
    return stream()


def _columns(
    grammar: Grammar, segment: str | Reference, variant: Variant, space: str
) -> list[Column]:
    """What a slot may hold, each alternative beside those that replace it."""
    if isinstance(segment, str):
        return [(space + segment,)]
    columns: list[Column] = []
    for rules in grammar.series(segment.target, variant):
        texts = ([f"{space}{e.text}" if e.text else "" for e in r.alternatives] for r in rules)
        # Beyond the alternatives of the first rule there is nothing to replace.
        columns += islice(zip(*texts, strict=False), len(rules[0].alternatives))
    return columns


def _fixed(stream: Stream, words: Sequence[str]) -> Iterator[MinimalSet]:
    for word in words:
        for sentences in stream():
            # Nearly all sets are pairs, and written out these take half the time.
            if len(sentences) == 2:
                yield sentences[0] + word, sentences[1] + word
            else:
                yield tuple([sentence + word for sentence in sentences])


def _split(stream: Stream, columns: Sequence[Column]) -> Iterator[MinimalSet]:
    for sentences in stream():
        for sentence in sentences:
            for column in columns:
                yield tuple([sentence + words for words in column])


def _widened(stream: Stream, columns: Sequence[Column]) -> Iterator[MinimalSet]:
    for sentences in stream():
        for column in columns:
            yield tuple([sentence + words for sentence in sentences for words in column])


def count_template(grammar: Grammar, template: Template, variant: Variant) -> tuple[int, int]:
    """How many minimal sets and how many lines a template makes, without making them."""
    segments = grammar.segments(template, variant)
    if not segments:
        return 0, 0
    references = (segment for segment in segments if isinstance(segment, Reference))
    slots = [grammar.series(reference.target, variant) for reference in references]
    counts = [len(rules) * len(rules[0][0].alternatives) for rules in slots]
    widths = [len(rules[0]) for rules in slots]
    lines = prod(counts) * prod(widths)
    if variant == "corrected":
        return prod(counts), lines
    return lines // next(width for width in reversed(widths) if width > 1), lines


def lines_of(sets: Iterable[MinimalSet]) -> Iterator[str]:
    """Minimal sets as the released files have them: ``True`` or ``False``, tab, sentence."""
    for good, *bad in sets:
        yield f"True\t{good}\n"
        for sentence in bad:
            yield f"False\t{sentence}\n"


def files_read(grammars: Sequence[Path], common: Path | None) -> list[Path]:
    """What ``generate_sets`` reads: files of common rules first, each once, then the grammars."""
    shared = [common or common_beside(path) for path in grammars]
    return [*dict.fromkeys(filter(None, shared)), *grammars]


def generate_sets(
    grammars: Sequence[Path], common: Path | None, outputs: Sequence[Path], variant: Variant
) -> list[int]:
    """Write what each grammar generates to the output of the same position; lines of each.

    ``common`` is read before each grammar; None stands for the ``common.avg`` beside each. All
    grammars are read before the first file is written; each file is written whole or not at
    all. Raises UserError for a grammar with a mistake or of too many sentences, for unequal
    numbers of files, and for an output that would overwrite another one or a grammar.
    """
    if len(grammars) != len(outputs):
        raise UserError(
            f"{len(outputs)} outputs for {len(grammars)} grammars; expected as many, in the same "
            "order; repeat --output."
        )
    touched = [*files_read(grammars, common), *outputs]
    for path in outputs:
        if touched.count(path) > 1:
            raise UserError(
                f"{path} is an output and also another file of this command; expected a path "
                "for each; correct --output."
            )
    parsed = [read_grammar(path, common or common_beside(path), variant) for path in grammars]
    for grammar in parsed:
        # Raise UserError, before anything is generated, for a grammar that makes too much.
        lines = {each: count_template(grammar, each, variant)[1] for each in grammar.templates}
        largest = max(lines, key=lambda each: lines[each])
        if sum(lines.values()) > MOST_LINES:
            fail(largest.place, "too many sentences", most=MOST_LINES)
    return [
        write_sets(generate(grammar, variant), output)
        for grammar, output in zip(parsed, outputs, strict=True)
    ]


def write_sets(sets: Iterable[MinimalSet], output: Path) -> int:
    """Write minimal sets in the released form, atomically; return the number of lines."""
    lines, count = lines_of(sets), 0
    with atomic(output) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        while chunk := [*islice(lines, LINES_AT_ONCE)]:
            file.write("".join(chunk))
            count += len(chunk)
    return count
