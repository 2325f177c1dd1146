"""Define the data of a plan."""

from typing import Literal

from blimpworks.strict import Strict

WEEK = 7 * 24
"""Hours."""


class ModelPlan(Strict):
    """Remaining jobs of a model."""

    model: str
    """Name of the model, or title of its answers."""
    engine: str
    dtype: str
    weights_gb: float
    kind: str | None
    """Label of its kind of GPU; None on CPUs."""
    gpus: int
    tensor_parallel: int
    gpu_memory_gb: float
    """GB needed on all its GPUs together."""
    host_memory_mb: int
    jobs: int
    """Number of its jobs: checkpoints or languages."""
    tokens: int
    """Tokens to score; of answers, the cost of reading and writing in scored tokens."""
    tokens_per_second: float
    speed: Literal["measured", "stated"]
    hours: float
    """Hours of the longest of its jobs."""
    minutes_asked: int
    """Requested minutes of its longest job."""
    gpu_hours: float
    """Estimated GPU-hours of all its jobs."""
    gpu_hours_asked: float
    """GPU-hours that its jobs request: the most that they are charged."""
    cpu_hours: float
    """Core-hours of all its jobs on CPUs."""

    @property
    def endless(self) -> bool:
        """Whether a job would take more than a week on CPUs: a GPU is missing."""
        return not self.gpus and self.hours > WEEK


class TrainingPlan(Strict):
    """Missing checkpoints of an LSTM that is trained on GPUs."""

    model: str
    checkpoints: int
    """Number of checkpoints, each trained by one job on one GPU."""
    epochs: int
    words: int | None
    """Words that the largest checkpoint reads in an epoch; None for a corpus that is made here."""
    vocabulary: int
    """Words of the output layer, at most."""
    words_per_second: float | None
    """Assumed speed, see docs/cluster.md."""
    hours: float | None
    """Hours of one checkpoint: epochs × words / words a second."""
    gpu_hours: float | None
    """GPU-hours of all checkpoints, not counted with scoring."""


class DiskPlan(Strict):
    """Bytes that a run adds on disk; all but downloads of files are estimates."""

    downloads: int
    """Bytes of missing sources and treebanks."""
    downloads_unknown: int
    """Number of missing files without a size in the catalogue."""
    weights: int
    """Bytes of missing models of the hub that are not in the site's cache."""
    prepared: int
    """Bytes of tables made of the sources."""
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

    @property
    def total(self) -> int:
        return sum(self.added.values())


class Present(Strict):
    """Number of files that exist and that the campaign has in all."""

    items: tuple[int, int]
    """Items tables."""
    checkpoints: tuple[int, int]
    parts: tuple[int, int]
    """Checkpoints, or languages, each scored by one job."""
    sentences: tuple[int, int]
    """Scored sentences; the total counts a sentence of two pairs twice."""


class Plan(Strict):
    """Jobs and resources of a run of a campaign."""

    campaign: str
    site: str | None
    """Path of the cluster's description, if any."""
    rules: dict[str, int] | None
    """Number of jobs by rule; None when Snakemake did not say."""
    dry_run_seconds: float | None
    models: tuple[ModelPlan, ...]
    trainings: tuple[TrainingPlan, ...]
    """LSTMs that are trained before they score."""
    refused: dict[str, str]
    """Reason for each model that cannot be run."""
    disk: DiskPlan
    present: Present
    notes: tuple[str, ...]
    stops: tuple[str, ...]
    """Obstacles, beside refused models, that will stop the campaign."""

    @property
    def largest(self) -> tuple[str, int]:
        """Model whose job requests most host memory, and the MB; ("", 0) if none."""
        memory = [(model.model, model.host_memory_mb) for model in self.models]
        return max(memory, key=lambda each: each[1], default=("", 0))
