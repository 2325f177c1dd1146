"""Generate distinct pairs of declared paradigms: fill slots, correct articles, read brackets."""

import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blimpworks.errors import UserError
from blimpworks.files import atomic
from blimpworks.papers.blimp.items.build import Record
from blimpworks.papers.blimp.items.generator.builder import Builder, Redraw
from blimpworks.papers.blimp.items.generator.checks import SLOT, check_vocabulary, read_declaration
from blimpworks.papers.blimp.items.generator.constituents import Constituent, Part, part_of
from blimpworks.papers.blimp.items.generator.declarations import Declaration
from blimpworks.papers.blimp.items.lexicon import Lexicon, Sounds, read_lexicon

ARTICLE = re.compile(r"\b([Aa])(\]? \[?)(\w[\w'-]*)")
PATIENCE = 2000
"""Draws in a row without a new pair, after which a paradigm is taken to be exhausted."""
Draws = Mapping[str, Constituent]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, and its parts."""

    text: str
    entries: Part
    """Forms of its lexical entries."""
    prefix: str = ""
    """The text before the critical ``word``; both are empty where none is marked."""
    word: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """A generated pair: its record, and its parts."""

    record: Record
    good: Sentence
    bad: Sentence
    drawn: dict[str, Constituent]


def _filled(template: str, drawn: Draws) -> tuple[str, Part]:
    text, entries, end = "", [], 0
    for slot in SLOT.finditer(template):
        literal = template[end : slot.start()]
        constituent = part_of(drawn[slot[1]], slot[2].removeprefix("."))
        text += literal + " ".join(constituent)
        entries += [*re.findall(r"[\w'-]+", literal), *constituent]
        end = slot.end()
    entries += re.findall(r"[\w'-]+", template[end:])
    return text + template[end:], tuple(entries)


def make_sentence(template: str, drawn: Draws, sounds: Sounds) -> Sentence:
    """Make a sentence from a template, whose critical word may be in brackets."""
    text, entries = _filled(template, drawn)
    # One space between words, none before marks; the right article; a capital first letter.
    text = " ".join(text.split()).replace("[ ", "[").replace(" ]", "]")
    text = re.sub(r" ([.,?])", r"\1", text)
    text = ARTICLE.sub(lambda m: m[1] + sounds.article(m[3])[1:] + m[2] + m[3], text)
    first = int(text.startswith("["))
    text = text[:first] + text[first : first + 1].upper() + text[first + 1 :]
    before, bracket, after = text.partition("[")
    word = after.partition("]")[0] if bracket else ""
    return Sentence(re.sub(r"[][]", "", text), entries, before.strip(), word)


class Generator:
    """Draws pairs of one paradigm."""

    def __init__(self, path: Path, declaration: Declaration, lexicon: Lexicon, seed: int) -> None:
        """Name of ``path``, which is the paradigm's, and ``seed`` decide all. Raises UserError."""
        check_vocabulary(declaration, lexicon, path)
        self.path, self.uid, self.declaration, self.lexicon = path, path.stem, declaration, lexicon
        self.source = random.Random(f"{seed}:{self.uid}")
        self.builders = [Builder(lexicon, scheme, self.source) for scheme in declaration.one_of]

    def _draw(self, number: int) -> Pair:
        builder, declaration = self.source.choice(self.builders), self.declaration
        scheme, drawn = builder.scheme, builder.draw()
        sounds, method = self.lexicon.sounds, declaration.method
        good, bad = (make_sentence(text, drawn, sounds) for text in (scheme.good, scheme.bad))
        if good.text == bad.text:
            raise Redraw("both sentences are the same")
        fields: dict[str, Any] = {}
        differs = False
        if method == "one_prefix":
            differs = good.prefix != bad.prefix
            fields["one_prefix_prefix"] = good.prefix
            fields |= {"one_prefix_word_good": good.word, "one_prefix_word_bad": bad.word}
        elif method == "two_prefix":
            differs = good.word != bad.word
            fields |= {"two_prefix_prefix_good": good.prefix, "two_prefix_prefix_bad": bad.prefix}
            fields["two_prefix_word"] = good.word
        if differs:
            raise Redraw(f"what {method} wants to be the same differs")
        if scheme.crucial_item is not None:
            item = make_sentence(scheme.crucial_item, drawn, sounds)
            fields["crucial_item"] = item.text.lower()
        if scheme.dependency_length is not None:
            fields["dependency_length"] = len(_filled(scheme.dependency_length, drawn)[0].split())
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
        """Draw ``count`` pairs whose acceptable sentences are distinct. Raises UserError."""
        seen: set[str] = set()
        failures: Counter[str] = Counter()
        while len(seen) < count:
            try:
                pair = self._draw(len(seen))
                if pair.good.text in seen:
                    raise Redraw("the acceptable sentences are drawn already")
            except Redraw as reason:
                failures[str(reason)] += 1
                if failures.total() > PATIENCE:
                    ((most, _),) = failures.most_common(1)
                    raise UserError(
                        f"{self.path}: no new pair in {PATIENCE} draws, after {len(seen)} of "
                        f"{count} ({most}); ask for fewer pairs, or widen the declaration or the "
                        "lexicon."
                    ) from reason
                continue
            seen.add(pair.good.text)
            failures.clear()
            yield pair


def preview(declaration: Path, lexicon: Path, show: int, seed: int) -> Iterator[str]:
    """Yield lines that show the first pairs of a paradigm, and where their lengths differ.

    The critical words follow the sentences. Raises UserError for a mistake in the declaration or
    the lexicon.
    """
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
    """Write the pairs of declared paradigms in BLiMP's released form; return their number.

    Files of declarations are called after their paradigms. Each paradigm draws independently, so
    that others can be left out or added. Raises UserError for a mistake in the lexicon or a
    declaration, and for a paradigm that the lexicon has too few pairs for.
    """
    entries = read_lexicon(lexicon)
    generators = [Generator(path, read_declaration(path), entries, seed) for path in declarations]
    for generator, output in zip(generators, outputs, strict=True):
        with atomic(output) as temporary, temporary.open("w", encoding="utf-8") as handle:
            for pair in generator.pairs(pairs):
                handle.write(pair.record.model_dump_json(exclude_none=True) + "\n")
    return len(outputs) * pairs
