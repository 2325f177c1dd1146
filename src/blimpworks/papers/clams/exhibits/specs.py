"""Tables and figures of CLAMS, one row of ``specs.tsv`` each."""

from pathlib import Path

from blimpworks.campaign.exhibit_spec import read_specs

SPECS = read_specs(Path(__file__).with_name("specs.tsv"), "clams", __package__)
