"""Declare UrBLiMP's commands; each calls the function named in its decorator."""

from pathlib import Path

from blimpworks.commands import shared
from blimpworks.commands.declare import Use, command
from blimpworks.commands.options import argument, option, settings, written
from blimpworks.papers.urblimp.settings import UrblimpOptions

URBLIMP = "blimpworks.papers.urblimp"


@command(calls=f"{URBLIMP}.items.build:build_items", packages=("lark", "pyarrow", "wordfreq"))
def build_urblimp_items(
    rules: Path = argument(
        "Directory of a language's pack and rules.",
        use=Use(inputs_from=lambda folder, _arguments: sorted(folder.glob("*.yaml"))),
    ),
    lang: str = shared.LANG,
    tokens: Path = option("Tokens table of the language."),
    sentences: Path = option("Sentences table of the language."),
    output: Path = written("Table of items to write."),
    counts: Path = written("Table of the rules' matches by outcome, to write."),
    rejected: Path = written("Table of matches without a pair, to write."),
    options: UrblimpOptions = settings(UrblimpOptions, "Options of UrBLiMP, as JSON."),
    lexicon: Path | None = option("Lexicon of the language.", default=None),
    text: list[Path] = option("Plain text; repeatable.", default=list),
) -> None:
    """Make the pairs of UrBLiMP's paradigms in a language, by rules over its treebanks."""


@command(calls=f"{URBLIMP}.analysis:compare_lengths", packages=shared.ARROW, cheap=True)
def compare_lengths(
    results: Path = shared.RESULTS,
    models: str = shared.EVALUATED,
    benchmark: str = shared.BENCHMARK,
    ties: str = option("Policy for ties: right, wrong or half."),
    output: Path = written("Table of decisions to write."),
    surprisals: Path = written("Table of one pair by word, to write."),
    items: Path | None = shared.SAMPLED,
) -> None:
    """Compare decisions by the mean per token with those by the sum of log-probabilities."""
