"""Multi-LMentry's specs of exhibits against what its tables are known to hold."""

from blimpworks.papers.lmentry.exhibits import SPECS
from blimpworks.papers.lmentry.exhibits.names import (
    LANGUAGES,
    TASK_TABLES,
    TEMPLATE_TABLES,
    long_name,
)

TITLES = {spec.argument: spec.title for spec in SPECS if spec.argument}


def test_tables_of_accuracies_and_templates_have_titles_with_their_language_or_task():
    parts = {t: LANGUAGES[lang].tables.index(t) + 1 for t, lang in TASK_TABLES.items()}
    expected = {
        table: f"Accuracy on each task in {LANGUAGES[lang].name}, part {parts[table]}"
        for table, lang in TASK_TABLES.items()
    } | {table: f"Templates: {long_name(task).lower()}" for table, task in TEMPLATE_TABLES.items()}
    assert {table: TITLES[table] for table in expected} == expected


def test_an_exhibit_with_an_argument_is_called_by_it():
    assert all(spec.argument in {"", spec.name} for spec in SPECS)
