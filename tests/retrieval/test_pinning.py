"""Test how checksums of catalogue rows are filled in, and pinned files taken from an archive."""

import hashlib
import io
import lzma
import tarfile
from hashlib import sha256
from pathlib import Path

import pytest
from typer.testing import CliRunner

from blimpworks.campaign.catalogue import TreebankRow
from blimpworks.campaign.table_files import read_rows
from blimpworks.cli import app
from blimpworks.errors import UserError
from blimpworks.retrieval import pinning
from blimpworks.retrieval.pinning import ArchiveRow, fetch_archive, pins_of
from blimpworks.retrieval.sources import LockedFile, Pin, record_file, retrieve
from support.loopback import COMMIT, DATA, serving
from support.paths import REPOSITORY

HEADER = "name\tkind\tlang\tversion\tsha256\tbytes\tlicence\turl\tmirror"


def row(name, url, digest="", size="", version="v1"):
    return f"{name}\ttext\teng\t{version}\t{digest}\t{size}\tCC BY “4.0”\t{url}\t{name}"


@pytest.fixture
def table(tmp_path, server):
    moving = f"{server.url.partition('/o/')[0]}/o/r/HEAD/v1.2.txt"
    lines = [HEADER, row("b", server.url), row("done", server.url, "a" * 64, "7")]
    lines += [row("a", server.url), row("moving", moving)]
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


@pytest.fixture
def mine(tmp_path):
    """Write a table with a file of the user's own, which has no address."""
    path = tmp_path / "sources.tsv"
    path.write_text(f"{HEADER}\n{row('mine.txt', '')}\n", encoding="utf-8")
    return path


def test_rows_that_cannot_be_pinned_are_not_passed_over_in_silence(mine):
    done = CliRunner().invoke(app, ["pin", str(mine)], catch_exceptions=False)
    assert "without a checksum: 1, such as mine.txt" in done.output


@pytest.mark.parametrize("compressed", [False, True])
def test_a_file_of_ones_own_is_pinned_from_its_directory(mine, tmp_path, compressed):
    copy = tmp_path / f"mine.txt{'.xz' if compressed else ''}"
    copy.write_bytes(lzma.compress(DATA) if compressed else DATA)
    done = CliRunner().invoke(app, ["pin", str(mine), "--mirror", str(tmp_path)])
    assert done.output == f"mine.txt\t{sha256(DATA).hexdigest()}\t{len(DATA)}\n"
    assert pinning._pins(mine)[0].sha256 == sha256(DATA).hexdigest()


def test_a_compressed_file_is_pinned_as_it_is_retrieved(mine, tmp_path):
    packed = lzma.compress(DATA)
    mine.write_text(mine.read_text("utf-8").replace("mine.txt", "a.xz"), "utf-8")
    (tmp_path / "a.xz").write_bytes(packed)
    filled = pinning.pin_row(mine, "a.xz", mirror=tmp_path)
    assert filled.sha256 == sha256(packed).hexdigest()
    assert retrieve(filled, tmp_path / "copy", tmp_path) == "a.xz"


PARTS = ("train", "dev", "test")
CONTENTS = {f"UD_A-B/{part}.conllu": f"# {part}\n".encode() * 500 for part in PARTS}
TREEBANKS = "lang\ttreebank\tfile\tversion\tcommit\tsha256\tgit_blob\tbytes\tlicence\turl\tmirror\n"


def tgz(members):
    """Return an archive of files by name; a string is the target of a symbolic link."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, content in members:
            member = tarfile.TarInfo(name)
            if isinstance(content, str):
                member.type, member.linkname = tarfile.SYMTYPE, content
                tar.addfile(member)
            else:
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def release(**changed):
    """Return members of a release with all files, and others."""
    files = {f"ud-v1/{name}": content for name, content in CONTENTS.items()}
    files |= {"ud-v1/UD_A-B/README.md": b"# read me", "ud-v1/../../escaped": b"x"}
    return [*(files | changed).items()]


def git_blob(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


@pytest.fixture
def catalogue():
    """Write rows of which one is pinned by its git blob; return the table's path."""
    lines = []
    for name, content in CONTENTS.items():
        part = Path(name).name
        by = (
            ("", git_blob(content), "")
            if "dev" in name
            else (sha256(content).hexdigest(), "", str(len(content)))
        )
        cells = ["aaa", "UD_A-B", part, "v1", COMMIT, *by, "CC0", "", f"ud/v1/{name}"]
        lines.append("\t".join(cells) + "\n")
    path = Path("treebanks.tsv")
    path.write_text(TREEBANKS + "".join(lines))
    return path


def pins(catalogue):
    return pins_of(read_rows(TreebankRow, catalogue), catalogue)


def archive_row(url="https://example.org/ud.tgz"):
    return ArchiveRow(name="ud-v1", url=url, members="ud-v1", mirror="ud/v1", note="")


def taken_from(members, catalogue, mirror=Path("mirror")):
    path = Path("ud.tgz")
    path.write_bytes(members if isinstance(members, bytes) else tgz(members))
    return fetch_archive(archive_row(), pins(catalogue), mirror, path)


def mirrored_names(mirror=Path("mirror")):
    return sorted(p.relative_to(mirror).as_posix() for p in mirror.rglob("*") if p.is_file())


def test_one_download_fills_a_mirror(catalogue):
    with serving() as server:
        server.body = tgz(release())
        server.cuts = [len(server.body) // 2]
        table = Path("archives.tsv")
        cells = archive_row(server.url).model_dump()
        table.write_text("\t".join(cells) + "\n" + "\t".join(cells.values()) + "\n")
        options = ["--catalogue", str(catalogue), "--archives", str(table)]
        command = ["fetch-archive", "ud-v1", "mirror", *options]
        done = CliRunner().invoke(app, command, catch_exceptions=False)
        assert done.output == "3 files taken, 0 were there\n"
        server.ranges_requested.clear()
        again = CliRunner().invoke(app, command, catch_exceptions=False)
        assert again.output == "0 files taken, 3 were there\n"
        assert server.ranges_requested == []
    assert mirrored_names() == sorted(f"ud/v1/{name}" for name in CONTENTS)
    assert not Path("escaped").exists()
    # The same code reads it as any mirror.
    for pin in pins(catalogue):
        assert retrieve(pin, Path("out", pin.name), Path("mirror")) == pin.mirror
        assert Path("out", pin.name).read_bytes() == CONTENTS[pin.mirror.removeprefix("ud/v1/")]
    dev = sha256(CONTENTS["UD_A-B/dev.conllu"]).hexdigest()
    assert dev in Path("treebanks.lock.tsv").read_text()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (CONTENTS["UD_A-B/test.conllu"][:-1] + b"?", "has SHA-256"),
        (CONTENTS["UD_A-B/test.conllu"] + b"?", "has 3,501 bytes there"),
        ("/etc/passwd", "is no file there"),
    ],
    ids=["altered", "larger", "link"],
)
def test_what_is_not_the_pinned_file_is_not_taken(catalogue, content, said):
    outcome = taken_from(release(**{"ud-v1/UD_A-B/test.conllu": content}), catalogue)
    [problem] = outcome.differing
    assert problem.startswith("ud/UD_A-B/test.conllu ")
    assert said in problem
    assert len(outcome.taken) == 2
    assert "ud/v1/UD_A-B/test.conllu" not in mirrored_names()


def test_what_the_archive_lacks_is_named(catalogue):
    outcome = taken_from([each for each in release() if "dev" not in each[0]], catalogue)
    assert outcome.absent == ["ud/UD_A-B/dev.conllu"]


@pytest.mark.parametrize("damage", [lambda whole: whole[:-300], lambda _: b"<html>no archive"])
def test_a_broken_archive_is_refused(catalogue, damage):
    with pytest.raises(UserError, match=r"ud.tgz is no whole tar archive"):
        taken_from(damage(tgz(release()[::-1])), catalogue)


@pytest.mark.parametrize("path", ["absent.tgz", "mirror"])
def test_what_is_no_file_is_no_archive(catalogue, path):
    with pytest.raises(UserError, match=f"{path} is no file, expected a tar archive"):
        fetch_archive(archive_row(), pins(catalogue), Path("mirror"), Path(path))


def test_a_mirror_is_a_directory(catalogue):
    Path("mirror").write_text("precious")
    with pytest.raises(UserError, match="mirror is no directory"):
        taken_from(release(), catalogue)
    assert Path("mirror").read_text() == "precious"


def test_an_archive_that_unpacks_without_end_is_left(catalogue, monkeypatch):
    monkeypatch.setattr(pinning, "UNPACKED_LIMIT", 1000)
    with pytest.raises(UserError, match="unpacks to more than 1,000 bytes"):
        taken_from(release(), catalogue)


def test_all_pinned_treebanks_of_the_catalogue_are_of_the_archive():
    [ud] = read_rows(ArchiveRow, REPOSITORY / "config/archives.tsv")
    table = REPOSITORY / "config/treebanks.tsv"
    rows = read_rows(TreebankRow, table)
    pinned: list[Pin] = pins_of(rows, table)
    assert len(pinned) == len(rows)
    assert all(pin.mirror.startswith(f"{ud.mirror}/UD_") for pin in pinned)
