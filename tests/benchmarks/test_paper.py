"""Test a declared benchmark in a campaign: its requests, refusals, and export."""

import hashlib
import lzma
from dataclasses import replace

import pytest
import yaml

from blimpworks.audit.lineage import Jobs
from blimpworks.benchmarks import paper as benchmarks_paper
from blimpworks.benchmarks.build import build_items
from blimpworks.benchmarks.drafts import export_benchmark
from blimpworks.benchmarks.exhibits import specs_of
from blimpworks.campaign import registry
from blimpworks.campaign.catalogue import load_catalogue
from blimpworks.campaign.load import check_campaign, read_anew
from blimpworks.campaign.registry import exhibits_to_make, papers
from blimpworks.campaign.scoring_jobs import CampaignSelection, treebank_languages
from blimpworks.errors import UserError
from blimpworks.evaluation.request import list_benchmarks
from blimpworks.interop.crate.tables import UNSTATED, licences_behind
from blimpworks.papers.blimp.items.build import build_items as build_blimp
from blimpworks.reproduction.printed import read_printed_numbers
from blimpworks.tables import ITEMS as ITEM_TABLE
from blimpworks.tables import read_table
from support.declared_kit import CSV, PAIRS, declare
from support.paths import REPOSITORY
from support.tiny import write_items


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Change to an empty directory, whose declared benchmarks are the only ones."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(registry.FOLDERS, "")

    def fresh():
        read_anew()
        return tmp_path / "config" / "benchmarks"

    fresh()
    yield fresh
    monkeypatch.undo()
    fresh()


def campaign(**settings):
    return check_campaign({"campaign": "mine", "models": [], **settings}, "mine.yaml")


def test_a_folder_with_a_declaration_is_a_benchmark_of_campaigns(here):
    declare(here() / "mine", {"a.csv": CSV}, data=[PAIRS], languages={"zho": "Chinese"})
    settings = campaign(benchmarks=["mine"], languages=["zho"], mine={"per_paradigm": 1})
    catalogue = load_catalogue(settings)
    assert catalogue.languages["zho"].name == "Chinese"
    benchmark = registry.find_benchmark("mine")
    assert benchmark.expected_units(settings, catalogue, "zho") == 1
    assert [*benchmark.languages(settings, catalogue)] == ["zho"]


@pytest.mark.parametrize("languages", [["deu", "kor"], {"deu": "German", "kor": "Korean"}])
def test_a_language_that_the_table_has_for_another_paper_is_one_of_the_benchmark(here, languages):
    declare(here() / "mine", {"a.csv": CSV}, data=[PAIRS], languages=languages)
    catalogue = load_catalogue(campaign(benchmarks=["mine"]))
    assert catalogue.languages["kor"].is_of("mine")
    assert "kor" not in load_catalogue(campaign(benchmarks=["multiblimp"])).languages


def test_declarations_of_the_directory_go_before_those_of_the_repository(here):
    declare(here() / "rublimp", {"a.csv": CSV}, data=[PAIRS], label="Another")
    assert benchmarks_paper.declared_benchmarks()["rublimp"].label == "Another"
    assert "turblimp" in benchmarks_paper.declared_benchmarks()


@pytest.mark.parametrize(
    ("name", "declaration", "says"),
    [
        ("My-Pairs", {}, "My-Pairs: a benchmark is called like its folder, so that must be"),
        ("mine", {"methods": ["full_sentense"]}, "key 'methods': method 'full_sent.* is unknown"),
        ("models", {}, "config/benchmarks/models: 'models' is a key of every campaign"),
        ("blimp", {}, "config/benchmarks/blimp: 'blimp' is registered twice"),
        ("mine", {"lable": "Mine"}, "benchmark.yaml: key 'lable' is not a setting"),
        ("mine", {"bibtex": "Me 2026"}, "key 'bibtex'"),
    ],
)
def test_a_broken_draft_is_one_sentence_for_whoever_names_it_alone(here, name, declaration, says):
    declare(here() / name, {"a.csv": CSV}, data=[PAIRS], **declaration)
    assert "turblimp" in papers()
    assert campaign(benchmarks=["turblimp"], languages=["tur"])
    with pytest.raises(UserError, match=says):
        benchmarks_paper.find_declared(name)
    with pytest.raises(UserError, match=says):
        campaign(declared=[f"config/benchmarks/{name}"])
    if name != "blimp":  # a paper's benchmark
        with pytest.raises(UserError, match=says):
            campaign(benchmarks=[name])


def test_a_language_of_no_table_needs_a_name(here):
    declare(here() / "mine", {"a.csv": CSV}, data=[PAIRS], languages=["eng", "qzz"])
    with pytest.raises(UserError, match=r"'qzz' is not in .*; write {eng: English, qzz: NAME}"):
        campaign(benchmarks=["mine"])


def test_a_folder_elsewhere_goes_before_others_of_its_name(here, tmp_path):
    declare(here() / "mine", {"a.csv": CSV}, data=[PAIRS])
    for place in ("a/mine", "b/mine"):
        declare(tmp_path / place, {"a.csv": CSV}, data=[PAIRS], label=place)
    campaign(declared=["a/mine"], benchmarks=["mine"], mine={"per_paradigm": 3})
    assert papers()["mine"].citation.label == "a/mine"
    with pytest.raises(UserError, match="expected folders of different names; rename one"):
        campaign(declared=["a/mine", "b/mine"])
    with pytest.raises(UserError, match=r"nowhere/mine/benchmark\.yaml does not exist"):
        campaign(declared=["nowhere/mine"])


@pytest.mark.parametrize(
    ("copy", "counted"),
    [
        (None, None),  # so that only an estimate is known
        (lzma.compress(CSV.encode()), 2),
        (CSV.replace("He", "She").encode(), "replace it or remove it from the mirror"),
    ],
)
def test_items_are_counted_where_the_files_are_and_never_guessed(here, tmp_path, copy, counted):
    blob = hashlib.sha1(f"blob {len(CSV)}\0{CSV}".encode()).hexdigest()
    cells = {"name": "mine/a.csv", "mirror": "a.csv", "git_blob": blob, "bytes": str(len(CSV))}
    cells |= dict.fromkeys(("lang", "version", "sha256", "licence", "url"), "")
    cells["kind"] = "minimal pairs"  # of a declared benchmark, whose sources are found by name
    table = "".join("\t".join(row) + "\n" for row in (cells, cells.values()))
    data = [{**PAIRS, "files": "mine/*.csv"}]
    declare(here() / "mine", {"sources.tsv": table}, data=data)
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    if copy is not None:
        suffix = ".xz" if copy[1:4] == b"7zX" else ""
        (mirror / f"a.csv{suffix}").write_bytes(copy)
    settings = campaign(
        benchmarks=["mine"], languages=["eng"], mirror=str(mirror), checksums="sha256",
        unpinned="skip",
    )  # fmt: skip
    benchmark, catalogue = registry.find_benchmark("mine"), load_catalogue(settings)
    if isinstance(counted, str):
        with pytest.raises(UserError, match=counted):
            benchmark.counted_units(settings, catalogue, "eng")
    else:
        assert benchmark.counted_units(settings, catalogue, "eng") == counted
    assert benchmark.expected_units(settings, catalogue, "eng") == (
        2 if counted == 2 else benchmarks_paper.ASSUMED_ITEMS
    )
    if isinstance(counted, str):  # the benchmark has no other items
        (row,) = (row for row in list_benchmarks(settings) if row.name == "mine")
        assert row.obstacle
    without_models = CampaignSelection(settings, replace(catalogue, models={}), {})
    assert without_models.retrieved_files == ["mine/a.csv"]


@pytest.mark.parametrize(
    ("declaration", "says"),
    [
        ({"languages": ["deu"]}, r"has items in deu .*the campaign's languages are eng"),
        ({"data": [{**PAIRS, "files": "b.csv"}]}, r"'data\.0\.files': b\.csv fits no source"),
    ],
)
def test_a_campaign_without_its_languages_or_files_is_refused(here, declaration, says):
    declare(here() / "mine", {"a.csv": CSV}, **{"data": [PAIRS], **declaration})
    settings = campaign(benchmarks=["mine"], languages=["eng"])
    with pytest.raises(UserError, match=says):
        registry.check_papers(settings, load_catalogue(settings))


def test_own_text_needs_no_treebanks(here, tmp_path):
    declare(here() / "mine", {"a.csv": CSV}, data=[PAIRS], languages={"zho": "Chinese"})
    recipes = {"ngram": {"kind": "ngram", "order": 5}}
    chosen = {"benchmarks": ["mine"], "languages": ["zho"], "models": ["ngram-5"]}
    own = campaign(**chosen, training={"treebank_text": False, "recipes": recipes})
    assert treebank_languages(own, load_catalogue(own)) == set()


def test_exhibits_that_compare_models_need_two(here):
    declare(here() / "mine", {"a.csv": CSV}, data=[PAIRS])
    recipes = {"ngram": {"kind": "ngram"}, "transformer-small": {"kind": "transformer"}}
    shown = {}
    sizes = {1: [], 2: [336_864 / 1e9]}  # billions of parameters, by its recipe
    for models in (["ngram-5"], ["ngram-5", "transformer-small"]):
        settings = campaign(benchmarks=["mine"], models=models, training={"recipes": recipes})
        specs = exhibits_to_make(["mine"], settings, evaluated={"mine"})
        shown[len(models)] = {spec.name for spec in specs}
        assert benchmarks_paper.sizes_before_selection(settings) == sizes[len(models)]
    assert shown[2] - shown[1] == {"correlations"}
    assert "sizes" not in shown[2]
    everything = {spec.name for spec in specs_of("mine", set(), released=False)}
    assert shown[2] == everything - {"sizes"}


PRINTED = """exhibit,row,column,text,value,unit,bold,fault,corrected,note
phenomena,Agreement,gpt2,91.5,91.5,%,,,,
phenomena,All,gpt2,88,88,%,,,,
paradigms,sva_1,gpt2,90.25,90.25,%,,,,
text,1,pairs,500,500,pairs,,,,
"""


def test_a_column_called_mean_with_right_options_is_no_way_of_counting(here):
    data = {"layout": "alternatives", "files": "a.csv", "options": ["good", "bad"]}
    path = declare(here() / "mine", {"a.csv": CSV}, data=[{**data, "right": "mean"}])
    assert benchmarks_paper.find_declared(str(path)).right == "all"


def test_printed_percentages_are_accuracies_of_phenomena_and_paradigms(here):
    files = {"a.csv": CSV, "printed/phenomena.csv": PRINTED}
    path = declare(here() / "mine", files, data=[PAIRS], phenomena={"Agreement": ["sva_*", "a"]})
    paper = papers()["mine"]
    assert {spec.name for spec in paper.exhibits if spec.published} >= {"phenomena", "paradigms"}
    rows = read_printed_numbers([path.parent / "printed" / "phenomena.csv"])
    printed = [*paper.printed_accuracies(rows)]
    places = [(each.phenomenon, each.paradigm) for each in printed]
    assert places == [("Agreement", "all"), ("all", "all"), ("Agreement", "sva_1")]
    assert [each.accuracy for each in printed] == pytest.approx([0.915, 0.88, 0.9025])
    assert {each.lang for each in printed} == {"eng"}
    declare(here() / "mine", files, data=[PAIRS], languages=["deu", "eng"])
    here()
    with pytest.raises(UserError, match="are read of benchmarks of one language"):
        [*papers()["mine"].printed_accuracies([])]


def test_a_source_in_two_tables_is_told_with_both(here):
    path = declare(here() / "mine", {"a.csv": CSV}, data=[PAIRS])
    head, first = (REPOSITORY / "config/sources.tsv").read_text().splitlines()[:2]
    (path.parent / "sources.tsv").write_text(f"{head}\n{first}\n")
    with pytest.raises(UserError, match=r"mine/sources\.tsv: name '.*' is in .*sources\.tsv too"):
        load_catalogue(campaign(benchmarks=["mine"], languages=["eng"]))


STATED = {"licence": "CC BY 4.0", "contact": "me@x.org", "bibtex": "@misc{x,\n  year = 2026,\n}\n"}


def test_licence_contact_and_bibtex_are_cited_and_exported(here, tmp_path):
    declare(here() / "mine", {"a.csv": CSV}, data=[PAIRS], **STATED)
    citation = registry.find_paper("mine").citation
    stated = {name: text.strip() for name, text in STATED.items()}
    assert {name: getattr(citation, name) for name in STATED} == stated
    items = tmp_path / "items/mine/eng.parquet"
    build_items(here() / "mine/benchmark.yaml", [], here() / "mine", "mine", "eng", items)
    export_benchmark([items], tmp_path / "again", "Again", "Nobody")
    again = yaml.safe_load((tmp_path / "again/benchmark.yaml").read_text(encoding="utf-8"))
    assert {name: again[name].strip() for name in STATED} == stated
    record = {"inputs": [{"path": "a.csv"}], "outputs": [{"path": str(items)}], "verb": "build"}
    # The catalogue does not have the downloaded file.
    other = {"inputs": [], "outputs": [{"path": "b.csv"}], "verb": "retrieve"}
    behind = licences_behind(Jobs([record, other]), {}, tmp_path)
    assert behind == {"CC-BY-4.0": 1, UNSTATED: 1}


SAME = ("lang", "phenomenon", "paradigm", "good", "bad")
SPANS = ("good_start", "good_end", "bad_start", "bad_end")


def there_and_back(tmp_path, items, columns):
    """Return columns of the items, and of the declared benchmark exported from them."""
    folder, output = tmp_path / "again", tmp_path / "again.parquet"
    export_benchmark([items], folder, "Again", "Nobody (2026)")
    build_items(folder / "benchmark.yaml", [], folder, "again", "eng", output)
    return tuple(read_table(ITEM_TABLE, path, columns).to_pylist() for path in (items, output))


@pytest.mark.mirror
def test_released_pairs_of_all_paradigms_of_a_paper_come_back_the_same(tmp_path, mirror):
    files = []
    for path in sorted((mirror / "blimp" / "data").glob("*.jsonl.xz")):
        files.append(tmp_path / path.stem)
        files[-1].write_bytes(lzma.decompress(path.read_bytes()))
    items = tmp_path / "items.parquet"
    build_blimp(files, items, 1000, 100)
    before, after = there_and_back(tmp_path, items, SAME)
    assert len(before) == 6_700
    assert sorted(map(str, before)) == sorted(map(str, after))


def test_critical_regions_come_back_the_same_and_a_folder_is_not_written_twice(tmp_path):
    items = write_items(tmp_path / "items.parquet", [("He runs.", "He run."), ("a b", "a c")])
    before, after = there_and_back(tmp_path, items, [*SAME, *SPANS])
    assert before == after
    with pytest.raises(UserError, match=r"again/benchmark\.yaml exists; expected a new folder"):
        export_benchmark([items], tmp_path / "again", "Again", "Nobody (2026)")
