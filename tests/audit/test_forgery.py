"""Test which edits of products and records the audit notices, also in files it need not read."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from blimpworks.audit import check as checking
from blimpworks.audit.check import HASH_FILE, HashCache, audit
from blimpworks.audit.stale import LONGEST_COMMAND, command_lines
from blimpworks.cli import run_here
from blimpworks.commands.declare import find_command
from blimpworks.errors import UserError
from blimpworks.files import write_text
from blimpworks.records.job import Job
from blimpworks.records.reading import read_record, records_below, root_hash
from support.crate_kit import build_results, run
from support.forgery import embellished, forge, rewrite

FIRST = Path("results/a.txt")
TABLE = Path("results/exhibits/multiblimp/table5.csv")
PARTS = {"host": {"platform": "another"}, "git": {"commit": "0" * 40, "clean": True}}
PARTS |= {"packages": {"numpy": "1.0"}, "sources": {}, "notes": {"counts": {"n": 7}}}
PARTS |= {"params": {"seed": 2}, "started": "2001-01-01T00:00:00+00:00"}


def write(output, *inputs, content="x\n", **params):
    command = find_command("sample_items")
    paths = [Path(path) for path in inputs]
    with Job(command, inputs=paths, outputs=[Path(output)], params=params):
        write_text(Path(output), content)


@pytest.fixture
def chain(tmp_path, monkeypatch):
    """Make results/c.txt from results/b.txt, and that from results/a.txt."""
    monkeypatch.chdir(tmp_path)
    write("results/a.txt", seed=1)
    write("results/b.txt", "results/a.txt")
    write("results/c.txt", "results/b.txt")


@pytest.fixture
def exhibit(tmp_path, monkeypatch):
    """Write a small campaign's results, up to Table 5."""
    monkeypatch.chdir(tmp_path)
    build_results(Path("results"))


def findings(**how):
    return {(f.problem, str(f.path)) for f in audit(Path("results"), **how).findings}


@pytest.mark.usefixtures("chain")
@pytest.mark.parametrize("part", PARTS)
def test_an_edited_part_of_a_record_shows_also_when_its_own_hash_is_mended(part):
    sidecar = Path("results/a.txt.prov.json")
    record = json.loads(sidecar.read_text())
    sidecar.write_text(json.dumps(record | {part: PARTS[part]}))
    assert ("edited", str(sidecar)) in findings()
    rewrite(sidecar, lambda record: record.update({part: PARTS[part]}))
    [finding] = [f for f in audit(Path("results")).findings if f.problem == "edited"]
    assert finding.path == sidecar
    assert finding.detail.endswith("since results/b.txt was made from results/a.txt")


@pytest.mark.usefixtures("chain")
def test_a_record_without_a_hash_of_itself_is_named():
    sidecar = Path("results/c.txt.prov.json")
    record = json.loads(sidecar.read_text())
    del record["sha256"]
    sidecar.write_text(json.dumps(record))
    assert findings() == {("edited", str(sidecar))}


@pytest.mark.usefixtures("chain")
@pytest.mark.parametrize("name", ["a", "b", "c"])
def test_any_edit_of_any_record_changes_the_hash_of_the_results(name):
    before = root_hash(records_below(Path("results")).values())
    assert audit(Path("results")).root_hash == before
    rewrite(Path(f"results/{name}.txt.prov.json"), lambda record: record["host"].update(name="x"))
    assert root_hash(records_below(Path("results")).values()) != before


DAMAGE = {
    "no bytes": lambda r: r | {"outputs": [{k: r["outputs"][0][k] for k in ("path", "sha256")}]},
    "no outputs": lambda r: r | {"outputs": []},
    "null inputs": lambda r: r | {"inputs": None},
    "null input": lambda r: r | {"inputs": [None]},
    "empty code": lambda r: r | {"code": ""},
    "code that is a list": lambda r: r | {"code": ["x"]},
    "points at itself": lambda _: {"record": "results/b.txt.prov.json"},
    "points at nothing": lambda _: {"record": "results/none.prov.json"},
    "points at a number": lambda _: {"record": 7},
    "no verb": lambda r: {name: r[name] for name in r if name != "verb"},
    "no host": lambda r: r | {"host": {}},
    "NUL in a path": lambda r: r | {"outputs": [r["outputs"][0] | {"path": "a\0b"}]},
    "a list": lambda _: [],
    "a text": lambda _: "record",
}


@pytest.mark.usefixtures("chain")
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_record_is_named_and_the_check_goes_on(damage):
    sidecar = Path("results/b.txt.prov.json")
    record = json.loads(sidecar.read_text())
    sidecar.write_text(json.dumps(DAMAGE[damage](record)))
    Path("results/c.txt").write_text("altered\n")
    by_problem = {f.problem: f for f in audit(Path("results")).findings}
    assert {"unreadable", "altered", "unaccounted"} <= by_problem.keys()
    assert "damaged record" in by_problem["unreadable"].detail
    assert "Traceback" not in run("check", "results")


@pytest.mark.usefixtures("chain")
def test_the_command_counts_what_was_made_from_damaged_files_and_is_sound():
    Path("results/a.txt").write_text("altered\n")
    said = run("check", "results")
    assert "altered: results/a.txt: SHA-256 is " in said
    assert "Intact products that were made from these files: 2" in said


@pytest.mark.usefixtures("chain")
def test_a_job_refuses_an_input_that_is_not_what_its_own_job_wrote():
    Path("results/b.txt").write_text("y\n")
    with pytest.raises(UserError, match=r"^results/b.txt is not what its job wrote: its SHA-256"):
        write("results/d.txt", "results/b.txt")
    assert not Path("results/d.txt").exists()


@pytest.mark.usefixtures("chain")
def test_people_may_fill_in_what_a_job_wrote_for_them():
    Path("results/b.txt").write_text("filled in\n")
    command = find_command("read_annotations")
    sheet, output = Path("results/b.txt"), Path("results/d.txt")
    with Job(command, inputs=[sheet], outputs=[output], params={}, edited=[sheet]):
        write_text(output, "read\n")
    assert read_record(Path("results/d.txt.prov.json"))["input_records"] == {}


@pytest.fixture
def key(tmp_path):
    """Make an SSH key and a file of allowed signers; return the key's path."""
    path = tmp_path / "keys/key"
    path.parent.mkdir()
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)]
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL)
    allowed = f"ada@example.org {path.with_suffix('.pub').read_text()}"
    (path.parent / "signers").write_text(allowed)
    return path


signing = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="OpenSSH is not installed")


@signing
@pytest.mark.usefixtures("chain")
def test_a_signature_names_its_signer_until_any_record_is_edited(key):
    signers = key.parent / "signers"
    with pytest.raises(UserError, match=r"results.root.sig does not exist"):
        run("check", "results", "--signers", signers)
    assert "Signed: " in run("check", "results", "--sign", key)
    assert "Signed by ada@example.org." in run("check", "results", "--signers", signers)
    others = key.parent / "others"
    others.write_text("bob@example.org ssh-ed25519 " + "A" * 68 + "\n")
    with pytest.raises(UserError, match="ssh-keygen -Y find-principals: "):
        run("check", "results", "--signers", others)
    rewrite(Path("results/c.txt.prov.json"), lambda record: record["host"].update(name="x"))
    assert findings() == set()
    with pytest.raises(UserError, match=r"^ssh-keygen -Y verify: .*incorrect signature"):
        run("check", "results", "--signers", signers)


@signing
@pytest.mark.usefixtures("chain")
def test_what_is_not_as_recorded_is_not_signed(key):
    Path("results/c.txt").write_text("altered\n")
    with pytest.raises(UserError, match=r"^results was not signed"):
        run("check", "results", "--sign", key)
    assert not Path("results.root").exists()


@pytest.mark.usefixtures("exhibit")
def test_an_untouched_campaign_is_made_again_as_it_is_elsewhere():
    def state():
        files = [path for path in Path().rglob("*") if path.is_file()]
        return {p: (p.read_bytes(), p.stat().st_mtime_ns) for p in files}

    before = state()
    audited = audit(Path("results"), run=run_here)
    assert state() == before
    assert audited.findings == []
    # Scores, judgements and accuracies, and an exhibit's cells and three texts.
    assert audited.repeated.files == 7
    assert audited.repeated.left_out == 2 + len([*Path("results/store").rglob("shards/*")])


@pytest.mark.usefixtures("exhibit")
def test_a_forged_number_is_noticed_when_it_is_made_again_though_all_hashes_agree():
    forge(TABLE, embellished)
    assert findings() == set()
    assert findings(run=run_here) == {("altered", str(TABLE))}


@pytest.mark.usefixtures("exhibit")
def test_a_forged_command_line_runs_only_cheap_commands_and_writes_nowhere_else(tmp_path):
    sidecar = Path("results/exhibits/multiblimp/table5.cells.parquet.prov.json")
    words = json.loads(sidecar.read_text())["arguments"]
    target = tmp_path / "elsewhere/table5.csv"
    forged = ["export", "crate", "results", str(target), "--campaign", "small.yaml"]
    rewrite(sidecar, lambda record: record.update(arguments=forged))
    assert findings(run=run_here) == set()
    assert str(TABLE) in words
    swapped = [str(target) if word == str(TABLE) else word for word in words]
    rewrite(sidecar, lambda record: record.update(arguments=swapped))
    assert findings(run=run_here) == {("altered", str(TABLE))}
    assert not target.parent.exists()


@pytest.mark.usefixtures("exhibit")
def test_explain_reads_the_file_that_it_is_given_and_notices_another_number():
    cell = ("--row", "English", "--column", "3-gram")
    text = TABLE.read_text()
    assert "English / 3-gram = " in run("explain", TABLE, *cell)
    TABLE.write_text(embellished(text))
    with pytest.raises(UserError, match=rf"^{TABLE} is not what its job wrote"):
        run("explain", TABLE, *cell)
    TABLE.write_text(text)
    forge(TABLE, embellished)
    with pytest.raises(UserError, match=rf"^{TABLE} has 95.5 in row English, column 3-gram, but"):
        run("explain", TABLE, *cell)


@pytest.fixture
def checked(chain, monkeypatch):
    """Check the chain once."""
    monkeypatch.setattr(checking, "SETTLED", -1)  # the files are younger than `check` trusts
    assert check().unread == 0


def check():
    memory = HashCache()
    result = audit(Path("results"), hash_cache=memory)
    memory.save()
    return result


def problems(result):
    return [(f.problem, str(f.path)) for f in result.findings]


def test_untouched_files_are_not_read_again(checked):
    result = check()
    assert (problems(result), result.unread) == ([], 3)


def test_an_edit_that_keeps_size_and_date_is_noticed(checked):
    times = FIRST.stat()
    FIRST.write_text("y\n")
    os.utime(FIRST, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert FIRST.stat().st_mtime_ns == times.st_mtime_ns
    assert problems(check()) == [("altered", "results/a.txt")]


def test_a_forged_memory_deceives_no_full_check(checked, capsys):
    FIRST.write_text("forged\n")
    about = FIRST.stat()
    state = f"{about.st_size} {about.st_ino} {about.st_mtime_ns} {about.st_ctime_ns}"
    memory = HASH_FILE.read_text().split('"results/a.txt": "')[1].split('"')[0]
    forged = f"{state} {memory.rpartition(' ')[2]}"
    HASH_FILE.write_text(HASH_FILE.read_text().replace(memory, forged))
    assert problems(check()) == []
    run_here(["check", "results", "--full"])
    assert "altered: results/a.txt" in capsys.readouterr().out


@pytest.mark.parametrize("damage", ["", "[]", '{"results/a.txt": 7}', '{"results/a.txt": "1 2"}'])
def test_a_damaged_memory_is_none(checked, damage):
    HASH_FILE.write_text(damage)
    assert problems(check()) == []


def test_files_that_may_change_within_a_tick_of_the_clock_are_read_again(checked, monkeypatch):
    monkeypatch.setattr(checking, "SETTLED", 10**18)
    HASH_FILE.unlink()
    assert check().unread == check().unread == 0


def test_more_products_than_a_command_line_can_name_are_taken_over_in_parts():
    names = [f"results/exhibits/table-{number:06d}.csv" for number in range(100_000)]
    parts = [*command_lines(names)]
    assert len(parts) > 1
    assert [name for part in parts for name in part] == names
    assert all(sum(len(name) + 1 for name in part) <= LONGEST_COMMAND for part in parts)
    assert [*command_lines([])] == []
