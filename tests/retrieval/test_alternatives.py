"""Several addresses of a file: the next is tried where one does not give it."""

import errno
import socket
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from blimpworks.campaign.catalogue import SourceRow, TreebankRow
from blimpworks.campaign.table_files import read_rows
from blimpworks.errors import UserError
from blimpworks.retrieval import download
from blimpworks.retrieval.preflight import obstacles
from blimpworks.retrieval.sources import Pin, retrieve
from support.loopback import COMMIT, DATA, serving
from support.paths import REPOSITORY

TABLE = REPOSITORY / "config/addresses.tsv"


@pytest.fixture
def nowhere():
    """An address at which nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return f"http://127.0.0.1:{port}/o/r/{COMMIT}/x.txt"


@pytest.fixture
def pin(nowhere):
    return Pin("x.txt", nowhere, sha256(DATA).hexdigest(), len(DATA), "x.txt", "sources.tsv")


OUTPUT = Path("out/x.txt")


def table(*rows):
    path = Path("addresses.tsv")
    path.write_text("address\tinstead\n" + "".join("\t".join(row) + "\n" for row in rows))
    return path


def to(server, url, path="/{sha256}"):
    """A row that sends the files of an address's host to a server."""
    return (f"{url.rpartition('/o/')[0]}/o/{{path}}", f"{server.url.partition('/o/')[0]}{path}")


def test_a_host_that_is_down_is_passed_over(pin, server, capsys):
    others = table(to(server, pin.url))
    assert retrieve(pin, OUTPUT, None, others).endswith(f"/{pin.sha256}")
    assert OUTPUT.read_bytes() == DATA
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"sources.tsv: x.txt: {pin.url[:40]}")
    assert "connection refused" in line
    assert [path.name for path in OUTPUT.parent.iterdir()] == ["x.txt"]
    assert obstacles([pin], [], None, Path(), addresses=others) == []


def test_what_one_began_and_another_finished_leaves_no_part(pin, server):
    with serving() as breaking:
        breaking.cuts = [1000] * 9
        own = replace(pin, url=breaking.url)
        retrieve(own, OUTPUT, None, table(to(server, own.url)))
    assert [path.name for path in OUTPUT.parent.iterdir()] == ["x.txt"]


def test_so_is_one_that_gives_another_file(pin, server, capsys):
    with serving() as wrong:
        wrong.body = DATA[:-1] + b"?"
        others = table(to(wrong, pin.url), to(server, pin.url))
        assert retrieve(pin, OUTPUT, None, others).startswith(server.url[:20])
    assert OUTPUT.read_bytes() == DATA
    assert "has SHA-256 " in capsys.readouterr().err
    assert [path.name for path in OUTPUT.parent.iterdir()] == ["x.txt"]


def test_where_none_gives_it_all_are_named(pin, server):
    server.statuses = [404]
    others = table(to(server, pin.url, "/gone"))
    with pytest.raises(UserError) as caught:
        retrieve(pin, OUTPUT, None, others)
    assert "none of 2 addresses gave the file (http://127.0.0.1:" in str(caught.value)
    assert "/gone: 127.0.0.1:" in str(caught.value)
    assert not OUTPUT.exists()


def test_a_full_disk_is_no_reason_to_try_another(pin, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with serving() as first, serving() as second:
        monkeypatch.setattr(download, "slot", full)
        own = replace(pin, url=first.url)
        with pytest.raises(UserError, match="not enough room"):
            retrieve(own, OUTPUT, None, table(to(second, own.url)))
        assert second.ranges_requested == []


def test_offline_no_address_is_tried(pin, server, monkeypatch):
    monkeypatch.setenv("BLIMPWORKS_OFFLINE", "1")
    with pytest.raises(UserError, match="forbids the network"):
        retrieve(pin, OUTPUT, None, table(to(server, pin.url)))
    assert server.ranges_requested == []


def test_a_host_without_replacement_is_an_obstacle(pin, nowhere):
    others = table(("https://example.org/{path}", "https://example.com/{path}"))
    [said] = obstacles([pin], [], None, Path(), addresses=others)
    assert said.startswith("no connection for 1 files")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (("http://127.0.0.1{port}/{path}", "http://example.org/{path}"), "no address to download"),
        (("http://127.0.0.1{port}/{path}", "https://example.org/{file}"), "instead names file"),
        (("http://{a}/{a}", "https://example.org/{a}"), r"tsv:2: address has names that cannot be"),
    ],
)
def test_what_a_table_of_addresses_may_not_say(pin, row, said):
    with pytest.raises(UserError, match=said):
        pin.other_addresses(table(row))


def test_a_row_that_needs_an_unknown_checksum_is_passed_over(pin):
    others = table(
        ("http://{host}/{path}", "https://example.org/{git_blob}"),
        ("http://{host}/{path}", "https://example.org/{sha256}"),
    )
    assert pin.other_addresses(others) == [f"https://example.org/{pin.sha256}"]
    by_blob = replace(pin, sha256="", git_blob="0" * 40)
    assert by_blob.other_addresses(others) == [f"https://example.org/{'0' * 40}"]


def test_which_files_of_the_catalogues_have_other_addresses():
    rows = [
        *read_rows(TreebankRow, REPOSITORY / "config/treebanks.tsv"),
        *read_rows(SourceRow, REPOSITORY / "config/sources.tsv"),
    ]
    many = [Pin.of(row, TABLE).other_addresses(TABLE) for row in rows]
    with_others = [each for each in many if each]
    assert len(with_others) == sum("raw.githubusercontent" in row.url for row in rows)
    row = next(row for row in rows if "abnc" in row.name)
    assert many[rows.index(row)] == [
        f"https://cdn.jsdelivr.net/gh/UniversalDependencies/UD_Abkhaz-AbNC@{row.commit}/{row.file}",
        f"https://archive.softwareheritage.org/api/1/content/sha256:{row.sha256}/raw/",
    ]
