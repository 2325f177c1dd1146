"""Generate minimal sets from a grammar, in a stream.

A template is worked through from left to right. For a slot that does not vary, the outer loop goes
over its alternatives and the inner one over the sentences so far: the first slot varies fastest.
For a slot that varies, the outer loop goes over the sentences so far. Each round of an outer loop
generates the sentences so far again: lists of them would not fit into memory.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from math import prod
from pathlib import Path

from blimpworks.campaign.variants import Variant
from blimpworks.errors import UserError
from blimpworks.files import atomic
from blimpworks.papers.clams.items.grammar import model
from blimpworks.papers.clams.items.grammar.model import Grammar, Reference, Template

MinimalSet = tuple[str, ...]
"""A grammatical sentence, then its ungrammatical ones."""
Stream = Callable[[], Iterator[MinimalSet]]
Column = tuple[str, ...]
"""The k-th alternative of a preterminal, then that of each preterminal that replaces it."""
MOST_LINES = 20_000_000
"""Most lines of a file of sets; the released ones have fewer than 100,000."""


def generate(grammar: Grammar, variant: Variant) -> Iterator[MinimalSet]:
    """Generate all minimal sets of a checked grammar, template by template (paper, section 3).

    Of several varied slots, the last one alone decides for ``published``, as in the authors'
    program. For ``corrected`` a sentence is grammatical if all its slots are; all its variants
    follow it.
    """
    for template in grammar.templates:
        yield from generate_template(grammar, template, variant)


def generate_template(
    grammar: Grammar, template: Template, variant: Variant
) -> Iterator[MinimalSet]:
    """Generate the minimal sets of one template."""
    segments = grammar.segments(template, variant)
    stream: Stream = partial(iter, [("",)] if segments else [])
    optional = False
    for number, segment in enumerate(segments):
        columns = _columns(grammar, segment, variant, " " if number else "")
        optional |= not number and any("" in column for column in columns)
        if isinstance(segment, str) or not grammar.items_for(segment.target):
            stream = partial(_fixed, stream, [column_words for (column_words,) in columns])
        else:
            stream = partial(_split if variant == "published" else _widened, stream, columns)
    if optional:  # Sentences without their first word begin with the space before the second.
        return (tuple([text.removeprefix(" ") for text in sentences]) for sentences in stream())
    return stream()


def _columns(
    grammar: Grammar, segment: str | Reference, variant: Variant, space: str
) -> list[Column]:
    """Return the alternatives of a slot, each with those that replace it."""
    if isinstance(segment, str):
        return [(space + segment,)]
    columns: list[Column] = []
    for rules in grammar.series(segment.target, variant):
        texts = ([f"{space}{e.text}" if e.text else "" for e in r.alternatives] for r in rules)
        # Further alternatives of the other rules have nothing to replace.
        columns += islice(zip(*texts, strict=False), len(rules[0].alternatives))
    return columns


def _fixed(stream: Stream, words: Sequence[str]) -> Iterator[MinimalSet]:
    for word in words:
        for sentences in stream():
            # Nearly all sets are pairs; a case of their own takes half the time.
            if len(sentences) == 2:
                yield sentences[0] + word, sentences[1] + word
            else:
                yield tuple([sentence + word for sentence in sentences])


def _split(stream: Stream, columns: Sequence[Column]) -> Iterator[MinimalSet]:
    for sentences in stream():
        for sentence in sentences:
            for column in columns:
                yield tuple([sentence + added_words for added_words in column])


def _widened(stream: Stream, columns: Sequence[Column]) -> Iterator[MinimalSet]:
    for sentences in stream():
        for column in columns:
            yield tuple(
                [sentence + added_words for sentence in sentences for added_words in column]
            )


def count_template(grammar: Grammar, template: Template, variant: Variant) -> tuple[int, int]:
    """Count a template's minimal sets, and their lines, without generating them."""
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
    """Write minimal sets in the released form: ``True`` or ``False``, tab, sentence."""
    for good, *bad in sets:
        yield f"True\t{good}\n"
        for sentence in bad:
            yield f"False\t{sentence}\n"


def files_read(grammars: Sequence[Path], common: Path | None) -> list[Path]:
    """Return the files that ``generate_sets`` reads: common ones first, each once."""
    shared = [common or model.common_beside(path) for path in grammars]
    return [*dict.fromkeys(filter(None, shared)), *grammars]


def generate_sets(
    grammars: Sequence[Path], common: Path | None, outputs: Sequence[Path], variant: Variant
) -> list[int]:
    """Write the sets of each grammar to the output of the same position; return the lines of each.

    ``common`` is read before each grammar; None stands for the ``common.avg`` beside each. All
    grammars are read before the first file is written. Raises UserError for a mistake in a grammar,
    too many sentences, unequal numbers of files, and an output that is another file of the command.
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
    parsed = [
        model.read_grammar(path, common or model.common_beside(path), variant) for path in grammars
    ]
    for grammar in parsed:
        lines = {t: count_template(grammar, t, variant)[1] for t in grammar.templates}
        largest = max(lines, key=lambda template: lines[template])
        if sum(lines.values()) > MOST_LINES:
            model.fail(largest.place, "too many sentences", most=MOST_LINES)
    counts = [0] * len(parsed)
    for number, (grammar, output) in enumerate(zip(parsed, outputs, strict=True)):
        with atomic(output) as path, path.open("w", encoding="utf-8", newline="\n") as file:
            for line in lines_of(generate(grammar, variant)):
                file.write(line)
                counts[number] += 1
    return counts
