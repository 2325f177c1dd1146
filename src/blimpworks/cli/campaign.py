"""Define commands that retrieve a campaign's files and models, and report its plan and progress.

Imports at the top are few, because a campaign runs hundreds of retrievals, each in a process.
"""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from blimpworks.campaign.addresses import without_secrets
from blimpworks.commands.declare import AUTHOR, REPRODUCE, UNRECORDED, WITH_FOLDER, Use, command
from blimpworks.commands.options import argument, option, written
from blimpworks.commands.shared import JSON, RECORDED_IF_GIVEN
from blimpworks.errors import UserError, find
from blimpworks.files import write_text

if TYPE_CHECKING:
    from blimpworks.campaign.scoring_jobs import CampaignSelection


def _parse_size(text: str) -> int | None:
    if text and not text.isdecimal():
        raise UserError(f"--bytes is {text!r}, expected a whole number or nothing; correct it.")
    return int(text) if text else None


@command(recorded="blimpworks.retrieval.sources:retrieve", pandas=False)
def retrieve(
    name: str = option("Row of the catalogue."),
    url: str = option(
        "Address of the file.",
        use=Use(parameters_from=lambda name, url: {name: without_secrets(url)}),
    ),
    sha256: str = option("Expected checksum of the uncompressed file."),
    size: str = option(
        "Expected size; '' if unknown.",
        "--bytes",
        use=Use(parameters_from=lambda _, text: {"bytes": _parse_size(text)}),
    ),
    mirror_path: str = option("Path below the mirror, without .xz."),
    output: Path = written("File to write."),
    git_blob: str = option(
        "Git's id of the content, in place of --sha256.", default="", use=RECORDED_IF_GIVEN
    ),
    catalogue: str = option(
        "Table with the row; its lock file is beside it.", default="", use=UNRECORDED
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

    pin = sources.Pin(name, url, sha256, _parse_size(size), mirror_path, catalogue, git_blob)
    table = Path(addresses) if addresses else None
    directory = Path(mirror) if mirror else None
    return {"origin": sources.retrieve(pin, output, directory, addresses=table)}


@command(panel=AUTHOR, example="pin config/sources.tsv text/eng.txt")
def pin(
    catalogue: Path = argument("Table of sources, treebanks or models."),
    names: list[str] = argument("Names of rows to pin; all by default.", default=list),
    mirror: Path | None = option(
        "Directory with your files, at the paths of the table's column mirror."
    ),
) -> None:
    """Fill in missing checksums and sizes of rows, from your files or by download.

    For models, record the commit to which each branch or tag points now.
    """
    from blimpworks.campaign.table_files import headings

    if "hf_id" in headings(catalogue):
        from blimpworks.models.retrieve import pin_models

        for locked in pin_models(catalogue, names):
            typer.echo(f"{locked.hf_id}\t{locked.revision}\t{locked.commit}")
        return
    from blimpworks.retrieval.pinning import pin_row, unpinned_names

    unpinned = {} if names else unpinned_names(catalogue, mirror)
    for name in names or [name for name, is_pinnable in unpinned.items() if is_pinnable]:
        filled = pin_row(catalogue, name, mirror=mirror)
        typer.echo(f"{filled.name}\t{filled.sha256}\t{filled.bytes}")
    if unpinnable := [name for name, is_pinnable in unpinned.items() if not is_pinnable]:
        typer.echo(
            f"without a checksum: {len(unpinnable)}, such as {unpinnable[0]}, whose address "
            "names no commit or version. Put one into the url. For a file of your own, write its "
            "path in the mirror into the column mirror, and name the mirror with --mirror.",
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
    architecture: str = option("Architecture, such as causal or masked."),
    dtype: str = option("Number format in which the model is run."),
    first_token: str = option("Start of texts: a policy, or the token before them."),
    output: Path = option("checkpoint.json; the files go beside it.", use=WITH_FOLDER),
    state: str = option(
        "Digest of the files of a model in a directory.", default="", use=UNRECORDED
    ),
    commit: str = option(
        "Accepted commit, in place of the locked one.", default="", use=UNRECORDED
    ),
    shared: str = option(
        "Shared cache of models.", default="", envvar="BLIMPWORKS_CACHE", use=UNRECORDED
    ),
    tables: str = option(
        "Tables of models (PATH:PATH); commits are locked beside the first.",
        default="",
        envvar="BLIMPWORKS_MODELS",
        use=UNRECORDED,
    ),
    run_model_code: list[str] = option(
        "Digest of model code that may run; repeatable.", default=list, use=RECORDED_IF_GIVEN
    ),
) -> Mapping[str, Any]:
    """Download a model from the Hugging Face hub and seal it as a checkpoint."""
    from blimpworks.models import retrieve as library
    from blimpworks.models.checkpoint import Description
    from blimpworks.models.hub import HubAddress

    description = Description(
        name=name, scope=scope, architecture=architecture, dtype=dtype, first_token=first_token
    )
    catalogues = [Path(table) for table in tables.split(os.pathsep) if table]
    model, cache = HubAddress(hf_id, revision), Path(shared) if shared else None
    sealed = library.retrieve_model(model, description, output, cache, catalogues, run_model_code)
    return {"source": sealed.source.model_dump(), "files": len(sealed.files)}


@command(panel=AUTHOR, example="convert-weights ./pickled ./safetensors")
def convert_weights(
    folder: Path = argument("Directory of a model with pickled weights."),
    output: Path = argument("New directory to write."),
) -> None:
    """Write a model with safetensors in place of pickled weights."""
    from blimpworks.models.pickled import convert_weights as convert

    typer.echo(f"{output}: {convert(folder, output)} tensors")


@command(panel=REPRODUCE, example="fetch-archive ud-2.15 mirror")
def fetch_archive(
    name: str = argument("Row of the table of archives."),
    directory: Path = argument("Mirror directory to fill."),
    file: Path | None = option("Copy of the archive; by default it is downloaded."),
    catalogue: Path = option("Table of treebanks.", default=Path("config/treebanks.tsv")),
    archives: Path = option("Table of archives.", default=Path("config/archives.tsv")),
) -> None:
    """Fill a mirror directory with the files of one archive, such as all treebanks of UD.

    Only files that the catalogue pins are taken, and only with the pinned checksum. Name the
    directory as the campaign's mirror.
    """
    from blimpworks.campaign.catalogue import TreebankRow
    from blimpworks.campaign.table_files import read_rows
    from blimpworks.retrieval.pinning import ArchiveRow, pins_of
    from blimpworks.retrieval.pinning import fetch_archive as fetch

    rows = {row.name: row for row in read_rows(ArchiveRow, archives)}
    pins = pins_of(read_rows(TreebankRow, catalogue), catalogue)
    outcome = fetch(find(rows, name, f"{archives}: archive"), pins, directory, file)
    typer.echo(f"{len(outcome.taken)} files taken, {len(outcome.present)} were there")
    for problem in outcome.differing:
        typer.echo(f"not taken: {problem}", err=True)
    for absent in outcome.absent:
        typer.echo(f"not in the archive: {absent}", err=True)


CONFIG = option("Campaign file.", default=Path("config/config.yaml"))
SCHEMAS = Path("workflow/schemas")


def _read_campaign(configfile: Path) -> "CampaignSelection":
    """Read a campaign and its catalogue. Raises UserError for missing or malformed files."""
    from blimpworks.campaign.load import load_campaign
    from blimpworks.campaign.scoring_jobs import CampaignSelection

    selection = CampaignSelection.of(load_campaign(configfile))
    selection.check_runs()
    return selection


@command(panel=REPRODUCE, example="status --configfile config/demo/config.yaml")
def status(
    configfile: Path = CONFIG,
    model: str | None = option("Show this model's languages."),
    watch: float | None = option("Repeat the report at this interval, in seconds.", min=1),
    json: bool = JSON,
) -> None:
    """Show a campaign's progress: stages, models, languages, running and failed jobs."""
    if watch and json:
        raise UserError("--watch and --json exclude each other; choose one.")
    from blimpworks.cluster import status_text
    from blimpworks.cluster.slurm import read_queue
    from blimpworks.cluster.status import read_status
    from blimpworks.cluster.text import terminal_width

    try:
        while True:
            selection = _read_campaign(configfile)
            queue = read_queue((job.title, job.name) for job in selection.jobs)
            progress = read_status(selection, queue)
            if json:
                text = status_text.as_json(progress)
            elif model:
                models = {row.model: row for row in progress.models}
                chosen = find(models, model, f"campaign {progress.campaign!r}: model")
                text = status_text.languages_text(chosen, terminal_width())
            else:
                text = status_text.as_text(progress, str(configfile), terminal_width())
            if watch:
                typer.echo("\x1b[H\x1b[2J", nl=False)
            typer.echo(text)
            if not watch:
                return
            time.sleep(watch)
    except KeyboardInterrupt:
        return


@command(panel=REPRODUCE, example="plan --configfile config/demo/config.yaml")
def plan(
    targets: list[str] = argument("Targets, as for snakemake; all by default.", default=list),
    configfile: Path = CONFIG,
    site: Path | None = option(
        "Description of the cluster; by default the campaign's, or site.yaml."
    ),
    as_json: bool = JSON,
) -> None:
    """Show the jobs, time, memory and disk that a run needs; exit 2 if it cannot run."""
    from blimpworks.campaign.settings.site import load_site, site_file
    from blimpworks.cluster.plan import DryRun, dry_run, make_plan
    from blimpworks.cluster.plan_text import plan_text
    from blimpworks.cluster.text import terminal_width
    from blimpworks.retrieval.preflight import campaign_obstacles

    selection = _read_campaign(configfile)
    file = site_file(selection.campaign, site)
    cluster = load_site(file) if file else None
    # Without a dry run, the plan may say better than Snakemake why the campaign cannot run.
    dry: DryRun | None = None
    failure: UserError | None = None
    try:
        dry = dry_run(configfile, targets, site)
    except UserError as error:
        failure = error
    planned = make_plan(selection, cluster, dry, file)
    if dry and dry.retrieved:
        cache = cluster.cache if cluster else None
        obstacles = campaign_obstacles(selection, dry.retrieved, cache)
        planned = planned.model_copy(update={"stops": (*obstacles, *planned.stops)})
    if failure and not planned.refused:
        raise failure
    text = plan_text(planned, cluster, terminal_width())
    typer.echo(planned.model_dump_json(indent=1) if as_json else text)
    if planned.refused or planned.stops:
        raise typer.Exit(2)


@command(panel=REPRODUCE, example="check-gpu")
def check_gpu(
    python: Path | None = option("Python interpreter that scores; by default that of .vllm."),
    as_json: bool = JSON,
) -> None:
    """List what this machine lacks for scoring on its GPUs; exit 2 if it lacks anything.

    Run it where jobs run: srun --gres=gpu:1 blimpworks check-gpu.
    """
    from blimpworks.cluster import gpu_check

    machine = gpu_check.describe_machine(python)
    typer.echo(gpu_check.as_json(machine) if as_json else gpu_check.gpu_text(machine))
    if any(gpu_check.gpu_problems(machine)):
        raise typer.Exit(2)


@command(panel=AUTHOR, example="schemas")
def schemas(
    check: bool = option("Write nothing; exit 1 if a file would change.", "--check"),
) -> None:
    """Write the JSON Schemas of campaigns and catalogues to workflow/schemas."""
    from blimpworks.campaign.load import outdated_schemas, schema_files

    if not check:
        for path, text in schema_files(SCHEMAS).items():
            write_text(path, text)
        return
    stale = outdated_schemas(SCHEMAS)
    for path in stale:
        typer.echo(f"{path} is not what the models say; run `blimpworks schemas`.", err=True)
    raise typer.Exit(1 if stale else 0)
