"""Tables and figures of MultiBLiMP and ours on its pairs, one row of ``specs.tsv`` each."""

from pathlib import Path

from blimpworks.campaign.exhibit_spec import read_specs

SPECS = read_specs(Path(__file__).with_name("specs.tsv"), "multiblimp", __package__)
"""In the order of the paper, ours last."""
