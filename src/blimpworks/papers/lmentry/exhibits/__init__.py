"""Draw the tables and figures of Multi-LMentry (Moroni and others 2025).

Public functions take tables and labels and return an exhibit: a table or figure of cells. A cell is
a number or text with the formula and filter (``where``) that give it. If ``labels.source`` is
"measured", it is from the campaign's tables; otherwise the paper prints it. Beside printed ones are
hidden cells (``printed`` is False), such as released texts and numbers recomputed from others.
``stands_for`` has the row and column of the printed number that a cell is compared with.
"""

from pathlib import Path

from blimpworks.campaign.paper import read_specs
from blimpworks.exhibits.descriptions import Descriptions

describe = Descriptions(Path(__file__).with_name("descriptions.yaml"))
SPECS = read_specs(Path(__file__).with_name("specs.tsv"), "lmentry", __package__)
