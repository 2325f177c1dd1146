"""Models from a hub on the loopback, through the real client library and command line."""

import json
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import pytest

from support.hub_kit import COMMIT, call, serving


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
    "lab/coded": MODEL
    | {
        "tokenizer_config.json": b'{"auto_map": {"AutoTokenizer": ["modeling_evil.T", null]}}',
        "model.safetensors": safetensors(4),
    },
    "lab/gated": MODEL | {"model.safetensors": safetensors(2)},
}


@pytest.fixture(scope="module")
def hub():
    with serving(REPOSITORIES) as server:
        yield server


def arguments(output, hf_id, revision):
    given = {"--name": "tiny", "--scope": "multi", "--hf-id": hf_id, "--revision": revision}
    given |= {"--architecture": "causal", "--dtype": "float32"}
    given |= {"--first-token": "bos", "--output": str(output)}
    return ["retrieve-model", *(word for pair in given.items() for word in pair)]


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
    ("lab/coded", "main"): "lab/coded: tokenizer_config.json names code of its own (auto_map)",
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
