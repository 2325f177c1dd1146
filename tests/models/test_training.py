import contextlib
import json
import re
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import AutoConfig
from typer.testing import CliRunner

from blimpworks.campaign.settings.training import TrainingOptions, TransformerRecipe
from blimpworks.cli import app
from blimpworks.errors import UserError
from blimpworks.files import sha256_of, sidecar_path
from blimpworks.models import encoding, fitting, lstm, text, transformer
from blimpworks.models.checkpoint import read_checkpoint
from blimpworks.models.corpus import encode, make_vocabulary
from blimpworks.models.ngram import END, UNKNOWN, tool
from blimpworks.models.text import split_words
from support import tiny

NETWORKS = (tiny.make_transformer, tiny.make_with_muon, tiny.make_masked, tiny.make_seq2seq)
NETWORKS += (tiny.make_instruct, tiny.make_lstm)
MAKERS = (tiny.make_ngram, *NETWORKS)


@pytest.fixture
def treebank(tmp_path):
    divided = "1-2:Dámelo 1:Da 2:melo 2.1:tú 3:ya+ 4:."
    return tiny.write_treebank(tmp_path, "1:Vámonos+ 2:!", divided, "1:Sí+ 2:.")


def build(tmp_path, treebank=(None, None), texts=(), items=(), **options):
    output = tmp_path / "text.txt"
    chosen = TrainingOptions(**options)
    counts = text.build_text(*treebank, list(texts), list(items), output, chosen)
    return output.read_text(encoding="utf-8").split("\n")[:-1], counts


def test_sentences_of_items_never_come_in(tmp_path, treebank):
    plain = tmp_path / "plain.txt"
    plain.write_text("Los  perros ven.\nLos perros ve.\nDámelo ya.\nQueda esto.\nQueda esto.\n")
    origins = {"treebank": [None, "UD_X"], "file": [None, "a.conllu"], "sent_id": [None, "s1"]}
    pairs = [("Los perros ven.", "Los perros ve."), ("Otra cosa.", "Otro cosa.")]
    items = tiny.write_items(tmp_path / "items.parquet", pairs, **origins)
    result, counts = build(tmp_path, treebank, [plain], [items])
    assert result == ["Queda esto.", "Vámonos!", "Sí."]
    assert counts == {"kept": 3, "available": 3, "held_out": 4, "repeated": 1}


def test_a_mark_at_the_start_of_a_file_hides_no_sentence_of_an_item(tmp_path, treebank):
    plain = tmp_path / "plain.txt"
    plain.write_text("Dámelo hoy.\r\nQueda esto.\r\n", encoding="utf-8-sig", newline="")
    items = tiny.write_items(tmp_path / "items.parquet", [("Dámelo hoy.", "Dámela hoy.")])
    result, counts = build(tmp_path, treebank, [plain], [items], treebank_text=False)
    assert (result, counts["held_out"]) == (["Queda esto."], 1)


def test_origins_are_held_out_of_other_text_too(tmp_path, treebank):
    plain = tmp_path / "plain.txt"
    plain.write_text("Dámelo ya.\nSí.\nQueda esto.\n")
    origin = {"treebank": ["UD_X"], "file": ["a.conllu"], "sent_id": ["s1"]}
    items = tiny.write_items(tmp_path / "items.parquet", [("Otra cosa.", "Otro cosa.")], **origin)
    result, counts = build(tmp_path, treebank, [plain], [items], treebank_text=False)
    assert result == ["Sí.", "Queda esto."]
    assert counts["held_out"] == 1


@pytest.mark.parametrize(
    ("tokenised", "sentences"),
    [
        (False, ["A guest-starring role in 2,000 rooms.",
                 'He, J. Smith (an actor), said "yes".']),
        (True, ["A guest-starring role in 2,000 rooms .",
                'He , J. Smith ( an actor ) , said " yes " .', "Judge <unk> left ."]),
    ],
)  # fmt: skip
def test_wikitext_is_undone_or_keeps_its_tokens_and_unknown_words(tmp_path, tokenised, sentences):
    plain = tmp_path / "wiki.txt"
    plain.write_text(
        " \n = Robert = \n \n A guest @-@ starring role in 2 @,@ 000 rooms . He , J. Smith ( an"
        ' actor ) , said " yes " . Judge <unk> left . \n = = Career = = \n'
    )
    assert [*text.plain_sentences(plain, tokenised=tokenised)] == sentences


def test_long_text_is_thinned_evenly(tmp_path):
    plain = tmp_path / "plain.txt"
    plain.write_text("".join(f"Satz {i}\n" for i in range(100)))
    result, counts = build(tmp_path, texts=[plain], max_sentences=10)
    assert result == [f"Satz {i}" for i in range(0, 100, 10)]
    assert counts["available"] == 100


@settings(deadline=None)  # the first call compiles the pattern
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
    expected = ["कुत्ते", ",", "don", "'", "t", "<", "s", ">"]
    assert [w for w, _ in split_words("कुत्ते, don't <s>")] == expected


@given(st.lists(st.integers(1, 40), min_size=1, max_size=60), st.integers(0, 3))
def test_epoch_holds_every_sentence_once_and_few_tokens(lengths, epoch):
    batches = encoding.epoch_batches(np.array(lengths), 50, 0, epoch)
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    assert all(len(b) == 1 or len(b) * max(lengths[i] for i in b) <= 50 for b in batches)


@given(st.integers(1, 40), st.floats(0.01, 0.9), st.integers(0, 9))
def test_masked_tokens_are_guessed_and_the_others_stay(length, share, seed):
    row = np.concatenate([[encoding.CLS], np.arange(10, 10 + length), [encoding.SEP]])
    ids, labels = encoding.mask_tokens(row, share, 99, np.random.default_rng(seed))
    guessed = labels != encoding.IGNORED
    assert guessed.sum() == max(1, round(share * length))
    assert not guessed[[0, -1]].any()
    assert (labels[guessed] == row[guessed]).all()
    assert (ids[~guessed] == row[~guessed]).all()
    assert ((ids == encoding.MASK) | (ids >= 5))[1:-1].all()


def test_most_tokens_to_guess_are_masked_and_some_are_not():
    row = np.concatenate([[encoding.CLS], np.full(20000, 10), [encoding.SEP]])
    ids, labels = encoding.mask_tokens(row, 0.5, 99, np.random.default_rng(0))
    guessed = ids[labels != encoding.IGNORED]
    shares = [(guessed == encoding.MASK).mean(), (guessed == 10).mean()]
    assert shares == pytest.approx([0.8, 0.1], abs=0.02)


@given(st.integers(1, 60), st.floats(0.01, 0.9), st.floats(1, 5), st.integers(0, 9))
def test_spans_taken_out_fit_back_in(length, share, mean, seed):
    row = np.arange(1000, 1000 + length)
    draw = np.random.default_rng(seed)
    source, target = encoding.cut_spans(row, share, mean, draw)
    assert source[-1] == target[-1] == encoding.EOS_ID
    spans, sentinel = {}, None
    for token in target[:-1].tolist():
        if token < 1000:
            sentinel, spans[token] = token, []
        else:
            spans[sentinel].append(token)
    *marks, last = spans
    assert [*marks, last] == list(range(encoding.SENTINEL, last + 1))
    assert spans.pop(last) == []
    assert all(spans.values())
    taken = sum(map(len, spans.values()))
    assert taken == max(1, round(share * length))
    restored = [t for token in source[:-1].tolist() for t in spans.get(token, [token])]
    assert restored == row.tolist()


def lstm_course(lines, **settings):
    recipe = tiny.LSTM.model_copy(update=settings)
    words = [line.split() for line in lines]
    ids = {word: n for n, word in enumerate(make_vocabulary(words, 99, 1))}
    shape = recipe.model_dump(include={"layers", "hidden", "embedding"})
    model = lstm.LstmModel(lstm.LstmSettings(words="split", vocabulary=len(ids), **shape))
    text = lstm.columns(encode(words, ids), recipe.batch)
    return lstm._Course(model, text, lstm.columns(encode(words[:40], ids), 10), recipe, 0)


def test_columns_hold_the_text_in_order():
    ids = {"<unk>": 0, "<eos>": 1, "a": 2, "b": 3}
    table = lstm.columns(encode([["a", "b"], ["a", "c", "b"]], ids), 2)
    # a b <eos> | a <unk> b, and the last <eos> left over
    assert table.T.tolist() == [[2, 3, 1], [2, 0, 3]]


def test_vocabulary_is_by_frequency_then_by_code_point():
    sentences = [["b", "a", "c"], ["c", "<unk>", "b", "c", "d", "<eos>"]]
    assert make_vocabulary(sentences, 9, 1) == ["<unk>", "<eos>", "c", "b", "a", "d"]
    assert make_vocabulary(sentences, 4, 1) == ["<unk>", "<eos>", "c", "b"]
    assert make_vocabulary(sentences, 9, 2) == ["<unk>", "<eos>", "c", "b"]


def test_rate_falls_to_a_quarter_when_validation_does_not_improve(monkeypatch):
    course = lstm_course(tiny.sentences(80), learning_rate=8.0)
    epoch = course.steps // tiny.LSTM.epochs
    losses = iter([3.0, 3.5, 3.0, 2.9])
    monkeypatch.setattr(course, "validation_loss", lambda: next(losses))
    assert [course.rate(step) for step in (0, epoch, 2 * epoch)] == [8.0, 8.0, 2.0]


def test_weights_of_the_best_epoch_are_kept(monkeypatch):
    course = lstm_course(tiny.sentences(80))
    losses = iter([3.0, 3.0, 2.9])
    monkeypatch.setattr(course, "validation_loss", lambda: next(losses))
    course.rate(course.steps // tiny.LSTM.epochs)
    bias = course.model.head.bias
    for expected in (0.0, 7.0):
        with torch.no_grad():
            bias.fill_(7.0)
        course.finish()
        assert (bias == expected).all()


def test_a_training_that_diverges_ends_with_what_to_change(tmp_path):
    corpus = tiny.write_corpus(tmp_path / "text.txt")
    recipe = tiny.LSTM.model_copy(update={"learning_rate": 1e38, "clip": 1e30})
    with pytest.raises(UserError) as error:
        tiny.make_lstm(corpus, tmp_path / "a" / "checkpoint.json", recipe)
    assert str(error.value).startswith("the training diverged: the loss is ")
    assert " at step 2 of 177; lower learning_rate" in str(error.value)
    assert "lower learning_rate (of an LSTM perhaps clip) in recipe 'lstm'." in str(error.value)


def test_a_validation_loss_that_is_no_number_ends_the_training_at_that_epoch():
    course = lstm_course(tiny.sentences(80))
    with torch.no_grad():
        course.model.head.bias.fill_(float("nan"))
    with pytest.raises(fitting.DivergedError, match="validation loss is nan after epoch 1"):
        course.rate(course.steps // tiny.LSTM.epochs)
    with pytest.raises(fitting.DivergedError, match="validation loss is nan after epoch 3"):
        course.finish()


def test_pieces_of_an_epoch_come_shuffled_or_in_sequence():
    lines = tiny.sentences(80)
    in_sequence = lstm_course(lines, order="sequential")
    shuffled = lstm_course(lines, order="shuffled")
    count = in_sequence.steps // tiny.LSTM.epochs
    starts = [course._starts[: 2 * count] for course in (in_sequence, shuffled)]
    assert starts[0] == 2 * [7 * piece for piece in range(count)]
    assert starts[1][:count] != starts[1][count:]
    assert sorted(starts[1][:count]) == sorted(starts[1][count:]) == starts[0][:count]


def test_a_corpus_too_short_for_an_lstm_is_an_error(tmp_path):
    corpus = tiny.write_corpus(tmp_path / "text.txt", 14)
    recipe = tiny.LSTM.model_copy(update={"batch": 60})
    with pytest.raises(UserError, match=r"too short: .* but 60 columns of two words"):
        tiny.make_lstm(corpus, tmp_path / "a" / "checkpoint.json", recipe)


@pytest.mark.slow
@pytest.mark.parametrize("make", [tiny.make_ngram, tiny.make_transformer, tiny.make_lstm])
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


@pytest.mark.parametrize("make", [tiny.make_ngram, tiny.make_transformer, tiny.make_lstm])
def test_training_takes_a_directory_of_its_own(tmp_path, make):
    corpus = tiny.write_corpus(tmp_path / "text.txt", 60)
    mine = tmp_path / "mine"
    mine.mkdir()
    for name in ("thesis.tex", "notes.json"):
        (mine / name).write_text("precious")
    with pytest.raises(UserError, match=r"thesis\.tex is no file of .* move it away or choose"):
        make(corpus, mine / "checkpoint.json")
    assert sorted(tiny.contents(mine)) == ["notes.json", "thesis.tex"]


def test_an_ngram_model_repeats_describes_itself_and_its_record_names_its_programs(tmp_path):
    corpus = tiny.write_corpus(tmp_path / "text.txt", 30)
    outputs = [tmp_path / name / "checkpoint.json" for name in "ab"]
    for output in outputs:
        words = ["train-ngram", str(corpus), "--name=g", "--scope=eng", "--recipe-name=g"]
        words += [f"--recipe={tiny.NGRAM.model_dump_json()}", f"--output={output}"]
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, done.output
    described = read_checkpoint(outputs[0])
    assert outputs[0].read_bytes() == outputs[1].read_bytes(), "digests of all files too"
    assert (described.architecture, described.source.text_sha256) == ("ngram", sha256_of(corpus))
    assert sorted(described.files) == ["model.bin", "vocabulary.txt"]
    vocabulary = outputs[0].with_name("vocabulary.txt").read_text().split("\n")
    assert vocabulary[:2] == [UNKNOWN, END]
    notes = json.loads(sidecar_path(outputs[0]).read_text())["notes"]
    programs = {name: sha256_of(Path(tool(name))) for name in ("lmplz", "build_binary")}
    assert notes == {"programs": programs}


def test_altered_checkpoint_is_refused(trained, tmp_path):
    checkpoint = tiny.copied(trained("ngram"), tmp_path / "a")
    (tmp_path / "a" / "vocabulary.txt").write_text("x\n")
    with pytest.raises(UserError, match=r"vocabulary\.txt is .* expects SHA-256"):
        read_checkpoint(checkpoint)


def test_empty_text_is_an_error(tmp_path):
    (tmp_path / "text.txt").write_text("")
    for train in MAKERS:
        with pytest.raises(UserError, match=r"expected training text, one|sentence is left of 0"):
            train(tmp_path / "text.txt", tmp_path / "a" / "checkpoint.json")


@pytest.mark.parametrize(
    "shape", [{}, {"hidden": 32, "heads": 2, "layers": 1}, {"vocabulary": 77, "layers": 3}]
)
def test_a_recipe_knows_how_many_parameters_its_model_has(shape):
    recipe = TransformerRecipe(kind="transformer", **shape)
    model = transformer.new_model(recipe, recipe.vocabulary)
    assert recipe.parameters == model.num_parameters()


def test_sizes_are_known_before_training_unless_the_corpus_decides_the_words():
    recipes = {"small": {"kind": "transformer"}, "ngram": {"kind": "ngram"}}
    recipes |= {"of_words": {"kind": "transformer", "corpus": "default"}}
    options = TrainingOptions.model_validate({"corpora": {"default": {}}, "recipes": recipes})
    sizes = [options.billions(name) for name in ("small", "of_words", "ngram", "unheard-of")]
    assert sizes == [336_864 / 1e9, None, None, None]


class Killed(BaseException):
    """Ends a training as a signal would."""


@pytest.mark.slow
@pytest.mark.parametrize("make", NETWORKS)
def test_training_killed_after_every_snapshot_ends_with_the_same_bytes(tmp_path, monkeypatch, make):
    corpus = tiny.write_corpus(tmp_path / "text.txt", 90)
    whole = make(corpus, tmp_path / "whole" / "checkpoint.json")
    started, save_snapshot, load_snapshot = [], fitting.save_snapshot, fitting.load_snapshot

    def save_and_die(*arguments):
        save_snapshot(*arguments)
        raise Killed

    def load(*arguments):
        result = load_snapshot(*arguments)
        started.append(result[0])
        return result

    monkeypatch.setattr(fitting, "load_snapshot", load)
    monkeypatch.setattr(fitting, "save_snapshot", save_and_die)
    other = tmp_path / "other" / "checkpoint.json"
    while not other.exists():
        with contextlib.suppress(Killed):
            make(corpus, other)
    every = started[1]
    assert started == list(range(0, every * len(started), every))
    assert tiny.contents(other.parent) == tiny.contents(whole.parent)
    assert not (tmp_path / ".other.training").exists()


@pytest.mark.parametrize("architecture", ["causal", "masked", "encoder-decoder"])
def test_muon_changes_the_matrices_of_the_blocks_and_adamw_the_rest(trained, architecture):
    config = AutoConfig.from_pretrained(trained(architecture).parent)
    model = getattr(transformers, config.architectures[0])(config)
    recipe = tiny.RECIPE.model_copy(update={"optimiser": "muon"})
    muon, adamw = transformer.optimisers_of(model, recipe)
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    hidden, others = (
        [names.pop(id(parameter)) for parameter in optimiser.param_groups[0]["params"]]
        for optimiser in (muon, adamw)
    )
    assert not names
    assert len(hidden) >= 6 * tiny.RECIPE.layers
    assert all(re.search(r"\.(layers?|block|transform)\.", name) for name in hidden)
    matrices = [name for name in others if model.get_parameter(name).dim() == 2]
    assert all(re.search("embed|shared|lm_head|relative_attention_bias", name) for name in matrices)


@pytest.mark.parametrize("shape", [(24, 24), (12, 40), (40, 12)])
def test_steps_of_muon_are_those_of_pytorch_but_for_its_rounding(shape):
    draw = torch.Generator().manual_seed(0)
    start = torch.randn(shape, generator=draw)
    ours, theirs = (torch.nn.Parameter(start.clone()) for _ in range(2))
    pytorch = torch.optim.Muon([theirs], lr=0.02, weight_decay=0.1, adjust_lr_fn="match_rms_adamw")
    muon = fitting.Muon([ours], weight_decay=0.1)
    for group in muon.param_groups:
        group["lr"] = 0.02
    for _ in range(5):
        ours.grad = torch.randn(shape, generator=draw)
        theirs.grad = ours.grad.clone()
        muon.step()
        pytorch.step()
    moved = (ours - start).norm()
    assert (ours - theirs).norm() < 0.02 * moved


def test_snapshot_serves_its_own_run_only(tmp_path):
    model = torch.nn.Linear(2, 2)
    optimiser = torch.optim.AdamW(model.parameters())
    model(torch.ones(1, 2)).sum().backward()
    optimiser.step()
    fitting.save_snapshot(tmp_path, "this", 5, model, [optimiser], {"best": torch.ones(1)})
    before = model.weight.clone()
    optimiser.step()
    assert fitting.load_snapshot(tmp_path, "that", model, [optimiser]) == (0, {})
    assert not torch.equal(model.weight, before)
    assert fitting.load_snapshot(tmp_path, "this", model, [optimiser]) == (5, {"best": 1.0})
    assert torch.equal(model.weight, before)


def test_broken_snapshot_is_not_used(tmp_path):
    corpus = tiny.write_corpus(tmp_path / "text.txt", 60)
    whole = tiny.make_transformer(corpus, tmp_path / "whole" / "checkpoint.json")
    scratch = tmp_path / ".other.training"
    scratch.mkdir()
    (scratch / fitting.SNAPSHOT).write_bytes(b"rubbish")
    other = tiny.make_transformer(corpus, tmp_path / "other" / "checkpoint.json")
    assert json.loads(other.read_text()) == json.loads(whole.read_text())
