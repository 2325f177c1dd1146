"""Models from a hub on the loopback, through the real client library and command line."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha1, sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def safetensors(seed):
    """A file with one tensor of eight float32 numbers."""
    head = json.dumps({"w": {"dtype": "F32", "shape": [8], "data_offsets": [0, 32]}}).encode()
    return len(head).to_bytes(8, "little") + head + bytes([seed]) * 32


MODEL = {
    "config.json": b'{"model_type": "llama"}',
    "tokenizer.model": b"pieces",
    "modeling_evil.py": b"raise SystemExit",
    "pytorch_model.bin": b"pickle",
    "README.md": b"# read me",
    "onnx/config.json": b"{}",
}
REPOSITORIES = {
    "lab/good": MODEL | {"model.safetensors": safetensors(1)},
    "lab/pickled": MODEL,
    "lab/sharded": MODEL
    | {
        "model.safetensors.index.json": b'{"weight_map": {"v": "model-2.safetensors"}}',
        "model-1.safetensors": safetensors(3),
    },
    "lab/gated": MODEL | {"model.safetensors": safetensors(2)},
}


class Hub(BaseHTTPRequestHandler):
    """The part of the hub's interface that a download uses."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        self.server.asked.append(self.path)
        path = unquote(urlsplit(self.path).path).strip("/")
        path = path.removeprefix("api/models/")
        repo, rest = "/".join(path.split("/")[:2]), path.split("/")[2:]
        if repo not in REPOSITORIES:
            return self.answer(401, b"", {"X-Error-Code": "RepoNotFound"})
        if rest[1] not in ("main", COMMIT):
            return self.answer(404, b"", {"X-Error-Code": "RevisionNotFound"})
        return getattr(self, rest[0])(repo, "/".join(rest[2:]))

    def revision(self, repo, _):
        siblings = [{"rfilename": name} for name in REPOSITORIES[repo]]
        self.reply({"id": repo, "modelId": repo, "sha": COMMIT, "siblings": siblings})

    def tree(self, repo, _):
        self.reply([self.entry(name, body) for name, body in REPOSITORIES[repo].items()])

    def entry(self, name, body):
        oid = sha1(b"blob %d\0" % len(body) + body).hexdigest()
        entry = {"type": "file", "path": name, "size": len(body), "oid": oid}
        if name.endswith(".safetensors"):
            large = {"oid": sha256(body).hexdigest(), "size": len(body), "pointerSize": 134}
            entry["lfs"] = large
        return entry

    def resolve(self, repo, name):
        if repo == "lab/gated" and self.headers.get("Authorization") != "Bearer hf_good":
            return self.answer(403, b"", {"X-Error-Code": "GatedRepo"})
        body = REPOSITORIES[repo][name]
        entry = self.entry(name, body)
        tag = entry.get("lfs", entry)["oid"]
        headers = {"ETag": f'"{tag}"', "X-Repo-Commit": COMMIT}
        return self.answer(200, self.server.spoil(body), headers)

    def reply(self, value):
        self.answer(200, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def answer(self, status, body, headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)


@pytest.fixture(scope="module")
def hub():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    server.asked, server.spoil = [], lambda body: body
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def arguments(output, hf_id, revision):
    given = {"--name": "tiny", "--scope": "multi", "--hf-id": hf_id, "--revision": revision}
    given |= {"--architecture": "causal", "--dtype": "float32"}
    given |= {"--first-token": "bos", "--output": str(output)}
    return ["retrieve-model", *(word for pair in given.items() for word in pair)]


def call(command, hub, store, **environment):
    """Run Python in a process of its own: the hub library reads its settings on import."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "BLIMPWORKS_"))}
    settings = kept | {"HF_HOME": str(store), "NO_PROXY": "*"}
    settings["HF_ENDPOINT"] = f"http://127.0.0.1:{hub.server_port}"
    return subprocess.run(
        [sys.executable, *command],
        env=settings | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def fetch(hub, tmp_path):
    """Run the verb."""

    def run(hf_id="lab/good", revision="main", **environment):
        output = tmp_path / "model" / "checkpoint.json"
        command = ["-m", "blimpworks", *arguments(output, hf_id, revision)]
        return output, call(command, hub, tmp_path / "store", **environment)

    return run


def sentence_of(done):
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr.strip().splitlines()[-1]


@pytest.mark.slow
def test_a_model_is_retrieved_and_found_again_offline(fetch, hub):
    output, done = fetch()
    assert done.returncode == 0, done.stderr
    sealed = json.loads(output.read_text())
    kept = ["config.json", "model.safetensors", "tokenizer.model"]
    good = REPOSITORIES["lab/good"]
    assert sealed["files"] == {name: sha256(good[name]).hexdigest() for name in kept}
    source = {"kind": "retrieved", "hf_id": "lab/good", "revision": COMMIT}
    assert sealed["source"] == source
    record = json.loads(output.with_name("checkpoint.json.prov.json").read_text())
    assert record["notes"]["source"] == source
    seal = output.read_bytes()
    hub.asked.clear()
    _, again = fetch(HF_HUB_OFFLINE="1")
    assert again.returncode == 0, again.stderr
    assert output.read_bytes() == seal
    assert hub.asked == []


REFUSED = {
    ("lab/absent", "main"): "does not exist on http",
    ("lab/good", "v9"): "has no revision 'v9' on http",
    ("lab/gated", "main"): "is gated (HTTP 403)",
    ("lab/sharded", "main"): "lacks model-2.safetensors, which its index names",
    ("lab/pickled", "main"): "has no *.safetensors weights",
    ("not a name", "main"): "is no name of the hub",
}
ONE_AFTER_ANOTHER = """
import json, sys
from blimpworks.cli import main
for sys.argv[1:] in json.loads(sys.argv[1]):
    try:
        main()
    except SystemExit as end:
        assert end.code == 2
"""


@pytest.mark.slow
def test_models_that_are_refused(hub, tmp_path):
    """Each with one sentence; in one process, because starting one takes the longest."""
    output = tmp_path / "model" / "checkpoint.json"
    runs = [arguments(output, *model) for model in REFUSED]
    done = call(["-c", ONE_AFTER_ANOTHER, json.dumps(runs)], hub, tmp_path / "store")
    assert done.returncode == 0, done.stderr
    said = [line for line in done.stderr.splitlines() if line.startswith("blimpworks: ")]
    for sentence, expected in zip(said, REFUSED.values(), strict=True):
        assert expected in sentence
    assert not output.exists()


@pytest.mark.slow
def test_a_token_opens_a_gated_model(fetch):
    _, done = fetch("lab/gated", HF_TOKEN="hf_good")
    assert done.returncode == 0, done.stderr
    assert "hf_good" not in done.stderr


@pytest.mark.slow
def test_no_hub_and_no_cache(fetch):
    _, done = fetch(HF_ENDPOINT="http://127.0.0.1:1")
    assert "the hub http://127.0.0.1:1 cannot be reached" in sentence_of(done)
    _, done = fetch(BLIMPWORKS_OFFLINE="1")
    assert "BLIMPWORKS_OFFLINE forbids the network" in sentence_of(done)


@pytest.mark.slow
def test_damaged_weights(fetch, hub):
    hub.spoil = lambda body: body[:-1] + b"?"
    try:
        output, done = fetch()
    finally:
        hub.spoil = lambda body: body
    assert "model.safetensors in the cache is damaged" in sentence_of(done)
    assert not output.exists()


@pytest.mark.slow
def test_a_directory_with_other_files(fetch, tmp_path):
    thesis = tmp_path / "model" / "thesis.tex"
    thesis.parent.mkdir()
    thesis.write_text("precious")
    shutil.copy(thesis, thesis.with_name("notes.json"))
    _, done = fetch()
    assert "is no part of a retrieved model" in sentence_of(done)
    assert sorted(p.name for p in thesis.parent.iterdir()) == ["notes.json", "thesis.tex"]


@pytest.fixture
def shared(hub):
    """A cache on another file system than the test's, filled by somebody who had a network."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        folder = Path(name)
        command = arguments(folder / "own" / "checkpoint.json", "lab/good", "main")
        done = call(["-m", "blimpworks", *command], hub, folder / "home")
        assert done.returncode == 0, done.stderr
        hub.asked.clear()
        yield folder / "home" / "hub"


def state_of(folder):
    return {str(p.relative_to(folder)): p.stat().st_mtime_ns for p in folder.rglob("*")}


@pytest.mark.slow
def test_a_shared_cache_is_read_and_not_written(fetch, hub, shared):
    before = state_of(shared)
    output, done = fetch(BLIMPWORKS_CACHE=str(shared), HF_HUB_OFFLINE="1")
    assert done.returncode == 0, done.stderr
    weights = output.with_name("model.safetensors")
    assert weights.is_symlink()
    assert weights.resolve().is_relative_to(shared.resolve())
    assert json.loads(output.read_text())["source"]["revision"] == COMMIT
    assert hub.asked == []
    assert state_of(shared) == before


@pytest.mark.slow
def test_with_a_network_a_branch_of_a_shared_cache_is_what_the_hub_says_it_is(fetch, hub, shared):
    _, done = fetch(BLIMPWORKS_CACHE=str(shared))
    assert done.returncode == 0, done.stderr
    requested = [path for path in hub.asked if "lab/good" in path]
    assert requested == ["/api/models/lab/good/revision/main"]


@pytest.mark.slow
def test_what_a_shared_cache_lacks_is_downloaded_beside_it(fetch, hub, shared):
    before = state_of(shared)
    next(shared.glob("**/model.safetensors")).unlink()
    del before[str(next(shared.glob("**/snapshots/*")).relative_to(shared) / "model.safetensors")]
    output, done = fetch(BLIMPWORKS_CACHE=str(shared))
    assert done.returncode == 0, done.stderr
    assert not output.with_name("model.safetensors").is_symlink()
    assert {*state_of(shared)} == {*before}


@pytest.mark.slow
def test_two_directories_take_a_model_from_one_cache_at_a_time(hub, tmp_path, shared):
    outputs = [tmp_path / name / "model" / "checkpoint.json" for name in ("one", "other")]

    def retrieve(output):
        command = ["-m", "blimpworks", *arguments(output, "lab/good", "main")]
        return call(command, hub, output.parent.parent / "home", BLIMPWORKS_CACHE=str(shared))

    with ThreadPoolExecutor(2) as threads:
        done = list(threads.map(retrieve, outputs))
    assert [each.returncode for each in done] == [0, 0], done
    assert outputs[0].read_bytes() == outputs[1].read_bytes()
