"""Test BLiMP, CLAMS and UrBLiMP in one campaign, from pairs, grammars and trees to exhibits."""

import json

import pandas as pd
import pytest

from blimpworks.papers.urblimp.phenomena import PARADIGMS as URDU_PARADIGMS
from support.checkout import fresh
from support.generator_kit import pairs
from support.urblimp_kit import OWN

pytestmark = pytest.mark.xdist_group("papers")
# Paradigms of BLiMP: one for each method, of two phenomena, and one without any.
METHODS = {
    "anaphor_gender_agreement": {"full_sentence", "one_prefix"},
    "determiner_noun_agreement_2": {"full_sentence", "two_prefix"},
    "causative": {"full_sentence"},
    "passive_1": {"full_sentence"},
}
PAIRS, TAKEN = 1000, 30
CASES = (
    *("simple_agrmt", "vp_coord", "long_vp_coord", "subj_rel", "prep_anim"),
    *("obj_rel_within_anim", "obj_rel_across_anim"),
)
# Words of the demo's treebanks, so that models know them.
WORDS = {
    "eng": ("the teacher", "the teachers", "sings", "sing"),
    "fra": ("le professeur", "les professeurs", "chante", "chantent"),
}
GRAMMAR = "vary: V[]\nS[] N[s] V[s]\nS[] N[p] V[p]\nN[s] {}\nN[p] {}\nV[s] {}\nV[p] {}\n"
LSTM = {"kind": "lstm", "corpus": "tiny", "layers": 1, "hidden": 16, "embedding": 16}
LSTM |= {"epochs": 1, "batch": 4, "learning_rate": 1.0, "seeds": 2}
TEST, TRAIN = "ur_own-ud-test.conllu", "ur_own-ud-train.conllu"
TARGETS = (
    *(f"blimp_{name}" for name in ("table3", "table4", "generated", "fig2", "ties")),
    *(f"clams_{name}" for name in ("table1", "table2", "table4", "table5", "table6", "variants")),
    *(f"urblimp_{name}" for name in ("table4", "table10", "fig1")),
)


def write_release(checkout):
    """Pin files of pairs like the released ones, by another seed, and remove other paradigms."""
    for path in (checkout.path / "config/blimp/paradigms").iterdir():
        if path.stem not in METHODS:
            path.unlink()
    for uid in METHODS:
        made = (pair.record.model_dump_json(exclude_none=True) for pair in pairs(uid, PAIRS, 1))
        place = f"blimp/data/{uid}.jsonl"
        text = "".join(f"{record}\n" for record in made)
        checkout.pin("sources", place, text, name=place, kind="blimp_data", lang="eng")


def write_grammars(checkout):
    for lang, words in WORDS.items():
        folder = checkout.path / "config/test_grammars" / lang
        folder.mkdir(parents=True)
        for case in CASES:
            (folder / f"{case}.avg").write_text(GRAMMAR.format(*words), encoding="utf-8")


def write_treebank(checkout):
    """Pin our own treebank in two files: its odd sentences and its even ones."""
    sentences = OWN.read_text(encoding="utf-8").strip().split("\n\n")
    for start, name in enumerate((TEST, TRAIN)):
        text = "\n\n".join(sentences[start::2]) + "\n\n"
        facts = {"lang": "urd", "treebank": "UD_Urdu-Own", "file": name}
        checkout.pin("treebanks", f"ud/UD_Urdu-Own/{name}", text, **facts)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """Run an n-gram model on BLiMP and UrBLiMP, and a multilingual LSTM of two seeds on CLAMS."""
    checkout = fresh(tmp_path_factory.mktemp("papers"))
    write_release(checkout)
    write_grammars(checkout)
    write_treebank(checkout)
    for model, papers in (("5-gram\tn-gram", "blimp,urblimp"), ("al)\tLSTM (ours)", "clams")):
        checkout.edit("config/models.tsv", f"{model}\t\t", f"{model}\t{papers}\t")
    tables = {name: f"config/demo/{name}.tsv" for name in ("treebanks", "sources")}
    corpus = {"words": "whitespace", "unknown_share": 0.5, "max_sentences": 400}
    recipes = {"ngram": {"kind": "ngram", "order": 3}, "lstm-small-multi": LSTM}
    clams = {"grammars": [*WORDS], "methods": ["without_end", "full_sentence"]}
    checkout.change(
        benchmarks=["blimp", "blimp_generated", "clams", "urblimp"],
        catalogue=tables | {"grammars": "config/test_grammars"},
        languages=[*WORDS, "urd"],
        models=["ngram-5", "lstm-small-multi"],
        blimp={"per_paradigm": TAKEN, "pairs": 2 * TAKEN},
        clams=clams | {"unknown_words": "score"},
        urblimp={"files": [TEST]},
        training={"treebank_text": True, "corpora": {"tiny": corpus}, "recipes": recipes},
    )
    checkout.make(*TARGETS)
    return checkout


def table(checkout, name):
    return pd.read_parquet(checkout.path / f"results/demo/{name}.parquet")


def accuracies(checkout, benchmark):
    return table(checkout, f"accuracies/{benchmark}").astype({"paradigm": str, "method": str})


def test_a_paradigm_is_judged_by_the_methods_that_it_allows(checkout):
    rows = accuracies(checkout, "blimp")
    methods = rows[rows["paradigm"] != "all"].groupby("paradigm")["method"].unique()
    assert methods.map(set).to_dict() == METHODS
    assert set(rows[rows["paradigm"].isin(METHODS)]["n"]) == {TAKEN}


def test_generated_pairs_are_judged_beside_the_released_ones_by_one_job(checkout):
    assert set(accuracies(checkout, "blimp_generated")["paradigm"]) == {*METHODS, "all"}
    shown = checkout.cells("blimp/generated")
    assert {("causative", "5-gram: released"), ("causative", "5-gram: generated")} <= {*shown.index}
    assert ("Overall", "5-gram: r") in shown.index
    stores = (checkout.path / "results/demo/store").glob("ngram-5/*/manifest.json")
    assert {path.parent.name for path in stores} == {"eng", "urd"}


def test_generated_pairs_alone_are_judged_and_summed_up(checkout):
    alone = {"benchmarks": ["blimp_generated"], "languages": ["eng"], "models": ["ngram-5"]}
    checkout.change("config/alone.yaml", **alone)
    done = checkout.make("-n", campaign="config/alone.yaml")
    assert "Summarise the judgements of blimp_generated" in done.stdout
    assert "exhibits/blimp" not in done.stdout


def test_each_language_has_the_pairs_of_its_grammars(checkout):
    counts = checkout.cells("clams/table6")["value"]
    assert set(counts) == {2}
    assert len(counts) == 2 * len(CASES)


def test_two_seeds_are_two_models_whose_mean_is_shown(checkout):
    folder = checkout.path / "results/demo/models"
    models = [f"lstm-small-multi-seed{number}" for number in (1, 2)]
    weights = {(folder / m / "multi/model.safetensors").read_bytes() for m in models}
    assert len(weights) == 2
    shown = checkout.cells("clams/table1")
    rows = json.loads(shown.loc[("Simple agreement", "English Multi"), "filter"])
    assert rows["model"] == models
    assert not checkout.cells("clams/table5").empty
    capital = checkout.cells("clams/table4").index.get_level_values("column")
    assert {*capital} == {"English Multi", "French Multi"}


def test_perplexity_is_of_each_languages_own_test_text(checkout):
    row = checkout.cells("clams/table1").loc["Test perplexity"]["value"]
    assert set(row.index) == {"English Multi", "French Multi"}
    assert row.nunique() == 2
    assert (row > 1).all()


@pytest.mark.long
def test_a_masked_model_is_trained_and_judged(checkout):
    recipes = {"masked-small-multi": {"kind": "masked", "max_steps": 5, "vocabulary": 800}}
    checkout.change("config/masked.yaml", models=[*recipes], training={"recipes": recipes})
    judged = "results/demo/judgements/clams/masked-small-multi"
    checkout.make(judged, campaign="config/masked.yaml")
    assert len(pd.read_parquet(checkout.path / judged / "eng.parquet")) >= 2 * len(CASES)


def test_pairs_are_made_of_the_file_that_the_campaign_names_and_judged_by_both_methods(checkout):
    items = table(checkout, "items/urblimp/urd")
    assert set(items["file"]) == {TEST}
    assert set(items["paradigm"]) == {*URDU_PARADIGMS}
    assert (items["good"] != items["bad"]).all()
    judged = table(checkout, "judgements/urblimp/ngram-5/urd").groupby("method", observed=True)
    found = judged["item_id"].agg(set)
    assert {*found.index} == {"perplexity", "full_sentence"}
    assert all(each == {*items["item_id"]} for each in found)


def test_models_are_trained_on_the_other_files_sentences_spelled_as_pairs_are(checkout):
    text = (checkout.path / "results/demo/training/text/urd.txt").read_text(encoding="utf-8")
    items = table(checkout, "items/urblimp/urd")
    assert not {*text.splitlines()} & {*items["good"], *items["bad"]}
    assert text.count("\n") > 20
    # The second sentence about spelling, which has an underscore in the treebank.
    assert "مزدور شام تک کام کریں گے۔" in text.splitlines()


def test_figure1_is_drawn_of_agreement_in_gender(checkout):
    shown = checkout.cells("urblimp/fig1")
    assert {column for _, column in shown.index} == {URDU_PARADIGMS["subject_verb_gender"]}
    assert (checkout.path / "results/demo/exhibits/urblimp/fig1.svg").stat().st_size > 1000


@pytest.mark.parametrize(
    ("exhibit", "row", "column", "origin"),
    [
        ("blimp/generated", "causative", "5-gram: released", "blimp/data/causative.jsonl:"),
        ("clams/table1", "Simple agreement", "English Multi", "sets/clams/eng/simple_agrmt.txt:"),
    ],
)
def test_a_number_leads_to_the_line_of_its_file(checkout, exhibit, row, column, origin):
    place = ["--row", row, "--column", column, "--items", "1"]
    done = checkout.blimpworks("explain", f"results/demo/exhibits/{exhibit}.csv", *place)
    assert origin in done.stdout
    assert "the same" in done.stdout


def test_another_seed_one_model_more_and_an_edited_rule_run_what_depends_on_them_alone(checkout):
    text = (checkout.path / "config/test.yaml").read_text()
    text = text.replace("pairs: 60", "pairs: 60\n  seed: 5").replace("seeds: 2", "seeds: 3")
    (checkout.path / "config/more.yaml").write_text(text)
    copy = checkout.path / "config/urblimp/urd/word_order.yaml"
    rule = copy.read_text(encoding="utf-8")
    checkout.edit("config/urblimp/urd/word_order.yaml", "about: ", "about: Again, ")
    said = checkout.make("-n", *TARGETS, campaign="config/more.yaml").stdout
    copy.write_text(rule, encoding="utf-8")
    jobs = [line.partition(": ")[2] for line in said.splitlines() if line.startswith("Job ")]
    # A training text leaves out the pairs of its language.
    trained = {"Train lstm-small-multi-seed3 on multi", "Train ngram-5 on urd"}
    assert {job for job in jobs if "Train " in job} == trained
    assert "generate_blimp" in said
    assert "Build the items of blimp\n" not in said
    assert "build_urblimp_items" in said
    assert "rule retrieve" not in said
