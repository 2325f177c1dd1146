"""Code beside a model is never run: models that have any, or name any, are refused."""

import ast
import json
import shutil

import pytest

from blimpworks.errors import UserError
from blimpworks.files import sha256_of
from blimpworks.models.checkpoint import FILE_NAME, Checkpoint, Copied, seal
from blimpworks.models.converted import convert_weights
from blimpworks.models.facts import described_facts, facts_of
from blimpworks.models.retrieve import take_local
from blimpworks.models.weights import refuse_own_code
from support import tiny
from support.hostile import edit
from support.paths import REPOSITORY

EVIL = {"AutoModel": "evil.Model"}
LOADING = {"from_pretrained", "from_config"}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    root = tmp_path_factory.mktemp("own-code")
    return tiny.make_transformer(tiny.write_corpus(root / "t.txt", 60), root / "tf" / FILE_NAME)


@pytest.fixture
def folder(trained, tmp_path):
    """A model in Hugging Face's layout, without our seal."""
    shutil.copytree(trained.parent, tmp_path / "mine")
    (tmp_path / "mine" / FILE_NAME).unlink()
    return tmp_path / "mine"


def nested(folder):
    edit(folder / "config.json", text_config={"model_type": "llama", "auto_map": EVIL})


def a_program(folder):
    (folder / "modeling_evil.py").write_text("raise SystemExit('run')\n")


def a_generation_program(folder):
    (folder / "custom_generate").mkdir()
    (folder / "custom_generate/generate.py").write_text("raise SystemExit('run')\n")


def names_code(name):
    return lambda folder: edit(folder / name, auto_map=EVIL)


WAYS = {
    **{
        name: (names_code(name), f"{name} names code of its own (auto_map), which is never run")
        for name in (
            "config.json",
            "config.4.0.0.json",
            "tokenizer_config.json",
            "generation_config.json",
            "processor_config.json",
            "preprocessor_config.json",
        )
    },
    "a part's configuration": (nested, "config.json names code of its own (auto_map)"),
    "a program": (a_program, "modeling_evil.py is code of its own beside a model"),
    "a program that generates": (a_generation_program, "generate.py is code of its own beside"),
}


def plain():
    return Checkpoint(
        name="mine", scope="multi", architecture="causal", dtype="float32", first_token="bos",
        source=Copied(directory="mine"),
    )  # fmt: skip


USES = {
    "facts": facts_of,
    "facts of a sealed one": lambda folder: facts_of(unsafely_sealed(folder)),
    "a copy": lambda folder: take_local(folder, plain(), folder.parent / "copy" / FILE_NAME),
    "a seal": lambda folder: seal(folder / FILE_NAME, plain()),
    "safetensors of pickled weights": lambda folder: convert_weights(folder, folder / "new"),
}


def unsafely_sealed(folder):
    files = {p.name: sha256_of(p) for p in folder.iterdir() if p.is_file()}
    described = plain().model_copy(update={"files": files})
    (folder / FILE_NAME).write_text(described.model_dump_json())
    return folder


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("way", WAYS)
def test_a_model_with_code_of_its_own_is_refused_by_whatever_reads_or_copies_it(folder, way, use):
    hide, says = WAYS[way]
    hide(folder)
    with pytest.raises(UserError) as refused:
        USES[use](folder)
    assert says in str(refused.value)
    assert len(str(refused.value).replace(str(folder), "")) < 300
    assert not (folder.parent / "copy" / FILE_NAME).exists()


@pytest.mark.parametrize("way", ["config.json", "tokenizer_config.json", "a part's configuration"])
def test_a_model_of_the_hub_that_names_code_is_refused_by_its_name(folder, way):
    WAYS[way][0](folder)
    with pytest.raises(UserError, match=r"^lab/coded: \w+\.json names code of its own"):
        described_facts(folder, {"F32": 1}, "lab/coded")


def test_what_only_looks_like_code_is_no_reason_to_refuse_a_model(folder):
    (folder / "chat_template.jinja").write_text("{{ auto_map }}")
    vocabulary = folder / "vocab.json"
    vocabulary.write_text(json.dumps({"auto_map": 7}))
    edit(folder / "generation_config.json", auto_map={})
    refuse_own_code(folder)
    assert facts_of(folder).architecture == "causal"


@pytest.mark.parametrize("text", ["{", "[1]", '"x"', '[{"auto_map": "a.B"}]', "\xff"])
def test_other_configurations_may_hold_anything(folder, text):
    for name in (
        "data_config.json",
        "config_sentence_transformers.json",
        "sentence_bert_config.json",
    ):
        (folder / name).write_text(text, encoding="latin-1")
    refuse_own_code(folder)
    assert facts_of(folder).architecture == "causal"


@pytest.mark.parametrize("text", ["{", "[1]", '"x"'])
def test_a_configuration_that_is_no_json_is_named(folder, text):
    (folder / "generation_config.json").write_text(text)
    with pytest.raises(UserError, match=r"generation_config\.json(:1)?: .*; expected a model's"):
        refuse_own_code(folder)


def test_nothing_is_loaded_by_transformers_with_trust_in_its_code():
    """A library's question on standard input would be the alternative, and no answer to it."""
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
