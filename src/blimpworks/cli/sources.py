"""Commands that retrieve files, pin them, read treebanks, and write the schemas of settings."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from blimpworks.campaign.addresses import without_secrets
from blimpworks.campaign.settings.campaign import TreebankOptions
from blimpworks.commands.declare import (
    AUTHOR,
    READ,
    UNRECORDED,
    WITH_FOLDER,
    Use,
    command,
    recorded,
)
from blimpworks.commands.options import argument, option, settings, written
from blimpworks.errors import UserError
from blimpworks.models.checkpoint import FirstToken

SCHEMAS = Path("workflow/schemas")


def _size(text: str) -> int | None:
    if text and not text.isdecimal():
        raise UserError(f"--bytes is {text!r}, expected a whole number or nothing; correct it.")
    return int(text) if text else None


@recorded("blimpworks.retrieval.sources:retrieve", pandas=False)
def retrieve(
    name: str = option("Row of the catalogue."),
    url: str = option(
        "Address of the file.", use=Use(records=lambda name, url: {name: without_secrets(url)})
    ),
    sha256: str = option("Expected checksum of the uncompressed file."),
    size: str = option(
        "Expected size; '' if unknown.",
        "--bytes",
        use=Use(records=lambda _, text: {"bytes": _size(text)}),
    ),
    mirror_path: str = option("Path below the mirror, without .xz."),
    output: Path = written("File to write."),
    catalogue: str = option("File with the row, for messages.", default="", use=UNRECORDED),
    mirror: str = option(
        "Directory looked into first.", default="", envvar="BLIMPWORKS_MIRROR", use=UNRECORDED
    ),
) -> Mapping[str, Any]:
    """Copy one pinned file from the mirror, or download it, and verify it."""
    from blimpworks.retrieval import sources

    pin = sources.Pin(name, url, sha256, _size(size), mirror_path, catalogue)
    return {"origin": sources.retrieve(pin, output, Path(mirror) if mirror else None)}


@command(panel=AUTHOR, example="pin config/sources.tsv text/eng.txt")
def pin(
    catalogue: Path = argument("Table of sources or treebanks."),
    names: list[str] = argument("Rows to pin; all by default.", default=list),
    mirror: Path | None = option(
        "Directory with files of your own, by column mirror.", default=None
    ),
) -> None:
    """Record the sha256 and bytes of rows that have none: of a file of your own, or a download."""
    from blimpworks.retrieval.pinning import left_unpinned, pin_row, unpinned_names

    for name in names or unpinned_names(catalogue, mirror):
        filled = pin_row(catalogue, name, mirror=mirror)
        typer.echo(f"{filled.name}\t{filled.sha256}\t{filled.bytes}")
    left = left_unpinned(catalogue)
    if left and not names:
        typer.echo(
            f"without a checksum: {len(left)}, such as {left[0]}, whose address names no commit or "
            "version. Put one into the url; of a file of your own, write its place below the "
            "campaign's mirror into the column mirror, and name that directory with --mirror.",
            err=True,
        )


@recorded("blimpworks.models.retrieve:retrieve_model", packages=("huggingface_hub", "hf_xet"))
def retrieve_model(
    name: str = option("Row of the catalogue of models."),
    scope: str = option("ISO 639-3 code, or multi."),
    hf_id: str = option("Owner and name on the hub."),
    revision: str = option("Branch, tag or commit."),
    architecture: str = option("Such as causal or masked."),
    dtype: str = option("Number format that it is run in."),
    first_token: FirstToken = option("What conditions the first token."),
    output: Path = option("checkpoint.json; the files go beside it.", use=WITH_FOLDER),
    state: str = option(
        "Digest of the files of a model in a directory.", default="", use=UNRECORDED
    ),
    shared: str = option(
        "Cache of models that many read.", default="", envvar="BLIMPWORKS_CACHE", use=UNRECORDED
    ),
) -> Mapping[str, Any]:
    """Download a model from the Hugging Face hub and seal it as a checkpoint."""
    from blimpworks.models import retrieve as library

    model = library.HubModel(name, scope, architecture, dtype, first_token, hf_id, revision)
    sealed = library.retrieve_model(model, output, Path(shared) if shared else None)
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
    """Name of each file's treebank: its directory's."""
    return [path.absolute().parent.name for path in files]


@recorded(
    "blimpworks.linguistics.treebanks.build:build_tokens",
    packages=("conllu", "numpy", "pyarrow"),
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
    from blimpworks.linguistics.treebanks.build import build_tokens as build

    named = [*zip(_treebanks(files), files, strict=True)]
    counts = build(named, tokens, sentences, malformed, options)
    logging.info("build-tokens: %s", ", ".join(f"{n} {what}" for what, n in counts.items()))
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
