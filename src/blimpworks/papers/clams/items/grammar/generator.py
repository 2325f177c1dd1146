"""Generate minimal sets from a grammar, one after another, and preview a grammar for its author.

The template ``the N[s] V[3,s]`` with ``vary: V[]`` gives sets such as ("the dog barks", "the dog
bark"). ``generate_sets`` writes a line for each sentence: True or False, a tab, the sentence.

A template is expanded from left to right, and sets have the order of the authors' program. A
*stream* generates the sets of the template's beginning, such as "the dog". For a slot that does not
vary, the outer loop is over its alternatives and the inner loop over the stream. The first slot
thus changes fastest. For a slot that varies, the outer loop is over the stream. A list of a
stream's sets would not fit into memory, so each round of an outer loop calls the stream again.
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
Forms = tuple[str, ...]
"""The right form of a word in a slot, then the wrong forms: ("barks", "bark"). They are the k-th
alternatives of their preterminals. A slot that does not vary has no wrong forms."""
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
    vary = _vary_as_published if grammar.variant == "published" else _vary_as_corrected
    # At first, the template's beginning is empty: one set of one empty sentence.
    stream: Stream = partial(iter, [("",)] if segments else [])
    for number, segment in enumerate(segments):
        alternatives = _forms_of(grammar, segment, " " if number else "")
        if isinstance(segment, str) or not grammar.items_for(segment.target):
            stream = partial(_append, stream, [right for right, *_ in alternatives])
        else:
            stream = partial(vary, stream, alternatives)
    for sentences in stream():
        # If the first slot has an empty form, the sentence begins with the next word's space.
        yield tuple([sentence.removeprefix(" ") for sentence in sentences])


def _forms_of(grammar: model.Grammar, segment: str | model.Reference, space: str) -> list[Forms]:
    """Return the forms of each alternative of a slot, with ``space`` before each form.

    An example: [(" barks", " bark"), (" sleeps", " sleep")]. An empty form has no space.
    """
    if isinstance(segment, str):
        return [(space + segment,)]
    alternatives: list[Forms] = []
    for rules in grammar.rule_groups(segment.target):
        forms_by_rule = []
        for rule in rules:
            texts = [alternative.text for alternative in rule.alternatives]
            forms_by_rule.append([space + text if text else "" for text in texts])
        # A rule may have more alternatives than the right rule. They replace nothing.
        alternatives += zip(*forms_by_rule, strict=False)
    return alternatives


def _append(stream: Stream, alternatives: Sequence[str]) -> Iterator[MinimalSet]:
    for word in alternatives:
        for sentences in stream():
            yield tuple([sentence + word for sentence in sentences])


def _vary_as_published(stream: Stream, alternatives: Sequence[Forms]) -> Iterator[MinimalSet]:
    # Each sentence of the stream begins sets, even an ungrammatical one. ("he sits", "he sit") and
    # (" eats", " eat") make ("he sits eats", "he sits eat") and ("he sit eats", "he sit eat").
    for sentences in stream():
        for sentence in sentences:
            for forms in alternatives:
                yield tuple([sentence + form for form in forms])


def _vary_as_corrected(stream: Stream, alternatives: Sequence[Forms]) -> Iterator[MinimalSet]:
    # In the example above, one set ("he sits eats", "he sits eat", "he sit eats", "he sit eat").
    for sentences in stream():
        for forms in alternatives:
            yield tuple([sentence + form for sentence in sentences for form in forms])


def count_template(grammar: model.Grammar, template: model.Template) -> tuple[int, int]:
    """Count a template's minimal sets, and their lines, without generating them."""
    segments = grammar.segments(template)
    if not segments:
        return 0, 0
    references = (segment for segment in segments if isinstance(segment, model.Reference))
    # By slot: the number of alternatives, and of the forms (right and wrong) of an alternative.
    alternatives, forms = [], []
    for reference in references:
        groups = grammar.rule_groups(reference.target)
        right_rule = groups[0][0]
        alternatives.append(len(groups) * len(right_rule.alternatives))
        forms.append(len(groups[0]))
    lines = prod(alternatives) * prod(forms)
    if grammar.variant == "corrected":
        return prod(alternatives), lines
    # A set has one sentence for each form in the last slot that varies.
    several_forms = [number for number in forms if number > 1]
    return lines // several_forms[-1], lines


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
        lines = [count_template(grammar, template)[1] for template in grammar.templates]
        if sum(lines) > MOST_LINES:
            largest = grammar.templates[lines.index(max(lines))]
            model.fail(largest.location, "too many sentences", most=MOST_LINES)
    counts = [0] * len(parsed)
    for number, (grammar, output) in enumerate(zip(parsed, outputs, strict=True)):
        with atomic(output) as path, path.open("w", encoding="utf-8", newline="\n") as file:
            for line in lines_of(generate(grammar)):
                file.write(line)
                counts[number] += 1
    return counts


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
    final_lines = [*remarks(grammar)]
    if vocabulary is not None:
        final_lines.append(_compare_vocabulary(grammar, vocabulary))
    if final_lines:
        yield ""
        yield from final_lines


def _compare_vocabulary(grammar: model.Grammar, vocabulary: set[str]) -> str:
    """Return a line on the words of the sentences that are not in the vocabulary."""
    texts: list[str] = []
    for template in grammar.templates:
        for segment in grammar.segments(template):
            if isinstance(segment, str):
                texts.append(segment)
                continue
            for rule in grammar.slot_rules(segment.target).values():
                texts += [alternative.text for alternative in rule.alternatives]
    tokens = [*dict.fromkeys(" ".join(texts).split())]
    absent = [token for token in tokens if token not in vocabulary]
    if not absent:
        return f"all {len(tokens)} words are in the vocabulary"
    verb = "is" if len(absent) == 1 else "are"
    return f"{len(absent)} of {len(tokens)} words {verb} not in the vocabulary: {' '.join(absent)}"


REMARKS = {
    row["remark"]: row["text"] for row in read_cells(Path(__file__).with_name("remarks.tsv"))
}


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
    references = [r for template in grammar.templates for r in template.references]
    targets = [*dict.fromkeys(reference.target for reference in references)]
    yield from _remark_unused(grammar, targets)
    if grammar.variant == "published":
        # If all items have attributes, the authors' program repeats the right form.
        repeating: set[model.Preterminal] = set()
        for target in targets:
            items = grammar.items_for(target)
            if all(item.attributes for item in items):
                repeating.update(items)
        for item in grammar.vary:
            if item.target in repeating:
                yield _remark(item.location, "repeated item", item=item.target)
        for uncovered in filter(grammar.uncovered, references):
            yield _remark(uncovered.location, "uncovered", slot=uncovered.target)
    for target in targets:
        right, *wrong_rules = grammar.slot_rules(target).values()
        for rule in wrong_rules:
            yield from _remark_replacements(right, rule)
        seen: set[str] = set()
        for alternative in right.alternatives:
            text, location = alternative.text, alternative.location
            if not text:
                yield _remark(location, "empty alternative", rule=target)
            if text in seen:
                yield _remark(location, "repeated alternative", text=text, rule=target)
            seen.add(text)


def _remark_unused(grammar: model.Grammar, targets: Iterable[model.Preterminal]) -> Iterator[str]:
    """Yield remarks on rules that no template's sentence has, right or wrong."""
    used: set[model.Preterminal] = set()
    for target in targets:
        used |= grammar.slot_rules(target).keys()
    for rule in grammar.rules.values():
        locations = [rule.location, *(alternative.location for alternative in rule.alternatives)]
        # Rules of the common file are left out, because no grammar uses all of them.
        in_file = [location for location in locations if location.file == grammar.file]
        if in_file and rule.defined not in used:
            yield _remark(in_file[0], "unused", rule=rule.defined)


def _remark_replacements(right: model.Rule, wrong: model.Rule) -> Iterator[str]:
    """Yield remarks on alternatives of ``wrong`` that replace no word, or an equal word."""
    facts = {"rule": wrong.defined, "right": right.defined}
    for alternative in wrong.alternatives[len(right.alternatives) :]:
        text, location = alternative.text, alternative.location
        yield _remark(location, "replaces nothing", text=text, **facts)
    for right_form, wrong_form in zip(right.alternatives, wrong.alternatives, strict=False):
        if right_form.text == wrong_form.text:
            yield _remark(wrong_form.location, "same word", text=wrong_form.text, **facts)
