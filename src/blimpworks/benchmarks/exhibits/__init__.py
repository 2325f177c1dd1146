"""Choose the tables and figures of a declared benchmark; ``specs.tsv`` lists all of them.

A function such as ``accuracies.phenomena`` takes paths of a campaign's tables and the names to
print (``labels``), and returns an ``Exhibit``: a table or figure with its caption and cells.
"""

from collections.abc import Mapping, Set
from pathlib import Path

from blimpworks.campaign.paper import ExhibitSpec, read_specs
from blimpworks.exhibits.descriptions import Descriptions

describe = Descriptions(Path(__file__).with_name("descriptions.yaml"))
REQUIREMENTS: Mapping[str, str] = {
    "acceptability": "sentences",
    "effects": "effects",
    "people": "people",
    "people_fig": "people",
    "perplexity": "perplexities",
    "ratings": "ratings",
}
"""Data that a declaration must have for an exhibit, by the exhibit's name; others need none."""


def specs_of(name: str, present: Set[str], *, released: bool) -> tuple[ExhibitSpec, ...]:
    """List exhibits whose data are ``present``; if ``released``, also their printed form."""
    specs = []
    for spec in read_specs(Path(__file__).with_name("specs.tsv"), name, __name__):
        requirement = REQUIREMENTS.get(spec.name)
        if requirement is None or requirement in present:
            specs.append(spec if released else spec.model_copy(update={"published": ()}))
    return tuple(specs)
