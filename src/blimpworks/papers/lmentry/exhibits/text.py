"""Numbers that Multi-LMentry gives in running text, as a table; in print only."""

import re

from blimpworks.exhibits.exhibit import Exhibit, Labels
from blimpworks.exhibits.formulas import COUNT, LARGEST, QUOTIENT, of_row
from blimpworks.exhibits.shared import Tables, read_printed
from blimpworks.exhibits.statements import Place, Recomputation, printed_statements
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
NAMES = {lang: language.name for lang, language in LANGUAGES.items()} | {"lms": "LMS"}
"""Words of printed numbers' keys that titles have otherwise."""
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


def _title(place: Place) -> str:
    words = re.split(r"\b", ": ".join(place))
    text = "".join(NAMES.get(word, word) for word in words)
    return text[0].upper() + text[1:]


def text(tables: Tables, labels: Labels) -> Exhibit:
    """What the text says of the benchmark, the models, the annotators and the results."""
    cells, _ = printed_statements(read_printed(tables), RECOMPUTATION, _title)
    return Exhibit(**describe("text"), cells=cells)
