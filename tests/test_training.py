import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pytest
import tiny
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoModelForCausalLM, AutoTokenizer
from typer.testing import CliRunner

from blimpworks.cli import app
from blimpworks.config import TrainingOptions
from blimpworks.errors import UserError
from blimpworks.files import sha256_of
from blimpworks.models import snapshot, text, transformer
from blimpworks.models.checkpoint import read_checkpoint
from blimpworks.models.ngram import END, UNKNOWN, tool
from blimpworks.models.words import split_words
from blimpworks.provenance.record import sidecar_path
from blimpworks.tables import SENTENCES, TOKENS, write_table

# sentence, id, word, form, space_after
LINES = [
    (0, "1", 1, "Vámonos", False),
    (0, "2", 2, "!", True),
    (1, "1-2", None, "Dámelo", True),
    (1, "1", 1, "Da", True),
    (1, "2", 2, "melo", True),
    (1, "2.1", None, "tú", True),
    (1, "3", 3, "ya", False),
    (1, "4", 4, ".", True),
    (2, "1", 1, "Sí", False),
    (2, "2", 2, ".", True),
]


@pytest.fixture
def treebank(tmp_path):
    names = ("sentence", "id", "word", "form", "space_after")
    columns = dict(zip(names, map(list, zip(*LINES, strict=True)), strict=True))
    rest = {n: pa.nulls(len(LINES), k) for n, k in TOKENS.columns if n not in columns}
    write_table(pa.table({**columns, **rest}), TOKENS, tmp_path / "tokens.parquet")
    sentences = {
        "sentence": [0, 1, 2],
        "treebank": ["UD_Spanish-X"] * 3,
        "file": ["a.conllu"] * 3,
        "sent_id": ["s0", "s1", "s2"],
        "line": [1, 4, 10],
        "words": [2, 4, 2],
        "text": ["Vámonos!", "Dámelo ya.", "Sí."],
        "comments": [[], [], []],
    }
    write_table(pa.table(sentences), SENTENCES, tmp_path / "sentences.parquet")
    return tmp_path / "tokens.parquet", tmp_path / "sentences.parquet"


def build(tmp_path, treebank=(None, None), texts=(), items=(), **options):
    output = tmp_path / "text.txt"
    counts = text.build_text(
        *treebank, list(texts), list(items), output, TrainingOptions(**options)
    )
    return output.read_text(encoding="utf-8").split("\n")[:-1], counts


def test_treebank_sentences_are_detokenised(tmp_path, treebank):
    assert build(tmp_path, treebank)[0] == ["Vámonos!", "Dámelo ya.", "Sí."]


def test_treebank_can_be_left_out(tmp_path, treebank):
    plain = tmp_path / "plain.txt"
    plain.write_text("Nur dies.\n")
    assert build(tmp_path, treebank, [plain], treebank_text=False)[0] == ["Nur dies."]


def test_sentences_of_items_never_come_in(tmp_path, treebank):
    plain = tmp_path / "plain.txt"
    plain.write_text("Los  perros ven.\nLos perros ve.\nDámelo ya.\nQueda esto.\nQueda esto.\n")
    items = tiny.write_items(
        tmp_path / "items.parquet",
        [("Los perros ven.", "Los perros ve."), ("Otra cosa.", "Otro cosa.")],
        treebank=[None, "UD_Spanish-X"],
        file=[None, "a.conllu"],
        sent_id=[None, "s1"],
    )
    found, counts = build(tmp_path, treebank, [plain], [items])
    assert found == ["Queda esto.", "Vámonos!", "Sí."]
    assert counts == {"kept": 3, "available": 3, "held_out": 4, "repeated": 1}


def test_origins_are_held_out_of_other_text_too(tmp_path, treebank):
    plain = tmp_path / "plain.txt"
    plain.write_text("Dámelo ya.\nSí.\nQueda esto.\n")
    origin = {"treebank": ["UD_Spanish-X"], "file": ["a.conllu"], "sent_id": ["s1"]}
    items = tiny.write_items(tmp_path / "items.parquet", [("Otra cosa.", "Otro cosa.")], **origin)
    found, counts = build(tmp_path, treebank, [plain], [items], treebank_text=False)
    assert found == ["Sí.", "Queda esto."]
    assert counts["held_out"] == 1


def test_wikitext_is_undone(tmp_path):
    plain = tmp_path / "wiki.txt"
    plain.write_text(
        " \n = Robert = \n \n A guest @-@ starring role in 2 @,@ 000 rooms . He , J. Smith ( an"
        ' actor ) , said " yes " . Judge <unk> left . \n = = Career = = \n'
    )
    assert build(tmp_path, texts=[plain])[0] == [
        "A guest-starring role in 2,000 rooms.",
        'He, J. Smith (an actor), said "yes".',
    ]


def test_long_text_is_thinned_evenly(tmp_path):
    plain = tmp_path / "plain.txt"
    plain.write_text("".join(f"Satz {i}\n" for i in range(100)))
    found, counts = build(tmp_path, texts=[plain], max_sentences=10)
    assert found == [f"Satz {i}" for i in range(0, 100, 10)]
    assert counts["available"] == 100


def test_no_sentence_left_is_an_error(tmp_path):
    with pytest.raises(UserError, match="no training sentence is left of 0"):
        build(tmp_path)


def test_text_must_be_utf8(tmp_path):
    (tmp_path / "latin.txt").write_bytes("für".encode("latin-1"))
    with pytest.raises(UserError, match=r"latin.txt: byte 1 is not UTF-8"):
        build(tmp_path, texts=[tmp_path / "latin.txt"])


@given(st.text())
def test_words_cover_the_text_in_order(sentence):
    words = split_words(sentence)
    ends = [end for _, end in words]
    assert ends == sorted(set(ends))
    assert all(sentence[end - len(word) : end] == word for word, end in words)
    joined = " ".join(word for word, _ in words)
    assert [w for w, _ in split_words(joined)] == [w for w, _ in words]
    assert len(joined.encode().split()) == len(words)


def test_words_keep_marks_and_part_punctuation():
    assert [w for w, _ in split_words("कुत्ते, don't <s>")] == [
        *("कुत्ते", ",", "don", "'", "t", "<", "s", ">")
    ]


@given(st.lists(st.integers(1, 40), min_size=1, max_size=60), st.integers(0, 3))
def test_epoch_holds_every_sentence_once_and_few_tokens(lengths, epoch):
    import numpy as np

    batches = transformer.epoch_batches(np.array(lengths), 50, 0, epoch)
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    assert all(len(b) == 1 or len(b) * max(lengths[i] for i in b) <= 50 for b in batches)


def test_learning_rate_rises_then_falls():
    rates = [transformer.learning_rate(step, 100, 1.0) for step in range(100)]
    assert rates.index(max(rates)) == 4
    assert max(rates) == 1.0
    assert rates[:5] == sorted(rates[:5])
    assert rates[5:] == sorted(rates[5:], reverse=True)


def test_ngram_repeats_and_describes_itself(tmp_path):
    corpus = tiny.write_corpus(tmp_path / "text.txt")
    for name in ("a", "b"):
        tiny.make_ngram(corpus, tmp_path / name / "checkpoint.json")
    assert tiny.contents(tmp_path / "a") == tiny.contents(tmp_path / "b")
    described = read_checkpoint(tmp_path / "a" / "checkpoint.json")
    assert described.architecture == "ngram"
    assert described.source.text_sha256 == sha256_of(corpus)
    assert sorted(described.files) == ["model.bin", "vocabulary.txt"]
    vocabulary = (tmp_path / "a" / "vocabulary.txt").read_text().split("\n")
    assert vocabulary[:2] == [UNKNOWN, END]


@pytest.mark.parametrize("make", [tiny.make_ngram, tiny.make_transformer])
def test_leftovers_are_no_part_of_a_trained_model(tmp_path, make):
    corpus = tiny.write_corpus(tmp_path / "text.txt", 30)
    clean = make(corpus, tmp_path / "clean" / "checkpoint.json")
    used = tmp_path / "used"
    (used / ".scratch-x").mkdir(parents=True)
    leftovers = ("model-00001-of-00002.safetensors", "added_tokens.json", "model.bin")
    for name in (*leftovers, "checkpoint.json", ".scratch-x/corpus.txt"):
        (used / name).write_text("left by another run")
    make(corpus, used / "checkpoint.json")
    assert tiny.contents(used) == tiny.contents(clean.parent)
    assert not (used / ".scratch-x").exists()


@pytest.mark.parametrize("make", [tiny.make_ngram, tiny.make_transformer])
def test_training_takes_a_directory_of_its_own(tmp_path, make):
    corpus = tiny.write_corpus(tmp_path / "text.txt", 5)
    mine = tmp_path / "mine"
    mine.mkdir()
    for name in ("thesis.tex", "notes.json"):
        (mine / name).write_text("precious")
    with pytest.raises(UserError, match=r"thesis\.tex is no part of .* move it away or choose"):
        make(corpus, mine / "checkpoint.json")
    assert sorted(tiny.contents(mine)) == ["notes.json", "thesis.tex"]


def test_record_of_an_ngram_model_names_its_programs(tmp_path):
    corpus = tiny.write_corpus(tmp_path / "text.txt", 30)
    output = tmp_path / "a" / "checkpoint.json"
    arguments = ["train-ngram", str(corpus), "--name", "g", "--scope", "eng", "--recipe-name", "g"]
    arguments += ["--recipe", tiny.NGRAM.model_dump_json(), "--output", str(output)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    notes = json.loads(sidecar_path(output).read_text())["notes"]
    programs = {name: sha256_of(Path(tool(name))) for name in ("lmplz", "build_binary")}
    assert notes == {"programs": programs}


def test_altered_checkpoint_is_refused(tmp_path):
    checkpoint = tiny.make_ngram(
        tiny.write_corpus(tmp_path / "text.txt"), tmp_path / "a/checkpoint.json"
    )
    (tmp_path / "a" / "vocabulary.txt").write_text("x\n")
    with pytest.raises(UserError, match=r"vocabulary\.txt is .* expects SHA-256"):
        read_checkpoint(checkpoint)


def test_empty_text_is_an_error(tmp_path):
    (tmp_path / "text.txt").write_text("")
    for train in (tiny.make_ngram, tiny.make_transformer):
        with pytest.raises(UserError, match="expected training text, one sentence per line"):
            train(tmp_path / "text.txt", tmp_path / "a" / "checkpoint.json")


def test_trained_model_loads_with_transformers(tmp_path):
    corpus = tiny.write_corpus(tmp_path / "text.txt", 30)
    tiny.make_transformer(corpus, tmp_path / "a" / "checkpoint.json")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "a")
    model = AutoModelForCausalLM.from_pretrained(tmp_path / "a")
    sentence = "the dog sees कुत्ता 🙂"
    assert tokenizer.decode(tokenizer(sentence)["input_ids"]) == sentence
    assert (tokenizer.bos_token_id, tokenizer.eos_token_id) == (0, 1)
    assert model.config.vocab_size == len(tokenizer)
    assert not (tmp_path / ".a.training").exists()


def wait_for(condition, process, seconds=90):
    """Until ``condition``; fails when the process ends first."""
    end = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, "the process ended before it could be killed"
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.002)


@pytest.mark.slow
def test_killed_training_ends_with_the_same_bytes(tmp_path):
    corpus = tiny.write_corpus(tmp_path / "text.txt", 600)
    whole = tmp_path / "whole" / "checkpoint.json"
    tiny.make_transformer(corpus, whole)
    killed = tmp_path / "killed" / "checkpoint.json"
    command = [sys.executable, "-m", "blimpworks", "train-transformer", str(corpus)]
    command += ["--name", "tiny", "--scope", "eng", "--recipe-name", "tiny", "--seed", "0"]
    command += ["--recipe", tiny.RECIPE.model_dump_json(), "--output", str(killed)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    state = tmp_path / ".killed.training" / snapshot.NAME
    wait_for(state.exists, process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not killed.exists()
    tiny.make_transformer(corpus, killed)
    assert tiny.contents(killed.parent) == tiny.contents(whole.parent)
    assert not state.parent.exists()


def test_clearing_leaves_the_snapshot_to_resume_from(tmp_path, monkeypatch):
    corpus = tiny.write_corpus(tmp_path / "text.txt", 60)
    steps = []

    def save_and_die(*arguments):
        snapshot.save_snapshot(*arguments)
        raise KeyboardInterrupt

    def load(*arguments):
        steps.append(snapshot.load_snapshot(*arguments))
        return steps[-1]

    monkeypatch.setattr(transformer, "load_snapshot", load)
    with monkeypatch.context() as patch:
        patch.setattr(transformer, "save_snapshot", save_and_die)
        with pytest.raises(KeyboardInterrupt):
            tiny.make_transformer(corpus, tmp_path / "a" / "checkpoint.json")
    tiny.make_transformer(corpus, tmp_path / "a" / "checkpoint.json")
    assert steps == [0, tiny.RECIPE.checkpoint_steps]


def test_snapshot_serves_its_own_run_only(tmp_path):
    model = torch.nn.Linear(2, 2)
    optimiser = torch.optim.AdamW(model.parameters())
    model(torch.ones(1, 2)).sum().backward()
    optimiser.step()
    snapshot.save_snapshot(tmp_path, "this", 5, model, optimiser)
    before = model.weight.clone()
    optimiser.step()
    assert snapshot.load_snapshot(tmp_path, "that", model, optimiser) == 0
    assert not torch.equal(model.weight, before)
    assert snapshot.load_snapshot(tmp_path, "this", model, optimiser) == 5
    assert torch.equal(model.weight, before)


def test_broken_snapshot_is_not_used(tmp_path):
    corpus = tiny.write_corpus(tmp_path / "text.txt", 60)
    whole = tiny.make_transformer(corpus, tmp_path / "whole" / "checkpoint.json")
    scratch = tmp_path / ".other.training"
    scratch.mkdir()
    (scratch / snapshot.NAME).write_bytes(b"rubbish")
    other = tiny.make_transformer(corpus, tmp_path / "other" / "checkpoint.json")
    assert json.loads(other.read_text()) == json.loads(whole.read_text())
