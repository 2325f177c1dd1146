"""Pinned files out of one archive: only those, only where they belong, only as pinned."""

import hashlib
import io
import tarfile
from hashlib import sha256
from pathlib import Path

import pytest
from typer.testing import CliRunner

from blimpworks.campaign.catalogue import TreebankRow
from blimpworks.campaign.table_files import read_rows
from blimpworks.cli import app
from blimpworks.errors import UserError
from blimpworks.retrieval import archive
from blimpworks.retrieval.archive import ArchiveRow, fetch_archive, pins_of
from blimpworks.retrieval.sources import Pin, retrieve
from support.loopback import COMMIT, serving
from support.paths import REPOSITORY

CONTENTS = {
    f"UD_A-B/{part}.conllu": f"# {part}\n".encode() * 500 for part in ("train", "dev", "test")
}
HEADER = "lang\ttreebank\tfile\tversion\tcommit\tsha256\tgit_blob\tbytes\tlicence\turl\tmirror\n"


def tgz(members):
    """An archive of files by name; a string is what a symbolic link leads to."""
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
    """Members of a release that has all files, and others."""
    files = {f"ud-v1/{name}": content for name, content in CONTENTS.items()}
    files |= {"ud-v1/UD_A-B/README.md": b"# read me", "ud-v1/../../escaped": b"x"}
    return [*(files | changed).items()]


def git_blob(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


@pytest.fixture
def catalogue():
    """Rows of which one is pinned by its git blob."""
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
    path.write_text(HEADER + "".join(lines))
    return path


def pins(catalogue):
    return pins_of(read_rows(TreebankRow, catalogue), catalogue)


def row(url="https://example.org/ud.tgz"):
    return ArchiveRow(name="ud-v1", url=url, members="ud-v1", mirror="ud/v1", note="")


def taken_from(members, catalogue, mirror=Path("mirror")):
    path = Path("ud.tgz")
    path.write_bytes(members if isinstance(members, bytes) else tgz(members))
    return fetch_archive(row(), pins(catalogue), mirror, path)


def names(mirror=Path("mirror")):
    return sorted(p.relative_to(mirror).as_posix() for p in mirror.rglob("*") if p.is_file())


def test_one_download_fills_a_mirror(catalogue):
    with serving() as server:
        server.body = tgz(release())
        server.cuts = [len(server.body) // 2]
        table = Path("archives.tsv")
        cells = row(server.url).model_dump()
        table.write_text("\t".join(cells) + "\n" + "\t".join(cells.values()) + "\n")
        options = ["--catalogue", str(catalogue), "--archives", str(table)]
        command = ["fetch-archive", "ud-v1", "mirror", *options]
        done = CliRunner().invoke(app, command, catch_exceptions=False)
        assert done.output == "3 files taken, 0 were there\n"
        server.ranges_requested.clear()
        again = CliRunner().invoke(app, command, catch_exceptions=False)
        assert again.output == "0 files taken, 3 were there\n"
        assert server.ranges_requested == []
    assert names() == sorted(f"ud/v1/{name}" for name in CONTENTS)
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
    assert "ud/v1/UD_A-B/test.conllu" not in names()


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
        fetch_archive(row(), pins(catalogue), Path("mirror"), Path(path))


def test_a_mirror_is_a_directory(catalogue):
    Path("mirror").write_text("precious")
    with pytest.raises(UserError, match="mirror is no directory"):
        taken_from(release(), catalogue)
    assert Path("mirror").read_text() == "precious"


def test_an_archive_that_unpacks_without_end_is_left(catalogue, monkeypatch):
    monkeypatch.setattr(archive, "MOST", 1000)
    with pytest.raises(UserError, match="unpacks to more than 1,000 bytes"):
        taken_from(release(), catalogue)


def test_all_pinned_treebanks_of_the_catalogue_are_of_the_archive():
    [ud] = read_rows(ArchiveRow, REPOSITORY / "config/archives.tsv")
    table = REPOSITORY / "config/treebanks.tsv"
    rows = read_rows(TreebankRow, table)
    pinned: list[Pin] = pins_of(rows, table)
    assert len(pinned) == len(rows)
    assert all(pin.mirror.startswith(f"{ud.mirror}/UD_") for pin in pinned)
