"""Models of many kinds on a real SLURM: on GPUs, together in a job, served, from a shared cache."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml

from support import tiny, vllm_kit
from support.checkout import CAMPAIGN, fresh, output_of
from support.slurm_campaign import POLL, SITE, Campaign

pytestmark = [
    pytest.mark.slow_slurm,
    pytest.mark.xdist_group("slurm"),
]
ON_GPU = SITE | {"models": {"transformer-small": {"gpus": 1, "memory_gb": 4}}}
RECIPE = {"kind": "transformer", "max_steps": 3}
MODEL = "transformer-small"
JUDGED = "results/{}/judgements/multiblimp/{}/{}.parquet"


def trained(path, site, **settings):
    """A checkout whose models are trained, at a site."""
    checkout = fresh(path)
    recipes = {MODEL: RECIPE, "ngram": {"kind": "ngram", "order": 3}}
    training = {"treebank_text": False, "recipes": recipes}
    checkout.change(training=training, **settings)
    (path / "config/site.yaml").write_text(yaml.safe_dump(site))
    return checkout


def on_cluster(checkout, cluster, *arguments, campaign=CAMPAIGN, **environment):
    return checkout.run(
        *("snakemake", "--profile", "slurm", *POLL, "--configfile", campaign, "-q", "rules"),
        "--",
        *arguments,
        **cluster.environment(**environment),
    )


def test_checkpoints_of_a_monolingual_model_share_a_job_on_a_gpu(cluster, tmp_path):
    languages = ["deu", "eng", "fra"]
    checkout = trained(tmp_path / "packed", ON_GPU, languages=languages, models=[MODEL])
    targets = [JUDGED.format("demo", MODEL, lang) for lang in languages]
    done = on_cluster(checkout, cluster, *targets)
    assert done.returncode == 0, output_of(done)
    jobs = [j for j in cluster.squeue() if j["workdir"] == str(checkout.path)]
    [group] = [job for job in jobs if job["comment"].startswith(f"rule_score_{MODEL}")]
    assert group["state"] == "COMPLETED"
    assert not [job for job in jobs if job["comment"].startswith("rule_score_wildcards")]
    for lang in languages:
        manifest = checkout.path / f"results/demo/store/{MODEL}/{lang}/manifest.json"
        host = json.loads(manifest.with_name("manifest.json.prov.json").read_text())["host"]
        assert host["slurm_job"] == group["id"]
        assert host["node"] == group["node"]
        assert host["node"].startswith("gpu")
        assert host["gpus"] == ["a100"]
        local = pq.read_table(checkout.path / JUDGED.format("demo", MODEL, lang))
        assert len(local) > 50


@pytest.mark.vllm
@pytest.mark.skipif(not vllm_kit.PYTHON.exists(), reason="no .vllm (run `make vllm`)")
def test_a_vllm_server_that_is_killed_in_its_job_is_started_again_and_nothing_is_lost(
    cluster, tmp_path
):
    checkout = trained(tmp_path / "served", ON_GPU)
    (checkout.path / ".vllm").symlink_to(vllm_kit.REPOSITORY / ".vllm")
    served = "config/demo/served.yaml"
    settings = yaml.safe_load((checkout.path / served).read_text())
    settings["training"]["recipes"][MODEL] = RECIPE
    settings["scoring"]["shard"] = 10
    settings["scoring"]["vllm"]["prompts"] = 2
    (checkout.path / served).write_text(yaml.safe_dump(settings))
    target = JUDGED.format("demo-served", MODEL, "eng")
    store = checkout.path / f"results/demo-served/store/{MODEL}/eng"
    command = ["snakemake", "--profile", "slurm", *POLL, "--configfile", served, "--", target]
    run = subprocess.Popen(
        [sys.executable, "-m", *command],
        cwd=checkout.path,
        env=cluster.environment(PYTHONPATH=str(checkout.path / "src")),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    cluster.wait_for(lambda: len([*store.glob("shards/part-*")]) >= 2, 240, "it scores")
    kept = {path.name for path in store.glob("shards/part-*")}
    [server] = [pid for pid in cluster.processes() if is_server(pid)]
    os.kill(server, signal.SIGKILL)
    said = run.communicate(timeout=300)[0]
    assert run.returncode == 0, said
    assert kept <= {path.name for path in store.glob("shards/part-*")}
    log = checkout.path / f"logs/demo-served/score/{MODEL}/eng.log"
    assert "started again" in log.read_text()
    entries = log.with_suffix(".attempts.jsonl").read_text().splitlines()
    assert [json.loads(e).get("cause") for e in entries] == [None, "done"]
    assert json.loads((store / "manifest.json").read_text())["statuses"].keys() == {"ok"}


def is_server(pid):
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return b"vllm.entrypoints" in b" ".join(command[:4]) and b"--port" in command


def cached_model(folder):
    """A small model in a cache of the hub's library, as that lays it out."""
    commit = "0123456789abcdef0123456789abcdef01234567"
    folder.mkdir()
    model = tiny.make_transformer(
        tiny.write_corpus(folder / "text.txt"), folder / "made" / "checkpoint.json"
    ).parent
    repository = folder / "hub" / "models--lab--small"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text(commit)
    snapshot = repository / "snapshots" / commit
    snapshot.mkdir(parents=True)
    for path in model.iterdir():
        if not path.name.startswith("checkpoint.json"):
            shutil.copy(path, snapshot / path.name)
    return folder / "hub"


def with_hub_model(checkout):
    """Add a row for the cached model to the catalogue."""
    table = checkout.path / "config/models.tsv"
    heading, *rows = table.read_text().splitlines()
    [small] = [row for row in rows if row.startswith(f"{MODEL}\t")]
    row = dict(zip(heading.split("\t"), small.split("\t"), strict=True))
    row |= {"name": "hub-small", "label": "Hub", "hf_id": "lab/small", "revision": "main"}
    row |= {"recipe": "", "scope": "multilingual"}
    table.write_text("\n".join([heading, *rows, "\t".join(row.values())]) + "\n")


def test_two_campaigns_at_once_take_a_model_from_one_cache_without_network(cluster, tmp_path):
    cache = cached_model(tmp_path / "cache")
    before = tiny.contents(cache)
    runs = []
    for name in ("one", "other"):
        checkout = trained(
            tmp_path / name,
            SITE | {"cache": str(cache)},
            languages=["eng"],
            models=["hub-small"],
        )
        with_hub_model(checkout)
        offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / name / "home")}
        fetched = checkout.run(
            *("snakemake", "--configfile", CAMPAIGN, "--cores", "1", "--until", "retrieve"),
            **(offline | {"BLIMPWORKS_OFFLINE": "1"}),
        )
        assert fetched.returncode == 0, output_of(fetched)
        model = checkout.path / "resources/demo/models/hub-small/multi"
        assert (model / "model.safetensors").exists()
        target = JUDGED.format("demo", "hub-small", "eng")
        campaign = Campaign(cluster, checkout.path, checkout.path)
        runs.append((campaign.start(target, **offline), checkout.path / target))
    for campaign, _ in runs:
        campaign.finish()
    first, second = (path.read_bytes() for _, path in runs)
    assert first == second
    assert tiny.contents(cache) == before


def test_a_run_that_waits_in_vain_ends_and_says_so(cluster, tmp_path):
    """The executor drops jobs when nobody answers it: neither the controller nor accounting."""
    checkout = trained(tmp_path / "vain", SITE, languages=["eng"], models=["ngram-5"])
    campaign = Campaign(cluster, checkout.path, checkout.path)
    impatient = ("--slurm-status-attempts", "1", "--max-status-checks-per-second", "1")
    impatient += ("--verbose",)  # says that a question went unanswered
    target = "results/demo/tokens/eng.parquet"
    campaign.start(*impatient, "--", target, BLIMPWORKS_WATCHDOG="2,10")
    cluster.wait_for(lambda: "has been submitted" in campaign.said(), 60, "a job is submitted")
    cluster.stop_controller()
    cluster.stop_accounting()  # which the executor asks where the controller does not answer
    try:
        failed = "could not check status"
        cluster.wait_for(lambda: failed in campaign.said(), 400, "a question is unanswered")
    finally:
        cluster.start_accounting()
        cluster.start_controller()
    assert campaign.end(600) != 0
    assert "Snakemake still waits for them" in campaign.said()
    # The same command goes on.
    assert campaign.start("--", target).end() == 0
