import json
import re
import shutil
import signal
import subprocess
import sys
import time

import kenlm
import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from blimpworks.campaign.engines import scorers
from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.commands.registry import recorded_commands
from blimpworks.errors import UserError
from blimpworks.models.words import split_words
from blimpworks.records import digest
from blimpworks.records.equal_code import number_digest
from blimpworks.records.packages import ROOT
from blimpworks.scoring.collect import Shards, collect_scores
from blimpworks.scoring.engine import load_engine
from blimpworks.scoring.hub_loading import complete_characters
from blimpworks.scoring.kenlm_engine import KenlmEngine
from blimpworks.scoring.run import read_manifest, score_items
from blimpworks.scoring.vllm_engine import ENTRIES as VLLM_ENTRIES
from blimpworks.tables import SCORES, read_table
from support import tiny

OPTIONS = ScoringOptions(shard=7, batch_tokens=200)
ODD = ["कुत्ता sees água", "🙂🙃 ok", "x", "the dog sees", "  two  spaces "]


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    directory = tmp_path_factory.mktemp("models")
    corpus = tiny.write_corpus(directory / "text.txt")
    return {
        "transformers": tiny.make_transformer(corpus, directory / "tf" / "checkpoint.json"),
        "kenlm": tiny.make_ngram(corpus, directory / "ng" / "checkpoint.json"),
    }


@pytest.fixture(scope="session", params=["transformers", "kenlm"])
def engine(models, request):
    return load_engine(models[request.param], request.param, OPTIONS)


def changed(checkpoint, directory, **changes):
    """A copy of a checkpoint with other fields."""
    directory.mkdir()
    for path in checkpoint.parent.iterdir():
        (directory / path.name).write_bytes(path.read_bytes())
    described = json.loads(checkpoint.read_text()) | changes
    (directory / "checkpoint.json").write_text(json.dumps(described))
    return directory / "checkpoint.json"


def engine_for(checkpoint):
    architecture = json.loads(checkpoint.read_text())["architecture"]
    return {"ngram": "kenlm", "causal": "transformers"}[architecture]


def pairs(count=20):
    texts = tiny.sentences(2 * count, seed=1)
    return list(zip(texts[::2], texts[1::2], strict=True))


def collect(items, directory):
    shards = Shards(directory / "manifest.json", directory / "shards")
    return collect_scores(items, shards, directory / "scores.parquet")


def scored(items, checkpoint, directory, options=OPTIONS):
    """Score and collect; returns the scores table."""
    manifest, store = directory / "manifest.json", directory / "shards"
    score_items([items], checkpoint, store, manifest, engine_for(checkpoint), options)
    return collect(items, directory)


def naive(checkpoint, text, first):
    """One sentence, one forward pass, log-softmax over everything, in float32."""
    tokenizer = AutoTokenizer.from_pretrained(checkpoint.parent)
    model = AutoModelForCausalLM.from_pretrained(checkpoint.parent, dtype=torch.float32)
    lead = {"bos": [tokenizer.bos_token_id], "eos": [tokenizer.eos_token_id], "skip": []}[first]
    ids = torch.tensor([lead + tokenizer(text, add_special_tokens=False)["input_ids"]])
    with torch.no_grad():
        table = model(ids).logits[0, :-1].log_softmax(-1)
    return table.gather(1, ids[0, 1:, None])[:, 0].numpy()


@pytest.mark.slow
@pytest.mark.parametrize("first", ["bos", "eos", "skip"])
def test_transformers_equals_the_naive_forward(models, tmp_path, first):
    checkpoint = changed(models["transformers"], tmp_path / "m", first_token=first)
    engine = load_engine(checkpoint, "transformers", OPTIONS)
    texts = tiny.sentences(12, seed=2) + ODD
    result = engine.logprobs(engine.encode(texts))
    for text, row in zip(texts, result, strict=True):
        skipped = int(first == "skip")
        assert np.isnan(row[:skipped]).all()
        np.testing.assert_allclose(row[skipped:], naive(checkpoint, text, first), atol=1e-5)


def test_kenlm_equals_kenlm(models):
    engine = load_engine(models["kenlm"], "kenlm", OPTIONS)
    model = kenlm.Model(str(models["kenlm"].parent / "model.bin"))
    texts = tiny.sentences(30, seed=2) + ODD
    for encoded, text in zip(engine.encode(texts), texts, strict=True):
        (row,) = engine.logprobs([encoded])
        expected = model.score(" ".join(w for w, _ in split_words(text))) * np.log(10)
        assert row.sum(dtype=float) == pytest.approx(expected, abs=1e-4)


def test_token_ends_rise_to_the_end_of_the_text_or_of_its_last_word(engine):
    words = isinstance(engine, KenlmEngine)
    for text in tiny.sentences(10) + ODD:
        (encoded,) = engine.encode([text])
        ends = encoded.ends.tolist()
        assert ends == sorted(ends)
        assert ends[-1] == len(text.rstrip() if words else text)


def test_part_of_a_character_ends_before_it():
    starts = np.array([0, 1, 1, 1, 2], dtype=np.int32)
    ends = np.array([1, 2, 2, 2, 5], dtype=np.int32)
    first, two = np.array([5]), np.array([5, 0, 5])
    assert complete_characters(starts, ends, first).tolist() == [1, 1, 1, 2, 5]
    twice = complete_characters(np.tile(starts, 2), np.tile(ends, 2), two)
    assert twice.tolist() == [1, 1, 1, 2, 5, 1, 1, 1, 2, 5]


def test_sentence_score_is_the_sum_of_its_tokens(models, tmp_path):
    items = tiny.write_items(tmp_path / "items.parquet", pairs())
    table = scored(items, models["transformers"], tmp_path)
    for row in table.to_pylist():
        assert row["status"] == "ok"
        for side in ("good", "bad"):
            tokens = np.array(row[f"{side}_logprobs"], dtype=np.float64)
            assert row[f"logprob_{side}"] == pytest.approx(tokens.sum(), abs=1e-9)
            assert row[f"tokens_{side}"] == len(tokens) == len(row[f"{side}_ids"])
    read_table(SCORES, tmp_path / "scores.parquet")


def test_equal_sentences_are_scored_once_and_items_listed_once(models, tmp_path):
    pair = ("the dog sees.", "the dog see.")
    items = tiny.write_items(
        tmp_path / "items.parquet", [pair, pair, pair[::-1]], item_id=["a", "a", "b"]
    )
    table = scored(items, models["kenlm"], tmp_path)
    assert table["item_id"].to_pylist() == ["a", "b"]
    assert read_manifest(tmp_path / "manifest.json").sentences == 2
    first, other = table.to_pylist()
    assert first["logprob_good"] == other["logprob_bad"]


def test_too_long_and_empty_sentences_have_no_score(models, tmp_path):
    items = tiny.write_items(
        tmp_path / "items.parquet", [("the dog " * 60, "short"), ("", "short"), ("a", "b")]
    )
    table = scored(items, models["transformers"], tmp_path)
    assert table["status"].to_pylist() == ["too_long", "empty", "ok"]
    assert table["logprob_good"].is_null().to_pylist() == [True, True, False]
    assert table["logprob_bad"].null_count == 0
    statuses = read_manifest(tmp_path / "manifest.json").statuses
    assert statuses == {"empty": 1, "ok": 3, "too_long": 1}


def test_no_items_give_an_empty_table(models, tmp_path):
    items = tiny.write_items(tmp_path / "items.parquet", [])
    assert len(scored(items, models["kenlm"], tmp_path)) == 0


@pytest.mark.parametrize("damage", ["missing", "altered", "unreadable"])
def test_a_spoilt_shard_is_told_with_a_remedy_that_works(models, tmp_path, damage):
    items = tiny.write_items(tmp_path / "items.parquet", pairs())
    table = scored(items, models["kenlm"], tmp_path)
    shard = min((tmp_path / "shards").glob("*.parquet"))
    if damage == "altered":
        altered = pq.read_table(shard)
        pq.write_table(altered.slice(0, 3), shard)
    elif damage == "unreadable":
        shard.write_bytes(b"PAR1")
    else:
        shard.unlink()
    manifest = tmp_path / "manifest.json"
    remedy = re.escape(f"delete {manifest} and run the same snakemake command again.")
    with pytest.raises(UserError, match=f"{re.escape(str(shard))}.*{remedy}"):
        collect(items, tmp_path)
    manifest.unlink()
    assert scored(items, models["kenlm"], tmp_path).equals(table)


@pytest.fixture
def edit(tmp_path, monkeypatch):
    """A function that edits one source of a copy of the package, as digests then see it."""
    copy = tmp_path / "package"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns("__pycache__"))
    caches = (digest._module, digest._direct)

    def change(module, old, new):
        source = copy / module
        text = source.read_text(encoding="utf-8")
        assert old in text
        source.write_text(text.replace(old, new), encoding="utf-8")
        monkeypatch.setattr(digest, "package_folders", lambda: {"blimpworks": copy})
        monkeypatch.setattr(digest, "_kept", dict)
        monkeypatch.setattr(digest, "_new", {})
        for cache in caches:
            cache.cache_clear()

    yield change
    for cache in caches:
        cache.cache_clear()


@pytest.mark.parametrize(
    ("module", "old", "new", "counts"),
    [
        ("scoring/kenlm_engine.py", "math.log(10)", "math.log(2)", True),
        ("models/words.py", "|[^", "|[^-", True),
        ("scoring/store.py", "np.isnan(row).all()", "np.isnan(row).any()", True),
        ("scoring/kenlm_engine.py", "# The last id", "# The final id", False),
        ("scoring/trie.py", "CACHED = 1024", "CACHED = 512", False),
        ("campaign/engines.py", "working_gb=0.5", "working_gb=0.7", False),
    ],
)
def test_scores_of_other_code_are_not_reused(models, tmp_path, edit, module, old, new, counts):
    items = tiny.write_items(tmp_path / "items.parquet", pairs(5))
    paths = (tmp_path / "shards", tmp_path / "manifest.json")
    arguments = ([items], models["kenlm"], *paths, "kenlm", OPTIONS)
    first = score_items(*arguments)
    edit(module, old, new)
    second = score_items(*arguments)
    assert (second != first) == counts
    assert set(first.shards).isdisjoint(second.shards) == counts


SAME_NUMBERS = {
    "kenlm ngram": "301aa942822323ee",
    "lstm lstm": "0e2ba6cd296f855a",
    "transformers causal": "e8532865d0f0cd72",
    "transformers encoder-decoder": "937def9329af31bc",
    "transformers masked": "99c66cf510640024",
    "vllm causal": "cf22ff34dc257724",
}
"""Digest of each engine's code under which its numbers were first made. An edit that moves a number
brings a new one here; one that is shown to move none, a row in ``records/equal_code.py``."""


@pytest.mark.parametrize("pair", scorers())
def test_scores_made_before_stay_valid(pair):
    entries = VLLM_ENTRIES if pair[0] == "vllm" else (scorers()[pair].address,)
    rows = (f"blimpworks.scoring.store:{name}" for name in ("encode_requests", "score_shard"))
    assert number_digest(*entries, *rows) == SAME_NUMBERS[" ".join(pair)]


def test_batch_size_and_gpu_are_part_of_a_transformers_key(models, monkeypatch):
    def key(name="transformers", **options):
        return load_engine(models[name], name, OPTIONS.model_copy(update=options)).key

    assert key(batch_tokens=100) != key()
    assert key("kenlm", batch_tokens=100) == key("kenlm")
    keys = {key()}
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    for card in ("Card A", "Card B"):
        monkeypatch.setattr(torch.cuda, "get_device_name", lambda _, card=card: card)
        assert f" {card} " in key()
        keys.add(key())
    assert len(keys) == 3


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"architecture": "abacus"}, "engine 'transformers' cannot run architecture 'abacus'"),
        ({"dtype": "int4"}, "dtype is 'int4'; expected float32, bfloat16, float16"),
        ({"first_token": "cls"}, "first_token: string should match pattern"),
    ],
)
def test_impossible_checkpoints_are_refused(models, tmp_path, changes, message):
    checkpoint = changed(models["transformers"], tmp_path / "m", **changes)
    with pytest.raises(UserError, match=message):
        load_engine(checkpoint, "transformers", OPTIONS)
    with pytest.raises(UserError, match=r"does not exist; expected a model's checkpoint\.json"):
        load_engine(tmp_path / "checkpoint.json", "kenlm", OPTIONS)


@pytest.mark.parametrize("pair", scorers())
def test_an_engine_is_part_of_the_code_behind_its_scores_and_no_other_is(pair):
    entries = recorded_commands()[" ".join(("score", *pair))].entries
    assert {each.address for each in scorers().values()} & {*entries} == {scorers()[pair].address}
    assert "blimpworks.campaign.engines" not in digest.reached_modules(*entries)


@pytest.mark.slow
def test_killed_process_resumes_to_the_same_bytes(models, tmp_path):
    items = tiny.write_items(tmp_path / "items.parquet", pairs(100))
    options = ScoringOptions(shard=3, batch_tokens=100)
    (tmp_path / "whole").mkdir()
    scored(items, models["kenlm"], tmp_path / "whole", options)
    directory = tmp_path / "killed"
    store = directory / "shards"
    command = [sys.executable, "-m", "blimpworks", "score", str(items)]
    command += ["--checkpoint", str(models["kenlm"]), "--store", str(store)]
    command += ["--manifest", str(directory / "manifest.json")]
    command += ["--engine", "kenlm", "--options", options.model_dump_json()]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    while len(list(store.glob("part-*"))) < 9:
        assert process.poll() is None
        time.sleep(0.0005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    left = len(list(store.glob("part-*.parquet")))
    assert 9 <= left < len(list((tmp_path / "whole" / "shards").iterdir()))
    assert not (directory / "manifest.json").exists()
    (store / ".part-0.parquet.1.tmp").write_bytes(b"cut off")
    scored(items, models["kenlm"], directory, options)
    assert tiny.contents(directory) == tiny.contents(tmp_path / "whole")
