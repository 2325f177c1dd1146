import json

import pytest

from blimpworks.papers.blimp.paradigms import PARADIGMS
from support.blimp_kit import SUMMARIES, write_release
from support.checkout import fresh, output_of
from support.declared_kit import jsonl

pytestmark = [pytest.mark.xdist_group("curves"), pytest.mark.long]
# One paradigm of each phenomenon, and a second of one: each file is a job.
UIDS = [uid for uids in PARADIGMS.values() for uid in uids[:1]] + [PARADIGMS["binding"][1]]
LSTM = {"kind": "lstm", "layers": 1, "hidden": 8, "embedding": 8, "batch": 4, "epochs": 1}
TRANSFORMER = {"kind": "transformer", "corpus": "default", "layers": 1, "hidden": 16, "heads": 1}


def write_sources(checkout):
    """Pin BLiMP's files in the demo's mirror: a thousand pairs each, of words in its text."""
    facts = {"field": "syntax", "linguistics_term": "x", "simple_LM_method": True}
    facts |= dict.fromkeys(("one_prefix_method", "two_prefix_method", "lexically_identical"), False)
    for uid in UIDS:
        pairs = (
            {"sentence_good": f"The teacher sings {n}.", "sentence_bad": f"The teacher sing {n}."}
            | {**facts, "UID": uid, "pairID": str(n)}
            for n in range(1000)
        )
        name = f"blimp/data/{uid}.jsonl"
        checkout.pin("sources", name, jsonl(*pairs), name=name, kind="blimp_data", lang="eng")
    for path, place in zip(write_release(checkout.path / "config"), SUMMARIES, strict=True):
        name = f"blimp/raw_results/{place}"
        text = path.read_text(encoding="utf-8")
        checkout.pin("sources", name, text, name=name, kind="blimp_results", lang="eng")


def recipes(*sizes):
    more = {"tokens": [*sizes], "seeds": 2}
    return {
        "lstm-curve": LSTM | {"learning_rate": 1.0} | more,
        "transformer-curve": TRANSFORMER | {"max_steps": 5} | more,
        "ngram": {"kind": "ngram", "order": 2},
    }


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    checkout = fresh(tmp_path_factory.mktemp("curves"))
    write_sources(checkout)
    shared = {
        "benchmarks": ["blimp"],
        "languages": ["eng"],
        "models": ["lstm-curve", "transformer-curve", "ngram-5"],
        "blimp": {"per_paradigm": 2},
    }
    for name, sizes in (("test", (1000, 2000)), ("more", (1000, 2000, 3000)), ("huge", (10**9,))):
        training = {"treebank_text": False, "recipes": recipes(*sizes)}
        checkout.change(f"config/{name}.yaml", **shared, training=training)
    checkout.make("blimp_fig5", "blimp_slopes", "blimp_table3")
    return checkout


def test_both_families_have_points_at_both_sizes(checkout):
    points = checkout.cells("blimp/fig5")
    names = ("Transformer (curve), 1k", "Transformer (curve), 2k", "LSTM (curve), 1k")
    assert {*names, "LSTM (curve), 2k"} == {*points.index.get_level_values("column")}
    assert len(points) == 4 * (len(PARADIGMS) + 1)
    assert {*points["n"]} == {2}
    others = checkout.cells("blimp/table3").index.get_level_values("row")
    assert {*others} == {"5-gram", "Human"}, "models of curves are in no other exhibit"


def test_a_sample_is_one_and_the_same_for_both_families(checkout):
    models = checkout.path / "results/demo/models"
    trained = {}
    for path in models.glob("*-curve-*/eng/checkpoint.json"):
        source = json.loads(path.read_text())["source"]
        trained.setdefault(path.parts[-3].partition("-curve-")[2], set()).add(source["text_sha256"])
    assert {*trained} == {"1k-seed1", "1k-seed2", "2k-seed1", "2k-seed2"}
    assert all(len(digests) == 1 for digests in trained.values())
    assert len(set.union(*trained.values())) == 4


def test_slopes_stand_beside_the_printed_ones_and_perplexities_below(checkout):
    shown = checkout.cells("blimp/slopes")
    assert shown.loc[("Anaphor agr.", "printed LSTM slope"), "text"] == "0.0623"
    row = shown.loc[("Anaphor agr.", "LSTM (curve) slope")]
    assert (row["n"], row["text"].count("±")) == (4, 1)
    assert row["low"] <= row["value"] <= row["high"]
    assert shown.loc[("1,000 tokens", "LSTM (curve) perplexity"), "value"] > 1


def test_a_slope_and_a_point_can_be_explained(checkout):
    for name, row, column, formula in (
        ("slopes", "Average", "LSTM (curve) slope", "coefficient of the row"),
        ("fig5", "Binding", "LSTM (curve), 2k", "mean(accuracy)"),
    ):
        place = ["--row", row, "--column", column, "--items", "1"]
        path = f"results/demo/exhibits/blimp/{name}.cells.parquet"
        done = checkout.blimpworks("explain", path, *place)
        assert formula in done.stdout
        assert "the same" in done.stdout
        assert "5-gram" not in done.stdout


def test_another_size_trains_its_own_models_alone(checkout):
    done = checkout.make("-n", "blimp_fig5", campaign="config/more.yaml")
    trained = {
        line.split(": ")[-1].split()[1] for line in done.stdout.splitlines() if ": Train " in line
    }
    assert trained == {
        f"{kind}-curve-3k-seed{n}" for kind in ("lstm", "transformer") for n in (1, 2)
    }


def test_too_large_a_size_stops_before_anything_is_trained(checkout):
    done = checkout.snakemake("blimp_fig5", campaign="config/huge.yaml")
    assert done.returncode != 0
    assert "but a sample of 1,000,000,000 is asked for" in output_of(done)
    assert "rule train_" not in output_of(done).replace("localrule", "rule")
