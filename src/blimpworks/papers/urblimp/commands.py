"""Commands of UrBLiMP: its pairs, and its human validation."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from blimpworks.commands import shared
from blimpworks.commands.declare import FILLED_IN, Use, calls, command, dumped, recorded
from blimpworks.commands.options import argument, option, settings, written
from blimpworks.papers.urblimp.settings import UrblimpOptions, ValidationOptions

PAPER = "blimpworks.papers.urblimp"
VALIDATION = "Settings of the validation, as JSON."


@calls(f"{PAPER}.items.build:build_items", packages=("lark", "pyarrow", "wordfreq"))
def build_urblimp_items(
    rules: Path = argument(
        "Directory of a language's pack and rules.",
        use=Use(reads=lambda folder, _: sorted(folder.glob("*.yaml"))),
    ),
    lang: str = shared.LANG,
    tokens: Path = option("Tokens table of the language."),
    sentences: Path = option("Sentences table of the language."),
    output: Path = written("Table of items to write."),
    counts: Path = written("Table of what became of matches, to write."),
    rejected: Path = written("Table of matches without a pair, to write."),
    options: UrblimpOptions = settings(UrblimpOptions, "Options of UrBLiMP, as JSON."),
    lexicon: Path | None = option("Lexicon of the language.", default=None),
    text: list[Path] = option("Plain text; repeatable.", default=list),
) -> None:
    """Make the pairs of UrBLiMP's paradigms in a language, by rules over its treebanks."""


@command(f"{PAPER}.validation.sheets:write_lists", packages=shared.ARROW)
def validation_lists(
    sheets: list[Path] = argument("Sheets to write, one per participant."),
    items: Path = option("Items table of the language."),
    lang: str = shared.LANG,
    key: Path = option("Key of the lists to write; not for participants."),
    pcibex: Path = option("Table of all lists for PCIbex to write, CSV."),
    options: ValidationOptions = settings(ValidationOptions, VALIDATION),
) -> None:
    """Deal pairs to participants, and write a list for each to fill in."""
    from blimpworks.papers.urblimp.validation.sheets import write_lists

    params = {"lang": lang, "options": options.model_dump(mode="json")}
    outputs = [key, pcibex, *sheets]
    with validation_lists.job(inputs=[items], outputs=outputs, params=params) as job:
        pairs = write_lists(items, lang, sheets, key, pcibex, options)
        job.note(pairs=pairs)
    typer.echo(f"{pairs} pairs on {len(sheets)} lists")


@recorded(
    f"{PAPER}.validation.results:read_validation",
    packages=("numpy", "pandas", "pyarrow", "statsmodels"),
    cheap=True,
)
def read_validation(
    sheets: list[Path] = argument("Filled lists.", use=FILLED_IN),
    keys: list[Path] = option("Key of lists; repeatable.", "--key"),
    ratings: Path = written("Table of ratings to write."),
    participants: Path = written("Table of participants to write."),
    accuracies: Path = written("Table of people's accuracies to write."),
    options: ValidationOptions = settings(
        ValidationOptions,
        VALIDATION,
        use=dumped(mode="json", include={"check_threshold", "per_pair"}),
    ),
) -> Mapping[str, Any]:
    """Check filled lists, leave out who fails the attention checks, and measure accuracies."""
    from blimpworks.papers.urblimp.validation import results

    outputs = (ratings, participants, accuracies)
    facts = results.read_validation(sheets, keys, outputs, options)
    typer.echo(", ".join(f"{name}: {value:.4g}" for name, value in facts.items()))
    return facts


@calls(f"{PAPER}.analysis.lengths:compare_lengths", packages=shared.ARROW, cheap=True)
def compare_lengths(
    results: Path = shared.JUDGED,
    models: str = shared.EVALUATED,
    benchmark: str = shared.BENCHMARK,
    ties: str = option("What equal values count as."),
    output: Path = written("Table of decisions to write."),
    surprisals: Path = written("Table of one pair by word, to write."),
    items: Path | None = shared.SAMPLED,
) -> None:
    """Compare decisions by the mean per token with those by the sum of log-probabilities."""
