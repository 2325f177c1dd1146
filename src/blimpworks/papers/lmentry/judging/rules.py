"""Define verdicts and rules (Moroni and others 2025; Efrat, Honovich and Levy 2023)."""

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
    """See docs/lmentry.md."""
    pattern: str | None = None


Ask = Callable[[str], Verdict]
"""Judge an answer to one prompt, without its reasoning."""
Kind = Literal["choice", "yes_no", "sentence", "edge", "spelling"]


class TaskRules(Strict):
    """Rules by which a task is judged."""

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
