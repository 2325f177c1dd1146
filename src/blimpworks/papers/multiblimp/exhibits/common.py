"""What MultiBLiMP's exhibits share: names of phenomena, labels, and the reading of tables."""

CONSTRUCTIONS = {"sv": "Subject-Verb", "sp": "Subject-Participle"}
"""First part of a phenomenon's code (``sv#``), and what it is called in Table 3."""
FEATURES = {
    "#": ("Number", ("SG", "PL", "DU")),
    "G": ("Gender", ("MASC", "NEUT", "FEM")),
    "P": ("Person", ("1", "2", "3")),
}
"""Second part: the feature that agrees and its values, in the order of Table 2."""
PHENOMENA = {
    f"{kind}{sign}": (construction, FEATURES[sign][0])
    for kind, construction in CONSTRUCTIONS.items()
    for sign in "#PG"
}
"""The six agreement types: code, construction and feature, in the order of Table 3."""
NAMES = {key: ", ".join(pair) for key, pair in PHENOMENA.items()}
"""Printed name of each agreement type."""
CERTAIN = ("+", "~")
"""Labels of agreement that the paper counts as certain (section 4.2)."""


def abbreviation(phenomenon: str) -> str:
    """``sv#`` as ``SV-N``: subject-verb or subject-participle; number, gender or person."""
    return f"{phenomenon[:2].upper()}-{FEATURES[phenomenon[2:]][0][0]}"
