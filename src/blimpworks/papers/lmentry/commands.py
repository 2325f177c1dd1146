"""Declare Multi-LMentry's commands; one without a body calls the function in its decorator."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import typer

from blimpworks.commands import shared
from blimpworks.commands.declare import FILLED_IN, READ, Use, command, dumped, spread
from blimpworks.commands.options import (
    LanguageFile,
    argument,
    each_once,
    of_language,
    option,
    settings,
    tables_below,
    written,
)
from blimpworks.errors import UserError
from blimpworks.papers.lmentry.settings import LmentryOptions, SheetOptions
from blimpworks.records.job import Planned

LMENTRY = "blimpworks.papers.lmentry"
FRAMES = ("numpy", "pandas", "pyarrow")
DECLARATIONS = option("Declarations of the tasks.")
ANSWERED = argument(
    "Directory of items, answers and judgements.", use=shared.of_evaluations("answers")
)


@command(
    f"{LMENTRY}.judging.judge:judge_answers",
    packages=("pyarrow", "google-re2", "num2words", "jamo"),
    cheap=True,
)
def judge_answers(
    items: list[Path] = option("Prompts; one table for each language."),
    answers: list[Path] = option("Answers; one for each table of prompts."),
    pack: list[Path] = option("Language pack; one for each."),
    variant: str = option("Variant of the prompts."),
    output: list[Path] = option("Judgements to write; one for each."),
) -> None:
    """Judge the answers to Multi-LMentry's prompts, by published and corrected rules."""
    from blimpworks.papers.lmentry.items.packs import pack_files
    from blimpworks.papers.lmentry.judging import judge as library

    params = {"variant": variant}
    for table, answer_table, language, target in zip(items, answers, pack, output, strict=True):
        inputs = [table, answer_table, *pack_files(language)]
        with (
            suppress(Planned),
            judge_answers.job(inputs=inputs, outputs=[target], params=params) as job,
        ):
            job.note(unjudged=library.judge_answers(table, answer_table, language, variant, target))


@command(calls=f"{LMENTRY}.items.prompts:build_prompts", packages=("jamo", "pyarrow"))
def build_lmentry_items(
    files: list[Path] = argument("A language's resource files.", metavar="resources"),
    pack: Path = option("Its language pack."),
    declarations: Path = DECLARATIONS,
    output: Path = written("Table of prompts to write."),
    options: LmentryOptions = settings(
        LmentryOptions,
        "Options of Multi-LMentry, as JSON.",
        use=spread(mode="json", exclude_unset=True),
    ),
) -> None:
    """Make the prompts of all tasks in a language from its annotated resources."""


@command(calls=f"{LMENTRY}.items.prompts:count_prompts", packages=("jamo", "pyarrow"), cheap=True)
def count_lmentry_prompts(
    packs: list[Path] = argument("Language packs."),
    declarations: Path = DECLARATIONS,
    output: Path = shared.OUTPUT,
    resources: list[LanguageFile] = option(
        "Resource file of a language, as LANG=PATH.",
        default=list,
        metavar="<lang=path>",
        parser=of_language,
        use=Use(
            inputs_from=lambda files, _: [path for _, path in files],
            parameters_from=lambda name, files: {name: sorted({lang for lang, _ in files})},
        ),
    ),
) -> None:
    """Count the prompts that the release's settings give each task and language."""


@command(calls=f"{LMENTRY}.items.dialogues:build_dialogues", packages=("numpy", "pyarrow"))
def build_dialogues(
    practice: list[Path] = argument("Prompts with other arguments."),
    benchmark: list[Path] = option("The benchmark's prompts, to be left out.", "--items"),
    packs: list[Path] = option("Pack of each language.", "--pack"),
    output: Path = written("Dialogues to write, as JSON Lines."),
    seed: int = option("Seed of all that is drawn at random."),
    per_template: int = option("Most dialogues of each template.", min=1),
) -> None:
    """Make dialogues of Multi-LMentry's prompts, to train a model that follows instructions."""


def _answers_by_model(paths: Sequence[Path]) -> dict[str, Path]:
    """Return {model: table of answers}, by the tables' folders.

    Raises UserError for two tables of one model.
    """
    tables: dict[str, Path] = {}
    for path in paths:
        model = path.parent.name
        if model in tables:
            raise UserError(
                f"--answers: {tables[model]} and {path} are both of a model {model!r}; expected "
                "one table of each model, MODEL/LANG.parquet. Leave one out, or rename its folder."
            )
        tables[model] = path
    return tables


@command(calls=f"{LMENTRY}.verdicts:write_annotation_sheet", packages=FRAMES, notes="rows")
def annotation_sheet(
    lang: str = argument("Language, ISO 639-3."),
    prompts: Path = option("Prompts table of the language."),
    answers: list[Path] = option(
        "Answers table, MODEL/LANG.parquet; repeatable.",
        use=Use(inputs_from=READ.inputs_from, convert=lambda paths, _: _answers_by_model(paths)),
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


@command(recorded=f"{LMENTRY}.verdicts:measure_agreement", packages=shared.MODELLING, cheap=True)
def read_annotations(
    sheets: list[Path] = argument("Filled sheets.", use=FILLED_IN),
    keys: list[Path] = option("Key of a sheet; repeatable.", "--key"),
    judgements: Path = option(
        "Directory of judgements, MODEL/LANG.parquet.",
        use=Use(
            inputs_from=lambda root, arguments: each_once(tables_below(root, arguments["models"]))
        ),
    ),
    models: str = shared.EVALUATED,
    output: Path = shared.OUTPUT,
) -> Mapping[str, Any]:
    """Check filled annotation sheets, and measure how far verdicts agree with them."""
    from blimpworks.papers.lmentry.verdicts import measure_agreement

    counts = measure_agreement(sheets, keys, judgements, output)
    typer.echo(", ".join(f"{name}: {n} labels" for name, n in counts.items()))
    return counts


@command(calls=f"{LMENTRY}.verdicts:compare_verdicts", packages=FRAMES, cheap=True)
def compare_verdicts(
    results: Path = ANSWERED,
    models: str = shared.EVALUATED,
    benchmark: str = shared.BENCHMARK,
    output: Path = shared.OUTPUT,
    items: Path | None = shared.SAMPLED,
) -> None:
    """Compare the published with the corrected verdicts on the same answers."""
