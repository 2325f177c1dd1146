"""Test what an evaluation prepares, and that one process runs it and ends in order."""

import os
import shutil
import signal
import subprocess
import sys
from contextlib import chdir

import pytest

from blimpworks.analysis.scoring_variants import parse_settings
from blimpworks.campaign.registry import find_benchmark
from blimpworks.errors import UserError
from blimpworks.evaluation import session
from blimpworks.evaluation.machine import Machine
from blimpworks.evaluation.request import CAMPAIGN_FILE, MODELS_FILE
from blimpworks.evaluation.run import folder_lock
from blimpworks.evaluation.session import Evaluation
from blimpworks.records.job import REPOSITORY
from support import ngram_kit, tiny
from support.hostile import edit


@pytest.fixture
def elsewhere(monkeypatch, tmp_path):
    monkeypatch.setattr(session, "REPOSITORY", tmp_path)
    machine = Machine(16.0, (), frozenset({"vllm"}))
    monkeypatch.setattr(session, "this_machine", lambda: machine)
    (tmp_path / "config").mkdir()
    return tmp_path


def engine_of(model, *, remote):
    evaluation = Evaluation(profile="slurm" if remote else None)
    evaluation.resolve([model])
    return evaluation.models[0].row.engine


def test_on_a_cluster_with_gpus_a_model_is_run_by_vllm_wherever_the_command_is_typed(elsewhere):
    assert engine_of("gpt2", remote=True) == "transformers", "no cluster is described"
    shutil.copy(REPOSITORY / "config/site.example.yaml", elsewhere / "config/site.yaml")
    assert engine_of("gpt2", remote=True) == "vllm"
    assert engine_of("gpt2", remote=False) == "transformers"
    assert engine_of("bert-base-multilingual-cased", remote=True) == "transformers"


def test_quantised_weights_are_run_by_vllm_alone(trained, elsewhere, tmp_path):
    model = tiny.unsealed(trained("causal"), tmp_path / "m")
    edit(model / "config.json", quantization_config={"quant_method": "fp8"})
    shutil.copy(REPOSITORY / "config/site.example.yaml", elsewhere / "config/site.yaml")
    assert engine_of(str(model), remote=True) == "vllm"
    with pytest.raises(UserError, match=r"m has quantised weights \(config.json: fp8"):
        engine_of(str(model), remote=False)


@pytest.mark.parametrize(
    ("names", "gpus", "shard"),
    [
        (["gpt2"], (), None),
        (["gpt2", "qwen3-1.7b"], (), 291),
        (["llama-3.1-70b"], (), 20),
        (["qwen3-1.7b"], (80.0,), None),
    ],
)
def test_large_models_are_scored_in_small_shards_where_no_gpu_is(monkeypatch, names, gpus, shard):
    monkeypatch.setattr(session, "this_machine", lambda: Machine(400.0, gpus))
    evaluation = Evaluation("embedded", engine="transformers")
    evaluation.resolve(names)
    evaluation.choose_data()
    scoring = {} if shard is None else {"scoring": {"shard": shard}}
    assert scoring.items() <= evaluation.settings("here").items()
    assert ("scoring" in evaluation.settings("here")) == bool(scoring)


@pytest.mark.parametrize("architecture", ["masked", "causal"])
def test_settings_of_scoring_reach_the_campaign(trained, tmp_path, monkeypatch, architecture):
    monkeypatch.chdir(REPOSITORY)
    scoring = parse_settings(["mntp", "batch_tokens=512"], "transformers", "--scoring")
    benchmarks = ("babylm_wug_adjectives",)
    evaluation = Evaluation("embedded", benchmarks, suite="babylm-strict", scoring=scoring)
    evaluation.resolve([str(tiny.unsealed(trained(architecture), tmp_path / "m"))])
    if architecture == "causal":
        with pytest.raises(UserError, match=r"sets masked, .* and the named ones are causal; leav"):
            evaluation.prepare(tmp_path)
    else:
        options = evaluation.prepare(tmp_path).campaign.scoring
        values = (options.masked.pll, options.batch_tokens, options.first_token)
        assert values == ("next_token", 512, "encoded")


@pytest.mark.parametrize(("gpus", "shard"), [((), 128), ((80.0,), 1000)])
def test_without_a_gpu_answers_are_kept_every_second_batch(monkeypatch, tmp_path, gpus, shard):
    monkeypatch.setattr(session, "this_machine", lambda: Machine(400.0, gpus))
    monkeypatch.chdir(REPOSITORY)
    evaluation = Evaluation("released", ("lmentry",), ("deu",), engine="transformers")
    evaluation.resolve(["smollm2-135m-instruct"])
    campaign = evaluation.prepare(tmp_path).campaign
    assert find_benchmark("lmentry").generation.options(campaign).shard == shard


@pytest.mark.parametrize("before", [None, "models of an earlier evaluation\n"])
def test_the_table_of_models_is_put_back(before, tmp_path, monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    if before is not None:
        (tmp_path / MODELS_FILE).write_text(before)
    # CLAMS has no Turkish.
    evaluation = Evaluation("embedded", ("clams",), ("tur",))
    evaluation.resolve(["ngram-5"])
    with pytest.raises(UserError):
        evaluation.prepare(tmp_path)
    table = tmp_path / MODELS_FILE
    assert (table.read_text() if table.exists() else None) == before
    assert not (tmp_path / CAMPAIGN_FILE).exists()


def test_another_model_of_the_same_name_replaces_no_evaluation_unasked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "evaluations/m"
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "m.arpa").write_text(ngram_kit.ARPA)
    for name, replaced in (("first", []), ("second", [f"m ({tmp_path}/first/m.arpa)"])):
        evaluation = Evaluation("embedded", ("clams",), ("eng",))
        evaluation.resolve([f"{name}/m.arpa"])
        assert evaluation.replaced_models(out) == replaced
        if name == "first":
            out.mkdir(parents=True)
            with chdir(REPOSITORY):
                evaluation.prepare(out)
    evaluation = Evaluation("embedded", ("clams",), ("eng",))
    message = r"m has an evaluation of other models .*m \(.*first/m.arpa\). Name another"
    with pytest.raises(UserError, match=message):
        evaluation.run(["second/m.arpa"], None)


def test_others_are_kept_out_until_the_process_and_its_children_are_done(tmp_path):
    folder = tmp_path / "new" / "evaluation"
    with folder_lock(folder) as lock:
        refused = pytest.raises(UserError, match="another process is running the evaluation in ")
        with refused, folder_lock(folder):
            pass
        waits = [sys.executable, "-c", "input()"]
        child = subprocess.Popen(waits, stdin=subprocess.PIPE, pass_fds=[lock])
    with pytest.raises(UserError), folder_lock(folder):
        pass
    child.communicate(b"\n")
    with folder_lock(folder):
        pass


def test_other_disks_than_can_lock_keep_nobody_out(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(95, "operation not supported")

    monkeypatch.setattr("fcntl.flock", refuse)
    with folder_lock(tmp_path) as lock:
        assert os.fstat(lock)


CHILD = "import time; print('ready', flush=True); time.sleep(60)"
SCRIPT = f"""
import subprocess, sys
from blimpworks.evaluation.run import Interrupts

with Interrupts() as interrupts:
    child = subprocess.Popen([sys.executable, "-c", {CHILD!r}], process_group=0)
    interrupts.process = child
    child.wait()
print(interrupts.caught, child.returncode)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "ignored", "ending"),
    [
        # As ``command &`` starts it.
        (["env", "--default-signal=TERM", "--ignore-signal=INT"], signal.SIGINT, signal.SIGTERM),
        (["nohup", "env", "--default-signal=INT"], signal.SIGHUP, signal.SIGINT),
    ],
)
def test_a_signal_that_is_ignored_ends_nothing_and_another_interrupts_all(before, ignored, ending):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    process = subprocess.Popen([*before, sys.executable, "-c", SCRIPT], **pipes)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(ignored)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=0.5)
    process.send_signal(ending)
    assert process.communicate()[0] == f"True {-signal.SIGINT}\n"
    assert process.returncode == 0
