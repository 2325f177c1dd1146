"""A request that is refused leaves an evaluation as it was."""

import pytest

from blimpworks.errors import UserError
from blimpworks.evaluation.api import load_items
from blimpworks.evaluation.prepare import prepare, resolve
from blimpworks.evaluation.request import CAMPAIGN_FILE, MODELS_FILE, Request
from blimpworks.records.job import REPOSITORY


@pytest.mark.parametrize("before", [None, "models of an earlier evaluation\n"])
def test_the_table_of_models_is_put_back(before, tmp_path, monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    if before is not None:
        (tmp_path / MODELS_FILE).write_text(before)
    # CLAMS has no Turkish.
    request = Request(data="embedded", benchmarks=("clams",), languages=("tur",))
    with pytest.raises(UserError):
        prepare(request, tmp_path, resolve(["ngram-5"], "auto", {}, remote=False))
    table = tmp_path / MODELS_FILE
    assert (table.read_text() if table.exists() else None) == before
    assert not (tmp_path / CAMPAIGN_FILE).exists()


def test_items_that_a_benchmark_lacks_are_refused_before_anything_is_run():
    with pytest.raises(UserError, match="clams has no items in tur; name a language that it has"):
        load_items("clams", "Turkish", data="embedded")
