"""Define ``RunPlan``, the plan of a campaign's run, and format it as text (``plan_text``).

A plan says which jobs a campaign still has to run, and the time, memory and disk that they need.
``plan.make_plan`` makes it. It is for a site (a cluster), or else for this machine's CPUs.
"""

from collections.abc import Collection, Iterable, Iterator
from string import ascii_uppercase
from typing import Literal

from rich.console import RenderableType
from rich.filesize import decimal
from rich.padding import Padding
from rich.text import Text

from blimpworks.campaign.settings.site import Site
from blimpworks.cluster.requests import TrainingPlan
from blimpworks.cluster.text import DEFAULT_WIDTH, TextTable, number_text, printed
from blimpworks.strict import Strict


class ModelPlan(Strict):
    """Estimated resources of a model's remaining jobs."""

    model: str
    """Title of its jobs: "gpt2" if they score sentences, or "gpt2 (answers)" if they answer."""
    engine: str
    dtype: str
    weights_gb: float
    kind: str | None
    """Label of the GPUs in the site's file, such as "a100"; None on CPUs."""
    gpus: int
    gpu_memory_gb: float
    """GB needed on all its GPUs together."""
    host_memory_mb: int
    jobs: int
    tokens: int
    """Tokens to score. For jobs that answer prompts: the number of tokens whose scoring would take
    as long."""
    tokens_per_second: float
    speed: Literal["measured", "stated"]
    """Source of ``tokens_per_second`` (``needs.Speed``)."""
    hours: float
    """Hours of the longest of its jobs."""
    minutes_asked: int
    """Minutes that its longest job requests from the scheduler."""
    gpu_hours: float
    """Estimated GPU-hours of all its jobs."""
    gpu_hours_asked: float
    """GPU-hours that its jobs request: the most that they are charged."""
    cpu_hours: float
    """Core-hours of all its jobs on CPUs."""

    @property
    def too_slow_on_cpus(self) -> bool:
        """Whether the model is planned for CPUs, on which a job would take more than a week."""
        return not self.gpus and self.hours > 7 * 24


class DiskPlan(Strict):
    """Bytes that a run adds on disk: estimates, except for the downloads."""

    downloads: int
    """Bytes of missing sources and treebanks."""
    downloads_unknown: int
    """Number of missing files without a size in the catalogue."""
    weights: int
    """Bytes of the hub's models that are neither retrieved nor in the site's cache."""
    prepared: int
    """Bytes of tables of treebanks and items, which are made from the downloads."""
    stores: int
    """Bytes of shards of scores."""
    tables: int
    """Bytes of scores, judgements and later tables."""
    free: dict[str, int]
    """Free bytes of the file systems of resources and results, by directory."""
    sufficient: bool

    @property
    def added(self) -> dict[str, int]:
        """Bytes that a run adds, by directory."""
        return {
            "resources": self.downloads + self.weights,
            "results": self.prepared + self.stores + self.tables,
        }


class RunPlan(Strict):
    """Jobs and resources of a run of a campaign."""

    campaign: str
    site: str | None
    """Path of the cluster's description, if any."""
    rules: dict[str, int] | None
    """Number of jobs of each Snakemake rule; None when the dry run failed."""
    models: tuple[ModelPlan, ...]
    trainings: tuple[TrainingPlan, ...]
    """Trainings of LSTMs, before they score."""
    refused: dict[str, str]
    """Reason for each model that cannot be run."""
    disk: DiskPlan
    notes: tuple[str, ...]
    stops: tuple[str, ...]
    """Obstacles that will stop the campaign, besides refused models."""


SHORT = {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16"}


def _rules(plan: RunPlan) -> Iterator[str]:
    if plan.rules is None:
        yield "Jobs: not counted, because Snakemake refuses the campaign as it is (see the end)."
        return
    total = sum(plan.rules.values())
    if not total:
        yield "Jobs: nothing is left to run (Snakemake's dry run)."
        return
    on_gpus = f"{sum(model.jobs for model in plan.models if model.gpus):,} of them on GPUs"
    yield f"Jobs: {total:,} to run, {on_gpus} (Snakemake's dry run)."
    counted = sorted(plan.rules.items(), key=lambda rule: -rule[1])
    yield f"  {', '.join(f'{rule} {count:,}' for rule, count in counted)}"


def _models(plan: RunPlan, site: Site | None) -> Iterator[RenderableType]:
    # ``plan.stops`` reports models that are too slow; if this machine has a GPU, ``plan.notes``.
    models = [model for model in plan.models if not model.too_slow_on_cpus]
    if not models:
        return
    yield f"Scoring: {sum(model.jobs for model in models)} jobs of {len(models)} models."
    # The table abbreviates labels of GPUs by letters, and a legend explains those that it uses.
    gpus = site.gpus if site else ()
    letters = dict(zip((gpu.label for gpu in gpus), ascii_uppercase, strict=False))
    used_labels = {model.kind for model in models}
    for gpu in gpus:
        if gpu.label in used_labels:
            limits = [f"partition {gpu.partition}"] if gpu.partition else []
            limits += [f"constraint {gpu.constraint}"] if gpu.constraint else []
            limits += [f"{gpu.per_node} a node", f"at most {gpu.max_hours:g} h a job"]
            yield f"  {letters[gpu.label]} = {gpu.label} ({', '.join(limits)})"
    rows = [
        {
            "model": model.model,
            "engine": f"{model.engine} {SHORT[model.dtype]}",
            "GB": f"{model.weights_gb:.1f}",
            "GPUs": f"{model.gpus} × {letters[model.kind]}" if model.kind else "none",
            "host": f"{model.host_memory_mb / 1000:.0f}",
            "jobs": f"{model.jobs}",
            "Mtok": number_text(model.tokens / 1e6),
            "tok/s": f"{number_text(model.tokens_per_second)} {model.speed[0]}",
            "h": number_text(model.hours),
            "asks": number_text(model.minutes_asked / 60),
            "GPU-h": number_text(model.gpu_hours) if model.gpus else "-",
        }
        for model in models
    ]
    yield Padding(TextTable(rows, text_columns=("model", "engine", "GPUs")), (0, 0, 0, 2))
    legend = (
        "GB: size of the weights.",
        "GPUs: GPUs of each job, over which the model is spread (tensor parallel).",
        "host: GB of the host's memory.",
        "Mtok: million tokens to score.",
        "tok/s: m measured, s stated (peak × utilisation).",
        "h: hours of the longest job; asks: hours that it requests from SLURM.",
        "GPU-h: of all jobs together.",
    )
    yield f"  {' '.join(legend)}"


def _hours(plan: RunPlan) -> Iterator[str]:
    by_kind: dict[str, float] = {}
    for model in plan.models:
        if model.kind:
            by_kind[model.kind] = by_kind.get(model.kind, 0) + model.gpu_hours
    if by_kind:
        hours_on = [f"{number_text(hours)} on {label}" for label, hours in by_kind.items()]
        yield f"GPU-hours: {number_text(sum(by_kind.values()))} ({', '.join(hours_on)})."
        requested = number_text(sum(model.gpu_hours_asked for model in plan.models))
        yield f"  Requested, and charged if jobs take all the time they request: {requested}."
    cpu = sum(model.cpu_hours for model in plan.models if not model.too_slow_on_cpus)
    if cpu:
        yield f"Core-hours of scoring on CPUs: {number_text(cpu)}."
    if plan.models:
        largest = max(plan.models, key=lambda model: model.host_memory_mb)
        memory = f"{largest.host_memory_mb / 1000:.1f} GB of the host ({largest.model})"
        yield f"Largest memory of a job that scores: {memory}."


def _disk(disk: DiskPlan) -> Iterator[str]:
    number_unknown = disk.downloads_unknown
    unknown = f" and {number_unknown} files of unknown size" if number_unknown else ""
    yield f"Disk: about {decimal(sum(disk.added.values()))} more."
    yield (
        f"  resources: {decimal(disk.downloads)} of treebanks and sources{unknown}, "
        f"{decimal(disk.weights)} of weights"
    )
    yield (
        f"  results: {decimal(disk.prepared)} of treebanks and pairs, {decimal(disk.stores)} of "
        f"scores, {decimal(disk.tables)} of tables"
    )
    free = ", ".join(f"{decimal(free)} for {name}" for name, free in disk.free.items())
    yield f"  free: {free}; {'enough' if disk.sufficient else 'NOT ENOUGH'}."


def plan_text(plan: RunPlan, site: Site | None, width: int = DEFAULT_WIDTH) -> str:
    """Return a plan as text of ``width`` columns."""
    where = f"on the cluster of {plan.site}" if plan.site else "on this machine"
    heading: list[RenderableType] = [Text(f"Campaign {plan.campaign} {where}.")]
    if plan.site is None:
        heading.append(
            "  No cluster is described, so models are planned for CPUs; to plan for a cluster, "
            "copy config/site.example.yaml to config/site.yaml and fill it in, or name a file "
            "with --site."
        )
    sections: list[Iterable[RenderableType]] = [
        heading,
        _rules(plan),
        _models(plan, site),
        _hours(plan),
        _disk(plan.disk),
        _list("Notes:", plan.notes),
        _list(f"Refused: {len(plan.refused)} models cannot be run.", plan.refused.values()),
        _list("This campaign cannot be run as it is:", plan.stops),
    ]
    blocks: list[RenderableType] = []
    for section in sections:
        lines = [*section]
        blocks += [*lines, ""] if lines else []
    return printed(blocks, width)


def _list(title: str, sentences: Collection[str]) -> list[str]:
    return [title, *(f"  - {sentence}" for sentence in sentences)] if sentences else []
