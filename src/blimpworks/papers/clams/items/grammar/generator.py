"""Generate minimal sets from a grammar, one after another, and preview a grammar for its author.

The template ``the N[s] V[3,s]`` with ``vary: V[]`` gives sets such as ("the dog barks", "the dog
bark"). ``generate_sets`` writes a line for each sentence: True or False, a tab, the sentence.

A template is expanded from left to right, in the order of the authors' program. A *stream*
generates the sets of the template's beginning, such as "the dog". For a slot that does not vary,
the outer loop is over its alternatives and the inner loop over the stream. So the first slot
changes fastest. For a slot that varies, the outer loop is over the stream. A stream generates its
sets again in each round of an outer loop, because a list of them would not fit into memory.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import partial
from itertools import islice
from math import prod
from pathlib import Path

from blimpworks.campaign.variants import Variant
from blimpworks.errors import UserError, reading
from blimpworks.files import atomic, read_cells, text_of
from blimpworks.papers.clams.items import sets as clams
from blimpworks.papers.clams.items.grammar import model

MinimalSet = tuple[str, ...]
"""A grammatical sentence, then its ungrammatical variants."""
Stream = Callable[[], Iterator[MinimalSet]]
"""Function that generates the sets of a template's beginning, as often as it is called."""
Column = tuple[str, ...]
"""The k-th alternative of a preterminal, then the k-th of each preterminal that replaces it:
("barks", "bark"). In a slot that does not vary, nothing replaces it."""
MOST_LINES = 20_000_000
"""Most lines of a file of sets; released files have fewer than 100,000."""


def generate(grammar: model.Grammar) -> Iterator[MinimalSet]:
    """Generate all minimal sets of a checked grammar, template by template (paper, section 3).

    With ``published``, only the last of several varied slots decides whether a sentence is
    grammatical, as in the authors' program. With ``corrected``, all varied slots decide, and a
    grammatical sentence is followed by all its ungrammatical variants.
    """
    for template in grammar.templates:
        yield from generate_template(grammar, template)


def generate_template(grammar: model.Grammar, template: model.Template) -> Iterator[MinimalSet]:
    """Generate the minimal sets of one template."""
    segments = grammar.segments(template)
    expand = _split if grammar.variant == "published" else _widened
    # At first, the template's beginning is empty: one set of one empty sentence.
    stream: Stream = partial(iter, [("",)] if segments else [])
    may_lack_first_word = False
    for number, segment in enumerate(segments):
        columns = _columns(grammar, segment, " " if number else "")
        if number == 0:
            may_lack_first_word = any("" in column for column in columns)
        if isinstance(segment, str) or not grammar.items_for(segment.target):
            stream = partial(_fixed, stream, [column[0] for column in columns])
        else:
            stream = partial(expand, stream, columns)
    if may_lack_first_word:  # such a sentence begins with a space
        return (tuple([text.removeprefix(" ") for text in sentences]) for sentences in stream())
    return stream()


def _columns(grammar: model.Grammar, segment: str | model.Reference, space: str) -> list[Column]:
    """Return the alternatives of a slot, each followed by the alternatives that replace it.

    ``space``: put before each of them.
    """
    if isinstance(segment, str):
        return [(space + segment,)]
    columns: list[Column] = []
    for rules in grammar.series(segment.target):
        texts = ([f"{space}{e.text}" if e.text else "" for e in r.alternatives] for r in rules)
        # Alternatives of a rule without a counterpart in the other rules replace nothing.
        columns += zip(*texts, strict=False)
    return columns


def _fixed(stream: Stream, alternatives: Sequence[str]) -> Iterator[MinimalSet]:
    for word in alternatives:
        for sentences in stream():
            # Nearly all sets are pairs, and this case takes half the time for them.
            if len(sentences) == 2:
                yield sentences[0] + word, sentences[1] + word
            else:
                yield tuple([sentence + word for sentence in sentences])


def _split(stream: Stream, columns: Sequence[Column]) -> Iterator[MinimalSet]:
    # Each sentence so far makes sets of its own, even an ungrammatical one.
    for sentences in stream():
        for sentence in sentences:
            for column in columns:
                yield tuple([sentence + added_words for added_words in column])


def _widened(stream: Stream, columns: Sequence[Column]) -> Iterator[MinimalSet]:
    # Each set so far makes wider sets, whose only grammatical sentence has all the right words.
    for sentences in stream():
        for column in columns:
            yield tuple([sentence + added for sentence in sentences for added in column])


def count_template(grammar: model.Grammar, template: model.Template) -> tuple[int, int]:
    """Count a template's minimal sets, and their lines, without generating them."""
    segments = grammar.segments(template)
    if not segments:
        return 0, 0
    references = (segment for segment in segments if isinstance(segment, model.Reference))
    slots = [grammar.series(reference.target) for reference in references]
    counts = [len(series) * len(series[0][0].alternatives) for series in slots]
    # Number of forms of a word in a slot, the right one and the wrong ones.
    widths = [len(series[0]) for series in slots]
    lines = prod(counts) * prod(widths)
    if grammar.variant == "corrected":
        return prod(counts), lines
    # A set has one sentence for each form in the last slot that varies.
    *_, last_width = (width for width in widths if width > 1)
    return lines // last_width, lines


def lines_of(sets: Iterable[MinimalSet]) -> Iterator[str]:
    """Yield the lines of minimal sets in the released form: True or False, a tab, a sentence."""
    for good, *bad in sets:
        yield f"True\t{good}\n"
        for sentence in bad:
            yield f"False\t{sentence}\n"


def files_read(grammars: Sequence[Path], common: Path | None) -> list[Path]:
    """Return the distinct files that ``generate_sets`` reads, common ones first."""
    shared = [common or model.common_beside(path) for path in grammars]
    return [*dict.fromkeys(filter(None, shared)), *grammars]


def generate_sets(
    grammars: Sequence[Path], common: Path | None, outputs: Sequence[Path], variant: Variant
) -> list[int]:
    """Write the sets of the n-th grammar to the n-th output; return the outputs' numbers of lines.

    ``common`` is read before each grammar; None: the ``common.avg`` beside the grammar. All
    grammars are read before the first file is written. Raises UserError for a mistake in a grammar,
    too many sentences, unequal numbers of files, and an output that is another file too.
    """
    if len(grammars) != len(outputs):
        raise UserError(
            f"{len(outputs)} outputs for {len(grammars)} grammars; expected as many outputs as "
            "grammars, in the same order; repeat --output."
        )
    files = [*files_read(grammars, common), *outputs]
    for path in outputs:
        if files.count(path) > 1:
            raise UserError(
                f"{path} is an output and also another file of this command; expected a path "
                "for each; correct --output."
            )
    pairs = [(path, common or model.common_beside(path)) for path in grammars]
    parsed = [model.read_grammar(path, beside, variant) for path, beside in pairs]
    for grammar in parsed:
        lines = {t: count_template(grammar, t)[1] for t in grammar.templates}
        largest = max(lines, key=lambda template: lines[template])
        if sum(lines.values()) > MOST_LINES:
            model.fail(largest.location, "too many sentences", most=MOST_LINES)
    counts = [0] * len(parsed)
    for number, (grammar, output) in enumerate(zip(parsed, outputs, strict=True)):
        with atomic(output) as path, path.open("w", encoding="utf-8", newline="\n") as file:
            for line in lines_of(generate(grammar)):
                file.write(line)
                counts[number] += 1
    return counts


REMARKS = {
    row["remark"]: row["text"] for row in read_cells(Path(__file__).with_name("remarks.tsv"))
}


def read_vocabulary(path: Path) -> set[str]:
    """Read a vocabulary of one word a line. Raises UserError for several words in a line."""
    with reading(path, "a vocabulary, one word a line, in UTF-8", "Correct the path or the file."):
        lines = text_of(path, "utf-8-sig").split("\n")
    vocabulary = [line.strip() for line in lines]
    for number, word in enumerate(vocabulary, start=1):
        if len(word.split()) > 1:
            raise UserError(
                f"{path}:{number}:1: found {word[:60]!r}; expected one word; write each on a "
                "line of its own."
            )
    return {word for word in vocabulary if word}


def preview(grammar: model.Grammar, show: int, vocabulary: set[str] | None) -> Iterator[str]:
    """Yield lines on each template's size with its first ``show`` sets, then remarks."""
    from blimpworks.exhibits import shared  # slow, and generation needs none of it

    counted = partial(shared.counted, form=",")
    counts = [count_template(grammar, template) for template in grammar.templates]
    varied = "; ".join(str(item.target) for item in grammar.vary)
    all_sets, all_lines = sum(sets for sets, _ in counts), sum(lines for _, lines in counts)
    size = f"{counted(all_sets, 'minimal set')}, {counted(all_lines, 'line')}"
    yield f"{counted(len(counts), 'template')}, {size}; varied: {varied}"
    for template, (sets, lines) in zip(grammar.templates, counts, strict=True):
        yield f"\nline {template.location.line}: {template}"
        yield f"  {counted(sets, 'set')}, {counted(lines, 'line')}"
        for good, *bad in islice(generate_template(grammar, template), show):
            yield f"    {good}"
            yield from (f"  * {sentence}" for sentence in bad)
        if show < sets:
            yield "    …"
    warnings = [*remarks(grammar)]
    if vocabulary is not None:
        tokens: dict[str, None] = {}
        for segment in (s for t in grammar.templates for s in grammar.segments(t)):
            texts = [segment] if isinstance(segment, str) else []
            if isinstance(segment, model.Reference):
                for rule in grammar.slot_rules(segment.target).values():
                    texts += [alternative.text for alternative in rule.alternatives]
            tokens |= dict.fromkeys(" ".join(texts).split())
        missing = [token for token in tokens if token not in vocabulary]
        remark = f"all {len(tokens)} words are in the vocabulary"
        if missing:
            number = f"{len(missing)} of {len(tokens)} words {'is' if len(missing) == 1 else 'are'}"
            remark = f"{number} not in the vocabulary: {' '.join(missing)}"
        warnings.append(remark)
    if warnings:
        yield ""
        yield from warnings


def _remark(location: model.Location | Path, remark: str, **facts: object) -> str:
    return f"{location}: {REMARKS[remark].format_map(facts)}"


def remarks(grammar: model.Grammar) -> Iterator[str]:
    """Yield remarks, with locations, on text that is allowed but probably a mistake."""
    name = grammar.file.stem
    in_exhibits = {*clams.CONSTRUCTIONS}.union(*(names for *_, names in clams.ENGLISH_SETS))
    if clams.construction_of(name) not in in_exhibits:
        close = get_close_matches(name, {**clams.CONSTRUCTIONS, **clams.ENGLISH})
        meant = f" (is {close[0]} meant?)" if close else ""
        details = {"name": name, "meant": meant, "phenomenon": clams.phenomenon_of(name)}
        yield _remark(grammar.file, "unknown paradigm", **details)
    # Only rules of the grammar's file, because no grammar uses all common rules.
    used: set[model.Preterminal] = set()
    for reference in _distinct(grammar):
        used |= grammar.slot_rules(reference.target).keys()
    for rule in grammar.rules.values():
        locations = [rule.location, *(alternative.location for alternative in rule.alternatives)]
        locations = [location for location in locations if location.file == grammar.file]
        if locations and rule.defined not in used:
            yield _remark(locations[0], "unused", rule=rule.defined)
    if grammar.variant == "published":
        # If all items have attributes, the authors' program repeats the right form.
        repeating: set[model.Preterminal] = set()
        for reference in _distinct(grammar):
            items = grammar.items_for(reference.target)
            if all(item.attributes for item in items):
                repeating.update(items)
        for item in grammar.vary:
            if item.target in repeating:
                yield _remark(item.location, "repeated item", item=item.target)
        # Slots for which the authors' program writes nothing.
        references = [r for template in grammar.templates for r in template.references]
        for uncovered in filter(grammar.uncovered, references):
            yield _remark(uncovered.location, "uncovered", slot=uncovered.target)
    for reference in _distinct(grammar):
        # Alternatives that replace nothing, or that replace the same word.
        right, *other_rules = grammar.slot_rules(reference.target).values()
        for rule in other_rules:
            facts = {"rule": rule.defined, "right": right.defined}
            for unused in rule.alternatives[len(right.alternatives) :]:
                yield _remark(unused.location, "replaces nothing", text=unused.text, **facts)
            for good, wrong in zip(right.alternatives, rule.alternatives, strict=False):
                if good.text == wrong.text:
                    yield _remark(wrong.location, "same word", text=wrong.text, **facts)
        # Alternatives that are empty, or that are repeated.
        rule = grammar.rules[reference.target]
        seen: set[str] = set()
        for alternative in rule.alternatives:
            text, location = alternative.text, alternative.location
            if not text:
                yield _remark(location, "empty alternative", rule=rule.defined)
            if text in seen:
                yield _remark(location, "repeated alternative", text=text, rule=rule.defined)
            seen.add(text)


def _distinct(grammar: model.Grammar) -> Iterable[model.Reference]:
    return {r.target: r for template in grammar.templates for r in template.references}.values()
