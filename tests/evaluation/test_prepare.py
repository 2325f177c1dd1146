"""What is chosen for a user before anything runs."""

import shutil

import pytest

from blimpworks.errors import UserError
from blimpworks.evaluation import prepare
from blimpworks.models.checkpoint import FILE_NAME
from blimpworks.records.job import REPOSITORY
from support import tiny
from support.hostile import edit


@pytest.fixture
def elsewhere(monkeypatch, tmp_path):
    """A repository with an environment of vLLM, on a machine without a GPU."""
    monkeypatch.setattr(prepare, "REPOSITORY", tmp_path)
    machine = prepare.Machine(16.0, (), has_vllm=True)
    monkeypatch.setattr(prepare, "this_machine", lambda: machine)
    (tmp_path / "config").mkdir()
    return tmp_path


def engine_of(model, *, remote):
    [resolved] = prepare.resolve([model], "auto", {}, remote=remote)
    return resolved.row.engine


def test_on_a_cluster_with_gpus_a_model_is_run_by_vllm_wherever_the_command_is_typed(elsewhere):
    shutil.copy(REPOSITORY / "config/site.example.yaml", elsewhere / "config/site.yaml")
    assert engine_of("gpt2", remote=True) == "vllm"
    assert engine_of("gpt2", remote=False) == "transformers"
    assert engine_of("bert-base-multilingual-cased", remote=True) == "transformers"


def test_quantised_weights_are_run_by_vllm_alone(elsewhere, tmp_path):
    trained = tiny.make_transformer(
        tiny.write_corpus(tmp_path / "t.txt"), tmp_path / "m" / FILE_NAME
    )
    trained.unlink()
    edit(trained.with_name("config.json"), quantization_config={"quant_method": "fp8"})
    shutil.copy(REPOSITORY / "config/site.example.yaml", elsewhere / "config/site.yaml")
    assert engine_of(str(trained.parent), remote=True) == "vllm"
    with pytest.raises(UserError, match=r"m has quantised weights \(config.json: fp8\), which the"):
        engine_of(str(trained.parent), remote=False)


def test_on_a_cluster_that_is_not_described_a_model_needs_no_gpu(elsewhere):
    assert engine_of("gpt2", remote=True) == "transformers"
