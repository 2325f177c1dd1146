"""Verbs of UrBLiMP: its pairs, and its human validation."""

from pathlib import Path
from typing import Annotated

import typer

from blimpworks.campaign.settings.parsing import parse_options
from blimpworks.cli.scoring import Evaluated, tables_below
from blimpworks.papers.urblimp.settings import UrblimpOptions, ValidationOptions
from blimpworks.records.job import Job

Options = Annotated[str, typer.Option(help="Settings of the validation, as JSON.")]


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
    text: Annotated[list[Path] | None, typer.Option(help="Plain text; repeatable.")] = None,
) -> None:
    """Make the pairs of UrBLiMP's paradigms in a language, by rules over its treebanks."""
    from blimpworks.papers.urblimp.items import build as library

    chosen = parse_options(UrblimpOptions, options)
    sources = library.Sources(tokens, sentences, lexicon, tuple(text or ()))
    products = library.Products(output, counts, rejected)
    inputs = [*sorted(rules.glob("*.yaml")), tokens, sentences]
    inputs += [*([lexicon] if lexicon else []), *sources.texts]
    params = {"lang": lang, "options": chosen.model_dump(mode="json", exclude_unset=True)}
    with Job("build_urblimp_items", inputs=inputs, outputs=[*products], params=params) as job:
        job.note(**library.build_items(rules, lang, sources, products, chosen))


def validation_lists(
    sheets: Annotated[list[Path], typer.Argument(help="Sheets to write, one per participant.")],
    items: Annotated[Path, typer.Option(help="Items table of the language.")],
    lang: Annotated[str, typer.Option(help="Language, ISO 639-3.")],
    key: Annotated[Path, typer.Option(help="Key of the lists to write; not for participants.")],
    pcibex: Annotated[Path, typer.Option(help="Table of all lists for PCIbex to write, CSV.")],
    options: Options,
) -> None:
    """Deal pairs to participants, and write a list for each to fill in."""
    from blimpworks.papers.urblimp.validation.sheets import write_lists

    settings = parse_options(ValidationOptions, options)
    params = {"lang": lang, "options": settings.model_dump(mode="json")}
    outputs = [key, pcibex, *sheets]
    with Job("validation_lists", inputs=[items], outputs=outputs, params=params) as job:
        pairs = write_lists(items, lang, sheets, key, pcibex, settings)
        job.note(pairs=pairs)
    typer.echo(f"{pairs} pairs on {len(sheets)} lists")


def read_validation(
    sheets: Annotated[list[Path], typer.Argument(help="Filled lists.")],
    keys: Annotated[list[Path], typer.Option("--key", help="Key of lists; repeatable.")],
    ratings: Annotated[Path, typer.Option(help="Table of ratings to write.")],
    participants: Annotated[Path, typer.Option(help="Table of participants to write.")],
    accuracies: Annotated[Path, typer.Option(help="Table of people's accuracies to write.")],
    options: Options,
) -> None:
    """Check filled lists, leave out who fails the attention checks, and measure accuracies."""
    from blimpworks.papers.urblimp.validation import results

    settings = parse_options(ValidationOptions, options)
    outputs = (ratings, participants, accuracies)
    chosen = settings.model_dump(mode="json", include={"check_threshold", "per_pair"})
    inputs, params = [*sheets, *keys], {"options": chosen}
    with Job("read_validation", inputs=inputs, outputs=[*outputs], params=params) as job:
        found = results.read_validation(sheets, keys, outputs, settings)
        job.note(**found)
    typer.echo(", ".join(f"{name}: {value:.4g}" for name, value in found.items()))


def compare_lengths(
    results: Annotated[Path, typer.Argument(help="Directory of items, scores and judgements.")],
    models: Evaluated,
    benchmark: Annotated[str, typer.Option(help="Name of the benchmark.")],
    ties: Annotated[str, typer.Option(help="What equal values count as.")],
    output: Annotated[Path, typer.Option(help="Table of decisions to write.")],
    surprisals: Annotated[Path, typer.Option(help="Table of one pair by word, to write.")],
) -> None:
    """Compare decisions by the mean per token with those by the sum of log-probabilities."""
    from blimpworks.papers.urblimp.analysis import lengths as library

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
    verbs = (build_urblimp_items, compare_lengths, validation_lists, read_validation)
    for verb in verbs:
        app.command()(verb)
