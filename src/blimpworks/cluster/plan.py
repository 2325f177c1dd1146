"""Estimate the jobs, time, memory and disk of a run, before anything is submitted.

``make_plan`` returns the ``RunPlan`` that ``blimpworks plan`` prints. Its inputs are a campaign,
the cluster's description (the site), and the jobs that a dry run of Snakemake lists (``dry_run``).
A scoring job runs one model on items of some languages; it scores sentences or answers prompts.
For example, a job with the ``model`` gpt2 has the ``title`` "gpt2", or "gpt2 (answers)" if it
answers prompts. Its ``name`` says for which languages: "multi", "multi.deu" or "deu".
"""

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from rich.filesize import decimal

from blimpworks.campaign.addresses import in_cache, is_local, offline_variable
from blimpworks.campaign.catalogue import SourceRow, TreebankRow
from blimpworks.campaign.registry import find_benchmark
from blimpworks.campaign.scoring_jobs import ANSWERS_SUFFIX, CampaignSelection, ScoringJob
from blimpworks.campaign.settings.site import Site, for_seeds
from blimpworks.cluster.needs import (
    ASSUMED_BILLIONS,
    BYTES,
    Needs,
    Setup,
    Work,
    expected_items,
    expected_work,
    scores_regions,
    setup_of,
)
from blimpworks.cluster.plan_text import DiskPlan, ModelPlan, RunPlan
from blimpworks.cluster.requests import plan_trainings, sized_request, training_notes
from blimpworks.cluster.software import missing_software
from blimpworks.errors import UserError
from blimpworks.records.job import REPOSITORY
from blimpworks.scoring.shards import read_manifest


def count_scored(store: Path) -> Work:
    """Count sentences and tokens in the readable shards (files of scores) of a scoring job."""
    sentences = tokens = 0
    for path in (store / "shards").glob("part-*.parquet"):
        with suppress(OSError, pa.ArrowException):
            metadata = pq.read_metadata(path)
            sentences += metadata.num_rows
            groups = map(metadata.row_group, range(metadata.num_row_groups))
            columns = [group.column(i) for group in groups for i in range(group.num_columns)]
            # The column ``ids`` has a list of token ids for each sentence.
            tokens += sum(c.num_values for c in columns if c.path_in_schema.startswith("ids."))
    return Work(sentences, tokens)


# Messages of Snakemake's rules: "Job 7: Score with gpt2 (multi)", "Job 3: Retrieve sources/x.tsv".
RUN_MESSAGE = re.compile(r"^ *Job \d+: (Score|Answer) with (\S+) \((\S+)\)$", re.MULTILINE)
RETRIEVE_MESSAGE = re.compile(r"^Job \d+: Retrieve (\S+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class DryRun:
    """Jobs that a run of Snakemake would start."""

    rules: dict[str, int]
    """Number of jobs of each rule."""
    scoring_jobs: frozenset[tuple[str, str]] | None
    """(title, name) of each scoring job, such as ("gpt2", "multi"); None if some are not listed."""
    retrieved: tuple[str, ...]
    """Files to retrieve, relative to the resources directory."""


def read_dry_run(output: str) -> DryRun:
    """Read the jobs from what Snakemake prints in a dry run."""
    # The last table of counts looks as follows, and ends with an empty line:
    #   Job stats:
    #   job      count
    #   -----  -------
    #   score       12
    #   total       12
    _, heading, after_heading = output.rpartition("Job stats:\n")
    rules: dict[str, int] = {}
    if heading:
        _, _, *lines = after_heading.partition("\n\n")[0].splitlines()
        rows = (line.split() for line in lines)
        rules = {row[0]: int(row[1]) for row in rows if len(row) == 2 and row[0] != "total"}
    suffixes = {"Score": "", "Answer": ANSWERS_SUFFIX}
    messages = RUN_MESSAGE.findall(output)
    listed = frozenset((f"{model}{suffixes[task]}", name) for task, model, name in messages)
    # If Snakemake printed no message for some of the counted jobs, the list is incomplete.
    counted = sum(count for rule, count in rules.items() if rule.startswith(("score", "answer")))
    files = tuple(sorted(set(RETRIEVE_MESSAGE.findall(output))))
    return DryRun(rules, listed if len(listed) == counted else None, files)


def dry_run(configfile: Path, targets: Sequence[str], site: Path | None) -> DryRun:
    """Ask Snakemake which jobs it would start for ``targets``, or for its default targets.

    Snakemake runs in the current directory and writes nothing. Raises UserError, with Snakemake's
    message, when the dry run fails.
    """
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--cores", "1", *targets]
    command += ["--quiet", "host", "reason", "--configfile", str(configfile)]
    command += ["--config", f"site={site}"] if site else []
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        # A dry run prints some errors on standard output.
        text_lines = [text for text in (result.stderr + result.stdout).splitlines() if text.strip()]
        raise UserError(
            f"Snakemake's dry run fails (exit {result.returncode}), so its jobs are not known; it "
            "says:\n  " + "\n  ".join(text_lines[-6:])
        )
    return read_dry_run(result.stdout + result.stderr)


STORE_BYTES, TABLE_BYTES = 10, 8
"""Bytes per token in shards, and in tables of scores (measured on the demo: 10 and 7.5)."""
SENTENCE_BYTES = 40
"""Bytes per sentence in judgements and later tables (measured on the demo: 37 per pair)."""
ANSWER_BYTES = 250
"""Bytes per answer in shards, and again in a table (an assumption: 128 tokens, compressed)."""
PREPARED_SIZE = 1.0
"""Size of tables of treebanks and pairs relative to the downloads (0.7 with 101 languages)."""


class _Planner:
    """Estimates the remaining work of a campaign's scoring jobs on a site."""

    def __init__(self, selection: CampaignSelection, site: Site | None) -> None:
        self.selection, self.jobs = selection, selection.jobs
        self.campaign, self.catalogue = selection.campaign, selection.catalogue
        # From one row of the table of models, a campaign can train several models (with different
        # seeds or samples). The needs that the site's file states for the row hold for each.
        self.site = for_seeds(site, self.catalogue.seeds)
        self.items = {job: expected_items(selection, job) for job in self.jobs}
        self.work = {job: expected_work(items) for job, items in self.items.items()}
        self.finished_jobs: set[ScoringJob] = set()
        self.scored_counts: dict[ScoringJob, Work] = {}
        # Types of the texts that a job scores: (benchmark, whether only critical regions count).
        # Jobs with the same types have about as many tokens per sentence.
        self.text_types: dict[ScoringJob, set[tuple[str, bool]]] = {}
        for job in self.jobs:
            manifest, row = job.manifest(self.campaign), self.catalogue.models[job.model]
            self.scored_counts[job] = count_scored(manifest.parent)
            with suppress(UserError):
                read_manifest(manifest)
                self.finished_jobs.add(job)
            self.text_types[job] = {
                (name, scores_regions(self.campaign, row, find_benchmark(name)))
                for name, _ in job.sets
            }
        # By model: the setup and its needs, or the reason why it fits nowhere.
        self.needs: dict[str, tuple[Setup, Needs]] = {}
        self.refused: dict[str, str] = {}
        for model in dict.fromkeys(job.model for job in self.jobs):
            try:
                setup = setup_of(selection, model, self.site)
                self.needs[model] = setup, setup.needs()
            except UserError as error:
                self.refused[model] = str(error)
        self.trainings = plan_trainings(selection, self.site)

    def _measured_tokens(self, job: ScoringJob) -> float | None:
        """Return the mean tokens per sentence of finished jobs with equal types of texts, or None.

        If some of these jobs are of the same model, only they count, because other models split
        words into other numbers of tokens.
        """
        if job.task == "answer":  # shards do not contain the cost of answers in tokens
            return None
        # Leave out unfinished jobs, because the shortest sentences are scored first.
        types = self.text_types[job]
        similar = [done for done in self.finished_jobs if self.text_types[done] == types]
        for jobs in ([done for done in similar if done.model == job.model], similar):
            counts = [self.scored_counts[done] for done in jobs]
            sentences = sum(work.sentences for work in counts)
            if sentences:
                return sum(work.tokens for work in counts) / sentences
        return None

    def count_tokens(self, job: ScoringJob) -> int:
        """Estimate the tokens that a job has yet to score."""
        work = self.work[job]
        mean = self._measured_tokens(job) or work.mean or 0.0
        return round(max(0, work.sentences - self.scored_counts[job].sentences) * mean)

    def plan_model(self, title: str, jobs: Sequence[ScoringJob]) -> ModelPlan:
        """Plan the jobs of a model with this ``title``. Raises UserError if they fit no node."""
        setup, needs = self.needs[title.removesuffix(ANSWERS_SUFFIX)]
        speed = setup.speed(needs)
        tokens = [self.count_tokens(job) for job in jobs]
        seconds = [setup.seconds(n, needs) for n in tokens]
        total_hours = sum(seconds) / 3600
        # Resources that the jobs request from the scheduler, with a margin.
        requests = [sized_request(setup, self.items[j], j.log(self.campaign)) for j in jobs]
        minutes = [int(request["runtime"]) for request in requests]
        return ModelPlan(
            model=title,
            engine=setup.engine.name,
            dtype=setup.dtype,
            weights_gb=needs.weights_gb,
            kind=needs.gpu_kind.label if needs.gpu_kind else None,
            gpus=needs.gpus,
            gpu_memory_gb=needs.gb_per_gpu * needs.gpus,
            host_memory_mb=max(int(request["mem_mb"]) for request in requests),
            jobs=len(jobs),
            tokens=sum(tokens),
            tokens_per_second=speed.tokens_per_second,
            speed=speed.source,
            hours=max(seconds) / 3600,  # of the longest job
            minutes_asked=max(minutes),
            gpu_hours=total_hours * needs.gpus,
            gpu_hours_asked=sum(minutes) / 60 * needs.gpus,
            cpu_hours=0 if needs.gpus else total_hours * needs.cores,
        )

    def plan_disk(
        self, files: Sequence[SourceRow | TreebankRow], jobs: Sequence[ScoringJob]
    ) -> DiskPlan:
        """Compare the bytes that downloaded ``files`` and ``jobs`` add with the free space."""
        downloads = sum(row.bytes or 0 for row in files)
        # A model may have a checkpoint for each language (job.scope): count each of them.
        missing_models = {(job.model, job.scope) for job in jobs if not self.has_model(job)}
        rows = [self.catalogue.models[model] for model, _ in missing_models]
        weights_gb = sum((row.parameters or 0) * BYTES[row.dtype] for row in rows if row.hf_id)
        scoring = [job for job in jobs if job.task == "score"]
        tokens = sum(map(self.count_tokens, scoring))
        sentences = sum(self.work[job].sentences for job in scoring)
        prompts = sum(self.work[job].sentences for job in jobs if job.task == "answer")
        # A directory that does not exist yet will be on the disk of its first existing parent.
        folders = {}
        for name in ("resources", "results"):
            folder = Path(getattr(self.campaign.pathvars, name)).absolute()
            folders[name] = next(path for path in (folder, *folder.parents) if path.exists())
        free = {name: shutil.disk_usage(path).free for name, path in folders.items()}
        plan = DiskPlan(
            downloads=downloads,
            downloads_unknown=sum(row.bytes is None for row in files),
            weights=round(weights_gb * 1e9),
            prepared=round(downloads * PREPARED_SIZE),
            stores=tokens * STORE_BYTES + prompts * ANSWER_BYTES,
            tables=tokens * TABLE_BYTES
            + sentences * SENTENCE_BYTES
            + prompts * (ANSWER_BYTES + SENTENCE_BYTES),
            free=free,
            sufficient=True,
        )
        # Both directories may be on one disk, which must then hold the sum.
        devices = {name: path.stat().st_dev for name, path in folders.items()}
        added_by_device = Counter[int]()
        for name, device in devices.items():
            added_by_device[device] += plan.added[name]
        fits = [added_by_device[device] <= free[name] for name, device in devices.items()]
        return plan.model_copy(update={"sufficient": all(fits)})

    def has_model(self, job: ScoringJob) -> bool:
        cache = self.site.cache if self.site else None
        cached = in_cache(cache, self.catalogue.models[job.model].hf_id)
        return cached or job.checkpoint(self.campaign).exists()

    def notes(self, dry: DryRun | None, jobs: Sequence[ScoringJob]) -> Iterator[str]:
        """Yield remarks on the plan's numbers, such as assumptions."""
        missing = dict.fromkeys(job.model for job in jobs if not self.has_model(job))
        rows = [self.catalogue.models[model] for model in missing]
        gated = [row for row in rows if row.gated == "yes" and not is_local(row.hf_id)]
        if gated and not offline_variable():  # offline they come from a cache
            listed = ", ".join(dict.fromkeys(row.hf_id for row in gated))
            yield (
                f"{len(gated)} models to retrieve are gated: the owner of the token must have "
                f"accepted their licences on https://huggingface.co: {listed}."
            )
        yield from training_notes(self.trainings, self.catalogue, self.site)
        if dry is not None and dry.scoring_jobs is None:
            yield "Snakemake did not list all scoring jobs; planned are all unfinished ones."
        # Names in the site's file may be misspelled. A right name is that of a model, or of a row
        # of the table of models from which the campaign trains several models.
        names = {*self.catalogue.models, *map(self.catalogue.row_of, self.catalogue.models)}
        unknown = {*(self.site.models if self.site else {})} - names
        if unknown:
            yield (
                f"models of the site's file that this campaign lacks: {', '.join(sorted(unknown))}."
            )
        of_unknown_size = []
        for model in dict.fromkeys(job.model for job in jobs if job.model in self.needs):
            setup, _ = self.needs[model]
            if not (setup.row.parameters or setup.row.recipe or setup.engine.tokens_per_second):
                of_unknown_size.append(model)
        if of_unknown_size:
            yield (
                "models without parameters in the table of models (or own_models), planned as if "
                f"they had {ASSUMED_BILLIONS * 1000:g} million: {', '.join(of_unknown_size)}."
            )
        scoring = [job for job in jobs if job.task == "score"]
        unmeasured = [job for job in scoring if self._measured_tokens(job) is None]
        assumed = dict.fromkeys(name for job in unmeasured for name, _ in job.sets)
        tokens = "as in similar sentences that have scores"
        if assumed:
            means = ", ".join(f"{find_benchmark(name).tokens:g} in {name}" for name in assumed)
            tokens = f"{means} (assumed until similar sentences have scores)"
        yield f"tokens per sentence: {tokens}."


def _limits(models: Sequence[ModelPlan], site: Site | None) -> Iterator[str]:
    """Name models with jobs that exceed the site's time limit, or this machine's memory.

    Name also models that need this machine's GPU; ``_stops`` reports those that have none.
    """
    slow = [model.model for model in models if model.too_slow_on_cpus]
    if slow and site is None and shutil.which("nvidia-smi"):
        yield (
            "models that need this machine's GPU, and are not planned, because no site's file "
            f"describes it: {', '.join(slow)}."
        )
    models = [model for model in models if not model.too_slow_on_cpus]
    # A job requests at most the longest time that the site allows, so it can request too little.
    too_long = [m.model for m in models if m.jobs and m.hours * 60 > m.minutes_asked]
    if too_long:
        yield (
            "models whose jobs take longer than a job may (they stop, are queued again and "
            f"continue): {', '.join(too_long)}."
        )
    memory_mb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e6
    too_large = [m.model for m in models if site is None and m.host_memory_mb > memory_mb]
    if too_large:
        yield (
            f"models that need more memory than this machine has ({memory_mb / 1000:.1f} GB): "
            f"{', '.join(too_large)}."
        )


def _stops(models: Sequence[ModelPlan], disk: DiskPlan, site: Path | None) -> Iterator[str]:
    """List reasons not to start: too little disk, or jobs of more than a week on CPUs."""
    if not disk.sufficient:
        needs = ", ".join(
            f"{name} need {decimal(size)}, {decimal(disk.free[name])} are free"
            for name, size in disk.added.items()
        )
        yield f"Too little disk: {needs}. Make room, or name other directories as pathvars."
    slow = [model for model in models if model.too_slow_on_cpus]
    # Without a site, jobs run on this machine, and use its GPU although the plan is for CPUs.
    uses_own_gpu = site is None and shutil.which("nvidia-smi")
    if slow and not uses_own_gpu:
        hours = max(model.hours for model in slow)
        where = f"{site} has no GPUs for them" if site else "no cluster is described"
        yield (
            f"{len(slow)} of {len(models)} models need GPUs, and {where}: on processors a job "
            f"would take up to {hours:,.0f} hours. Describe the cluster's GPUs (docs/cluster.md), "
            "or name smaller models in the campaign."
        )


def make_plan(
    selection: CampaignSelection,
    site: Site | None,
    dry: DryRun | None,
    site_file: Path | None = None,
) -> RunPlan:
    """Plan a run of the scoring jobs that ``dry`` lists; without a list, of all unfinished jobs.

    ``site_file``: for messages. Models that cannot be run are in ``refused``, with the reason.
    """
    planner, catalogue = _Planner(selection, site), selection.catalogue
    jobs = [job for job in planner.jobs if job not in planner.finished_jobs]
    if dry is not None and dry.scoring_jobs is not None:
        jobs = [job for job in planner.jobs if (job.title, job.name) in dry.scoring_jobs]
    jobs_by_title: dict[str, list[ScoringJob]] = {}
    for job in jobs:
        jobs_by_title.setdefault(job.title, []).append(job)
    models, refused = list[ModelPlan](), dict[str, str]()
    for title, jobs_of_title in jobs_by_title.items():
        model = jobs_of_title[0].model
        if model in planner.refused:
            refused[model] = planner.refused[model]  # once, also if it scores and answers
            continue
        try:
            models.append(planner.plan_model(title, jobs_of_title))
        except UserError as error:
            refused[title] = f"model {title!r}: {error}"
    # Sort models as in the catalogue, the jobs that score before those that answer.
    order = [f"{model}{suffix}" for model in catalogue.models for suffix in ("", ANSWERS_SUFFIX)]
    models.sort(key=lambda plan: order.index(plan.model))
    retrieved = [path.removeprefix("sources/") for path in (dry.retrieved if dry else ())]
    files = [row for name, row in catalogue.files.items() if name in retrieved]
    disk = planner.plan_disk(files, jobs)
    missing: Iterable[str] = ()
    if not shutil.which("conda"):  # conda would install missing software
        engines = {job.engine for job in jobs}
        missing = missing_software(engines, dry.rules if dry else (), REPOSITORY)
    return RunPlan(
        campaign=selection.campaign.campaign,
        site=str(site_file) if site_file else None,
        rules=dry.rules if dry else None,
        models=tuple(models),
        refused=refused,
        trainings=tuple(planner.trainings),
        disk=disk,
        notes=(*planner.notes(dry, jobs), *_limits(models, site)),
        stops=(*missing, *_stops(models, disk, site_file)),
    )
