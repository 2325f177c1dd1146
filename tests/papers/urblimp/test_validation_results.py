"""Filled validation lists: checked row by row, counted, and turned into accuracies and kappas."""

import csv
import logging
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from blimpworks.annotation.lists import CHECK, PAIR
from blimpworks.annotation.options import ValidationOptions
from blimpworks.annotation.sheets import SHEET, read_choices, read_key, read_validation, write_lists
from blimpworks.annotation.spreadsheet import write_sheet
from blimpworks.annotation.tables import VALIDATION_PARTICIPANTS, VALIDATION_RATINGS
from blimpworks.cli import app
from blimpworks.errors import UserError
from blimpworks.papers.urblimp.analysis import statistics
from blimpworks.papers.urblimp.analysis.statistics import kappa
from blimpworks.tables import ACCURACIES, read_table
from support.paths import REPOSITORY
from support.validation_kit import fill, items, key_of, rows_of, write_items

OPTIONS = ValidationOptions(participants=5, per_paradigm=6, checks=4, practice=2)
TABLE_9 = REPOSITORY / "config/published/urblimp/table9.csv"


@pytest.fixture(scope="module")
def lists(tmp_path_factory):
    root = tmp_path_factory.mktemp("lists")
    sheets = [root / f"urd.{name}.csv" for name in OPTIONS.names]
    key = root / "urd.key.parquet"
    write_items(root / "urd.parquet", items(12))
    write_lists(root / "urd.parquet", "urd", sheets, key, root / "urd.pcibex.csv", OPTIONS)
    return sheets, key


def always(row):
    return True


def changed(lists, tmp_path, change):
    """Anna's copy of the first list, all answered, with a third row as ``change`` has it."""
    sheets, key = lists
    path = fill(sheets[0], key, always, tmp_path / "urd.anna.csv")
    rows = rows_of(path)
    rows[2] |= change
    write_sheet(path, SHEET, rows)
    return path


def read(lists, *paths):
    return read_choices(paths, read_key([lists[1]]))


# Reading


@pytest.mark.parametrize(
    ("word", "first"), [(" 1", True), ("2", False), ("First", True), ("۱", True), ("۲", False)]
)
def test_a_choice_is_a_number_or_the_columns_name(lists, tmp_path, word, first):
    result = read(lists, changed(lists, tmp_path, {"choice": word}))
    assert result["chose_first"].tolist()[2] is first
    assert {*result["participant"]} == {"anna"}


WRONG = [
    # the list whose first row stands third, or None; changes of the third row; message
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


def test_saving_may_change_spaces_and_how_letters_are_composed(lists, tmp_path):
    text = rows_of(lists[0][0])[2]["first"]
    path = changed(lists, tmp_path, {"first": f" {text.replace(' ', '  ')} "})
    assert len(read(lists, path)) == len(rows_of(path))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,first\r\nr1,a\r\n", ":1: columns are id, first; expected 'id' and"),
        ("id\r\n", "no row"),
    ],
)
def test_a_file_that_is_no_list_is_refused(lists, tmp_path, text, message):
    path = tmp_path / "urd.anna.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=message):
        read(lists, path)


def test_only_the_first_wrong_rows_are_listed(lists, tmp_path):
    sheets, key = lists
    path = fill(sheets[0], key, always, tmp_path / "urd.anna.csv", says=("x", "y"))
    with pytest.raises(UserError) as error:
        read(lists, path)
    *named, rest = str(error.value).splitlines()
    assert len(named) == 5
    assert rest == f"{len(rows_of(path)) - 5} more rows are wrong."


# A campaign's people, who err by a script


def errs(person):
    """Whom and where: p02 on every aspect, all on one pair, p04 and p05 on attention checks."""

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
    command = ["read-judgements", *map(str, filled), "--key", str(key)]
    command += ["--benchmark", "urblimp"]
    command += [part for name, path in outputs.items() for part in (f"--{name}", str(path))]
    done = CliRunner().invoke(app, [*command, "--options", OPTIONS.model_dump_json()])
    assert done.exit_code == 0, done.output
    return outputs, filled, done.output


def test_people_who_fail_their_checks_are_left_out(measured, lists):
    outputs, *_ = measured
    people = read_table(VALIDATION_PARTICIPANTS, outputs["participants"]).to_pandas()
    people = people.set_index("participant")
    assert people["checks"].tolist() == [4] * 5
    assert people["passed"].loc[["p01", "p02", "p03", "p05"]].tolist() == [4, 4, 4, 0]
    # Of p04's checks those further down than place 40.
    late = sum(
        r["part"] == CHECK and r["list"] == "p04" and r["place"] > 40
        for r in key_of(lists[1]).values()
    )
    assert people["passed"]["p04"] == late
    assert 0 < late < 3
    assert people["left_out"].tolist() == [False, False, False, True, True]
    rated = read_table(VALIDATION_RATINGS, outputs["ratings"]).to_pandas()
    assert {*rated["participant"]} == {"p01", "p02", "p03"}


def test_a_warning_says_who_is_left_out_and_how_many_pairs_are_incomplete(
    lists, measured, tmp_path, caplog
):
    _, filled, _ = measured
    outputs = tuple(tmp_path / f"{n}.parquet" for n in range(3))
    with caplog.at_level(logging.WARNING):
        result = read_validation(filled, [lists[1]], "urblimp", outputs, OPTIONS)
    assert "2 of 5 participants are left out, who passed less than 75 %" in caplog.text
    assert "p05 (0 of 4)" in caplog.text
    assert result["left_out"] == 2
    whole = result["pairs"] - result["incomplete"]
    assert f"{result['incomplete']} of {result['pairs']} pairs have not just 3" in caplog.text
    assert 0 < whole < result["pairs"]


def test_each_rating_is_what_the_script_chose(measured, lists):
    outputs, *_ = measured
    known = {(r["list"], r["item_id"]): r for r in key_of(lists[1]).values() if r["part"] == PAIR}
    ratings = read_table(VALIDATION_RATINGS, outputs["ratings"]).to_pylist()
    counted = [key for key in known if key[0] in ("p01", "p02", "p03")]
    assert sorted((r["participant"], r["item_id"]) for r in ratings) == sorted(counted)
    for row in ratings:
        key = known[row["participant"], row["item_id"]]
        assert row["chose_good"] == errs(row["participant"])(key)
        assert {n: row[n] for n in ("place", "first_is_good", "paradigm")} == {
            n: key[n] for n in ("place", "first_is_good", "paradigm")
        }


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


def test_an_attention_check_that_is_deleted_is_not_passed(lists, tmp_path):
    sheets, key = lists
    path = fill(sheets[0], key, always, tmp_path / "urd.anna.csv")
    known = key_of(key)
    write_sheet(path, SHEET, [r for r in rows_of(path) if known[r["id"]]["part"] != CHECK])
    outputs = tuple(tmp_path / f"{n}.parquet" for n in range(3))
    with pytest.raises(UserError, match="no pair is judged"):
        read_validation([path], [key], "urblimp", outputs, OPTIONS)
    lenient = OPTIONS.model_copy(update={"check_threshold": 0.0})
    assert read_validation([path], [key], "urblimp", outputs, lenient)["left_out"] == 0


def test_rows_without_a_choice_are_counted_and_pairs_of_a_second_person_enter_no_kappa(
    lists, tmp_path, caplog
):
    sheets, key = lists
    filled = [fill(path, key, always, tmp_path / path.name) for path in sheets]
    write_sheet(filled[1], SHEET, rows_of(filled[1])[:-3])
    filled.append(fill(sheets[0], key, always, tmp_path / "urd.anna.csv"))
    outputs = tuple(tmp_path / f"{n}.parquet" for n in range(3))
    result = read_validation(filled, [key], "urblimp", outputs, OPTIONS)
    assert (result["participants"], result["unfilled"]) == (6, 3)
    assert "3 rows of the lists that were filled have no choice" in caplog.text
    known = key_of(key)
    own = {r["item_id"] for r in known.values() if r["part"] == PAIR and r["list"] == "p01"}
    lost = {known[row["id"]]["item_id"] for row in rows_of(sheets[1])[-3:]}
    kept = {r["item_id"] for r in known.values() if r["part"] == PAIR}
    # Of those that lack a choice, anna's pairs have as many judgements as they should.
    assert result["incomplete"] == len((own ^ lost) & kept)


# Kappas


def rated(right, per_pair=3):
    """Ratings of pairs with so many right choices."""
    rows = [(f"i{n}", k < good) for n, good in enumerate(right) for k in range(per_pair)]
    return pd.DataFrame(rows, columns=["item_id", "chose_good"])


def test_kappas_of_five_pairs_are_those_by_hand():
    ratings = rated([3, 3, 2, 1, 3])
    # Agreement (1 + 1 + 1/3 + 1/3 + 1) / 5 = 11/15; by chance .8² + .2² = .68, or one half.
    assert kappa("corrected", ratings, 3) == pytest.approx((11 / 15 - 0.68) / 0.32)
    assert kappa("free", ratings, 3) == pytest.approx(2 * 11 / 15 - 1)
    assert statistics.agreements(ratings, 3).mean() == pytest.approx(11 / 15)
    counts = statistics.counts_of("published", ratings, 3)
    assert sorted(map(max, counts.tolist())) == [2, 2, 3, 3, 3]
    chance = float(((counts.sum(axis=0) / 15) ** 2).sum())
    expected = (11 / 15 - chance) / (1 - chance)
    assert kappa("published", ratings, 3) == pytest.approx(expected)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=40))
def test_of_half_the_pairs_the_grammatical_sentence_is_the_first_category(right):
    ratings = rated(right)
    counts, plain = (
        statistics.counts_of("published", ratings, 3),
        statistics.counts_of("corrected", ratings, 3),
    )
    turned = sum(a.tolist() != b.tolist() for a, b in zip(counts, plain, strict=True))
    assert turned == len(right) // 2
    assert (counts.sum(axis=1) == 3).all()


def test_only_pairs_with_all_their_judgements_enter():
    ratings = rated([3, 2, 1, 3])
    lacking = pd.concat([ratings, rated([0, 0])[:5].assign(item_id=["x", "x", "y", "y", "y"])])
    assert len(statistics.complete(lacking, 3)) == 5
    more = pd.concat([ratings, ratings[:1]])
    assert [*statistics.complete(more, 3).index] == ["i1", "i2", "i3"]
    assert math.isnan(kappa("free", ratings[:0], 3))


def test_an_interval_covers_the_value_about_as_often_as_it_says():
    random, covered = np.random.default_rng(5), 0
    wrong = random.beta(0.1, 2.4, 20_000)
    truth = 1 - 4 * float(np.mean(wrong * (1 - wrong)))
    for _ in range(200):
        ratings = rated(random.binomial(3, 1 - random.choice(wrong, 300)))
        low, high = statistics.kappa_interval("free", ratings, 3)
        covered += low <= truth <= high
    assert 180 <= covered <= 199


# Which kappa the paper's .89 is


@pytest.fixture(scope="module")
def printed():
    """Accuracies of Table 9, as shares."""
    with TABLE_9.open(encoding="utf-8", newline="") as file:
        rows = {row["row"]: float(row["text"]) / 100 for row in csv.DictReader(file)}
    rows.pop("average")
    return pd.Series(rows)


def scattered(printed, seed):
    """57 pairs of each paradigm with three judgements, as many wrong as printed, any of them."""
    random, right = np.random.default_rng(seed), []
    for share in printed:
        judgements = np.arange(3 * 57) < round(share * 3 * 57)
        right += [*random.permutation(judgements).reshape(57, 3).sum(axis=1)]
    return rated(right)


def test_errors_on_any_pairs_make_a_kappa_of_85_of_sentences_and_0_of_outcomes(printed):
    errors = float((printed * (1 - printed)).mean())
    assert 1 - 4 * errors == pytest.approx(0.852, abs=5e-4)
    runs = [scattered(printed, seed) for seed in range(60)]
    result = {name: [kappa(name, r, 3) for r in runs] for name in statistics.KAPPAS}
    for name in ("published", "free"):
        assert np.mean(result[name]) == pytest.approx(0.852, abs=0.002)
        assert max(result[name]) < 0.87
    assert np.mean(result["corrected"]) == pytest.approx(0.008, abs=0.01)
    assert max(result["corrected"]) < 0.1
