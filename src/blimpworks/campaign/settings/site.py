"""The description of a cluster: the one place where partitions, GPUs and limits are named.

It decides no number of any product, only what jobs ask for. A site fills in its copy of
``config/site.example.yaml``.
"""

import re
from collections import Counter
from pathlib import Path
from typing import Annotated

from pydantic import Field, field_validator, model_validator

from blimpworks.campaign.settings.base import Positive
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.campaign.settings.parsing import parse_yaml
from blimpworks.strict import Strict

DEFAULT_SITE = Path("config/site.yaml")
"""Read where neither a campaign nor a command names another."""

# These words end up in sbatch's command line.
Word = Annotated[str, Field(pattern=r"^[\w.,:@/+-]*$")]
Constraint = Annotated[str, Field(pattern=r"^[\w.,:@/+&|()\[\]*-]*$")]
GresType = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.]*$")]
Amount = Annotated[float, Field(gt=0)]
Share = Annotated[float, Field(gt=0, le=1)]


class CpuNodes(Strict):
    """Nodes for jobs that need no GPU."""

    partition: Word = ""
    """Partition; empty for the cluster's default one."""
    constraint: Constraint = ""
    """What ``sbatch --constraint`` takes; empty for none."""
    cores: Positive = 16
    """Cores of a node that jobs can have."""
    memory_gb: Amount = 64
    """Memory of a node that jobs can have, in GB (SLURM's RealMemory / 1000)."""
    max_hours: Amount = 24
    """Longest time that a job may ask for."""


class GpuKind(Strict):
    """GPUs of one kind, and the nodes they are in."""

    label: str = Field(min_length=1)
    """What people call it; each kind needs another."""
    name: GresType = ""
    """SLURM's type of the GPU, as in ``--gres=gpu:NAME:1``; empty where the site has no types,
    or one with a hyphen (then a constraint or the partition must tell kinds apart)."""
    partition: Word = ""
    """Partition with these GPUs; empty for the cluster's default one."""
    constraint: Constraint = ""
    """What ``sbatch --constraint`` takes; empty for none."""
    account: Word | None = None
    """Account that these GPUs are charged to, where it is another than the site's."""
    memory_gb: Amount
    """Memory of one GPU in GB (80 for an "80 GB" card)."""
    per_node: Positive
    """GPUs of a node. Models are never spread over several nodes."""
    cores_per_gpu: Positive = 8
    """Cores that a job gets with each GPU."""
    host_memory_gb: Amount
    """Memory of a node (not of its GPUs) that jobs can have, in GB."""
    max_hours: Amount = 24
    """Longest time that a job may ask for."""
    teraflops: Amount
    """Peak of dense bfloat16 products, in 10^12 operations a second, for the estimate: the
    data sheet's number, without sparsity."""


class ModelNeeds(Strict):
    """What one model needs here, in place of what is derived; and how fast it was."""

    gpus: int | None = Field(None, ge=0)
    """GPUs to spread it over; 0 for none."""
    memory_gb: float | None = Field(None, gt=0)
    """Memory that it needs on all its GPUs together, in GB."""
    kind: str | None = None
    """Label of the only kind of GPU that it may have."""
    tokens_per_second: float | None = Field(None, gt=0)
    """Measured here, such as ``tokens/s`` of ``status`` after an earlier run."""


class Site(Strict):
    """A cluster, as its users see it."""

    account: Word = ""
    """Account that jobs are charged to; empty where the cluster has none, or yours is its
    default."""
    qos: Word = ""
    """Quality of service of each job; empty for the cluster's default."""
    extra: str = Field("", pattern=r"^[^\n\"'`$;|<>\\]*$")
    """More options of ``sbatch`` for each job, such as ``--mail-type=FAIL``; none that Snakemake's
    executor for SLURM sets itself."""
    cpu: CpuNodes = CpuNodes()
    """Nodes without GPUs."""
    gpus: tuple[GpuKind, ...] = ()
    """Kinds of GPUs. Without any, models run on ``cpu``."""
    whole_nodes: bool = False
    """Whether jobs get nodes as a whole: then several small models are packed on one."""
    pack_hours: Amount = 2
    """How long a job with several models should take, in hours."""
    utilisation: Share = 0.25
    """Share of the GPUs' peak that scoring reaches, for models without a measurement."""
    host_tokens_per_second: Amount = 20_000
    """Most tokens a second that the processors beside a GPU can hand over and take back, however
    small the model."""
    load_gb_per_second: Amount = 0.5
    """How fast weights are read from the file system."""
    start_seconds: float = Field(60, ge=0)
    """How long an engine takes to start, weights not counted."""
    models: dict[str, ModelNeeds] = Field(default={})
    """By name of a model: what it needs here and how fast it was."""
    cache: Path | None = None
    """Cache of the hub's library (a ``HF_HUB_CACHE``) that several people share; only read."""

    @field_validator("extra")
    @classmethod
    def _extra(cls, extra: str) -> str:
        # Snakemake takes half a second to import, and most sites have none of these options.
        if extra:
            from snakemake_executor_plugin_slurm.validation import get_forbidden_slurm_options

            for pattern, what in get_forbidden_slurm_options().items():
                if found := re.search(pattern, extra):
                    raise ValueError(
                        f"{found[0].strip(' =')} is the {what}, which Snakemake's executor for "
                        "SLURM sets itself; take it out"
                    )
        return extra

    @model_validator(mode="after")
    def _labels(self) -> "Site":
        labels = {
            kind.label: "".join(filter(str.isalnum, kind.label.lower())) for kind in self.gpus
        }
        alike = Counter(labels.values())
        if len(labels) < len(self.gpus) or max(alike.values(), default=1) > 1:
            names = ", ".join(kind.label for kind in self.gpus)
            raise ValueError(
                "two kinds in gpus have one label, or labels that differ in signs alone "
                f"({names}); rename one"
            )
        for name, model in self.models.items():
            if model.kind is not None and model.kind not in labels:
                known = ", ".join(labels) or "none"
                raise ValueError(
                    f"models.{name}.kind is {model.kind!r}, expected a label of gpus ({known})"
                )
        return self


def load_site(path: Path) -> Site:
    """Read and validate the description of a cluster.

    Raises UserError with one line per problem when it is missing or wrong.
    """
    return parse_yaml(Site, path, "description of a cluster")


def site_file(campaign: Campaign, path: Path | None = None) -> Path | None:
    """The file that describes the cluster.

    ``path`` if given, else what the campaign names, else ``config/site.yaml``; None where that
    does not exist.
    """
    named = path or campaign.site
    if named is None and not DEFAULT_SITE.exists():
        return None
    return named or DEFAULT_SITE


def find_site(campaign: Campaign, path: Path | None = None) -> Site | None:
    """The cluster that jobs of ``campaign`` run on, None where none is described.

    See ``site_file`` for where it is looked for. Raises UserError as ``load_site`` does.
    """
    file = site_file(campaign, path)
    return load_site(file) if file else None
