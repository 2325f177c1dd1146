import gzip
import math
import subprocess
from functools import partial

import pytest
from typer.testing import CliRunner

from blimpworks.campaign.addresses import state_of
from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.cli import app
from blimpworks.errors import UserError
from blimpworks.models.checkpoint import read_checkpoint
from blimpworks.models.facts import facts_of
from blimpworks.models.ngram import read_vocabulary, tool
from blimpworks.scoring.kenlm_engine import KenlmEngine
from support import tiny
from support.ngram_kit import ARPA, WORDS

OPTIONS = {"probing": ["probing"], "trie": ["trie"], "quantised": ["-q", "8", "trie"]}
OPTIONS |= {"without words": ["-v", "probing"]}


def packed(path):
    target = path.with_name(f"{path.name}.gz")
    target.write_bytes(gzip.compress(path.read_bytes()))
    return target


def write(folder, kind, text=ARPA):
    path = folder / "mine.arpa"
    path.write_text(text, encoding="utf-8")
    if kind == "gz":
        return packed(path)
    if kind in OPTIONS:
        command = [tool("build_binary"), *OPTIONS[kind], str(path), str(folder / "mine.bin")]
        subprocess.run(command, check=True, capture_output=True)
        return folder / "mine.bin"
    return path


def take(place, output):
    return CliRunner().invoke(app, tiny.retrieve_words(output, place, architecture="ngram"))


@pytest.mark.parametrize("kind", ["probing", "trie"])
def test_a_model_without_unknown_words_is_read_all_the_same(tmp_path, kind):
    text = ARPA.replace("-1.0\t<unk>\n", "").replace("ngram 1=5", "ngram 1=4")
    assert read_vocabulary(write(tmp_path, kind, text)) == WORDS


@pytest.mark.parametrize("kind", ["arpa", "gz", "probing", "trie", "quantised"])
def test_a_file_becomes_a_checkpoint_with_its_own_probabilities(tmp_path, kind):
    place = write(tmp_path, kind)
    before = state_of(place)
    output = tmp_path / "sealed" / "checkpoint.json"
    done = take(place, output)
    assert done.exit_code == 0, done.output
    sealed = read_checkpoint(output)
    assert {*sealed.files} == {"model.bin", "vocabulary.txt"}
    assert (sealed.source.kind, sealed.source.directory) == ("copied", place.name)
    engine = KenlmEngine(output, sealed, ScoringOptions())
    known, unknown = engine.logprobs(engine.encode(["the dog", "the cat"]))
    # log10 of the file: <s> the, the dog, dog </s>; <s> the, back-off and <unk>, </s>.
    exact = [-0.25, -0.4, -0.15], [-0.25, -0.2 - 1.0, -0.7]
    for row, expected in zip((known, unknown), exact, strict=True):
        logs = [value * math.log(10) for value in expected]
        assert row.tolist() == pytest.approx(logs, rel=1e-6)
    assert state_of(place) == before


def test_facts_of_a_file(tmp_path):
    place = write(tmp_path, "arpa")
    facts = facts_of(place)
    assert (facts.architecture, facts.engine, facts.dtype) == ("ngram", "kenlm", "float32")
    assert (facts.parameters, facts.scope, facts.chat) == (None, "multi", False)
    assert facts.file_gb == len(ARPA.encode()) / 1e9
    assert facts_of(write(tmp_path, "gz")).file_gb == facts.file_gb


def cut(path, size):
    path.write_bytes(path.read_bytes()[:size])
    return path


def other_version(folder):
    path = write(folder, "trie")
    path.write_bytes(path.read_bytes().replace(b"version 5", b"version 4"))
    return path


UNPACK = r"is a binary compressed; expected one of format 5 as it is\. Unpack it"


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (partial(write, kind="without words"), "words are not in it; .* without -v: build_binary"),
        (lambda folder: packed(write(folder, "trie")), UNPACK),
        (other_version, "is a binary of another version of KenLM"),
        (partial(write, kind="arpa", text="The dog sleeps.\n"), "something else; expected an n-gr"),
        (lambda folder: cut(write(folder, "gz"), 90), r"is damaged \(Compressed file ended"),
        (lambda folder: cut(write(folder, "arpa"), 90), "it has 4 1-grams and announces 5"),
        (lambda folder: cut(write(folder, "trie"), -6), "3 words are at its end and 5 were exp"),
        (partial(write, kind="arpa", text=ARPA.replace("</s>", "end")), "has no 1-gram </s>"),
        (lambda folder: folder / "none.arpa", "none.arpa does not exist"),
    ],
)
def test_what_is_no_model_is_one_sentence(tmp_path, make, says):
    with pytest.raises(UserError, match=says):
        read_vocabulary(make(tmp_path))


def test_a_file_that_is_cut_off_behind_its_words_is_refused_when_it_is_scored_with(tmp_path):
    place = write(tmp_path, "arpa", ARPA[: ARPA.index("\\end\\")])
    output = tmp_path / "sealed" / "checkpoint.json"
    assert take(place, output).exit_code == 0
    with pytest.raises(UserError, match=r"model.bin: KenLM cannot read it \(Cannot read model"):
        KenlmEngine(output, read_checkpoint(output), ScoringOptions())


def test_programs_beside_this_python_come_first(tmp_path, monkeypatch):
    """Programs of images and conda's environments were built for the libraries there."""
    monkeypatch.setattr("sys.executable", str(tmp_path / "bin/python"))
    own = tmp_path / "bin/lmplz"
    own.parent.mkdir()
    own.touch(mode=0o755)
    assert tool("lmplz") == str(own)
