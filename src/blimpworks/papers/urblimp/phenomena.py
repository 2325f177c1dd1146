"""Phenomena and paradigms of UrBLiMP, and their names.

Source: Adeeba, Dillon, Sajjad and Bhatt (2025), section 2.1 and Tables 7 to 10.
"""

from pathlib import Path

from blimpworks.files import read_cells

BENCHMARK, LANG = "urblimp", "urd"
HUMAN = "human"
"""Model name of people's judgements."""
_ROWS = read_cells(Path(__file__).with_name("paradigms.tsv"))
PHENOMENON_OF = {row["paradigm"]: row["phenomenon"] for row in _ROWS}
PHENOMENA = {row["phenomenon"]: row["name"] for row in _ROWS}
"""Names of phenomena."""
PARADIGMS = {
    row["paradigm"]: f"{row['name']}: {row['part']}" if row["part"] else row["name"]
    for row in _ROWS
}
"""Names of all paradigms."""
