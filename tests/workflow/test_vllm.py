"""A campaign scored by a real vLLM server that the workflow starts."""

import json

import pyarrow.parquet as pq
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
JUDGED = "results/{}/judgements/multiblimp/transformer-small/eng.parquet"
STORE = "results/{}/store/transformer-small/eng/manifest.json"
NOISE = 1e-3  # nats, between two sums of a sentence's tokens in float32


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A checkout with the served campaign, shortened, and one like it without vLLM."""
    served = fresh(tmp_path_factory.mktemp("served"))
    (served.path / ".vllm").symlink_to(vllm_kit.REPOSITORY / ".vllm")
    campaign = yaml.safe_load((served.path / SERVED).read_text())
    campaign["training"]["recipes"]["transformer-small"]["max_steps"] = 60
    (served.path / SERVED).write_text(yaml.safe_dump(campaign))
    campaign.pop("engines")
    campaign["pathvars"] |= {"results": "results/plain", "logs": "logs/plain"}
    (served.path / "config/plain.yaml").write_text(yaml.safe_dump(campaign))
    return served


def built(checkout, name, campaign):
    """Judgements of the one model, by snakemake; and the key of the engine that scored."""
    checkout.make(JUDGED.format(name), campaign=campaign)
    manifest = json.loads((checkout.path / STORE.format(name)).read_text())
    return pq.read_table(checkout.path / JUDGED.format(name)), manifest["engine"]


def test_a_server_started_by_the_workflow_judges_as_transformers_does(checkout):
    served, engine = built(checkout, "demo-served", SERVED)
    plain, other = built(checkout, "plain", "config/plain.yaml")
    assert engine.startswith("vllm")
    assert other.startswith("transformers")
    assert len(served) > 50
    assert served["item_id"].equals(plain["item_id"])
    for column in ("value_good", "value_bad"):
        values, others = served[column].to_numpy(), plain[column].to_numpy()
        assert abs(values - others).max() < NOISE
    decided = abs(plain["margin"].to_numpy()) > NOISE
    assert decided.mean() > 0.9
    assert (served["correct"].to_numpy() == plain["correct"].to_numpy())[decided].all()
    log = checkout.path / "logs/demo-served/score/transformer-small/eng.log"
    assert "starting a vLLM server" in log.read_text()
