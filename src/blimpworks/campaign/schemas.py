"""The JSON Schemas in ``workflow/schemas``, generated from the models."""

import ast
import inspect
import json
import sys
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, cast, get_args

from pydantic import BaseModel

from blimpworks.campaign.catalogue import LanguageRow, ModelRow, SourceRow, TreebankRow
from blimpworks.campaign.load import campaign_model
from blimpworks.campaign.registry import load
from blimpworks.campaign.settings.base import DeclaredOptions
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.campaign.settings.site import Site
from blimpworks.files import write_text

MODELS: dict[str, type[BaseModel]] = {
    "campaign": campaign_model(with_declared=False),
    "benchmark": cast(type[BaseModel], load("blimpworks.benchmarks.declaration:Declaration")),
    "site": Site,
    "languages": LanguageRow,
    "treebanks": TreebankRow,
    "sources": SourceRow,
    "models": ModelRow,
}


@cache
def _documented(module: str) -> dict[str, dict[str, str]]:
    """Return docstrings of annotated attributes in a module, by class and attribute."""
    texts: dict[str, dict[str, str]] = {}
    for node in ast.parse(inspect.getsource(sys.modules[module])).body:
        if isinstance(node, ast.ClassDef):
            fields = texts.setdefault(node.name, {})
            for field, text in pairwise(node.body):
                match field, text:
                    case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(
                        value=ast.Constant(value=str(words))
                    ):
                        fields[name] = inspect.cleandoc(words)
    return texts


def _describe(schema: dict[str, Any], kind: type) -> None:
    for base in kind.__mro__:
        if base.__module__.startswith("blimpworks."):
            for name, text in _documented(base.__module__).get(base.__name__, {}).items():
                schema["properties"][name].setdefault("description", text)


def _nested(annotation: object) -> Iterator[type[BaseModel]]:
    """Yield the models of a type and of its fields' types."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
        for field in annotation.model_fields.values():
            yield from _nested(field.annotation)
    for argument in get_args(annotation):
        yield from _nested(argument)


def render_schema(kind: type[BaseModel]) -> str:
    """Return the JSON Schema of ``kind`` as text for ``workflow/schemas``."""
    schema = kind.model_json_schema()
    _describe(schema, kind)
    models = {model.__name__: model for model in _nested(kind)}
    for name, inner in schema.get("$defs", {}).items():
        if "properties" in inner:
            _describe(inner, models[name])
    if issubclass(kind, Campaign):
        options = DeclaredOptions.model_json_schema()
        _describe(options, DeclaredOptions)
        schema["$defs"]["DeclaredOptions"] = options
        schema["additionalProperties"] = {"$ref": "#/$defs/DeclaredOptions"}
        benchmark = schema["properties"]["benchmarks"]["items"]
        named = {"type": "string", "pattern": "^[a-z][a-z0-9_]*$"}
        schema["properties"]["benchmarks"]["items"] = {"anyOf": [benchmark, named]}
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def schema_files(directory: Path) -> dict[Path, str]:
    """Return the text of each schema file of ``directory``."""
    return {directory / f"{n}.schema.json": render_schema(m) for n, m in MODELS.items()}


def write_schemas(directory: Path) -> None:
    """Write all schema files into ``directory``."""
    for path, text in schema_files(directory).items():
        write_text(path, text)


def drifted(directory: Path) -> list[Path]:
    """Return schema files of ``directory`` that are missing or differ from the models."""
    return [
        path
        for path, text in schema_files(directory).items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]
