import pandas as pd
import pytest

from blimpworks.analysis import baselines
from blimpworks.benchmarks.predictions import chance_of

PLACE = {"lang": "eng", "phenomenon": "p", "paradigm": "p"}


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        (
            [{"good": "The cat sat.", "bad": "The zyzzyva sat."}, {}],
            {"longer": (0.5, 2), "shorter": (1.5, 2), "frequent": (1.5, 2)},
        ),
        ([{"acceptable": a} for a in (True, True, False)], {"majority": (2, 3)}),
        ([{"alternatives": 4}, {"alternatives": 2}], {"chance": (0.75, 2)}),
        ([{"chance": 0.25}], {"chance": (0.25, 1)}),
    ],
)
def test_baselines_of_a_paradigm(items, expected):
    rows = [{"good": "a", "bad": "a", **item} for item in items]
    found = baselines.baseline_rows(pd.DataFrame([{**PLACE, **row} for row in rows]))
    assert [*found.columns] == [*baselines.BASELINE_COLUMNS]
    assert {r.baseline: (r.correct, r.n) for r in found.itertuples()} == expected


@pytest.mark.parametrize(
    ("lang", "code"),
    [("eng", "en"), ("hrv", "sh"), ("arb", "ar"), ("khm", None), ("afr", None), ("nno", None)],
)
def test_frequencies_are_never_those_of_another_language(lang, code):
    assert baselines.frequency_code(lang) == code


@pytest.mark.parametrize(
    ("formulas", "chance"),
    [
        (("(*;%a%) < (*;%b%)",), 0.5),
        (("(*;%a%) < (*;%b%)", "(*;%a%) < (*;%c%)"), 1 / 3),
        (("(1;%a%) - (1;%b%) > (1;%c%) - (1;%d%)", "(1;%a%) > (1;%b%)"), 3 / 8),
    ],
)
def test_chance_of_predictions(formulas, chance):
    assert chance_of(formulas) == pytest.approx(chance, abs=0.001)


@pytest.mark.parametrize(
    ("more", "expected"), [({}, []), ({"alternatives": 4}, [("chance", 0.5, 2)])]
)
def test_conditions_of_an_item_are_counted_once_where_they_are_options(more, expected):
    rows = [{**PLACE, "good": "a", "bad": "a", "item": item, **more} for item in "iijj"]
    found = baselines.baseline_rows(baselines.one_row_per_item(pd.DataFrame(rows)))
    assert [(r.baseline, r.correct, r.n) for r in found.itertuples()] == expected


def test_an_item_and_its_translation_are_two_items():
    rows = [
        {**PLACE, "lang": lang, "good": "a", "bad": "a", "item": "i", "alternatives": 2}
        for lang in ("eng", "eng", "deu", "deu")
    ]
    found = baselines.baseline_rows(baselines.one_row_per_item(pd.DataFrame(rows)))
    each = [(r.lang, r.correct, r.n) for r in found.itertuples()]
    assert each == [("eng", 0.5, 1), ("deu", 0.5, 1)]
