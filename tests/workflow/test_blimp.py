"""BLiMP as a whole: pairs, released or generated, to judgements, tables and figures."""

import csv
import hashlib
import shutil

import pyarrow.parquet as pq
import pytest

from blimpworks.campaign.catalogue import SourceRow
from support.checkout import fresh
from support.generator_kit import pairs

pytestmark = pytest.mark.xdist_group("blimp")
# One for each method, of two phenomena, and one without any.
PARADIGMS = ("anaphor_gender_agreement", "determiner_noun_agreement_2", "causative", "passive_1")
PAIRS, TAKEN = 1000, 30
SOURCES = "config/test_sources.tsv"
TARGETS = ("blimp_table3", "blimp_table4", "blimp_generated", "blimp_fig2", "blimp_ties")


def release(checkout, mirror):
    """Files of pairs like the released ones, by another seed, and their pins."""
    known = (checkout.path / "config/demo/sources.tsv").read_text().splitlines()
    rows = list(csv.DictReader(known, delimiter="\t"))
    for uid in PARADIGMS:
        name = f"blimp/data/{uid}.jsonl"
        path = mirror / name
        path.parent.mkdir(parents=True, exist_ok=True)
        generated = pairs(uid, PAIRS, seed=1)
        text = "".join(p.record.model_dump_json(exclude_none=True) + "\n" for p in generated)
        path.write_text(text, encoding="utf-8")
        pin = dict.fromkeys(SourceRow.model_fields, "") | {"name": name, "kind": "blimp_data"}
        pin |= {"lang": "eng", "version": "1", "licence": "CC0-1.0", "mirror": name}
        rows.append(pin | {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()})
    with (checkout.path / SOURCES).open("w", newline="") as handle:
        fields = [*SourceRow.model_fields]
        writer = csv.DictWriter(handle, fields, delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """English, four paradigms, released and generated; an n-gram model."""
    checkout = fresh(tmp_path_factory.mktemp("blimp"))
    mirror = checkout.path / "config/test_mirror"
    shutil.copytree(checkout.path / "config/demo/data", mirror)
    release(checkout, mirror)
    declared = checkout.path / "config/test_blimp"
    shutil.copytree(checkout.path / "config/blimp/lexicon", declared / "lexicon")
    (declared / "paradigms").mkdir()
    for uid in PARADIGMS:
        shutil.copy(checkout.path / f"config/blimp/paradigms/{uid}.yaml", declared / "paradigms")
    checkout.change(
        benchmarks=["blimp", "blimp_generated"],
        catalogue={
            "treebanks": "config/demo/treebanks.tsv",
            "sources": SOURCES,
            "blimp": "config/test_blimp",
        },
        mirror="config/test_mirror",
        languages=["eng"],
        models=["ngram-5"],
        blimp={"per_paradigm": TAKEN, "pairs": 2 * TAKEN},
        training={"recipes": {"ngram": {"kind": "ngram", "order": 3}}},
    )
    checkout.make(*TARGETS)
    return checkout


def accuracies(checkout, benchmark):
    path = checkout.path / f"results/demo/accuracies/{benchmark}.parquet"
    return pq.read_table(path).to_pandas().astype({"paradigm": str, "method": str})


def test_a_paradigm_is_judged_by_the_methods_that_it_allows(checkout):
    rows = accuracies(checkout, "blimp")
    methods = rows[rows["paradigm"] != "all"].groupby("paradigm")["method"].unique()
    assert methods.map(set).to_dict() == {
        "anaphor_gender_agreement": {"full_sentence", "one_prefix"},
        "determiner_noun_agreement_2": {"full_sentence", "two_prefix"},
        "causative": {"full_sentence"},
        "passive_1": {"full_sentence"},
    }
    assert set(rows[rows["paradigm"].isin(PARADIGMS)]["n"]) == {TAKEN}


def test_generated_pairs_are_judged_beside_the_released_ones(checkout):
    assert set(accuracies(checkout, "blimp_generated")["paradigm"]) == {*PARADIGMS, "all"}
    shown = checkout.cells("blimp/generated")
    assert {("causative", "5-gram: released"), ("causative", "5-gram: generated")} <= {*shown.index}
    assert ("Overall", "5-gram: r") in shown.index


def test_both_sets_are_scored_by_one_job_and_loaded_once(checkout):
    stores = sorted((checkout.path / "results/demo/store").glob("*/*/manifest.json"))
    assert [path.parent.parent.name for path in stores] == ["ngram-5"]


def test_the_mean_of_paradigms_is_the_overall_accuracy(checkout):
    rows = accuracies(checkout, "blimp")
    chosen = rows[(rows["model"] == "ngram-5") & (rows["method"] == "full_sentence")]
    mean = chosen[chosen["paradigm"].isin(PARADIGMS)]["accuracy"].mean()
    shown = checkout.cells("blimp/table3")
    overall = shown[shown.index.get_level_values("column").str.contains("Overall")]
    assert 100 * mean == pytest.approx(overall.loc["5-gram"]["value"].iloc[0])


def test_a_number_leads_to_the_line_of_its_file(checkout):
    place = ["--row", "causative", "--column", "5-gram: released", "--items", "1"]
    done = checkout.blimpworks("explain", "results/demo/exhibits/blimp/generated.csv", *place)
    assert "blimp/data/causative.jsonl:" in done.stdout
    assert "the same" in done.stdout


def test_generated_pairs_alone_are_judged_and_summed_up(checkout):
    campaign = "config/alone.yaml"
    text = (checkout.path / "config/test.yaml").read_text()
    text = text.replace("- blimp\n", "").replace("pairs: 60", "pairs: 60\n  seed: 5")
    (checkout.path / campaign).write_text(text)
    done = checkout.make("-n", campaign=campaign)
    assert "Summarise the judgements of blimp_generated" in done.stdout
    assert "exhibits/blimp" not in done.stdout


def test_another_seed_draws_the_generated_pairs_alone_anew(checkout):
    campaign = "config/seeded.yaml"
    text = (checkout.path / "config/test.yaml").read_text()
    (checkout.path / campaign).write_text(text.replace("pairs: 60", "pairs: 60\n  seed: 5"))
    done = checkout.make("-n", *TARGETS, campaign=campaign)
    assert "generate_blimp" in done.stdout
    assert "train_" not in done.stdout
    assert "Build the items of blimp\n" not in done.stdout
