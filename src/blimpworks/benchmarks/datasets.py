"""Pin data sets of the Hugging Face hub as sources of a benchmark."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import cast

from huggingface_hub import HfApi, hf_hub_url
from huggingface_hub.errors import HfHubHTTPError, HFValidationError

from blimpworks.benchmarks.files import ARCHIVES, plain_name
from blimpworks.benchmarks.readers import SUFFIXES
from blimpworks.campaign.catalogue import SourceRow
from blimpworks.campaign.settings.parsing import validated
from blimpworks.campaign.table_files import read_rows
from blimpworks.errors import UserError
from blimpworks.files import write_text
from blimpworks.retrieval.download import Patience
from blimpworks.retrieval.pinning import pin_row

# The hub library's HTTP client, and so the class of its network errors, differs by version.
HUB_ERRORS = cast(
    tuple[type[Exception], ...], (HFValidationError, OSError, *HfHubHTTPError.__bases__)
)


@dataclass(frozen=True, slots=True)
class Dataset:
    """A data set of the hub, OWNER/NAME, at a branch, tag or commit, and its split, if any."""

    name: str
    revision: str
    split: str = ""

    def has(self, file: str) -> bool:
        """Tell whether a file holds data of the split."""
        suffix = PurePosixPath(plain_name(file)).suffix
        if suffix not in SUFFIXES and not file.endswith(ARCHIVES):
            return False
        parts = re.split(r"[/_.\-]", file)
        return not self.split or self.split in parts


def rows_of(dataset: Dataset, kind: str) -> list[SourceRow]:
    """List the files of a data set as rows of sources, at the commit of its revision.

    Checksums are the hub's, empty where it has none. Raises UserError for an unknown data set or
    split, or a hub that does not answer.
    """
    try:
        info = HfApi().dataset_info(dataset.name, revision=dataset.revision, files_metadata=True)
    except HUB_ERRORS as error:
        code = error.response.status_code if isinstance(error, HfHubHTTPError) else None
        if isinstance(error, HFValidationError) or code in (401, 403, 404):
            raise UserError(
                f"{dataset.name} at {dataset.revision} is no data set of the hub that can be read; "
                "expected OWNER/NAME and a revision. Correct them, or set HF_TOKEN to a token with "
                "access to it."
            ) from error
        reason = " ".join(str(error).split())[:200]
        raise UserError(
            f"the hub does not answer about {dataset.name} ({reason}); try again, or where there "
            "is a network."
        ) from error
    files = [each for each in info.siblings or () if dataset.has(each.rfilename)]
    if not files:
        names = ", ".join(each.rfilename for each in info.siblings or ())
        raise UserError(
            f"{dataset.name} at {info.sha} has no file of split {dataset.split!r} in a format that "
            f"can be read; it has: {names:.300}. Correct --split, or leave it out."
        )
    licence = getattr(info.card_data, "license", None) or ""
    return [
        validated(
            SourceRow,
            {
                "name": f"{kind}/{each.rfilename}",
                "kind": kind,
                "lang": "",
                "version": info.sha,
                "sha256": each.lfs.sha256 if each.lfs else "",
                "bytes": each.size,
                "licence": licence if isinstance(licence, str) else ", ".join(licence),
                "url": hf_hub_url(
                    dataset.name, each.rfilename, repo_type="dataset", revision=info.sha
                ),
                "mirror": f"{kind}/{each.rfilename}",
            },
            dataset.name,
        )
        for each in files
    ]


COLUMNS = ("name", "kind", "lang", "version", "sha256", "bytes", "licence", "url", "mirror")


def pin_dataset(
    dataset: Dataset, folder: Path, patience: Patience | None = None
) -> Sequence[SourceRow]:
    """Add the files of a data set to a benchmark's table of sources; return the rows.

    A file without a checksum on the hub is downloaded once to compute it. Raises UserError like
    ``rows_of``, and for files that the table has already.
    """
    path = folder / "sources.tsv"
    before = read_rows(SourceRow, path) if path.exists() else []
    rows = rows_of(dataset, folder.name)
    twice = {row.name for row in before} & {row.name for row in rows}
    if twice:
        raise UserError(f"{path} has a row {min(twice)!r} already; take it out to pin it anew.")
    lines: list[tuple[str, ...]] = [COLUMNS]
    for row in (*before, *rows):
        cells = (getattr(row, name) for name in COLUMNS)
        lines.append(tuple("" if cell is None else str(cell) for cell in cells))
    write_text(path, "".join("\t".join(line) + "\n" for line in lines))
    for row in rows:
        if not row.sha256:
            pin_row(path, row.name, patience)
    return rows
