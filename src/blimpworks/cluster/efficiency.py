"""What a campaign asked a cluster for, what it held, and what came of it."""

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from blimpworks.campaign.catalogue import Catalogue
from blimpworks.campaign.parts import Groups, every_part
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.cluster.slurm import Accounted
from blimpworks.errors import UserError
from blimpworks.records.journal import Attempt, Scored, journal_path, progress_path, read_attempts
from blimpworks.scoring.progress import Progressed, read_progress

HOUR = 3600.0


@dataclass(frozen=True)
class Run:
    """One attempt, with what is known of its work."""

    attempt: Attempt
    scored: Scored | None
    seconds: float | None
    """That it held its allocation; None where nothing tells."""
    accounted: Accounted | None = None

    @property
    def units(self) -> int:
        """GPUs that it held, or cores where it had none."""
        request = self.attempt.started.asked
        return request.gpus or request.cores


@dataclass(frozen=True)
class ModelUse:
    """What the scoring with one model took."""

    model: str
    runs: list[Run]
    unwatched: list[Progressed] = field(default_factory=list)
    """Work of parts without a journal, such as those scored by hand."""

    @property
    def unit(self) -> str:
        """What its hours are of: GPUs, or cores where it had none."""
        return "GPU" if any(run.attempt.started.asked.gpus for run in self.runs) else "core"

    @property
    def jobs(self) -> list[str]:
        """Ids of its SLURM jobs; one that was requeued makes several attempts."""
        ids = (run.attempt.started.slurm_job for run in self.runs)
        return sorted({job for job in ids if job is not None})

    @property
    def requested(self) -> float:
        """Hours of units asked for; jobs without a walltime ask for none."""
        return sum(r.units * r.attempt.started.asked.minutes / 60 for r in self.runs)

    @property
    def held(self) -> float:
        """Hours of units held."""
        return sum(r.units * (r.seconds or 0) for r in self.runs) / HOUR

    @property
    def scoring(self) -> float:
        """Hours of units in which scores were made."""
        return sum(r.units * r.scored.score_seconds for r in self.runs if r.scored) / HOUR

    @property
    def share(self) -> float | None:
        """Share of the hours held in which scores were made."""
        return self.scoring / self.held if self.held else None

    @property
    def work(self) -> list[Scored]:
        """What each attempt scored, and each part without a journal."""
        return [*(r.scored for r in self.runs if r.scored), *self.unwatched]

    @property
    def tokens(self) -> int:
        """Tokens that were scored, all work together."""
        return sum(each.tokens for each in self.work)

    @property
    def tokens_per_second(self) -> float | None:
        """Tokens per second of scoring; None where nothing was scored."""
        seconds = sum(each.score_seconds for each in self.work)
        return self.tokens / seconds if seconds else None

    @property
    def tokens_per_second_held(self) -> float | None:
        """Speed over all the time that its jobs held their allocations."""
        seconds = sum(run.seconds or 0 for run in self.runs)
        tokens = sum(run.scored.tokens for run in self.runs if run.scored)
        return tokens / seconds if seconds else None

    @property
    def load_seconds(self) -> float:
        """Time until scores came at their usual pace, all attempts together."""
        return sum(each.load_seconds or 0 for each in self.work)

    @property
    def rss_mb(self) -> int | None:
        """Largest memory of an attempt."""
        ended = (run.attempt.ended for run in self.runs)
        own = [e.rss_mb for e in ended if e and e.rss_mb is not None]
        return max(own, default=None)

    @property
    def mem_mb(self) -> int | None:
        """Most memory that an attempt asked for."""
        return max((run.attempt.started.asked.mem_mb for run in self.runs), default=None)

    @property
    def causes(self) -> Counter[str]:
        """How attempts ended; those without an end are open: running, or lost."""
        return Counter(run.attempt.cause or "open" for run in self.runs)


@dataclass(frozen=True, slots=True)
class RuleUse:
    """What the finished jobs of one rule took, as Snakemake measured them."""

    rule: str
    jobs: int
    hours: float
    rss_mb: float | None
    """Largest memory of one of them."""


@dataclass(frozen=True)
class Efficiency:
    """What a campaign took."""

    campaign: str
    models: list[ModelUse]
    rules: list[RuleUse]


def _scored(attempt: Attempt, progress: Progressed | None) -> Scored | None:
    """What an attempt scored, by the journal or by the progress file if that is its own."""
    if attempt.scored is None and progress and progress.attempt == attempt.started.attempt:
        return progress
    return attempt.scored


def _seconds(attempt: Attempt, progress: Progressed | None) -> float | None:
    """How long an attempt held its allocation, as far as anything tells."""
    if attempt.ended:
        return attempt.ended.seconds
    if progress and progress.attempt == attempt.started.attempt:
        return (progress.updated - attempt.started.time).total_seconds()
    if attempt.scored:
        return (attempt.scored.load_seconds or 0) + attempt.scored.score_seconds
    return None


def _runs(log: Path) -> tuple[list[Run], list[Progressed]]:
    """Attempts of a job, and its work where it has no journal."""
    attempts, progress = read_attempts(journal_path(log)), read_progress(progress_path(log))
    runs = [Run(a, _scored(a, progress), _seconds(a, progress)) for a in attempts]
    return runs, [progress] if progress and not attempts else []


def _with_accounts(run: Run, accounts: Mapping[str, Accounted]) -> Run:
    """An attempt with what SLURM has of its job, if that had no other attempt."""
    accounted = accounts.get(run.attempt.started.slurm_job or "")
    seconds = run.seconds if run.seconds is not None or accounted is None else accounted.seconds
    return Run(run.attempt, run.scored, seconds, accounted)


def read_models(campaign: Campaign, catalogue: Catalogue, groups: Groups) -> list[ModelUse]:
    """What the scoring with each model took; models of which nothing is known are left out.

    Raises UserError for a file that is not what it should be.
    """
    uses: dict[str, ModelUse] = {}
    for part in every_part(campaign, catalogue, groups):
        use = uses.setdefault(part.title, ModelUse(part.title, []))
        runs, unwatched = _runs(part.log(campaign))
        use.runs.extend(runs)
        use.unwatched.extend(unwatched)
    return [use for use in uses.values() if use.runs or use.unwatched]


def account_for(models: Sequence[ModelUse], accounts: Mapping[str, Accounted]) -> list[ModelUse]:
    """The same with SLURM's accounts of their jobs, which also tell how long lost ones ran."""
    return [
        ModelUse(use.model, [_with_accounts(run, accounts) for run in use.runs], use.unwatched)
        for use in models
    ]


def in_all(models: Sequence[ModelUse]) -> ModelUse:
    """What several models took together; jobs that they shared count once."""
    runs = [run for use in models for run in use.runs]
    return ModelUse("in all", runs, [each for use in models for each in use.unwatched])


def _benchmark(path: Path) -> tuple[float, float | None]:
    """Seconds and memory (MB) of a job, from the file that Snakemake writes."""
    with path.open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle, delimiter="\t"))
    try:
        sizes = [float(row["max_rss"]) for row in rows if row["max_rss"] not in ("-", "NA")]
        return sum(float(row["s"]) for row in rows), max(sizes, default=None)
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(
            f"{path}: expected Snakemake's measurements, with columns 's' and 'max_rss' "
            f"({error}). Delete it: nothing depends on it."
        ) from error


def read_rules(campaign: Campaign) -> list[RuleUse]:
    """What the finished jobs of each rule took; the rule is the folder that measurements lie in.

    Raises UserError for a file that holds none.
    """
    root = Path(campaign.pathvars.benchmarks)
    folders = sorted(path for path in root.glob("*") if path.is_dir())
    rules = []
    for folder in folders:
        jobs = [_benchmark(path) for path in sorted(folder.rglob("*.tsv"))]
        sizes = [size for _, size in jobs if size is not None]
        hours = sum(seconds for seconds, _ in jobs) / HOUR
        rules.append(RuleUse(folder.name, len(jobs), hours, max(sizes, default=None)))
    return sorted(rules, key=lambda rule: -rule.hours)
