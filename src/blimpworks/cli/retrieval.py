"""Define commands that retrieve and pin files and models.

With few imports: a campaign runs hundreds.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from blimpworks.campaign.addresses import without_secrets
from blimpworks.commands.declare import AUTHOR, REPRODUCE, UNRECORDED, WITH_FOLDER, Use, command
from blimpworks.commands.options import argument, option, written
from blimpworks.errors import UserError


def _size(text: str) -> int | None:
    if text and not text.isdecimal():
        raise UserError(f"--bytes is {text!r}, expected a whole number or nothing; correct it.")
    return int(text) if text else None


@command(recorded="blimpworks.retrieval.sources:retrieve", pandas=False)
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
    git_blob: str = option(
        "Expected id of the uncompressed file's content in git, without --sha256.",
        default="",
        use=Use(records=lambda name, text: {name: text} if text else {}),
    ),
    catalogue: str = option(
        "File with the row; beside it lies the table of what was retrieved.",
        default="",
        use=UNRECORDED,
    ),
    mirror: str = option(
        "Directory looked into first.", default="", envvar="BLIMPWORKS_MIRROR", use=UNRECORDED
    ),
    addresses: str = option(
        "Table of other addresses.", default="", envvar="BLIMPWORKS_ADDRESSES", use=UNRECORDED
    ),
) -> Mapping[str, Any]:
    """Copy one pinned file from the mirror, or download it, and verify it."""
    from blimpworks.retrieval import sources

    pin = sources.Pin(name, url, sha256, _size(size), mirror_path, catalogue, git_blob)
    table = Path(addresses) if addresses else None
    directory = Path(mirror) if mirror else None
    return {"origin": sources.retrieve(pin, output, directory, addresses=table)}


@command(panel=AUTHOR, example="pin config/sources.tsv text/eng.txt")
def pin(
    catalogue: Path = argument("Table of sources, treebanks or models."),
    names: list[str] = argument("Rows to pin; all by default.", default=list),
    mirror: Path | None = option(
        "Directory with files of your own, by column mirror.", default=None
    ),
) -> None:
    """Record the sha256 and bytes of rows that have none: of a file of your own, or a download.

    Of models: lock the commits that their branches and tags are now.
    """
    from blimpworks.campaign.table_files import headings

    if "hf_id" in headings(catalogue):
        from blimpworks.models.retrieve import pin_models

        for locked in pin_models(catalogue, names):
            typer.echo(f"{locked.hf_id}\t{locked.revision}\t{locked.commit}")
        return
    from blimpworks.retrieval.pinning import pin_row, pinnable_names, unpinnable_names

    for name in names or pinnable_names(catalogue, mirror):
        filled = pin_row(catalogue, name, mirror=mirror)
        typer.echo(f"{filled.name}\t{filled.sha256}\t{filled.bytes}")
    unpinned = unpinnable_names(catalogue)
    if unpinned and not names:
        typer.echo(
            f"without a checksum: {len(unpinned)}, such as {unpinned[0]}, whose address names no "
            "commit or version. Put one into the url; of a file of your own, write its place below "
            "the campaign's mirror into the column mirror, and name that directory with --mirror.",
            err=True,
        )


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
    from blimpworks.models.converted import convert_weights as convert

    typer.echo(f"{output}: {convert(folder, output)} tensors")


@command(panel=REPRODUCE, example="fetch-archive ud-2.15 mirror")
def fetch_archive(
    name: str = argument("Row of the table of archives."),
    directory: Path = argument("Mirror directory to fill."),
    file: Path | None = option("A copy of the archive; downloaded by default.", default=None),
    catalogue: Path = option("Table of treebanks.", default=Path("config/treebanks.tsv")),
    archives: Path = option("Table of archives.", default=Path("config/archives.tsv")),
) -> None:
    """Fill a mirror directory with many pinned files by one download: all treebanks of UD.

    Only files that the catalogue pins are taken, each if it has its checksum. Name the directory as
    the campaign's mirror.
    """
    from blimpworks.campaign.catalogue import TreebankRow
    from blimpworks.campaign.table_files import read_rows
    from blimpworks.retrieval.pinning import ArchiveRow, pins_of
    from blimpworks.retrieval.pinning import fetch_archive as fetch

    rows = {row.name: row for row in read_rows(ArchiveRow, archives)}
    if name not in rows:
        raise UserError(f"{archives} has no archive {name!r}; it has: {', '.join(rows)}.")
    pins = pins_of(read_rows(TreebankRow, catalogue), catalogue)
    outcome = fetch(rows[name], pins, directory, file)
    typer.echo(f"{len(outcome.taken)} files taken, {len(outcome.present)} were there")
    for problem in outcome.differing:
        typer.echo(f"not taken: {problem}", err=True)
    for absent in outcome.absent:
        typer.echo(f"not in the archive: {absent}", err=True)
