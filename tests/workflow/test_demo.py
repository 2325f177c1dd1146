"""Test the demo campaign as a user runs it: built, run again, edited, damaged, explained."""

import pyarrow.parquet as pq
import pytest

from support.checkout import fresh

RESULTS = "results/demo"
pytestmark = pytest.mark.xdist_group("workflow")


def test_the_campaign_builds_every_exhibit_says_where_they_are_and_then_nothing(built):
    exhibits = built.path / RESULTS / "exhibits"
    for name in ("table2", "table5", "funnel"):
        for suffix in ("csv", "md", "tex", "cells.parquet"):
            assert (exhibits / f"multiblimp/{name}.{suffix}").stat().st_size > 0
    figures = [f"multiblimp/fig3.{suffix}" for suffix in ("pdf", "png", "svg", "cells.parquet")]
    declared = ("demo_pairs/people.csv", "demo_suites/paradigms.png", "demo_pairs/worst.html")
    for name in (*figures, *declared, "../published/demo_suites/models.png"):
        assert (exhibits / name).stat().st_size > 0
    assert f"{RESULTS}/exhibits" in built.last_output
    assert "blimpworks explain" in built.last_output
    assert built.planned() == set()


@pytest.mark.long
def test_a_second_run_from_scratch_gives_the_same_bytes(built, tmp_path):
    second = fresh(tmp_path / "second", like=built)
    second.make()
    # Other tests may have built more in the first campaign.
    files = [path for path in sorted((second.path / RESULTS).rglob("*")) if path.is_file()]
    products = [path for path in files if not path.name.endswith(".prov.json")]
    assert len(products) > 100
    for file in products:
        twin = built.path / file.relative_to(second.path)
        assert twin.read_bytes() == file.read_bytes(), file


def test_what_papers_print_is_drawn_too(built):
    names = {path.stem for path in (built.path / RESULTS).glob("published/multiblimp/*.csv")}
    names |= {path.stem for path in (built.path / RESULTS).glob("published/multiblimp/*.pdf")}
    assert {"table1", "table2", "table3", "table5", "tableb2", "fig1", "fig5", "fig6"} <= names
    figures = {path.stem for path in (built.path / RESULTS).glob("published/clams/*.pdf")}
    assert figures == {"fig2"}, "the demo omits Figure 3"
    rows = (built.path / RESULTS / "published/multiblimp/table5.csv").read_text().splitlines()
    (english,) = [row.split(",") for row in rows if row.startswith("English,")]
    assert (english[2], float(english[3])) == ("770", pytest.approx(99.4))


def test_the_corrected_variant_builds_other_items_from_the_same_treebanks(scratch):
    items = scratch.path / RESULTS / "items/multiblimp/fra.parquet"
    published = pq.read_table(items).to_pylist()
    scratch.change(multiblimp={"variant": "corrected"})
    scratch.make(f"{RESULTS}/items/multiblimp/fra.parquet")
    corrected = pq.read_table(items).to_pylist()
    assert any(" de le " in f" {row['good']} " for row in published)
    assert not any(" de le " in f" {row['good']} " for row in corrected)
