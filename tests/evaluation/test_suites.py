"""Suites: benchmarks that together give a table of numbers beside printed ones."""

import pytest

from blimpworks.campaign.registry import benchmarks
from blimpworks.errors import UserError
from blimpworks.evaluation.build import build_card
from blimpworks.evaluation.show import CardText
from blimpworks.evaluation.suites import FOLDER, Suite, read_suite
from support.card_kit import MARGINS, facts, write_evaluation
from support.paths import REPOSITORY

TASK = {"benchmark": "pairs", "label": "Agreement", "printed": {"Peer": 71.25}}


def table(root, **task):
    """A suite's table on the small evaluation: small model, then large."""
    suite = Suite(label="Try", address="https://example.org", tasks=[{**TASK, **task}])
    given = facts(root) | {"suite": suite.model_dump(mode="json")}
    return build_card(given)["suite"], CardText(build_card(given))


def test_groups_of_each_level_count_alike(tmp_path):
    # Right of the small model: 3 of 4 and 2 of 4 in English, 2 of 4 in German.
    root = write_evaluation(tmp_path)
    shown, _ = table(root, mean=["lang", "phenomenon"])
    (row,) = shown["rows"]
    assert row["models"]["small"]["value"] == pytest.approx((0.75 + 0.5) / 4 + 0.5 / 2)
    shown, _ = table(root, mean=["phenomenon", "lang"])
    (row,) = shown["rows"]
    assert row["models"]["small"]["value"] == pytest.approx((0.75 + 0.5) / 4 + 0.5 / 2)
    assert row["models"]["small"]["low"] < row["models"]["small"]["value"]
    assert row["models"]["large"]["n"] == 12


def test_print_stands_beside_ours_and_skipped_items_are_named(tmp_path):
    margins = MARGINS | {"deu": {"small": [1, 1, -3, "too_long"], "large": [1, 1, 3, 4]}}
    shown, text = table(write_evaluation(tmp_path, margins_of=margins))
    headings, rows = text.suite_table(shown)
    assert headings == ["task", "n", "Small model", "95 %", "Large model", "95 %", "Peer"]
    assert rows[0][:2] == ["Agreement", "11–12"]
    assert rows[0][-1] == "71.2"
    assert "Agreement: Small model skipped 1 items." in text.suite_notes(shown)


def test_a_model_that_skipped_a_whole_paradigm_has_no_number(tmp_path):
    margins = MARGINS | {"deu": {"small": ["too_long"] * 4, "large": [1, 1, 3, 4]}}
    shown, text = table(write_evaluation(tmp_path, margins_of=margins))
    (row,) = shown["rows"]
    assert row["models"]["small"]["value"] is None
    assert row["models"]["large"]["value"] is not None
    assert text.suite_table(shown)[1][0][2:4] == ["–", ""]


def test_margins_are_correlated_with_ratings_by_rank(tmp_path):
    ratings = {lang: [m**3 for m in models["large"]] for lang, models in MARGINS.items()}
    root = write_evaluation(tmp_path, ratings=ratings)
    shown, text = table(root, measure="correlation", printed={"Peer": 0.5})
    (row,) = shown["rows"]
    assert row["models"]["large"]["value"] == pytest.approx(1)
    assert row["models"]["small"]["value"] < 0.5
    assert text.suite_table(shown)[1][0][4:] == ["1.00", "1.00–1.00", "0.50"]


def test_a_benchmark_without_ratings_is_one_sentence(tmp_path):
    with pytest.raises(UserError, match=r"eng.parquet has no people's ratings"):
        table(write_evaluation(tmp_path), measure="correlation")


@pytest.mark.parametrize("path", sorted((REPOSITORY / FOLDER).glob("*.yaml")), ids=lambda p: p.stem)
def test_a_shipped_suite_names_benchmarks_that_exist(path):
    suite = read_suite(path.stem)
    assert {task.benchmark for task in suite.tasks} <= {*benchmarks()}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "suite 'babylm-strickt' is no file .* Did you mean 'babylm-strict'"),
        ("label: A\ntasks: []\n", "tasks"),
        (
            "label: A\ntasks: [{benchmark: b, label: B}, {benchmark: b, label: C}]\n",
            "tasks name the benchmark 'b' twice; keep one",
        ),
    ],
)
def test_a_wrong_suite_is_one_sentence(text, says, tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(text or "", encoding="utf-8")
    with pytest.raises(UserError, match=says):
        read_suite("babylm-strickt" if text is None else str(path))
