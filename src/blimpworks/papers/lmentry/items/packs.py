"""Read language packs (Moroni and others 2025, section 3.2, Tables 7 to 33)."""

import string
from collections.abc import Sequence
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal, Self

import pandas as pd
from pydantic import Field, model_validator

from blimpworks.campaign.settings.base import parse_yaml
from blimpworks.errors import UserError
from blimpworks.papers.lmentry.judging.declared import AnswerPatterns
from blimpworks.papers.lmentry.tasks import FIELDS, PARENTS, task_of
from blimpworks.strict import Strict

Templates = Annotated[tuple[str, ...], Field(min_length=1)]
SYSTEM = "system"


class Lists(Strict):
    """Joining of words in a row."""

    last: str
    """Text before the last word, such as " and "."""
    slips: dict[str, str] = Field(default={})
    """The release's text instead, by task or subset; not in the variant corrected."""


class Pack(Strict):
    """A language of Multi-LMentry."""

    lang: str
    """ISO 639-3 code."""
    name: str
    """English name."""
    resources: str
    """Name of the folder of its annotated resources."""
    system: str
    """System prompt (Table 7)."""
    alphabet: str
    """Its letters in lower case, in alphabetical order."""
    also: str = ""
    """Further characters of words, which prompts may ask for."""
    letters: dict[Literal["contains", "starts", "ends"], str] = Field(default={})
    """Letters that the release asks for; by default those of the list's words."""
    yes_no: tuple[str, str] | None = None
    """Answers to questions on categories, which need them."""
    yes_no_corrected: tuple[str, str] | None = None
    """Right spelling of ``yes_no``, if the release has another."""
    lists: Lists = Lists(last=", ")
    categories: dict[str, dict[str, str]] = Field(default={})
    """Other names of categories, by task and number of the template: ``task.1``."""
    declension: Literal["basque"] | None = None
    """Declension of categories' names in a prompt."""
    abstract: frozenset[str] = frozenset()
    """Categories that words relate to rather than belong to."""
    templates: dict[str, Templates]
    """Templates of each task, in order, with arguments in braces."""
    corrected: dict[str, str] = Field(default={})
    """Replacements of templates in the variant corrected, by task and number: ``task.2``."""
    slips: dict[str, str] = Field(default={})
    """Templates of a subset that differ from its task's in the release, by subset and number; not
    in the variant corrected."""
    answers: AnswerPatterns | None = None
    """Patterns of answers; null if nobody has written them yet."""

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

    def _check_key(self, kind: str, key: str, task: str, text: str) -> None:
        number = key.rpartition(".")[2]
        if number not in [str(n + 1) for n in range(len(self.templates.get(task, ())))]:
            whose = "subset of a task" if kind == "slips" else "task"
            raise ValueError(
                f"{kind} {key!r}: no such template; expected a {whose} of 'templates' and the "
                "number of one of its templates, such as first_word.2"
            )
        _check_fields(f"{kind} {key!r}", task, text)

    def template(self, name: str, number: int, *, corrected: bool) -> str:
        """Return a template of a task or subset; ``number`` counts from 1."""
        task = task_of(name)
        usual = self.templates[task][number - 1]
        if corrected:
            return self.corrected.get(f"{task}.{number}", usual)
        return self.slips.get(f"{name}.{number}", usual)


def _check_fields(key: str, task: str, text: str) -> None:
    """Raise ValueError for an unknown task, or other fields than the task's."""
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
    """Read the system prompt and the templates of packs: a row each.

    ``key``: "system", or task and number of a template; ``phenomenon``: the task; ``published``:
    the release's wording; ``corrected``: the right one, None if the same.
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
    # Parsed once while the file is the same: every job asks for it.
    return _parsed_once(path, path.stat().st_mtime_ns if path.exists() else 0)


def _lenders(pack: Pack, folder: Path) -> dict[str, Path]:
    # Packs whose patterns the release uses for some of a pack's tasks, by language.
    scorers = pack.answers.published_scorers if pack.answers else {}
    return {lang: folder / f"{lang}.yaml" for lang in sorted({*scorers.values()})}


def pack_files(path: Path) -> list[Path]:
    """List a pack, and the packs that its published verdicts take patterns from."""
    return [path, *_lenders(_parsed(path), path.parent).values()]


def read_pack(path: Path) -> Pack:
    """Read a pack from YAML, with patterns of neighbouring packs. Raises UserError."""
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
