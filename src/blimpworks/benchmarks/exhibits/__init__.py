"""Choose the tables and figures that every declared benchmark gets."""

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
"""Data that an exhibit needs; the exhibits that are not here need none."""


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
    """List the exhibits of a benchmark with items of a ``layout``: pairs, sentences, conditions.

    The flags say which data there are: people's accuracies, released decisions, perplexities of the
    released models, effects of items, and people's ratings of items. Without released decisions no
    exhibit has a published form.
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
