"""Declarations of the tasks: how the arguments of their prompts are drawn, as data.

Source: Moroni, Aula-Blasco, Conia and others (2025), section 3.2, Table 8, appendix A.3, and the
benchmark's released code as it was when the paper was written.
"""

from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from blimpworks.campaign.settings.base import Positive, Variant
from blimpworks.campaign.settings.parsing import complaints, parse_yaml
from blimpworks.errors import UserError
from blimpworks.papers.lmentry.tasks import PARENTS, TASKS, task_of
from blimpworks.strict import Strict

ALL = "all"
"""Key of a decision that concerns every task."""


class Declaration(Strict):
    """How one task's or subset's arguments are drawn in one language and variant."""

    sampler: Literal[
        "words",
        "letters",
        "associated",
        "category",
        "order",
        "lengths",
        "numbers",
        "rhymes",
        "homophones",
        "neighbours",
        "ends",
    ]
    """Name of the sampler that draws the arguments."""
    resource: Literal["words", "forms", "categories", "nouns", "unambiguous", ""] = ""
    """The list that words or distractors come from; empty for the sampler's usual one."""
    made: bool = True
    """Whether the task exists in this language."""
    size: Positive = 1000
    """Prompts of a template to draw; where there are fewer, all are taken."""
    nominal: Positive | Literal["drawn", "made"] = "drawn"
    """What the settings say the number is: what was asked for, what there is, or a number."""
    opposite: bool = False
    """Whether it is the second of two tasks that share a sampler: least, all, less, smaller,
    before."""
    levels: tuple[str, ...] = ()
    """Only words of these levels (CEFR), where words have any."""
    pos: tuple[str, ...] = ()
    """Parts of speech that are kept of the words drawn; empty for all."""
    shortest: Positive = 1
    """Only words of at least so many letters."""
    end: Literal["first", "last", ""] = ""
    """Which letter or word is the answer."""
    letters: Literal["contains", "starts", "ends"] = "contains"
    """List of letters in the pack that is used."""
    letters_of: Literal["release", "alphabet"] = "release"
    """The pack's list, or letters of the alphabet that have words."""
    relation: Literal["any", "far", "different", "consecutive", "same", "similar"] = "any"
    """Relation between the first letters of two words, or between the spellings of rhymes."""
    initials: Literal["ascii", "all", "found", "alphabet"] = "ascii"
    """Words that are used, by their first letter: from a to z; all (``found``: first letters in the
    order in which words have them); or all, by letters of the language's alphabet."""
    order: Literal["codepoint", "alphabet"] = "codepoint"
    """Alphabetical order by code points, or by the language's alphabet."""
    difference: tuple[int, int] | None = None
    """Least and largest difference of two words' lengths."""
    lengths: Literal["release", "all"] = "release"
    """Which lengths answers and distractors may have."""
    letters_only: bool = False
    """Only words of letters, none of them twice, large or small."""
    distractors: tuple[int, ...] = ()
    """How many of five words may be from other categories."""
    fewest: Positive = 5
    """Only categories of at least so many words."""
    ambiguous: bool = True
    """Whether distractors may fit the question too."""
    rename: dict[str, str] = Field(default={})
    """Other names of categories, which then stand last."""
    punctuation: str = '.",:'
    """Marks that are taken out of sentences."""
    stop_words: str = ""
    """Words that are no answers."""
    clean: bool = False
    """Resources without their faults."""
    wording: Variant = "published"
    """Templates that are used: those of the release, or the corrected ones."""


class Decision(Strict):
    """One difference between the variants: what each does, and the settings that change."""

    published: str
    corrected: str
    tasks: dict[str, dict[str, Any]]
    """Settings by task (and so its subsets), by subset, or by ``all``."""


class Declarations(Strict):
    """The file of declarations (``config/lmentry/tasks.yaml``)."""

    languages: dict[str, dict[str, Any]]
    tasks: dict[str, dict[str, Any]]
    subsets: dict[str, dict[str, Any]]
    decisions: dict[str, Decision]


def read_declarations(path: Path) -> Declarations:
    """The declarations in a YAML file; every task and subset must be there, and no other.

    Raises UserError, with the file and the key, where it is wrong.
    """
    declarations = parse_yaml(Declarations, path, "declarations of tasks")
    for part, known in (("tasks", TASKS), ("subsets", tuple(PARENTS))):
        wrong = set(getattr(declarations, part)) ^ set(known)
        if wrong:
            raise UserError(
                f"{path}: {part}: {min(wrong)!r} is missing or unknown; expected exactly "
                f"{', '.join(known)}."
            )
    named = {key for decision in declarations.decisions.values() for key in decision.tasks}
    strange = named - {ALL, *TASKS, *PARENTS}
    if strange:
        raise UserError(
            f"{path}: decisions: {min(strange)!r} is no task or subset; expected one, or {ALL!r}."
        )
    for name in (*TASKS, *PARENTS):
        for lang in ("", *declarations.languages):
            declaration_of(declarations, name, lang, "corrected", path)
    return declarations


def declaration_of(
    declarations: Declarations,
    name: str,
    lang: str,
    variant: Variant,
    path: Path | str = "tasks.yaml",
) -> Declaration:
    """The declaration of a task or subset in a language.

    Raises UserError, with the file, task and key, where settings are unknown or impossible.
    """
    merged: dict[str, Any] = {}
    levels = [declarations.tasks[task_of(name)], declarations.subsets.get(name, {})]
    for settings in levels:
        merged |= {key: value for key, value in settings.items() if key != "languages"}
    merged |= declarations.languages.get(lang, {})
    for settings in levels:
        merged |= settings.get("languages", {}).get(lang, {})
    if variant == "corrected":
        for key in dict.fromkeys((ALL, task_of(name), name)):
            for decision in declarations.decisions.values():
                merged |= decision.tasks.get(key, {})
    try:
        return Declaration.model_validate(merged)
    except ValidationError as error:
        where = f"{path}: {name}" + (f" ({lang})" if lang else "")
        raise UserError(complaints(error.errors(), merged, where)) from error
