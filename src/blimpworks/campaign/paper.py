"""The contract between the core and a paper: everything that the core asks about one.

A paper's room has a module ``paper`` with one ``PAPER``; ``registry`` finds it. What needs heavy
imports is named as ``module:name`` and loaded when it is used, because the Snakefile reads all
papers each time it is parsed.
"""

from __future__ import annotations

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
    from blimpworks.campaign.settings.generation import GenerationOptions

Unit = Literal["pair", "prompt"]
SENTENCE = 30.0
"""Tokens of a sentence where nothing better is known: treebank sentences have some 15 words, and
multilingual vocabularies cut words of most languages into about two."""
ANY = "any"
"""In policies for ties: all methods that have no line of their own."""


def _nothing(*_: Any) -> tuple[()]:
    return ()


@dataclass(frozen=True, kw_only=True)
class Generation:
    """How a benchmark's prompts are answered."""

    options: Callable[[Campaign], GenerationOptions]
    systems: Callable[[Campaign, Collection[str]], Mapping[str, str]]
    """System prompt of each language; empty where models get none."""
    setting: str
    """Key of a campaign under which the options stand, for messages."""


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """Items that models are run on, one table per language."""

    name: str
    """As in campaigns, paths and tables."""
    options: Callable[[Campaign], Any]
    """The settings that say how it is judged, with ``variant`` and perhaps ``ties`` and
    ``unknown_words``."""
    languages: Callable[[Campaign, Catalogue], Sequence[str]]
    """Languages of a campaign that it has items in, in the catalogue's order."""
    methods: Callable[[Campaign, str], Sequence[str]]
    """Methods, with their expressions, that models of an architecture decide pairs by; of the
    architecture "" those that exhibits show. The first is the main one."""
    expected_units: Callable[[Campaign, Catalogue, str], int]
    """Pairs or prompts of a language, before they are built, for plans."""
    counted_units: Callable[[Campaign, Catalogue, str], int | None] | None = None
    """The same as counted; None where that is not known yet. None where nothing is counted before
    items are built."""
    unit: Unit = "pair"
    tokens: float = SENTENCE
    """Expected tokens of a sentence, or of a prompt with system prompt and chat template."""
    ties: Mapping[Variant, Mapping[str, TiePolicy]] = field(default_factory=dict)
    """What ties count as, by variant and method (``ANY`` for all others)."""
    in_text: bool = True
    """Whether its sentences may stand in text that models are trained on, and are left out."""
    spelling: Callable[[Campaign, str], Path | None] = lambda _campaign, _lang: None
    """The pack that says how pairs of a language are spelled (``linguistics.orthography``), which
    training text then follows; None where they stand as in the source."""
    own_words: bool = False
    """Whether its pairs are generated here, of words of our own, whatever else a campaign reads."""
    document_keys: tuple[str, str] = ("sentence_good", "sentence_bad")
    """What the documents of lm-evaluation-harness call the good and the bad sentence."""
    counts_one_more: Callable[[Campaign, str], bool] = lambda _campaign, _architecture: False
    """Whether a correct item too many is counted for models of an architecture."""
    mcnemar: Callable[[Campaign], Variant] = lambda _: "published"
    """Form of McNemar's test between two models: chi-squared for any number of pairs, or
    (corrected) exact where they are few."""
    generation: Generation | None = None
    """Of prompts alone."""
    judge: str = "judge"
    """Command that judges items by their scores; all have the same options."""


@dataclass(frozen=True, kw_only=True)
class TableKind:
    """A kind of table that exhibits are made from."""

    template: str = ""
    """Paths in a campaign, such as ``{results}/bins/{paper}.parquet``; with ``{lang}`` one for each
    language that the paper has items in. The workflow has a rule that makes them."""
    paths: Callable[[Layout, str], Sequence[str]] | None = None
    """The paths of a paper's tables, where a template is not enough."""
    published: str | None = None
    """Template of the paths for exhibits that a paper's printed numbers make, empty where print
    has none; None where they are the same."""
    published_paths: Callable[[Layout, str], Sequence[str]] | None = None
    """The same as a function."""
    evaluated: bool = False
    """Whether only a campaign with models has it."""
    of_all_benchmarks: bool = False
    """Whether models must have judged all benchmarks of the paper."""
    absent: Callable[[Campaign], bool] = lambda _: False
    """Whether a campaign cannot have it."""
    why_absent: str = ""
    """Why, and what to do, as the end of a sentence about an exhibit."""
    sources: Callable[[Campaign, Catalogue], Sequence[Pinned]] = _nothing
    """Pinned files that it is made from, beside those of the items."""
    retrieved: bool = False
    """Whether a campaign without these files has no such table."""
    reader: str = ""
    """Function from paths to a data frame, as ``module:name``, for files that are no Parquet."""

    def of(self, layout: Layout, paper: str, *, printed: bool = False) -> list[str]:
        """Paths of a paper's tables in a campaign, or those for what the paper prints."""
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
    """How a paper is cited."""

    label: str
    """Short name, as in headings."""
    title: str
    authors: str
    """With the year."""
    address: str = ""
    """Empty where there is none."""
    licence: str = ""
    """Of the items, as their authors state it; empty where they state none, or sources do."""
    bibtex: str = ""
    contact: str = ""

    @property
    def text(self) -> str:
        """Authors, year and title, as in lists of references."""
        return f"{self.authors}. {self.title}."

    @property
    def listed(self) -> str:
        """As a point of a list in Markdown: with address, contact, and the entry of BibTeX."""
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
    """Where it stands among the papers in reports: those with smaller numbers first."""
    benchmarks: tuple[Benchmark, ...] = ()
    """Its own first; others have its paradigms with other items."""
    folders: Mapping[str, tuple[Path, str]] = field(default_factory=dict)
    """Data of its own that a campaign can replace (``catalogue``): default path and description,
    by name."""
    check_settings: Callable[[Campaign], None] = lambda _: None
    """Raises UserError where settings contradict one another, without the files' name."""
    method_settings: Callable[[Campaign], Mapping[str, Sequence[str]]] = lambda _: {}
    """Methods that its settings name, by key, to be checked."""
    check: Callable[[Campaign, Catalogue], None] = lambda _campaign, _catalogue: None
    """Raises UserError where a campaign lacks what its benchmarks are made of."""
    treebanks: Callable[[Campaign, Catalogue], Collection[str]] = _nothing
    """Languages whose treebanks its items are made from."""
    sources: Callable[[Campaign, Catalogue], Sequence[Pinned]] = _nothing
    """Pinned files that its items are made from, beside treebanks."""
    other_items: Callable[[Campaign, str], str] = lambda _campaign, _lang: ""
    """How a campaign's items of a language differ from those that the printed accuracies are of;
    empty where they are the same. Other treebanks and sources, and samples, the core sees."""
    source_tables: tuple[Path, ...] = ()
    """Tables of sources of its own, beside the campaign's."""
    languages: tuple[LanguageRow, ...] = ()
    """Languages that the table of languages may lack."""
    exhibits: tuple[ExhibitSpec, ...] = ()
    folder: Path | None = None
    """Folder of its declaration, of a benchmark that is data alone."""
    needs_benchmark: bool = False
    """Whether its published exhibits are of campaigns alone that have a benchmark of it, since
    what they are made from is retrieved."""
    facts: Mapping[str, Callable[[Campaign, Catalogue], Any]] = field(default_factory=dict)
    """What exhibits ask of a campaign and its catalogue, by name."""
    tables: Mapping[str, TableKind] = field(default_factory=dict)
    """Kinds of tables that it alone has, and others that it makes otherwise than the core."""
    caption: Callable[[Campaign, Catalogue, Collection[str]], str] = lambda *_: ""
    """What captions of exhibits made from kinds of tables add about the origin of items."""
    formulas: tuple[str, ...] = ()
    """Modules with its formulas."""
    commands: tuple[str, ...] = ()
    """Modules with its commands."""
    rules: str = ""
    """Its rules: path below ``workflow/rules``, or an absolute one; empty without any."""
    printed: Path | None = None
    """Folder of its printed numbers and reasons; None for the one below ``catalogue.published``."""
    printed_accuracies: str | Callable[[Sequence[Any]], Iterator[Any]] = ""
    """Function from printed numbers to ``PrintedAccuracy``, or its address ``module:name``."""
    names: str = ""
    """Printed names of its phenomena by key, as ``module:name``; empty where keys are names."""
