"""Models in a directory of this machine, as their own files describe them."""

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from blimpworks.campaign.local_models import is_local, model_address, state_of
from blimpworks.cli import app
from blimpworks.errors import UserError
from blimpworks.models.checkpoint import FILE_NAME, read_checkpoint
from blimpworks.models.facts import architecture_of, facts_of, format_of
from support import tiny


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Directories of small models of several architectures, sealed."""
    root = tmp_path_factory.mktemp("trained")
    text = tiny.write_corpus(root / "text.txt", 60)
    makers = {"causal": tiny.make_transformer, "masked": tiny.make_masked}
    makers |= {"encoder-decoder": tiny.make_seq2seq, "ngram": tiny.make_ngram}
    for name, make in makers.items():
        make(text, root / name / FILE_NAME)
    return root


@pytest.fixture
def folder(trained, tmp_path):
    """The causal model in Hugging Face's layout: without our seal."""
    shutil.copytree(trained / "causal", tmp_path / "mine")
    (tmp_path / "mine" / FILE_NAME).unlink()
    return tmp_path / "mine"


def take(folder, output, architecture="causal", scope="multi"):
    """What retrieve-model says of a directory."""
    named = {"name": "mine", "scope": scope, "hf-id": str(folder), "revision": ""}
    named |= {"architecture": architecture, "dtype": "float32", "first-token": "bos"}
    options = [f"--{name}={value}" for name, value in named.items()]
    return CliRunner().invoke(app, ["retrieve-model", *options, f"--output={output}"])


@pytest.mark.parametrize("architecture", ["causal", "masked", "encoder-decoder"])
def test_files_say_architecture_format_and_size(trained, tmp_path, architecture):
    shutil.copytree(trained / architecture, tmp_path / "mine")
    (tmp_path / "mine" / FILE_NAME).unlink()
    facts = facts_of(tmp_path / "mine")
    from transformers import AutoModel

    model = AutoModel.from_pretrained(tmp_path / "mine")
    assert facts.architecture == architecture
    assert (facts.dtype, facts.first_token, facts.scope) == ("float32", "bos", "multi")
    # A model with a head has at least the parameters of the model without.
    assert facts.parameters >= sum(p.numel() for p in model.parameters())
    assert facts.weights_gb == pytest.approx(facts.parameters * 4e-9)


def test_a_checkpoint_of_ours_says_what_it_is_sealed_with(trained):
    assert facts_of(trained / "ngram").engine == "kenlm"
    assert facts_of(trained / "causal").engine == "transformers"


def test_a_directory_becomes_a_sealed_checkpoint_and_stays_as_it_was(folder, tmp_path):
    before = state_of(folder)
    output = tmp_path / "sealed" / FILE_NAME
    done = take(folder, output)
    assert done.exit_code == 0, done.output
    sealed = read_checkpoint(output)
    assert sealed.source.kind == "copied"
    assert sealed.source.directory == "mine"
    assert str(tmp_path) not in output.read_text()
    assert {path.name for path in folder.iterdir()} == {*sealed.files}
    assert state_of(folder) == before


def test_a_sealed_checkpoint_can_be_taken_as_it_is(trained, tmp_path):
    output = tmp_path / "sealed" / FILE_NAME
    scope = json.loads((trained / "ngram" / FILE_NAME).read_text())["scope"]
    done = take(trained / "ngram", output, "ngram", scope)
    assert done.exit_code == 0, done.output
    assert {*read_checkpoint(output).files} == {
        *read_checkpoint(trained / "ngram" / FILE_NAME).files
    }


def test_a_changed_file_changes_the_state(folder):
    before = state_of(folder)
    path = folder / "config.json"
    path.write_text(path.read_text() + "\n")
    assert state_of(folder) != before


def damage_weights(folder: Path) -> None:
    for path in folder.glob("*.safetensors"):
        path.write_bytes(b"\xff" * 100)


def pickle_weights(folder: Path) -> None:
    for path in folder.glob("*.safetensors"):
        path.rename(path.with_name("pytorch_model.bin"))


def edit(**changes):
    def change(folder: Path) -> None:
        path = folder / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))

    return change


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (pickle_weights, r"pickled weights, .*: blimpworks convert-weights .*NEW-DIRECTORY\.$"),
        (damage_weights, "its head does not fit into it; expected a safetensors file"),
        (edit(auto_map={"AutoModel": "evil.py"}), r"code of its own \(auto_map\), which is never"),
        (edit(architectures=["BertModel"]), r"architectures is \['BertModel'\]; expected a lang"),
        (lambda folder: (folder / "config.json").unlink(), "config.json does not exist"),
        (lambda folder: (folder / "config.json").write_text("{"), "a model's configuration"),
        (lambda folder: (folder / "tokenizer.json").write_text("{"), "has no tokenizer that trans"),
        (shutil.rmtree, "is no directory; expected a model"),
    ],
)
def test_what_is_no_model_is_one_sentence(folder, damage, says):
    damage(folder)
    with pytest.raises(UserError, match=says):
        facts_of(folder)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"text_config": {}}, "causal"),
        ({"text_config": {}, "is_encoder_decoder": True}, "encoder-decoder"),
        ({"is_encoder_decoder": True}, "encoder-decoder"),
    ],
)
def test_a_model_that_sees_pictures_is_causal(changes, expected):
    config = {"architectures": ["SomeForConditionalGeneration"], **changes}
    assert architecture_of(config, "config.json") == expected


def test_an_architecture_that_no_class_says_can_be_given():
    assert architecture_of({"architectures": ["SomeModel"]}, "config.json", "masked") == "masked"
    given = {"architectures": ["SomeForCausalLM"]}
    assert architecture_of(given, "config.json", "masked") == "causal"


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


def test_another_architecture_than_the_row_says_is_refused(folder, tmp_path):
    done = take(folder, tmp_path / "sealed" / FILE_NAME, "masked")
    assert "is a causal model (multi); expected masked (multi)" in str(done.exception)


def test_names_of_the_hub_are_no_directories():
    assert not is_local("owner/name")
    assert all(map(is_local, ("/models/x", "./x", "../x", "~/x")))


def convert(folder, output):
    return CliRunner().invoke(app, ["convert-weights", str(folder), str(output)])


def test_converted_weights_give_the_same_log_probabilities(folder, tmp_path):
    import torch
    from transformers import AutoModelForCausalLM

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


class Evil:
    """What would run a command if it were unpickled."""

    def __reduce__(self):
        import os

        return os.system, ("touch pwned",)


def test_a_pickle_that_would_run_code_is_not_read(folder, tmp_path, monkeypatch):
    import torch

    monkeypatch.chdir(tmp_path)
    torch.save({"w": torch.zeros(1), "x": Evil()}, folder / "pytorch_model.bin")
    done = convert(folder, tmp_path / "safe")
    assert "holds more than tensors" in str(done.exception)
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize("there", [True, False])
def test_what_cannot_be_converted_is_one_sentence(folder, tmp_path, there):
    if there:
        (folder / "pytorch_model.bin").write_bytes(b"x")
        (tmp_path / "safe").mkdir()
    says = "exists; expected a new directory" if there else "has no pickled weights"
    assert says in str(convert(folder, tmp_path / "safe").exception)


@pytest.mark.parametrize(
    "text", ["", "gpt2", "lab/Model_1.5-B", "a/{lang}_{script}", "./x y", "~/m"]
)
def test_addresses_of_models_are_ids_of_the_hub_or_paths(text):
    assert model_address(text) == text


@pytest.mark.parametrize("text", ["lab/model/x", "my model", "https://huggingface.co/a/b", "a/b@c"])
def test_what_can_be_no_address_of_a_model_is_refused(text):
    with pytest.raises(ValueError, match="expected an id of the hub"):
        model_address(text)
