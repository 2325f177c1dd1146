"""Test that validation lists are balanced in every respect that could reveal an answer."""

import csv
import json
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from blimpworks.annotation import lists as annotation_lists
from blimpworks.annotation.lists import CHECK, PAIR, PRACTICE, make_lists, read_pairs, suits
from blimpworks.annotation.options import ValidationOptions
from blimpworks.annotation.sheets import VALIDATION_PARTICIPANTS, write_lists
from blimpworks.annotation.spreadsheet import write_sheet
from blimpworks.errors import UserError
from blimpworks.papers.urblimp.phenomena import PARADIGMS, PHENOMENON_OF
from blimpworks.tables import ACCURACIES, ITEMS, read_table, write_table
from support.commands import run
from support.declared_kit import declare
from support.validation_kit import END, WORDS, items, key_of, rows_of, write_items

KINDS = [*PARADIGMS]
SMALL = {"participants": 5, "per_paradigm": 7, "checks": 3, "practice": 4}


def pairs_of(rows):
    return [
        annotation_lists.ItemPair(
            *(row[k] for k in ("item_id", "phenomenon", "paradigm", "good", "bad", "sent_id"))
        )
        for row in rows
    ]


def lists_of(rows, part=None):
    result = {}
    for row in rows:
        if part in (None, row.part):
            result.setdefault(row.list, []).append(row)
    return result


def even(counts):
    return max(counts) - min(counts) <= 1


@st.composite
def designs(draw):
    """Draw options and paradigms of many sizes, some with too few pairs."""
    people = draw(st.integers(1, 9))
    options = ValidationOptions(
        participants=people,
        per_pair=draw(st.integers(1, people)),
        per_paradigm=draw(st.integers(1, 9)),
        checks=draw(st.integers(0, 3)),
        practice=draw(st.integers(0, 4)),
        seed=draw(st.integers(0, 99)),
    )
    sizes = draw(st.lists(st.integers(1, 12), min_size=2, max_size=len(KINDS)))
    rows = [
        row
        for kind, size in zip(KINDS, sizes, strict=False)
        for row in items(size, sentences=10_000, paradigms=[kind], seed=size)
    ]
    # A paradigm that is in no list leaves sentences for practice and checks.
    rest = items(40, paradigms=["word_order"], seed=3) if len(sizes) < len(KINDS) else []
    return options, pairs_of([*rows, *rest])


@settings(deadline=None, max_examples=60)
@given(designs())
def test_lists_are_balanced_whatever_their_size(design):
    options, pairs = design
    try:
        rows = make_lists(pairs, options)
    except UserError:
        reject()  # too few pairs for practice or checks
    judged = [row for row in rows if row.part == PAIR]
    each = Counter(row.item_id for row in judged)
    assert {*each.values()} == {options.per_pair}
    assert {*Counter((row.list, row.item_id) for row in judged).values()} == {1}
    drawn = Counter(row.paradigm for row in judged)
    had = Counter(pair.paradigm for pair in pairs)
    expected = {kind: options.per_pair * min(n, options.per_paradigm) for kind, n in had.items()}
    assert drawn == expected
    assert even([sum(row.list == name for row in judged) for name in options.names])
    for kind in drawn:
        of = Counter(row.list for row in judged if row.paradigm == kind)
        assert even([of[name] for name in options.names])

    # The grammatical sentence is first in half of the rows of each group.
    groups = {}
    for row in rows:
        if row.part == PAIR:
            own = (row.item_id,), (row.paradigm,), (row.list, ""), (row.list, row.paradigm)
            for group in own:
                groups.setdefault(group, []).append(row.first_is_good)
    assert all(abs(2 * sum(sides) - len(sides)) <= 1 for sides in groups.values())
    for shown in lists_of(rows, CHECK).values():
        sides = [row.first_is_good for row in shown]
        assert abs(2 * sum(sides) - len(sides)) <= 1

    # Neighbours are of different paradigms, and checks of other sentences.
    for shown in lists_of(rows).values():
        assert [row.place for row in shown] == [*range(1, len(shown) + 1)]
        parts = [row.part for row in shown]
        assert parts[: options.practice] == [PRACTICE] * options.practice
        assert parts.count(CHECK) == options.checks
        kinds = [row.paradigm for row in shown if row.part == PAIR]
        if max(Counter(kinds).values(), default=0) <= (len(kinds) + 1) // 2:
            assert all(a != b for a, b in pairwise(kinds))
        own = {row.item_id for row in shown if row.part != CHECK}
        assert not own & {row.item_id for row in shown if row.part == CHECK}


def test_practice_is_the_same_for_all_and_checks_are_spread_evenly():
    rows = make_lists(pairs_of(items(12)), ValidationOptions(**SMALL | {"practice": 19}))
    shown = [{row.item_id for row in some} for some in lists_of(rows, PRACTICE).values()]
    assert all(each == shown[0] for each in shown)
    assert len({row.paradigm for row in rows if row.part == PRACTICE}) == 19
    assert not shown[0] & {row.item_id for row in rows if row.part == PAIR}
    for shown in lists_of(rows).values():
        body = [row for row in shown if row.part != PRACTICE]
        places = [n for n, row in enumerate(body) if row.part == CHECK]
        gaps = [b - a for a, b in pairwise([-1, *places, len(body)])]
        assert max(gaps) < 2 * len(body) / 3
        assert min(gaps[1:-1]) > len(body) / 4


def test_lists_depend_on_the_seed_and_on_neither_checks_nor_the_order_of_pairs():
    pairs = pairs_of(items(12))
    lists, other = (make_lists(pairs, ValidationOptions(seed=s, **SMALL)) for s in (2025, 2))
    assert [row.item_id for row in lists] != [row.item_id for row in other]
    kinds = [[row.paradigm for row in some] for some in lists_of(lists, PAIR).values()]
    assert len({*map(tuple, kinds)}) == SMALL["participants"]
    few = make_lists(pairs[::-1], ValidationOptions(**SMALL | {"checks": 1}))
    rest = [[row.row for row in rows if row.part != CHECK] for rows in (few, lists)]
    assert rest[0] == rest[1]
    assert make_lists(pairs[::-1], ValidationOptions(**SMALL)) == lists


@pytest.mark.parametrize(
    ("paradigms", "sentences", "per_pair", "per_paradigm", "mended"),
    [
        # Every sentence has a pair in each paradigm, as aspects of one sentence often have.
        (6, 30, 3, 8, 5),
        # The last pairs of a small paradigm leave no choice when they are dealt.
        (3, 6, 1, 6, 4),
    ],
)
def test_nobody_sees_two_pairs_of_a_sentence_where_there_are_others(
    paradigms, sentences, per_pair, per_paradigm, mended
):
    rows = [
        row | {"sent_id": f"s{n}", "good": f"{n}", "item_id": f"{kind}{n}"}
        for kind in KINDS[:paradigms]
        for n, row in enumerate(items(sentences, paradigms=[kind]))
    ]
    numbers = {"participants": 6, "per_pair": per_pair, "per_paradigm": per_paradigm}
    without = 0
    for seed in range(5):
        random = np.random.default_rng(seed)
        dealt = annotation_lists.Assignment(pairs_of(rows), ValidationOptions(**numbers), random)
        seen = Counter(
            (number, pair.source)
            for pair, lists in zip(dealt.pairs, dealt.lists, strict=True)
            for number in lists
        )
        assert (max(seen.values()) > 1) == bool(dealt.clashing())
        without += not dealt.clashing()
    assert without >= mended


@pytest.mark.parametrize(
    ("rows", "options", "said"),
    [
        (
            [row | {"sent_id": "s1"} for row in items(4, paradigms=KINDS[:2])],
            {"participants": 2, "per_pair": 2, "per_paradigm": 4, "checks": 0, "practice": 0},
            "8 pairs share a list with another one of the same sentence",
        ),
        (items(3, paradigms=["aspect"]), SMALL, "fewer than 7 pairs of aspect (3)"),
    ],
)
def test_shared_sentences_and_too_few_pairs_are_told(caplog, rows, options, said):
    rows += items(30, paradigms=["word_order"], seed=7)
    make_lists(pairs_of(rows), ValidationOptions(**options))
    assert said in caplog.text


def test_a_pair_of_two_paradigms_is_drawn_for_one():
    rows = items(8, paradigms=["aspect"])
    other = {"paradigm": "honorific", "phenomenon": PHENOMENON_OF["honorific"]}
    rows += [row | other for row in rows[:5]] + items(40, paradigms=["word_order"], seed=5)
    options = ValidationOptions(**SMALL | {"practice": 0})
    judged = [row for row in make_lists(pairs_of(rows), options) if row.part == PAIR]
    assert len({(row.item_id, row.paradigm) for row in judged}) == len({r.item_id for r in judged})
    assert {*Counter(row.item_id for row in judged).values()} == {3}


@given(st.lists(st.sampled_from([*WORDS, "کا", "ہے"]), min_size=5, max_size=30), st.integers(0, 99))
def test_a_scrambled_sentence_has_the_same_words_and_none_follows_as_before(words, seed):
    sentence = " ".join(words) + END
    assert not suits("وہ گھر گیا تھا۔")
    assert suits("وہ کل گھر گیا تھا۔")
    if not suits(sentence):
        return
    wrong = annotation_lists.scrambled(sentence, np.random.default_rng(seed))
    assert wrong.endswith(END)
    order = wrong.removesuffix(END).split()
    assert sorted(order) == sorted(words)
    if len({*words}) == len(words):
        assert not {*pairwise(words)} & {*pairwise(order)}
        assert order[-1] != words[-1]


NO_CHECKS = r"list p01 can have 0 attention checks .*expected 2; lower"
TOO_FEW = "3 pairs are left to practise on, expected 4"


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"per_pair": 3, "per_paradigm": 7, "checks": 2, "practice": 0}, NO_CHECKS),
        ({"per_paradigm": 6, "checks": 0, "practice": 4}, TOO_FEW),
        ({"participants": 2}, "per_pair is 3, expected at most participants"),
    ],
)
def test_lists_that_cannot_be_made_are_refused(settings, says):
    pairs = pairs_of(items(7, paradigms=KINDS[:3]))
    with pytest.raises((UserError, ValidationError), match=says):
        make_lists(pairs, ValidationOptions(**{"participants": 3, **settings}))


def test_sheets_and_the_table_for_pcibex_show_sentences_and_practice_alone(tmp_path):
    path, options = write_items(tmp_path / "urd.parquet", items(12)), ValidationOptions(**SMALL)
    tell = ["--options", options.model_dump_json()]
    said = run("judgement-sheets", path, "--lang", "urd", "--folder", tmp_path, *tell)
    assert "133 items on 5 lists" in said
    known = key_of(tmp_path / "urd.key.parquet")
    with (tmp_path / "urd.pcibex.csv").open(encoding="utf-8", newline="") as file:
        result = [*csv.DictReader(file)]
    assert [*result[0]] == ["Group", "Item", "Part", "First", "Second"]
    assert {row["Part"] for row in result} == {"practice", "main"}
    sheets = [tmp_path / f"urd.{name}.csv" for name in options.names]
    for name, sheet in zip(options.names, sheets, strict=True):
        assert sheet.read_bytes().startswith(b"\xef\xbb\xbf")
        rows = rows_of(sheet)
        assert [*rows[0]] == ["id", "first", "second", "choice", "note"]
        for cells in rows:
            row = known[cells["id"]]
            assert (cells["first"], cells["second"]) == (row["first"], row["second"])
            assert cells["choice"] == ""
            assert cells["note"] == ("practice" if row["part"] == PRACTICE else "")
        assert Counter(known[cells["id"]]["part"] for cells in rows)[CHECK] == 3
        own = [(r["Item"], r["First"], r["Second"]) for r in result if r["Group"] == name]
        assert own == [(row["id"], row["first"], row["second"]) for row in rows]
    paths = (sheets[1:], tmp_path / "key.parquet", tmp_path / "p.csv")
    with pytest.raises(UserError, match="4 sheets are named, expected 5, one for each"):
        write_lists(path, "urd", *paths, options)


def test_items_that_nobody_can_judge_are_refused_or_left_out(tmp_path, caplog):
    with pytest.raises(UserError, match="has no pairs"):
        read_pairs(write_items(tmp_path / "b.parquet", []))
    rows = items(2, paradigms=["aspect"])
    same = [rows[0], rows[1] | {"bad": rows[1]["good"]}]
    assert len(read_pairs(write_items(tmp_path / "a.parquet", same))) == 1
    assert "1 pairs of the same sentence twice are left out" in caplog.text
    table = read_table(ITEMS, tmp_path / "a.parquet").append_column("condition", [["a", "b"]])
    write_table(table, ITEMS, tmp_path / "c.parquet")
    with pytest.raises(UserError, match="has items of conditions, whose predictions people cannot"):
        read_pairs(tmp_path / "c.parquet")


def test_single_sentences_of_a_declared_benchmark_are_judged_and_read_back(tmp_path):
    rows = "".join(
        f"Ann and Bob {v} home by {n}.,{v == 'go'}\n" for n in range(9) for v in ("go", "goes")
    )
    entry = {"layout": "sentences", "files": "s.csv", "sentence": "s", "label": "ok"}
    labels = {"acceptable": "True", "unacceptable": "False"}
    declare(tmp_path / "toy", {"s.csv": f"s,ok\n{rows}"}, data=[entry | labels])
    options = {"participants": 2, "per_pair": 2, "per_paradigm": 8, "checks": 2, "practice": 2}
    tell = ["--options", json.dumps(options)]
    run("judgement-sheets", tmp_path / "toy", "--lang", "eng", "--folder", tmp_path, *tell)
    key, filled = key_of(tmp_path / "eng.key.parquet"), []
    for name in ("p01", "p02"):
        lines = rows_of(tmp_path / f"eng.{name}.csv")
        assert [*lines[0]] == ["id", "sentence", "choice", "note"]
        for line in lines:
            row = key[line["id"]]
            # p01 judges correctly; the other person accepts everything but the attention checks.
            accepts = row["first_is_good"] if name == "p01" else row["part"] != CHECK
            line["choice"] = "yes" if accepts else "0"
        filled.append(tmp_path / f"filled.{name}.csv")
        write_sheet(filled[-1], [*lines[0]], lines)
    names = ("ratings", "participants", "accuracies")
    outputs = [word for n in names for word in (f"--{n}", tmp_path / f"{n}.parquet")]
    known = ["--benchmark", "toy", "--key", tmp_path / "eng.key.parquet", *outputs]
    run("read-judgements", *filled, *known)
    people = read_table(VALIDATION_PARTICIPANTS, tmp_path / "participants.parquet").to_pylist()
    right = sum(row["first_is_good"] for row in key.values() if row["part"] == PAIR) / 2
    results = [(row["correct"], row["n"], row["passed"]) for row in people]
    assert results == [(8, 8, 2), (right, 8, 2)]
    [row] = read_table(ACCURACIES, tmp_path / "accuracies.parquet").to_pylist()
    assert (row["benchmark"], row["lang"], row["accuracy"]) == ("toy", "eng", (8 + right) / 16)
