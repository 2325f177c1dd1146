"""What a run leaves behind for others to see, and what it waits for."""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from blimpworks.cluster import guard
from blimpworks.cluster.guard import (
    RUNS,
    Vigil,
    awaited,
    end_orphans,
    failing_words,
    is_alive,
    register,
)
from blimpworks.errors import UserError
from support.journal_kit import attempt, write_attempts

LOG = """\
SLURM run ID: 0f3c6a0e-57c1-4a3c-9d5e-3f0b4f3f6a11
Job 3 has been submitted with SLURM jobid 41 (log: logs/slurm/rule_score/a/41.log).
Job 4 has been submitted with SLURM jobid 42 (log: logs/slurm/rule_score/b/42.log).
Error in rule score:
    message: SLURM-job '41' failed, SLURM status is: 'CANCELLED'.
    jobid: 3
    output: results/store/a/manifest.json
Trying to restart job 3.
Job 3 has been submitted with SLURM jobid 43 (log: logs/slurm/rule_score/a/43.log).
[Sat Nov 21 15:36:05 2026]
Finished jobid: 4 (Rule: score)
"""


def test_what_snakemake_waits_for_is_read_from_its_log():
    assert awaited(LOG) == {"43"}
    assert awaited(LOG + "Finished jobid: 3 (Rule: score)\n") == set()


GROUP = """\
SLURM run ID: 0f3c6a0e-57c1-4a3c-9d5e-3f0b4f3f6a11
[Fri Nov 27 21:15:17 2026] Group job score_a (jobs in lexicogr. order):
    [Fri Nov 27 21:15:17 2026]
    Job 2: Score with a (2)
    Reason: Missing output files: out/a/2.txt
    [Fri Nov 27 21:15:17 2026]
    Job 3: Score with a (3)
Job 391a6a1f-04e5-5744-86b6-093c4492c315 has been submitted with SLURM jobid 5 (log: 5.log).
Job 9 has been submitted with SLURM jobid 6 (log: 6.log).
"""
GROUP_FAILED = """\
    message: Error in group score_a
    log: 5.log (check log file(s) for error details)
    jobs:
        rule score_checkpoints:
            jobid: 2
            log: logs/a/2.log (check log file(s) for error details)
        rule score_checkpoints:
            jobid: 3
            log: logs/a/3.log (check log file(s) for error details)
Logfile 5.log:
================================================================================
    Job 8: Score with a (3)
Error in rule score_checkpoints:
    message: None
    jobid: 9
    log: logs/a/9.log (check log file(s) for error details)
================================================================================
    Error in rule score_checkpoints:
        message: None
        jobid: 2
        log: logs/a/2.log (check log file(s) for error details)
"""


def test_a_group_is_waited_for_until_all_its_jobs_have_ended():
    assert awaited(GROUP) == {"5", "6"}
    assert awaited(GROUP + "Finished jobid: 2 (Rule: score)\n") == {"5", "6"}
    assert awaited(GROUP + GROUP_FAILED) == {"6"}
    assert awaited(GROUP + GROUP_FAILED + GROUP.replace(" 5 ", " 7 ")) == {"6", "7"}


def test_of_a_group_the_jobs_that_failed_are_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "5.log" in failing_words(GROUP_FAILED)
    for number, cause in ((2, "done"), (3, "error")):
        log = tmp_path / f"logs/a/{number}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(f"{cause}\n")
        write_attempts(log, attempt(cause))
    _, name, words, _ = failing_words(GROUP_FAILED).splitlines()
    assert (name, words) == ("  logs/a/3.log", "    error")


def test_a_run_waits_in_vain_when_all_it_waits_for_is_long_over_or_forgotten():
    vigil = Vigil(overdue=100)
    assert vigil.look({"1", "2"}, {"1": "FAILED"}, 0) == []
    assert vigil.look({"1", "2"}, {"1": "FAILED"}, 99) == []
    assert vigil.look({"1", "2"}, {"1": "FAILED"}, 100) == ["1", "2"]


def test_a_run_is_left_alone_as_long_as_one_of_its_jobs_may_still_run():
    vigil = Vigil(overdue=100)
    for moment in (0, 100, 1000):
        assert vigil.look({"1", "2"}, {"1": "NODE_FAIL", "2": "PENDING"}, moment) == []


def test_a_job_that_runs_again_is_not_overdue():
    vigil = Vigil(overdue=100)
    vigil.look({"1"}, {}, 0)
    vigil.look({"1"}, {"1": "RUNNING"}, 50)
    assert vigil.look({"1"}, {}, 120) == []


REGISTER = """
import sys
from blimpworks.cluster.guard import register
print(register("run"), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def run(tmp_path):
    """Another process that is a run in this directory, and its file."""
    process = subprocess.Popen(
        [sys.executable, "-c", REGISTER],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    path = tmp_path / process.stdout.readline().strip()
    yield process, path
    process.kill()
    process.communicate()


def test_a_run_lives_as_long_as_its_process_does(run):
    process, path = run
    assert is_alive(path)
    process.kill()
    process.wait()
    assert not is_alive(path)


def test_a_process_with_the_number_of_a_dead_run_is_not_that_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = register("run")
    assert is_alive(path)
    about = json.loads(path.read_text())
    path.write_text(json.dumps(about | {"started": "1"}))
    assert not is_alive(path)


def test_a_run_on_another_machine_lives_while_it_shows_life(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = register("run")
    about = json.loads(path.read_text())
    path.write_text(json.dumps(about | {"host": f"not-{platform.node()}"}))
    assert is_alive(path)
    os.utime(path, (0, 0))
    assert not is_alive(path)


def test_what_is_no_file_of_a_run_is_no_living_run(tmp_path):
    path = Path(tmp_path / RUNS / "run.json")
    assert not is_alive(path)
    path.parent.mkdir(parents=True)
    path.write_text("{")
    assert not is_alive(path)


def test_where_no_run_has_left_anything_slurm_is_not_asked(tmp_path, monkeypatch):
    """Its programs may be there without a cluster; they would be waited for."""
    squeue = tmp_path / "squeue"
    squeue.write_text(f"#!/bin/sh\ntouch {tmp_path}/asked\nexit 1\n")
    squeue.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert end_orphans(tmp_path) == []
    assert not (tmp_path / "asked").exists()


def test_where_a_dead_run_may_have_left_jobs_a_silent_slurm_is_waited_for(
    run, tmp_path, monkeypatch
):
    process, path = run
    process.kill()
    process.wait()
    squeue = tmp_path / "squeue"
    squeue.write_text("#!/bin/sh\nexit 1\n")
    squeue.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr(guard, "PATIENCE", 0.0)
    with pytest.raises(UserError, match="squeue has not answered"):
        end_orphans(tmp_path)
    assert path.exists()
