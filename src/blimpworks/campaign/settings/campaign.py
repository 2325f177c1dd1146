"""Define the settings of a campaign (``Campaign``); ``campaign.load`` adds sections of papers.

A campaign is a YAML file that says which benchmarks, languages and models are run, and how. Unknown
keys are errors, so that a typing mistake is noticed. ``blimpworks schemas`` generates the JSON
Schemas in ``workflow/schemas`` from these models.
"""

import re
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, Field

from blimpworks.campaign.addresses import local_path
from blimpworks.campaign.settings.base import Positive, TreebankOptions, distinct
from blimpworks.campaign.settings.scoring import (
    Architecture,
    Dtype,
    EngineName,
    FirstToken,
    ParityOptions,
    ScoringOptions,
)
from blimpworks.campaign.settings.training import TrainingOptions
from blimpworks.strict import DrawnLabel, Label, Strict


def normal_folder(folder: str) -> str:
    """Check that ``folder`` has the form in which Snakemake compares paths, and return it.

    Raises ValueError for ``./results`` or ``results/``, and for characters that rules cannot have.
    """
    path = str(Path(folder).expanduser())
    if path == "." or re.search(r"[\x00-\x1f\x7f{}<>]", path):
        raise ValueError(
            "expected a directory other than the working directory, without braces, '<' and '>'"
        )
    if path != folder:
        raise ValueError(f"write it as {path!r}: Snakemake compares paths as texts")
    return path


Folder = Annotated[str, AfterValidator(normal_folder)]
Section = TypeVar("Section", bound=BaseModel)


class PathVars(Strict):
    """Directories of the campaign's files (Snakemake's path variables of the same names)."""

    results: Folder = "results"
    """Products of the campaign: items, trained models, scores, judgements, exhibits."""
    resources: Folder = "resources"
    """Retrieved files: treebanks, lexicons, models. Campaigns may share this directory."""
    logs: Folder = "logs"
    """One log per job."""
    benchmarks: Folder = "logs/benchmarks"
    """Wall time and memory of each job, measured by Snakemake."""


class CatalogueFiles(Strict):
    """The tables that a campaign selects from."""

    languages: Path = Path("config/languages.tsv")
    """One row per language."""
    treebanks: Path = Path("config/treebanks.tsv")
    """One row per treebank file, pinned."""
    sources: Path = Path("config/sources.tsv")
    """One row per other file, pinned."""
    addresses: Path = Path("config/addresses.tsv")
    """Further addresses of files, tried in order where a file's own address fails."""
    models: Path = Path("config/models.tsv")
    """One row per language model."""
    groups: Path = Path("config/language_groups.tsv")
    """Groups of languages that exhibits report on: one row per group and language."""
    frequency_codes: Path = Path("config/frequency_codes.tsv")
    """One row per language that has another code in the frequency table."""
    published: Path = Path("config/published")
    """One directory per paper, with the printed numbers of its exhibits."""


class ReportOptions(Strict):
    """The reproduction report."""

    corrected: Path | None = None
    """Results directory of the same campaign in the variant "corrected"; the report shows both."""


class ReportCardOptions(Strict):
    """The report card of an evaluation."""

    sensitivity: bool = False
    """Also score a sample of the pairs (``parity.pairs``) with each possible start (the token
    before a sentence), and report the changed decisions."""
    worst: Positive = 10
    """Number of worst items shown for each model and benchmark."""
    suite: str | None = None
    """Suite whose table is shown: its name in ``config/suites``, or the path of its file."""
    curves: bool = False
    """Draw the suite's numbers over the models, which are checkpoints of one training."""


class OwnModel(Strict):
    """A model of this machine that is in no table of models."""

    path: Annotated[str, AfterValidator(local_path)]
    """Directory in Hugging Face's layout or with a checkpoint of blimpworks, or n-gram file. It
    begins with /, ./, ../ or ~. A path with {lang} has a model for each language."""
    label: DrawnLabel = ""
    """Name in tables and figures; empty for the model's key."""
    architecture: Architecture = "causal"
    engine: EngineName = "transformers"
    dtype: Dtype = "float32"
    first_token: FirstToken = "bos"
    """Start: the token before a sentence, or the policy that chooses it (docs/first_token.md)."""
    tuning: Literal["base", "chat"] = "base"
    languages: str = ""
    """A group of the table of groups, or ISO 639-3 codes separated by commas; empty: all."""
    parameters: float | None = Field(None, gt=0)
    """Billions of parameters, from which the resources of a cluster's jobs follow."""

    def cells(self, name: str) -> dict[str, object]:
        """Return the model as a row {column: cell} of a table of models."""
        stated = self.model_dump(exclude={"path", "label", "parameters"})
        empty = ("papers", "revision", "recipe", "gpus", "gpu_memory_gb", "note")
        return {
            **dict.fromkeys(empty, ""),
            **stated,
            "name": name,
            "label": self.label or name,
            "family": self.label or name,
            "hf_id": self.path,
            "scope": "monolingual" if "{lang}" in self.path else "multilingual",
            "parameters": self.parameters or "",
            "gated": "no",
        }


class Campaign(Strict):
    """A campaign: benchmarks, languages and models, and settings of their evaluation."""

    campaign: str = Field(pattern=r"^[a-z][a-z0-9_-]*$")
    """Name of the campaign."""
    description: Label = ""
    """One sentence for people."""
    pathvars: PathVars = PathVars()
    catalogue: CatalogueFiles = CatalogueFiles()
    mirror: Path | None = None
    """Directory with copies of the pinned files (plain or .xz), read before the network."""
    checksums: Literal["any", "sha256"] = "any"
    """Checksums that pin a file: any (SHA-256, git blob id, or the one that Zenodo or the Hugging
    Face hub states), or SHA-256 alone."""
    unpinned: Literal["error", "skip"] = "error"
    """Stop when a needed file has no such checksum, or continue without the file."""
    substitutes: dict[str, str] = Field(default={})
    """UniMorph tables that replace other tables, by name: {ORIGINAL: SUBSTITUTE}."""
    declared: tuple[Path, ...] = ()
    """Folders of declared benchmarks, each named like its benchmark. They replace folders of the
    same names in ``config/benchmarks``."""
    benchmarks: Annotated[tuple[str, ...], AfterValidator(distinct)] = ()
    """Benchmarks to build and score, of all papers."""
    languages: Annotated[tuple[str, ...], AfterValidator(distinct)] | Literal["all"] = "all"
    """ISO 639-3 codes of the catalogue, or all."""
    models: Annotated[tuple[str, ...], AfterValidator(distinct)] | Literal["all"] = "all"
    """Models of the catalogue, or all models of the papers; an empty list builds only the data."""
    own_models: dict[str, OwnModel] = Field(default={})
    """Models of this machine by name, which run besides ``models``."""
    run_model_code: dict[str, Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]] = Field(default={})
    """Digests of Python code in models' directories that may run: {NAME OF MODEL: DIGEST}. The code
    can do whatever the user can (docs/security.md); `blimpworks evaluate MODEL --run-model-code
    show` lists it."""
    omitted: Annotated[tuple[str, ...], AfterValidator(distinct)] = ()
    """Exhibits that are not made, by Snakemake's targets (docs/exhibits.md): PAPER_EXHIBIT of the
    campaign's numbers, PAPER_EXHIBIT_published of printed ones."""
    limit: Positive | None = None
    """Most items of each benchmark and language that models run on: a sample balanced over
    paradigms; null for all items."""
    engines: dict[EngineName, EngineName] = Field(default={})
    """Scoring engines that replace other engines: {ENGINE IN CATALOGUE: SUBSTITUTE}."""
    treebanks: TreebankOptions = TreebankOptions()
    training: TrainingOptions = TrainingOptions()
    scoring: ScoringOptions = ScoringOptions()
    parity: ParityOptions = ParityOptions()
    report: ReportOptions = ReportOptions()
    report_card: ReportCardOptions = ReportCardOptions()
    site: Path | None = None
    """Description of the cluster (docs/cluster.md); None for ``config/site.yaml``, if it exists. It
    decides only the resources that jobs request."""

    def section(self, model: type[Section]) -> Section:
        """Return the section whose pydantic model is ``model``; default settings without one."""
        sections = (getattr(self, name) for name in type(self).model_fields)
        return next((section for section in sections if type(section) is model), None) or model()

    def folder(self, name: str) -> Path:
        # Papers add folders to the catalogue (``campaign_model``), so this class lacks the fields.
        folder: Path = getattr(self.catalogue, name)
        return folder
