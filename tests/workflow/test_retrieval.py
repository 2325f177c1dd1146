"""Test retrieval: hopeless cases are reported at once, and an interrupt ends it."""

import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
import yaml

from blimpworks.campaign.catalogue import whole_catalogue
from blimpworks.campaign.load import check_campaign
from blimpworks.campaign.table_files import LockedModel, read_lock, record
from blimpworks.evaluation.request import write_models
from support import hub_kit
from support.checkout import CAMPAIGN, output_of, places
from support.loopback import serving

pytestmark = pytest.mark.xdist_group("bare")


def campaign_of(checkout, name, **settings):
    """Write a campaign with its own folders, into which no file has been retrieved."""
    checkout.change(f"config/{name}.yaml", pathvars=places(name), languages=["eng"], **settings)
    return f"config/{name}.yaml"


def test_files_that_cannot_be_had_are_listed_before_anything_is_tried(bare):
    campaign = campaign_of(bare, "nowhere", mirror=None)
    done = bare.run("blimpworks", "plan", "items", "--configfile", campaign)
    assert done.returncode == 2
    assert "  - no address, and in no mirror: " in output_of(done)


@pytest.mark.long
def test_what_a_campaign_retrieved_is_copied_to_a_machine_without_network(bare):
    here = campaign_of(bare, "here", models=[])
    bare.make("items", "--until", "retrieve", campaign=here)
    there = campaign_of(bare, "there", models=[])
    folders = [bare.path / "resources" / name for name in ("here", "there")]
    shutil.copytree(*folders)
    command = ["snakemake", "--cores", "2", "items", "--configfile", there]
    done = bare.run(*command, BLIMPWORKS_OFFLINE="1")
    assert done.returncode == 0, output_of(done)
    assert "rule retrieve" not in output_of(done)


def started(checkout, campaign, target):
    """Start Snakemake on a target, without a proxy."""
    command = [sys.executable, "-m", "snakemake", "--cores", "2", target, "--configfile", campaign]
    direct = {"NO_PROXY": "*", "PYTHONPATH": str(checkout.path / "src")}
    return subprocess.Popen(
        command, cwd=checkout.path, env=os.environ | direct, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["TERM", "INT"])
def test_a_workflow_that_waits_for_a_server_ends_when_it_is_told_to(bare, number):
    name = f"waiting{number}"
    table = bare.path / "config/demo/treebanks.tsv"
    with serving() as server:
        server.hold = 0
        first, *rows = [line.split("\t") for line in table.read_text().splitlines()]
        place = first.index("url")
        rows = [[*row[:place], server.url, *row[place + 1 :]] for row in rows]
        lines = ["\t".join(row) for row in [first, *rows]]
        (bare.path / f"config/{name}.tsv").write_text("\n".join(lines) + "\n")
        files = {"treebanks": f"config/{name}.tsv", "sources": "config/demo/sources.tsv"}
        campaign = campaign_of(bare, name, mirror=None, catalogue=files)
        run = started(bare, campaign, f"results/{name}/tokens/eng.parquet")
        deadline = time.monotonic() + 300
        while not server.ranges_requested and time.monotonic() < deadline:
            time.sleep(0.1)
        assert server.ranges_requested
        run.send_signal(number)
        # Far less than the minutes for which a download retries.
        said = run.communicate(timeout=45)[1]
    assert run.returncode != 0, said


@pytest.fixture
def hub(monkeypatch, tmp_path):
    files = hub_kit.TINY_MODEL | {"model.safetensors": hub_kit.safetensors(1)}
    with hub_kit.serving({"lab/tiny": files}) as server:
        for name in ("HF_HUB_OFFLINE", "BLIMPWORKS_OFFLINE", "BLIMPWORKS_CACHE"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
        monkeypatch.setenv("NO_PROXY", "*")
        yield server


@pytest.mark.long
def test_a_branch_of_a_model_is_locked_which_makes_nothing_stale_and_taken_from_a_sites_cache(
    bare, hub, monkeypatch, tmp_path
):
    monkeypatch.chdir(bare.path)
    row = whole_catalogue(check_campaign({"campaign": "evaluation"}, "")).models["gpt2"]
    changed = {"name": "tiny", "hf_id": "lab/tiny", "revision": "main", "papers": ()}
    changed |= {"first_token": "bos"}
    table = bare.path / "config/hub.tsv"
    write_models([row.model_copy(update=changed)], table)
    tables = yaml.safe_load((bare.path / CAMPAIGN).read_text())["catalogue"]
    campaign = campaign_of(
        bare, "hub", models=["tiny"], catalogue=tables | {"models": "config/hub.tsv"}
    )
    target = "resources/hub/models/tiny/multi/checkpoint.json"
    bare.make(target, campaign=campaign)
    locked = read_lock(LockedModel, table)["lab/tiny", "main"]
    assert locked.commit == hub_kit.COMMIT
    assert bare.planned(target, campaign=campaign) == set()
    # A site's cache, which now has the model, replaces the network.
    shutil.rmtree(bare.path / "resources/hub")
    with monkeypatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        patch.setenv("HF_HOME", str(tmp_path / "empty"))
        assert bare.snakemake(target, campaign=campaign).returncode != 0
        site = bare.path / "config/site.yaml"
        site.write_text(yaml.safe_dump({"cache": str(tmp_path / "home/hub")}))
        bare.make(target, campaign=campaign)
        site.unlink()
    # An accepted commit replaces the locked one.
    later = "fedcba9876543210fedcba9876543210fedcba98"
    accepted = {"commit": later, "replaces": locked.commit}
    record(locked.model_copy(update=accepted), table, replace=True)
    assert bare.planned(target, campaign=campaign) == {"retrieve"}
    # The hub still has the first commit, so the locked one is unavailable.
    done = bare.snakemake(target, campaign=campaign)
    assert f"lab/tiny: 'main' has moved on the hub, from commit {later}" in output_of(done)
    assert done.returncode != 0
