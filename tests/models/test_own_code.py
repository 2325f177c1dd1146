"""Code beside a model is never run: models that have any, or name any, are refused."""

import ast
import json

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


@pytest.fixture
def folder(trained, tmp_path):
    return tiny.unsealed(trained("causal"), tmp_path / "mine")


MAPPED = json.dumps({"auto_map": EVIL})
NESTED = json.dumps({"text_config": {"model_type": "llama", "auto_map": EVIL}})
NAMES = "names code of its own (auto_map), which is never run"
BESIDE = "is code of its own beside a model"
EXIT, GENERATION = "raise SystemExit('run')\n", "custom_generate/generate.py"
KINDS = ("config", "config.4.0.0", "tokenizer_config", "generation_config")
KINDS += ("processor_config", "preprocessor_config")
WAYS = {f"{kind}.json": (f"{kind}.json", MAPPED, f"{kind}.json {NAMES}") for kind in KINDS} | {
    "a part's configuration": ("config.json", NESTED, f"config.json {NAMES}"),
    "a program": ("modeling_evil.py", EXIT, f"modeling_evil.py {BESIDE}"),
    "a program that generates": (GENERATION, EXIT, f"generate.py {BESIDE}"),
}


def hide(folder, way):
    """Put a file into a folder, or its fields into those of the file that is there."""
    name, content, says = WAYS[way]
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    if path.exists():
        edit(path, **json.loads(content))
    else:
        path.write_text(content)
    return says


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
    says = hide(folder, way)
    with pytest.raises(UserError) as refused:
        USES[use](folder)
    assert says in str(refused.value)
    assert len(str(refused.value).replace(str(folder), "")) < 300
    assert not (folder.parent / "copy" / FILE_NAME).exists()


@pytest.mark.parametrize("way", ["config.json", "tokenizer_config.json", "a part's configuration"])
def test_a_model_of_the_hub_that_names_code_is_refused_by_its_name(folder, way):
    hide(folder, way)
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
    for name in ("data_config", "config_sentence_transformers", "sentence_bert_config"):
        (folder / f"{name}.json").write_text(text, encoding="latin-1")
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
