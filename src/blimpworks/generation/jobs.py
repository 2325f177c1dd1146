"""Write the workflow's arguments of jobs that answer: options and system prompts."""

import json
from collections.abc import Collection

from blimpworks.campaign.paper import Generation
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.campaign.settings.scoring import GenerationJobOptions


def generation_options(campaign: Campaign, generation: Generation) -> str:
    """Return options of a job that answers, as JSON: the campaign's, without the build of vLLM."""
    options = GenerationJobOptions(
        **generation.options(campaign).model_dump(),
        dtype=campaign.scoring.dtype,
        vllm=campaign.scoring.vllm,
    )
    return options.model_dump_json(exclude={"vllm": {"build"}})


def system_prompts(campaign: Campaign, generation: Generation, languages: Collection[str]) -> str:
    """Return languages' system prompts as JSON. Raises UserError for a bad or missing pack."""
    return json.dumps(dict(generation.systems(campaign, languages)), ensure_ascii=False)
