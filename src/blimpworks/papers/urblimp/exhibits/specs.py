"""Tables and figures of UrBLiMP, one row of ``specs.tsv`` each."""

from pathlib import Path

from blimpworks.campaign.exhibit_spec import read_specs

SPECS = read_specs(Path(__file__).with_name("specs.tsv"), "urblimp", __package__)
"""Ours last: what the rules make, and what lengths do to decisions."""
