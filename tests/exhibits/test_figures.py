"""Figures: fonts for each script, and what seaborn draws of cells."""

import numpy as np
import pytest
import seaborn as sns

from blimpworks.benchmarks.exhibits.heat_maps import Names
from blimpworks.commands.registry import recorded_commands
from blimpworks.exhibits import fonts
from blimpworks.exhibits.exhibit import Cell
from blimpworks.exhibits.style import BARS, POINTS, frame_of, house_style, new_figure, with_ends
from blimpworks.papers.blimp.exhibits.figures import draw_groups
from blimpworks.records.job import Job
from blimpworks.records.reading import record_of


def test_names_have_a_font_for_each_script_and_numbers_where_there_is_none(monkeypatch):
    known = {"THAI": "Loma", "DEVANAGARI": "Lohit Devanagari"}
    by_script = lambda texts: known.get(fonts.script_of(fonts.letters_of(texts)))  # noqa: E731
    monkeypatch.setattr(fonts, "font_for", by_script)
    names = Names.of(["eng", "ไทย", "किताब", "ខ្មែរ"])
    assert names.families == ("DejaVu Sans", "Lohit Devanagari", "Loma")
    assert [*names.texts.values()] == ["eng", "ไทย", "किताब", "1"]
    assert names.listed == " Numbers stand for names: 1 ខ្មែរ."


@pytest.mark.parametrize(
    ("names", "packages"),
    [
        (["ខ្មែរ", "தமிழ்", "ไทย"], ["fonts-noto-core"]),
        (["日本語。", "かな", "한국어"], ["fonts-noto-cjk"]),
        (["किताब", "日本"], ["fonts-lohit-deva", "fonts-noto-cjk"]),
    ],
)
def test_the_record_of_a_figure_has_the_packages_of_fonts_that_it_lacks(
    names, packages, tmp_path, monkeypatch, caplog
):
    bundled = [f for f in fonts.font_manager.fontManager.ttflist if f.name == "DejaVu Sans Mono"]
    monkeypatch.setattr(fonts.font_manager.fontManager, "ttflist", bundled)
    monkeypatch.setattr(fonts.font_manager, "findSystemFonts", list)
    output = tmp_path / "figure.txt"
    with Job(recorded_commands()["judge"], inputs=[], outputs=[output], params={}):
        families, absent = fonts.families_for(fonts.letters_of(names))
        output.write_text("drawn")
    assert (families, absent) == ([], fonts.letters_of(names))
    assert record_of(output)["notes"][fonts.WANTED] == packages
    assert all(package in caplog.text for package in packages)


def cell(row, column, value, low=None, high=None):
    return Cell(row, column, value, f"{value}", "formula", "items", {}, low=low, high=high)


# The interval of a mean over paradigms is that of all pairs, and need not hold the mean.
CELLS = [cell("a", "m", 60.0, 55.0, 70.0), cell("b", "m", 80.0, 81.0, 90.0), cell("c", "m", 40.0)]


def intervals(lines):
    ends = [np.asarray(line.get_ydata(), dtype=float) for line in lines]
    return [(end.min(), end.max()) for end in ends if len(end) and not np.isnan(end).any()]


@pytest.mark.parametrize(
    ("plot", "settings", "values"),
    [
        (sns.barplot, BARS, lambda axes: [bar.get_height() for bar in axes.patches]),
        (sns.pointplot, POINTS, lambda axes: [*axes.lines[0].get_ydata()]),
    ],
)
def test_bars_and_points_stand_at_their_values_with_the_cells_intervals(plot, settings, values):
    bare = frame_of(CELLS)
    for frame, ends in ((with_ends(bare), [(55.0, 70.0), (81.0, 90.0)]), (bare, [])):
        with house_style():
            axes = new_figure(3, 2).subplots()
            plot(frame, x="row", y="value", ax=axes, **settings)
        assert values(axes) == [60.0, 80.0, 40.0]
        assert intervals(axes.lines[plot is sns.pointplot :]) == ends


def test_a_group_that_a_series_lacks_stays_empty_and_keeps_the_others_in_place():
    with house_style():
        axes = new_figure(3, 2).subplots()
        series = {"first": [CELLS[1]], "none": [], "last": [CELLS[0], CELLS[1]]}
        draw_groups(axes, ["a", "b"], series)
    place = {
        bars.get_label(): [round(bar.get_x() + bar.get_width() / 2, 2) for bar in bars]
        for bars in axes.containers
    }
    assert place["first"] == [0.73]
    assert place["last"] == [0.27, 1.27]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["a", "b"]
