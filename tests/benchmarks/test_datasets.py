"""A data set of a hub becomes pinned sources of a benchmark."""

import hashlib
import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from support.declared_kit import CSV, PAIRS, declare
from support.paths import REPOSITORY

COMMIT = "0123456789abcdef0123456789abcdef01234567"
LARGE = "ab" * 32
LFS = {"sha256": LARGE, "size": 9, "pointerSize": 1}
FILES = [
    {"rfilename": "README.md", "size": 3},
    {"rfilename": "data/test-00000-of-00001.parquet", "size": 9, "lfs": LFS},
    {"rfilename": "data/train-00000-of-00001.parquet", "size": 9, "lfs": LFS},
    {"rfilename": "pairs/test.csv", "size": len(CSV)},
]


class Hub(BaseHTTPRequestHandler):
    """A hub with one data set."""

    def log_message(self, *args):
        pass

    def do_GET(self):
        body, status = b"{}", 404
        if self.path.startswith("/api/datasets/owner/set/revision/"):
            card = {"license": "cc-by-4.0"}
            facts = {"id": "owner/set", "sha": COMMIT, "siblings": FILES, "cardData": card}
            body, status = json.dumps(facts).encode(), 200
        elif self.path == f"/datasets/owner/set/resolve/{COMMIT}/pairs/test.csv":
            body, status = CSV.encode(), 200
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def hub():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield server
    server.shutdown()


def pin(hub, folder, *options):
    """What pin-dataset says of a data set, and how it exits."""
    env = os.environ | {"HF_ENDPOINT": f"http://127.0.0.1:{hub.server_port}"}
    env |= {"PYTHONPATH": str(REPOSITORY / "src")}
    command = [sys.executable, "-m", "blimpworks", "pin-dataset", *options, f"--folder={folder}"]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


def test_the_split_of_a_data_set_is_pinned_at_its_commit(hub, tmp_path):
    path = declare(tmp_path / "toy", {"a.csv": CSV}, data=[PAIRS])
    done = pin(hub, path.parent, "owner/set", "--revision=main", "--split=test")
    assert done.returncode == 0, done.stderr
    head, *lines = (path.parent / "sources.tsv").read_text().splitlines()
    rows = [dict(zip(head.split("\t"), line.split("\t"), strict=True)) for line in lines]
    assert [(row["name"], row["sha256"]) for row in rows] == [
        ("toy/data/test-00000-of-00001.parquet", LARGE),
        ("toy/pairs/test.csv", hashlib.sha256(CSV.encode()).hexdigest()),
    ]
    assert {(row["version"], row["licence"]) for row in rows} == {(COMMIT, "cc-by-4.0")}
    assert all(f"/{COMMIT}/" in row["url"] for row in rows)
    again = pin(hub, path.parent, "owner/set", "--split=test")
    assert again.returncode == 2
    assert "has a row 'toy/data/test-00000-of-00001.parquet' already" in again.stderr


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["owner/set", "--split=dev"], "has no file of split 'dev'"),
        (["owner/none"], "owner/none at main is no data set of the hub"),
    ],
)
def test_what_the_hub_lacks_is_one_sentence(hub, tmp_path, options, says):
    done = pin(hub, tmp_path, *options)
    assert done.returncode != 0
    assert says in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
