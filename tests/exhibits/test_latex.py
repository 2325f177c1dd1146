"""Tables in LaTeX are set on a page of two columns, by a real XeLaTeX, and none passes its edge."""

import pytest

from blimpworks.exhibits.exhibit import Cell, Exhibit
from blimpworks.exhibits.formulas import COUNT
from blimpworks.exhibits.latex import latex_text
from support.latex import lacking, overfull_lines

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(lacking()), reason=lacking())]

URDU, HINDI = "لڑکی نے کتاب پڑھی ہے اور اب سو رہی ہے", "लड़की ने किताब पढ़ी है और अब सो रही है"


def numbers(rows, columns):
    cells = [
        Cell(f"Language {row}", f"Model {column}", 99.9, "99.9", COUNT, "items", {})
        for row in range(rows)
        for column in range(columns)
    ]
    return Exhibit("Numbers", "A caption.", cells, row_title="Language")


def texts(rows):
    cells = [
        Cell(str(row), column, 1, f"{text} {{long_name_without_any_space_at_all}}", COUNT, "", {})
        for row in range(rows)
        for column, text in (("Urdu", URDU), ("Hindi", HINDI))
    ]
    widths = {"Urdu": 0.3, "Hindi": 0.3}
    return Exhibit("Texts", "A caption.", cells, row_title="n", textual=True, widths=widths)


def test_tables_of_many_columns_of_many_rows_and_of_texts_in_urdu_and_hindi_fit_the_page(tmp_path):
    exhibits = {"broad": numbers(3, 25), "long": numbers(120, 12), "narrow": numbers(4, 2)}
    exhibits["texts"] = texts(60)
    paths = [tmp_path / f"{name}.tex" for name in exhibits]
    for path, exhibit in zip(paths, exhibits.values(), strict=True):
        path.write_text(latex_text(exhibit), encoding="utf-8")
    assert overfull_lines(paths, tmp_path) == {}
