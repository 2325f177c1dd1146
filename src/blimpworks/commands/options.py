"""Declare options and arguments of commands, and parse their values."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from blimpworks.commands.declare import SET_BY_USER, WRITTEN, Use
from blimpworks.errors import UserError, reading
from blimpworks.files import text_of

if TYPE_CHECKING:
    from pydantic import BaseModel


def option(
    help_text: str,
    *names: str,
    default: Any = ...,
    use: Use | None = None,
    declare: Callable[..., Any] = typer.Option,
    **details: Any,
) -> Any:
    """Declare an option of a command as the default of a parameter.

    ``names``, such as ``--bytes``, replace the parameter's name. A ``default`` of ``list`` is the
    empty list. ``use``: effects on the job; ``details``: arguments of ``typer.Option``.
    """
    declared = declare(default, *names, help=help_text, show_default=default is not list, **details)
    declared.use = use
    return declared


def argument(help_text: str, **details: Any) -> Any:
    """Declare a positional argument; ``details`` as for ``option``."""
    return option(help_text, declare=typer.Argument, **details)


def written(help_text: str, *names: str, **details: Any) -> Any:
    """Declare an option for an output file; ``details`` as for ``option``."""
    return option(help_text, *names, use=WRITTEN, **details)


def _json_of(text: str) -> str:
    """Return the content of the file that ``text`` names (.json, .yaml) as JSON, else ``text``.

    Records contain the content, since the file may change. Raises UserError for a bad file.
    """
    if not text.endswith((".json", ".yaml")):
        return text
    from blimpworks.records.job import replace_argument
    from blimpworks.yaml_files import read_yaml

    path = Path(text)
    if path.suffix == ".yaml":
        content = read_yaml(path, "a file of settings")
    else:
        with reading(path, "a file of settings", "Let the workflow write it again."):
            content = json.loads(text_of(path))
    compact = json.dumps(content, ensure_ascii=False)
    replace_argument(text, compact)
    return compact


def settings(
    model: "type[BaseModel]", help_text: str, *, default: Any = ..., use: Use = SET_BY_USER
) -> Any:
    """Declare an option for settings, YAML file or JSON. Raises UserError for other content."""

    def parse(text: str) -> "BaseModel":
        from blimpworks.campaign.settings.base import parse_options

        return parse_options(model, _json_of(text))

    return option(help_text, default=default, use=use, parser=parse, metavar="<yaml|json>")


def json_option(help_text: str, **details: Any) -> Any:
    """Declare an option for a JSON object, or a file with one; ``details`` as for ``option``."""
    details |= {"parser": lambda text: json.loads(_json_of(text)), "metavar": "<json>"}
    return option(help_text, **details)


def listed(text: str) -> list[str]:
    """Split a text at commas."""
    return [name for name in text.split(",") if name]


class LanguageFile(NamedTuple):
    """A file of one language."""

    lang: str
    path: Path


def of_language(pair: str) -> LanguageFile:
    """Read ``deu=a.txt`` as language and path. Raises UserError for anything else."""
    lang, _, path = pair.partition("=")
    if not lang or not path:
        raise UserError(f"{pair!r}: expected LANG=PATH, such as deu=a.txt; correct it.")
    return LanguageFile(lang, Path(path))


def pairs_of(
    items: list[Path], paths: list[Path], name: str = "--output"
) -> list[tuple[Path, Path]]:
    """Pair items tables with the paths of option ``name``. Raises UserError for unequal numbers."""
    if len(items) != len(paths):
        raise UserError(f"{len(items)} --items and {len(paths)} {name}; expected one for each.")
    return [*zip(items, paths, strict=True)]


def tables_below(root: Path, models: str) -> list[tuple[str, str, Path]]:
    """Return (model, language, ROOT/MODEL/LANG.parquet); ``models``: JSON {"gpt2": ["eng"]}."""
    return [
        (model, lang, root / model / f"{lang}.parquet")
        for model, languages in json.loads(models).items()
        for lang in languages
    ]


def each_once(rows: Iterable[tuple[Any, ...]]) -> list[Path]:
    """Return the distinct paths in rows, in order."""
    return [*dict.fromkeys(value for row in rows for value in row if isinstance(value, Path))]
