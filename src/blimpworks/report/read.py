"""Read all that the report shows (``read_inputs``): printed numbers, comparisons, names, exhibits.

An exhibit (a table or figure of a paper) is built in up to three forms, each in a tree of files.
The cells of a form are numbers with their origin.

    published   from the paper's printed numbers    results/published/PAPER/EXHIBIT.*;
    measured    from the campaign's results         results/exhibits/PAPER/EXHIBIT.*;
    corrected   from results by corrected methods   CORRECTED/exhibits/PAPER/EXHIBIT.*.

The comparison ``published`` has printed numbers beside numbers recomputed from other printed
numbers. The comparison ``measured`` has printed numbers beside the campaign's. A printed number
with its results in both comparisons is evidence (``Number``).
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, NamedTuple, cast

import pandas as pd

from blimpworks.campaign.paper import ExhibitSpec
from blimpworks.campaign.reference import PublishedRow
from blimpworks.campaign.registry import exhibits, find_paper, printed_tables
from blimpworks.campaign.table_files import read_rows
from blimpworks.errors import UserError, reading
from blimpworks.exhibits.exhibit import Document, read_document
from blimpworks.items import ALL
from blimpworks.records.reading import records_below, root_hash
from blimpworks.reproduction.comparisons import Paper, origins_of
from blimpworks.reproduction.printed import KEY_COLUMNS, NumberKey
from blimpworks.tables import CELLS, read_table
from blimpworks.yaml_files import read_yaml

TEXTS: dict[str, Any] = read_yaml(Path(__file__).parent / "assets/texts.yaml", "texts of pages")
"""Texts of pages, with the signs and meanings of statuses and verdicts."""


@dataclass(frozen=True, slots=True)
class Number:
    """A printed number (or text) with its file and line (``where``), and results of comparisons.

    ``status`` says whether the printed number agrees with the number ``recomputed`` by the formula
    ``rule``, or the printed text with the released text ``reading``. ``verdict`` says whether the
    number agrees with the one ``measured`` on ``n`` items, with an interval (``low``, ``high``).
    """

    row: PublishedRow
    where: str
    status: str = ""
    recomputed: float | None = None
    reading: str = ""
    rule: str = ""
    note: str = ""
    measured: float | None = None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    verdict: str = ""
    differs: str = ""
    """Why the measured and the printed number are not comparable; "" if they are."""

    def formatted(self, value: float | str) -> str:
        """Format ``value`` with as many decimals as the printed number; a text stays unchanged."""
        return value if isinstance(value, str) else f"{value:.{self.row.decimals}f}"

    @property
    def recomputed_text(self) -> str:
        """The recomputed number with as many decimals as the printed one, or the released text."""
        return self.reading if self.recomputed is None else self.formatted(self.recomputed)

    def facts(self) -> dict[str, Any]:
        """Return the number's fields and formatted texts that are not empty, for JSON."""
        facts = {name: value for name, value in asdict(self).items() if name != "row"}
        unit = "" if self.row.textual else self.row.unit
        printed = {"text": self.row.text, "unit": unit, "again": self.recomputed_text}
        if self.row.corrected is not None:
            printed["corrected"] = self.formatted(self.row.corrected)
        return {key: value for key, value in (printed | facts).items() if value not in ("", None)}


Evidence = dict[NumberKey, Number]
"""The printed numbers of one paper, in the order of its files."""

TEXT_COLUMNS = (*KEY_COLUMNS, "reading", "rule", "status", "verdict", "differs", "note")
"""Columns of the comparisons that hold texts; the others hold numbers."""


def read_comparison(path: Path, columns: Iterable[str]) -> pd.DataFrame:
    """Read a comparison's CSV file. Raises UserError when it is missing or lacks ``columns``."""
    with reading(path, "a comparison with print", "Build it: snakemake reproduction"):
        frame = pd.read_csv(
            path, dtype=dict.fromkeys(TEXT_COLUMNS, str), keep_default_na=False, na_values={}
        )
        if not isinstance(frame.index, pd.RangeIndex):
            raise ValueError("a row has more cells than there are headings")
        for name in frame:
            if name not in TEXT_COLUMNS:
                frame[name] = pd.to_numeric(frame[name])
    missing = [name for name in columns if name not in frame]
    if missing:
        raise UserError(f"{path} has no columns {', '.join(missing)}; rebuild it.")
    return frame


def collect_evidence(
    paper: str, printed: Sequence[Path], published: pd.DataFrame, measured: pd.DataFrame
) -> Evidence:
    """Return the numbers in a paper's ``printed`` files with their results in both comparisons."""
    facts_by_key: dict[NumberKey, dict[str, Any]] = {}
    for frame, names in (
        (published, ("status", "recomputed", "reading", "rule", "note")),
        (measured, ("measured", "low", "high", "n", "verdict", "differs")),
    ):
        for row in frame[frame["paper"] == paper].to_dict("records"):
            key = (row["exhibit"], row["row"], row["column"])
            filled = (name for name in names if not pd.isna(row[name]) and row[name] != "")
            facts_by_key.setdefault(key, {}).update({name: row[name] for name in filled})
    evidence: Evidence = {}
    for path in sorted(printed):
        for line, number in enumerate(read_rows(PublishedRow, path), start=2):
            key = (number.exhibit, number.row, number.column)
            facts = {"note": number.note} | facts_by_key.get(key, {})
            if "n" in facts:
                facts["n"] = int(facts["n"])
            evidence[key] = Number(number, f"{path}:{line}", **facts)
    return evidence


_KEY_WITHOUT_UNIT = tuple(name for name in KEY_COLUMNS if name != "unit")
_MEASURED = ("measured", "low", "high", "n", "reading", "verdict", "differs")
COMPARISON_COLUMNS = {
    "published": (*_KEY_WITHOUT_UNIT, "status", "recomputed", "reading", "rule", "note"),
    "measured": (*_KEY_WITHOUT_UNIT, *_MEASURED),
}
"""Columns of each comparison that the report shows."""


# Names of languages, models and phenomena

MOST_FILTER_CHOICES = 8
"""Most languages (or models) of a number for which it can be filtered by them."""
NAME_COLUMNS = {
    "lang": ("lang",),
    "model": ("model", "model_a", "model_b"),
    "phenomenon": ("phenomenon", "paradigm"),
}
"""Columns of a cell's filter, by category of names."""


@dataclass
class Names:
    """Printed names by category and key: {"lang": {"deu": "German"}, "model": …, "phenomenon": …}.

    ``used``: the names on a page, by which readers can filter it; ``about`` adds to them.
    """

    labels: Mapping[str, Mapping[str, str]]
    used: dict[str, dict[str, str]] = field(default_factory=dict)

    def of(self, key: str) -> str:
        """Return the name of a language, model or phenomenon; return any other key unchanged."""
        return next((names[key] for names in self.labels.values() if key in names), key)

    def about(self, where: Mapping[str, Any], number: NumberKey | None) -> dict[str, str]:
        """Return HTML attributes with a number's language, model and phenomenon: ``data-lang``, ….

        ``where``: filter of the number's cell, such as {"lang": "deu"}. An attribute that would
        repeat the row or column of the printed ``number`` is left out.
        """
        attributes = {}
        row_and_column = number[1:] if number else ()
        for category, columns in NAME_COLUMNS.items():
            # Names in the filter's columns of this category, and in rows and columns of exhibits.
            keys: list[Any] = []
            for column in columns:
                values = where.get(column, [])
                keys += values if isinstance(values, list) else [values]
            for key in (*row_and_column, where.get("row"), where.get("column")):
                if isinstance(key, str) and key in self.labels[category]:
                    keys.append(key)
            names: dict[str, str] = {}
            for key in dict.fromkeys(keys):
                if key and key != ALL:
                    name = self.labels[category].get(key, str(key).replace("_", " "))
                    names[str(key).replace(" ", "_")] = name
            if 0 < len(names) <= MOST_FILTER_CHOICES:
                value = " ".join(names)
                if value not in row_and_column:
                    attributes[f"data-{category}"] = value
                self.used.setdefault(category, {}).update(names)
        return attributes


# All inputs of the report


class PairSet(NamedTuple):
    """A benchmark in a language: table of its pairs, and tables of each model's results."""

    benchmark: str
    lang: str
    items: Path
    judgements: Mapping[str, Path]
    scores: Mapping[str, Path]
    method: str
    """Method whose decisions the report shows."""


def sets_from(pairs: Mapping[str, Any]) -> list[PairSet]:
    """Return a set for each benchmark and language, from the workflow's templates of paths.

    ``pairs``: by benchmark, {"items": {"deu": "PATH"}, "models": {"gpt2": ["deu"], "ngram": None},
    "judgements": "…/{model}/{lang}.parquet", "scores": …, "method": …}. None: all languages.
    """
    sets = []
    for benchmark, facts in pairs.items():
        languages_by_model = facts["models"].items()
        for lang, items in facts["items"].items():
            models = [name for name, langs in languages_by_model if langs is None or lang in langs]
            judgements, scores = (
                {model: Path(facts[table].format(lang=lang, model=model)) for model in models}
                for table in ("judgements", "scores")
            )
            if models:
                method = facts["method"]
                sets.append(PairSet(benchmark, lang, Path(items), judgements, scores, method))
    return sets


@dataclass(frozen=True, slots=True)
class Campaign:
    """Facts on the campaign for the report, and the folders of its results."""

    name: str
    description: str
    configfile: str
    printed: Path
    """Folder of the papers' printed numbers."""
    results: Path
    """Folder of the campaign's results."""
    variant: str
    """Variant of the campaign's numbers."""
    measured: Collection[str]
    """Keys of the exhibits that are built from the campaign's numbers."""
    published: Collection[str]
    """Keys of the exhibits that are built from printed numbers."""
    papers: Sequence[str]
    languages: Mapping[str, str]
    """English names by ISO 639-3 code."""
    models: Mapping[str, str]
    """Labels by name."""
    missing: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    """{form: {key of an exhibit: [sentence on what it lacks, command to get that]}}."""
    pairs: Mapping[str, Any] = field(default_factory=dict)
    """Paths of pairs, judgements and scores by benchmark, for ``sets_from``."""
    declared: bool = False
    """True if all benchmarks are declared as data, so that no paper is reproduced."""
    licences: Mapping[str, str] = field(default_factory=dict)
    """Licences of declared benchmarks that state one."""
    corrected: Path | None = None
    resources: Path = Path("resources")

    @property
    def title(self) -> str:
        return f"{'Report' if self.declared else 'Reproduction report'}: {self.name}"

    @property
    def comparisons(self) -> tuple[str, ...]:
        """Names of the comparisons with printed numbers; empty if no paper has any."""
        has_print = any(printed_tables(self.printed, paper) for paper in self.papers)
        return tuple(COMPARISON_COLUMNS) if has_print else ()

    def files(self, tree: str, key: str) -> Path:
        """Return the path of an exhibit's files in one tree, without their suffixes."""
        if tree == "published":
            return self.results / "published" / key
        results = self.corrected if tree == "corrected" and self.corrected else self.results
        return results / "exhibits" / key

    def forms_of(self, spec: ExhibitSpec) -> list[str]:
        """Return the trees that an exhibit is built in."""
        trees = ["published"] if spec.key in self.published else []
        if spec.key in self.measured:
            trees += ["measured"] if self.corrected is None else ["measured", "corrected"]
        return trees


class Cell(NamedTuple):
    """A cell of an exhibit, with its printed number if there is one."""

    facts: Mapping[str, Any]
    """Row of the table of cells, with the filter as a mapping."""
    origins: list[str]
    """Printed numbers from which the cell is computed, as EXHIBIT/ROW/COLUMN."""
    key: NumberKey | None
    """Key of the cell's printed number; None without one."""
    number: Number | None

    @property
    def is_copy(self) -> bool:
        """Whether the cell only repeats its printed number."""
        return self.key is not None and self.origins == ["/".join(self.key)]


@dataclass(frozen=True)
class Form:
    """An exhibit in one form: its sheets, cells and files."""

    exhibit: str
    tree: str
    """``published``, ``measured`` or ``corrected``."""
    document: Document
    cells: list[Cell]
    files: Path
    """Path of its files, without suffix."""
    figure: bool
    missing: tuple[str, ...] = ()
    """Sentence on what it lacks, and the command to get it; empty if it lacks nothing."""

    @property
    def key(self) -> str:
        """Identifier in the page."""
        return f"{self.tree}/{self.exhibit}"

    @cached_property
    def cell_of(self) -> dict[NumberKey, int]:
        """Index of a cell for each printed number, preferably of a cell that repeats it."""
        indices: dict[NumberKey, int] = {}
        for is_copy in (True, False):
            for index, cell in enumerate(self.cells):
                if cell.key and cell.is_copy is is_copy:
                    indices.setdefault(cell.key, index)
        return indices


class Exhibit(NamedTuple):
    """An exhibit of a paper, with its forms by tree."""

    name: str
    title: str
    forms: Mapping[str, Form]
    series: str = ""
    member: str = ""


class PaperInputs(NamedTuple):
    """One paper in the report: its printed numbers, names and exhibits."""

    name: str
    evidence: Evidence
    names: Names
    exhibits: list[Exhibit]


class Inputs(NamedTuple):
    """Everything that the report shows."""

    campaign: Campaign
    comparisons: Mapping[str, pd.DataFrame]
    papers: list[PaperInputs]
    results_hash: str
    """One SHA-256 for the records of all jobs of the results tree."""


def read_inputs(campaign: Campaign) -> Inputs:
    """Read all that the report shows. Raises UserError when something is missing."""
    folder = campaign.results / "reproduction"
    comparisons = {
        name: read_comparison(folder / f"{name}.csv", COMPARISON_COLUMNS[name])
        for name in campaign.comparisons
    }
    papers = [_read_paper(paper, campaign, comparisons) for paper in campaign.papers]
    results_hash = root_hash(records_below(campaign.results).values())
    return Inputs(campaign, comparisons, papers, results_hash)


def _read_paper(
    paper: str, campaign: Campaign, comparisons: Mapping[str, pd.DataFrame]
) -> PaperInputs:
    """Read the printed numbers, names and exhibits of one paper."""
    tables = printed_tables(campaign.printed, paper)
    accuracies = campaign.results / f"accuracies/printed/{paper}.parquet"
    printed = Paper(paper, tables, Path(), {}, accuracies)
    evidence = collect_evidence(paper, tables, **comparisons) if comparisons else {}
    table = printed.tables["accuracies"].table
    keys = dict.fromkeys([*table["phenomenon"], *table["paradigm"]])
    phenomena = {str(key): str(key).replace("_", " ") for key in keys if key and key != ALL}
    if address := find_paper(paper).names:
        phenomena |= cast(Mapping[str, str], resolve_name(address))
    labels = {"lang": campaign.languages, "model": campaign.models, "phenomenon": phenomena}
    specs = {spec.name: spec for spec in exhibits().values() if spec.paper == paper}
    built = [name for name, spec in specs.items() if campaign.forms_of(spec)]
    paper_exhibits = []
    # First the built exhibits in the paper's order, then exhibits that only have printed numbers.
    for name in dict.fromkeys([*built, *(key[0] for key in evidence)]):
        spec = specs.get(name)
        if spec is None:
            paper_exhibits.append(Exhibit(name, "Printed numbers", {}))
            continue
        forms = {}
        for tree in campaign.forms_of(spec):
            # Corrected results lack what measured ones lack.
            missing = campaign.missing.get("measured" if tree == "corrected" else tree, {})
            form = _read_form(spec, tree, campaign.files(tree, spec.key), printed, evidence)
            forms[tree] = replace(form, missing=tuple(missing.get(spec.key, ())))
        paper_exhibits.append(Exhibit(name, spec.title, forms, spec.series, spec.member))
    return PaperInputs(paper, evidence, Names(labels), paper_exhibits)


def _read_form(spec: ExhibitSpec, tree: str, files: Path, paper: Paper, evidence: Evidence) -> Form:
    """Read one form of an exhibit; ``files``: path of its files, without suffix."""
    document = read_document(files.with_name(f"{files.name}.json"))
    cells = []
    for row in read_table(CELLS, files.with_name(f"{files.name}.cells.parquet")).to_pylist():
        origins = origins_of(row, paper) if tree == "published" else ()
        key = (spec.name, row["printed_row"], row["printed_column"])
        number = evidence.get(key)
        facts = row | {"filter": json.loads(row["filter"])}
        cells.append(Cell(facts, [*filter(None, origins)], key if number else None, number))
    return Form(spec.name, tree, document, cells, files, spec.kind == "figure")


def input_files(campaign: Campaign) -> list[Path]:
    """Return every file that the site is made from, without the records of their jobs."""
    paths = [campaign.results / "reproduction" / f"{name}.csv" for name in campaign.comparisons]
    for paper in campaign.papers:
        paths += printed_tables(campaign.printed, paper)
        # The file is absent if a paper prints no accuracies and has released no decisions.
        paths += filter(Path.exists, [campaign.results / f"accuracies/printed/{paper}.parquet"])
    for pairs in sets_from(campaign.pairs):
        paths += [pairs.items, *pairs.judgements.values(), *pairs.scores.values()]
    for key, spec in exhibits().items():
        for tree in campaign.forms_of(spec):
            files = campaign.files(tree, key)
            suffixes = ("cells.parquet", "json", *(["svg"] if spec.kind == "figure" else []))
            paths += [files.with_name(f"{files.name}.{suffix}") for suffix in suffixes]
    return paths
