"""What a verdict says of an answer, and which rules judge each task.

Source: Moroni, Aula-Blasco, Conia and others (2025), section 3.3; Efrat, Honovich and Levy
(2023), whose rules they follow.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple


class Verdict(NamedTuple):
    """Whether an answer is right, and by which rule."""

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


Kind = Literal["choice", "yes_no", "sentence", "edge", "spelling"]


@dataclass(frozen=True, slots=True)
class TaskRules:
    """How a task is judged."""

    kind: Kind
    absent: Literal["", "cased", "any"] = ""
    """Whether an answer without the gold answer is wrong for certain; the release compares a
    gold answer with capitals (cased) to an answer in lower case, or lowers both (any)."""
    lone: Literal["", "words", "tokens"] = ""
    """Whether one other word is wrong for certain: a word of letters, or of digits too, then
    also repeated."""
    echo: bool = False
    """Whether repeating the sentence is wrong for certain."""
    inside: bool = True
    """Whether a pattern may stand anywhere in an answer."""
    kinds: tuple[tuple[str, str], ...] = ()
    """What roles are: a letter, number or sentence; others are words."""


_NUMBERS = tuple((role, "number") for role in ("answer", "distractor", "word1", "n1", "n2"))
_SENTENCE = (("sentence", "sentence"),)
RULES_OF: dict[str, TaskRules] = {
    **dict.fromkeys(("sentence_containing", "sentence_not_containing"), TaskRules("sentence")),
    **dict.fromkeys(
        ("word_containing", "word_not_containing", "starts_with_letter", "ends_with_letter"),
        TaskRules("spelling", kinds=(("letter", "letter"),)),
    ),
    **dict.fromkeys(
        ("most_associated_word", "least_associated_word"), TaskRules("choice", absent="cased")
    ),
    **dict.fromkeys(("any_words_from_category", "all_words_from_category"), TaskRules("yes_no")),
    "first_alphabetically": TaskRules("choice", lone="words"),
    **dict.fromkeys(("more_letters", "less_letters"), TaskRules("choice")),
    **dict.fromkeys(
        ("bigger_number", "smaller_number"), TaskRules("choice", lone="tokens", kinds=_NUMBERS)
    ),
    "rhyming_word": TaskRules("choice", lone="words", inside=False),
    "homophones": TaskRules("choice", absent="cased", inside=False),
    **dict.fromkeys(
        ("word_after", "word_before"),
        TaskRules("choice", absent="any", echo=True, kinds=_SENTENCE),
    ),
    **dict.fromkeys(
        ("first_word", "last_word"), TaskRules("choice", absent="any", kinds=_SENTENCE)
    ),
    **dict.fromkeys(
        ("first_letter", "last_letter"),
        TaskRules("choice", absent="cased", kinds=(("answer", "letter"),)),
    ),
    **dict.fromkeys(("starts_with_word", "ends_with_word"), TaskRules("edge")),
}
"""Rules of each task."""
