"""The cluster that other tests run jobs on is one."""

import pytest

from support.slurm_kit import GPUS, NODES


@pytest.mark.slurm
@pytest.mark.xdist_group("slurm")
def test_all_nodes_are_there_and_a_job_gets_the_gpus_that_it_asks_for(cluster, tmp_path):
    assert {*cluster.nodes()} == {*NODES}
    kind, _ = GPUS["gpuh1"]
    script = ["--parsable", f"--output={tmp_path}/%j.out", "-p", "gpu", f"--gres=gpu:{kind}:2"]
    job = cluster.command("sbatch", *script, "--wrap=srun env").strip()
    cluster.wait_for(lambda: cluster.job_state(job) == "COMPLETED", 60, "the job ends")
    said = (tmp_path / f"{job}.out").read_text().splitlines()
    assert "SLURMD_NODENAME=gpuh1" in said
    assert "CUDA_VISIBLE_DEVICES=0,1" in said
