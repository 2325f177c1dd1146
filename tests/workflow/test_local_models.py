import gzip
import json
import shutil

import pytest
import yaml

from blimpworks.campaign.catalogue import whole_catalogue
from blimpworks.campaign.load import check_campaign
from blimpworks.evaluation.machine import choose_engine
from blimpworks.evaluation.models import resolve_models
from blimpworks.evaluation.request import write_models
from blimpworks.models.checkpoint import FILE_NAME, read_checkpoint
from support import tiny
from support.checkout import CAMPAIGN
from support.ngram_kit import ARPA

pytestmark = [pytest.mark.xdist_group("bare"), pytest.mark.long]
LOCAL = "config/local.yaml"
CATALOGUE = whole_catalogue(check_campaign({"campaign": "evaluation"}, "")).models
SEALED = "resources/demo/models/{}/" + FILE_NAME


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """Make a user's models of three types; return their folder."""
    root = tmp_path_factory.mktemp("models")
    model = tiny.make_transformer(
        tiny.write_corpus(root / "text.txt", 60), root / "made" / FILE_NAME
    )
    for lang in ("deu", "eng"):
        path = shutil.copytree(model.parent, root / "each" / lang) / FILE_NAME
        path.write_text(json.dumps(json.loads(path.read_text()) | {"scope": lang}))
    (shutil.copytree(model.parent, root / "of {braces}") / FILE_NAME).unlink()
    (root / "grams.arpa.gz").write_bytes(gzip.compress(ARPA.encode()))
    return root


@pytest.fixture
def campaign(bare, places):
    """Return the campaign for tests with these models alone."""
    arguments = [str(places / name) for name in ("each", "of {braces}", "grams.arpa.gz")]
    rows = [choose_engine(model.row) for model in resolve_models(arguments, CATALOGUE)]
    write_models(rows, bare.path / "config/local.tsv")
    tables = yaml.safe_load((bare.path / CAMPAIGN).read_text())["catalogue"]
    bare.change(
        LOCAL, models=[row.name for row in rows], catalogue=tables | {"models": "config/local.tsv"}
    )
    return bare


def test_models_of_this_machine_are_retrieved_like_those_of_the_hub(campaign, places):
    before = tiny.contents(places)
    parts = ("each/deu", "each/eng", "of-braces/multi", "grams/multi")
    targets = [SEALED.format(part) for part in parts]
    campaign.make(*targets, campaign=LOCAL)
    sealed = [read_checkpoint(campaign.path / target) for target in targets]
    assert [each.source.directory for each in sealed] == [
        *("deu", "eng"),
        *("of {braces}", "grams.arpa.gz"),
    ]
    assert [each.scope for each in sealed] == ["deu", "eng", "multi", "multi"]
    assert tiny.contents(places) == before
    assert campaign.planned(*targets, campaign=LOCAL) == set()
    # A changed file is retrieved again.
    (places / "grams.arpa.gz").write_bytes(gzip.compress(ARPA.replace("-0.9", "-0.8").encode()))
    assert campaign.planned(*targets, campaign=LOCAL) == {"retrieve"}


def test_a_model_that_the_campaign_itself_names_is_retrieved_and_scored(bare, places):
    bare.change(LOCAL, models=[], own_models={"mine": {"path": str(places / "of {{braces}}")}})
    planned = bare.planned("results/demo/judgements/multiblimp/mine", campaign=LOCAL)
    assert {"retrieve", "score"} <= planned


def test_a_model_of_some_languages_is_run_on_these(campaign):
    judged = "results/demo/judgements/multiblimp/each/{}.parquet"
    assert "score" in campaign.planned(judged.format("deu"), campaign=LOCAL)
    done = campaign.snakemake("-n", judged.format("fra"), campaign=LOCAL)
    assert done.returncode != 0
