"""Test benchmarks that consist of data, as a user runs them."""

import pandas as pd
import pytest
import yaml

from support.checkout import copy_of

RESULTS = "results/demo"
pytestmark = pytest.mark.xdist_group("workflow")


def judgements(checkout, benchmark, lang="eng", model="ngram-5"):
    """Return judgements by the first method, with the sentences of each pair."""
    path = checkout.path / RESULTS
    items = pd.read_parquet(path / f"items/{benchmark}/{lang}.parquet")
    table = pd.read_parquet(path / f"judgements/{benchmark}/{model}/{lang}.parquet")
    table = table[table["method"] == "full_sentence"].reset_index(drop=True)
    labels = items[["paradigm", "good", "bad"]].astype(str).reset_index(drop=True)
    columns = ["margin", "correct", "tie", "near_tie"]
    return pd.concat([labels, table[columns]], axis=1).sort_values([*labels]).to_numpy().tolist()


@pytest.mark.long
def test_pairs_of_a_paper_exported_to_a_declaration_are_judged_the_same(scratch):
    items = f"{RESULTS}/items/multiblimp/eng.parquet"
    folder = ["--folder", "config/benchmarks/again"]
    named = ["--label", "Again", "--authors", "Nobody (2026)"]
    scratch.blimpworks("export", "benchmark", items, *folder, *named)
    path = scratch.path / "config/test.yaml"
    campaign = yaml.safe_load(path.read_text())
    campaign["benchmarks"] = [*campaign["benchmarks"], "again"]
    path.write_text(yaml.safe_dump(campaign))
    judged = f"{RESULTS}/judgements/{{}}/ngram-5/eng.parquet"
    scratch.make(*map(judged.format, ("again", "multiblimp")))
    assert judgements(scratch, "again") == judgements(scratch, "multiblimp")


def test_the_demos_transformers_have_learned_that_verbs_agree(built):
    table = pd.read_parquet(built.path / RESULTS / "accuracies/multiblimp.parquet")
    rows = table[(table["model"] == "transformer-small") & (table["phenomenon"] == "all")]
    accuracies = dict(zip(rows["lang"], rows["accuracy"], strict=True))
    assert accuracies.keys() == {"deu", "eng", "fra"}
    assert min(accuracies.values()) > 0.9


def test_printed_numbers_of_a_declaration_have_statuses(built):
    rows = pd.read_csv(built.path / RESULTS / "reproduction/published.csv")
    own = rows[rows["paper"] == "demo_suites"].set_index(["row", "column"])
    assert own["status"].to_dict() == {
        ("Agreement", "small"): "exact",
        ("Agreement", "large"): "exact",
        ("All", "large"): "erratum",
    }
    assert own.loc[("All", "large"), "recomputed"] == pytest.approx(800 / 11)


def test_explain_leads_from_a_cell_to_the_conditions_of_items(built):
    cells = pd.read_parquet(built.path / RESULTS / "exhibits/demo_suites/phenomena.cells.parquet")
    cell = cells.iloc[0]
    table = f"{RESULTS}/exhibits/demo_suites/phenomena.csv"
    place = (f"--row={cell['row']}", f"--column={cell['column']}")
    text = built.blimpworks("explain", table, *place).stdout
    assert "match_sing:" in text or "what_gap:" in text
    assert "predicted: [" in text
    assert "config/demo/benchmarks/demo_suites/suites/" in text


def test_a_file_of_a_declaration_decides_what_is_built_again(built, tmp_path):
    scratch = copy_of(built, tmp_path / "copy")
    path = scratch.path / "config/demo/benchmarks/demo_pairs/pairs/eng_agreement.csv"
    path.write_text(
        path.read_text().replace("sleep.;", "sleep well.;").replace("sleeps.", "sleeps well.")
    )
    planned = scratch.planned("all")
    assert {"build_declared_items", "score"} <= {*planned}
    assert not {"build_tokens", "retrieve", "generate_sets"} & {*planned}


@pytest.mark.long
@pytest.mark.mirror
def test_the_three_public_benchmarks_run_from_the_mirror(new_checkout, mirror):
    checkout = new_checkout("benchmarks")
    path = checkout.path / "config/benchmarks.yaml"
    campaign = yaml.safe_load(path.read_text())
    # All items are built and a sample judged: to judge all takes minutes and shows no more.
    changed = {"mirror": str(mirror), "models": ["ngram-5"], "limit": 500}
    campaign["training"]["max_sentences"] = 2_000
    path.write_text(yaml.safe_dump({**campaign, **changed}))
    checkout.make("all", "syntaxgym_models_published", campaign=str(path))
    results = checkout.path / "results/benchmarks"
    for name, lang in (("rublimp", "rus"), ("turblimp", "tur"), ("syntaxgym", "eng")):
        judged = pd.read_parquet(results / f"judgements/{name}/ngram-5/{lang}.parquet")
        assert {*judged.groupby("method", observed=True)["item_id"].nunique()} == {500}
    released = pd.read_parquet(results / "accuracies/printed/syntaxgym.parquet")
    whole = released[released["phenomenon"] == "all"]
    assert whole["n"].sum() == 213_868
