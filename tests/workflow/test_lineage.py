import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from blimpworks.audit.explain import explain as explain_cell
from support.checkout import copy_of

RESULTS = "results/demo"
EXHIBITS = f"{RESULTS}/exhibits/multiblimp"
GERMAN = ("--row", "German", "--column", "5-gram")
pytestmark = pytest.mark.xdist_group("workflow")


def explain(checkout, *arguments, table=f"{EXHIBITS}/table5.csv"):
    return checkout.run("blimpworks", "explain", table, *arguments)


def check(checkout, *arguments):
    return checkout.run("blimpworks", "check", RESULTS, *arguments)


def findings(checkout, *arguments):
    """Return check's findings as (problem, path, detail)."""
    problems = json.loads(check(checkout, "--json", *arguments).stdout)["findings"]
    return [(f["problem"], f["path"], f["detail"]) for f in problems]


def test_explain_follows_a_number_to_treebank_and_model(built):
    done = explain(built, *GERMAN, "--items", "3")
    assert done.returncode == 0, done.stderr
    for part in (
        "(the same)",
        "judgements/multiblimp/ngram-5/deu.parquet",
        "models/ngram-5/deu/checkpoint.json",
        "items/multiblimp/deu.parquet",
        "de_demo-ud-test.conllu:",
    ):
        assert part in done.stdout
    assert not re.search(r"\b(eng|fra|transformer-small)\b", done.stdout)


def test_an_items_sentence_stands_where_explain_says(built):
    explanation = json.loads(explain(built, *GERMAN, "--items", "5", "--json").stdout)
    assert len(explanation["items"]) == 5
    for item in explanation["items"]:
        origin = item["origin"]
        lines = (built.path / origin["path"]).read_text("utf-8").splitlines()
        block = lines[origin["line"] - 1 : lines.index("", origin["line"])]
        assert f"# sent_id = {origin['sent_id']}" in block
        assert f"# text = {origin['text']}" in block
        words = {line.split("\t")[0]: line.split("\t")[1] for line in block if "\t" in line}
        for word in item["words"].values():
            assert words[str(word["id"])] == word["form"]


@pytest.mark.parametrize("column", ["5-gram", "Transformer (small)"])
def test_token_pieces_spell_the_sentence_and_their_log_probabilities_add_up(built, column):
    done = explain(built, "--row", "deu", "--column", column, "--items", "4", "--json")
    for item in json.loads(done.stdout)["items"]:
        for side in ("good", "bad"):
            tokens = item[side]["tokens"]
            assert "".join(token["piece"] for token in tokens) == item[side]["text"]
            total = math.fsum(token["logprob"] for token in tokens)
            assert total == pytest.approx(item[side]["logprob"], abs=1e-9)
            assert any(token["critical"] for token in tokens)
        assert item["margin"] == pytest.approx(item["value_good"] - item["value_bad"])


def test_one_item_can_be_asked_for(built):
    (first,) = json.loads(explain(built, *GERMAN, "--json").stdout)["items"]
    done = explain(built, *GERMAN, "--item", first["item_id"], "--json")
    assert json.loads(done.stdout)["items"][0] == first
    done = explain(built, *GERMAN, "--item", "nothing")
    assert done.returncode == 2
    assert "item 'nothing' is not among the" in done.stderr


def test_a_cell_by_each_formula_of_each_exhibit_can_be_computed_again(built, monkeypatch):
    """Printed exhibits are tested for each paper. Crates of ``make test-long`` test all cells."""
    monkeypatch.chdir(built.path)
    cells = {}
    for source in sorted(Path(RESULTS).glob("*/*/*.cells.parquet")):
        for cell in pq.read_table(source).to_pylist():
            exhibits = source.parent if "published" in source.parts else source
            name = source, cell["row"], cell["column"]
            cells.setdefault((exhibits, cell["source"], cell["formula"]), name)
    assert len(cells) > 60
    for name in cells.values():
        explanation = explain_cell(*name, 0)
        assert explanation.recomputed == pytest.approx(explanation.cell["value"], abs=1e-9), name


TOKENS, SENTENCES = ("table5", "table3", "fig7", "tableb2"), ("fig3", "table1", "fig8")


@pytest.mark.parametrize("exhibit", TOKENS + SENTENCES)
def test_every_kind_of_number_leads_to_tokens_or_to_the_treebank(built, monkeypatch, exhibit):
    monkeypatch.chdir(built.path)
    source = Path(EXHIBITS) / f"{exhibit}.cells.parquet"
    cells = [c for c in pq.read_table(source).to_pylist() if c["n"] != 0 and c["value"]]
    for cell in {cell["column"]: cell for cell in cells}.values():
        explanation = explain_cell(source, cell["row"], cell["column"], 2)
        assert explanation.items, cell
        for item in explanation.items:
            assert Path(item["origin"]["path"]).is_file()
            scored = exhibit in TOKENS and cell["source"] != "items"
            assert not scored or item["good"]["tokens"]


@pytest.mark.parametrize("row", ["Word 1", "Subject", "Cases", "Kept", "Pairs", "Ungrammatical"])
def test_what_figure_2_shows_leads_to_its_own_sentence(built, monkeypatch, row):
    monkeypatch.chdir(built.path)
    source = Path(EXHIBITS) / "fig2.cells.parquet"
    (shown,) = explain_cell(source, "Text", "Shown", 1).items
    origins = [item["origin"] for item in explain_cell(source, row, "Shown", 2).items]
    assert origins
    assert all(Path(origin["path"]).is_file() for origin in origins)
    own = {origin["sent_id"] for origin in origins} == {shown["origin"]["sent_id"]}
    assert own or row in ("Cases", "Kept", "Pairs")


def test_an_entry_of_the_lexicon_in_figure_2_leads_to_its_row(built, monkeypatch):
    monkeypatch.chdir(built.path)
    source = Path(EXHIBITS) / "fig2.cells.parquet"
    explained = explain_cell(source, "Entry 1, UniMorph", "Shown", 1)
    (entry,) = explained.selected
    assert explained.cell["text"].startswith(f"{entry['form']} ({entry['features']})")
    assert explained.items == []


def test_explaining_needs_neither_statistics_nor_plots_nor_networks(built):
    script = "import sys\nfrom blimpworks.cli import main\ntry:\n    main()\n"
    script += "except SystemExit:\n    print(*sys.modules, file=sys.stderr)"
    command = [sys.executable, "-c", script, "explain", f"{EXHIBITS}/table5.csv", *GERMAN]
    how = {"cwd": built.path, "env": {**os.environ, "PYTHONPATH": str(built.path / "src")}}
    done = subprocess.run(command, **how, capture_output=True, text=True, check=True)
    assert "(the same)" in done.stdout
    loaded = {*done.stderr.split()}
    assert "pandas" in loaded
    heavy = {"scipy", "statsmodels", "matplotlib", "seaborn", "torch", "rich"}
    assert not loaded & heavy


def test_a_number_of_a_published_form_leads_to_the_line_it_is_printed_on(built):
    table = f"{RESULTS}/published/multiblimp/table3.csv"
    place = ("--row", "Gemma3 27B", "--column", "High")
    explanation = json.loads(explain(built, *place, "--json", table=table).stdout)
    (row,) = explanation["selected"]
    line = (built.path / row["path"]).read_text("utf-8").splitlines()[row["line"] - 1]
    assert line.startswith("table3,gemma-3-27b,high,98.0,")
    (number,) = explanation["printed"]
    assert (number["printed"], number["line"]) == ("98.0", row["line"])


def comparison(checkout, exhibit, row, column):
    place = ("--exhibit", exhibit, "--row", row, "--column", column)
    return explain(checkout, *place, table=f"{RESULTS}/reproduction/published.csv")


def test_a_row_of_the_reproduction_leads_to_what_it_is_recomputed_from(built):
    done = comparison(built, "table1", "PL PL SV", "nld")
    assert "1 − value of the row over 1 published" in done.stdout
    assert "config/published/multiblimp/table1.csv:4: " in done.stdout
    assert "the paper prints 0.989 in table1" in done.stdout


def test_a_printed_number_that_nothing_recomputes_says_why(built):
    done = comparison(built, "table5", "deu", "gemma-3-27b")
    assert done.returncode == 0, done.stderr
    assert "not recomputable\n      needs the models' judgements" in done.stdout


def check_that_items_are_sampled_again(checkout):
    planned = checkout.planned()
    assert "build_multiblimp_items" in planned
    assert not planned & {"retrieve", "build_tokens", "build_lexicon"}


def test_one_edited_function_makes_its_own_products_stale_and_a_comment_or_a_touch_none(scratch):
    package = "src/blimpworks"
    scratch.edit(f"{package}/papers/multiblimp/items/sampling.py", "digest_size=8", "digest_size=7")
    scratch.edit(f"{package}/linguistics/treebanks.py", "import csv\n", "import csv  # tables\n")
    for file in (scratch.path / "src").rglob("*.py"):
        file.touch()
    check_that_items_are_sampled_again(scratch)
    problems = findings(scratch)
    assert {path for _, path, _ in problems} == {
        f"{RESULTS}/items/multiblimp/{lang}.parquet" for lang in ("deu", "eng", "fra")
    }
    ((problem, detail),) = {(problem, detail) for problem, _, detail in problems}
    assert problem == "stale"
    sampling = r"blimpworks\.papers\.multiblimp\.items\.sampling \(\w+\)"
    assert re.fullmatch(f"the code of sample_items has changed: {sampling}", detail)


def test_other_settings_make_stale_what_was_made_with_them_and_are_named(scratch):
    settings = {"multiblimp": {"sampling": {"per_condition": 20}}}
    scratch.change(**settings)
    check_that_items_are_sampled_again(scratch)
    assert findings(scratch) == []
    # Another checksum, and one language less.
    catalogue = scratch.path / "config/demo/sources.tsv"
    text = catalogue.read_text("utf-8")
    old = re.search(r"\b[0-9a-f]{64}\b", text)[0]
    catalogue.write_text(text.replace(old, "0" * 64), "utf-8")
    scratch.change(languages=["deu", "eng"], **settings)
    stale = {}
    for _, path, detail in findings(scratch, "--configfile", "config/test.yaml"):
        stale.setdefault(detail, []).append(path)
    sampling = "parameters have changed: options.sampling.per_condition is now 20, was 100"
    items = f"{RESULTS}/items/multiblimp"
    assert stale[sampling] == [f"{items}/deu.parquet", f"{items}/eng.parquet"]
    [pinned] = [detail for detail in stale if f'sha256 is now "{"0" * 64}", was "{old}"' in detail]
    assert stale[pinned][0].startswith("resources/demo/sources/")
    gone = f"the campaign no longer makes it from {RESULTS}/judgements/multiblimp/ngram-5/fra"
    without = {path for text, paths in stale.items() if text.startswith(gone) for path in paths}
    assert f"{RESULTS}/accuracies/multiblimp.parquet" in without


def test_a_run_does_not_differ_from_its_copy_also_where_that_was_moved_away(
    built, scratch, tmp_path
):
    (scratch.path / RESULTS).rename(tmp_path / "kept")
    done = built.blimpworks("diff", RESULTS, str(tmp_path / "kept"), "--json")
    report = json.loads(done.stdout)
    assert (report["causes"], report["moved"], report["only"]) == ([], [], {"A": {}, "B": {}})
    assert report["same"] > 100


@pytest.fixture(scope="module")
def rerun(built, tmp_path_factory):
    """Run the finished campaign after an edit of the code and of a setting, without one model."""
    checkout = copy_of(built, tmp_path_factory.mktemp("rerun"))
    checkout.edit(
        "src/blimpworks/exhibits/formulas.py",
        '100 * rows["correct"].mean()',
        'rows["correct"].mean() * 100',
    )
    checkout.change(multiblimp={"sampling": {"per_condition": 20}}, models=["ngram-5"])
    checkout.make(f"{EXHIBITS}/table5.csv", f"{EXHIBITS}/fig3.pdf")
    return checkout


def test_diff_names_the_parameter_and_the_numbers_that_moved_for_it(built, rerun):
    done = built.blimpworks("diff", RESULTS, str(rerun.path / RESULTS), "--json")
    report = json.loads(done.stdout)
    text = "sample_items options.sampling.per_condition: 100 → 20"
    (number,) = [n for n, c in enumerate(report["causes"]) if c["text"] == text]
    cause = report["causes"][number]
    assert cause["kind"] == "parameter"
    assert len(cause["jobs"]) == 3
    moved = [m for m in report["moved"] if m["exhibit"] == "exhibits/multiblimp/fig3"]
    assert moved
    assert all(number in m["causes"] for m in moved)
    # Accuracies moved too, because of judgements and scores of other items.
    scored = [m for m in report["moved"] if m["exhibit"] == "exhibits/multiblimp/table5"]
    assert {m["row"] for m in scored if m["column"] == "5-gram"} == {"English", "French", "German"}
    assert all(number in m["causes"] for m in scored if m["column"] == "5-gram")
    for move in moved:
        source = f"{RESULTS}/{move['exhibit']}.cells.parquet"
        for checkout, value in ((built, move["before"]), (rerun, move["after"])):
            cells = pq.read_table(checkout.path / source).to_pylist()
            assert value in [c["value"] for c in cells if c["row"] == move["row"]]


def test_diff_tells_code_that_moved_nothing(built, rerun):
    done = built.blimpworks("diff", RESULTS, str(rerun.path / RESULTS))
    assert "Done differently:" in done.stdout
    assert re.search(r"^ +\d+ because of parameter: sample_items ", done.stdout, re.MULTILINE)
