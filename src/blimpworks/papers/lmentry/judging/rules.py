"""Define verdicts, and the rules that judge each task.

Source: Moroni, Aula-Blasco, Conia and others (2025), section 3.3; they follow Efrat, Honovich and
Levy (2023).
"""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import BeforeValidator

from blimpworks.campaign.table_files import read_rows
from blimpworks.strict import Strict


class Verdict(NamedTuple):
    """A judgement of an answer."""

    correct: bool
    certain: bool
    rule: str
    pattern: str | None = None


Ask = Callable[[str], Verdict]
"""Judge an answer to one prompt, without its reasoning."""
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


Kind = Literal["choice", "yes_no", "sentence", "edge", "spelling"]


class TaskRules(Strict):
    """How a task is judged."""

    task: str
    kind: Kind
    absent: Literal["", "cased", "any"]
    """Whether an answer without the gold answer is certainly wrong. The release compares a gold
    answer with capitals (cased) to an answer in lower case, or lowers both (any)."""
    lone: Literal["", "words", "tokens"]
    """Whether another single word is certainly wrong: a word of letters, or a repeated one of
    letters and digits."""
    echo: bool
    """Whether a repetition of the sentence is certainly wrong."""
    inside: bool
    """Whether a pattern may match inside an answer."""
    kinds: Annotated[
        dict[str, str], BeforeValidator(lambda cell: dict(pair.split("=") for pair in cell.split()))
    ]
    """Roles that are a letter, number or sentence; others are words."""


RULES_OF = {
    rules.task: rules for rules in read_rows(TaskRules, Path(__file__).with_name("rules.tsv"))
}
