"""Make tables and figures of MultiBLiMP 1.0 (Jumelet, Weissweiler, Nivre and Bisazza 2025).

A function such as ``data.table1`` takes paths of the campaign's tables and the names to print
(``labels``). It returns an ``Exhibit``: a table or figure with its caption and cells. A cell is one
number, with its formula and the filter (``where``) that selects its rows, so that readers can
recompute it. ``stands_for`` is the row and column of the printed number that the cell is compared
with. If ``labels.source`` is "published", cells are computed from numbers that the paper prints.
"""

from pathlib import Path

from blimpworks.campaign.paper import read_specs
from blimpworks.exhibits.descriptions import Descriptions

BENCHMARK = "multiblimp"
describe = Descriptions(Path(__file__).with_name("descriptions.yaml"))
SPECS = read_specs(Path(__file__).with_name("specs.tsv"), BENCHMARK, __package__)
"""Exhibits in the order of the paper; last, the exhibits that the paper lacks."""
