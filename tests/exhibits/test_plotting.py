"""What seaborn draws of cells: their values and their own intervals, in the house's style."""

import numpy as np
import pytest
import seaborn as sns

from blimpworks.exhibits.exhibit import Cell
from blimpworks.exhibits.style import BARS, POINTS, frame_of, house_style, new_figure, with_ends
from blimpworks.papers.blimp.exhibits.figures import draw_groups


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
def test_bars_and_points_stand_at_their_values_with_the_intervals_that_the_cells_have(
    plot, settings, values
):
    for frame, ends in (
        (with_ends(frame_of(CELLS)), [(55.0, 70.0), (81.0, 90.0)]),
        (frame_of(CELLS), []),
    ):
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
