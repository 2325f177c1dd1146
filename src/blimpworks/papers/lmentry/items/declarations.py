"""Read the declarations of tasks, which say how their prompts' arguments are drawn.

Source: Moroni, Aula-Blasco, Conia and others (2025), section 3.2, Table 8, appendix A.3, and the
benchmark's released code at the paper's time.
"""

from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from blimpworks.campaign.settings.base import Positive, Variant, complaints, parse_yaml
from blimpworks.errors import UserError
from blimpworks.papers.lmentry.tasks import PARENTS, TASKS, task_of
from blimpworks.strict import Strict

ALL = "all"


class Declaration(Strict):
    """Settings that draw one task's or subset's arguments in one language and variant."""

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
    """Sampler of the arguments."""
    resource: Literal["words", "forms", "categories", "nouns", "unambiguous", ""] = ""
    """List of the words or distractors; empty for the sampler's usual one."""
    made: bool = True
    """Whether the task exists in this language."""
    size: Positive = 1000
    """Prompts of a template to draw; all if there are fewer."""
    nominal: Positive | Literal["drawn", "made"] = "drawn"
    """Prompts of a template by the settings: ``size``, or those made of samplers that take all
    (drawn); those made; or another number."""
    opposite: bool = False
    """Whether it is a sampler's opposite task: least associated, all, less, smaller, before."""
    levels: tuple[str, ...] = ()
    """CEFR levels of the words, where words have any."""
    pos: tuple[str, ...] = ()
    """Parts of speech of the drawn words; empty for all."""
    shortest: Positive = 1
    """Letters of the shortest word."""
    end: Literal["first", "last", ""] = ""
    """Letter or word that is the answer."""
    letters: Literal["contains", "starts", "ends"] = "contains"
    """Place of the letter in words; the pack has a list of letters for each."""
    letters_of: Literal["release", "alphabet"] = "release"
    """Source of the letters: the pack's list, or those of the alphabet that words have so."""
    relation: Literal["any", "far", "different", "consecutive", "same", "similar"] = "any"
    """Relation between the first letters of two words, or between the spellings of rhymes."""
    initials: Literal["ascii", "all", "found", "alphabet"] = "ascii"
    """Order of first letters: a to z (``ascii`` has no other words, ``all`` has), of their words
    (``found``), or of the language's alphabet."""
    order: Literal["codepoint", "alphabet"] = "codepoint"
    """Alphabetical order by code points, or by the language's alphabet."""
    difference: tuple[int, int] | None = None
    """Least and largest difference of two words' lengths."""
    lengths: Literal["release", "all"] = "release"
    """Lengths of answers and distractors: all that fit, or without some, as the release."""
    letters_only: bool = False
    """Only words of letters, without a repeated letter of either case."""
    distractors: tuple[int, ...] = ()
    """Numbers of words, of five, from other categories."""
    fewest: Positive = 5
    """Words of the smallest category."""
    ambiguous: bool = True
    """Whether distractors may also fit the question."""
    rename: dict[str, str] = Field(default={})
    """Other names of categories, which then come last."""
    punctuation: str = '.",:'
    """Marks to remove from sentences."""
    stop_words: str = ""
    """Words that are no answers."""
    clean: bool = False
    """Whether known faults of resources are corrected before use."""
    wording: Variant = "published"
    """Templates of the release, or corrected ones."""


class Decision(Strict):
    """A difference between the variants: a description of each, and the changed settings."""

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
    """Read declarations from YAML; every task and subset must be there, and no other.

    Raises UserError, with the file and the key, for a fault.
    """
    declarations = parse_yaml(Declarations, path, "declarations of tasks")
    for section, allowed_names in (("tasks", TASKS), ("subsets", tuple(PARENTS))):
        wrong = set(getattr(declarations, section)) ^ set(allowed_names)
        if wrong:
            raise UserError(
                f"{path}: {section}: {min(wrong)!r} is missing or unknown; expected exactly "
                f"{', '.join(allowed_names)}."
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
    declared: Declarations, name: str, lang: str, variant: Variant, path: Path | str = "tasks.yaml"
) -> Declaration:
    """Return the declaration of a task or subset in a language. Raises UserError."""
    merged: dict[str, Any] = {}
    levels = [declared.tasks[task_of(name)], declared.subsets.get(name, {})]
    for settings in levels:
        merged |= {key: value for key, value in settings.items() if key != "languages"}
    merged |= declared.languages.get(lang, {})
    for settings in levels:
        merged |= settings.get("languages", {}).get(lang, {})
    if variant == "corrected":
        for key in dict.fromkeys((ALL, task_of(name), name)):
            for decision in declared.decisions.values():
                merged |= decision.tasks.get(key, {})
    try:
        return Declaration.model_validate(merged)
    except ValidationError as error:
        where = f"{path}: {name}" + (f" ({lang})" if lang else "")
        raise UserError(complaints(error.errors(), merged, where)) from error
