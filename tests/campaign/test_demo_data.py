"""The embedded data: ours, pinned, valid, and made by the program beside it."""

import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest

from blimpworks.campaign.catalogue import load_catalogue
from blimpworks.campaign.load import load_campaign
from blimpworks.files import sha256_of
from support.paths import REPOSITORY

DATA = REPOSITORY / "config/demo/data"
TREEBANKS = sorted(DATA.glob("ud/*/*.conllu"))


@pytest.fixture
def catalogue(at_root):
    return load_catalogue(load_campaign(Path("config/demo/config.yaml")))


def test_every_file_of_the_demo_is_pinned_by_what_it_is(catalogue):
    rows = [*catalogue.sources.values(), *chain.from_iterable(catalogue.treebanks.values())]
    files = {p.relative_to(DATA).as_posix(): p for p in DATA.rglob("*") if p.is_file()}
    pins = {row.mirror: (row.sha256, row.bytes) for row in rows}
    assert pins == {name: (sha256_of(path), path.stat().st_size) for name, path in files.items()}


@pytest.mark.slow
def test_the_authoring_program_writes_the_same_bytes(tmp_path):
    program = REPOSITORY / "config/demo/authoring/build.py"
    subprocess.run([sys.executable, program, "--out", tmp_path], check=True, capture_output=True)
    result = sorted(p for p in tmp_path.rglob("*") if p.is_file())
    assert result
    for path in result:
        assert path.read_bytes() == (DATA / path.relative_to(tmp_path)).read_bytes()


@pytest.mark.parametrize("treebank", TREEBANKS, ids=lambda p: p.stem)
def test_ud_validator_accepts_the_treebanks_at_level_two(treebank):
    lang = treebank.name[:2]
    command = [Path(sys.executable).with_name("udvalidate"), "--lang", lang, "--level", "2"]
    done = subprocess.run([*command, treebank], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert treebank.read_text(encoding="utf-8").count("# sent_id = ") >= 150
