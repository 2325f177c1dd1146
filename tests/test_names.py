import io
import json
import string
import tarfile
import zipfile
from hashlib import sha256
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from blimpworks.benchmarks.entries import Files
from blimpworks.benchmarks.files import local_files, rename_table_path, tables_in
from blimpworks.campaign.catalogue import SourceRow, TreebankRow
from blimpworks.campaign.table_files import read_rows
from blimpworks.errors import UserError
from blimpworks.files import below, relative
from blimpworks.interop.crate.tables import copy_tables
from blimpworks.models.checkpoint import Trained, read_checkpoint, trained_checkpoint
from blimpworks.retrieval.sources import Pin, retrieve
from blimpworks.strict import PathComponent, PerhapsWithin, Within
from support.declared_kit import CSV

HOSTILE = ["", ".", "/", "..", "../x", "../../../x", "a/../../x", "a/..", "/etc/passwd"]
HOSTILE += ["//etc/passwd", "a\0b", "..\\x", "C:\\x", "a\nb", "{lang}", "a{b", "x" * 256, "é" * 128]
PIECES = st.sampled_from([*"./\\\0~a {é", "..", "//", "b.txt", "link"])


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_that_leads_elsewhere_is_refused_everywhere(name, tmp_path):
    with pytest.raises(ValueError, match="must stay below its directory"):
        relative(name)
    with pytest.raises(UserError, match=r"^the row is .*correct the name\.$") as error:
        below(tmp_path, name, "the row")
    assert len(str(error.value)) < 400
    for kind in (Within, PathComponent, *([PerhapsWithin] if name else [])):
        with pytest.raises(ValidationError):
            TypeAdapter(kind).validate_python(name)


@pytest.mark.parametrize(
    "name", ["a", "a/b.txt", "UD_Welsh-CCG/cy.conllu", "a b", "~x", "..a", "é"]
)
def test_a_plain_name_is_the_path_below_its_root(name, tmp_path):
    assert below(tmp_path, name, "the row") == tmp_path / name


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """Make a root with a file, and links out of it and inside it."""
    base = tmp_path_factory.mktemp("trees")
    root = base / "root"
    (root / "a").mkdir(parents=True)
    (base / "secret").write_text("s")
    (root / "a" / "b.txt").write_text("b")
    (root / "link").symlink_to(base)
    (root / "a" / "link").symlink_to("b.txt")
    (root / "loop").symlink_to("loop")
    return root


@given(
    st.lists(PIECES, min_size=1, max_size=8).map("".join) | st.text(string.printable, max_size=9)
)
def test_whatever_is_not_refused_lies_below_the_root(tree, name):
    try:
        path = below(tree, name, "the row")
    except UserError:
        return
    assert path.resolve().is_relative_to(tree.resolve())
    assert ".." not in path.relative_to(tree).parts


def test_a_link_out_of_the_root_is_refused_and_one_inside_is_followed(tree):
    with pytest.raises(UserError, match="a link leads from there"):
        below(tree, "link/secret", "mirror")
    with pytest.raises(UserError, match="correct the name"):
        below(tree, "loop/x", "mirror")
    assert below(tree, "a/link", "mirror").read_text() == "b"


def test_the_root_itself_may_be_a_link(tree, tmp_path):
    linked = tmp_path / "mirror"
    linked.symlink_to(tree)
    assert below(linked, "a/b.txt", "mirror").read_text() == "b"
    assert Path(below(linked, "new/file", "mirror")) == linked / "new/file"


CELLS = {"sha256": "", "bytes": "", "licence": "", "url": "", "version": "", "lang": "eng"}


@pytest.mark.parametrize(
    ("kind", "row"),
    [
        (SourceRow, {"name": "../../../x", "kind": "text", "mirror": "x"}),
        (SourceRow, {"name": "x", "kind": "text", "mirror": "/etc/passwd"}),
        (SourceRow, {"name": "x{lang}", "kind": "text", "mirror": ""}),
        (TreebankRow, {"treebank": "UD_X", "file": "../../x", "commit": "", "mirror": "x"}),
        (TreebankRow, {"treebank": "..", "file": "x", "commit": "", "mirror": "x"}),
        (TreebankRow, {"treebank": "a/b", "file": "x", "commit": "", "mirror": "x"}),
    ],
)
def test_a_row_whose_file_would_leave_its_tree_is_refused_with_its_line(kind, row, tmp_path):
    cells, table = {**CELLS, **row}, tmp_path / "rows.tsv"
    table.write_text("\t".join(cells) + "\n" + "\t".join(cells.values()) + "\n")
    with pytest.raises(UserError, match=r"rows\.tsv:2: column '(name|mirror|file|treebank)' is"):
        read_rows(kind, table)


@pytest.mark.parametrize("mirror", ["../secret", "link/secret", "/etc/passwd"])
def test_a_mirror_gives_nothing_from_outside(mirror, tree, tmp_path):
    pin = Pin("x", "", sha256(b"s").hexdigest(), 1, mirror, "sources.tsv")
    with pytest.raises(UserError, match=r"^sources\.tsv: x: mirror is "):
        retrieve(pin, tmp_path / "x", tree)
    assert not (tmp_path / "x").exists()


def test_a_checkpoint_that_names_files_elsewhere_is_refused(tmp_path):
    (tmp_path / "secret").write_text("s")
    seal = tmp_path / "model" / "checkpoint.json"
    seal.parent.mkdir()
    trained = Trained(recipe="r", settings={}, seed=None, text_sha256="0" * 64)
    described = trained_checkpoint("m", "eng", "ngram", trained)
    files = {"../secret": sha256(b"s").hexdigest()}
    seal.write_text(json.dumps(described.model_dump() | {"files": files}))
    with pytest.raises(UserError, match="a name must stay below its directory"):
        read_checkpoint(seal)


def test_a_table_of_a_crate_is_not_written_outside_of_it(tmp_path):
    outside = Path("results/judgements/../../../pairs/gpt2.parquet")
    behind = pd.DataFrame({"source": ["judgements"], "original": [outside]})
    with pytest.raises(UserError, match="the path in the crate of results/judgements"):
        copy_tables(behind, tmp_path, packed=False)


def archive_of(path, member):
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(member, CSV)
        return
    with tarfile.open(path, "w") as archive:
        info = tarfile.TarInfo(member)
        info.size = len(CSV.encode())
        archive.addfile(info, io.BytesIO(CSV.encode()))


@pytest.mark.parametrize("name", ["a.zip", "a.tar"])
@pytest.mark.parametrize("member", ["../../a.csv", "/tmp/a.csv", "a\\..\\b.csv"])
def test_an_archive_with_members_elsewhere_is_refused(name, member, tmp_path):
    archive_of(tmp_path / name, member)
    with pytest.raises(UserError, match=f"{name}: member .* repack it"):
        [*tables_in(tmp_path / name, name, Files(files=name))]
    archive_of(tmp_path / name, "./in/a.csv")
    [(table, _)] = tables_in(tmp_path / name, name, Files(files=name))
    assert table.text == CSV


def test_a_benchmark_reads_no_file_outside_its_folder(tree):
    (tree / "a" / "out.csv").symlink_to(tree.parent / "secret")
    with pytest.raises(UserError, match=r"a file is 'out\.csv': a link leads from there to"):
        local_files(tree / "a")
    (tree / "a" / "out.csv").unlink()
    assert set(local_files(tree / "a")) == {"b.txt", "link"}
    with pytest.raises(UserError, match=r"a table of 'rename' is '\.\./\.\./secret'"):
        rename_table_path(tree / "a", "../../secret")
