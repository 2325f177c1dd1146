"""What `check` need not read again, and what it notices all the same."""

import os
from pathlib import Path

import pytest

from blimpworks.audit import check as checking
from blimpworks.audit.check import REMEMBERED as FILE
from blimpworks.audit.check import Remembered, audit
from blimpworks.audit.stale import ROOM, command_lines
from blimpworks.cli import run_here
from blimpworks.commands.registry import recorded_commands
from blimpworks.files import write_text
from blimpworks.records.job import Job

PRODUCT = Path("results/a.txt")


@pytest.fixture
def checked(tmp_path, monkeypatch):
    """A product and a file that it was made from, after a check."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(checking, "SETTLED", -1)  # they are younger than a file has to be
    write_text(Path("in.txt"), "in\n")
    command = recorded_commands()["sample_items"]
    with Job(command, inputs=[Path("in.txt")], outputs=[PRODUCT], params={}):
        write_text(PRODUCT, "out\n")
    assert check().unread == 0


def check():
    """An audit like the command's."""
    memory = Remembered()
    result = audit(Path("results"), remembered=memory)
    memory.keep()
    return result


def problems(result):
    return [(f.problem, str(f.path)) for f in result.findings]


def test_untouched_files_are_not_read_again(checked):
    result = check()
    assert (problems(result), result.unread) == ([], 2)


def test_an_edit_that_keeps_size_and_date_is_noticed(checked):
    times = PRODUCT.stat()
    PRODUCT.write_text("0ut\n")
    os.utime(PRODUCT, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert PRODUCT.stat().st_mtime_ns == times.st_mtime_ns
    assert problems(check()) == [("altered", "results/a.txt")]


def test_a_forged_memory_deceives_no_full_check(checked, capsys):
    PRODUCT.write_text("forged\n")
    about = PRODUCT.stat()
    state = f"{about.st_size} {about.st_ino} {about.st_mtime_ns} {about.st_ctime_ns}"
    memory = FILE.read_text().split('"results/a.txt": "')[1].split('"')[0]
    forged = f"{state} {memory.rpartition(' ')[2]}"
    FILE.write_text(FILE.read_text().replace(memory, forged))
    assert problems(check()) == []
    run_here(["check", "results", "--full"])
    assert "altered: results/a.txt" in capsys.readouterr().out


@pytest.mark.parametrize("damage", ["", "[]", '{"results/a.txt": 7}', '{"results/a.txt": "1 2"}'])
def test_a_damaged_memory_is_none(checked, damage):
    FILE.write_text(damage)
    assert problems(check()) == []


def test_files_that_may_change_within_a_tick_of_the_clock_are_read_again(checked, monkeypatch):
    monkeypatch.setattr(checking, "SETTLED", 10**18)
    FILE.unlink()
    assert check().unread == check().unread == 0


def test_more_products_than_a_command_line_can_name_are_taken_over_in_parts():
    names = [f"results/exhibits/table-{number:06d}.csv" for number in range(100_000)]
    parts = [*command_lines(names)]
    assert len(parts) > 1
    assert [name for part in parts for name in part] == names
    assert all(sum(len(name) + 1 for name in part) <= ROOM for part in parts)
    assert [*command_lines([])] == []
