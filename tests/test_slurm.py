"""A campaign on a real SLURM, whatever happens to it: the same results, and nothing twice."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml
from checkout import CAMPAIGN, ROOT, Checkout, fresh, told
from slurm_kit import parent_of

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("slurm")]
SITE = {
    "account": "research",
    "cpu": {"partition": "cpu", "cores": 32, "memory_gb": 128, "max_hours": 24},
    "gpus": [
        {
            "label": kind,
            "name": kind.lower(),
            "partition": "gpu",
            "memory_gb": memory,
            "per_node": count,
            "cores_per_gpu": 4,
            "host_memory_gb": 256,
            "max_hours": 48,
            "teraflops": 300,
        }
        for kind, memory, count in (("A100", 40, 4), ("H100", 80, 2))
    ],
}
# Large enough to be caught at work, as it is scored in many shards.
RECIPE = {"kind": "transformer", "hidden": 384, "layers": 6, "heads": 6, "max_steps": 2}
STORE = "results/demo/store/transformer-small/eng"
JUDGED = "results/demo/judgements/multiblimp/eng/transformer-small.parquet"
SCORED = "results/demo/scores/multiblimp/eng/transformer-small.parquet"
LOG = "logs/demo/score/transformer-small/eng"
POLL = ("--slurm-init-seconds-before-status-checks", "5")
ACTIVE = ("PENDING", "CONFIGURING", "RUNNING", "COMPLETING")


def at_site(path, **settings):
    """A checkout of the demo campaign with one language, at the site of the tests' cluster."""
    checkout = fresh(path)
    checkout.change(**settings)
    (path / "config/site.yaml").write_text(yaml.safe_dump(SITE))
    return checkout


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    """What a run without SLURM makes; its products up to the model are the tests' start."""
    checkout = at_site(
        tmp_path_factory.mktemp("local"),
        languages=["eng"],
        models=["transformer-small"],
        scoring={"shard": 5},
        training={"treebank_text": False, "recipes": {"transformer-small": RECIPE}},
    )
    done = checkout.snakemake(JUDGED)
    assert done.returncode == 0, told(done)
    return checkout


class Campaign:
    """A campaign that has its model but no scores, and runs on the cluster."""

    def __init__(self, cluster, path: Path, reference: Path):
        self.cluster, self.path, self.reference = cluster, path, reference
        self.output = path / "snakemake.txt"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, *arguments: str, **environment: str) -> "Campaign":
        """Start Snakemake, as a user would."""
        path = os.pathsep.join([str(ROOT / ".tools/bin"), os.environ["PATH"]])
        more = {"PYTHONPATH": str(self.path / "src"), "PATH": path, **environment}
        command = ["snakemake", "--profile", "slurm", "--configfile", CAMPAIGN, *POLL]
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", *command, *arguments],
                cwd=self.path,
                env=self.cluster.environment(**more),
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        return self

    def said(self) -> str:
        """What Snakemake has printed."""
        return self.output.read_text()

    def end(self, seconds: float = 240) -> int:
        """Wait for Snakemake; returns its exit code."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"it hangs:\n{self.said()}\n{self.cluster.squeue()}") from None

    def finish(self, seconds: float = 240) -> None:
        """Wait until Snakemake has made everything."""
        assert self.end(seconds) == 0, self.said()

    def jobs(self) -> list[dict[str, str]]:
        """SLURM's jobs of this directory that score."""
        found = self.cluster.jobs("score")
        return [job for job in found if job["workdir"] == str(self.path)]

    def active(self) -> list[dict[str, str]]:
        """Those that are not over."""
        return [job for job in self.jobs() if job["state"] in ACTIVE]

    def shards(self) -> dict[str, int]:
        """When each shard was written."""
        return {p.name: p.stat().st_mtime_ns for p in (self.path / STORE).glob("shards/part-*")}

    def wait_until_scoring(self) -> tuple[dict[str, str], dict[str, int]]:
        """The job that scores, once it has written shards, and these."""

        def at_work():
            if self.process.poll() is not None:
                raise AssertionError(f"it ended before:\n{self.said()}")
            return len(self.shards()) >= 3

        self.cluster.wait_for(at_work, 90, "the job scores")
        [job] = [job for job in self.active() if job["state"] == "RUNNING"]
        return job, self.shards()

    def scorers(self) -> list[int]:
        """Processes that score: the innermost of the command."""
        found = []
        for number in self.cluster.processes():
            try:
                command = Path(f"/proc/{number}/cmdline").read_bytes()
            except OSError:
                continue
            if b"blimpworks\0score\0" in command and b"python" in command.split(b"\0")[0]:
                found.append(number)
        return [number for number in found if number not in {parent_of(other) for other in found}]

    def hasten(self) -> None:
        """Start what SLURM has put back into its queue; it would wait for two minutes."""
        pending = lambda: [j for j in self.jobs() if j["state"] == "PENDING"]  # noqa: E731
        for job in self.cluster.wait_for(pending, 60, "the job is queued again"):
            self.cluster.command("scontrol", "update", f"jobid={job['id']}", "starttime=now")

    def journal(self) -> list[dict]:
        """Entries of the journal of attempts."""
        lines = (self.path / f"{LOG}.attempts.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]

    def causes(self) -> list[str]:
        """How attempts ended, in order; ``lost`` where nobody was left to say."""
        ends = {e["attempt"]: e["cause"] for e in self.journal() if e["event"] == "ended"}
        started = [e["attempt"] for e in self.journal() if e["event"] == "started"]
        return [ends.get(attempt, "lost") for attempt in started]

    def check(self, kept: dict[str, int], last: bool = True) -> None:
        """The results are those of a run without SLURM, and what had scores kept them.

        ``kept`` are shards that were there at some moment; the last attempt, if it began
        thereafter, scored no sentence of them.
        """
        for name in (JUDGED, SCORED):
            assert (self.path / name).read_bytes() == (self.reference / name).read_bytes()
        ours = {p.name: p.read_bytes() for p in (self.path / STORE).glob("shards/part-*")}
        theirs = {p.name: p.read_bytes() for p in (self.reference / STORE).glob("shards/part-*")}
        assert ours == theirs
        after = self.shards()
        assert kept.items() <= after.items(), "a shard was written twice"
        if last:
            sentences = json.loads((self.path / STORE / "manifest.json").read_text())["sentences"]
            files = [self.path / STORE / "shards" / name for name in kept]
            before = sum(pq.read_metadata(file).num_rows for file in files)
            [new] = re.findall(r"(\d+) of them new", (self.path / f"{LOG}.log").read_text())
            # Shards that were written between the look and the fault are kept too.
            assert int(new) <= sentences - before
        assert not self.active()


@pytest.fixture
def campaign(cluster, local, tmp_path):
    """A campaign that is ready to score; whatever a test leaves running ends with it."""
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


# The whole


@pytest.mark.slow_slurm
def test_the_demo_campaign_gives_the_same_on_slurm_as_without(cluster, built, tmp_path):
    checkout = fresh(tmp_path / "slurm")
    (checkout.path / "config/site.yaml").write_text(yaml.safe_dump(SITE))
    done = checkout.run(
        "snakemake", "--profile", "slurm", *POLL, "--configfile", CAMPAIGN, **cluster.environment()
    )
    assert done.returncode == 0, told(done)
    compare_trees(checkout, built)
    states = {job["state"] for job in cluster.squeue() if job["workdir"] == str(checkout.path)}
    assert states == {"COMPLETED"}


def compare_trees(one: Checkout, other: Checkout) -> None:
    """All products are the same bytes, but the records of when and where they were made."""

    def products(checkout):
        root = checkout.path / "results/demo"
        return {
            path.relative_to(root).as_posix(): path.read_bytes()
            for folder in ("items", "scores", "judgements", "accuracies", "exhibits", "store")
            for path in sorted((root / folder).rglob("*"))
            if path.is_file() and not path.name.endswith(".prov.json")
        }

    found, expected = products(one), products(other)
    assert found.keys() == expected.keys()
    assert [name for name in found if found[name] != expected[name]] == []


@pytest.mark.slurm
def test_a_job_that_scores_gives_the_same_as_without_slurm(campaign):
    campaign.start(JUDGED).finish()
    campaign.check({})
    [job] = campaign.jobs()
    assert job["state"] == "COMPLETED"
    assert campaign.causes() == ["done"]
    started = campaign.journal()[0]
    assert started["slurm_job"] == job["id"]
    assert started["node"] == job["node"]
    record = json.loads((campaign.path / f"{STORE}/manifest.json.prov.json").read_text())
    assert record["host"]["slurm_job"] == job["id"]
    assert record["host"]["node"] == job["node"]


# Faults


@pytest.mark.slow_slurm
def test_a_cancelled_job_is_tried_again_and_goes_on(campaign):
    campaign.start(JUDGED)
    job, kept = campaign.wait_until_scoring()
    campaign.cluster.cancel(job["id"])
    campaign.finish()
    campaign.check(kept)
    assert [job["state"] for job in campaign.jobs()] == ["CANCELLED", "COMPLETED"]
    assert campaign.causes()[1:] == ["done"]
    # It was not too small.
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


@pytest.mark.slow_slurm
def test_a_job_whose_time_is_nearly_over_ends_between_shards_and_goes_on(campaign):
    campaign.start(JUDGED, "--set-resources", "score:runtime=1")
    job, _ = campaign.wait_until_scoring()
    # A job that is slower than it was thought to be.
    scorers = campaign.scorers()
    for number in scorers:
        os.kill(number, signal.SIGSTOP)
    ends = campaign.cluster.details(job["id"])["EndTime"]
    late = lambda: seconds_until(ends) < 28  # noqa: E731
    campaign.cluster.wait_for(late, 60, "the time is nearly over")
    for number in scorers:
        os.kill(number, signal.SIGCONT)
    campaign.hasten()
    kept = campaign.shards()
    campaign.finish()
    campaign.check(kept)
    assert campaign.causes() == ["walltime", "done"]
    # The same job of SLURM's, and no attempt of the workflow's is used up.
    assert [(j["id"], j["state"]) for j in campaign.jobs()] == [(job["id"], "COMPLETED")]
    assert "Trying to restart job" not in campaign.said()


def seconds_until(moment: str) -> float:
    """Seconds until a local time as SLURM writes it."""
    return (datetime.fromisoformat(moment) - datetime.now()).total_seconds()


@pytest.mark.slow_slurm
def test_a_job_that_runs_into_its_time_limit_is_tried_again(campaign):
    campaign.start(JUDGED, "--set-resources", "score:runtime=1")
    campaign.wait_until_scoring()
    # It hangs: it cannot stop by itself.
    for number in campaign.scorers():
        os.kill(number, signal.SIGSTOP)
    kept = campaign.shards()
    campaign.finish(300)
    campaign.check(kept)
    assert campaign.jobs()[0]["state"] == "TIMEOUT"
    assert campaign.causes()[0] in ("walltime", "lost")
    assert campaign.causes()[-1] == "done"


@pytest.mark.slow_slurm
def test_a_job_that_runs_out_of_memory_gets_more(campaign):
    if campaign.cluster.memory != "cgroup":
        pytest.skip("no memory cgroups here")
    # As if the model were larger: the work itself, and nothing else, takes 500 MB more.
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
    """Megabytes of memory as SLURM writes it."""
    return round(float(text[:-1]) * {"M": 1, "G": 1024}[text[-1]])


@pytest.mark.slurm
def test_a_run_that_was_killed_goes_on_and_ends_the_job_that_it_left_behind(campaign):
    campaign.start(JUDGED)
    job, kept = campaign.wait_until_scoring()
    campaign.process.kill()
    campaign.process.wait()
    for number in campaign.scorers():
        os.kill(number, signal.SIGSTOP)  # or it is done before the second run looks
    locked = campaign.start(JUDGED).end()
    assert locked != 0
    assert "--unlock" in campaign.said()
    assert campaign.start("--unlock").end() == 0
    campaign.start(JUDGED).finish()
    assert job["id"] in campaign.said()
    campaign.check(kept)
    assert campaign.cluster.job_state(job["id"]) == "CANCELLED"


@pytest.mark.slow_slurm
def test_a_controller_that_restarts_changes_nothing(campaign):
    campaign.start(JUDGED)
    _, kept = campaign.wait_until_scoring()
    campaign.cluster.stop_controller()
    time.sleep(20)  # long enough for several questions without an answer
    campaign.cluster.start_controller()
    campaign.finish()
    campaign.check(kept, last=False)


@pytest.mark.slow_slurm
def test_a_campaign_goes_on_without_the_accounting(campaign):
    campaign.start(JUDGED)
    job, kept = campaign.wait_until_scoring()
    campaign.cluster.stop_accounting()
    try:
        campaign.cluster.cancel(job["id"])
        campaign.finish()
    finally:
        campaign.cluster.start_accounting()
    campaign.check(kept)
    assert [job["state"] for job in campaign.jobs()] == ["CANCELLED", "COMPLETED"]


@pytest.mark.slurm
def test_a_second_run_in_the_same_directory_is_told_so_and_the_first_is_not_disturbed(campaign):
    campaign.start(JUDGED)
    _, kept = campaign.wait_until_scoring()
    first, output = campaign.process, campaign.output
    campaign.output = campaign.path / "second.txt"
    assert campaign.start(JUDGED).end() != 0
    assert "lock" in campaign.said().lower()
    campaign.process, campaign.output = first, output
    campaign.finish()
    campaign.check(kept, last=False)
    assert [job["state"] for job in campaign.jobs()] == ["COMPLETED"]
