"""The tasks of Multi-LMentry, and which of them robustness compares.

Source: Moroni, Aula-Blasco, Conia and others (2025), Tables 1 and 8, appendix A.2.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from blimpworks.files import read_cells

_ROWS = read_cells(Path(__file__).with_name("tasks.tsv"))
TASKS = tuple(row["task"] for row in _ROWS)
"""The 25 tasks, in the order of the paper's tables."""
FIELDS = {row["task"]: frozenset(row["fields"].split()) for row in _ROWS}
"""What stands in braces in a task's templates."""
ORDERED = tuple(task for task, fields in FIELDS.items() if fields >= {"word1"} or fields >= {"n1"})
"""Tasks whose answer is one of two arguments."""
SUBSETS = {
    row["task"]: tuple(row["subsets"].split())
    for row in read_cells(Path(__file__).with_name("subsets.tsv"))
}
"""Subsets of arguments, of the tasks that have any (Table 8)."""
PARENTS = {f"{task}_{name}": task for task, names in SUBSETS.items() for name in names}
"""The task of each subset, by the subset's key."""
ANY_WORDS, ALL_WORDS = "any_words_from_category", "all_words_from_category"
SUBJECTS = ("answer", "word", "letter", "query")
"""Arguments that say what is asked for, in the order in which they are looked for: the gold answer,
or what right answers are about where there are many."""
ADJACENT = tuple(
    (row["first"], row["second"]) for row in read_cells(Path(__file__).with_name("adjacent.tsv"))
)
"""Pairs of tasks that robustness to adjacent tasks compares."""
# As in analysis.accuracy, which is slow to import: formulas are looked up at every explain.
WHOLE = "all"
"""Paradigm of a task as a whole, by no template or answer."""


def task_of(name: str) -> str:
    """The task that prompts are of: that of a subset, and a task itself."""
    return PARENTS.get(name, name)


def is_yes(task: str, arguments: Mapping[str, Any]) -> bool:
    """Whether yes is right in a task on categories: any word, or all of them, are of the category.

    ``arguments``: how many words there are, and how many of them are distractors.
    """
    strangers = int(arguments["num_distractors"])
    if task == ANY_WORDS:
        return int(arguments["num_words"]) > strangers
    return strangers == 0
