"""Commands of MultiBLiMP: lexicon, candidates, agreement, pairs, sampling; its regressions."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from blimpworks.campaign.settings.campaign import TreebankOptions
from blimpworks.commands.declare import WRITTEN, Use, calls, command, recorded
from blimpworks.commands.options import (
    JSON,
    MODELLING,
    SPELLING,
    TABLES,
    Benchmark,
    Evaluated,
    Iso,
    Json,
    Method,
    Output,
    Table,
    Tables,
    listed,
    optional,
    settings,
    tables_below,
)
from blimpworks.errors import UserError
from blimpworks.papers.multiblimp.settings import MultiblimpOptions

ITEMS = "blimpworks.papers.multiblimp.items"
ANALYSIS = "blimpworks.papers.multiblimp.analysis"
STAGE = "Settings of this stage, as JSON."
Options = Annotated[MultiblimpOptions, typer.Option(help=STAGE, **settings(MultiblimpOptions))]
LISTED = Use(records=lambda name, text: {name: text}, passes=lambda text, _: listed(text))
Special = Annotated[str, typer.Option(help="Treatments of its spelling, comma-separated."), LISTED]
Frequencies = Annotated[list[Path], typer.Option(help="Frequencies table.", **optional())]


@calls(f"{ITEMS}.lexicon:build_lexicon", packages=SPELLING, notes="entries", pandas=False)
def build_lexicon(
    tokens: Table,
    output: Output,
    lang: Iso,
    special: Special,
    options: Options,
    unimorph: Annotated[list[Path], typer.Argument(help="UniMorph tables.", **optional())],
) -> None:
    """Make a language's lexicon from UniMorph tables and its treebanks."""


@calls(f"{ITEMS}.candidates:find_candidates", packages=SPELLING, notes="counts", pandas=False)
def find_candidates(
    tokens: Table,
    output: Output,
    funnel: Output,
    lang: Iso,
    special: Special,
    options: Options,
    treebanks: Annotated[TreebankOptions, typer.Option(help=STAGE, **settings(TreebankOptions))],
) -> None:
    """Find the subjects and verbs that could agree."""


@calls(
    f"{ITEMS}.agreement:measure_agreement",
    packages=("numpy", "pyarrow", "scipy"),
    notes="evidence",
    pandas=False,
)
def measure_agreement(
    candidates: Table,
    lexicon: Table,
    output: Output,
    counted: Annotated[Path, typer.Option("--counts", help="Table to write."), WRITTEN],
    lang: Iso,
    options: Options,
) -> None:
    """Count and test how far a language's verbs agree with their subjects."""


@recorded(f"{ITEMS}.pairs:build_pairs", packages=SPELLING, pandas=False)
def build_pairs(
    candidates: Table,
    lexicon: Table,
    agreement: Table,
    tokens: Table,
    sentences: Table,
    output: Output,
    funnel: Output,
    lang: Iso,
    special: Special,
    options: Options,
) -> Mapping[str, Any]:
    """Make every minimal pair that passes the checks."""
    from blimpworks.papers.multiblimp.items import pairs

    paths = pairs.PairInputs(candidates, lexicon, agreement, tokens, sentences)
    return {"counts": pairs.build_pairs(paths, lang, listed(special), output, funnel, options)}


@calls(f"{ITEMS}.sampling:sample_items", packages=TABLES, notes="counts", pandas=False)
def sample_items(
    pairs: Table,
    output: Output,
    funnel: Output,
    lang: Iso,
    untested: Annotated[str, typer.Option(help="Constructions kept untested (sv, sp)."), LISTED],
    options: Options,
) -> None:
    """Draw the balanced set of items from all pairs."""


@recorded(f"{ITEMS}.released:build_released_items", packages=TABLES)
def build_released_items(
    file: Annotated[Path, typer.Argument(help="Released file of a language, LANG/data.tsv.")],
    output: Output,
    lang: Iso,
    options: Options,
    revision: Annotated[str, typer.Option(help="Commit of the data set; empty if unknown.")] = "",
    pairs: Annotated[int | None, typer.Option(help="How many pairs the file must have.")] = None,
) -> Mapping[str, Any]:
    """Make a language's items of the release's own pairs."""
    from blimpworks.papers.multiblimp.items.released import build_released_items as build

    return {"items": build(file, lang, output, options.phenomena, revision or None, pairs)}


@calls(f"{ANALYSIS}.frequencies:build_frequencies", packages=TABLES, notes="languages_with_text")
def build_frequencies(
    totals: Annotated[Path, typer.Argument(help="GlotCC's totals per language.")],
    languages: Annotated[Path, typer.Option(help="Catalogue of languages.")],
    codes: Annotated[Path, typer.Option(help="Languages that stand under other codes.")],
    output: Output,
) -> None:
    """Count how much text there is of each language, and rank them by it."""


@calls(f"{ANALYSIS}.regressions:fit_regressions", packages=MODELLING, notes="terms")
def fit_regressions(
    accuracies: Annotated[Path, typer.Argument(help="Accuracies table.")],
    models: Annotated[
        Json, typer.Option(help="Size, family and tuning of models, as JSON.", **JSON)
    ],
    method: Method,
    output: Output,
    residuals: Annotated[Path, typer.Option(help="Table of residuals to write."), WRITTEN],
    frequencies: Frequencies,
) -> None:
    """Fit accuracy on models' size and tuning, and on languages' frequency."""


def _items_of(items: Path, given: Mapping[str, Any]) -> dict[str, Path]:
    """Items tables in a directory, of the languages that models are evaluated in."""
    tables = tables_below(given["scores"], given["models"])
    return {lang: items / f"{lang}.parquet" for _, lang, _ in tables}


@recorded(f"{ANALYSIS}.margins:fit_margins", packages=MODELLING)
def fit_margins(
    scores: Tables,
    items: Annotated[
        Path,
        typer.Option(help="Directory of items tables, LANG.parquet."),
        Use(reads=lambda items, given: _items_of(items, given).values()),
    ],
    models: Evaluated,
    benchmark: Benchmark,
    output: Output,
    frequencies: Frequencies,
) -> Mapping[str, Any]:
    """Fit the models' margins on properties of the pairs."""
    from blimpworks.papers.multiblimp.analysis import margins

    tables = tables_below(scores, models)
    scored = [(model, items / f"{lang}.parquet", path) for model, lang, path in tables]
    return {"terms": margins.fit_margins(scored, frequencies, output)}


@command(group="export")
def export_multiblimp(
    items: Annotated[Path, typer.Argument(help="Directory of item tables, one a language.")],
    output: Annotated[Path, typer.Argument(help="Directory to write to.")],
) -> None:
    """Write items in the layout of the released data set, for loaders made for it."""
    from blimpworks.papers.multiblimp.items.export import export_items

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
