"""Morphological complexity beside accuracy: CLAMS's Figure 3 and its correlations' order.

Source: Mueller et al. (2020), section 6.3; complexity by Bentz et al. (2016), see
``analysis.wals``.
"""

from collections.abc import Collection, Mapping, Sequence

import pandas as pd

from blimpworks.exhibits.exhibit import Cell
from blimpworks.exhibits.shared import Tables, read_plain
from blimpworks.papers.clams.exhibits.common import Accuracies
from blimpworks.papers.clams.exhibits.formulas import COMPLEXITY
from blimpworks.papers.clams.items.constructions import CONSTRUCTIONS, construction_of
from blimpworks.tables import MORPHOLOGY


def read_morphology(tables: Tables, languages: Collection[str]) -> pd.DataFrame:
    """WALS features of some languages; no rows without the table."""
    features = read_plain(MORPHOLOGY, tables.get("morphology"))
    return features[features["lang"].isin(languages)]


def complexities(morphology: pd.DataFrame) -> dict[str, float]:
    """Morphological complexity by language, from 0 to 1: mean of the features that count."""
    means = morphology.groupby("lang")["value"].mean()
    return {str(lang): float(value) for lang, value in means.items()}


def in_order(known: Mapping[str, float]) -> list[list[str]]:
    """Languages from the least complex to the most; those of equal complexity stand together."""
    values = sorted({*known.values()})
    return [sorted(lang for lang in known if known[lang] == value) for value in values]


def complexity_cells(morphology: pd.DataFrame, names: Mapping[str, str]) -> list[Cell]:
    """The complexity of each language that has any features, in the order of ``names``."""
    known = complexities(morphology)
    return [
        Cell(
            name,
            "complexity",
            known[lang],
            f"{known[lang]:.3f}",
            COMPLEXITY,
            "morphology",
            {"lang": lang},
            n=int(morphology[morphology["lang"] == lang]["value"].notna().sum()),
        )
        for lang, name in names.items()
        if lang in known
    ]


def scored_everywhere(
    rows: pd.DataFrame, constructions: Sequence[str], langs: Sequence[str]
) -> list[str]:
    """Constructions that have accuracies in all of some languages."""
    return [
        key for key in constructions if {*langs} <= {*rows[rows["construction"] == key]["lang"]}
    ]


def shared_constructions(accuracies: Accuracies, part: str, langs: Sequence[str]) -> list[str]:
    """Constructions on which the models of a part have accuracies in all of some languages."""
    rows = accuracies.of(part, langs, CONSTRUCTIONS).rows
    known = rows.assign(construction=rows["paradigm"].map(construction_of))
    return scored_everywhere(known, [*CONSTRUCTIONS], langs)
