"""What a judge says of an answer."""

from collections.abc import Callable
from typing import NamedTuple


class Verdict(NamedTuple):
    """A verdict and its ground."""

    correct: bool
    certain: bool
    rule: str
    """What decided: a key of ``RULES``."""
    pattern: str | None = None
    """The pattern of the language pack that fits, if one decided."""


Ask = Callable[[str], Verdict]
"""Gives a verdict on an answer, without its reasoning, to one prompt."""
RULES = {
    "empty": "the answer has neither letter nor digit",
    "absent": "what is asked for does not stand in it",
    "present": "what is not to stand in it does",
    "lone": "a single word, and not the one that is asked for",
    "reject": "the whole answer says the contrary",
    "opposite": "yes for no, or no for yes",
    "echo": "it repeats the sentence or the prompt",
    "whole": "it is the answer and nothing else",
    "repeated": "each of its words is the answer",
    "vacuous": "it has no word of ASCII letters, so none is another than the answer",
    "pattern": "the whole answer fits a pattern",
    "begins": "it begins with an answer, and a reason or a parenthesis may follow",
    "line": "one of its lines is an answer, right or wrong",
    "inside": "a pattern fits inside it",
    "both": "it gives another answer too",
    "made": "the word or sentence that was asked for is there",
    "short": "too few words for a sentence",
    "none": "nothing fits",
}
"""Rules, and what each says of an answer."""
