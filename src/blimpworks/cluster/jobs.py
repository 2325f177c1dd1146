"""The jobs that score a campaign's models, and what of them is there already."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from blimpworks.catalogue import Catalogue, ModelRow
from blimpworks.config import Campaign
from blimpworks.errors import UserError
from blimpworks.reference import groups_of_models
from blimpworks.scoring.engines import settle
from blimpworks.scoring.run import read_manifest


@dataclass(frozen=True, slots=True)
class ScoreJob:
    """A job that scores languages with one checkpoint."""

    model: str
    part: str
    """``multi``, a language, or ``multi.LANGUAGE``."""
    items: tuple[Path, ...]
    """Items tables, of each benchmark and language."""
    store: Path
    """Directory with its manifest and shards."""
    checkpoint: Path
    """checkpoint.json of the model."""

    @property
    def manifest(self) -> Path:
        """What the job writes last."""
        return self.store / "manifest.json"


class Stored(NamedTuple):
    """What shards of a store hold."""

    sentences: int
    tokens: int
    bytes: int

    def __add__(self, other: object) -> "Stored":
        """The two together."""
        if not isinstance(other, Stored):
            return NotImplemented
        return Stored(*(a + b for a, b in zip(self, other, strict=True)))

    @property
    def mean(self) -> float | None:
        """Tokens of a mean sentence; None without any."""
        return self.tokens / self.sentences if self.sentences else None


NOTHING = Stored(0, 0, 0)


def engine_of(campaign: Campaign, row: ModelRow) -> str:
    """The engine that scores with a model in this campaign."""
    return campaign.engines.get(row.engine, row.engine)


def dtype_of(campaign: Campaign, row: ModelRow) -> str:
    """The number format that a model is run in in this campaign."""
    engine = engine_of(campaign, row)
    return settle(engine, row.architecture, "dtype", row.dtype, campaign.scoring.dtype)


def _parts(campaign: Campaign, row: ModelRow, languages: Sequence[str]) -> dict[str, list[str]]:
    """Languages that each job of a model scores, by part."""
    if row.scope == "monolingual":
        return {lang: [lang] for lang in languages}
    if campaign.scoring.jobs == "language":
        return {f"multi.{lang}": [lang] for lang in languages}
    return {"multi": [*languages]} if languages else {}


def score_jobs(campaign: Campaign, catalogue: Catalogue) -> list[ScoreJob]:
    """Every job that scores, done or not, in the order of the catalogue.

    Raises UserError for a model of an unknown group of languages.
    """
    groups = groups_of_models(campaign, catalogue)
    results, resources = Path(campaign.pathvars.results), Path(campaign.pathvars.resources)
    found = []
    for name, row in catalogue.models.items():
        benchmarks = [b for b in campaign.benchmarks if not row.papers or b in row.papers]
        languages = [
            lang
            for lang in catalogue.languages
            if not row.languages or lang in groups[row.languages]
        ]
        for part, inside in _parts(campaign, row, languages if benchmarks else []).items():
            scope = part.partition(".")[0]
            found.append(
                ScoreJob(
                    model=name,
                    part=part,
                    items=tuple(
                        results / "items" / benchmark / f"{lang}.parquet"
                        for benchmark in benchmarks
                        for lang in inside
                    ),
                    store=results / "store" / name / part,
                    checkpoint=resources / "models" / name / scope / "checkpoint.json",
                )
            )
    return found


def _shard(path: Path) -> Stored:
    """Rows of a shard, from its metadata alone; nothing of one that cannot be read."""
    try:
        meta = pq.read_metadata(path)
    except (OSError, pa.ArrowException):
        return NOTHING
    tokens = 0
    for number in range(meta.num_row_groups):
        group = meta.row_group(number)
        columns = [group.column(i) for i in range(group.num_columns)]
        tokens += sum(c.num_values for c in columns if c.path_in_schema.startswith("ids."))
    return Stored(meta.num_rows, tokens, path.stat().st_size)


def stored(job: ScoreJob) -> Stored:
    """What the shards of a job hold."""
    shards = sorted((job.store / "shards").glob("part-*.parquet"))
    return sum(map(_shard, shards), NOTHING)


def is_done(job: ScoreJob) -> bool:
    """Whether a job has written its manifest."""
    try:
        read_manifest(job.manifest)
    except UserError:
        return False
    return True
