"""Test attempts at a job with real processes: the journal's entries for each way to end."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.cluster import attempt
from blimpworks.cluster.attempt import cause_of
from blimpworks.cluster.slurm import Allocation, read_job
from blimpworks.errors import UserError
from blimpworks.records.journal import journal_path, read_attempts
from blimpworks.scoring.progress import ATTEMPT
from blimpworks.scoring.run import Shards, score_items
from support import tiny
from support.journal_kit import stand_in
from support.vllm_kit import family, living, wait_for

OPTIONS = ScoringOptions(shard=10, batch_tokens=200)
SUPERVISED = """
import sys
from pathlib import Path
from blimpworks.cluster.attempt import run_attempt
sys.exit(run_attempt([sys.executable, "-c", sys.argv[2]], Path(sys.argv[1])))
"""
FROM_WORK = "from blimpworks.cluster.attempt import die_with_parent; die_with_parent(); "
WAIT = "import time; print('up', flush=True); time.sleep(60)"


def without_slurm():
    return {k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "BLIMPWORKS_"))}


@pytest.fixture
def begin(tmp_path):
    """Return a function that starts Python code as the work of an attempt."""
    log = tmp_path / "job.log"
    started = []

    def start(code):
        with log.open("ab") as handle:
            how = {"stdout": subprocess.PIPE, "stderr": handle, "text": True}
            command = [sys.executable, "-c", SUPERVISED, str(log), code]
            process = subprocess.Popen(command, env=without_slurm(), **how)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture
def last(tmp_path):
    return lambda: read_attempts(journal_path(tmp_path / "job.log"))[-1]


@pytest.mark.parametrize(
    ("code", "status", "cause"),
    [
        ("pass", 0, "done"),
        ("raise SystemExit(2)", 2, "input"),
        ("raise ValueError", 1, "error"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", 137, "killed"),
        ("import sys; sys.stderr.write('CUDA out of memory.'); sys.exit(2)", 2, "gpu_memory"),
    ],
)
def test_an_attempt_ends_as_its_work_did_and_the_journal_says_why(begin, last, code, status, cause):
    process = begin(code)
    assert process.wait(30) == status
    ended = last().ended
    assert ended.cause == cause
    assert ended.rss_mb > 1


def test_the_journal_says_that_an_attempt_was_cancelled_and_its_work_ends_too(begin, last):
    process = begin(WAIT)
    assert process.stdout.readline() == "up\n"
    [child] = family(process.pid)
    process.terminate()
    assert process.wait(10) == 128 + signal.SIGTERM
    assert last().cause == "cancelled"
    assert not living([child])


@pytest.mark.slow
def test_work_does_not_outlive_who_watches_over_it(begin, last):
    process = begin(FROM_WORK + WAIT)
    assert process.stdout.readline() == "up\n"
    [child] = family(process.pid)
    process.kill()
    process.wait()
    wait_for(lambda: not living([child]), 10)
    assert last().cause is None


@pytest.mark.slow
def test_the_attempt_that_follows_a_lost_one_enters_what_that_had_scored(begin, last, tmp_path):
    code = f"""
import json, os, pathlib
facts = {{"sentences": 9, "done": 4, "new": 4, "tokens": 40, "load_seconds": None}}
facts |= {{"score_seconds": 1.0, "attempt": os.environ[{ATTEMPT!r}], "languages": {{}}}}
facts |= {{"updated": "2026-01-01T00:00:00Z"}}
pathlib.Path({str(tmp_path / "job.progress.json")!r}).write_text(json.dumps(facts))
{WAIT}
"""
    process = begin(code)
    assert process.stdout.readline() == "up\n"
    process.kill()
    process.wait()
    assert begin("pass").wait(30) == 0
    lost, after = read_attempts(journal_path(tmp_path / "job.log"))
    assert lost.ended is None
    assert lost.scored.new == 4
    assert after.cause == "done"


@pytest.mark.parametrize(
    ("ending", "cause"),
    [
        ({"code": 75}, "walltime"),
        ({"code": -15, "on_request": True, "out_of_time": True}, "walltime"),
        ({"code": -9, "kills": 1}, "memory"),
        ({"code": 2, "kills": 1}, "memory"),
        ({"code": 0, "kills": 1}, "done"),
        ({"code": 137}, "killed"),
    ],
)
def test_what_is_known_at_the_end_says_why(ending, cause):
    assert cause_of(**ending) == cause


@pytest.fixture(scope="module")
def model(trained):
    return trained("causal")


@pytest.fixture
def command(model, tmp_path):
    """Return a function that gives the command to score 600 sentences in shards of ten."""
    items = tiny.write_items(tmp_path / "items" / "eng.parquet", tiny.pairs(300))
    options = OPTIONS.model_dump_json()

    def line(name):
        words = tiny.score_words(items, model, "transformers", tmp_path / name, options)
        return [sys.executable, "-m", "blimpworks", *words, "--log", f"{tmp_path}/{name}.log"]

    return line


@pytest.mark.slow
def test_a_scoring_job_whose_work_is_killed_loses_a_shard_at_most(command, model, tmp_path):
    items, whole = tmp_path / "items" / "eng.parquet", tmp_path / "whole"
    store = (whole / "shards", whole / "manifest.json")
    score_items([items], model, *store, "transformers", OPTIONS)
    process = subprocess.Popen(command("killed"), env=without_slurm())
    folder = tmp_path / "killed" / "shards"
    wait_for(lambda: len([*folder.glob("part-*")]) >= 3 or process.poll() is not None, 60)
    assert process.poll() is None
    [child] = family(process.pid)
    os.kill(child, signal.SIGKILL)
    assert process.wait(20) == 137
    killed = read_attempts(tmp_path / "killed.attempts.jsonl")[0]
    assert killed.cause == "killed"
    assert not (tmp_path / "killed/manifest.json").exists()
    (folder / ".part-0.parquet.1.tmp").write_bytes(b"cut off")
    assert subprocess.run(command("killed"), check=False, env=without_slurm()).returncode == 0
    first, second = read_attempts(tmp_path / "killed.attempts.jsonl")
    assert second.cause == "done"
    # The killed attempt reports its progress once a second, so its last shard may be unreported.
    assert second.scored.new <= second.scored.sentences - 30
    assert first.scored.new <= second.scored.sentences - second.scored.new
    ours, theirs = (tiny.contents(tmp_path / name) for name in ("killed", "whole"))
    assert {name: ours[name] for name in theirs} == theirs
    assert not [name for name in ours if name.endswith(".tmp")]


def test_a_job_that_fails_for_good_is_given_up_and_its_manifest_says_why(tmp_path):
    manifest, shards, log = (tmp_path / name for name in ("manifest.json", "shards", "job.log"))
    words = tiny.score_words("", tmp_path / "none.json", "kenlm", tmp_path)[2:]
    line = [sys.executable, "-m", "blimpworks", "score", *words, "--log", str(log)]
    for more, code in ([], 2), (["--give-up"], 0):
        with log.open("wb") as sink:
            done = subprocess.run(
                [*line, *more], stdout=sink, stderr=sink, env=without_slurm(), check=False
            )
        assert done.returncode == code
        assert manifest.exists() is bool(more)
    assert "none.json does not exist" in json.loads(manifest.read_text())["failed"]
    with pytest.raises(UserError, match="only this model is scored again"):
        _ = Shards(manifest, shards).described
    # So that Snakemake scores it again in the next run.
    assert not manifest.exists()


def test_a_job_that_gets_the_rest_of_anothers_time_is_queued_again_once(tmp_path, monkeypatch):
    place, queued = Allocation("7", "n", minutes=10, ends=time.time() + 60, requeue=True), []
    monkeypatch.setattr(attempt, "find_allocation", lambda: place)
    monkeypatch.setattr(attempt, "ask", queued.append)
    monkeypatch.setattr(attempt.signal, "signal", lambda *_: None)
    for _ in range(2):
        assert attempt.run_attempt([sys.executable, "-c", "exit(75)"], tmp_path / "job.log") == 75
    assert queued == [["scontrol", "requeue", "7"]]


TOLD = (
    "JobId=53 JobName=x UserId=root(0) Comment=rule_score Requeue=1 Restarts=0 RunTime=00:00:02 "
    "TimeLimit=1-00:07:00 EndTime=2026-11-21T16:17:38 BatchHost=gpu1 NumCPUs=3 "
    "TRES=cpu=3,mem=300M,node=1,billing=3,gres/gpu=2 MinMemoryNode=300M "
    "TresPerNode=gres:gpu:a100:2"
)


def test_what_a_job_was_given_is_read_from_the_controller(tmp_path, monkeypatch):
    """SLURM 22.05 printed the line."""
    stand_in(tmp_path, "scontrol", f"echo '{TOLD}'")
    code = (
        "import json, dataclasses; from blimpworks.cluster.slurm import find_allocation; "
        "print(json.dumps(dataclasses.asdict(find_allocation())))"
    )

    def asked(**more):
        own = {"SLURM_JOB_ID": "53", "PATH": f"{tmp_path}:{os.environ['PATH']}"}
        command = [sys.executable, "-c", code]
        return json.loads(subprocess.check_output(command, env=without_slurm() | own | more))

    result = asked()
    assert (result["mem_mb"], result["minutes"], result["cores"]) == (300, 24 * 60 + 7, 3)
    assert result["requeue"] is True
    recorded = {"slurm_job": "53", "node": "gpu1", "gpus": ["a100", "a100"]}
    assert Allocation(**result).recorded() == recorded
    assert time.localtime(result["ends"])[:6] == (2026, 11, 21, 16, 17, 38)
    assert read_job(TOLD)["TresPerNode"] == "gres:gpu:a100:2"
    assert asked(CUDA_VISIBLE_DEVICES="1")["gpus"] == ["a100"]
    # An image has no controller to ask; SLURM tells its jobs when they end.
    stand_in(tmp_path, "scontrol", "exit 1")
    blind = asked(SLURM_JOB_END_TIME="1795280258")
    assert (blind["ends"], blind["requeue"]) == (1795280258, False)
