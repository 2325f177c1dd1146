"""Test pins verified by git blob id or by statements of archives, and pins of several addresses."""

import errno
import hashlib
import json
import lzma
import subprocess
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from blimpworks.campaign.addresses import checksum_source
from blimpworks.campaign.catalogue import SourceRow, TreebankRow
from blimpworks.campaign.table_files import read_rows
from blimpworks.errors import UserError
from blimpworks.retrieval import download, pinning, sources
from blimpworks.retrieval.preflight import obstacles
from blimpworks.retrieval.sources import git_blob_of
from support.loopback import COMMIT, DATA, serving
from support.paths import REPOSITORY

BLOB = hashlib.sha1(f"blob {len(DATA)}\0".encode() + DATA, usedforsecurity=False).hexdigest()
MD5 = hashlib.md5(DATA, usedforsecurity=False).hexdigest()
DIGEST = sha256(DATA).hexdigest()
COLUMNS = "name\tverified\turl\tsha256\tbytes\n"


@pytest.fixture
def pin(server):
    return sources.Pin("x.txt", server.url, "", None, "x.txt", "config/sources.tsv", BLOB)


TABLE, OUTPUT = Path("config/sources.tsv"), Path("out/x.txt")
LOCK = TABLE.with_name("sources.lock.tsv")


def locked(name, verified, url, digest, size):
    return sources.LockedFile(name=name, verified=verified, url=url, sha256=digest, bytes=size)


def refuse(pin, mirror=None):
    with pytest.raises(UserError) as caught:
        sources.retrieve(pin, OUTPUT, mirror)
    assert not OUTPUT.exists()
    return str(caught.value)


def at(server, path):
    return f"{server.url.partition('/o/')[0]}{path}"


def states_on_zenodo(server, **changed):
    """Return a pin of a file in a record that states its MD5."""
    file = {"key": "x y.txt", "size": len(DATA), "checksum": f"md5:{MD5}"} | changed
    answer = {"id": 7, "files": [{"key": "other", "size": 1, "checksum": "md5:" + "0" * 32}, file]}
    server.pages["/api/records/7"] = json.dumps(answer).encode()
    url = at(server, "/record/7/files/x%20y.txt?download=1")
    return sources.Pin("x.txt", url, "", None, "x.txt", "config/sources.tsv")


def states_on_the_hub(server, **changed):
    """Return a pin of a file of a data set, whose folder the hub lists."""
    files = [{"type": "directory", "path": "abk/more", "oid": "0" * 40}]
    files += [{"type": "file", "path": "abk/x.tsv", "size": len(DATA), "oid": BLOB} | changed]
    server.pages[f"/api/datasets/lab/set/tree/{COMMIT}/abk"] = json.dumps(files).encode()
    url = at(server, f"/datasets/lab/set/resolve/{COMMIT}/abk/x.tsv")
    return sources.Pin("x.txt", url, "", None, "x.txt", "config/sources.tsv")


def test_a_blob_id_is_what_git_says(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(DATA)
    said = subprocess.run(["git", "hash-object", path], capture_output=True, text=True, check=True)
    assert git_blob_of(path) == said.stdout.strip() == BLOB


def test_a_file_is_verified_by_its_blob_id_and_its_sha256_recorded(pin, server):
    assert sources.retrieve(pin, OUTPUT, None) == server.url
    assert OUTPUT.read_bytes() == DATA
    row = f"x.txt\tgit blob id {BLOB}\t{server.url}\t{DIGEST}\t{len(DATA)}\n"
    assert LOCK.read_text() == COLUMNS + row


def test_so_is_a_file_of_a_mirror_without_network(pin, tmp_path, monkeypatch):
    monkeypatch.setenv("BLIMPWORKS_OFFLINE", "1")
    (tmp_path / "x.txt.xz").write_bytes(lzma.compress(DATA))
    assert sources.retrieve(pin, OUTPUT, tmp_path) == "x.txt.xz"
    assert pin.checksums[-1].digest == DIGEST


def test_another_file_is_refused_and_not_recorded(pin, server):
    server.body = DATA[:-1] + b"?"
    assert f", expected {BLOB}" in refuse(pin)
    assert not LOCK.exists()


def test_a_file_with_the_blob_id_and_another_sha256_than_recorded_is_refused(pin, server):
    LOCK.parent.mkdir()
    row = f"x.txt\tgit blob id {BLOB}\t{server.url}\t{'f' * 64}\t{len(DATA)}\n"
    LOCK.write_text(COLUMNS + row)
    sentence = refuse(pin)
    assert f"has SHA-256 {DIGEST}, expected {'f' * 64}, which sources.lock.tsv recorded" in sentence
    assert LOCK.read_text() == COLUMNS + row


def test_a_new_version_in_the_catalogue_is_recorded_beside_the_old(pin, server):
    sources.retrieve(replace(pin, git_blob=BLOB), OUTPUT, None)
    server.body = b"newer"
    newer = hashlib.sha1(b"blob 5\0newer", usedforsecurity=False).hexdigest()
    sources.retrieve(replace(pin, git_blob=newer), OUTPUT, None)
    assert OUTPUT.read_bytes() == b"newer"
    assert [line.split("\t")[1] for line in LOCK.read_text().splitlines()[1:]] == sorted(
        f"git blob id {each}" for each in (BLOB, newer)
    )


def test_two_jobs_that_received_different_files_are_not_both_believed():
    sources.record_file(locked("x", "MD5 0", "u", "a" * 64, 1), TABLE)
    with pytest.raises(UserError, match="both with MD5 0; one of them is not the file"):
        sources.record_file(locked("x", "MD5 0", "u", "b" * 64, 1), TABLE)


def test_a_record_that_cannot_be_written_stops_no_retrieval(pin, caplog):
    LOCK.parent.write_text("where a directory should be")
    sources.retrieve(pin, OUTPUT, None)
    assert OUTPUT.read_bytes() == DATA
    assert f"not recorded that x.txt has SHA-256 {DIGEST}" in caplog.text


def test_pinning_checks_the_blob_id(server, tmp_path):
    table = tmp_path / "sources.tsv"
    header = "name\tkind\tlang\tversion\tsha256\tgit_blob\tbytes\tlicence\turl\tmirror\n"
    line = f"x.txt\ttext\teng\tv1\t%s\t{BLOB}\t%s\tCC0\t{server.url}\tx.txt\n"
    table.write_text(header + line % ("", ""))
    server.body = b"?"
    with pytest.raises(UserError, match=f"has git blob id [0-9a-f]{{40}}, expected {BLOB}"):
        pinning.pin_row(table, "x.txt")
    server.body = DATA
    pinning.pin_row(table, "x.txt")
    assert table.read_text() == header + line % (DIGEST, len(DATA))


def test_zenodo_states_the_md5_of_a_record_s_files(server):
    pin = states_on_zenodo(server)
    sources.retrieve(pin, OUTPUT, None)
    assert OUTPUT.read_bytes() == DATA
    assert f"\tMD5 {MD5}\t{pin.url}\t{DIGEST}\t" in LOCK.read_text()
    # Later runs ask no server.
    server.pages.clear()
    OUTPUT.unlink()
    sources.retrieve(pin, OUTPUT, None)


def test_the_hub_states_the_blob_id_of_a_small_file_and_the_sha256_of_a_large_one(server):
    small = states_on_the_hub(server)
    sources.retrieve(small, OUTPUT, None)
    assert f"\tgit blob id {BLOB}\t" in LOCK.read_text()
    LOCK.unlink()
    lfs = {"oid": DIGEST, "size": len(DATA), "pointerSize": 130}
    sources.retrieve(states_on_the_hub(server, oid="1" * 40, lfs=lfs), OUTPUT, None)
    assert f"\tSHA-256 {DIGEST}\t" in LOCK.read_text()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"checksum": "md5:" + "0" * 32}, "has MD5 "),
        ({"size": 7}, "has more bytes, expected 7, which 127.0.0.1"),
        ({"checksum": "crc32:00"}, "states no checksum of 'x y.txt'"),
        ({"checksum": "md5:short"}, "states no checksum of 'x y.txt'"),
        ({"key": "z.txt"}, "states no checksum of 'x y.txt'"),
    ],
)
def test_what_differs_from_the_statement_is_refused(server, changed, said):
    assert said in refuse(states_on_zenodo(server, **changed))
    assert not LOCK.exists()


def test_an_archive_that_does_not_answer_is_named(server, monkeypatch):
    pin = states_on_zenodo(server)
    server.pages.clear()
    server.body = b"<html>"
    assert "states no checksum of 'x y.txt'" in refuse(pin)
    server.statuses = [404]
    assert "has no such file (HTTP 404)" in refuse(pin)
    monkeypatch.setenv("BLIMPWORKS_OFFLINE", "1")
    assert "BLIMPWORKS_OFFLINE forbids the network" in refuse(pin)


@pytest.mark.parametrize(
    ("url", "api"),
    [
        ("https://zenodo.org/records/7/files/a.txt", "https://zenodo.org/api/records/7"),
        (
            f"https://huggingface.co/datasets/a/b/resolve/{COMMIT}/c.tsv",
            f"https://huggingface.co/api/datasets/a/b/tree/{COMMIT}",
        ),
        ("https://huggingface.co/datasets/a/b/resolve/main/c.tsv", None),
        ("https://zenodo.org.example/records/7/files/a.txt", None),
        ("https://example.org/record/7/files/a.txt", None),
        ("", None),
    ],
)
def test_which_archives_state_checksums(url, api):
    statement = checksum_source(url)
    assert (statement and statement.url) == api


def test_what_any_checksum_pins_is_no_obstacle(pin, server, tmp_path):
    unknown = replace(pin, git_blob="")
    by_archive = states_on_zenodo(server)
    assert obstacles([pin, by_archive], [], None, tmp_path) == []
    [said] = obstacles([pin, by_archive, unknown], [], None, tmp_path)
    assert said.startswith("no checksum: x.txt;")
    [said] = obstacles([pin, by_archive], [], None, tmp_path, "sha256")
    assert said.startswith("no checksum: 2 files, such as x.txt;")


def test_offline_a_file_of_a_mirror_lacks_its_archives_statement(server, tmp_path, monkeypatch):
    pin = states_on_zenodo(server)
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    (mirror / "x.txt").write_bytes(DATA)
    monkeypatch.setenv("BLIMPWORKS_OFFLINE", "1")
    [said] = obstacles([pin], [], mirror, tmp_path)
    assert "forbids the network, and only their archives state the checksums of x.txt;" in said
    sources.record_file(locked("x.txt", f"MD5 {MD5}", pin.url, DIGEST, len(DATA)), TABLE)
    assert obstacles([pin], [], mirror, tmp_path) == []
    LOCK.write_text("name\n")
    [said] = obstacles([pin], [], mirror, tmp_path)
    assert "sources.lock.tsv" in said


def test_which_files_of_the_catalogues_nothing_pins():
    rows = [
        *read_rows(TreebankRow, REPOSITORY / "config/treebanks.tsv"),
        *read_rows(SourceRow, REPOSITORY / "config/sources.tsv"),
    ]
    kinds = {
        "SHA-256": [row for row in rows if row.sha256],
        "blob": [row for row in rows if row.git_blob and not row.sha256],
        "stated": [row for row in rows if not row.sha256 and checksum_source(row.url)],
        "nothing": [row for row in rows if not row.is_pinned()],
    }
    assert [*map(len, kinds.values())] == [660, 128, 113, 9]
    # The README has the number of all files, and of those without a checksum.
    text = " ".join((REPOSITORY / "README.md").read_text().split())
    assert f"Of the {len(rows)} files in the catalogues, 9 have no [checksum]" in text


ADDRESSES = REPOSITORY / "config/addresses.tsv"


NOWHERE = f"http://127.0.0.1:9/o/r/{COMMIT}/x.txt"
"""An address without a server."""


@pytest.fixture
def down():
    return sources.Pin("x.txt", NOWHERE, DIGEST, len(DATA), "x.txt", "sources.tsv")


def addresses(*rows):
    path = Path("addresses.tsv")
    path.write_text("address\tinstead\n" + "".join("\t".join(row) + "\n" for row in rows))
    return path


def to(server, url, path="/{sha256}"):
    """Return a row that redirects the files of an address's host to a server."""
    return (f"{url.rpartition('/o/')[0]}/o/{{path}}", f"{server.url.partition('/o/')[0]}{path}")


def test_a_host_that_is_down_is_passed_over(down, server, capsys):
    others = addresses(to(server, down.url))
    assert sources.retrieve(down, OUTPUT, None, others).endswith(f"/{down.sha256}")
    assert OUTPUT.read_bytes() == DATA
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"sources.tsv: x.txt: {down.url[:40]}")
    assert "connection refused" in line
    assert [path.name for path in OUTPUT.parent.iterdir()] == ["x.txt"]
    assert obstacles([down], [], None, Path(), addresses=others) == []


def test_what_one_began_and_another_finished_leaves_no_part(down, server):
    with serving() as breaking:
        breaking.cuts = [1000] * 9
        own = replace(down, url=breaking.url)
        sources.retrieve(own, OUTPUT, None, addresses(to(server, own.url)))
    assert [path.name for path in OUTPUT.parent.iterdir()] == ["x.txt"]


def test_so_is_one_that_gives_another_file(down, server, capsys):
    with serving() as wrong:
        wrong.body = DATA[:-1] + b"?"
        others = addresses(to(wrong, down.url), to(server, down.url))
        assert sources.retrieve(down, OUTPUT, None, others).startswith(server.url[:20])
    assert OUTPUT.read_bytes() == DATA
    assert "has SHA-256 " in capsys.readouterr().err
    assert [path.name for path in OUTPUT.parent.iterdir()] == ["x.txt"]


def test_where_none_gives_it_all_are_named(down, server):
    server.statuses = [404]
    others = addresses(to(server, down.url, "/gone"))
    with pytest.raises(UserError) as caught:
        sources.retrieve(down, OUTPUT, None, others)
    assert "none of 2 addresses gave the file (http://127.0.0.1:" in str(caught.value)
    assert "/gone: 127.0.0.1:" in str(caught.value)
    assert not OUTPUT.exists()


def test_a_full_disk_is_no_reason_to_try_another(down, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with serving() as first, serving() as second:
        monkeypatch.setattr(download, "slot", full)
        own = replace(down, url=first.url)
        with pytest.raises(UserError, match="not enough room"):
            sources.retrieve(own, OUTPUT, None, addresses(to(second, own.url)))
        assert second.ranges_requested == []


def test_a_host_without_replacement_is_an_obstacle(down):
    others = addresses(("https://example.org/{path}", "https://example.com/{path}"))
    [said] = obstacles([down], [], None, Path(), addresses=others)
    assert said.startswith("no connection for 1 files")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (("http://127.0.0.1{port}/{path}", "http://example.org/{path}"), "no address to download"),
        (("http://127.0.0.1{port}/{path}", "https://example.org/{file}"), "instead names file"),
        (("http://{a}/{a}", "https://example.org/{a}"), r"tsv:2: address has names that cannot be"),
    ],
)
def test_what_a_table_of_addresses_may_not_say(down, row, said):
    with pytest.raises(UserError, match=said):
        down.other_addresses(addresses(row))


def test_a_row_that_needs_an_unknown_checksum_is_passed_over(down):
    others = addresses(
        ("http://{host}/{path}", "https://example.org/{git_blob}"),
        ("http://{host}/{path}", "https://example.org/{sha256}"),
    )
    assert down.other_addresses(others) == [f"https://example.org/{down.sha256}"]
    by_blob = replace(down, sha256="", git_blob="0" * 40)
    assert by_blob.other_addresses(others) == [f"https://example.org/{'0' * 40}"]


def test_which_files_of_the_catalogues_have_other_addresses():
    rows = [
        *read_rows(TreebankRow, REPOSITORY / "config/treebanks.tsv"),
        *read_rows(SourceRow, REPOSITORY / "config/sources.tsv"),
    ]
    many = [sources.Pin.of(row, ADDRESSES).other_addresses(ADDRESSES) for row in rows]
    with_others = [each for each in many if each]
    assert len(with_others) == sum("raw.githubusercontent" in row.url for row in rows)
    row = next(row for row in rows if "abnc" in row.name)
    assert many[rows.index(row)] == [
        f"https://cdn.jsdelivr.net/gh/UniversalDependencies/UD_Abkhaz-AbNC@{row.commit}/{row.file}",
        f"https://archive.softwareheritage.org/api/1/content/sha256:{row.sha256}/raw/",
    ]
