"""What the import of pairs refuses, because scores are by id and spans are cut from sentences."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blimpworks.errors import UserError
from blimpworks.interop.lm_eval_import import import_items
from blimpworks.tables import ITEMS, read_table

SPANS = ("good_start", "good_end", "bad_start", "bad_end")


def document(number, sentence="The dog sees", **more):
    return {"item_id": number, "good": f"{sentence}.", "bad": f"{sentence} see."} | more


def write_lines(path, *documents):
    path.write_text("".join(json.dumps(each) + "\n" for each in documents), encoding="utf-8")
    return path


def imported(folder, *documents, lang="eng"):
    output = folder / "items.parquet"
    import_items([write_lines(folder / "d.jsonl", *documents)], lang, output)
    return read_table(ITEMS, output).to_pylist()


def refusal(folder, *documents, lang="eng"):
    with pytest.raises(UserError) as error:
        imported(folder, *documents, lang=lang)
    assert not (folder / "items.parquet").exists()
    assert len(str(error.value)) < 300 + len(str(folder)) * 2
    return str(error.value)


def test_two_files_that_number_their_pairs_alike_are_refused(tmp_path):
    files = [
        write_lines(tmp_path / f"{name}.jsonl", *(document(i, f"{name} {i}") for i in range(20)))
        for name in ("first", "second")
    ]
    with pytest.raises(UserError) as error:
        import_items(files, "eng", tmp_path / "items.parquet")
    first = str(error.value).splitlines()[0]
    assert first == (
        f"{files[1]}:1: its item_id '0' is that of another pair in {files[0]}:1; make ids unique "
        "over all files."
    )
    assert not (tmp_path / "items.parquet").exists()


def test_ids_that_are_the_same_text_are_refused(tmp_path):
    message = refusal(tmp_path, document(7), document("7", "The bird sees"))
    assert "d.jsonl:2: its item_id '7' is that of another pair in" in message


def test_the_same_pair_twice_is_refused(tmp_path):
    without = {key: value for key, value in document(0).items() if key != "item_id"}
    assert "is that of this pair in" in refusal(tmp_path, without, without)
    assert "leave one out" in refusal(tmp_path, document(1), document(1))


def test_a_pair_can_stand_in_several_paradigms(tmp_path):
    rows = imported(tmp_path, document(1, paradigm="a"), document(1, paradigm="b"))
    assert [(row["item_id"], row["paradigm"]) for row in rows] == [("1", "a"), ("1", "b")]


@pytest.mark.parametrize("own", [1.0, True, [1], {"a": 1}, "", " "])
def test_an_id_that_is_neither_text_nor_whole_number_is_refused(tmp_path, own):
    message = refusal(tmp_path, document(own))
    assert f"d.jsonl:1: item_id is {own!r}, expected a text or a whole number." in message


@pytest.mark.parametrize("lang", ["", "../x", "/eng", "en", "ENG", "eng\n", "a/b"])
def test_a_language_that_is_no_code_is_refused(tmp_path, lang):
    assert f"--lang is {lang!r}; expected" in refusal(tmp_path, document(1), lang=lang)


@pytest.mark.parametrize(
    "spans",
    [
        (0, 99, 0, 3),
        (-1, 2, 0, 3),
        (3, 0, 0, 3),
        (2, 2, 0, 3),
        (0.0, 3.0, 0, 3),
        (True, 3, 0, 3),
        ("0", "3", 0, 3),
        (0, None, 0, 3),
        (0, 3, 0, 10**30),
    ],
)
def test_a_region_outside_its_sentence_is_refused(tmp_path, spans):
    message = refusal(tmp_path, document(1, **dict(zip(SPANS, spans, strict=True))))
    assert "d.jsonl:1: the region of the" in message


def test_a_region_inside_its_sentence_is_kept(tmp_path):
    (row,) = imported(tmp_path, document(1, **dict(zip(SPANS, (4, 7, 0, 3), strict=True))))
    assert tuple(row[name] for name in SPANS) == (4, 7, 0, 3)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=3,
)


@given(st.dictionaries(st.sampled_from(["item_id", "doc_id", "doc", "paradigm", *SPANS]), VALUES))
def test_whatever_a_document_holds_is_imported_or_refused(tmp_path_factory, more):
    folder = tmp_path_factory.mktemp("d")
    problem = ""
    try:
        imported(folder, document("a") | more)
    except UserError as error:
        problem = str(error)
    assert ("d.jsonl" in problem) != (folder / "items.parquet").exists()


def test_nesting_without_end_and_half_characters_are_refused_with_their_line(tmp_path):
    path = tmp_path / "d.jsonl"
    path.write_text("[" * 200_000 + '\n{"item_id": "a", "good": "\\ud800", "bad": "b"}\n')
    with pytest.raises(UserError) as error:
        import_items([path], "eng", tmp_path / "items.parquet")
    assert [line.split(": ")[0] for line in str(error.value).splitlines()] == [
        f"{path}:1",
        f"{path}:2",
    ]
