"""Phenomena and paradigms of UrBLiMP, kappas of people's judgements, and their names.

Source: Adeeba, Dillon, Sajjad and Bhatt (2025), section 2.1 and Tables 7 to 10.
"""

from pathlib import Path

from blimpworks.files import read_cells

BENCHMARK, LANG = "urblimp", "urd"
HUMAN = "human"
"""Model name of people's judgements."""
_ROWS = read_cells(Path(__file__).with_name("paradigms.tsv"))
# A phenomenon of several paradigms has a row for each, with a ``part``: "noun" or "pronoun".
PHENOMENON_OF = {row["paradigm"]: row["phenomenon"] for row in _ROWS}
PHENOMENA = {row["phenomenon"]: row["name"] for row in _ROWS}
"""{phenomenon: printed name}, in the paper's order."""
PARADIGMS = {
    row["paradigm"]: f"{row['name']}: {row['part']}" if row["part"] else row["name"]
    for row in _ROWS
}
"""{paradigm: printed name}, such as "Oblique: pronoun", in the paper's order."""
SHORT_NAMES = {row["paradigm"]: row["short"] for row in _ROWS}
"""{paradigm: short name} for figures."""
KAPPAS = {row["kappa"]: row for row in read_cells(Path(__file__).with_name("kappas.tsv"))}
"""{kappa: {categories: sentences or outcomes, method: argument of statsmodels' ``fleiss_kappa``,
sentence: of the formula, title: of the row}}."""
