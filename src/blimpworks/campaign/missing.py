"""Sentences on sources that a campaign's exhibits lack."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from blimpworks.campaign.catalogue import Pinned, SourceRow
from blimpworks.campaign.exhibits import table_kind
from blimpworks.campaign.layout import Layout
from blimpworks.campaign.load import placed
from blimpworks.campaign.settings.campaign import CatalogueFiles
from blimpworks.campaign.table_files import read_rows

DEFAULT = CatalogueFiles().sources


def missing_sources(layout: Layout) -> dict[str, dict[str, tuple[str, str]]]:
    """Return missing sources of published and measured forms, by form and exhibit.

    Each is a sentence on the missing data and its remedy, and a command or empty text.
    """
    default = placed(CatalogueFiles()).sources
    # The same campaign with the repository's table of sources, all of which can be had.
    able = {"mirror": Path("mirror"), "unpinned": "error"}
    campaign = layout.campaign.model_copy(update=able)
    catalogue = replace(
        layout.catalogue, sources={row.name: row for row in read_rows(SourceRow, default)}
    )
    forms = {"published": layout.published, "measured": layout.exhibits}
    missing: dict[str, dict[str, tuple[str, str]]] = {form: {} for form in forms}
    for form, spec in ((form, spec) for form, specs in forms.items() for spec in specs):
        printed = form == "published"
        rows: list[Pinned] = []
        for table_name in (*(spec.published if printed else spec.needs), *spec.optional):
            if not layout.tables(spec.paper, table_name, printed=printed):
                rows += table_kind(spec.paper, table_name).sources(campaign, catalogue)
        if not rows:
            continue
        copied = "" if all(row.url for row in rows) else " --config mirror=DIRECTORY_WITH_A_COPY"
        target = f"{spec.alias}_published" if printed else spec.alias
        remedy, command = "To get it:", f"snakemake --cores 1 {target}{copied}"
        table = layout.campaign.catalogue.sources
        if not printed and table != default:
            remedy, command = f"To get it, take its rows over from {DEFAULT} into {table}.", ""
        missing[form][spec.key] = (
            f"Missing here: {_named(rows)}, which this campaign does not retrieve. {remedy}",
            command,
        )
    return missing


def _named(rows: Sequence[Pinned]) -> str:
    names = [row.name for row in rows if isinstance(row, SourceRow)]
    size = sum(row.bytes or 0 for row in rows)
    licences = ", ".join(dict.fromkeys(row.licence for row in rows))
    more = f" and {len(names) - 1} more files" if len(names) > 1 else ""
    large = f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.0f} KB"
    return f"{names[0]}{more} ({large}, {licences})"
