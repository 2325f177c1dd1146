"""Plan a run: its jobs, time, memory and disk, before anything is submitted."""

import os
import shutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from blimpworks.campaign.addresses import in_cache
from blimpworks.campaign.catalogue import Catalogue, ModelRow, SourceRow, TreebankRow
from blimpworks.campaign.engines import find_scorer
from blimpworks.campaign.parts import (
    ANSWERS_SUFFIX,
    Part,
    engine_of,
    every_part,
    item_sets,
    items_table,
)
from blimpworks.campaign.reference import groups_of_models
from blimpworks.campaign.registry import find_benchmark
from blimpworks.campaign.seeds import for_seeds
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.campaign.settings.site import Site
from blimpworks.cluster.dry_run import DryRun
from blimpworks.cluster.estimate import (
    Expectation,
    expected_items,
    expected_work,
    score_seconds,
    scores_regions,
    speed_of,
)
from blimpworks.cluster.needs import Needs, needs_of, weights_gb
from blimpworks.cluster.plan_data import DiskPlan, ModelPlan, Plan, Present
from blimpworks.cluster.requests import sized_request
from blimpworks.cluster.status import NOTHING, is_done, stored
from blimpworks.cluster.stops import (
    endless,
    licences,
    too_little_disk,
    without_software,
)
from blimpworks.cluster.trainings import plan_trainings, training_notes
from blimpworks.errors import UserError

STORE_BYTES, TABLE_BYTES = 10, 8
"""Bytes of a token in shards, and in tables of scores (measured on the demo: 10 and 7.5)."""
SENTENCE_BYTES = 40
"""Bytes of a sentence in judgements and tables (measured on the demo: 37 of a pair)."""
ANSWER_BYTES = 250
"""Bytes of an answer in shards and again in a table (an assumption: 128 tokens, compressed)."""
PREPARED = 1.0
"""Size of prepared inputs and pairs relative to the downloaded files (101 languages: 0.7)."""


class _Planner:
    """Collects the facts behind a plan: campaign, site, parts, and what is scored already."""

    def __init__(self, campaign: Campaign, catalogue: Catalogue, site: Site | None) -> None:
        self.campaign, self.catalogue = campaign, catalogue
        self.site = for_seeds(site, catalogue.seeds)
        self.needs = cache(self._needs)
        self.parts = every_part(campaign, catalogue, groups_of_models(campaign, catalogue))
        stores = {part: part.manifest(campaign).parent for part in self.parts}
        self.done = {part for part in self.parts if is_done(stores[part], part.kind)}
        self.held = {part: stored(stores[part]) for part in self.parts}
        self.scope_of_tokens = cache(self._scope_of_tokens)
        self.refused: dict[str, str] = {}
        for model in dict.fromkeys(part.model for part in self.parts):
            try:
                self.needs(model)
            except UserError as error:
                self.refused[model] = str(error)
        self.trainings = plan_trainings(campaign, catalogue, self.parts, self.site)

    def run(self, model: str) -> tuple[ModelRow, str, str]:
        """Return a model's row, its engine and its number format in this campaign."""
        row = self.catalogue.models[model]
        engine = engine_of(self.campaign, row)
        scorer = find_scorer(engine, row.architecture)
        return row, engine, scorer.settle("dtype", row.dtype, self.campaign.scoring.dtype)

    def _needs(self, model: str) -> Needs:
        return needs_of(*self.run(model), self.site, options=self.campaign.scoring)

    def work(self, dry: DryRun | None) -> list[Part]:
        """Select the parts that Snakemake names, or without its answer all that are not done."""
        if dry is not None and dry.scored is not None:
            return [part for part in self.parts if (part.title, part.part) in dry.scored]
        return [part for part in self.parts if part not in self.done]

    def items(self, part: Part) -> dict[Path, Expectation]:
        return expected_items(self.campaign, self.catalogue, part)

    def sentences(self, part: Part) -> int:
        """Count the sentences of a part, at most."""
        return expected_work(self.items(part)).sentences

    def _scope_of_tokens(self, part: Part) -> set[tuple[str, bool]]:
        """Return, by benchmark, whether regions alone are scored."""
        row = self.catalogue.models[part.model]
        names = {benchmark for benchmark, _ in part.sets}
        return {(name, scores_regions(self.campaign, row, find_benchmark(name))) for name in names}

    def _measured_tokens(self, part: Part) -> float | None:
        """Return the mean tokens of a sentence measured with this model, or else with others."""
        if part.kind == "answer":  # what answers cost is no number of tokens that shards hold
            return None
        # Shards of a job under way hold its longest sentences, or its first.
        scope = self.scope_of_tokens(part)
        alike = [done_part for done_part in self.done if self.scope_of_tokens(done_part) == scope]
        same = sum(
            (self.held[done_part] for done_part in alike if done_part.model == part.model), NOTHING
        )
        return same.mean or sum((self.held[done_part] for done_part in alike), NOTHING).mean

    def tokens(self, part: Part) -> int:
        """Estimate the tokens that a part has yet to score."""
        work = expected_work(self.items(part))
        mean = self._measured_tokens(part) or work.tokens / (work.sentences or 1)
        return round(max(0, work.sentences - self.held[part].sentences) * mean)

    def model(self, title: str, parts: Sequence[Part]) -> ModelPlan:
        """Plan the scoring, or answering, of a model: the jobs of ``parts``."""
        model = title.removesuffix(ANSWERS_SUFFIX)
        (row, engine, dtype), needs = self.run(model), self.needs(model)
        speed = speed_of(row, engine, needs, self.site, dtype)
        tokens = [self.tokens(part) for part in parts]
        seconds = [score_seconds(n, needs.weights_gb, speed, self.site) for n in tokens]
        options = self.campaign.scoring
        requests = [
            sized_request(
                row, engine, dtype, self.site, options, self.items(part), part.log(self.campaign)
            )
            for part in parts
        ]
        minutes = [int(request["runtime"]) for request in requests]
        hours = sum(seconds) / 3600
        return ModelPlan(
            model=title,
            engine=engine,
            dtype=dtype,
            weights_gb=needs.weights_gb,
            kind=needs.kind.label if needs.kind else None,
            gpus=needs.gpus,
            tensor_parallel=needs.tensor_parallel,
            gpu_memory_gb=needs.needed_gb,
            host_memory_mb=max(int(request["mem_mb"]) for request in requests),
            jobs=len(parts),
            tokens=sum(tokens),
            tokens_per_second=speed.tokens_per_second,
            speed=speed.source,
            hours=max(seconds) / 3600,
            minutes_asked=max(minutes),
            gpu_hours=hours * needs.gpus,
            gpu_hours_asked=sum(minutes) / 60 * needs.gpus,
            cpu_hours=0 if needs.gpus else hours * needs.cores,
        )

    def present(self) -> Present:
        """Count the files that exist."""
        sets = item_sets(self.campaign, self.catalogue)
        items = [items_table(self.campaign, *benchmark_lang) for benchmark_lang in sets]
        checkpoints = {part.checkpoint(self.campaign) for part in self.parts}
        held = sum(self.held.values(), NOTHING)
        return Present(
            items=(sum(path.exists() for path in items), len(items)),
            checkpoints=(sum(path.exists() for path in checkpoints), len(checkpoints)),
            parts=(len(self.done), len(self.parts)),
            sentences=(held.sentences, sum(map(self.sentences, self.parts))),
        )

    def disk(self, downloads: Sequence[SourceRow | TreebankRow], parts: Sequence[Part]) -> DiskPlan:
        """Estimate the bytes that a run adds, and compare them with the free space."""
        size = sum(row.bytes or 0 for row in downloads)
        missing = {(part.model, part.scope) for part in parts if not self.has_model(part)}
        rows = [self.catalogue.models[model] for model, _ in missing]
        scored = [part for part in parts if part.kind == "score"]
        tokens, sentences = sum(map(self.tokens, scored)), sum(map(self.sentences, scored))
        prompts = sum(self.sentences(part) for part in parts if part.kind == "answer")
        folders = {
            name: Path(getattr(self.campaign.pathvars, name)).absolute()
            for name in ("resources", "results")
        }
        # The nearest directory above that exists.
        for name, folder in folders.items():
            folders[name] = next(path for path in (folder, *folder.parents) if path.exists())
        free = {name: shutil.disk_usage(path).free for name, path in folders.items()}
        plan = DiskPlan(
            downloads=size,
            downloads_unknown=sum(row.bytes is None for row in downloads),
            weights=round(sum(weights_gb(row, row.dtype) for row in rows if row.hf_id) * 1e9),
            prepared=round(size * PREPARED),
            stores=tokens * STORE_BYTES + prompts * ANSWER_BYTES,
            tables=tokens * TABLE_BYTES
            + sentences * SENTENCE_BYTES
            + prompts * (ANSWER_BYTES + SENTENCE_BYTES),
            free=free,
            sufficient=True,
        )
        added: dict[int, int] = {}
        for name, path in folders.items():
            device = path.stat().st_dev
            added[device] = added.get(device, 0) + plan.added[name]
        fits = (added[path.stat().st_dev] <= free[name] for name, path in folders.items())
        return plan.model_copy(update={"sufficient": all(fits)})

    def downloads(self, dry: DryRun | None) -> list[SourceRow | TreebankRow]:
        pins: dict[str, SourceRow | TreebankRow] = {**self.catalogue.sources}
        for rows in self.catalogue.treebanks.values():
            pins |= {row.name: row for row in rows}
        names = (path.removeprefix("sources/") for path in (dry.retrieved if dry else ()))
        return [pins[name] for name in names if name in pins]

    def has_model(self, part: Part) -> bool:
        """Tell whether a part's model exists, or is in the site's cache."""
        cached = in_cache(
            self.site.cache if self.site else None, self.catalogue.models[part.model].hf_id
        )
        return cached or part.checkpoint(self.campaign).exists()

    def notes(self, dry: DryRun | None, parts: Sequence[Part]) -> list[str]:
        """List the remarks that a reader of the numbers needs."""
        missing = dict.fromkeys(part.model for part in parts if not self.has_model(part))
        notes = [*licences([self.catalogue.models[model] for model in missing])]
        notes += training_notes(self.trainings, self.catalogue, self.site)
        if dry is not None and dry.scored is None:
            notes.append("Snakemake did not name the jobs that score; taken are those not done.")
        names = {*self.catalogue.models, *map(self.catalogue.row_of, self.catalogue.models)}
        unknown = {*(self.site.models if self.site else {})} - names
        if unknown:
            notes.append(
                f"models of the site's file that this campaign lacks: {', '.join(sorted(unknown))}."
            )
        unmeasured = (p for p in parts if p.kind == "score" and self._measured_tokens(p) is None)
        assumed = dict.fromkeys(name for part in unmeasured for name, _ in part.sets)
        tokens = "as in what is scored already"
        if assumed:
            means = ", ".join(f"{find_benchmark(name).tokens:g} in {name}" for name in assumed)
            tokens = f"{means}, an assumption as long as nothing like it is scored"
        notes.append(f"tokens a sentence: {tokens}.")
        return notes


def _limits(models: Sequence[ModelPlan], site: Site | None) -> list[str]:
    """List the jobs that take more than there is, with the consequence."""
    limits = []
    models = [model for model in models if not model.endless]
    long = [m.model for m in models if m.jobs and m.hours * 60 > m.minutes_asked]
    if long:
        limits.append(
            "jobs that take longer than one may (they end cleanly, are queued again and go on): "
            f"{', '.join(long)}."
        )
    memory_mb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e6
    large = [m.model for m in models if site is None and m.host_memory_mb > memory_mb]
    if large:
        limits.append(
            f"jobs that need more memory than this machine has ({memory_mb / 1000:.1f} GB): "
            f"{', '.join(large)}."
        )
    return limits


def make_plan(
    campaign: Campaign,
    catalogue: Catalogue,
    site: Site | None,
    dry: DryRun | None,
    site_file: Path | None = None,
) -> Plan:
    """Plan a run, by Snakemake's answer ``dry`` if it gave one.

    Models that fit nowhere are in ``refused``.
    """
    planner = _Planner(campaign, catalogue, site)
    parts = planner.work(dry)
    models, refused, trouble = list[ModelPlan](), dict[str, str](), dict[str, str]()
    by_title: dict[str, list[Part]] = {}
    for part in parts:
        by_title.setdefault(part.title, []).append(part)
    for title, own in by_title.items():
        if (model := own[0].model) in planner.refused:
            refused[model] = planner.refused[model]
            continue
        try:
            models.append(planner.model(title, own))
        except UserError as error:
            trouble[title] = f"model {title!r}: {error}"
    order = list(catalogue.models)
    downloads = planner.downloads(dry)
    disk = planner.disk(downloads, parts)
    return Plan(
        campaign=campaign.campaign,
        site=str(site_file) if site_file else None,
        rules=dry.rules if dry else None,
        dry_run_seconds=round(dry.seconds, 1) if dry else None,
        models=tuple(
            sorted(models, key=lambda plan: order.index(plan.model.removesuffix(ANSWERS_SUFFIX)))
        ),
        refused=refused | trouble,
        trainings=tuple(planner.trainings),
        disk=disk,
        present=planner.present(),
        notes=(*planner.notes(dry, parts), *_limits(models, site)),
        stops=(
            *without_software(parts, dry.rules if dry else ()),
            *too_little_disk(disk),
            *endless(models, site_file),
        ),
    )
