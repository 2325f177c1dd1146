"""The two evaluations of a comparison: where their results are, and which models are compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from blimpworks.audit.lineage import judged_items
from blimpworks.campaign.load import load_campaign
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.errors import UserError
from blimpworks.evaluation.request import CAMPAIGN_FILE
from blimpworks.tables import ACCURACIES, JUDGEMENTS, made_by, read_table

if TYPE_CHECKING:
    import pandas as pd

LABELS = ["benchmark", "model", "lang", "phenomenon", "paradigm", "method"]
COLUMNS = ["item_id", "paradigm", "phenomenon", "method", "correct", "margin"]


@dataclass(frozen=True)
class Side:
    """An evaluation."""

    folder: Path
    """As the user named it."""
    results: Path
    campaign: Campaign | None
    """None for a results tree, which does not say what made it."""

    @cached_property
    def accuracies(self) -> "pd.DataFrame":
        """Accuracies on all its benchmarks, labels as strings.

        Raises UserError where there are none, or one of the tables is broken.
        """
        import pandas as pd

        paths = sorted((self.results / "accuracies").glob("*.parquet"))
        if not paths:
            raise UserError(
                f"{self.folder} has no accuracies; expected the directory of a finished evaluation "
                f"(with {CAMPAIGN_FILE}) or a results tree with accuracies/BENCHMARK.parquet."
            )
        tables = (read_table(ACCURACIES, path).to_pandas() for path in paths)
        labelled = [table.astype(dict.fromkeys(LABELS, object)) for table in tables]
        frame: pd.DataFrame = pd.concat(labelled, ignore_index=True)
        return frame

    @cached_property
    def judged_tables(self) -> list[tuple[str, str, str]]:
        """Benchmark, language and model of each table of judgements behind its accuracies.

        Where every item was skipped there are no accuracies: the record names the table.
        """
        rows = self.accuracies[["benchmark", "lang", "model"]].itertuples(index=False, name=None)
        recorded = (
            Path(entry["path"]).with_suffix("").parts[-3:]
            for path in sorted((self.results / "accuracies").glob("*.parquet"))
            for entry in (made_by(path) or {}).get("inputs", [])
            if "/judgements/" in entry["path"]
        )
        return list(dict.fromkeys([*rows, *recorded]))

    @property
    def models(self) -> list[str]:
        """Models that it has judgements of."""
        return list(dict.fromkeys(model for _, _, model in self.judged_tables))

    def judged(self, model: str) -> list[tuple[str, str]]:
        """Benchmark and language of each table of a model's judgements."""
        return [(benchmark, lang) for benchmark, lang, name in self.judged_tables if name == model]

    def table(self, kind: str, benchmark: str, lang: str, model: str) -> Path:
        """Path of a table of a model on the items of a language."""
        return self.results / kind / benchmark / lang / f"{model}.parquet"

    def judgements(self, benchmark: str, lang: str, model: str) -> "pd.DataFrame":
        """Judgements of a model on the items of a language by all methods, columns ``COLUMNS``.

        Raises UserError where the table is missing or broken.
        """
        path = self.table("judgements", benchmark, lang, model)
        frame: pd.DataFrame = read_table(JUDGEMENTS, path).select(COLUMNS).to_pandas()
        return frame.astype(dict.fromkeys(["paradigm", "phenomenon", "method"], object))

    def items(self, benchmark: str, lang: str, model: str) -> Path:
        """Path of the items that a model was judged on."""
        return judged_items(self.results, benchmark, lang, model)


def read_side(folder: Path) -> Side:
    """An evaluation, or a results tree. Raises UserError where it is neither."""
    if not folder.is_dir():
        raise UserError(f"{folder} is no directory; name that of an evaluation, or a results tree.")
    path, below = folder / CAMPAIGN_FILE, folder / "results"
    results = below if (below / "accuracies").is_dir() else folder
    return Side(folder, results, load_campaign(path) if path.exists() else None)


def pair_models(
    a: Side, b: Side, chosen: tuple[str, str] | None = None
) -> tuple[tuple[str, str], ...]:
    """Which model of the first side is compared with which of the second.

    Those that are ``chosen``; else models of the same name; else the only one of each side.
    Raises UserError where none of this gives a pair.
    """
    if chosen:
        for side, model in zip((a, b), chosen, strict=True):
            if model not in side.models:
                raise UserError(
                    f"{side.folder} has no accuracies of model {model!r}; it has "
                    f"{_names(side.models)}. Name one of them, --models A's B's."
                )
        return (chosen,)
    common = [model for model in a.models if model in b.models]
    if common:
        return tuple((model, model) for model in common)
    if len(a.models) == len(b.models) == 1:
        return ((a.models[0], b.models[0]),)
    raise UserError(
        f"{a.folder} has {_names(a.models)} and {b.folder} has {_names(b.models)}, no model of the "
        f"same name; say which two to compare, such as --models {a.models[0]} {b.models[0]}."
    )


def _names(models: Sequence[str]) -> str:
    return ", ".join(models)
