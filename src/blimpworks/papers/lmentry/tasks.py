"""List the tasks of Multi-LMentry (Moroni and others 2025, Tables 1 and 8, appendix A.2)."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from blimpworks.files import read_cells

_ROWS = read_cells(Path(__file__).with_name("tasks.tsv"))
TASKS = tuple(row["task"] for row in _ROWS)
FIELDS = {row["task"]: frozenset(row["fields"].split()) for row in _ROWS}
"""Names in braces in a task's templates."""
ORDERED = tuple(task for task, fields in FIELDS.items() if fields >= {"word1"} or fields >= {"n1"})
"""Tasks whose answer is one of two arguments."""
_PARTED = read_cells(Path(__file__).with_name("subsets.tsv"))
SUBSETS = {row["task"]: tuple(row["subsets"].split()) for row in _PARTED}
"""Subsets of a task's arguments (Table 8)."""
PARENTS = {f"{task}_{name}": task for task, names in SUBSETS.items() for name in names}
ANY_WORDS, ALL_WORDS = "any_words_from_category", "all_words_from_category"
SUBJECTS = ("answer", "word", "letter", "query")
"""Arguments that may be a prompt's subject, in order of search: the gold answer, or the topic of
right answers."""
LETTERS: dict[str, Callable[[str, str], bool]] = {
    "word_containing": str.__contains__,
    "word_not_containing": lambda word, letters: letters not in word,
    "starts_with_letter": str.startswith,
    "ends_with_letter": str.endswith,
}
"""Tasks on words with a letter, and their test of a word and letters."""
_PAIRS = read_cells(Path(__file__).with_name("adjacent.tsv"))
ADJACENT = tuple((row["first"], row["second"]) for row in _PAIRS)
"""Pairs of tasks that robustness to adjacent tasks compares."""
# As in analysis.accuracy, which is slow to import: formulas are looked up at every explain.
WHOLE = "all"


def task_of(name: str) -> str:
    """Return the task of a subset; a task itself is returned unchanged."""
    return PARENTS.get(name, name)


def is_yes(task: str, arguments: Mapping[str, Any]) -> bool:
    """Return whether yes is right in a task on categories, by the numbers in ``arguments``."""
    strangers = int(arguments["num_distractors"])
    if task == ANY_WORDS:
        return int(arguments["num_words"]) > strangers
    return strangers == 0
