"""A campaign's files and models in one tar, and what another machine makes of it."""

import hashlib
import io
import shutil
import tarfile
from pathlib import Path

import pytest
from huggingface_hub import constants
from typer.testing import CliRunner

from blimpworks.campaign.catalogue import load_catalogue
from blimpworks.campaign.load import load_campaign
from blimpworks.campaign.parts import every_part
from blimpworks.campaign.reference import groups_of_models
from blimpworks.campaign.retrieved import read_files
from blimpworks.cli import app
from blimpworks.errors import UserError
from blimpworks.models.checkpoint import Checkpoint, Retrieved, seal
from blimpworks.models.retrieve import HubModel, retrieve_model
from blimpworks.models.sources_pack import unpack_sources
from blimpworks.retrieval.sources import Pin, retrieve
from support.paths import REPOSITORY

COMMIT = "0123456789abcdef0123456789abcdef01234567"
MODEL = {"config.json": b'{"model_type": "llama"}', "model.safetensors": bytes(8) + b"{}"}
CAMPAIGN = """
campaign: tiny
catalogue:
  treebanks: config/treebanks.tsv
  sources: config/demo/sources.tsv
  models: config/models.tsv
benchmarks: [multiblimp]
languages: [eng]
models: [tiny]
"""


def pins(campaign, catalogue, parts):
    """What the campaign retrieves, with one file that only its git blob pins."""
    for row in read_files(campaign, catalogue, parts):
        table = str(catalogue.tables.get(row.name, campaign.catalogue.treebanks))
        yield Pin(row.name, "", row.sha256, row.bytes, row.mirror, table, row.git_blob)


@pytest.fixture
def read(monkeypatch, tmp_path):
    """A function that reads the tiny campaign: in a directory of its own."""
    monkeypatch.chdir(tmp_path)
    Path("config").mkdir()
    Path("tiny.yaml").write_text(CAMPAIGN)
    first, *lines = (REPOSITORY / "config/models.tsv").read_text().splitlines()
    cells = dict(zip(first.split("\t"), lines[0].split("\t"), strict=True))
    cells |= {"name": "tiny", "papers": "", "hf_id": "lab/tiny", "gated": "no"}
    cells |= {"engine": "transformers", "dtype": "float32", "revision": "main"}
    Path("config/models.tsv").write_text(f"{first}\n" + "\t".join(cells.values()) + "\n")
    demo = (REPOSITORY / "config/demo/treebanks.tsv").read_text().splitlines()
    first, *rows = [
        line.split("\t") for line in demo if "\teng\t" in f"\t{line}" or "lang\t" in line
    ]
    rows = [dict(zip(first, row, strict=True)) | {"git_blob": ""} for row in rows]
    content = (REPOSITORY / "config/demo/data" / rows[0]["mirror"]).read_bytes()
    head = f"blob {len(content)}\0".encode()
    rows[0] |= {
        "sha256": "",
        "git_blob": hashlib.sha1(head + content, usedforsecurity=False).hexdigest(),
    }
    Path("config/treebanks.tsv").write_text(
        "".join("\t".join(cells) + "\n" for cells in (rows[0].keys(), *(r.values() for r in rows)))
    )

    def load():
        campaign = load_campaign(Path("tiny.yaml"))
        catalogue = load_catalogue(campaign)
        return (
            campaign,
            catalogue,
            every_part(campaign, catalogue, groups_of_models(campaign, catalogue)),
        )

    return load


def have(read):
    """Retrieve all that the campaign needs, from the demo's data; the model is put there."""
    for pin in pins(*read()):
        retrieve(pin, Path("resources/sources", pin.name), REPOSITORY / "config/demo/data")
    checkpoint = Path("resources/models/tiny/multi/checkpoint.json")
    checkpoint.parent.mkdir(parents=True)
    for name, content in MODEL.items():
        (checkpoint.parent / name).write_bytes(content)
    about = {"name": "tiny", "scope": "multi", "architecture": "causal", "dtype": "float32"}
    source = Retrieved(hf_id="lab/tiny", revision=COMMIT)
    seal(checkpoint, Checkpoint(**about, first_token="bos", source=source))


def packed(read):
    have(read)
    done = CliRunner().invoke(
        app, ["pack-sources", "all.tar", "--configfile", "tiny.yaml"], catch_exceptions=False
    )
    assert done.exit_code == 0, done.output
    return Path("all.tar")


def test_another_machine_has_all_from_the_pack(read, monkeypatch, tmp_path):
    pack = packed(read)
    retrieved = {p.name: Path("resources/sources", p.name).read_bytes() for p in pins(*read())}
    assert len(retrieved) >= 2
    # The other machine has the repository and the pack, and no network.
    shutil.rmtree("resources")
    Path("config/treebanks.lock.tsv").unlink()
    monkeypatch.setenv("BLIMPWORKS_OFFLINE", "1")
    mirror = tmp_path / "unpacked"
    done = CliRunner().invoke(app, ["unpack-sources", str(pack), str(mirror)])
    assert f"{len(retrieved) + 3} files verified" in done.output
    assert "git blob id" in Path("config/treebanks.lock.tsv").read_text()
    for pin in pins(*read()):
        retrieve(pin, Path("resources/sources", pin.name), mirror)
        assert Path("resources/sources", pin.name).read_bytes() == retrieved[pin.name]
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(mirror / "hub"))
    model = HubModel("tiny", "multi", "causal", "float32", "bos", "lab/tiny", "main")
    sealed = retrieve_model(model, Path("resources/models/tiny/multi/checkpoint.json"))
    assert sealed.files == {
        name: hashlib.sha256(content).hexdigest() for name, content in MODEL.items()
    }
    assert sealed.source == Retrieved(hf_id="lab/tiny", revision=COMMIT)


def test_the_same_files_give_the_same_pack(read):
    first = packed(read).read_bytes()
    CliRunner().invoke(app, ["pack-sources", "again.tar", "--configfile", "tiny.yaml"])
    assert Path("again.tar").read_bytes() == first


def test_what_was_not_retrieved_or_was_changed_is_not_packed(read):
    have(read)
    file = next(Path("resources/sources").rglob("*.conllu"))
    whole = file.read_bytes()
    for content, said in ((whole[:-1], "has SHA-256"), (None, "has not been retrieved; run")):
        file.write_bytes(content) if content else file.unlink()
        done = CliRunner().invoke(app, ["pack-sources", "all.tar", "--configfile", "tiny.yaml"])
        assert said in str(done.exception)
        assert not Path("all.tar").exists()


def rewritten(pack, change):
    """The pack with its members changed."""
    with tarfile.open(pack) as tar:
        members = [(m.name, tar.extractfile(m).read()) for m in tar]
    with tarfile.open(pack, "w") as tar:
        for name, content in change(members):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))


def outside(members):
    """A pack whose files leave the directory."""
    (name, manifest), (path, content), *others = members
    evil = manifest.replace(path.encode(), b"../evil")
    return [(name, evil), ("../evil", content), *others]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda m: [m[0], (m[1][0], m[1][1][:-1] + b"?"), *m[2:]], "has another SHA-256"),
        (lambda m: [m[0], (m[1][0], b""), *m[2:]], "is not as its manifest.tsv says"),
        (lambda m: [*m, ("more", b"x")], "'more' is not as its manifest.tsv says"),
        (lambda m: m[:-1], "lacks "),
        (lambda m: m[1:], "does not begin with manifest.tsv"),
        (outside, "must stay below its directory"),
    ],
    ids=["altered", "shorter", "more", "fewer", "without manifest", "outside"],
)
def test_a_pack_that_is_not_as_its_manifest_says_is_refused(read, tmp_path, change, said):
    pack = packed(read)
    rewritten(pack, change)
    with pytest.raises(UserError) as caught:
        unpack_sources(pack, tmp_path / "unpacked")
    assert said in str(caught.value)
    assert not (tmp_path / "evil").exists()


def test_a_pack_writes_no_lock_file_elsewhere(read, tmp_path):
    pack = packed(read)
    whole = pack.read_bytes()
    for place, said in (("../x.tsv", "must stay below"), ("no/x.tsv", "there is no no in")):
        pack.write_bytes(whole)
        table = place.encode()
        rewritten(
            pack,
            lambda m, t=table: [(m[0][0], m[0][1].replace(b"config/treebanks.tsv", t)), *m[1:]],
        )
        with pytest.raises(UserError, match=said):
            unpack_sources(pack, tmp_path / "unpacked")
        assert not (tmp_path / "unpacked/ud").exists()


def test_a_pack_is_a_file_and_a_mirror_a_directory(read, tmp_path):
    pack = packed(read)
    with pytest.raises(UserError, match="is no file, expected a pack"):
        unpack_sources(tmp_path, tmp_path / "unpacked")
    with pytest.raises(UserError, match=r"all.tar is no directory"):
        unpack_sources(pack, pack)


def test_half_a_pack_is_refused(read, tmp_path):
    pack = packed(read)
    pack.write_bytes(pack.read_bytes()[:-12_000])
    with pytest.raises(UserError, match=r"all.tar (is no whole pack|lacks)"):
        unpack_sources(pack, tmp_path / "unpacked")
