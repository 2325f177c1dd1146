"""Test printed numbers against numbers computed from others, and beside the campaign's own."""

import csv
import json
import re
from dataclasses import replace

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blimpworks.campaign.comparability import SAME
from blimpworks.campaign.reference import PublishedRow, ReasonRow, numbers_in
from blimpworks.campaign.table_files import read_rows
from blimpworks.errors import UserError
from blimpworks.exhibits.formulas import COMPLEMENT as COMPLEMENT_FORMULA
from blimpworks.exhibits.formulas import COUNT, MEAN, SUM, UNWEIGHTED, select_rows, truncate
from blimpworks.papers.multiblimp import published as multiblimp_published
from blimpworks.reproduction import comparisons
from blimpworks.reproduction.comparisons import AGREES, NOT_RUN, recomputations, recomputed_rows
from blimpworks.reproduction.printed import (
    input_error_of,
    printed_files,
    read_printed_numbers,
    read_published,
)
from blimpworks.tables import ACCURACIES, CELLS, read_table, write_rows
from support.paths import REPOSITORY

EXACT, ROUNDING, COMPLEMENT, ERRATUM, GARBLED, NOT_RECOMPUTABLE, DEVIATES = comparisons.STATUSES
PRINTED = REPOSITORY / "config/published"
PAPERS = sorted(path.name for path in PRINTED.iterdir() if path.is_dir())
FIELDS = list(PublishedRow.model_fields)
VAGUE = {("SD over seeds", "seldom exceeds")}
"""Bounds with exceptions of unstated number."""
ACCURACY = {"benchmark": "x", "lang": "eng", "phenomenon": "all", "paradigm": "all"}


def number(row, column, text, exhibit="t1", **fields):
    """Return a printed number as a row of its file; its value is that of the text."""
    given_value = {"value": text.rstrip("%")} if re.fullmatch(r"[\d.]+%?", text) else {}
    place = {"exhibit": exhibit, "row": row, "column": column, "text": text}
    return dict.fromkeys(FIELDS, "") | place | given_value | fields


def published_row(*args, **fields):
    return PublishedRow.model_validate(number(*args, **fields))


def cell(place, value, formula=SUM, where=None, source="published", **fields):
    row, column = place
    columns = dict.fromkeys(CELLS.names) | {"row": row, "column": column, "value": float(value)}
    columns |= {"printed_row": row, "printed_column": column, "text": str(value)}
    columns |= {"formula": formula.sentence, "source": source, "filter": json.dumps(where or {})}
    return columns | fields


def write_csv(path, rows):
    with path.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, FIELDS)
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.fixture
def paper(tmp_path):
    """Return a function that makes a paper of printed numbers, cells, reasons and accuracies."""

    def make(numbers, cells=(), reasons=("* * * because",), accuracies=()):
        printed = write_csv(tmp_path / "t1.csv", numbers)
        reasons_file = tmp_path / "reasons.tsv"
        lines = ["exhibit\trow\tcolumn\treason", *(r.replace(" ", "\t", 3) for r in reasons)]
        reasons_file.write_text("\n".join(lines) + "\n")
        table = tmp_path / "accuracies.parquet"
        rows = [dict.fromkeys(ACCURACIES.names) | ACCURACY | row for row in accuracies]
        write_rows(rows, ACCURACIES, table)
        write_rows(list(cells), CELLS, tmp_path / "t1.cells.parquet")
        files = {"t1": tmp_path / "t1.cells.parquet"}
        return comparisons.Paper("x", [printed], reasons_file, files, table)

    return make


PARTS = [number("a", "x", "1.04", unit="%"), number("b", "x", "2.04", unit="%")]
SUMMED = {"exhibit": "t1", "row": ["a", "b"]}


def statuses(paper):
    return {(row["row"], row["column"]): row["status"] for row in recomputed_rows(paper)}


def rows_of(*values, reach=0.05):
    return pd.DataFrame({"value": values, "half_unit": reach})


def over_three(rows):
    return float((rows["value"] > 3).sum())


@pytest.mark.parametrize(
    ("formula", "rows", "expected"),
    [
        (SUM, rows_of(1.0, 2.0), 0.1),
        (SUM, rows_of(1.0, 2.0, reach=0.0), 0),
        (SUM, rows_of(1.0, 2.0, reach=None), 0),
        (COUNT, rows_of(1.0, 2.0), 0),
        (MEAN, rows_of(1.0, 2.0), 0.05),
        (UNWEIGHTED, pd.DataFrame({"accuracy": [0.5, 0.6], "rounding": [0.005, 0.0005]}), 0.275),
        (over_three, rows_of(2.96), 1),
        (over_three, rows_of(3.04), 1),
        (over_three, rows_of(2.9), 0),
    ],
)
def test_the_input_error_is_how_far_rounding_may_have_moved_the_value(formula, rows, expected):
    assert input_error_of(formula, rows) == pytest.approx(expected)


def test_a_digit_that_floating_point_falls_short_of_is_not_cut_off():
    assert truncate(0.29, 2) == 0.29  # 0.29 × 100 is 28.999…
    assert truncate(0.0390625, 4) == 0.039


@pytest.mark.parametrize(
    ("text", "unit", "value", "half_unit"),
    [
        ("84.2", "%", 84.2, 0.05),
        ("84", "%", 84, 0.5),
        ("84", "% above", 84, 0.5),
        ("84", "pairs", 84, 0),
        ("84", "pairs at least", 84, 0),
        (".936", "", 0.936, 0.0005),
        ("−0.30", "", -0.3, 0.005),
        ("1", "", 1, 0),
        ("8.4K", "pairs", 8_400, 50),
        ("67K", "pairs", 67_000, 500),
        ("1,558 M", "parameters", 1_558_000_000, 500_000),
        ("1/4M", "tokens", 250_000, 0),
        ("3.1B", "billion tokens", 3.1, 0.05),
        ("1B", "billion parameters", 1, 0),
        ("110M", "billion parameters", 0.11, 0),
        ("4/5", "", 0.8, 0),
        ("between 80% and 90%", "%", 90, 0.5),
    ],
)
def test_printed_numbers_have_half_a_unit_of_their_last_digit(text, unit, value, half_unit):
    assert pytest.approx(value) in numbers_in(text)
    row = published_row("a", "x", text, unit=unit, value=value)
    assert row.half_unit == pytest.approx(half_unit)


def test_words_and_names_have_no_numbers():
    assert [numbers_in(text) for text in ("—", "three", "LLaMA-70B", "GPT2")] == [[]] * 4


@pytest.mark.parametrize(
    ("text", "fields", "expected"),
    [
        ("3.08", {}, EXACT),
        ("3.1", {}, EXACT),
        ("3.09", {}, ROUNDING),
        ("3.07", {}, ROUNDING),
        ("3.10", {}, DEVIATES),
        # A bound may hold because what it is about was rounded.
        ("3.09", {"unit": "% at least"}, ROUNDING),
        ("2.9", {}, DEVIATES),
        ("3.3", {"fault": "erratum", "note": "n"}, ERRATUM),
        ("3.3", {"fault": "erratum", "corrected": "3.1", "note": "n"}, ERRATUM),
        ("3.3", {"fault": "erratum", "corrected": "3.2", "note": "n"}, DEVIATES),
        ("3.34", {"fault": "erratum", "corrected": "3.07", "note": "n"}, DEVIATES),
        ("3.34", {"fault": "erratum", "corrected": "3.07", "note": "3.08 by the parts"}, ERRATUM),
        ("3.34", {"fault": "erratum", "corrected": "3.01", "note": "3.08 by the parts"}, DEVIATES),
        ("3.1", {"fault": "erratum", "note": "n"}, DEVIATES),
        ("3.09", {"fault": "erratum", "note": "n"}, DEVIATES),
        ("9.9", {"fault": "garbled", "note": "n"}, GARBLED),
        ("3.1", {"fault": "garbled", "note": "n"}, DEVIATES),
        ("?", {"fault": "garbled", "note": "n"}, GARBLED),
    ],
)
def test_the_status_of_a_recomputed_number(paper, text, fields, expected):
    printed = number("sum", "x", text, **{"unit": "%"} | fields)
    tested_paper = paper([*PARTS, printed], [cell(("sum", "x"), 3.08, where=SUMMED)])
    assert statuses(tested_paper)["sum", "x"] == expected


ERRATIC = {"fault": "erratum", "note": "n"}
BOUND = ERRATIC | {"corrected": "79.7"}


@pytest.mark.parametrize(
    ("text", "unit", "value", "fields", "expected"),
    [
        ("1.04", "%", 1.04, {}, EXACT),
        ("1.04", "%", 1.05, {}, DEVIATES),  # other tables are not rounded
        ("1.04", "%", float("nan"), {}, DEVIATES),
        ("1.04", "%", float("nan"), ERRATIC, DEVIATES),
        # Halves round up; a half rounded down differs by rounding.
        ("13", "points", 12.8, {}, EXACT),
        ("9", "points", 8.5, {}, EXACT),
        ("8", "points", 8.5, {}, ROUNDING),
        ("8", "points", 8.51, {}, DEVIATES),
        ("-3", "points", -2.5, {"value": "-3"}, EXACT),
        ("-2", "points", -2.5, {"value": "-2"}, ROUNDING),
        ("0.29", "points", 0.285, {}, EXACT),
        ("92.2", "points", 92.25, {}, ROUNDING),
        # A bound must hold before or after rounding.
        ("8", "points at least", 8.4, {}, EXACT),
        ("8", "points at least", 8.0, {}, EXACT),
        ("8", "points at least", 7.9, {}, ROUNDING),
        ("8", "points at least", 7.4, {}, DEVIATES),
        ("80", "% above", 80.1, {}, EXACT),
        ("80", "% above", 80.0, {}, DEVIATES),
        ("80", "% above", 79.7, {}, DEVIATES),
        ("1.3", "points below", 1.17, {}, EXACT),
        ("1.3", "points below", 1.3, {}, DEVIATES),
        ("1.3", "points below", 1.33, {}, DEVIATES),
        ("0.1", "at most", 0.09, {}, EXACT),
        ("0.1", "at most", 0.14, {}, ROUNDING),
        ("1000000", "prompts below", 956_244, {}, EXACT),
        ("1000000", "prompts below", 1_000_001, {}, DEVIATES),
        # An erratum of a bound is a bound that fails before and after rounding.
        ("80", "% above", 79.7, BOUND, ERRATUM),
        ("80", "% at least", 79.7, BOUND, DEVIATES),
    ],
)
def test_the_status_of_a_number_from_other_tables(paper, text, unit, value, fields, expected):
    printed = number("a", "x", text, unit=unit, **fields)
    tested_paper = paper([printed, number("b", "x", "—")], [cell(("a", "x"), value, source="f")])
    assert statuses(tested_paper) == {("a", "x"): expected}


@pytest.mark.parametrize(
    ("text", "fault", "corrected", "released", "status"),
    [
        ("Write “word”:", "", "", 'Write "word":', EXACT),
        ("Doesn’t it?", "", "", "Doesn't it?", EXACT),
        ("Write “word”:", "", "", 'Say "word":', DEVIATES),
        ("Types of cars?", "", "", "Types of cars ?", DEVIATES),
        ("“Cat”", "", "", '"cat"', DEVIATES),
        ("Write “word”:", "erratum", "Say “word”:", 'Say "word":', ERRATUM),
        ("Write “word”:", "erratum", "", 'Say "word":', ERRATUM),
        # An erratum must be one, and its correction the release's text.
        ("Write “word”:", "erratum", "", 'Write "word":', DEVIATES),
        ("Write “word”:", "erratum", "Tell “word”:", 'Say "word":', DEVIATES),
        ("Wr te", "garbled", "", "Write", GARBLED),
    ],
)
def test_the_status_of_a_printed_text(text, fault, corrected, released, status):
    row = published_row("1", "eng", text, unit="text", fault=fault, corrected=corrected)
    assert comparisons.status_of(row, {"text": released, "value": 1.0}, None) == status
    assert comparisons.status_of(row, None, None) == (fault or NOT_RECOMPUTABLE)
    if status in (EXACT, DEVIATES) and not fault:
        assert comparisons.verdict_of(row, {"text": released}) == (
            AGREES if status == EXACT else DEVIATES
        )


def test_a_text_has_no_value_and_a_number_no_text_for_a_correction():
    with pytest.raises(ValueError, match="a text has no value"):
        published_row("1", "eng", "Write", unit="text", value="3")
    with pytest.raises(ValueError, match="could not convert"):
        published_row("1", "eng", "3", unit="%", corrected="Say")


def test_a_complement_of_a_printed_number_is_no_evidence_and_says_of_which(paper):
    where = {"exhibit": "t1", "row": "b", "column": "x"}
    numbers = [number("a", "x", "0.161"), number("b", "x", "0.839")]
    (row, _) = recomputed_rows(paper(numbers, [cell(("a", "x"), 0.161, COMPLEMENT_FORMULA, where)]))
    assert row["status"] == COMPLEMENT
    assert row["note"] == "complement of t1/b/x, so no further evidence"


def test_a_cell_that_shows_a_printed_accuracy_does_not_recompute_it(paper):
    own = {"model": "x", "accuracy": 0.0104, "rounding": 0.00005, "origin": "t1/a/x"}
    shown = cell(("a", "x"), 1.04, UNWEIGHTED, {"model": "x"}, "accuracies")
    assert recomputations(paper(PARTS, [shown], accuracies=[own])) == {}
    other = own | {"origin": "t2/a/x"}
    assert recomputations(paper(PARTS, [shown], accuracies=[other])) == {("t1", "a", "x"): shown}


def test_two_cells_that_differ_are_refused(paper):
    cells = [cell(("sum", "x"), 3.08, where=SUMMED), cell(("sum", "x"), 3.09, where=SUMMED)]
    with pytest.raises(UserError, match=r"two cells recompute row 'sum', column 'x'.*keep one"):
        recomputations(paper(PARTS, cells))


@given(
    st.lists(st.sampled_from(["a", "b", None]), max_size=6),
    st.sampled_from(["a", "b", "c", None])
    | st.lists(st.sampled_from(["a", "b", None]), max_size=3),
)
def test_a_selection_finds_what_select_rows_finds(words, rows):
    table = pd.DataFrame({"word": pd.Series(words, dtype=object), "n": range(len(words))})
    where = {"word": rows, "elsewhere": "x"}
    table["origin"] = [f"t1/{n}/x" for n in table["n"]]
    selection, expected = comparisons.Selection(table), select_rows(table, where)
    pd.testing.assert_frame_equal(selection.select(where), expected)
    assert selection.origins(where) == list(expected["origin"])


def test_a_number_without_recomputation_needs_a_reason(paper):
    tested_paper = paper([number("a", "x", "1.0")], reasons=["t1 b * no", "t2 * * no"])
    message = r"no row says why t1, row 'a', column 'x' \(1\.0\) is not"
    with pytest.raises(UserError, match=message):
        list(recomputed_rows(tested_paper))


def test_the_first_reason_that_fits_is_given_after_the_numbers_own_note(paper):
    reasons = ["t1 a y of another", "t1 a* x of this", "* * * of all"]
    numbers = [number("a", "x", "1.0", note="odd"), number("b", "x", "2.0")]
    notes = {row["row"]: row["note"] for row in recomputed_rows(paper(numbers, reasons=reasons))}
    assert notes == {"a": "odd; of this", "b": "of all"}


def test_the_comparison_is_written_with_every_column(paper, tmp_path):
    numbers = [*PARTS, number("sum", "x", "3.1"), number("big", "x", "735000123", unit="tokens")]
    cells = [cell(("sum", "x"), 3.08, where=SUMMED), cell(("big", "x"), 735_000_123, where=SUMMED)]
    counts = comparisons.compare_published([paper(numbers, cells)], tmp_path / "out.csv")
    assert counts == {EXACT: 2, NOT_RECOMPUTABLE: 2}
    frame = pd.read_csv(tmp_path / "out.csv")
    assert list(frame) == list(comparisons.RECOMPUTED_COLUMNS)
    row = frame.set_index("row").loc["sum"]
    assert (row["printed"], row["recomputed"], row["rule"]) == (3.1, 3.08, SUM.sentence)
    assert frame.set_index("row").loc["big", "recomputed"] == 735_000_123


def test_printed_numbers_that_cannot_be_had_are_refused(tmp_path):
    twice = write_csv(tmp_path / "t1.csv", [number("a", "x", "1"), number("a", "x", "2")])
    for message, read, *arguments in (
        (r"place 't1/a/x' is in 2 rows; keep one", read_printed_numbers, [twice]),
        (r"has no tables .* printed numbers of 'nowhere'", printed_files, tmp_path, "nowhere"),
        (r"paper 'x' is unknown; expected one of", read_published, [], "x", tmp_path / "o"),
    ):
        with pytest.raises(UserError, match=message):
            read(*arguments)


def test_printed_accuracies_have_counts_intervals_and_their_place(tmp_path, monkeypatch):
    numbers = (("eng", "n", "770"), ("eng", "m", "99.4"))
    rows = [number(*fields, exhibit="table5", unit="%") for fields in numbers]
    path = write_csv(tmp_path / "t.csv", rows)
    assert read_published([path], "multiblimp", tmp_path / "out.parquet") == 1
    (row,) = read_table(ACCURACIES, tmp_path / "out.parquet").to_pylist()
    assert (row["model"], row["lang"], row["method"]) == ("m", "eng", "printed")
    assert (row["n"], row["correct"], row["origin"]) == (770, 765, "table5/eng/m")
    assert row["accuracy"] == pytest.approx(0.994)
    assert row["low"] < row["accuracy"] < row["high"]
    assert row["rounding"] == pytest.approx(0.0005)
    (accuracy,) = multiblimp_published.accuracies(read_printed_numbers([path]))
    twice = [accuracy, replace(accuracy, origin="table3/m/eng")]
    monkeypatch.setattr(multiblimp_published, "accuracies", lambda _: twice)
    with pytest.raises(UserError, match="table5/eng/m and table3/m/eng are both the accuracy"):
        read_published([path], "multiblimp", tmp_path / "out.parquet")


@pytest.mark.parametrize(
    ("name", "table", "printed", "message"),
    [
        ("multiblimp", "table5", "eng m 99.4", "row 'eng', column 'm' is '99.4'; expected perc"),
        ("clams", "table2", "prep eng 92", "table2: row 'prep', column 'eng' is '92'; expected an"),
        ("lmentry", "table50", "phi-4 homophones 50", "table54"),
        ("blimp", "table4", "binding gpt2-large 80", "row 'binding'.*expected a paradigm's name"),
        ("urblimp", "table7", "honorific m 1.00", "expected percent, and the paradigm"),
        ("urblimp", "table7", "passive m 1.00", "expected percent, and the paradigm"),
        ("urblimp", "table7", "aspect m 100.01", "expected percent, and the paradigm"),
    ],
)
def test_a_printed_accuracy_that_cannot_be_one_is_refused(tmp_path, name, table, printed, message):
    pairs = number("aspect", "n", "401", exhibit="table10")
    rows = [pairs, number(*printed.split(), table, unit="%")]
    path = write_csv(tmp_path / "t.csv", rows if name == "urblimp" else rows[1:])
    with pytest.raises(UserError, match=message):
        read_published([path], name, tmp_path / "out.parquet")


@pytest.mark.parametrize(
    ("text", "unit", "low", "high", "value", "expected"),
    [
        ("84.2", "%", 80.0, 84.16, 82.0, AGREES),  # 84.16 is printed so
        ("84.2", "%", 80.0, 84.14, 82.0, DEVIATES),
        ("79.9", "%", 80.0, 84.0, 82.0, DEVIATES),
        ("80.0", "%", 80.04, 84.0, 82.0, AGREES),
        ("82.0", "%", None, None, 82.04, AGREES),
        ("82.0", "%", None, None, 82.06, DEVIATES),
        ("82.0", "%", float("nan"), float("nan"), 82.04, AGREES),
        ("82.0", "%", 81.0, None, 82.06, DEVIATES),
        ("8", "points at least", 9, 12, 10.5, AGREES),
        ("8", "points at least", 7, 8.2, 7.6, AGREES),
        ("8", "points at least", 5, 7.4, 6.2, DEVIATES),
    ],
)
def test_an_interval_with_the_printed_number_agrees(text, unit, low, high, value, expected):
    row = published_row("a", "x", text, unit=unit)
    assert comparisons.verdict_of(row, cell(("a", "x"), value, low=low, high=high)) == expected


def measured_beside(folder, numbers, cells, basis=SAME):
    """Return counts of verdicts on printed numbers, and the rows of the comparison."""
    printed = write_csv(folder / "t1.csv", numbers)
    write_rows(cells, CELLS, folder / "t1.cells.parquet")
    files = {"t1": folder / "t1.cells.parquet"}
    beside = comparisons.Paper("x", [printed], folder / "reasons.tsv", files, None, basis=basis)
    counts = comparisons.compare_measured([beside], folder / "out.csv")
    frame = pd.read_csv(folder / "out.csv")
    assert list(frame) == list(comparisons.MEASURED_COLUMNS)
    return counts, frame.to_dict("records")


def test_measured_cells_stand_beside_the_printed_numbers_they_stand_for(tmp_path):
    display = {"printed_row": "a", "printed_column": "x", "n": 200}
    cells = [
        cell(("Model A", "Accuracy"), 1.5, low=1.0, high=2.0, **display),
        cell(("Model A", "Again"), 9.0, **display),
    ]
    counts, rows = measured_beside(tmp_path, [*PARTS, number("c", "x", "—")], cells)
    assert counts == {AGREES: 1, NOT_RUN: 1}
    first, second = rows
    assert [first[name] for name in ("row", "measured", "n")] == ["a", 1.5, 200]
    assert [row["verdict"] for row in rows] == [AGREES, NOT_RUN]
    assert pd.isna(second["measured"])
    _, [first, _] = measured_beside(tmp_path, PARTS, [cell(("a", "x"), 4234567.0)])
    assert first["measured"] == 4234567


def test_a_number_that_our_copy_has_not_is_counted_and_not_compared(tmp_path):
    garbled = [number(row, "x", "?", fault="garbled") for row in "ab"]
    counts, _ = measured_beside(tmp_path, garbled, [cell(("a", "x"), 1.5)])
    assert counts == {comparisons.NOT_COMPARABLE: 1, NOT_RUN: 1}
    # Measured values that are no numbers, such as correlations of two models, are not comparable.
    counts, rows = measured_beside(tmp_path, PARTS, [cell(("a", "x"), float("nan"))])
    assert counts == {comparisons.NOT_COMPARABLE: 1, NOT_RUN: 1}
    assert rows[0]["differs"] == comparisons.UNDEFINED


PAPER = ["deu", "eng", "fra", "xyz"]
BASIS = SAME | {"languages": ["deu", "eng"], "paper_languages": PAPER}
WHOLE = BASIS | {"languages": PAPER}
OTHERS = BASIS | {
    "data": {"eng": "other treebanks"},
    "items": {"deu": "drawn again"},
    "models": {"m": "a model trained here"},
}
PRINTED_OVER = cell(("a", "x"), 82.0, where={"lang": ["deu", "eng", "fra"]}, n=770)


@pytest.mark.parametrize(
    ("where", "basis", "printed", "n", "expected"),
    [
        ({"lang": ["deu", "eng", "fra"]}, BASIS, PRINTED_OVER, 770, ""),
        ({"lang": ["deu", "eng"]}, BASIS, PRINTED_OVER, 770, "2 of 3 languages"),
        ({"lang": ["deu", "ita"]}, BASIS, PRINTED_OVER, 770, "1 of 3 languages and 1 other"),
        ({"lang": ["ita", "spa"]}, BASIS, PRINTED_OVER, 770, "0 of 3 languages and 2 others"),
        # A mean without languages is over all languages of the paper.
        ({"lang": ["deu"]}, BASIS, None, 770, "2 of 4 languages"),
        ({}, BASIS, None, 770, "2 of 4 languages"),
        ({"lang": ["deu"]}, WHOLE, None, 770, ""),
        ({}, WHOLE, None, 770, ""),
        # Other treebanks affect every number; other items and models affect evaluations alone.
        ({"lang": "eng"}, OTHERS, PRINTED_OVER, 770, "other treebanks"),
        ({"lang": "deu"}, OTHERS, PRINTED_OVER, 770, ""),
        ({"lang": "deu", "model": "x"}, OTHERS, PRINTED_OVER, 770, "drawn again"),
        ({"lang": "fra", "model": "m"}, OTHERS, PRINTED_OVER, 770, "a model trained here"),
        ({"lang": "eng", "model": "m"}, BASIS, PRINTED_OVER, 54, "54 pairs, not 770"),
        ({"lang": "eng"}, BASIS, PRINTED_OVER, 54, ""),
    ],
)
def test_what_a_measured_number_is_about_and_the_printed_is_not(where, basis, printed, n, expected):
    legible = {"deu", "eng", "fra"}
    measured_cell = cell(("a", "x"), 1.0, where=where, n=n)
    assert comparisons.differences(measured_cell, printed, basis, legible) == expected


def test_what_is_not_comparable_says_why_and_counts_as_neither(tmp_path):
    cells = [cell(("a", "x"), 9.0, where={"lang": ["deu"]}), cell(("b", "x"), 9.0)]
    basis = SAME | {"data": {"deu": "other treebanks"}}
    counts, rows = measured_beside(tmp_path, PARTS, cells, basis)
    assert counts == {comparisons.NOT_COMPARABLE: 1, DEVIATES: 1}
    assert rows[0]["differs"] == "other treebanks"


@pytest.mark.parametrize(
    ("cells", "fault"),
    [
        ({"value": "45.8"}, "is not the number in text '45.7'"),
        ({"value": "457"}, "is not the number in text '45.7'"),
        ({"value": "-45.7"}, "is not the number in text '45.7'"),
        ({"value": ""}, "value is empty; expected the number in text '45.7'"),
        ({"value": "45.7", "corrected": "46"}, "fault is empty; expected erratum or garbled"),
    ],
)
def test_a_value_that_is_not_its_text_is_refused_with_its_line(tmp_path, cells, fault):
    path = write_csv(tmp_path / "table1.csv", [number("a", "b", "45.7", unit="%", **cells)])
    with pytest.raises(UserError, match=rf"table1\.csv:2: .*{fault}"):
        read_printed_numbers([path])
    assert published_row("a", "b", "45.7", value="45.8", fault="garbled").value == 45.8


def test_all_values_are_what_the_papers_print():
    tables = sorted(PRINTED.glob("*/*.csv"))
    assert sum(len(read_printed_numbers([path])) for path in tables) == 10_431


@pytest.mark.parametrize("name", PAPERS)
def test_printed_numbers_have_their_evidence_bound_file_and_reason(name):
    paths = sorted((PRINTED / name).glob("*.csv"))
    rows = read_printed_numbers(paths)
    assert [row.place for row in rows if row.fault and not row.note] == []
    assert [row.place for row in rows if row.corrected is not None and not row.fault] == []
    assert {row.exhibit for row in rows} == {path.stem for path in paths}
    words = r"at least|at most|exceed|more than|less than|^over |^under |^above |^nearly "
    for row in rows:
        description = f"{row.column}; {row.text}" if row.exhibit.startswith("text") else ""
        settled = (row.row, row.column) in VAGUE or not re.search(words, description)
        assert settled or row.bound, f"{row.place} ({row.text})"
    printed = [row for row in rows if row.value is not None]
    for reason in read_rows(ReasonRow, PRINTED / name / "reasons.tsv"):
        assert any(comparisons.excuses(reason, row) for row in printed), reason
