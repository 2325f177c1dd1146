"""Damaged files end in a sentence, in the same data, or in data whose loss is counted or excused.

Seeds are numbers, so that each file is the same on any machine. ``make test-fuzz`` reads more of
them: as many of each damage as ``BLIMPWORKS_FUZZ`` says, in place of one.
"""

import os
import re
from collections import Counter

import pytest

from blimpworks.errors import UserError
from support.fuzz_damage import DAMAGE, OTHER, STRUCTURAL
from support.fuzz_kit import FAULTS, PATIENCE, Outcome, outcome, put
from support.fuzz_readers import READERS, Data, Reader, text_file
from support.paths import REPOSITORY

SEEDS = int(os.environ.get("BLIMPWORKS_FUZZ", "1"))
LEAST = 1000
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
        campaign.load commands.options commands.declare errors evaluation.build
        evaluation.session evaluation.run files interop.crate.export
        papers.blimp.items.generate
        papers.lmentry.items.dialogues papers.lmentry.exhibits.prompts
        papers.urblimp.items.patterns records.digest
        benchmarks.predictions records.job cli.__init__ audit.check audit.stale
        cluster.software interop.datasets exhibits.render report.inventory
    """,
    MADE: """
        analysis.scoring_variants audit.diff audit.evidence audit.explain audit.explain_text
        evaluation.judged
        interop.crate.tables papers.lmentry.verdicts
        papers.lmentry.judging.judge reproduction.comparisons scoring.run
    """,
    HOST: """
        cluster.attempt cluster.guard cluster.status evaluation.machine
        generation.engines scoring.vllm_engine scoring.vllm_server cli.reproduction
        cli.scoring
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
        papers.multiblimp.items.released evaluation.sides evaluation.submission
        models.converted
    """,
}


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_a_reader_refuses_or_accounts_for_all_damage(reader, tmp_path):
    faults = [
        f"{damage} by seed {seed}: {result.kind}: {result.said}"
        for damage, seed, result in put(reader, tmp_path, range(SEEDS))
        if result.kind in FAULTS
    ]
    assert faults == []


def test_a_thousand_files_are_damaged():
    assert len(READERS) * (len(DAMAGE) * SEEDS + 2) >= LEAST


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


# What the kit itself can see


def read_with(read, path, *, harmless=False):
    reader = Reader("x", text_file("x", ""), read, "x")
    return outcome(reader, path, Data("valid"), harmless).kind


def raises(error):
    def read(_):
        raise error

    return read


def endless(_):
    while True:
        pass


@pytest.mark.slow
def test_a_reader_that_hangs_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr("support.fuzz_kit.PATIENCE", PATIENCE / 10)
    assert read_with(endless, tmp_path / "x") == "hang"


def test_outcomes_are_told_apart(tmp_path):
    path = tmp_path / "x.tsv"
    assert read_with(lambda _: "valid", path) == "same"
    assert read_with(lambda _: "else", path) == "silent"
    assert read_with(lambda _: "else", path, harmless=True) == "other"
    assert read_with(lambda _: Data("else", {"lines": 1}), path) == "noted"
    assert read_with(raises(UserError(f"{path}: it is broken.")), path) == "refused"
    assert read_with(raises(UserError("it is broken.")), path) == "nameless"
    assert read_with(raises(KeyError("x")), path) == "crash"
    assert isinstance(outcome(READERS[0], path, Data(""), harmless=False), Outcome)
