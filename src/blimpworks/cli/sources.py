"""Define commands that retrieve models, read treebanks, write schemas, and run other commands."""

import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from blimpworks.campaign.settings.base import TreebankOptions
from blimpworks.commands.declare import AUTHOR, READ, UNRECORDED, WITH_FOLDER, Use, command
from blimpworks.commands.options import argument, option, settings, written

SCHEMAS = Path("workflow/schemas")


@command(
    recorded="blimpworks.models.retrieve:retrieve_model", packages=("huggingface_hub", "hf_xet")
)
def retrieve_model(
    name: str = option("Row of the catalogue of models."),
    scope: str = option("ISO 639-3 code, or multi."),
    hf_id: str = option("Owner and name on the hub."),
    revision: str = option("Branch, tag or commit."),
    architecture: str = option("Such as causal or masked."),
    dtype: str = option("Number format that it is run in."),
    first_token: str = option("What conditions the first token."),
    output: Path = option("checkpoint.json; the files go beside it.", use=WITH_FOLDER),
    state: str = option(
        "Digest of the files of a model in a directory.", default="", use=UNRECORDED
    ),
    commit: str = option(
        "Commit that was accepted in place of one that was locked.", default="", use=UNRECORDED
    ),
    shared: str = option(
        "Cache of models that many read.", default="", envvar="BLIMPWORKS_CACHE", use=UNRECORDED
    ),
    tables: str = option(
        "Tables of models (PATH:PATH); commits are locked beside the first.",
        default="",
        envvar="BLIMPWORKS_MODELS",
        use=UNRECORDED,
    ),
) -> Mapping[str, Any]:
    """Download a model from the Hugging Face hub and seal it as a checkpoint."""
    from blimpworks.models import retrieve as library

    model = library.HubModel(name, scope, architecture, dtype, first_token, hf_id, revision)
    catalogues = [Path(table) for table in tables.split(os.pathsep) if table]
    sealed = library.retrieve_model(model, output, Path(shared) if shared else None, catalogues)
    return {"source": sealed.source.model_dump(), "files": len(sealed.files)}


@command(panel=AUTHOR, example="convert-weights ./pickled ./safetensors")
def convert_weights(
    folder: Path = argument("Directory of a model with pickled weights."),
    output: Path = argument("Directory to write, a new one."),
) -> None:
    """Write a model with safetensors in place of pickled weights."""
    from blimpworks.models.convert import convert_weights as convert

    typer.echo(f"{output}: {convert(folder, output)} tensors")


def _treebanks(files: Sequence[Path]) -> list[str]:
    return [path.absolute().parent.name for path in files]


@command(
    recorded="blimpworks.linguistics.treebanks:build_tokens",
    packages=("conllu", "pyarrow"),
    pandas=False,
)
def build_tokens(
    files: list[Path] = argument(
        "CoNLL-U files of one language; the directory of each names its treebank.",
        metavar="FILE...",
        use=Use(reads=READ.reads, records=lambda _, files: {"treebanks": _treebanks(files)}),
    ),
    tokens: Path = written("The tokens table to write."),
    sentences: Path = written("The sentences table to write."),
    malformed: Path = written("The report to write of sentences left out."),
    options: TreebankOptions = settings(
        TreebankOptions, "The treebanks section of a campaign, as JSON."
    ),
) -> Mapping[str, Any]:
    """Read the treebanks of a language into tables of tokens and sentences."""
    from blimpworks.linguistics.treebanks import build_tokens as build

    named = [*zip(_treebanks(files), files, strict=True)]
    counts = build(named, tokens, sentences, malformed, options)
    logging.info("build-tokens: %s", ", ".join(f"{n} {noun}" for noun, n in counts.items()))
    return counts


@command(panel=AUTHOR, example="schemas")
def schemas(
    check: bool = option("Only compare; exit 1 on drift.", "--check", default=False),
) -> None:
    """Write the JSON Schemas of campaigns and catalogues to workflow/schemas."""
    from blimpworks.campaign.schemas import drifted, write_schemas

    if not check:
        write_schemas(SCHEMAS)
        return
    stale = drifted(SCHEMAS)
    for path in stale:
        typer.echo(f"{path} is not what the models say; run `blimpworks schemas`.", err=True)
    raise typer.Exit(1 if stale else 0)
