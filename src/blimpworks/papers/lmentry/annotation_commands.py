"""Verbs of Multi-LMentry's annotation sheets, and of its verdicts by both methods."""

from pathlib import Path
from typing import Annotated

import typer

from blimpworks.campaign.settings.parsing import parse_options
from blimpworks.cli.scoring import Evaluated, tables_below
from blimpworks.papers.lmentry.settings import SheetOptions
from blimpworks.records.job import Job

Output = Annotated[Path, typer.Option(help="Table to write.")]
Judgements = Annotated[Path, typer.Option(help="Directory of judgements, LANG/MODEL.parquet.")]


def annotation_sheet(
    lang: Annotated[str, typer.Argument(help="Language, ISO 639-3.")],
    prompts: Annotated[Path, typer.Option(help="Prompts table of the language.")],
    answers: Annotated[list[Path], typer.Option(help="Answers table, MODEL.parquet; repeatable.")],
    sheet: Annotated[Path, typer.Option(help="Sheet to write, CSV.")],
    key: Annotated[Path, typer.Option(help="Key of the sheet to write; not for annotators.")],
    options: Annotated[str, typer.Option(help="How many answers, and the seed, as JSON.")],
    pack: Annotated[
        Path | None, typer.Option(help="Language pack, where the prompts are the published ones.")
    ] = None,
) -> None:
    """Draw answers for people to judge, and write them as a sheet."""
    from blimpworks.papers.lmentry.annotation import sheet as library

    settings = parse_options(SheetOptions, options)
    models = {path.stem: path for path in answers}
    params = {"lang": lang, "options": settings.model_dump(mode="json")}
    made, inputs = [sheet, key], [prompts, *answers, *([pack] if pack else [])]
    with Job("annotation_sheet", inputs=inputs, outputs=made, params=params) as job:
        rows = library.write_annotation_sheet(lang, prompts, models, sheet, key, settings, pack)
        job.note(rows=rows)


def read_annotations(
    sheets: Annotated[list[Path], typer.Argument(help="Filled sheets.")],
    keys: Annotated[list[Path], typer.Option("--key", help="Key of a sheet; repeatable.")],
    judgements: Judgements,
    models: Evaluated,
    output: Output,
) -> None:
    """Check filled annotation sheets, and measure how far verdicts agree with them."""
    from blimpworks.papers.lmentry.annotation import agreement

    inputs = [*sheets, *keys, *(path for _, _, path in tables_below(judgements, models))]
    with Job("read_annotations", inputs=inputs, outputs=[output], params={}) as job:
        found = agreement.measure_agreement(sheets, keys, judgements, output)
        job.note(**found)
    typer.echo(", ".join(f"{name}: {n} labels" for name, n in found.items()))


def compare_verdicts(
    results: Annotated[Path, typer.Argument(help="Directory of items, answers and judgements.")],
    models: Evaluated,
    benchmark: Annotated[str, typer.Option(help="Name of the benchmark.")],
    output: Output,
) -> None:
    """Compare the published with the corrected verdicts on the same answers."""
    from blimpworks.papers.lmentry.analysis import verdicts as library

    found = [
        library.Evaluation(
            model,
            lang,
            results / "items" / benchmark / f"{lang}.parquet",
            results / "answers" / benchmark / lang / f"{model}.parquet",
            judgements,
        )
        for model, lang, judgements in tables_below(results / "judgements" / benchmark, models)
    ]
    paths = [path for one in found for path in (one.prompts, one.answers, one.judgements)]
    inputs, params = [*dict.fromkeys(paths)], {"benchmark": benchmark}
    with Job("compare_verdicts", inputs=inputs, outputs=[output], params=params) as job:
        job.note(**library.compare_verdicts(found, output))


def register(app: typer.Typer) -> None:
    """Add this module's verbs to the command."""
    for verb in (annotation_sheet, read_annotations, compare_verdicts):
        app.command()(verb)
