import pandas as pd
import pytest

from blimpworks.campaign.reference import PublishedRow
from blimpworks.campaign.table_files import read_rows
from blimpworks.papers.lmentry.exhibits.formulas import LEAD
from blimpworks.papers.lmentry.items.prompts import RESOURCES
from blimpworks.papers.lmentry.tables import PROMPT_COUNTS
from blimpworks.papers.lmentry.tasks import LANGUAGES
from blimpworks.tables import read_table
from support import print_kit
from support.lmentry_prompts_kit import files_of, needs_mirror

pytestmark = pytest.mark.slow


@needs_mirror
def test_settings_and_released_resources_give_all_of_table_54(tmp_path):
    files = [(lang, path) for lang in LANGUAGES for path in files_of(lang, tmp_path)]
    [table] = print_kit.tables_of("lmentry", tmp_path, files)["prompt_counts"]
    rows = read_table(PROMPT_COUNTS, table).to_pylist()
    counts = {(row["phenomenon"], row["lang"]): row["prompts"] for row in rows}
    printed = read_rows(PublishedRow, print_kit.CONFIG / "published/lmentry/table54.csv")
    table54 = {(row.row, row.column): row.value for row in printed if row.value is not None}
    assert counts == table54
    by_resources = {row["phenomenon"] for row in rows if row["basis"] == RESOURCES}
    assert by_resources == {"homophones", "first_word", "last_word"}


@pytest.mark.parametrize("name", ["table34", "table37", "table44"])
def test_captions_of_printed_accuracies_have_single_spaces(tmp_path, name):
    tables = print_kit.tables_of("lmentry", tmp_path)
    exhibits, _ = print_kit.build("lmentry", tmp_path, tables, [name])
    assert "  " not in exhibits[name].caption


def test_a_lead_can_be_explained_from_rows_that_were_read_as_objects():
    rows = pd.DataFrame({"value": pd.Series([40.7, 48.6, 37.3], dtype=object)})
    assert LEAD(rows) == pytest.approx(7.9)


def test_figures_have_what_sections_5_2_to_5_4_say(tmp_path):
    tables = print_kit.tables_of("lmentry", tmp_path)
    exhibits, _ = print_kit.build("lmentry", tmp_path, tables, ["fig1", "fig2", "fig3"])
    means = {cell.row: cell.text for cell in exhibits["fig3"].cells}
    assert [name for name, text in means.items() if float(text) > 80] == [
        "sentence containing",
        "first letter",
        "first word",
        "sentence not containing",
    ]
    last = {"rhyming word": "28.3", "homophones": "27.5", "word before": "24.5"}
    assert dict([*means.items()][-3:]) == last
    english = {cell.column: cell.n for cell in exhibits["fig1"].cells if cell.row == "English"}
    assert english == {"XS": 5, "S": 3, "M": 8, "L": 2}
    by_place = {(c.row, c.column): c.text for c in exhibits["fig2"].cells}
    assert by_place["mean, open-weight", "EN"] == "66.0"
    assert by_place["mean, open-data", "PT_BR"] == "25.2"
    assert len(by_place) == 2 * (7 + 6 + 2)
