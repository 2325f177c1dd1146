"""Test the file that a run writes for other runs, and what a run waits for."""

import json
import os
import platform
import subprocess
import sys

import pytest

from blimpworks.cluster import guard
from blimpworks.errors import UserError
from support.journal_kit import attempt, stand_in, write_attempts

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


@pytest.mark.parametrize(
    ("log", "waiting"),
    [
        (LOG, {"43"}),
        (LOG + "Finished jobid: 3 (Rule: score)\n", set()),
        (GROUP, {"5", "6"}),
        (GROUP + "Finished jobid: 2 (Rule: score)\n", {"5", "6"}),
        (GROUP + GROUP_FAILED, {"6"}),
        (GROUP + GROUP_FAILED + GROUP.replace(" 5 ", " 7 "), {"6", "7"}),
    ],
)
def test_what_snakemake_waits_for_is_read_from_its_log_a_group_until_all_have_ended(log, waiting):
    assert guard.find_awaited(log) == waiting


def test_of_a_group_the_jobs_that_failed_are_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "5.log" in guard.failed_jobs_text(GROUP_FAILED)
    for number, cause in ((2, "done"), (3, "error")):
        log = tmp_path / f"logs/a/{number}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(f"{cause}\n")
        write_attempts(log, attempt(cause))
    _, name, words, _ = guard.failed_jobs_text(GROUP_FAILED).splitlines()
    assert (name, words) == ("  logs/a/3.log", "    error")


@pytest.mark.parametrize(
    ("looks", "late"),
    [
        # All awaited jobs ended long ago, or SLURM has forgotten them.
        ([({"1": "FAILED"}, 0), ({"1": "FAILED"}, 99)], []),
        ([({"1": "FAILED"}, 0), ({"1": "FAILED"}, 100)], ["1", "2"]),
        # One of its jobs may still run, or runs again.
        ([({"1": "NODE_FAIL", "2": "PENDING"}, at) for at in (0, 100, 1000)], []),
        ([({}, 0), ({"1": "RUNNING", "2": "RUNNING"}, 50), ({}, 120)], []),
    ],
)
def test_a_run_waits_in_vain_when_all_its_jobs_are_overdue(looks, late):
    overdue_jobs = guard.OverdueJobs(overdue=100)
    assert [overdue_jobs.update({"1", "2"}, states, moment) for states, moment in looks][-1] == late


REGISTER = """
import sys
from blimpworks.cluster.guard import register
print(register("run"), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def run(tmp_path):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    process = subprocess.Popen([sys.executable, "-c", REGISTER], cwd=tmp_path, **pipes)
    path = tmp_path / process.stdout.readline().strip()
    yield process, path
    process.kill()
    process.communicate()


def test_a_run_is_known_by_its_process_and_its_machine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = guard.register("run")
    assert guard.is_alive(path)
    about = json.loads(path.read_text())
    # A process with the number of a dead run is not that run.
    path.write_text(json.dumps(about | {"started": "1"}))
    assert not guard.is_alive(path)
    path.write_text(json.dumps(about | {"host": f"not-{platform.node()}"}))
    assert guard.is_alive(path)
    os.utime(path, (0, 0))
    assert not guard.is_alive(path)
    for damaged in ("{", "{}", "[]"):
        path.write_text(damaged)
        assert not guard.is_alive(path)
    path.unlink()
    assert not guard.is_alive(path)


def test_slurm_is_asked_and_waited_for_only_where_a_dead_run_may_have_left_jobs(
    run, tmp_path, monkeypatch
):
    """Its programs may exist without a cluster, and a run would wait for them."""
    stand_in(tmp_path / "bin", "squeue", f"touch {tmp_path}/asked; exit 1")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    monkeypatch.setattr(guard, "PATIENCE", 0.0)
    process, path = run
    assert guard.is_alive(path)
    assert guard.end_orphans(tmp_path) == []
    assert not (tmp_path / "asked").exists()
    process.kill()
    process.wait()
    assert not guard.is_alive(path)
    with pytest.raises(UserError, match="squeue has not answered"):
        guard.end_orphans(tmp_path)
    assert path.exists()


def test_the_file_of_a_run_that_dies_meanwhile_stays_for_the_next(run, tmp_path, monkeypatch):
    process, path = run

    def look(_path):
        process.kill()
        process.wait()
        return True

    monkeypatch.setattr(guard, "_is_alive_after_waiting", look)
    assert guard.end_orphans(tmp_path) == []
    assert path.exists()


FURTHER = "For further error details see the cluster/cloud log and the log files of the rule(s)."
SBATCH = "SLURM sbatch"
REFUSED = f"""\
Error in rule score:
    message: {SBATCH} failed. The error message was 'sbatch: error: Invalid account'.
    sbatch call:
        sbatch --parsable --wrap="python"
{FURTHER}
    jobid: 2
    log: a.log (check log file(s) for error details)
"""
UNKNOWN = f"""\
Error in rule score:
    message: Job submission failed with exception: The account
is unknown.{FURTHER}
    log: a.log (check log file(s) for error details)
"""
DIED = f"""\
Error in rule score:
    message: SLURM-job '7' failed, SLURM status is: 'NODE_FAIL'. {FURTHER}
    log: a.log, slurm/7.log (check log file(s) for error details)
"""
LOCAL = """\
Error in rule score:
    jobid: 2
    log: a.log (check log file(s) for error details)
"""
GROUP = LOCAL.replace("rule", "group").replace("    ", "            ")


@pytest.mark.parametrize(
    ("text", "said", "expected"),
    [
        (REFUSED, "said earlier\n", f"{SBATCH} failed. The error message was 'sbatch: error: In"),
        (UNKNOWN, "", "Job submission failed with exception: The account is unknown."),
        (DIED, "blimpworks: wrong\n", "blimpworks: wrong"),
        (DIED, "", "SLURM-job '7' failed, SLURM status is: 'NODE_FAIL'."),
        (LOCAL, "one\nblimpworks: wrong\n", "blimpworks: wrong"),
        (LOCAL, None, "the log is empty"),
        (GROUP, "blimpworks: wrong\n", "blimpworks: wrong"),
        (REFUSED + LOCAL, "blimpworks: wrong\n", "blimpworks: wrong"),
    ],
)
def test_a_failed_job_is_told_with_its_words_or_those_of_slurm(
    tmp_path, monkeypatch, text, said, expected
):
    monkeypatch.chdir(tmp_path)
    if said is not None:
        (tmp_path / "a.log").write_text(said)
    first, name, words, _ = guard.failed_jobs_text(f"before\n{text}after\n").splitlines()
    assert (first, name) == ("What failed:", "  a.log")
    assert words.strip().startswith(expected)
