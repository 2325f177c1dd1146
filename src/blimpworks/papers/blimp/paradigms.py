"""Paradigms of BLiMP by phenomenon, as in Table 4, and the prefix methods that they allow.

Source: Warstadt et al. (2020), Tables 2 and 4. The prefix methods of each paradigm are from the
released data; Table 4 marks 20 paradigms for each method, too. The module imports nothing slow,
because it is loaded each time the Snakefile is parsed.
"""

from pathlib import Path

from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.files import read_cells

BENCHMARK, GENERATED = "blimp", "blimp_generated"
LANG, HUMAN = "eng", "human"
RERUN = "rerun_full_sentence"
"""Method of the authors' run of 2021, which has full sentences only."""
RELEASED_DATA = "blimp_data"
RELEASED_PAIRS = 1000
"""Number of released pairs of each paradigm."""
PHENOMENA = {
    row["phenomenon"]: (row["upper"], row["lower"])
    for row in read_cells(Path(__file__).with_name("phenomena.tsv"))
}
"""Two-line headings of phenomena, by their names in the released data."""
NAMES = {
    key: f"{upper} {lower}".strip().replace("/ ", "/") for key, (upper, lower) in PHENOMENA.items()
}
_ROWS = [row.values() for row in read_cells(Path(__file__).with_name("paradigms.tsv"))]
PARADIGMS = {
    name: tuple(uid for uid, phenomenon, _ in _ROWS if phenomenon == name) for name in PHENOMENA
}
"""Paradigms of each phenomenon, in the order of Table 4."""
PHENOMENON_OF = {uid: phenomenon for uid, phenomenon, _ in _ROWS}


def _allowing(method: str) -> tuple[str, ...]:
    return tuple(uid for uid, _, allowed in _ROWS if allowed == method)


ONE_PREFIX, TWO_PREFIX = _allowing("one_prefix"), _allowing("two_prefix")


def declared_paradigms(campaign: Campaign) -> list[str]:
    """Return the names of the paradigms that are declared for the generator, sorted."""
    return sorted(path.stem for path in campaign.folder("blimp").glob("paradigms/*.yaml"))
