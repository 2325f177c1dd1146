"""Test that an error in a file is one short sentence that names the file."""

import csv
import json

import pyarrow.parquet as pq
import pytest

from blimpworks.errors import LONGEST_SENTENCE, LONGEST_UNSHORTENED, UserError, reading, shortened


def message_of(path, read):
    with pytest.raises(UserError) as caught, reading(path, "a thing", "Mend it."):
        read(path)
    message = str(caught.value)
    assert len(message.replace(str(path), "")) <= LONGEST_UNSHORTENED
    assert "\n" not in message
    assert message.endswith("; expected a thing. Mend it.")
    return message


def text(path):
    return path.read_text(encoding="utf-8")


def parsed(path):
    return json.loads(text(path))


def cells(path):
    return list(csv.reader([text(path)]))


@pytest.mark.parametrize(
    ("name", "content", "read", "fault"),
    [
        ("", None, text, " is a directory;"),
        ("file/b", None, text, "/file/b is below a file, not a directory;"),
        ("a", None, text, "/a does not exist;"),
        ("loop", None, text, "/loop is a link to itself;"),
        ("a\0b", None, text, r"/a\0b: embedded null byte;"),
        ("a" * 300, None, text, "/aaa"),
        ("a", b"[" * 100_000, parsed, "/a: values are nested too deeply;"),
        ("a", b'{\n"a" 1}', parsed, "/a:2: Expecting ':'"),
        ("a", b"x" * 140_000, cells, "/a: field larger than field limit"),
        ("a", b"PAR1" + b"\xff" * 100 + b"PAR1", pq.ParquetFile, "/a: "),
    ],
)
def test_what_is_wrong_with_a_file_is_told(tmp_path, name, content, read, fault):
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    if content is not None:
        (tmp_path / name).write_bytes(content)
    assert message_of(tmp_path / name, read).startswith(f"{tmp_path}{fault}")


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1", "cp1251"])
def test_another_encoding_is_named_as_none(tmp_path, encoding):
    path = tmp_path / "a"
    path.write_bytes("жé"[encoding == "latin-1" :].encode(encoding, "ignore"))
    assert f"{path} is not in UTF-8 (" in message_of(path, text)


def test_a_full_disk_is_no_fault_of_the_file(tmp_path):
    with pytest.raises(OSError, match="full"), reading(tmp_path, "a thing", "Mend it."):
        raise OSError(28, "full")


NAMES = [f"model-{number:03}" for number in range(100)]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        (f"a.tsv:1: '{'x' * 999}' is no; mend it.", f"a.tsv:1: '{'x' * 79}… is no; mend it."),
        ("a" * LONGEST_UNSHORTENED, "a" * LONGEST_UNSHORTENED),
        ("a" * 2 * LONGEST_UNSHORTENED, "a" * 80 + "…"),
        (f"One of {', '.join(NAMES)}.", f"One of {', '.join(NAMES[:6])}, … (93 more), model-099."),
        # A list in a short sentence stays complete.
        (f"One of {', '.join('abcdefghijkl')}", f"One of {', '.join('abcdefghijkl')}"),
    ],
)
def test_long_values_and_lists_are_cut_and_the_rest_of_a_sentence_stays(sentence, expected):
    assert shortened(sentence) == expected


def test_a_sentence_too_long_keeps_its_beginning_and_its_end():
    message = str(UserError(f"a.tsv:1: {'word ' * 1000}; correct it."))
    assert message.startswith("a.tsv:1: word word")
    assert message.endswith("; correct it.")
    assert len(message) <= LONGEST_SENTENCE


def test_each_line_of_a_message_is_cut_by_itself():
    lines = str(UserError("\n".join(["a " * 2000, "b " * 2000]))).split("\n")
    assert [line[0] for line in lines] == ["a", "b"]
    assert {len(line) for line in lines} == {LONGEST_SENTENCE}
