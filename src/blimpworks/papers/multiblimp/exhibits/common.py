"""What the exhibits of MultiBLiMP 1.0 share: types, and the names of the phenomena."""

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
