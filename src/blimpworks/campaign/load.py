"""Read and check campaign files, and write the JSON Schemas of campaigns and their tables.

The model of a campaign has the core's settings, and a section for each paper.
"""

import ast
import inspect
import json
import os
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, Field, create_model

from blimpworks.campaign import registry
from blimpworks.campaign.catalogue import LanguageRow, ModelRow, SourceRow, TreebankRow
from blimpworks.campaign.methods import find_method
from blimpworks.campaign.settings.base import DeclaredOptions, read_settings, validated
from blimpworks.campaign.settings.campaign import Campaign, CatalogueFiles, once_each
from blimpworks.errors import UserError
from blimpworks.files import write_text
from blimpworks.records.job import REPOSITORY

DECLARATION = "benchmark.yaml"
"""File of a declared benchmark, in a folder of its name."""


@cache
def campaign_model(*, with_declared: bool = True) -> type[Campaign]:
    """Return the model of a campaign with sections and folders of all papers.

    ``with_declared``: whether benchmarks that are declared as data have sections too.
    """
    sections: dict[str, Any] = {}
    folders: dict[str, Any] = {}
    names: list[str] = []
    for name, paper in registry.papers().items():
        if with_declared or not issubclass(paper.settings, DeclaredOptions):
            sections[name] = (paper.settings, paper.settings())
            names += [benchmark.name for benchmark in paper.benchmarks]
            for folder, (path, text) in paper.folders.items():
                folders[folder] = (Path, Field(default=path, description=text))
    catalogue = create_model(
        "CatalogueFiles", __base__=CatalogueFiles, __doc__=CatalogueFiles.__doc__, **folders
    )
    allowed: Any = Literal[*names]
    return create_model(
        "Campaign",
        __base__=Campaign,
        __doc__=Campaign.__doc__,
        benchmarks=(Annotated[tuple[allowed, ...], AfterValidator(once_each)], (*names[:1],)),
        catalogue=(catalogue, catalogue()),
        **sections,
    )


def read_anew() -> None:
    """Clear the caches of papers, so that declarations are read again."""
    for cached in (registry.registered, registry.benchmarks, registry.exhibits, campaign_model):
        cached.cache_clear()


def declare(folders: Sequence[Path]) -> None:
    """Register the benchmarks in ``folders``, for this process and the jobs that it starts.

    They replace others of the same names. Raises UserError for one that cannot be used, and for two
    of one name.
    """
    # Relative paths are looked up in the current directory, then in the repository.
    paths = (path.expanduser() for path in folders)
    existing = [p if p.exists() or not (REPOSITORY / p).exists() else REPOSITORY / p for p in paths]
    resolved = [str(path.resolve()) for path in existing]
    names = [path.rpartition("/")[2] for path in resolved]
    if len({*names}) < len({*resolved}):
        raise UserError(f"{', '.join(resolved)}: expected folders of different names; rename one.")
    before = os.environ.get(registry.FOLDERS, "")
    after = os.pathsep.join(dict.fromkeys(filter(None, (*resolved, *before.split(os.pathsep)))))
    if after == before:
        return
    os.environ[registry.FOLDERS] = after
    read_anew()
    try:
        for name in names:
            registry.check_usable(name)
    except UserError:
        os.environ[registry.FOLDERS] = before
        read_anew()
        raise


def named_folder(text: str) -> Path | None:
    """Return the folder of a declared benchmark that text names by a path; None for a name.

    The path is that of the folder or of the declaration in it. NAME means the benchmark of that
    name, ./NAME the folder.
    """
    path = Path(text).expanduser()
    path = path.parent if path.name == DECLARATION else path
    is_path = "/" in text or text == DECLARATION or (path / DECLARATION).is_file()
    return path.resolve() if is_path and text not in registry.benchmarks() else None


def _texts(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def check_campaign(settings: dict[str, Any], source: str) -> Campaign:
    """Register the declared benchmarks, validate ``settings``, and return the campaign.

    Paths of tables that exist only in the repository become absolute, and ``models`` contains
    ``own_models``. ``source`` is the file's name for messages.

    Raises UserError with one line for each problem: file, key, value, expectation.
    """
    declare([*map(Path, _texts(settings.get("declared")))])
    named = {*_texts(settings.get("benchmarks"))} - registry.benchmarks().keys()
    keys = {key for key in settings if isinstance(key, str)}
    sections = keys - registry.papers().keys() - Campaign.model_fields.keys()
    for name in sorted(named | sections):
        registry.check_usable(name)
    campaign = validated(campaign_model(), settings, source)
    campaign = campaign.model_copy(update={"catalogue": placed(campaign.catalogue)})
    for paper in registry.papers().values():
        position = source
        try:
            for key, methods in paper.method_settings(campaign).items():
                position = f"{source}: key {key!r}"
                for method in methods:
                    find_method(method)
            position = source
            paper.check_settings(campaign)
        except UserError as error:
            raise UserError(f"{position}: {error}") from error
    corpora = campaign.training.corpora
    for name, recipe in campaign.training.recipes.items():
        corpus = getattr(recipe, "corpus", None)
        if corpus is not None and corpus not in corpora:
            raise UserError(
                f"{source}: key 'training.recipes.{name}.corpus' is {corpus!r}, which "
                f"training.corpora lacks (it has: {', '.join(corpora)}); add it there, "
                "or correct the name."
            )
    specs = registry.exhibits().values()
    targets = {target for spec in specs for target in (spec.alias, spec.published_alias)}
    if unknown := sorted({*campaign.omitted} - targets):
        raise UserError(
            f"{source}: key 'omitted' names {unknown[0]!r}, which is no exhibit's target; expected "
            "one of docs/exhibits.md, with _published for the form of printed numbers."
        )
    if campaign.models == "all":
        return campaign
    models = (*dict.fromkeys((*campaign.models, *campaign.own_models)),)
    return campaign.model_copy(update={"models": models})


def placed(files: CatalogueFiles) -> CatalogueFiles:
    """Replace tables that the current directory lacks by those of the repository.

    The workflow can therefore run in any directory, which may have other tables.
    """
    absent = {name: path for name, path in files if not path.exists()}
    update = {n: REPOSITORY / path for n, path in absent.items() if (REPOSITORY / path).exists()}
    return files.model_copy(update=update)


def check_files(files: Sequence[str]) -> None:
    """Check campaign files that Snakemake has read, except missing ones and JSON.

    Of a repeated key, Snakemake takes the last value without a message. Raises UserError for that,
    and as ``read_settings``.
    """
    for path in map(Path, files):
        if path.suffix != ".json" and path.is_file():
            read_settings(path, "campaign file")


def load_campaign(path: Path) -> Campaign:
    """Read and validate a campaign file. Raises UserError when it is missing or wrong."""
    return check_campaign(read_settings(path, "campaign file"), str(path))


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


def _describe(schema: dict[str, Any], model: type) -> None:
    for base in model.__mro__:
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


def render_schema(model: type[BaseModel]) -> str:
    """Return the JSON Schema of a model as text, with docstrings of fields as descriptions."""
    schema = model.model_json_schema()
    _describe(schema, model)
    nested = {inner.__name__: inner for inner in _nested(model)}
    for name, inner in schema.get("$defs", {}).items():
        if "properties" in inner:
            _describe(inner, nested[name])
    if issubclass(model, Campaign):
        # Declared benchmarks, which a campaign may name, are not among those of the package.
        options = DeclaredOptions.model_json_schema()
        _describe(options, DeclaredOptions)
        schema["$defs"]["DeclaredOptions"] = options
        schema["additionalProperties"] = {"$ref": "#/$defs/DeclaredOptions"}
        of_package = schema["properties"]["benchmarks"]["items"]
        declared = {"type": "string", "pattern": "^[a-z][a-z0-9_]*$"}
        schema["properties"]["benchmarks"]["items"] = {"anyOf": [of_package, declared]}
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def schema_files(directory: Path) -> dict[Path, str]:
    """Return the text of each schema file of ``directory``."""
    from blimpworks.campaign.settings.site import Site

    declaration: Any = registry.load("blimpworks.benchmarks.declaration:Declaration")
    models: dict[str, type[BaseModel]] = {
        "campaign": campaign_model(with_declared=False),
        "benchmark": declaration,
        "site": Site,
        "languages": LanguageRow,
        "treebanks": TreebankRow,
        "sources": SourceRow,
        "models": ModelRow,
    }
    return {directory / f"{n}.schema.json": render_schema(model) for n, model in models.items()}


def write_schemas(directory: Path) -> None:
    """Write all schema files into ``directory``."""
    for path, text in schema_files(directory).items():
        write_text(path, text)


def drifted(directory: Path) -> list[Path]:
    """Return schema files of ``directory`` that are missing or differ from the models."""
    texts = schema_files(directory)
    return [p for p, text in texts.items() if not p.is_file() or p.read_text("utf-8") != text]
