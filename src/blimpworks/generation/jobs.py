"""What the workflow tells jobs that answer: options, and the system prompts of languages."""

import json
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from blimpworks.campaign.benchmarks import pack_file
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.papers.lmentry.items.packs import read_pack
from blimpworks.papers.lmentry.settings import AnsweringOptions


def answering_options(campaign: Campaign) -> str:
    """Options of a job that answers, as JSON: the campaign's, without the build of vLLM."""
    scoring = campaign.scoring
    answers = campaign.lmentry.answers.model_dump()
    options = AnsweringOptions(**answers, dtype=scoring.dtype, vllm=scoring.vllm)
    return options.model_dump_json(exclude={"vllm": {"build"}})


@lru_cache(maxsize=64)
def _system(path: Path, _changed: int) -> str:
    return read_pack(path).system


def system_prompts(campaign: Campaign, languages: Iterable[str]) -> str:
    """System prompt of each language, from its pack, as a JSON object; empty where not wanted.

    Raises UserError for a pack that is missing or malformed.
    """
    if not campaign.lmentry.answers.system:
        return "{}"
    paths = {lang: pack_file(campaign, lang) for lang in languages}
    found = {lang: _system(path, path.stat().st_mtime_ns) for lang, path in paths.items()}
    return json.dumps(found, ensure_ascii=False)
