"""Tables and figures of CLAMS."""

from pathlib import Path

from blimpworks.campaign.paper import read_specs
from blimpworks.exhibits.descriptions import Descriptions

BENCHMARK = "clams"
describe = Descriptions(Path(__file__).with_name("descriptions.yaml"))
SPECS = read_specs(Path(__file__).with_name("specs.tsv"), BENCHMARK, __package__)
