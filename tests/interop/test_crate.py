"""Test crates: valid, computed again with pandas alone, refused when altered."""

import builtins
import dis
import json
import platform
import re
import shutil
import subprocess
import sys
from contextlib import chdir
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pandas as pd
import pytest

import blimpworks
from blimpworks.benchmarks.exhibits.formulas import MATTHEWS
from blimpworks.cli import run_here
from blimpworks.errors import UserError
from blimpworks.exhibits import formulas
from blimpworks.exhibits.formulas import formula_of
from blimpworks.files import sha256_of
from blimpworks.interop.crate import tables
from blimpworks.interop.crate.export import formula_code, plan_crate, write_crate
from blimpworks.interop.datasets import _record_set, write_croissant
from blimpworks.papers.lmentry.judging.judge import FURTHER_COLUMNS
from blimpworks.papers.multiblimp.tables import RELEASED_SCHEMA
from blimpworks.tables import PROMPTS, TableSchema
from support import crate_kit, tiny
from support.forgery import alter_a_byte, embellished, forge
from support.paths import DATA

pytestmark = pytest.mark.slow
# Exhibits compute no cells from these.
WITHIN = {"tokens", "lexicon", "candidates", "parity", "prompts"}
DECLARING = [m.name for m in iter_modules(blimpworks.__path__) if m.name.endswith("tables")]
DECLARING += ["papers.lmentry.tables", "papers.urblimp.tables"]
SCHEMAS = [
    schema
    for name in DECLARING
    for schema in vars(import_module(f"blimpworks.{name}")).values()
    if isinstance(schema, TableSchema) and schema.name not in WITHIN
]
SENTENCES = (DATA / "formula_sentences.txt").read_text("utf-8").splitlines()
PANDAS_ALONE = "import sys; sys.modules['blimpworks'] = sys.modules['pyarrow'] = None\n"


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    here = tmp_path_factory.mktemp("campaign")
    with chdir(here):
        crate_kit.build_results(Path("results"))
    crate_kit.write_campaign(here / "small.yaml", "results")
    return here


@pytest.fixture(scope="module")
def exported(campaign):
    with chdir(campaign):
        crate_kit.run("export", "crate", "results", "crate", "--campaign", "small.yaml")
    return campaign / "crate"


@pytest.fixture
def here(campaign, monkeypatch):
    monkeypatch.chdir(campaign)
    return campaign


@pytest.fixture
def scratch(campaign, tmp_path, monkeypatch):
    copy = tmp_path / "copy"
    shutil.copytree(campaign, copy, ignore=shutil.ignore_patterns("crate"))
    monkeypatch.chdir(copy)
    return copy


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return crate_kit.seed_cache(tmp_path_factory.mktemp("cache") / "http")


def graph_of(crate):
    graph = json.loads((crate / "ro-crate-metadata.json").read_text("utf-8"))["@graph"]
    return {entity["@id"]: entity for entity in graph}


def ids(value):
    return [entity["@id"] for entity in (value if isinstance(value, list) else [value])]


@pytest.mark.parametrize("profile", ["workflow-run-crate", "provenance-run-crate"])
def test_the_validator_accepts_the_crate_at_its_required_level(exported, cache, profile):
    assert crate_kit.verdict(exported, cache, profile) == []


def test_every_cell_can_be_computed_again_from_the_tables_of_the_crate(exported):
    assert "judgements" in set(tables.read_csv(exported / "cells.csv")["source"])
    assert crate_kit.differing_cells(exported) == []


@pytest.mark.long
@pytest.mark.xdist_group("workflow")
def test_a_whole_crate_is_valid_and_every_cell_of_every_paper_can_be_computed_again(
    evidence, cache
):
    crate = evidence.path / "results/demo/crate"
    assert set(tables.read_csv(crate / "cells.csv")["form"]) == {"measured", "published"}
    assert crate_kit.differing_cells(crate) == []
    assert crate_kit.verdict(crate, cache) == []


def test_the_readme_computes_a_number_with_nothing_but_pandas(exported):
    text = (exported / "README.md").read_text("utf-8")
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL)[1]
    alone = [sys.executable, "-I", "-c", PANDAS_ALONE + code]
    done = subprocess.run(alone, cwd=exported, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    computed, expected = done.stdout.split(" and ")[0].split(" should be ")
    assert float(computed) == pytest.approx(float(expected), abs=1e-9)


def test_the_dictionary_knows_every_column_of_every_kind_of_table():
    columns = [(schema.name, column) for schema in SCHEMAS for column in schema.names]
    columns += [("items", column) for column in (*PROMPTS.names, *RELEASED_SCHEMA.names)]
    columns += [("judgements", column) for column in FURTHER_COLUMNS]
    for module in ("multiblimp.tables", "clams.items.build", "blimp.tables", "urblimp.tables"):
        schema = import_module(f"blimpworks.papers.{module}").ITEM_SCHEMA
        columns += [("items", column) for column in schema.names]
    known = tables.read_dictionary()
    undescribed = [each for each in columns if not tables.describe(known, *each)[1]]
    assert [each for each in undescribed if each[1] not in tables.LEFT_OUT.get(each[0], ())] == []


def test_a_number_leads_back_through_the_jobs_to_the_text_behind_it(exported):
    graph = graph_of(exported)
    made_by = {
        result: entity
        for entity in graph.values()
        if entity["@id"].startswith("#job/")
        for result in ids(entity["result"])
    }
    waiting, seen = ["exhibits/multiblimp/table5.csv"], []
    while waiting:
        file = waiting.pop()
        seen.append(file)
        if file in made_by:
            waiting += [i for i in ids(made_by[file]["object"]) if graph[i]["@type"] == "File"]
    assert "#results/judgements/multiblimp/grams/eng.parquet" in seen
    assert "#text.txt" in seen
    command = graph[made_by["exhibits/multiblimp/table5.csv"]["instrument"]["@id"]]
    assert command["name"] == "blimpworks build_exhibit multiblimp/table5"


def test_every_file_is_listed_with_its_checksum(exported):
    graph = graph_of(exported)
    files = {p.relative_to(exported).as_posix(): p for p in exported.rglob("*") if p.is_file()}
    files.pop("ro-crate-metadata.json")
    assert {name: graph[name]["sha256"] for name in files} == {
        name: sha256_of(path) for name, path in files.items()
    }


def test_the_same_results_make_the_same_crate(exported, here, tmp_path):
    write_crate(plan(), tmp_path / "again")
    assert tiny.contents(tmp_path / "again") == tiny.contents(exported)


@pytest.mark.parametrize("author", ["Ada <ada@example.org>", ""])
def test_an_author_of_another_form_is_refused(author):
    with pytest.raises(UserError, match=r"--author is '.*'; expected a name, or a name and an"):
        tables.authors_of([author])


def test_croissant_counts_items_not_their_conditions(tmp_path):
    import mlcroissant

    conditions = [{"item_id": str(i), "item": "1", "condition": str(i)} for i in range(4)]
    for bad, items in (("a", "1 item"), ("b", "4 items")):
        frame = pd.DataFrame(conditions).assign(paradigm="p", good="a", bad=bad)
        tables.write_csv(frame, tmp_path / "eng.csv")
        record_set = _record_set(mlcroissant, tmp_path / "eng.csv", tables.read_dictionary())
        assert record_set.description == items


def test_scores_compression_and_authors_are_there_for_the_asking(here, tmp_path):
    who = "Ada Lovelace <https://orcid.org/0000-0002-1825-0097>"
    options = ("--exhibit", "multiblimp/table5", "--table", "scores", "--gzip", "--author", who)
    crate = tmp_path / "crate"
    crate_kit.run("export", "crate", "results", crate, "--campaign", "small.yaml", *options)
    scores = tables.read_csv(crate / "tables/scores/multiblimp/grams/eng.csv.gz")
    logprobs = scores["good_logprobs"].map(json.loads).map(sum)
    assert logprobs.tolist() == pytest.approx(scores["logprob_good"].tolist(), abs=1e-3)
    assert crate_kit.differing_cells(crate) == []
    graph = graph_of(crate)
    assert graph["./"]["author"] == {"@id": "https://orcid.org/0000-0002-1825-0097"}
    assert graph["https://orcid.org/0000-0002-1825-0097"]["name"] == "Ada Lovelace"


def test_two_tables_with_one_path_in_the_crate_are_refused(tmp_path):
    originals = [tmp_path / f"{folder}/x/eng.parquet" for folder in ("items", "sampled/items")]
    for path in originals:
        tiny.write_items(path, crate_kit.PAIRS)
    behind = pd.DataFrame({"source": "items", "original": originals})
    with pytest.raises(UserError, match=r"^items/x/eng\.csv in the crate would be .*/items/x/eng"):
        tables.copy_tables(behind, tmp_path / "crate", packed=False)


def test_a_language_called_nan_a_word_na_and_a_carriage_return_survive_the_trip(tmp_path):
    path = tmp_path / "items/multiblimp/nan.parquet"
    pairs = [("NA is here.", "is NA here."), ("null\rsees.", "sees null.")]
    tiny.write_items(path, pairs, lang=["nan", "nan"])
    tables.write_csv(tables.read_table("items", path), tmp_path / "items.csv")
    back = tables.read_csv(tmp_path / "items.csv")
    assert back["lang"].tolist() == ["nan", "nan"]
    assert back["good"].tolist() == [good for good, _ in pairs]
    assert back["treebank"].isna().all()


def test_the_code_of_a_formula_computes_what_the_formula_does_with_all_that_it_calls():
    rows = pd.DataFrame({"correct": [1.0, 0.0, 1.0]})
    scope = {}
    exec(formula_code("100 × mean(correct)"), scope)
    assert scope["formula"](rows) == formula_of("100 × mean(correct)")(rows)
    text = formula_code("number of rows where accuracy_a > accuracy_b and p < 0.05")
    order = ("def won(", "def wins(", "partial(wins, below=0.05)")
    assert sorted(order, key=text.index) == [*order]


def _globals_of(code):
    loads = {i.argval for i in dis.get_instructions(code) if i.opname == "LOAD_GLOBAL"}
    return loads.union(*(_globals_of(c) for c in code.co_consts if hasattr(c, "co_code")))


@pytest.mark.parametrize("name", [*SENTENCES, MATTHEWS.sentence])
def test_the_code_of_every_formula_of_every_paper_runs_by_itself(name):
    text, scope = formula_code(name), {}
    exec(text, scope)
    functions = [value for value in scope.values() if getattr(value, "__globals__", None) is scope]
    used = {name for function in functions for name in _globals_of(function.__code__)}
    assert used <= {*scope, *dir(builtins)}
    assert "rows" in text
    assert " at 0x" not in text
    # A template may have the name of a called function.
    assert "class Template" not in text


OUTSIDE = """import re
from blimpworks.exhibits.formulas import Formula
PLURAL = re.compile("pl")
def chosen(rows):
    return rows[rows["number"].str.contains(PLURAL)]
def share(rows):
    return len(chosen(rows)) / len(rows)
SHARE = Formula("share of plurals in a paper outside the repository", share)
"""


def test_a_formula_of_a_paper_outside_has_its_helpers_and_imports(tmp_path, monkeypatch):
    (tmp_path / "outside_formulas.py").write_text(OUTSIDE)
    monkeypatch.syspath_prepend(tmp_path)
    outside, scope = import_module("outside_formulas"), {}
    monkeypatch.setattr(formulas, "declared", lambda: (outside.SHARE,))
    text = formula_code(outside.SHARE.sentence)
    assert "def chosen(rows)" in text
    assert "from outside_formulas import PLURAL" in text
    exec(text, scope)
    assert scope["formula"](pd.DataFrame({"number": ["sg", "pl"]})) == 0.5


@pytest.mark.parametrize(
    ("stated", "name"),
    [
        ("CC BY-NC-SA 4.0", "CC-BY-NC-SA-4.0"),
        ("CC BY-NC-SA 4.0 (as worded upstream: x)", "CC-BY-NC-SA-4.0"),
        ("CC0-1.0", "CC0-1.0"),
        ("GNU GPL 3.0", "GPL-3.0-only"),
        ("LGPL-LR", None),
        ("not stated in repo", None),
    ],
)
def test_licences_are_named_as_spdx_does_or_keep_their_words(stated, name):
    assert tables.licence_name(stated) == (name or stated)
    assert tables.licence_url(tables.licence_name(stated)) == (
        name and f"https://spdx.org/licenses/{name}"
    )


def plan(results="results", campaign="small.yaml", **wish):
    return plan_crate(Path(results), Path(campaign), run_here, **wish)


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ({"results": "nowhere"}, r"^nowhere does not exist; expected the results"),
        ({"campaign": "other.yaml"}, r"other.yaml puts its results in elsewhere, which from"),
        ({"chosen": ["multiblimp/fig9"]}, "no exhibit 'multiblimp/fig9'; there are: multiblimp/"),
        ({"further": ["lexicon"]}, "no 'lexicon' tables behind these exhibits; there are: a"),
    ],
)
def test_what_is_not_there_is_refused(scratch, wish, message):
    crate_kit.write_campaign(Path("other.yaml"), "elsewhere")
    with pytest.raises(UserError, match=message):
        plan(**wish)


JUDGED = Path("results/judgements/multiblimp/grams/eng.parquet")
TABLE = Path("results/exhibits/multiblimp/table5.csv")


DAMAGES = {
    rf"^{JUDGED} is altered: SHA-256 .*blimpworks check": lambda: alter_a_byte(JUDGED),
    r"table5.csv is altered: made again from its inputs, it has other": lambda: forge(
        TABLE, embellished
    ),
    r"results has no exhibits .*build them": lambda: shutil.rmtree("results/exhibits"),
}


@pytest.mark.parametrize("message", DAMAGES)
def test_results_that_are_not_what_their_records_say_are_refused(scratch, message):
    DAMAGES[message]()
    with pytest.raises(UserError, match=message):
        plan()


def test_a_directory_that_is_not_empty_is_left_alone(here, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UserError, match="already exists and is not an empty directory"):
        write_crate(plan(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_nothing_given_away_says_where_it_was_made(tmp_path, monkeypatch):
    work, private = tmp_path / "work", tmp_path / "home/ada"
    work.mkdir()
    monkeypatch.chdir(work)
    results = private / "scratch/results"
    crate_kit.build_results(results)
    crate_kit.write_campaign(work / "small.yaml", str(results), mirror=str(private / "scratch"))
    crate_kit.run("export", "crate", results, "crate", "--campaign", "small.yaml")
    crate_kit.run("export", "croissant", results, "croissant", "--campaign", "small.yaml")
    crate_kit.run("export", "lm-eval", results, "harness", "--benchmark", "multiblimp")
    places = [str(tmp_path), str(Path.home()) + "/", platform.node() + '"', "ada/"]
    given = ("crate", "croissant", "harness/grams")
    files = [path for name in given for path in (work / name).rglob("*")]
    texts = {p: p.read_text("utf-8") for p in files if p.is_file()}
    assert {p.name for p in texts} >= {"ro-crate-metadata.json", "croissant.json", "README.md"}
    leaks = [(p.name, place) for p, text in texts.items() for place in places if place in text]
    assert leaks == []


def test_a_model_that_was_cleared_away_is_known_by_its_checksum(scratch, tmp_path):
    shutil.rmtree("model")
    write_crate(plan(), tmp_path / "crate")
    graph = graph_of(tmp_path / "crate")
    assert len(graph["#model/checkpoint.json"]["sha256"]) == 64
    assert "no longer existed" in (tmp_path / "crate/README.md").read_text("utf-8")


def test_the_item_sets_are_described_so_that_the_reference_loader_reads_them(exported):
    croissant = pytest.importorskip("mlcroissant")
    dataset = croissant.Dataset(exported / "items/multiblimp/croissant.json")
    assert not dataset.metadata.issues.errors
    assert not dataset.metadata.issues.warnings
    assert "http://mlcommons.org/croissant/RAI/1.0" in dataset.metadata.conforms_to
    assert dataset.metadata.data_preprocessing_protocol == [
        "Commands of blimpworks, in this order: sample_items."
    ]
    assert "names of persons in them" in dataset.metadata.personal_sensitive_information[0]
    records = list(dataset.records("eng"))
    assert [r["eng/good"].decode() for r in records] == [good for good, _ in crate_kit.PAIRS]
    assert records[0]["eng/good_start"] == 4
    (file,) = dataset.metadata.distribution
    assert file.sha256 == sha256_of(exported / "items/multiblimp" / file.content_url)


def test_generated_pairs_cite_their_paper_and_have_our_licence(here, tmp_path):
    croissant = pytest.importorskip("mlcroissant")
    for name, licence in (("blimp", "GPL-3.0-only"), ("blimp_generated", "CC0-1.0")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "eng.csv").write_text("item_id,paradigm\n1,causative\n")
        write_croissant(folder, plan(authors=["A"]), ["GPL-3.0-only"])
        metadata = croissant.Dataset(folder / "croissant.json").metadata
        assert "(2020). BLiMP: The Benchmark" in metadata.cite_as
        assert metadata.license == [licence]
        own = licence == "CC0-1.0"
        assert ("a lexicon written for this purpose" in metadata.data_collection) is own
