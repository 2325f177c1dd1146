"""Whether every model that a campaign names, and every benchmark, is run at all."""

from collections.abc import Sequence

from blimpworks.campaign.catalogue import Catalogue, ModelRow
from blimpworks.campaign.engines import can_generate
from blimpworks.campaign.local_models import is_local
from blimpworks.campaign.parts import Groups, Part, engine_of, every_part, languages_of
from blimpworks.campaign.registry import find_benchmark, paper_of
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.campaign.settings.training import follows_instructions
from blimpworks.errors import UserError


def obstacle(
    campaign: Campaign, catalogue: Catalogue, groups: Groups, row: ModelRow, benchmark: str
) -> str:
    """Why a model is not run on a benchmark that it does not cover in any language."""
    prompts = find_benchmark(benchmark).unit == "prompt"
    engine = engine_of(campaign, row)
    if row.papers and paper_of(benchmark).name not in row.papers:
        return f"the model is of {', '.join(row.papers)} alone (column papers)"
    if prompts and not can_generate(engine, row.architecture):
        return f"it has prompts, which {row.architecture} models cannot answer with {engine}"
    if not prompts and follows_instructions(campaign.training.recipes, row.recipe):
        return "it has sentences to score, and the model is trained to answer prompts alone"
    if languages_of(campaign, catalogue, benchmark):
        fixed = is_local(row.hf_id) and "{lang}" not in row.hf_id
        others = "; `evaluate --languages` names others that it is to be run on" if fixed else ""
        return f"it exists for the languages of {row.languages!r} (column languages) alone{others}"
    return "the campaign has no language of it"


def _check_models(
    campaign: Campaign, catalogue: Catalogue, groups: Groups, parts: Sequence[Part]
) -> None:
    running = {catalogue.row_of(part.model) for part in parts}
    rows = {catalogue.row_of(name): row for name, row in catalogue.models.items()}
    for name in campaign.models:
        if name in running or name not in rows:
            continue
        reasons = (
            f"{benchmark}: {obstacle(campaign, catalogue, groups, rows[name], benchmark)}"
            for benchmark in campaign.benchmarks
        )
        raise UserError(
            f"model {name!r} of campaign {campaign.campaign!r} runs on none of its benchmarks "
            f"({'; '.join(reasons)}). Take it out of models, name a benchmark that it runs on, or "
            f"correct its row in {campaign.catalogue.models}."
        )


def _check_benchmarks(
    campaign: Campaign, catalogue: Catalogue, groups: Groups, parts: Sequence[Part]
) -> None:
    taken = {benchmark for part in parts for benchmark, _ in part.sets}
    for benchmark in campaign.benchmarks:
        if benchmark not in taken:
            reasons = (
                f"{name}: {obstacle(campaign, catalogue, groups, row, benchmark)}"
                for name, row in catalogue.models.items()
            )
            raise UserError(
                f"benchmark {benchmark!r} of campaign {campaign.campaign!r} is run with none of "
                f"its models ({'; '.join(reasons)}). Take it out of benchmarks, or name a model "
                "that runs on it."
            )


def check_runs(campaign: Campaign, catalogue: Catalogue, groups: Groups) -> None:
    """See that each model that a campaign names runs on something, and each benchmark is run.

    Nothing is checked in campaigns of the data alone, of print alone, or of all models. Raises
    UserError with the reason for each pair of model and benchmark.
    """
    if campaign.benchmarks and campaign.models and campaign.models != "all":
        parts = every_part(campaign, catalogue, groups)
        _check_models(campaign, catalogue, groups, parts)
        _check_benchmarks(campaign, catalogue, groups, parts)
