"""Name Multi-LMentry's languages, tasks and models, and look up facts for its exhibits.

Source: Moroni, Aula-Blasco, Conia and others (2025), Tables 1 to 4, 8 and 34 to 51. No heavy
imports, since the Snakefile reads the tables' languages.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from blimpworks.campaign.catalogue import Catalogue
from blimpworks.campaign.settings.base import Variant
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.campaign.table_files import read_rows
from blimpworks.files import read_cells
from blimpworks.papers.lmentry.settings import LmentryOptions
from blimpworks.papers.lmentry.tasks import TASKS
from blimpworks.strict import Strict

BENCHMARK = "lmentry"
HERE = Path(__file__).parent


class Language(NamedTuple):
    """A language: its code in the tables, its name, and the tables of its tasks."""

    code: str
    name: str
    tables: tuple[str, str]


LANGUAGES = {
    "eng": Language("EN", "English", ("table50", "table51")),
    "spa": Language("ES", "Spanish", ("table36", "table37")),
    "deu": Language("DE", "German", ("table44", "table45")),
    "ita": Language("IT", "Italian", ("table34", "table35")),
    "kor": Language("KO", "Korean", ("table46", "table47")),
    "por": Language("PT_BR", "Portuguese (Brazilian)", ("table48", "table49")),
    "cat": Language("CA", "Catalan", ("table40", "table41")),
    "glg": Language("GL", "Galician", ("table38", "table39")),
    "eus": Language("EU", "Basque", ("table42", "table43")),
}
"""Languages by ISO 639-3 code, in the order of Table 4."""
TASK_TABLES = {table: lang for lang, language in LANGUAGES.items() for table in language.tables}
TEMPLATE_TABLES = {f"table{number}": task for number, task in enumerate(TASKS, start=9)}


TASK_NAMES = {row["task"]: row for row in read_cells(HERE / "task_names.tsv")}
"""Tasks and subsets by key, in the order of the columns of Tables 34 to 51.

head, subhead: heading of the column, in two lines; group: panel of the figure of artefacts, empty
for subsets; name: in Tables 1 and 9 to 33, if it is not the key in words; words: common property of
a subset's arguments (Table 8), or of a task's many right answers.
"""
HEADS = {task: (row["head"], row["subhead"]) for task, row in TASK_NAMES.items()}
LAST_OF_FIRST = TASKS.index("starts_with_letter") + 1
PARTS = (tuple(HEADS)[:LAST_OF_FIRST], tuple(HEADS)[LAST_OF_FIRST:])
WEIGHT, DATA = "Open-Weight Multilingual Models", "Open-Data Multilingual Models"
SPECIFIC = "Language-Specific Models"
_MODEL_ROWS = read_cells(HERE / "model_names.tsv")
MODELS = {row["model"]: (row["name"], row["group"]) for row in _MODEL_ROWS}
"""Printed name and heading by a model's name in the catalogue."""
AVERAGE = "average"


def task_name(task: str) -> str:
    """Write a task's key in words."""
    return task.replace("_", " ")


def long_name(task: str) -> str:
    """Return a task's name as in Tables 1 and 9 to 33."""
    return TASK_NAMES[task]["name"] or task_name(task).capitalize()


def sizes(campaign: Campaign, catalogue: Catalogue) -> dict[str, float | None]:
    """Return billions of parameters of each model of the benchmark; None if unknown."""
    rows = catalogue.models.items()
    return {k: row.parameters for k, row in rows if not row.papers or BENCHMARK in row.papers}


class CountDifference(Strict):
    """A number of prompts that differs from Table 54, and the reason."""

    variant: Variant
    task: str
    lang: str
    printed: int
    made: int
    reason: str


def counts(campaign: Campaign, catalogue: Catalogue) -> dict[str, Any]:
    """Return the campaign's choice of prompts, and reasons for differences from Table 54."""
    rows = read_rows(CountDifference, campaign.folder("lmentry") / "count_differences.tsv")
    options = campaign.section(LmentryOptions)
    return {
        "variant": options.variant,
        "per_template": options.per_template,
        "differences": [row.model_dump() for row in rows],
    }


LMENTRY_FACTS: dict[str, Callable[[Campaign, Catalogue], Any]] = {
    "lmentry_sizes": sizes,
    "lmentry_counts": counts,
    # Which wording of the prompts the campaign asks.
    "lmentry_variant": lambda campaign, _: campaign.section(LmentryOptions).variant,
}
