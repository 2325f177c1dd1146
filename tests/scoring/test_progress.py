import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from itertools import pairwise

import pyarrow.parquet as pq
import pytest

from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.cluster.slurm import DEADLINE, RESERVE, Deadline, deadline_of
from blimpworks.errors import OutOfTime, UserError
from blimpworks.scoring import progress
from blimpworks.scoring.progress import ATTEMPT, Progress, Watch, read_progress
from blimpworks.scoring.run import score_items
from blimpworks.scoring.selftest import FILE_NAME
from blimpworks.scoring.store import Store
from blimpworks.scoring.transformers_engine import Decoder
from support import tiny

OPTIONS = ScoringOptions(shard=7, batch_tokens=200)
ARCHITECTURES = {"kenlm": "ngram", "transformers": "causal"}
ID = "0123456789abcdef" * 2


@pytest.fixture
def items(tmp_path):
    """Write items of two languages that share some sentences, and of a third."""
    shared = tiny.pairs(5, seed=3)
    return {
        "eng": tiny.write_items(tmp_path / "items/eng.parquet", tiny.pairs(30) + shared),
        "fra": tiny.write_items(tmp_path / "items/fra.parquet", tiny.pairs(12, seed=2) + shared),
        "deu": tiny.write_items(tmp_path / "items/deu.parquet", tiny.pairs(3, seed=4)),
    }


@pytest.fixture
def score(trained, items, tmp_path):
    def run(watch, name="run", engine="kenlm", options=OPTIONS, languages=tuple("ef")):
        paths = (tmp_path / name / "shards", tmp_path / name / "manifest.json")
        chosen = [path for lang, path in items.items() if lang[0] in languages]
        regions = [items["deu"]]
        facts = {"regions": regions, "watch": watch}
        return score_items(chosen, trained(ARCHITECTURES[engine]), *paths, engine, options, **facts)

    return run


def take_findings(directory, name):
    """Copy the self-test of the run ``whole``, so that the run ``name`` makes no passes for it."""
    (directory / name / "shards").mkdir(parents=True)
    shutil.copy(directory / "whole/shards" / FILE_NAME, directory / name / "shards")


class Versions(Progress):
    """A progress that keeps every version of the file."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.seen = []

    def _write(self):
        super()._write()
        self.seen.append(read_progress(self._path))


@pytest.fixture
def always(monkeypatch):
    monkeypatch.setattr(progress, "WRITE_INTERVAL", 0.0)


@pytest.mark.slow
def test_each_shard_is_told_until_all_is_done(score, tmp_path, always):
    watch = Versions(tmp_path / "logs/x.progress.json", ID)
    manifest = score(watch)
    first, *between, last = watch.seen
    assert len(between) == len(manifest.shards)
    assert (first.done, first.new, first.tokens, first.load_seconds) == (0, 0, 0, None)
    assert last.sentences == last.done == last.new == manifest.sentences
    assert all(each.done == each.sentences > 0 for each in last.languages.values())
    assert list(last.languages) == ["deu", "eng", "fra"]
    # Sentences of two languages count for both, and once in the total.
    assert sum(each.sentences for each in last.languages.values()) > last.sentences
    steps = [b.done - a.done for a, b in pairwise([first, *between])]
    assert set(steps[:-1]) == {7}
    for version in watch.seen:
        assert version.attempt == ID
        assert sum(each.done for each in version.languages.values()) >= version.done
    tokens = [each.tokens for each in between]
    assert tokens == sorted(tokens)
    shards = (tmp_path / "run/shards").glob("part-*")
    assert last.tokens == sum(progress.scored_tokens(pq.read_table(shard)) for shard in shards)


def test_another_attempt_counts_what_it_adds_itself(score, tmp_path, always):
    score(Watch(), languages=("e",))
    watch = Versions(tmp_path / "x.progress.json", ID)
    manifest = score(watch)
    first, last = watch.seen[0], watch.seen[-1]
    assert first.languages["eng"].done == first.languages["eng"].sentences
    assert 0 < first.languages["fra"].done < first.languages["fra"].sentences
    assert last.new == manifest.sentences - first.done
    again = Versions(tmp_path / "x.progress.json", ID)
    assert score(again) == manifest
    assert {(each.done, each.new) for each in again.seen} == {(manifest.sentences, 0)}


class Slow(Watch):
    """A watch of an engine that takes time to load and to score shards."""

    def __init__(self, load, shard):
        self.waits = [load + shard]
        self.shard = shard

    def before(self):
        time.sleep(self.waits.pop() if self.waits else self.shard)


@pytest.mark.slow
def test_loading_is_told_from_scoring(score, tmp_path):
    """Engines load with the first batch: its excess over the next is loading time."""
    path = tmp_path / "x.progress.json"
    begun = time.monotonic()
    score(Watch(Progress(path), Slow(load=1.0, shard=0.05)))
    took = time.monotonic() - begun
    result = read_progress(path)
    assert 0.8 < result.load_seconds < took - 0.4
    assert result.load_seconds + result.score_seconds == pytest.approx(took, abs=0.2)


def test_a_file_that_cannot_be_written_fails_no_job(score, tmp_path, caplog):
    (tmp_path / "logs").write_text("a file where a directory should be")
    manifest = score(Progress(tmp_path / "logs" / "x.progress.json"))
    assert manifest == score(Watch(), name="other")
    assert "the progress of this job cannot be written" in caplog.text


class Near(Deadline):
    """An allocation that ends some seconds after its first shard began, and the scored shards."""

    def __init__(self, seconds):
        super().__init__(0)
        self.seconds, self.parts = seconds, []

    def before(self):
        self._moment = self._moment or time.time() + RESERVE + self.seconds
        super().before()

    def wrote(self, part, scores):
        super().wrote(part, scores)
        self.parts.append(tuple(part))


@pytest.mark.slow
@pytest.mark.parametrize(("engine", "threads"), [("kenlm", 1), ("transformers", 3)])
def test_short_allocations_end_with_the_bytes_of_a_long_one(score, tmp_path, engine, threads):
    options = ScoringOptions(shard=2, batch_tokens=100)
    long = Near(3600)
    manifest = score(long, "long", engine, options)
    runs = []
    with tiny.torch_threads(threads):
        while not (tmp_path / "short/manifest.json").exists():
            runs.append(Near(0.02))
            with suppress(OutOfTime):
                again = score(runs[-1], "short", engine, options)
            assert runs[-1].parts, "each allocation adds something"
            done = sum(len(run.parts) for run in runs)
            assert len([*(tmp_path / "short/shards").glob("part-*")]) == done
    assert len(runs) > 1
    assert again == manifest
    assert tiny.contents(tmp_path / "short") == tiny.contents(tmp_path / "long")
    parts = [part for run in runs for part in run.parts]
    assert parts == long.parts


@pytest.mark.slow
def test_a_shard_that_fails_keeps_those_after_it_from_being_written(score, tmp_path, monkeypatch):
    """A failed run leaves the first shards, as a killed one does."""
    whole = score(Watch(), "whole", "transformers")
    forward, calls = Decoder._forward, []

    def third_fails(self, batch):
        calls.append(batch)
        if len(calls) == 3:
            raise RuntimeError("the processor is on fire")
        return forward(self, batch)

    with tiny.torch_threads(3):
        take_findings(tmp_path, "failed")
        with monkeypatch.context() as patch:
            patch.setattr(Decoder, "_forward", third_fails)
            with pytest.raises(RuntimeError, match="on fire"):
                score(Watch(), "failed", "transformers")
        assert score(Watch(), "failed", "transformers") == whole
    assert tiny.contents(tmp_path / "failed") == tiny.contents(tmp_path / "whole")


class Interrupted(Watch):
    """A user presses Ctrl-C before the second shard, while the first is computed."""

    def __init__(self):
        self.begun = 0

    def before(self):
        self.begun += 1
        if self.begun == 2:
            raise KeyboardInterrupt


@pytest.mark.slow
def test_an_interrupted_run_begins_no_pass_any_more(score, tmp_path, monkeypatch):
    options = ScoringOptions(shard=40, batch_tokens=20, sharing="never")
    forward, calls = Decoder._forward, []

    def counted(self, batch):
        calls.append(batch)
        time.sleep(0.1)
        return forward(self, batch)

    whole = score(Watch(), "whole", "transformers", options)
    with tiny.torch_threads(3):
        take_findings(tmp_path, "interrupted")
        with monkeypatch.context() as patch:
            patch.setattr(Decoder, "_forward", counted)
            with pytest.raises(KeyboardInterrupt):
                score(Interrupted(), "interrupted", "transformers", options)
        assert len(calls) < 12, "of 22 that the first shard has"
        assert score(Watch(), "interrupted", "transformers", options) == whole
    assert tiny.contents(tmp_path / "interrupted") == tiny.contents(tmp_path / "whole")


@pytest.mark.slow
@pytest.mark.parametrize(("seconds", "shards"), [(RESERVE - 1, 0), (RESERVE + 2, 1)])
def test_a_first_shard_is_tried_while_there_is_half_a_minute(score, tmp_path, seconds, shards):
    watch = Watch(Deadline(time.time() + seconds), Slow(load=0, shard=1.4))
    said = rf"^{7 * shards} of \d+ sentences have scores; .* goes on from there"
    with pytest.raises(OutOfTime, match=said):
        score(watch)
    assert len(Store(tmp_path / "run/shards").shard_of) == 7 * shards


@pytest.mark.slow
def test_time_spent_on_loading_does_not_count_as_a_slow_shard(score):
    # After a load of 1 s the other shards fit easily into 2.5 s.
    watch = Watch(Deadline(time.time() + RESERVE + 2.5), Slow(load=0.9, shard=0.01))
    assert score(watch).sentences


def test_no_deadline_is_none(score):
    assert type(deadline_of({})) is Watch
    with pytest.raises(UserError, match="BLIMPWORKS_DEADLINE is 'noon'; expected when"):
        deadline_of({DEADLINE: "noon"})


@pytest.mark.slow
def test_the_command_exits_to_be_tried_again(trained, items, tmp_path):
    out, log = tmp_path / "out", tmp_path / "logs/score/m/multi.log"
    options = OPTIONS.model_dump_json()
    words = tiny.score_words(items["eng"], trained("ngram"), "kenlm", out, options)
    command = [sys.executable, "-m", "blimpworks", *words, "--log", str(log)]

    def run(moment):
        environment = os.environ | {DEADLINE: str(moment), ATTEMPT: ID}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    early = run(time.time() + 5)
    assert early.returncode == 75
    assert "blimpworks (attempt): 0 of " in early.stderr
    assert "Traceback" not in early.stderr
    assert [path.name for path in out.rglob("*.*")] == [FILE_NAME]
    message = json.loads(log.with_suffix(".progress.json").read_text())
    assert (message["done"], message["attempt"]) == (0, ID)
    late = run(time.time() + 3600)
    assert late.returncode == 0, late.stderr
    message = json.loads(log.with_suffix(".progress.json").read_text())
    assert message["done"] == message["sentences"] == message["new"] > 0
    assert not [path for path in out.glob("*.prov.json") if ".progress.json" in path.read_text()]
