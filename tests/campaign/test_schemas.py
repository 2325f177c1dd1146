"""The schema files in the repository are what the models say."""

from typer.testing import CliRunner

from blimpworks.campaign.schemas import drifted
from blimpworks.cli import app
from support.paths import REPOSITORY


def test_schemas_are_current():
    stale = [path.name for path in drifted(REPOSITORY / "workflow" / "schemas")]
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
