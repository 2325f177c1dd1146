import numpy as np
import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM

from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.scoring import hub_loading
from blimpworks.scoring.engine import load_engine
from blimpworks.scoring.transformers_engine import Decoder
from support import tiny

SIZES = {
    "vocab_size": 320, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
    "num_key_value_heads": 2, "intermediate_size": 32, "max_position_embeddings": 128,
    "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 1,
}  # fmt: skip
SHARING = {
    "llama": {},
    "gpt2": {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 128},
    "gpt_neo": {"num_layers": 2, "attention_types": [[["global", "local"], 1]]},
    "gpt_neox": {},
    "opt": {"ffn_dim": 32, "word_embed_proj_dim": 16},
    "qwen3": {"head_dim": 8},
    "gemma2": {"head_dim": 8, "final_logit_softcapping": 0.5},
    "gemma3_text": {"head_dim": 8},
    "mixtral": {"num_local_experts": 4},
    "olmoe": {"num_experts": 4, "num_experts_per_tok": 2},
    "cohere": {"logit_scale": 3.0},
    "granite": {"logits_scaling": 0.2},
}
# Positions are distances within the row, or a state runs along it.
NOT_SHARING = {
    "bloom": {"n_layer": 2, "n_head": 2},
    "mamba": {"state_size": 4},
    "falcon": {"alibi": True, "new_decoder_architecture": False, "num_kv_heads": 2},
    "mpt": {"d_model": 16, "n_heads": 2, "n_layers": 2, "max_seq_len": 128},
}


def random_model(kind, changes, seed=0):
    """Return a model of any architecture, with weights that make its predictions differ."""
    torch.manual_seed(seed)
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model(kind, **SIZES | changes))
    with torch.no_grad():
        for weights in model.parameters():
            weights.add_(torch.randn_like(weights) * 0.2)
    return model.eval()


@pytest.fixture(scope="session")
def trained(trained):
    return trained("causal")


def checkpoint_of(model, trained, directory, **changes):
    checkpoint = tiny.copied(trained, directory, files={}, **changes)
    model.save_pretrained(directory)
    return checkpoint


def engine_of(checkpoint, sharing="always", **options):
    expected = ScoringOptions(sharing=sharing, batch_tokens=200, **options)
    engine = load_engine(checkpoint, "transformers", expected)
    engine.findings = engine.self_test()
    engine.follow(engine.findings.decisions)
    return engine


def score(engine, texts):
    return engine.logprobs(engine.encode(texts))


def assert_close(rows, others, atol=2e-5):
    for row, other in zip(rows, others, strict=True):
        np.testing.assert_allclose(row, other, atol=atol)


def plain(model, rows):
    """Return log-probabilities after the first token, one sequence and one forward pass each."""
    result = []
    for row in rows:
        ids = torch.tensor(row, dtype=torch.long)[None]
        with torch.no_grad():
            table = model(input_ids=ids).logits[0, :-1].float().log_softmax(-1)
        result.append(table.gather(1, ids[0, 1:, None])[:, 0].numpy())
    return result


TEXTS = [
    f"the {noun} {verb} the {other}"
    for noun in tiny.NOUNS
    for verb in tiny.VERBS
    for other in (("dog", "dogs") if verb < "h" else ("cats", "cat"))
]


@pytest.mark.parametrize("kind", SHARING)
def test_padded_rows_and_shared_prefixes_equal_a_pass_for_each_sentence(trained, tmp_path, kind):
    model = random_model(kind, SHARING[kind])
    checkpoint = checkpoint_of(model, trained, tmp_path / "m")
    engine = engine_of(checkpoint)
    texts = TEXTS + tiny.sentences(10)
    rows = [[0, *encoded.ids.tolist()] for encoded in engine.encode(texts)]
    assert engine._longest_shared > 0, kind
    for sharing in ("always", "never"):
        assert_close(score(engine_of(checkpoint, sharing), texts), plain(model, rows))


@pytest.mark.parametrize("kind", ["llama", "gemma2", "cohere", "granite"])
def test_large_vocabularies_are_computed_in_blocks(trained, tmp_path, kind, monkeypatch):
    monkeypatch.setattr(hub_loading, "LARGE", 300)
    monkeypatch.setattr(hub_loading, "BLOCK", 50)
    model = random_model(kind, SHARING[kind])
    engine = engine_of(checkpoint_of(model, trained, tmp_path / "m"))
    rows = [[0, *encoded.ids.tolist()] for encoded in engine.encode(TEXTS)]
    assert_close(score(engine, TEXTS), plain(model, rows))
    # The model's own head scales or caps logits after the last layer.
    scaled = kind in ("gemma2", "cohere", "granite")
    assert isinstance(engine._decoder._head, torch.nn.Linear) == (not scaled)


@pytest.mark.parametrize("kind", NOT_SHARING)
def test_architectures_that_cannot_share_prefixes_fall_back_with_a_reason(trained, tmp_path, kind):
    model = random_model(kind, NOT_SHARING[kind])
    engine = engine_of(checkpoint_of(model, trained, tmp_path / "m"))
    for dtype in ("bfloat16", "float16"):  # where rounding hides no fault
        rounded = random_model(kind, NOT_SHARING[kind]).to(getattr(torch, dtype))
        checkpoint = checkpoint_of(rounded, trained, tmp_path / dtype, dtype=dtype)
        assert engine_of(checkpoint)._longest_shared == 0
    rows = [[0, *encoded.ids.tolist()] for encoded in engine.encode(TEXTS)]
    assert_close(score(engine, TEXTS), plain(model, rows))
    assert engine.findings.checks["prefixes"].startswith("not shared: ")


def test_sentences_longer_than_a_window_are_not_packed(trained, tmp_path):
    model = random_model("mistral", {"head_dim": 8, "sliding_window": 8})
    checkpoint = checkpoint_of(model, trained, tmp_path / "m")
    engine = engine_of(checkpoint)
    texts = [*tiny.sentences(30), "the dog", "the cat", "the dog sees"]
    rows = [[0, *encoded.ids.tolist()] for encoded in engine.encode(texts)]
    assert max(map(len, rows)) > 8  # unpacked
    assert_close(score(engine, texts), plain(model, rows))
    assert engine._longest_shared == 8
    assert min(map(len, rows)) <= 8  # packed


@pytest.mark.parametrize("first", ["bos", "eos", "skip", "token:the dog"])
def test_shared_prefixes_decide_as_padded_rows_do(trained, first):
    options = {"first_token": first}
    packed, padded = (
        score(engine_of(trained, sharing, **options), TEXTS) for sharing in ("always", "never")
    )
    for single, other in zip(packed, padded, strict=True):
        assert np.isnan(single).tolist() == np.isnan(other).tolist()
        assert np.isnan(single).tolist() == [first == "skip"] + [False] * (len(single) - 1)
        np.testing.assert_allclose(single, other, atol=1e-5)
    totals = np.array([[np.nansum(row, dtype=float) for row in rows] for rows in (packed, padded)])
    decisions = totals[:, ::2] > totals[:, 1::2]
    assert decisions[0].tolist() == decisions[1].tolist()
    assert 0 < decisions.sum() < decisions.size


@pytest.mark.parametrize("sharing", ["auto", "always", "never"])
def test_results_do_not_depend_on_threads_or_order(trained, sharing):
    texts = TEXTS + tiny.sentences(50, seed=4) + ["", "x"]
    seen, results = [], []
    for threads in (1, 3):
        with tiny.torch_threads(threads):
            engine = engine_of(trained, sharing)
            decoder = engine._decoder._decoder
            decoder.register_forward_hook(lambda *_: seen.append(torch.get_num_threads()))
            results.append(score(engine, texts))
            assert torch.get_num_threads() == threads
            results.append(score(engine, texts[::-1])[::-1])
    assert set(seen) == {1}
    for rows in results[1:]:
        assert [row.tobytes() for row in rows] == [row.tobytes() for row in results[0]]


def computed(engine, texts):
    """Return the number of tokens that went through the decoder."""
    cells = []

    def count(_, __, arguments, ___):
        cells.append(arguments["input_ids"].numel())

    handle = engine._decoder._decoder.register_forward_hook(count, with_kwargs=True)
    score(engine, texts)
    handle.remove()
    return sum(cells)


def test_prefixes_are_shared_automatically_where_that_pays(trained):
    different = [f"{word} sees the dog that hears the nurse" for word in tiny.NOUNS]
    counts = {
        sharing: [computed(engine_of(trained, sharing), texts) for texts in (TEXTS, different)]
        for sharing in ("auto", "always", "never")
    }
    assert counts["auto"] == [counts["always"][0], counts["never"][1]]
    assert counts["always"][0] < counts["never"][0] / 2


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_half_precision_shares_prefixes_too(trained, dtype):
    engine = engine_of(trained, dtype=dtype)
    packed, padded = (score(engine_of(trained, s, dtype=dtype), TEXTS) for s in ("always", "never"))
    assert engine._longest_shared > 0
    assert_close(packed, padded, atol=0.2)


@pytest.fixture
def cramped(trained, monkeypatch):
    """Return a function that makes an engine with memory for ``most`` tokens in a pass."""

    def make(sharing, most):
        engine = engine_of(trained, sharing)
        forward = Decoder._forward

        def limited(self, batch):
            if batch.ids.size > most:
                raise torch.OutOfMemoryError("out of memory")
            return forward(self, batch)

        monkeypatch.setattr(Decoder, "_forward", limited)
        return engine

    return make


@pytest.mark.parametrize("sharing", ["always", "never"])
def test_a_pass_too_big_for_memory_is_halved(trained, cramped, sharing):
    expected = score(engine_of(trained, sharing), TEXTS)
    assert_close(score(cramped(sharing, 90), TEXTS), expected, atol=1e-5)


def test_a_sentence_too_big_for_memory_fails_alone(trained, cramped):
    texts = ["the dog", "the cat " + "that sees the bird " * 4, "the nurse"]
    result = score(cramped("never", 16), texts)
    assert result[1] == "out_of_memory"
    assert [np.isnan(result[i]).any() for i in (0, 2)] == [False, False]
