"""What a run would do and take, before anything is submitted."""

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from blimpworks.campaign.catalogue import Catalogue, ModelRow, SourceRow, TreebankRow
from blimpworks.campaign.engines import find_engine
from blimpworks.campaign.local_models import in_cache
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
    Expected,
    expected_items,
    expected_work,
    score_seconds,
    scores_regions,
    speed_of,
)
from blimpworks.cluster.needs import Needs, needs_of, weights_gb
from blimpworks.cluster.packs import Pack, pack_parts
from blimpworks.cluster.plan_data import DiskPlan, ModelPlan, PackPlan, Plan, Present
from blimpworks.cluster.present import NOTHING, is_done, stored
from blimpworks.cluster.requests import Request
from blimpworks.cluster.sizing import pack_request, sized_request
from blimpworks.cluster.stops import (
    endless,
    gated,
    licences,
    token_there,
    too_little_disk,
    without_checksum,
    without_software,
    without_token,
)
from blimpworks.cluster.trainings import plan_trainings, training_notes
from blimpworks.errors import UserError

STORE_BYTES, TABLE_BYTES = 10, 8
"""Of a token in shards, and in tables of scores (measured on the demo: 10 and 7.5)."""
SENTENCE_BYTES = 40
"""Of a sentence in judgements and tables, whatever its length (demo: 37 of a pair)."""
ANSWER_BYTES = 250
"""Of an answer, in shards and again in a table (an assumption: 128 tokens, compressed)."""
PREPARED = 1.0
"""Size of prepared inputs and pairs, to that of the files they are made from (101
languages: 0.7)."""


@dataclass(frozen=True, slots=True)
class _Work:
    """What is to run: parts by jobs of their own, packs, and the parts in these."""

    alone: list[Part]
    packs: list[Pack]
    packed: list[Part]

    @property
    def parts(self) -> list[Part]:
        """All parts, those in packs last."""
        return [*self.alone, *self.packed]


class _Planner:
    """A campaign with its site, its parts and what is known of its sentences."""

    def __init__(self, campaign: Campaign, catalogue: Catalogue, site: Site | None) -> None:
        self.campaign, self.catalogue = campaign, catalogue
        self.site = for_seeds(site, catalogue.seeds)
        self.needs = cache(self._needs)
        parts = every_part(campaign, catalogue, groups_of_models(campaign, catalogue))
        self.parts = parts
        stores = {part: part.manifest(campaign).parent for part in parts}
        self.done = {part for part in parts if is_done(stores[part], part.kind)}
        self.held = {part: stored(stores[part]) for part in parts}
        self.alike = cache(self._alike)
        self.refused = self._refusals()
        self.trainings = plan_trainings(campaign, catalogue, parts, self.site)
        """What LSTMs take that are yet to be trained on GPUs."""

    def _refusals(self) -> dict[str, str]:
        refusals = {}
        for model in dict.fromkeys(part.model for part in self.parts):
            try:
                self.needs(model)
            except UserError as error:
                refusals[model] = str(error)
        return refusals

    def run(self, model: str) -> tuple[ModelRow, str, str]:
        """A model's row, and the engine and number format that it is run in in this campaign."""
        row = self.catalogue.models[model]
        engine = find_engine(engine_of(self.campaign, row), row.architecture)
        return row, engine.name, engine.settle("dtype", row.dtype, self.campaign.scoring.dtype)

    def _needs(self, model: str) -> Needs:
        return needs_of(*self.run(model), self.site, options=self.campaign.scoring)

    def work(self, dry: DryRun | None) -> _Work:
        """What is to run: what Snakemake names, or all that is not done."""
        able = [
            part for part in self.parts if part.model not in self.refused and part.kind == "score"
        ]
        packs = pack_parts(able, self.catalogue.models, self.needs, self.site, self.items)
        inside = {part for pack in packs for part in pack.parts}
        if dry is None or dry.scored is None:
            alone = [part for part in self.parts if part not in self.done | inside]
            packs = [pack for pack in packs if not self.done.issuperset(pack.parts)]
        else:
            alone = [part for part in self.parts if (part.title, part.part) in dry.scored]
            packs = [pack for pack in packs if pack.name in dry.packs]
        return _Work(alone, packs, [part for pack in packs for part in pack.parts])

    def items(self, part: Part) -> dict[Path, Expectation]:
        """Items tables that a part scores, and what to expect of them."""
        return expected_items(self.campaign, self.catalogue, part)

    def work_of(self, part: Part) -> Expected:
        """Sentences of a part, at most, and their tokens if nothing is known of them."""
        return expected_work(self.items(part))

    def sentences(self, part: Part) -> int:
        """Sentences of a part, at most."""
        return self.work_of(part).sentences

    def _alike(self, part: Part) -> set[tuple[str, bool]]:
        """What decides how many tokens of a sentence are scored: benchmarks, and all or regions."""
        row = self.catalogue.models[part.model]
        names = {benchmark for benchmark, _ in part.sets}
        return {(name, scores_regions(self.campaign, row, find_benchmark(name))) for name in names}

    def _mean(self, part: Part) -> float | None:
        """Tokens of a sentence as measured: with the part's model, else with others like it."""
        if part.kind == "answer":  # what answers cost is no number of tokens that shards hold
            return None
        # Shards of a job under way hold its longest sentences, or its first.
        kin = [other for other in self.done if self.alike(other) == self.alike(part)]
        same = sum((self.held[other] for other in kin if other.model == part.model), NOTHING)
        return same.mean or sum((self.held[other] for other in kin), NOTHING).mean

    def tokens(self, part: Part) -> int:
        """Tokens that a part has yet to score."""
        work = self.work_of(part)
        mean = self._mean(part) or work.tokens / (work.sentences or 1)
        return round(max(0, work.sentences - self.held[part].sentences) * mean)

    def request(self, part: Part) -> Request:
        """What the job of a part asks for."""
        options, log = self.campaign.scoring, part.log(self.campaign)
        return sized_request(*self.run(part.model), self.site, options, self.items(part), log)

    def pack(self, pack: Pack) -> PackPlan:
        """What a pack takes."""
        logs = {part.key: part.log(self.campaign) for part in pack.parts}
        request = pack_request(pack, self.needs, self.site, logs)
        return PackPlan(
            name=pack.name,
            parts=len(pack.parts),
            gpus=pack.width if "gres" in request else 0,
            hours=pack.hours,
            minutes_asked=int(request["runtime"]),
            host_memory_mb=int(request["mem_mb"]),
        )

    def model(self, title: str, work: _Work, packs: Mapping[str, PackPlan]) -> ModelPlan:
        """What a model takes to score, or to answer: by jobs of its own, and in packs."""
        model = title.removesuffix(ANSWERS_SUFFIX)
        (row, engine, dtype), needs = self.run(model), self.needs(model)
        speed = speed_of(row, engine, needs, self.site, dtype)
        parts = [part for part in work.parts if part.title == title]
        tokens = [self.tokens(part) for part in parts]
        seconds = [score_seconds(n, needs.weights_gb, speed, self.site) for n in tokens]
        own = [self.request(part) for part in work.alone if part.title == title]
        shared = [
            packs[pack.name] for pack in work.packs if title in {part.title for part in pack.parts}
        ]
        minutes = [int(request["runtime"]) for request in own]
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
            host_memory_mb=max((int(r["mem_mb"]) for r in own), default=needs.memory_mb),
            jobs=len(own),
            packed=len(parts) - len(own),
            packs=len(shared),
            tokens=sum(tokens),
            tokens_per_second=speed.tokens_per_second,
            speed=speed.source,
            hours=max(seconds) / 3600,
            minutes_asked=max([*minutes, *(pack.minutes_asked for pack in shared)]),
            gpu_hours=hours * needs.gpus,
            gpu_hours_asked=sum(minutes) / 60 * needs.gpus,
            cpu_hours=0 if needs.gpus else hours * needs.cores,
        )

    def present(self) -> Present:
        """What is there already."""
        items = [
            items_table(self.campaign, *each) for each in item_sets(self.campaign, self.catalogue)
        ]
        checkpoints = {part.checkpoint(self.campaign) for part in self.parts}
        held = sum(self.held.values(), NOTHING)
        return Present(
            items=(sum(path.exists() for path in items), len(items)),
            checkpoints=(sum(path.exists() for path in checkpoints), len(checkpoints)),
            parts=(len(self.done), len(self.parts)),
            sentences=(held.sentences, sum(map(self.sentences, self.parts))),
        )

    def disk(self, dry: DryRun | None, parts: Sequence[Part]) -> DiskPlan:
        """What a run adds on disk."""
        sizes = [row.bytes for row in self._downloads(dry)]
        downloads = sum(size for size in sizes if size is not None)
        scored = [part for part in parts if part.kind == "score"]
        tokens, sentences = sum(map(self.tokens, scored)), sum(map(self.sentences, scored))
        prompts = sum(self.sentences(part) for part in parts if part.kind == "answer")
        adds = {
            "downloads": downloads,
            "weights": self._weights(parts),
            "prepared": round(downloads * PREPARED),
            "stores": tokens * STORE_BYTES + prompts * ANSWER_BYTES,
            "tables": tokens * TABLE_BYTES
            + sentences * SENTENCE_BYTES
            + prompts * (ANSWER_BYTES + SENTENCE_BYTES),
        }
        places = {name: _existing(Path(getattr(self.campaign.pathvars, name))) for name in PLACES}
        free = {name: shutil.disk_usage(path).free for name, path in places.items()}
        plan = DiskPlan(**adds, downloads_unknown=sizes.count(None), free=free, sufficient=True)
        return plan.model_copy(update={"sufficient": _suffices(plan, places)})

    def _downloads(self, dry: DryRun | None) -> list[SourceRow | TreebankRow]:
        """Rows of files that are to be retrieved."""
        pins: dict[str, SourceRow | TreebankRow] = {**self.catalogue.sources}
        for rows in self.catalogue.treebanks.values():
            pins |= {row.name: row for row in rows}
        names = (path.removeprefix("sources/") for path in (dry.retrieved if dry else ()))
        return [pins[name] for name in names if name in pins]

    def _weights(self, parts: Sequence[Part]) -> int:
        """Bytes of models from the hub that are to be retrieved."""
        missing = {(part.model, part.scope) for part in parts if not self._had(part)}
        rows = [self.catalogue.models[model] for model, _ in missing]
        return round(sum(weights_gb(row, row.dtype) for row in rows if row.hf_id) * 1e9)

    def _had(self, part: Part) -> bool:
        checkpoint = part.checkpoint(self.campaign)
        folder = self.site.cache if self.site else None
        return checkpoint.exists() or in_cache(folder, self.catalogue.models[part.model].hf_id)

    def _tokens_note(self, parts: Sequence[Part]) -> str:
        """Where the number of tokens a sentence comes from."""
        open_parts = (p for p in parts if p.kind == "score" and self._mean(p) is None)
        names = dict.fromkeys(name for part in open_parts for name, _ in part.sets)
        if not names:
            return "as in what is scored already"
        assumptions = ", ".join(f"{find_benchmark(name).tokens:g} in {name}" for name in names)
        return f"{assumptions}, an assumption as long as nothing like it is scored"

    def gated(self, parts: Sequence[Part]) -> list[ModelRow]:
        """Models to retrieve whose licence must be accepted first."""
        models = dict.fromkeys(part.model for part in parts if not self._had(part))
        return gated([self.catalogue.models[model] for model in models])

    def stops(self, dry: DryRun | None, parts: Sequence[Part]) -> list[str]:
        """What will stop files and models from being retrieved, unless something is done."""
        return [
            *without_checksum(self._downloads(dry), self.campaign.checksums),
            *without_token(self.gated(parts)),
            *without_software(parts, dry.rules if dry else ()),
        ]

    def notes(self, dry: DryRun | None, parts: Sequence[Part]) -> list[str]:
        """What a reader should know of the numbers, and do."""
        gated = self.gated(parts)
        notes = [licences(gated)] if gated and token_there() else []
        notes += training_notes(self.trainings, self.catalogue, self.site)
        if dry is not None and dry.scored is None:
            notes.append("Snakemake did not name the jobs that score; taken are those not done.")
        names = {*self.catalogue.models, *map(self.catalogue.row_of, self.catalogue.models)}
        unknown = {*(self.site.models if self.site else {})} - names
        if unknown:
            notes.append(
                f"models of the site's file that this campaign lacks: {', '.join(sorted(unknown))}."
            )
        notes.append(f"tokens a sentence: {self._tokens_note(parts)}.")
        if self.site and self.site.whole_nodes:
            notes.append("the site gives whole nodes: GPU-hours count the GPUs that models use.")
        return notes


PLACES = ("resources", "results")


def _existing(path: Path) -> Path:
    """``path``, or the nearest directory above it that exists."""
    path = path.absolute()
    while not path.exists():
        path = path.parent
    return path


def _suffices(disk: DiskPlan, places: Mapping[str, Path]) -> bool:
    """Whether what a run adds to each place fits on its file system."""
    devices: dict[int, int] = {}
    for name, path in places.items():
        device = path.stat().st_dev
        devices[device] = devices.get(device, 0) + disk.added[name]
    return all(devices[path.stat().st_dev] <= disk.free[name] for name, path in places.items())


def _limits(models: Sequence[ModelPlan], site: Site | None) -> list[str]:
    """Where jobs take more than there is, and what comes of it."""
    limits = []
    models = [model for model in models if not model.endless]
    long = [
        model.model for model in models if model.jobs and model.hours * 60 > model.minutes_asked
    ]
    if long:
        limits.append(
            "jobs that take longer than one may (they end cleanly, are queued again and go on): "
            f"{', '.join(long)}."
        )
    here = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e6
    large = [model.model for model in models if site is None and model.host_memory_mb > here]
    if large:
        limits.append(
            f"jobs that need more memory than this machine has ({here / 1000:.1f} GB): "
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
    """What a run would do: ``dry`` is Snakemake's part of the answer, if it gave one.

    Models that fit nowhere are in ``refused``.
    """
    planner = _Planner(campaign, catalogue, site)
    work = planner.work(dry)
    packs = {pack.name: planner.pack(pack) for pack in work.packs}
    titles = dict.fromkeys(part.title for part in work.parts)
    names = dict.fromkeys(part.model for part in work.parts)
    refused = {name: planner.refused[name] for name in names if name in planner.refused}
    models, trouble = [], {}
    for name in (name for name in titles if name.removesuffix(ANSWERS_SUFFIX) not in refused):
        try:
            models.append(planner.model(name, work, packs))
        except UserError as error:
            trouble[name] = f"model {name!r}: {error}"
    order, disk = list(catalogue.models), planner.disk(dry, work.parts)
    return Plan(
        campaign=campaign.campaign,
        site=str(site_file) if site_file else None,
        rules=dry.rules if dry else None,
        dry_run_seconds=round(dry.seconds, 1) if dry else None,
        models=tuple(
            sorted(models, key=lambda each: order.index(each.model.removesuffix(ANSWERS_SUFFIX)))
        ),
        packs=tuple(packs.values()),
        refused=refused | trouble,
        trainings=tuple(planner.trainings),
        disk=disk,
        present=planner.present(),
        notes=(*planner.notes(dry, work.parts), *_limits(models, site)),
        stops=(
            *planner.stops(dry, work.parts),
            *too_little_disk(disk),
            *endless(models, site_file),
        ),
    )
