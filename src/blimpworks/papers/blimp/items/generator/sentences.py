"""Sentences of what is drawn: slots filled, spaces and articles corrected, brackets read."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from blimpworks.papers.blimp.items.generator.checks import SLOT
from blimpworks.papers.blimp.items.generator.constituents import Constituent, Part
from blimpworks.papers.blimp.items.lexicon.entries import Sounds

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
