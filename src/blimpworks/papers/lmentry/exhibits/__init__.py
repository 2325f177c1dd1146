"""Draw the tables and figures of Multi-LMentry (Moroni and others 2025).

``specs.tsv`` names the function of each exhibit (table or figure). The function takes the paths of
tables and the ``Labels``, and returns an exhibit: cells with their caption. A cell is a number or
text, with the formula and the filter of rows (``where``) that it is computed by.

If ``labels.source`` is "measured", cells are computed from the campaign's tables. If it is
"published", the paper prints them. Hidden cells (``printed`` is False) are compared with the
printed ones: texts of the authors' release, and numbers that follow from other printed numbers. A
cell's ``stands_for`` has the row and column of the printed number that it is compared with.
"""

from pathlib import Path

from blimpworks.campaign.paper import read_specs
from blimpworks.exhibits.descriptions import Descriptions

# describe("table2") returns the title, caption and heading of Table 2.
describe = Descriptions(Path(__file__).with_name("descriptions.yaml"))
SPECS = read_specs(Path(__file__).with_name("specs.tsv"), "lmentry", __package__)
