"""Test that a campaign on a real SLURM survives faults: the same results, no work done twice."""

import json
import os
import shutil
import signal
import time
from datetime import datetime, timedelta

import pyarrow.parquet as pq
import pytest
import yaml

from support import tiny
from support.checkout import CAMPAIGN, Checkout, fresh, output_of
from support.slurm_campaign import JUDGED, POLL, RECIPE, SITE, STORE, Campaign, at_site

pytestmark = pytest.mark.xdist_group("slurm")


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    """Run the campaign without SLURM; tests start from its products up to the model."""
    checkout = at_site(
        tmp_path_factory.mktemp("local"),
        languages=["eng"],
        models=["transformer-small"],
        scoring={"shard": 5},
        training={"treebank_text": False, "recipes": {"transformer-small": RECIPE}},
    )
    checkout.make(JUDGED)
    return checkout


@pytest.fixture
def campaign(cluster, local, tmp_path):
    """Return a campaign that is ready to score; end its run and jobs after the test."""
    copy = (tmp_path / "campaign").resolve()
    shutil.copytree(local.path, copy, symlinks=True)
    for name in ("results/demo/store", "results/demo/scores", "results/demo/judgements"):
        shutil.rmtree(copy / name)
    shutil.rmtree(copy / "logs")
    running = Campaign(cluster, copy, local.path)
    yield running
    if running.process and running.process.poll() is None:
        running.process.kill()
        running.process.wait()
    for job in running.active():
        cluster.cancel(job["id"])
    cluster.wait_for(lambda: not running.active(), 60, "its jobs are gone")


@pytest.mark.slow_slurm
def test_the_demo_campaign_gives_the_same_on_slurm_as_without(cluster, built, tmp_path):
    checkout = fresh(tmp_path / "slurm", like=built)
    (checkout.path / "config/site.yaml").write_text(yaml.safe_dump(SITE))
    done = checkout.run(
        "snakemake", "--profile", "slurm", *POLL, "--configfile", CAMPAIGN, **cluster.environment()
    )
    assert done.returncode == 0, output_of(done)
    compare_trees(checkout, built)
    states = {job["state"] for job in cluster.squeue() if job["workdir"] == str(checkout.path)}
    assert states == {"COMPLETED"}


@pytest.mark.slow_slurm
def test_an_evaluation_runs_on_slurm_by_one_command(cluster, local):
    model = "results/demo/models/transformer-small/eng"
    where = ("--data", "embedded", "--benchmarks", "demo_pairs", "--profile", "slurm")
    before = {job["id"] for job in cluster.squeue()}
    done = local.blimpworks("evaluate", model, *where, **cluster.environment())
    assert "transformer-small-eng on Demo pairs" in done.stdout
    jobs = [job for job in cluster.squeue() if job["id"] not in before]
    assert {job["state"] for job in jobs} == {"COMPLETED"}
    assert any(job["comment"].startswith("rule_score_") for job in jobs)


@pytest.mark.slow_slurm
def test_checkpoints_of_a_monolingual_model_share_a_job_on_a_gpu(cluster, tmp_path):
    languages, model = ["deu", "eng", "fra"], "transformer-small"
    recipe = {"kind": "transformer", "max_steps": 3}
    training = {"treebank_text": False, "recipes": {model: recipe}}
    checkout = at_site(tmp_path / "packed", languages=languages, models=[model], training=training)
    site = SITE | {"models": {model: {"gpus": 1, "memory_gb": 4}}}
    (checkout.path / "config/site.yaml").write_text(yaml.safe_dump(site))
    targets = [JUDGED.replace("eng.parquet", f"{lang}.parquet") for lang in languages]
    command = ("snakemake", "--profile", "slurm", *POLL, "--configfile", CAMPAIGN, "-q", "rules")
    done = checkout.run(*command, "--", *targets, **cluster.environment())
    assert done.returncode == 0, output_of(done)
    jobs = [j for j in cluster.squeue() if j["workdir"] == str(checkout.path)]
    [group] = [job for job in jobs if job["comment"].startswith(f"rule_score_{model}")]
    assert group["state"] == "COMPLETED"
    assert not [job for job in jobs if job["comment"].startswith("rule_score_wildcards")]
    for lang, target in zip(languages, targets, strict=True):
        record = checkout.path / f"results/demo/store/{model}/{lang}/manifest.json.prov.json"
        host = json.loads(record.read_text())["host"]
        assert (host["slurm_job"], host["node"]) == (group["id"], group["node"])
        assert host["node"].startswith("gpu")
        assert host["gpus"] == ["a100"]
        assert pq.read_metadata(checkout.path / target).num_rows > 50


def compare_trees(one: Checkout, other: Checkout) -> None:
    """Check that all products are the same bytes, except records of time and place."""

    def products(checkout):
        root = checkout.path / "results/demo"
        return {
            f"{folder}/{name}": content
            for folder in ("items", "scores", "judgements", "accuracies", "exhibits", "store")
            for name, content in tiny.contents(root / folder).items()
            # Printed numbers are copied into the tree that was made without a cluster.
            if not name.endswith(".prov.json") and not name.startswith("printed/")
        }

    own, expected = products(one), products(other)
    assert own.keys() == expected.keys()
    assert [name for name in own if own[name] != expected[name]] == []


@pytest.mark.slurm
def test_a_job_gives_the_same_as_without_slurm_and_a_second_run_does_not_disturb_it(campaign):
    campaign.start(JUDGED)
    _, kept = campaign.wait_until_scoring()
    first, output = campaign.process, campaign.output
    campaign.output = campaign.path / "second.txt"
    assert campaign.start(JUDGED).end() != 0
    assert "lock" in campaign.said().lower()
    campaign.process, campaign.output = first, output
    campaign.finish()
    campaign.check(kept, last=False)
    [job] = campaign.jobs()
    assert job["state"] == "COMPLETED"
    assert campaign.causes() == ["done"]
    started = campaign.journal()[0]
    assert started["slurm_job"] == job["id"]
    assert started["node"] == job["node"]
    record = json.loads((campaign.path / f"{STORE}/manifest.json.prov.json").read_text())
    assert record["host"]["slurm_job"] == job["id"]
    assert record["host"]["node"] == job["node"]


@pytest.mark.slow_slurm
@pytest.mark.parametrize("accounting", [True, False], ids=["accounting", "no accounting"])
def test_a_cancelled_job_is_tried_again_and_goes_on(campaign, accounting):
    campaign.start(JUDGED)
    job, kept = campaign.wait_until_scoring()
    if not accounting:
        campaign.cluster.stop_accounting()
    try:
        campaign.cluster.cancel(job["id"])
        campaign.finish()
    finally:
        if not accounting:
            campaign.cluster.start_accounting()
    campaign.check(kept)
    assert [job["state"] for job in campaign.jobs()] == ["CANCELLED", "COMPLETED"]
    assert campaign.causes()[1:] == ["done"]
    # It had enough memory.
    first, second = (e["asked"] for e in campaign.journal() if e["event"] == "started")
    assert first == second


@pytest.mark.slow_slurm
def test_a_job_whose_node_goes_down_goes_on_elsewhere(campaign):
    campaign.start(JUDGED)
    job, kept = campaign.wait_until_scoring()
    campaign.cluster.kill_node(job["node"])
    try:
        campaign.hasten()
        campaign.finish()
    finally:
        campaign.cluster.repair_node(job["node"])
    campaign.check(kept)
    assert campaign.causes() == ["lost", "done"]
    nodes = [entry["node"] for entry in campaign.journal() if entry["event"] == "started"]
    assert nodes[0] == job["node"]
    assert nodes[1] != job["node"]


SHORT = "score:runtime=2"
"""Minutes, of which a loaded machine takes most of one to load a model."""


@pytest.mark.slow_slurm
def test_a_job_whose_time_is_nearly_over_ends_between_shards_and_goes_on(campaign):
    campaign.start(JUDGED, "--set-resources", SHORT)
    job, _ = campaign.wait_until_scoring()
    # A job that is slower than estimated.
    scorers = campaign.scorers()
    for number in scorers:
        os.kill(number, signal.SIGSTOP)
    ends = datetime.fromisoformat(campaign.cluster.details(job["id"])["EndTime"])
    late = lambda: ends - datetime.now() < timedelta(seconds=28)  # noqa: E731
    campaign.cluster.wait_for(late, 120, "the time is nearly over")
    for number in scorers:
        os.kill(number, signal.SIGCONT)
    campaign.hasten()
    kept = campaign.shards()
    campaign.finish()
    campaign.check(kept)
    assert campaign.causes() == ["walltime", "done"]
    # SLURM's job is the same, and the workflow counts no attempt.
    assert [(j["id"], j["state"]) for j in campaign.jobs()] == [(job["id"], "COMPLETED")]
    assert "Trying to restart job" not in campaign.said()


@pytest.mark.slow_slurm
def test_a_job_that_runs_into_its_time_limit_is_tried_again(campaign):
    campaign.start(JUDGED, "--set-resources", SHORT)
    campaign.wait_until_scoring()
    # A hanging process cannot stop by itself.
    for number in campaign.scorers():
        os.kill(number, signal.SIGSTOP)
    kept = campaign.shards()
    campaign.finish(600)
    campaign.check(kept)
    assert campaign.jobs()[0]["state"] == "TIMEOUT"
    assert campaign.causes()[0] in ("walltime", "lost")
    assert campaign.causes()[-1] == "done"


@pytest.mark.slow_slurm
def test_a_job_that_runs_out_of_memory_gets_more(campaign):
    if campaign.cluster.memory != "cgroup":
        pytest.skip("no memory cgroups here")
    # Like a larger model: the work itself, and nothing else, takes 500 MB more.
    larger = "import os\nif 'BLIMPWORKS_ATTEMPT' in os.environ:\n    kept = b'x' * 500_000_000\n"
    (campaign.path / "src/sitecustomize.py").write_text(larger)
    partitions = ("cpu", "gpu")
    for name in partitions:
        campaign.cluster.command("scontrol", "update", f"partition={name}", "state=down")
    try:
        campaign.start(JUDGED)
        [job] = campaign.cluster.wait_for(campaign.active, 60, "the job is there")
        asked = megabytes(campaign.cluster.details(job["id"])["MinMemoryNode"])
        less = ["scontrol", "update", f"jobid={job['id']}", "minmemorynode=900"]
        campaign.cluster.command(*less)
    finally:
        for name in partitions:
            campaign.cluster.command("scontrol", "update", f"partition={name}", "state=up")
    campaign.finish()
    campaign.check({})
    assert campaign.causes() == ["memory", "done"]
    second = campaign.cluster.details(campaign.jobs()[1]["id"])
    assert megabytes(second["MinMemoryNode"]) == 2 * asked


def megabytes(text: str) -> int:
    return round(float(text[:-1]) * {"M": 1, "G": 1024}[text[-1]])


@pytest.mark.slow_slurm
def test_a_run_that_was_killed_goes_on_and_ends_the_job_that_it_left_behind(campaign):
    campaign.start(JUDGED)
    job, kept = campaign.wait_until_scoring()
    campaign.process.kill()
    campaign.process.wait()
    for number in campaign.scorers():
        os.kill(number, signal.SIGSTOP)  # otherwise it is done before the second run looks
    locked = campaign.start(JUDGED).end()
    assert locked != 0
    assert "--unlock" in campaign.said()
    assert campaign.start("--unlock").end() == 0
    campaign.start(JUDGED).finish()
    assert job["id"] in campaign.said()
    campaign.check(kept)
    assert campaign.cluster.details(job["id"])["JobState"] == "CANCELLED"


@pytest.mark.slow_slurm
def test_a_controller_that_restarts_changes_nothing(campaign):
    campaign.start(JUDGED)
    _, kept = campaign.wait_until_scoring()
    campaign.cluster.stop_controller()
    time.sleep(20)  # enough for several unanswered questions
    campaign.cluster.start_controller()
    campaign.finish()
    campaign.check(kept, last=False)


@pytest.mark.slow_slurm
def test_a_run_that_waits_in_vain_ends_and_says_so(cluster, tmp_path):
    """The executor drops jobs if neither the controller nor accounting answers."""
    checkout = at_site(tmp_path / "vain", languages=["eng"], models=["ngram-5"])
    campaign = Campaign(cluster, checkout.path, checkout.path)
    impatient = ("--slurm-status-attempts", "1", "--max-status-checks-per-second", "1")
    impatient += ("--verbose",)  # reports unanswered questions
    target = "results/demo/tokens/eng.parquet"
    campaign.start(*impatient, "--", target, BLIMPWORKS_WATCHDOG="2,10")
    cluster.wait_for(lambda: "has been submitted" in campaign.said(), 60, "a job is submitted")
    cluster.stop_controller()
    cluster.stop_accounting()  # which the executor asks if the controller does not answer
    try:
        failed = "could not check status"
        cluster.wait_for(lambda: failed in campaign.said(), 400, "a question is unanswered")
    finally:
        cluster.start_accounting()
        cluster.start_controller()
    assert campaign.end(600) != 0
    assert "Snakemake still waits for them" in campaign.said()
    # The same command continues.
    assert campaign.start("--", target).end() == 0
