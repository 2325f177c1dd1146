"""Measuring what stands before texts, telling of a better start, and choosing the likeliest."""

import numpy as np
import pytest

from blimpworks.analysis.scoring_variants import expand_starts, parse_variant
from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.models.checkpoint import FILE_NAME, read_checkpoint, seal
from blimpworks.models.starts import candidates
from blimpworks.scoring.engine import load_engine
from blimpworks.scoring.run import read_manifest, score_items
from blimpworks.scoring.selftest import FAR, _likeliest, choose_start, measure
from support import tiny

TEXTS = tiny.sentences(300, seed=5)
OPENING = "{% for m in messages %}{{ '<s>' + m.role + '\n' + m.content + '</s>' }}{% endfor %}"


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """A model that has seen every sentence after ``<s>``."""
    root = tmp_path_factory.mktemp("starts")
    recipe = tiny.RECIPE.model_copy(update={"epochs": 25})
    return tiny.make_transformer(tiny.write_corpus(root / "t.txt"), root / "m" / FILE_NAME, recipe)


@pytest.fixture
def chat(checkpoint, tmp_path):
    """The same model with a template in which ``<s>`` opens roles."""
    tiny.copied(checkpoint, tmp_path)
    (tmp_path / "chat_template.jinja").write_text(OPENING)
    seal(tmp_path / FILE_NAME, read_checkpoint(checkpoint))
    return tmp_path / FILE_NAME


def engine_of(checkpoint, first="model"):
    return load_engine(checkpoint, "transformers", ScoringOptions(first_token=first))


def test_nats_are_those_of_all_tokens_but_the_first(checkpoint):
    engine = engine_of(checkpoint)
    nats = measure(engine, TEXTS[:9], candidates(engine.tokenizer.hub), 12)
    assert nats.keys() == {"bos", "eos", r"token:\n", "skip"}
    for policy, value in nats.items():
        other = engine_of(checkpoint, policy)
        rows = other.logprobs(other.encode(sorted({*TEXTS[:9]})))
        assert value == pytest.approx(-np.concatenate([row[1:] for row in rows]).mean(), rel=1e-5)
    assert engine.tokenizer.prefix == [0]


def test_the_sample_does_not_depend_on_the_order_of_texts(checkpoint):
    engine = engine_of(checkpoint)
    assert choose_start(engine, TEXTS) == choose_start(engine, TEXTS[::-1] + TEXTS)


def test_texts_that_do_not_fit_are_not_measured(checkpoint):
    engine = engine_of(checkpoint)
    long = " ".join(["dog"] * 200)
    starts = candidates(engine.tokenizer.hub)
    few = measure(engine, TEXTS[:5], starts, 12)
    assert measure(engine, [*TEXTS[:5], long], starts, 12) == few
    assert measure(engine, [long, "", "."], starts, 12) == {}
    assert choose_start(engine, [long]).note == ""


@pytest.mark.parametrize(
    ("first", "words", "told"),
    [
        ("bos", "after '<s>' (bos)", False),
        ("eos", "after '</s>' (eos)", True),
        ("skip", "not counted", True),
        ("token:the dog", "after 'the dog'", True),
        ("likeliest", "after '<s>' (bos)", False),
    ],
)
def test_a_start_that_is_better_by_far_is_told_of(checkpoint, first, words, told):
    engine = engine_of(checkpoint, first)
    found = choose_start(engine, TEXTS)
    assert found.words == words
    assert found.note.startswith("Sentences are likelier after '<s>' (bos) (") == told
    assert bool(found.note) == told
    assert found.policy == ("bos" if first == "likeliest" else first)


def test_starts_that_few_texts_show_to_be_far_worse_are_measured_on_these_alone(checkpoint):
    engine = engine_of(checkpoint, "likeliest")
    texts = [pair[0] for pair in tiny.pairs(60, seed=5)]
    starts = candidates(engine.tokenizer.hub)
    nats = measure(engine, texts, starts, 12)
    measured, logprobs = {}, engine.logprobs

    def counted(batch):
        prefix = tuple(engine.tokenizer.prefix)
        measured[prefix] = measured.get(prefix, 0) + len(batch)
        return logprobs(batch)

    engine.logprobs = counted
    chosen = choose_start(engine, texts).policy
    few, many = min(measured.values()), max(measured.values())
    assert few == 12 < many
    assert measured[tuple(starts[chosen])] == many
    assert [p for p in starts if measured[tuple(starts[p])] == few] == [
        p for p in starts if nats[p] > nats[chosen] + FAR
    ]


def test_the_likeliest_start_is_none_that_opens_a_role(chat, tmp_path):
    items = tiny.write_items(tmp_path / "items.parquet", tiny.pairs(150, seed=5))
    for name, first in (("chosen", "likeliest"), ("named", r"token:\n")):
        options = ScoringOptions(first_token=first)
        store = (tmp_path / name, tmp_path / f"{name}.json")
        score_items([items], chat, *store, "transformers", options)
    chosen, named = (read_manifest(tmp_path / f"{name}.json") for name in ("chosen", "named"))
    assert chosen.engine.endswith(r"|likeliest|start token:\n")
    assert chosen.checks["first token"] == named.checks["first token"] == r"after '\n'"
    assert chosen.checks["other starts"].startswith("Sentences are likelier after '<s>' (bos)")
    shards = [next((tmp_path / name).glob("*.parquet")) for name in ("chosen", "named")]
    tables = [tiny.read_shard(path)["logprobs"].to_pylist() for path in shards]
    assert sorted(tables[0]) == sorted(tables[1])


@pytest.mark.parametrize(
    ("nats", "chosen"),
    [
        ({"tokenizer": 2.0, "bos": 2.0, "eos": 1.995}, "tokenizer"),
        ({"tokenizer": 2.0, "bos": 1.95, "eos": 1.945}, "bos"),
        ({"tokenizer": 2.0, "bos": 1.95, "eos": 1.0, "skip": 0.0}, "eos"),
        ({}, "tokenizer"),
    ],
)
def test_of_equal_starts_the_usual_one_is_chosen(checkpoint, nats, chosen):
    starts = {"tokenizer": [3], "bos": [4], "eos": [5], "skip": []}
    assert _likeliest(engine_of(checkpoint).tokenizer.hub, starts, nats) == chosen


def test_all_starts_of_a_model_become_variants(checkpoint):
    names = expand_starts(["transformers:bfloat16", "transformers:starts"], checkpoint)
    assert names == [
        "transformers:bfloat16",
        *(f"transformers:first_token={name}" for name in ("bos", "eos", r"token:\n", "skip")),
    ]
    token = parse_variant("transformers:bfloat16:first_token=token:a:b")
    assert token.settings == {"dtype": "bfloat16", "first_token": "token:a:b"}
