import re

import pytest

from blimpworks.campaign.settings.base import TreebankOptions
from blimpworks.errors import UserError
from blimpworks.linguistics import treebanks as treebanks_module
from blimpworks.linguistics.treebanks import build_tokens, read_treebank
from blimpworks.tables import SENTENCES, TOKENS, read_table


def sentence(*rows, sent_id="s"):
    """Return a sentence in CoNLL-U; a row is "ID FORM HEAD"."""
    lines = [f"# sent_id = {sent_id}"]
    for row in rows:
        number, form, head = row.split()
        lines.append("\t".join((number, form, form, "X", "_", "_", head, "dep", "_", "_")))
    return "\n".join(lines) + "\n\n"


GOOD = sentence("1 a 2", "2 b 0", "3 c 2", sent_id="good")
LATER = GOOD.replace("good", "later")


@pytest.fixture
def read(tmp_path):
    def read_text(text, malformed="error", first=0):
        path = tmp_path / "x.conllu"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_treebank(path, "UD_Test-X", TreebankOptions(malformed=malformed), first)

    return read_text


def test_columns_of_a_sentence(read):
    text = (
        "# newdoc\n# sent_id = x1\n# text = Am See\n"
        "1-2\tAm\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
        "1\tan\tan\tADP\tAPPR\tA=b|C=d,e\t3\tcase\t3:case\t_\n"
        "2\tdem\t_\tDET\t_\t_\t3\tdet\t_\tX=y|SpaceAfter=No\n"
        "3\t_\t_\t_\t_\t_\t0\troot\t_\tSpaceAfter=Nope\n"
        "3.1\tz\tz\t_\t_\t_\t_\t_\t3:dep\t_\n\n"
    )
    reading = read(text, first=7)
    columns = reading.tokens.to_pydict()
    assert reading.tokens.schema == TOKENS.arrow()
    assert columns["sentence"] == [7] * 5
    assert columns["line"] == [4, 5, 6, 7, 8]
    assert columns["id"] == ["1-2", "1", "2", "3", "3.1"]
    assert columns["word"] == [None, 1, 2, 3, None]
    assert columns["form"] == ["Am", "an", "dem", "_", "z"]
    assert columns["lemma"] == ["_", "an", "_", "_", "z"]
    assert columns["upos"] == [None, "ADP", "DET", None, None]
    assert columns["feats"] == [None, "A=b|C=d,e", None, None, None]
    assert columns["head"] == [None, 3, 3, 0, None]
    assert columns["deps"] == [None, "3:case", None, None, "3:dep"]
    assert columns["misc"][:2] == ["SpaceAfter=No", None]
    assert columns["space_after"] == [False, True, False, True, True]
    assert reading.sentences.schema == SENTENCES.arrow()
    place = {"sentence": 7, "treebank": "UD_Test-X", "file": "x.conllu", "sent_id": "x1", "line": 1}
    comments = ["# newdoc", "# sent_id = x1", "# text = Am See"]
    expected = place | {"words": 3, "text": "Am See", "comments": comments}
    assert reading.sentences.to_pylist() == [expected]


@pytest.mark.parametrize(
    "text",
    ["\ufeff" + GOOD, GOOD.replace("\n", "\r\n"), GOOD + "\n\n"],
    ids=["byte order mark", "CRLF", "surplus blank lines"],
)
def test_harmless_variants_read_alike(read, text):
    assert read(text).tokens.equals(read(GOOD).tokens)
    assert read(text).sentences.equals(read(GOOD).sentences)


def test_a_file_without_sentence_and_an_absent_one_are_refused(read, tmp_path):
    for text in ("", "\n\n"):
        with pytest.raises(UserError, match=r"x\.conllu holds no sentence"):
            read(text, "set_aside")
    with pytest.raises(UserError, match="does not exist; expected a treebank"):
        read_treebank(tmp_path / "y.conllu", "X", TreebankOptions())


BAD = sentence("1 a 2", "2 b 0", "3 c 2", sent_id="bad")
BAD_LINES = BAD.splitlines()
PREFIX = len(GOOD.splitlines())


def replaced(old, new):
    assert old.encode() in BAD.encode()
    return BAD.encode().replace(old.encode(), new if isinstance(new, bytes) else new.encode(), 1)


MALFORMED = {
    "too few fields": (replaced("2\tb\tb\tX", "2\tb\tX"), 3, r"9 tab-separated field\(s\), exp"),
    "line of blanks": (replaced("2\tb", "  \n2\tb"), 3, r"1 tab-separated field\(s\)"),
    "letters in an id": (replaced("2\tb", "2a\tb"), 3, "ID '2a', expected word 2, a range"),
    "leading zero": (replaced("2\tb", "02\tb"), 3, "ID '02', expected word 2"),
    "starts with word 2": (replaced(BAD_LINES[1] + "\n", ""), 2, "ID '2', expected word 1"),
    "enormous id": (replaced("2\tb", "99999999999999999999\tb"), 3, "expected word 2"),
    "range beyond the end": (replaced("3\tc", "3-4\tc"), 4, "ID '3-4', expected word 3"),
    "range backwards": (replaced("3\tc", "3-2\tc"), 4, "ID '3-2', expected word 3"),
    "ranges that overlap": (
        sentence("1-2 x _", "1 a 0", "2-3 y _", "2 b 1", "3 c 1", sent_id="bad").encode(), 4,
        "range 2-3 overlaps one that ends with word 2, expected ranges of different words"),
    "empty node out of place": (replaced("3\tc", "3.1\tc"), 4, "or an empty node 2.N"),
    "head not an integer": (replaced("\t0\t", "\troot\t"), 3, "HEAD 'root', expected an integer"),
    "head beyond the sentence": (replaced("\t0\t", "\t4\t"), 3, "HEAD '4', expected an integer"),
    "own head": (replaced("2\tdep\t_\t_\n\n", "3\tdep\t_\t_\n\n"), 4, "HEAD 3 of word 3 is"),
    "no root": (replaced("\t0\t", "\t1\t"), 2, "no word of the sentence has HEAD 0"),
    "two roots": (BAD.replace("\t2\tdep", "\t0\tdep").encode(), 3, "words 1 and 2 have"),
    "a circle": (sentence("1 a 0", "2 b 3", "3 c 4", "4 d 2", "5 e 4", sent_id="bad").encode(), 3,
        "the heads above word 2 go round in a circle, expected a tree"),
    "head of an empty node": (replaced("3\tc", "2.1\tc"), 4, "HEAD '2' of a range or empty node"),
    "blank form": (replaced("2\tb\tb", "2\t\tb"), 3, "FORM is blank, expected a value"),
    "blank field": (replaced("2\tb\tb\tX\t_", "2\tb\tb\tX\t"), 3, "XPOS is blank"),
    "feature without value": (replaced("2\tb\tb\tX\t_\t_", "2\tb\tb\tX\t_\tA=b|C"), 3,
        r"FEATS 'A=b\|C', expected '_' or name=value pairs"),
    "feature twice": (replaced("2\tb\tb\tX\t_\t_", "2\tb\tb\tX\t_\tA=b|A=c"), 3,
        r"FEATS 'A=b\|A=c' has a feature twice, expected each once"),
    "long number of an empty node": (replaced("3\tc", "2.1234567890\tc"), 4, "expected word 3"),
    "head of thousands of digits": (replaced("\t0\t", f"\t{'9' * 5000}\t"), 3, "HEAD '999"),
    "invalid UTF-8": (replaced("2\tb\tb", b"2\tb\xff\tb"), 3, "the line is not UTF-8"),
    "comment in mid-sentence": (replaced("2\tb", "# c\n2\tb"), 3, "a comment after a token"),
    "no words": (b"# sent_id = bad\n\n", 1, "a sentence without words"),
    "only an empty node": (
        ("# sent_id = bad\n" + "\t".join(["0.1", "x", *"_" * 8]) + "\n\n").encode(),
        1,
        "a sentence without words",
    ),
}  # fmt: skip
TRUNCATED = {
    "cut in mid-line": (BAD.encode()[:-8], 4, "the file ends in mid-line, expected a line end"),
    "cut after a line": (("\n".join(BAD_LINES[:2]) + "\n").encode(), 2, "HEAD '2', expected"),
    "cut behind a sentence": (BAD.encode()[:-1], 4, "the file ends without a blank line after its"),
}  # fmt: skip


@pytest.mark.parametrize(("bad", "line", "message"), MALFORMED.values(), ids=MALFORMED)
def test_malformed_sentence_stops_or_is_set_aside(read, bad, line, message):
    data = GOOD.encode() + bad + LATER.encode()
    with pytest.raises(UserError, match=rf"x\.conllu:{PREFIX + line}: .*{message}.*; mend the"):
        read(data)
    reading = read(data, "set_aside")
    assert reading.sentences["sent_id"].to_pylist() == ["good", "later"]
    assert reading.sentences["sentence"].to_pylist() == [0, 1]
    assert reading.tokens["sentence"].to_pylist() == [0, 0, 0, 1, 1, 1]
    last = PREFIX + bad.count(b"\n") + 1
    assert reading.sentences["line"].to_pylist() == [1, last]
    [entry] = reading.malformed
    assert (entry.treebank, entry.file) == ("UD_Test-X", "x.conllu")
    assert (entry.line, entry.sent_id) == (PREFIX + line, "bad")
    assert re.search(message, entry.reason)


@pytest.mark.parametrize(("bad", "line", "message"), TRUNCATED.values(), ids=TRUNCATED)
def test_truncated_file_stops_or_loses_its_last_sentence(read, bad, line, message):
    data = GOOD.encode() + bad
    with pytest.raises(UserError, match=f":{PREFIX + line}: .*{message}"):
        read(data)
    reading = read(data, "set_aside")
    assert reading.sentences["sent_id"].to_pylist() == ["good"]
    assert [entry.line for entry in reading.malformed] == [PREFIX + line]


def test_two_sentences_of_one_id_are_malformed(read):
    with pytest.raises(UserError, match=r"x.conllu:6: sent_id 'good' is that of line 1 too"):
        read(GOOD + GOOD)
    reading = read(GOOD + GOOD, "set_aside")
    assert (len(reading.sentences), len(reading.malformed)) == (1, 1)


def test_sentences_without_an_id_are_called_after_their_first_line(read):
    anonymous = GOOD.replace("# sent_id = good\n", "")
    assert read(anonymous * 2).sentences["sent_id"].to_pylist() == ["line 1", "line 5"]


@pytest.fixture
def treebanks(tmp_path):
    paths = [tmp_path / name / "x-ud-test.conllu" for name in ("UD_X-A", "UD_X-B")]
    for path, text in zip(paths, (GOOD + LATER, GOOD), strict=True):
        path.parent.mkdir()
        path.write_text(text)
    return [(path.parent.name, path) for path in paths]


@pytest.fixture
def products(tmp_path):
    return [tmp_path / "out" / name for name in ("tokens.parquet", "sentences.parquet", "bad.tsv")]


def test_tables_longer_than_a_batch_are_the_same(read, monkeypatch):
    text = "".join(GOOD.replace("good", f"s{number}") for number in range(9))
    whole = read(text)
    monkeypatch.setattr(treebanks_module, "BATCH_ROWS", 4)
    batched = read(text)
    assert batched.tokens.equals(whole.tokens)
    assert batched.sentences.equals(whole.sentences)


@pytest.mark.parametrize(
    "cell", ["a  b", "\u2028x", "\ufeff", "a\u00a0", " a", "#", "=|_", "x\r\x0b"]
)
def test_any_form_is_read_as_it_stands(read, cell):
    [form, *_] = read(GOOD.replace("1\ta\ta", f"1\t{cell}\ta")).tokens["form"].to_pylist()
    assert form == cell


def test_build_numbers_sentences_through_all_files(treebanks, products):
    counts = build_tokens(treebanks, *products, TreebankOptions())
    assert counts == {"files": 2, "sentences": 3, "words": 9, "tokens": 9, "set_aside": 0}
    tokens = read_table(TOKENS, products[0])
    sentences = read_table(SENTENCES, products[1])
    assert tokens["sentence"].to_pylist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert sentences["sentence"].to_pylist() == [0, 1, 2]
    assert sentences["treebank"].to_pylist() == ["UD_X-A", "UD_X-A", "UD_X-B"]
    assert products[2].read_text() == "treebank\tfile\tline\tsent_id\treason\n"


def test_build_reports_what_it_sets_aside(treebanks, products):
    treebanks[0][1].write_text(GOOD + BAD.replace("\t0\t", "\t9\t"))
    counts = build_tokens(treebanks, *products, TreebankOptions(malformed="set_aside"))
    assert (counts["sentences"], counts["set_aside"]) == (2, 1)
    assert read_table(SENTENCES, products[1])["sentence"].to_pylist() == [0, 1]
    [row] = products[2].read_text().splitlines()[1:]
    reason = "HEAD '9', expected an integer from 0 to 3"
    assert row.split("\t") == ["UD_X-A", "x-ud-test.conllu", "8", "bad", reason]


def test_build_leaves_nothing_behind_a_malformed_file(treebanks, products):
    treebanks[1][1].write_text(BAD.replace("\t0\t", "\t9\t"))
    with pytest.raises(UserError, match=r"UD_X-B/x-ud-test\.conllu:3: HEAD '9'"):
        build_tokens(treebanks, *products, TreebankOptions())
    assert not any(path.exists() for path in products)
