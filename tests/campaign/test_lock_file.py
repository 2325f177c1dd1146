"""Test that many jobs at a time record open cells of a table once, in the file beside it."""

import subprocess
import sys
from typing import ClassVar

import pytest

from blimpworks.campaign.table_files import LockedRow, lock_path, read_lock, record
from blimpworks.errors import UserError


class Locked(LockedRow):
    key: ClassVar = ("name", "asked")
    name: str
    asked: str
    digest: str


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "config" / "things.tsv"
    path.parent.mkdir()
    path.write_text("name\n")
    return path


def row(name="b", digest="1"):
    return Locked(name=name, asked="main", digest=digest)


def test_the_first_to_record_is_right_unless_it_is_to_be_replaced(table):
    assert read_lock(Locked, table) == {}
    record(row(), table)
    assert record(row(digest="9"), table).digest == "1"
    assert record(row(digest="9"), table, replace=True).digest == "9"
    assert [each.digest for each in read_lock(Locked, table).values()] == ["9"]


@pytest.mark.parametrize("cell", ["1\n2", "1\t2", "1\x00"])
def test_no_row_has_a_line_break_or_tab(cell):
    with pytest.raises(ValueError, match="another control character"):
        row(digest=cell)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("name\tasked\na\tmain\n", "lock.tsv:1: there is no column digest"),
        ("name\tasked\tdigest\na\tmain\n", "lock.tsv:2: 2 cells, but 3 headings"),
        ("name\tasked\tdigest\na\tmain\t1", "lock.tsv:2: the line has no end"),
        ("name\tasked\tdigest\n" + 2 * "a\tmain\t1\n", "lock.tsv:3: a second row of ('a', 'main')"),
    ],
)
def test_a_malformed_lock_file_says_where(table, text, fault):
    lock_path(table).write_text(text)
    with pytest.raises(UserError, match=fault.replace("(", r"\(").replace(")", r"\)")):
        read_lock(Locked, table)


def test_a_catalogue_of_others_is_read_and_a_lock_written_here(table, tmp_path, monkeypatch):
    record(row("a"), table)
    record(row("b"), table)
    theirs = lock_path(table).read_text()
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    record(row("c"), table)
    record(row("a", "7"), table, replace=True)
    assert (tmp_path / "here/config/things.lock.tsv").exists()
    digests = {name: row.digest for (name, _), row in read_lock(Locked, table).items()}
    assert digests == {"a": "7", "b": "1", "c": "1"}
    monkeypatch.undo()
    assert table.with_name("things.lock.tsv").read_text() == theirs


MANY = """
import sys
from pathlib import Path
from blimpworks.campaign.table_files import LockedRow, record
class Locked(LockedRow):
    key = ("name", "asked")
    name: str
    asked: str
    digest: str
for number in range(20):
    name = str(number % 10) if number % 2 else sys.argv[2] + str(number)
    record(Locked(name=name, asked="main", digest=sys.argv[2]), Path(sys.argv[1]))
"""


def test_no_row_is_lost_where_many_write_at_once(table):
    commands = [[sys.executable, "-c", MANY, table, writer] for writer in "abc"]
    running = [subprocess.Popen(command) for command in commands]
    assert [each.wait(60) for each in running] == [0, 0, 0]
    assert len(read_lock(Locked, table)) == 3 * 10 + 5
    assert [p.name for p in table.parent.glob("*.tmp")] == []
