"""Exhibits of BLiMP (Warstadt et al. 2020)."""

from pathlib import Path

from blimpworks.campaign.paper import read_specs
from blimpworks.exhibits.descriptions import Descriptions

HERE = Path(__file__)
describe = Descriptions(HERE.with_name("descriptions.yaml"))
SPECS = read_specs(HERE.with_name("specs.tsv"), "blimp", __package__)
"""``humans`` and ``erratum`` have published forms only: no campaign measures their numbers."""
