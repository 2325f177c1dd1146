"""Which parts of a campaign's scoring share a job, and what becomes of them in it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from blimpworks import cli
from blimpworks.campaign.catalogue import load_catalogue
from blimpworks.campaign.load import load_campaign
from blimpworks.campaign.parts import score_parts
from blimpworks.campaign.reference import groups_of_models
from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.campaign.settings.site import load_site
from blimpworks.cluster.allocation import Allocation
from blimpworks.cluster.attempt import PACKED, member_share
from blimpworks.cluster.estimate import expected_items
from blimpworks.cluster.needs import needs_of
from blimpworks.cluster.pack_run import Member, _give_up
from blimpworks.cluster.packs import pack_parts
from blimpworks.errors import UserError
from blimpworks.records.job import planning
from blimpworks.records.journal import read_attempts
from blimpworks.scoring.collect import Shards
from support import tiny
from support.journal_kit import attempt, write_attempts

EXAMPLE = load_site(Path("config/site.example.yaml"))
CAMPAIGN = load_campaign(Path("config/config.yaml"))
CATALOGUE = load_catalogue(CAMPAIGN)
PARTS = score_parts(CAMPAIGN, CATALOGUE, groups_of_models(CAMPAIGN, CATALOGUE))


def packs(site, campaign=CAMPAIGN):
    def needs(model):
        row = CATALOGUE.models[model]
        return needs_of(row, row.engine, row.dtype, site)

    def expected(part):
        return expected_items(campaign, CATALOGUE, part)

    return pack_parts(PARTS, CATALOGUE.models, needs, site, expected)


def test_without_a_cluster_nothing_is_packed():
    assert packs(None) == []


def test_the_checkpoints_of_a_monolingual_model_share_a_job():
    goldfish, *lstms = packs(EXAMPLE)
    assert {part.model for part in goldfish.parts} == {"goldfish"}
    assert len(goldfish.parts) == 70
    assert goldfish.width == 1
    # Each seed is a model.
    assert len(lstms) == 5
    assert {len(pack.parts) for pack in lstms} == {5}


def test_a_pack_takes_as_long_as_its_benchmarks_pairs_whatever_is_built():
    few = CAMPAIGN.model_copy(
        update={"clams": CAMPAIGN.clams.model_copy(update={"per_paradigm": 10})}
    )
    starts = 5 * EXAMPLE.start_seconds / 3600
    whole, part = packs(EXAMPLE)[1], packs(EXAMPLE, few)[1]
    assert {each.model for each in whole.parts} == {"clams-lstm-mono-seed1"}
    # 209,126 pairs in English; of ten a set 150 and 70 with capitals remain.
    assert whole.hours > 10 * starts
    assert starts < part.hours < 1.2 * starts


@pytest.mark.slow
@given(st.floats(0.05, 20), st.booleans())
def test_each_model_is_packed_as_a_whole_or_not_and_no_pack_is_longer_than_asked(hours, whole):
    site = EXAMPLE.model_copy(update={"pack_hours": hours, "whole_nodes": whole})
    result = packs(site)
    keys = [part.key for pack in result for part in pack.parts]
    models = {part.model for pack in result for part in pack.parts}
    assert sorted(keys) == sorted(part.key for part in PARTS if part.model in models)
    if whole:
        return
    # A part that is longer than that has a pack of its own.
    assert all(pack.hours <= hours * 1.0001 or len(pack.parts) == 1 for pack in result)


def test_on_whole_nodes_small_models_share_one_and_large_ones_have_their_own():
    site = EXAMPLE.model_copy(update={"whole_nodes": True})
    result = packs(site)
    packed = {part.model for pack in result for part in pack.parts}
    assert {"llama-3.2-1b", "gemma-3-27b", "goldfish"} <= packed
    assert len({pack.name for pack in result}) == len(result)
    engines = {part.model: part.engine for part in PARTS}
    needs = {m: needs_of(CATALOGUE.models[m], engines[m], "bfloat16", site) for m in packed}
    on_gpus = [pack for pack in result if needs[pack.parts[0].model].kind]
    assert all(pack.width == 4 for pack in on_gpus)
    # LSTMs have none; of their nodes' 64 cores as many as there is memory for.
    widths = {p.parts[0].model: p.width for p in result if p not in on_gpus}
    assert widths == {"clams-lstm-mono-seed1": 50, "clams-lstm-multi-seed1": 32}
    for pack in on_gpus:
        assert {needs[part.model].kind.label for part in pack.parts} == {
            needs[pack.parts[0].model].kind.label
        }


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    directory = tmp_path_factory.mktemp("models")
    text = tiny.write_corpus(directory / "text.txt")
    return {
        "ngram": tiny.make_ngram(text, directory / "ngram" / "checkpoint.json"),
        "broken": directory / "broken" / "checkpoint.json",
    }


def member(name, checkpoint, lang="eng"):
    return {
        "part": f"{name}/{lang}",
        "engine": "kenlm",
        "checkpoint": str(checkpoint),
        "slots": 1,
        "whole": [f"multiblimp/{lang}"],
        "regions": [],
    }


@pytest.fixture
def pack(tmp_path):
    """Run a pack of some members."""
    texts = tiny.sentences(40)
    pairs = list(zip(texts[::2], texts[1::2], strict=True))
    for lang in ("eng", "deu", "fra"):
        tiny.write_items(tmp_path / "items" / "multiblimp" / f"{lang}.parquet", pairs)

    def run(members, width=2):
        named = {name: str(tmp_path / name) for name in ("items", "store", "logs")}
        named |= {"options": ScoringOptions().model_dump_json(), "width": str(width)}
        command = [sys.executable, "-m", "blimpworks", "score-pack", "--no-gpus"]
        command += [f"--members={json.dumps(members)}"]
        command += [f"--{name}={value}" for name, value in named.items()]
        kept = {k: v for k, v in os.environ.items() if not k.startswith("SLURM_")}
        return subprocess.run(command, capture_output=True, text=True, check=False, env=kept)

    return run


@pytest.mark.slow
def test_each_member_of_a_pack_has_a_log_a_journal_and_a_manifest(pack, models, tmp_path):
    done = pack([member("ngram", models["ngram"], lang) for lang in ("eng", "deu", "fra")])
    assert done.returncode == 0, done.stderr
    for lang in ("eng", "deu", "fra"):
        assert (tmp_path / "store" / "ngram" / lang / "manifest.json").exists()
        [attempt] = read_attempts(tmp_path / "logs" / "ngram" / f"{lang}.attempts.jsonl")
        assert attempt.cause == "done"


@pytest.mark.slow
def test_a_member_that_cannot_be_scored_is_given_up_and_the_others_are_scored(
    pack, models, tmp_path
):
    members = [member("broken", models["broken"]), member("ngram", models["ngram"])]
    # Twice it may still be the machine's fault.
    assert [pack(members).returncode for _ in range(3)] == [1, 1, 0]
    manifest = tmp_path / "store" / "broken" / "eng" / "manifest.json"
    said = json.loads(manifest.read_text())
    assert "checkpoint.json does not exist" in said["failed"]
    with pytest.raises(UserError, match="only this model is scored again"):
        _ = Shards(manifest, manifest.with_name("shards")).described
    # So that Snakemake scores it again when it is run again.
    assert not manifest.exists()
    assert pack(members).returncode == 1
    shards = tmp_path / "store" / "ngram" / "eng"
    assert Shards(shards / "manifest.json", shards / "shards").described.sentences


@pytest.mark.slow
def test_a_pack_run_again_scores_nothing_twice(pack, models, tmp_path):
    members = [member("ngram", models["ngram"], lang) for lang in ("eng", "deu")]
    assert pack(members).returncode == 0
    before = tiny.contents(tmp_path / "store")
    assert pack([*members, member("ngram", models["ngram"], "fra")]).returncode == 0
    after = tiny.contents(tmp_path / "store")
    same = {path: content for path, content in after.items() if path in before}
    kept = {path for path in before if not str(path).endswith(".prov.json")}
    assert {path: same[path] for path in kept} == {path: before[path] for path in kept}
    *_, again = read_attempts(tmp_path / "logs" / "ngram" / "eng.attempts.jsonl")
    assert again.scored.new == 0


@pytest.mark.slow
def test_a_member_that_needs_more_than_the_job_has_is_refused(pack, models):
    done = pack([member("ngram", models["ngram"]) | {"slots": 3}])
    assert done.returncode == 2
    assert "needs 3 cores, but this job has 2" in done.stderr


def test_members_of_a_pack_ask_for_the_whole_between_them(monkeypatch):
    place = Allocation("1", "n", gpus=("a",) * 4, mem_mb=4000, minutes=60)
    monkeypatch.setenv(PACKED, "1/4,8")
    own = member_share(place)
    assert (len(own.gpus), own.mem_mb) == (1, 1000)
    assert 8 * len(own.gpus) * own.minutes == 4 * 60


def test_when_it_is_only_asked_what_a_pack_would_be_nothing_is_scored(pack, models, tmp_path):
    given = {name: str(tmp_path / name) for name in ("items", "store", "logs")}
    given |= {"options": ScoringOptions().model_dump_json(), "width": "2"}
    members = [member("ngram", models["ngram"], lang) for lang in ("eng", "deu")]
    words = ["score-pack", "--no-gpus", f"--members={json.dumps(members)}"]
    words += [f"--{name}={value}" for name, value in given.items()]
    command = typer.main.get_command(cli.command_line())
    with planning() as planned:
        command.main(words, "blimpworks", standalone_mode=False)
    assert [job.outputs[0] for job in planned] == [
        tmp_path / "store" / "ngram" / lang / "manifest.json" for lang in ("eng", "deu")
    ]
    assert not (tmp_path / "store").exists()
    assert not (tmp_path / "logs").exists()


def test_a_member_is_given_up_after_three_tries_without_a_score_and_not_while_it_gets_on(tmp_path):
    log = tmp_path / "job.log"
    log.write_text("blimpworks: it broke\n")
    member = Member("m/eng", (), tmp_path / "manifest.json", log, 1)
    message = []
    for cause, new in [("error", 5), ("error", 0), ("error", 0), ("error", 0), ("error", 0)]:
        write_attempts(log, attempt(cause, new))
        message.append(_give_up(member))
    assert message == [False, False, False, True, False]
    assert json.loads(member.manifest.read_text())["failed"] == "it broke"
