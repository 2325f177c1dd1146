"""CLAMS as a whole: grammars to sets, LSTMs from several seeds to tables."""

import json
import shutil

import pandas as pd
import pytest

from support.checkout import fresh

pytestmark = pytest.mark.xdist_group("clams")
CASES = (
    "simple_agrmt",
    "vp_coord",
    "long_vp_coord",
    "subj_rel",
    "obj_rel_within_anim",
    "obj_rel_across_anim",
    "prep_anim",
)
# Words of the demo's treebanks, so that models know them.
WORDS = {
    "eng": ("the teacher", "the teachers", "sings", "sing"),
    "fra": ("le professeur", "les professeurs", "chante", "chantent"),
}
TARGETS = ("table1", "table2", "table4", "table5", "table6", "variants")


def grammar(one, many, sings, sing):
    return f"""vary: V[]
S[] N[s] V[s]
S[] N[p] V[p]
N[s] {one}
N[p] {many}
V[s] {sings}
V[p] {sing}
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """Two languages by tiny grammars, and a multilingual LSTM from two seeds."""
    checkout = fresh(tmp_path_factory.mktemp("clams"))
    for lang, words in WORDS.items():
        folder = checkout.path / "config/test_grammars" / lang
        folder.mkdir(parents=True)
        for case in CASES:
            (folder / f"{case}.avg").write_text(grammar(*words), encoding="utf-8")
    lstm = {"kind": "lstm", "corpus": "tiny", "layers": 1, "hidden": 16, "embedding": 16}
    lstm |= {"epochs": 1, "batch": 4, "learning_rate": 1.0}
    checkout.change(
        benchmarks=["clams"],
        catalogue={
            "treebanks": "config/demo/treebanks.tsv",
            "sources": "config/demo/sources.tsv",
            "grammars": "config/test_grammars",
        },
        languages=list(WORDS),
        models=["lstm-small-multi"],
        clams={
            "grammars": list(WORDS),
            "methods": ["without_end", "full_sentence"],
            "unknown_words": "score",
        },
        training={
            "corpora": {
                "tiny": {"words": "whitespace", "unknown_share": 0.5, "max_sentences": 400}
            },
            "recipes": {"lstm-small-multi": {**lstm, "seeds": 2}},
        },
    )
    checkout.make(*(f"clams_{name}" for name in TARGETS))
    return checkout


def test_each_language_has_the_pairs_of_its_grammars(checkout):
    counts = checkout.cells("clams/table6")["value"]
    assert set(counts) == {2}
    assert len(counts) == 2 * len(CASES)


def test_two_seeds_are_two_models_whose_mean_is_shown(checkout):
    folder = checkout.path / "results/demo/models"
    models = [f"lstm-small-multi-seed{number}" for number in (1, 2)]
    weights = {(folder / m / "multi/model.safetensors").read_bytes() for m in models}
    assert len(weights) == 2
    table = checkout.cells("clams/table1")
    shown = json.loads(table.loc[("Simple agreement", "English Multi"), "filter"])["model"]
    assert shown == models
    assert not checkout.cells("clams/table5").empty


def test_perplexity_is_of_each_languages_own_test_text(checkout):
    row = checkout.cells("clams/table1").loc["Test perplexity"]["value"]
    assert set(row.index) == {"English Multi", "French Multi"}
    assert row.nunique() == 2
    assert (row > 1).all()


def test_pairs_with_a_capital_are_scored_too(checkout):
    assert set(checkout.cells("clams/table4").index.get_level_values("column")) == {
        "English Multi",
        "French Multi",
    }


def test_every_cell_leads_to_the_line_of_its_set(checkout):
    place = ["--row", "Simple agreement", "--column", "English Multi", "--items", "1"]
    done = checkout.blimpworks("explain", "results/demo/exhibits/clams/table1.csv", *place)
    assert "results/demo/sets/clams/eng/simple_agrmt.txt:" in done.stdout
    assert "(sum(correct) + 2) ÷ (n + 2)" in done.stdout
    assert "the same" in done.stdout


def test_raising_the_number_of_seeds_trains_the_new_ones_alone(checkout):
    copy = checkout.path / "config/more.yaml"
    shutil.copy(checkout.path / "config/test.yaml", copy)
    copy.write_text(copy.read_text().replace("seeds: 2", "seeds: 3"))
    done = checkout.make("-n", "clams_table1", campaign="config/more.yaml")
    assert "train_lstm" in done.stdout
    trained = [line for line in done.stdout.splitlines() if "Train lstm-small-multi" in line]
    assert [line.split(": ")[-1] for line in trained] == ["Train lstm-small-multi-seed3 on multi"]


@pytest.mark.long
def test_a_masked_model_is_trained_and_judged(checkout):
    recipes = {"masked-small-multi": {"kind": "masked", "max_steps": 5, "vocabulary": 800}}
    checkout.change("config/masked.yaml", models=[*recipes], training={"recipes": recipes})
    judged = "results/demo/judgements/clams/masked-small-multi"
    checkout.make(judged, campaign="config/masked.yaml")
    assert len(pd.read_parquet(checkout.path / judged / "eng.parquet")) >= 2 * len(CASES)
