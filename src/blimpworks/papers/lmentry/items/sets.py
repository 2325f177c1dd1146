"""Locate a campaign's declarations, language packs and annotated resources of Multi-LMentry.

No heavy imports: the Snakefile asks at every parse.
"""

from pathlib import Path

from blimpworks.campaign.catalogue import Catalogue
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.errors import UserError

RESOURCE = "lmentry_resource"


def pack_file(campaign: Campaign, lang: str) -> Path:
    """Return the path of a language pack, whether it exists or not."""
    return campaign.folder("lmentry") / "languages" / f"{lang}.yaml"


def declarations_file(campaign: Campaign) -> Path:
    """Return the path of the tasks' declarations."""
    return campaign.folder("lmentry") / "tasks.yaml"


def resource_files(campaign: Campaign, catalogue: Catalogue, lang: str) -> list[Path]:
    """Return a language's annotated resources: pinned sources, or else files beside the packs.

    Files are in ``config/lmentry/resources/LANG``. Raises UserError when there are neither.
    """
    rows = catalogue.sources_of(RESOURCE, lang)
    if rows:
        return [Path(campaign.pathvars.resources, "sources", row.name) for row in rows]
    folder = campaign.folder("lmentry") / "resources" / lang
    files = sorted(path for path in folder.glob("*") if path.suffix in (".json", ".csv"))
    if not files:
        raise UserError(
            f"{lang}: no source of kind {RESOURCE!r} in {campaign.catalogue.sources} and no file "
            f"in {folder}; add resources there (docs/lmentry.md), or take the language out."
        )
    return files
