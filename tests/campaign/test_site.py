import json
from pathlib import Path

import jsonschema
import pytest
import yaml
from typer.testing import CliRunner

from blimpworks.campaign.load import campaign_model, load_campaign, outdated_schemas
from blimpworks.campaign.scoring_jobs import CampaignSelection
from blimpworks.campaign.settings.site import GpuKind, Site, find_site, load_site, site_file
from blimpworks.cli import app
from blimpworks.cluster.needs import setup_of
from blimpworks.errors import UserError
from support.paths import REPOSITORY

EXAMPLE = REPOSITORY / "config/site.example.yaml"
GPU = {"label": "a", "memory_gb": 80, "per_node": 4, "host_memory_gb": 500, "teraflops": 312}


def written(path: Path, settings: object) -> Path:
    path.write_text(yaml.safe_dump(settings))
    return path


def test_the_example_is_valid_names_every_setting_and_each_is_described():
    site = load_site(EXAMPLE)
    assert [kind.label for kind in site.gpus] == ["A100 40 GB", "A100 80 GB", "H100 80 GB"]
    schema = json.loads((REPOSITORY / "workflow/schemas/site.schema.json").read_text())
    jsonschema.validate(yaml.safe_load(EXAMPLE.read_text()), schema)
    for part in (schema, *schema["$defs"].values()):
        for name, field in part["properties"].items():
            assert field.get("description"), name
    for key in (*Site.model_fields, *GpuKind.model_fields):
        assert f"{key}:" in EXAMPLE.read_text(), key


def test_the_example_runs_every_model_of_the_papers(at_root):
    site = load_site(EXAMPLE)
    selection = CampaignSelection.of(load_campaign(Path("config/config.yaml")))
    for name, row in selection.catalogue.models.items():
        needs = setup_of(selection, name, site).needs()
        assert needs.gpus or row.engine in ("kenlm", "lstm")


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"acount": "x"}, "key 'acount' is not a setting; did you mean 'account'?"),
        ({"gpus": [{"label": "a"}]}, "key 'gpus.0.memory_gb' is missing; add it."),
        ({"gpus": [GPU | {"per_node": 0}]}, "key 'gpus.0.per_node' is 0"),
        ({"gpus": [GPU | {"name": "a100-sxm"}]}, "key 'gpus.0.name' is 'a100-sxm'"),
        ({"gpus": [GPU, GPU]}, "two kinds in gpus have one label"),
        ({"gpus": [GPU], "models": {"x": {"kind": "b"}}}, "is 'b', expected a label of gpus (a)."),
        ({"cpu": {"partition": "a; rm -rf b"}}, "key 'cpu.partition' is 'a; rm -rf b'"),
        ({"extra": "$(date)"}, "key 'extra' is '$(date)'"),
        ({"extra": "--nice --comment=mine"}, "--comment is the job comment, which Snakemake's"),
        ({"extra": "-p gpu"}, "-p is the partition, which Snakemake's executor for SLURM sets its"),
        ({"utilisation": 1.5}, "key 'utilisation' is 1.5"),
        ([], "holds no mapping; expected a description of a cluster."),
    ],
)
def test_a_setting_that_is_wrong_is_named_with_the_file(tmp_path, settings, sentence):
    path = written(tmp_path / "site.yaml", settings)
    with pytest.raises(UserError) as caught:
        load_site(path)
    assert str(caught.value).startswith(str(path))
    assert sentence in str(caught.value)


def test_a_command_goes_before_a_campaign_and_that_before_the_usual_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert find_site(campaign_model()(campaign="x")) is None
    with pytest.raises(UserError, match=r"nowhere.yaml does not exist; expected a description"):
        find_site(campaign_model()(campaign="x", site="nowhere.yaml"))
    Path("config").mkdir()
    written(Path("config/site.yaml"), {"account": "usual"})
    named = written(tmp_path / "named.yaml", {"account": "named"})
    given = written(tmp_path / "given.yaml", {"account": "given"})
    usual, naming = campaign_model()(campaign="x"), campaign_model()(campaign="x", site=named)
    accounts = [find_site(usual), find_site(naming), load_site(site_file(naming, given))]
    assert [site and site.account for site in accounts] == ["usual", "named", "given"]


def test_schemas_are_current():
    stale = [path.name for path in outdated_schemas(REPOSITORY / "workflow" / "schemas")]
    assert not stale, "run `blimpworks schemas`"


def test_drift_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(app, ["schemas"]).exit_code == 0
    assert CliRunner().invoke(app, ["schemas", "--check"]).exit_code == 0
    edited = tmp_path / "workflow" / "schemas" / "models.schema.json"
    edited.write_text("{}\n")
    edited.with_name("site.schema.json").unlink()
    done = CliRunner().invoke(app, ["schemas", "--check"])
    assert done.exit_code == 1
    assert "models.schema.json" in done.output
    assert "site.schema.json" in done.output
    assert "languages" not in done.output
