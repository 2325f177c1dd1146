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
    "effects": "effects",
    "people": "people",
    "people_fig": "people",
    "perplexity": "perplexities",
    "ratings": "ratings",
}
"""What a benchmark must have for an exhibit; every benchmark gets those that are not here."""


def specs_of(
    name: str,
    layout: str,
    *,
    people: bool,
    released: bool,
    perplexities: bool,
    effects: bool = False,
    ratings: bool = False,
) -> tuple[ExhibitSpec, ...]:
    """Exhibits of the benchmark ``name`` with items of a ``layout``: pairs, sentences, conditions.

    ``people``, ``released``, ``perplexities`` and ``ratings`` say whether there are people's
    accuracies, released decisions, perplexities of the models that made these, and people's ratings
    of items; ``effects`` whether items have any. Without released decisions no exhibit has a
    published form.
    """
    present = {
        "sentences": layout == "sentences",
        "people": people,
        "effects": effects,
        "perplexities": released and perplexities,
        "ratings": ratings,
    }
    specs = [
        spec
        for spec in read_specs(SPECS_FILE, name, __name__)
        if present.get(REQUIREMENTS.get(spec.name, ""), True)
    ]
    return tuple(specs) if released else tuple(replace(spec, published=()) for spec in specs)
