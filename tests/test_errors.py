"""What goes wrong with a file is told in one short sentence that names it."""

import csv
import json

import pyarrow.parquet as pq
import pytest

from blimpworks.errors import LONGEST, MOST, UserError, reading, shortened


def message_of(path, read):
    with pytest.raises(UserError) as caught, reading(path, "a thing", "Mend it."):
        read(path)
    message = str(caught.value)
    assert len(message.replace(str(path), "")) <= LONGEST
    assert "\n" not in message
    assert message.endswith("; expected a thing. Mend it.")
    return message


def text(path):
    return path.read_text(encoding="utf-8")


def test_a_directory_is_no_file(tmp_path):
    assert message_of(tmp_path, text).startswith(f"{tmp_path} is a directory;")


def test_a_file_is_no_directory(tmp_path):
    (tmp_path / "a").touch()
    assert "/a/b lies below what is no directory;" in message_of(tmp_path / "a/b", text)


def test_a_missing_file_does_not_exist(tmp_path):
    assert message_of(tmp_path / "a", text).startswith(f"{tmp_path}/a does not exist;")


def test_a_link_to_itself_is_no_file(tmp_path):
    (tmp_path / "a").symlink_to("a")
    assert "/a is a link to itself;" in message_of(tmp_path / "a", text)


def test_a_name_with_a_nul_is_shown_without_it(tmp_path):
    assert r"/a\0b: embedded null byte;" in message_of(tmp_path / "a\0b", text)


def test_too_long_a_name_is_cut(tmp_path):
    assert message_of(tmp_path / ("a" * 300), text).startswith(f"{tmp_path}/aaa")


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1", "cp1251"])
def test_another_encoding_is_named_as_none(tmp_path, encoding):
    path = tmp_path / "a"
    path.write_bytes("жé"[encoding == "latin-1" :].encode(encoding, "ignore"))
    assert f"{path} is not in UTF-8 (" in message_of(path, text)


def test_deep_nesting_is_a_fault_of_the_file(tmp_path):
    path = tmp_path / "a"
    path.write_text("[" * 100_000)
    assert f"{path}: values are nested too deeply;" in message_of(
        path, lambda p: json.loads(text(p))
    )


def test_a_mistake_in_json_is_told_with_its_line(tmp_path):
    path = tmp_path / "a"
    path.write_text('{\n"a" 1}')
    assert message_of(path, lambda p: json.loads(text(p))).startswith(f"{path}:2: Expecting ':'")


def test_an_enormous_cell_is_a_fault_of_the_file(tmp_path):
    path = tmp_path / "a"
    path.write_text("x" * (csv.field_size_limit() + 1))
    assert "field larger than field limit" in message_of(
        path, lambda p: list(csv.reader([text(p)]))
    )


def test_what_is_no_parquet_is_a_fault_of_the_file(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"PAR1" + b"\xff" * 100 + b"PAR1")
    assert message_of(path, pq.ParquetFile).startswith(f"{path}: ")


def test_a_full_disk_is_no_fault_of_the_file(tmp_path):
    with pytest.raises(OSError, match="full"), reading(tmp_path, "a thing", "Mend it."):
        raise OSError(28, "full")


def test_long_values_are_cut_and_the_rest_of_a_sentence_stays():
    value = "x" * 1000
    assert shortened(f"a.tsv:1: '{value}' is none; correct it.") == (
        f"a.tsv:1: '{'x' * 79}… is none; correct it."
    )
    assert shortened("a" * LONGEST) == "a" * LONGEST
    assert shortened("a" * 2 * LONGEST) == "a" * 80 + "…"


def test_a_sentence_too_long_keeps_its_beginning_and_its_end():
    message = str(UserError(f"a.tsv:1: {'word ' * 1000}; correct it."))
    assert message.startswith("a.tsv:1: word word")
    assert message.endswith("; correct it.")
    assert len(message) <= MOST


def test_each_line_of_a_message_is_cut_by_itself():
    lines = str(UserError("\n".join(["a " * 2000, "b " * 2000]))).split("\n")
    assert [line[0] for line in lines] == ["a", "b"]
    assert {len(line) for line in lines} == {MOST}


def test_a_long_list_is_cut_after_its_sixth_word():
    names = ", ".join(f"model-{number:03}" for number in range(100))
    cut = shortened(f"No model 'x'; expected one of {names}.")
    assert cut.endswith("model-005, … (93 more), model-099.")


def test_a_list_stays_whole_in_a_short_sentence():
    sentence = f"expected one of {', '.join('abcdefghijkl')}"
    assert shortened(sentence) == sentence
