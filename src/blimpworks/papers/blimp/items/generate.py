"""Generate minimal pairs from declared paradigms and a lexicon, in BLiMP's released JSON lines.

A declaration is a YAML file with one or more schemes: named draws of words, and two sentences
(templates) with slots for the drawn words::

    draw: {who: {is: noun}, act: {is: verb, subject: [who]}}
    good: The {who} {act.past}.

``generate_paradigms`` writes the pairs. ``checks`` reads and checks declarations, ``drawing`` draws
words. Brackets mark the critical word for methods that score only this word:
"The {who} [{act.past}]."
"""

import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blimpworks.errors import UserError
from blimpworks.files import atomic
from blimpworks.papers.blimp.items import declarations as draws
from blimpworks.papers.blimp.items.build import Record
from blimpworks.papers.blimp.items.checks import check_vocabulary, read_declaration
from blimpworks.papers.blimp.items.declarations import SLOT
from blimpworks.papers.blimp.items.drawing import Builder, Redraw
from blimpworks.papers.blimp.items.lexicon import Lexicon, Sounds, read_lexicon

ARTICLE = re.compile(r"\b([Aa])(\]? \[?)(\w[\w'-]*)")
"""An article and the word after it, which may be in brackets: "a [apple"."""
MOST_FRUITLESS_DRAWS = 2000
"""Number of successive draws without a new pair after which a paradigm is exhausted."""
Draws = Mapping[str, draws.Constituent]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A generated sentence."""

    text: str
    entries: draws.Forms
    """Forms of its lexical entries."""
    prefix: str = ""
    """The text before the critical ``word``; both are empty if no word is marked."""
    word: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """A generated pair."""

    record: Record
    good: Sentence
    bad: Sentence
    drawn: Draws


def _fill(template: str, drawn: Draws, scheme: draws.Scheme) -> tuple[str, draws.Forms]:
    """Return a template's text with filled slots, and the forms of its lexical entries."""
    # Texts between slots, and the two groups of each slot, in turn.
    text, *pieces = SLOT.split(template)
    entries = re.findall(r"[\w'-]+", text)
    for name, form, literal in zip(*(pieces[i::3] for i in range(3)), strict=True):
        forms = draws.forms_of(drawn[name], scheme.draw[name].category, form.removeprefix("."))
        text += " ".join(forms) + literal
        entries += [*forms, *re.findall(r"[\w'-]+", literal)]
    return text, tuple(entries)


def make_sentence(template: str, drawn: Draws, scheme: draws.Scheme, sounds: Sounds) -> Sentence:
    """Make a sentence from a template, which may have its critical word in brackets."""
    text, entries = _fill(template, drawn, scheme)
    # One space between words, none before punctuation; the right article; an initial capital.
    text = " ".join(text.split()).replace("[ ", "[").replace(" ]", "]")
    text = re.sub(r" ([.,?])", r"\1", text)
    text = ARTICLE.sub(lambda m: m[1] + sounds.article(m[3])[1:] + m[2] + m[3], text)
    first = int(text.startswith("["))
    text = text[:first] + text[first : first + 1].upper() + text[first + 1 :]
    before, bracket, after = text.partition("[")
    word = after.partition("]")[0] if bracket else ""
    return Sentence(re.sub(r"[][]", "", text), entries, before.strip(), word)


class Generator:
    """Generates the pairs of one paradigm."""

    def __init__(self, path: Path, paradigm: draws.Paradigm, lexicon: Lexicon, seed: int) -> None:
        """Check the declaration. Random draws depend on ``seed`` and on the name of ``path``."""
        check_vocabulary(paradigm, lexicon, path)
        self.path, self.uid, self.declaration, self.lexicon = path, path.stem, paradigm, lexicon
        self.source = random.Random(f"{seed}:{self.uid}")
        self.builders = [Builder(lexicon, scheme, self.source) for scheme in paradigm.one_of]

    def _draw(self, number: int) -> Pair:
        """Draw a pair, which gets the id ``number``. Raises Redraw if the draw gives none."""
        builder, declaration = self.source.choice(self.builders), self.declaration
        scheme, drawn = builder.scheme, builder.draw()
        sounds, method = self.lexicon.sounds, declaration.method
        good = make_sentence(scheme.good, drawn, scheme, sounds)
        bad = make_sentence(scheme.bad, drawn, scheme, sounds)
        if good.text == bad.text:
            raise Redraw("both sentences are the same")
        # Prefix methods need sentences that share the prefix, or else the word after it.
        fields: dict[str, Any] = {}
        if method:
            shared, varying = ("prefix", "word") if method == "one_prefix" else ("word", "prefix")
            if getattr(good, shared) != getattr(bad, shared):
                raise Redraw(f"the {shared} differs, which {method} needs to be the same")
            fields[f"{method}_{shared}"] = getattr(good, shared)
            for side, sentence in (("good", good), ("bad", bad)):
                fields[f"{method}_{varying}_{side}"] = getattr(sentence, varying)
        if scheme.crucial_item is not None:
            item = make_sentence(scheme.crucial_item, drawn, scheme, sounds)
            fields["crucial_item"] = item.text.lower()
        if scheme.dependency_length is not None:
            between, _ = _fill(scheme.dependency_length, drawn, scheme)
            fields["dependency_length"] = len(between.split())
        record = Record(
            sentence_good=good.text,
            sentence_bad=bad.text,
            **fields,
            field=declaration.field,
            linguistics_term=declaration.term,
            UID=self.uid,
            simple_LM_method=True,
            one_prefix_method=method == "one_prefix",
            two_prefix_method=method == "two_prefix",
            lexically_identical=declaration.lexically_identical,
            pairID=str(number),
        )
        return Pair(record, good, bad, drawn)

    def pairs(self, count: int) -> Iterator[Pair]:
        """Yield ``count`` pairs with distinct acceptable sentences. Raises UserError for fewer."""
        seen: set[str] = set()
        failures: Counter[str] = Counter()
        while len(seen) < count:
            try:
                pair = self._draw(len(seen))
                if pair.good.text in seen:
                    raise Redraw("the acceptable sentence was drawn before")
            except Redraw as reason:
                failures[str(reason)] += 1
                if failures.total() > MOST_FRUITLESS_DRAWS:
                    ((most, _),) = failures.most_common(1)
                    raise UserError(
                        f"{self.path}: no new pair in {MOST_FRUITLESS_DRAWS} draws, after "
                        f"{len(seen)} of {count} ({most}); ask for fewer pairs, or widen the "
                        "declaration or the lexicon."
                    ) from reason
                continue
            seen.add(pair.good.text)
            failures.clear()
            yield pair


def preview(declaration: Path, lexicon: Path, show: int, seed: int) -> Iterator[str]:
    """Yield lines with first pairs, critical words and unequal lengths. UserError for a mistake."""
    generator = Generator(declaration, read_declaration(declaration), read_lexicon(lexicon), seed)
    for pair in generator.pairs(show):
        for mark, side in ((" ", pair.good), ("*", pair.bad)):
            yield f"{mark} {side.text}{f'  [{side.word}]' if side.word else ''}"
        good, bad = len(pair.good.entries), len(pair.bad.entries)
        if good != bad:
            yield f"  ! {good} lexical entries against {bad}"


def generate_paradigms(
    declarations: Sequence[Path], lexicon: Path, outputs: Sequence[Path], pairs: int, seed: int
) -> int:
    """Write pairs of paradigms, a file for each; count them. UserError for a mistake or too few."""
    entries = read_lexicon(lexicon)
    generators = [Generator(path, read_declaration(path), entries, seed) for path in declarations]
    for generator, output in zip(generators, outputs, strict=True):
        with atomic(output) as temporary, temporary.open("w", encoding="utf-8") as handle:
            for pair in generator.pairs(pairs):
                handle.write(pair.record.model_dump_json(exclude_none=True) + "\n")
    return len(outputs) * pairs
