"""Languages that a model exists for: a group, or codes in its row."""

import csv

import pytest

from blimpworks.campaign.catalogue import load_catalogue
from blimpworks.campaign.layout import Layout
from blimpworks.campaign.load import check_campaign
from blimpworks.campaign.reference import groups_of_models
from blimpworks.errors import UserError
from support.paths import REPOSITORY

MODEL = "goldfish"


def covered(tmp_path, named, languages=("deu", "eng", "fra")):
    """Languages in which a model is run whose row says that it exists for ``named``."""
    with (REPOSITORY / "config/models.tsv").open(encoding="utf-8", newline="") as handle:
        rows = [*csv.DictReader(handle, delimiter="\t")]
    own = next(row for row in rows if row["name"] == MODEL) | {"languages": named}
    path = tmp_path / "models.tsv"
    with path.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, own, delimiter="\t")
        writer.writeheader()
        writer.writerow(own)
    settings = {"campaign": "mine", "catalogue": {"models": str(path)}, "models": [MODEL]}
    settings |= {"benchmarks": ["multiblimp"], "languages": [*languages]}
    campaign = check_campaign(settings, "mine.yaml")
    catalogue = load_catalogue(campaign)
    layout = Layout(campaign, catalogue, catalogue, groups_of_models(campaign, catalogue))
    return tuple(layout.covered_by(MODEL, "multiblimp"))


@pytest.mark.parametrize(
    ("named", "languages"),
    [
        ("deu,fra", ("deu", "fra")),
        ("fra, deu", ("deu", "fra")),
        ("eng", ("eng",)),
        ("", ("deu", "eng", "fra")),
        ("goldfish", ("deu", "eng", "fra")),
        # Of languages that the campaign has not selected nothing is said.
        ("eng,tur", ("eng",)),
    ],
)
def test_a_model_is_run_in_the_languages_that_its_row_names(tmp_path, named, languages):
    assert covered(tmp_path, named) == languages


@pytest.mark.parametrize("named", ["deu,xxz", "goldfsh", "deu;fra", "deu,"])
def test_a_code_that_no_language_has_is_refused_in_one_sentence(tmp_path, named):
    with pytest.raises(UserError) as refusal:
        covered(tmp_path, named)
    message = str(refusal.value)
    assert f"model 'goldfish' exists for languages {named!r}; " in message
    assert f"{named.split(',')[-1]!r} is neither a group of " in message
    assert "nor the code of a language in " in message
    assert "\n" not in message
