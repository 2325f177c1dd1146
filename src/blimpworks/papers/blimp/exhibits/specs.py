"""Tables and figures of BLiMP, one row of ``specs.tsv`` each."""

from pathlib import Path

from blimpworks.campaign.exhibit_spec import read_specs

TRAINING = "blimp_training"
"""The fact that says what was trained here, and on what (see ``trained``)."""
SPECS = read_specs(Path(__file__).with_name("specs.tsv"), "blimp", __package__)
"""Those that need no table of a campaign, ``humans`` and ``erratum``, are of print alone: what
people decided, and what the authors ran again, is not a campaign's to measure."""
