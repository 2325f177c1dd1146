"""Test item sets as data sets of the Hugging Face hub: that they load, and which are withheld."""

import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from blimpworks.campaign.registry import paper_of
from blimpworks.commands.declare import find_command
from blimpworks.errors import UserError
from blimpworks.files import sha256_of
from blimpworks.interop.crate.tables import UNSTATED
from blimpworks.records.job import Job
from blimpworks.tables import ITEMS, write_table
from support import tiny
from support.crate_kit import PAIRS, run, write_campaign
from support.judging_kit import write_open_items

TREEBANK = Path("resources/eng.conllu")
CATALOGUE = "lang\ttreebank\tfile\tversion\tcommit\tsha256\tbytes\tlicence\turl\tmirror\n"


def made(verb, inputs, output, write):
    with Job(find_command(verb), inputs=inputs, outputs=[output], params={}):
        write(output)


@pytest.fixture
def campaign(tmp_path, monkeypatch):
    """Return a function that writes a campaign with four pairs from a licensed source."""
    monkeypatch.chdir(tmp_path)

    def write(licence, name="campaign.yaml"):
        made("retrieve", [], TREEBANK, lambda path: path.write_text("# text = the dog sees.\n"))
        items = Path("results/items/multiblimp/eng.parquet")
        made("sample_items", [TREEBANK], items, lambda path: tiny.write_items(path, PAIRS))
        row = ["eng", "UD_English-X", "eng.conllu", "1", "", sha256_of(TREEBANK), "1", licence]
        Path("treebanks.tsv").write_text(CATALOGUE + "\t".join([*row, "", "eng.conllu"]) + "\n")
        path = write_campaign(Path(name), "results")
        settings = yaml.safe_load(path.read_text())
        settings["catalogue"]["treebanks"] = "treebanks.tsv"
        path.write_text(yaml.safe_dump(settings))
        return path

    TREEBANK.parent.mkdir()
    return write


def export(campaign, *options):
    return run("export", "hub", "results", "hub", "--campaign", campaign, *options)


def header_of(folder):
    _, header, _ = (folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(header)


def test_a_data_set_has_what_the_hub_and_people_read(campaign):
    assert export(campaign("CC BY-SA 4.0")).startswith("hub: 4 items in 1 subsets.")
    header = header_of(Path("hub"))
    [subset] = header.pop("configs")
    assert header.pop("pretty_name")
    assert header == {
        **{"language": ["en"], "multilinguality": ["monolingual"], "size_categories": ["n<1K"]},
        **{"license": ["cc-by-sa-4.0"], "task_categories": ["text-classification"]},
        "task_ids": ["acceptability-classification"],
        "tags": ["linguistic-acceptability", "minimal-pairs", "blimpworks"],
    }
    assert subset["config_name"] == "multiblimp-eng"
    table = pq.read_table(Path("hub") / subset["data_files"][0]["path"])
    assert table["good"].to_pylist() == [good for good, _ in PAIRS]
    assert not any("dictionary" in str(field.type) for field in table.schema)
    assert not table.schema.metadata
    card = Path("hub/README.md").read_text(encoding="utf-8")
    assert "| English | 4 | [CC-BY-SA-4.0](https://spdx.org/licenses/CC-BY-SA-4.0) |" in card
    assert "Massively Multilingual Benchmark" in card
    assert "| `good` | grammatical sentence |" in card
    assert "$" not in card


@pytest.mark.parametrize(
    ("columns", "items", "unit", "kept"),
    [
        ({"acceptable": [True, False] * 2}, 4, "sentences, each acceptable or not", "acceptable"),
        (
            {"item": ["x", "x", "y", "y"], "condition": ["a", "b"] * 2},
            *(2, "items of several conditions", "condition"),
        ),
    ],
)
def test_a_single_sentence_stands_once_and_conditions_are_counted_as_items(
    campaign, columns, items, unit, kept
):
    file = campaign("CC BY 4.0")
    path, texts = Path("results/items/multiblimp/eng.parquet"), [good for good, _ in PAIRS]
    made("sample_items", [TREEBANK], path, lambda p: write_open_items(p, texts, **columns))
    output = export(file)
    assert output.startswith(f"hub: {items} items in 1 subsets.")
    card = Path("hub/README.md").read_text(encoding="utf-8")
    assert f"{items} items in 1 subset: {unit}" in card
    assert "minimal-pairs" not in card
    table = pq.read_table("hub/multiblimp/eng.parquet")
    assert table["sentence"].to_pylist() == texts
    assert kept in table.column_names
    assert not {"good", "bad", "good_start"} & {*table.column_names}


def test_pairs_may_keep_columns_that_are_called_like_those_of_others(campaign):
    file = campaign("CC BY 4.0")
    path = Path("results/items/multiblimp/eng.parquet")
    columns = {name: pa.array(["x"] * 4) for name in ("item", "condition", "sentence")}

    def write(output):
        table = tiny.items_table(PAIRS).append_column("acceptable", pa.array([True] * 4))
        for name, values in columns.items():
            table = table.append_column(name, values)
        write_table(table, ITEMS, output)

    made("sample_items", [TREEBANK], path, write)
    export(file)
    assert "4 items in 1 subset: minimal sets" in Path("hub/README.md").read_text(encoding="utf-8")
    table = pq.read_table("hub/multiblimp/eng.parquet")
    assert list(zip(*table.select(["good", "bad"]).to_pydict().values(), strict=True)) == PAIRS


def test_what_a_declaration_states_is_on_the_card(campaign, monkeypatch):
    file = campaign("not stated in repo")
    own = paper_of("multiblimp")
    citation = replace(own.citation, licence="CC BY 4.0", contact="a@b.org", bibtex="@misc{x,\n}")
    stating = replace(own, citation=citation)
    monkeypatch.setattr("blimpworks.interop.datasets.paper_of", lambda _: stating)
    export(file)
    assert header_of(Path("hub"))["license"] == ["cc-by-4.0"]
    card = Path("hub/README.md").read_text(encoding="utf-8")
    assert "Contact: a@b.org." in card
    assert "  ```bibtex\n  @misc{x,\n  }\n  ```" in card


def test_croissant_has_the_licences_of_a_benchmark_and_of_no_other(campaign):
    pytest.importorskip("mlcroissant")
    file, other = campaign("CC BY-SA 4.0"), Path("results/items/blimp/eng.parquet")
    made("sample_items", [], other, lambda path: tiny.write_items(path, PAIRS))
    run("export", "croissant", "results", "sets", "--campaign", file)
    metadata = {path.parent.name: path for path in Path("sets").glob("*/croissant.json")}
    licences = {name: json.loads(path.read_text())["license"] for name, path in metadata.items()}
    assert licences == {"blimp": UNSTATED, "multiblimp": "CC-BY-SA-4.0"}


def test_who_knows_the_licence_of_a_source_says_it(campaign):
    export(campaign("not stated in repo"), "--licence", "multiblimp=CC-BY-4.0")
    assert header_of(Path("hub"))["license"] == ["cc-by-4.0"]


@pytest.mark.parametrize(
    ("licence", "options", "reason"),
    [
        ("CC BY-NC-ND 4.0", (), "CC-BY-NC-ND-4.0 forbids sharing what is made from a source"),
        ("CC BY-ND 4.0", ("--licence", "multiblimp=MIT"), "CC-BY-ND-4.0 forbids sharing"),
        ("not stated in repo", (), "a source has no stated licence"),
        ("MIT", ("--licence", "clams=MIT"), r"'clams=MIT' is no BENCHMARK=LICENCE.*\(multiblimp\)"),
        ("MIT", ("--benchmark", "blimp"), "results has no items of blimp, expected"),
        ("pinned no more", (), "a source has no stated licence"),
        ("altered", (), "is altered"),
    ],
)
def test_what_may_not_be_shared_is_not_written(campaign, licence, options, reason):
    file = campaign(licence)
    items = Path("results/items/multiblimp/eng.parquet")
    if licence == "pinned no more":
        other = TREEBANK.with_name("other.conllu")
        made("retrieve", [], other, lambda path: path.write_text("# text = a cat runs.\n"))
        made("sample_items", [TREEBANK, other], items, lambda path: tiny.write_items(path, PAIRS))
    elif licence == "altered":
        tiny.write_items(items, PAIRS[:2])
    with pytest.raises(UserError, match=reason):
        export(file, *options)
    assert not Path("hub").exists()
