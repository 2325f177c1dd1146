"""Find declared benchmarks, and present them to the core as papers.

``Declared`` is a declaration (``benchmark.yaml``) with what the core and the workflow's rules ask
about it. ``Declared.paper`` makes its ``Paper``: the benchmarks, exhibits (tables and figures) and
commands that the core knows of a paper.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from pydantic import PrivateAttr

from blimpworks.benchmarks.declaration import Declaration, declaration_in
from blimpworks.benchmarks.entries import Files, LabelledFiles, Ratings
from blimpworks.benchmarks.exhibits import specs_of
from blimpworks.benchmarks.files import columns_in, local_files, new_names_table
from blimpworks.campaign.catalogue import Catalogue, LanguageRow, ModelRow, NeededRow, SourceRow
from blimpworks.campaign.load import named_folder, placed
from blimpworks.campaign.methods import find_method
from blimpworks.campaign.paper import ANY, Benchmark, Citation, Paper, TableKind
from blimpworks.campaign.registry import FOLDERS, check_usable
from blimpworks.campaign.scoring_jobs import whole_items_table
from blimpworks.campaign.settings.base import DeclaredOptions
from blimpworks.campaign.settings.campaign import Campaign, CatalogueFiles
from blimpworks.campaign.table_files import read_rows
from blimpworks.errors import UserError
from blimpworks.items import ALL

if TYPE_CHECKING:
    from blimpworks.campaign.layout import Layout
    from blimpworks.campaign.reference import PublishedRow
    from blimpworks.reproduction.printed import PrintedAccuracy

REPOSITORY = Path(__file__).resolve().parents[3]
FOLDERS_BELOW = ("config/benchmarks", "config/demo/benchmarks")
"""Folders of benchmarks, below the current directory and the repository."""
NAME = re.compile(r"[a-z0-9][a-z0-9_]*")
PACKAGE = "blimpworks.benchmarks"
JUDGES = {"pair": "judge", "sentence": "judge_sentences", "item": "judge_designs"}
METHODS: Mapping[str, tuple[str, ...]] = {
    "pair": ("full_sentence", "per_token"),
    "sentence": ("per_token", "full_sentence"),
    "item": ("critical_region",),
}
LAYOUTS = {"pair": "pairs", "sentence": "sentences", "item": "conditions"}
ONE_MODEL = "compares models, and the campaign has one; name more in models."
ONE_SIZE = (
    "compares models of several sizes; fill in the number of parameters of at least two in the "
    "table of models."
)
PRINTED_EXHIBITS = ("phenomena", "paradigms")
"""Exhibits with printed accuracies."""
EMPTY_FACTS = dict.fromkeys(("ud_name", "family", "excluded_treebanks", "note"), "")
UNKNOWN_LANGUAGE = {**EMPTY_FACTS, "script": "Zzzz", "unimorph": (), "untested": (), "special": ()}
"""Values of a language that is not in the table of languages."""
ASSUMED_ITEMS = 1000
"""Number of items of a file that plans assume if it is neither declared nor can be counted."""


class Declared(Declaration):
    """A declared benchmark, with what rules, campaigns and the core ask about it."""

    _counts: dict[tuple[str, Path | None, int | None], Mapping[str, int] | None] = PrivateAttr(
        default_factory=dict
    )

    @property
    def name(self) -> str:
        return self.folder.name

    @cached_property
    def source_table(self) -> Path | None:
        path = self.folder / "sources.tsv"
        return path if path.is_file() else None

    @cached_property
    def sources(self) -> list[SourceRow]:
        return [*read_rows(NeededRow, self.source_table)] if self.source_table else []

    def rows_of(self, entries: Sequence[Files]) -> list[SourceRow]:
        """List the sources that entries and their ratings name."""
        patterns = [pattern for entry in files_of(entries) for pattern in entry.every_pattern]
        return [row for row in self.sources if columns_in(patterns, row.name) is not None]

    def source_files(self, sources: Path) -> dict[str, Path]:
        """Return the retrieved sources of the items by name. UserError for an absent one."""
        named = {row.name: sources / row.name for row in self.rows_of(self.data)}
        absent = [name for name, path in named.items() if not path.is_file()]
        if absent:
            raise UserError(
                f"{sources / absent[0]} does not exist ({len(absent)} of {len(named)} sources); "
                f"retrieve them with a campaign that has {self.name!r} (snakemake --until "
                "retrieve), and name their directory with --sources."
            )
        return named

    def local_of(self, entries: Sequence[Files]) -> list[str]:
        """List the local files that entries name, and tables for ``rename`` and ``lookup``."""
        entries = [*files_of(entries)]
        patterns = [pattern for entry in entries for pattern in entry.every_pattern]
        files = local_files(self.folder).items()
        chosen = [path for name, path in files if columns_in(patterns, name) is not None]
        tables = [new_names_table(self.folder, name) for entry in entries for name in entry.tables]
        return [*map(str, chosen + tables)]

    # Asked by its rules

    def inputs(self, entries: str, layout: Layout) -> list[str]:
        """List the declaration, and the files of its data, people, released or perplexities."""
        chosen = getattr(self, entries)
        return [str(self.path), *self.local_of(chosen), *layout.usable(self.rows_of(chosen))]

    def item_tables(self, entries: str, layout: Layout) -> list[str]:
        """List the items tables of the campaign's languages; none unless for people."""
        if entries != "people":
            return []
        languages = layout.item_languages(self.name)
        return [str(whole_items_table(layout.campaign, self.name, lang)) for lang in languages]

    def most(self, campaign: Campaign) -> list[str]:
        """Return the campaign's limit of items per paradigm as a command's option."""
        most = self.options(campaign).per_paradigm
        return [f"--most={most}"] if most else []

    # Asked by the core

    def options(self, campaign: Campaign) -> DeclaredOptions:
        """Return the campaign's settings, with unset ones from the declaration."""
        stated: DeclaredOptions = getattr(campaign, self.name, None) or DeclaredOptions()
        unknown = stated.unknown_words or self.unknown_words
        return stated.model_copy(update={"unknown_words": unknown})

    def methods_in(self, campaign: Campaign, _architecture: str) -> Sequence[str]:
        return self.options(campaign).methods or self.methods or METHODS[self.unit]

    def languages_in(self, _campaign: Campaign, catalogue: Catalogue) -> Sequence[str]:
        return tuple(lang for lang in catalogue.languages if lang in self.languages)

    def counted_units(self, campaign: Campaign, _catalogue: Catalogue, lang: str) -> int | None:
        """Return the declared or counted number of items of a language; None without the files."""
        most = self.options(campaign).per_paradigm
        number = self.expected(lang)
        if number and not most:
            return number
        resources, mirror = campaign.pathvars.resources, campaign.mirror
        key = (resources, mirror, most)
        if key not in self._counts:
            self._counts[key] = self._count_items(Path(resources), mirror, most)
        counts = self._counts[key]
        return None if counts is None else counts.get(lang, 0)

    def _count_items(
        self, resources: Path, mirror: Path | None, most: int | None
    ) -> Mapping[str, int] | None:
        """Count the items of each language, at most ``most`` of a paradigm; None if files lack.

        Raises UserError for a malformed file, or a copy in the mirror with another checksum.
        """
        # Reading the Snakefile counts no items, and these imports take long.
        from blimpworks.benchmarks.build import read_items
        from blimpworks.benchmarks.layouts import by_paradigm
        from blimpworks.items import evenly
        from blimpworks.retrieval.sources import Pin, in_mirror, retrieve

        with TemporaryDirectory() as folder:
            named = local_files(self.folder)
            for row in self.rows_of(self.data):
                path = resources / "sources" / row.name
                if not path.is_file():
                    # Without a catalogue in the pin, the copy is retrieved without a record.
                    pin = replace(Pin.of(row, Path()), catalogue="")
                    if not (row.sha256 or row.git_blob) or in_mirror(pin, mirror) is None:
                        return None
                    path = Path(folder) / row.name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    retrieve(pin, path, mirror)
                named[row.name] = path
            groups = by_paradigm(read_items(self, named, []))
        counts: Counter[str] = Counter()
        for (lang, _, _), items in groups.items():
            counts[lang] += len(evenly(items, most))
        return counts

    def expected_units(self, campaign: Campaign, catalogue: Catalogue, lang: str) -> int:
        """Estimate the number of items of a language, for plans.

        It is the declared number, or else the number in the files. If the files are not there yet,
        it is ``ASSUMED_ITEMS`` for each file.
        """
        most = self.options(campaign).per_paradigm
        files = max(len(self.rows_of(self.data)), 1)
        number = self.expected(lang)
        if number is None:
            with suppress(UserError):  # the job that builds the items raises it too
                number = self.counted_units(campaign, catalogue, lang)
        number = number or ASSUMED_ITEMS * files
        return min(number, most * files) if most else number

    def check(self, campaign: Campaign, catalogue: Catalogue) -> None:
        """Raise UserError for a campaign with none of the languages, and an entry without files."""
        if not self.languages_in(campaign, catalogue):
            raise UserError(
                f"benchmark {self.name!r} has items in {', '.join(self.languages)} "
                f"({self.path}); the campaign's languages are {', '.join(catalogue.languages)}: "
                "add one of the benchmark's, or correct 'languages' of the declaration."
            )
        for number, entry in enumerate(self.data):
            if not self.rows_of([entry]) and not self.local_of([entry]):
                raise UserError(
                    f"{self.path}: key 'data.{number}.files': {', '.join(entry.patterns)} fits no "
                    f"source of {self.folder / 'sources.tsv'} and no file of {self.folder}; "
                    "correct it, or add the files."
                )

    def check_languages(self, table: Path) -> None:
        """Raise UserError for a language that neither the declaration nor the table names."""
        languages = self.languages
        if isinstance(languages, Mapping):
            return
        names = {row.lang: row.name for row in read_rows(LanguageRow, table)}
        unnamed = [lang for lang in languages if lang not in names]
        if unnamed:
            named = ", ".join(f"{lang}: {names.get(lang, 'NAME')}" for lang in languages)
            raise UserError(
                f"{self.path}: key 'languages': {', '.join(map(repr, unnamed))} is not in {table}, "
                f"so the declaration must name it; write {{{named}}}."
            )

    def check_settings(self, campaign: Campaign) -> None:
        """Check the languages with the campaign's table, if the campaign has the benchmark."""
        if self.name in campaign.benchmarks:
            self.check_languages(campaign.catalogue.languages)

    def tables(self) -> dict[str, TableKind]:
        """Return the tables that exhibits read besides the common ones, by name."""
        accuracies = "{results}/accuracies/{paper}.parquet"
        return {
            "several_models": TableKind(
                paths=accuracies,
                evaluated=True,
                absent=lambda campaign: ONE_MODEL if len(campaign.models) < 2 else "",
            ),
            "sized_models": TableKind(
                paths=accuracies,
                evaluated=True,
                absent=lambda campaign: ONE_SIZE if len({*named_sizes(campaign)}) < 2 else "",
            ),
            "people": TableKind(
                paths="{results}/accuracies/people/{paper}.parquet",
                sources=lambda _campaign, _catalogue: self.rows_of(self.people),
            ),
            "model_perplexities": TableKind(
                paths="{results}/perplexities/released/{paper}.parquet",
                sources=lambda _campaign, _catalogue: self.rows_of(self.perplexities),
            ),
        }

    def printed_accuracies(self, printed: Sequence[PublishedRow]) -> Iterator[PrintedAccuracy]:
        """Yield printed percentages of phenomena and paradigms. UserError for several languages."""
        if len(self.languages) > 1:
            raise UserError(
                f"{self.folder / 'printed'}: printed accuracies are read of benchmarks of one "
                f"language, and {self.name!r} has {', '.join(self.languages)}; take the "
                "tables out, or declare a benchmark for each language."
            )
        # Each start of Snakemake reads declarations, but no printed numbers.
        from blimpworks.reproduction.printed import PrintedAccuracy

        for row in printed:
            if row.exhibit not in PRINTED_EXHIBITS or row.value is None or row.unit != "%":
                continue
            phenomenon, paradigm = ALL if row.row.lower() == ALL else row.row, ALL
            if row.exhibit == "paradigms":
                phenomenon, paradigm = self.phenomenon_of(row.row) or row.row, row.row
            yield PrintedAccuracy(
                model=row.column,
                lang=next(iter(self.languages)),
                accuracy=row.value / 100,
                rounding=row.half_unit / 100,
                origin=row.place,
                n=None,
                phenomenon=phenomenon,
                paradigm=paradigm,
            )

    def paper(self) -> Paper:
        """Return the benchmark as a paper, with rows for languages that it names."""
        names = self.languages if isinstance(self.languages, Mapping) else {}
        defaults = {**UNKNOWN_LANGUAGE, "papers": (self.name,), "paper_n": None}
        printed = self.folder / "printed"
        facts = {name: getattr(self, name) for name in ("name", "label", "unit", "right")}
        facts |= {"layout": LAYOUTS[self.unit], "phenomena": [*self.phenomena]}
        facts["people"] = " ".join(entry.note for entry in self.people if entry.note)
        released = bool(self.released) or any(printed.glob("*.csv"))
        data = {
            "sentences": self.unit == "sentence",
            "people": self.people,
            "perplexities": released and self.perplexities,
            "effects": any(getattr(entry, "effects", None) for entry in self.data),
            "ratings": any(entry.rating is not None for entry in self.data),
        }
        return Paper(
            name=self.name,
            citation=Citation(**{f.name: getattr(self, f.name).strip() for f in fields(Citation)}),
            settings=DeclaredOptions,
            benchmarks=(
                Benchmark(
                    name=self.name,
                    options=self.options,
                    languages=self.languages_in,
                    methods=self.methods_in,
                    expected_units=self.expected_units,
                    counted_units=self.counted_units,
                    tokens=self.tokens,
                    judge=JUDGES[self.unit],
                    ties={"published": {ANY: self.ties}, "corrected": {ANY: "half"}},
                ),
            ),
            check_settings=self.check_settings,
            check=self.check,
            method_settings=lambda campaign: {
                f"{self.name}.methods": self.options(campaign).methods or ()
            },
            sources=lambda _campaign, _catalogue: self.rows_of(self.data),
            source_tables=(self.source_table,) if self.source_table else (),
            languages=tuple(
                LanguageRow.model_validate({**defaults, "lang": lang, "name": name})
                for lang, name in names.items()
            ),
            exhibits=specs_of(self.name, {k for k in data if data[k]}, released=released),
            facts={"benchmark": lambda _campaign, _catalogue: facts, "sizes": sizes},
            tables=self.tables(),
            formulas=(f"{PACKAGE}.exhibits.view",),
            commands=(f"{PACKAGE}.commands",),
            rules="declared_benchmarks.smk",
            folder=self.folder,
            needs_benchmark=True,
            printed=printed,
            printed_accuracies=self.printed_accuracies,
        )


def files_of(entries: Sequence[Files]) -> Iterator[Files]:
    """Yield entries, and their entries of ratings."""
    for entry in entries:
        yield entry
        if isinstance(entry, LabelledFiles) and isinstance(entry.rating, Ratings):
            yield entry.rating


def sizes(campaign: Campaign, catalogue: Catalogue) -> dict[str, float]:
    """Return the known numbers of parameters of models [billions] by name."""
    rows = catalogue.models.items()
    return {name: size for name, row in rows if (size := row.billions(campaign))}


def named_sizes(campaign: Campaign) -> list[float]:
    """List the known numbers of parameters of a campaign's models [billions]."""
    rows = read_rows(ModelRow, campaign.catalogue.models)
    chosen = (row for row in rows if campaign.models == "all" or row.name in campaign.models)
    sizes = [row.billions(campaign) for row in chosen]
    sizes += [model.parameters for model in campaign.own_models.values()]
    return [size for size in sizes if size]


def _folders() -> Iterable[Path]:
    """List the folders of benchmarks; of several with one name the first found counts."""
    working_directory = Path.cwd()
    named = map(Path, filter(None, os.environ.get(FOLDERS, "").split(os.pathsep)))
    folders = {}
    for path in reversed([*named]):
        inside = path.is_relative_to(working_directory)
        folders[path.name] = path.relative_to(working_directory) if inside else path
    for root in [Path()] if working_directory == REPOSITORY else (Path(), REPOSITORY):
        for folder in FOLDERS_BELOW:
            for path in sorted((root / folder).glob("*/benchmark.yaml")):
                folders.setdefault(path.parent.name, path.parent)
    return folders.values()


def read_declared(folder: Path) -> Declared:
    """Read the benchmark in a folder. Raises UserError for a malformed declaration or name."""
    if not NAME.fullmatch(folder.name):
        raise UserError(
            f"{folder}: a benchmark is called like its folder, so that must be lower-case letters, "
            "digits and underscores; rename it."
        )
    declared = Declared.read(declaration_in(folder))
    for name in declared.methods or ():
        try:
            find_method(name)
        except UserError as error:
            raise UserError(f"{declared.path}: key 'methods': {error}") from error
    return declared


def _read_all() -> tuple[dict[str, Declared], dict[str, str]]:
    """Read all benchmarks; return the usable ones by name, and the faults of the others."""
    usable, faults = {}, {}
    for folder in _folders():
        try:
            usable[folder.name] = read_declared(folder)
        except UserError as error:
            faults[folder.name] = str(error)
    return usable, faults


def declared_benchmarks() -> dict[str, Declared]:
    """Return all usable benchmarks by name."""
    return _read_all()[0]


def find_declared(text: str) -> Declared:
    """Find a benchmark by name, or the path of its folder or declaration. UserError if unusable."""
    folder = named_folder(text)
    if folder is None:
        check_usable(text)
    usable = declared_benchmarks() if folder is None else {text: read_declared(folder)}
    if text not in usable:
        raise UserError(
            f"benchmark {text!r} has no folder in config/benchmarks; those that have one: "
            f"{', '.join(usable) or 'none'}. Name one of them, or the path of a folder."
        )
    usable[text].check_languages(placed(CatalogueFiles()).languages)
    return usable[text]


def declared_papers() -> tuple[dict[Path, Paper], dict[str, str]]:
    """Return the usable benchmarks as papers by folder, and the faults of the others by name."""
    usable, faults = _read_all()
    return {declared.folder: declared.paper() for declared in usable.values()}, faults
