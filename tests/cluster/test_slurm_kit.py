"""The cluster that other tests run jobs on is one."""

import pytest

from support.slurm_kit import GPUS, NODES, name_of

pytestmark = pytest.mark.xdist_group("slurm")


@pytest.fixture
def submit(cluster, tmp_path):
    """Submit a shell command; returns the job's number."""

    def sbatch(command, *options):
        output = f"--output={tmp_path}/%j.out"
        script = ["sbatch", "--parsable", output, *options, f"--wrap={command}"]
        return cluster.command(*script).strip()

    return sbatch


def ended(cluster, job, seconds=60):
    """State that a job ends in."""
    going = ("PENDING", "RUNNING", "COMPLETING")
    cluster.wait_for(lambda: cluster.job_state(job) not in going, seconds, f"job {job} ends")
    return cluster.job_state(job)


@pytest.mark.slurm
def test_all_nodes_are_there_and_a_job_gets_the_gpus_that_it_asks_for(cluster, submit, tmp_path):
    assert {*cluster.nodes()} == {*NODES}
    kind, _ = GPUS["gpuh1"]
    job = submit("srun env", "-p", "gpu", f"--gres=gpu:{kind}:2")
    assert ended(cluster, job) == "COMPLETED"
    said = (tmp_path / f"{job}.out").read_text().splitlines()
    assert "SLURMD_NODENAME=gpuh1" in said
    assert "CUDA_VISIBLE_DEVICES=0,1" in said


@pytest.mark.slow_slurm
def test_a_job_that_uses_more_memory_than_it_asked_for_is_stopped(cluster, submit, tmp_path):
    command = "srun python3 -c 'import time; x = bytearray(300_000_000); time.sleep(20); print(1)'"
    job = submit(command, "--mem=60")
    assert ended(cluster, job) in ("OUT_OF_MEMORY", "FAILED", "CANCELLED")
    assert "1\n" not in (tmp_path / f"{job}.out").read_text()


@pytest.mark.slow_slurm
def test_a_job_whose_node_loses_power_has_failed_and_leaves_no_process(cluster, submit):
    job = submit("srun sleep 600", "--nodelist=cpu2")
    cluster.wait_for(lambda: len(cluster.processes("cpu2")) > 3, 20, "the job's processes")
    cluster.kill_node("cpu2")
    assert ended(cluster, job) == "NODE_FAIL"
    cluster.wait_for(lambda: not cluster.processes("cpu2"), 10, "no process is left")
    cluster.repair_node("cpu2")
    assert ended(cluster, submit("true", "--nodelist=cpu2")) == "COMPLETED"


@pytest.mark.slow_slurm
def test_jobs_outlive_the_controller_and_the_accounting(cluster, submit):
    job = submit("srun sleep 8")
    # Until srun has asked the controller for its step, a job does not survive without one.
    running = lambda: "sleep" in map(name_of, cluster.processes())  # noqa: E731
    cluster.wait_for(running, 20, "the job runs")
    cluster.stop_accounting()
    cluster.stop_controller()
    assert cluster.tried("squeue").returncode != 0
    cluster.start_controller()
    cluster.start_accounting()
    assert ended(cluster, job) == "COMPLETED"
    message = lambda: cluster.command("sacct", "-nXP", "-j", job, "-o", "state").strip()  # noqa: E731
    assert cluster.wait_for(lambda: message() == "COMPLETED", 20, "sacct knows")
