"""Tables and figures of CLAMS."""

from blimpworks.campaign.exhibit_spec import ExhibitSpec, Kind

_HERE = "blimpworks.papers.clams.exhibits"
_MODELS = ("clams_models", "clams_counting")
_TRAINED = (*_MODELS, "clams_training", "clams_scoring")
_ACCURACIES = ("accuracies",)
_BOTH = ("accuracies", "printed")


def _spec(
    name: str,
    title: str,
    function: str,
    *,
    kind: Kind = "table",
    needs: tuple[str, ...] = _ACCURACIES,
    facts: tuple[str, ...] = _MODELS,
    optional: tuple[str, ...] = (),
    published: tuple[str, ...] = _BOTH,
) -> ExhibitSpec:
    return ExhibitSpec(
        "clams", name, kind, title, needs, f"{_HERE}.{function}", facts, optional, published
    )


SPECS = (
    _spec(
        "fig1",
        "A minimal set of each construction",
        "sets:fig1",
        needs=("items",),
        facts=(),
        published=(),
    ),
    _spec(
        "table1",
        "Accuracy of LSTM language models by construction and language",
        "lstm:table1",
        facts=_TRAINED,
        optional=("perplexities",),
    ),
    _spec(
        "lstm_sets",
        "Minimal sets that the LSTMs were judged on",
        "lstm:lstm_sets",
        facts=_TRAINED,
        published=(),
    ),
    _spec(
        "variants",
        "Average accuracy of LSTMs as published and corrected",
        "lstm:variants",
        facts=(*_TRAINED, "clams_ties"),
        published=(),
    ),
    _spec(
        "english",
        "Accuracy of LSTMs on all English sets",
        "lstm:english",
        facts=_TRAINED,
        published=(),
    ),
    _spec(
        "fig2",
        "Accuracy of LSTMs by construction, over languages",
        "figures:fig2",
        kind="figure",
        published=_ACCURACIES,
    ),
    _spec("table2", "Accuracy of multilingual BERT by construction and language", "bert:table2"),
    _spec("table3", "Accuracy of English and multilingual BERT on the English sets", "bert:table3"),
    _spec(
        "fig3",
        "Accuracy by morphological complexity",
        "figures:fig3",
        kind="figure",
        optional=("morphology",),
        published=_ACCURACIES,
    ),
    _spec("table4", "Gains in accuracy by a capital first letter", "lstm:table4"),
    _spec("table5", "Standard deviation of the LSTMs' accuracy over seeds", "lstm:table5"),
    _spec(
        "table6",
        "Minimal sets by construction and language",
        "sets:table6",
        needs=("items",),
        facts=(),
        optional=("evaluation_sets",),
        published=("printed",),
    ),
    _spec(
        "table7",
        "Minimal sets that BERT was scored on",
        "sets:table7",
        optional=("evaluation_sets",),
        published=("printed",),
    ),
    _spec("text", "The numbers of the text", "statements:text", optional=("morphology",)),
)
