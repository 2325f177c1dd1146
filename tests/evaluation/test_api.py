"""Results as pandas tables, for notebooks."""

import shutil
from pathlib import Path

import pytest

import blimpworks
from blimpworks.errors import UserError
from blimpworks.evaluation.request import repository_catalogue, write_models
from support.evaluation_kit import BENCHMARK, LANG, Evaluation

BEFORE, AFTER = [1.0] * 8, [-1.0] * 8


def test_a_copied_evaluation_keeps_its_results_when_the_original_is_run_again(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    original = Evaluation(Path("original"))
    original.write_items()
    write_models([repository_catalogue().models["gpt2"]], original.folder / "models.tsv")
    original.campaign(
        pathvars={"results": str(original.results.absolute())},
        catalogue={"models": str(original.folder.absolute() / "models.tsv")},
        benchmarks=[BENCHMARK],
        languages=[LANG],
        models=["gpt2"],
    )
    original.judge(BEFORE, "gpt2").finish()
    shutil.copytree("original", "copy")
    original.judge(AFTER, "gpt2")
    with pytest.raises(UserError, match="was made again after the accuracies"):
        blimpworks.load_results("original")
    original.finish()
    for folder, share, margins in (("original", 0.0, AFTER), ("copy", 1.0, BEFORE)):
        results = blimpworks.load_results(folder)
        assert {*results.accuracies["accuracy"]} == {share}
        assert results.judgements["margin"].tolist() == margins
        assert results.items["good"].str.startswith("the good").all()
        assert {*results.items["model"]} == {"gpt2"}
