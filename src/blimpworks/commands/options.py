"""Options that several commands have, and how their values are read."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from pydantic import BaseModel

from blimpworks.campaign.settings.campaign import parse_options
from blimpworks.commands.declare import UNRECORDED, WRITTEN, Arguments, Use
from blimpworks.errors import UserError

SPELLING = ("numpy", "pyarrow", "unidecode", "indic-transliteration")
"""Packages of the commands that read words in a language's agreed spelling."""
TABLES = ("numpy", "pyarrow")
"""Packages of the commands that read and write tables."""
STATISTICS = ("numpy", "pandas", "pyarrow", "scipy")
"""Packages of the commands that compute statistics."""
MODELLING = (*STATISTICS, "statsmodels")
"""Packages of the commands that fit models to results."""


Json = dict[str, Any]
JSON: dict[str, Any] = {"parser": json.loads, "metavar": "TEXT"}
"""How an option reads JSON."""


def settings(model: type[BaseModel]) -> dict[str, Any]:
    """How an option reads settings given as JSON. It raises UserError when they don't fit."""

    def parse(text: str) -> BaseModel:
        return parse_options(model, text)

    return {"parser": parse, "metavar": "TEXT"}


def listed(text: str) -> list[str]:
    """Names between commas."""
    return [name for name in text.split(",") if name]


class LanguageFile(NamedTuple):
    """A file of a language."""

    lang: str
    path: Path


def of_language(pair: str) -> LanguageFile:
    """``deu=a.txt`` as language and path. Raises UserError for anything else."""
    lang, separator, path = pair.partition("=")
    if not separator:
        raise UserError(f"{pair!r}: expected LANG=PATH.")
    return LanguageFile(lang, Path(path))


def pairs_of(items: list[Path], outputs: list[Path]) -> list[tuple[Path, Path]]:
    """Each items table with what is written for it. Raises UserError for unlike numbers."""
    if len(items) != len(outputs):
        raise UserError(
            f"{len(items)} --items and {len(outputs)} --output; expected an output for each."
        )
    return [*zip(items, outputs, strict=True)]


def tables_below(root: Path, models: str) -> list[tuple[str, str, Path]]:
    """Model, language and path of the judgements or scores of the models, ROOT/LANG/MODEL."""
    return [
        (model, lang, root / lang / f"{model}.parquet")
        for model, languages in json.loads(models).items()
        for lang in languages
    ]


def evaluations(
    results: Path,
    models: str,
    benchmark: str,
    kinds: tuple[str, str] = ("scores", "judgements"),
) -> list[tuple[str, str, Path, Path, Path]]:
    """Model, language, items and two ``kinds`` of tables of each evaluation of a benchmark."""
    first, second = (results / kind / benchmark for kind in kinds)
    return [
        (
            model,
            lang,
            results / "items" / benchmark / f"{lang}.parquet",
            path,
            second / lang / path.name,
        )
        for model, lang, path in tables_below(first, models)
    ]


def each_once(rows: Iterable[tuple[Any, ...]]) -> list[Path]:
    """Paths in rows, each where it first stands."""
    return [*dict.fromkeys(each for row in rows for each in row if isinstance(each, Path))]


def _tables(root: Path, given: Arguments) -> list[tuple[str, str, Path]]:
    return tables_below(root, given["models"])


def optional(**how: Any) -> dict[str, Any]:
    """How an option reads a list that may be empty."""
    return {"default_factory": list, "show_default": False, **how}


Benchmark = Annotated[str, typer.Option(help="Name of the benchmark.")]
Iso = Annotated[str, typer.Option(help="ISO 639-3 code.")]
IsoOfLanguage = Annotated[str, typer.Option(help="ISO 639-3 code of the language.")]
Language = Annotated[str, typer.Option(help="Language, ISO 639-3.")]
Log = Annotated[
    Path | None, typer.Option(help="The job's log; its attempts are entered beside it.")
]
Method = Annotated[str, typer.Option(help="Method of judging.")]
Output = Annotated[Path, typer.Option(help="Table to write."), WRITTEN]
Table = Annotated[Path, typer.Option(help="Table to read.")]
Seed = Annotated[int, typer.Option(help="Decides all random choices.")]
Each = Annotated[list[Path], typer.Option(help="Items table; repeatable.")]
Outputs = Annotated[list[Path], typer.Option(help="Table to write; one for each items table.")]

# A campaign has thousands of these tables, and one argument of a shell holds 128 KiB.
Evaluated = Annotated[
    str, typer.Option(help="Languages of each model, as a JSON object."), UNRECORDED
]
Tables = Annotated[
    Path,
    typer.Argument(help="Directory of LANG/MODEL.parquet."),
    Use(reads=lambda root, given: [path for _, _, path in _tables(root, given)], passes=_tables),
]
Judged = Annotated[
    Path,
    typer.Argument(help="Directory of items, scores and judgements."),
    Use(
        reads=lambda results, given: each_once(
            evaluations(results, given["models"], given["benchmark"])
        )
    ),
]
