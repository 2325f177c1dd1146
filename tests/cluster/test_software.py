"""What jobs need is looked for where they will run it."""

import pytest

from blimpworks.cluster import stops
from blimpworks.cluster.stops import missing_software


@pytest.fixture
def bare(tmp_path, monkeypatch):
    """A repository without environments, on a machine with nothing installed."""
    monkeypatch.setattr(stops, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def executable(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o755)


def test_vllm_has_an_environment_of_its_own(bare):
    [said] = missing_software({"vllm"}, {"score_with_vllm"}, bare)
    assert said.startswith("vllm not installed: `bash envs/install.sh vllm-cuda` for GPUs")
    executable(bare / ".vllm/bin/python")
    assert [*missing_software({"vllm"}, (), bare)] == [said]
    (bare / ".vllm/lib/python3.11/site-packages/vllm").mkdir(parents=True)
    assert [*missing_software({"vllm"}, (), bare)] == []


def test_packages_of_engines_and_trainings_are_named_together(bare):
    [said] = missing_software({"lstm", "transformers"}, {"train_lstm"}, bare)
    assert said.startswith("torch, transformers not installed: `bash envs/install.sh train`")


def test_programs_of_kenlm_are_needed_to_train_alone(bare):
    assert [*missing_software((), {"score"}, bare)] == []
    [said] = missing_software((), {"train_ngram"}, bare)
    assert said.startswith("KenLM's programs lmplz, build_binary are neither in .tools/bin nor")
    for name in stops.KENLM:
        executable(bare / ".tools/bin" / name)
    assert [*missing_software((), {"train_ngram"}, bare)] == []


def test_nothing_is_missing_where_nothing_is_run(bare):
    assert [*missing_software((), {"retrieve", "build_tokens"}, bare)] == []
