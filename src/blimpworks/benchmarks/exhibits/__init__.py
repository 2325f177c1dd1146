"""Choose the tables and figures of a declared benchmark."""

from collections.abc import Mapping, Set
from pathlib import Path

from blimpworks.campaign.paper import ExhibitSpec, read_specs
from blimpworks.exhibits.descriptions import Descriptions

SPECS_FILE = Path(__file__).with_name("specs.tsv")
describe = Descriptions(Path(__file__).with_name("descriptions.yaml"))
REQUIREMENTS: Mapping[str, str] = {
    "acceptability": "sentences",
    "effects": "effects",
    "people": "people",
    "people_fig": "people",
    "perplexity": "perplexities",
    "ratings": "ratings",
}
"""Data that an exhibit needs; other exhibits need none."""


def specs_of(name: str, present: Set[str], *, released: bool) -> tuple[ExhibitSpec, ...]:
    """List the exhibits of a benchmark for which the needed data are ``present``.

    Without released decisions they have no published form.
    """
    possible = {None, *present}
    every = read_specs(SPECS_FILE, name, __name__)
    specs = [spec for spec in every if REQUIREMENTS.get(spec.name) in possible]
    return tuple(spec if released else spec.model_copy(update={"published": ()}) for spec in specs)
