"""Reading a campaign: the core's settings, with a section for each paper."""

import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, create_model

from blimpworks.campaign.exhibits import exhibits
from blimpworks.campaign.methods import find_method
from blimpworks.campaign.registry import FOLDERS, benchmarks, check_usable, papers, registered
from blimpworks.campaign.settings.base import DeclaredOptions
from blimpworks.campaign.settings.campaign import Campaign, CatalogueFiles, once_each
from blimpworks.campaign.settings.parsing import read_settings, validated
from blimpworks.errors import UserError
from blimpworks.records.job import REPOSITORY

DECLARATION = "benchmark.yaml"
"""File of a declared benchmark, in a folder of its name."""


@cache
def campaign_model(*, with_declared: bool = True) -> type[Campaign]:
    """Return the model of a campaign with sections and folders of all papers.

    ``with_declared``: also of benchmarks that are declared as data.
    """
    known_papers = {
        name: paper
        for name, paper in papers().items()
        if with_declared or not issubclass(paper.settings, DeclaredOptions)
    }
    folders: dict[str, Any] = {
        name: (Path, Field(default=path, description=text))
        for paper in known_papers.values()
        for name, (path, text) in paper.folders.items()
    }
    catalogue = create_model(
        "CatalogueFiles", __base__=CatalogueFiles, __doc__=CatalogueFiles.__doc__, **folders
    )
    sections: dict[str, Any] = {n: (p.settings, p.settings()) for n, p in known_papers.items()}
    names = tuple(b.name for paper in known_papers.values() for b in paper.benchmarks)
    allowed: Any = Literal[names]
    return create_model(
        "Campaign",
        __base__=Campaign,
        __doc__=Campaign.__doc__,
        benchmarks=(Annotated[tuple[allowed, ...], AfterValidator(once_each)], names[:1]),
        catalogue=(catalogue, catalogue()),
        **sections,
    )


def read_anew() -> None:
    """Clear the caches of papers, so that declarations are read again."""
    for cached in (registered, benchmarks, exhibits, campaign_model):
        cached.cache_clear()


def declare(folders: Sequence[Path]) -> None:
    """Register the benchmarks in some folders, for this process and jobs that it starts.

    They precede others of the same names. Raises UserError for one that cannot be used, and for two
    of one name.
    """
    # Relative paths are looked up in the current directory, then in the repository.
    paths = (path.expanduser() for path in folders)
    existing = [p if p.exists() or not (REPOSITORY / p).exists() else REPOSITORY / p for p in paths]
    resolved = [str(path.resolve()) for path in existing]
    names = [path.rpartition("/")[2] for path in resolved]
    if len({*names}) < len({*resolved}):
        raise UserError(f"{', '.join(resolved)}: expected folders of different names; rename one.")
    before = os.environ.get(FOLDERS, "")
    after = os.pathsep.join(dict.fromkeys(filter(None, (*resolved, *before.split(os.pathsep)))))
    if after == before:
        return
    os.environ[FOLDERS] = after
    read_anew()
    try:
        for name in names:
            check_usable(name)
    except UserError:
        os.environ[FOLDERS] = before
        read_anew()
        raise


def named_folder(text: str) -> Path | None:
    """Return the folder of a declaration that a text names by a path; None for a benchmark's name.

    The path is the folder's or the declaration's. NAME means the benchmark, ./NAME the folder.
    """
    path = Path(text).expanduser()
    path = path.parent if path.name == DECLARATION else path
    is_path = "/" in text or text == DECLARATION or (path / DECLARATION).is_file()
    return path.resolve() if is_path and text not in benchmarks() else None


def _texts(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def check_campaign(settings: dict[str, Any], source: str) -> Campaign:
    """Register the declared benchmarks, validate ``settings``, and return the campaign.

    Its paths are found and its models listed. ``source`` is a file's name, for messages.

    Raises UserError with one line per problem: file, key, value, expectation.
    """
    declare([*map(Path, _texts(settings.get("declared")))])
    named = {*_texts(settings.get("benchmarks"))} - benchmarks().keys()
    keys = {key for key in settings if isinstance(key, str)}
    sections = keys - papers().keys() - Campaign.model_fields.keys()
    for name in sorted(named | sections):
        check_usable(name)
    campaign = validated(campaign_model(), settings, source)
    campaign = campaign.model_copy(update={"catalogue": placed(campaign.catalogue)})
    for paper in papers().values():
        place = source
        try:
            for key, methods in paper.method_settings(campaign).items():
                place = f"{source}: key {key!r}"
                for method in methods:
                    find_method(method)
            place = source
            paper.check_settings(campaign)
        except UserError as error:
            raise UserError(f"{place}: {error}") from error
    corpora = campaign.training.corpora
    for name, recipe in campaign.training.recipes.items():
        corpus = getattr(recipe, "corpus", None)
        if corpus is not None and corpus not in corpora:
            raise UserError(
                f"{source}: key 'training.recipes.{name}.corpus' is {corpus!r}, which "
                f"training.corpora lacks (it has: {', '.join(corpora)}); add it there, "
                "or correct the name."
            )
    targets = {t for spec in exhibits().values() for t in (spec.alias, spec.published_alias)}
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
    """Replace files that the current directory lacks by those of the repository.

    So the workflow runs in any directory, and a campaign can have tables of its own there.
    """
    absent = {name: path for name, path in files if not path.exists()}
    update = {n: REPOSITORY / path for n, path in absent.items() if (REPOSITORY / path).exists()}
    return files.model_copy(update=update)


def check_files(files: Sequence[str]) -> None:
    """Check campaign files that Snakemake has read.

    Snakemake takes the last of repeated keys without a message. Raises UserError for that, and as
    ``read_settings``. Missing files and JSON are not checked.
    """
    for path in map(Path, files):
        if path.suffix != ".json" and path.is_file():
            read_settings(path, "campaign file")


def load_campaign(path: Path) -> Campaign:
    """Read and validate a campaign file. Raises UserError when it is missing or wrong."""
    return check_campaign(read_settings(path, "campaign file"), str(path))
