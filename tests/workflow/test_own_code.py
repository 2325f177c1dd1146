"""Test a model that brings its own code, evaluated as its user requests."""

import json

import yaml

from blimpworks.models.own_code import read_code
from support.checkout import output_of
from support.own_code import make_own, marked

OFFLINE = {"HF_HUB_OFFLINE": "1", "COLUMNS": "80"}
REQUEST = ["--data=embedded", "--benchmarks=demo_pairs", "--languages=eng", "--limit=8"]


def test_a_models_own_code_runs_in_all_jobs_once_its_digest_is_named(
    bare, trained, tmp_path, monkeypatch
):
    # Scoring jobs and the parity report run it; tests/models/test_own_code.py tests the scores.
    monkeypatch.setenv("HF_MODULES_CACHE", str(tmp_path / "modules"))
    mark, out = tmp_path / "mark", tmp_path / "out"
    own = marked(make_own(trained("causal"), tmp_path / "own", "causal"), mark)
    digest = read_code(own).digest

    def evaluate(*arguments):
        words = (str(own), *REQUEST, "--cores=2", f"--out={out}", *arguments)
        return bare.run("blimpworks", "evaluate", *words, **OFFLINE)

    refused = evaluate()
    assert refused.returncode == 2, output_of(refused)
    assert "--run-model-code show` lists it" in refused.stderr
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
    assert digest in " ".join(done.stdout.split())
    record = json.loads((out / "results/store/own/multi/manifest.json.prov.json").read_text())
    assert record["params"]["run_model_code"] == [digest]
