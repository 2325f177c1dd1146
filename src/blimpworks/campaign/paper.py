"""Classes with which a paper describes its benchmarks, tables and exhibits to the rest of the code.

Each paper has a package with a module ``paper``, which contains its description::

    PAPER = Paper(name="mine", citation=Citation(…), benchmarks=(Benchmark(…),), exhibits=…, …)

Shared code (called the core below) uses papers only through these classes; ``registry`` finds them.
Functions with slow imports are named as ``module:name`` and loaded on use, because the Snakefile
reads all papers each time it is parsed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from blimpworks.campaign.settings.base import TiePolicy
from blimpworks.campaign.table_files import keyed, read_rows
from blimpworks.campaign.variants import Variant
from blimpworks.strict import Strict

if TYPE_CHECKING:
    from blimpworks.campaign.catalogue import Catalogue, LanguageRow, Pinned
    from blimpworks.campaign.layout import Layout
    from blimpworks.campaign.settings.campaign import Campaign
    from blimpworks.campaign.settings.scoring import GenerationOptions

FORMATS: dict[str, tuple[str, ...]] = {
    "table": ("csv", "md", "tex", "json", "html"),
    "figure": ("pdf", "png", "svg", "json", "html"),
}
"""Suffixes of the files of an exhibit, for each kind of exhibit."""


def _split(cell: Any) -> Any:
    return tuple(cell.split()) if isinstance(cell, str) else cell


Words = Annotated[tuple[str, ...], BeforeValidator(_split)]
"""Names, separated by spaces in a table."""


def _flag(cell: Any) -> bool:
    if cell not in ("", "yes", False, True):
        raise ValueError("expected yes or nothing")
    return bool(cell)


Flag = Annotated[bool, BeforeValidator(_flag)]
"""``yes`` in a table for True, or an empty cell for False."""


class ExhibitRow(Strict):
    """A row of a paper's table of exhibits (tables and figures).

    An exhibit has two forms: one of numbers that the campaign measures, and one of printed numbers.
    """

    name: str
    kind: Literal["table", "figure"]
    title: str
    needs: Words
    """Input tables of the measured form, such as "accuracies" or, one for each language, "items".
    Empty if the exhibit has only the printed form."""
    function: Annotated[str, Field(pattern=r"^[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*$")]
    """Function that takes the tables and facts and returns an ``Exhibit``, as ``module:name``."""
    facts: Words = ()
    """Names of values from the campaign that it takes, such as the languages' families."""
    optional: Words = ()
    """Input tables that it takes if they exist."""
    published: Words = ()
    """Input tables of the printed form."""
    argument: str = ""
    """Argument for ``function``, if several exhibits share it."""
    language_fact: str = ""
    """Name of a fact with an entry ``language``: the exhibit takes only tables of that language."""
    series: str = ""
    """Title of the series of exhibits that this one belongs to; empty for none."""
    member: str = ""
    """Name in the series; exhibits with the same name are shown as one."""
    of_samples: Flag = False
    """Whether it shows only models that are trained on samples of a corpus."""


class ExhibitSpec(ExhibitRow):
    """A row of the table of exhibits, with the name of its paper."""

    paper: str

    @property
    def key(self) -> str:
        return f"{self.paper}/{self.name}"

    @property
    def alias(self) -> str:
        """Name of the Snakemake target."""
        return f"{self.paper}_{self.name}"

    @property
    def published_alias(self) -> str:
        """Name of the Snakemake target of the form with printed numbers."""
        return f"{self.alias}_published"


def read_specs(path: Path, paper: str, package: str) -> tuple[ExhibitSpec, ...]:
    """Read a paper's exhibits from a tab-separated table of ``ExhibitRow``.

    ``package``: Python package that contains the modules of the column ``function``. Raises
    UserError with the line of the first wrong row.
    """
    rows = keyed(read_rows(ExhibitRow, path), "name", path).values()
    return tuple(
        ExhibitSpec(paper=paper, **{**dict(row), "function": f"{package}.{row.function}"})
        for row in rows
    )


Unit = Literal["pair", "prompt"]
SENTENCE = 30.0
"""Default number of tokens of a sentence. Treebank sentences have some 15 words, and multilingual
vocabularies split a word of most languages into about two tokens."""
ANY = "any"
"""Key of the policy for ties by all methods without an entry."""


Paths = str | Callable[["Layout", str], Sequence[str]]
"""Path such as ``{results}/bins/{paper}.parquet``, one for each language if it has ``{lang}``, or a
function that returns the paths for a paper."""


def _nothing(*_: Any) -> tuple[()]:
    return ()


@dataclass(frozen=True, kw_only=True)
class Generation:
    """Settings for answering a benchmark's prompts."""

    options: Callable[[Campaign], GenerationOptions]
    systems: Callable[[Campaign, Collection[str]], Mapping[str, str]]
    """System prompt of each language; empty if models get none."""
    setting: str
    """Key of the options in a campaign, for messages."""

    def job_options(self, campaign: Campaign) -> str:
        """Return the options of an answering job as JSON, without the build of vLLM (cuda, cpu)."""
        from blimpworks.campaign.settings.scoring import GenerationJobOptions

        chosen, scoring = self.options(campaign).model_dump(), campaign.scoring
        options = GenerationJobOptions(**chosen, dtype=scoring.dtype, vllm=scoring.vllm)
        return options.model_dump_json(exclude={"vllm": {"build"}})

    def job_systems(self, campaign: Campaign, languages: Collection[str]) -> str:
        """Return the system prompts as JSON. Raises UserError for a wrong language pack."""
        return json.dumps(dict(self.systems(campaign, languages)), ensure_ascii=False)


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """Items (minimal pairs or prompts) that models run on, with one table for each language."""

    name: str
    """Name in campaigns, paths and tables."""
    options: Callable[[Campaign], Any]
    """Settings for judging, with ``variant`` and perhaps ``ties`` and ``unknown_words``."""
    languages: Callable[[Campaign, Catalogue], Sequence[str]]
    """Languages of a campaign with items, in the catalogue's order."""
    methods: Callable[[Campaign, str], Sequence[str]]
    """Methods that decide pairs of models of an architecture, the main one first. For the
    architecture "", the methods that exhibits show."""
    expected_units: Callable[[Campaign, Catalogue, str], int]
    """Estimated number of pairs or prompts of a language before they are made, for plans."""
    counted_units: Callable[[Campaign, Catalogue, str], int | None] | None = None
    """Exact number of pairs or prompts before they are made; None if unknown."""
    unit: Unit = "pair"
    tokens: float = SENTENCE
    """Expected tokens of a sentence, or of a prompt with system prompt and chat template."""
    ties: Mapping[Variant, Mapping[str, TiePolicy]] = field(default_factory=dict)
    """Policy for ties (equal scores): ``ties[variant][method]``, with ``ANY`` for all others."""
    in_text: bool = True
    """Whether its sentences are to be removed from training texts, which may contain them."""
    spelling: Callable[[Campaign, str], Path | None] = lambda _campaign, _lang: None
    """Language pack with the spelling that training text gets; None to keep its own spelling."""
    own_words: bool = False
    """Whether its pairs are generated only from words in this repository."""
    document_keys: tuple[str, str] = ("sentence_good", "sentence_bad")
    """Keys of the good and the bad sentence in documents of lm-evaluation-harness."""
    counts_one_more: Callable[[Campaign, str], bool] = lambda _campaign, _architecture: False
    """Whether the paper counts one correct item too many for models of an architecture."""
    mcnemar: Callable[[Campaign], Variant] = lambda _: "published"
    """Form of McNemar's test: published is chi-squared; corrected is exact for few pairs."""
    generation: Generation | None = None
    """Settings for answering prompts; None for pairs."""
    judge: str = "judge"
    """Command that judges items by their scores; all such commands have the same options."""


@dataclass(frozen=True, kw_only=True)
class TableKind:
    """An input table, which exhibits are made from, such as a paper's accuracies."""

    paths: Paths
    """Paths for exhibits of measured numbers."""
    published: Paths | None = None
    """Paths for exhibits of printed numbers: "" if they need no table, None if the same one."""
    evaluated: bool = False
    """Whether the table exists only if models have run."""
    of_all_benchmarks: bool = False
    """Whether the table needs judgements of all benchmarks of the paper."""
    absent: Callable[[Campaign], str] = lambda _: ""
    """Function that returns why a campaign cannot make the table, and the remedy; "" if it can. The
    text follows "exhibit NAME" in a message."""
    sources: Callable[[Campaign, Catalogue], Sequence[Pinned]] = _nothing
    """Pinned files that the table is made from, besides those of the items."""
    retrieved: bool = False
    """Whether the table can be made only with the files of ``sources``."""
    reader: str = ""
    """Function from paths to a data frame, as ``module:name``, for files that are not Parquet."""


@dataclass(frozen=True, kw_only=True)
class Citation:
    """Citation of a paper."""

    label: str
    """Short name for headings."""
    title: str
    authors: str
    """Authors, with the year."""
    address: str = ""
    licence: str = ""
    """Licence of the items, as their authors state it; empty where none is stated."""
    bibtex: str = ""
    contact: str = ""

    @property
    def text(self) -> str:
        return f"{self.authors}. {self.title}."

    @property
    def listed(self) -> str:
        """List item in Markdown, with address, contact and BibTeX entry."""
        contact = f" Contact: {self.contact}." if self.contact else ""
        entry = f"\n\n  ```bibtex\n{indent(self.bibtex, '  ')}\n  ```" if self.bibtex else ""
        return f"- {self.text} {self.address}".rstrip() + contact + entry


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper: its benchmarks, settings, exhibits and printed numbers.

    ``name`` is also the key of its settings in a campaign, the folder of its printed numbers and
    the first part of its exhibits' names.
    """

    name: str
    citation: Citation
    settings: type[Strict]
    """Model of its section of a campaign."""
    position: int = 100
    """Order in reports, smaller numbers first."""
    benchmarks: tuple[Benchmark, ...] = ()
    """First the paper's benchmark, then benchmarks with its paradigms and other items."""
    folders: Mapping[str, tuple[Path, str]] = field(default_factory=dict)
    """(path, description) of data folders that a campaign can replace, keyed by the setting's name
    in the section ``catalogue``."""
    check_settings: Callable[[Campaign], None] = lambda _: None
    """Function that raises UserError, without the file's name, for contradictory settings."""
    method_settings: Callable[[Campaign], Mapping[str, Sequence[str]]] = lambda _: {}
    """Function that returns the methods in its settings, keyed by setting; the core checks them."""
    check: Callable[[Campaign, Catalogue], None] = lambda _campaign, _catalogue: None
    """Function that raises UserError if a campaign lacks data of its benchmarks."""
    treebanks: Callable[[Campaign, Catalogue], Collection[str]] = _nothing
    """Languages of which the items are made from treebanks."""
    sources: Callable[[Campaign, Catalogue], Sequence[Pinned]] = _nothing
    """Pinned files that its items are made from, besides treebanks."""
    other_items: Callable[[Campaign, str], str] = lambda _campaign, _lang: ""
    """Difference of a language's items from the items of the printed accuracies; empty for none.
    The core finds differences of treebanks, sources and samples."""
    source_tables: tuple[Path, ...] = ()
    """Tables of the paper's sources, besides the campaign's."""
    languages: tuple[LanguageRow, ...] = ()
    """Languages that the table of languages may lack."""
    exhibits: tuple[ExhibitSpec, ...] = ()
    folder: Path | None = None
    """Folder of the declaration, for a benchmark that is declared as data."""
    needs_benchmark: bool = False
    """Whether its exhibits of printed numbers need data of a campaign with its benchmark."""
    facts: Mapping[str, Callable[[Campaign, Catalogue], Any]] = field(default_factory=dict)
    """Functions that compute the facts that exhibits need, keyed by the fact's name."""
    tables: Mapping[str, TableKind] = field(default_factory=dict)
    """Input tables that the core lacks or has in another form, keyed by name."""
    caption: Callable[[Campaign, Catalogue, Collection[str]], str] = lambda *_: ""
    """Text on the origin of items, for the caption of an exhibit with these input tables."""
    formulas: tuple[str, ...] = ()
    """Modules with formulas of exhibits."""
    commands: tuple[str, ...] = ()
    """Modules with commands."""
    rules: str = ""
    """Path of its rules below ``workflow/rules``, or an absolute one; empty without rules."""
    printed: Path | None = None
    """Folder of printed numbers and reasons; None for the one below ``catalogue.published``."""
    printed_accuracies: str | Callable[[Sequence[Any]], Iterator[Any]] = ""
    """Function from printed numbers to ``PrintedAccuracy``, or its address ``module:name``."""
    names: str = ""
    """Address of the dictionary of phenomena's printed names; empty if the keys are the names."""
