"""Run a campaign on the tests' cluster, watch it at work, and check its results."""

import contextlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import psutil
import pyarrow.parquet as pq
import yaml

from support.checkout import CAMPAIGN, fresh
from support.paths import REPOSITORY

GPU = {"partition": "gpu", "cores_per_gpu": 4, "host_memory_gb": 256, "teraflops": 300}
GPU |= {"max_hours": 48}
SITE = {
    "account": "research",
    "cpu": {"partition": "cpu", "cores": 32, "memory_gb": 128, "max_hours": 24},
    "gpus": [
        {"label": kind, "name": kind.lower(), "memory_gb": memory, "per_node": count, **GPU}
        for kind, memory, count in (("A100", 40, 4), ("H100", 80, 2))
    ],
}
# The model is scored slowly and in many shards, so that tests can act during the job.
RECIPE = {"kind": "transformer", "hidden": 384, "layers": 6, "heads": 6, "max_steps": 2}
STORE = "results/demo/store/transformer-small/eng"
JUDGED = "results/demo/judgements/multiblimp/transformer-small/eng.parquet"
SCORED = "results/demo/scores/multiblimp/transformer-small/eng.parquet"
LOG = "logs/demo/score/transformer-small/eng"
POLL = ("--slurm-init-seconds-before-status-checks", "5")
ACTIVE = ("PENDING", "CONFIGURING", "RUNNING", "COMPLETING")


def at_site(path, **settings):
    """Return a checkout with one language of the demo, at the site of the tests' cluster."""
    checkout = fresh(path)
    checkout.change(**settings)
    (path / "config/site.yaml").write_text(yaml.safe_dump(SITE))
    return checkout


class Campaign:
    """A campaign that has its model but no scores, and runs on the cluster."""

    def __init__(self, cluster, path: Path, reference: Path):
        self.cluster, self.path, self.reference = cluster, path, reference
        self.output = path / "snakemake.txt"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, *arguments: str, **environment: str) -> "Campaign":
        path = os.pathsep.join([str(REPOSITORY / ".tools/bin"), os.environ["PATH"]])
        more = {"PYTHONPATH": str(self.path / "src"), "PATH": path, **environment}
        # An argument directly after --configfile's would count as one of its files.
        command = [sys.executable, "-m", "snakemake", "--profile", "slurm", "--configfile"]
        command += [CAMPAIGN, *POLL, *arguments]
        with self.output.open("wb") as output:
            how = {"cwd": self.path, "env": self.cluster.environment(**more)}
            how |= {"stdout": output, "stderr": output, "start_new_session": True}
            self.process = subprocess.Popen(command, **how)
        return self

    def said(self) -> str:
        return self.output.read_text()

    def end(self, seconds: float = 240) -> int:
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"it hangs:\n{self.said()}\n{self.cluster.squeue()}") from None

    def finish(self, seconds: float = 240) -> None:
        assert self.end(seconds) == 0, self.said()

    def jobs(self) -> list[dict[str, str]]:
        jobs = self.cluster.squeue()
        ours = [job for job in jobs if job["workdir"] == str(self.path)]
        return [job for job in ours if job["comment"].startswith("rule_score_")]

    def active(self) -> list[dict[str, str]]:
        return [job for job in self.jobs() if job["state"] in ACTIVE]

    def shards(self) -> dict[str, int]:
        """Return the modification time of each shard in nanoseconds."""
        return {p.name: p.stat().st_mtime_ns for p in (self.path / STORE).glob("shards/part-*")}

    def wait_until_scoring(self) -> tuple[dict[str, str], dict[str, int]]:
        """Wait until the scoring job has written three shards; return the job and the shards."""

        def at_work():
            if self.process.poll() is not None:
                raise AssertionError(f"it ended before:\n{self.said()}")
            return len(self.shards()) >= 3

        self.cluster.wait_for(at_work, 90, "the job scores")
        [job] = [job for job in self.active() if job["state"] == "RUNNING"]
        return job, self.shards()

    def scorers(self) -> list[int]:
        """Return the innermost processes of the scoring command."""
        parents = {}
        for number in self.cluster.processes():
            with contextlib.suppress(psutil.Error):
                process = psutil.Process(number)
                program, *words = process.cmdline() or [""]
                if "python" in program and "blimpworks score " in " ".join(words):
                    parents[number] = process.ppid()
        return [number for number in parents if number not in parents.values()]

    def hasten(self) -> None:
        """Start the requeued jobs at once; SLURM would let them wait for two minutes."""
        pending = lambda: [j for j in self.jobs() if j["state"] == "PENDING"]  # noqa: E731
        for job in self.cluster.wait_for(pending, 60, "the job is queued again"):
            self.cluster.command("scontrol", "update", f"jobid={job['id']}", "starttime=now")

    def journal(self) -> list[dict]:
        lines = (self.path / f"{LOG}.attempts.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]

    def causes(self) -> list[str]:
        """Return causes of the attempts' ends, in order; ``lost`` if the journal has no end."""
        ends = {e["attempt"]: e["cause"] for e in self.journal() if e["event"] == "ended"}
        started = [e["attempt"] for e in self.journal() if e["event"] == "started"]
        return [ends.get(attempt, "lost") for attempt in started]

    def check(self, kept: dict[str, int], last: bool = True) -> None:
        """Check that results equal those of a run without SLURM, and that shards were kept.

        ``kept`` are shards that existed at some moment; if ``last``, the last attempt began later
        and scored none of their sentences.
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
            # Shards that were written after ``kept`` was read and before the fault are kept too.
            assert int(new) <= sentences - before
        assert not self.active()
