"""List a prompt's arguments as answers may have them, in Basque also declined."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from num2words import num2words

from blimpworks.papers.lmentry.items.basque import SPELLED, Case, decline
from blimpworks.papers.lmentry.judging import normalise
from blimpworks.papers.lmentry.judging.roles import INFLECTED, LISTED, ROLE, Argument

Arguments = Mapping[str, Any]
_SYNTAX = re.compile(r"[.?*+()\[\]{}|^$\\]")


@lru_cache(maxsize=4096)
def number_forms(number: int, language: str | None) -> tuple[str, ...]:
    """Return a number in digits, and in lower-case words with and without hyphens."""
    digits = str(number)
    if language is None:
        return (digits,)
    speller = SPELLED.get(language)
    spelled_number = speller(number) if speller else str(num2words(number, lang=language)).lower()
    return tuple(dict.fromkeys((digits, spelled_number, spelled_number.replace("-", " "))))


def readings(text: str, role: str) -> Iterator[Argument]:
    """Yield what the release's expression of an argument matches: ``?`` makes a letter optional."""
    plain = text.replace("(", "").replace(")", "")
    forms = (plain[:-1], plain[:-2]) if plain.endswith("?") else (plain,)
    if _SYNTAX.search(forms[0]):
        yield Argument(text, role, syntax=True)
    else:
        yield from (Argument(form, role) for form in forms)


def arguments_of(
    arguments: Arguments, variant: str, *, numbers: bool, language: str | None
) -> list[Argument]:
    """List the arguments to look for; ``numbers`` also in words of ``language``."""
    published = variant == "published"
    if numbers:
        return [
            Argument(form, ROLE[name])
            for name in ("answer", "distractor")
            for form in number_forms(int(arguments[name]), language)
        ]
    lower = str.lower if published else normalise.corrected
    named: list[Argument] = []
    for name in ("answer", "distractor", "query", "word", "category", "sentence"):
        if arguments.get(name):
            text = lower(str(arguments[name]))
            named += readings(text, ROLE[name]) if published else [Argument(text, ROLE[name])]
    # Words of a list beside the answer; published, all in their order.
    listed = arguments.get("distractors", arguments.get("words", ()))
    if published:
        if "category" in arguments and "answer_index" in arguments:
            index = int(arguments["answer_index"])
            listed = [*listed[:index], arguments["answer"], *listed[index:]]
        roles = [ROLE[name] for name in LISTED]
    else:
        roles = [ROLE["other"]] * len(listed)
    word_roles = zip(listed, roles, strict=False)
    named += (Argument(lower(str(word)), role) for word, role in word_roles)
    # A question mark lets the release leave out the one letter that stands before it.
    return [argument for argument in named if argument.text or published]


def in_order(named: Sequence[Argument]) -> list[Argument]:
    """Sort arguments by length, the longest first; of equal texts keep the first role."""
    first = {argument.text: argument.role for argument in reversed(named)}
    return [Argument(text, first[text]) for text in sorted(first, key=lambda t: (-len(t), t))]


def changed_roles(
    named: Sequence[Argument], rewrites: Mapping[str, str]
) -> tuple[tuple[str, str], ...]:
    """Return roles and their texts that the release exchanges in converses."""
    return tuple(
        (role, old)
        for old in rewrites
        for role in ("answer", "distractor")
        if any(old in argument.text for argument in named if argument.role == ROLE[role])
    )


def rewritten(named: Sequence[Argument], rewrites: Mapping[str, str]) -> list[Argument]:
    """Return the changed arguments as they are in the release's converses."""
    return [
        Argument(argument.text.replace(old, form), ROLE[f"{role}_rewritten"])
        for old, new in rewrites.items()
        for form in new.strip("()").split("|")
        for role in ("answer", "distractor")
        for argument in named
        if argument.role == ROLE[role] and old in argument.text
    ]


_WORD_CASES: dict[str, Case] = {
    "ergative": "ergative",
    "comitative": "comitative_singular",
    "genitive": "genitive",
}
_CATEGORY_CASES: dict[str, tuple[Case, Case]] = {
    "absolutive": ("absolutive_singular", "absolutive_plural"),
    "comitative": ("comitative_singular", "comitative_plural"),
}
"""Cases of categories that words relate to, and of categories that words belong to."""


def inflected(arguments: Arguments, prompt: str) -> list[Argument]:
    """Return declined arguments; the prompt's form shows whether words belong to the category."""
    inflections: list[Argument] = []
    for role, (name, case) in INFLECTED.items():
        text = str(arguments.get(name, "")).lower()
        if not text:
            continue
        if name == "category":
            abstract, usual = _CATEGORY_CASES[case]
            named = decline(str(arguments[name]), "absolutive_singular")
            chosen = abstract if f'"{named}"' in prompt else usual
        else:
            chosen = _WORD_CASES[case]
        inflections += readings(decline(text, chosen), ROLE[role])
    return inflections


def categories(category: str, prompt: str) -> tuple[str, ...]:
    """Return the release's forms of a category; a prompt has the first of an abstract one."""
    either = category.replace(" eta ", " edo ").lower()
    stem = decline(either, "comitative_singular")
    having = ("zerikusia duten", "lotura duten", "erlazioa duten")
    being = ("lotuta dauden", "erlazionatuta dauden")
    related = tuple(f"{stem} {each} hitzak" for each in (*having, *being))
    return related if related[0] in prompt.lower() else (decline(either, "absolutive_plural"),)
