"""Test retrieval over real loopback connections: each way in which a download can fail."""

import json
import lzma
import resource
import socket
import subprocess
import sys
import time
from dataclasses import replace
from hashlib import sha256

import pytest
from typer.testing import CliRunner

from blimpworks.cli import app
from blimpworks.errors import UserError
from blimpworks.files import temporary_path
from blimpworks.retrieval import download, sources
from blimpworks.retrieval.sources import PIECE, Pin, part_path
from support.loopback import DATA
from support.paths import REPOSITORY


@pytest.fixture
def pin(server):
    digest = sha256(DATA).hexdigest()
    return Pin("ud/x/file.txt", server.url, digest, len(DATA), "ud/x/file.txt", "sources.tsv")


@pytest.fixture
def output(tmp_path):
    return tmp_path / "out" / "file.txt"


def refuse(pin, output, mirror=None):
    """Return the message of a refused retrieval, and check that no file has the final name."""
    with pytest.raises(UserError) as caught:
        sources.retrieve(pin, output, mirror)
    assert not output.exists()
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert pin.where in sentence or "mirror" in sentence
    return sentence


def part_with(output, url, content):
    part = part_path(output, url)
    part.parent.mkdir(parents=True, exist_ok=True)
    part.write_bytes(content)
    return part


def put(mirror, pin, content, suffix=""):
    path = mirror / (pin.mirror + suffix)
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(("suffix", "pack"), [("", bytes), (".xz", lzma.compress)])
def test_mirror_comes_first(pin, output, tmp_path, server, suffix, pack):
    put(tmp_path / "mirror", pin, pack(DATA), suffix)
    assert sources.retrieve(pin, output, tmp_path / "mirror") == pin.mirror + suffix
    assert output.read_bytes() == DATA
    assert [p.name for p in output.parent.iterdir()] == ["file.txt"]
    assert server.ranges_requested == []


def test_what_the_mirror_lacks_is_downloaded(pin, output, tmp_path):
    (tmp_path / "mirror").mkdir()
    assert sources.retrieve(pin, output, tmp_path / "mirror") == pin.url
    assert output.read_bytes() == DATA


@pytest.mark.parametrize(
    ("content", "suffix", "said"),
    [
        (lzma.compress(DATA)[:-20], ".xz", "is not a whole .xz file"),
        (b"no xz at all", ".xz", "is not a whole .xz file"),
        (DATA[:-1] + b"?", "", "has SHA-256"),
        (DATA[:-1], "", "has 1,048,575 bytes, expected 1,048,576"),
        (lzma.compress(DATA * 3), ".xz", "has more bytes, expected 1,048,576"),
    ],
)
def test_a_bad_mirror_file_is_named(pin, output, tmp_path, content, suffix, said):
    path = put(tmp_path / "mirror", pin, content, suffix)
    sentence = refuse(pin, output, tmp_path / "mirror")
    assert said in sentence
    assert str(path) in sentence
    assert list(output.parent.iterdir()) == []


def test_a_mirror_that_does_not_exist_is_refused(pin, output, tmp_path):
    assert "is not a directory" in refuse(pin, output, tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("behaviour", "sent"),
    [
        ({}, [len(DATA)]),
        ({"statuses": [503, 503]}, [0, 0, len(DATA)]),
        ({"redirects": ["/elsewhere"]}, [0, len(DATA)]),
        ({"ranges": False, "cuts": [300_000]}, [300_000, len(DATA)]),
    ],
    ids=["plain", "busy server", "redirect", "no ranges"],
)
def test_download(pin, output, server, behaviour, sent):
    vars(server).update(behaviour)
    assert sources.retrieve(pin, output, None) == pin.url
    assert output.read_bytes() == DATA
    assert [p.name for p in output.parent.iterdir()] == ["file.txt"]
    assert server.sent == sent


def test_a_cut_is_continued(pin, output, server):
    server.cuts = [300_000, 200_000]
    sources.retrieve(pin, output, None)
    assert output.read_bytes() == DATA
    first, second, third = server.ranges_requested
    assert first is None
    assert 300_000 - PIECE < int(second[6:-1]) <= 300_000
    assert int(second[6:-1]) < int(third[6:-1])
    assert server.sent[-1] == len(DATA) - int(third[6:-1])


KILLED = """
import sys
from pathlib import Path
from blimpworks.retrieval.sources import Pin, retrieve
name, url, digest, size, output = sys.argv[1:]
retrieve(Pin(name, url, digest, int(size), name), Path(output), None)
"""


def test_a_killed_download_is_continued(pin, output, server):
    server.hold = 300_000
    arguments = [pin.name, pin.url, pin.sha256, str(pin.bytes), str(output)]
    child = subprocess.Popen([sys.executable, "-c", KILLED, *arguments])
    part = part_path(output, pin.url)
    whole_pieces = 300_000 // PIECE * PIECE
    deadline = time.monotonic() + 20
    while not (part.exists() and part.stat().st_size == whole_pieces):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    child.kill()
    assert child.wait() == -9
    assert not output.exists()
    server.hold = None
    server.release.set()
    sources.retrieve(pin, output, None)
    assert output.read_bytes() == DATA
    assert server.ranges_requested == [None, f"bytes={whole_pieces}-"]
    assert server.sent[-1] == len(DATA) - whole_pieces
    assert not part.exists()


WHOLE = f"bytes={len(DATA)}-"
USELESS = [DATA + b"x", b"?" * len(DATA), b"?" * 1000]


@pytest.mark.parametrize(
    ("part", "known", "asked"),
    [(DATA, True, []), (DATA, False, [WHOLE])]
    + [(bad, known, [None]) for bad in USELESS for known in (True, False)],
)
def test_a_part_is_recognised_as_complete_or_replaced(pin, output, server, part, known, asked):
    part_with(output, pin.url, part)
    part_with(output, pin.url.replace("0123", "3210"), b"of another address")
    sources.retrieve(pin if known else replace(pin, bytes=None), output, None)
    assert output.read_bytes() == DATA
    assert server.ranges_requested[-len(asked) :] == asked


def test_an_empty_file(pin, output, server):
    server.body = b""
    sources.retrieve(replace(pin, bytes=0, sha256=sha256().hexdigest()), output, None)
    assert output.read_bytes() == b""


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (DATA[:-1] + b"?", "has SHA-256 "),
        (DATA[:1000], "has 1,000 bytes, expected 1,048,576"),
        (DATA + DATA, "has more bytes, expected 1,048,576"),
    ],
)
def test_wrong_content(pin, output, server, body, said):
    server.body = body
    sentence = refuse(pin, output)
    assert all(words in sentence for words in (said, pin.url, "try again"))
    assert list(output.parent.iterdir()) == []


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (404, "has no such file (HTTP 404); correct the row's url"),
        (403, "forbids it (HTTP 403)"),
        (503, "failed (HTTP 503); try again later"),
        (429, "too many requests from here (HTTP 429)"),
    ],
)
def test_http_errors(pin, output, server, status, said):
    server.statuses = [status] * 9
    assert said in refuse(pin, output)
    assert len(server.ranges_requested) == (1 if status in (403, 404) else 1 + download.RETRIES)


def test_half_a_file(pin, output, server):
    server.ranges, server.cuts = False, [300_000] * 9
    sentence = refuse(pin, output)
    assert "the connection keeps breaking off, last after 262,144 of 1,048,576 bytes" in sentence
    assert part_path(output, pin.url).stat().st_size == 262_144


def test_a_server_that_falls_silent(pin, output, server, monkeypatch):
    monkeypatch.setattr(download, "LIMITS", (2, 0.1))
    server.ranges, server.hold = False, 100_000
    assert "keeps breaking off" in refuse(pin, output)


def test_a_host_that_is_not_there(pin, output):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    sentence = refuse(replace(pin, url=f"http://127.0.0.1:{port}/x"), output)
    assert f"no connection to 127.0.0.1:{port} (connection refused)" in sentence
    sentence = refuse(replace(pin, url="https://nowhere.invalid/x"), output)
    assert "the host nowhere.invalid cannot be found" in sentence


def test_full_disk(pin, output):
    part = part_path(output, pin.url)
    part.parent.mkdir()
    part.symlink_to("/dev/full")
    with pytest.raises(UserError, match="not enough room to write it"):
        sources.retrieve(pin, output, None)
    assert not output.exists()


def test_full_disk_when_copying(pin, output, tmp_path):
    put(tmp_path / "mirror", pin, DATA)
    output.parent.mkdir()
    temporary_path(output).symlink_to("/dev/full")
    with pytest.raises(UserError, match="not enough room to write it"):
        sources.retrieve(pin, output, tmp_path / "mirror")
    assert list(output.parent.iterdir()) == []


@pytest.mark.parametrize("variable", ["BLIMPWORKS_OFFLINE", "HF_HUB_OFFLINE"])
def test_offline(pin, output, server, monkeypatch, variable):
    monkeypatch.setenv(variable, "1")
    assert f"{variable} forbids the network; unset {variable}" in refuse(pin, output)
    assert server.ranges_requested == []


def test_a_row_without_checksum(pin, output, tmp_path, server):
    put(tmp_path / "mirror", pin, DATA)
    sentence = refuse(replace(pin, sha256=""), output, tmp_path / "mirror")
    assert "`blimpworks pin sources.tsv ud/x/file.txt`" in sentence
    assert server.ranges_requested == []


def arguments(pin, output, mirror=""):
    given = {"name": pin.name, "url": pin.url, "sha256": pin.sha256, "bytes": pin.bytes}
    given |= {"mirror-path": pin.mirror, "mirror": mirror, "output": output}
    return ["retrieve", *(f"--{name}={value}" for name, value in given.items())]


def test_the_record_says_where_it_came_from(pin, output, tmp_path):
    done = CliRunner().invoke(app, arguments(pin, output), catch_exceptions=False)
    assert done.exit_code == 0
    record_path = output.with_name("file.txt.prov.json")
    downloaded = json.loads(record_path.read_text())
    assert downloaded["notes"] == {"origin": pin.url}
    assert downloaded["outputs"][0]["sha256"] == pin.sha256
    put(tmp_path / "mirror", pin, lzma.compress(DATA), ".xz")
    CliRunner().invoke(app, arguments(pin, output, tmp_path / "mirror"), catch_exceptions=False)
    copied = json.loads(record_path.read_text())
    assert copied["notes"] == {"origin": "ud/x/file.txt.xz"}
    assert copied["params"] == downloaded["params"]
    assert str(tmp_path) not in json.dumps(copied["params"])


@pytest.mark.slow
def test_a_disk_that_fills_up_ends_any_command_in_one_sentence(tmp_path):
    command = [sys.executable, "-m", "blimpworks", "build-tokens"]
    treebank = next((REPOSITORY / "config/demo/data/ud").glob("*/*.conllu"))
    outputs = {f"--{name}": tmp_path / name for name in ("tokens", "sentences", "malformed")}
    command += [treebank, *(x for pair in outputs.items() for x in pair)]
    command += ["--options", '{"malformed": "error"}']
    limited = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))}
    done = subprocess.run(command, **limited, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    sentence = f"{tmp_path / 'tokens'}: file too large; nothing half-written is left"
    assert f"blimpworks: {sentence}" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


SECRET = "hunter2-hunter2"


def test_an_address_that_is_not_allowed_is_refused_before_any_request(pin, output):
    sentence = refuse(replace(pin, url=f"https://user:{SECRET}@example.org/x"), output)
    assert "expected an https address, but " in sentence
    assert "holds a user or password" in sentence
    assert SECRET not in sentence


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("http://example.org/x", "begins with http://"),
        ("https://[::1/x", "and "),
        (f"https://user:{SECRET}@example.org/x?token={SECRET}", "holds a user or password"),
    ],
)
def test_a_redirect_that_is_not_allowed_is_not_followed(pin, output, server, target, said):
    server.redirects = [target]
    sentence = refuse(pin, output)
    assert f"127.0.0.1:{server.server_port} sends on to " in sentence
    assert said in sentence
    assert SECRET not in sentence
    assert len(sentence) < 500
    assert len(server.ranges_requested) == 1


def test_a_redirect_in_a_circle_ends_in_one_sentence(pin, output, server):
    server.redirects = [server.url] * 99
    assert "sends on again and again, in a circle or too often" in refuse(pin, output)


@pytest.mark.parametrize("statuses", [[404], [503] * 9, []])
def test_a_token_in_an_address_is_shown_nowhere(pin, output, server, statuses, capfd, monkeypatch):
    monkeypatch.setattr(download, "_LONGEST_PAUSE", 0.01)
    secret = replace(pin, url=f"{pin.url}?token={SECRET}")
    server.statuses = [*statuses]
    done = CliRunner().invoke(app, arguments(secret, output))
    words = str(done.exception) + done.output + "".join(capfd.readouterr())
    records = "".join(path.read_text() for path in output.parent.glob("*.json"))
    assert SECRET not in words + records
    assert output.exists() == (not statuses)
    assert ("token=…" in records) == (not statuses)


@pytest.mark.parametrize("announced", [True, False])
def test_a_file_of_unstated_size_may_not_be_too_large(pin, output, server, monkeypatch, announced):
    monkeypatch.setattr(download, "LARGEST", 300_000)
    server.announces = announced
    sentence = refuse(replace(pin, bytes=None), output)
    assert "it is larger than 300,000 bytes, the most for a file of unstated size" in sentence
    assert not part_path(output, pin.url).exists()
    sources.retrieve(pin, output, None)
    assert output.read_bytes() == DATA
