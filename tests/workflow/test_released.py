"""Test a campaign of released items: the demo's pairs written as a release, and read again."""

import json

import pyarrow.parquet as pq
import pytest

from blimpworks.papers.multiblimp.tables import ITEM_SCHEMA
from support.checkout import copy_of, output_of, places

pytestmark = [pytest.mark.xdist_group("workflow"), pytest.mark.long]
NAME = "config/released.yaml"
RESULTS, DEMO = "results/released", "results/demo"
SETTINGS = {"items": "released", "released": "released"}
OF_TREEBANKS = {"table1", "funnel"}
REGENERATED, RELEASED = "Items: regenerated.", "Items: released (read from released)."


@pytest.fixture(scope="module")
def released(built, tmp_path_factory):
    """Run a campaign on the demo's own items as ``export`` writes them, beside the demo."""
    checkout = copy_of(built, tmp_path_factory.mktemp("released"))
    checkout.blimpworks("export", "multiblimp", f"{DEMO}/items/multiblimp", "released")
    checkout.change(NAME, pathvars=places("released"), multiblimp=SETTINGS)
    checkout.make(campaign=NAME)
    return checkout


def products(checkout, tree):
    """Return files of a results tree, without records and settings, by their path below it."""
    root = checkout.path / tree
    files = (path for path in root.rglob("*") if path.is_file() and path.suffix != ".yaml")
    return {path.relative_to(root): path for path in files if not path.name.endswith(".prov.json")}


def pairs_of(checkout):
    """Return pairs of products: of the campaign on released items, and of the demo."""
    demo = products(checkout, DEMO)
    return [(path, demo[name]) for name, path in products(checkout, RESULTS).items()]


def test_released_items_are_the_same_pairs_with_the_same_ids_and_regions(released):
    for lang in ("deu", "eng", "fra"):
        name, columns = f"items/multiblimp/{lang}.parquet", ITEM_SCHEMA.names
        one, other = (
            pq.read_table(released.path / tree / name, columns=columns) for tree in (RESULTS, DEMO)
        )
        assert one.num_rows > 100
        assert one.to_pylist() == other.to_pylist()


def test_scores_judgements_accuracies_and_all_cells_are_equal(released):
    tables = [each for each in pairs_of(released) if each[0].suffix == ".parquet"]
    kinds = {path.relative_to(released.path / RESULTS).parts[0] for path, _ in tables}
    assert {"scores", "judgements", "accuracies", "comparisons", "exhibits"} <= kinds
    for path, twin in tables:
        if "items" not in path.parts:
            assert pq.read_table(path).to_pylist() == pq.read_table(twin).to_pylist(), path


def test_exhibits_differ_in_what_their_captions_say_of_the_items_alone(released):
    exhibits = [each for each in pairs_of(released) if each[0].match("exhibits/multiblimp/*")]
    suffixes = {path.suffix for path, _ in exhibits}
    assert {".csv", ".pdf", ".png", ".svg", ".html", ".md", ".tex"} <= suffixes
    for path, twin in exhibits:
        if path.suffix in (".html", ".json", ".md", ".tex"):
            text = path.read_text("utf-8")
            assert text.count(RELEASED) == 1, path
            assert text.replace(RELEASED, REGENERATED) == twin.read_text("utf-8"), path
        elif path.suffix != ".parquet":
            assert path.read_bytes() == twin.read_bytes(), path


def test_exhibits_of_treebanks_are_left_out_and_whoever_asks_is_told_why(released):
    names = {
        tree: {path.stem for path in (released.path / tree / "exhibits/multiblimp").glob("*.csv")}
        for tree in (RESULTS, DEMO)
    }
    assert names[DEMO] - names[RESULTS] == OF_TREEBANKS
    for target in ("multiblimp_table1", f"{RESULTS}/exhibits/multiblimp/funnel.csv"):
        done = released.snakemake("-n", target, campaign=NAME)
        assert done.returncode == 1
        assert "is made from treebanks and their statistics, which a campaign with" in output_of(
            done
        )


def test_without_models_of_ours_no_treebank_is_retrieved(released):
    only = {"benchmarks": ["multiblimp"], "models": []}
    released.change("config/data.yaml", **only, pathvars=places("released"), multiblimp=SETTINGS)
    jobs = released.planned("-F", campaign="config/data.yaml")
    assert jobs == {"write_settings", "build_released_items", "build_table", "build_figure", "all"}


def test_explain_leads_from_a_number_to_the_row_of_the_released_file(released):
    table = f"{RESULTS}/exhibits/multiblimp/table5.csv"
    chosen = ("--row", "German", "--column", "5-gram", "--items", "3")
    explanation = json.loads(released.run("blimpworks", "explain", table, *chosen, "--json").stdout)
    assert len(explanation["items"]) == 3
    for item in explanation["items"]:
        origin = item["origin"]
        assert origin["path"] == "released/deu/data.tsv"
        line = (released.path / origin["path"]).read_text("utf-8").splitlines()[origin["line"] - 1]
        assert line.split("\t")[0] == origin["text"] == item["good"]["text"]
        assert origin["released_from"] == "UD_German-Demo/de_demo-ud-test.conllu"
    text = released.run("blimpworks", "explain", table, *chosen).stdout
    assert "released/deu/data.tsv:" in text
    assert " of UD_German-Demo/de_demo-ud-test.conllu  (subject " in text


def test_the_record_of_an_exhibit_names_its_items(released):
    for tree, items in ((RESULTS, RELEASED), (DEMO, REGENERATED)):
        records = (released.path / tree / "exhibits/multiblimp").glob("table5*.prov.json")
        labels = [json.loads(path.read_text())["params"]["labels"] for path in records]
        assert labels
        assert all(f"Items: {label['items']}." == items for label in labels)


def test_status_and_check_know_the_campaign(released):
    done = released.blimpworks("status", "--configfile", NAME, "--json")
    stages = json.loads(done.stdout)["stages"]
    assert all(stage["done"] == stage["expected"] > 0 for stage in stages.values()), stages
    released.blimpworks("check", RESULTS, "--configfile", NAME)


def test_a_changed_row_of_the_release_makes_its_items_anew(released, tmp_path):
    checkout = copy_of(released, tmp_path / "copy")
    file = checkout.path / "released/deu/data.tsv"
    first, second, *rest = file.read_text("utf-8").splitlines(keepends=True)
    file.write_text(first + second.replace("\t+\n", "\t~\n") + "".join(rest), "utf-8")
    planned = checkout.planned(campaign=NAME)
    assert "build_released_items" in planned
    assert "build_tokens" not in planned
