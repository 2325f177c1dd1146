"""Commands of Multi-LMentry's annotation sheets, and of its verdicts by both methods."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from blimpworks.commands.declare import READ, WRITTEN, Use, calls, dumped, recorded
from blimpworks.commands.options import (
    MODELLING,
    Benchmark,
    Evaluated,
    Output,
    each_once,
    evaluations,
    settings,
    tables_below,
)
from blimpworks.papers.lmentry.settings import SheetOptions

PAPER = "blimpworks.papers.lmentry"
FRAMES = ("numpy", "pandas", "pyarrow")
KINDS = ("answers", "judgements")


@calls(f"{PAPER}.annotation.sheet:write_annotation_sheet", packages=FRAMES, notes="rows")
def annotation_sheet(
    lang: Annotated[str, typer.Argument(help="Language, ISO 639-3.")],
    prompts: Annotated[Path, typer.Option(help="Prompts table of the language.")],
    answers: Annotated[
        list[Path],
        typer.Option(help="Answers table, MODEL.parquet; repeatable."),
        Use(reads=READ.reads, passes=lambda paths, _: {path.stem: path for path in paths}),
    ],
    sheet: Annotated[Path, typer.Option(help="Sheet to write, CSV."), WRITTEN],
    key: Annotated[
        Path, typer.Option(help="Key of the sheet to write; not for annotators."), WRITTEN
    ],
    options: Annotated[
        SheetOptions,
        typer.Option(help="How many answers, and the seed, as JSON.", **settings(SheetOptions)),
        dumped(mode="json"),
    ],
    pack: Annotated[
        Path | None, typer.Option(help="Language pack, where the prompts are the published ones.")
    ] = None,
) -> None:
    """Draw answers for people to judge, and write them as a sheet."""


@recorded(f"{PAPER}.annotation.agreement:measure_agreement", packages=MODELLING)
def read_annotations(
    sheets: Annotated[list[Path], typer.Argument(help="Filled sheets.")],
    keys: Annotated[list[Path], typer.Option("--key", help="Key of a sheet; repeatable.")],
    judgements: Annotated[
        Path,
        typer.Option(help="Directory of judgements, LANG/MODEL.parquet."),
        Use(reads=lambda root, given: each_once(tables_below(root, given["models"]))),
    ],
    models: Evaluated,
    output: Output,
) -> Mapping[str, Any]:
    """Check filled annotation sheets, and measure how far verdicts agree with them."""
    from blimpworks.papers.lmentry.annotation import agreement

    counts = agreement.measure_agreement(sheets, keys, judgements, output)
    typer.echo(", ".join(f"{name}: {n} labels" for name, n in counts.items()))
    return counts


@recorded(f"{PAPER}.analysis.verdicts:compare_verdicts", packages=FRAMES)
def compare_verdicts(
    results: Annotated[
        Path,
        typer.Argument(help="Directory of items, answers and judgements."),
        Use(
            reads=lambda results, given: each_once(
                evaluations(results, given["models"], given["benchmark"], KINDS)
            )
        ),
    ],
    models: Evaluated,
    benchmark: Benchmark,
    output: Output,
) -> Mapping[str, Any]:
    """Compare the published with the corrected verdicts on the same answers."""
    from blimpworks.papers.lmentry.analysis import verdicts as library

    rows = evaluations(results, models, benchmark, KINDS)
    return library.compare_verdicts([library.Evaluation(*row) for row in rows], output)
