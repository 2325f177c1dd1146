"""Pairs of a declared paradigm, drawn until there are enough distinct ones, and their file.

Their sentences: slots filled, spaces and articles corrected, brackets read.
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
from blimpworks.papers.blimp.items.build import Record
from blimpworks.papers.blimp.items.generator.builder import Builder, Redraw
from blimpworks.papers.blimp.items.generator.checks import SLOT
from blimpworks.papers.blimp.items.generator.constituents import Constituent, Part
from blimpworks.papers.blimp.items.generator.declarations import (
    Declaration,
    Scheme,
    read_declaration,
)
from blimpworks.papers.blimp.items.generator.vocabulary import check_vocabulary
from blimpworks.papers.blimp.items.lexicon.entries import Sounds
from blimpworks.papers.blimp.items.lexicon.load import Lexicon, read_lexicon

ARTICLE = re.compile(r"\b([Aa])(\]? \[?)(\w[\w'-]*)")
Draws = Mapping[str, Constituent]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, and how it is made up."""

    text: str
    entries: Part
    """Forms of the lexical entries that it consists of."""
    prefix: str = ""
    """What stands before the critical word; nothing where none is marked."""
    word: str = ""
    """The critical word."""


def _filled(template: str, drawn: Draws) -> list[tuple[str, Part]]:
    """Stretches of the template, as text and as entries."""
    stretches: list[tuple[str, Part]] = []
    rest = 0
    for slot in SLOT.finditer(template):
        stretches.append(_literal(template[rest : slot.start()]))
        part = drawn[slot[1]].part(slot[2].removeprefix("."))
        stretches.append((" ".join(part), part))
        rest = slot.end()
    return [*stretches, _literal(template[rest:])]


def _literal(text: str) -> tuple[str, Part]:
    return text, tuple(re.findall(r"[\w'-]+", text))


def _tidy(text: str, sounds: Sounds) -> str:
    """One space between words, none before marks; the right article; a capital first letter."""
    text = " ".join(text.split()).replace("[ ", "[").replace(" ]", "]")
    text = re.sub(r" ([.,?])", r"\1", text)
    text = ARTICLE.sub(lambda m: m[1] + sounds.article(m[3])[1:] + m[2] + m[3], text)
    first = re.match(r"\[?", text)
    at = first.end() if first else 0
    return text[:at] + text[at : at + 1].upper() + text[at + 1 :]


def make_sentence(template: str, drawn: Draws, sounds: Sounds) -> Sentence:
    """A sentence after a template, whose critical word may stand in brackets."""
    stretches = _filled(template, drawn)
    text = _tidy("".join(text for text, _ in stretches), sounds)
    entries = tuple(form for _, part in stretches for form in part)
    before, bracket, after = text.partition("[")
    word = after.partition("]")[0] if bracket else ""
    return Sentence(re.sub(r"[][]", "", text), entries, before.strip(), word)


def count_words(template: str, drawn: Draws) -> int:
    """How many words a stretch of a sentence has."""
    return len("".join(text for text, _ in _filled(template, drawn)).split())


# Pairs


PATIENCE = 2000
"""Draws in a row without a new pair, after which a paradigm is taken to be exhausted."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A generated pair: its record, and what it was made of."""

    record: Record
    good: Sentence
    bad: Sentence
    drawn: dict[str, Constituent]


def _critical(declaration: Declaration, good: Sentence, bad: Sentence) -> dict[str, str]:
    """Fields of the prefix method."""
    if declaration.method == "one_prefix":
        return {
            "one_prefix_prefix": good.prefix,
            "one_prefix_word_good": good.word,
            "one_prefix_word_bad": bad.word,
        }
    if declaration.method == "two_prefix":
        return {
            "two_prefix_prefix_good": good.prefix,
            "two_prefix_prefix_bad": bad.prefix,
            "two_prefix_word": good.word,
        }
    return {}


def _matched(declaration: Declaration, good: Sentence, bad: Sentence) -> bool:
    """Whether the prefix, or the critical word, is the same where the prefix method needs it."""
    same = {"one_prefix": good.prefix == bad.prefix, "two_prefix": good.word == bad.word}
    return declaration.method is None or same[declaration.method]


class Generator:
    """Draws pairs of one paradigm."""

    def __init__(self, path: Path, declaration: Declaration, lexicon: Lexicon, seed: int) -> None:
        """``path``: of the declaration, called after the paradigm; name and ``seed`` decide all.

        Raises UserError when the declaration asks for what the lexicon lacks.
        """
        check_vocabulary(declaration, lexicon, path)
        self.path, self.uid, self.declaration, self.lexicon = path, path.stem, declaration, lexicon
        self.source = random.Random(f"{seed}:{self.uid}")
        self.builders = [Builder(lexicon, each, self.source) for each in declaration.one_of]

    def _more(self, scheme: Scheme, drawn: dict[str, Constituent]) -> dict[str, Any]:
        """Fields that some paradigms have beyond the others'."""
        more: dict[str, Any] = {}
        if scheme.crucial_item is not None:
            item = make_sentence(scheme.crucial_item, drawn, self.lexicon.sounds)
            more["crucial_item"] = item.text.lower()
        if scheme.dependency_length is not None:
            more["dependency_length"] = count_words(scheme.dependency_length, drawn)
        return more

    def _record(self, good: Sentence, bad: Sentence, more: dict[str, Any], number: int) -> Record:
        paradigm = self.declaration
        return Record(
            sentence_good=good.text,
            sentence_bad=bad.text,
            **_critical(paradigm, good, bad),
            **more,
            field=paradigm.field,
            linguistics_term=paradigm.term,
            UID=self.uid,
            simple_LM_method=True,
            one_prefix_method=paradigm.method == "one_prefix",
            two_prefix_method=paradigm.method == "two_prefix",
            lexically_identical=paradigm.lexically_identical,
            pairID=str(number),
        )

    def _draw(self, number: int) -> Pair:
        """A pair, to be called by ``number``. Raises Redraw."""
        builder = self.source.choice(self.builders)
        scheme, drawn = builder.scheme, builder.draw()
        texts = (scheme.good, scheme.bad)
        good, bad = (make_sentence(text, drawn, self.lexicon.sounds) for text in texts)
        if good.text == bad.text:
            raise Redraw("both sentences are the same")
        if not _matched(self.declaration, good, bad):
            raise Redraw(f"what {self.declaration.method} wants to be the same differs")
        record = self._record(good, bad, self._more(scheme, drawn), number)
        return Pair(record, good, bad, drawn)

    def pairs(self, count: int) -> Iterator[Pair]:
        """``count`` pairs whose acceptable sentences are distinct.

        Raises UserError when the lexicon has no more, with what most draws failed at.
        """
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
                    raise self._exhausted(f"{len(seen)} of {count}", failures) from reason
                continue
            seen.add(pair.good.text)
            failures.clear()
            yield pair

    def _exhausted(self, reached: str, failures: Counter[str]) -> UserError:
        """What to say after too many draws in a row without a new pair."""
        ((most, _),) = failures.most_common(1)
        return UserError(
            f"{self.path}: no new pair in {PATIENCE} draws, after {reached} ({most}); "
            "ask for fewer pairs, or widen the declaration or the lexicon."
        )


def preview(declaration: Path, lexicon: Path, show: int, seed: int) -> Iterator[str]:
    """Lines that show the first pairs of a paradigm, and where their lengths differ.

    The critical words stand after the sentences. Raises UserError for a mistake in the
    declaration or the lexicon.
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
    """Write the pairs of declared paradigms, each to a file of BLiMP's released form.

    Files of declarations are called after their paradigms. Each paradigm draws from a source of
    its own, so that others can be left out or added. Returns the number of pairs.

    Raises UserError for a mistake in the lexicon or a declaration, and for a paradigm that the
    lexicon has too few pairs for.
    """
    read = read_lexicon(lexicon)
    generators = [Generator(path, read_declaration(path), read, seed) for path in declarations]
    for generator, output in zip(generators, outputs, strict=True):
        with atomic(output) as temporary, temporary.open("w", encoding="utf-8") as handle:
            for pair in generator.pairs(pairs):
                handle.write(pair.record.model_dump_json(exclude_none=True) + "\n")
    return len(outputs) * pairs
