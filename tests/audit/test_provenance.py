"""Records, lineage, the audit of a tree, and finding a cell."""

import hashlib
import json
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from blimpworks.audit.cells import cells_file, find_cell
from blimpworks.audit.check import audit
from blimpworks.audit.explain import Explanation
from blimpworks.audit.lineage import Node, lineage
from blimpworks.commands.registry import code_of, recorded_commands
from blimpworks.errors import UserError
from blimpworks.files import sidecar_path, write_text
from blimpworks.papers.multiblimp.commands import sample_items
from blimpworks.records.job import Job
from blimpworks.records.reading import read_record, record_of
from blimpworks.tables import FUNNEL, METADATA_KEY, write_table

# Records


def funnel(n=1):
    return pa.table({"lang": ["eng"], "stage": ["pairs"], "reason": ["x"], "n": [n]})


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty directory to work in, as a workflow does."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def make(output, inputs=(), n=1, command="sample_items", **params):
    """Run a job that writes a funnel table to ``output``."""
    inputs = [Path(i) for i in inputs]
    with Job(
        recorded_commands()[command], inputs=inputs, outputs=[Path(output)], params=params
    ) as job:
        write_table(funnel(n), FUNNEL, Path(output))
        job.note(counts={"n": n})


@pytest.mark.usefixtures("here")
def test_a_sidecar_says_what_made_the_product_from_what():
    write_text(Path("in.txt"), "input\n")
    make("results/out.parquet", ["in.txt"], seed=7)
    record = json.loads(Path("results/out.parquet.prov.json").read_text("utf-8"))
    sha = hashlib.sha256(b"input\n").hexdigest()
    assert record["inputs"] == [{"path": "in.txt", "sha256": sha, "bytes": 6}]
    (output,) = record["outputs"]
    data = Path("results/out.parquet").read_bytes()
    assert output == {
        "path": "results/out.parquet",
        "sha256": hashlib.sha256(data).hexdigest(),
        "bytes": len(data),
    }
    assert (record["verb"], record["params"]) == ("sample_items", {"seed": 7})
    assert record["code"] == code_of("sample_items")
    assert record["notes"] == {"counts": {"n": 1}}
    assert set(record["packages"]) >= {"python", "pyarrow"}
    assert "blimpworks.papers.multiblimp.items.sampling" in record["sources"]
    assert record["started"] <= record["ended"]
    assert {"git", "host"} <= set(record)


@pytest.mark.usefixtures("here")
def test_a_table_carries_the_deterministic_part_of_its_record():
    write_text(Path("in.txt"), "input\n")
    make("out.parquet", ["in.txt"], seed=7)
    record = read_record(Path("out.parquet.prov.json"))
    embedded = json.loads(pq.read_schema("out.parquet").metadata[METADATA_KEY])
    assert embedded["table"] == "funnel"
    assert embedded["made_by"] == {
        key: record[key] for key in ("verb", "params", "code", "inputs", "packages")
    }


@pytest.mark.usefixtures("here")
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
        with Job(
            recorded_commands()["sample_items"], inputs=[], outputs=[Path("out.parquet")], params={}
        ):
            raise ArithmeticError

    with pytest.raises(ArithmeticError):
        fail()
    assert list(here.iterdir()) == []
    write_table(funnel(), FUNNEL, Path("later.parquet"))
    assert json.loads(pq.read_schema("later.parquet").metadata[METADATA_KEY])["made_by"] is None


@pytest.mark.usefixtures("here")
def test_a_missing_input_stops_a_job_before_it_starts():
    with pytest.raises(UserError, match=r"sample_items: nowhere.txt does not exist"):
        make("out.parquet", ["nowhere.txt"])


@pytest.mark.usefixtures("here")
def test_a_directory_stands_for_its_files_but_not_for_records_and_hidden_ones():
    make("inputs/a")
    for name in ("b", ".hidden"):
        write_text(Path("inputs") / name, name)
    make("out.parquet", ["inputs"])
    inputs = read_record(Path("out.parquet.prov.json"))["inputs"]
    assert [i["path"] for i in inputs] == ["inputs/a", "inputs/b"]


def make_in_two_directories(n=1):
    outputs = [Path("results/items/x.parquet"), Path("results/funnel/x.parquet")]
    with sample_items.job(inputs=[], outputs=outputs, params={}):
        for path in outputs:
            write_table(funnel(n), FUNNEL, path)
    return outputs


@pytest.mark.usefixtures("here")
def test_a_product_in_another_directory_points_to_the_record():
    first, second = make_in_two_directories()
    assert json.loads(sidecar_path(second).read_text("utf-8")) == {
        "record": "results/items/x.parquet.prov.json"
    }
    assert read_record(sidecar_path(second)) == read_record(sidecar_path(first))
    assert [Path(o["path"]) for o in record_of(second)["outputs"]] == [first, second]


@pytest.mark.usefixtures("here")
def test_a_record_made_anew_is_read_anew():
    make("out.parquet", seed=1)
    assert record_of(Path("out.parquet"))["params"] == {"seed": 1}
    make("out.parquet", seed=2)
    assert record_of(Path("out.parquet"))["params"] == {"seed": 2}


# The audit of a tree


@pytest.fixture
def tree(here):
    """results/first made from in.txt, results/second made from results/first."""
    write_text(Path("in.txt"), "input\n")
    make("results/first.parquet", ["in.txt"])
    make("results/deep/second.parquet", ["results/first.parquet"])
    return here / "results"


def problems():
    report = audit(Path("results"))
    products, findings = report.products, report.findings
    return products, [(f.problem, str(f.path)) for f in findings]


FIRST, SECOND = Path("results/first.parquet"), Path("results/deep/second.parquet")
STRANGER = Path("results/deep/stranger.csv")


def alter_a_byte():
    data = bytearray(SECOND.read_bytes())
    data[len(data) // 2] ^= 1
    SECOND.write_bytes(bytes(data))


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda: None, []),
        (alter_a_byte, [("altered", str(SECOND))]),
        (FIRST.unlink, [("missing", str(FIRST))]),
        (lambda: make(FIRST, ["in.txt"], n=2), [("stale", str(SECOND))]),
        (lambda: make(FIRST, ["in.txt"]), []),
        (lambda: write_text(STRANGER, "1\n"), [("unaccounted", str(STRANGER))]),
    ],
    ids=["untouched", "altered", "missing", "stale", "made-anew-the-same", "unaccounted"],
)
def test_a_change_of_a_tree_is_found(change, found):
    change()
    assert problems() == (2, found)


@pytest.mark.parametrize("text", ["{", "[]", "{}"])
def test_a_broken_record_is_unreadable_and_its_product_unaccounted_for(tree, text):
    (tree / "deep" / "second.parquet.prov.json").write_text(text)
    assert problems() == (
        1,
        [
            ("unreadable", "results/deep/second.parquet.prov.json"),
            ("unaccounted", "results/deep/second.parquet"),
        ],
    )


@pytest.mark.usefixtures("here")
def test_a_job_with_products_in_two_directories_is_checked_once():
    make_in_two_directories()
    assert problems() == (2, [])
    Path("results/funnel/x.parquet").write_bytes(b"")
    assert problems() == (2, [("altered", "results/funnel/x.parquet")])


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


def test_a_directory_without_records_is_refused(here):
    with pytest.raises(UserError, match="holds no job records"):
        audit(here)


@pytest.mark.usefixtures("tree")
def test_lineage_leads_from_a_product_to_its_sources():
    nodes = [(str(n.path), n.record is not None) for n in _walk("results/deep/second.parquet")]
    assert nodes == [
        ("results/deep/second.parquet", True),
        ("results/first.parquet", True),
        ("in.txt", False),
    ]


def _walk(product):
    return lineage(Path(product)).walk()


@pytest.mark.usefixtures("here")
def test_lineage_of_a_product_that_is_absent_or_has_no_record_is_refused():
    with pytest.raises(UserError, match=r"absent.parquet does not exist; build it first"):
        lineage(Path("absent.parquet"))
    write_table(funnel(), FUNNEL, Path("orphan.parquet"))
    with pytest.raises(UserError, match="carries no record"):
        lineage(Path("orphan.parquet"))


# Finding a cell

CELLS = pd.DataFrame(
    [
        ("Welsh", "Model A", 1.0, {"lang": "cym", "model": "a"}),
        ("Welsh", "Model B", 2.0, {"lang": "cym", "model": "b"}),
        ("Wolof", "Model A", 3.0, {"lang": "wol", "model": "a"}),
    ],
    columns=["row", "column", "value", "filter"],
).assign(filter=lambda frame: frame["filter"].map(json.dumps))
SOURCE = Path("table5.cells.parquet")


DOUBLED = pd.concat([CELLS, CELLS.assign(column="a")])
RESOURCES = CELLS.assign(column="Resources " + CELLS["column"])


@pytest.mark.parametrize(
    ("cells", "row", "column", "found"),
    [
        (CELLS, "Welsh", "Model B", 2.0),
        (CELLS, "welsh", "b", 2.0),
        (CELLS, "cym", "b", 2.0),
        (DOUBLED, "Wolof", "a", 3.0),
        (RESOURCES, "Wolof", "model a", 3.0),
        (CELLS, "Dutch", "Model A", r"no row 'Dutch'; there are: Welsh, Wolof\."),
        (CELLS, "Wolof", "Model B", r"no column 'Model B'; there are: Model A\."),
        (DOUBLED, "wol", "a", r"means several: Wolof / Model A; Wolof / a\."),
    ],
)
def test_a_cell_is_found_by_name_or_code_else_the_choices_are_listed(cells, row, column, found):
    if isinstance(found, float):
        assert find_cell(cells, row, column, SOURCE)["value"] == found
    else:
        with pytest.raises(UserError, match=found):
            find_cell(cells, row, column, SOURCE)


def test_an_explanation_is_json_also_where_a_cell_has_no_interval():
    cells = CELLS.assign(
        n=pd.Series([3, 4, 5], dtype="int32"), low=[float("nan"), 0.5, 0.5], source="judgements"
    )
    cell = find_cell(cells, "Welsh", "Model A", SOURCE)
    node = Node(SOURCE, "0" * 64, None)
    document = json.loads(Explanation(SOURCE, cell, 1.0, 3, node, []).as_json())["cell"]
    assert (document["n"], document["low"]) == (3, None)
    assert document["filter"] == {"lang": "cym", "model": "a"}


def test_an_exhibit_is_named_by_any_of_its_files():
    for name in ("table5.csv", "table5.tex", "table5.cells.parquet"):
        assert cells_file(Path("x") / name) == Path("x") / SOURCE
