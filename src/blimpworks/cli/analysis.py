"""Verbs from judgements and scores to tests and regressions."""

import json
from pathlib import Path
from typing import Annotated

import typer

from blimpworks.campaign.variants import Variant
from blimpworks.cli.scoring import Evaluated, Tables, tables_below
from blimpworks.records.job import Job

Output = Annotated[Path, typer.Option(help="Table to write.")]
Benchmark = Annotated[str, typer.Option(help="Name of the benchmark.")]
Method = Annotated[str, typer.Option(help="Method of judging.")]
Frequencies = Annotated[list[Path] | None, typer.Option(help="Frequencies table.")]


def build_frequencies(
    totals: Annotated[Path, typer.Argument(help="GlotCC's totals per language.")],
    languages: Annotated[Path, typer.Option(help="Catalogue of languages.")],
    codes: Annotated[Path, typer.Option(help="Languages that stand under other codes.")],
    output: Output,
) -> None:
    """Count how much text there is of each language, and rank them by it."""
    from blimpworks.papers.multiblimp.analysis import frequencies

    inputs = [totals, languages, codes]
    with Job("build_frequencies", inputs=inputs, outputs=[output], params={}) as job:
        known = frequencies.build_frequencies(totals, languages, codes, output)
        job.note(languages_with_text=known)


def build_morphology(
    values: Annotated[Path, typer.Argument(help="WALS's raw/value.csv.")],
    elements: Annotated[Path, typer.Option(help="WALS's raw/domainelement.csv.")],
    languages: Annotated[Path, typer.Option(help="WALS's cldf/languages.csv.")],
    output: Output,
) -> None:
    """Quantify the morphology of languages by their WALS features."""
    from blimpworks.papers.clams.analysis import wals

    inputs = [values, elements, languages]
    with Job("build_morphology", inputs=inputs, outputs=[output], params={}) as job:
        job.note(languages=wals.build_morphology(values, elements, languages, output))


def compare_models(
    judgements: Tables,
    models: Evaluated,
    benchmark: Benchmark,
    method: Method,
    output: Output,
    mcnemar: Annotated[Variant, typer.Option(help="Form of the test.")] = "published",
) -> None:
    """Compare every two models on each language by McNemar's test."""
    from blimpworks.analysis import comparisons

    params = {"benchmark": benchmark, "method": method, "mcnemar": mcnemar}
    found = tables_below(judgements, models)
    paths = [path for _, _, path in found]
    with Job("compare_models", inputs=paths, outputs=[output], params=params) as job:
        job.note(rows=comparisons.compare_models(found, benchmark, method, output, mcnemar))


def fit_regressions(
    accuracies: Annotated[Path, typer.Argument(help="Accuracies table.")],
    models: Annotated[str, typer.Option(help="Size, family and tuning of models, as JSON.")],
    method: Method,
    output: Output,
    residuals: Annotated[Path, typer.Option(help="Table of residuals to write.")],
    frequencies: Frequencies = None,
) -> None:
    """Fit accuracy on models' size and tuning, and on languages' frequency."""
    from blimpworks.papers.multiblimp.analysis import regressions

    tables, facts = frequencies or [], json.loads(models)
    made = [output, residuals]
    params = {"models": facts, "method": method}
    inputs = [accuracies, *tables]
    with Job("fit_regressions", inputs=inputs, outputs=made, params=params) as job:
        job.note(
            terms=regressions.fit_regressions(accuracies, tables, facts, method, output, residuals)
        )


def fit_margins(
    scores: Tables,
    items: Annotated[Path, typer.Option(help="Directory of items tables, LANG.parquet.")],
    models: Evaluated,
    benchmark: Benchmark,
    output: Output,
    frequencies: Frequencies = None,
) -> None:
    """Fit the models' margins on properties of the pairs."""
    from blimpworks.papers.multiblimp.analysis import margins

    tables, found = frequencies or [], tables_below(scores, models)
    scored = [(model, items / f"{lang}.parquet", path) for model, lang, path in found]
    inputs = [*(path for _, _, path in found), *dict.fromkeys(pair for _, pair, _ in scored)]
    params = {"benchmark": benchmark}
    with Job("fit_margins", inputs=[*inputs, *tables], outputs=[output], params=params) as job:
        job.note(terms=margins.fit_margins(scored, tables, output))


def bin_accuracies(
    results: Annotated[Path, typer.Argument(help="Directory of items, scores and judgements.")],
    models: Evaluated,
    benchmark: Benchmark,
    method: Method,
    output: Output,
    bins: Annotated[int, typer.Option(min=2, help="Bins of each factor, at most.")],
) -> None:
    """Compute accuracy by length, perplexity, probability and confidence of pairs, in bins."""
    from blimpworks.papers.blimp.analysis import bins as library

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
    params = {"benchmark": benchmark, "method": method, "bins": bins}
    inputs = [*dict.fromkeys(paths)]
    with Job("bin_accuracies", inputs=inputs, outputs=[output], params=params) as job:
        job.note(rows=library.bin_accuracies(found, method, bins, output))


def fit_curves(
    accuracies: Annotated[Path, typer.Argument(help="Accuracies table.")],
    curves: Annotated[str, typer.Option(help="Tokens of models by row and model, as JSON.")],
    method: Method,
    output: Output,
    humans: Annotated[Path | None, typer.Option(help="Accuracies table with humans.")] = None,
) -> None:
    """Fit the accuracy of models trained on samples on the logarithm of their size."""
    from blimpworks.papers.blimp.analysis import curves as library
    from blimpworks.papers.blimp.released_results import INDIVIDUAL

    sizes, inputs = json.loads(curves), [path for path in (accuracies, humans) if path]
    params = {"curves": sizes, "method": method}
    with Job("fit_curves", inputs=inputs, outputs=[output], params=params) as job:
        methods = (method, INDIVIDUAL)
        job.note(terms=library.fit_curves(accuracies, humans, sizes, methods, output))


def register(app: typer.Typer) -> None:
    """Add this module's verbs to the command."""
    fits = (fit_regressions, fit_margins, fit_curves)
    for verb in (build_frequencies, build_morphology, compare_models, *fits, bin_accuracies):
        app.command()(verb)
