"""What Multi-LMentry prints, against what its other numbers make of it.

tests/workflow/test_reproduction.py has the status of each number.
"""

import pandas as pd
import pytest

from blimpworks.campaign.reference import PublishedRow
from blimpworks.campaign.table_files import read_rows
from blimpworks.papers.lmentry.exhibits.formulas import LEAD
from blimpworks.papers.lmentry.items.packs import read_texts
from blimpworks.papers.lmentry.items.prompts import RESOURCES
from blimpworks.papers.lmentry.tables import PROMPT_COUNTS
from blimpworks.papers.lmentry.tasks import LANGUAGES
from blimpworks.reproduction.comparisons import Paper
from blimpworks.tables import read_table
from support.cells_kit import check_cells, check_that_it_deviates, sources_of
from support.lmentry_kit import PACKS, PRINTED, PUBLISHED, SPECS, build, tables_of
from support.lmentry_prompts_kit import files_of, needs_mirror

# On one worker: what is printed is compared once, which takes long.
pytestmark = [pytest.mark.xdist_group("lmentry"), pytest.mark.slow]


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return tmp_path_factory.mktemp("lmentry")


@pytest.fixture(scope="module")
def tables(root):
    return tables_of(root)


@pytest.fixture(scope="module")
def exhibits(root, tables):
    names = [name for name, spec in SPECS.items() if spec.published]
    return {name: build(name, tables, PUBLISHED, root) for name in names}


@needs_mirror
def test_settings_and_released_resources_give_all_of_table_54(tmp_path):
    files = [(lang, path) for lang in LANGUAGES for path in files_of(lang, tmp_path)]
    [table] = tables_of(tmp_path, files)["prompt_counts"]
    rows = read_table(PROMPT_COUNTS, table).to_pylist()
    counts = {(row["phenomenon"], row["lang"]): row["prompts"] for row in rows}
    printed = read_rows(PublishedRow, PRINTED / "table54.csv")
    table54 = {(row.row, row.column): row.value for row in printed if row.value is not None}
    assert counts == table54
    by_resources = {row["phenomenon"] for row in rows if row["basis"] == RESOURCES}
    assert by_resources == {"homophones", "first_word", "last_word"}


def test_a_lead_can_be_explained_from_rows_that_were_read_as_objects():
    rows = pd.DataFrame({"value": pd.Series([40.7, 48.6, 37.3], dtype=object)})
    assert LEAD(rows) == pytest.approx(7.9)


@pytest.mark.parametrize(
    ("place", "changed"),
    [
        (("table4", "phi-4", "eng lms"), "78.7"),
        (("table2", "all", "samples"), "956,245"),
        (("table4", "average", "kor lms"), "41.1"),
        (("table5", "phi-4", "deu"), "84.4"),
        (("table54", "word_containing", "por"), "78"),
        (("table6", "ita open-weight", "less_letters"), "3"),
        (("text", "learners", "accuracy"), "96.14%"),
    ],
)
def test_a_changed_digit_deviates(place, changed, tables, exhibits):
    cells = {name: path for name, (_, path) in exhibits.items()}
    files = tables["printed"], PRINTED / "reasons.tsv", cells, tables["accuracies"][0]
    check_that_it_deviates(Paper("lmentry", *files), place, changed)


def test_each_published_cell_can_be_computed_again(tables, exhibits):
    sources = sources_of(tables | {"packs": []}) | {"packs": read_texts(PACKS)}
    for exhibit, _ in exhibits.values():
        again = [cell for cell in exhibit.cells if "exhibit" not in cell.where or not cell.printed]
        check_cells(again or exhibit.cells[:5], sources)


def test_figures_have_what_sections_5_2_to_5_4_say(exhibits):
    means = {cell.row: cell.text for cell in exhibits["fig3"][0].cells}
    assert [name for name, text in means.items() if float(text) > 80] == [
        "sentence containing",
        "first letter",
        "first word",
        "sentence not containing",
    ]
    last = {"rhyming word": "28.3", "homophones": "27.5", "word before": "24.5"}
    assert dict([*means.items()][-3:]) == last
    english = {cell.column: cell.n for cell in exhibits["fig1"][0].cells if cell.row == "English"}
    assert english == {"XS": 5, "S": 3, "M": 8, "L": 2}
    by_place = {(c.row, c.column): c.text for c in exhibits["fig2"][0].cells}
    assert by_place["mean, open-weight", "EN"] == "66.0"
    assert by_place["mean, open-data", "PT_BR"] == "25.2"
    assert len(by_place) == 2 * (7 + 6 + 2)
