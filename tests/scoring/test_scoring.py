"""Test scores of items: equal to other computations, stored once, and errors."""

import json
import re
import shutil
import subprocess
import sys

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer

from blimpworks.campaign.engines import scorers
from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.cli import main
from blimpworks.commands.declare import find_command
from blimpworks.errors import UserError
from blimpworks.records import digest
from blimpworks.records.digest import ROOT, number_digest
from blimpworks.scoring.engine import load_engine
from blimpworks.scoring.hub_loading import complete_characters
from blimpworks.scoring.run import Shards, collect_scores, score_items
from blimpworks.scoring.shards import read_manifest
from blimpworks.scoring.vllm_engine import ENTRIES as VLLM_ENTRIES
from blimpworks.tables import SCORES, read_table
from support import tiny
from support.hostile import edit as edit_json

OPTIONS = ScoringOptions(shard=7, batch_tokens=200)
ODD = ["कुत्ता sees água", "🙂🙃 ok", "x", "the dog sees", "  two  spaces "]


def engine_for(checkpoint):
    architecture = json.loads(checkpoint.read_text())["architecture"]
    return {"ngram": "kenlm", "causal": "transformers"}[architecture]


def collect(items, directory):
    shards = Shards(directory / "manifest.json", directory / "shards")
    return collect_scores(items, shards, directory / "scores.parquet")


def scored(items, checkpoint, directory, options=OPTIONS):
    manifest, store = directory / "manifest.json", directory / "shards"
    score_items([items], checkpoint, store, manifest, engine_for(checkpoint), options)
    return collect(items, directory)


@pytest.mark.slow
@pytest.mark.parametrize("first", ["bos", "eos", "skip"])
def test_transformers_equals_the_naive_forward(trained, tmp_path, first):
    checkpoint = tiny.copied(trained("causal"), tmp_path / "m", first_token=first)
    engine = load_engine(checkpoint, "transformers", OPTIONS)
    texts = tiny.sentences(12, seed=2) + ODD
    result = engine.logprobs(engine.encode(texts))
    naive, skipped = tiny.naive(checkpoint), int(first == "skip")
    for text, row in zip(texts, result, strict=True):
        assert np.isnan(row[:skipped]).all()
        np.testing.assert_allclose(row[skipped:], naive(text, first), atol=1e-5)


@pytest.mark.parametrize(("architecture", "name"), [("causal", "transformers"), ("ngram", "kenlm")])
def test_token_ends_rise_to_the_end_of_the_text_or_of_its_last_word(trained, architecture, name):
    engine = load_engine(trained(architecture), name, OPTIONS)
    for text in tiny.sentences(10) + ODD:
        (encoded,) = engine.encode([text])
        ends = encoded.ends.tolist()
        assert ends == sorted(ends)
        assert ends[-1] == len(text.rstrip() if name == "kenlm" else text)


def test_part_of_a_character_ends_before_it():
    starts = np.array([0, 1, 1, 1, 2], dtype=np.int32)
    ends = np.array([1, 2, 2, 2, 5], dtype=np.int32)
    first, two = np.array([5]), np.array([5, 0, 5])
    assert complete_characters(starts, ends, first).tolist() == [1, 1, 1, 2, 5]
    twice = complete_characters(np.tile(starts, 2), np.tile(ends, 2), two)
    assert twice.tolist() == [1, 1, 1, 2, 5, 1, 1, 1, 2, 5]


def test_sentence_score_is_the_sum_of_its_tokens(trained, tmp_path):
    items = tiny.write_items(tmp_path / "items.parquet", tiny.pairs(20))
    table = scored(items, trained("causal"), tmp_path)
    for row in table.to_pylist():
        assert row["status"] == "ok"
        for side in ("good", "bad"):
            tokens = np.array(row[f"{side}_logprobs"], dtype=np.float64)
            assert row[f"logprob_{side}"] == pytest.approx(tokens.sum(), abs=1e-9)
            assert row[f"tokens_{side}"] == len(tokens) == len(row[f"{side}_ids"])
    read_table(SCORES, tmp_path / "scores.parquet")


def test_equal_sentences_are_scored_once_and_items_listed_once(trained, tmp_path):
    pair = ("the dog sees.", "the dog see.")
    twice = {"item_id": ["a", "a", "b"]}
    items = tiny.write_items(tmp_path / "items.parquet", [pair, pair, pair[::-1]], **twice)
    table = scored(items, trained("ngram"), tmp_path)
    assert table["item_id"].to_pylist() == ["a", "b"]
    assert read_manifest(tmp_path / "manifest.json").sentences == 2
    first, other = table.to_pylist()
    assert first["logprob_good"] == other["logprob_bad"]


def test_too_long_and_empty_sentences_have_no_score(trained, tmp_path):
    pairs = [("the dog " * 60, "short"), ("", "short"), ("a", "b")]
    items = tiny.write_items(tmp_path / "items.parquet", pairs)
    table = scored(items, trained("causal"), tmp_path)
    assert table["status"].to_pylist() == ["too_long", "empty", "ok"]
    assert table["logprob_good"].is_null().to_pylist() == [True, True, False]
    assert table["logprob_bad"].null_count == 0
    statuses = read_manifest(tmp_path / "manifest.json").statuses
    assert statuses == {"empty": 1, "ok": 3, "too_long": 1}


def test_no_items_give_an_empty_table(trained, tmp_path):
    items = tiny.write_items(tmp_path / "items.parquet", [])
    assert len(scored(items, trained("ngram"), tmp_path)) == 0


@pytest.mark.parametrize("damage", ["missing", "altered", "unreadable"])
def test_a_spoilt_shard_is_told_with_a_remedy_that_works(trained, tmp_path, damage):
    items = tiny.write_items(tmp_path / "items.parquet", tiny.pairs(20))
    table = scored(items, trained("ngram"), tmp_path)
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
    assert scored(items, trained("ngram"), tmp_path).equals(table)


@pytest.fixture
def edit(tmp_path, package_at):
    """Return a function that edits one source of a copy of the package, which digests then see."""
    copy = tmp_path / "package"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns("__pycache__"))

    def change(module, old, new):
        source = copy / module
        text = source.read_text(encoding="utf-8")
        assert old in text
        source.write_text(text.replace(old, new), encoding="utf-8")
        package_at(copy)

    return change


@pytest.mark.parametrize(
    ("module", "old", "new", "counts"),
    [
        ("scoring/kenlm_engine.py", "math.log(10)", "math.log(2)", True),
        ("models/text.py", "|[^", "|[^-", True),
        ("scoring/store.py", "np.isnan(row).all()", "np.isnan(row).any()", True),
        ("scoring/kenlm_engine.py", "# The last id", "# The final id", False),
        ("scoring/passes.py", "CACHED = 1024", "CACHED = 512", False),
        ("campaign/engines.py", "working_gb=0.5", "working_gb=0.7", False),
    ],
)
def test_scores_of_other_code_are_not_reused(trained, tmp_path, edit, module, old, new, counts):
    items = tiny.write_items(tmp_path / "items.parquet", tiny.pairs(5))
    paths = (tmp_path / "shards", tmp_path / "manifest.json")
    arguments = ([items], trained("ngram"), *paths, "kenlm", OPTIONS)
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
"""Digests of each engine's code under which its numbers were first made.

An edit that changes a number needs a new digest here; one that changes none, a row in
``records/digest.py``.
"""


@pytest.mark.parametrize("pair", scorers())
def test_scores_made_before_stay_valid(pair):
    entries = VLLM_ENTRIES if pair[0] == "vllm" else (scorers()[pair].address,)
    rows = (f"blimpworks.scoring.store:{name}" for name in ("encode_requests", "score_shard"))
    assert number_digest(*entries, *rows) == SAME_NUMBERS[" ".join(pair)]


def test_batch_size_and_gpu_are_part_of_a_transformers_key(trained, monkeypatch):
    def key(architecture="causal", **options):
        checkpoint, changed = trained(architecture), OPTIONS.model_copy(update=options)
        return load_engine(checkpoint, engine_for(checkpoint), changed).key

    assert key(batch_tokens=100) != key()
    assert key("ngram", batch_tokens=100) == key("ngram")
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
        ({"dtype": "int4"}, "dtype is int4, but the engine transformers scores causal models"),
        ({"first_token": "cls"}, "first_token: string should match pattern"),
    ],
)
def test_impossible_checkpoints_are_refused(trained, tmp_path, changes, message):
    checkpoint = tiny.copied(trained("causal"), tmp_path / "m", **changes)
    with pytest.raises(UserError, match=message):
        load_engine(checkpoint, "transformers", OPTIONS)
    with pytest.raises(UserError, match=r"does not exist; expected a model's checkpoint\.json"):
        load_engine(tmp_path / "checkpoint.json", "kenlm", OPTIONS)


@pytest.mark.parametrize("pair", scorers())
def test_an_engine_is_part_of_the_code_behind_its_scores_and_no_other_is(pair):
    entries = find_command(" ".join(("score", *pair))).entries
    assert {each.address for each in scorers().values()} & {*entries} == {scorers()[pair].address}
    assert "blimpworks.campaign.engines" not in digest.reached_modules(*entries)


SHARDS_OF_20 = ScoringOptions(shard=20, batch_tokens=400)


@pytest.fixture(scope="module")
def model(trained):
    return trained("causal")


@pytest.fixture(scope="module")
def items(tmp_path_factory):
    return tiny.write_items(tmp_path_factory.mktemp("items") / "items.parquet", tiny.pairs(200))


@pytest.fixture
def score(monkeypatch, capsys, caplog):
    """Return a function that runs the workflow's command here: exit status and messages."""

    caplog.set_level("INFO")

    def run(items, checkpoint, directory):
        caplog.clear()
        options = SHARDS_OF_20.model_dump_json()
        words = tiny.score_words(items, checkpoint, "transformers", directory, options)
        monkeypatch.setattr(sys, "argv", ["blimpworks", *words])
        try:
            main()
        except SystemExit as end:
            return end.code or 0, caplog.text + capsys.readouterr().err
        raise AssertionError("a command ends its process")

    return run


def last_words(done):
    """Return the last line of a failed command, which printed no stack trace."""
    status, said = done
    assert status == 2
    assert "Traceback" not in said
    return said.strip().splitlines()[-1]


def shards(directory):
    return {p.name: p.read_bytes() for p in (directory / "shards").glob("part-*.parquet")}


@pytest.mark.slow
def test_a_full_disk_costs_the_shard_in_hand_alone(model, items, tmp_path, small_disk, score):
    (tmp_path / "whole").mkdir()
    assert score(items, model, tmp_path / "whole")[0] == 0
    whole = shards(tmp_path / "whole")

    said = last_words(score(items, model, small_disk))
    assert f"{small_disk}/shards/part-" in said
    assert "no space left on device; nothing half-written is left" in said
    kept = shards(small_disk)
    assert kept
    assert kept.items() < whole.items()
    assert not (small_disk / "manifest.json").exists()

    enlarge = ["mount", "-o", "remount,size=8m", str(small_disk)]
    subprocess.run(enlarge, check=True)
    status, message = score(items, model, small_disk)
    assert status == 0, message
    sentences = json.loads((small_disk / "manifest.json").read_text())["sentences"]
    assert f"{sentences - 20 * len(kept)} of them new" in message
    assert shards(small_disk) == whole


@pytest.fixture
def copy(model, tmp_path):
    """Copy the model without digests of its files, so that a test may damage it."""
    return tiny.copied(model, tmp_path / "copy", files={})


@pytest.mark.parametrize("damage", ["cut", "empty", "gone", "not json"])
def test_corrupt_weights_are_told_in_one_sentence(items, tmp_path, copy, score, damage):
    weights, settings = copy.with_name("model.safetensors"), copy.with_name("config.json")
    if damage == "cut":
        weights.write_bytes(weights.read_bytes()[:2000])
    elif damage == "empty":
        weights.write_bytes(b"")
    elif damage == "gone":
        weights.unlink()
    else:
        settings.write_text("{")
    said = last_words(score(items, copy, tmp_path))
    assert str(copy.parent) in said
    assert ("config.json:1: " if damage == "not json" else "cannot be loaded") in said
    assert not (tmp_path / "shards").exists()


def test_a_score_that_is_no_number_is_marked_and_tried_again_on_request(items, tmp_path, copy):
    weights, settings = copy.with_name("model.safetensors"), copy.with_name("config.json")
    edit_json(settings, tie_word_embeddings=False)
    name = "model.embed_tokens.weight"
    sound = load_file(weights)
    sound["lm_head.weight"] = sound[name].clone()
    broken = sound | {name: sound[name].clone()}
    tokenizer = AutoTokenizer.from_pretrained(copy.parent)
    broken[name][tokenizer("the cat").input_ids[-1]] = float("nan")
    save_file(broken, weights, metadata={"format": "pt"})

    def run(**changes):
        paths = (tmp_path / "shards", tmp_path / "manifest.json")
        options = SHARDS_OF_20.model_copy(update=changes)
        return score_items([items], copy, *paths, "transformers", options).statuses

    first = run()
    assert first["not_finite"] > 10
    assert first["ok"] > 10
    assert collect(items, tmp_path)["logprob_good"].null_count > 10
    save_file(sound, weights, metadata={"format": "pt"})
    assert run() == first
    assert run(retry_failed=True) == {"ok": first["ok"] + first["not_finite"]}
    assert collect(items, tmp_path)["logprob_good"].null_count == 0
    assert run(retry_failed=True) == {"ok": first["ok"] + first["not_finite"]}
