"""Verbs that bring files in, pin them, and write the settings' schemas."""

from pathlib import Path
from typing import Annotated

import typer

from blimpworks.errors import UserError
from blimpworks.models.checkpoint import FirstToken
from blimpworks.records.job import Job

SCHEMAS = Path("workflow/schemas")


def retrieve(
    name: Annotated[str, typer.Option(help="Row of the catalogue.")],
    url: Annotated[str, typer.Option(help="Address of the file.")],
    sha256: Annotated[str, typer.Option(help="Expected checksum of the uncompressed file.")],
    size: Annotated[str, typer.Option("--bytes", help="Expected size; '' if unknown.")],
    mirror_path: Annotated[str, typer.Option(help="Path below the mirror, without .xz.")],
    output: Annotated[Path, typer.Option(help="File to write.")],
    catalogue: Annotated[str, typer.Option(help="File with the row, for messages.")] = "",
    mirror: Annotated[
        str, typer.Option(envvar="BLIMPWORKS_MIRROR", help="Directory looked into first.")
    ] = "",
) -> None:
    """Copy one pinned file from the mirror, or download it, and verify it."""
    from blimpworks.retrieval import sources

    pin = sources.Pin(name, url, sha256, _size(size), mirror_path, catalogue)
    params = {
        "name": name,
        "url": url,
        "sha256": sha256,
        "bytes": pin.bytes,
        "mirror_path": mirror_path,
    }
    with Job("retrieve", inputs=[], outputs=[output], params=params) as job:
        job.note(origin=sources.retrieve(pin, output, Path(mirror) if mirror else None))


def _size(text: str) -> int | None:
    if text and not text.isdecimal():
        raise UserError(f"--bytes is {text!r}, expected a whole number or nothing; correct it.")
    return int(text) if text else None


def pin(
    catalogue: Annotated[Path, typer.Argument(help="Table of sources or treebanks.")],
    names: Annotated[list[str] | None, typer.Argument(help="Rows to pin; all by default.")] = None,
) -> None:
    """Download rows that have no checksum and record their sha256 and bytes."""
    from blimpworks.retrieval.pinning import pin_row, unpinned_names

    for name in names or unpinned_names(catalogue):
        filled = pin_row(catalogue, name)
        typer.echo(f"{filled.name}\t{filled.sha256}\t{filled.bytes}")


def retrieve_model(
    name: Annotated[str, typer.Option(help="Row of the catalogue of models.")],
    scope: Annotated[str, typer.Option(help="ISO 639-3 code, or multi.")],
    hf_id: Annotated[str, typer.Option(help="Owner and name on the hub.")],
    revision: Annotated[str, typer.Option(help="Branch, tag or commit.")],
    architecture: Annotated[str, typer.Option(help="Such as causal or masked.")],
    dtype: Annotated[str, typer.Option(help="Number format that it is run in.")],
    first_token: Annotated[FirstToken, typer.Option(help="What conditions the first token.")],
    output: Annotated[Path, typer.Option(help="checkpoint.json; the files go beside it.")],
    shared: Annotated[
        str, typer.Option(envvar="BLIMPWORKS_CACHE", help="Cache of models that many read.")
    ] = "",
) -> None:
    """Download a model from the Hugging Face hub and seal it as a checkpoint."""
    from blimpworks.models.retrieve import Wanted
    from blimpworks.models.retrieve import retrieve_model as retrieve_from_hub

    params = {
        "name": name,
        "scope": scope,
        "hf_id": hf_id,
        "revision": revision,
        "architecture": architecture,
        "dtype": dtype,
        "first_token": first_token,
    }
    wanted = Wanted(name, scope, architecture, dtype, first_token, hf_id, revision)
    with Job("retrieve_model", inputs=[], outputs=[output, output.parent], params=params) as job:
        sealed = retrieve_from_hub(wanted, output, Path(shared) if shared else None)
        job.note(source=sealed.source.model_dump(), files=len(sealed.files))


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


def register(app: typer.Typer) -> None:
    """Add this module's verbs to the command."""
    for verb in (retrieve, pin, retrieve_model, schemas):
        app.command()(verb)
