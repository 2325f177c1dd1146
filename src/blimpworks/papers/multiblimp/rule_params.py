"""Params of MultiBLiMP's rules, as the workflow asks for them."""

from collections.abc import Collection

from blimpworks.campaign.catalogue import Catalogue
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.papers.multiblimp.items.release import pinned_items
from blimpworks.papers.multiblimp.settings import MultiblimpOptions


def stage(campaign: Campaign, *sections: str, decisions: Collection[str] = ()) -> str:
    """Settings with everything but the named sections and decisions left out, as JSON.

    Only what a stage reads is among its options, so that a change reruns no other stage.
    """
    included: dict[str, bool | set[str]] = dict.fromkeys(sections, True)
    if decisions:
        included |= {"variant": True, "decisions": {*decisions}}
    return campaign.section(MultiblimpOptions).model_dump_json(include=included)


def pinned_arguments(campaign: Campaign, catalogue: Catalogue, lang: str) -> list[str]:
    """Of a released file of the hub its revision, and how many pairs the paper says it has."""
    row = pinned_items(campaign, catalogue, lang)
    if row is None:
        return []
    pairs = catalogue.languages[lang].paper_n
    counted = [f"--pairs={pairs}"] if pairs is not None else []
    return [f"--revision={row.version}", *counted]
