"""Test that a model's own code runs only with the user's consent to its digest."""

import json
import shutil
from hashlib import sha256

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from blimpworks.campaign.settings.scoring import GenerationJobOptions, ScoringOptions
from blimpworks.errors import UserError
from blimpworks.evaluation import session
from blimpworks.evaluation.machine import Machine
from blimpworks.evaluation.session import Evaluation
from blimpworks.generation.conversation import PromptRequest
from blimpworks.generation.engine import load_generation_engine
from blimpworks.models.checkpoint import FILE_NAME, Description
from blimpworks.models.facts import UserChoice, facts_of
from blimpworks.models.own_code import FILE, read_code
from blimpworks.models.retrieve import take_local
from blimpworks.scoring.engine import load_engine
from support import tiny
from support.hostile import edit, reseal
from support.own_code import make_own, marked

OTHER = "0" * 64
CONSENT = "which is never run without consent; `blimpworks evaluate MODEL --run-model-code show`"


@pytest.fixture
def own(trained, tmp_path):
    """Make a causal model whose code writes the file ``mark`` when it runs."""
    return marked(make_own(trained("causal"), tmp_path / "own", "causal"), tmp_path / "mark")


@pytest.fixture
def ran(tmp_path):
    return (tmp_path / "mark").exists


def digest_of(folder):
    return read_code(folder).digest


def sealed(folder, *trusted, architecture="causal"):
    facts = {"architecture": architecture, "dtype": "float32", "first_token": "bos"}
    described = Description(name="own", scope="multi", **facts)
    checkpoint = folder.with_name(f"sealed-{folder.name}") / FILE_NAME
    take_local(folder, described, checkpoint, trusted=trusted)
    return checkpoint


def logprobs_of(checkpoint, *trusted):
    engine = load_engine(checkpoint, "transformers", ScoringOptions(), trusted)
    engine.follow(engine.self_test().decisions)
    return engine.logprobs(engine.encode(tiny.sentences(20)))


@pytest.mark.parametrize("architecture", ["causal", "masked"])
def test_with_consent_its_scores_are_those_of_the_same_weights(trained, tmp_path, architecture):
    folder = make_own(trained(architecture), tmp_path / "own", architecture)
    digest = digest_of(folder)
    checkpoint = sealed(folder, digest, architecture=architecture)
    ours, theirs = logprobs_of(checkpoint, digest), logprobs_of(trained(architecture))
    for mine, same in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, same, atol=1e-4)


def test_a_weight_that_the_files_lack_is_named_and_a_tied_one_is_not(own, ran):
    path = own / "model.safetensors"
    weights = load_file(path)
    code = own / "modeling_own.py"
    # The head has the embeddings' weight, as is common, under a name that the files lack.
    tied = "self.head = nn.Linear(4, 4)\n        self.head.weight = self.model.embed_tokens.weight"
    built = "self.model = CausalStack(config)\n"
    code.write_text(code.read_text().replace(built, f"{built}        {tied}\n"))
    weights["head.bias"] = torch.zeros(4)
    save_file(weights, path, {"format": "pt"})
    digest = digest_of(own)
    assert len(logprobs_of(sealed(own, digest), digest)) == 20
    assert ran()
    del weights["model.norm.weight"]
    save_file(weights, path, {"format": "pt"})
    with pytest.raises(UserError, match=r"lack a weight of OwnForCausalLM \(model\.norm\.weight\)"):
        logprobs_of(sealed(own, digest), digest)


def test_a_checkpoint_has_the_code_as_data_and_the_model_keeps_its_files(own, ran):
    before = {path: path.read_bytes() for path in own.rglob("*") if path.is_file()}
    digest = digest_of(own)
    folder = sealed(own, digest).parent
    names = {path.name for path in folder.iterdir()}
    assert FILE in names
    assert not [name for name in names if name.endswith(".py")]
    assert "auto_map" not in json.loads((folder / "config.json").read_text())
    assert sha256((folder / FILE).read_bytes()).hexdigest() == digest == digest_of(folder)
    assert {path: path.read_bytes() for path in own.rglob("*") if path.is_file()} == before
    facts = facts_of(folder)
    trusted = facts_of(own, UserChoice(trusted=[digest]))
    assert (facts.code, facts.parameters) == (digest, trusted.parameters)
    # Taken again, as by a person who received the checkpoint.
    with pytest.raises(UserError, match="nobody consented to it, so nothing of it is run"):
        sealed(folder)
    assert sealed(folder, digest).with_name(FILE).read_bytes() == (folder / FILE).read_bytes()
    assert not ran()


@pytest.mark.parametrize("use", [facts_of, sealed])
def test_without_consent_it_is_refused_with_the_way_to_consent(own, ran, use):
    with pytest.raises(UserError) as refused:
        use(own)
    assert CONSENT in str(refused.value)
    assert not ran()


CHANGES = {
    "a byte": lambda folder: (folder / "parts/attention.py").open("a").write("\n"),
    "a new file": lambda folder: (folder / "parts/more.py").write_text(""),
    "a file that is gone": lambda folder: (folder / "parts/__init__.py").unlink(),
    "a name": lambda folder: (folder / "parts/attention.py").rename(folder / "parts/Attention.py"),
    "another class": lambda folder: edit(
        folder / "config.json", auto_map={"AutoConfig": "modeling_own.OwnForMaskedLM"}
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_consent_is_to_these_files_and_no_others(own, ran, change):
    digest = digest_of(own)
    CHANGES[change](own)
    with pytest.raises(UserError) as refused:
        sealed(own, digest)
    assert f"digest {digest_of(own)}, but consent is to {digest}" in str(refused.value)
    assert not ran()


LOADERS = {
    "scores": lambda path, *trusted: load_engine(path, "transformers", ScoringOptions(), trusted),
    "answers": lambda path, *trusted: load_generation_engine(
        path, "transformers", GenerationJobOptions(max_tokens=4), trusted
    ),
}


@pytest.mark.parametrize("loader", LOADERS)
def test_each_job_needs_consent_and_a_seal_is_none(own, ran, loader, tmp_path):
    digest, load = digest_of(own), LOADERS[loader]
    checkpoint = sealed(own, digest)
    for trusted in ((), (OTHER,)):
        with pytest.raises(UserError, match=f"has code of its own with digest {digest}, but"):
            load(checkpoint, *trusted)
    changed = tiny.copied(checkpoint, tmp_path / "changed")
    code = json.loads(changed.with_name(FILE).read_text())
    code["files"]["modeling_own.py"] += "\n"
    content = json.dumps(code, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    changed.with_name(FILE).write_text(content)
    with pytest.raises(UserError, match="expects SHA-256"):
        load(changed, digest)
    with pytest.raises(UserError, match=f"but consent is to {digest}"):
        load(reseal(changed), digest)
    changed.with_name(FILE).write_text(content + " ")
    with pytest.raises(UserError, match="expected a model's own code"):
        load(reseal(changed), sha256((content + " ").encode()).hexdigest())
    assert not ran()
    load(checkpoint, digest)
    assert ran()


def test_a_class_that_cannot_generate_answers_no_prompts(own):
    digest = digest_of(own)
    engine = LOADERS["answers"](sealed(own, digest), digest)
    ready = engine.conversation.ready([PromptRequest("the dog", None)], 4)
    with pytest.raises(UserError, match="OwnForCausalLM, which is code of the model's own, has no"):
        engine.generate(ready)


def test_what_runs_is_what_was_digested_whatever_lies_elsewhere(own, ran, tmp_path, monkeypatch):
    digest = digest_of(own)
    checkpoint = sealed(own, digest)
    evil = f"open({str(tmp_path / 'evil')!r}, 'w').close()\n"
    package = f"model_code_{digest}"
    monkeypatch.syspath_prepend(tmp_path / "stale")
    for folder in (tmp_path / "stale" / package, tmp_path / package, checkpoint.parent, own):
        (folder / "parts").mkdir(parents=True, exist_ok=True)
        for name in ("modeling_own.py", "configuration_own.py", "parts/__init__.py", "more.py"):
            (folder / name).write_text(evil)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=r"\.py is code of its own beside a model"):
        load_engine(checkpoint, "transformers", ScoringOptions(), [digest])
    for path in checkpoint.parent.glob("*.py"):
        path.unlink()
    LOADERS["scores"](checkpoint, digest)
    assert ran()
    assert not (tmp_path / "evil").exists()


def test_what_the_digest_lacks_is_not_imported_though_it_lies_there(own, tmp_path, monkeypatch):
    with (own / "modeling_own.py").open("a") as file:
        file.write("from .more import evil\n")
    digest = digest_of(own)
    package = tmp_path / f"model_code_{digest}"
    package.mkdir()
    (package / "more.py").write_text("evil = 1\n")
    monkeypatch.chdir(tmp_path)
    engine = load_engine(sealed(own, digest), "transformers", ScoringOptions(), [digest])
    with pytest.raises(UserError, match="the model's code has no module 'more'"):
        engine.self_test()


def test_a_link_counts_by_its_content_and_linked_folders_do_not(own, tmp_path):
    digest = digest_of(own)
    outside = tmp_path / "outside"
    shutil.move(own / "parts", outside)
    (own / "parts").mkdir()
    for name in ("attention.py", "__init__.py"):
        (own / "parts" / name).symlink_to(outside / name)
    for name in (".hidden/x.py", "x.pyc", "x.so", "x.pth"):
        (own / name).parent.mkdir(exist_ok=True)
        (own / name).write_text("")
    (own / "linked").symlink_to(outside)
    assert digest_of(own) == digest
    folder = sealed(own, digest).parent
    assert {path.suffix for path in folder.iterdir()} == {".json", ".safetensors"}


def naming(classes, file="config.json", **fields):
    """Return a function that names classes in one of a model's configurations."""
    return lambda folder: edit(folder / file, **fields or {"auto_map": classes})


def having(name, content=b""):
    return lambda folder: (folder / name).write_bytes(content)


TOKENIZER = {"AutoTokenizer": ["modeling_own.T", None]}
IMPOSSIBLE = {
    "elsewhere": (naming({"AutoConfig": "lab/code--modeling.Own"}), "code of another repository"),
    "a tokenizer": (naming(TOKENIZER), "names code of a tokenizer"),
    "lacking": (naming({"AutoConfig": "gone.Own"}), r"gone\.py is not beside it"),
    "outside": (naming({"AutoConfig": "../evil.Own"}), r"and MODULE\.CLASS"),
    "nested": (naming({"AutoConfig": "parts.attention.Own"}), r"and MODULE\.CLASS"),
    "a trick": (naming({"A\x1b[2K": "modeling_own.Own"}), r"has 'A\\x1b\[2K'"),
    "a list": (naming(["modeling_own.Own"]), "names no code of its own"),
    "inside": (naming({}, text_config={"auto_map": {"A": "b.C"}}), "names code below its top"),
    "of tokenizers": (naming(TOKENIZER, "tokenizer_config.json"), "tokenizer_config.json names"),
    "of generation": (naming(TOKENIZER, "generation_config.json"), "generation_config.json names"),
    "unseen": (having("modeling_\u202eyp.py"), "has a character that terminals do not show"),
    "pickled weights": (
        lambda folder: (folder / "model.safetensors").rename(folder / "pytorch_model.bin"),
        "has pickled weights, which are refused",
    ),
    "no text": (having("parts/attention.py", b"\xff"), r"attention\.py is not in UTF-8"),
}


@pytest.mark.parametrize("case", IMPOSSIBLE)
def test_code_that_cannot_be_consented_to(own, ran, case):
    change, message = IMPOSSIBLE[case]
    digest = digest_of(own)
    change(own)
    with pytest.raises(UserError, match=message):
        sealed(own, digest)
    assert not ran()


def test_vllm_runs_no_code_of_a_model(own, ran, monkeypatch):
    digest = digest_of(own)
    with pytest.raises(UserError, match="which this engine does not run; choose"):
        load_engine(sealed(own, digest), "vllm", ScoringOptions(), [digest])
    machine = Machine(16.0, (40.0,), frozenset({"vllm"}))
    monkeypatch.setattr(session, "this_machine", lambda: machine)
    evaluation = Evaluation(trusted=[digest])
    evaluation.resolve([str(own)])
    [model] = evaluation.models
    assert (model.row.engine, model.facts.code) == ("transformers", digest)
    assert model.notes == (f"own runs code of its own: {digest}.",)
    with pytest.raises(UserError, match="--engine is 'vllm', which runs no code of a model's own"):
        Evaluation(trusted=[digest], engine="vllm").resolve([str(own)])
    assert not ran()


def test_each_consent_is_to_a_model_that_is_named(own, trained):
    with pytest.raises(UserError, match=f"--run-model-code names {OTHER}, and no model named here"):
        Evaluation(trusted=[digest_of(own), OTHER]).resolve([str(own)])
    with pytest.raises(UserError, match=f"--run-model-code names {OTHER}"):
        Evaluation(trusted=[OTHER]).resolve([str(trained("causal").parent)])
    checkpoint = sealed(own, digest_of(own))
    with pytest.raises(UserError, match="nobody consented"):
        Evaluation().resolve([str(checkpoint.parent)])


def test_checkpoints_of_a_run_are_listed_by_their_code(own, ran, tmp_path):
    run, digest = tmp_path / "run", digest_of(own)
    for name in ("chck_1M", "chck_2M", "chck_3M"):
        shutil.copytree(own, run / name)
    CHANGES["a byte"](run / "chck_3M")
    other = digest_of(run / "chck_3M")
    listing = Evaluation(checkpoints="chck_*").code_listing([str(run)])
    first, second, advice = listing.split("\n\n")
    assert [line.split(" has")[0] for line in first.splitlines()[:2]] == [
        f"{run}/chck_1M", f"{run}/chck_2M",
    ]  # fmt: skip
    content = sha256((own / "modeling_own.py").read_bytes()).hexdigest()
    assert f"  {content}  modeling_own.py" in first
    assert first.endswith(f"Digest of all: {digest}")
    assert second.splitlines()[0].startswith(f"{run}/chck_3M has")
    assert "it can do whatever you can" in advice
    assert advice.endswith(f"\n  --run-model-code {digest},{other}")
    evaluation = Evaluation(trusted=[digest, other])
    evaluation.resolve([f"{run}/chck_{n}M" for n in (1, 2, 3)])
    assert [model.facts.code for model in evaluation.models] == [digest, digest, other]
    assert not ran()


def test_a_model_without_code_has_none_to_list(trained):
    folder = trained("causal").parent
    with pytest.raises(UserError, match="names no code of its own"):
        Evaluation().code_listing([str(folder)])
