"""Test that filled validation lists are checked by row, counted, and give accuracies and kappas."""

import numpy as np
import pandas as pd
import pytest

from blimpworks.annotation import sheets as annotation_sheets
from blimpworks.annotation.lists import CHECK, PAIR
from blimpworks.annotation.options import ValidationOptions
from blimpworks.annotation.sheets import SHEET, VALIDATION_RATINGS, read_validation
from blimpworks.annotation.spreadsheet import write_sheet
from blimpworks.errors import UserError
from blimpworks.tables import ACCURACIES, read_table
from support.commands import run
from support.validation_kit import deal, fill, key_of, rows_of

OPTIONS = ValidationOptions(participants=5, per_paradigm=6, checks=4, practice=2)


@pytest.fixture(scope="module")
def lists(tmp_path_factory):
    return deal(tmp_path_factory.mktemp("lists"), OPTIONS)


def changed(lists, tmp_path, change):
    """Fill in the first list for Anna, with changes to its third row."""
    sheets, key = lists
    path = fill(sheets[0], key, path=tmp_path / "urd.anna.csv")
    rows = rows_of(path)
    rows[2] |= change
    write_sheet(path, SHEET, rows)
    return path


def read(lists, *paths):
    return annotation_sheets.read_choices(paths, annotation_sheets.read_key([lists[1]]))


@pytest.mark.parametrize(
    ("word", "first"), [(" 1", True), ("2", False), ("First", True), ("۱", True), ("۲", False)]
)
def test_a_choice_is_a_number_or_the_columns_name(lists, tmp_path, word, first):
    # Programs may change spaces and the composition of letters when they save.
    text = rows_of(lists[0][0])[2]["first"].replace(" ", "  ")
    result = read(lists, changed(lists, tmp_path, {"choice": word, "first": f" {text} "}))
    assert result["chose_first"].tolist()[2] is first
    assert {*result["participant"]} == {"anna"}


WRONG = [
    # list whose first row replaces the third, or None; changes of the third row; message
    (None, {"id": "r0"}, "row 'r0' is not in the sheets' key; take rows of this campaign's"),
    (None, {"first": "وہ"}, "the first of row {id} is not the one of the sheet; take the"),
    (None, {"choice": " "}, "'choice' of row {id} is empty; fill it in, or delete the row."),
    (None, {"choice": "3"}, "'choice' of row {id} is '3', expected 1, 2, first, second; correct"),
    (1, {"choice": "1"}, "row {id} is of list p02, the rows above are of p01"),
    (0, {"choice": "1"}, "anna has judged the item of row {id} before, in {path}:2; keep one of"),
]


@pytest.mark.parametrize(("instead", "change", "message"), WRONG)
def test_a_wrong_row_is_named_by_file_and_line(lists, tmp_path, instead, change, message):
    third = rows_of(lists[0][0])[2] if instead is None else rows_of(lists[0][instead])[0]
    path = changed(lists, tmp_path, change if instead is None else third | change)
    with pytest.raises(UserError) as error:
        read(lists, path)
    assert str(error.value).startswith(f"{path}:4: {message.format(path=path, id=third['id'])}")


def errs(person):
    """Return errors: p02 on every aspect, all people on one pair, p04 and p05 on checks."""

    def right(row):
        if row["part"] == CHECK:
            return person not in ("p04", "p05") or row["place"] > (40 if person == "p04" else 999)
        if row["part"] != PAIR:
            return False  # practice does not count
        return row["item_id"] != "honorific-001" and (person, row["paradigm"]) != ("p02", "aspect")

    return right


@pytest.fixture(scope="module")
def measured(lists, tmp_path_factory):
    root = tmp_path_factory.mktemp("measured")
    sheets, key = lists
    people = zip(OPTIONS.names, sheets, strict=True)
    filled = [fill(path, key, errs(name), root / f"urd.{name}.csv") for name, path in people]
    outputs = {name: root / f"{name}.parquet" for name in ("ratings", "participants", "accuracies")}
    files = [part for name, path in outputs.items() for part in (f"--{name}", path)]
    command = ["read-judgements", *filled, "--key", key, "--benchmark", "urblimp", *files]
    return outputs, run(*command, "--options", OPTIONS.model_dump_json())


def test_people_who_fail_their_checks_are_left_out(measured, lists):
    outputs, said = measured
    ratings = read_table(VALIDATION_RATINGS, outputs["ratings"]).to_pandas()
    sizes = ratings.groupby("item_id").size()
    n = f"pairs: {len(sizes)}, incomplete: {(sizes != 3).sum()}"
    assert f"participants: 5, left_out: 2, judgements: {len(ratings)}, {n}" in said
    people = read_table(
        annotation_sheets.VALIDATION_PARTICIPANTS, outputs["participants"]
    ).to_pandas()
    people = people.set_index("participant")
    assert people["checks"].tolist() == [4] * 5
    assert people["passed"].loc[["p01", "p02", "p03", "p05"]].tolist() == [4, 4, 4, 0]
    # p04 passes the checks after place 40.
    checks = [r for r in key_of(lists[1]).values() if (r["part"], r["list"]) == (CHECK, "p04")]
    late = sum(row["place"] > 40 for row in checks)
    assert people["passed"]["p04"] == late
    assert 0 < late < 3
    assert people["left_out"].tolist() == [False, False, False, True, True]
    assert {*ratings["participant"]} == {"p01", "p02", "p03"}


def test_each_rating_is_what_the_script_chose(measured, lists):
    outputs, *_ = measured
    known = {(r["list"], r["item_id"]): r for r in key_of(lists[1]).values() if r["part"] == PAIR}
    ratings = read_table(VALIDATION_RATINGS, outputs["ratings"]).to_pylist()
    counted = [key for key in known if key[0] in ("p01", "p02", "p03")]
    assert sorted((r["participant"], r["item_id"]) for r in ratings) == sorted(counted)
    for row in ratings:
        key = known[row["participant"], row["item_id"]]
        assert row["chose_good"] == errs(row["participant"])(key)
        assert all(row[name] == key[name] for name in ("place", "first_is_good", "paradigm"))


def test_accuracy_is_the_mean_over_pairs_of_the_share_of_right_choices(measured):
    outputs, *_ = measured
    ratings = read_table(VALIDATION_RATINGS, outputs["ratings"]).to_pandas()
    result = read_table(ACCURACIES, outputs["accuracies"]).to_pandas().set_index("paradigm")
    assert len(result) == 19
    assert {*result["model"]} == {"human"}
    for kind in ("aspect", "honorific", "word_order"):
        rows = ratings[ratings["paradigm"] == kind]
        shares = [some["chose_good"].mean() for _, some in rows.groupby("item_id")]
        assert result["accuracy"][kind] == pytest.approx(np.mean(shares))
        assert result["n"][kind] == len(shares) <= 6
        assert result["low"][kind] <= result["accuracy"][kind] <= result["high"][kind]
    assert result["accuracy"]["word_order"] == 1
    # Wilson's lower end of n of n, and of 3.5 of 6 by hand.
    n = result["n"]["word_order"]
    z = 1.959963984540054
    assert result["low"]["word_order"] == pytest.approx(n / (n + z**2))


def test_an_attention_check_that_is_deleted_is_not_passed(lists, tmp_path, caplog):
    sheets, key = lists
    path = fill(sheets[0], key, path=tmp_path / "urd.anna.csv")
    known = key_of(key)
    write_sheet(path, SHEET, [r for r in rows_of(path) if known[r["id"]]["part"] != CHECK])
    outputs = tuple(tmp_path / f"{n}.parquet" for n in range(3))
    with pytest.raises(UserError, match="no pair is judged"):
        read_validation([path], [key], "urblimp", outputs, OPTIONS)
    assert "1 of 1 participants are left out, who passed less than 75 %" in caplog.text
    assert "anna (0 of 4)" in caplog.text
    lenient = OPTIONS.model_copy(update={"check_threshold": 0.0})
    assert read_validation([path], [key], "urblimp", outputs, lenient)["left_out"] == 0


def test_the_threshold_itself_is_passed():
    row = {"part": CHECK, "list": "p01", "participant": "anna"}
    choices = pd.DataFrame([row | {"chose_good": number < 14} for number in range(25)])
    people = annotation_sheets.participants_of(choices, dict.fromkeys(range(25), row), 0.56)
    assert not people["left_out"].item()


def test_checks_are_those_of_all_lists_that_a_person_has_filled_and_of_no_other(tmp_path):
    """Anna passes the checks of one list and fails another's; p01 of two keys is two people."""
    options = {"practice": 0, "per_pair": 1}
    (first, key), (other, second_key) = (
        deal(tmp_path / str(seed), OPTIONS.model_copy(update=options | {"seed": seed}))
        for seed in (1, 2)
    )
    filled = [
        fill(first[0], key, path=tmp_path / "1" / "urd.anna.csv"),
        fill(first[1], key, lambda row: row["part"] == PAIR, tmp_path / "urd.anna.csv"),
        fill(other[0], second_key, path=tmp_path / "urd.bert.csv"),
    ]
    outputs = tuple(tmp_path / f"{n}.parquet" for n in range(3))
    read_validation(filled, [key, second_key], "urblimp", outputs, OPTIONS)
    people = read_table(annotation_sheets.VALIDATION_PARTICIPANTS, outputs[1]).to_pylist()
    columns = ("participant", "checks", "passed", "left_out")
    rows = [tuple(person[name] for name in columns) for person in people]
    assert rows == [("anna", 8, 4, True), ("bert", 4, 4, False)]


def test_rows_without_a_choice_and_of_a_second_person_are_counted(lists, tmp_path, caplog):
    sheets, key = lists
    filled = [fill(path, key, path=tmp_path / path.name) for path in sheets]
    write_sheet(filled[1], SHEET, rows_of(filled[1])[:-3])
    filled.append(fill(sheets[0], key, path=tmp_path / "urd.anna.csv"))
    outputs = tuple(tmp_path / f"{n}.parquet" for n in range(3))
    result = read_validation(filled, [key], "urblimp", outputs, OPTIONS)
    assert (result["participants"], result["unfilled"]) == (6, 3)
    assert "3 rows of the lists that were filled have no choice" in caplog.text
    assert f"{result['incomplete']} of {result['pairs']} pairs do not have 3" in caplog.text
    known = key_of(key)
    own = {r["item_id"] for r in known.values() if r["part"] == PAIR and r["list"] == "p01"}
    lost = {known[row["id"]]["item_id"] for row in rows_of(sheets[1])[-3:]}
    kept = {r["item_id"] for r in known.values() if r["part"] == PAIR}
    # Pairs without p02's choice that Anna judged a second time have the right number of judgements.
    assert result["incomplete"] == len((own ^ lost) & kept)
