"""Test that damaged files give an error, the same data, or data whose loss is counted or excused.

Seeds are numbers, so that each file is the same on any machine. ``make test-fuzz`` reads
``BLIMPWORKS_FUZZ`` files of each damage in place of one.
"""

import os
import random
import re
import signal
from collections import Counter
from contextlib import contextmanager

import pytest

from blimpworks.errors import LONGEST_UNSHORTENED, PATH, UserError
from support.fuzz_damage import DAMAGE, OTHER, STRUCTURAL
from support.fuzz_readers import READERS, Data, Reader, text_file
from support.paths import REPOSITORY

SEEDS = int(os.environ.get("BLIMPWORKS_FUZZ", "1"))
PACKAGE = REPOSITORY / "src/blimpworks"
OPENS = re.compile(
    r"\breading\(|\.read_text\(|\.read_bytes\(|\.open\(|json\.load|csv\.(reader|DictReader)\("
    r"|read_csv\(|ParquetFile\(|pq\.read_table\(|\btext_of\(|\btable_rows\("
)
OWN = "it writes, hashes or copies files, or reads what stands beside the code"
MADE = "it reads tables and records that jobs of ours have made, and whose checksums are recorded"
HOST = "it reads what the machine, the scheduler or a server says, and does without what it lacks"
WEIGHTS = "it reads weights or a downloaded model, compared with their checksums first"
EXCEPTED = {
    OWN: """
        campaign.load commands.options commands.declare errors evaluation.build evaluation.session
        evaluation.run files interop.crate.export papers.blimp.items.generate
        papers.lmentry.items.dialogues papers.lmentry.exhibits.prompts
        papers.urblimp.items.patterns records.digest benchmarks.predictions records.job
        cli.__init__ audit.check audit.stale cluster.software interop.datasets exhibits.render
        report.inventory analysis.parity
    """,
    MADE: """
        analysis.scoring_variants audit.diff audit.evidence audit.explain audit.explain_text
        evaluation.judged interop.crate.tables papers.lmentry.verdicts papers.lmentry.judging.judge
        reproduction.comparisons scoring.run
    """,
    HOST: """
        cluster.attempt cluster.guard cluster.status evaluation.machine generation.engines
        scoring.vllm_engine scoring.vllm_server cli.reproduction cli.scoring
    """,
    WEIGHTS: """
        generation.conversation models.hub models.lstm models.own_code models.retrieve
        scoring.kenlm_engine models.hub_tokenizers scoring.selftest
    """,
    "it downloads what the catalogue pins by checksum": """
        retrieval.download retrieval.pinning retrieval.sources
    """,
    "campaign.settings.base reads the same file, and so do readers of this table": """
        yaml_files
    """,
    "checked by its own tests, against all that such a file can have wrong": """
        papers.multiblimp.items.released evaluation.sides evaluation.submission models.converted
    """,
}


PATIENCE = 5
"""Processor seconds that a reader may take, however busy the machine is."""


class Hang(BaseException):
    """A reader takes too long."""


FAULTS = {"silent", "crash", "hang", "long", "nameless"}
"""Outcomes that fail the test; a damaged file may be refused, same, noted or other."""


@contextmanager
def patience():
    def stop(*_):
        raise Hang

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def data_of(value):
    return value if isinstance(value, Data) else Data(value)


def refusal(error, path):
    lines = str(error).split("\n")
    if max(len(PATH.sub("", line)) for line in lines) > 2 * LONGEST_UNSHORTENED:
        return "long", str(error)
    # A message may name a file by its folder, and cut its name.
    named = any(name in lines[0] for name in (path.name, path.stem, path.parent.name))
    return "refused" if named else "nameless", str(error)


def outcome(reader, path, valid, harmless):
    """Return the outcome of reading a file whose valid data are ``valid``, and its message."""
    try:
        with patience():
            data = data_of(reader.read(path))
    except UserError as error:
        return refusal(error, path)
    except Hang:
        return "hang", ""
    except Exception as error:
        return "crash", f"{type(error).__name__}: {error}"[:300]
    if repr(data.content) == repr(valid.content):
        return "same", ""
    if repr(data.noted) != repr(valid.noted):
        return "noted", ""
    return "other" if harmless else "silent", repr(data.content)[:200]


def put(reader, folder, seeds):
    """Yield each damage, seed, and the outcome of reading the reader's file with it."""
    path = reader.write(folder)
    content, valid = path.read_bytes(), data_of(reader.read(path))
    harmful = {each.__name__ for each in STRUCTURAL}
    for name, damage in DAMAGE.items():
        for seed in seeds:
            path.write_bytes(damage(content, random.Random(f"{reader.name} {name} {seed}")))
            harmless = name not in harmful or name in reader.same
            yield name, seed, outcome(reader, path, valid, harmless)
    path.unlink()
    yield "missing", 0, outcome(reader, path, valid, "missing" in reader.same)
    path.mkdir()
    yield "directory", 0, outcome(reader, path, valid, harmless=False)


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_a_reader_refuses_or_accounts_for_all_damage(reader, tmp_path):
    faults = [
        f"{damage} by seed {seed}: {kind}: {said}"
        for damage, seed, (kind, said) in put(reader, tmp_path, range(SEEDS))
        if kind in FAULTS
    ]
    assert faults == []


def test_each_module_that_reads_files_is_damaged_or_excepted():
    modules = {
        ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        for path in PACKAGE.rglob("*.py")
        if OPENS.search(path.read_text(encoding="utf-8"))
    }
    excepted = [module for names in EXCEPTED.values() for module in names.split()]
    read = {reader.module for reader in READERS}
    assert modules == read | {*excepted}
    assert not read & {*excepted}
    assert len(excepted) == len({*excepted})


def test_reasons_are_of_damage_that_there_is():
    known = {each.__name__ for each in STRUCTURAL} | {"missing"}
    assert {name for reader in READERS for name in reader.same} <= known
    assert not {*STRUCTURAL} & {*OTHER}
    assert [*Counter(reader.name for reader in READERS).values()] == [1] * len(READERS)


def read_with(read, path, *, harmless=False):
    return outcome(Reader("x", text_file("x", ""), read, "x"), path, Data("valid"), harmless)[0]


def raises(error):
    def read(_):
        raise error

    return read


def endless(_):
    while True:
        pass


def test_outcomes_are_told_apart(tmp_path, monkeypatch):
    path = tmp_path / "x.tsv"
    assert read_with(lambda _: "valid", path) == "same"
    assert read_with(lambda _: "else", path) == "silent"
    assert read_with(lambda _: "else", path, harmless=True) == "other"
    assert read_with(lambda _: Data("else", {"lines": 1}), path) == "noted"
    assert read_with(raises(UserError(f"{path}: it is broken.")), path) == "refused"
    assert read_with(raises(UserError("it is broken.")), path) == "nameless"
    assert read_with(raises(KeyError("x")), path) == "crash"
    monkeypatch.setitem(globals(), "PATIENCE", 0.5)
    assert read_with(endless, path) == "hang"
