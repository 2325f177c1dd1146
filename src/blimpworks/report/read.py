"""Read the report's inputs: printed numbers, comparisons, and built exhibits."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from blimpworks.campaign.exhibit_spec import ExhibitSpec
from blimpworks.campaign.exhibits import exhibits
from blimpworks.exhibits.sheets import Document, read_document
from blimpworks.records.reading import results_hash
from blimpworks.report.evidence import COLUMNS, Evidence, Number, gather, read_comparison
from blimpworks.report.items import sets_from
from blimpworks.report.names import Names, names_from
from blimpworks.reproduction.printed import Place, printed_tables
from blimpworks.reproduction.published import Paper, origins_of
from blimpworks.tables import CELLS, read_table


@dataclass(frozen=True, slots=True)
class Campaign:
    """The report's facts on the campaign; ``printed`` is the folder of printed numbers."""

    name: str
    description: str
    configfile: str
    printed: Path
    papers: tuple[str, ...]
    languages: Mapping[str, str]
    models: Mapping[str, str]
    missing: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    """Sentence and remedying command for what exhibits lack, by form and key."""
    pairs: Mapping[str, Any] = field(default_factory=dict)
    """Templates of paths of pairs, judgements and scores by benchmark (``items.sets_from``)."""
    declared: bool = False
    """Whether all benchmarks are data alone, so that no paper is reproduced."""
    licences: Mapping[str, str] = field(default_factory=dict)
    """Known licences of declared benchmarks."""

    @property
    def title(self) -> str:
        return f"{'Report' if self.declared else 'Reproduction report'}: {self.name}"

    @property
    def comparisons(self) -> tuple[str, ...]:
        """Names of the comparisons with print; none where no paper has printed numbers."""
        has_print = any(printed_tables(self.printed, paper) for paper in self.papers)
        return tuple(COLUMNS) if has_print else ()


@dataclass(frozen=True, slots=True)
class Trees:
    """The campaign's results, of its ``variant``, and perhaps the corrected ones."""

    results: Path
    variant: str
    measured: frozenset[str]
    published: frozenset[str]
    corrected: Path | None = None
    resources: Path = Path("resources")

    def files(self, tree: str, key: str) -> Path:
        """Return the path of an exhibit's files in one tree, without their suffixes."""
        if tree == "published":
            return self.results / "published" / key
        results = self.corrected if tree == "corrected" and self.corrected else self.results
        return results / "exhibits" / key

    def forms_of(self, spec: ExhibitSpec) -> list[str]:
        available = {
            "published": spec.key in self.published,
            "measured": spec.key in self.measured,
            "corrected": spec.key in self.measured and self.corrected is not None,
        }
        return [tree for tree, is_available in available.items() if is_available]


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of an exhibit, with its printed number."""

    facts: Mapping[str, Any]
    """Its row of the table of cells, with the filter as a mapping."""
    origins: list[str]
    """Places of the printed numbers that it is computed from."""
    place: Place | None
    """Place of its printed number."""
    number: Number | None

    @property
    def is_itself(self) -> bool:
        """It only shows its printed number."""
        return self.place is not None and self.origins == ["/".join(self.place)]


@dataclass(frozen=True)
class Form:
    """One form of an exhibit, measured or published: its sheets, cells and files."""

    exhibit: str
    tree: str
    """``published``, ``measured`` or ``corrected``."""
    document: Document
    cells: list[Cell]
    files: Path
    """Path of its files without their suffixes."""
    figure: bool
    missing: tuple[str, ...] = ()
    """A sentence on what it lacks, and the remedying command; maybe empty."""

    @property
    def key(self) -> str:
        """Its name in the page."""
        return f"{self.tree}/{self.exhibit}"

    @cached_property
    def shown(self) -> dict[Place, int]:
        """Index of the cell that shows each printed number, preferably the number itself."""
        index_of_place: dict[Place, int] = {}
        for is_own in (True, False):
            for index, cell in enumerate(self.cells):
                if cell.place and cell.is_itself is is_own:
                    index_of_place.setdefault(cell.place, index)
        return index_of_place


@dataclass(frozen=True, slots=True)
class Exhibit:
    """An exhibit of a paper, with its forms by tree."""

    name: str
    title: str
    forms: Mapping[str, Form]
    series: str = ""
    member: str = ""


@dataclass(frozen=True, slots=True)
class PaperInputs:
    """The report's inputs of a paper."""

    name: str
    evidence: Evidence
    names: Names
    exhibits: list[Exhibit]


@dataclass(frozen=True, slots=True)
class Inputs:
    """The report's inputs."""

    campaign: Campaign
    trees: Trees
    comparisons: Mapping[str, pd.DataFrame]
    papers: list[PaperInputs]
    results_hash: str
    """One SHA-256 for the records of all jobs of the results tree."""


def read_inputs(campaign: Campaign, trees: Trees) -> Inputs:
    """Read everything that the report shows. Raises UserError when something is missing."""
    folder = trees.results / "reproduction"
    comparisons = {
        name: read_comparison(folder / f"{name}.csv", COLUMNS[name])
        for name in campaign.comparisons
    }
    papers = []
    for paper in campaign.papers:
        tables = printed_tables(campaign.printed, paper)
        accuracies = trees.results / f"accuracies/printed/{paper}.parquet"
        printed = Paper(paper, tables, Path(), {}, accuracies)
        evidence = gather(paper, tables, **comparisons) if comparisons else {}
        names = names_from(campaign.languages, campaign.models, printed)
        specs = {spec.name: spec for spec in exhibits().values() if spec.paper == paper}
        built = [name for name, spec in specs.items() if trees.forms_of(spec)]
        shown_exhibits = []
        # Exhibits of the paper in its order, then those known only from printed numbers.
        for name in dict.fromkeys([*built, *(place[0] for place in evidence)]):
            spec = specs.get(name)
            if spec is None:
                shown_exhibits.append(Exhibit(name, "Printed numbers", {}))
                continue
            forms = {}
            for tree in trees.forms_of(spec):
                lacks = campaign.missing.get("measured" if tree == "corrected" else tree, {})
                files, figure = trees.files(tree, spec.key), spec.kind == "figure"
                document = read_document(files.with_name(f"{files.name}.json"))
                cells = []
                table = read_table(CELLS, files.with_name(f"{files.name}.cells.parquet"))
                for row in table.to_pylist():
                    origins = origins_of(row, printed) if tree == "published" else ()
                    cell_key = (name, row["printed_row"], row["printed_column"])
                    number = evidence.get(cell_key)
                    facts = row | {"filter": json.loads(row["filter"])}
                    key = cell_key if number else None
                    cells.append(Cell(facts, [*filter(None, origins)], key, number))
                lack = tuple(lacks.get(spec.key, ()))
                forms[tree] = Form(name, tree, document, cells, files, figure, lack)
            shown_exhibits.append(Exhibit(name, spec.title, forms, spec.series, spec.member))
        papers.append(PaperInputs(paper, evidence, names, shown_exhibits))
    return Inputs(campaign, trees, comparisons, papers, results_hash(trees.results))


def input_files(campaign: Campaign, trees: Trees) -> list[Path]:
    """Return every file that the site shows, other than the records behind them."""
    paths = [trees.results / "reproduction" / f"{name}.csv" for name in campaign.comparisons]
    for paper in campaign.papers:
        paths += printed_tables(campaign.printed, paper)
        # Of a paper that prints no accuracies, and has released no decisions, there is none.
        paths += filter(Path.exists, [trees.results / f"accuracies/printed/{paper}.parquet"])
    for pairs in sets_from(campaign.pairs):
        paths += [pairs.items, *pairs.judgements.values(), *pairs.scores.values()]
    for key, spec in exhibits().items():
        for tree in trees.forms_of(spec):
            files = trees.files(tree, key)
            suffixes = ("cells.parquet", "json", *(["svg"] if spec.kind == "figure" else []))
            paths += [files.with_name(f"{files.name}.{suffix}") for suffix in suffixes]
    return paths
