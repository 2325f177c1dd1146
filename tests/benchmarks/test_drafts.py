"""Test declarations guessed from files, and data sets of a hub that become pinned sources."""

import hashlib
import json

import pytest
from huggingface_hub import constants
from typer.testing import CliRunner

from blimpworks.cli import app
from blimpworks.errors import UserError
from support.declared_kit import CSV, PAIRS, declare, jsonl, suite
from support.loopback import COMMIT, serving

GOOD, BAD = "He runs far.", "He run far."
GRAMMAR = "True\tthe dog barks\nFalse\tthe dog bark\nTrue\tthe cat is old\nFalse\tthe cat are old\n"


def made(tmp_path, files, *options):
    """Return the command's output and the declaration without its head."""
    for name, content in files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    words = [*(tmp_path / name for name in files), "--folder", tmp_path / "new", *options]
    words = ["new-benchmark", *map(str, words), "--authors", "Me (2026)"]
    done = CliRunner().invoke(app, words)
    if done.exception:
        return str(done.exception), ""
    text = (tmp_path / "new/benchmark.yaml").read_text(encoding="utf-8")
    return done.output, text.partition("authors: Me (2026)\n")[2]


@pytest.mark.parametrize(
    ("name", "content", "entry", "read"),
    [
        ("p.csv", f"id,type,good_sentence,bad\n1,a,{GOOD},{BAD}\n2,a,I see it.,I sees it.\n",
            "layout: pairs; files: p.csv; good: good_sentence; bad: bad; paradigm: type; id: id",
            "2 pairs"),
        ("p.json", json.dumps([{"meta": {"correctSentence": GOOD, "ungrammatical": BAD}}]),
            "layout: pairs; files: p.json; good: meta.correctSentence; bad: meta.ungrammatical",
            "1 pair"),
        ("p.jsonl", jsonl({"correct": "一本书在桌上。", "wrong": "一只书在桌上。", "lang": "zh"}),
            "layout: pairs; files: p.jsonl; good: correct; bad: wrong; rename: {lang: {zh: zho}}",
            "1 pair"),
        ("g.txt", GRAMMAR,
            "layout: labelled_rows; files: g.txt; format: tsv; columns: [label, sentence]; "
            "sentence: sentence; label: label; good: ['True']; bad: ['False']", "2 pairs"),
        (
            "l.tsv",
            f"pair_id\ttext\tgrammatical\n1\t{GOOD}\t1\n2\tI see.\t1\n1\t{BAD}\t0\n2\tI sees.\t0\n",
            "layout: labelled_rows; files: l.tsv; sentence: text; label: grammatical; good: ['1']; "
            "bad: ['0']; item: pair_id",
            "2 pairs",
        ),
        (
            "s.csv",
            f"sentence,label\n{GOOD},1\nFar ran so he.,0\n{GOOD},1\n",
            "layout: sentences; files: s.csv; sentence: sentence; label: label; acceptable: ['1']; "
            "unacceptable: ['0']",
            "3 sentences",
        ),
        ("c.csv", f"a,b,answer\n{GOOD},{BAD},1\n{BAD},{GOOD},2\n",
            "layout: choices; files: c.csv; first: a; second: b; "
            "right: {column: answer, first: ['1'], second: ['2']}", "2 pairs"),
        ("u.json", json.dumps(suite()), "layout: suites; files: u.json", "1 item"),
    ],
)  # fmt: skip
def test_a_complete_guess_is_read_at_once(tmp_path, name, content, entry, read):
    chinese = name == "p.jsonl"
    said, text = made(tmp_path, {name: content}, "--lang", "zho=Chinese" if chinese else "eng")
    head, data = text.split("data:\n")
    assert head == f"languages: {'{zho: Chinese}' if chinese else '[eng]'}\n"
    assert "; ".join(line[4:] for line in data.splitlines()) == entry
    assert f"new: {read} from 1 file" in said
    assert "not" not in said.splitlines()[0]


def test_files_of_one_kind_are_one_entry(tmp_path):
    csv = f"good,bad\n{GOOD},{BAD}\n"
    _, text = made(tmp_path, {"a.csv": csv, "b.csv": csv}, "--lang", "eng")
    assert "files: [a.csv, b.csv]" in text


@pytest.mark.parametrize(
    ("content", "open_keys"),
    [
        (
            f"one,two\n{GOOD},{BAD}\n",
            {"good": "one or two", "bad": "one or two", "languages": "[zho]"},
        ),
        (f"one,two,label\n{GOOD},{BAD},0\n{BAD},{GOOD},1\n", {"right": "(label has 0 and 1)"}),
        (f"item,cond,np\n1,a,{GOOD}\n", {"regions": "of np", "predictions": "formulas such as"}),
        (f"s,ok,so\n{GOOD},1,0\n{BAD},0,1\n", {"label": "one of ok, so"}),
        (f"s,k\n{GOOD},Plausible\n{BAD},Odd\n", {"label": "one of k", "acceptable": "its values"}),
        ("x,y\nq_a_b_c,2\nr_a_b_c,4\n", {"good": "a column; none looks like it"}),
    ],
)
def test_what_is_not_clear_is_open_with_the_choices(tmp_path, content, open_keys):
    name = "p.csv" if "," in content else "p.txt"
    said, text = made(tmp_path, {name: content})
    last = said.splitlines()[-1]
    assert "new/benchmark.yaml is not complete: set the keys that are comments there" in last
    for key, choices in open_keys.items():
        [line] = [line for line in text.splitlines() if line.strip().startswith(f"# {key}: ")]
        assert choices in line
        assert key in last


@pytest.mark.parametrize(
    ("files", "folder", "error"),
    [
        ({"new/benchmark.yaml": "a: 1"}, "new", "benchmark.yaml exists; name another folder"),
        ({}, "new", "p.csv does not exist; name files with items"),
        ({"p.csv": "a,b\n1,2\n", "new/p.csv": "c,d\n"}, "new", "p.csv is another file; rename one"),
    ],
)
def test_nothing_is_overwritten(tmp_path, files, folder, error):
    (tmp_path / "new").mkdir()
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    words = [tmp_path / "p.csv", "--folder", tmp_path / folder, "--authors", "Me"]
    done = CliRunner().invoke(app, ["new-benchmark", *map(str, words)])
    assert error in str(done.exception)


LARGE = "ab" * 32
LFS = {"sha256": LARGE, "size": 9, "pointerSize": 1}
FILES = [
    {"rfilename": "README.md", "size": 3},
    {"rfilename": "data/test-00000-of-00001.parquet", "size": 9, "lfs": LFS},
    {"rfilename": "data/train-00000-of-00001.parquet", "size": 9, "lfs": LFS},
    {"rfilename": "pairs/test.csv", "size": len(CSV)},
]


@pytest.fixture
def hub(monkeypatch):
    """Serve a hub with a data set, for the hub's library in this process."""
    facts = {"id": "owner/set", "sha": COMMIT, "siblings": FILES}
    facts |= {"cardData": {"license": "cc-by-4.0"}}
    with serving() as server:
        server.pages[f"/datasets/owner/set/resolve/{COMMIT}/pairs/test.csv"] = CSV.encode()
        for blobs in ("true", "True"):  # two spellings of the hub library's HTTP clients
            address = f"/api/datasets/owner/set/revision/main?blobs={blobs}"
            server.pages[address] = json.dumps(facts).encode()
        server.statuses = [404] * 9
        url, usual = f"http://127.0.0.1:{server.server_port}", constants.ENDPOINT
        for name in ("ENDPOINT", "HUGGINGFACE_CO_URL_TEMPLATE"):
            monkeypatch.setattr(constants, name, getattr(constants, name).replace(usual, url))
        yield server


def pin(folder, *options):
    return CliRunner().invoke(app, ["pin-dataset", *options, f"--folder={folder}"])


@pytest.mark.usefixtures("hub")
def test_the_split_of_a_data_set_is_pinned_at_its_commit(tmp_path):
    path = declare(tmp_path / "toy", {"a.csv": CSV}, data=[PAIRS])
    present = {"name": "toy/b.csv", "kind": "toy", "version": "1", "git_blob": COMMIT}
    present |= {"url": f"https://x/{COMMIT}/b.csv", "licence": "CC0-1.0", "mirror": "toy/b.csv"}
    table = dict.fromkeys(("lang", "sha256", "bytes"), "") | present
    text = "".join("\t".join(cells) + "\n" for cells in (table, table.values()))
    (path.parent / "sources.tsv").write_text(text)
    done = pin(path.parent, "owner/set", "--revision=main", "--split=test")
    assert done.exit_code == 0, done.exception
    head, *lines = (path.parent / "sources.tsv").read_text().splitlines()
    rows = [dict(zip(head.split("\t"), line.split("\t"), strict=True)) for line in lines]
    assert rows.pop(0) == table
    assert [(row["name"], row["sha256"]) for row in rows] == [
        ("toy/data/test-00000-of-00001.parquet", LARGE),
        ("toy/pairs/test.csv", hashlib.sha256(CSV.encode()).hexdigest()),
    ]
    assert {(row["version"], row["licence"]) for row in rows} == {(COMMIT, "cc-by-4.0")}
    assert all(f"/{COMMIT}/" in row["url"] for row in rows)
    again = pin(path.parent, "owner/set", "--split=test")
    assert "has a row 'toy/data/test-00000-of-00001.parquet' already" in str(again.exception)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["owner/set", "--split=dev"], "has no file of split 'dev'"),
        (["owner/none"], "owner/none at main is no data set of the hub"),
    ],
)
@pytest.mark.usefixtures("hub")
def test_what_the_hub_lacks_is_one_sentence(tmp_path, options, says):
    done = pin(tmp_path, *options)
    assert isinstance(done.exception, UserError)
    assert says in str(done.exception)
