"""Test that files and directories are complete or absent, and that remains are removed."""

import csv
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from shutil import copyfile
from tempfile import NamedTemporaryFile

import pytest
import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, models

from blimpworks import files

WRITER = """
import sys, time
from pathlib import Path
from blimpworks import files
how, path = sys.argv[1], Path(sys.argv[2])
with getattr(files, how)(path if how != "scratch" else path.name) as temporary:
    if how == "atomic":
        temporary.write_text("half")
    else:
        (temporary / "page").write_text("half")
    print(temporary, flush=True)
    time.sleep(60)
"""


def start(how, path):
    """Start a process in the middle of writing ``path``; return it and its temporary path."""
    environment = os.environ | {"TMPDIR": str(path.parent)}
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, how, str(path)],
        stdout=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip
    with writer.stdout:
        return writer, Path(writer.stdout.readline().strip())


def end(writer):
    writer.send_signal(signal.SIGKILL)
    assert writer.wait() == -signal.SIGKILL


def write(how, path, monkeypatch):
    """Write the same product again, in this process."""
    if how == "atomic":
        files.write_text(path, "whole")
    elif how == "scratch":
        monkeypatch.setattr("tempfile.tempdir", str(path.parent))
        with files.scratch(path.name):
            pass
    else:
        with files.whole_directory(path) as temporary:
            (temporary / "page").write_text("whole")


@pytest.mark.parametrize("how", ["atomic", "whole_directory", "scratch"])
def test_a_run_removes_what_a_killed_one_left_but_nothing_of_a_living(how, tmp_path, monkeypatch):
    path = tmp_path / "product"
    living, kept = start(how, path)
    killed, left = start(how, path)
    try:
        end(killed)
        assert left.exists()
        write(how, path, monkeypatch)
        assert not left.exists()
        assert kept.exists()
    finally:
        end(living)
    write(how, path, monkeypatch)
    assert [each.name for each in tmp_path.iterdir()] == (["product"] if how != "scratch" else [])


def test_a_process_of_another_machine_is_not_looked_up_here(tmp_path):
    path = tmp_path / "product"
    ours = re.sub(r"\.[0-9a-f]{8}-", ".01234567-", str(files.temporary_path(path)))
    theirs = Path(ours.replace(f"-{os.getpid()}.", "-4194303."))
    theirs.write_text("half")
    files.write_text(path, "whole")
    assert theirs.exists()
    long_ago = time.time() - files.SILENCE - 60
    os.utime(theirs, (long_ago, long_ago))
    files.write_text(path, "whole")
    assert not theirs.exists()


def test_what_only_has_a_similar_name_stays(tmp_path):
    dead = files.temporary_path(tmp_path / "product").name.replace(str(os.getpid()), "4194303")
    others = [dead.replace(".product.", ".products."), ".product.old.tmp", "product.tmp"]
    for name in others:
        (tmp_path / name).write_text("precious")
    files.write_text(tmp_path / "product", "whole")
    assert {each.name for each in tmp_path.iterdir()} == {"product", *others}


def test_a_scratch_directory_that_is_to_be_kept_outlives_its_process(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_is_dead", lambda _: True)
    for keep in (True, False):
        folder = files.new_scratch("server", tmp_path)
        if keep:
            (folder / files.KEPT).touch()
        files.new_scratch("server", tmp_path)
        assert folder.exists() == keep


def test_an_old_directory_stays_until_the_new_one_is_whole(tmp_path):
    site = tmp_path / "site"
    for text in ("old", "new"):
        with files.whole_directory(site) as folder:
            (folder / f"{text}.html").write_text(text)
            assert not (site / "new.html").exists()
    assert [each.name for each in site.iterdir()] == ["new.html"]
    with pytest.raises(FileNotFoundError), files.whole_directory(site) as folder:
        copyfile(site / "new.html", folder / "nowhere" / "new.html")
    assert [each.name for each in tmp_path.rglob("*")] == ["site", "new.html"]


def fill(path):
    path.write_bytes(bytes(100_000))


def tensors(path):
    save_file({"w": torch.zeros(100_000)}, path)


def tokens(path):
    Tokenizer(models.WordLevel({f"{n}": n for n in range(20_000)}, "0")).save(str(path))


def copied(path):
    with NamedTemporaryFile() as source:
        source.write(bytes(100_000))
        source.flush()
        copyfile(source.name, path)


@pytest.mark.parametrize("write", [fill, tensors, tokens, copied])
def test_a_full_disk_names_the_file_that_did_not_fit(write, small_disk):
    full_disk = pytest.raises(OSError, match="No space left")
    with full_disk as full, files.atomic(small_disk / "x") as path:
        write(path)
    assert (full.value.filename, full.value.filename2) == (str(small_disk / "x"), None)
    (small_disk / "first").write_text("fits")
    time.sleep(0.02)
    second = small_disk / "second"
    full_disk = pytest.raises(OSError, match="No space left")
    with full_disk as full, files.named_errors(small_disk), files.rust_errors(second):
        write(second)
    assert full.value.filename == str(second)
    second.unlink(missing_ok=True)
    folder, full_disk = small_disk / "folder", pytest.raises(OSError, match="No space left")
    with full_disk as full, files.whole_directory(folder) as new, files.rust_errors(new / "page"):
        write(new / "page")
    assert full.value.filename == str(folder / "page")
    assert [each.name for each in small_disk.iterdir()] == ["first"]


def test_cells_of_any_size_are_read_within_its_block_alone():
    row = "x" * 2 * csv.field_size_limit()
    with files.cells_of_any_size():
        assert next(csv.reader([row])) == [row]
    with pytest.raises(csv.Error, match="field limit"):
        next(csv.reader([row]))
