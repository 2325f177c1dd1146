"""Each table that the papers print is set on a page of two columns, and none passes its edge."""

import pytest

from support.latex import lacking, overfull_lines


@pytest.mark.skipif(bool(lacking()), reason=lacking())
def test_all_published_tables_compile_and_fit_the_page(printed, tmp_path):
    tables = sorted(printed.path.glob("results/demo/published/*/*.tex"))
    assert len(tables) > 80
    assert overfull_lines(tables, tmp_path) == {}
