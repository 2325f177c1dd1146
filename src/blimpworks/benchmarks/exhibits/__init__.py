"""Tables and figures that every declared benchmark gets, whichever it is."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from blimpworks.campaign.exhibit_spec import ExhibitSpec, read_specs
from blimpworks.exhibits.descriptions import Descriptions

HERE = Path(__file__)
SPECS_FILE = HERE.with_name("specs.tsv")
describe = Descriptions(HERE.with_name("descriptions.yaml"))
REQUIREMENTS: Mapping[str, str] = {
    "acceptability": "sentences",
    "people": "people",
    "people_fig": "people",
    "perplexity": "perplexities",
}
"""What a benchmark must have for an exhibit; every benchmark gets those that are not here."""


def specs_of(
    name: str, layout: str, *, people: bool, released: bool, perplexities: bool
) -> tuple[ExhibitSpec, ...]:
    """Exhibits of the benchmark ``name`` with items of a ``layout``: pairs, sentences, conditions.

    ``people``, ``released`` and ``perplexities`` say whether there are people's accuracies,
    released decisions, and perplexities of the models that made these. Without released decisions
    no exhibit has a published form.
    """
    present = {
        "sentences": layout == "sentences",
        "people": people,
        "perplexities": released and perplexities,
    }
    specs = [
        spec
        for spec in read_specs(SPECS_FILE, name, __name__)
        if present.get(REQUIREMENTS.get(spec.name, ""), True)
    ]
    return tuple(specs) if released else tuple(replace(spec, published=()) for spec in specs)
