"""A model with code of its own, evaluated beside a plain one of the same weights."""

import json

import pyarrow.parquet as pq
import pytest
import yaml

from support import tiny
from support.checkout import output_of
from support.own_code import make_own, marked

OFFLINE = {"HF_HUB_OFFLINE": "1", "COLUMNS": "80"}
REQUEST = [
    "--data=embedded",
    "--benchmarks=demo_pairs",
    "--languages=eng",
    "--limit=8",
    "--cores=2",
]


def test_a_model_with_code_of_its_own_has_the_results_of_a_plain_one(
    bare, trained, tmp_path, monkeypatch
):
    """Its code runs in the jobs that score, and for the parity report of other first tokens."""
    monkeypatch.setenv("HF_MODULES_CACHE", str(tmp_path / "modules"))
    plain = tiny.unsealed(trained("causal"), tmp_path / "plain")
    mark = tmp_path / "mark"
    own = marked(make_own(trained("causal"), tmp_path / "own", "causal"), mark)
    models, out = [str(own), str(plain)], tmp_path / "out"

    def evaluate(*arguments):
        words = (*models, *REQUEST, f"--out={out}", *arguments)
        return bare.run("blimpworks", "evaluate", *words, **OFFLINE)

    refused = evaluate()
    assert refused.returncode == 2, output_of(refused)
    assert "--run-model-code show` lists it" in refused.stderr
    shown = bare.run("blimpworks", "evaluate", models[0], "--run-model-code", "show")
    digest = shown.stdout.split()[-1]
    assert not mark.exists()
    assert not out.exists()
    done = evaluate("--run-model-code", digest, "--sensitivity")
    assert done.returncode == 0, output_of(done)
    assert mark.exists()
    assert not (tmp_path / "modules").exists()
    assert f"own runs code of its own: {digest}." in done.stderr
    assert yaml.safe_load((out / "campaign.yaml").read_text())["run_model_code"] == {"own": digest}
    card = json.loads((out / "results/report_card/card.json").read_text())
    assert digest in card["models"]["own"]["note"]
    assert "consent" not in card["models"]["plain"]["note"]
    assert digest in " ".join(done.stdout.split())
    record = json.loads((out / "results/store/own/multi/manifest.json.prov.json").read_text())
    assert record["params"]["run_model_code"] == [digest]
    ours, theirs = (
        pq.read_table(out / f"results/scores/demo_pairs/{name}/eng.parquet")
        for name in ("own", "plain")
    )
    for column in ("logprob_good", "logprob_bad"):
        for mine, same in zip(ours[column].to_pylist(), theirs[column].to_pylist(), strict=True):
            assert mine == pytest.approx(same, abs=1e-3)
