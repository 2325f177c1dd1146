"""Draw the tables and figures of Multi-LMentry."""

from pathlib import Path

from blimpworks.campaign.paper import read_specs
from blimpworks.exhibits.descriptions import Descriptions

HERE = Path(__file__)
describe = Descriptions(HERE.with_name("descriptions.yaml"))
SPECS = read_specs(HERE.with_name("specs.tsv"), "lmentry", __package__)
