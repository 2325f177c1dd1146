"""Digests, records, the audit of a tree, and finding a cell."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from blimpworks.errors import UserError
from blimpworks.files import write_text
from blimpworks.provenance.check import check_tree
from blimpworks.provenance.digest import code_digest, reachable
from blimpworks.provenance.explain import cells_file, find_cell
from blimpworks.provenance.lineage import lineage, read_record
from blimpworks.provenance.record import Job, sidecar_path
from blimpworks.provenance.verbs import VERBS, verb_code
from blimpworks.tables import FUNNEL, METADATA_KEY, write_table

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "blimpworks"

# A small package inside the package: what `entry` reaches, and what it doesn't.
MODULES = {
    "sample/__init__.py": "from blimpworks.sample.tools import reexported\n",
    "sample/main.py": '''"""Entry."""
from blimpworks import sample
from blimpworks.sample import tools
from blimpworks.sample import reexported
from blimpworks.sample.tools import CONSTANT, Base

def entry(x):
    """Do it."""
    from blimpworks.sample.late import late
    return helper(x) + late() + tools.by_module() + sample.reexported() + CONSTANT

def helper(x):
    return Child().run(x)

class Child(Base):
    """A class."""

    field: int = 1
    """Its field."""

def unreachable():
    return 1
''',
    "sample/tools.py": """CONSTANT = 1

class Base:
    def run(self, x):
        return deep(x)

def deep(x):
    return x

def by_module():
    return 2

def reexported():
    return 3

def unreachable():
    return 4

REGISTRY = {}
REGISTRY.update(a=1)
""",
    "sample/late.py": "def late():\n    return 5\n",
    "sample/alone.py": "def alone():\n    return 6\n",
}


@pytest.fixture
def digest_after(tmp_path):
    """Digest of ``sample.main:entry`` in a copy of the package after (module, old, new) edits."""
    root = tmp_path / "src" / "blimpworks"
    (root / "sample").mkdir(parents=True)
    (root / "provenance").mkdir()
    for name in ("__init__.py", "provenance/__init__.py", "provenance/digest.py"):
        shutil.copy(PACKAGE / name, root / name)

    def digest(*edits):
        for name, text in MODULES.items():
            (root / name).write_text(text)
        for name, old, new in edits:
            path = root / "sample" / f"{name}.py"
            assert old in path.read_text()
            path.write_text(path.read_text().replace(old, new))
        code = "from blimpworks.provenance.digest import code_digest as d; "
        done = subprocess.run(
            [sys.executable, "-c", code + "print(d('blimpworks.sample.main:entry'))"],
            env={**os.environ, "PYTHONPATH": str(root.parent)},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    return digest


@pytest.mark.parametrize(
    "edits",
    [
        [("main", "def helper(x):\n", "def helper(x):\n    # a comment\n")],
        [("main", '"""Do it."""', '"""Do it otherwise."""')],
        [("main", '    """Its field."""\n', "")],
        [("main", "return helper(x) +", "return (\n        helper( x ) )+")],
        [("main", "def unreachable():\n    return 1", "def unreachable():\n    return 0")],
        [("tools", "return 4", "return 0")],
        [("alone", "return 6", "return 0")],
    ],
    ids=["comment", "docstring", "attribute", "format", "unused", "unused-there", "elsewhere"],
)
def test_an_edit_that_changes_no_number_keeps_the_digest(digest_after, edits):
    assert digest_after(*edits) == digest_after()


@pytest.mark.parametrize(
    "edit",
    [
        ("main", "return helper(x)", "return 1 + helper(x)"),
        ("main", "Child().run(x)", "Child().run(-x)"),
        ("main", "field: int = 1", "field: int = 2"),
        ("tools", "return x", "return x + 1"),
        ("tools", "CONSTANT = 1", "CONSTANT = 2"),
        ("tools", "return 2", "return 20"),
        ("tools", "return 3", "return 30"),
        ("tools", "update(a=1)", "update(a=2)"),
        ("late", "return 5", "return 50"),
    ],
    ids=[
        "entry",
        "helper",
        "field",
        "base-class-method",
        "constant",
        "module-attribute",
        "reexport",
        "statement-of-a-reached-module",
        "late-import",
    ],
)
def test_an_edit_that_can_change_a_number_changes_the_digest(digest_after, edit):
    assert digest_after(edit) != digest_after()


def test_an_entry_point_that_does_not_exist_is_refused():
    with pytest.raises(KeyError, match="defines no 'nothing'"):
        code_digest("blimpworks.files:nothing")
    with pytest.raises(ModuleNotFoundError, match=r"blimpworks\.nowhere"):
        code_digest("blimpworks.nowhere:nothing")


def test_records_messages_and_the_command_line_decide_no_number():
    modules = {module for module, _ in reachable("blimpworks.multiblimp.pairs:build_pairs")}
    assert "blimpworks.multiblimp.swaps" in modules
    assert not [m for m in modules if m.startswith(("blimpworks.provenance", "blimpworks.cli"))]


@pytest.mark.parametrize(
    "verb", [v for v in VERBS if not v.startswith(("collect", "judge", "comp"))]
)
def test_every_verb_of_the_present_modules_has_code(verb):
    assert len(verb_code(verb)) == 16


# Records


def funnel(n=1):
    return pa.table({"lang": ["eng"], "stage": ["pairs"], "reason": ["x"], "n": [n]})


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty directory to work in, as a workflow does."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def make(output, inputs=(), n=1, verb="sample_items", **params):
    """Run a job that writes a funnel table to ``output``."""
    inputs = [Path(i) for i in inputs]
    with Job(verb, inputs=inputs, outputs=[Path(output)], params=params) as job:
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
    assert record["code"] == verb_code("sample_items")
    assert record["notes"] == {"counts": {"n": 1}}
    assert set(record["packages"]) >= {"python", "pyarrow"}
    assert "blimpworks.multiblimp.sampling" in record["sources"]
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
    found = []
    for _ in range(2):
        make("out.parquet", ["in.txt"])
        found.append((Path("out.parquet").read_bytes(), read_record(Path("out.parquet.prov.json"))))
    (first, one), (second, two) = found
    assert first == second
    assert {k for k in one if one[k] != two[k]} <= {"started", "ended"}


@pytest.mark.usefixtures("here")
def test_a_table_written_outside_a_job_names_no_maker():
    write_table(funnel(), FUNNEL, Path("out.parquet"))
    assert json.loads(pq.read_schema("out.parquet").metadata[METADATA_KEY])["made_by"] is None


def test_nothing_is_written_when_the_block_raises(here):
    def fail():
        with Job("sample_items", inputs=[], outputs=[Path("out.parquet")], params={}):
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
    for name in ("b", "a", ".hidden", "a.prov.json"):
        write_text(Path("inputs") / name, name)
    make("out.parquet", ["inputs"])
    inputs = read_record(Path("out.parquet.prov.json"))["inputs"]
    assert [i["path"] for i in inputs] == ["inputs/a", "inputs/b"]


# The audit of a tree


@pytest.fixture
def tree(here):
    """results/first made from in.txt, results/second made from results/first."""
    write_text(Path("in.txt"), "input\n")
    make("results/first.parquet", ["in.txt"])
    make("results/deep/second.parquet", ["results/first.parquet"])
    return here / "results"


def problems():
    products, findings = check_tree(Path("results"))
    return products, [(f.problem, str(f.path)) for f in findings]


@pytest.mark.usefixtures("tree")
def test_an_untouched_tree_is_as_recorded():
    assert problems() == (2, [])


def test_one_altered_byte_is_found(tree):
    path = tree / "deep" / "second.parquet"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    assert problems() == (2, [("altered", "results/deep/second.parquet")])


def test_a_missing_product_is_found(tree):
    (tree / "first.parquet").unlink()
    assert problems() == (2, [("missing", "results/first.parquet")])


@pytest.mark.usefixtures("tree")
def test_a_product_of_an_input_that_was_made_anew_is_stale():
    make("results/first.parquet", ["in.txt"], n=2)
    assert problems() == (2, [("stale", "results/deep/second.parquet")])


@pytest.mark.usefixtures("tree")
def test_an_input_made_anew_with_the_same_content_makes_nothing_stale():
    make("results/first.parquet", ["in.txt"])
    assert problems() == (2, [])


@pytest.mark.usefixtures("tree")
def test_a_file_without_a_record_is_unaccounted_for():
    write_text(Path("results/deep/stranger.csv"), "1\n")
    assert problems() == (2, [("unaccounted", "results/deep/stranger.csv")])


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


def test_a_directory_without_records_is_refused(here):
    with pytest.raises(UserError, match="holds no job records"):
        check_tree(here)


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


@pytest.mark.parametrize(("row", "column"), [("Welsh", "Model B"), ("welsh", "b"), ("cym", "b")])
def test_a_cell_is_found_by_printed_name_or_code(row, column):
    assert find_cell(CELLS, row, column, SOURCE)["value"] == 2.0


def test_an_unknown_row_lists_the_rows():
    with pytest.raises(UserError, match=r"no row 'Dutch'; there are: Welsh, Wolof\."):
        find_cell(CELLS, "Dutch", "Model A", SOURCE)


def test_an_unknown_column_lists_the_columns_of_that_row():
    with pytest.raises(UserError, match=r"no column 'Model B'; there are: Model A\."):
        find_cell(CELLS, "Wolof", "Model B", SOURCE)


def test_a_name_that_means_several_cells_lists_them():
    doubled = pd.concat([CELLS, CELLS.assign(column="a")])
    with pytest.raises(UserError, match=r"means several: Wolof / Model A; Wolof / a\."):
        find_cell(doubled, "wol", "a", SOURCE)
    assert find_cell(doubled, "Wolof", "a", SOURCE)["column"] == "a"


@pytest.mark.parametrize("name", ["table5.csv", "table5.tex", "table5.cells.parquet"])
def test_an_exhibit_is_named_by_any_of_its_files(name):
    assert cells_file(Path("x") / name) == Path("x") / SOURCE


def test_the_record_lies_beside_the_first_product():
    assert sidecar_path(Path("x/y.parquet")) == Path("x/y.parquet.prov.json")
