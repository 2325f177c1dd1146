"""Arguments in the Basque cases that the release's patterns have them in."""

from blimpworks.papers.lmentry.items.basque import Case, category_related, decline
from blimpworks.papers.lmentry.judging.arguments import Arguments
from blimpworks.papers.lmentry.judging.roles import INFLECTED, ROLE, Argument

_WORD_CASES: dict[str, Case] = {
    "ergative": "ergative",
    "comitative": "comitative_singular",
    "genitive": "genitive",
}
_CATEGORY_CASES: dict[str, tuple[Case, Case]] = {
    "absolutive": ("absolutive_singular", "absolutive_plural"),
    "comitative": ("comitative_singular", "comitative_plural"),
}
"""Of categories that words have to do with, and of those that they belong to."""


def inflected(arguments: Arguments, prompt: str) -> list[Argument]:
    """The arguments of a prompt in each case, by their roles.

    The prompt, as published, tells by its own case whether words belong to the category.
    """
    inflections = []
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
        inflections.append(Argument(decline(text, chosen), ROLE[role]))
    return inflections


def categories(category: str, prompt: str) -> tuple[str, ...]:
    """A category as the release looks for it in answers to *all words from category*."""
    either = category.replace(" eta ", " edo ").lower()
    related = category_related(either)
    return related if related[0] in prompt.lower() else (decline(either, "absolutive_plural"),)
