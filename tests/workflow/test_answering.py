import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml

from support import answers_kit
from support.checkout import copy_of, output_of
from support.slurm_campaign import SITE

pytestmark = pytest.mark.xdist_group("workflow")
ANSWERS = "results/demo/answers/lmentry/transformer-small/{}.parquet"
PACK = {
    "name": "English",
    "resources": "en",
    "system": "Answer.",
    "alphabet": "abc",
    "templates": {"first_word": ['Which word is first in "{sentence}"?']},
}
RECIPES = {
    "ngram": {"kind": "ngram", "order": 3},
    "transformer-small": {"kind": "transformer", "max_steps": 2},
}


@pytest.fixture(scope="module")
def campaign(built, tmp_path_factory):
    """Return a finished campaign with packs and prompts of two languages that exist already."""
    checkout = copy_of(built, tmp_path_factory.mktemp("answering"))
    options = {"max_tokens": 8, "shard": 4}
    checkout.change(
        benchmarks=["multiblimp", "lmentry"],
        languages=["deu", "eng", "fra"],
        lmentry={"answers": options},
        training={"recipes": RECIPES},
    )
    folder = checkout.path / "config/lmentry/languages"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.yaml"):
        old.unlink()
    for lang in ("deu", "eng"):
        (folder / f"{lang}.yaml").write_text(yaml.safe_dump(PACK | {"lang": lang}))
        # Rules that could make prompts need these; the tables exist already.
        shutil.copytree(folder.parent / "resources/fra", folder.parent / "resources" / lang)
    items = checkout.path / "results/demo/items/lmentry"
    items.mkdir(parents=True)
    for lang in ("deu", "eng"):
        answers_kit.write_prompts(items / f"{lang}.parquet", answers_kit.QUESTIONS[:6])
    return checkout


@pytest.fixture(scope="module")
def answered(campaign):
    """Answer the prompts of one of the two languages."""
    campaign.make(ANSWERS.format("eng"), "--allowed-rules", *RULES)
    return campaign


RULES = (
    *("answer", "collect_answers", "collect_answers_of_language"),
    *("retrieve", "build_tokens", "build_lexicon", "build_multiblimp_items"),
    *("build_text", "join_text", "train_network"),
)


def test_only_models_that_can_answer_answer_and_nothing_scores_prompts(campaign):
    planned = campaign.planned(ANSWERS.format("eng"), "--allowed-rules", *RULES)
    assert "answer" in planned
    assert not [rule for rule in planned if rule.startswith("score")]
    done = campaign.snakemake("-n", ANSWERS.format("eng").replace("transformer-small", "ngram-5"))
    assert "MissingInputException" in output_of(done)


def test_a_plan_knows_the_jobs_that_answer_and_what_they_ask_for(campaign):
    site = campaign.path / "site.yaml"
    site.write_text(yaml.safe_dump(SITE))
    arguments = ("--configfile", "config/test.yaml", "--site", "site.yaml")
    done = campaign.run("blimpworks", "plan", ANSWERS.format("eng"), *arguments, "--json")
    site.unlink()
    assert done.returncode == 0, output_of(done)
    (model,) = json.loads(done.stdout)["models"]
    assert model["model"] == "transformer-small (answers)"
    assert (model["jobs"], model["gpus"]) == (1, 0)  # as in the table of models
    assert model["tokens"] == 6 * (60 + 4 * 8)
    assert model["minutes_asked"] >= 10


def test_each_prompt_has_an_answer_and_an_edit_of_a_pattern_asks_nothing_again(answered):
    table = pq.read_table(answered.path / ANSWERS.format("eng"))
    assert table["status"].to_pylist() == ["ok"] * 6
    pack = answered.path / "config/lmentry/languages/eng.yaml"
    before = pack.read_text()
    pack.write_text(yaml.safe_dump(yaml.safe_load(before) | {"name": "Inglese"}))
    planned = answered.planned(ANSWERS.format("eng"), "--allowed-rules", *RULES)
    pack.write_text(before)
    assert not [rule for rule in planned if "answer" in rule]


def test_status_counts_answers_beside_scores(answered):
    done = answered.blimpworks("status", "--configfile", "config/test.yaml", "--json")
    status = json.loads(done.stdout)
    assert status["stages"]["answers"] == {"done": 1, "expected": 2}
    models = {model["model"]: model for model in status["models"]}
    assert models["transformer-small (answers)"]["languages_done"] == 1
    assert "ngram-5 (answers)" not in models
    whole = answered.run("blimpworks", "status", "--configfile", "config/test.yaml")
    assert "(answers)" in whole.stdout


def test_a_campaign_without_any_pack_is_told_so(campaign):
    campaign.change("config/none.yaml", benchmarks=["lmentry"], languages=["fra"])
    done = campaign.snakemake("-n", campaign="config/none.yaml")
    assert "has none of fra" in output_of(done)
    Path(campaign.path / "config/none.yaml").unlink()
