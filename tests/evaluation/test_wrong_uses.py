"""What `blimpworks evaluate` says to a request that cannot be met: one sentence, and what to do."""

import json

import pytest

from blimpworks.cli import run_here
from blimpworks.errors import UserError
from blimpworks.records.job import REPOSITORY


@pytest.fixture(autouse=True)
def place(monkeypatch, tmp_path):
    """A directory of the user's with some models that cannot be run, and no network."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    for name, config in {
        "empty": None,
        "pickled": {"architectures": ["GPT2LMHeadModel"]},
        "own_code": {"architectures": ["MyModel"], "auto_map": {"AutoModel": "my.MyModel"}},
        "classifier": {"architectures": ["BertForSequenceClassification"]},
    }.items():
        (tmp_path / name).mkdir()
        if config is not None:
            (tmp_path / name / "config.json").write_text(json.dumps(config))
    (tmp_path / "pickled/pytorch_model.bin").write_bytes(b"\x80\x04.")
    (tmp_path / "noise.arpa").write_text("no n-grams here\n")
    (tmp_path / "file.txt").write_text("something else\n")


WRONG = {
    "no model": ([], "no model is named; "),
    "a misspelt name": (["gtp2"], "Did you mean 'gpt2'?"),
    "a directory that is not there": (["./nomodel"], "nomodel"),
    "an empty directory": (["./empty"], "config.json"),
    "pickled weights": (["./pickled"], "blimpworks convert-weights"),
    "code beside a model": (["./own_code"], "code of its own (auto_map), which is never run"),
    "a model of no language": (["./classifier"], "expected a language model"),
    "an n-gram file without n-grams": (["noise.arpa"], "noise.arpa"),
    "a hub model without a network": (["someone/some-model"], "someone/some-model"),
    "a GGUF file of the hub with --": (
        ["some/m:a--b.gguf"],
        "at revision 'main' is not complete in the cache",
    ),
    "a hub name with --": (["some/m--x"], "no name that the hub could have"),
    "what is no hub id": (["some one/some model"], "some one/some model"),
    "a model twice": (["ngram-5", "ngram-5"], "twice"),
    "a model at two revisions": (["gpt2", "goldfish", "gpt2@main"], "is named twice"),
    "a hub name without its owner": (["Qwen3-8B"], "Did you mean 'qwen3-8b'?"),
    "a path that is no hub name": (["a/b/c"], "no name that the hub could have"),
    "an n-gram file that is not there": (["models/mine.arpa"], "is no file or directory"),
    "a model without an address": (["transformer-xl-wt103"], "of the catalogue cannot be had"),
    "an unknown benchmark": (["ngram-5", "--benchmarks=bilmp"], "Did you mean 'blimp'?"),
    "an unknown language": (["ngram-5", "--languages=Germn"], "Did you mean 'german'?"),
    "unknown data": (["ngram-5", "--data=all"], "expected auto, embedded, released"),
    "a mirror that is not there": (["ngram-5", "--mirror=nowhere"], "which is no directory"),
    "a mirror of embedded data": (
        ["ngram-5", "--mirror=empty", "--data=embedded"],
        "--mirror has released data, which --data embedded leaves out",
    ),
    "an unknown engine": (["ngram-5", "--engine=onnx"], "--engine is 'onnx'; expected auto"),
    "an engine that cannot": (["ngram-5", "--engine=vllm"], "model 'ngram-5'"),
    "a number format that is none": (["gpt2", "--dtype=float12"], "float12"),
    "prompts for an n-gram model": (
        ["ngram-5", "--benchmarks=lmentry"],
        "it has prompts, which ngram models cannot answer",
    ),
    "a benchmark without the language": (
        ["ngram-5", "--benchmarks=clams", "--languages=fra"],
        "the campaign has no language of it",
    ),
    "a language without a treebank": (
        ["ngram-5", "--benchmarks=multiblimp", "--languages=Kazakh"],
        "config/demo/treebanks.tsv has no treebank file of 'kaz'",
    ),
    "a folder that is a file": (["ngram-5", "--out=file.txt"], "file.txt, which is a file"),
    "a folder of other things": (["ngram-5", "--out=pickled"], "which holds other things"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_use_is_answered_with_what_to_do(case):
    arguments, says = WRONG[case]
    # The command works in the repository, and the fixture comes back from there.
    with pytest.raises(UserError) as refusal:
        run_here(["evaluate", "--dry-run", "--out=out", *arguments])
    message = str(refusal.value)
    assert says in message
    assert "Traceback" not in message
    assert len(message) < 700


def test_the_repository_is_left_as_it_was():
    before = {*REPOSITORY.iterdir()}
    with pytest.raises(UserError):
        run_here(["evaluate", "gtp2"])
    assert {*REPOSITORY.iterdir()} == before
