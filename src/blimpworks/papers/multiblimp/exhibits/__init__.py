"""Tables and figures of MultiBLiMP 1.0 (Jumelet, Weissweiler, Nivre and Bisazza 2025)."""

from pathlib import Path

from blimpworks.campaign.paper import read_specs
from blimpworks.exhibits.descriptions import Descriptions

BENCHMARK = "multiblimp"
describe = Descriptions(Path(__file__).with_name("descriptions.yaml"))
SPECS = read_specs(Path(__file__).with_name("specs.tsv"), BENCHMARK, __package__)
"""Exhibits in the order of the paper; those that it lacks are last."""
