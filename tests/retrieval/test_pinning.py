"""Filling in the checksums of catalogue rows."""

import lzma
from hashlib import sha256

import pytest
from typer.testing import CliRunner

from blimpworks.cli import app
from blimpworks.errors import UserError
from blimpworks.retrieval import pinning
from blimpworks.retrieval.sources import LockedFile, record_file
from support.loopback import COMMIT, DATA

HEADER = "name\tkind\tlang\tversion\tsha256\tbytes\tlicence\turl\tmirror"


def row(name, url, digest="", size="", version="v1"):
    return f"{name}\ttext\teng\t{version}\t{digest}\t{size}\tCC BY “4.0”\t{url}\t{name}"


@pytest.fixture
def table(tmp_path, server):
    base = server.url.partition("/o/")[0]
    lines = [
        HEADER,
        row("b", server.url),
        row("done", server.url, "a" * 64, "7"),
        row("a", server.url),
        row("moving", f"{base}/o/r/HEAD/v1.2.txt"),
    ]
    path = tmp_path / "sources.tsv"
    path.write_bytes("\r\n".join([*lines, ""]).encode())
    return path


def test_pin_fills_two_cells_and_nothing_else(table, server):
    before = table.read_bytes()
    done = CliRunner().invoke(app, ["pin", str(table), "a"], catch_exceptions=False)
    digest = sha256(DATA).hexdigest()
    assert done.stdout == f"a\t{digest}\t{len(DATA)}\n"
    filled = row("a", server.url, digest, len(DATA)).encode()
    assert table.read_bytes() == before.replace(row("a", server.url).encode(), filled)
    assert [p.name for p in table.parent.iterdir()] == ["sources.tsv"]


def test_a_table_with_commas_is_filled_too(tmp_path, server):
    path = tmp_path / "sources.csv"
    cells = row("a", server.url).replace("\t", ",").replace("CC BY", '"CC BY, and') + "\n"
    path.write_text(HEADER.replace("\t", ",") + "\n" + cells.replace("4.0”", '4.0”"'))
    done = CliRunner().invoke(app, ["pin", str(path)], catch_exceptions=False)
    assert done.stdout == f"a\t{sha256(DATA).hexdigest()}\t{len(DATA)}\n"
    assert pinning._pins(path)[0].sha256 == sha256(DATA).hexdigest()
    assert '"CC BY, and “4.0”"' in path.read_text()


def test_a_table_with_line_breaks_in_cells_is_left_alone(tmp_path, server):
    path = tmp_path / "sources.csv"
    lines = [HEADER, row("a", server.url), row("b", server.url), row("c", server.url)]
    text = "\n".join(lines).replace("\t", ",").replace("CC BY", '"CC\nBY', 1)
    text = text.replace("”,", '”",', 1)
    path.write_text(text + "\n")
    with pytest.raises(UserError, match="has line breaks in cells"):
        pinning.pin_row(path, "c")
    assert path.read_text() == text + "\n"


def test_another_file_than_was_first_retrieved_is_not_pinned(table, server, monkeypatch):
    monkeypatch.chdir(table.parent)
    first = LockedFile(name="a", verified="MD5 0", url=server.url, sha256="0" * 64, bytes=7)
    record_file(first, table)
    before = table.read_bytes()
    with pytest.raises(UserError, match=r"lock.tsv recorded when it was first retrieved"):
        pinning.pin_row(table, "a")
    assert table.read_bytes() == before


def test_pin_a_treebank(tmp_path, server):
    header = "lang\ttreebank\tfile\tversion\tcommit\tsha256\tbytes\tlicence\turl\tmirror\n"
    line = f"cym\tUD_Welsh-CCG\tt.conllu\tr2.15\t{COMMIT}\t%s\t%s\tCC\t{server.url}\tud/t.conllu\n"
    table = tmp_path / "treebanks.tsv"
    table.write_text(header + line % ("", ""))
    pinning.pin_row(table, "ud/UD_Welsh-CCG/t.conllu")
    assert table.read_text() == header + line % (sha256(DATA).hexdigest(), len(DATA))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("dome", "has no row 'dome'; did you mean done?"),
        ("done", "already has SHA-256"),
        ("moving", "expected one with a 40-digit commit or a version"),
    ],
)
def test_what_pin_refuses(table, server, name, said):
    before = table.read_bytes()
    with pytest.raises(UserError) as caught:
        pinning.pin_row(table, name)
    assert said in str(caught.value)
    assert table.read_bytes() == before
    assert server.ranges_requested == []


def test_a_failed_pin_changes_nothing(table, server):
    before = table.read_bytes()
    server.statuses = [404]
    with pytest.raises(UserError, match="HTTP 404"):
        pinning.pin_row(table, "a")
    assert table.read_bytes() == before


@pytest.mark.parametrize(
    ("path", "fixed"),
    [
        (f"o/r/{COMMIT}/x", True),
        ("download/ud-treebanks-v2.16.tgz", True),
        ("o/r/refs/tags/r2.15/x", True),
        ("o/r/main/x-1.2", False),
        ("o/r/HEAD/x", False),
        ("x", False),
    ],
)
def test_fixed_addresses(path, fixed):
    assert pinning.is_fixed(f"http://127.0.0.1/{path}") is fixed


def test_rows_that_cannot_be_pinned_are_not_passed_over_in_silence(tmp_path):
    path = tmp_path / "sources.tsv"
    path.write_text("\n".join([HEADER, row("mine.txt", "")]) + "\n", encoding="utf-8")
    done = CliRunner().invoke(app, ["pin", str(path)], catch_exceptions=False)
    assert "without a checksum: 1, such as mine.txt" in done.output


@pytest.mark.parametrize("compressed", [False, True])
def test_a_file_of_ones_own_is_pinned_from_its_directory(tmp_path, compressed):
    path, mine = tmp_path / "sources.tsv", tmp_path / "mine"
    path.write_text("\n".join([HEADER, row("mine.txt", "")]) + "\n", encoding="utf-8")
    [pin] = pinning._pins(path)
    copy = mine / f"{pin.mirror}{'.xz' if compressed else ''}"
    copy.parent.mkdir(parents=True)
    copy.write_bytes(lzma.compress(DATA) if compressed else DATA)
    done = CliRunner().invoke(app, ["pin", str(path), "--mirror", str(mine)])
    assert done.output == f"mine.txt\t{sha256(DATA).hexdigest()}\t{len(DATA)}\n"
    assert pinning._pins(path)[0].sha256 == sha256(DATA).hexdigest()
