"""Test records, lineage, the audit of a tree, the search for a cell, and concurrent runs."""

import hashlib
import json
import math
from contextlib import suppress
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from blimpworks.audit import cells as audit_cells
from blimpworks.audit.cells import cells_file, find_cell, find_comparison, read_rows_with_lines
from blimpworks.audit.check import audit
from blimpworks.audit.diff import Cause, compare_runs, load_run
from blimpworks.audit.evidence import TABLE, printed_evidence, token_pieces
from blimpworks.audit.explain import Explanation
from blimpworks.audit.explain_text import as_text
from blimpworks.audit.lineage import Node, is_about, lineage
from blimpworks.audit.stale import ABSENT_VALUE, changed_code, changed_values, planned_jobs
from blimpworks.campaign.registry import papers
from blimpworks.commands.declare import code_of, find_command
from blimpworks.errors import UserError
from blimpworks.files import sidecar_path, write_text
from blimpworks.papers.multiblimp.commands import sample_items
from blimpworks.records.job import Job, Planned, planning
from blimpworks.records.reading import read_record, record_of
from blimpworks.reproduction.printed import read_published
from blimpworks.tables import ACCURACIES, CELLS, FUNNEL, METADATA_KEY, read_table, write_table
from support.forgery import alter_a_byte
from support.paths import REPOSITORY

pytestmark = pytest.mark.usefixtures("here")
RESULTS = Path("results/x")
FIRST, SECOND = Path("results/first.parquet"), Path("results/deep/second.parquet")


def funnel(n=1):
    return pa.table({"lang": ["eng"], "stage": ["pairs"], "reason": ["x"], "n": [n]})


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def make(output, inputs=(), n=1, command="sample_items", **params):
    declared, inputs = find_command(command), [Path(i) for i in inputs]
    with Job(declared, inputs=inputs, outputs=[Path(output)], params=params) as job:
        write_table(funnel(n), FUNNEL, Path(output))
        job.note(counts={"n": n})


def test_a_sidecar_says_what_made_the_product_from_what():
    write_text(Path("in.txt"), "input\n")
    make("results/out.parquet", ["in.txt"], seed=7)
    record = json.loads(Path("results/out.parquet.prov.json").read_text("utf-8"))
    sha = hashlib.sha256(b"input\n").hexdigest()
    assert record["inputs"] == [{"path": "in.txt", "sha256": sha, "bytes": 6}]
    data = Path("results/out.parquet").read_bytes()
    sha = hashlib.sha256(data).hexdigest()
    assert record["outputs"] == [{"path": "results/out.parquet", "sha256": sha, "bytes": len(data)}]
    assert (record["verb"], record["params"]) == ("sample_items", {"seed": 7})
    assert record["code"] == code_of("sample_items")
    assert record["notes"] == {"counts": {"n": 1}}
    assert set(record["packages"]) >= {"python", "pyarrow"}
    assert "blimpworks.papers.multiblimp.items.sampling" in record["sources"]
    assert record["started"] <= record["ended"]
    assert {"git", "host"} <= set(record)


def test_a_table_carries_the_deterministic_part_of_its_record():
    write_text(Path("in.txt"), "input\n")
    make("out.parquet", ["in.txt"], seed=7)
    record = read_record(Path("out.parquet.prov.json"))
    embedded = json.loads(pq.read_schema("out.parquet").metadata[METADATA_KEY])
    assert embedded["table"] == "funnel"
    keys = ("verb", "params", "code", "inputs", "packages")
    assert embedded["made_by"] == {key: record[key] for key in keys}


def test_running_a_job_twice_gives_the_same_bytes_and_another_time():
    write_text(Path("in.txt"), "input\n")
    runs = []
    for _ in range(2):
        make("out.parquet", ["in.txt"])
        runs.append((Path("out.parquet").read_bytes(), read_record(Path("out.parquet.prov.json"))))
    (first, first_record), (second, second_record) = runs
    assert first == second
    differing = {k for k in first_record if first_record[k] != second_record[k]}
    assert differing <= {"started", "ended", "sha256"}


def test_nothing_is_written_when_the_block_raises(here):
    def fail():
        command = find_command("sample_items")
        with Job(command, inputs=[], outputs=[Path("out.parquet")], params={}):
            raise ArithmeticError

    with pytest.raises(ArithmeticError):
        fail()
    assert list(here.iterdir()) == []
    write_table(funnel(), FUNNEL, Path("later.parquet"))
    assert json.loads(pq.read_schema("later.parquet").metadata[METADATA_KEY])["made_by"] is None


def test_a_missing_input_stops_a_job_before_it_starts():
    with pytest.raises(UserError, match=r"sample_items: nowhere.txt does not exist"):
        make("out.parquet", ["nowhere.txt"])


def test_a_directory_stands_for_its_files_but_not_for_records_and_hidden_ones():
    make("inputs/a")
    for name in ("b", ".hidden"):
        write_text(Path("inputs") / name, name)
    make("out.parquet", ["inputs"])
    inputs = read_record(Path("out.parquet.prov.json"))["inputs"]
    assert [i["path"] for i in inputs] == ["inputs/a", "inputs/b"]


def test_a_product_in_another_directory_points_to_the_record_and_is_checked_once():
    first, second = Path("results/items/x.parquet"), Path("results/funnel/x.parquet")
    with sample_items.job(inputs=[], outputs=[first, second], params={}):
        for path in (first, second):
            write_table(funnel(), FUNNEL, path)
    pointer = json.loads(sidecar_path(second).read_text("utf-8"))
    assert pointer == {"record": "results/items/x.parquet.prov.json"}
    assert read_record(sidecar_path(second)) == read_record(sidecar_path(first))
    assert [Path(o["path"]) for o in record_of(second)["outputs"]] == [first, second]
    assert problems() == (2, [])
    second.write_bytes(b"")
    assert problems() == (2, [("altered", str(second))])


@pytest.fixture
def tree(here):
    """Make results/first from in.txt, and results/second from results/first."""
    write_text(Path("in.txt"), "input\n")
    make(FIRST, ["in.txt"], seed=7)
    make(SECOND, [FIRST])
    return here / "results"


def problems():
    report = audit(Path("results"))
    products, findings = report.products, report.findings
    return products, [(f.problem, str(f.path)) for f in findings]


STRANGER = Path("results/deep/stranger.csv")


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda: None, []),
        (lambda: alter_a_byte(SECOND), [("altered", str(SECOND))]),
        (FIRST.unlink, [("missing", str(FIRST))]),
        (lambda: make(FIRST, ["in.txt"], n=2, seed=7), [("stale", str(SECOND))]),
        (lambda: make(FIRST, ["in.txt"], seed=7), []),
        (lambda: write_text(STRANGER, "1\n"), [("unaccounted", str(STRANGER))]),
    ],
    ids=["untouched", "altered", "missing", "stale", "made-again-the-same", "unaccounted"],
)
def test_a_change_of_a_tree_is_found(change, found):
    change()
    assert problems() == (2, found)


def test_a_tree_may_be_named_by_its_whole_path(tree):
    report = audit(tree)
    assert (report.products, report.findings) == (2, [])


def test_a_campaign_may_write_outside_its_directory(here, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("scratch")
    make(f"{elsewhere}/first.parquet")
    make(f"{elsewhere}/second.parquet", [f"{elsewhere}/first.parquet"])
    report = audit(elsewhere)
    assert (report.products, report.findings) == (2, [])
    write_text(elsewhere / "stranger.csv", "1\n")
    ((problem, path),) = [(f.problem, f.path) for f in audit(elsewhere).findings]
    assert (problem, path.resolve()) == ("unaccounted", (elsewhere / "stranger.csv").resolve())


@pytest.mark.parametrize("read", [audit, load_run])
def test_a_directory_without_records_is_refused(here, read):
    with pytest.raises(UserError, match="holds no job records"):
        read(here)


@pytest.mark.usefixtures("tree")
def test_lineage_leads_from_a_product_to_its_sources():
    nodes = [(n.path, n.record is not None) for n in lineage(SECOND).walk()]
    assert nodes == [(SECOND, True), (FIRST, True), (Path("in.txt"), False)]


def test_lineage_of_a_product_that_is_absent_or_has_no_record_is_refused():
    with pytest.raises(UserError, match=r"absent.parquet does not exist; build it first"):
        lineage(Path("absent.parquet"))
    write_table(funnel(), FUNNEL, Path("orphan.parquet"))
    with pytest.raises(UserError, match="has no provenance record"):
        lineage(Path("orphan.parquet"))


SHOWN = pd.DataFrame(
    [
        ("Welsh", "Model A", 1.0, {"lang": "cym", "model": "a"}),
        ("Welsh", "Model B", 2.0, {"lang": "cym", "model": "b"}),
        ("Wolof", "Model A", 3.0, {"lang": "wol", "model": "a"}),
    ],
    columns=["row", "column", "value", "filter"],
).assign(filter=lambda frame: frame["filter"].map(json.dumps))
DOUBLED = pd.concat([SHOWN, SHOWN.assign(column="a")])
SOURCE = Path("table5.cells.parquet")


@pytest.mark.parametrize(
    ("cells", "row", "column", "expected"),
    [
        (SHOWN, "Welsh", "Model B", 2.0),
        (SHOWN, "welsh", "b", 2.0),
        (SHOWN, "cym", "b", 2.0),
        (SHOWN, "Dutch", "Model A", r"no row 'Dutch'; there are: Welsh, Wolof\."),
        (SHOWN, "Wolof", "Model B", r"no column 'Model B'; there are: Model A\."),
        (DOUBLED, "wol", "a", r"means several: Wolof / Model A; Wolof / a\."),
        (DOUBLED, "Wolof", "a", 3.0),
        (SHOWN.assign(column="Resources " + SHOWN["column"]), "Wolof", "model a", 3.0),
    ],
)
def test_a_cell_is_found_by_printed_name_code_or_last_words(cells, row, column, expected):
    if isinstance(expected, float):
        assert find_cell(cells, row, column, SOURCE)["value"] == expected
        return
    with pytest.raises(UserError, match=expected):
        find_cell(cells, row, column, SOURCE)


def test_an_explanation_is_json_also_where_a_cell_has_no_interval():
    cells = SHOWN.assign(
        n=pd.Series([3, 4, 5], dtype="int32"), low=[float("nan"), 0.5, 0.5], source="judgements"
    )
    cell = find_cell(cells, "Welsh", "Model A", SOURCE)
    node = Node(SOURCE, "0" * 64, None)
    document = json.loads(Explanation(SOURCE, cell, 1.0, 3, node, []).as_json())["cell"]
    assert (document["n"], document["low"]) == (3, None)
    assert document["filter"] == {"lang": "cym", "model": "a"}


@pytest.mark.parametrize(
    ("text", "value", "lines"),
    [
        ("0.0123 ± 0.0045", 0.0123, ("95 % interval 0.0078-0.0168", "0.0123 (the same)")),
        ("81.5 %", 81.5, ("95 % interval 0.0-0.0", "81.5 (the same)")),
        ("nan", math.nan, ("95 % interval 0.0-0.0", "nan (the same)")),
    ],
)
def test_an_interval_has_the_decimals_of_its_number_which_may_be_absent(text, value, lines):
    cell = SHOWN.iloc[0].to_dict() | {"text": text, "value": value, "source": "accuracies"}
    cell |= {"low": 0.0078, "high": 0.0168, "formula": "mean of value"}
    explained = as_text(Explanation(SOURCE, cell, value, 3, None))
    assert all(line in explained for line in lines)


def test_a_printed_number_is_found_in_the_file_of_its_own_paper(here):
    for paper, value in (("multip", 1), ("p", 2)):
        lines = "row,column,value,corrected", f"a,x,{value},"
        write_text(here / f"published/{paper}/t.csv", "\n".join(lines) + "\n")
    record = {"inputs": [{"path": f"published/{paper}/t.csv"} for paper in ("multip", "p")]}
    row = {"paper": "p", "exhibit": "t", "row": "a", "column": "x"}
    assert audit_cells.printed_location(record, row) == {"path": "published/p/t.csv", "line": 2}


def test_an_exhibit_is_named_by_any_of_its_files():
    for name in ("table5.csv", "table5.tex", "table5.cells.parquet"):
        assert cells_file(Path("x") / name) == Path("x") / SOURCE


@pytest.mark.parametrize(
    "paper", [name for name, paper in papers().items() if not paper.needs_benchmark]
)
def test_a_printed_accuracy_leads_to_its_own_line_of_the_papers_numbers(paper, tmp_path):
    printed = sorted(REPOSITORY.glob(f"config/published/{paper}/*.csv"))
    output = tmp_path / "accuracies.parquet"
    read_published(printed, paper, output)
    rows = read_table(ACCURACIES, output).to_pandas().sample(5, random_state=1).assign(**{TABLE: 0})
    table = Node(output, "", None, inputs=[Node(path, "", None) for path in printed])
    places = printed_evidence([table], rows)
    for place, origin, accuracy in zip(places, rows["origin"], rows["accuracy"], strict=True):
        numbers_of_file = read_rows_with_lines(Path(place["path"]))
        [number] = [each for each in numbers_of_file if each["line"] == place["line"]]
        assert f"{number['exhibit']}/{number['row']}/{number['column']}" == origin
        value = number["value"] if number["corrected"] is None else number["corrected"]
        assert accuracy in (pytest.approx(value), pytest.approx(value / 100))


def test_pieces_follow_the_offsets_at_which_tokens_end():
    pieces = token_pieces(
        "ab cd.", [7, 8, 9, 1], [2, 5, 6, 6], [-1.0, math.nan, -2.0, -0.5], range(3, 5)
    )
    assert [token["piece"] for token in pieces] == ["ab", " cd", ".", ""]
    assert [token["logprob"] for token in pieces] == [-1.0, None, -2.0, -0.5]
    assert [token["critical"] for token in pieces] == [False, True, False, False]
    # A character of two tokens is shown with the token that completes it.
    pieces = token_pieces("aé", [1, 2, 3], [1, 1, 2], [-1.0, -2.0, -3.0], range(1, 2))
    critical = [(token["piece"], token["critical"]) for token in pieces]
    assert critical == [("a", False), ("", True), ("é", True)]


def test_rows_are_numbered_by_the_line_they_start_on(here):
    text = 'row,value,note\na,1.5,"over\ntwo lines"\nb,,x\nc,2,y\n'
    write_text(here / "t.csv", text)
    rows = list(read_rows_with_lines(here / "t.csv"))
    read = [(row["row"], row["value"], row["line"]) for row in rows]
    assert read == [("a", 1.5, 2), ("b", None, 4), ("c", 2.0, 5)]
    assert [row["line"] for row in read_rows_with_lines(here / "t.csv", row=["b", "c"])] == [4, 5]


def test_a_comparison_row_must_be_the_only_one_meant(here):
    lines = ["paper,exhibit,row,column", "p,table1,a,x", "p,table2,a,x"]
    write_text(here / "t.csv", "\n".join(lines) + "\n")
    place = {"row": "a", "column": "x", "exhibit": "table2"}
    assert find_comparison(here / "t.csv", place)["line"] == 3
    with pytest.raises(UserError, match=r"2 numbers are meant: p table1 a / x; p table2 a / x"):
        find_comparison(here / "t.csv", {"row": "a"})
    with pytest.raises(UserError, match=r"no row 'b'; there are: a\."):
        find_comparison(here / "t.csv", {"row": "b"})


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("r/judgements/b/m/deu.parquet", True),
        ("r/judgements/b/m/eng.parquet", False),
        ("r/items/b/eng.parquet", False),
        ("r/accuracies/b.parquet", True),
    ],
)
def test_what_is_about_another_language_does_not_concern_a_number(path, kept):
    assert is_about(path, frozenset({"eng"})) is not kept


def test_changed_values_are_named_by_their_path():
    before = {"options": {"seed": 0, "limits": [1, 2]}, "old": 1}
    after = {"options": {"seed": 1, "limits": (1, 2)}, "new": "x"}
    changed = {"options.seed": (0, 1), "old": (1, ABSENT_VALUE), "new": (ABSENT_VALUE, "x")}
    assert changed_values(before, after) == changed


OLD = '''LIMIT = 3

def first():
    """Words."""
    return LIMIT

def second():
    return 1
'''


SECOND_RETURNS_TWO = OLD.replace("return 1", "return 2")
REACHED = {("m", "first"), ("m", "LIMIT")}


@pytest.mark.parametrize(
    ("new", "reached", "changed"),
    [
        (SECOND_RETURNS_TWO, None, ["m (second)"]),
        (OLD.replace("LIMIT = 3", "LIMIT = 4"), None, ["m (LIMIT)"]),
        (OLD.replace("Words.", "Other words.") + "# end\n", None, []),
        (SECOND_RETURNS_TWO, REACHED, []),
        (OLD.partition("def second")[0], REACHED, ["m (second)"]),
    ],
)
def test_the_definitions_that_changed_and_are_reached_are_named(new, reached, changed):
    found = changed_code({"m": "1"}, {"m": "2"}, lambda _: OLD, lambda _: new, reached=reached)
    assert found == (changed, [])


def test_a_module_whose_text_is_lost_is_named_with_doubt():
    changed = changed_code({"m": "1", "n": "1"}, {"m": "2"}, lambda _: None, lambda _: OLD)
    assert changed == (["n (no longer used)"], ["m (perhaps)"])


@pytest.mark.usefixtures("tree")
def test_an_input_from_outside_that_changed_makes_its_product_stale_or_is_missing():
    write_text(Path("in.txt"), "other\n")
    audited = audit(Path("results"))
    [finding] = audited.findings
    assert (finding.problem, finding.path) == ("stale", FIRST)
    assert finding.detail.startswith("made from an earlier in.txt (")
    assert audited.downstream == [str(SECOND)]
    Path("in.txt").unlink()
    assert problems() == (2, [("missing", "in.txt")])


@pytest.mark.usefixtures("tree")
def test_other_parameters_and_inputs_in_the_plan_make_a_product_stale():
    product, second = str(FIRST), str(SECOND)
    write_text(Path("more.txt"), "more\n")
    with planning() as planned:
        for output, inputs, params in (
            (product, ["in.txt", "more.txt"], {"seed": 7, "limit": 2}),
            (second, [product], {}),
        ):
            with suppress(Planned):
                make(output, inputs, **params)
    audited = audit(Path("results"), {str(job.outputs[0]): job for job in planned})
    assert [(f.problem, str(f.path), f.detail) for f in audited.findings] == [
        ("stale", product, "parameters have changed: limit is now 2, was absent"),
        ("stale", product, "the campaign now makes it from more.txt too"),
    ]
    assert (audited.planned, audited.jobs) == (2, 2)


def numbers(results, source, values):
    """Run a job that writes the cells of an exhibit, one row per language."""
    path = results / "exhibits/p/table.cells.parquet"
    columns = dict.fromkeys(CELLS.names, [None] * len(values))
    rows = {"row": [*values], "column": ["n"] * len(values), "value": [*values.values()]}
    rows |= {"text": [f"{value:g}" for value in values.values()]}
    rows |= {"filter": [f'{{"lang": "{lang}"}}' for lang in values]}
    params = {"labels": {"languages": {lang: lang for lang in values}}}
    command = find_command("build_exhibit multiblimp/table2")
    with Job(command, inputs=source, outputs=[path], params=params):
        write_table(pa.table(columns | rows, schema=CELLS.arrow()), CELLS, path)


def campaign(results, deu, eng, seed=1, **params):
    """Write items of two languages, and a table that counts them."""
    for lang, n, settings in (("deu", deu, {"seed": seed}), ("eng", eng, {"seed": 1})):
        make(results / f"items/p/{lang}.parquet", n=n, **settings, **params)
    sources = [results / f"items/p/{lang}.parquet" for lang in ("deu", "eng")]
    numbers(results, sources, {"deu": float(deu), "eng": float(eng)})


@pytest.mark.parametrize(
    ("numbers_of_b", "params", "causes", "reasons"),
    [
        ((5, 7), {"note": "another"}, ['sample_items note: absent → "another"'], []),
        ((6, 7), {"seed": 2}, ["sample_items seed: 1 → 2"], ["parameter: sample_items seed: 1"]),
        ((6, 7), {}, [], ["unexplained: results/items/p/deu.parquet: same inputs, code, "]),
    ],
    ids=["no-data-changed", "its-own-language", "no-known-reason"],
)
def test_causes_without_effects_and_effects_without_causes(numbers_of_b, params, causes, reasons):
    campaign(Path("a"), 5, 7)
    campaign(Path("b"), *numbers_of_b, **params)
    compared = compare_runs(Path("a"), Path("b"))
    assert [cause.text for cause in compared.causes] == causes
    found = [f"{cause.category}: {cause.text}" for move in compared.moves for cause in move.causes]
    assert [text[: len(reason)] for text, reason in zip(found, reasons, strict=True)] == reasons
    assert compared.same == 2 - len(reasons)


def test_numbers_that_are_infinite_in_both_runs_have_not_changed():
    for run in (Path("a"), Path("b")):
        make(run / "items/p/deu.parquet")
        numbers(run, [run / "items/p/deu.parquet"], {"deu": float("inf")})
    compared = compare_runs(Path("a"), Path("b"))
    assert (compared.same, compared.moves) == (1, [])


def test_a_language_that_only_one_run_has_is_named():
    campaign(Path("a"), 5, 7)
    campaign(Path("b"), 5, 7)
    make(Path("b/items/p/fra.parquet"))
    sources = [Path(f"b/items/p/{lang}.parquet") for lang in ("deu", "eng", "fra")]
    numbers(Path("b"), sources, {"deu": 5.0, "eng": 7.0, "fra": 1.0})
    compared = compare_runs(Path("a"), Path("b"))
    assert Cause("input", "fra only in B") in compared.causes
    assert compared.only == {"A": {}, "B": {"exhibits/p/table": 1}}


def test_a_run_in_another_directory_has_the_same_keys(here):
    campaign(RESULTS, 1, 2)
    write_text(here / "in.txt", "input\n")
    make("resources/y/sources/deu.parquet", ["in.txt"])
    make(RESULTS / "items/p/all/deu.parquet", ["resources/y/sources/deu.parquet"])
    run = load_run(here / RESULTS)
    assert (run.recorded, run.base) == ("results/x", here)
    assert {"results/items/p/deu.parquet", "resources/sources/deu.parquet"} <= {*run.jobs}
    (here / RESULTS).rename(here / "kept")
    moved = load_run(here / "kept")
    assert moved.base is None
    assert "results/items/p/deu.parquet" in moved.jobs
    assert moved.file("results/x/items/p/deu.parquet") == here / "kept/items/p/deu.parquet"


def test_a_part_of_a_results_tree_is_no_run(here):
    campaign(RESULTS, 1, 2)
    (here / RESULTS / "items/p/deu.parquet.prov.json").rename(here / "x.parquet.prov.json")
    with pytest.raises(UserError, match="expected a whole results tree"):
        load_run(here)


def test_a_campaign_file_that_is_not_there_has_no_plan(tmp_path):
    with pytest.raises(UserError, match=r"nowhere\.yaml does not exist; expected a campaign file"):
        planned_jobs(tmp_path / "nowhere.yaml", print)
