"""What a plan holds, as data."""

from typing import Literal

from blimpworks.strict import Strict

WEEK = 7 * 24
"""Hours."""


class ModelPlan(Strict):
    """What scoring with a model takes: the jobs that are still to run."""

    model: str
    """Its name, or the title of its answers."""
    engine: str
    dtype: str
    weights_gb: float
    kind: str | None
    """Label of its GPUs' kind; None where it runs on the CPU."""
    gpus: int
    tensor_parallel: int
    gpu_memory_gb: float
    """GPU memory needed on all its GPUs together."""
    host_memory_mb: int
    jobs: int
    """To run by jobs of their own: checkpoints, or languages."""
    packed: int
    """Further ones that share a job with others."""
    packs: int
    """Shared jobs that those parts are in."""
    tokens: int
    """To score, in all; of answers what reading and writing them costs, in tokens scored."""
    tokens_per_second: float
    speed: Literal["measured", "stated"]
    hours: float
    """Of the longest of its jobs, or of what it has in a pack."""
    minutes_asked: int
    """Of the longest of its jobs, or packs."""
    gpu_hours: float
    """GPU-hours of all its jobs, as estimated."""
    gpu_hours_asked: float
    """Of its own jobs, as asked for: what they are charged at most."""
    cpu_hours: float
    """Core-hours of all its jobs, where it runs on CPUs."""

    @property
    def endless(self) -> bool:
        """Whether a job would take more than a week on processors: a GPU is missing."""
        return not self.gpus and self.hours > WEEK


class PackPlan(Strict):
    """A job that scores several small parts."""

    name: str
    parts: int
    gpus: int
    hours: float
    minutes_asked: int
    host_memory_mb: int

    @property
    def gpu_hours_asked(self) -> float:
        """What it is charged at most."""
        return self.minutes_asked / 60 * self.gpus


class TrainingPlan(Strict):
    """What training an LSTM on GPUs takes: its checkpoints that are still missing."""

    model: str
    checkpoints: int
    """Each trained by a job of its own, on one GPU."""
    epochs: int
    words: int | None
    """That one (the largest) reads in an epoch; None for a corpus that is made here."""
    vocabulary: int
    """Words of its output layer, at most."""
    words_per_second: float | None
    """An assumption, see docs/cluster.md."""
    hours: float | None
    """Of one: epochs × words / words a second."""
    gpu_hours: float | None
    """Of all; not among those of scoring."""


class DiskPlan(Strict):
    """What a run adds on disk, in bytes; all but downloads of files are estimates."""

    downloads: int
    """Sources and treebanks that are not there yet."""
    downloads_unknown: int
    """Number of those whose size the catalogue does not say."""
    weights: int
    """Of models on the hub that are neither there nor in the site's cache."""
    prepared: int
    """Tables made of the sources."""
    stores: int
    """Shards of scores."""
    tables: int
    """Scores, judgements and what follows from them."""
    free: dict[str, int]
    """Free space of the file systems that resources and results are on, by directory."""
    sufficient: bool

    @property
    def added(self) -> dict[str, int]:
        """Bytes that a run adds, by directory."""
        return {
            "resources": self.downloads + self.weights,
            "results": self.prepared + self.stores + self.tables,
        }

    @property
    def total(self) -> int:
        """Bytes of everything that a run adds on disk."""
        return sum(self.added.values())


class Present(Strict):
    """What is there already, of what the campaign has in all."""

    items: tuple[int, int]
    """Items tables, and how many there will be."""
    checkpoints: tuple[int, int]
    parts: tuple[int, int]
    """Checkpoints, or languages, that are scored by one job each, or in packs."""
    sentences: tuple[int, int]
    """Scored by any model; the second counts no pair's sentence as shared."""


class Plan(Strict):
    """What a run of a campaign would do."""

    campaign: str
    site: str | None
    """File with the description of the cluster; None without one."""
    rules: dict[str, int] | None
    """Jobs to run by rule; None where Snakemake could not say."""
    dry_run_seconds: float | None
    models: tuple[ModelPlan, ...]
    packs: tuple[PackPlan, ...]
    trainings: tuple[TrainingPlan, ...]
    """LSTMs that are trained before they score."""
    refused: dict[str, str]
    """Models that cannot be run, and why."""
    disk: DiskPlan
    present: Present
    notes: tuple[str, ...]
    stops: tuple[str, ...]
    """What will stop the campaign, unless something is done, beside models that are refused."""

    @property
    def largest(self) -> tuple[str, int]:
        """Model or pack whose job asks for most of the host's memory, and MB; ("", 0) if none."""
        memory = [(model.model, model.host_memory_mb) for model in self.models if model.jobs]
        memory += [(pack.name, pack.host_memory_mb) for pack in self.packs]
        return max(memory, key=lambda each: each[1], default=("", 0))

    @property
    def gpu_hours_asked(self) -> float:
        """Of all jobs that score: what they are charged at most."""
        alone = sum(model.gpu_hours_asked for model in self.models)
        return alone + sum(pack.gpu_hours_asked for pack in self.packs)

    @property
    def gpu_jobs(self) -> int:
        """Jobs that score on GPUs."""
        alone = sum(model.jobs for model in self.models if model.gpus)
        return alone + sum(1 for pack in self.packs if pack.gpus)
