"""Where a campaign's declarations, language packs and annotated resources of Multi-LMentry lie.

Without heavy imports, because the Snakefile asks each time it is parsed.
"""

from pathlib import Path

from blimpworks.campaign.catalogue import Catalogue
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.errors import UserError

RESOURCE = "lmentry_resource"
"""Kind of the sources that are annotated resources."""


def pack_file(campaign: Campaign, lang: str) -> Path:
    """The language pack of a language, whether it exists or not."""
    return campaign.folder("lmentry") / "languages" / f"{lang}.yaml"


def declarations_file(campaign: Campaign) -> Path:
    """The declarations of the tasks."""
    return campaign.folder("lmentry") / "tasks.yaml"


def resource_files(campaign: Campaign, catalogue: Catalogue, lang: str) -> list[Path]:
    """A language's annotated resources: pinned sources, or else files beside the packs.

    Those of our own lie in ``config/lmentry/resources/LANG``. Raises UserError when there are
    neither.
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
