"""A declared benchmark in a campaign: what it asks for, and what is refused."""

import pytest
import yaml

from blimpworks.benchmarks.exhibits import specs_of
from blimpworks.benchmarks.paper import declared_benchmarks, named_sizes
from blimpworks.campaign import registry
from blimpworks.campaign.catalogue import load_catalogue
from blimpworks.campaign.exhibits import exhibits, of_benchmarks
from blimpworks.campaign.load import campaign_model, check_campaign
from blimpworks.campaign.registry import benchmarks, papers
from blimpworks.campaign.retrieved import treebank_languages
from blimpworks.errors import UserError
from blimpworks.reproduction.printed import read_printed_numbers
from support.declared_kit import CSV, PAIRS, declare
from support.paths import REPOSITORY

CACHES = (papers, benchmarks, exhibits, campaign_model)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty directory whose declared benchmarks are those that count."""
    monkeypatch.chdir(tmp_path)

    def fresh():
        """Read the declarations again."""
        for cached in CACHES:
            cached.cache_clear()
        return tmp_path / "config" / "benchmarks"

    fresh()
    yield fresh
    monkeypatch.undo()
    fresh()


def campaign(**settings):
    return check_campaign({"campaign": "mine", "models": [], **settings}, "mine.yaml")


def test_a_folder_with_a_declaration_is_a_benchmark_of_campaigns(here):
    declare(here() / "mine", {"a.csv": CSV}, data=[PAIRS], languages={"zho": "Chinese"})
    settings = campaign(benchmarks=["mine"], languages=["zho"], mine={"per_paradigm": 3})
    catalogue = load_catalogue(settings)
    assert catalogue.languages["zho"].name == "Chinese"
    benchmark = registry.find_benchmark("mine")
    assert benchmark.expected_units(settings, catalogue, "zho") == 3
    assert [*benchmark.languages(settings, catalogue)] == ["zho"]


def test_declarations_of_the_directory_go_before_those_of_the_repository(here):
    declare(here() / "rublimp", {"a.csv": CSV}, data=[PAIRS], label="Another")
    assert declared_benchmarks()["rublimp"].declared.label == "Another"
    assert "turblimp" in declared_benchmarks()


@pytest.mark.parametrize(
    ("name", "declaration", "says"),
    [
        ("My-Pairs", {}, "My-Pairs: a benchmark is called like its folder, so that must be"),
        (
            "mine",
            {"methods": ["full_sentense"]},
            "key 'methods': method 'full_sentense' is unknown",
        ),
        ("models", {}, "config/benchmarks/models: 'models' is a key of every campaign"),
        ("blimp", {}, "config/benchmarks/blimp: 'blimp' is registered twice"),
    ],
)
def test_a_wrong_name_or_method_is_one_sentence(here, name, declaration, says):
    declare(here() / name, {"a.csv": CSV}, data=[PAIRS], **declaration)
    with pytest.raises(UserError, match=says):
        papers()


def test_a_campaign_without_its_languages_is_told_which_there_are(here):
    declare(here() / "mine", {"a.csv": CSV}, data=[PAIRS], languages=["deu"])
    settings = campaign(benchmarks=["mine"], languages=["eng"])
    with pytest.raises(UserError, match=r"has items in deu .*the campaign's languages are eng"):
        registry.check_papers(settings, load_catalogue(settings))


def test_a_pattern_without_files_is_told_before_anything_runs(here):
    declare(here() / "mine", {"a.csv": CSV}, data=[{**PAIRS, "files": "b.csv"}])
    settings = campaign(benchmarks=["mine"], languages=["eng"])
    with pytest.raises(UserError, match=r"key 'data\.0\.files': b\.csv fits no source"):
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
    sizes = {1: [], 2: [336_864 / 1e9]}  # of the transformer, by its recipe
    for models in (["ngram-5"], ["ngram-5", "transformer-small"]):
        settings = campaign(benchmarks=["mine"], models=models, training={"recipes": recipes})
        specs = of_benchmarks(["mine"], settings, evaluated={"mine"})
        shown[len(models)] = {spec.name for spec in specs}
        assert named_sizes(settings) == sizes[len(models)]
    assert shown[2] - shown[1] == {"correlations"}
    assert "sizes" not in shown[2]
    everything = {
        spec.name
        for spec in specs_of("mine", "pairs", people=False, released=False, perplexities=False)
    }
    assert shown[2] == everything - {"sizes"}


PRINTED = """exhibit,row,column,text,value,unit,bold,fault,corrected,note
phenomena,Agreement,gpt2,91.5,91.5,%,,,,
phenomena,All,gpt2,88,88,%,,,,
paradigms,sva_1,gpt2,90.25,90.25,%,,,,
text,1,pairs,500,500,pairs,,,,
"""


def test_printed_percentages_are_accuracies_of_phenomena_and_paradigms(here):
    files = {"a.csv": CSV, "printed/phenomena.csv": PRINTED}
    path = declare(here() / "mine", files, data=[PAIRS], phenomena={"Agreement": ["sva_*", "a"]})
    paper = papers()["mine"]
    assert {spec.name for spec in paper.exhibits if spec.published} >= {"phenomena", "paradigms"}
    rows = read_printed_numbers([path.parent / "printed" / "phenomena.csv"])
    printed = [*paper.printed_accuracies(rows)]
    assert [(each.phenomenon, each.paradigm, each.accuracy) for each in printed] == [
        ("Agreement", "all", pytest.approx(0.915)),
        ("all", "all", pytest.approx(0.88)),
        ("Agreement", "sva_1", pytest.approx(0.9025)),
    ]
    assert {each.lang for each in printed} == {"eng"}


def test_print_of_several_languages_cannot_be_told_apart(here):
    files = {"a.csv": CSV, "printed/phenomena.csv": PRINTED}
    declare(here() / "mine", files, data=[PAIRS], languages=["deu", "eng"])
    with pytest.raises(UserError, match="are read of benchmarks of one language"):
        [*papers()["mine"].printed_accuracies([])]


def test_a_source_in_two_tables_is_told_with_both(here):
    path = declare(here() / "mine", {"a.csv": CSV}, data=[PAIRS])
    head, first = (REPOSITORY / "config/sources.tsv").read_text().splitlines()[:2]
    (path.parent / "sources.tsv").write_text(f"{head}\n{first}\n")
    with pytest.raises(
        UserError, match=r"mine/sources\.tsv: name '.*' stands in .*sources\.tsv too"
    ):
        load_catalogue(campaign(benchmarks=["mine"], languages=["eng"]))


def test_the_three_public_benchmarks_are_data_alone():
    folders = {name: each.folder for name, each in declared_benchmarks().items()}
    for name in ("rublimp", "turblimp", "syntaxgym"):
        files = {path.name for path in folders[name].rglob("*") if path.is_file()}
        assert files <= {"benchmark.yaml", "sources.tsv", "paradigms.tsv"}
        lines = (folders[name] / "benchmark.yaml").read_text().splitlines()
        assert len(lines) <= 40
        assert yaml.safe_load("\n".join(lines))
