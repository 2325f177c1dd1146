"""Numbers that Multi-LMentry gives in running text, as a table; in print only."""

from blimpworks.exhibits.exhibit import Exhibit, Labels
from blimpworks.exhibits.formulas import COUNT, LARGEST, QUOTIENT, of_row
from blimpworks.exhibits.shared import Tables, read_printed
from blimpworks.exhibits.statements import Recomputation, printed_statements
from blimpworks.papers.lmentry.exhibits import describe
from blimpworks.papers.lmentry.exhibits.formulas import (
    COLUMNS_BY_VALUE,
    FIVE,
    LEAD,
    SMALLEST,
    rank_of,
)
from blimpworks.papers.lmentry.exhibits.names import HEADS, LANGUAGES, MODELS
from blimpworks.papers.lmentry.tasks import TASKS

NOT_IN_BASQUE = ("homophones", "rhyming_word_orthographically_different")
_RANKS = [rank_of(f"{lang} lms", COLUMNS_BY_VALUE) for lang in LANGUAGES]
RECOMPUTATION = Recomputation(
    dict.fromkeys((COUNT, LARGEST, SMALLEST, QUOTIENT, FIVE, LEAD, of_row("value")), "{:.6g}")
    | dict.fromkeys(_RANKS, "{:.6g}"),
    {
        "languages": [*LANGUAGES],
        "new languages": [lang for lang in LANGUAGES if lang != "eng"],
        "tasks": [*TASKS],
        "tasks in Basque": [task for task in HEADS if task not in NOT_IN_BASQUE],
        "models": [*MODELS],
        "lms": [f"{lang} lms" for lang in LANGUAGES],
        "accuracies": [f"{lang} accuracy" for lang in LANGUAGES],
    },
)


def text(tables: Tables, labels: Labels) -> Exhibit:
    """What the text says of the benchmark, the models, the annotators and the results."""
    cells, _ = printed_statements(read_printed(tables), RECOMPUTATION)
    return Exhibit(**describe("text"), cells=cells)
