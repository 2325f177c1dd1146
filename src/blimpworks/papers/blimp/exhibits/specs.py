"""Tables and figures of BLiMP."""

from blimpworks.campaign.exhibit_spec import ExhibitSpec, Kind

TRAINING = "blimp_training"
"""The fact that says what was trained here, and on what (see ``trained``)."""
_HERE = "blimpworks.papers.blimp.exhibits"
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
        facts=(TRAINING,),
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
        ("items",),
        f"{_HERE}.tables:table2",
        published=_PRINT,
    ),
    _spec("table3", "table", "Accuracy of models and humans", "tables", ("accuracies",)),
    _spec("table4", "table", "Accuracy on each paradigm", "tables", ("accuracies",)),
    _spec("fig1", "figure", "Correlations of models and humans", "figures", ("accuracies",)),
    ExhibitSpec(
        "blimp",
        "fig2",
        "figure",
        "Shallow predictors of accuracy",
        ("bins",),
        f"{_HERE}.predictors:fig2",
        facts=(TRAINING,),
        published=("printed",),
    ),
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
        of_samples=True,
    ),
    ExhibitSpec(
        "blimp",
        "slopes",
        "table",
        "Slopes of the learning curves",
        ("curves", "printed"),
        f"{_HERE}.curves:slopes",
        facts=("blimp_curves",),
        of_samples=True,
        optional=("perplexities",),
        published=("printed",),
    ),
    _spec("fig6", "figure", "Full sentences and prefixes", "prefixes", ("accuracies",)),
    # What people decided, and what the authors ran again, is not a campaign's to measure.
    ExhibitSpec(
        "blimp",
        "humans",
        "table",
        "Human agreement, from single ratings",
        (),
        f"{_HERE}.humans:humans",
        optional=("released", "ratings"),
        published=("printed",),
    ),
    ExhibitSpec(
        "blimp",
        "erratum",
        "table",
        "The erratum: printed, corrected, and run again",
        (),
        f"{_HERE}.erratum:erratum",
        optional=("released",),
        published=("printed",),
    ),
    ExhibitSpec(
        "blimp",
        "ties",
        "table",
        "Ties, and what they count as",
        ("judgements", "items"),
        f"{_HERE}.ties:ties",
    ),
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
