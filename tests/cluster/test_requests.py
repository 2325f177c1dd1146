import json
import threading
import time
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from blimpworks.campaign.catalogue import ModelRow
from blimpworks.campaign.engines import find_engine
from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.campaign.settings.site import CpuNodes, GpuKind, ModelNeeds, Site, load_site
from blimpworks.campaign.table_files import read_rows
from blimpworks.cluster import requests
from blimpworks.cluster.needs import BYTES, Expectation, Setup, expected_work
from blimpworks.cluster.requests import (
    MOST_JOBS_IN_TURN,
    UNKNOWN_CAUSE_FACTOR,
    RetryScaling,
    cpu_request,
    retry_scaling,
)
from blimpworks.cluster.slurm import slurm_states
from blimpworks.errors import UserError
from blimpworks.records import journal
from support.journal_kit import attempt, scored, started, write_attempts
from support.paths import REPOSITORY

CONFIG = REPOSITORY / "config"
MODELS = {row.name: row for row in read_rows(ModelRow, CONFIG / "models.tsv")}
EXAMPLE = load_site(CONFIG / "site.example.yaml")


def model(parameters, **fields):
    return MODELS["llama-3.1-8b"].model_copy(update={"parameters": parameters, **fields})


def gpu(memory, *, per_node=4, **fields):
    settings = {"label": f"{memory} GB", "teraflops": 312, "host_memory_gb": 2000, **fields}
    return GpuKind(memory_gb=memory, per_node=per_node, **settings)


def setup(row, site, engine="vllm", dtype="bfloat16", **settings):
    return Setup(row, find_engine(engine), dtype, site, ScoringOptions(**settings))


def needs(parameters, *kinds, step=0, models=None, **settings):
    site = Site(gpus=kinds, models=models or {})
    return setup(model(parameters), site, **settings).needs(step)


sizes = st.floats(0.05, 400)
kinds = st.lists(
    st.tuples(st.sampled_from([16, 24, 40, 48, 80, 141]), st.sampled_from([1, 2, 4, 8])),
    min_size=1,
    max_size=4,
    unique=True,
).map(lambda pairs: tuple(gpu(m, per_node=n, label=f"{n} × {m} GB") for m, n in pairs))


@given(sizes, kinds, st.sampled_from(sorted(BYTES)), st.integers(0, 5))
def test_what_is_chosen_fits_on_one_node_and_holds_the_weights(parameters, kinds, dtype, step):
    try:
        result = needs(parameters, *kinds, step=step, dtype=dtype)
    except UserError:
        return
    assert result.gpu_kind in kinds
    assert result.gpus <= result.gpu_kind.per_node
    assert result.weights_gb == parameters * BYTES[dtype]
    assert result.weights_gb < result.gb_per_gpu * result.gpus
    assert result.gb_per_gpu <= result.gpu_kind.memory_gb
    assert result.memory_mb <= result.gpu_kind.host_memory_gb * 1000


@given(sizes, kinds, st.integers(0, 4))
def test_after_memory_ran_out_each_gpu_has_more_room_or_there_is_none_larger(billions, kinds, step):
    try:
        before = needs(billions, *kinds, step=step)
    except UserError:
        return
    after = needs(billions, *kinds, step=step + 1)
    assert after.spare_gb > before.spare_gb or after == before


NAME = "llama-3.1-8b"
NOWHERE = (
    rf"'{NAME}' fits no configured GPU.*weights 141.1 GB × 1.02.*has 2 × L4 \(24 GB each\).*"
    "Add a larger kind to gpus"
)
THREE = (gpu(24), gpu(40), gpu(80))


@pytest.mark.parametrize(
    ("billions", "kinds", "more", "says"),
    [
        (70.554, [gpu(24, per_node=2, label="L4")], {}, NOWHERE),
        (8, [gpu(80, host_memory_gb=10)], {}, "the host needs more memory than its 10 GB"),
        (70, [gpu(80, per_node=8)], {"engine": "transformers"}, "fits no configured GPU"),
        (
            8,
            [gpu(80)],
            {"models": {NAME: ModelNeeds(gpus=8)}},
            r"no node has enough GPUs that it may have.*has 4 × 80 GB",
        ),
    ],
)
def test_what_cannot_be_placed_is_refused_with_the_sum_and_what_to_do(billions, kinds, more, says):
    with pytest.raises(UserError, match=says):
        needs(billions, *kinds, **more)


@pytest.mark.parametrize(
    ("name", "gpus", "gb"),
    [("qwen3-0.6b", 1, 40), ("gemma-3-27b", 1, 80), ("llama-3.1-70b", 4, 80)],
)
def test_models_of_the_papers_get_as_many_gpus_as_people_give_them(name, gpus, gb):
    row = MODELS[name]
    result = setup(row, EXAMPLE, row.engine, row.dtype).needs()
    assert (result.gpus, result.gpu_kind.label) == (gpus, f"A100 {gb} GB")


ONE, SMALL = (gpu(80),), (gpu(80, per_node=2),)


@pytest.mark.parametrize(
    ("row", "kinds", "stated", "gpus", "gb"),
    [
        # Fewest GPUs are preferred, then least unused memory.
        ({"parameters": 27}, (gpu(40, per_node=8), gpu(141)), {}, 1, 141),
        ({}, THREE[1:], {}, 1, 40),
        ({"parameters": 13, "engine": "transformers"}, THREE, {}, 1, 40),
        ({}, THREE, {"kind": "80 GB"}, 1, 80),
        ({}, THREE, {"gpus": 2}, 2, 24),
        # The site overrides the table, which overrides the estimate.
        ({"gpus": 2}, ONE, {}, 2, 80),
        ({"gpus": 2}, ONE, {"gpus": 4}, 4, 80),
        ({"gpu_memory_gb": 100}, ONE, {}, 2, 80),
        ({"parameters": 70}, SMALL, {"memory_gb": 158}, 2, 80),
    ],
)
def test_the_site_the_table_or_the_sum_decides_among_ways_that_fit(row, kinds, stated, gpus, gb):
    site = Site(gpus=kinds, models={NAME: ModelNeeds(**stated)})
    row = model(8).model_copy(update=row)
    result = setup(row, site, row.engine).needs()
    assert (result.gpus, result.gpu_kind.memory_gb) == (gpus, gb)


def test_the_campaign_may_say_how_many_gpus_all_models_are_spread_over():
    result = setup(model(1), Site(gpus=ONE), vllm={"tensor_parallel": 2}).needs()
    assert (result.gpus, result.gres) == (2, "gpu:2")


@pytest.mark.parametrize(
    ("row", "engine", "site"),
    [
        (model(0.1), "kenlm", EXAMPLE),
        (model(0.1), "lstm", EXAMPLE),
        (MODELS["transformer-small"], "transformers", EXAMPLE),
        (model(8), "transformers", None),
        (model(8), "transformers", Site()),
    ],
)
def test_small_engines_and_machines_without_gpus_get_none(row, engine, site):
    result = setup(row, site, engine).needs()
    assert (result.gpu_kind, result.gpus, result.gres) == (None, 0, "")
    assert result.memory_mb > 2 * 2000 * (row.parameters or 0)


def test_a_request_says_what_the_site_says_and_no_more():
    amounts = {"mem_mb": 2000, "runtime": 30, "cpus_per_task": 4}
    assert cpu_request(None, memory_mb=2000, minutes=30, cores=4) == amounts
    cpu = CpuNodes(partition="p", constraint="c")
    site = Site(account="us", qos="long", extra="--nice", cpu=cpu)
    stated = {"slurm_partition": "p", "slurm_account": "us", "constraint": "c"}
    stated |= {"qos": "long", "slurm_extra": "--nice"}
    assert cpu_request(site, memory_mb=2000, minutes=30, cores=4) == amounts | stated


def test_a_job_that_scores_asks_for_its_kind_of_gpu_and_its_account():
    # An empty account means none, and a missing one the site's.
    for account, expected in (("dear", "dear"), ("", None), (None, "us")):
        kind = gpu(80, name="h100", partition="fast", account=account, cores_per_gpu=12)
        site = Site(account="us", gpus=(kind,))
        requested = requests.score_request(site, setup(model(70), site).needs(), 90)
        assert requested["gres"] == "gpu:h100:4"
        assert requested["cpus_per_task"] == 48
        assert requested["slurm_partition"] == "fast"
        assert requested.get("slurm_account") == expected


def test_jobs_in_turn_share_the_longest_time_on_the_same_gpus(tmp_path):
    """Jobs within one SLURM job add up their time and share its GPUs."""
    site = Site(gpus=(gpu(40, max_hours=5, name="a"), gpu(80, max_hours=5, name="b")))
    log = tmp_path / "job.log"
    write_attempts(log, attempt("walltime", 0), attempt("gpu_memory", 0))
    work = {tmp_path / "none.parquet": Expectation(10**9, 10)}
    alone, shared = (
        requests.sized_request(setup(model(8), site), work, log, jobs_in_turn=number)
        for number in (1, MOST_JOBS_IN_TURN)
    )
    assert (alone["runtime"], shared["runtime"]) == (300, 300 / MOST_JOBS_IN_TURN)
    assert (alone["gres"], shared["gres"]) == ("gpu:b:1", "gpu:a:1")
    profile = yaml.safe_load((REPOSITORY / "profiles/slurm/config.yaml").read_text())
    assert profile["group-components"] == [f"score_{{model}}={MOST_JOBS_IN_TURN}"]


def test_time_is_requested_for_the_number_format_in_which_a_job_runs(tmp_path):
    """float32 takes 16 times as long as bfloat16, whatever the format of the model's row."""
    site = Site(gpus=(gpu(80, max_hours=1000),))
    work = {tmp_path / "none.parquet": Expectation(10**7, 10)}
    usual, slow = (
        requests.sized_request(setup(model(8), site, dtype=dtype), work, tmp_path / "job.log")
        for dtype in ("bfloat16", "float32")
    )
    assert slow["runtime"] > 10 * usual["runtime"]


FAST = Site(gpus=(gpu(80, max_hours=2),))


def on_gpus(minutes, memory_mb=1):
    request = replace(setup(model(8), FAST).needs(), memory_mb=memory_mb)
    return requests.score_request(FAST, request, minutes)


@pytest.mark.parametrize(
    ("request_of", "amounts", "sentence"),
    [
        (cpu_request, {"memory_mb": 64_001, "minutes": 1}, "asks for 64,001 MB, but cpu"),
        (cpu_request, {"memory_mb": 1, "minutes": 1441}, "asks for 1,441 minutes, but cpu"),
        (cpu_request, {"memory_mb": 1, "minutes": 1, "cores": 17}, "asks for 17 cores"),
        (on_gpus, {"minutes": 121}, "asks for 121 minutes, but 80 GB"),
        (on_gpus, {"minutes": 120, "memory_mb": 2_000_001}, r"but 80 GB .* has at most 2,000,0"),
    ],
)
def test_a_request_beyond_the_node_is_refused(request_of, amounts, sentence):
    with pytest.raises(UserError, match=sentence):
        request_of(**({"site": Site()} if request_of is cpu_request else {}), **amounts)


@given(st.floats(0, 1e7), st.floats(0.5, 100))
def test_minutes_to_ask_for_never_exceed_what_a_job_may_have(seconds, max_hours):
    site = Site(gpus=(gpu(80, max_hours=max_hours),))
    small = setup(model(8), site).needs()
    minutes = requests.minutes_to_ask(seconds, max_hours)
    assert requests.score_request(site, small, minutes)["runtime"] == minutes
    assert minutes >= min(seconds / 60, max_hours * 60 - 1)


@pytest.mark.parametrize(
    ("parameters", "stated", "expected"),
    [
        (8, {"models": {NAME: ModelNeeds(tokens_per_second=777)}}, (777, "measured")),
        # A share of the peak over two operations a parameter, and no more than the host can feed.
        (10.0, {"utilisation": 0.5}, (0.5 * 312e12 / (2 * 10e9), "stated")),
        (0.1, {"host_tokens_per_second": 1000}, (1000, "stated")),
    ],
)
def test_a_job_takes_its_start_its_weights_and_its_tokens_by_a_measured_or_stated_speed(
    parameters, stated, expected
):
    site = Site(gpus=(gpu(80),), start_seconds=10, load_gb_per_second=2, **stated)
    run = setup(model(parameters), site)
    speed = run.speed(run.needs())
    assert (pytest.approx(speed.tokens_per_second), speed.source) == expected
    seconds = run.seconds(10 * speed.tokens_per_second, run.needs())
    assert seconds == pytest.approx(10 + 2 * parameters / 2 + 10)


def test_items_that_exist_are_counted_anew_and_others_expected(tmp_path):
    there, guessed, absent = (tmp_path / f"{name}.parquet" for name in ("a", "b", "c"))
    expected = {there: (5, 10), guessed: (100, 10), absent: (50, 30)}
    for rows in (3, 7):
        pq.write_table(pa.table({"item_id": ["x"] * rows}), there)
        assert expected_work({there: Expectation(5, 10)}) == (2 * rows, 20 * rows)
    result = expected_work({path: Expectation(*each) for path, each in expected.items()})
    assert result == (2 * (7 + 100 + 50), 20 * (7 + 100) + 60 * 50)


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
    assert after("memory") == before._replace(memory=min(2 * before.memory, requests.MOST_FACTOR))
    # Only an attempt without progress gets more time.
    factor = 1 if new else 2
    assert after("walltime") == before._replace(
        minutes=min(factor * before.minutes, requests.MOST_FACTOR)
    )
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
        ("FAILED", None, RetryScaling(UNKNOWN_CAUSE_FACTOR, UNKNOWN_CAUSE_FACTOR)),
        (None, None, RetryScaling(UNKNOWN_CAUSE_FACTOR, UNKNOWN_CAUSE_FACTOR)),
    ],
)
def test_a_lost_attempt_counts_as_slurm_says(state, new, expected):
    states = {"7": state} if state else {}
    # SLURM queued it again after each attempt but the last.
    for number in (1, 3) if state else (1,):
        lost = [attempt("lost", new, job="7") for _ in range(number)]
        assert retry_scaling(lost, states) == expected


def test_a_journal_gives_back_what_was_appended(tmp_path):
    path = journal.journal_path(tmp_path / "score" / "model-1.5b" / "multi.eng.log")
    assert path.name == "multi.eng.attempts.jsonl"
    assert journal.progress_path(path.with_name("multi.eng.log")).name == "multi.eng.progress.json"
    ended, lost, running = attempt("walltime", 4), attempt("lost", 2), journal.Attempt(started())
    for entry in (ended.started, ended.ended, lost.started, lost.lost, running.started):
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
        ({"event": "paused"}, r"j:2: input tag 'paused'"),
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
    monkeypatch.setattr("blimpworks.cluster.slurm.TIMEOUT", 0.2)
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
