import json
import math
from collections import Counter
from contextlib import contextmanager

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, normalizers
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForMaskedLM, PreTrainedModel

from blimpworks.analysis.scoring_variants import expand_starts, parse_variant
from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.errors import UserError
from blimpworks.models.checkpoint import FILE_NAME, read_checkpoint, seal
from blimpworks.models.facts import candidates
from blimpworks.models.hub_tokenizers import load_tokenizer
from blimpworks.scoring.engine import Encoded, load_engine
from blimpworks.scoring.hub_loading import check_names, target_logprobs
from blimpworks.scoring.run import score_items
from blimpworks.scoring.selftest import _likeliest, choose_start, measure
from blimpworks.scoring.shards import read_manifest
from blimpworks.scoring.vllm_engine import score_encoded
from support import tiny
from support.hostile import edit

SIZES = {
    "vocab_size": 320, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2,
    "num_key_value_heads": 2, "intermediate_size": 32, "max_position_embeddings": 128,
    "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 1, "initializer_range": 0.3,
}  # fmt: skip
TEXTS = tiny.sentences(12)


@pytest.fixture
def foreign(trained, tmp_path):
    """Return a function that writes a model's configuration, weights and tokenizer."""

    def make(kind, architecture="causal", **changes):
        torch.manual_seed(0)
        auto = {"causal": AutoModelForCausalLM, "masked": AutoModelForMaskedLM}[architecture]
        model = auto.from_config(AutoConfig.for_model(kind, **SIZES | changes))
        model.save_pretrained(tmp_path / "m")
        for path in trained(architecture).parent.glob("tokenizer*"):
            (tmp_path / "m" / path.name).write_bytes(path.read_bytes())
        return tmp_path / "m"

    return make


def examine(directory, architecture="causal", **options):
    """Return an engine with a model in a directory, and the findings that it follows."""
    checkpoint = tiny.describe(directory, architecture)
    engine = load_engine(checkpoint, "transformers", ScoringOptions(**options))
    findings = engine.self_test()
    engine.follow(findings.decisions)
    return engine, findings


def edit_weights(directory, change):
    path = directory / "model.safetensors"
    save_file(change(load_file(path)), path, metadata={"format": "pt"})


@contextmanager
def edited_tokenizer(directory):
    """Yield the tokenizer of a directory's file, and save the block's changes."""
    path = str(directory / "tokenizer.json")
    tokenizer = Tokenizer.from_file(path)
    yield tokenizer
    tokenizer.save(path)


def behind(prefix):
    return lambda weights: {f"{prefix}{key}": value for key, value in weights.items()}


def without(name):
    return lambda weights: {key: value for key, value in weights.items() if name not in key}


@pytest.mark.parametrize(
    ("architecture", "change", "message"),
    [
        ("causal", behind("_orig_mod."), r"21 weights of .*'_orig_mod\.': save them without"),
        ("causal", behind("module."), r"begin with 'module\.'"),
        ("causal", without("lm_head"), r"lack a weight of .*lm_head\.weight.*save the model whole"),
        ("causal", without("layers.1."), r"lack 9 weights .*layers\.1\..* and 6 more"),
        ("masked", without("cls."), r"weights of BertForMaskedLM \(cls\.predictions"),
    ],
)
def test_weights_that_the_files_lack_are_refused(foreign, architecture, change, message):
    kind = {"causal": "llama", "masked": "bert"}[architecture]
    directory = foreign(kind, architecture, tie_word_embeddings=False)
    edit_weights(directory, change)
    with pytest.raises(UserError, match=message):
        examine(directory, architecture)


def test_weights_that_should_be_one_and_differ_are_refused(foreign):
    directory = foreign("llama", tie_word_embeddings=False)
    edit(directory / "config.json", tie_word_embeddings=True)
    for read in (examine, check_names):
        with pytest.raises(UserError, match=r"lm_head\.weight and .* are one weight, and .* two"):
            read(directory)
    edit_weights(
        directory, lambda w: w | {"lm_head.weight": w["model.embed_tokens.weight"].clone()}
    )
    assert check_names(directory) == examine(directory)[1].checks["weights"]


def test_weights_that_the_model_does_not_use_are_named(foreign):
    directory = foreign("llama")
    edit_weights(directory, lambda w: w | {"v_head.weight": torch.ones(2)})
    checks = examine(directory)[1].checks
    assert "not used: v_head.weight" in checks["weights"]
    assert checks["tokenizer"].startswith("ids are those of tokenizer.json")


def test_a_tokenizer_that_contradicts_its_file_is_refused(foreign, monkeypatch):
    directory = foreign("llama")
    monkeypatch.setattr("blimpworks.models.hub_tokenizers.differing_components", lambda *_: [])
    with edited_tokenizer(directory) as tokenizer:
        tokenizer.normalizer = normalizers.Lowercase()
    edit(directory / "tokenizer_config.json", tokenizer_class="GPT2TokenizerFast")
    with pytest.raises(UserError, match=r"tokenizer\.json gives .* the tokens .*; expected the"):
        load_tokenizer(directory)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_model_that_looks_ahead_is_refused(foreign, dtype):
    directory = foreign("roberta", is_decoder=False)
    with pytest.raises(UserError, match=r"RobertaForCausalLM looks ahead: .* Correct config\.json"):
        examine(directory, dtype=dtype)


def test_scores_do_not_depend_on_padding(foreign):
    directory = foreign("fnet", "masked")
    engine, findings = examine(directory, "masked")
    assert findings.decisions == {"rows": "equal"}
    together = engine.logprobs(engine.encode(TEXTS))
    for text, row in zip(TEXTS, together, strict=True):
        np.testing.assert_allclose(row, engine.logprobs(engine.encode([text]))[0], atol=1e-5)


RECURRENT = {
    "lfm2": {"layer_types": ["conv", "full_attention"]},
    "bamba": {"attn_layer_indices": [1], "mamba_n_heads": 4, "mamba_d_head": 16,
              "mamba_d_state": 8},
    "recurrent_gemma": {"lru_width": 32, "head_dim": 16, "num_hidden_layers": 3},
}  # fmt: skip


@pytest.mark.parametrize("kind", RECURRENT)
def test_states_of_branches_do_not_leak_in_half_precision(foreign, kind):
    changes = RECURRENT[kind] | {"initializer_range": 0.02}
    engine, findings = examine(foreign(kind, **changes), dtype="bfloat16", sharing="always")
    assert findings.checks["prefixes"].startswith("not shared: ")
    assert engine.key.endswith("|sharing never"), "scores made before are of shared prefixes"


def test_half_precision_is_as_before_the_test(foreign):
    engine, findings = examine(foreign("llama"), dtype="bfloat16")
    formats = Counter(each.dtype for each in engine._loaded.model.parameters())
    assert set(formats) == {torch.bfloat16}
    assert "in bfloat16, rounding moves a token by up to" in findings.checks["padding"]


def test_numbers_that_overflow_in_half_precision_are_said_to(foreign):
    directory = foreign("llama")
    large = "model.layers.0.mlp.up_proj.weight"
    edit_weights(directory, lambda weights: weights | {large: weights[large] * 2e4})
    examine(directory, dtype="float32")
    with pytest.raises(UserError, match=r"tokens are no numbers in float16; .* another dtype"):
        examine(directory, dtype="float16")


def test_ids_without_an_embedding_are_refused_and_others_scored(foreign):
    directory = foreign("llama")
    with edited_tokenizer(directory) as tokenizer:
        tokenizer.add_tokens(["dog"])
    engine, _ = examine(directory)
    assert engine.encode(["dog"])[0].ids.tolist() == [320]
    results = engine.logprobs(engine.encode(["the cat", "the dog", "the nurse"]))
    assert results[1] == "refused"
    assert all(np.isfinite(results[i]).all() for i in (0, 2))


def test_a_start_without_an_embedding_is_an_error(foreign):
    directory = foreign("llama")
    with edited_tokenizer(directory) as tokenizer:
        tokenizer.add_special_tokens(["<start>"])
    edit(directory / "tokenizer_config.json", bos_token="<start>")
    with pytest.raises(UserError, match=r"'<start>', .* has the id 320, but .* has 320 ids"):
        examine(directory)


@pytest.mark.parametrize("context", [0, -1])
def test_no_context_is_no_limit(foreign, context):
    engine, findings = examine(foreign("llama", max_position_embeddings=context))
    assert engine.limit is None
    assert "limit" not in findings.checks


def test_a_masked_model_without_the_letter_a_is_scored(foreign):
    directory = foreign("bert", "masked")
    content = json.loads((directory / "tokenizer.json").read_text())
    model = content["model"]
    model["vocab"] = {k: v for k, v in model["vocab"].items() if "a" not in k.lower()}
    model["merges"] = [m for m in model.get("merges", []) if "a" not in "".join(m).lower()]
    (directory / "tokenizer.json").write_text(json.dumps(content))
    engine, _ = examine(directory, "masked")
    assert engine.tokenizer.before
    assert engine.tokenizer.after


def test_no_number_is_no_token_that_is_not_scored():
    hidden, target = torch.zeros(2, 3), torch.tensor([0, 1])
    values = target_logprobs(hidden, lambda h: torch.full((len(h), 4), torch.nan), target)
    assert values.tolist() == [math.inf, math.inf]
    texts = [Encoded(np.array([1, 2], np.int32), np.array([1, 2], np.int32))]
    [row] = score_encoded(texts, [0], 9, lambda prompts: [np.full(2, np.nan, np.float32)])
    assert np.isinf(row).all()


def test_findings_are_kept_beside_the_scores_and_not_made_twice(foreign, tmp_path, monkeypatch):
    checkpoint = tiny.describe(foreign("llama"), "causal")
    items = tiny.write_items(tmp_path / "eng.parquet", [("the dog sees", "the dog see")])
    arguments = ([items], checkpoint, tmp_path / "shards", tmp_path / "manifest.json")
    first = score_items(*arguments, "transformers", ScoringOptions())
    assert set(first.checks) >= {"weights", "tokenizer", "causality", "padding", "prefixes"}
    monkeypatch.setattr(PreTrainedModel, "from_pretrained", None)  # loading again would fail
    assert score_items(*arguments, "transformers", ScoringOptions()) == first


SENTENCES = tiny.sentences(300, seed=5)
OPENING = "{% for m in messages %}{{ '<s>' + m.role + '\n' + m.content + '</s>' }}{% endfor %}"


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """Train a model on sentences that all follow ``<s>``."""
    root = tmp_path_factory.mktemp("starts")
    recipe = tiny.RECIPE.model_copy(update={"epochs": 25})
    return tiny.make_transformer(tiny.write_corpus(root / "t.txt"), root / "m" / FILE_NAME, recipe)


@pytest.fixture
def chat(checkpoint, tmp_path):
    """Copy the model, with a template in which ``<s>`` opens roles."""
    tiny.copied(checkpoint, tmp_path)
    (tmp_path / "chat_template.jinja").write_text(OPENING)
    seal(tmp_path / FILE_NAME, read_checkpoint(checkpoint))
    return tmp_path / FILE_NAME


def engine_of(checkpoint, first="model"):
    return load_engine(checkpoint, "transformers", ScoringOptions(first_token=first))


def test_nats_are_those_of_all_tokens_but_the_first(checkpoint):
    engine = engine_of(checkpoint)
    nats = measure(engine, SENTENCES[:9], candidates(engine.tokenizer.hub), 12)
    assert nats.keys() == {"bos", "eos", r"token:\n", "skip"}
    for policy, value in nats.items():
        other = engine_of(checkpoint, policy)
        rows = other.logprobs(other.encode(sorted({*SENTENCES[:9]})))
        assert value == pytest.approx(-np.concatenate([row[1:] for row in rows]).mean(), rel=1e-5)
    assert engine.tokenizer.prefix == [0]


def test_the_sample_does_not_depend_on_the_order_of_texts(checkpoint):
    engine = engine_of(checkpoint)
    assert choose_start(engine, SENTENCES) == choose_start(engine, SENTENCES[::-1] + SENTENCES)


def test_texts_that_do_not_fit_are_not_measured(checkpoint):
    engine = engine_of(checkpoint)
    long = " ".join(["dog"] * 200)
    starts = candidates(engine.tokenizer.hub)
    few = measure(engine, SENTENCES[:5], starts, 12)
    assert measure(engine, [*SENTENCES[:5], long], starts, 12) == few
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
    found = choose_start(engine, SENTENCES)
    assert found.description == words
    assert found.note.startswith("Sentences are likelier after '<s>' (bos) (") == told
    assert bool(found.note) == told
    assert found.policy == ("bos" if first == "likeliest" else first)


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
    tables = [pq.read_table(path)["logprobs"].to_pylist() for path in shards]
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
