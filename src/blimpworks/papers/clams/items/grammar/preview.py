"""Preview a grammar for its author before its sets are generated."""

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import partial
from itertools import islice
from pathlib import Path

from blimpworks.campaign.variants import Variant
from blimpworks.errors import UserError, reading
from blimpworks.exhibits import shared
from blimpworks.files import read_cells, text_of
from blimpworks.papers.clams.items.grammar.generator import count_template, generate_template
from blimpworks.papers.clams.items.grammar.model import Grammar, Place, Reference
from blimpworks.papers.clams.items.sets import CONSTRUCTIONS, ENGLISH, is_paradigm, phenomenon_of

counted = partial(shared.counted, form=",")
REMARKS = {
    row["remark"]: row["text"] for row in read_cells(Path(__file__).with_name("remarks.tsv"))
}


def read_vocabulary(path: Path) -> set[str]:
    """Read words, one a line. Raises UserError for several words in a line."""
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


def preview(
    grammar: Grammar, variant: Variant, show: int, vocabulary: set[str] | None
) -> Iterator[str]:
    """Yield lines with each template's size and its first ``show`` sets, then remarks."""
    counts = [count_template(grammar, template, variant) for template in grammar.templates]
    varied = "; ".join(str(item.target) for item in grammar.vary)
    sets, lines = (sum(column) for column in zip(*counts, strict=True))
    size = f"{counted(sets, 'minimal set')}, {counted(lines, 'line')}"
    yield f"{counted(len(counts), 'template')}, {size}; varied: {varied}"
    for template, (sets, lines) in zip(grammar.templates, counts, strict=True):
        yield f"\nline {template.place.line}: {template}"
        yield f"  {counted(sets, 'set')}, {counted(lines, 'line')}"
        for good, *bad in islice(generate_template(grammar, template, variant), show):
            yield f"    {good}"
            yield from (f"  * {sentence}" for sentence in bad)
        if show < sets:
            yield "    …"
    warnings = [*remarks(grammar, variant)]
    if vocabulary is not None:
        tokens = tokens_of(grammar, variant)
        missing = [token for token in tokens if token not in vocabulary]
        are = "is" if len(missing) == 1 else "are"
        warnings.append(
            f"{len(missing)} of {len(tokens)} words {are} not in the vocabulary: "
            f"{' '.join(missing)}"
            if missing
            else f"all {len(tokens)} words are in the vocabulary"
        )
    if warnings:
        yield ""
        yield from warnings


def _remark(place: Place | Path, remark: str, **facts: object) -> str:
    return f"{place}: {REMARKS[remark].format_map(facts)}"


def remarks(grammar: Grammar, variant: Variant) -> Iterator[str]:
    """Remark on usage that is allowed but seldom meant, each with its place."""
    name = grammar.file.stem
    if not is_paradigm(name):
        close = get_close_matches(name, {**CONSTRUCTIONS, **ENGLISH})
        meant = f" (is {close[0]} meant?)" if close else ""
        phenomenon = phenomenon_of(name)
        yield _remark(
            grammar.file, "unknown paradigm", name=name, meant=meant, phenomenon=phenomenon
        )
    # Only rules of the grammar's own file: no grammar uses all common ones.
    used = {
        defined
        for reference in _distinct(grammar)
        for defined in grammar.slot_rules(reference.target, variant)
    }
    for rule in grammar.rules:
        locations = [rule.place, *(alternative.place for alternative in rule.alternatives)]
        locations = [location for location in locations if location.file == grammar.file]
        if locations and rule.defined not in used:
            yield _remark(locations[0], "unused", rule=rule.defined)
    if variant == "published":
        # The authors' program repeats the right form for items that all have attributes.
        covering = [grammar.items_for(reference.target) for reference in _distinct(grammar)]
        faulty = {item for items in covering if all(i.attributes for i in items) for item in items}
        for item in grammar.vary:
            if item.target in faulty:
                yield _remark(item.place, "repeated item", item=item.target)
        # Slots for which the authors' program writes nothing.
        references = [r for template in grammar.templates for r in template.references]
        for uncovered in filter(grammar.uncovered, references):
            yield _remark(uncovered.place, "uncovered", slot=uncovered.target)
    for reference in _distinct(grammar):
        # Alternatives that are replaced by a word of the same form, and forms that replace none.
        right, *other_rules = grammar.slot_rules(reference.target, variant).values()
        for rule in other_rules:
            facts = {"rule": rule.defined, "right": right.defined}
            for unused in rule.alternatives[len(right.alternatives) :]:
                yield _remark(unused.place, "replaces nothing", text=unused.text, **facts)
            for good, wrong in zip(right.alternatives, rule.alternatives, strict=False):
                if good.text == wrong.text:
                    yield _remark(wrong.place, "same word", text=wrong.text, **facts)
        # Alternatives that are empty, or that the rule has had before.
        rule = grammar.by_preterminal[reference.target]
        seen: set[str] = set()
        for alternative in rule.alternatives:
            text, location = alternative.text, alternative.place
            if not text:
                yield _remark(location, "empty alternative", rule=rule.defined)
            if text in seen:
                yield _remark(location, "repeated alternative", text=text, rule=rule.defined)
            seen.add(text)


def _distinct(grammar: Grammar) -> Iterable[Reference]:
    return {r.target: r for template in grammar.templates for r in template.references}.values()


def tokens_of(grammar: Grammar, variant: Variant) -> list[str]:
    """Return all words of the generated sentences, in the grammar's order."""
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
