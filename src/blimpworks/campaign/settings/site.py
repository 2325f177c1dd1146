"""Define the settings that describe a cluster (``Site``): partitions, GPUs and limits.

They decide only the resources that jobs request. Users of a cluster edit a copy of
``config/site.example.yaml``; ``find_site`` reads it for a campaign.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field, field_validator, model_validator

from blimpworks.campaign.settings.base import Positive, parse_yaml
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.strict import Strict

if TYPE_CHECKING:
    from blimpworks.campaign.seeds import Training

DEFAULT_SITE = Path("config/site.yaml")
"""File that is read if neither campaign nor command names a file."""

# Values of these types are written into the command line of sbatch.
Word = Annotated[str, Field(pattern=r"^[\w.,:@/+-]*$")]
Constraint = Annotated[str, Field(pattern=r"^[\w.,:@/+&|()\[\]*-]*$")]
GresType = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.]*$")]
Amount = Annotated[float, Field(gt=0)]
Share = Annotated[float, Field(gt=0, le=1)]


class Nodes(Strict):
    """Nodes of a cluster."""

    partition: Word = ""
    """Partition of these nodes; empty for the cluster's default."""
    constraint: Constraint = ""
    """Value of ``sbatch --constraint``; empty for none."""
    account: Word | None = None
    """Account for these nodes, if it is not the account of the site."""
    max_hours: Amount = 24
    """Longest time that a job may request."""


class CpuNodes(Nodes):
    """Nodes for jobs that need no GPU."""

    label: ClassVar = "cpu"
    cores: Positive = 16
    """Usable cores of a node."""
    memory_gb: Amount = 64
    """Usable memory of a node, in GB (SLURM's RealMemory / 1000)."""

    @property
    def host_memory_gb(self) -> float:
        return self.memory_gb


class GpuKind(Nodes):
    """GPUs of one kind, and their nodes."""

    label: str = Field(min_length=1)
    """Name for people, different for each kind."""
    name: GresType = ""
    """SLURM's type of the GPU, as in ``--gres=gpu:NAME:1``; empty where the site has no types, or
    one with a hyphen (then a constraint or the partition must tell kinds apart)."""
    memory_gb: Amount
    """Memory of one GPU in GB (80 for an "80 GB" card)."""
    per_node: Positive
    """GPUs of a node. Models are never spread over several nodes."""
    cores_per_gpu: Positive = 8
    """Cores of a job for each GPU."""
    host_memory_gb: Amount
    """Usable memory of a node (not of its GPUs), in GB."""
    teraflops: Amount
    """Peak of dense bfloat16 matrix products by the data sheet, in 10^12 operations a second."""


class ModelNeeds(Strict):
    """Needs of one model on this cluster, in place of derived needs, and its measured speed."""

    gpus: int | None = Field(None, ge=0)
    """GPUs that the model is spread over; 0 for none."""
    memory_gb: float | None = Field(None, gt=0)
    """Memory on all GPUs of the model together, in GB."""
    kind: str | None = None
    """Label of the only kind of GPU that can run the model."""
    tokens_per_second: float | None = Field(None, gt=0)
    """Measured speed, such as ``tokens/s`` of ``blimpworks status`` after an earlier run."""


class Site(Strict):
    """A cluster, as its users see it."""

    account: Word = ""
    """Account of jobs; empty where the cluster has none, or for your default."""
    qos: Word = ""
    """Quality of service of jobs; empty for the cluster's default."""
    extra: str = Field("", pattern=r"^[^\n\"'`$;|<>\\]*$")
    """Further options of ``sbatch``, such as ``--mail-type=FAIL``, except options that Snakemake's
    executor for SLURM sets itself."""
    cpu: CpuNodes = CpuNodes()
    """Nodes without GPUs."""
    gpus: tuple[GpuKind, ...] = ()
    """Kinds of GPUs; without any, models run on ``cpu``."""
    utilisation: Share = 0.25
    """Share of a GPU's peak (``teraflops``) in scoring, for models without a measured speed."""
    host_tokens_per_second: Amount = 20_000
    """Most tokens a second that the processors of a GPU's node can handle."""
    load_gb_per_second: Amount = 0.5
    """Speed of reading weights from the file system."""
    start_seconds: float = Field(60, ge=0)
    """Seconds that an engine takes to start, without reading weights."""
    models: dict[str, ModelNeeds] = Field(default={})
    """Needs and measured speed of models, by name."""
    cache: Path | None = None
    """Shared cache of the hub's library (a ``HF_HUB_CACHE``); only read."""

    @field_validator("extra")
    @classmethod
    def _check_extra(cls, extra: str) -> str:
        # Imported late, because it takes half a second and most sites have no such options.
        if extra:
            from snakemake_executor_plugin_slurm.validation import get_forbidden_slurm_options

            for pattern, option_name in get_forbidden_slurm_options().items():
                if match := re.search(pattern, extra):
                    raise ValueError(
                        f"{match[0].strip(' =')} is the {option_name}, which Snakemake's executor "
                        "for SLURM sets itself; take it out"
                    )
        return extra

    @model_validator(mode="after")
    def _check_labels(self) -> "Site":
        labels = [gpu_kind.label for gpu_kind in self.gpus]
        # "A100-80" and "a100 80" are the same for people.
        letters = ["".join(filter(str.isalnum, label.lower())) for label in labels]
        if len({*letters}) < len(letters):
            raise ValueError(
                "two kinds in gpus have one label, or labels that differ in signs alone "
                f"({', '.join(labels)}); rename one"
            )
        for name, model in self.models.items():
            if model.kind is not None and model.kind not in labels:
                label_list = ", ".join(labels) or "none"
                raise ValueError(
                    f"models.{name}.kind is {model.kind!r}, expected a label of gpus ({label_list})"
                )
        return self


def load_site(path: Path) -> Site:
    """Read a cluster's description. Raises UserError when it is missing or wrong."""
    return parse_yaml(Site, path, "description of a cluster")


def site_file(campaign: Campaign, path: Path | None = None) -> Path | None:
    """Return ``path``, or else the campaign's file, or else ``DEFAULT_SITE`` if it exists."""
    named = path or campaign.site
    if named is None and DEFAULT_SITE.exists():
        return DEFAULT_SITE
    return named


def find_site(campaign: Campaign) -> Site | None:
    """Return the cluster of a campaign, if any. Raises UserError for a wrong file."""
    file = site_file(campaign)
    return load_site(file) if file else None


def for_seeds(site: Site | None, seeds: "Mapping[str, Training]") -> Site | None:
    """Return ``site`` with the needs of each training in ``seeds`` (trainings by name).

    Unless the site's file has needs under the name of a training, they are those of its model.
    """
    if site is None:
        return None
    needs = {name: site.models.get(training.model) for name, training in seeds.items()}
    stated = {name: model for name, model in needs.items() if model is not None}
    return site.model_copy(update={"models": stated | site.models})
