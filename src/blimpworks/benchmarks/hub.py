"""Pin data sets of the Hugging Face hub as sources of a benchmark, in its ``sources.tsv``."""

import re
from pathlib import Path, PurePosixPath
from typing import Any

from blimpworks.benchmarks.files import ARCHIVES, plain_name
from blimpworks.benchmarks.readers import SUFFIXES
from blimpworks.campaign.catalogue import SourceRow
from blimpworks.campaign.settings.base import validated
from blimpworks.campaign.table_files import read_rows
from blimpworks.errors import UserError
from blimpworks.files import write_text
from blimpworks.retrieval.pinning import pin_row

SOURCE_COLUMNS = (
    "name", "kind", "lang", "version", "sha256", "git_blob", "bytes", "licence", "url", "mirror",
)  # fmt: skip


def pin_dataset(dataset: str, revision: str, split: str, folder: Path) -> list[SourceRow]:
    """Add the files of a data set of the hub to a benchmark's table of sources; return the rows.

    Rows pin the commit of the revision. A ``split`` selects the files with its name. A file without
    a checksum on the hub is downloaded once to compute it. Raises UserError for an unknown data set
    or split, a hub that does not answer, and files that the table has already.
    """
    from huggingface_hub import HfApi, hf_hub_url  # not in every environment
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    path = folder / "sources.tsv"
    before = read_rows(SourceRow, path) if path.exists() else []
    # The hub library uses another HTTP client by its version; the base class of HfHubHTTPError is
    # the class of the client's network errors.
    errors: Any = (HFValidationError, OSError, *HfHubHTTPError.__bases__)
    try:
        info = HfApi().dataset_info(dataset, revision=revision, files_metadata=True)
    except errors as error:
        code = error.response.status_code if isinstance(error, HfHubHTTPError) else None
        if isinstance(error, HFValidationError) or code in (401, 403, 404):
            raise UserError(
                f"{dataset} at {revision} is no data set of the hub that can be read; expected "
                "OWNER/NAME and a revision. Correct them, or set HF_TOKEN to a token with access."
            ) from error
        reason = " ".join(str(error).split())[:200]
        raise UserError(
            f"the hub does not answer about {dataset} ({reason}); try again, with a network."
        ) from error
    licence = getattr(info.card_data, "license", None) or ""
    rows = []
    for file in info.siblings or ():
        name = file.rfilename
        in_split = not split or split in re.split(r"[/_.\-]", name)
        suffix = PurePosixPath(plain_name(name)).suffix.lower()
        is_readable = suffix in SUFFIXES or name.endswith(ARCHIVES)
        if in_split and is_readable:
            cells = {
                **dict.fromkeys(("name", "mirror"), f"{folder.name}/{name}"),
                "kind": folder.name,
                "lang": "",
                "version": info.sha,
                "sha256": file.lfs.sha256 if file.lfs else "",
                "bytes": file.size,
                "licence": licence if isinstance(licence, str) else ", ".join(licence),
                "url": hf_hub_url(dataset, name, repo_type="dataset", revision=info.sha),
            }
            rows.append(validated(SourceRow, cells, dataset))
    if not rows:
        names = ", ".join(file.rfilename for file in info.siblings or ())
        raise UserError(
            f"{dataset} at {info.sha} has no file of split {split!r} in a format that can be read; "
            f"it has: {names:.300}. Correct --split, or leave it out."
        )
    if twice := {row.name for row in before} & {row.name for row in rows}:
        raise UserError(f"{path} has a row {min(twice)!r} already; take it out to pin it again.")
    lines: list[tuple[str, ...]] = [SOURCE_COLUMNS]
    for row in (*before, *rows):
        values = (getattr(row, name) for name in SOURCE_COLUMNS)
        lines.append(tuple("" if value is None else str(value) for value in values))
    write_text(path, "".join("\t".join(line) + "\n" for line in lines))
    for row in rows:
        if not row.sha256:
            pin_row(path, row.name)
    return rows
