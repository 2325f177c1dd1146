"""Several commands in one process write what they write alone."""

import json
import shlex
import subprocess
import sys
from hashlib import sha256

import pytest

from blimpworks.commands.registry import command_lines


@pytest.fixture
def mirror(tmp_path):
    """A directory with two files that can be retrieved."""
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text(f"{name}\n", encoding="utf-8")
    return tmp_path


def retrieve(mirror, name, digest=""):
    """The command that retrieves a file of the mirror."""
    digest = digest or sha256((mirror / f"{name}.txt").read_bytes()).hexdigest()
    arguments = ["retrieve", f"--name={name}", "--url=https://a.example/a", f"--sha256={digest}"]
    arguments += ["--bytes=", f"--mirror-path={name}.txt", f"--mirror={mirror}"]
    return shlex.join([*arguments, f"--output={mirror}/out/{name}.txt"])


def in_turn(*commands):
    """Run them in a process of their own."""
    command = [sys.executable, "-m", "blimpworks", "in-turn", *commands]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def record_of(path):
    """The record of a product, without when it was made."""
    record = json.loads((path.parent / f"{path.name}.prov.json").read_text("utf-8"))
    return {k: v for k, v in record.items() if k not in ("started", "ended", "sha256")}


def test_each_writes_its_product_and_the_record_it_has_alone(mirror):
    lines = [retrieve(mirror, name) for name in "ab"]
    done = in_turn(*lines)
    assert done.returncode == 0, done.stderr
    products = [mirror / f"out/{name}.txt" for name in "ab"]
    together = [record_of(path) for path in products]
    assert [path.read_text("utf-8") for path in products] == ["a\n", "b\n"]
    for line, path in zip(lines, products, strict=True):
        path.unlink()
        subprocess.run([sys.executable, "-m", "blimpworks", *shlex.split(line)], check=True)
    assert [record_of(path) for path in products] == together


def test_the_first_that_fails_ends_it_and_keeps_what_is_done(mirror):
    done = in_turn(
        retrieve(mirror, "a"), retrieve(mirror, "b", "0" * 64), retrieve(mirror, "missing", "1")
    )
    assert done.returncode == 2
    assert "b.txt" in done.stderr
    assert "missing" not in done.stderr
    assert [path.name for path in (mirror / "out").glob("*.txt")] == ["a.txt"]


def test_a_command_line_stands_for_itself_or_for_those_it_runs():
    assert command_lines(["judge", "a b"]) == [["judge", "a b"]]
    assert command_lines(["in-turn", "judge 'a b'", "score c"]) == [
        ["judge", "a b"],
        ["score", "c"],
    ]
    assert command_lines([]) == [[]]


def test_a_command_with_an_open_quote_is_refused_in_one_sentence():
    done = in_turn("judge 'a")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        'blimpworks: in-turn: "judge \'a" is no command line (No closing quotation); quote it as '
        "for a shell."
    ]
