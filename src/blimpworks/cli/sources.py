"""Commands that bring files in, pin them, and write the settings' schemas."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from blimpworks.commands.declare import (
    UNRECORDED,
    WITH_FOLDER,
    WRITTEN,
    Use,
    command,
    recorded,
)
from blimpworks.errors import UserError
from blimpworks.models.checkpoint import FirstToken

SCHEMAS = Path("workflow/schemas")


def _size(text: str) -> int | None:
    if text and not text.isdecimal():
        raise UserError(f"--bytes is {text!r}, expected a whole number or nothing; correct it.")
    return int(text) if text else None


@recorded("blimpworks.retrieval.sources:retrieve", pandas=False)
def retrieve(
    name: Annotated[str, typer.Option(help="Row of the catalogue.")],
    url: Annotated[str, typer.Option(help="Address of the file.")],
    sha256: Annotated[str, typer.Option(help="Expected checksum of the uncompressed file.")],
    size: Annotated[
        str,
        typer.Option("--bytes", help="Expected size; '' if unknown."),
        Use(records=lambda _, text: {"bytes": _size(text)}),
    ],
    mirror_path: Annotated[str, typer.Option(help="Path below the mirror, without .xz.")],
    output: Annotated[Path, typer.Option(help="File to write."), WRITTEN],
    catalogue: Annotated[
        str, typer.Option(help="File with the row, for messages."), UNRECORDED
    ] = "",
    mirror: Annotated[
        str,
        typer.Option(envvar="BLIMPWORKS_MIRROR", help="Directory looked into first."),
        UNRECORDED,
    ] = "",
) -> Mapping[str, Any]:
    """Copy one pinned file from the mirror, or download it, and verify it."""
    from blimpworks.retrieval import sources

    pin = sources.Pin(name, url, sha256, _size(size), mirror_path, catalogue)
    return {"origin": sources.retrieve(pin, output, Path(mirror) if mirror else None)}


@command()
def pin(
    catalogue: Annotated[Path, typer.Argument(help="Table of sources or treebanks.")],
    names: Annotated[list[str] | None, typer.Argument(help="Rows to pin; all by default.")] = None,
) -> None:
    """Download rows that have no checksum and record their sha256 and bytes."""
    from blimpworks.retrieval.pinning import pin_row, unpinned_names

    for name in names or unpinned_names(catalogue):
        filled = pin_row(catalogue, name)
        typer.echo(f"{filled.name}\t{filled.sha256}\t{filled.bytes}")


@recorded("blimpworks.models.retrieve:retrieve_model", packages=("huggingface_hub", "hf_xet"))
def retrieve_model(
    name: Annotated[str, typer.Option(help="Row of the catalogue of models.")],
    scope: Annotated[str, typer.Option(help="ISO 639-3 code, or multi.")],
    hf_id: Annotated[str, typer.Option(help="Owner and name on the hub.")],
    revision: Annotated[str, typer.Option(help="Branch, tag or commit.")],
    architecture: Annotated[str, typer.Option(help="Such as causal or masked.")],
    dtype: Annotated[str, typer.Option(help="Number format that it is run in.")],
    first_token: Annotated[FirstToken, typer.Option(help="What conditions the first token.")],
    output: Annotated[
        Path, typer.Option(help="checkpoint.json; the files go beside it."), WITH_FOLDER
    ],
    shared: Annotated[
        str,
        typer.Option(envvar="BLIMPWORKS_CACHE", help="Cache of models that many read."),
        UNRECORDED,
    ] = "",
) -> Mapping[str, Any]:
    """Download a model from the Hugging Face hub and seal it as a checkpoint."""
    from blimpworks.models import retrieve as library

    model = library.Wanted(name, scope, architecture, dtype, first_token, hf_id, revision)
    sealed = library.retrieve_model(model, output, Path(shared) if shared else None)
    return {"source": sealed.source.model_dump(), "files": len(sealed.files)}


@command()
def schemas(
    check: Annotated[bool, typer.Option("--check", help="Only compare; exit 1 on drift.")] = False,
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
