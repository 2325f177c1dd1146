"""Test `blimpworks evaluate` as users run it: a command, a page, tables, and the same in Python."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pandas as pd
import pytest

from support.checkout import copy_of, output_of

pytestmark = pytest.mark.xdist_group("workflow")
MODELS = "results/demo/models"
TRANSFORMER, NGRAM = "transformer-small", "ngram-5"
BOTH = "evaluations/both"
BENCHMARKS = ["demo_pairs", "clams"]
LIMIT = 40
REQUEST = ["--data=embedded", "--languages=English", "--cores=2"]
OFFLINE = {"HF_HUB_OFFLINE": "1", "COLUMNS": "80"}
NOTEBOOK = f"""
import os
from pathlib import Path

import blimpworks

models, both = Path("{MODELS}").absolute(), Path("{BOTH}").absolute()
# Somewhere else on the disk.
os.chdir(os.environ["NOTES"])
results = blimpworks.evaluate(
    [models / "{TRANSFORMER}", str(models / "{NGRAM}")],
    out=both,
    benchmarks={BENCHMARKS},
    languages=["eng"],
    limit={LIMIT},
    data="embedded",
    cores=2,
)
assert blimpworks.load_results(both).judgements.equals(results.judgements)
results.accuracies.to_parquet("accuracies.parquet")
columns = {{"benchmark", "model", "item_id", "good", "bad", "logprob_good", "logprob_bad"}}
assert columns <= {{*results.items}}
assert len(blimpworks.load_items("demo_pairs", "eng")) == 16
"""


def evaluate(checkout, *arguments):
    return checkout.run("blimpworks", "evaluate", *arguments, *REQUEST, **OFFLINE)


def evaluate_both(checkout):
    models = [f"./{MODELS}/{TRANSFORMER}", f"{MODELS}/{NGRAM}/"]
    chosen = [f"--benchmarks={','.join(BENCHMARKS)}", f"--limit={LIMIT}"]
    return evaluate(checkout, *models, *chosen, f"--out={BOTH}")


def contents(folder):
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def scored(folder, model=NGRAM):
    """Return the numbers of sentences in a model's store and of those its last job scored."""
    log = (folder / f"logs/score/{model}/eng.log").read_text(encoding="utf-8")
    return tuple(map(int, re.findall(r"(\d+) sentences, (\d+) of them new", log)[-1]))


def planned(log):
    return int(re.search(r"^total +(\d+)$", log.read_text(encoding="utf-8"), re.MULTILINE)[1])


@pytest.fixture(scope="module")
def checkout(built, tmp_path_factory):
    """Return a checkout with models that were trained in it."""
    return copy_of(built, tmp_path_factory.mktemp("evaluations"))


@pytest.fixture(scope="module")
def finished(checkout):
    """Evaluate two models; return the folder, the output, and the models' earlier files."""
    before = contents(checkout.path / MODELS)
    done = evaluate_both(checkout)
    assert done.returncode == 0, output_of(done)
    return SimpleNamespace(folder=checkout.path / BOTH, done=done, models=before)


@pytest.fixture(scope="module")
def notebook(checkout, finished, tmp_path_factory):
    """Evaluate in Python in the same folder; return the folder of the written answers."""
    notes = tmp_path_factory.mktemp("notes")
    (checkout.path / "notebook.py").write_text(NOTEBOOK)
    before = contents(finished.folder / "results")
    done = checkout.run("notebook", NOTES=str(notes), **OFFLINE)
    assert done.returncode == 0, output_of(done)
    assert contents(finished.folder / "results") == before
    return notes


def interrupted(checkout, arguments, log):
    """Interrupt an evaluation when its first job is done; return its output and exit code."""
    environment = {**os.environ, **OFFLINE, "PYTHONPATH": str(checkout.path / "src")}
    # Processes in the background, as tests may be, ignore interrupts.
    minding = ["env", "--default-signal=INT"]
    command = [*minding, sys.executable, "-m", "blimpworks", "evaluate", *arguments, *REQUEST]
    process = subprocess.Popen(
        command, cwd=checkout.path, env=environment, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    while process.poll() is None:
        if log.exists() and "\n1 of " in log.read_text(encoding="utf-8"):
            os.killpg(process.pid, signal.SIGINT)
            break
        time.sleep(0.05)
    return process.communicate()[0], process.returncode


def running(words):
    """Return command lines of all processes that contain these words."""
    listed = subprocess.run(["ps", "-ewwo", "args"], capture_output=True, text=True, check=True)
    return [line for line in listed.stdout.splitlines() if words in line]


@pytest.fixture(scope="module")
def resumed(checkout, tmp_path_factory):
    """Interrupt and resume one model's evaluation, in a folder with a blank in its name."""
    folder = tmp_path_factory.mktemp("somewhere else") / "one model"
    arguments = [f"{MODELS}/{NGRAM}", "--benchmarks=clams", f"--out={folder}"]
    log = folder / "logs/snakemake.log"
    said, code = interrupted(checkout, [*arguments, "--limit=16"], log)
    assert code == 2, said
    left, steps = running(str(folder)), [planned(log)]
    done = evaluate(checkout, *arguments, "--limit=16")
    assert done.returncode == 0, output_of(done)
    steps.append(planned(log))
    return SimpleNamespace(folder=folder, arguments=arguments, said=said, left=left, steps=steps)


def test_an_evaluation_is_a_folder_with_a_campaign_a_report_card_and_tables(finished):
    places = [
        "campaign.yaml",
        "models.tsv",
        "results/report_card/card.json",
        "results/report_card/index.html",
        "results/report_card/tables.md",
        "results/report_card/tables.tex",
        *(f"results/report_card/results_{model}.json" for model in (TRANSFORMER, NGRAM)),
        *(f"results/accuracies/{benchmark}.parquet" for benchmark in BENCHMARKS),
    ]
    assert [place for place in places if not (finished.folder / place).exists()] == []
    page = (finished.folder / "results/report_card/index.html").read_text(encoding="utf-8")
    assert page.count(TRANSFORMER) > 1


def test_the_terminal_has_what_was_read_of_models_and_a_card_of_80_columns(checkout, finished):
    card = finished.done.stdout
    assert {TRANSFORMER, NGRAM} <= {*re.split(r"[\s,]+", card)}
    for label in ("Demo pairs", "CLAMS", "Paired tests (McNemar)"):
        assert label in card
    assert [line for line in card.splitlines() if len(line) > 80] == []
    described = re.search(rf"^{TRANSFORMER}: (.*)$", finished.done.stderr, re.MULTILINE)
    assert described[1].startswith("causal, float32, ")
    assert f"{NGRAM} needs 0.5 GB of memory" in finished.done.stderr
    assert contents(checkout.path / MODELS) == finished.models, "the user's are not written to"


def test_the_same_command_again_computes_nothing(checkout, finished):
    before = contents(finished.folder / "results")
    done = evaluate_both(checkout)
    assert done.returncode == 0, output_of(done)
    assert done.stdout == finished.done.stdout
    campaign = str(finished.folder / "campaign.yaml")
    assert checkout.planned("report_card", campaign=campaign) == set(), "by Snakemake alone"
    assert contents(finished.folder / "results") == before


def test_a_number_of_the_report_card_is_explained(checkout, finished):
    place = ["--row=clams", f"--column={NGRAM}"]
    done = checkout.blimpworks("explain", BOTH, *place, "--json")
    explanation = json.loads(done.stdout)
    assert explanation["recomputed"] == pytest.approx(explanation["cell"]["value"])
    # In the other rows a word is unknown.
    assert explanation["rows"] == LIMIT > explanation["cell"]["n"]
    assert f"Rows of scores, by status: {LIMIT} ok." in explanation["facts"]
    assert {"good", "bad", "origin"} <= explanation["items"][0].keys()
    folders = {folder for each in explanation["chain"] for folder in each["path"].split("/")}
    assert NGRAM in folders
    assert TRANSFORMER not in folders


def test_python_has_the_numbers_of_the_report_card_at_once(finished, notebook):
    path = finished.folder / "results/report_card/card.json"
    card = json.loads(path.read_text(encoding="utf-8"))
    key = ["benchmark", "model", "lang", "phenomenon", "paradigm", "method"]
    accuracies = pd.read_parquet(notebook / "accuracies.parquet").set_index(key)
    numbers = ["accuracy", "low", "high", "n", "skipped", "ties", "near_ties"]
    compared = 0
    for benchmark in card["benchmarks"]:
        for row in benchmark["rows"]:
            for model, shown in row["models"].items():
                method = benchmark["methods"][model]
                place = (benchmark["name"], model, row["lang"], row["phenomenon"], "all", method)
                assert accuracies.loc[place, numbers].to_dict() == pytest.approx(shown)
                compared += 1
    assert compared >= 2 * 3 * len(BENCHMARKS)


def test_an_interrupted_evaluation_leaves_nothing_running_and_goes_on(resumed):
    assert "interrupted; finished work is kept, and the same command goes on" in resumed.said
    assert resumed.left == []
    assert resumed.steps[1] < resumed.steps[0]
    assert (resumed.folder / "results/report_card/card.json").exists()


def test_a_larger_limit_keeps_earlier_scores(checkout, resumed):
    small, new = scored(resumed.folder)
    assert small == new
    done = evaluate(checkout, *resumed.arguments, "--limit=30")
    assert done.returncode == 0, output_of(done)
    assert "had other settings before; existing scores are used again" in done.stderr
    assert "A balanced sample of 30 of " in done.stdout
    large, new = scored(resumed.folder)
    assert new < large
    assert large > small


def test_two_evaluations_are_compared_item_by_item(checkout, finished, resumed):
    folders = [str(each.folder) for each in (finished, resumed)]
    done = checkout.blimpworks("compare", *folders, **OFFLINE)
    assert NGRAM in done.stdout
    assert "limit" in done.stdout
    assert [line for line in done.stdout.splitlines() if len(line) > 80] == []
    named = ["--models", TRANSFORMER, NGRAM, "--json"]
    done = checkout.blimpworks("compare", *folders, *named, **OFFLINE)
    rows = json.loads(done.stdout)["rows"]
    [whole] = [row for row in rows if row["benchmark"] == "clams" and row["phenomenon"] == "all"]
    tables = (
        pd.read_parquet(folder / f"results/judgements/clams/{model}/eng.parquet")
        for folder, model in ((finished.folder, TRANSFORMER), (resumed.folder, NGRAM))
    )
    a, b = (table.dropna(subset="correct").set_index("item_id")["correct"] for table in tables)
    a, b = a.align(b, join="inner")
    assert whole["both"] == len(a) > 5
    assert [whole["only_a"], whole["only_b"]] == [(a > b).sum(), (b > a).sum()]
