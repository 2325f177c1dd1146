"""Commands of Multi-LMentry's annotation sheets, and of its verdicts by both methods."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from blimpworks.commands.declare import READ, Use, calls, dumped, recorded
from blimpworks.commands.options import (
    BENCHMARK,
    EVALUATED,
    MODELLING,
    OUTPUT,
    argument,
    each_once,
    evaluations,
    option,
    settings,
    tables_below,
    written,
)
from blimpworks.papers.lmentry.settings import SheetOptions

PAPER = "blimpworks.papers.lmentry"
FRAMES = ("numpy", "pandas", "pyarrow")
KINDS = ("answers", "judgements")


@calls(f"{PAPER}.annotation.sheet:write_annotation_sheet", packages=FRAMES, notes="rows")
def annotation_sheet(
    lang: str = argument("Language, ISO 639-3."),
    prompts: Path = option("Prompts table of the language."),
    answers: list[Path] = option(
        "Answers table, MODEL.parquet; repeatable.",
        use=Use(reads=READ.reads, passes=lambda paths, _: {path.stem: path for path in paths}),
    ),
    sheet: Path = written("Sheet to write, CSV."),
    key: Path = written("Key of the sheet to write; not for annotators."),
    options: SheetOptions = settings(
        SheetOptions, "How many answers, and the seed, as JSON.", use=dumped(mode="json")
    ),
    pack: Path | None = option(
        "Language pack, where the prompts are the published ones.", default=None
    ),
) -> None:
    """Draw answers for people to judge, and write them as a sheet."""


@recorded(f"{PAPER}.annotation.agreement:measure_agreement", packages=MODELLING)
def read_annotations(
    sheets: list[Path] = argument("Filled sheets."),
    keys: list[Path] = option("Key of a sheet; repeatable.", "--key"),
    judgements: Path = option(
        "Directory of judgements, LANG/MODEL.parquet.",
        use=Use(reads=lambda root, given: each_once(tables_below(root, given["models"]))),
    ),
    models: str = EVALUATED,
    output: Path = OUTPUT,
) -> Mapping[str, Any]:
    """Check filled annotation sheets, and measure how far verdicts agree with them."""
    from blimpworks.papers.lmentry.annotation import agreement

    counts = agreement.measure_agreement(sheets, keys, judgements, output)
    typer.echo(", ".join(f"{name}: {n} labels" for name, n in counts.items()))
    return counts


@recorded(f"{PAPER}.analysis.verdicts:compare_verdicts", packages=FRAMES)
def compare_verdicts(
    results: Path = argument(
        "Directory of items, answers and judgements.",
        use=Use(
            reads=lambda results, given: each_once(
                evaluations(results, given["models"], given["benchmark"], KINDS)
            )
        ),
    ),
    models: str = EVALUATED,
    benchmark: str = BENCHMARK,
    output: Path = OUTPUT,
) -> Mapping[str, Any]:
    """Compare the published with the corrected verdicts on the same answers."""
    from blimpworks.papers.lmentry.analysis import verdicts as library

    rows = evaluations(results, models, benchmark, KINDS)
    return library.compare_verdicts([library.Evaluation(*row) for row in rows], output)
