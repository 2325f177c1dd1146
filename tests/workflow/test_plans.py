"""Test plans of dry runs by way of starting, models, files and items."""

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from blimpworks.campaign.load import load_campaign
from blimpworks.campaign.scoring_jobs import CampaignSelection
from support.checkout import DEMO, output_of, places
from support.paths import REPOSITORY

pytestmark = pytest.mark.xdist_group("bare")
HUB = "llama-3.2-1b"
TABLES = {name: f"config/demo/{name}.tsv" for name in ("treebanks", "sources")}
MODULE = """configfile: "{root}/config/demo/config.yaml"


module blimpworks:
    snakefile:
        gitfile("{clone}", path="workflow/Snakefile", tag="v1")
    config:
        config


use rule * from blimpworks as bw_*
"""


def jobs(done):
    assert done.returncode == 0, output_of(done)
    rows = re.findall(r"^(?:bw_)?(\w+) +(\d+)$", output_of(done), re.MULTILINE)
    return {rule: int(n) for rule, n in rows if rule != "total"}


@pytest.fixture(scope="module")
def usual(bare):
    """Plan all jobs of the demo, started in the usual way."""
    planned = jobs(bare.snakemake("-nF", campaign=DEMO))
    assert planned["build_table"] > 1
    return planned


def test_the_same_by_its_own_file_in_another_directory(bare, usual, tmp_path):
    arguments = ("-nF", "-s", "workflow/Snakefile", "--directory", str(tmp_path))
    assert jobs(bare.snakemake(*arguments, campaign=str(bare.path / DEMO))) == usual


def test_the_same_as_a_module_of_another_workflow(bare, usual, tmp_path):
    """snakedeploy writes such a file; a local clone replaces the host."""
    clone = tmp_path / "clone"
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b.c", "-C", str(clone))
    subprocess.run(["git", "clone", "-q", str(bare.path), str(clone)], check=True)
    subprocess.run([*git, "tag", "v1"], check=True)
    (tmp_path / "Snakefile").write_text(MODULE.format(root=bare.path, clone=clone))
    arguments = ("--cores=2", "--directory", str(tmp_path), "-s", str(tmp_path / "Snakefile"))
    assert jobs(bare.run("snakemake", "-nF", *arguments)) == usual


def test_without_benchmarks_there_is_nothing_but_print(bare):
    bare.change("config/none.yaml", benchmarks=[])
    planned = jobs(bare.snakemake("-nF", "published", campaign="config/none.yaml"))
    assert not [rule for rule in planned if rule.startswith(("score", "train"))]
    assert planned["read_published"] == 5


CAMPAIGNS = sorted(
    str(path.relative_to(REPOSITORY))
    for folder in ("config", "config/demo")
    for path in (REPOSITORY / folder).glob("*.yaml")
    if re.search(r"^campaign:", path.read_text("utf-8"), re.MULTILINE)
)


@pytest.mark.long
@pytest.mark.parametrize("name", CAMPAIGNS)
def test_the_files_that_status_counts_are_those_that_are_retrieved(bare, monkeypatch, name):
    monkeypatch.chdir(bare.path)
    selection = CampaignSelection.of(load_campaign(Path(name)))
    retrieved = re.findall(r"Retrieve sources/(\S+)", output_of(bare.make("-nF", campaign=name)))
    assert sorted(selection.retrieved_files) == sorted(retrieved)


def test_a_run_whose_software_is_missing_ends_before_any_job(bare):
    bare.change("config/hub.yaml", models=[HUB])
    done = bare.snakemake("--cores", "1", campaign="config/hub.yaml")
    assert done.returncode != 0
    assert "vllm not installed: `bash envs/install.sh vllm-cuda` for GPUs" in output_of(done)
    assert "Finished jobid" not in output_of(done)


# An n-gram model has no number format, so rounding alone decides its ties. The report names no
# interpreter if there is none, as a bare checkout has no .vllm.
JUDGED, COMPARED = "judgements/multiblimp/{}/eng.parquet", "parity/multiblimp/eng/{}/parity.md"
TOLD = {
    ("judge", JUDGED.format("ngram-5")): "--near-tie 0.0 ",
    ("judge", JUDGED.format("masked-small")): "--near-tie 0.25 ",
    ("parity", COMPARED.format("ngram-5")): "--variant=kenlm --reference kenlm ",
    ("parity", COMPARED.format("masked-small")): "--variant=transformers:within-word "
    "--reference transformers:float32 ",
    ("parity", COMPARED.format(HUB)): "--variant=vllm --variant=transformers:bfloat16 "
    "--variant=transformers:skip ",
}


def test_judging_and_a_report_of_variants_are_told_what_suits_the_model(bare):
    recipes = {"masked-small": {"kind": "masked"}, "ngram": {"kind": "ngram"}}
    settings = {"training": {"recipes": recipes}, "scoring": {"dtype": "bfloat16"}}
    models = ["ngram-5", "masked-small", HUB]
    bare.change("config/models.yaml", models=models, **settings)
    targets = [f"results/demo/{place}" for _, place in TOLD]
    said = output_of(bare.make("-n", "-p", *targets, campaign="config/models.yaml"))
    for (verb, place), words in TOLD.items():
        lines = [line for line in said.splitlines() if f"blimpworks {verb} " in line]
        # The line names a file or its directory.
        [line] = [each for each in lines if place in each or f"{Path(place).parent} " in each]
        assert words in line
        assert "--python" not in line


def test_labels_may_have_signs_that_mean_something_to_snakemake_and_the_shell(bare):
    label = r"{id} $\x$ <b> 100 % a_b & c|d; touch $(no)"
    table = (bare.path / "config/models.tsv").read_text()
    named = table.replace("ngram-5\t5-gram\t", f"ngram-5\t{label}\t")
    (bare.path / "config/labels.tsv").write_text(named)
    bare.change("config/labels.yaml", catalogue=TABLES | {"models": "config/labels.tsv"})
    said = output_of(bare.make("-n", "-p", "multiblimp_table5", campaign="config/labels.yaml"))
    lines = [line for line in said.splitlines() if "--labels" in line and "{id}" in line]
    commands = [shlex.split(line.partition("Shell command: ")[2]) for line in lines]
    labels = [json.loads(each[each.index("--labels") + 1]) for each in commands]
    assert any(label in each.get("models", {}).values() for each in labels)


def test_the_literal_slurm_profile_works_from_the_root(bare):
    done = bare.make("--profile", "slurm", "-n")
    assert re.search(r"^score +\d+$", output_of(done), re.MULTILINE)


def test_a_rule_made_from_a_local_rule_is_local_too():
    # `use rule` drops `localrule: True`, which would make each small table a job of the cluster.
    rules = {
        name: (base, "localrule: True" in body)
        for path in (REPOSITORY / "workflow/rules").rglob("*.smk")
        for base, name, body in re.findall(
            r"^ *(?:use rule (\w+) as |rule )(\w+)(?: with)?:\n((?: {4}.*\n|\n)+)",
            path.read_text(),
            re.MULTILINE,
        )
    }
    derived = {name: base for name, (base, _) in rules.items() if base}
    assert len(derived) > 10
    assert [name for name, base in derived.items() if rules[base][1] != rules[name][1]] == []


def test_one_figure_needs_no_model_and_figure_2_the_tables_of_one_language_alone(bare):
    said = output_of(bare.snakemake("-n", "multiblimp_fig2"))
    assert re.search(r"^build_figure +1$", said, re.MULTILINE)
    assert not re.search(r"^(train_|score|judge|build_table)", said, re.MULTILINE)
    assert "results/demo/items/multiblimp/eng.parquet" in said
    assert "results/demo/items/multiblimp/all/eng.parquet" in said
    assert not re.search(r"\b(deu|fra)\.parquet", said)


def test_a_campaign_without_models_builds_its_data_alone(bare):
    bare.change("config/data.yaml", models=[])
    done = bare.make("-n", campaign="config/data.yaml")
    assert "funnel.csv" in output_of(done)
    assert "table5.csv" not in output_of(done)
    assert "score" not in re.findall(r"^rule (\w+):", output_of(done), re.MULTILINE)


def test_files_left_out_for_want_of_a_checksum_are_named(bare):
    table = (bare.path / "config/demo/treebanks.tsv").read_text()
    name = "de_demo-ud-dev.conllu"
    row = ["deu", "UD_German-Demo", name, "1", "", "", "", "CC0-1.0", "", "x"]
    (bare.path / "config/unpinned.tsv").write_text(table + "\t".join(row) + "\n")
    tables = TABLES | {"treebanks": "config/unpinned.tsv"}
    settings = {"unpinned": "skip", "catalogue": tables, "pathvars": places("unpinned")}
    bare.change("config/unpinned.yaml", **settings)
    target = "resources/unpinned/sources/text/deu.txt"
    said = output_of(bare.make(target, campaign="config/unpinned.yaml"))
    assert "does without 1 files that have no checksum" in said
    assert f"ud/UD_German-Demo/{name}" in said


def test_a_campaign_that_names_no_places_uses_the_documented_ones(bare):
    bare.change("config/places.yaml", without="pathvars")
    bare.make("results/tokens/deu.parquet", campaign="config/places.yaml")
    for path in ("logs/build_tokens/deu.log", "logs/benchmarks/build_tokens/deu.tsv"):
        assert (bare.path / path).is_file()


ITEMS = re.compile(r"results/demo/[\w/]*items/[\w./]+")
COMMAND = re.compile(r"-m blimpworks ([\w-]+) ((?:(?!-m blimpworks).)*)")
"""A command and its arguments, in a shell line that may have several."""


def tables(folder, *languages):
    return {f"results/demo/{folder}/{lang}.parquet" for lang in languages or ("deu", "eng", "fra")}


@pytest.mark.long
def test_with_a_limit_models_are_run_on_samples_and_trained_without_any_item(bare):
    bare.change("config/limit.yaml", limit=12)
    names = ("accuracies/multiblimp.parquet", "parity/multiblimp/eng/ngram-5/parity.md")
    targets = [
        f"results/demo/{name}" for name in (*names, "regressions/multiblimp/margins.parquet")
    ]
    said = output_of(bare.make("-n", "-p", *targets, campaign="config/limit.yaml"))
    named = {}
    for verb, arguments in re.findall(COMMAND, said):
        named.setdefault(verb, set()).update(ITEMS.findall(arguments))
    plain, sampled = "items/multiblimp", "sampled/items/multiblimp"
    assert named["limit-items"] == tables(plain) | tables(sampled)
    for verb in ("score", "collect-scores", "judge"):
        assert named[verb] == tables(sampled)
    assert named["parity"] == tables(sampled, "eng")
    assert named["build-text"] == tables(plain)
