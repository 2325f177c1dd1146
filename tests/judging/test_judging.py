import math
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from statsmodels.stats.proportion import proportion_confint

from blimpworks.analysis import accuracy
from blimpworks.analysis.accuracy import compute_accuracies, wilson
from blimpworks.errors import UserError
from blimpworks.judging.judge import UNKNOWN_ID, count_repeats
from blimpworks.models.corpus import SPECIALS
from blimpworks.tables import ACCURACIES, JUDGEMENTS, read_table, write_rows
from support import tiny
from support.judging_kit import judged


def whole(value):
    return [(value / 2, 1), (value / 2, 3)]


PAIR = ("a b", "a c")


@pytest.mark.parametrize(("ties", "expected"), [("wrong", 0.0), ("right", 1.0), ("half", 0.5)])
def test_tie_policy_decides_ties_only(tmp_path, ties, expected):
    rows = [(whole(-2.0), whole(-2.0)), (whole(-1.0), whole(-2.0)), (whole(-3.0), whole(-2.0))]
    result = judged(tmp_path, [PAIR] * 3, rows, ties=ties)
    assert [row["correct"] for row in result] == [expected, 1.0, 0.0]
    assert [row["tie"] for row in result] == [True, False, False]
    assert [row["margin"] for row in result] == [0.0, 1.0, -1.0]


def test_near_ties_include_ties_and_end_below_the_threshold(tmp_path):
    margins = [0.0, 0.125, -0.125, 0.25, -0.25, 0.5]
    rows = [(whole(-4.0 + margin), whole(-4.0)) for margin in margins]
    result = judged(tmp_path, [PAIR] * 6, rows, near_tie=0.25)
    assert [row["near_tie"] for row in result] == [True, True, True, False, False, False]
    assert [row["correct"] for row in result] == [0, 1, 0, 1, 0, 1]


def test_unscored_items_keep_a_null_row(tmp_path, caplog):
    nothing = [(math.nan, 3)]
    rows = [(whole(-1.0), nothing), (whole(-1.0), whole(-2.0))]
    result = judged(tmp_path, [PAIR] * 2, rows, statuses={0: "too_long"})
    assert [row["correct"] for row in result] == [None, 1.0]
    assert result[0]["value_good"] == -1.0
    assert result[0]["tie"] is None
    assert "1 of 2 judgements are null" in caplog.text


def test_item_without_critical_region_is_not_judged_by_it(tmp_path):
    columns = {"good_start": [None], "good_end": [None]}
    by = {"method": "critical_region", "columns": columns}
    (row,) = judged(tmp_path, [PAIR], [(whole(-1.0), whole(-2.0))], **by)
    assert row["correct"] is None


def test_item_in_two_conditions_is_judged_in_both(tmp_path):
    columns = {"item_id": ["i0", "i0"], "paradigm": ["SG", "PL"]}
    result = judged(tmp_path, [PAIR] * 2, [(whole(-1.0), whole(-2.0))], columns=columns)
    assert [(row["paradigm"], row["correct"]) for row in result] == [("SG", 1.0), ("PL", 1.0)]


def test_scores_of_other_items_are_refused(tmp_path):
    with pytest.raises(UserError, match="has no scores of item i1"):
        judged(tmp_path, [PAIR] * 2, [(whole(-1.0), whole(-2.0))])


def write_judgements(path, rows):
    """From (paradigm, correct or None, tie)."""
    judgements = [
        {"item_id": f"i{i}", "phenomenon": paradigm.partition("/")[0], "paradigm": paradigm}
        | {"method": "full_sentence", "correct": correct, "tie": tie, "near_tie": tie}
        for i, (paradigm, correct, tie) in enumerate(rows)
    ]
    write_rows(judgements, JUDGEMENTS, path)
    return path


def test_accuracies_are_micro_averages_with_intervals(tmp_path, caplog):
    rows = [("n/SG", 1.0, False)] * 3 + [("n/PL", 0.0, True)] + [("p/1", 1.0, False)]
    rows += [("n/PL", None, None), ("q/1", None, None)]
    path = write_judgements(tmp_path / "m.parquet", rows)
    compute_accuracies([("m", "eng", path)], "multiblimp", tmp_path / "out.parquet")
    table = read_table(ACCURACIES, tmp_path / "out.parquet").to_pylist()
    result = {(r["phenomenon"], r["paradigm"]): r for r in table}
    assert {key: (r["correct"], r["n"]) for key, r in result.items()} == {
        ("n", "n/SG"): (3, 3),
        ("n", "n/PL"): (0, 1),
        ("n", "all"): (3, 4),
        ("p", "p/1"): (1, 1),
        ("p", "all"): (1, 1),
        ("all", "all"): (4, 5),
    }
    assert {key: r["skipped"] for key, r in result.items() if r["skipped"]} == {
        ("n", "n/PL"): 1,
        ("n", "all"): 1,
        ("all", "all"): 2,
    }
    total = result["all", "all"]
    assert (total["ties"], total["near_ties"], total["accuracy"]) == (1, 1, 0.8)
    assert (total["low"], total["high"]) == pytest.approx(proportion_confint(4, 5, method="wilson"))
    assert (total["model"], total["lang"], total["benchmark"]) == ("m", "eng", "multiblimp")
    assert "2 of 7 rows have no judgement" in caplog.text


VERDICTS = st.sampled_from(
    [("n/SG", 1.0, False), ("n/PL", 0.5, True), ("p/1", 0.0, False), ("p/1", None, None)]
)


@settings(max_examples=20)  # each writes and reads a dozen files
@given(st.lists(st.lists(VERDICTS, max_size=5), min_size=1, max_size=6), st.integers(1, 20))
def test_tables_are_summarised_together_as_each_alone(tables, block):
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        folder = Path(name)
        patch.setattr(accuracy, "BLOCK", block)
        judgements = [
            (f"m{n % 2}", f"l{n:02}", write_judgements(folder / f"{n}.parquet", rows))
            for n, rows in enumerate(tables)
        ]
        alone = []
        for each in judgements:
            compute_accuracies([each], "multiblimp", folder / "alone", ["m1"])
            alone += read_table(ACCURACIES, folder / "alone").to_pylist()
        compute_accuracies(judgements, "multiblimp", folder / "together", ["m1"])
        assert read_table(ACCURACIES, folder / "together").to_pylist() == alone


@given(st.integers(1, 500), st.data())
def test_interval_holds_the_proportion_and_is_scipys(n, data):
    correct = data.draw(st.integers(0, n))
    low, high = wilson(correct, n)
    known = binomtest(correct, n).proportion_ci(method="wilson")
    assert (low, high) == pytest.approx((known.low, known.high), abs=1e-14)
    assert 0 <= low <= correct / n + 1e-12
    assert correct / n - 1e-12 <= high <= 1


KNOWN, UNKNOWN = 7, UNKNOWN_ID


def test_the_unknown_word_has_one_id_in_all_models_that_know_whole_words(tmp_path):
    text = tiny.write_corpus(tmp_path / "text.txt")
    tiny.make_ngram(text, tmp_path / "ngram" / "checkpoint.json")
    words = (tmp_path / "ngram" / "vocabulary.txt").read_text().splitlines()
    assert words[UNKNOWN_ID] == SPECIALS[UNKNOWN_ID] == "<unk>"


@pytest.mark.parametrize(
    ("unknown", "expected"),
    [(None, [1.0, 1.0, 1.0]), ("critical", [1.0, 1.0, None]), ("any", [1.0, None, None])],
)
def test_pairs_with_unknown_words_are_left_out_as_the_campaign_wants(tmp_path, unknown, expected):
    columns = {side: [2, 2, 2] for side in ("good_start", "bad_start")}
    columns |= {side: [3, 3, 3] for side in ("good_end", "bad_end")}
    rows = [(whole(-1.0), whole(-2.0))] * 3
    ids = {(1, "good"): [UNKNOWN, KNOWN], (2, "bad"): [KNOWN, UNKNOWN]}
    result = judged(tmp_path, [PAIR] * 3, rows, unknown=unknown, ids=ids, columns=columns)
    assert [row["correct"] for row in result] == expected


def test_one_item_more_is_correct_in_each_paradigm_where_the_authors_count_so(tmp_path):
    rows = [(whole(-1.0), whole(-2.0))] + [(whole(-2.0), whole(-1.0))] * 3
    judged(tmp_path, [PAIR] * 4, rows)
    named = [("m", "eng", tmp_path / "judgements.parquet")]
    compute_accuracies(named, "clams", tmp_path / "out", ["m"])
    result = read_table(ACCURACIES, tmp_path / "out").to_pylist()
    accuracies = {(row["paradigm"] == "all", row["accuracy"]) for row in result}
    assert accuracies == {(False, 2 / 5), (True, 1 / 4)}
    assert {(row["correct"], row["n"]) for row in result} == {(1.0, 4)}


def named(*rows):
    return pa.table({"item_id": [r[0] for r in rows], "value": [r[1] for r in rows]})


def test_a_name_may_stand_again_for_the_same_thing_and_not_for_another():
    path, nan = Path("scores.parquet"), float("nan")
    same = named(("a", [1.0, nan]), ("b", None), ("a", [1.0, nan]), ("b", None), ("a", [1.0, nan]))
    assert count_repeats(same, ["item_id"], ["value"], path, "scores") == 3
    once = named(("a", [1.0]), ("b", [1.0]))
    assert count_repeats(once, ["item_id"], ["value"], path, "scores") == 0
    assert count_repeats(once[:0], ["item_id"], ["value"], path, "scores") == 0
    message = r"^scores\.parquet: rows 1 and 3 are both of 'a', but have different scores; expected"
    other = named(("a", [1.0]), ("b", [1.0]), ("a", [2.0]))
    with pytest.raises(UserError, match=message):
        count_repeats(other, ["item_id"], ["value"], path, "scores")
