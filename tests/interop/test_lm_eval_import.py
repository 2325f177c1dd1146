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


def test_a_pair_can_stand_in_several_paradigms(tmp_path):
    rows = imported(tmp_path, document(1, paradigm="a"), document(1, paradigm="b"))
    assert [(row["item_id"], row["paradigm"]) for row in rows] == [("1", "a"), ("1", "b")]


def spanned(*spans):
    return document(1, **dict(zip(SPANS, spans, strict=True)))


WITHOUT_ID = {"good": "It is.", "bad": "It are."}
REFUSED = {
    "d.jsonl:2: its item_id '7' is that of another pair in": [
        [document(7), document("7", "The bird sees")]
    ],
    "is that of this pair in": [[WITHOUT_ID, WITHOUT_ID]],
    "leave one out": [[document(1), document(1)]],
    "expected a text or a whole number.": [[document(i)] for i in (1.0, True, [1], "", " ")],
    "d.jsonl:1: the region of the": [
        *([spanned(0, 99, 0, 3)], [spanned(-1, 2, 0, 3)], [spanned(3, 0, 0, 3)]),
        *([spanned(2, 2, 0, 3)], [spanned(0.0, 3.0, 0, 3)], [spanned(True, 3, 0, 3)]),
        *([spanned("0", "3", 0, 3)], [spanned(0, None, 0, 3)], [spanned(0, 3, 0, 10**30)]),
    ],
}


@pytest.mark.parametrize(
    ("message", "documents"), [(message, each) for message in REFUSED for each in REFUSED[message]]
)
def test_what_would_mix_up_scores_or_regions_is_refused(tmp_path, message, documents):
    assert message in refusal(tmp_path, *documents)


@pytest.mark.parametrize("lang", ["", "../x", "/eng", "en", "ENG", "eng\n", "a/b"])
def test_a_language_that_is_no_code_is_refused(tmp_path, lang):
    assert f"--lang is {lang!r}; expected" in refusal(tmp_path, document(1), lang=lang)


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
