"""Test BLiMP's printed numbers against themselves, its release, and single human judgements."""

from collections import Counter
from itertools import chain
from math import isnan

import pandas as pd
import pyarrow.parquet as pq
import pytest

from blimpworks.errors import UserError
from blimpworks.exhibits.render import markdown_text
from blimpworks.papers.blimp import released_results
from blimpworks.papers.blimp.exhibits.judgements import humans
from blimpworks.papers.blimp.exhibits.tables import erratum
from blimpworks.papers.blimp.paradigms import PHENOMENON_OF
from blimpworks.papers.blimp.published import accuracies
from blimpworks.papers.blimp.released_results import NO_ENGLISH, REFUSED, SLOTS, read_blimp_release
from blimpworks.reproduction.comparisons import recomputed_rows
from blimpworks.reproduction.printed import read_printed_numbers
from support import blimp_kit, print_kit
from support.cells_kit import by_place

pytestmark = pytest.mark.xdist_group("blimp-print")  # they share fixtures

SAME_BY_CHANCE = {
    ("animate_subject_trans", "human"),
    ("drop_argument", "lstm-gulordava"),
    ("passive_2", "human"),
    ("passive_2", "lstm-gulordava"),
}


@pytest.fixture(scope="module")
def released(mirror, tmp_path_factory):
    root = tmp_path_factory.mktemp("release")
    tables = print_kit.tables_of("blimp", root) | {"released": [blimp_kit.release(mirror, root)]}
    names = ("table2", "table3", "table4", "text", "fig6")
    return print_kit.build("blimp", root, tables, names)


@pytest.mark.mirror
def test_with_the_release_every_number_has_the_status_that_it_should(released):
    rows = recomputed_rows(released[1])
    status = {(r["exhibit"], r["row"], r["column"]): r["status"] for r in rows}
    counts = Counter((exhibit, value) for (exhibit, _, _), value in status.items())
    assert counts == {
        ("table2", "exact"): 12,
        ("table3", "exact"): 51,
        ("table3", "rounding"): 1,
        ("table3", "erratum"): 13,
        ("table4", "exact"): 271,
        ("table4", "rounding"): 1,
        ("table4", "erratum"): 63,
        ("text", "exact"): 22,
        ("text", "rounding"): 1,
        ("text", "not recomputable"): 51,
        ("text", "erratum"): 3,
        ("text", "garbled"): 1,
    }
    printed = read_printed_numbers(PRINTED)
    faults = {(r.exhibit, r.row, r.column): r.fault for r in printed if r.fault}
    assert {place: status[place] for place in faults} == faults


@pytest.mark.mirror
def test_the_release_has_prefix_results_and_single_sentences_of_the_same_paradigms(released):
    cells = by_place(released[0]["fig6"])
    prefix, sentence = "2-prefix", "sentence (2-prefix paradigms)"
    both = [cells["TXL", f"All phenomena: {name}"].value for name in (prefix, sentence)]
    assert both == pytest.approx([73.47, 70.475], abs=5e-5)


def test_what_table_4_should_read_is_what_stands_in_the_other_rows():
    printed = [row for row in read_printed_numbers(PRINTED) if row.exhibit == "table4"]
    percent = {(a.paradigm, a.model): round(100 * a.accuracy) for a in accuracies(printed)}
    assert len(percent) == 5 * len(PHENOMENON_OF)
    wrong = [r for r in printed if r.fault]
    assert all(percent[r.row, r.column] == r.corrected != r.value for r in wrong)
    right = [r for r in printed if not r.fault and (r.row, r.column) not in SAME_BY_CHANCE]
    assert all(percent[r.row, r.column] == r.value for r in right)


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("results.csv", "N-Gram", "5-gram", r"results.csv:1: there is no column N-Gram"),
        (
            "results.csv",
            "0.75,1000",
            "1.75,1000",
            r"sults.csv:2: GPT2 is '1.75', no number up to 1;",
        ),
        ("results.csv", "sentence", "word", r"type 'word'; expected sentence"),
        ("results.csv", "anaphor_g", "cataphor_g", r"results.csv:2: UID is 'cataphor_gender"),
        ("humans.csv", "anaphor_g", "cataphor_g", r"humans.csv:2: Condition is 'cataphor_gen"),
        ("humans.csv", ",4,", ",six,", r"humans.csv:2: accepted is 'six', no number up to 5;"),
        ("rerun.jsonl", "anaphor_g", "cataphor_g", r"rerun.jsonl:1: UID is 'cataphor_gender"),
        ("rerun.jsonl", '"lstm": 0', '"lstm": 7', r"rerun.jsonl:1: lstm is 7.751; expected"),
        ("rerun.jsonl", '"lstm"', "lstm", r"rerun.jsonl:1: no JSON object"),
    ],
)
def test_a_malformed_release_is_refused(file, old, new, said, tmp_path):
    paths = blimp_kit.write_release(tmp_path)
    path = tmp_path / file
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(UserError, match=said):
        read_blimp_release(*paths, tmp_path / "out.parquet")


LABELS, PRINTED = print_kit.labels_of("blimp"), print_kit.printed("blimp")
CAUSATIVE, ISLAND = "causative", "wh_island"


def assignment(name, *choices, status="Approved", english="1", native="1"):
    """Return a row of the file with these conditions and answers; the other slots are checks."""
    row = {"AssignmentId": name, "AssignmentStatus": status, "anonCode": f"rater of {name}"}
    row |= {"Answer.english": english, "Answer.navtive": native}
    filled = [*choices, *[("attnchkans1", "1. This.")] * (len(SLOTS) - len(choices))]
    for slot, (condition, answer) in zip(SLOTS, filled, strict=True):
        uid = condition[: condition.rindex("ans")]
        sentences = [f"Good {uid}.", f"Bad {uid}."]
        if condition.endswith("2"):
            sentences.reverse()
        row |= {f"Input.item_{slot}_condition": condition, f"Answer.Choice{slot}": answer}
        row |= {f"Input.field_{slot}_1": sentences[0], f"Input.field_{slot}_2": sentences[1]}
    return row


def read(tmp_path, *rows):
    responses, output = tmp_path / "responses.csv", tmp_path / "ratings" / "blimp.parquet"
    pd.DataFrame(rows).to_csv(responses, index=False)
    released_results.read_ratings(responses, output)
    return pq.read_table(output).to_pandas().astype({"excluded": object})


def test_a_rating_is_right_when_the_displayed_sentence_that_is_good_was_chosen(tmp_path):
    table = read(
        tmp_path,
        assignment("a", (f"{CAUSATIVE}ans1", "1. Good"), (f"{ISLAND}ans2", "2. Good")),
        assignment("b", (f"{CAUSATIVE}ans2", "1. Bad"), (f"{ISLAND}ans1", "2. Bad")),
    )
    pairs = table[table["phenomenon"] != released_results.ATTENTION].set_index(
        ["assignment", "paradigm"]
    )
    right = {("a", CAUSATIVE): 1, ("a", ISLAND): 1, ("b", CAUSATIVE): 0, ("b", ISLAND): 0}
    assert pairs["correct"].to_dict() == right
    # In either order it is the same pair.
    assert set(pairs["pair"]) == {1}
    assert set(pairs["good"]) == {f"Good {CAUSATIVE}.", f"Good {ISLAND}."}


@pytest.mark.parametrize(
    ("answers", "reason", "counting"),
    [
        ({}, None, (True, True)),
        ({"status": "Rejected"}, REFUSED, (False, False)),
        ({"english": "0"}, NO_ENGLISH, (True, False)),
        ({"english": "NA"}, NO_ENGLISH, (True, False)),
        ({"english": "0", "native": "NA"}, released_results.NO_SPEAKER, (False, False)),
        ({"native": "NA"}, None, (True, True)),
    ],
)
def test_who_is_left_out_by_which_rule(answers, reason, counting, tmp_path):
    choices = (f"{CAUSATIVE}ans1", "1. Good"), (f"{ISLAND}ans1", "NA")
    row, unanswered = read(tmp_path, assignment("a", *choices, **answers)).iloc[:2].iloc
    assert (row["excluded"] if isinstance(row["excluded"], str) else None) == reason
    assert (row["published"], row["corrected"]) == counting
    assert unanswered["excluded"] == (REFUSED if reason == REFUSED else released_results.UNANSWERED)
    assert isnan(unanswered["correct"])


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        (("causality_ans1", "1. Good"), r"responses.csv:2: the condition of item 1 is 'causality_"),
        ((f"{CAUSATIVE}ans3", "1. Good"), r"the condition of item 1 is 'causativeans3'; expected"),
        ((f"{CAUSATIVE}ans1", "3. Good"), r"responses.csv:2: choice 1 is '3. Good'; expected 1."),
    ],
)
def test_a_malformed_response_is_refused(choice, said, tmp_path):
    with pytest.raises(UserError, match=said):
        read(tmp_path, assignment("a", choice))
    row = assignment("a")
    del row["anonCode"]
    with pytest.raises(UserError, match=r"responses.csv:1: there is no column anonCode"):
        read(tmp_path, row)


def test_a_majority_is_more_than_half_of_a_pairs_ratings(tmp_path):
    half = [(f"{CAUSATIVE}ans1", answer) for answer in ("1. Good", "2. Bad")]
    more = [(f"{ISLAND}ans1", answer) for answer in ("1. Good", "2. Bad", "1. Good")]
    read(tmp_path, assignment("a", *half, *more))
    cells = by_place(make(tmp_path))
    assert cells[CAUSATIVE, "Ratings"].value == 50
    assert cells[CAUSATIVE, "Majority, ratings"].value == 0
    assert cells[ISLAND, "Ratings"].value == pytest.approx(100 * 2 / 3)
    assert cells[ISLAND, "Majority, ratings"].value == 100
    # For both together: the mean of the paradigms, whatever the number of ratings.
    assert cells["all paradigms", "Ratings"].value == pytest.approx((50 + 200 / 3) / 2)


def make(root, released=None):
    tables = {"printed": PRINTED, "ratings": [root / "ratings" / "blimp.parquet"]}
    return humans(tables | {"released": [released] if released else []}, LABELS)


@pytest.mark.slow
def test_a_summary_that_the_ratings_do_not_make_is_flagged(tmp_path):
    read(tmp_path, assignment("a", (f"{CAUSATIVE}ans1", "1. Good")))
    released = tmp_path / "released.parquet"
    read_blimp_release(*blimp_kit.write_release(tmp_path), released)
    exhibit = make(tmp_path, released)
    assert "Ratings from Summary" in exhibit.remarks[CAUSATIVE]["Differs"]
    assert "Ratings from Summary" not in exhibit.remarks[ISLAND]["Differs"]
    assert "The ratings give exactly the summary of" in exhibit.caption


@pytest.fixture(scope="module")
def whole(mirror, tmp_path_factory):
    root = tmp_path_factory.mktemp("humans")
    return blimp_kit.ratings(mirror, root), blimp_kit.release(mirror, root)


@pytest.mark.mirror
def test_the_summary_follows_exactly_from_the_released_responses(whole):
    exhibit = humans({"printed": PRINTED, "ratings": [whole[0]], "released": [whole[1]]}, LABELS)
    assert "The ratings give exactly the summary of 69 of 69 paradigms." in exhibit.caption
    cells = by_place(exhibit)
    for column in ("Majority, summary", "Majority, ratings", "Majority, stated rule"):
        assert cells["all paradigms", column].value == pytest.approx(100 * 323 / 335)
    assert cells["all paradigms", "Ratings"].value == pytest.approx(88.5546, abs=5e-5)
    assert cells["all paradigms", "Stated rule"].text == "88.6"
    rejected = "coordinate_structure_constraint_subject_extraction"
    assert cells[rejected, "Majority, ratings"].value == 20
    assert cells["wh_questions_object_gap_long_distance", "Majority, ratings"].value == 40
    differences = [exhibit.remarks[uid]["Differs"].split("; ") for uid in PHENOMENON_OF]
    assert "Ratings from print" not in chain(*differences)


@pytest.mark.mirror
def test_the_released_responses_are_counted(whole):
    exhibit = humans({"printed": [], "ratings": [whole[0]]}, LABELS)
    counts = {cell.row: cell.value for cell in exhibit.cells if cell.column == "Number"}
    assert counts == {
        "Assignments": 1744,
        "Raters": 345,
        "Ratings of pairs": 6915,
        "left out: assignment rejected": 39,
        "left out: not answered": 1,
        "left out: neither English nor native confirmed": 4,
        "left out: English not confirmed": 40,
        "Counted by the summary": 6871,
        "Counted by the stated rule": 6831,
        "Ratings of subject_island, in no result": 61,
        "Attention checks": 1744,
        "failed": 9,
        "failed, in counted assignments": 0,
    }


@pytest.mark.mirror
def test_the_erratum_tells_the_printed_from_the_corrected_and_the_later_run(whole):
    exhibit = erratum({"printed": PRINTED, "released": [whole[1]]}, LABELS)
    texts = {place: cell.text for place, cell in by_place(exhibit).items()}
    rows = [f"GPT-2, {row}" for row in ("printed", "corrected", "run of 2021", "change")]
    assert [texts[row, "Overall"] for row in rows] == ["80.1", "81.5", "83.0", "+1.5"]
    rows = [f"TXL, {row}" for row in ("printed", "corrected", "run of 2021")]
    assert [texts[row, "Argument structure"] for row in rows] == ["69.5", "72.2", "72.2"]
    assert texts["LSTM, change", "Overall"] == "0.0"
    moved = [(cell.row, cell.text) for cell in exhibit.cells if cell.column == "Change"]
    farthest = "GPT-2: coordinate_structure_constraint_complex_left_branch"
    assert (moved[0], len(moved)) == ((farthest, "+38.6"), 65 + 2)
    text = markdown_text(exhibit)
    assert "**58.1**" in text
    assert "5-gram 0, LSTM 0, TXL 2, GPT-2 65" in text
