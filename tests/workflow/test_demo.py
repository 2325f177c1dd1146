"""The demo campaign as a user runs it: built, run again, edited, damaged, explained."""

import json
import re
import shlex
import shutil

import pyarrow.parquet as pq
import pytest

from support.checkout import fresh, output_of
from support.paths import REPOSITORY

RESULTS = "results/demo"
pytestmark = pytest.mark.xdist_group("workflow")


def test_labels_may_have_signs_that_mean_something_to_snakemake_and_the_shell(tmp_path):
    checkout = fresh(tmp_path / "checkout")
    label = r"{id} $\x$ <b> 100 % a_b & c|d; touch $(no)"
    checkout.edit("config/models.tsv", "ngram-5\t5-gram\t", f"ngram-5\t{label}\t")
    done = checkout.make("-n", "-p", "report", "multiblimp_table5")
    lines = [line for line in output_of(done).splitlines() if "--labels" in line and "{id}" in line]
    commands = [shlex.split(line.partition("Shell command: ")[2]) for line in lines]
    labels = [json.loads(each[each.index("--labels") + 1]) for each in commands]
    assert any(label in each.get("models", {}).values() for each in labels)


def test_the_literal_slurm_profile_works_from_the_root(bare):
    done = bare.make("--profile", "slurm", "-n")
    assert re.search(r"^score +\d+$", output_of(done), re.MULTILINE)


def test_a_rule_made_from_a_local_rule_is_local_too():
    # `use rule` drops `localrule: True`, and each small table would be a job of the cluster.
    rules = {
        name: (base, "localrule: True" in body)
        for path in (REPOSITORY / "workflow/rules").rglob("*.smk")
        for base, name, body in re.findall(
            r"^ *(?:use rule (\w+) as |rule )(\w+)(?: with)?:\n((?: {4}.*\n|\n)+)",
            path.read_text(),
            re.MULTILINE,
        )
    }
    derived = {name: base for name, (base, _) in rules.items() if base}
    assert len(derived) > 10
    assert [name for name, base in derived.items() if rules[base][1] != rules[name][1]] == []


def test_one_figure_needs_no_model_and_figure_2_the_tables_of_one_language_alone(bare):
    said = output_of(bare.snakemake("-n", "multiblimp_fig2"))
    assert re.search(r"^build_figure +1$", said, re.MULTILINE)
    assert not re.search(r"^(train_|score|judge|build_table)", said, re.MULTILINE)
    assert f"{RESULTS}/items/multiblimp/eng.parquet" in said
    assert f"{RESULTS}/items/multiblimp/all/eng.parquet" in said
    assert not re.search(r"\b(deu|fra)\.parquet", said)


def test_the_campaign_builds_every_exhibit_in_every_format(built):
    exhibits = built.path / RESULTS / "exhibits/multiblimp"
    for name in ("table2", "table5", "funnel"):
        for suffix in ("csv", "md", "tex", "cells.parquet"):
            assert (exhibits / f"{name}.{suffix}").stat().st_size > 0
    for suffix in ("pdf", "png", "svg", "cells.parquet"):
        assert (exhibits / f"fig3.{suffix}").stat().st_size > 0


def test_the_run_ends_by_saying_where_results_are_and_what_to_type_next(built):
    assert f"{RESULTS}/exhibits" in built.last_output
    assert "blimpworks explain" in built.last_output


def test_running_again_does_nothing(built):
    assert built.planned() == set()


@pytest.mark.long
def test_a_second_run_from_scratch_gives_the_same_bytes(built, tmp_path):
    second = fresh(tmp_path / "second", like=built)
    second.make()
    # Other tests may have had the first campaign build more.
    files = [path for path in sorted((second.path / RESULTS).rglob("*")) if path.is_file()]
    products = [path for path in files if not path.name.endswith(".prov.json")]
    assert len(products) > 100
    for file in products:
        twin = built.path / file.relative_to(second.path)
        assert twin.read_bytes() == file.read_bytes(), file


def test_the_papers_printed_numbers_make_exhibits_without_any_model(printed):
    names = {path.stem for path in (printed.path / RESULTS).glob("published/multiblimp/*.csv")}
    names |= {path.stem for path in (printed.path / RESULTS).glob("published/multiblimp/*.pdf")}
    assert {"table1", "table2", "table3", "table5", "tableb2", "fig1", "fig5", "fig6"} <= names
    figures = {path.stem for path in (printed.path / RESULTS).glob("published/clams/*.pdf")}
    assert figures == {"fig2"}, "the demo omits Figure 3"
    rows = (printed.path / RESULTS / "published/multiblimp/table5.csv").read_text().splitlines()
    (english,) = [row.split(",") for row in rows if row.startswith("English,")]
    assert (english[2], float(english[3])) == ("770", pytest.approx(99.4))
    assert not (printed.path / RESULTS / "scores").exists()


def test_a_campaign_without_models_builds_its_data_alone(bare):
    bare.change("config/data.yaml", models=[])
    done = bare.make("-n", campaign="config/data.yaml")
    assert "funnel.csv" in output_of(done)
    assert "table5.csv" not in output_of(done)
    assert "score" not in re.findall(r"^rule (\w+):", output_of(done), re.MULTILINE)


def test_a_campaign_that_names_no_places_uses_the_documented_ones(bare):
    bare.change("config/places.yaml", without="pathvars")
    bare.make("results/tokens/deu.parquet", campaign="config/places.yaml")
    for path in ("logs/build_tokens/deu.log", "logs/benchmarks/build_tokens/deu.tsv"):
        assert (bare.path / path).is_file()


def test_files_left_out_for_want_of_a_checksum_are_named(scratch):
    catalogue = scratch.path / "config/demo/treebanks.tsv"
    rows = [line.split("\t") for line in catalogue.read_text().splitlines()]
    extra = ["deu", "UD_German-Demo", "de_demo-ud-dev.conllu", "1", "", "", "", "CC0-1.0", "", "x"]
    catalogue.write_text("".join("\t".join(row) + "\n" for row in [*rows, extra]))
    scratch.change(unpinned="skip")
    shutil.rmtree(scratch.path / "results/demo/tokens")
    done = scratch.make("results/demo/tokens/deu.parquet")
    assert "does without 1 files that have no checksum" in done.stderr
    assert "ud/UD_German-Demo/de_demo-ud-dev.conllu" in done.stderr


def test_the_corrected_variant_builds_other_items_from_the_same_treebanks(scratch):
    items = scratch.path / RESULTS / "items/multiblimp/fra.parquet"
    published = pq.read_table(items).to_pylist()
    scratch.change(multiblimp={"variant": "corrected"})
    scratch.make(f"{RESULTS}/items/multiblimp/fra.parquet")
    corrected = pq.read_table(items).to_pylist()
    assert any(" de le " in f" {row['good']} " for row in published)
    assert not any(" de le " in f" {row['good']} " for row in corrected)
