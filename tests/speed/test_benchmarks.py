"""Test that programs which measure speed run on the present code, at a tiny size."""

import csv
import json
import subprocess
import sys

import pytest

from blimpworks.papers.lmentry.items.packs import read_pack
from blimpworks.tables import JUDGEMENTS
from support import tiny
from support.lmentry_campaign import write as write_rows
from support.lmentry_prompts_kit import PACKS, write_resources
from support.paths import DATA, REPOSITORY

pytestmark = pytest.mark.slow
FRENCH = REPOSITORY / "config/demo/data/ud/UD_French-Demo/fr_demo-ud-test.conllu"
TINY = {
    "conllu_speed": [FRENCH, "--repeat", "1"],
    "check": ["--products", "20", "--kilobytes", "1"],
    "dag": ["--once", "--rounds", "1", "--campaign", "config/demo/config.yaml"],
    "generator": ["--pairs", "2"],
    "grammars": ["--repeat", "1"],
    "growth": ["--pairs", "20", "--network", "20", "--tables", "10", "--plot", "FOLDER/growth.png"],
    "host_cost": ["--sentences", "200", "--rounds", "1"],
    "scale": ["--campaign", "config/demo/config.yaml", "--plan"],
    "prefixes": [DATA / "formula_sentences.txt", "--vocabulary", "100", "--units", "8"],
    "verdicts": ["--repeat", "1", "--kilobytes", "1"],
}
OF_THE_MIRROR = {
    "decision_effects": ["wol"],
    "generation_speed": ["wol"],
    "masked_speed": ["--count", "4", "--words", "4", "--rounds", "1", "--quick", "--hidden", "64"],
    "scoring_speed": ["--count", "20", "--rounds", "1", "--model", "demo", "--quick"],
    "trie_clams": ["en", "--sets", "1", "--shards", "1"],
}
OF_VLLM = {"vllm_speed"}
"""Programs that tests/scoring/test_vllm.py runs in vLLM's own environment."""
OF_A_RELEASE = ("release_prompts", "release_verdicts")
"""Programs that run below on a stand-in for the release."""
OF_A_PEER = {"babylm"}
"""Program that needs a checkout of another one, which is no package; no test runs it."""
SHARED = {"kit", "scoring_kit"}


def lines_of(name, options):
    done = subprocess.run(
        [sys.executable, f"benchmarks/{name}.py", *map(str, options)],
        cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.long
@pytest.mark.parametrize("name", TINY)
def test_a_benchmark_prints_its_figures(name, tmp_path):
    options = [str(option).replace("FOLDER", str(tmp_path)) for option in TINY[name]]
    assert len(lines_of(name, options)) > 2
    pictures = [*tmp_path.glob("*.png")]
    assert len(pictures) == ("--plot" in options)


@pytest.mark.long
@pytest.mark.parametrize("name", OF_THE_MIRROR)
def test_a_benchmark_of_upstream_data_prints_its_figures(name, mirror):
    assert len(lines_of(name, OF_THE_MIRROR[name])) > 2


@pytest.mark.long
def test_ties_are_compared_with_exact_arithmetic(tmp_path):
    sentences = (DATA / "formula_sentences.txt").read_text(encoding="utf-8").splitlines()[:20]
    pairs = [(text, " ".join(reversed(text.split()))) for text in sentences]
    items = tiny.write_items(tmp_path / "items.parquet", pairs)
    _, _, full, *_ = lines_of("ties", [DATA / "formula_sentences.txt", items, "--order", "3"])
    cells = [cell.strip() for cell in full.split("|")]
    assert cells[1:3] == ["full_sentence", "20"]
    assert cells[9] == "0", "decided otherwise than exactly"


def test_verdicts_are_compared_with_the_labels_of_a_reader(tmp_path):
    with (REPOSITORY / "benchmarks/reading.tsv").open(encoding="utf-8") as file:
        labels = [row for row in csv.DictReader(file, delimiter="\t") if row["sample"] == "read"]
    for lang in ("deu", "eng", "spa"):
        rows = [
            dict.fromkeys(JUDGEMENTS.names)
            | {"item_id": row["item_id"], "method": method, "correct": correct}
            for row in labels
            if row["lang"] == lang
            for method, correct in (("published", 0.0), ("corrected", float(row["right"])))
        ]
        path = tmp_path / "results/judgements/lmentry/smollm2" / f"{lang}.parquet"
        write_rows(rows, JUDGEMENTS, path)
    printed = lines_of("reading", [tmp_path])
    assert "read corrected all: 400 answers, 41 right; agreement 100.0 %" in printed[0]
    assert "read published all: 400 answers, 41 right; agreement 89.8 %" in printed[4]
    assert printed[-1].startswith("100 of 500 labels have no verdict")


def test_every_benchmark_is_tried():
    scripts = {path.stem for path in (REPOSITORY / "benchmarks").glob("*.py")}
    tried = {*TINY, *OF_THE_MIRROR, *OF_VLLM, *OF_A_RELEASE, *OF_A_PEER, *SHARED}
    assert scripts == tried | {"ties", "reading"}


FIRST_WORD = """
from lmentry import constants

class FirstWord:
    def create_data(self):
        (constants.TASKS_DATA_DIR / "first_word.json").write_text(%r)
"""
SCORED_TASK = """
from lmentry.scorers.it.first_word_scorer import FirstWordScorer
class FirstWord:
    scorer_cls = FirstWordScorer
"""
SCORER = """
import re

class FirstWordScorer:
    def score_prediction(self, answer, example):
        return re.search(example["metadata"]["answer"].lower(), answer.lower()) is not None, 1
"""


def test_prompts_are_compared_with_those_of_a_release(tmp_path):
    write_resources(tmp_path / "resources" / "it")
    text = read_pack(PACKS["ita"]).templates["first_word"][0]
    examples = {
        sentence: {
            "input": text.format(sentence=sentence),
            "metadata": {"template_id": 0, "sentence": sentence, "answer": answer, "source": "x"},
        }
        for sentence, answer in (("The cat sat down", "The"), ("A dog ran home", "dog"))
    }
    tasks = tmp_path / "lmentry" / "tasks" / "it"
    tasks.mkdir(parents=True)
    (tasks / "first_word.py").write_text(FIRST_WORD % json.dumps({"examples": examples}))
    (tmp_path / "lmentry" / "constants.py").write_text("def initialize_variables(code): pass")
    printed = lines_of("release_prompts", ["--release", tmp_path, "--lang", "ita"])
    counts = {line.split(" | ")[0]: line.split(" | ")[1:5] for line in printed}
    assert counts["| ita"] == counts["| all"] == ["2", "1", "1", "12"]
    assert "ita first_word: 1 the same of 2 and 12" in printed
    assert "one side notes them: source (2)." in printed[-1]
    assert sum("the release stops (ModuleNotFoundError" in line for line in printed) > 30


def test_verdicts_are_compared_with_those_of_a_release(tmp_path):
    write_resources(tmp_path / "resources" / "it")
    for name, text in {
        "constants": "def initialize_variables(code): pass",
        "scorers/it/first_word_scorer": SCORER,
        "tasks/it/first_word": SCORED_TASK,
    }.items():
        path = tmp_path / "lmentry" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    options = ["--release", tmp_path, "--answers", "200", "--task", "first_word"]
    _, _, line = lines_of("release_verdicts", options)
    lang, answers, same = (cell.strip() for cell in line.split("|")[1:4])
    assert (lang, answers) == ("ita", "200")
    assert 40 < int(same) < 200, "a word inside another is right there alone"


def test_fewer_answers_than_tasks_are_refused(tmp_path):
    with pytest.raises(AssertionError, match=r"--answers is 3; expected one for each of \d+ tasks"):
        lines_of("release_verdicts", ["--release", tmp_path, "--answers", "3"])


@pytest.mark.parametrize("name", OF_A_RELEASE)
def test_a_folder_without_a_release_is_refused(name, tmp_path):
    with pytest.raises(AssertionError, match=r"lacks (tasks|scorers) of any language; fetch"):
        lines_of(name, ["--release", tmp_path])
