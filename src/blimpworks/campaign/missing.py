"""What exhibits of a campaign could show and lack, because a source cannot be had, in words."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from blimpworks.campaign.catalogue import Pinned, SourceRow
from blimpworks.campaign.exhibit_spec import ExhibitSpec
from blimpworks.campaign.exhibits import table_kind
from blimpworks.campaign.layout import Layout
from blimpworks.campaign.load import placed
from blimpworks.campaign.settings.campaign import CatalogueFiles
from blimpworks.campaign.table_files import read_rows

DEFAULT = CatalogueFiles().sources


def _known_sources(layout: Layout) -> Layout:
    """The same campaign with the repository's table of sources, all of which can be had."""
    rows = {row.name: row for row in read_rows(SourceRow, placed(CatalogueFiles()).sources)}
    able = {"mirror": Path("mirror"), "unpinned": "error"}
    return replace(
        layout,
        campaign=layout.campaign.model_copy(update=able),
        catalogue=replace(layout.catalogue, sources=rows),
    )


def _absent(spec: ExhibitSpec, layout: Layout, *, printed: bool) -> list[str]:
    """Kinds of tables that an exhibit can use and the campaign has none of."""
    kinds = (*(spec.published if printed else spec.needs), *spec.optional)
    return [kind for kind in kinds if not layout.tables(spec.paper, kind, printed=printed)]


def _named(rows: Sequence[Pinned]) -> str:
    """Sources with their size and licence, the first of many."""
    names = [row.name for row in rows if isinstance(row, SourceRow)]
    size = sum(row.bytes or 0 for row in rows)
    licences = ", ".join(dict.fromkeys(row.licence for row in rows))
    more = f" and {len(names) - 1} more files" if len(names) > 1 else ""
    large = f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.0f} KB"
    return f"{names[0]}{more} ({large}, {licences})"


def _how(
    spec: ExhibitSpec, rows: Sequence[Pinned], layout: Layout, *, printed: bool
) -> tuple[str, str]:
    """What to do to get it, in words, and the command if one does it."""
    copied = "" if all(row.url for row in rows) else " --config mirror=DIRECTORY_WITH_A_COPY"
    own = layout.campaign.catalogue.sources
    if not printed and own != placed(CatalogueFiles()).sources:
        return f"To get it, take its rows over from {DEFAULT} into {own}.", ""
    target = f"{spec.alias}_published" if printed else spec.alias
    return "To get it:", f"snakemake --cores 1 {target}{copied}"


def _lack(
    spec: ExhibitSpec, layout: Layout, able: Layout, *, printed: bool
) -> tuple[str, str] | None:
    """What an exhibit lacks and how to get it, and the command; None where it lacks nothing."""
    rows: list[Pinned] = []
    for kind in _absent(spec, layout, printed=printed):
        rows += table_kind(spec.paper, kind).sources(able.campaign, able.catalogue)
    if not rows:
        return None
    how, command = _how(spec, rows, layout, printed=printed)
    return f"Missing here: {_named(rows)}, which this campaign does not retrieve. {how}", command


def missing_sources(layout: Layout) -> dict[str, dict[str, tuple[str, str]]]:
    """What published and measured forms lack of sources, by form and exhibit.

    A sentence that says what is missing and how to get it, and the command that does.
    """
    able = _known_sources(layout)
    forms = {"published": (layout.published, True), "measured": (layout.exhibits, False)}
    return {
        form: {
            spec.key: lack
            for spec in specs
            if (lack := _lack(spec, layout, able, printed=printed)) is not None
        }
        for form, (specs, printed) in forms.items()
    }
