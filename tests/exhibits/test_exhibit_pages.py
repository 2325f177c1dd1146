"""The HTML form of tables: well formed, and every number says what it is."""

from xml.etree import ElementTree

from blimpworks.exhibits.exhibit import Cell, Exhibit, Section
from blimpworks.exhibits.html import html_text, table_html
from blimpworks.exhibits.render import render
from blimpworks.exhibits.style import new_figure


def cell(row, column, value, **more):
    return Cell(row, column, value, f"{value:g}", "number of rows", "items", {"lang": row}, **more)


PLAIN = Exhibit(
    "Pairs & languages",
    "a < b",
    [cell("Welsh", "n", 3, stands_for=("cym", "pairs")), cell("Wolof", "n", 4)],
    row_title="Language",
    stub={"Welsh": {"ISO": "cym"}, "Wolof": {"ISO": "wol"}},
    bold={("Wolof", "n")},
)
SECTIONED = Exhibit(
    "Two parts",
    "",
    [cell("a", "x", 1), cell("b", "y", 2)],
    heads={"x": ("Over", "x"), "y": ("Over", "y")},
    sections=[Section("First", {"a": "A <i>"}, ["x"]), Section("Second", {"b": "B"}, ["y"])],
)


def parsed(exhibit):
    return ElementTree.fromstring(html_text(exhibit))


def test_a_number_carries_its_place_among_the_cells_and_the_keys_of_the_printed_one():
    numbers = parsed(PLAIN).findall(".//td[@data-cell]")
    keys = [(td.get("data-cell"), td.get("data-row"), td.get("data-column")) for td in numbers]
    assert keys == [("0", "cym", "pairs"), ("1", "Wolof", "n")]


def test_what_stands_beside_the_numbers_has_no_keys_and_row_names_are_headings():
    table = ElementTree.fromstring(table_html(PLAIN))
    assert [th.text for th in table.findall(".//th[@scope='row']")] == ["Welsh", "Wolof"]
    assert [td.text for td in table.findall(".//tbody//td") if not td.get("data-cell")] == [
        "cym",
        "wol",
    ]


def test_bold_numbers_are_strong():
    strong = parsed(PLAIN).findall(".//td/strong")
    assert [element.text for element in strong] == ["4"]


def test_text_of_the_exhibit_means_nothing_to_html():
    page = parsed(PLAIN)
    assert page.findtext(".//title") == "Pairs & languages"
    assert "a < b" in "".join(page.find(".//figcaption").itertext())
    rows = parsed(SECTIONED).findall(".//tbody/tr/th[@scope='row']")
    assert [row.text for row in rows] == ["A <i>", "B"]


def test_sections_are_bodies_of_their_own_with_headings_where_columns_change():
    table = ElementTree.fromstring(table_html(SECTIONED))
    first, second = table.findall("tbody")
    assert first.find("tr/th[@scope='colgroup']") is None
    assert second.findtext("tr/th[@scope='colgroup']") == "Over"
    assert [th.text for th in second.findall("tr/th[@scope='col']")] == ["Second", "y"]


def test_rows_of_all_sections_are_equally_wide():
    wide = Exhibit(
        "Unequal",
        "",
        [cell("a", "x", 1), cell("a", "y", 2), cell("b", "z", 3)],
        sections=[Section("", {"a": "a"}, ["x", "y"]), Section("", {"b": "b"}, ["z"])],
    )
    table = ElementTree.fromstring(table_html(wide))
    widths = {sum(int(cell.get("colspan", 1)) for cell in row) for row in table.iter("tr")}
    assert widths == {3}


def test_a_figure_is_its_picture_with_its_numbers_as_a_table_under_it(tmp_path):
    figure = new_figure(2, 2)
    drawn = Exhibit("Dots", "Some dots.", [cell("Welsh", "n", 3)], figure=figure)
    render(drawn, [tmp_path / "dots.svg", tmp_path / "dots.html"])
    page = ElementTree.parse(tmp_path / "dots.html")
    assert (tmp_path / page.find(".//img").get("src")).is_file()
    assert page.findtext(".//details//td[@data-cell='0']") == "3"
    assert "Some dots." in "".join(page.find(".//figcaption").itertext())
