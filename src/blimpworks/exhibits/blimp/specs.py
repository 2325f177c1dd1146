"""Tables and figures of BLiMP."""

from blimpworks.exhibits.spec import ExhibitSpec, Kind

_HERE = "blimpworks.exhibits.blimp"
_PRINT = ("accuracies", "printed")


def _spec(name: str, kind: Kind, title: str, module: str, needs: tuple[str, ...]) -> ExhibitSpec:
    """An exhibit of accuracies, which the released results go beside where they are at hand."""
    return ExhibitSpec(
        "blimp",
        name,
        kind,
        title,
        needs,
        f"{_HERE}.{module}:{name}",
        optional=("released",),
        published=_PRINT,
    )


SPECS = (
    ExhibitSpec(
        "blimp",
        "table1",
        "table",
        "Related work by phenomenon",
        ("printed",),
        f"{_HERE}.tables:table1",
        published=("printed",),
    ),
    ExhibitSpec(
        "blimp",
        "table2",
        "table",
        "Phenomena and their paradigms",
        ("accuracies",),
        f"{_HERE}.tables:table2",
        published=_PRINT,
    ),
    _spec("table3", "table", "Accuracy of models and humans", "tables", ("accuracies",)),
    _spec("table4", "table", "Accuracy on each paradigm", "tables", ("accuracies",)),
    _spec("fig1", "figure", "Correlations of models and humans", "figures", ("accuracies",)),
    _spec("fig3", "figure", "Adjectives and attractors", "figures", ("accuracies",)),
    _spec("fig4", "figure", "Regular and irregular nouns", "figures", ("accuracies",)),
    ExhibitSpec(
        "blimp",
        "fig5",
        "figure",
        "Accuracy by size of the training text",
        ("accuracies",),
        f"{_HERE}.curves:fig5",
        facts=("blimp_curves",),
    ),
    ExhibitSpec(
        "blimp",
        "slopes",
        "table",
        "Slopes of the learning curves",
        ("curves", "printed"),
        f"{_HERE}.curves:slopes",
        facts=("blimp_curves",),
        optional=("perplexities",),
        published=("printed",),
    ),
    _spec("fig6", "figure", "Full sentences and prefixes", "prefixes", ("accuracies",)),
    ExhibitSpec(
        "blimp",
        "generated",
        "figure",
        "Released and generated pairs",
        ("data_sets",),
        f"{_HERE}.generated:generated",
    ),
    _spec("text", "table", "Numbers in the text", "text", ("accuracies",)),
)
