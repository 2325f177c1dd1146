"""The settings of a campaign that are of no paper; each paper adds a section of its own.

Unknown keys are refused, so a typo is an error that names the key. The JSON Schemas in
``workflow/schemas`` are generated from these models (``blimpworks schemas``) and a test
fails when they drift. ``campaign.load`` puts the papers' sections in.
"""

from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, Field

from blimpworks.campaign.local_models import local_path
from blimpworks.campaign.settings.base import Positive
from blimpworks.campaign.settings.scoring import (
    Dtype,
    EngineName,
    FirstToken,
    ParityOptions,
    ScoringOptions,
)
from blimpworks.campaign.settings.training import TrainingOptions
from blimpworks.campaign.settings.treebanks import TreebankOptions
from blimpworks.strict import DrawnLabel, Label, Strict


def once_each(names: tuple[str, ...]) -> tuple[str, ...]:
    """Some names. Raises ValueError for one that stands twice."""
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"{twice!r} stands there twice; keep one")
    return names


Section = TypeVar("Section", bound=BaseModel)


class PathVars(Strict):
    """Where the campaign's files go (Snakemake's path variables of the same names)."""

    results: str = "results"
    """What the campaign makes: items, trained models, scores, judgements, exhibits."""
    resources: str = "resources"
    """What is retrieved: treebanks, lexicons, models. Campaigns may share it."""
    logs: str = "logs"
    """One log per job."""
    benchmarks: str = "logs/benchmarks"
    """Wall time and memory of each job, as Snakemake measures them."""


class CatalogueFiles(Strict):
    """The tables that say what can be used; a campaign selects from them."""

    languages: Path = Path("config/languages.tsv")
    """One row per language."""
    treebanks: Path = Path("config/treebanks.tsv")
    """One row per treebank file, pinned."""
    sources: Path = Path("config/sources.tsv")
    """One row per other file, pinned."""
    addresses: Path = Path("config/addresses.tsv")
    """Other addresses of files, tried in order where theirs does not give them."""
    models: Path = Path("config/models.tsv")
    """One row per language model."""
    groups: Path = Path("config/language_groups.tsv")
    """One row per language of a group that exhibits report on."""
    frequency_codes: Path = Path("config/frequency_codes.tsv")
    """One row per language that the frequency table knows under other codes."""
    published: Path = Path("config/published")
    """One directory per paper, with the numbers that its exhibits print."""


class ReportOptions(Strict):
    """The reproduction report."""

    corrected: Path | None = None
    """Results tree of a campaign like this one in the variant "corrected", shown beside it."""


class ReportCardOptions(Strict):
    """The report card of an evaluation."""

    sensitivity: bool = False
    """Also score a sample of the pairs (``parity.pairs``) with each thing that can condition the
    first token, and say which decisions that turns."""
    worst: Positive = 10
    """Worst items that are shown of each model and benchmark."""


class OwnModel(Strict):
    """A model of this machine that is in no table of models."""

    path: Annotated[str, AfterValidator(local_path)]
    """A directory in Hugging Face's layout or with a checkpoint of ours, or an n-gram file:
    beginning with /, ./, ../ or ~. With {lang} in it, one for each language."""
    label: DrawnLabel = ""
    """As shown in tables and figures; empty: its name."""
    architecture: Literal["causal", "masked", "encoder-decoder", "ngram", "lstm"] = "causal"
    engine: EngineName = "transformers"
    dtype: Dtype = "float32"
    first_token: FirstToken = "bos"
    """What conditions the first token."""
    tuning: Literal["base", "chat"] = "base"
    languages: str = ""
    """A group of the table of groups, or ISO 639-3 codes separated by commas; empty: all."""
    parameters: float | None = Field(None, gt=0)
    """Billions, from which a cluster's jobs follow."""

    def cells(self, name: str) -> dict[str, object]:
        """The row that it would have in a table of models, by column."""
        own = self.model_dump(exclude={"path", "label", "parameters"})
        absent = dict.fromkeys(
            ("papers", "revision", "recipe", "gpus", "gpu_memory_gb", "note"), ""
        )
        return {
            **absent,
            **own,
            "name": name,
            "label": self.label or name,
            "family": self.label or name,
            "hf_id": self.path,
            "scope": "monolingual" if "{lang}" in self.path else "multilingual",
            "parameters": self.parameters or "",
            "gated": "no",
        }


class Campaign(Strict):
    """A campaign: which benchmarks, languages and models, and how."""

    campaign: str = Field(pattern=r"^[a-z][a-z0-9_-]*$")
    """Name of the campaign."""
    description: Label = ""
    """One sentence for people."""
    pathvars: PathVars = PathVars()
    catalogue: CatalogueFiles = CatalogueFiles()
    mirror: Path | None = None
    """Directory with copies of the pinned files (plain or .xz), read before the network."""
    checksums: Literal["any", "sha256"] = "any"
    """Which checksums pin a file: any (SHA-256, a git blob id, or what Zenodo or the Hugging Face
    hub state of it), or SHA-256 alone."""
    unpinned: Literal["error", "skip"] = "error"
    """Stop when a file is needed that no such checksum pins, or do without it."""
    substitutes: dict[str, str] = Field(default={})
    """Sources to use in place of others, by name: {wanted: used}."""
    declared: tuple[Path, ...] = ()
    """Folders of declared benchmarks besides those in ``config/benchmarks``, before which they go;
    each is called like its folder."""
    benchmarks: Annotated[tuple[str, ...], AfterValidator(once_each)] = ()
    """Benchmarks to build and score, of all papers."""
    languages: Annotated[tuple[str, ...], AfterValidator(once_each)] | Literal["all"] = "all"
    """ISO 639-3 codes of the catalogue, or all of it."""
    models: Annotated[tuple[str, ...], AfterValidator(once_each)] | Literal["all"] = "all"
    """Names of models of the catalogue, all that the papers evaluate, or none: then the data
    alone are built."""
    own_models: dict[str, OwnModel] = Field(default={})
    """Models of this machine, by the name that they are given here; run beside ``models``."""
    limit: Positive | None = None
    """Items of each benchmark and language that models are run on: a sample balanced over
    paradigms; null for all."""
    engines: dict[EngineName, EngineName] = Field(default={})
    """Scoring engines to use in place of others: {of the catalogue: used}."""
    treebanks: TreebankOptions = TreebankOptions()
    training: TrainingOptions = TrainingOptions()
    scoring: ScoringOptions = ScoringOptions()
    parity: ParityOptions = ParityOptions()
    report: ReportOptions = ReportOptions()
    report_card: ReportCardOptions = ReportCardOptions()
    site: Path | None = None
    """Description of the cluster that jobs run on (docs/cluster.md); None for
    ``config/site.yaml``, if there is one. It decides nothing but what jobs ask for."""

    def section(self, kind: type[Section]) -> Section:
        """The settings of a paper, by their model; its defaults where the campaign has none."""
        sections = (getattr(self, name) for name in type(self).model_fields)
        return next((each for each in sections if type(each) is kind), None) or kind()

    def folder(self, name: str) -> Path:
        """Data of a paper that stand in the catalogue, by the name that the paper gives them."""
        folder: Path = getattr(self.catalogue, name)
        return folder
