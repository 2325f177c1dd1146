"""System prompts of languages, from their packs."""

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.papers.lmentry.items.packs import read_pack
from blimpworks.papers.lmentry.items.sets import pack_file
from blimpworks.papers.lmentry.settings import LmentryOptions


@lru_cache(maxsize=64)
def _system(path: Path, _changed: int) -> str:
    return read_pack(path).system


def system_prompts(campaign: Campaign, languages: Iterable[str]) -> dict[str, str]:
    """System prompt of each language (Table 7); empty where the campaign wants none.

    Raises UserError for a pack that is missing or malformed.
    """
    if not campaign.section(LmentryOptions).answers.system:
        return {}
    paths = {lang: pack_file(campaign, lang) for lang in languages}
    return {lang: _system(path, path.stat().st_mtime_ns) for lang, path in paths.items()}
