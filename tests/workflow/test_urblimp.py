"""UrBLiMP as a whole, on our own treebank: pairs, scores, judgements, tables and a figure."""

import csv
import hashlib

import pyarrow.parquet as pq
import pytest

from blimpworks.campaign.catalogue import SourceRow, TreebankRow
from blimpworks.papers.urblimp.phenomena import PARADIGMS, PHENOMENA, PHENOMENON_OF
from support.checkout import fresh
from support.urblimp_kit import OWN

pytestmark = pytest.mark.xdist_group("urblimp")
TEST, TRAIN = "ur_own-ud-test.conllu", "ur_own-ud-train.conllu"
MODEL, LABEL = "ngram-5", "5-gram"
TREEBANK = "UD_Urdu-Own"
METHODS = {"perplexity", "full_sentence"}
TARGETS = ("urblimp_table4", "urblimp_table10", "urblimp_fig1")
EXHIBITS = "results/demo/exhibits/urblimp"


def halves(path):
    """A treebank in two: its odd sentences and its even ones."""
    sentences = path.read_text(encoding="utf-8").strip().split("\n\n")
    return ["\n\n".join(sentences[part::2]) + "\n\n" for part in (0, 1)]


def write_catalogues(checkout, files):
    """Treebank files of our own in the mirror, and their pins."""
    pins = []
    for name, text in files.items():
        place = f"ud/{TREEBANK}/{name}"
        path = checkout.path / "config/test_mirror" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        pin = dict.fromkeys(TreebankRow.model_fields, "") | {"lang": "urd", "treebank": TREEBANK}
        pin |= {"file": name, "version": "1", "licence": "CC0-1.0", "mirror": place}
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        pins.append(pin | {"sha256": digest, "bytes": path.stat().st_size})
    for name, fields, rows in (
        ("treebanks", TreebankRow.model_fields, pins),
        ("sources", SourceRow.model_fields, []),
    ):
        with (checkout.path / f"config/test_{name}.tsv").open("w", newline="") as handle:
            writer = csv.DictWriter(handle, list(fields), delimiter="\t", lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """An n-gram model of the sentences without pairs."""
    checkout = fresh(tmp_path_factory.mktemp("urblimp"))
    test, train = halves(OWN)
    write_catalogues(checkout, {TEST: test, TRAIN: train})
    checkout.change(
        benchmarks=["urblimp"],
        catalogue={
            "treebanks": "config/test_treebanks.tsv",
            "sources": "config/test_sources.tsv",
        },
        mirror="config/test_mirror",
        languages=["urd"],
        models=[MODEL],
        urblimp={"files": [TEST]},
        training={"treebank_text": True, "recipes": {"ngram": {"kind": "ngram", "order": 3}}},
    )
    checkout.make(*TARGETS)
    return checkout


def table(checkout, name):
    return pq.read_table(checkout.path / f"results/demo/{name}.parquet").to_pandas()


def accuracies(checkout):
    return table(checkout, "accuracies/urblimp").astype({"paradigm": str, "method": str})


def test_pairs_are_made_of_the_file_that_the_campaign_names(checkout):
    items = table(checkout, "items/urblimp/urd")
    assert set(items["file"]) == {TEST}
    assert set(items["paradigm"]) == {*PARADIGMS}
    assert (items["good"] != items["bad"]).all()


def test_models_are_trained_on_the_other_files_sentences_spelled_as_pairs_are(checkout):
    text = (checkout.path / "results/demo/training/text/urd.txt").read_text(encoding="utf-8")
    items = table(checkout, "items/urblimp/urd")
    assert not {*text.splitlines()} & {*items["good"], *items["bad"]}
    assert text.count("\n") > 20
    # The second of the sentences about spelling, which has an underscore in the treebank.
    assert "مزدور شام تک کام کریں گے۔" in text.splitlines()


def test_every_pair_is_judged_by_both_methods(checkout):
    judged = table(checkout, f"judgements/urblimp/{MODEL}/urd")
    items = table(checkout, "items/urblimp/urd")
    assert set(judged["method"]) == METHODS
    for method in METHODS:
        assert {*judged[judged["method"] == method]["item_id"]} == {*items["item_id"]}
    assert judged["correct"].isin([0.0, 1.0]).all()


def test_a_phenomenon_is_the_mean_of_its_paradigms(checkout):
    rows = accuracies(checkout)
    shown = checkout.cells("urblimp/table4")
    rows = rows[(rows["method"] == "perplexity") & rows["paradigm"].isin(PARADIGMS)]
    means = rows.groupby(rows["paradigm"].map(PHENOMENON_OF))["accuracy"].mean()
    for phenomenon, mean in means.items():
        name = PHENOMENA[phenomenon]
        assert shown.loc[(LABEL, name)]["value"] == pytest.approx(100 * mean)
    assert shown.loc[(LABEL, "Average")]["value"] == pytest.approx(100 * means.mean())


def test_figure1_is_drawn_of_agreement_in_gender(checkout):
    shown = checkout.cells("urblimp/fig1")
    assert {column for _, column in shown.index} == {PARADIGMS["subject_verb_gender"]}
    assert (checkout.path / f"{EXHIBITS}/fig1.svg").stat().st_size > 1000


def test_a_change_of_the_rules_makes_the_pairs_anew(checkout):
    rule = "config/urblimp/urd/word_order.yaml"
    checkout.edit(rule, "about: ", "about: Again, ")
    planned = checkout.planned(*TARGETS)
    assert "build_urblimp_items" in planned
    assert not any(name.startswith("retrieve") for name in planned)
