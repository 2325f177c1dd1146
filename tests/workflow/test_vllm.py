"""Test a campaign that the workflow scores by a real vLLM server."""

import json

import pandas as pd
import pytest
import yaml

from support import vllm_kit
from support.checkout import fresh

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.xdist_group("vllm"),
    pytest.mark.skipif(not vllm_kit.PYTHON.exists(), reason="no .vllm (run `make vllm`)"),
]
SERVED = "config/demo/served.yaml"
JUDGED = "results/demo-served/judgements/multiblimp/transformer-small/eng.parquet"


def test_a_model_is_scored_by_a_server_that_the_workflow_starts(tmp_path):
    # tests/scoring/test_vllm.py compares the scores with those of transformers.
    checkout = fresh(tmp_path / "served")
    (checkout.path / ".vllm").symlink_to(vllm_kit.REPOSITORY / ".vllm")
    campaign = yaml.safe_load((checkout.path / SERVED).read_text())
    campaign["training"]["recipes"]["transformer-small"]["max_steps"] = 60
    (checkout.path / SERVED).write_text(yaml.safe_dump(campaign))
    checkout.make(JUDGED, campaign=SERVED)
    judged = pd.read_parquet(checkout.path / JUDGED)
    assert len(judged) > 50
    assert judged["margin"].notna().all()
    manifest = checkout.path / "results/demo-served/store/transformer-small/eng/manifest.json"
    assert json.loads(manifest.read_text())["engine"].startswith("vllm")
    log = checkout.path / "logs/demo-served/score/transformer-small/eng.log"
    assert "starting a vLLM server" in log.read_text()
