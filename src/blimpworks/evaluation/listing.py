"""What there is to evaluate models on: benchmarks, languages, numbers of items, files at hand."""

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
PAIRS = "judge"
"""Command that judges pairs of sentences; others judge single sentences or items of several."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A benchmark as some data have it."""

    name: str
    label: str = ""
    """Short name of its paper; empty where its declaration cannot be used."""
    items: str = ""
    """What its items are called, in the plural."""
    expected: Mapping[str, int | None] = field(default_factory=dict)
    """Number of items by language, before they are built; None where that is not known."""
    files: int = 0
    """How many files its items are made from that are not in the repository."""
    at_hand: int = 0
    """How many of them are on the disk: retrieved, or in the campaign's mirror."""
    origin: str = "in the repository"
    """Where its items come from, if not made from such files."""
    more: tuple[str, ...] = ()
    """Further languages that it has where they are named."""
    by_name: bool = False
    """Whether it is run where it, or a language of it, is named alone."""
    counted: bool = False
    """Whether these numbers are of the items, not of what its paper has."""
    obstacle: str = ""
    """Why these data do not have it; empty where they do."""


def is_at_hand(campaign: Campaign, row: SourceRow | TreebankRow) -> bool:
    """Whether a pinned file is on the disk: retrieved, or in the mirror (plain or .xz)."""
    copies = [Path(campaign.pathvars.resources, "sources", row.name)]
    if campaign.mirror is not None and row.mirror:
        names = (row.mirror, f"{row.mirror}.xz")
        copies += [below(campaign.mirror, name, f"{row.name}: mirror") for name in names]
    return any(path.is_file() for path in copies)


def _languages(campaign: Campaign, catalogue: Catalogue, benchmark: Benchmark) -> list[str]:
    """Languages of a campaign in which a benchmark can be had. Raises UserError for none.

    Where items are made from treebanks, those of the language must be there.
    """
    paper = paper_of(benchmark.name)
    paper.check(campaign, catalogue)
    read = paper.treebanks(campaign, catalogue)
    languages = [
        lang
        for lang in benchmark.languages(campaign, catalogue)
        if lang not in read
        or any(row.is_pinned(campaign.checksums) for row in catalogue.treebanks[lang])
    ]
    if not languages:
        raise UserError(
            f"{benchmark.name} has items in none of the languages whose files can be had here; "
            "take it out, or choose other data (--data, --mirror)."
        )
    return languages


def own_languages(campaign: Campaign) -> list[str]:
    """Languages that a campaign's benchmarks can be had in. Raises UserError for one without."""
    languages: dict[str, None] = {}
    for name in campaign.benchmarks:
        alone = campaign.model_copy(update={"benchmarks": (name,), "languages": "all"})
        languages |= dict.fromkeys(_languages(alone, load_catalogue(alone), benchmarks()[name]))
    return [*languages]


def _listed(campaign: Campaign, benchmark: Benchmark) -> Listed:
    """A benchmark in the languages of a campaign; ``obstacle`` says why its data lack it."""
    campaign = campaign.model_copy(update={"benchmarks": (benchmark.name,)})
    paper = paper_of(benchmark.name)
    noun = "pairs" if benchmark.judge == PAIRS else "items"
    listed = Listed(
        name=benchmark.name,
        label=paper.citation.label,
        items="prompts" if benchmark.unit == "prompt" else noun,
    )
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
            counted=benchmark.counted_units is not None,
        )
    except UserError as error:
        return replace(listed, obstacle=str(error))


def list_benchmarks(campaign: Campaign) -> list[Listed]:
    """All benchmarks that there are, those of the campaign first, in its data and languages.

    Other languages of the same data are listed as such, and so are benchmarks that have no others.
    ``obstacle`` says why the data lack a benchmark, or what is wrong with its declaration.
    """
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
    """Say of a benchmark its languages with the number of items, and what is on the disk of it."""
    if row.obstacle:
        yield row.obstacle
        return
    several = len(row.expected) > 1
    many = f"{len(row.expected)} languages" if several else "1 language"
    numbers = {*row.expected.values()}
    items = row.items if row.counted else f"{row.items} expected"
    codes = ", ".join(row.expected)
    if None in numbers:
        yield f"{many}, number not known until retrieved: {codes}"
    elif len(numbers) == 1:
        yield f"{many}, {numbers.pop():,} {items}{' in each' if several else ''}: {codes}"
    else:
        counts = ", ".join(f"{lang}\xa0{number:,}" for lang, number in row.expected.items())
        yield f"{many}, {items} in each: {counts}"
    if row.more:
        yield f"where it or they are named also: {', '.join(row.more)}"
    if not row.files:
        yield row.origin
    elif row.at_hand == row.files:
        yield f"all {row.files} files on the disk" if row.files > 1 else "its file is on the disk"
    else:
        missing = "the others are downloaded" if row.at_hand else "they are downloaded"
        yield f"{row.at_hand} of {row.files} files on the disk, {missing}"


def listing_text(rows: Sequence[Listed], width: int = WIDTH) -> str:
    """Benchmarks as lines of text of at most ``width`` characters.

    First those that are run anyway, then those that are run where they are named, and the others.
    """
    sections = {
        "": [row for row in rows if not (row.obstacle or row.by_name)],
        "Where they are named (--benchmarks NAME, --languages CODES):": [
            row for row in rows if row.by_name
        ],
        "Not in these data:": [row for row in rows if row.obstacle],
    }
    wrapper = textwrap.TextWrapper(
        width, initial_indent=INDENT, subsequent_indent=INDENT, break_on_hyphens=False
    )
    lines: list[str] = []
    for heading, listed in sections.items():
        lines += ["", heading, ""] if heading and listed else []
        for row in listed:
            title = f"{row.name} ({row.label})" if row.label else row.name
            lines.append(textwrap.shorten(title, width, placeholder=" …"))
            for text in _lines(row):
                lines += [line.replace("\xa0", " ") for line in wrapper.wrap(text)]
    return "\n".join(lines)
