"""Read and check campaign files, and write the JSON Schemas of campaigns and their tables.

``load_campaign(path)`` returns a ``Campaign``. A campaign file is YAML with the settings of
``Campaign`` and a section for each paper. It may name folders of benchmarks that are declared as
data; these are registered before the file is checked::

    benchmarks: [mine]
    declared: [benchmarks/mine]
    mine: {variant: corrected}
"""

import ast
import inspect
import json
import os
import sys
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from pkgutil import resolve_name
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field, create_model

from blimpworks.campaign import registry
from blimpworks.campaign.catalogue import LanguageRow, ModelRow, SourceRow, TreebankRow
from blimpworks.campaign.methods import find_method
from blimpworks.campaign.settings.base import (
    DeclaredOptions,
    distinct,
    read_settings,
    sections,
    validated,
)
from blimpworks.campaign.settings.campaign import Campaign, CatalogueFiles
from blimpworks.errors import UserError
from blimpworks.records.job import REPOSITORY

DECLARATION = "benchmark.yaml"
"""Name of the file that declares a benchmark; the folder has the benchmark's name."""


@cache
def campaign_model(*, with_declared: bool = True) -> type[Campaign]:
    """Return the pydantic model of a campaign: ``Campaign`` and the settings of all papers.

    ``with_declared``: include the settings of benchmarks that are declared as data.
    """
    # Fields for pydantic: {name: (type, default or Field)}. By default, the first benchmark is run.
    paper_sections: dict[str, Any] = {}
    data_folders: dict[str, Any] = {}
    names: list[str] = []
    for name, paper in registry.papers().items():
        if with_declared or not issubclass(paper.settings, DeclaredOptions):
            paper_sections[name] = (paper.settings, paper.settings())
            names += [benchmark.name for benchmark in paper.benchmarks]
            for folder, (path, text) in paper.folders.items():
                data_folders[folder] = (Path, Field(default=path, description=text))
    catalogue = create_model(
        "CatalogueFiles", __base__=CatalogueFiles, __doc__=CatalogueFiles.__doc__, **data_folders
    )
    allowed: Any = Literal[*names]
    return create_model(
        "Campaign",
        __base__=Campaign,
        __doc__=Campaign.__doc__,
        benchmarks=(Annotated[tuple[allowed, ...], AfterValidator(distinct)], (*names[:1],)),
        catalogue=(catalogue, catalogue()),
        **paper_sections,
    )


def read_anew() -> None:
    """Clear the caches of papers, so that the next call reads declared benchmarks again."""
    for cached in (registry.registered, registry.benchmarks, registry.exhibits, campaign_model):
        cached.cache_clear()


def declare(folders: Sequence[Path]) -> None:
    """Register the benchmarks in ``folders``, for this process and the jobs that it starts.

    They replace declared benchmarks of the same names. Raises UserError, and registers none, if
    one cannot be used or two folders have the same name.
    """
    # Relative paths are looked up in the current directory, then in the repository.
    paths = (path.expanduser() for path in folders)
    existing = [p if p.exists() or not (REPOSITORY / p).exists() else REPOSITORY / p for p in paths]
    resolved = [str(path.resolve()) for path in existing]
    names = [path.rpartition("/")[2] for path in resolved]
    if len({*names}) < len({*resolved}):  # two folders have one name
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
    """Return the folder of a declared benchmark if ``text`` is a path; None if it is a name.

    ``./mine`` and ``mine/benchmark.yaml`` are paths, ``mine`` is the name of a benchmark.
    """
    path = Path(text).expanduser()
    path = path.parent if path.name == DECLARATION else path
    is_path = "/" in text or text == DECLARATION or (path / DECLARATION).is_file()
    return path.resolve() if is_path and text not in registry.benchmarks() else None


def _texts_in(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def check_campaign(settings: dict[str, Any], source: str) -> Campaign:
    """Register the declared benchmarks, validate ``settings``, and return the campaign.

    In the result, paths of tables that exist only in the repository are absolute, and ``models``
    contains the names of ``own_models``. ``source`` is the file's name for messages. Raises
    UserError with one line for each problem: file, key, value, expectation.
    """
    declare([Path(folder) for folder in _texts_in(settings.get("declared"))])
    # pydantic would say that an unusable benchmark is unknown, so raise its own error first.
    unknown_benchmarks = {*_texts_in(settings.get("benchmarks"))} - registry.benchmarks().keys()
    keys = {key for key in settings if isinstance(key, str)}
    unknown_sections = keys - registry.papers().keys() - Campaign.model_fields.keys()
    for name in sorted(unknown_benchmarks | unknown_sections):
        registry.check_usable(name)
    campaign = validated(campaign_model(), settings, source)
    campaign = campaign.model_copy(update={"catalogue": with_repository_paths(campaign.catalogue)})
    # The checks below compare settings of several sections; a pydantic model sees one section.
    for paper in registry.papers().values():
        checked_key = source  # file and key, for the message
        try:
            for key, methods in paper.method_settings(campaign).items():
                checked_key = f"{source}: key {key!r}"
                for method in methods:
                    find_method(method)
            checked_key = source
            paper.check_settings(campaign)
        except UserError as error:
            raise UserError(f"{checked_key}: {error}") from error
    corpora = campaign.training.corpora
    for name, recipe in campaign.training.recipes.items():
        corpus = getattr(recipe, "corpus", None)
        if corpus is not None and corpus not in corpora:
            raise UserError(
                f"{source}: key 'training.recipes.{name}.corpus' is {corpus!r}, which "
                f"training.corpora lacks (it has: {', '.join(corpora)}); add it there, or correct "
                "the name."
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


def with_repository_paths(files: CatalogueFiles) -> CatalogueFiles:
    """Return the paths of tables; one that is missing here is taken from the repository."""
    update = {}
    for name, path in files:
        if not path.exists() and (REPOSITORY / path).exists():
            update[name] = REPOSITORY / path
    return files.model_copy(update=update)


def check_files(files: Sequence[str]) -> None:
    """Check YAML files again, as Snakemake accepts repeated keys. Raises UserError for them."""
    for path in map(Path, files):
        if path.suffix != ".json" and path.is_file():
            read_settings(path, "campaign file")


def load_campaign(path: Path) -> Campaign:
    """Read and validate a campaign file. Raises UserError when it is missing or wrong."""
    return check_campaign(read_settings(path, "campaign file"), str(path))


@cache
def _field_docstrings(module: str) -> dict[str, dict[str, str]]:
    """Return {class: {field: string below it}} of a module, from its source."""
    docstrings: dict[str, dict[str, str]] = {}
    # A string directly below a field (an annotated assignment to a name) is its docstring.
    for node in ast.parse(inspect.getsource(sys.modules[module])).body:
        if isinstance(node, ast.ClassDef):
            fields = docstrings.setdefault(node.name, {})
            for statement, below in pairwise(node.body):
                match statement, below:
                    case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(
                        value=ast.Constant(value=str(text))
                    ):
                        fields[name] = inspect.cleandoc(text)
    return docstrings


def _describe(schema: dict[str, Any], model: type) -> None:
    for base in model.__mro__:  # a field may be inherited
        if base.__module__.startswith("blimpworks."):
            for name, text in _field_docstrings(base.__module__).get(base.__name__, {}).items():
                schema["properties"][name].setdefault("description", text)


def render_schema(model: type[BaseModel]) -> str:
    """Return the JSON Schema of a model as text, with docstrings of fields as descriptions."""
    schema = model.model_json_schema()
    _describe(schema, model)
    models_by_name = {inner.__name__: inner for _, inner in sections(model)}
    for name, definition in schema.get("$defs", {}).items():
        if "properties" in definition:
            _describe(definition, models_by_name[name])
    if issubclass(model, Campaign):
        # A campaign may name declared benchmarks, which the package does not have.
        options = DeclaredOptions.model_json_schema()
        _describe(options, DeclaredOptions)
        schema["$defs"]["DeclaredOptions"] = options
        schema["additionalProperties"] = {"$ref": "#/$defs/DeclaredOptions"}
        names_in_package = schema["properties"]["benchmarks"]["items"]
        any_name = {"type": "string", "pattern": "^[a-z][a-z0-9_]*$"}
        schema["properties"]["benchmarks"]["items"] = {"anyOf": [names_in_package, any_name]}
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def schema_files(directory: Path) -> dict[Path, str]:
    """Return {path in ``directory``: JSON Schema} of campaigns and all their tables."""
    from blimpworks.campaign.settings.site import Site

    declaration: Any = resolve_name("blimpworks.benchmarks.declaration:Declaration")
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


def outdated_schemas(directory: Path) -> list[Path]:
    """Return the schema files that are missing in ``directory`` or differ from the models."""
    texts = schema_files(directory)
    return [p for p, text in texts.items() if not p.is_file() or p.read_text("utf-8") != text]
