"""Find benchmarks that are declared as data, and present them to the core as papers.

Begin with ``find_declared`` (one benchmark, by name or path) and ``declared_papers`` (all of them).
Both read files ``benchmark.yaml`` into ``Declared``, which lists the files that a benchmark needs,
its languages, and its numbers of items. Rules of the workflow call some methods of ``Declared``.
The core calls others through the ``Paper`` that ``Declared.paper`` makes.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from functools import cache, cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from blimpworks.benchmarks.declaration import Declaration, declaration_in
from blimpworks.benchmarks.entries import Files, LabelledFiles, PlainFiles, Ratings
from blimpworks.benchmarks.exhibits import specs_of
from blimpworks.benchmarks.files import columns_in, local_files, rename_table_path
from blimpworks.campaign.catalogue import Catalogue, LanguageRow, ModelRow, NeededRow, SourceRow
from blimpworks.campaign.load import named_folder, with_repository_paths
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
"""Command that judges items, by their unit."""
METHODS: Mapping[str, tuple[str, ...]] = {
    "pair": ("full_sentence", "per_token"),
    "sentence": ("per_token", "full_sentence"),
    "item": ("critical_region",),
}
"""Default methods of judgement, by unit."""
SHOWN_AS = {"pair": "pairs", "sentence": "sentences", "item": "conditions"}
"""Form in which exhibits show items (``View.layout``), by unit."""
ONE_MODEL = "compares models, and the campaign has one; name more in models."
ONE_SIZE = "compares models of several sizes; fill in the parameters of two in the table of models."
ACCURACIES_PATH = "{results}/accuracies/{paper}.parquet"
UNKNOWN_LANGUAGE = {
    **dict.fromkeys(("ud_name", "family", "excluded_treebanks", "note"), ""),
    **dict.fromkeys(("unimorph", "untested", "special"), ()),
    "script": "Zzzz",  # unknown, in ISO 15924
}
"""Cells of the table of languages for a language that only a declaration names."""
ASSUMED_ITEMS = 1000
"""Number of items of a file, for plans, if none is declared and the items cannot be counted."""


class Declared(Declaration):
    """A declared benchmark: its files, its languages and numbers of items, and its ``Paper``."""

    @cached_property
    def _cached_count(self) -> Callable[..., Mapping[str, int] | None]:
        # Counting reads all files, and plans ask for each language and model.
        return cache(self._count_items)

    @property
    def name(self) -> str:
        return self.folder.name

    @cached_property
    def source_table(self) -> Path | None:
        """Path of the benchmark's table of files to download; None without one."""
        path = self.folder / "sources.tsv"
        return path if path.is_file() else None

    @cached_property
    def sources(self) -> list[SourceRow]:
        """Files to download, as rows of ``source_table``."""
        return [*read_rows(NeededRow, self.source_table)] if self.source_table else []

    def sources_of(self, entries: Sequence[Files]) -> list[SourceRow]:
        """List the sources that entries of the declaration read."""
        patterns = _name_patterns(entries)
        return [row for row in self.sources if columns_in(patterns, row.name) is not None]

    def source_files(self, sources: Path) -> dict[str, Path]:
        """Return {name: path} of the items' sources in ``sources``. UserError if one is absent."""
        paths = {row.name: sources / row.name for row in self.sources_of(self.data)}
        if absent := [name for name, path in paths.items() if not path.is_file()]:
            raise UserError(
                f"{sources / absent[0]} does not exist ({len(absent)} of {len(paths)} sources); "
                f"retrieve them with a campaign that has {self.name!r} (snakemake --until "
                "retrieve), and name their directory with --sources."
            )
        return paths

    def local_paths_of(self, entries: Sequence[Files]) -> list[str]:
        """List files in the declaration's folder that entries read, with tables that they name."""
        patterns = _name_patterns(entries)
        files = local_files(self.folder).items()
        paths = [path for name, path in files if columns_in(patterns, name) is not None]
        for entry in _with_joined_files(entries):
            names = [values for values in entry.rename.values() if isinstance(values, str)]
            names += [lookup.table for lookup in getattr(entry, "lookup", ())]
            paths += [rename_table_path(self.folder, name) for name in names]
        return [*map(str, paths)]

    # Called by rules of the workflow

    def inputs(self, key: str, layout: Layout) -> list[str]:
        """List the declaration and the files that entries under one of its keys read, as paths.

        ``key`` is data, people, released or perplexities.
        """
        entries = getattr(self, key)
        sources = layout.usable(self.sources_of(entries))
        return [str(self.path), *self.local_paths_of(entries), *sources]

    def item_tables(self, key: str, layout: Layout) -> list[str]:
        """List the items tables that a job reads besides the files of a key (see ``inputs``)."""
        # People's judgements are compared with the items of all languages.
        if key != "people":
            return []
        languages = layout.item_languages(self.name)
        return [str(whole_items_table(layout.campaign, self.name, lang)) for lang in languages]

    def limit_option(self, campaign: Campaign) -> list[str]:
        """Return the command-line option for the campaign's limit of items per paradigm."""
        limit = self.options(campaign).per_paradigm
        return [f"--most={limit}"] if limit else []

    # Called by the core

    def options(self, campaign: Campaign) -> DeclaredOptions:
        """Return the campaign's settings of the benchmark; the declaration fills unset ones."""
        settings: DeclaredOptions = getattr(campaign, self.name, None) or DeclaredOptions()
        unknown_words = settings.unknown_words or self.unknown_words
        return settings.model_copy(update={"unknown_words": unknown_words})

    def languages_in(self, _campaign: Campaign, catalogue: Catalogue) -> Sequence[str]:
        return tuple(lang for lang in catalogue.languages if lang in self.languages)

    def counted_units(self, campaign: Campaign, _catalogue: Catalogue, lang: str) -> int | None:
        """Return the number of items of a language; None if it is not known yet.

        Without a declared number, or with a limit in the campaign, the items in files are counted.
        """
        limit = self.options(campaign).per_paradigm
        number = self.declared_number(lang)
        if number and not limit:
            return number
        counts = self._cached_count(Path(campaign.pathvars.resources), campaign.mirror, limit)
        return None if counts is None else counts.get(lang, 0)

    def _count_items(
        self, resources: Path, mirror: Path | None, limit: int | None
    ) -> Mapping[str, int] | None:
        """Count the items of each language, at most ``limit`` of a paradigm.

        Return None if a file is neither retrieved nor in the mirror. Raises UserError for a
        malformed file, or a copy in the mirror with another checksum.
        """
        # Reading the Snakefile counts no items, and these imports take long.
        from blimpworks.benchmarks.build import read_items
        from blimpworks.benchmarks.layouts import by_paradigm
        from blimpworks.items import evenly
        from blimpworks.retrieval.sources import Pin, in_mirror, retrieve

        with TemporaryDirectory() as folder:
            paths = local_files(self.folder)
            for row in self.sources_of(self.data):
                path = resources / "sources" / row.name
                if not path.is_file():
                    # Without a catalogue, ``retrieve`` adds no checksum to a lock file.
                    pin = replace(Pin.of(row, Path()), catalogue="")
                    # Without a checksum in the row, verifying a copy would need the network.
                    if not (row.sha256 or row.git_blob) or in_mirror(pin, mirror) is None:
                        return None
                    path = Path(folder) / row.name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    retrieve(pin, path, mirror)
                paths[row.name] = path
            items_by_paradigm = by_paradigm(read_items(self, paths, []))
        counts: Counter[str] = Counter()
        for (lang, _, _), items in items_by_paradigm.items():
            counts[lang] += len(evenly(items, limit))
        return counts

    def expected_units(self, campaign: Campaign, catalogue: Catalogue, lang: str) -> int:
        """Estimate the number of items of a language, for plans.

        The estimate is the declared number, else the counted one, else ``ASSUMED_ITEMS`` for each
        file. With a limit of items per paradigm, each file counts as a paradigm.
        """
        limit = self.options(campaign).per_paradigm
        files = max(len(self.sources_of(self.data)), 1)
        number = self.declared_number(lang)
        if number is None:
            with suppress(UserError):  # the job that builds the items raises it too
                number = self.counted_units(campaign, catalogue, lang)
        number = number or ASSUMED_ITEMS * files
        return min(number, limit * files) if limit else number

    def check(self, campaign: Campaign, catalogue: Catalogue) -> None:
        """Raise UserError for a campaign without its languages, or an entry without files."""
        if not self.languages_in(campaign, catalogue):
            raise UserError(
                f"benchmark {self.name!r} has items in {', '.join(self.languages)} "
                f"({self.path}); the campaign's languages are {', '.join(catalogue.languages)}: "
                "add one of the benchmark's, or correct 'languages' of the declaration."
            )
        for number, entry in enumerate(self.data):
            if not self.sources_of([entry]) and not self.local_paths_of([entry]):
                raise UserError(
                    f"{self.path}: key 'data.{number}.files': {', '.join(entry.patterns)} fits no "
                    f"source of {self.folder / 'sources.tsv'} and no file of {self.folder}; "
                    "correct it, or add the files."
                )

    def check_languages(self, table: Path) -> None:
        """Raise UserError for a language without a name in the declaration or the ``table``."""
        languages = self.languages
        if isinstance(languages, Mapping):  # from codes to names
            return
        names = {row.lang: row.name for row in read_rows(LanguageRow, table)}
        if unnamed := [lang for lang in languages if lang not in names]:
            mapping = ", ".join(f"{lang}: {names.get(lang, 'NAME')}" for lang in languages)
            raise UserError(
                f"{self.path}: key 'languages': {', '.join(map(repr, unnamed))} is not in {table}, "
                f"so the declaration must name it; write {{{mapping}}}."
            )

    def check_settings(self, campaign: Campaign) -> None:
        """Check the languages' names (``check_languages``) if the campaign has the benchmark."""
        if self.name in campaign.benchmarks:
            self.check_languages(campaign.catalogue.languages)

    def printed_accuracies(self, printed: Sequence[PublishedRow]) -> Iterator[PrintedAccuracy]:
        """Yield the printed accuracies of phenomena and paradigms, from 0 to 1.

        Numbers of other exhibits, and numbers that are no percentages, are passed over. Raises
        UserError for a benchmark of several languages.
        """
        if len(self.languages) > 1:
            raise UserError(
                f"{self.folder / 'printed'}: printed accuracies are read of benchmarks of one "
                f"language, and {self.name!r} has {', '.join(self.languages)}; take the "
                "tables out, or declare a benchmark for each language."
            )
        # Each start of Snakemake reads declarations, but no printed numbers.
        from blimpworks.reproduction.printed import printed_accuracy

        lang = next(iter(self.languages))
        for row in printed:
            if row.value is None or row.unit != "%":
                continue
            if row.exhibit == "phenomena":
                phenomenon = ALL if row.row.lower() == ALL else row.row  # also "All", as in print
                paradigm = ALL
            elif row.exhibit == "paradigms":
                phenomenon, paradigm = self.phenomenon_of(row.row) or row.row, row.row
            else:
                continue
            labels: dict[str, Any] = {"phenomenon": phenomenon, "paradigm": paradigm}
            expected = f"an accuracy of {self.name} from 0 to 100, as all its numbers in percent"
            yield printed_accuracy(row, expected, model=row.column, lang=lang, n=None, **labels)

    def paper(self) -> Paper:
        """Return the benchmark as a paper."""
        # Languages that the declaration names become rows of the table of languages.
        names = self.languages if isinstance(self.languages, Mapping) else {}
        language_cells = {**UNKNOWN_LANGUAGE, "papers": (self.name,), "paper_n": None}
        printed = self.folder / "printed"
        # Facts from which exhibits make their labels.
        facts = {name: getattr(self, name) for name in ("name", "label", "unit", "right")}
        facts |= {"layout": SHOWN_AS[self.unit], "phenomena": [*self.phenomena]}
        facts["people"] = " ".join(entry.note for entry in self.people if entry.note)
        facts["seeds"] = any(entry.seeds for entry in self.released)
        has_printed_numbers = bool(self.released) or any(printed.glob("*.csv"))
        # The benchmark has no exhibits of data that it lacks.
        has_data = {
            "sentences": self.unit == "sentence",
            "people": bool(self.people),
            "perplexities": has_printed_numbers and bool(self.perplexities),
            "effects": any(getattr(entry, "effects", None) for entry in self.data),
            "ratings": any(entry.rating is not None for entry in self.data),
        }
        present = {name for name, is_present in has_data.items() if is_present}
        citation = {field.name: getattr(self, field.name).strip() for field in fields(Citation)}
        return Paper(
            name=self.name,
            citation=Citation(**citation),
            settings=DeclaredOptions,
            benchmarks=(
                Benchmark(
                    name=self.name,
                    options=self.options,
                    languages=self.languages_in,
                    methods=lambda campaign, _architecture: (
                        self.options(campaign).methods or self.methods or METHODS[self.unit]
                    ),
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
            sources=lambda _campaign, _catalogue: self.sources_of(self.data),
            source_tables=(self.source_table,) if self.source_table else (),
            languages=tuple(
                LanguageRow.model_validate({**language_cells, "lang": lang, "name": name})
                for lang, name in names.items()
            ),
            exhibits=specs_of(self.name, present, released=has_printed_numbers),
            facts={"benchmark": lambda _campaign, _catalogue: facts, "sizes": sizes},
            tables={
                "several_models": TableKind(
                    paths=ACCURACIES_PATH,
                    evaluated=True,
                    absent=lambda campaign: ONE_MODEL if len(campaign.models) < 2 else "",
                ),
                "sized_models": TableKind(
                    paths=ACCURACIES_PATH,
                    evaluated=True,
                    absent=lambda campaign: (
                        ONE_SIZE if len({*sizes_before_selection(campaign)}) < 2 else ""
                    ),
                ),
                "people": TableKind(
                    paths="{results}/accuracies/people/{paper}.parquet",
                    sources=lambda _campaign, _catalogue: self.sources_of(self.people),
                ),
                "model_perplexities": TableKind(
                    paths="{results}/perplexities/released/{paper}.parquet",
                    sources=lambda _campaign, _catalogue: self.sources_of(self.perplexities),
                ),
            },
            formulas=(f"{PACKAGE}.exhibits.formulas",),
            commands=(f"{PACKAGE}.commands",),
            rules="declared_benchmarks.smk",
            folder=self.folder,
            needs_benchmark=True,
            printed=printed,
            printed_accuracies=self.printed_accuracies,
        )


def _with_joined_files(entries: Iterable[Files]) -> Iterator[PlainFiles]:
    # Yield each entry, its aligned files, and its files with people's ratings.
    for entry in entries:
        yield from (entry, *entry.aligned)
        if isinstance(entry, LabelledFiles) and isinstance(entry.rating, Ratings):
            yield from _with_joined_files([entry.rating])


def _name_patterns(entries: Sequence[Files]) -> list[str]:
    return [pattern for entry in _with_joined_files(entries) for pattern in entry.patterns]


def sizes(campaign: Campaign, catalogue: Catalogue) -> dict[str, float]:
    """Return the known numbers of parameters of models [billions], keyed by the model's name."""
    billions = {name: row.billions(campaign) for name, row in catalogue.models.items()}
    return {name: size for name, size in billions.items() if size}


def sizes_before_selection(campaign: Campaign) -> list[float]:
    """List the known numbers of parameters of a campaign's models [billions], without catalogue."""
    rows = read_rows(ModelRow, campaign.catalogue.models)
    chosen = (row for row in rows if campaign.models == "all" or row.name in campaign.models)
    billions = [row.billions(campaign) for row in chosen]
    billions += [model.parameters for model in campaign.own_models.values()]
    return [size for size in billions if size]


def check_folder_name(folder: Path) -> None:
    """Raise UserError if a benchmark cannot have the name of this folder."""
    if not NAME.fullmatch(folder.name):
        raise UserError(
            f"{folder}: a benchmark is called like its folder, so that must be lower-case letters, "
            "digits and underscores; rename it."
        )


def read_declared(folder: Path) -> Declared:
    """Read the benchmark in a folder. Raises UserError for a malformed declaration or name."""
    check_folder_name(folder)
    declared = Declared.read(declaration_in(folder))
    for name in declared.methods or ():
        try:
            find_method(name)
        except UserError as error:
            raise UserError(f"{declared.path}: key 'methods': {error}") from error
    return declared


def _read_all() -> tuple[dict[str, Declared], dict[str, str]]:
    """Read all benchmarks; return the usable ones by name, and the errors of the others by name.

    Of several folders with one name, the first is taken: those in the environment variable
    ``FOLDERS`` come first, then those below the working directory, then those in the repository.
    """
    working_directory = Path.cwd()
    folders: dict[str, Path] = {}  # by name; ``setdefault`` keeps the first folder of a name
    for path in map(Path, filter(None, os.environ.get(FOLDERS, "").split(os.pathsep))):
        is_inside = path.is_relative_to(working_directory)
        folders.setdefault(path.name, path.relative_to(working_directory) if is_inside else path)
    for root in [Path()] if working_directory == REPOSITORY else (Path(), REPOSITORY):
        for name in FOLDERS_BELOW:
            for path in sorted((root / name).glob("*/benchmark.yaml")):
                folders.setdefault(path.parent.name, path.parent)
    usable, faults = {}, {}
    for folder in folders.values():
        try:
            usable[folder.name] = read_declared(folder)
        except UserError as error:
            faults[folder.name] = str(error)
    return usable, faults


def declared_benchmarks() -> dict[str, Declared]:
    """Return all usable benchmarks by name."""
    return _read_all()[0]


def find_declared(text: str) -> Declared:
    """Find a usable benchmark by name, or path of its folder or declaration; else UserError."""
    folder = named_folder(text)
    if folder is not None:
        declared = read_declared(folder)
    else:
        check_usable(text)
        usable = declared_benchmarks()
        if text not in usable:
            raise UserError(
                f"benchmark {text!r} has no folder in config/benchmarks; these benchmarks have "
                f"one: {', '.join(usable) or 'none'}. Name one of them, or the path of a folder."
            )
        declared = usable[text]
    declared.check_languages(with_repository_paths(CatalogueFiles()).languages)
    return declared


def declared_papers() -> tuple[dict[Path, Paper], dict[str, str]]:
    """Return the usable benchmarks as papers by folder, and the errors of the others by name."""
    usable, faults = _read_all()
    return {declared.folder: declared.paper() for declared in usable.values()}, faults
