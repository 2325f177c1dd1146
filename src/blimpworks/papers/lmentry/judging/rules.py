"""What a verdict says of an answer, and which rules judge each task.

Source: Moroni, Aula-Blasco, Conia and others (2025), section 3.3; Efrat, Honovich and Levy
(2023), whose rules they follow.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import BeforeValidator

from blimpworks.campaign.table_files import read_rows
from blimpworks.strict import Strict


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
    "line": "one of its lines, or the end of one, is an answer, right or wrong",
    "inside": "a pattern fits inside it",
    "both": "it gives another answer too",
    "made": "the word or sentence that was asked for is there",
    "short": "too few words for a sentence",
    "none": "nothing fits",
}
"""Rules, and what each says of an answer."""


Kind = Literal["choice", "yes_no", "sentence", "edge", "spelling"]


class TaskRules(Strict):
    """How a task is judged."""

    task: str
    kind: Kind
    absent: Literal["", "cased", "any"]
    """Whether an answer without the gold answer is wrong for certain; the release compares a
    gold answer with capitals (cased) to an answer in lower case, or lowers both (any)."""
    lone: Literal["", "words", "tokens"]
    """Whether one other word is wrong for certain: a word of letters, or of digits too, then
    also repeated."""
    echo: bool
    """Whether repeating the sentence is wrong for certain."""
    inside: bool
    """Whether a pattern may stand anywhere in an answer."""
    kinds: Annotated[
        dict[str, str], BeforeValidator(lambda cell: dict(pair.split("=") for pair in cell.split()))
    ]
    """What roles are: a letter, number or sentence; others are words."""


RULES_OF = {
    rules.task: rules for rules in read_rows(TaskRules, Path(__file__).with_name("rules.tsv"))
}
"""Rules of each task."""
