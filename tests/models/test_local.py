import ast
import json
import os
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModel, AutoModelForCausalLM
from typer.testing import CliRunner

from blimpworks.campaign.addresses import is_local, model_address, state_of
from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.cli import app
from blimpworks.errors import UserError
from blimpworks.files import sha256_of
from blimpworks.models import checkpoint
from blimpworks.models.facts import UserChoice, architecture_of, facts_of, first_token_of, format_of
from blimpworks.models.hub_tokenizers import load_tokenizer
from blimpworks.models.pickled import convert_weights
from blimpworks.models.retrieve import take_local
from blimpworks.scoring.engine import load_engine
from support import tiny
from support.hostile import edit
from support.paths import REPOSITORY


@pytest.fixture
def folder(trained, tmp_path):
    return tiny.unsealed(trained("causal"), tmp_path / "mine")


def take(folder, output, architecture="causal", scope="multi"):
    words = tiny.retrieve_words(output, folder, architecture=architecture, scope=scope)
    return CliRunner().invoke(app, words)


@pytest.mark.parametrize("architecture", ["causal", "masked", "encoder-decoder"])
def test_files_say_architecture_format_and_size(trained, tmp_path, architecture):
    facts = facts_of(tiny.unsealed(trained(architecture), tmp_path / "mine"))
    model = AutoModel.from_pretrained(tmp_path / "mine")
    assert facts.architecture == architecture
    assert (facts.dtype, facts.first_token, facts.scope) == ("float32", "bos", "multi")
    # A model with a head has at least the parameters of the model without it.
    assert facts.parameters >= sum(p.numel() for p in model.parameters())


def test_a_directory_becomes_a_sealed_checkpoint_and_stays_as_it_was(folder, tmp_path):
    before = state_of(folder)
    output = tmp_path / "sealed" / checkpoint.FILE_NAME
    done = take(folder, output)
    assert done.exit_code == 0, done.output
    sealed = checkpoint.read_checkpoint(output)
    assert sealed.source.kind == "copied"
    assert sealed.source.directory == "mine"
    assert str(tmp_path) not in output.read_text()
    assert {path.name for path in folder.iterdir()} == {*sealed.files}
    assert state_of(folder) == before


def test_a_sealed_checkpoint_can_be_taken_as_it_is(trained, tmp_path):
    output = tmp_path / "sealed" / checkpoint.FILE_NAME
    scope = json.loads(trained("ngram").read_text())["scope"]
    done = take(trained("ngram").parent, output, "ngram", scope)
    assert done.exit_code == 0, done.output
    paths = (output, trained("ngram"))
    ours, theirs = ({*checkpoint.read_checkpoint(path).files} for path in paths)
    assert ours == theirs


def pickle_weights(folder: Path) -> None:
    for path in folder.glob("*.safetensors"):
        path.rename(path.with_name("pytorch_model.bin"))


def configure(**changes):
    return lambda folder: edit(folder / "config.json", **changes)


INDEX, WHOLE = "model.safetensors.index.json", "model.safetensors"


def shard(folder: Path, *lacking: str) -> None:
    """Split the weights into two files; the index names the ``lacking`` ones too."""
    tensors = load_file(folder / "model.safetensors")
    places = {name: f"model-{n % 2}.safetensors" for n, name in enumerate(tensors)}
    for place in {*places.values()}:
        save_file({n: v for n, v in tensors.items() if places[n] == place}, folder / place)
    (folder / "model.safetensors").unlink()
    index = {"weight_map": places | {f"{name}.weight": name for name in lacking}}
    (folder / INDEX).write_text(json.dumps(index))


def repeat(*names: str):
    def change(folder: Path) -> None:
        weights = min(folder.glob("*.safetensors"))
        for name in names:
            shutil.copyfile(weights, folder / name)

    return change


def both(*changes):
    return lambda folder: [change(folder) for change in changes]


@pytest.mark.parametrize(
    ("change", "taken"),
    [
        (repeat("consolidated.safetensors", "model.fp16.safetensors"), {"model.safetensors"}),
        (both(shard, repeat("consolidated.safetensors")), {"model-0", "model-1", INDEX}),
        (both(shard, repeat("model-2.safetensors")), {"model-0", "model-1", INDEX}),
        # As transformers does; vLLM would follow an index, if there were one.
        (lambda folder: (shutil.copytree(folder, folder / "x"), shard(folder),
                         shutil.move(folder / "x/model.safetensors", folder)), {"model"}),
    ],
)  # fmt: skip
def test_weights_that_are_there_twice_are_counted_and_taken_once(folder, tmp_path, change, taken):
    before = facts_of(folder)
    change(folder)
    after = facts_of(folder)
    assert after.parameters == before.parameters
    assert after.file_gb == pytest.approx(before.file_gb, rel=0.05)
    output = tmp_path / "sealed" / checkpoint.FILE_NAME
    assert take(folder, output).exit_code == 0
    files = {*checkpoint.read_checkpoint(output).files}
    names = {name if "safetensors" in name else f"{name}.safetensors" for name in taken}
    assert {name for name in files if "safetensors" in name} == names
    assert facts_of(output.parent).parameters == before.parameters


QUANTISED = {"quantization_config": {"quant_method": "gptq", "bits": 4}}


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (QUANTISED, "config.json: gptq"),
        ({"text_config": QUANTISED}, "config.json: gptq"),
        ({"quantization_config": {"load_in_4bit": True}}, "config.json: bitsandbytes"),
        ({"quantization": {"bits": 4}}, "config.json: no method is named"),
        ({"quantization_config": {}, "compression_config": None}, ""),
    ],
)
def test_parameters_of_quantised_weights_are_not_made_up(folder, settings, says):
    path = folder / "model.safetensors"
    tensors = load_file(path)
    save_file({n: v.to(torch.int32) if "proj" in n else v for n, v in tensors.items()}, path)
    configure(**settings)(folder)
    facts = facts_of(folder)
    assert facts.quantisation == says
    if says:
        assert facts.parameters is None
        assert facts.file_gb == path.stat().st_size / 1e9
    else:
        assert 0 < facts.parameters * 4e-9 < facts.file_gb / 2


def test_a_checkpoint_with_quantised_weights_is_refused_before_they_are_loaded(folder, tmp_path):
    (folder / "hf_quant_config.json").write_text("{}")
    assert facts_of(folder).quantisation == "hf_quant_config.json"
    configure(**QUANTISED)(folder)
    output = tmp_path / "sealed" / checkpoint.FILE_NAME
    assert take(folder, output).exit_code == 0
    with pytest.raises(UserError, match=r"sealed has quantised weights \(config.json: gptq\)"):
        load_engine(output, "transformers", ScoringOptions())


def narrow(folder):
    """Weights in eight bits with a scale beside them, as of a model whose settings were lost."""
    tensors = load_file(folder / "model.safetensors")
    name = "model.layers.0.mlp.down_proj.weight"
    tensors |= {name: tensors[name].to(torch.float8_e4m3fn), f"{name}_scale": torch.ones(1)}
    save_file(tensors, folder / "model.safetensors")


def wrote(name, text):
    return lambda folder: (folder / name).write_text(text)


def moved(name, new):
    return lambda folder: (folder / name).rename(folder / new)


def unconfigure(folder):
    (folder / "config.json").unlink()


PART = "model-00001-of-00003.safetensors"
adapt = wrote("adapter_config.json", '{"base_model_name_or_path": "gpt2"}')
lack = wrote("pytorch_model.bin.index.json", '{"weight_map": {"w": "other.bin"}}')
ADAPTER = "has an adapter of PEFT .*Name a directory with the adapter alone"


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda folder: shard(folder, "model-7.safetensors"), rf"lacks model-7\.s.*\({INDEX}\); "),
        (lambda folder: shard(folder, "../mine/config.json"), "lacks ../mine/config.json, which"),
        (wrote(INDEX, "[]"), "expected an index of weights"),
        (moved(WHOLE, PART), f"has 1 of the 3 files of weights of which {PART} is one; add"),
        (adapt, ADAPTER),
        (both(unconfigure, moved(WHOLE, "adapter_model.safetensors")), ADAPTER),
        (moved(WHOLE, "consolidated.safetensors"), r"has no \*\.safetensors; .*not consolidated"),
        (pickle_weights, r"pickled weights, .*: blimpworks convert-weights .*NEW-DIRECTORY, and"),
        (wrote(WHOLE, "x" * 100), "its head does not fit into it; expected a safetensors file"),
        (configure(auto_map={"AutoModel": "evil.py"}), r"of its own \(auto_map\), which is never"),
        (configure(quantization_config=[1]), r"a quantisation is \[1\]; expected fields"),
        (narrow, "has weights in F8_E4M3, and no configuration says by what they are scaled"),
        (configure(architectures=["BertModel"]), r"is \['BertModel'\]; expected a language"),
        (unconfigure, "config.json does not exist"),
        (wrote("config.json", "{"), "a model's configuration"),
        (wrote("tokenizer.json", "{"), "has no tokenizer that trans"),
        (
            both(configure(architectures=["BertForMaskedLM"]), wrote("tokenizer.json", "{")),
            "has no tokenizer that trans",
        ),
        (shutil.rmtree, "is no directory; expected a model"),
    ],
)
def test_what_is_no_model_is_one_sentence(folder, damage, says):
    damage(folder)
    with pytest.raises(UserError, match=says):
        facts_of(folder)


@pytest.mark.parametrize("model_type", ["gpt2", "opt", "qwen2", "gemma", "bert", "roberta"])
def test_a_model_without_files_of_a_tokenizer_is_refused(folder, model_type):
    """Training programs leave such checkpoints, and transformers silently makes a tokenizer."""
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()
    edit(folder / "config.json", model_type=model_type)
    with pytest.raises(UserError, match=r"has no vocabulary, .*Add the files of the tokenizer"):
        facts_of(folder)
    with pytest.raises(UserError, match="has no vocabulary"):  # also if facts need no tokenizer
        load_tokenizer(folder)


def test_a_cased_vocabulary_alone_is_not_read_with_lower_case(trained, tmp_path):
    """As models of BERT's first years are: transformers lower-cases by default."""
    folder = tiny.unsealed(trained("masked"), tmp_path / "mine")
    vocabulary = load_tokenizer(folder).tokenizer.get_vocab()
    assert "Pferd" in vocabulary
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()
    (folder / "vocab.txt").write_text("\n".join(sorted(vocabulary, key=vocabulary.get)))
    with pytest.raises(UserError, match=r'has vocab\.txt with capitals .*"do_lower_case": false'):
        facts_of(folder)
    (folder / "tokenizer_config.json").write_text('{"do_lower_case": false}')
    assert facts_of(folder).architecture == "masked"
    assert "Pferd" in load_tokenizer(folder).tokenizer.tokenize("Pferd")


def test_a_vocabulary_of_other_letters_is_not_read_like_that_of_gpt2(folder):
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()
    edit(folder / "config.json", model_type="gpt2")
    (folder / "merges.txt").write_text("#version: 0.2\nd o\ndo g</w>\n")
    letters = ["d", "o", "do", "g</w>", "dog</w>"]
    (folder / "vocab.json").write_text(json.dumps({text: n for n, text in enumerate(letters)}))
    with pytest.raises(UserError, match="has a vocabulary without 'Ġ', and transformers would"):
        facts_of(folder)


def test_a_vocabulary_of_words_that_python_divides_is_read(trained, tmp_path, monkeypatch):
    # RoFormer splits texts by a library for Chinese.
    library = SimpleNamespace(tokenize=lambda text, hmm: [(text, 0, len(text))])
    monkeypatch.setitem(sys.modules, "rjieba", library)
    folder = tiny.unsealed(trained("masked"), tmp_path / "mine")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()
    edit(folder / "config.json", model_type="roformer")
    (folder / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ndog\n好\n")
    assert first_token_of(folder, "masked", "mine") == ("bos", "")


@pytest.mark.parametrize(("kind", "role"), [("causal", "bos"), ("masked", "mask")])
def test_a_token_that_the_model_was_not_trained_with_is_refused(trained, tmp_path, kind, role):
    """It has an id that transformers made up, and a row of an embedding that was only padding."""
    folder = tiny.unsealed(trained(kind), tmp_path / "mine")
    edit(folder / "tokenizer_config.json", **{f"{role}_token": "<new>"})
    with pytest.raises(UserError, match=r"the token '<new>', which tokenizer\.json lacks"):
        facts_of(folder)
    if role == "bos":
        assert facts_of(folder, UserChoice(first_token="eos")).first_token == "eos"
        facts = {"architecture": "causal", "dtype": "float32", "first_token": "eos"}
        description = checkpoint.Description(name="tiny", scope="multi", **facts)
        taken = take_local(folder, description, tmp_path / "taken" / checkpoint.FILE_NAME)
        assert taken.first_token == "eos"


def test_a_tokenizer_of_bytes_needs_no_files(folder):
    (folder / "tokenizer.json").unlink()
    edit(folder / "tokenizer_config.json", tokenizer_class="ByT5Tokenizer")
    assert facts_of(folder).first_token == "bos"


SEES = {"architectures": ["SomeForConditionalGeneration"]}


@pytest.mark.parametrize(
    ("config", "given", "expected"),
    [
        (SEES | {"text_config": {}}, None, "causal"),
        (SEES | {"vision_config": {}}, None, "causal"),  # Qwen2-VL has flat fields
        (SEES | {"text_config": {}, "is_encoder_decoder": True}, None, "encoder-decoder"),
        (SEES | {"is_encoder_decoder": True}, None, "encoder-decoder"),
        ({"architectures": ["SomeModel"]}, "masked", "masked"),
        ({"architectures": ["SomeForCausalLM"]}, "masked", "causal"),
    ],
)
def test_an_architecture_is_that_of_the_class_or_else_can_be_given(config, given, expected):
    assert architecture_of(config, "config.json", given) == expected


@pytest.mark.parametrize(
    ("counts", "config", "expected"),
    [
        ({"BF16": 90, "F32": 10}, {}, "bfloat16"),
        ({"F16": 10, "F32": 90, "I64": 1000}, {"dtype": "float16"}, "float32"),
        ({"F8_E4M3": 90}, {"torch_dtype": "bfloat16"}, "bfloat16"),
        ({}, {"dtype": "float16"}, "float16"),
        ({}, {"dtype": "int8"}, "float32"),
    ],
)
def test_the_number_format_is_that_of_most_numbers(counts, config, expected):
    assert format_of(counts, config) == expected


@pytest.mark.parametrize("named", [None, [{"name": "default", "template": "x"}]])
def test_a_chat_template_counts_only_if_it_has_a_text(folder, named):
    edit(folder / "tokenizer_config.json", chat_template=named)
    assert facts_of(folder).chat == bool(named)


def test_a_model_is_not_sealed_over_itself(folder):
    before = state_of(folder)
    done = take(folder, folder / checkpoint.FILE_NAME)
    assert "mine has the files of" in str(done.exception)
    assert state_of(folder) == before


def convert(folder, output):
    return CliRunner().invoke(app, ["convert-weights", str(folder), str(output)])


def test_converted_weights_give_the_same_log_probabilities(folder, tmp_path):
    model = AutoModelForCausalLM.from_pretrained(folder)
    pickled = tmp_path / "pickled"
    shutil.copytree(folder, pickled, ignore=shutil.ignore_patterns("*.safetensors"))
    torch.save(model.state_dict(), pickled / "pytorch_model.bin")
    done = convert(pickled, tmp_path / "safe")
    assert done.exit_code == 0, done.output
    again = AutoModelForCausalLM.from_pretrained(tmp_path / "safe")
    tokens = torch.tensor([[1, 5, 9, 3]])
    assert torch.equal(model(tokens).logits, again(tokens).logits)
    assert facts_of(tmp_path / "safe").architecture == "causal"


def save_pickled(folder, **files):
    """Replace a model's weights by pickled files; return the weights."""
    weights = load_file(folder / WHOLE)
    (folder / WHOLE).unlink()
    for name, change in files.items():
        torch.save(change(weights), folder / name.replace("__", "."))
    return weights


STATE = {"state": {}, "param_groups": []}


@pytest.mark.parametrize(
    "files",
    [
        {"pytorch_model__bin": dict, "pytorch_model__fp16__bin": lambda weights: {}},
        {"pytorch_model__bin": dict, "optimizer__pt": lambda weights: STATE},
        {"model__pt": dict},
    ],
)
def test_pickled_weights_are_taken_once_as_transformers_does(folder, tmp_path, files):
    weights = save_pickled(folder, **files)
    assert convert_weights(folder, tmp_path / "safe") == len(weights)
    converted = load_file(tmp_path / "safe" / WHOLE)
    assert all(torch.equal(converted[name], weights[name]) for name in weights)


def test_of_pickled_files_those_of_the_index_are_taken(folder, tmp_path):
    weights = save_pickled(folder, a__bin=dict, optimizer__pt=lambda weights: STATE)
    index = json.dumps({"weight_map": dict.fromkeys(weights, "a.bin")})
    (folder / "pytorch_model.bin.index.json").write_text(index)
    assert convert_weights(folder, tmp_path / "safe") == len(weights)


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"a__bin": dict, "b__bin": dict}, "b.bin has the weight .*, and so has an earlier file"),
        ({"a__bin": lambda weights: [*weights.values()]}, "holds more than tensors by name"),
        ({"a__bin": dict, "b__bin": lambda weights: STATE}, "Move it away if it has none"),
    ],
)
def test_ambiguous_pickled_files_are_refused_and_leave_no_output(folder, tmp_path, files, says):
    save_pickled(folder, **files)
    with pytest.raises(UserError, match=says):
        convert_weights(folder, tmp_path / "safe")
    assert not (tmp_path / "safe").exists()


class Evil:
    """An object that runs a command when it is unpickled."""

    def __reduce__(self):
        return os.system, ("touch pwned",)


def test_a_pickle_that_would_run_code_is_not_read(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    torch.save({"w": torch.zeros(1), "x": Evil()}, folder / "pytorch_model.bin")
    done = convert(folder, tmp_path / "safe")
    assert "holds more than tensors" in str(done.exception)
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (both(pickle_weights, lack), "lacks other.bin, which its index"),
        (both(pickle_weights, adapt), "adapter of PEFT"),
        (both(repeat("../safe"), pickle_weights), "exists; expected a new directory"),
        (lambda folder: None, "has no pickled weights"),
    ],
)
def test_what_cannot_be_converted_is_one_sentence(folder, tmp_path, damage, says):
    damage(folder)
    assert says in str(convert(folder, tmp_path / "safe").exception)


IDS = ("", "gpt2", "lab/Model_1.5-B", "a/{lang}_{script}", "lab/m:q4/m.gguf", "pypi:m==1/m.gguf")
PATHS = ("/m", "./x y", "../x", "~/m")
NONE = ("lab/m/x", "my model", "https://huggingface.co/a/b", "a/b@c", "a/b:m.bin", "pypi:m/m.gguf")


@pytest.mark.parametrize("text", [*IDS, *PATHS, *NONE])
def test_addresses_of_models_are_ids_of_the_hub_or_paths(text):
    if text in NONE:
        with pytest.raises(ValueError, match="expected an id of the hub"):
            model_address(text)
    else:
        assert (model_address(text), is_local(text)) == (text, text in PATHS)


EVIL = {"AutoModel": "evil.Model"}
LOADING = {"from_pretrained", "from_config"}
MAPPED = json.dumps({"auto_map": EVIL})
NESTED = json.dumps({"text_config": {"model_type": "llama", "auto_map": EVIL}})
NAMES = "names code of its own (auto_map), which is never run"
BESIDE = "is code of its own beside a model"
EXIT, GENERATION = "raise SystemExit('run')\n", "custom_generate/generate.py"
FILES = ("config", "config.4.0.0", "tokenizer_config", "generation_config")
FILES += ("processor_config", "preprocessor_config")
WAYS = {f"{file}.json": (f"{file}.json", MAPPED, f"{file}.json {NAMES}") for file in FILES} | {
    "a part's configuration": ("config.json", NESTED, f"config.json {NAMES}"),
    "a program": ("modeling_evil.py", EXIT, f"modeling_evil.py {BESIDE}"),
    "a program that generates": (GENERATION, EXIT, f"generate.py {BESIDE}"),
}


def hide(folder, way):
    """Put a file into a folder, or its fields into the existing file; return the message."""
    name, content, says = WAYS[way]
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    if path.exists():
        edit(path, **json.loads(content))
    else:
        path.write_text(content)
    return says


PLAIN = {"name": "mine", "scope": "multi", "architecture": "causal", "dtype": "float32"}
PLAIN |= {"first_token": "bos"}


def plain():
    return checkpoint.Checkpoint(source=checkpoint.Copied(directory="mine"), **PLAIN)


USES = {
    "facts": facts_of,
    "facts of a sealed one": lambda folder: facts_of(unsafely_sealed(folder)),
    "a copy": lambda folder: take_local(
        folder, checkpoint.Description(**PLAIN), folder.parent / "copy" / checkpoint.FILE_NAME
    ),
    "a seal": lambda folder: checkpoint.seal(folder / checkpoint.FILE_NAME, plain()),
    "safetensors of pickled weights": lambda folder: convert_weights(folder, folder / "new"),
}


def unsafely_sealed(folder):
    files = {p.name: sha256_of(p) for p in folder.iterdir() if p.is_file()}
    described = plain().model_copy(update={"files": files})
    (folder / checkpoint.FILE_NAME).write_text(described.model_dump_json())
    return folder


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("way", WAYS)
def test_a_model_with_code_of_its_own_is_refused_by_whatever_reads_or_copies_it(folder, way, use):
    says = hide(folder, way)
    with pytest.raises(UserError) as refused:
        USES[use](folder)
    assert says in str(refused.value)
    assert len(str(refused.value).replace(str(folder), "")) < 300
    assert not (folder.parent / "copy" / checkpoint.FILE_NAME).exists()


def test_what_only_looks_like_code_is_no_reason_to_refuse_a_model(folder):
    (folder / "chat_template.jinja").write_text("{{ auto_map }}")
    (folder / "vocab.json").write_text(json.dumps({"auto_map": 7}))
    edit(folder / "generation_config.json", auto_map={})
    others = {"data_config": "{", "sentence_bert_config": '[{"auto_map": "a.B"}]'}
    for name, text in (others | {"config_sentence_transformers": "\xff"}).items():
        (folder / f"{name}.json").write_text(text, encoding="latin-1")
    checkpoint.refuse_own_code(folder)
    assert facts_of(folder).architecture == "causal"


@pytest.mark.parametrize("text", ["{", "[1]", '"x"'])
def test_a_configuration_that_is_no_json_is_named(folder, text):
    (folder / "generation_config.json").write_text(text)
    with pytest.raises(UserError, match=r"generation_config\.json(:1)?: .*; expected a model's"):
        checkpoint.refuse_own_code(folder)


def test_nothing_is_loaded_by_transformers_with_trust_in_its_code():
    """Otherwise the library asks on standard input, where no one answers."""
    calls = [
        (path.name, node.lineno, {word.arg: word.value for word in node.keywords})
        for path in sorted((REPOSITORY / "src").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in LOADING
    ]
    assert len(calls) >= 7
    for name, line, words in calls:
        trust = words.get("trust_remote_code")
        assert isinstance(trust, ast.Constant), (name, line)
        assert trust.value is False, (name, line)
