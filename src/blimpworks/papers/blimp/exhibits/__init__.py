"""Tables and figures of BLiMP (Warstadt et al. 2020); ``SPECS`` names their functions."""

from pathlib import Path

from blimpworks.campaign.paper import read_specs
from blimpworks.exhibits.descriptions import Descriptions

describe = Descriptions(Path(__file__).with_name("descriptions.yaml"))
SPECS = read_specs(Path(__file__).with_name("specs.tsv"), "blimp", __package__)
"""``humans`` and ``erratum`` have published forms only: no campaign measures their numbers."""
