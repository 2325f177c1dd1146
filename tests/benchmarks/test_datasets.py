"""A data set of a hub becomes pinned sources of a benchmark."""

import hashlib
import json
import os
import subprocess
import sys

import pytest

from support.declared_kit import CSV, PAIRS, declare
from support.loopback import COMMIT, serving

LARGE = "ab" * 32
LFS = {"sha256": LARGE, "size": 9, "pointerSize": 1}
FILES = [
    {"rfilename": "README.md", "size": 3},
    {"rfilename": "data/test-00000-of-00001.parquet", "size": 9, "lfs": LFS},
    {"rfilename": "data/train-00000-of-00001.parquet", "size": 9, "lfs": LFS},
    {"rfilename": "pairs/test.csv", "size": len(CSV)},
]


@pytest.fixture
def hub():
    facts = {"id": "owner/set", "sha": COMMIT, "siblings": FILES}
    facts |= {"cardData": {"license": "cc-by-4.0"}}
    with serving() as server:
        server.pages[f"/datasets/owner/set/resolve/{COMMIT}/pairs/test.csv"] = CSV.encode()
        for blobs in ("true", "True"):  # by the hub library's HTTP client
            address = f"/api/datasets/owner/set/revision/main?blobs={blobs}"
            server.pages[address] = json.dumps(facts).encode()
        server.statuses = [404] * 9
        yield server


def pin(hub, folder, *options):
    env = os.environ | {"HF_ENDPOINT": f"http://127.0.0.1:{hub.server_port}"}
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
