import json
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blimpworks.cluster.requests import MOST, UNKNOWN, RetryScaling, retry_scaling
from blimpworks.cluster.slurm import slurm_states
from blimpworks.errors import UserError
from blimpworks.records import journal
from support.journal_kit import attempt, scored, started

NOTHING = ("cancelled", "error", "input", "killed")
CAUSES = st.sampled_from(["memory", "walltime", "gpu_memory", "lost", *NOTHING])
ATTEMPTS = st.lists(st.builds(attempt, CAUSES, st.none() | st.integers(0, 3)), max_size=6)


@given(ATTEMPTS, ATTEMPTS)
def test_nothing_before_the_last_attempt_that_was_done_counts(before, after):
    assert retry_scaling([*before, attempt("done", 5), *after]) == retry_scaling(after)


@given(ATTEMPTS, st.sampled_from(NOTHING), st.integers(0, 6))
def test_some_causes_change_nothing_wherever_they_stand(attempts, cause, place):
    more = [*attempts[:place], attempt(cause), *attempts[place:]]
    assert retry_scaling(more) == retry_scaling(attempts)


@given(ATTEMPTS, st.none() | st.integers(0, 9))
def test_each_cause_changes_what_there_was_too_little_of(attempts, new):
    before = retry_scaling(attempts)
    after = lambda cause: retry_scaling([*attempts, attempt(cause, new)])  # noqa: E731
    assert after("memory") == before._replace(memory=min(2 * before.memory, MOST))
    # More time only for an attempt that got nowhere.
    factor = 1 if new else 2
    assert after("walltime") == before._replace(minutes=min(factor * before.minutes, MOST))
    assert after("gpu_memory") == before._replace(gpu_step=before.gpu_step + 1)


@pytest.mark.parametrize(
    ("state", "new", "expected"),
    [
        ("OUT_OF_MEMORY", None, RetryScaling(memory=2)),
        ("TIMEOUT", None, RetryScaling(minutes=2)),
        ("TIMEOUT", 0, RetryScaling(minutes=2)),
        ("TIMEOUT", 3, RetryScaling()),
        ("NODE_FAIL", None, RetryScaling()),
        ("PREEMPTED", None, RetryScaling()),
        ("CANCELLED", None, RetryScaling()),
        ("RUNNING", None, RetryScaling()),
        ("FAILED", None, RetryScaling(UNKNOWN, UNKNOWN)),
        (None, None, RetryScaling(UNKNOWN, UNKNOWN)),
    ],
)
def test_a_lost_attempt_counts_as_slurm_says(state, new, expected):
    states = {"7": state} if state else {}
    # It was queued again after the attempts before its last.
    for number in (1, 3) if state else (1,):
        lost = [attempt("lost", new, job="7") for _ in range(number)]
        assert retry_scaling(lost, states) == expected


def test_a_journal_gives_back_what_was_appended(tmp_path):
    path = journal.journal_path(tmp_path / "score" / "model-1.5b" / "multi.eng.log")
    assert path.name == "multi.eng.attempts.jsonl"
    assert journal.progress_path(path.with_name("multi.eng.log")).name == "multi.eng.progress.json"
    ended, lost, running = attempt("walltime", 4), attempt("lost", 2), journal.Attempt(started())
    for entry in (ended.started, ended.ended, lost.started, lost.left, running.started):
        journal.append_entry(path, entry)
    assert journal.read_attempts(path) == [ended, lost, running]
    causes = [(each.cause, each.scored) for each in journal.read_attempts(path)]
    assert causes == [("walltime", scored(4)), (None, scored(2)), (None, None)]
    assert journal.read_attempts(tmp_path / "none.attempts.jsonl") == []


def test_a_line_that_was_cut_off_loses_no_other(tmp_path):
    path, ended = tmp_path / "j", attempt("memory")
    journal.append_entry(path, ended.started)
    whole = path.read_bytes()
    for length in range(1, len(whole) - 1):
        path.write_bytes(whole + whole[:length])
        journal.append_entry(path, ended.ended)
        assert journal.read_attempts(path) == [ended]
        path.write_bytes(whole + whole[:length])
        assert journal.read_attempts(path) == [journal.Attempt(ended.started)]


def test_appending_at_a_time_mixes_no_lines(tmp_path):
    path, attempts = tmp_path / "j", [attempt("done", n) for n in range(40)]

    def append(own):
        for each in own:
            journal.append_entry(path, each.started)
            journal.append_entry(path, each.ended)

    threads = [threading.Thread(target=append, args=(attempts[n::4],)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(a.scored.new for a in journal.read_attempts(path)) == [*range(40)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"event": "paused"}, r"j:2: entry: input tag 'paused'"),
        ({"attempt": "7"}, r"j:2: started\.attempt: string should match"),
        ({"walltime": 3}, r"j:2: started\.walltime: extra inputs are not permitted"),
    ],
)
def test_a_line_that_is_no_entry_is_told(tmp_path, change, message):
    path = tmp_path / "j"
    journal.append_entry(path, started())
    line = json.loads(path.read_text()) | change
    path.write_text(path.read_text() + json.dumps(line) + "\n")
    with pytest.raises(UserError, match=message):
        journal.read_attempts(path)


def test_the_queue_is_asked_first_and_the_accounting_for_the_rest(slurm, tmp_path, monkeypatch):
    slurm("squeue", 'echo "11|RUNNING"; echo "slurm_load_jobs error" >&2; exit 1')
    slurm("sacct", '[ "$*" = "${*%11*}" ] && echo "12|CANCELLED by 0" && echo "13|TIMEOUT"')
    result = slurm_states(["11", "12", "13", "14", "no; id"])
    assert result == {"11": "RUNNING", "12": "CANCELLED", "13": "TIMEOUT"}
    monkeypatch.setenv("PATH", str(tmp_path))
    assert slurm_states(["11"]) == {}


@pytest.mark.slow
def test_a_slurm_that_does_not_answer_is_not_waited_for(slurm, monkeypatch):
    monkeypatch.setattr("blimpworks.cluster.slurm.PATIENCE", 0.2)
    for name in ("squeue", "sacct"):
        slurm(name, "exec sleep 30")
    begun = time.monotonic()
    assert slurm_states(["11"]) == {}
    assert time.monotonic() - begun < 5


def fill(path):
    for _ in range(99):
        journal.append_entry(path, started())


def test_a_full_directory_of_logs_is_named_and_leaves_no_half_line(small_disk):
    path = small_disk / "job.attempts.jsonl"
    journal.append_entry(path, started())
    with pytest.raises(OSError, match="No space left"), (small_disk / "more").open("wb") as more:
        more.write(bytes(100_000))
    with pytest.raises(OSError, match="No space left") as full:
        fill(path)
    assert full.value.filename == str(path)
    (small_disk / "more").unlink()
    journal.append_entry(path, started())
    assert len(journal.read_attempts(path)) >= 2
