"""Tables and figures of Multi-LMentry."""

from blimpworks.campaign.exhibit_spec import ExhibitSpec, Kind
from blimpworks.papers.lmentry.exhibits.names import (
    BENCHMARK,
    LANGUAGES,
    TASK_TABLES,
    TEMPLATE_TABLES,
    long_name,
)

_HERE = "blimpworks.papers.lmentry.exhibits"
_BOTH = ("accuracies", "printed")
_ANNOTATED = ("annotation_agreement",)


def _spec(
    name: str,
    title: str,
    function: str,
    needs: tuple[str, ...] = ("accuracies",),
    published: tuple[str, ...] = ("printed",),
    kind: Kind = "table",
    facts: tuple[str, ...] = (),
    argument: str = "",
) -> ExhibitSpec:
    """An exhibit of the paper. Those that need nothing measured are of print alone."""
    function = f"{_HERE}.{function}"
    return ExhibitSpec(
        BENCHMARK,
        name,
        kind,
        title,
        needs,
        function,
        facts=facts,
        published=published,
        argument=argument,
    )


SPECS = (
    _spec(
        "table1",
        "An example of each task",
        "templates:table1",
        ("items",),
        ("packs", "printed"),
    ),
    _spec("table2", "Prompts per language", "prompts:table2", ("items",)),
    _spec(
        "table3",
        "The models, with size and languages",
        "results:table3",
        facts=("lmentry_sizes",),
    ),
    _spec(
        "table4",
        "LMentry score and accuracy by model and language",
        "results:table4",
        published=_BOTH,
    ),
    _spec("table5", "Robustness by model and language", "results:table5"),
    _spec(
        "fig1",
        "LMentry score by size of the model",
        "figures:fig1",
        kind="figure",
        facts=("lmentry_sizes",),
    ),
    _spec(
        "fig2", "LMentry score of open-weight and open-data models", "figures:fig2", kind="figure"
    ),
    _spec(
        "fig3",
        "Accuracy on each task in English",
        "figures:fig3",
        published=("accuracies",),
        kind="figure",
    ),
    _spec(
        "table6",
        "Tasks with the highest and lowest mean accuracy",
        "tasks:table6",
        published=_BOTH,
    ),
    *(
        _spec(
            table,
            f"Accuracy on each task in {LANGUAGES[lang].name}, "
            f"part {LANGUAGES[lang].tables.index(table) + 1}",
            "tasks:task_table",
            argument=table,
        )
        for table, lang in sorted(TASK_TABLES.items())
    ),
    *(
        _spec(
            table,
            f"Agreement of the patterns with annotations in {language}",
            "agreement:agreement_table",
            _ANNOTATED,
            argument=table,
        )
        for table, language in (("table52", "English"), ("table53", "Basque"))
    ),
    _spec(
        "agreement",
        "Agreement of the verdicts with annotators, by language",
        "agreement:agreement",
        _ANNOTATED,
        (),
    ),
    _spec(
        "agreement_tasks",
        "Agreement of the verdicts with annotators, by task and language",
        "agreement:agreement_tasks",
        _ANNOTATED,
        (),
    ),
    _spec(
        "artefacts",
        "What the rules decide: published and corrected verdicts on the same answers",
        "artefacts:artefacts",
        ("verdicts",),
        (),
    ),
    _spec(
        "artefacts_fig",
        "What the rules decide, by language and group of tasks",
        "artefacts:artefacts_fig",
        ("verdicts",),
        (),
        kind="figure",
    ),
    _spec(
        "table7",
        "System prompts",
        "prompts:table7",
        ("items", "packs", "printed"),
        ("packs", "printed"),
    ),
    _spec("table8", "Subsets of arguments", "prompts:table8", ("items",)),
    *(
        _spec(
            table,
            f"Templates: {long_name(task).lower()}",
            "templates:template_table",
            ("items", "packs"),
            ("packs", "printed"),
            facts=("lmentry_variant",),
            argument=table,
        )
        for table, task in TEMPLATE_TABLES.items()
    ),
    _spec(
        "table54",
        "Prompts per task and language",
        "prompts:table54",
        ("items",),
        published=("printed", "prompt_counts"),
    ),
    _spec("text", "Statements about the benchmark, the models and the results", "text:text", ()),
    _spec(
        "counts",
        "Prompts per task and language, as printed and as made",
        "prompts:counts",
        ("items", "printed"),
        (),
        facts=("lmentry_counts",),
    ),
)
