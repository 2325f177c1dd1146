"""Draw the tables and figures of Multi-LMentry (Moroni and others 2025).

Public functions take tables and labels and return an exhibit: a table or figure of cells. A cell is
a number or text with the formula and filter (``where``) that give it, from the campaign's tables if
``labels.source`` is "measured", and otherwise as the paper prints it. Beside the latter there are
hidden cells (``printed`` is False), such as released texts and numbers recomputed from others.
``stands_for`` has the row and column of the printed number that a cell is compared with.
"""

from pathlib import Path

from blimpworks.campaign.paper import read_specs
from blimpworks.exhibits.descriptions import Descriptions

describe = Descriptions(Path(__file__).with_name("descriptions.yaml"))
SPECS = read_specs(Path(__file__).with_name("specs.tsv"), "lmentry", __package__)
