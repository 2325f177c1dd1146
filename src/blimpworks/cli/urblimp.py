"""Verbs of UrBLiMP."""

from pathlib import Path
from typing import Annotated

import typer

from blimpworks.cli.scoring import Evaluated, tables_below
from blimpworks.provenance.record import Job


def build_urblimp_items(
    rules: Annotated[Path, typer.Argument(help="Directory of a language's pack and rules.")],
    lang: Annotated[str, typer.Option(help="Language, ISO 639-3.")],
    tokens: Annotated[Path, typer.Option(help="Tokens table of the language.")],
    sentences: Annotated[Path, typer.Option(help="Sentences table of the language.")],
    output: Annotated[Path, typer.Option(help="Table of items to write.")],
    counts: Annotated[Path, typer.Option(help="Table of what became of matches, to write.")],
    rejected: Annotated[Path, typer.Option(help="Table of matches without a pair, to write.")],
    options: Annotated[str, typer.Option(help="Options of UrBLiMP, as JSON.")],
    lexicon: Annotated[Path | None, typer.Option(help="Lexicon of the language.")] = None,
) -> None:
    """Make the pairs of UrBLiMP's paradigms in a language, by rules over its treebanks."""
    from blimpworks.config import UrblimpOptions, parse_options
    from blimpworks.urblimp import items as library

    chosen = parse_options(UrblimpOptions, options)
    sources = library.Sources(tokens, sentences, lexicon)
    products = library.Products(output, counts, rejected)
    inputs = [*sorted(rules.glob("*.yaml")), *filter(None, sources)]
    params = {"lang": lang, "options": chosen.model_dump(mode="json", exclude_unset=True)}
    with Job("build_urblimp_items", inputs=inputs, outputs=[*products], params=params) as job:
        job.note(**library.build_items(rules, lang, sources, products, chosen))


def compare_lengths(
    results: Annotated[Path, typer.Argument(help="Directory of items, scores and judgements.")],
    models: Evaluated,
    benchmark: Annotated[str, typer.Option(help="Name of the benchmark.")],
    ties: Annotated[str, typer.Option(help="What equal values count as.")],
    output: Annotated[Path, typer.Option(help="Table of decisions to write.")],
    surprisals: Annotated[Path, typer.Option(help="Table of one pair by word, to write.")],
) -> None:
    """Compare decisions by the mean per token with those by the sum of log-probabilities."""
    from blimpworks.urblimp import lengths as library

    found = [
        library.Evaluation(
            model,
            lang,
            results / "items" / benchmark / f"{lang}.parquet",
            path,
            results / "judgements" / benchmark / lang / f"{model}.parquet",
        )
        for model, lang, path in tables_below(results / "scores" / benchmark, models)
    ]
    paths = [path for one in found for path in (one.items, one.scores, one.judgements)]
    inputs, outputs = [*dict.fromkeys(paths)], [output, surprisals]
    params = {"benchmark": benchmark, "ties": ties}
    with Job("compare_lengths", inputs=inputs, outputs=outputs, params=params) as job:
        job.note(**library.compare_lengths(found, ties, output, surprisals))


def register(app: typer.Typer) -> None:
    """Add this module's verbs to the command."""
    for verb in (build_urblimp_items, compare_lengths):
        app.command()(verb)
