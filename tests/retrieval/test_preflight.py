"""Test that obstacles to the retrieval of files and models are reported beforehand, all at once."""

import socket
import sys
import threading
import time
from hashlib import sha256
from pathlib import Path

import pytest
from huggingface_hub import constants

from blimpworks.campaign.table_files import Locked, LockedModel
from blimpworks.retrieval import download, preflight
from blimpworks.retrieval.download import SLOTS, slot
from blimpworks.retrieval.preflight import HubNeed, obstacles
from blimpworks.retrieval.sources import Pin
from support import hub_kit
from support.loopback import DATA, serving

SUM, SIZE = sha256(DATA).hexdigest(), len(DATA)
TIP = hub_kit.COMMIT
CLOSED = "http://127.0.0.1:9/file.txt"


def pins(*urls, digest=SUM, size=SIZE):
    names = ((f"ud/{n}.txt", url) for n, url in enumerate(urls))
    return [Pin(name, url, digest, size, name, "t.tsv") for name, url in names]


def test_nothing_is_in_the_way_of_a_server_that_answers_whatever_it_says(tmp_path):
    with serving() as server:
        assert obstacles(pins(server.url), [], None, tmp_path / "not/yet") == []


@pytest.mark.parametrize(
    ("urls", "digest", "mirror", "offline", "start"),
    [
        (["", ""], "", None, "", "no checksum: 2 files, such as ud/0.txt; run `blimpworks pin` on"),
        ([CLOSED] * 3, SUM, None, "", "no connection for 3 files: no connection to 127.0.0.1:9 ("),
        ([CLOSED], SUM, "none", "", "mirror none is not a directory"),
        ([""], SUM, None, "", "no address, and in no mirror: ud/0.txt; put them into the mirror"),
        ([CLOSED] * 2, SUM, None, "1", "BLIMPWORKS_OFFLINE forbids the network, and no mirror has"),
    ],
)
def test_what_is_in_the_way_is_told(tmp_path, monkeypatch, urls, digest, mirror, offline, start):
    monkeypatch.setenv("BLIMPWORKS_OFFLINE", offline)
    [said] = obstacles(pins(*urls, digest=digest), [], mirror and Path(mirror), tmp_path)
    assert said.startswith(start)


def test_a_file_of_the_mirror_needs_no_network(tmp_path):
    (tmp_path / "ud").mkdir()
    (tmp_path / "ud/0.txt").write_bytes(DATA)
    assert obstacles(pins(CLOSED), [], tmp_path, tmp_path) == []


def test_files_that_do_not_fit_on_the_disk_are_added_up(tmp_path):
    with serving() as server:
        [said] = obstacles(pins(server.url, size=10**18), [], None, tmp_path)
    assert said.startswith(f"{tmp_path}: the files take 1,000,000,000.0 GB, ")


def test_an_address_that_is_not_allowed_is_not_asked(tmp_path):
    assert obstacles(pins("file:///etc/passwd"), [], None, tmp_path) == []


@pytest.fixture
def hub(monkeypatch, tmp_path):
    """Serve a hub with four models: one is gated, and one request fails at first."""
    models = ("lab/open", "lab/shut", "lab/any", "lab/busy")
    with hub_kit.serving({name: {} for name in models}) as server:
        server.gated, server.troubles = {"lab/shut"}, [("lab/busy", 500, {})]
        monkeypatch.setattr(constants, "ENDPOINT", server.url)
        monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "none"))
        monkeypatch.setenv("HF_TOKEN", "")
        yield server


NEEDS = [HubNeed("lab/open", True), HubNeed("lab/shut", True), HubNeed("lab/any", False)]


@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize(
    ("token", "needs", "said"),
    [
        ("", NEEDS, ["no token of the hub for gated models (lab/open, lab/shut): accept"]),
        ("hf_x", NEEDS, ["lab/shut: its licence is not accepted (https://huggingface.co/lab"]),
        # The download retries a busy hub.
        ("hf_x", [HubNeed("lab/busy", True)], []),
    ],
)
def test_gated_models_want_a_token(tmp_path, monkeypatch, token, needs, said):
    monkeypatch.setenv("HF_TOKEN", token)
    found = obstacles([], needs, None, tmp_path)
    assert [each[: len(start)] for each, start in zip(found, said, strict=True)] == said


def test_a_host_or_hub_that_takes_its_time_is_left_to_the_download(tmp_path, monkeypatch):
    monkeypatch.setattr(preflight, "LIMITS", (5.0, 0.2))
    monkeypatch.setattr(download, "MAX_SILENCE", 0.2)
    monkeypatch.setenv("HF_TOKEN", "hf_x")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        monkeypatch.setattr(constants, "ENDPOINT", url)
        assert obstacles(pins(f"{url}/file.txt"), NEEDS, None, tmp_path) == []


@pytest.mark.usefixtures("hub")
def test_a_hub_that_is_not_reached_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    [said] = obstacles([], NEEDS, None, tmp_path)
    assert said.startswith("no connection for 3 models: no connection to 127.0.0.1:9")


@pytest.mark.usefixtures("hub")
def test_a_branch_that_has_moved_is_named_before_anything_is_retrieved(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    row = LockedModel(hf_id="lab/open", revision="main", commit="a" * 40, date="2026-01-31")
    table, file = tmp_path / "mine.tsv", tmp_path / "models.lock.tsv"
    locked = Locked(row, file, table)
    [said] = obstacles([], [HubNeed("lab/open", False, "tiny", "main", locked)], None, tmp_path)
    assert said == (
        f"lab/open: 'main' has moved on the hub, from commit {'a' * 40}, locked on 2026-01-31 in "
        f"{tmp_path}/models.lock.tsv, to {TIP}; to stay with the first, make it the revision in "
        f"{table}, and to take the second, run `blimpworks pin {table} tiny`"
    )
    same = row.model_copy(update={"commit": TIP})
    locked = Locked(same, file, table)
    assert obstacles([], [HubNeed("lab/open", False, "tiny", "main", locked)], None, tmp_path) == []


def test_offline_and_without_the_hubs_client_no_model_is_asked_about(tmp_path, monkeypatch):
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert obstacles([], NEEDS, None, tmp_path) == []
    monkeypatch.delenv("HF_HUB_OFFLINE")
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    assert obstacles([], NEEDS, None, tmp_path) == []


def test_few_downloads_from_a_host_run_at_once():
    running, most, lock = [0], [0], threading.Lock()

    def download():
        with slot("host.example"):
            with lock:
                running[0] += 1
                most[0] = max(most[0], running[0])
            time.sleep(0.05)
            with lock:
                running[0] -= 1

    threads = [threading.Thread(target=download) for _ in range(3 * SLOTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert most[0] == SLOTS
    assert running == [0]
