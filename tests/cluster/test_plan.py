"""Test ``blimpworks plan`` on campaigns of the demo and the papers, against Snakemake's plan."""

import contextlib
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from typer.testing import CliRunner

from blimpworks.campaign.catalogue import load_catalogue
from blimpworks.campaign.load import load_campaign
from blimpworks.campaign.paper import SENTENCE
from blimpworks.campaign.scoring_jobs import ANSWERS_SUFFIX, CampaignSelection
from blimpworks.campaign.settings.site import load_site
from blimpworks.cli import app
from blimpworks.cluster import plan as cluster_plan
from blimpworks.cluster.plan import STORE_BYTES, DryRun, count_scored, make_plan, read_dry_run
from blimpworks.cluster.plan_text import RunPlan, plan_text
from blimpworks.cluster.text import number_text
from blimpworks.papers.lmentry.paper import PROMPTS
from support.checkout import output_of
from support.paths import REPOSITORY

EXAMPLE = "config/site.example.yaml"
PAPERS, DEMO = "config/config.yaml", "config/demo/config.yaml"


def planned(campaign=PAPERS, site=EXAMPLE, dry=None) -> RunPlan:
    """Return the plan of a campaign without Snakemake's part."""
    chosen = load_campaign(Path(campaign))
    cluster = load_site(Path(site)) if site else None
    return make_plan(CampaignSelection.of(chosen), cluster, dry, Path(site) if site else None)


@pytest.fixture
def planned_at(tmp_path, at_root):
    """Return a function that plans the papers' campaign for the example's cluster with settings."""

    def plan(**settings):
        file = tmp_path / "site.yaml"
        file.write_text(yaml.safe_dump(yaml.safe_load(Path(EXAMPLE).read_text()) | settings))
        return planned(site=file)

    return plan


@pytest.fixture(scope="module")
def plan():
    with contextlib.chdir(REPOSITORY):
        return planned()


@pytest.fixture(scope="module")
def papers(bare):
    return bare.run("blimpworks", "plan", "--site", EXAMPLE, "--json")


@pytest.mark.xdist_group("bare")
def test_the_papers_campaign_is_planned_for_the_example_cluster(papers):
    assert papers.returncode == 2, output_of(papers)  # files without a checksum stop it
    plan = RunPlan.model_validate_json(papers.stdout)
    jobs = sum(model.jobs for model in plan.models)
    assert jobs == sum(n for rule, n in plan.rules.items() if rule.startswith(("score", "answer")))
    assert not any("did not name" in note for note in plan.notes)
    # Five seeds of five languages, five of all languages, and the LSTM of BLiMP.
    assert any(note.startswith("31 LSTMs are trained before they score") for note in plan.notes)
    assert sum(training.checkpoints for training in plan.trainings) == 31
    assert plan.disk.downloads > 1e8
    assert plan.rules["retrieve"] > plan.disk.downloads_unknown > 0
    large = next(model for model in plan.models if model.model == "llama-3.1-70b")
    assert (large.gpus, large.kind) == (4, "A100 80 GB")


@pytest.mark.xdist_group("bare")
def test_the_text_fits_its_columns_and_says_what_the_data_say(papers):
    plan = RunPlan.model_validate_json(papers.stdout)
    site = load_site(REPOSITORY / EXAMPLE)
    for width in (80, 100):
        assert max(map(len, plan_text(plan, site, width).splitlines())) <= width
    text = plan_text(plan, site, 200)
    on_gpus = sum(model.jobs for model in plan.models if model.gpus)
    assert f"Jobs: {sum(plan.rules.values()):,} to run, {on_gpus} of them on GPUs" in text
    assert f"GPU-hours: {number_text(sum(m.gpu_hours for m in plan.models))} (" in text
    large = max(plan.models, key=lambda model: model.host_memory_mb)
    assert f"{large.host_memory_mb / 1000:.1f} GB of the host (llama-3.1-70b)" in text
    for model in plan.models:
        row = next(line for line in text.splitlines() if line.startswith(f"  {model.model}  "))
        assert f"{number_text(model.tokens_per_second)} {model.speed[0]}" in row
    # English and Hebrew corpora of CLAMS, and text for rules.
    end = " ".join(text.partition("This campaign cannot be run as it is:")[2].split())
    assert "no checksum: 9 files" in end
    assert "meta-llama/Llama-3.1-70B, meta-llama/Llama-3.1-70B-Instruct" in " ".join(text.split())


@pytest.mark.xdist_group("workflow")
def test_of_a_finished_campaign_nothing_is_left_and_all_is_there(built):
    done = built.blimpworks("plan", "--configfile", "config/test.yaml", "--json")
    plan = RunPlan.model_validate_json(done.stdout)
    assert (plan.rules, plan.models, plan.site) == ({}, (), None)
    assert sum(plan.disk.added.values()) == 0


@pytest.mark.xdist_group("workflow")
def test_a_job_to_be_run_again_is_planned_with_the_tokens_that_were_measured(scratch):
    campaign = load_campaign(scratch.path / "config/test.yaml")
    store = scratch.path / campaign.pathvars.results / "store" / "transformer-small"
    part = sorted(store.iterdir())[0]
    shutil.rmtree(part)
    target = str((part / "manifest.json").relative_to(scratch.path))
    done = scratch.blimpworks("plan", target, "--configfile", "config/test.yaml", "--json")
    plan = RunPlan.model_validate_json(done.stdout)
    assert [(model.model, model.jobs) for model in plan.models] == [("transformer-small", 1)]
    assert plan.models[0].tokens > 0
    assert "tokens per sentence: as in similar sentences that have scores." in plan.notes


@pytest.mark.xdist_group("bare")
def test_targets_limit_the_plan_and_what_snakemake_refuses_is_told_in_its_words(bare):
    done = bare.blimpworks("plan", "items", "--configfile", DEMO)
    assert "build_multiblimp_items 3" in done.stdout
    assert "Scoring" not in done.stdout
    done = bare.run("blimpworks", "plan", "no_such_target", "--configfile", DEMO)
    assert done.returncode == 2
    assert "Snakemake's dry run fails" in done.stderr
    assert "no_such_target" in done.stderr


def test_a_dry_run_is_read_as_rules_jobs_that_score_and_files():
    said = (
        "Job 3: Score with gpt2 (multi.deu)\n    Job 4: Score with goldfish (fra)\n"
        "Job 6: Answer with gpt2 (multi)\n"
        "Job 5: Retrieve sources/ud/UD_X-Y/x.conllu\n"
        "Job stats:\njob    count\n-----  ---\n"
        "score             1\nscore_checkpoints 1\nanswer 1\nretrieve 1\ntotal 4\n\nReasons:\n"
    )
    result = read_dry_run(said)
    assert result.rules == dict.fromkeys(("score", "score_checkpoints", "answer", "retrieve"), 1)
    answered = ("gpt2 (answers)", "multi")
    assert result.scoring_jobs == {("gpt2", "multi.deu"), ("goldfish", "fra"), answered}
    assert result.retrieved == ("sources/ud/UD_X-Y/x.conllu",)
    # Jobs that Snakemake does not name are unknown.
    assert read_dry_run(said[said.index("Job stats") :]).scoring_jobs is None


def test_without_snakemakes_answer_all_that_is_not_done_is_planned(plan):
    assert plan.rules is None
    assert sum(m.jobs for m in plan.models) == 160 + 18
    assert RunPlan.model_validate_json(plan.model_dump_json()) == plan
    notes = " ".join(plan.notes)
    assert "gated: the owner of the token must have accepted their licences on https" in notes
    assert "meta-llama/Llama-3.1-70B" in notes


@pytest.mark.usefixtures("at_root")
def test_only_the_jobs_that_snakemake_names_are_planned():
    dry = DryRun({"score": 1}, frozenset({("qwen3-8b", "multi")}), ())
    (model,) = planned(dry=dry).models
    assert (model.model, model.jobs) == ("qwen3-8b", 1)
    assert model.tokens == 2 * SENTENCE * 121_305  # the paper's pairs of all languages


def test_stores_are_counted_by_the_token_and_more_gpu_hours_are_asked_for_than_expected(plan):
    scored = sum(model.tokens for model in plan.models if not model.model.endswith(ANSWERS_SUFFIX))
    prompts = 18 * 9 * PROMPTS  # models and languages of Multi-LMentry
    assert plan.disk.stores == scored * STORE_BYTES + prompts * cluster_plan.ANSWER_BYTES
    for model in plan.models:
        assert model.gpu_hours <= model.hours * model.jobs * model.gpus + 1e-9
        # No job requests more time than the site allows; one that answers goes on in the next job.
        longest = model.minutes_asked == 24 * 60 and model.model.endswith(ANSWERS_SUFFIX)
        assert not model.gpus or longest or model.gpu_hours < model.gpu_hours_asked


@pytest.mark.slow
def test_a_cache_of_models_saves_their_download(tmp_path, plan, planned_at):
    name = load_catalogue(load_campaign(Path(PAPERS))).models["qwen3-8b"].hf_id
    (tmp_path / "cache" / f"models--{name.replace('/', '--')}" / "snapshots").mkdir(parents=True)
    saved = plan.disk.weights - planned_at(cache=str(tmp_path / "cache")).disk.weights
    assert saved == round(2 * 8.191 * 1e9)


def test_what_the_site_lacks_or_the_campaign_is_noted(planned_at):
    site = yaml.safe_load(Path(EXAMPLE).read_text())
    for nodes in (site["cpu"], *site["gpus"]):
        nodes["max_hours"] = 0.5
    plan = planned_at(**site | {"models": {"qwen3-8B": {"gpus": 1}}})
    assert all(each.minutes_asked <= 30 for each in plan.models)
    note = next(note for note in plan.notes if "take longer than a job may" in note)
    assert "llama-3.1-70b," in note
    assert "qwen3-0.6b" not in note
    assert any("lacks: qwen3-8B" in note for note in plan.notes)


def test_models_of_unknown_size_are_named(tmp_path, at_root):
    own = {"mine": {"path": "./mine"}, "known": {"path": "./known", "parameters": 7}}
    settings = {"campaign": "own", "benchmarks": ["blimp"], "models": [], "own_models": own}
    file = tmp_path / "own.yaml"
    file.write_text(yaml.safe_dump(settings))
    note = next(note for note in planned(file).notes if "without parameters" in note)
    assert note.endswith("planned as if they had 5 million: mine.")


@pytest.mark.usefixtures("at_root")
def test_the_demo_is_planned_for_this_machine_without_a_site(tmp_path):
    settings = yaml.safe_load(Path(DEMO).read_text())
    settings["pathvars"] |= {"results": str(tmp_path), "logs": str(tmp_path)}
    campaign = tmp_path / "demo.yaml"
    campaign.write_text(yaml.safe_dump(settings))
    text = plan_text(planned(campaign, site=None), None)
    assert "No cluster is described" in text
    assert re.search(r"ngram-5 +kenlm fp32 .* none ", text)
    assert "GPU-hours" not in text


@pytest.mark.slow
@pytest.mark.usefixtures("at_root")
def test_a_model_that_fits_nowhere_ends_in_exit_code_2_with_the_reason(tmp_path, monkeypatch):
    monkeypatch.setattr("blimpworks.cluster.plan.dry_run", lambda *_: None)
    site = tmp_path / "site.yaml"
    site.write_text(
        "gpus: [{label: L4, memory_gb: 24, per_node: 1, host_memory_gb: 64, teraflops: 121}]"
    )
    done = CliRunner().invoke(app, ["plan", "--site", str(site)])
    assert done.exit_code == 2
    said = " ".join(done.stdout.split())
    assert "model 'llama-3.1-70b' fits no configured GPU: on 1 × L4 it needs" in said
    assert "on the cluster of " in said


@pytest.mark.usefixtures("at_root")
def test_large_models_without_a_cluster_and_too_little_disk_stop_the_campaign(monkeypatch):
    monkeypatch.setattr(
        "blimpworks.cluster.plan.shutil.disk_usage", lambda _: SimpleNamespace(free=1)
    )
    plan = planned(site=None)
    assert any(stop.startswith("Too little disk: resources need ") for stop in plan.stops)
    [stop] = [each for each in plan.stops if "need GPUs" in each]
    assert "and no cluster is described: on processors a job would take up to" in stop
    assert not re.search(r"^  llama-3.1-70b ", plan_text(plan, None), re.MULTILINE)
    # A GPU of this machine runs them, but the plan knows no more of it.
    monkeypatch.setattr("blimpworks.cluster.plan.shutil.which", lambda name: f"/usr/bin/{name}")
    plan = planned(site=None)
    assert not any("need GPUs" in stop for stop in plan.stops)
    [note] = [note for note in plan.notes if "need this machine's GPU, and are not planned" in note]
    assert "llama-3.1-70b" in note


def test_shards_are_counted_and_broken_ones_left_out(tmp_path):
    shards = tmp_path / "shards"
    shards.mkdir()
    ids = pa.array([[1, 2, 3], [4, 5]], pa.list_(pa.int32()))
    pq.write_table(pa.table({"key": ["a", "b"], "ids": ids}), shards / "part-1.parquet")
    (shards / "part-2.parquet").write_bytes(b"broken")
    held = count_scored(tmp_path)
    assert (held.sentences, held.tokens, held.mean) == (2, 5, 2.5)


def test_numbers_are_told_with_the_figures_that_count():
    told = [number_text(value) for value in (0, 0.123, 1.26, 9.96, 12345)]
    assert told == ["0", "0.12", "1.3", "10", "12,345"]
