"""Draw the tables and figures of Multi-LMentry (Moroni and others 2025).

``specs.tsv`` names the function of each exhibit (table or figure). If ``labels.source`` is
"measured", cells are computed from the campaign's tables. If it is "published", the paper prints
them. Hidden cells (``printed`` is False) have texts of the authors' release, and numbers that are
recomputed from other printed numbers.
"""

from pathlib import Path

from blimpworks.campaign.paper import read_specs
from blimpworks.exhibits.descriptions import Descriptions

# describe("table2") returns the title, caption and heading of Table 2.
describe = Descriptions(Path(__file__).with_name("descriptions.yaml"))
SPECS = read_specs(Path(__file__).with_name("specs.tsv"), "lmentry", __package__)
