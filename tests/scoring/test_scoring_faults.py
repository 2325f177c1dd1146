"""What goes wrong while scoring: what the user is told, and what is left."""

import json
import subprocess
import sys

import pytest
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer

from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.cli import main
from blimpworks.scoring.collect import Shards, collect_scores
from blimpworks.scoring.run import score_items
from support import tiny

OPTIONS = ScoringOptions(shard=20, batch_tokens=400)


@pytest.fixture(scope="module")
def model(trained):
    return trained("causal")


@pytest.fixture(scope="module")
def items(tmp_path_factory):
    return tiny.write_items(tmp_path_factory.mktemp("items") / "items.parquet", tiny.pairs(200))


def command(items, checkpoint, directory):
    """The command as the workflow calls it, without the Python that runs it."""
    options = OPTIONS.model_dump_json()
    words = tiny.score_words(items, checkpoint, "transformers", directory, options)
    return ["blimpworks", *words]


def score(items, checkpoint, directory):
    """The command in a process of its own: its exit status, and what it says."""
    python = [sys.executable, "-m", *command(items, checkpoint, directory)]
    done = subprocess.run(python, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


@pytest.fixture
def score_here(monkeypatch, capsys):
    """The same in this process, which has loaded what takes seconds to load."""

    def score(items, checkpoint, directory):
        monkeypatch.setattr(sys, "argv", command(items, checkpoint, directory))
        try:
            main()
        except SystemExit as end:
            return end.code or 0, capsys.readouterr().err
        raise AssertionError("a command ends its process")

    return score


def last_line(done):
    """What a failed command ends with; it must not be a stack trace."""
    status, said = done
    assert status == 2
    assert "Traceback" not in said
    return said.strip().splitlines()[-1]


def shards(directory):
    return {p.name: p.read_bytes() for p in (directory / "shards").glob("part-*.parquet")}


@pytest.mark.slow
def test_a_full_disk_is_told_and_costs_no_more_than_the_shard_in_hand(
    model, items, tmp_path, small_disk, score_here
):
    (tmp_path / "whole").mkdir()
    assert score_here(items, model, tmp_path / "whole")[0] == 0
    whole = shards(tmp_path / "whole")

    said = last_line(score_here(items, model, small_disk))
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
    """A copy of the model that a test may damage: its seal vouches for no file."""
    return tiny.copied(model, tmp_path / "copy", files={})


@pytest.mark.parametrize("damage", ["cut", "empty", "gone", "not json"])
def test_corrupt_weights_that_were_sealed_are_told_in_one_sentence(
    items, tmp_path, copy, score_here, damage
):
    weights, settings = copy.with_name("model.safetensors"), copy.with_name("config.json")
    if damage == "cut":
        weights.write_bytes(weights.read_bytes()[:2000])
    elif damage == "empty":
        weights.write_bytes(b"")
    elif damage == "gone":
        weights.unlink()
    else:
        settings.write_text("{")
    said = last_line(score_here(items, copy, tmp_path))
    assert str(copy.parent) in said
    assert ("config.json:1: " if damage == "not json" else "cannot be loaded") in said
    assert not (tmp_path / "shards").exists()


def test_a_score_that_is_no_number_is_marked_and_tried_again_on_request(items, tmp_path, copy):
    weights, settings = copy.with_name("model.safetensors"), copy.with_name("config.json")
    settings.write_text(
        json.dumps(json.loads(settings.read_text()) | {"tie_word_embeddings": False})
    )
    name = "model.embed_tokens.weight"
    sound = load_file(weights)
    sound["lm_head.weight"] = sound[name].clone()
    broken = sound | {name: sound[name].clone()}
    tokenizer = AutoTokenizer.from_pretrained(copy.parent)
    broken[name][tokenizer("the cat").input_ids[-1]] = float("nan")
    save_file(broken, weights, metadata={"format": "pt"})

    def run(**changes):
        paths = (tmp_path / "shards", tmp_path / "manifest.json")
        options = OPTIONS.model_copy(update=changes)
        return score_items([items], copy, *paths, "transformers", options).statuses

    def collect():
        shards = Shards(tmp_path / "manifest.json", tmp_path / "shards")
        return collect_scores(items, shards, tmp_path / "scores.parquet")

    first = run()
    assert first["not_finite"] > 10
    assert first["ok"] > 10
    assert collect()["logprob_good"].null_count > 10
    save_file(sound, weights, metadata={"format": "pt"})
    assert run() == first
    assert run(retry_failed=True) == {"ok": first["ok"] + first["not_finite"]}
    assert collect()["logprob_good"].null_count == 0
    assert run(retry_failed=True) == {"ok": first["ok"] + first["not_finite"]}
