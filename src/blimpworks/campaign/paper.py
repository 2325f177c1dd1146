"""The contract between the core and a paper.

A paper's package has a module ``paper`` with one ``PAPER``, which ``registry`` finds. Objects with
heavy imports are named as ``module:name`` and loaded on use, because the Snakefile reads all papers
each time it is parsed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any, Literal

from blimpworks.campaign.exhibit_spec import ExhibitSpec
from blimpworks.campaign.settings.base import TiePolicy
from blimpworks.campaign.variants import Variant
from blimpworks.strict import Strict

if TYPE_CHECKING:  # both ask the registry, which loads the papers
    from blimpworks.campaign.catalogue import Catalogue, LanguageRow, Pinned
    from blimpworks.campaign.layout import Layout
    from blimpworks.campaign.settings.campaign import Campaign
    from blimpworks.campaign.settings.scoring import GenerationOptions

Unit = Literal["pair", "prompt"]
SENTENCE = 30.0
"""Tokens of a sentence where nothing better is known.

Treebank sentences have some 15 words, and multilingual vocabularies cut a word of most languages
into about two tokens.
"""
ANY = "any"
"""Key of all methods without their own entry, in policies for ties."""


def _nothing(*_: Any) -> tuple[()]:
    return ()


@dataclass(frozen=True, kw_only=True)
class Generation:
    """Settings for answering a benchmark's prompts."""

    options: Callable[[Campaign], GenerationOptions]
    systems: Callable[[Campaign, Collection[str]], Mapping[str, str]]
    """System prompt of each language; empty where models get none."""
    setting: str
    """Key of the options in a campaign, for messages."""

    def job_options(self, campaign: Campaign) -> str:
        """Return a job's options, as JSON: the campaign's, without the build of vLLM."""
        from blimpworks.campaign.settings.scoring import GenerationJobOptions

        chosen, scoring = self.options(campaign).model_dump(), campaign.scoring
        options = GenerationJobOptions(**chosen, dtype=scoring.dtype, vllm=scoring.vllm)
        return options.model_dump_json(exclude={"vllm": {"build"}})

    def job_systems(self, campaign: Campaign, languages: Collection[str]) -> str:
        """Return languages' system prompts, as JSON. Raises UserError for a bad pack."""
        return json.dumps(dict(self.systems(campaign, languages)), ensure_ascii=False)


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """Items that models run on, one table per language."""

    name: str
    """Name in campaigns, paths and tables."""
    options: Callable[[Campaign], Any]
    """Settings for judging, with ``variant`` and perhaps ``ties`` and ``unknown_words``."""
    languages: Callable[[Campaign, Catalogue], Sequence[str]]
    """Languages of a campaign with items, in the catalogue's order."""
    methods: Callable[[Campaign, str], Sequence[str]]
    """Methods, with expressions, for an architecture ("": for exhibits), the main one first."""
    expected_units: Callable[[Campaign, Catalogue, str], int]
    """Expected pairs or prompts of a language before they are built, for plans."""
    counted_units: Callable[[Campaign, Catalogue, str], int | None] | None = None
    """Counted pairs or prompts of a language before they are built; None where unknown."""
    unit: Unit = "pair"
    tokens: float = SENTENCE
    """Expected tokens of a sentence, or of a prompt with system prompt and chat template."""
    ties: Mapping[Variant, Mapping[str, TiePolicy]] = field(default_factory=dict)
    """Policy for ties, by variant and method (``ANY`` for all others)."""
    in_text: bool = True
    """Whether training text may contain its sentences, which are then left out."""
    spelling: Callable[[Campaign, str], Path | None] = lambda _campaign, _lang: None
    """Pack with the spelling of a language's pairs, for training text; None for the source's."""
    own_words: bool = False
    """Whether its pairs are generated from our own words alone."""
    document_keys: tuple[str, str] = ("sentence_good", "sentence_bad")
    """Keys of the good and the bad sentence in documents of lm-evaluation-harness."""
    counts_one_more: Callable[[Campaign, str], bool] = lambda _campaign, _architecture: False
    """Whether one correct item too many is counted for models of an architecture."""
    mcnemar: Callable[[Campaign], Variant] = lambda _: "published"
    """Form of McNemar's test: chi-squared for any number of pairs, or (corrected) exact for few."""
    generation: Generation | None = None
    """Settings of answers; only for prompts."""
    judge: str = "judge"
    """Command that judges items by their scores; all have the same options."""


@dataclass(frozen=True, kw_only=True)
class TableKind:
    """A kind of table that exhibits are made from."""

    template: str = ""
    """Paths such as ``{results}/bins/{paper}.parquet``, with ``{lang}`` one per item language."""
    paths: Callable[[Layout, str], Sequence[str]] | None = None
    """Function for the paths of a paper's tables, in place of a template."""
    published: str | None = None
    """Template for exhibits of printed numbers: empty without any, None where it is the same."""
    published_paths: Callable[[Layout, str], Sequence[str]] | None = None
    """The same as a function."""
    evaluated: bool = False
    """Whether only a campaign with models has it."""
    of_all_benchmarks: bool = False
    """Whether models must have judged all benchmarks of the paper."""
    absent: Callable[[Campaign], bool] = lambda _: False
    """Whether a campaign cannot have it."""
    why_absent: str = ""
    """Reason and remedy, as the end of a sentence about an exhibit."""
    sources: Callable[[Campaign, Catalogue], Sequence[Pinned]] = _nothing
    """Pinned files that it is made from, besides those of the items."""
    retrieved: bool = False
    """Whether a campaign without these files has no such table."""
    reader: str = ""
    """Function from paths to a data frame, as ``module:name``, for files that are not Parquet."""

    def of(self, layout: Layout, paper: str, *, printed: bool = False) -> list[str]:
        """Return paths of a paper's tables in a campaign, or of those from printed numbers."""
        if self.retrieved and not self.sources(layout.campaign, layout.catalogue):
            return []
        paths, template = self.paths, self.template
        if printed and self.published is not None:
            paths, template = None, self.published
        if printed and self.published_paths is not None:
            paths = self.published_paths
        return [*paths(layout, paper)] if paths else layout.expand(template, paper)


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
    """Licence of the items, as their authors state it; empty where they or sources state none."""
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
    """Its own first; others have its paradigms with other items."""
    folders: Mapping[str, tuple[Path, str]] = field(default_factory=dict)
    """Data that a campaign can replace (``catalogue``): default path and description, by name."""
    check_settings: Callable[[Campaign], None] = lambda _: None
    """Raises UserError, without the file's name, for contradictory settings."""
    method_settings: Callable[[Campaign], Mapping[str, Sequence[str]]] = lambda _: {}
    """Methods in its settings, by key, to be checked."""
    check: Callable[[Campaign, Catalogue], None] = lambda _campaign, _catalogue: None
    """Raises UserError where a campaign lacks data of its benchmarks."""
    treebanks: Callable[[Campaign, Catalogue], Collection[str]] = _nothing
    """Languages with treebanks that its items are made from."""
    sources: Callable[[Campaign, Catalogue], Sequence[Pinned]] = _nothing
    """Pinned files that its items are made from, besides treebanks."""
    other_items: Callable[[Campaign, str], str] = lambda _campaign, _lang: ""
    """Difference of a language's items from those of the printed accuracies; empty for none.

    The core handles other treebanks, sources and samples.
    """
    source_tables: tuple[Path, ...] = ()
    """Its own tables of sources, besides the campaign's."""
    languages: tuple[LanguageRow, ...] = ()
    """Languages that the table of languages may lack."""
    exhibits: tuple[ExhibitSpec, ...] = ()
    folder: Path | None = None
    """Folder of the declaration, for a benchmark that is data alone."""
    needs_benchmark: bool = False
    """Whether published exhibits need a campaign with its benchmark, as their data is retrieved."""
    facts: Mapping[str, Callable[[Campaign, Catalogue], Any]] = field(default_factory=dict)
    """Facts of a campaign and its catalogue for exhibits, by name."""
    tables: Mapping[str, TableKind] = field(default_factory=dict)
    """Its own kinds of tables, and those that differ from the core's."""
    caption: Callable[[Campaign, Catalogue, Collection[str]], str] = lambda *_: ""
    """Text on the origin of items, for captions of exhibits made from kinds of tables."""
    formulas: tuple[str, ...] = ()
    """Modules with its formulas."""
    commands: tuple[str, ...] = ()
    """Modules with its commands."""
    rules: str = ""
    """Path of its rules below ``workflow/rules``, or an absolute one; empty without any."""
    printed: Path | None = None
    """Folder of printed numbers and reasons; None for the one below ``catalogue.published``."""
    printed_accuracies: str | Callable[[Sequence[Any]], Iterator[Any]] = ""
    """Function from printed numbers to ``PrintedAccuracy``, or its address ``module:name``."""
    names: str = ""
    """Printed names of its phenomena by key, as ``module:name``; empty where keys are names."""
