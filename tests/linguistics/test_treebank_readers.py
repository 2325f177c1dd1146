"""The columnar reader and the one of the conllu package: the same tables of any file."""

import csv
import lzma
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blimpworks.campaign.settings.treebanks import TreebankOptions
from blimpworks.linguistics.treebanks import reference
from blimpworks.linguistics.treebanks.build import build_tokens
from support.conllu_kit import READERS, generated_sentence, name
from support.paths import REPOSITORY

DEMO = sorted((REPOSITORY / "config/demo/data/ud").glob("*/*.conllu"))
PATH = Path("UD_Test-X/x.conllu")
ALL_TREEBANKS = "BLIMPWORKS_ALL_TREEBANKS"
SCRIPTS = ("Arabic-PUD", "Hindi-PUD", "Galician-PUD", "Armenian-BSUT", "Ancient_Hebrew-PTNK")


def assert_alike(data, path=PATH, first=0):
    """Both readers give the same tables, labels included, and the same malformed sentences."""
    ours, theirs = (
        parse(data, path, "UD_Test-X", "set_aside", first) for parse in READERS.values()
    )
    assert ours.malformed == theirs.malformed
    if ours.malformed:  # the columnar reader knows labels of sentences that it leaves out
        assert ours.tokens.to_pylist() == theirs.tokens.to_pylist()
    else:
        assert ours.tokens.equals(theirs.tokens)
    assert ours.sentences.to_pylist() == theirs.sentences.to_pylist()
    return ours


# ---- files


def built(files, folder, reader):
    """The bytes of all that is made of some treebanks."""
    products = [folder / reader / part for part in ("tokens", "sentences", "malformed.tsv")]
    build_tokens(
        [(path.parent.name, path) for path in files], *products, TreebankOptions(reader=reader)
    )
    return [path.read_bytes() for path in products]


def test_both_readers_make_the_same_files_of_the_demos_treebanks(tmp_path):
    assert len(DEMO) >= 3
    assert built(DEMO, tmp_path, "conllu") == built(DEMO, tmp_path, "columnar")


def test_tables_that_are_longer_than_a_batch_are_the_same(monkeypatch):
    monkeypatch.setattr(reference, "BATCH", 7)
    assert len(assert_alike(DEMO[0].read_bytes()).sentences) > 20


def contents(path):
    return lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()


@pytest.mark.mirror
def test_both_readers_read_treebanks_of_many_scripts_alike(mirror):
    files = sorted(mirror.glob("ud/r2.15/*/*.conllu*"))
    if not os.environ.get(ALL_TREEBANKS):
        files = [path for path in files if path.parent.name.removeprefix("UD_") in SCRIPTS]
        assert {path.parent.name.removeprefix("UD_") for path in files} == {*SCRIPTS}
    for path in files:
        assert assert_alike(contents(path), path).malformed == []


# ---- generated sentences

# Whatever a field can hold: white space of all kinds, signs that mean something elsewhere.
letter = st.sampled_from(" \u00a0\u3000\u2028\r\x0b\x1f\x85\ufeff#=|_-.:0aß字ا")
text = st.text(letter, min_size=1, max_size=5).filter(lambda cell: not cell.isspace())
features = st.one_of(
    st.just("_"),
    st.lists(st.builds("{}={}".format, name, st.sampled_from(["A", " b ", "_"])), min_size=1).map(
        "|".join
    ),
)
misc = st.one_of(
    text,
    st.sampled_from(
        ["SpaceAfter=No", "SpaceAfter=No ", "SpaceAfter=No|SpaceAfter=Yes", "_|SpaceAfter=No", " _"]
    ),
)
space = st.text(letter.filter(str.isspace), max_size=2)
comment = st.one_of(
    st.builds("#{}".format, text),
    st.builds("#{}{}{}={}".format, space, st.sampled_from(["sent_id", "text"]), space, text),
    st.just("# global.columns = ID FORM MISC"),
)
files = st.lists(
    generated_sentence(spaced=text, misc=misc, comment=comment, pairs=features),
    min_size=1,
    max_size=3,
).map("\n".join)


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(files, st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "\ufeff"]))
def test_both_readers_read_any_fields_and_comments_alike(text, end, mark):
    whole = mark + f"{text}\n".replace("\n", end)
    reading = assert_alike(whole.encode(), first=3)
    assert len(reading.sentences) > 0
    assert reading.malformed == []


PIECES = [b"", b" ", b"\t", b"\n", b"\r", b"#", b"0", b"2", b"-", b".", b"_", b"\xff", b"a=b|c"]
changes = st.lists(
    st.tuples(st.integers(0, 10_000), st.integers(0, 2), st.sampled_from(PIECES)), max_size=4
)


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(files, changes, st.integers(0, 3))
def test_both_readers_find_the_same_sentences_malformed_for_the_same_reason(text, changes, cut):
    data = text.encode()
    for place, length, piece in changes:
        at = place % (len(data) + 1)
        data = data[:at] + piece + data[at + length :]
    assert_alike(data[: len(data) - cut] or b"\n\n#\n")


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("00.1\ta\ta\t_\t_\t_\t_\t_\t_\t_", "ID '00.1', expected word 1"),
        ("0.1234567890\ta\ta\t_\t_\t_\t_\t_\t_\t_", "ID '0.1234567890', expected word 1"),
        ("1\ta  b\ta\t_\t_\t_\t0\t_\t_\t_ \n2\tc\tc\t_\t_\tA=\t0\t_\t_\t_", "FEATS 'A=', expected"),
        (" 1\ta\ta\t_\t_\t_\t0\t_\t_\t_", "ID ' 1', expected word 1"),
        ("1\ta\ta\t_\t_\t_\t" + "9" * 5000 + "\t_\t_\t_", "HEAD '999"),
    ],
)
def test_what_conllu_reads_and_the_format_forbids_is_malformed_for_both(row, reason):
    good = "1\ta\ta\t_\t_\t_\t0\t_\t_\t_\n"
    [entry] = assert_alike(f"{row}\n{'' if row[:1] == '1' else good}\n".encode()).malformed
    assert entry.reason.startswith(reason)


def test_a_sentence_that_both_know_as_malformed_is_listed_with_its_line(tmp_path):
    path = tmp_path / "UD_X-A" / "x-ud-test.conllu"
    path.parent.mkdir()
    path.write_text("# sent_id = s\n1\ta\ta\t_\t_\t_\t7\t_\t_\t_\n")
    for reader in READERS:
        products = [tmp_path / f"{reader}.{part}" for part in ("tokens", "sentences", "tsv")]
        options = TreebankOptions(reader=reader, malformed="set_aside")
        build_tokens([("UD_X-A", path)], *products, options)
        with products[2].open(encoding="utf-8") as lines:
            [row] = csv.DictReader(lines, delimiter="\t")
        assert (row["line"], row["reason"]) == ("2", "HEAD '7', expected an integer from 0 to 1")
