"""Tables and figures of UrBLiMP; ``SPECS`` has the function, title and input tables of each."""

from pathlib import Path

from blimpworks.campaign.paper import read_specs
from blimpworks.exhibits.descriptions import Descriptions

describe = Descriptions(Path(__file__).with_name("descriptions.yaml"))
SPECS = read_specs(Path(__file__).with_name("specs.tsv"), "urblimp", __package__)
