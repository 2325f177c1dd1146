"""What models need, what jobs ask for, and how long they are expected to take."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from blimpworks.campaign.catalogue import ModelRow
from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.campaign.settings.site import CpuNodes, GpuKind, ModelNeeds, Site, load_site
from blimpworks.campaign.table_files import read_rows
from blimpworks.cluster.needs import BYTES, needs_of
from blimpworks.cluster.requests import (
    IN_TURN,
    Expectation,
    cpu_request,
    expected_work,
    longest_hours,
    minutes_to_ask,
    score_request,
    score_seconds,
    sized_request,
    speed_of,
)
from blimpworks.errors import UserError
from support.journal_kit import attempt, write_attempts
from support.paths import REPOSITORY

CONFIG = REPOSITORY / "config"
MODELS = {row.name: row for row in read_rows(ModelRow, CONFIG / "models.tsv")}
EXAMPLE = load_site(CONFIG / "site.example.yaml")


def model(parameters, **fields):
    return MODELS["llama-3.1-8b"].model_copy(update={"parameters": parameters, **fields})


def gpu(memory, *, per_node=4, **fields):
    settings = {"label": f"{memory} GB", "teraflops": 312, "host_memory_gb": 2000, **fields}
    return GpuKind(memory_gb=memory, per_node=per_node, **settings)


def needs(parameters, *kinds, step=0, dtype="bfloat16", engine="vllm", **models):
    site = Site(gpus=kinds, models=models)
    return needs_of(model(parameters), engine, dtype, site, step)


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
    assert result.kind in kinds
    assert result.gpus <= result.kind.per_node
    assert result.weights_gb == parameters * BYTES[dtype]
    assert result.weights_gb < result.needed_gb <= result.gpus * result.kind.memory_gb
    assert result.memory_mb <= result.kind.host_memory_gb * 1000
    assert result.tensor_parallel == result.gpus


@given(sizes, kinds, st.integers(0, 4))
def test_after_memory_ran_out_each_gpu_has_more_room_or_there_is_none_larger(
    parameters, kinds, step
):
    def room(result):
        return result.kind.memory_gb - result.needed_gb / result.gpus

    try:
        before = needs(parameters, *kinds, step=step)
    except UserError:
        return
    after = needs(parameters, *kinds, step=step + 1)
    assert room(after) > room(before) or after == before


def test_a_model_that_fits_nowhere_is_told_with_the_sum_and_what_to_do():
    with pytest.raises(UserError, match=r"'llama-3.1-8b' fits no configured GPU") as caught:
        needs(70.554, gpu(24, per_node=2, label="L4"))
    for text in ("weights 141.1 GB × 1.02", "has 2 × L4 (24 GB each)", "Add a larger kind to gpus"):
        assert text in str(caught.value)


NAME = "llama-3.1-8b"
THREE = (gpu(24), gpu(40), gpu(80))


@pytest.mark.parametrize(
    ("parameters", "kinds", "more", "message"),
    [
        (8, [gpu(80, host_memory_gb=10)], {}, "the host needs more memory than its 10 GB"),
        (8, [gpu(80)], {"dtype": "int4"}, "dtype 'int4', expected one of float32"),
        (70, [gpu(80, per_node=8)], {"engine": "transformers"}, "fits no configured GPU"),
        (8, [gpu(80)], {NAME: ModelNeeds(gpus=8)}, r"in the number it must have.*has 4 × 80 GB"),
    ],
)
def test_what_cannot_be_placed_is_refused(parameters, kinds, more, message):
    with pytest.raises(UserError, match=message):
        needs(parameters, *kinds, **more)


@pytest.mark.parametrize(
    ("name", "gpus", "label"),
    [
        ("qwen3-0.6b", 1, "A100 40 GB"),
        ("gemma-3-27b", 1, "A100 80 GB"),
        ("llama-3.1-70b", 4, "A100 80 GB"),
    ],
)
def test_models_of_the_papers_get_as_many_gpus_as_people_give_them(name, gpus, label):
    row = MODELS[name]
    result = needs_of(row, row.engine, row.dtype, EXAMPLE)
    assert (result.gpus, result.kind.label) == (gpus, label)


ONE, SMALL = (gpu(80),), (gpu(80, per_node=2),)


@pytest.mark.parametrize(
    ("row", "kinds", "stated", "gpus", "memory"),
    [
        # Fewest GPUs come before least memory left over.
        ({"parameters": 27}, (gpu(40, per_node=8), gpu(141)), {}, 1, 141),
        ({}, THREE[1:], {}, 1, 40),
        ({"parameters": 13, "engine": "transformers"}, THREE, {}, 1, 40),
        ({}, THREE, {"kind": "80 GB"}, 1, 80),
        ({}, THREE, {"gpus": 2}, 2, 24),
        # The site goes before the table and that before the sum.
        ({"gpus": 2}, ONE, {}, 2, 80),
        ({"gpus": 2}, ONE, {"gpus": 4}, 4, 80),
        ({"gpu_memory_gb": 100}, ONE, {}, 2, 80),
        ({"parameters": 70}, SMALL, {"memory_gb": 158}, 2, 80),
    ],
)
def test_the_site_the_table_or_the_sum_decides_among_ways_that_fit(
    row, kinds, stated, gpus, memory
):
    site = Site(gpus=kinds, models={NAME: ModelNeeds(**stated)})
    row = model(8).model_copy(update=row)
    result = needs_of(row, row.engine, "bfloat16", site)
    assert (result.gpus, result.kind.memory_gb) == (gpus, memory)


def test_the_campaign_may_say_how_many_gpus_all_models_are_spread_over():
    options = ScoringOptions(vllm={"tensor_parallel": 2})
    result = needs_of(model(1), "vllm", "bfloat16", Site(gpus=ONE), options=options)
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
    result = needs_of(row, engine, "bfloat16", site)
    assert (result.kind, result.gpus, result.gres) == (None, 0, "")
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
    # An empty account is none, and an absent one the site's.
    for account, expected in (("dear", "dear"), ("", None), (None, "us")):
        kind = gpu(80, name="h100", partition="fast", account=account, cores_per_gpu=12)
        site = Site(account="us", gpus=(kind,))
        requested = score_request(site, needs_of(model(70), "vllm", "bfloat16", site), 90)
        assert requested["gres"] == "gpu:h100:4"
        assert requested["cpus_per_task"] == 48
        assert requested["slurm_partition"] == "fast"
        assert requested.get("slurm_account") == expected


def test_jobs_in_turn_share_the_longest_time_on_the_same_gpus(tmp_path):
    """What runs in one SLURM job adds its time to it, and could not be elsewhere."""
    site = Site(gpus=(gpu(40, max_hours=5, name="a"), gpu(80, max_hours=5, name="b")))
    log = tmp_path / "job.log"
    write_attempts(log, attempt("walltime", 0), attempt("gpu_memory", 0))
    work = {tmp_path / "none.parquet": Expectation(10**9, 10)}
    alone, shared = (
        sized_request(
            model(8), "vllm", "bfloat16", site, ScoringOptions(), work, log, shared=number
        )
        for number in (1, IN_TURN)
    )
    assert (alone["runtime"], shared["runtime"]) == (300, 300 / IN_TURN)
    assert (alone["gres"], shared["gres"]) == ("gpu:b:1", "gpu:a:1")
    profile = yaml.safe_load((REPOSITORY / "profiles/slurm/config.yaml").read_text())
    assert profile["group-components"] == [f"score_{{model}}={IN_TURN}"]


FAST = Site(gpus=(gpu(80, max_hours=2),))


def on_gpus(**amounts):
    return score_request(FAST, needs_of(model(8), "vllm", "bfloat16", FAST), **amounts)


@pytest.mark.parametrize(
    ("request_of", "amounts", "sentence"),
    [
        (cpu_request, {"memory_mb": 64_001, "minutes": 1}, "asks for 64,001 MB, but nodes of cpu"),
        (cpu_request, {"memory_mb": 1, "minutes": 1441}, "asks for 1,441 minutes, but cpu"),
        (cpu_request, {"memory_mb": 1, "minutes": 1, "cores": 17}, "asks for 17 cores"),
        (on_gpus, {"minutes": 121}, "asks for 121 minutes, but 80 GB"),
        (on_gpus, {"minutes": 120, "memory_mb": 2_000_001}, r"but nodes of 80 GB .* have 2,000,0"),
    ],
)
def test_a_request_beyond_the_node_is_refused(request_of, amounts, sentence):
    with pytest.raises(UserError, match=sentence):
        request_of(**({"site": Site()} if request_of is cpu_request else {}), **amounts)


@given(st.floats(0, 1e7), st.floats(0.5, 100))
def test_minutes_to_ask_for_never_exceed_what_a_job_may_have(seconds, max_hours):
    site = Site(gpus=(gpu(80, max_hours=max_hours),))
    small = needs_of(model(8), "vllm", "bfloat16", site)
    minutes = minutes_to_ask(seconds, longest_hours(site, small))
    assert score_request(site, small, minutes)["runtime"] == minutes
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
    row = model(parameters)
    speed = speed_of(row, "vllm", needs_of(row, "vllm", "bfloat16", site), site)
    assert (pytest.approx(speed.tokens_per_second), speed.source) == expected
    seconds = score_seconds(10 * speed.tokens_per_second, 20, speed, site)
    assert seconds == pytest.approx(10 + 20 / 2 + 10)


def test_items_that_exist_are_counted_anew_and_others_expected(tmp_path):
    there, guessed, absent = (tmp_path / f"{name}.parquet" for name in ("a", "b", "c"))
    expected = {there: (5, 10), guessed: (100, 10), absent: (50, 30)}
    for rows in (3, 7):
        pq.write_table(pa.table({"item_id": ["x"] * rows}), there)
        assert expected_work({there: Expectation(5, 10)}) == (2 * rows, 20 * rows)
    result = expected_work({path: Expectation(*each) for path, each in expected.items()})
    assert result == (2 * (7 + 100 + 50), 20 * (7 + 100) + 60 * 50)
