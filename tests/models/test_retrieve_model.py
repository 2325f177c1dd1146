"""Test models from a hub on the loopback, through the real client library and command line."""

import json
import sys
import tempfile
import time
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import pytest
from huggingface_hub import constants

from blimpworks.campaign import table_files
from blimpworks.campaign.catalogue import ModelRow
from blimpworks.campaign.table_files import LockedModel, read_lock, record
from blimpworks.cli import main
from blimpworks.models import retrieve
from blimpworks.models.own_code import ModelCode
from support import hub_kit, tiny
from support.hub_kit import COMMIT, EXPIRED, GOOD, TINY_MODEL, safetensors, serving

pytestmark = pytest.mark.slow
LATER = "fedcba9876543210fedcba9876543210fedcba98"
MODEL = TINY_MODEL | {"modeling_evil.py": b"raise SystemExit", "pytorch_model.bin": b"pickle"}
MODEL |= {"README.md": b"# read me", "onnx/config.json": b"{}"}
INDEX = b'{"weight_map": {"v": "model-2.safetensors", "w": "model-1.safetensors"}}'
SHARDS = MODEL | {"model.safetensors.index.json": INDEX, "model-1.safetensors": safetensors(3)}
REPOSITORIES = {
    "lab/good": MODEL | {"model.safetensors": safetensors(1)},
    "lab/pickled": MODEL,
    "lab/sharded": SHARDS
    | dict.fromkeys(
        ["model-2.safetensors", "model-3.safetensors", "consolidated.safetensors"], safetensors(5)
    ),
    "lab/adapted": MODEL | {"model.safetensors": safetensors(7), "adapter_config.json": b"{}"},
    "lab/partly": SHARDS,
    "lab/coded": MODEL
    | {
        "tokenizer_config.json": b'{"auto_map": {"AutoTokenizer": ["modeling_evil.T", null]}}',
        "model.safetensors": safetensors(4),
    },
    "lab/own": MODEL
    | {
        "config.json": b'{"model_type": "own", "auto_map": {"AutoConfig": "modeling_evil.C"}}',
        "parts/layers.py": b"raise SystemExit",
        "model.safetensors": safetensors(8),
    },
    "lab/eight": MODEL | {"model.safetensors": safetensors(9, 1, "F8_E4M3")},
    "lab/lowered": {
        "config.json": b'{"model_type": "bert"}',
        "vocab.txt": b"[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nBerlin\nRom\n",
        "model.safetensors": safetensors(10),
    },
    "lab/gated": MODEL | {"model.safetensors": safetensors(2)},
    # Larger than the pieces in which the library reads.
    "lab/large": MODEL | {"model.safetensors": safetensors(6, 3_000_000)},
}


@pytest.fixture(scope="module")
def server():
    with serving(REPOSITORIES) as running:
        yield running


@pytest.fixture
def hub(server):
    server.reset()
    return server


@pytest.fixture
def client(hub, monkeypatch, capsys, caplog):
    """Return a function that runs a command line here without pauses: exit code and messages."""
    caplog.set_level("INFO")

    def run(words, store, **environment):
        caplog.clear()
        with monkeypatch.context() as patch:
            hub_kit.use(hub, store, patch)
            for name, value in environment.items():
                patch.setenv(name, value)
            patch.setattr(constants, "ENDPOINT", environment.get("HF_ENDPOINT", hub.url))
            offline = environment.get("HF_HUB_OFFLINE") == "1"
            patch.setattr(constants, "HF_HUB_OFFLINE", offline)
            patch.setattr(time, "sleep", lambda seconds, sleep=time.sleep: sleep(seconds / 100))
            patch.setattr(sys, "argv", ["blimpworks", *map(str, words)])
            patch.chdir(Path.cwd())  # to come back from where the command goes
            with pytest.raises(SystemExit) as end:
                main()
        said = [caplog.text, *capsys.readouterr()]
        return SimpleNamespace(code=end.value.code or 0, said="".join(said))

    return run


@pytest.fixture
def table(tmp_path, monkeypatch):
    """Write a table of models below the working directory, beside which commits are locked."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "config" / "models.tsv"
    path.parent.mkdir()
    columns = [*ModelRow.model_fields]
    cells = dict.fromkeys(columns, "") | {"name": "tiny", "label": "Tiny", "family": "Tiny"}
    cells |= {"hf_id": "lab/good", "revision": "main", "architecture": "causal"}
    cells |= {"engine": "transformers", "scope": "multilingual", "tuning": "base"}
    cells |= {"dtype": "float32", "first_token": "bos", "gated": "no"}
    path.write_text("\n".join("\t".join(row) for row in (columns, cells.values())) + "\n")
    return path


def locked(table):
    return {key: row.commit for key, row in read_lock(LockedModel, table).items()}


@pytest.fixture
def fetch(hub, client, tmp_path):
    """Return a function that runs the command with a cache of the test's own."""

    def run(hf_id="lab/good", revision="main", **environment):
        output = tmp_path / "model" / "checkpoint.json"
        words = tiny.retrieve_words(output, hf_id, revision)
        return output, client(words, tmp_path / "store", **environment)

    return run


def sealed(fetched):
    output, done = fetched
    assert done.code == 0, done.said
    return json.loads(output.read_text())


def sentence_of(done):
    assert done.code == 2, done.said
    assert "Traceback" not in done.said
    return done.said.strip().splitlines()[-1]


def test_a_model_is_retrieved_and_found_again_offline(fetch, hub):
    output, done = fetch()
    kept = ["config.json", "model.safetensors", "tokenizer.json"]
    good = REPOSITORIES["lab/good"]
    seal = sealed((output, done))
    assert seal["files"] == {name: sha256(good[name]).hexdigest() for name in kept}
    source = {"kind": "retrieved", "hf_id": "lab/good", "revision": COMMIT}
    assert seal["source"] == source
    record = json.loads(output.with_name("checkpoint.json.prov.json").read_text())
    assert record["notes"]["source"] == source
    hub.asked.clear()
    assert sealed(fetch(HF_HUB_OFFLINE="1")) == seal
    assert hub.asked == []


def test_large_files_come_from_a_cdn_that_is_told_no_token(fetch, hub):
    _, done = fetch(HF_TOKEN=GOOD)
    assert done.code == 0, done.said
    assert hub.cdn.requests
    assert not any("uthorization" in str(headers) for _, headers in hub.cdn.requests)
    assert "s3cret" not in done.said


def test_the_shards_that_an_index_names_are_retrieved_and_no_others(fetch):
    files = sealed(fetch("lab/sharded"))["files"]
    weights = ["model-1.safetensors", "model-2.safetensors", "model.safetensors.index.json"]
    assert [name for name in files if "safetensors" in name] == weights


def test_a_pull_request_is_a_revision(fetch, hub):
    good = REPOSITORIES["lab/good"]
    hub.move("lab/good", "refs/pr/7", LATER, good | {"model.safetensors": safetensors(9)})
    seal = sealed(fetch(revision="refs/pr/7"))
    assert seal["source"]["revision"] == LATER
    assert seal["files"]["model.safetensors"] == sha256(safetensors(9)).hexdigest()


def test_a_gguf_file_is_retrieved_alone(fetch, hub, tmp_path):
    kit = pytest.importorskip("support.gguf_kit", reason="writes GGUF files by the package gguf")
    text = tiny.write_corpus(tmp_path / "text", 60)
    made = tiny.make_transformer(text, tmp_path / "m/checkpoint.json")
    content = kit.write_gguf(made.parent, tmp_path / "tiny.gguf").read_bytes()
    files = REPOSITORIES["lab/good"] | {"q4/tiny.gguf": content}
    hub.move("lab/good", "refs/pr/8", LATER, files)
    hub.asked.clear()
    seal = sealed(fetch("lab/good:q4/tiny.gguf", "refs/pr/8", XDG_CACHE_HOME=str(tmp_path)))
    address, digest = f"lab/good:q4/tiny.gguf@{LATER}", sha256(content).hexdigest()
    source = {"kind": "converted", "address": address, "file": "tiny.gguf", "sha256": digest}
    assert seal["source"] == source | {"note": "GGUF, weights in F32"}
    assert not [path for path in hub.asked if "config.json" in path or "safetensors" in path]


def test_a_model_that_was_renamed_is_followed_and_its_new_name_said(fetch, hub):
    hub.renamed["lab/old"] = "lab/good"
    output, done = fetch("lab/old")
    assert sealed((output, done))["source"]["hf_id"] == "lab/old"
    assert "lab/old is called lab/good on the hub now" in done.said


REFUSED = {
    ("lab/absent", "main", ""): "does not exist on http",
    ("lab/good", "v9", ""): "has no revision 'v9' on http",
    ("lab/gated", "main", ""): "is gated (HTTP 401): its licence must be accepted first; do so at",
    ("lab/gated", "main", "hf_x"): "(HTTP 403), and the account of your token has not accepted its",
    ("lab/good", "main", EXPIRED): "(HTTP 401), which does not know your token; set HF_TOKEN to a",
    ("lab/off", "main", ""): "is disabled on http",
    ("lab/partly", "main", ""): "lacks model-2.safetensors, which its index names",
    ("lab/adapted", "main", ""): "lab/adapted has an adapter of PEFT (adapter_config.json)",
    ("lab/coded", "main", ""): "lab/coded: tokenizer_config.json names code of its own (auto_map)",
    (
        "lab/eight",
        "main",
        "",
    ): "lab/eight has weights in F8_E4M3, and no configuration says by what",
    ("lab/lowered", "main", ""): "has vocab.txt with capitals (such as 'Berlin'), and transformers",
    ("lab/pickled", "main", ""): "has no *.safetensors; expected a model's weights",
    ("not a name", "main", ""): "is no name of the hub",
    ("lab/good:q4.gguf", "main", ""): "has no file q4.gguf; correct it (OWNER/NAME:FILE.gguf)",
}


@pytest.mark.parametrize("model", REFUSED, ids="@".join)
def test_a_model_that_is_refused(fetch, hub, model):
    hub.disabled = {"lab/off"}
    hf_id, revision, token = model
    output, done = fetch(hf_id, revision, HF_TOKEN=token)
    sentence = sentence_of(done)
    assert REFUSED[model] in sentence
    assert not token or token not in done.said
    assert not output.exists()


def test_code_is_retrieved_with_consent_to_its_digest_alone(fetch, client, hub, tmp_path):
    own = REPOSITORIES["lab/own"]
    classes = {"AutoConfig": "modeling_evil.C"}
    files = {name: own[name].decode() for name in sorted(own) if name.endswith(".py")}
    digest = ModelCode(classes=classes, files=files).digest
    assert "lab/own: config.json names code of its own" in sentence_of(fetch("lab/own")[1])
    assert not [path for path in hub.asked if path.endswith(".py")]
    output = tmp_path / "model" / "checkpoint.json"
    words = tiny.retrieve_words(output, "lab/own", "main")
    done = client([*words, f"--run-model-code={'0' * 64}"], tmp_path / "store")
    assert f"lab/own has code of its own with digest {digest}, but" in sentence_of(done)
    assert not output.exists()
    for offline in ("", "1"):
        consenting = [*words, f"--run-model-code={digest}"]
        done = client(consenting, tmp_path / "store", HF_HUB_OFFLINE=offline)
        seal = sealed((output, done))
        names = {"config.json", "model.safetensors", "model_code.json", "tokenizer.json"}
        assert seal["files"].keys() == names
        assert seal["files"]["model_code.json"] == digest
    record = json.loads(output.with_name("checkpoint.json.prov.json").read_text())
    assert record["params"]["run_model_code"] == [digest]
    # The cache is unchanged.
    copies = (path for path in (tmp_path / "store").rglob("config.json") if path.is_file())
    assert own["config.json"] in [path.read_bytes() for path in copies]
    done = client(["evaluate", "lab/own", "--run-model-code=show"], tmp_path / "store")
    assert done.code == 0, done.said


def test_a_token_opens_a_gated_model(fetch):
    _, done = fetch("lab/gated", HF_TOKEN=GOOD)
    assert done.code == 0, done.said
    assert GOOD not in done.said


API, CONFIG, WEIGHTS = "GET /api/models/lab/good/revision", "resolve/", "GET /"
LIMIT = {"RateLimit": '"api";r=0;t=2', "RateLimit-Policy": '"fixed window";"api";q=500;w=300'}
PASSING = {
    "too many requests in a window": ("hub", API, 429, LIMIT),
    "a hub that is down": ("hub", API, 503, {}),
    "too many requests for files": ("hub", CONFIG, 429, {"Retry-After": "1"}),
    "a CDN that fails": ("cdn", WEIGHTS, 503, {}),
}


@pytest.mark.parametrize("trouble", PASSING)
def test_what_passes_is_waited_for(fetch, hub, trouble):
    port, text, status, headers = PASSING[trouble]
    server = hub if port == "hub" else hub.cdn
    server.troubles += 2 * [(text, status, headers)]
    assert sealed(fetch())["source"]["revision"] == COMMIT
    assert server.troubles == []


LASTING = {
    429: "is not given now, after too many requests from here (HTTP 429: Slow down); try again",
    403: "is not given to you (HTTP 403: Slow down); allow your token to read it in the token's",
    500: "(HTTP 500: Slow down); try again later.",
}


@pytest.mark.parametrize("status", LASTING)
def test_what_does_not_pass_is_one_sentence(fetch, hub, status):
    hub.troubles += 99 * [(API, status, {"X-Error-Message": "Slow down.", "Retry-After": "1"})]
    assert LASTING[status] in sentence_of(fetch()[1])
    assert len([path for path in hub.asked if "lab/good" in path]) == (1 if status == 403 else 6)


def test_a_transfer_that_breaks_off_goes_on_where_it_ended(fetch, hub):
    hub.cdn.cuts = [11_000_000, 100]
    output, done = fetch("lab/large")
    files = sealed((output, done))["files"]
    large = REPOSITORIES["lab/large"]["model.safetensors"]
    assert files["model.safetensors"] == sha256(large).hexdigest()
    assert "s3cret" not in done.said
    first, *more = [headers.get("Range") for _, headers in hub.cdn.requests]
    assert first is None
    assert more == 2 * [f"bytes={10 * 1024 * 1024}-"]


@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
def test_damaged_files(fetch, hub, name):
    target, what = (hub.cdn, "spoil") if name.startswith("model") else (hub, "spoil_small")
    setattr(target, what, lambda body: body[:-1] + b"?")
    output, done = fetch()
    assert f"{name} in the cache is damaged: its " in sentence_of(done)
    assert not output.exists()


def test_chunks_that_cannot_be_had_are_replaced_by_the_whole_file(fetch, hub):
    hub.xet = True
    output, done = fetch()
    sealed((output, done))
    assert "by HTTP" in done.said


def test_no_hub_and_no_cache(fetch):
    _, done = fetch(HF_ENDPOINT="http://127.0.0.1:1")
    assert "the hub http://127.0.0.1:1 cannot be reached" in sentence_of(done)
    _, done = fetch(BLIMPWORKS_OFFLINE="1")
    assert "BLIMPWORKS_OFFLINE forbids the network" in sentence_of(done)


def move_main(hub, seed=9):
    files = REPOSITORIES["lab/good"] | {"model.safetensors": safetensors(seed)}
    hub.history["lab/good", COMMIT] = REPOSITORIES["lab/good"]
    hub.move("lab/good", "main", LATER, files)


def test_a_branch_is_locked_to_the_commit_that_it_was_at_first(fetch, table):
    sealed(fetch(BLIMPWORKS_MODELS=str(table)))
    assert locked(table) == {("lab/good", "main"): COMMIT}
    before = table.with_name("models.lock.tsv").read_bytes()
    sealed(fetch(BLIMPWORKS_MODELS=str(table)))
    assert table.with_name("models.lock.tsv").read_bytes() == before


def test_a_branch_that_has_moved_says_what_to_do(fetch, hub, table, client, tmp_path):
    sealed(fetch(BLIMPWORKS_MODELS=str(table)))
    move_main(hub)
    said = sentence_of(fetch(BLIMPWORKS_MODELS=str(table))[1])
    assert f"lab/good: 'main' has moved on the hub, from commit {COMMIT}, locked on 2" in said
    assert f"to {LATER}; to stay with the first, make it the revision in {table}, and" in said
    # Keep the first commit.
    assert sealed(fetch(revision=COMMIT))["source"]["revision"] == COMMIT
    # Take the second commit.
    assert f"`blimpworks pin {table} tiny`." in said
    done = client(["pin", table, "tiny"], tmp_path / "store")
    assert done.code == 0, done.said
    assert f"lab/good\tmain\t{LATER}" in done.said
    assert sealed(fetch(BLIMPWORKS_MODELS=str(table)))["source"]["revision"] == LATER
    assert read_lock(LockedModel, table)["lab/good", "main"].replaces == COMMIT


def test_offline_a_branch_is_the_commit_that_was_locked(fetch, hub, table):
    sealed(fetch(BLIMPWORKS_MODELS=str(table)))
    move_main(hub)
    offline = fetch(BLIMPWORKS_MODELS=str(table), HF_HUB_OFFLINE="1")
    assert sealed(offline)["source"]["revision"] == COMMIT


def test_a_commit_is_neither_looked_up_nor_locked(fetch, hub, table):
    sealed(fetch(revision=COMMIT, BLIMPWORKS_MODELS=str(table)))
    assert locked(table) == {}
    assert not any("/revision/" in path for path in hub.asked)


def test_an_evaluation_goes_by_the_repositorys_commits(fetch, hub, table, tmp_path):
    sealed(fetch(BLIMPWORKS_MODELS=str(table)))
    own = tmp_path / "evaluation" / "models.tsv"
    own.parent.mkdir()
    tables = f"{own}:{table}"
    sealed(fetch(BLIMPWORKS_MODELS=tables))
    assert locked(own) == locked(table)
    own.with_name("models.lock.tsv").unlink()
    move_main(hub)
    said = sentence_of(fetch(BLIMPWORKS_MODELS=tables)[1])
    # The repository's table locks it, and the evaluation's own table may change it.
    assert f"in {table.with_name('models.lock.tsv')}, to {LATER}; to stay" in said
    assert said.endswith(f"in {own}, and to take the second, run `blimpworks pin {own} tiny`.")


def test_pinning_in_a_table_of_ones_own_replaces_the_repositorys(table, tmp_path, monkeypatch):
    day = "2026-01-31"
    record(LockedModel(hf_id="lab/good", revision="main", commit=COMMIT, date=day), table)
    own = tmp_path / "own" / "models.tsv"
    own.parent.mkdir()
    own.write_text(table.read_text())
    monkeypatch.setattr(table_files, "REPOSITORY", tmp_path)
    monkeypatch.setattr(retrieve.hub, "tip_of", lambda *_: LATER)
    assert [*retrieve.pin_models(own)] == []  # already locked
    [now] = retrieve.pin_models(own, ["tiny"])
    assert (now.commit, now.replaces) == (LATER, COMMIT)
    tables = table_files.model_tables(own)
    assert table_files.locked_models(tables)["lab/good", "main"].row == now
    assert locked(table) == {("lab/good", "main"): COMMIT}


def test_nothing_is_locked_of_a_model_that_is_refused(fetch, table):
    sentence_of(fetch("lab/pickled", BLIMPWORKS_MODELS=str(table))[1])
    assert locked(table) == {}


def test_what_is_not_locked_yet_can_be_locked_before_it_is_retrieved(client, hub, table, tmp_path):
    done = client(["pin", table], tmp_path / "store")
    assert done.code == 0, done.said
    assert locked(table) == {("lab/good", "main"): COMMIT}
    move_main(hub)
    client(["pin", table], tmp_path / "store")
    assert locked(table) == {("lab/good", "main"): COMMIT}
    said = sentence_of(client(["pin", table, "tinny"], tmp_path / "store"))
    assert f"{table} has no row 'tinny'; did you mean tiny?" in said


def test_of_a_model_for_each_language_the_retrieved_are_pinned(client, hub, table, tmp_path):
    sealed_as = {"commit": LATER, "date": "2026-01-31"}
    record(LockedModel(hf_id="lab/good", revision="main", **sealed_as), table)
    record(LockedModel(hf_id="other/good", revision="main", **sealed_as), table)
    table.write_text(table.read_text().replace("lab/good", "lab/{lang}"))
    done = client(["pin", table, "tiny"], tmp_path / "store")
    assert done.code == 0, done.said
    assert locked(table) == {("lab/good", "main"): COMMIT, ("other/good", "main"): LATER}


@pytest.fixture
def shared(hub, client):
    """Fill a cache on another file system, as a person with a network would."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        folder = Path(name)
        words = tiny.retrieve_words(folder / "own" / "checkpoint.json", "lab/good", "main")
        done = client(words, folder / "home")
        assert done.code == 0, done.said
        hub.asked.clear()
        yield folder / "home" / "hub"


def state_of(folder):
    return {str(p.relative_to(folder)): p.stat().st_mtime_ns for p in folder.rglob("*")}


def test_a_shared_cache_is_read_and_not_written(fetch, hub, shared):
    before = state_of(shared)
    output, done = fetch(BLIMPWORKS_CACHE=str(shared), HF_HUB_OFFLINE="1")
    assert done.code == 0, done.said
    weights = output.with_name("model.safetensors")
    assert weights.is_symlink()
    assert weights.resolve().is_relative_to(shared.resolve())
    assert json.loads(output.read_text())["source"]["revision"] == COMMIT
    assert hub.asked == []
    assert state_of(shared) == before


def test_with_a_network_a_branch_of_a_shared_cache_is_what_the_hub_says_it_is(fetch, hub, shared):
    _, done = fetch(BLIMPWORKS_CACHE=str(shared))
    assert done.code == 0, done.said
    requested = [path for path in hub.asked if "lab/good" in path]
    assert requested == ["/api/models/lab/good/revision/main"]


def test_what_a_shared_cache_lacks_is_downloaded_beside_it(fetch, hub, shared):
    before = state_of(shared)
    next(shared.glob("**/model.safetensors")).unlink()
    del before[str(next(shared.glob("**/snapshots/*")).relative_to(shared) / "model.safetensors")]
    output, done = fetch(BLIMPWORKS_CACHE=str(shared))
    assert done.code == 0, done.said
    assert not output.with_name("model.safetensors").is_symlink()
    assert {*state_of(shared)} == {*before}
