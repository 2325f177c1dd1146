"""Comparing printed texts: the wording counts, how it is typeset does not."""

TYPESET = str.maketrans("“”„«»‘’‚", '"""""\'\'\'')
"""Quotation marks and apostrophes as typeset, and as typed."""


def as_typed(text: str) -> str:
    """A text with typed quotation marks and apostrophes, as files of prompts have them."""
    return text.translate(TYPESET)


def same_wording(text: str, other: str) -> bool:
    """Whether two texts are the same letter by letter, but for typeset quotation marks."""
    return as_typed(text) == as_typed(other)
