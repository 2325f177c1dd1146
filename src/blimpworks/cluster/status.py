"""How far a campaign is, from its files alone."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from blimpworks.campaign.catalogue import Catalogue
from blimpworks.campaign.exhibit_spec import FORMATS
from blimpworks.campaign.parts import (
    Groups,
    Kind,
    Part,
    every_part,
    exhibits_of,
    item_sets,
    items_table,
)
from blimpworks.campaign.retrieved import retrieved_files
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.cluster.estimate import count_pairs, expected_items
from blimpworks.cluster.part_status import PartStatus, read_part_status
from blimpworks.cluster.slurm import Queue
from blimpworks.files import Listing
from blimpworks.records.journal import now


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of the campaign."""

    name: str
    done: int
    expected: int


@dataclass(frozen=True)
class ModelStatus:
    """How far the scoring with one model is."""

    model: str
    """Its name, or the title of its answers."""
    parts: list[PartStatus]
    """Those that are scored with it."""
    sentences: int
    """Of all its parts."""
    exact: bool
    """Whether these were counted; else they are estimated from the items."""
    parameters: float | None
    """Billions."""
    engine: str
    left: float | None = None
    """Seconds that remain, one job after another; None where nothing tells the speed."""
    borrowed: bool = False
    """Whether the speed is that of other models."""

    @property
    def done(self) -> int:
        """Sentences that have scores."""
        return sum(part.done for part in self.parts)

    @property
    def languages(self) -> tuple[int, int]:
        """Languages whose scores are all there, and all languages."""
        finished = sum(part.finished_languages() for part in self.parts)
        return finished, sum(len(part.part.languages) for part in self.parts)

    def _rate(self, counted: str) -> float | None:
        """Units scored per second, by the last attempt of each part."""
        known = [part.progress for part in self.parts if part.progress and part.progress.new]
        seconds = sum(each.score_seconds for each in known)
        total: float = sum(getattr(each, counted) for each in known)
        return total / seconds if seconds else None

    @property
    def tokens_per_second(self) -> float | None:
        """Speed in tokens, loading left out; None before anything was scored."""
        return self._rate("tokens")

    @property
    def pace(self) -> float | None:
        """Speed in sentences."""
        return self._rate("new")

    @property
    def load(self) -> float | None:
        """Mean seconds that its jobs took to load; None where that is not known."""
        known = [part.progress.load_seconds for part in self.parts if part.progress]
        seconds = [each for each in known if each is not None]
        return sum(seconds) / len(seconds) if seconds else None


@dataclass(frozen=True)
class Status:
    """How far a campaign is at one time."""

    campaign: str
    moment: datetime
    stages: list[Stage]
    models: list[ModelStatus]


def _tables(folder: str, campaign: Campaign, parts: Sequence[Part]) -> list[Path]:
    """Tables of a model, benchmark and language in a folder of the results."""
    root = Path(campaign.pathvars.results, folder)
    return [
        root / benchmark / lang / f"{part.model}.parquet"
        for part in parts
        for benchmark, lang in part.sets
    ]


def stages(
    campaign: Campaign, catalogue: Catalogue, statuses: Sequence[PartStatus], there: Listing
) -> list[Stage]:
    """How many files of each stage there are, of those that the campaign makes."""
    results, resources = Path(campaign.pathvars.results), Path(campaign.pathvars.resources)
    parts = [status.part for status in statuses]
    exhibits = exhibits_of(campaign, catalogue, parts)
    names = retrieved_files(campaign, catalogue, parts)
    # A manifest may say, in place of scores, why there are none.
    scored = Stage("parts", sum(status.state == "done" for status in statuses), len(statuses))
    files: dict[str, Iterable[Path]] = {
        "sources": [resources / "sources" / name for name in names],
        "items": [items_table(campaign, *each) for each in item_sets(campaign, catalogue)],
        "models": [part.checkpoint(campaign) for part in parts],
        "scores": _tables("scores", campaign, [p for p in parts if p.kind == "score"]),
        "answers": _tables("answers", campaign, [p for p in parts if p.kind == "answer"]),
        "judgements": _tables("judgements", campaign, parts),
        "exhibits": [results / "exhibits" / f"{s.key}.{FORMATS[s.kind][0]}" for s in exhibits],
    }
    distinct = {name: dict.fromkeys(paths) for name, paths in files.items()}
    counts = [
        Stage(name, sum(path in there for path in paths), len(paths))
        for name, paths in distinct.items()
        if paths or name != "answers"
    ]
    return [*counts[:3], scored, *counts[3:]]


def _totals(campaign: Campaign, catalogue: Catalogue, statuses: Sequence[PartStatus]) -> list[int]:
    """Sentences of each part: as counted, or as the items, there or not, let expect.

    Several pairs share a sentence, in a part that was counted as in one that was not.
    """
    pairs: dict[Path, int | None] = {}
    sides: list[int] = []
    known: dict[Kind, list[tuple[int, int]]] = {"score": [], "answer": []}
    for status in statuses:
        items = expected_items(campaign, catalogue, status.part)
        pairs |= {path: count_pairs(path) for path in items if path not in pairs}
        counts = [(pairs[path], expected) for path, expected in items.items()]
        sides.append(sum(e.texts * (e.pairs if count is None else count) for count, e in counts))
        if status.sentences is not None and all(count for count, _ in counts):
            known[status.part.kind].append((status.sentences, sides[-1]))
    share = {kind: _share(each) for kind, each in known.items()}
    return [
        round(n * share[status.part.kind]) if status.sentences is None else status.sentences
        for status, n in zip(statuses, sides, strict=True)
    ]


def _share(known: Sequence[tuple[int, int]]) -> float:
    """Distinct texts to all, in the parts that were counted; 1 without any."""
    return sum(s for s, _ in known) / sum(n for _, n in known) if known else 1.0


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _borrowed(model: ModelStatus, others: Sequence[ModelStatus]) -> float | None:
    """Sentences per second to expect of a model that has scored none.

    The mean of the others, of the same engine if there are any; in inverse proportion to the
    number of parameters, where that is known.
    """
    known = [other for other in others if other.pace]
    alike = [other for other in known if other.engine == model.engine] or known
    size = model.parameters
    if size and (sized := [other for other in alike if other.parameters]):
        return _mean((o.pace or 0) * (o.parameters or 0) / size for o in sized)
    return _mean(other.pace for other in alike)


def _with_estimate(model: ModelStatus, others: Sequence[ModelStatus]) -> ModelStatus:
    """The model with the seconds that it still takes."""
    open_parts = [part for part in model.parts if part.state != "done"]
    pace = model.pace or _borrowed(model, others)
    if not open_parts or not pace:
        left = None if open_parts else 0.0
        return replace(model, left=left)
    load = model.load or _mean(other.load for other in others) or 0.0
    starts = sum(part.state != "running" for part in open_parts)
    left = (model.sentences - model.done) / pace + load * starts
    return replace(model, left=left, borrowed=model.pace is None)


def read_status(
    campaign: Campaign,
    catalogue: Catalogue,
    groups: Groups,
    queue: Queue | None = None,
    moment: datetime | None = None,
) -> Status:
    """How far a campaign is. ``queue`` tells waiting jobs from those that are not submitted.

    Raises UserError for a file that is not what it should be.
    """
    moment = moment or now()
    parts = every_part(campaign, catalogue, groups)
    there = Listing()
    statuses = [read_part_status(campaign, part, moment, queue or Queue(), there) for part in parts]
    by_model: dict[str, list[tuple[PartStatus, int]]] = {}
    for status, total in zip(statuses, _totals(campaign, catalogue, statuses), strict=True):
        by_model.setdefault(status.part.title, []).append((status, total))
    models = [
        ModelStatus(
            name,
            [status for status, _ in of_model],
            sentences=sum(total for _, total in of_model),
            exact=all(status.sentences is not None for status, _ in of_model),
            parameters=catalogue.models[of_model[0][0].part.model].parameters,
            engine=f"{of_model[0][0].part.engine} {of_model[0][0].part.kind}",
        )
        for name, of_model in by_model.items()
    ]
    estimated = [_with_estimate(model, models) for model in models]
    return Status(
        campaign.campaign, moment, stages(campaign, catalogue, statuses, there), estimated
    )
