"""What a run would do and take, before anything is submitted."""

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from blimpworks.catalogue import Catalogue, SourceRow, TreebankRow
from blimpworks.cluster.dry_run import DryRun
from blimpworks.cluster.estimate import (
    TOKENS,
    expected_work,
    minutes_to_ask,
    score_seconds,
    speed_of,
)
from blimpworks.cluster.jobs import (
    NOTHING,
    ScoreJob,
    dtype_of,
    engine_of,
    is_done,
    score_jobs,
    stored,
)
from blimpworks.cluster.needs import Needs, needs_of
from blimpworks.cluster.requests import longest_hours, score_request
from blimpworks.config import Campaign, Strict
from blimpworks.config.site import Site
from blimpworks.errors import UserError

STORE_BYTES, TABLE_BYTES = 10, 8
"""Of a token in shards, and in tables of scores (measured on the demo: 10 and 7.5)."""
SENTENCE_BYTES = 40
"""Of a sentence in judgements and tables, whatever its length (demo: 37 of a pair)."""
PREPARED = 1.0
"""Size of prepared inputs and pairs, to that of the files they are made from (MultiBLiMP's
101 languages: 0.7)."""


class ModelPlan(Strict):
    """What scoring with a model takes: the jobs that are still to run."""

    model: str
    engine: str
    dtype: str
    weights_gb: float
    kind: str | None
    """Label of its GPUs' kind; None where it runs on the CPU."""
    gpus: int
    tensor_parallel: int
    gpu_memory_gb: float
    """Needed on all its GPUs together."""
    host_memory_mb: int
    jobs: int
    """To run."""
    tokens: int
    """To score, in all its jobs."""
    tokens_per_second: float
    speed: Literal["measured", "stated"]
    hours: float
    """Of its longest job."""
    minutes_asked: int
    """Of its longest job."""
    gpu_hours: float
    """Of all its jobs, as estimated."""
    gpu_hours_asked: float
    """Of all its jobs, as asked for: what they are charged at most."""
    cpu_hours: float
    """Of its jobs, where they run on CPUs."""


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
    def total(self) -> int:
        """All together."""
        return self.downloads + self.weights + self.prepared + self.stores + self.tables


class Present(Strict):
    """What is there already, of what the campaign has in all."""

    items: tuple[int, int]
    """Items tables, and how many there will be."""
    checkpoints: tuple[int, int]
    jobs: tuple[int, int]
    """Jobs that score."""
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
    refused: dict[str, str]
    """Models that cannot be run, and why."""
    disk: DiskPlan
    present: Present
    notes: tuple[str, ...]

    @property
    def largest(self) -> ModelPlan | None:
        """The model whose jobs need most of the host's memory."""
        return max(self.models, key=lambda model: model.host_memory_mb, default=None)


class _Planner:
    """A campaign with its site, its jobs and what is known of its sentences."""

    def __init__(self, campaign: Campaign, catalogue: Catalogue, site: Site | None) -> None:
        self.campaign, self.catalogue, self.site = campaign, catalogue, site
        self.jobs = score_jobs(campaign, catalogue)
        self.done = {job for job in self.jobs if is_done(job)}
        self.held = {job: stored(job) for job in self.jobs}
        # Shards of a job under way hold its longest sentences, or its first.
        self.common = sum((self.held[job] for job in self.done), NOTHING).mean
        folder = Path(campaign.pathvars.results) / "items" / "multiblimp"
        languages = catalogue.languages.values()
        self.guesses = {folder / f"{r.lang}.parquet": r.paper_n for r in languages if r.paper_n}

    def to_run(self, dry: DryRun | None) -> list[ScoreJob]:
        """Jobs that are to run: those Snakemake names, or all that are not done."""
        if dry is None or dry.scored is None:
            return [job for job in self.jobs if job not in self.done]
        return [job for job in self.jobs if (job.model, job.part) in dry.scored]

    def tokens(self, job: ScoreJob) -> int:
        """Tokens that a job has yet to score."""
        same = (self.held[other] for other in self.done if other.model == job.model)
        mean = sum(same, NOTHING).mean or self.common or TOKENS
        expected = expected_work(job.items, mean, self.guesses).sentences
        return round(max(0, expected - self.held[job].sentences) * mean)

    def needs(self, model: str) -> Needs:
        """What a model's jobs need, checked against the nodes."""
        row = self.catalogue.models[model]
        engine, dtype = engine_of(self.campaign, row), dtype_of(self.campaign, row)
        needs = needs_of(row, engine, dtype, self.site, options=self.campaign.scoring)
        try:
            score_request(self.site, needs, 1)
        except UserError as error:
            raise UserError(f"model {model!r}: {error}") from error
        return needs

    def model(self, model: str, needs: Needs, jobs: Sequence[ScoreJob]) -> ModelPlan:
        """What the jobs of a model take."""
        row = self.catalogue.models[model]
        engine = engine_of(self.campaign, row)
        dtype = dtype_of(self.campaign, row)
        speed = speed_of(row, engine, needs, self.site, dtype)
        tokens = [self.tokens(job) for job in jobs]
        seconds = [score_seconds(n, needs.weights_gb, speed, self.site) for n in tokens]
        asked = [minutes_to_ask(each, longest_hours(self.site, needs)) for each in seconds]
        hours = sum(seconds) / 3600
        return ModelPlan(
            model=model,
            engine=engine,
            dtype=dtype,
            weights_gb=needs.weights_gb,
            kind=needs.kind.label if needs.kind else None,
            gpus=needs.gpus,
            tensor_parallel=needs.tensor_parallel,
            gpu_memory_gb=needs.needed_gb,
            host_memory_mb=needs.memory_mb,
            jobs=len(jobs),
            tokens=sum(tokens),
            tokens_per_second=speed.tokens_per_second,
            speed=speed.source,
            hours=max(seconds) / 3600,
            minutes_asked=max(asked),
            gpu_hours=hours * needs.gpus,
            gpu_hours_asked=sum(asked) / 60 * needs.gpus,
            cpu_hours=0 if needs.gpus else hours * needs.cores,
        )

    def present(self) -> Present:
        """What is there already."""
        items = {path for job in self.jobs for path in job.items} or self._items()
        checkpoints = {job.checkpoint for job in self.jobs}
        expected = [expected_work(job.items, TOKENS, self.guesses).sentences for job in self.jobs]
        return Present(
            items=(sum(path.exists() for path in items), len(items)),
            checkpoints=(sum(path.exists() for path in checkpoints), len(checkpoints)),
            jobs=(len(self.done), len(self.jobs)),
            sentences=(sum(held.sentences for held in self.held.values()), sum(expected)),
        )

    def _items(self) -> set[Path]:
        folder = Path(self.campaign.pathvars.results) / "items"
        return {
            folder / benchmark / f"{lang}.parquet"
            for benchmark in self.campaign.benchmarks
            for lang in self.catalogue.languages
        }

    def disk(self, dry: DryRun | None, to_run: Sequence[ScoreJob]) -> DiskPlan:
        """What a run adds on disk."""
        rows = self._downloads(dry)
        sizes = [row.bytes for row in rows]
        downloads = sum(size for size in sizes if size is not None)
        tokens = sum(self.tokens(job) for job in to_run)
        sentences = sum(expected_work(job.items, 1, self.guesses).sentences for job in to_run)
        adds = {
            "downloads": downloads,
            "weights": self._weights(to_run),
            "prepared": round(downloads * PREPARED),
            "stores": tokens * STORE_BYTES,
            "tables": tokens * TABLE_BYTES + sentences * SENTENCE_BYTES,
        }
        places = {name: _existing(Path(getattr(self.campaign.pathvars, name))) for name in PLACES}
        free = {name: shutil.disk_usage(path).free for name, path in places.items()}
        return DiskPlan(
            **adds,
            downloads_unknown=sizes.count(None),
            free=free,
            sufficient=_suffices(adds, free, places),
        )

    def _downloads(self, dry: DryRun | None) -> list[SourceRow | TreebankRow]:
        """Rows of files that are to be retrieved."""
        pins: dict[str, SourceRow | TreebankRow] = {**self.catalogue.sources}
        for rows in self.catalogue.treebanks.values():
            pins |= {row.name: row for row in rows}
        if dry is None:
            return []
        names = (path.removeprefix("sources/") for path in dry.retrieved)
        return [pins[name] for name in names if name in pins]

    def _weights(self, to_run: Sequence[ScoreJob]) -> int:
        """Bytes of models from the hub that are to be retrieved."""
        missing = {(job.model, job.checkpoint) for job in to_run if not self._had(job)}
        rows = [self.catalogue.models[model] for model, _ in missing]
        sizes = [needs_of(row, row.engine, row.dtype, None).weights_gb for row in rows if row.hf_id]
        return round(sum(sizes) * 1e9)

    def _had(self, job: ScoreJob) -> bool:
        if job.checkpoint.exists():
            return True
        cache = self.site.cache if self.site else None
        return bool(cache and (cache / Path(*job.checkpoint.parts[-3:])).exists())

    def obstacles(self, dry: DryRun | None, to_run: Sequence[ScoreJob]) -> list[str]:
        """What will stop files and models from being retrieved, unless something is done."""
        found = []
        unpinned = [row for row in self._downloads(dry) if not row.sha256]
        if unpinned:
            found.append(
                f"{len(unpinned)} files to retrieve have no checksum in the catalogue, and the run "
                "stops at them: run `blimpworks pin` on its tables where there is a network, or "
                "set unpinned: skip in the campaign."
            )
        wanted = dict.fromkeys(job.model for job in to_run if not self._had(job))
        gated = [name for name in wanted if self.catalogue.models[name].gated == "yes"]
        if gated:
            found.append(
                f"{len(gated)} models to retrieve want their licence accepted on the hub first, "
                f"and HF_TOKEN set: {', '.join(gated)}."
            )
        return found

    def notes(self, dry: DryRun | None, to_run: Sequence[ScoreJob]) -> list[str]:
        """What a reader should know of the numbers, and do."""
        found = self.obstacles(dry, to_run)
        if dry is not None and dry.scored is None:
            found.append("Snakemake did not name the jobs that score; taken are those not done.")
        unknown = {*(self.site.models if self.site else {})} - {*self.catalogue.models}
        if unknown:
            found.append(
                f"models of the site's file that this campaign lacks: {', '.join(sorted(unknown))}."
            )
        if self.common:
            found.append("tokens a sentence: as in what is scored already.")
        else:
            found.append(f"tokens a sentence: {TOKENS}, an assumption; nothing is scored yet.")
        if self.site and self.site.whole_nodes:
            found.append("the site gives whole nodes: GPU-hours count the GPUs that models use.")
        return found


PLACES = ("resources", "results")


def _existing(path: Path) -> Path:
    """``path``, or the nearest directory above it that exists."""
    path = path.absolute()
    while not path.exists():
        path = path.parent
    return path


def _suffices(adds: Mapping[str, int], free: Mapping[str, int], places: Mapping[str, Path]) -> bool:
    """Whether what a run adds to each place fits on its file system."""
    made = adds["stores"] + adds["tables"]
    wanted = {"resources": sum(adds.values()) - made, "results": made}
    devices: dict[int, int] = {}
    for name, path in places.items():
        device = path.stat().st_dev
        devices[device] = devices.get(device, 0) + wanted[name]
    return all(devices[path.stat().st_dev] <= free[name] for name, path in places.items())


def _limits(models: Sequence[ModelPlan], site: Site | None) -> list[str]:
    """Where jobs take more than there is, and what comes of it."""
    found = []
    long = [model.model for model in models if model.hours * 60 > model.minutes_asked]
    if long:
        found.append(
            "jobs that take longer than one may (they end cleanly, are queued again and go on): "
            f"{', '.join(long)}."
        )
    here = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e6
    large = [model.model for model in models if site is None and model.host_memory_mb > here]
    if large:
        found.append(
            f"jobs that need more memory than this machine has ({here / 1000:.1f} GB): "
            f"{', '.join(large)}."
        )
    return found


def make_plan(
    campaign: Campaign,
    catalogue: Catalogue,
    site: Site | None,
    dry: DryRun | None,
    site_file: Path | None = None,
) -> Plan:
    """What a run would do: ``dry`` is Snakemake's part of the answer, if it gave one.

    Models that fit nowhere are in ``refused``.
    """
    planner = _Planner(campaign, catalogue, site)
    to_run = planner.to_run(dry)
    models, refused = [], {}
    for name in dict.fromkeys(job.model for job in to_run):
        jobs = [job for job in to_run if job.model == name]
        try:
            models.append(planner.model(name, planner.needs(name), jobs))
        except UserError as error:
            refused[name] = str(error)
    return Plan(
        campaign=campaign.campaign,
        site=str(site_file) if site_file else None,
        rules=dry.rules if dry else None,
        dry_run_seconds=round(dry.seconds, 1) if dry else None,
        models=tuple(models),
        refused=refused,
        disk=planner.disk(dry, to_run),
        present=planner.present(),
        notes=(*planner.notes(dry, to_run), *_limits(models, site)),
    )
