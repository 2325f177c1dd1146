"""Declare MultiBLiMP's commands: the stages of its items, its regressions, and its export."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import typer

from blimpworks.campaign.settings.base import TreebankOptions
from blimpworks.commands import shared
from blimpworks.commands.declare import Use, command
from blimpworks.commands.options import (
    argument,
    json_option,
    listed,
    option,
    settings,
    tables_below,
    written,
)
from blimpworks.errors import UserError
from blimpworks.papers.multiblimp.settings import MultiblimpOptions

ITEMS = "blimpworks.papers.multiblimp.items"
ANALYSIS = "blimpworks.papers.multiblimp.analysis"
STAGE = "Settings of this stage, as JSON."
OPTIONS = settings(MultiblimpOptions, STAGE)
# An option of names between commas; the record has its text, and the function gets the names.
LIST_OF_NAMES = Use(
    parameters_from=lambda name, text: {name: text}, convert=lambda text, _all: listed(text)
)
SPECIAL = option("Treatments of the language's spelling, comma-separated.", use=LIST_OF_NAMES)
FREQUENCIES = option("Frequencies table.", default=list)
stage = partial(command, pandas=False)  # pandas takes a second to import


@stage(calls=f"{ITEMS}.lexicon:build_lexicon", packages=shared.SPELLING, notes="entries")
def build_lexicon(
    tokens: Path = shared.TABLE,
    output: Path = shared.OUTPUT,
    lang: str = shared.LANG,
    special: str = SPECIAL,
    options: MultiblimpOptions = OPTIONS,
    unimorph: list[Path] = argument("UniMorph tables.", default=list),
) -> None:
    """Make a language's lexicon from UniMorph tables and its treebanks."""


@stage(calls=f"{ITEMS}.candidates:find_candidates", packages=shared.SPELLING, notes="counts")
def find_candidates(
    tokens: Path = shared.TABLE,
    output: Path = shared.OUTPUT,
    funnel: Path = shared.OUTPUT,
    lang: str = shared.LANG,
    special: str = SPECIAL,
    options: MultiblimpOptions = OPTIONS,
    treebanks: TreebankOptions = settings(TreebankOptions, STAGE),
) -> None:
    """Find subjects and verbs that may agree."""


@stage(
    calls=f"{ITEMS}.agreement:measure_agreement",
    packages=("numpy", "pyarrow", "scipy"),
    notes="evidence",
    cheap=True,
)
def measure_agreement(
    candidates: Path = shared.TABLE,
    lexicon: Path = shared.TABLE,
    output: Path = shared.OUTPUT,
    counted: Path = written("Table to write.", "--counts"),
    lang: str = shared.LANG,
    options: MultiblimpOptions = OPTIONS,
) -> None:
    """Count how often a language's verbs agree with their subjects, and test it."""


@stage(calls=f"{ITEMS}.pairs:build_pairs", packages=shared.SPELLING, notes="counts")
def build_pairs(
    candidates: Path = shared.TABLE,
    lexicon: Path = shared.TABLE,
    agreement: Path = shared.TABLE,
    tokens: Path = shared.TABLE,
    sentences: Path = shared.TABLE,
    output: Path = shared.OUTPUT,
    funnel: Path = shared.OUTPUT,
    lang: str = shared.LANG,
    special: str = SPECIAL,
    options: MultiblimpOptions = OPTIONS,
) -> None:
    """Make every minimal pair that passes the checks."""


@stage(calls=f"{ITEMS}.sampling:sample_items", packages=shared.ARROW, notes="counts", cheap=True)
def sample_items(
    pairs: Path = shared.TABLE,
    output: Path = shared.OUTPUT,
    funnel: Path = shared.OUTPUT,
    lang: str = shared.LANG,
    untested: str = option("Constructions kept untested (sv, sp).", use=LIST_OF_NAMES),
    options: MultiblimpOptions = OPTIONS,
) -> None:
    """Draw the balanced set of items from all pairs."""


@command(calls=f"{ITEMS}.released:build_released_items", packages=shared.ARROW, notes="items")
def build_released_items(
    file: Path = argument("Released file of a language, LANG/data.tsv."),
    output: Path = shared.OUTPUT,
    lang: str = shared.LANG,
    options: MultiblimpOptions = OPTIONS,
    revision: str = option("Commit of the data set; empty if unknown.", default=""),
    pairs: int | None = option("How many pairs the file must have.", default=None),
) -> None:
    """Make a language's items from the released pairs."""


@command(calls=f"{ANALYSIS}:build_frequencies", packages=shared.ARROW, notes="languages_with_text")
def build_frequencies(
    totals: Path = argument("GlotCC's totals per language."),
    languages: Path = option("Catalogue of languages."),
    codes: Path = option("Languages that stand under other codes."),
    output: Path = shared.OUTPUT,
) -> None:
    """Count each language's text in a corpus, and rank the languages by it."""


@command(calls=f"{ANALYSIS}:fit_regressions", packages=shared.MODELLING, notes="terms", cheap=True)
def fit_regressions(
    accuracies: Path = argument("Accuracies table."),
    models: dict[str, Any] = json_option(
        "Size, family and tuning of models, as JSON.", default="{}"
    ),
    method: str = shared.METHOD,
    output: Path = shared.OUTPUT,
    residuals: Path = written("Table of residuals to write."),
    frequencies: list[Path] = FREQUENCIES,
) -> None:
    """Fit accuracy on models' size and tuning, and on languages' frequency."""


@command(recorded=f"{ANALYSIS}:fit_margins", packages=shared.MODELLING, cheap=True)
def fit_margins(
    scores: Path = shared.EVALUATED_TABLES,
    items: Path = option(
        "Directory of items tables, LANG.parquet.",
        use=Use(
            inputs_from=lambda items, arguments: dict.fromkeys(
                items / f"{lang}.parquet"
                for _, lang, _ in tables_below(arguments["scores"], arguments["models"])
            )
        ),
    ),
    models: str = shared.EVALUATED,
    benchmark: str = shared.BENCHMARK,
    output: Path = shared.OUTPUT,
    frequencies: list[Path] = FREQUENCIES,
) -> Mapping[str, Any]:
    """Fit the models' margins on properties of the pairs."""
    from blimpworks.papers.multiblimp import analysis

    tables = tables_below(scores, models)
    scored = [(model, items / f"{lang}.parquet", path) for model, lang, path in tables]
    return {"terms": analysis.fit_margins(scored, frequencies, output)}


@command(group="export")
def export_multiblimp(
    items: Path = argument("Directory of item tables, one a language."),
    output: Path = argument("Directory to write to."),
) -> None:
    """Write items in the layout of the released data set, for loaders made for it."""
    from blimpworks.papers.multiblimp.items.released import export_items

    tables = sorted(items.glob("*.parquet"))
    if not tables:
        raise UserError(
            f"{items} has no item tables, expected <results>/items/multiblimp after "
            "`snakemake items`."
        )
    for path in tables:
        target = output / path.stem / "data.tsv"
        n = export_items(path, target)
        typer.echo(f"{target}: {n} items" if n else f"{path.stem}: no items, no file")
