"""List the benchmarks for evaluations: languages, numbers of items, files on the disk."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from blimpworks.campaign.catalogue import Catalogue, Pinned, SourceRow, TreebankRow, load_catalogue
from blimpworks.campaign.paper import Benchmark
from blimpworks.campaign.registry import benchmarks, paper_of, registered
from blimpworks.campaign.retrieved import is_usable
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.errors import UserError
from blimpworks.files import below
from blimpworks.records.job import REPOSITORY

WIDTH = 80
INDENT = "    "


@dataclass(frozen=True, slots=True)
class Listed:
    """A benchmark in some data; ``label`` is empty where its declaration cannot be used."""

    name: str
    label: str = ""
    items: str = ""
    """Name of its items, in the plural; with ``expected`` where numbers are the paper's."""
    expected: Mapping[str, int | None] = field(default_factory=dict)
    """Number of items by language, before they are built; None where unknown."""
    files: int = 0
    """Number of files outside the repository that its items are made from."""
    at_hand: int = 0
    """Number of these files that are retrieved, or in the campaign's mirror."""
    origin: str = "in the repository"
    """Origin of its items, if not made from such files."""
    more: tuple[str, ...] = ()
    """Further languages, run only where they are named."""
    by_name: bool = False
    """Run only where the benchmark, or a language of it, is named."""
    obstacle: str = ""
    """Reason why these data lack it; else empty."""


def is_at_hand(campaign: Campaign, row: SourceRow | TreebankRow) -> bool:
    """Return whether a pinned file is retrieved, or in the mirror (plain or .xz)."""
    copies = [Path(campaign.pathvars.resources, "sources", row.name)]
    if campaign.mirror is not None and row.mirror:
        names = (row.mirror, f"{row.mirror}.xz")
        copies += [below(campaign.mirror, name, f"{row.name}: mirror") for name in names]
    return any(path.is_file() for path in copies)


def _languages(campaign: Campaign, catalogue: Catalogue, benchmark: Benchmark) -> list[str]:
    """Return a campaign's languages that have all files of the benchmark.

    A treebank without checksum is no such file. Raises UserError for no language.
    """
    paper = paper_of(benchmark.name)
    paper.check(campaign, catalogue)
    read = paper.treebanks(campaign, catalogue)
    languages = [
        lang
        for lang in benchmark.languages(campaign, catalogue)
        if lang not in read
        or all(row.is_pinned(campaign.checksums) for row in catalogue.treebanks[lang])
    ]
    if not languages:
        raise UserError(
            f"{benchmark.name} has items in none of the languages whose files can be had here; "
            "take it out, or choose other data (--data, --mirror)."
        )
    return languages


def own_languages(campaign: Campaign) -> tuple[list[str], list[str]]:
    """Return the languages of a campaign's benchmarks, and those that lack checksums of treebanks.

    Raises UserError when a benchmark has none.
    """
    languages, all_languages = dict[str, None](), dict[str, None]()
    for name in campaign.benchmarks:
        alone = campaign.model_copy(update={"benchmarks": (name,), "languages": "all"})
        # A campaign that skips files without checksum has no language of which it skips all.
        catalogue = load_catalogue(alone.model_copy(update={"unpinned": "error"}))
        languages |= dict.fromkeys(_languages(alone, catalogue, benchmarks()[name]))
        all_languages |= dict.fromkeys(benchmarks()[name].languages(alone, catalogue))
    return [*languages], [lang for lang in all_languages if lang not in languages]


def _listed(campaign: Campaign, benchmark: Benchmark) -> Listed:
    campaign = campaign.model_copy(update={"benchmarks": (benchmark.name,)})
    paper = paper_of(benchmark.name)
    noun = "pairs" if benchmark.judge == "judge" else "items"
    noun = "prompts" if benchmark.unit == "prompt" else noun
    listed = Listed(benchmark.name, paper.citation.label)
    try:
        catalogue = load_catalogue(campaign)
        languages = _languages(campaign, catalogue, benchmark)
        pinned: list[Pinned] = [*paper.sources(campaign, catalogue)]
        for lang in paper.treebanks(campaign, catalogue):
            pinned += catalogue.treebanks[lang]
        by_name = {row.name: row for row in pinned if isinstance(row, SourceRow | TreebankRow)}
        files = [row for row in by_name.values() if is_usable(campaign, row)]
        number = benchmark.counted_units or benchmark.expected_units
        origin = listed.origin
        if benchmark.own_words:
            origin = "generated here"
        elif paper.folder and not paper.folder.resolve().is_relative_to(REPOSITORY):
            origin = f"in {paper.folder}"
        return replace(
            listed,
            expected={lang: number(campaign, catalogue, lang) for lang in languages},
            files=len(files),
            at_hand=sum(is_at_hand(campaign, row) for row in files),
            origin=origin,
            items=noun if benchmark.counted_units else f"{noun} expected",
        )
    except UserError as error:
        return replace(listed, obstacle=str(error))


def list_benchmarks(campaign: Campaign) -> list[Listed]:
    """List all benchmarks, the campaign's first, also those that its data lack or with faults."""
    everywhere = campaign.model_copy(update={"languages": "all"})
    rows = []
    for name in dict.fromkeys((*campaign.benchmarks, *benchmarks())):
        here, there = (_listed(data, benchmarks()[name]) for data in (campaign, everywhere))
        if here.obstacle:
            rows.append(replace(there, by_name=not there.obstacle))
        else:
            more = tuple(lang for lang in there.expected if lang not in here.expected)
            rows.append(replace(here, more=more, by_name=name not in campaign.benchmarks))
    faults = registered()[1].items()
    return rows + [Listed(name, obstacle=f"not usable: {fault}") for name, fault in faults]


def _lines(row: Listed) -> Iterator[str]:
    if row.obstacle:
        yield row.obstacle
        return
    several = len(row.expected) > 1
    many = f"{len(row.expected)} languages" if several else "1 language"
    numbers = {*row.expected.values()}
    codes = ", ".join(row.expected)
    if None in numbers:
        yield f"{many}, number not known until retrieved: {codes}"
    elif len(numbers) == 1:
        yield f"{many}, {numbers.pop():,} {row.items}{' in each' if several else ''}: {codes}"
    else:
        counts = ", ".join(f"{lang}\xa0{number:,}" for lang, number in row.expected.items())
        yield f"{many}, {row.items} in each: {counts}"
    if row.more:
        yield f"where it or they are named also: {', '.join(row.more)}"
    if not row.files:
        yield row.origin
    elif row.at_hand == row.files:
        yield f"all {row.files} files on the disk" if row.files > 1 else "its file is on the disk"
    else:
        missing = "the others are downloaded" if row.at_hand else "they are downloaded"
        yield f"{row.at_hand} of {row.files} files on the disk, {missing}"


def listing_text(rows: Sequence[Listed]) -> str:
    """Return the benchmarks as lines; those that always run come first, then those run by name."""
    sections = {
        "": [row for row in rows if not (row.obstacle or row.by_name)],
        "Where they are named (--benchmarks NAME, --languages CODES):": [
            row for row in rows if row.by_name
        ],
        "Not in these data:": [row for row in rows if row.obstacle],
    }
    wrapper = textwrap.TextWrapper(
        WIDTH, initial_indent=INDENT, subsequent_indent=INDENT, break_on_hyphens=False
    )
    lines: list[str] = []
    for heading, listed in sections.items():
        lines += ["", heading, ""] if heading and listed else []
        for row in listed:
            title = f"{row.name} ({row.label})" if row.label else row.name
            lines.append(textwrap.shorten(title, WIDTH, placeholder=" …"))
            for text in _lines(row):
                lines += [line.replace("\xa0", " ") for line in wrapper.wrap(text)]
    return "\n".join(lines)
