"""Read the language packs, and the declarations of how each task's arguments are drawn.

``read_pack`` reads a pack, a YAML file with a language's templates of prompts, its alphabet and its
patterns of answers. ``read_declarations`` reads the one file of declarations for all languages;
``declaration_of`` returns the settings of a task in a language.

Source: Moroni, Aula-Blasco, Conia and others (2025), section 3.2, Tables 7 to 33, appendix A.3, and
the benchmark's released code at the paper's time.
"""

import string
from collections.abc import Sequence
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import pandas as pd
from pydantic import Field, ValidationError, model_validator

from blimpworks.campaign.settings.base import Positive, Variant, complaints, parse_yaml
from blimpworks.errors import UserError
from blimpworks.papers.lmentry.judging.declared import AnswerPatterns
from blimpworks.papers.lmentry.tasks import FIELDS, PARENTS, TASKS, task_of
from blimpworks.strict import Strict

Templates = Annotated[tuple[str, ...], Field(min_length=1)]
SYSTEM = "system"


class Lists(Strict):
    """Conjunctions between the last two words of a list."""

    last: str
    """Usual text before the last word, such as " and "."""
    slips: dict[str, str] = Field(default={})
    """Wrong texts of the release, by task or subset; the corrected variant has ``last`` instead."""


class Pack(Strict):
    """The language pack: all that the prompts and verdicts of one language need."""

    lang: str
    """ISO 639-3 code."""
    name: str
    """English name."""
    resources: str
    """Name of the folder with the annotated resources."""
    system: str
    """System prompt (Table 7)."""
    alphabet: str
    """Letters in lower case, in alphabetical order."""
    also: str = ""
    """Other characters of words that prompts may ask for."""
    letters: dict[Literal["contains", "starts", "ends"], str] = Field(default={})
    """Letters that the release asks for; the default is all letters of the words."""
    yes_no: tuple[str, str] | None = None
    """Words for yes and no; required by the tasks on categories."""
    yes_no_corrected: tuple[str, str] | None = None
    """Right spelling of ``yes_no``, if the release misspells it."""
    lists: Lists = Lists(last=", ")
    categories: dict[str, dict[str, str]] = Field(default={})
    """Names of categories in a prompt, by task and number of the template (``task.1``), where they
    differ from the resources'."""
    declension: Literal["basque"] | None = None
    """Declension of categories' names in a prompt."""
    abstract: frozenset[str] = frozenset()
    """Categories that words relate to rather than belong to."""
    templates: dict[str, Templates]
    """Templates of each task, in order, with arguments in braces."""
    corrected: dict[str, str] = Field(default={})
    """Templates of the corrected variant, by task and number (``task.2``), where they differ."""
    slips: dict[str, str] = Field(default={})
    """Templates of a subset that differ from its task's in the release, by subset and number; the
    corrected variant has the task's instead."""
    answers: AnswerPatterns | None = None
    """Patterns of answers; null if they are not written yet."""

    @model_validator(mode="after")
    def _check_templates(self) -> Self:
        for task, texts in self.templates.items():
            for text in texts:
                _check_fields(f"template of {task!r}", task, text)
        for key, text in self.corrected.items():
            self._check_key("corrected", key, key.rpartition(".")[0], text)
        for key, text in self.slips.items():
            self._check_key("slips", key, PARENTS.get(key.rpartition(".")[0], ""), text)
        if self.yes_no is None and any("words_from_category" in task for task in self.templates):
            raise ValueError("yes_no is missing; expected the words for yes and no")
        return self

    def _check_key(self, section: str, key: str, task: str, text: str) -> None:
        number = key.rpartition(".")[2]
        if number not in [str(n + 1) for n in range(len(self.templates.get(task, ())))]:
            expected = "subset of a task" if section == "slips" else "task"
            raise ValueError(
                f"{section} {key!r}: no such template; expected a {expected} of 'templates' and "
                "the number of one of its templates, such as first_word.2"
            )
        _check_fields(f"{section} {key!r}", task, text)

    def template(self, name: str, number: int, *, corrected: bool) -> str:
        """Return a template of a task or subset; ``number`` counts from 1."""
        task = task_of(name)
        usual = self.templates[task][number - 1]
        if corrected:
            return self.corrected.get(f"{task}.{number}", usual)
        return self.slips.get(f"{name}.{number}", usual)


def _check_fields(key: str, task: str, text: str) -> None:
    """Raise ValueError for an unknown task, or a template without exactly the task's fields."""
    if task not in FIELDS:
        close = get_close_matches(task, FIELDS, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else f"; expected {', '.join(FIELDS)}"
        raise ValueError(f"{key}: no such task{hint}")
    expected = ", ".join(f"{{{name}}}" for name in sorted(FIELDS[task]))
    try:
        fields = {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}
    except ValueError as error:
        raise ValueError(f"{key}, {text!r}: {error}; expected {expected} in braces") from error
    if fields != FIELDS[task]:
        listed = ", ".join(f"{{{name}}}" for name in sorted(fields)) or "nothing"
        raise ValueError(f"{key}, {text!r}, has {listed} in braces; expected {expected}")


def read_texts(paths: Sequence[Path]) -> pd.DataFrame:
    """Read the system prompt and the templates of packs, one row each.

    ``key``: "system", or task and number of a template; ``phenomenon``: the task; ``published``:
    the release's wording; ``corrected``: the corrected wording, None if it is the same.
    """
    rows: list[tuple[str, str | None, str, str, str | None]] = []
    for pack in map(read_pack, paths):
        rows.append((pack.lang, None, SYSTEM, pack.system, None))
        for task, texts in pack.templates.items():
            for number, text in enumerate(texts, start=1):
                key = f"{task}.{number}"
                rows.append((pack.lang, task, key, text, pack.corrected.get(key)))
    columns = ["lang", "phenomenon", "key", "published", "corrected"]
    return pd.DataFrame(rows, columns=columns, dtype=object)


@lru_cache(maxsize=64)
def _parsed_once(path: Path, _changed: int) -> Pack:
    return parse_yaml(Pack, path, "language pack")


def _parsed(path: Path) -> Pack:
    # Parsed again only after a change of the file: the Snakefile asks for packs many times.
    return _parsed_once(path, path.stat().st_mtime_ns if path.exists() else 0)


def _lenders(pack: Pack, folder: Path) -> dict[str, Path]:
    # {language: pack} of the packs whose patterns the release uses for some of this pack's tasks.
    scorers = pack.answers.published_scorers if pack.answers else {}
    return {lang: folder / f"{lang}.yaml" for lang in sorted({*scorers.values()})}


def pack_files(path: Path) -> list[Path]:
    """Return a pack's file, and the files of packs that its published verdicts use patterns of."""
    return [path, *_lenders(_parsed(path), path.parent).values()]


def read_pack(path: Path) -> Pack:
    """Read a pack from YAML, with the patterns that it borrows from other packs in its folder.

    Raises UserError for a faulty pack.
    """
    pack = _parsed(path)
    lent = {}
    for lang, file in _lenders(pack, path.parent).items():
        patterns = _parsed(file).answers
        if patterns is None:
            raise UserError(
                f"{file}: key 'answers' is missing, and 'published_scorers' of another pack takes "
                "its patterns; add them, or take the language out of that key."
            )
        lent[lang] = patterns
    if pack.answers is None or not lent:
        return pack
    answers = pack.answers.model_copy(update={"lent": lent})
    return pack.model_copy(update={"answers": answers})


ALL = "all"


class Sampling(Strict):
    """Settings for the arguments of one task or subset, in one language and variant."""

    sampler: Literal[
        "words", "letters", "associated", "category", "order", "lengths", "numbers", "rhymes",
        "homophones", "neighbours", "ends",
    ]  # fmt: skip
    """Sampler of the arguments."""
    resource: Literal["words", "forms", "categories", "nouns", "unambiguous", ""] = ""
    """Resource with the words or distractors; empty for the sampler's default."""
    made: bool = True
    """Whether the task exists in this language."""
    size: Positive = 1000
    """Number of prompts to draw for a template; all if there are fewer."""
    nominal: Positive | Literal["drawn", "made"] = "drawn"
    """Number of a template's prompts in the release's settings, the denominator of its published
    accuracies. ``drawn``: ``size``, or all for samplers that take all; ``made``: as many prompts as
    are written."""
    opposite: bool = False
    """Whether the task asks the opposite of the sampler's usual question: the least in place of the
    most associated word, all of any, less of more, smaller of bigger, before of after."""
    levels: tuple[str, ...] = ()
    """CEFR levels of the words, where words have any."""
    pos: tuple[str, ...] = ()
    """Parts of speech of the drawn words; empty for all."""
    shortest: Positive = 1
    """Number of letters of the shortest word."""
    end: Literal["first", "last", ""] = ""
    """Whether the answer is the first or the last letter or word."""
    letters: Literal["contains", "starts", "ends"] = "contains"
    """Position of the letter in words; the pack has a list of letters for each."""
    letters_of: Literal["release", "alphabet"] = "release"
    """Source of the letters: the pack's list, or the letters that words have at that position."""
    relation: Literal["any", "far", "different", "consecutive", "same", "similar"] = "any"
    """Relation between the first letters of two words, or between the spellings of rhymes."""
    initials: Literal["ascii", "all", "found", "alphabet"] = "ascii"
    """Order of first letters. ``ascii``: a to z, words with other first letters are left out;
    ``all``: a to z, words with other first letters are included; ``found``: order of the words;
    ``alphabet``: order of the language's alphabet."""
    order: Literal["codepoint", "alphabet"] = "codepoint"
    """Alphabetical order by code points, or by the language's alphabet."""
    difference: tuple[int, int] | None = None
    """Least and largest difference of two words' lengths."""
    lengths: Literal["release", "all"] = "release"
    """Lengths of answers and distractors: all possible lengths, or those that the release has."""
    letters_only: bool = False
    """Whether words have letters only and repeat none of them, in either case."""
    distractors: tuple[int, ...] = ()
    """Possible numbers of words from other categories, of five words."""
    fewest: Positive = 5
    """Number of words of the smallest category."""
    ambiguous: bool = True
    """Whether distractors may also be right answers."""
    rename: dict[str, str] = Field(default={})
    """New names of categories, which then come last."""
    punctuation: str = '.",:'
    """Marks to remove from sentences."""
    stop_words: str = ""
    """Words that are never answers."""
    clean: bool = False
    """Whether known faults of resources are corrected before use."""
    wording: Variant = "published"
    """Variant of the templates."""


class Decision(Strict):
    """A decision that differs between the variants: both descriptions, and changed settings."""

    published: str
    corrected: str
    tasks: dict[str, dict[str, Any]]
    """Settings by task (also for its subsets), by subset, or by ``all``."""


class Declarations(Strict):
    """The file of declarations (``config/lmentry/tasks.yaml``)."""

    languages: dict[str, dict[str, Any]]
    tasks: dict[str, dict[str, Any]]
    subsets: dict[str, dict[str, Any]]
    decisions: dict[str, Decision]


def read_declarations(path: Path) -> Declarations:
    """Read declarations from YAML, which must have all tasks and subsets, and no others.

    Raises UserError with the file and the key for a faulty declaration.
    """
    declarations = parse_yaml(Declarations, path, "declarations of tasks")
    for section, allowed_names in (("tasks", TASKS), ("subsets", tuple(PARENTS))):
        wrong = set(getattr(declarations, section)) ^ set(allowed_names)
        if wrong:
            raise UserError(
                f"{path}: {section}: {min(wrong)!r} is missing or unknown; expected exactly "
                f"{', '.join(allowed_names)}."
            )
    names = {key for decision in declarations.decisions.values() for key in decision.tasks}
    unknown = names - {ALL, *TASKS, *PARENTS}
    if unknown:
        raise UserError(
            f"{path}: decisions: {min(unknown)!r} is no task or subset; expected one, or {ALL!r}."
        )
    for name in (*TASKS, *PARENTS):
        for lang in ("", *declarations.languages):
            declaration_of(declarations, name, lang, "corrected", path)
    return declarations


def declaration_of(
    declared: Declarations, name: str, lang: str, variant: Variant, path: Path | str = "tasks.yaml"
) -> Sampling:
    """Return the declaration of a task or subset in a language and variant.

    Raises UserError for a faulty one.
    """
    # Later settings replace earlier ones: of the task, of its subset, of the language, of the task
    # in the language, of the subset in the language, and of the corrected variant.
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
        return Sampling.model_validate(merged)
    except ValidationError as error:
        where = f"{path}: {name}" + (f" ({lang})" if lang else "")
        raise UserError(complaints(error.errors(), merged, where, Sampling)) from error
