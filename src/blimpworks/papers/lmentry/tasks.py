"""List the tasks, languages and models of Multi-LMentry, with their names in print.

Source: Moroni, Aula-Blasco, Conia and others (2025), Tables 1 to 4, 8 and 34 to 51, appendix A.2.
The Snakefile imports this module, which therefore has no slow imports.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from blimpworks.files import read_cells

TASK_FOLDER = Path(__file__).parent
BENCHMARK = "lmentry"
_TASK_ROWS = read_cells(TASK_FOLDER / "tasks.tsv")
TASKS = tuple(row["task"] for row in _TASK_ROWS)
FIELDS = {row["task"]: frozenset(row["fields"].split()) for row in _TASK_ROWS}
"""Names in braces in the templates of each task."""
ORDERED = tuple(task for task, fields in FIELDS.items() if fields >= {"word1"} or fields >= {"n1"})
"""Tasks with two arguments, word1 and word2 or n1 and n2, one of which is the answer."""
_SUBSET_ROWS = read_cells(TASK_FOLDER / "subsets.tsv")
SUBSETS = {row["task"]: tuple(row["subsets"].split()) for row in _SUBSET_ROWS}
"""Names of each task's subsets, which restrict its arguments (Table 8): two words whose lengths
differ by one letter."""
PARENTS = {f"{task}_{name}": task for task, names in SUBSETS.items() for name in names}
"""Task of each subset. A subset's key is TASK_NAME, such as more_letters_length_diff_1."""
ANY_WORDS, ALL_WORDS = "any_words_from_category", "all_words_from_category"
SUBJECTS = ("answer", "word", "letter", "query")
"""Arguments that may be the subject of a prompt: its gold answer, or what right answers are about.
The first that a prompt has is its subject."""
LETTERS: dict[str, Callable[[str, str], bool]] = {
    "word_containing": str.__contains__,
    "word_not_containing": lambda word, letters: letters not in word,
    "starts_with_letter": str.startswith,
    "ends_with_letter": str.endswith,
}
"""Tasks on words with a letter (or several), each with its test of (word, letters)."""
ADJACENT = tuple((row["first"], row["second"]) for row in read_cells(TASK_FOLDER / "adjacent.tsv"))
"""Pairs of tasks that robustness to adjacent tasks compares."""


def task_of(name: str) -> str:
    """Return the task of a subset; a task itself is returned unchanged."""
    return PARENTS.get(name, name)


def is_yes(task: str, arguments: Mapping[str, Any]) -> bool:
    """Return whether yes is right in a task on categories: "Are any of these words animals?".

    ``arguments`` has the numbers of words (``num_words``), and of those that are not of the
    category (``num_distractors``).
    """
    n_outside = int(arguments["num_distractors"])
    if task == ANY_WORDS:
        return int(arguments["num_words"]) > n_outside
    return n_outside == 0


class Language(NamedTuple):
    """A language: its code in print, its name, and the two tables of its results."""

    code: str
    name: str
    tables: tuple[str, str]


LANGUAGES = {
    row["lang"]: Language(row["code"], row["name"], (row["first"], row["second"]))
    for row in read_cells(TASK_FOLDER / "languages.tsv")
}
"""Languages by ISO 639-3 code, in the order of Table 4."""
TASK_TABLES = {table: lang for lang, language in LANGUAGES.items() for table in language.tables}
TEMPLATE_TABLES = {f"table{number}": task for number, task in enumerate(TASKS, start=9)}
TASK_NAMES = {row["task"]: row for row in read_cells(TASK_FOLDER / "task_names.tsv")}
"""The names of each task and subset, in the order of the columns of Tables 34 to 51.

head, subhead: heading of the column, in two lines; group: panel of the figure of artefacts, empty
for subsets; name: name in Tables 1 and 9 to 33, if it is not the key in words; words: what a
subset's arguments have in common (Table 8), or a task's many right answers.
"""
HEADS = {task: (row["head"], row["subhead"]) for task, row in TASK_NAMES.items()}
LAST_OF_FIRST = TASKS.index("starts_with_letter") + 1
TASKS_OF_TABLES = (tuple(HEADS)[:LAST_OF_FIRST], tuple(HEADS)[LAST_OF_FIRST:])
"""Tasks and subsets in a language's first table, and in its second."""
WEIGHT, DATA = "Open-Weight Multilingual Models", "Open-Data Multilingual Models"
SPECIFIC = "Language-Specific Models"
MODELS = {row["model"]: row for row in read_cells(TASK_FOLDER / "model_names.tsv")}
"""Models of Table 3 by name in the catalogue, each with its ``name`` in print and its ``group``."""
AVERAGE = "average"


def task_name(task: str) -> str:
    """Write a task's key in words."""
    return task.replace("_", " ")


def long_name(task: str) -> str:
    """Return a task's name as in Tables 1 and 9 to 33."""
    return TASK_NAMES[task]["name"] or task_name(task).capitalize()
