import json
import math
from itertools import permutations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from blimpworks.campaign.load import check_campaign, load_campaign
from blimpworks.campaign.scoring_jobs import CampaignSelection
from blimpworks.campaign.settings import training as settings
from blimpworks.campaign.settings.site import GpuKind, Site
from blimpworks.cli import app
from blimpworks.cluster import requests
from blimpworks.errors import UserError
from blimpworks.files import sidecar_path
from blimpworks.models import corpus as models_corpus
from blimpworks.models.checkpoint import Trained, seal, trained_checkpoint
from blimpworks.models.corpus import read_corpus, read_words, sentences_of, take_released
from blimpworks.models.lstm import LstmModel, LstmSettings, _save, mean_loss, measure_perplexity
from blimpworks.models.text import join_text
from blimpworks.tables import PERPLEXITIES, read_table
from support import tiny
from support.paths import REPOSITORY

PLAIN = settings.CorpusOptions(words="whitespace", unknown_share=1)
SPLITS = ("train", "valid", "test")


def build(directory, lines, options=PLAIN, items=(), tokens=None, sentences=None, **more):
    directory.mkdir(parents=True, exist_ok=True)
    text = directory / "text.txt"
    text.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    corpus = directory / "corpus" / "corpus.json"
    models_corpus.build_corpus(tokens, sentences, [text], list(items), corpus, options, **more)
    return corpus


def texts(corpus):
    return {s: (corpus.parent / f"{s}.txt").read_text("utf-8").splitlines() for s in SPLITS}


def every(corpus):
    return sorted(line for lines in texts(corpus).values() for line in lines)


def numbered(count):
    return [f"satz {number} endet ." for number in range(count)]


def test_each_sentence_comes_in_once_and_in_one_part(tmp_path):
    corpus = build(tmp_path, [*numbered(50), *numbered(20)])
    known = {*numbered(50)}
    parts = texts(corpus)
    # Unknown words of the test text are numbers.
    assert {*parts["train"], *parts["valid"]} < known
    assert len(every(corpus)) == 50
    assert len({*parts["train"], *parts["valid"]}) == len(parts["train"]) + len(parts["valid"])
    assert all("<unk>" in line for line in parts["test"])
    assert read_corpus(corpus).dropped["repeated"] == 20


def test_no_word_is_outside_the_vocabulary_and_the_rare_are_unknown_and_counted(tmp_path):
    corpus = build(tmp_path, tiny.sentences(150), PLAIN.model_copy(update={"vocabulary": 9}))
    vocabulary = read_words(corpus.parent / "vocabulary.txt")
    assert vocabulary[:3] == ["<unk>", "<eos>", "the"]
    assert len(vocabulary) == 9
    assert {word for line in every(corpus) for word in line.split()} == {*vocabulary} - {"<eos>"}
    for split, lines in texts(corpus).items():
        words, counts = " ".join(lines).split(), read_corpus(corpus).splits[split]
        assert (counts.sentences, counts.tokens) == (len(lines), len(words))
        assert counts.unknown == words.count("<unk>") > 0
        assert counts.types == len({*words} - {"<unk>"})
        assert counts.unknown_share == pytest.approx(counts.unknown / counts.tokens, abs=1e-6)


@given(
    st.lists(st.integers(1, 12), min_size=30, max_size=80),
    st.sampled_from([(0.8, 0.1, 0.1), (0.5, 0.25, 0.25), (0.34, 0.33, 0.33)]),
)
def test_parts_have_their_shares_of_the_tokens(lengths, shares):
    sentences = [(str(number),) * length for number, length in enumerate(lengths)]
    named = dict(zip(SPLITS, shares, strict=True))
    parts = models_corpus.split_corpus(sentences, settings.CorpusShares(**named))
    assert [*parts["train"], *parts["valid"], *parts["test"]] == sentences
    for split, share in named.items():
        # If a boundary is within a sentence, the whole sentence goes to one side.
        tokens = sum(map(len, parts[split]))
        assert abs(tokens - share * sum(lengths)) <= 2 * max(lengths)


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(tmp_path):
    lines = tiny.sentences(80)
    first, again = (build(tmp_path / name, lines) for name in "ab")
    other = build(tmp_path / "c", lines, PLAIN.model_copy(update={"seed": 1}))
    assert tiny.contents(first.parent) == tiny.contents(again.parent)
    assert texts(first) != texts(other)


def test_sentences_with_too_many_unknown_words_are_left_out(tmp_path):
    known = [" ".join(words) for words in permutations("abcd")]
    lines = [*known, *[f"a b c x{number}" for number in range(30)]]
    options = settings.CorpusOptions(words="whitespace", min_count=2, unknown_share=0.2)
    corpus = build(tmp_path, lines, options)
    result = read_corpus(corpus)
    assert every(corpus) == sorted(known)
    assert result.dropped["unknown"] == 30
    kept = build(tmp_path / "more", lines, options.model_copy(update={"unknown_share": 0.25}))
    assert every(kept).count("a b c <unk>") == 30


def test_at_most_so_many_sentences_come_in_evenly(tmp_path):
    lines = [" ".join(["x"] * n) for n in range(1, 101)]
    corpus = build(tmp_path, lines, PLAIN.model_copy(update={"max_sentences": 25}))
    assert sorted(map(len, every(corpus))) == sorted(len(line) for line in lines[::4])


@pytest.fixture
def treebank(tmp_path):
    # Two sentences many times, distinguished by a number at their end.
    two = ("1-2:du 1:de 2:le 3:l'+ 4:auteur+ 5:. 6:{}", "1:Elle 2:rit+ 3:! 4:{}")
    sentences = [sentence.format(number) for number in range(30) for sentence in two]
    tokens, table = tiny.write_treebank(tmp_path, *sentences)
    return {"tokens": tokens, "sentences": table}


def test_treebanks_give_surface_tokens_or_syntactic_words_or_running_text(tmp_path, treebank):
    result = {}
    for name, words, lang in (
        ("surface", "whitespace", "fra"),
        ("syntactic", "whitespace", "heb"),
        ("running", "split", "fra"),
    ):
        options = settings.CorpusOptions(words=words, unknown_share=1)
        corpus = build(tmp_path / name, [], options, lang=lang, **treebank)
        result[name] = {line for split in ("train", "valid") for line in texts(corpus)[split]}
    starts = {name: {line.rpartition(" ")[0] for line in lines} for name, lines in result.items()}
    assert starts == {
        "surface": {"du l' auteur .", "Elle rit !"},
        "syntactic": {"de le l' auteur .", "Elle rit !"},
        "running": {"du l ' auteur .", "Elle rit !"},
    }
    without = build(tmp_path / "without", numbered(40), treebank_text=False, **treebank)
    assert len(every(without)) == 40


@pytest.mark.parametrize(
    ("item", "sentence"),
    [
        ("l' auteur rit", "l' auteur rit ."),  # as CLAMS scores it
        ("l'auteur rit.", "l' auteur rit ."),
        ("l' auteur rit", "l' auteur rit"),
    ],
)
def test_a_sentence_of_an_item_never_comes_in(tmp_path, item, sentence):
    items = tiny.write_items(tmp_path / "items.parquet", [(item, "l' auteur rient")])
    corpus = build(tmp_path, [*numbered(40), sentence, "l' auteur rit ici ."], items=[items])
    assert read_corpus(corpus).dropped["held_out"] == 1
    assert len(every(corpus)) == 41


def test_a_part_without_a_sentence_is_an_error(tmp_path):
    with pytest.raises(UserError, match=r"valid\.txt has no sentence; give more text"):
        build(tmp_path, ["a b"])
    assert not (tmp_path / "corpus" / "corpus.json").exists()


def release(directory, **texts):
    directory.mkdir(parents=True)
    usual = {"train": "a b <unk> . <eos>\n\nb a .\n", "valid": "b .\n", "test": "<unk> a .\n"}
    usual |= {"vocab": "b\na\n.\n<unk>\n"}
    for name, content in (usual | texts).items():
        (directory / f"{name}.txt").write_text(content)
    return {name: directory / f"{name}.txt" for name in usual}


def test_a_released_corpus_is_used_as_it_is(tmp_path):
    files = release(tmp_path / "released")
    corpus = tmp_path / "eng" / "corpus.json"
    result = take_released(files, corpus)
    for split in SPLITS:
        assert (corpus.parent / f"{split}.txt").read_bytes() == files[split].read_bytes()
    assert read_words(corpus.parent / "vocabulary.txt") == ["<unk>", "<eos>", "b", "a", "."]
    # An end that is spelled out is not added twice.
    sentences = list(sentences_of(corpus.parent / "train.txt"))
    assert sentences == [["a", "b", "<unk>", "."], ["b", "a", "."]]
    assert (result.words, result.options) == ("whitespace", None)
    assert result.splits["train"].unknown == 1


def test_a_word_that_a_released_vocabulary_lacks_is_named(tmp_path):
    files = release(tmp_path / "released", valid="b .\nb zebra .\n")
    with pytest.raises(UserError, match=r"valid\.txt:2: word 'zebra' is not in .*vocab\.txt"):
        take_released(files, tmp_path / "eng" / "corpus.json")
    del files["vocab"]
    with pytest.raises(UserError, match=r"vocab\.txt is not given"):
        take_released(files, tmp_path / "eng" / "corpus.json")


def test_several_languages_are_the_concatenation_of_their_corpora(tmp_path):
    parts = [
        build(tmp_path / "a", numbered(40)),
        build(tmp_path / "b", [f"phrase {n} finit ." for n in range(40)]),
    ]
    joined = tmp_path / "multi" / "corpus.json"
    result = models_corpus.join_corpora(parts, joined)
    for split in SPLITS:
        assert texts(joined)[split] == [line for part in parts for line in texts(part)[split]]
    words = [read_words(part.parent / "vocabulary.txt") for part in parts]
    assert read_words(joined.parent / "vocabulary.txt") == list(dict.fromkeys(words[0] + words[1]))
    tokens = [read_corpus(part).splits["test"].tokens for part in parts]
    assert result.splits["test"].tokens == sum(tokens)


def test_corpora_with_other_words_are_not_joined(tmp_path):
    parts = [
        build(tmp_path / "a", numbered(40)),
        build(tmp_path / "b", numbered(40), settings.CorpusOptions(unknown_share=1)),
    ]
    with pytest.raises(UserError, match="have words by the rules split, whitespace; expected one"):
        models_corpus.join_corpora(parts, tmp_path / "multi" / "corpus.json")


def test_an_altered_corpus_is_refused(tmp_path):
    corpus = build(tmp_path, numbered(40))
    (corpus.parent / "valid.txt").write_text("etwas anderes\n")
    with pytest.raises(UserError, match=r"valid\.txt is .* expects SHA-256 .* Build the corpus"):
        read_corpus(corpus)


def test_texts_of_several_languages_are_joined_each_sentence_once(tmp_path):
    (tmp_path / "a.txt").write_text("eins\nzwei\n")
    (tmp_path / "b.txt").write_text("un\neins\n")
    counts = join_text([tmp_path / "a.txt", tmp_path / "b.txt"], tmp_path / "multi.txt")
    assert (tmp_path / "multi.txt").read_text() == "eins\nzwei\nun\n"
    assert counts == {"kept": 3, "repeated": 1}


def even_model(directory, words):
    """Write an LSTM that gives its words the probabilities of ``words`` after any context."""
    sizes = {"layers": 1, "hidden": 2, "embedding": 2}
    settings = LstmSettings(words="whitespace", vocabulary=len(words), **sizes)
    model = LstmModel(settings)
    with torch.no_grad():
        model.head.weight.zero_()
        model.head.bias.copy_(torch.tensor([math.log(p) for p in words.values()]))
    _save(model, list(words), settings, directory)
    recipe = {"corpus": "tiny", "bptt": 2}
    source = Trained(recipe="r", settings=recipe, seed=0, text_sha256="0" * 64)
    described = trained_checkpoint("even", "eng", "lstm", source, first_token="eos")
    seal(directory / "checkpoint.json", described)
    return directory / "checkpoint.json"


def test_perplexity_is_as_computed_by_hand(tmp_path):
    corpus = tmp_path / "eng" / "corpus.json"
    text = "a b <unk> .\nb a .\nzero a .\n"
    files = release(tmp_path / "released", test=text, vocab="b\na\n.\nzero\n")
    take_released(files, corpus)
    probabilities = {"<unk>": 0.1, "<eos>": 0.2, "b": 0.05, "a": 0.4, ".": 0.25}
    checkpoint = even_model(tmp_path / "model", probabilities)
    row = measure_perplexity(checkpoint, corpus, "eng", tmp_path / "table.parquet")
    # 13 words in 6 columns of 2, of which the LSTM predicts the second:
    # a b, <unk> ., <eos> b, a ., <eos> zero, a . and a last <eos> left over
    guessed = [0.05, 0.25, 0.05, 0.25, 0.1, 0.25]
    loss = -sum(map(math.log, guessed)) / 6
    assert row["loss"] == pytest.approx(loss, abs=1e-6)
    assert row["perplexity"] == pytest.approx(math.exp(loss), abs=1e-5)
    assert (row["words"], row["unknown"], row["corpus"]) == (6, 1, "tiny")
    assert read_table(PERPLEXITIES, tmp_path / "table.parquet").to_pylist() == [row]


def test_perplexity_needs_an_lstm_of_the_corpus(tmp_path):
    corpus = build(tmp_path, numbered(40), settings.CorpusOptions(unknown_share=1))
    checkpoint = even_model(tmp_path / "model", {"<unk>": 0.5, "<eos>": 0.5})
    with pytest.raises(UserError, match=r"words by the rule 'split', but the model .*'whitespace'"):
        measure_perplexity(checkpoint, corpus, "eng", tmp_path / "table.parquet")
    other = tiny.describe(tmp_path / "model", "causal")
    with pytest.raises(UserError, match=r"is of architecture 'causal'; perplexity is measured of"):
        measure_perplexity(other, corpus, "eng", tmp_path / "table.parquet")


def test_loss_carries_the_state_from_piece_to_piece():
    torch.manual_seed(0)
    model = LstmModel(LstmSettings(words="split", vocabulary=7, layers=2, hidden=5, embedding=4))
    text = torch.randint(0, 7, (23, 3), dtype=torch.int32)
    whole = mean_loss(model, text, 22)
    assert mean_loss(model, text, 4) == pytest.approx(whole, abs=1e-6)


def run(*arguments):
    done = CliRunner().invoke(app, list(map(str, arguments)))
    assert done.exit_code == 0, done.output


def train(corpus, output, seed, recipe=tiny.LSTM):
    names = ("--name", "m", "--scope", "eng", "--recipe-name", "r", "--seed", seed)
    run("train-lstm", corpus, *names, "--recipe", recipe.model_dump_json(), "--output", output)
    return output


def test_training_says_the_perplexity_that_is_measured_after_it(tmp_path):
    corpus = build(tmp_path, tiny.sentences(200))
    checkpoint = train(corpus, tmp_path / "m" / "checkpoint.json", 0)
    notes = json.loads(sidecar_path(checkpoint).read_text())["notes"]
    table = tmp_path / "table.parquet"
    run("measure-perplexity", checkpoint, "--corpus", corpus, "--lang", "eng", "--output", table)
    [row] = read_table(PERPLEXITIES, table).to_pylist()
    assert (row["lang"], row["model"], row["corpus"]) == ("eng", "m", "default")
    assert notes["test_perplexity"] == pytest.approx(row["perplexity"], abs=1e-4)
    # Far better than chance among the words.
    assert row["perplexity"] < len(read_words(corpus.parent / "vocabulary.txt")) / 2
    ids = {word: n for n, word in enumerate(read_words(corpus.parent / "vocabulary.txt"))}
    encoded = models_corpus.encode(sentences_of(corpus.parent / "test.txt"), ids)
    assert row["words"] == len(encoded) // 10 * 10 - 10


def test_two_seeds_make_two_models_and_one_seed_the_same(tmp_path):
    corpus = build(tmp_path, tiny.sentences(80))
    many = tiny.LSTM.model_copy(update={"seeds": 5})
    result = [
        train(corpus, tmp_path / name / "checkpoint.json", seed, recipe).parent
        for name, seed, recipe in (("a", 0, tiny.LSTM), ("b", 0, many), ("c", 1, tiny.LSTM))
    ]
    # The number of models has no effect on any of them.
    assert model_files(result[0]) == model_files(result[1])
    first, other = (model_files(directory)["model.safetensors"] for directory in result[1:])
    assert first != other


def model_files(directory):
    return {name: c for name, c in tiny.contents(directory).items() if ".prov." not in name}


CAMPAIGN = {"campaign": "x", "training": {"recipes": {"small": {"kind": "lstm", "corpus": "wiki"}}}}


def test_a_recipe_names_a_corpus_that_the_campaign_has():
    with pytest.raises(UserError) as error:
        check_campaign(CAMPAIGN, "c.yaml")
    assert str(error.value) == (
        "c.yaml: key 'training.recipes.small.corpus' is 'wiki', which training.corpora lacks (it "
        "has: default); add it there, or correct the name."
    )
    training = CAMPAIGN["training"] | {"corpora": {"wiki": {"words": "whitespace"}}}
    campaign = check_campaign(CAMPAIGN | {"training": training}, "c.yaml")
    assert list(campaign.training.corpora) == ["default", "wiki"]
    assert list(settings.TrainingOptions().corpora) == ["default"]


@pytest.mark.parametrize(
    ("corpora", "said"),
    [
        ({"wiki": {"shares": {"train": 0.9}}}, "train, valid and test add up to 1.1; they must"),
        ({"../wiki": {}}, "'../wiki' cannot name a corpus"),
    ],
)
def test_a_corpus_that_cannot_be_is_refused(corpora, said):
    with pytest.raises(UserError, match=said):
        check_campaign({"campaign": "x", "training": {"corpora": corpora}}, "c.yaml")


def kind(label, memory_gb, host_memory_gb=100, max_hours=24):
    sizes = {"memory_gb": memory_gb, "host_memory_gb": host_memory_gb, "max_hours": max_hours}
    return GpuKind(label=label, name=label, per_node=4, teraflops=1, **sizes)


def test_an_lstm_is_trained_on_the_smallest_gpu_whose_node_can_hold_it():
    site = Site(gpus=(kind("big", 80), kind("small", 16, max_hours=100), kind("tight", 8, 4)))
    request = requests.train_request(site)
    assert request["gres"] == "gpu:small:1"
    assert request["runtime"] == 48 * 60
    assert requests.train_request(Site(gpus=(kind("big", 80),)))["runtime"] == 24 * 60
    assert requests.train_request(Site()) is None


def trainings(site, **recipe):
    """Return plans of the LSTMs of CLAMS's campaign, with changes of their recipe."""
    campaign = load_campaign(REPOSITORY / "config/config.yaml")
    recipes = campaign.training.recipes
    changed = recipes | {"clams-lstm": recipes["clams-lstm"].model_copy(update=recipe)}
    training = campaign.training.model_copy(update={"recipes": changed})
    changes = {"training": training, "benchmarks": ("clams",)}
    selection = CampaignSelection.of(campaign.model_copy(update=changes))
    plans = {plan.model: plan for plan in requests.plan_trainings(selection, site)}
    return plans, requests.training_retries(selection, site)


def test_a_training_takes_epochs_times_words_by_the_rate_of_its_layers(at_root):
    # Two layers of 800 units over 50,000 words multiply a word with 50.24 million weights.
    assert requests.multiplied_weights(settings.LstmRecipe(kind="lstm"), 50_000) == 50_240_000
    site = Site(gpus=(kind("small", 16).model_copy(update={"teraflops": 312.0}),))
    plans, retries = trainings(site)
    mono, multi = plans["clams-lstm-mono-seed1"], plans["clams-lstm-multi-seed5"]
    assert (mono.checkpoints, mono.words, multi.words) == (5, 80_000_000, 400_000_000)
    assert mono.words_per_second == pytest.approx(0.25 * 312e12 / 16 / 6 / 50_240_000)
    assert mono.gpu_hours == pytest.approx(5 * 40 * 80e6 / mono.words_per_second / 3600)
    # Five times the words, and an output layer five times as wide.
    assert 20 < multi.hours / mono.hours < 25
    # Each job takes a day at most.
    assert retries > multi.hours / 24
    halved, fewer = trainings(site, epochs=20)
    assert halved["clams-lstm-multi-seed1"].hours == pytest.approx(multi.hours / 2)
    assert fewer < retries


def test_of_corpora_that_are_made_here_the_words_are_not_known(at_root):
    site = Site(gpus=(kind("small", 16),))
    plans, retries = trainings(site, corpus="default")
    assert {plan.hours for plan in plans.values()} == {None}
    assert retries == 2
    assert trainings(Site()) == ({}, 2)
