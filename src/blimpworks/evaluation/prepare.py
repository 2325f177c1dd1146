"""From what a user asks for to a campaign on the disk that can be run."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from blimpworks.campaign.catalogue import Catalogue, ModelRow, whole_catalogue
from blimpworks.campaign.load import check_campaign
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.campaign.settings.site import find_site
from blimpworks.errors import UserError
from blimpworks.evaluation.choice import (
    SOURCE,
    check_benchmarks,
    check_languages,
    checked_campaign,
    choose_benchmarks,
)
from blimpworks.evaluation.listing import own_languages
from blimpworks.evaluation.machine import Machine, this_machine
from blimpworks.evaluation.models import choose_engine, resolve_models, write_models
from blimpworks.evaluation.places import in_languages
from blimpworks.evaluation.request import (
    CAMPAIGN_FILE,
    MODELS_FILE,
    Request,
    as_setting,
    campaign_settings,
    choose_data,
    read_template,
    write_campaign,
)
from blimpworks.evaluation.resolved import ResolvedModel
from blimpworks.files import write_text
from blimpworks.models.weights import refuse_quantised
from blimpworks.records.job import REPOSITORY


@dataclass(frozen=True, slots=True)
class Prepared:
    """An evaluation that is ready to be run."""

    campaign: Campaign
    catalogue: Catalogue
    models: Sequence[ResolvedModel]
    notes: Sequence[str]
    """What the user should know before it starts, a line each."""


def known_models() -> Mapping[str, ModelRow]:
    """Models of the repository's own catalogue, by name."""
    return whole_catalogue(check_campaign({"campaign": "evaluation"}, "")).models


def _cluster() -> Machine:
    """The GPUs of the cluster that the site's description names; none where there is none."""
    with chdir(REPOSITORY):  # where the description lies
        site = find_site(check_campaign({"campaign": "evaluation"}, ""))
    gpus = tuple(kind.memory_gb for kind in site.gpus) if site else ()
    return replace(this_machine(), memory_gb=None, gpus_gb=gpus)


def resolve(
    arguments: Sequence[str], engine: str, overrides: Mapping[str, str], *, remote: bool
) -> list[ResolvedModel]:
    """The models that a user names, each with the engine that it is run with.

    That suits this machine, or, for a ``remote`` run, the cluster. Raises UserError for a model
    or an engine that cannot be had.
    """
    models = resolve_models(arguments, known_models(), overrides)
    machine = _cluster() if remote else this_machine()
    chosen = [replace(each, row=choose_engine(each.row, engine, machine)) for each in models]
    for model in chosen:
        if model.row.engine != "vllm":
            refuse_quantised(model.quantisation, model.argument)
    return chosen


@contextmanager
def _put_back_on_error(path: Path) -> Iterator[None]:
    """A block that changes a file; what it was before is put back where the block fails."""
    before = path.read_text(encoding="utf-8") if path.exists() else None
    try:
        yield
    except UserError:
        if before is None:
            path.unlink(missing_ok=True)
        else:
            write_text(path, before)
        raise


def _bring_languages(settings: dict[str, Any], *, trained: bool) -> Iterator[str]:
    """Set the languages to those of the benchmarks, and tell of what the template lacks.

    For models that are ``trained`` here, to those of the template, whose text is known.
    """
    alone = {name: value for name, value in settings.items() if name != "catalogue"}
    catalogue = {k: v for k, v in settings["catalogue"].items() if k != "models"}
    alone |= {"models": [], "catalogue": catalogue}
    own = own_languages(check_campaign(alone, SOURCE))
    here = [lang for lang in own if lang in settings["languages"]]
    more = [lang for lang in own if lang not in here]
    if trained and here and more:
        yield (
            f"Left out: {', '.join(more)}, since models that are trained here have no text of "
            "these data; --languages adds them."
        )
        more = []
    elif more:
        yield f"Languages of the benchmarks: {', '.join(own)}; --languages chooses among them."
    settings["languages"] = [*here, *more]


def prepare(request: Request, folder: Path, models: Sequence[ResolvedModel]) -> Prepared:
    """Write the campaign of an evaluation and its table of models into a folder.

    Raises UserError for a benchmark, language or model that cannot be had or run.
    """
    check_benchmarks(request.benchmarks)
    models = [in_languages(model, request.languages) for model in models]
    data, why = choose_data(request.data, request.mirror)
    template = read_template(data)
    settings = campaign_settings(
        request, as_setting(folder), template, [model.row.name for model in models]
    )
    notes = [f"Data: {data}{f' ({why})' if why else ''}. {template['description']}"]
    if request.benchmarks and not request.languages:
        notes += _bring_languages(settings, trained=any(model.row.recipe for model in models))
    path = folder / CAMPAIGN_FILE
    # With all others, whose sizes and names say what the papers' printed numbers are of.
    rows = {**known_models(), **{model.row.name: model.row for model in models}}
    with _put_back_on_error(folder / MODELS_FILE):
        write_models(rows.values(), folder / MODELS_FILE)
        choice = choose_benchmarks(settings, named=bool(request.benchmarks))
        settings["benchmarks"] = [*choice.benchmarks]
        check_languages(settings, request.languages)
    notes += [f"Left out: {name}, because {reason}" for name, reason in choice.left_out.items()]
    if write_campaign(settings, path):
        notes.append(f"{path} had other settings before; what was scored is not scored again.")
    campaign, catalogue = checked_campaign(settings)
    return Prepared(campaign, catalogue, models, notes)
