"""The card of a data set on the Hugging Face hub: README.md with its YAML header.

Source of the header's keys and values: the hub's documentation of data set cards.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

import langcodes
import yaml

from blimpworks import __version__
from blimpworks.campaign.registry import find_benchmark, paper_of
from blimpworks.exhibits.shared import counted
from blimpworks.interop.crate.licences import licence_url
from blimpworks.interop.crate.words import describe, read_dictionary
from blimpworks.interop.croissant import LIMITATIONS, USE_CASES
from blimpworks.judging.sample import CONDITIONS

HERE = Path(__file__).parent
SENTENCE = "sentence"
"""Column of a row's only sentence, in place of a good and a bad one."""
SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
    (100_000_000, "10M<n<100M"),
)
"""The hub's classes of size, with their upper bounds in rows."""
LISTED = {
    *("apache-2.0", "mit", "cc0-1.0", "cc-by-3.0", "cc-by-4.0", "cc-by-sa-3.0", "cc-by-sa-4.0"),
    *("cc-by-nc-3.0", "cc-by-nc-4.0", "cc-by-nc-sa-2.0", "cc-by-nc-sa-3.0", "cc-by-nc-sa-4.0"),
    *("gpl-3.0", "lgpl-lr", "c-uda"),
}
"""Licences of catalogues that the hub lists."""
OTHERWISE = {"gpl-3.0-only": "gpl-3.0", "c-uda-1.0": "c-uda"}
"""The hub's names of licences with other SPDX names."""
TASKS: dict[str, dict[str, Any]] = {
    "pair": {
        "task_categories": ["text-classification"],
        "task_ids": ["acceptability-classification"],
    },
    "prompt": {"task_categories": ["text-generation"]},
}
"""The hub's tasks, by unit of items."""
TASKS |= dict.fromkeys(("sentence", "item"), TASKS["pair"])
"""The hub's tasks, by what items are."""
UNITS = {
    "pair": "minimal sets of sentences, of which one is grammatical",
    "prompt": "prompts with what counts as their answer",
    "sentence": "sentences, each acceptable or not",
    "item": "items of several conditions, with predictions over the surprisals of their regions",
}
"""Units of items, in words."""


@dataclass(frozen=True, slots=True)
class About:
    """Facts on a data set."""

    campaign: str
    description: str
    authors: Sequence[str]
    languages: Mapping[str, str]
    """Names of languages, by code."""
    root_hash: str
    """Root hash of the records of all jobs behind it."""


@dataclass(frozen=True, slots=True)
class Subset:
    """Items of a benchmark in a language, which the hub calls a configuration."""

    benchmark: str
    lang: str
    table: Path
    """As the workflow made it."""
    licences: tuple[str, ...]
    rows: int = 0
    items: int = 0
    """Items; each condition of an item has a row."""
    columns: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Name for loading."""
        return f"{self.benchmark}-{self.lang}"

    @property
    def file(self) -> str:
        """Path of its file in the data set."""
        return f"{self.benchmark}/{self.lang}.parquet"

    @property
    def unit(self) -> str:
        """Unit of its items, by the columns of its file."""
        if "good" in self.columns or SENTENCE not in self.columns:
            return find_benchmark(self.benchmark).unit
        return "item" if {*self.columns} >= CONDITIONS else "sentence"


def hub_licence(name: str) -> str:
    """Return the hub's name of a licence, ``other`` for one that it does not list.

    >>> hub_licence("CC-BY-SA-4.0"), hub_licence("CC-BY-NC-SA-2.5")
    ('cc-by-sa-4.0', 'other')
    """
    lower = name.lower()
    known = OTHERWISE.get(lower, lower)
    return known if known in LISTED else "other"


def header(about: About, subsets: Sequence[Subset]) -> dict[str, Any]:
    """Return the header of the card: languages, licences, tasks, size, files of subsets."""
    languages = sorted({str(langcodes.standardize_tag(subset.lang)) for subset in subsets})
    licences = list(dict.fromkeys(hub_licence(x) for subset in subsets for x in subset.licences))
    units = dict.fromkeys(subset.unit for subset in subsets)
    tasks: dict[str, dict[str, None]] = {}
    for unit in units:
        for key, values in TASKS[unit].items():
            tasks.setdefault(key, {}).update(dict.fromkeys(values))
    rows = sum(subset.rows for subset in subsets)
    return {
        "pretty_name": f"Item sets of the campaign {about.campaign}",
        "language": languages,
        "multilinguality": ["multilingual" if len(languages) > 1 else "monolingual"],
        "license": licences,
        **{key: [*values] for key, values in tasks.items()},
        "size_categories": [next((size for limit, size in SIZES if rows < limit), "n>1T")],
        "tags": [
            "linguistic-acceptability",
            *(["minimal-pairs"] if "pair" in units else []),
            "blimpworks",
        ],
        "configs": [
            {"config_name": subset.name, "data_files": [{"split": "test", "path": subset.file}]}
            for subset in subsets
        ],
    }


def write_card(about: About, subsets: Sequence[Subset], left_out: Mapping[str, str]) -> str:
    """Return the card of a data set with these subsets; ``left_out`` maps others to reasons."""
    papers = [paper_of(subset.benchmark) for subset in subsets]
    cited = {paper.name: paper.citation for paper in papers}
    units = dict.fromkeys(subset.unit for subset in subsets)
    rows = []
    for subset in subsets:
        addresses = {name: licence_url(name) for name in subset.licences}
        licences = [f"[{name}]({url})" if url else name for name, url in addresses.items()]
        rows.append(
            f"| `{subset.name}` | {paper_of(subset.benchmark).citation.label} | "
            f"{about.languages.get(subset.lang, subset.lang)} | {subset.items:,} | "
            f"{', '.join(licences)} |"
        )
    dictionary, columns = read_dictionary(), []
    for name in dict.fromkeys(column for subset in subsets for column in subset.columns):
        if meaning := describe(dictionary, "items", name).meaning:
            escaped = meaning.replace("|", "\\|")
            columns.append(f"| `{name}` | {escaped} |")
    reasons = "".join(f"- `{name}`: {reason}\n" for name, reason in left_out.items())
    template = Template((HERE / "card.template.md").read_text(encoding="utf-8"))
    return template.substitute(
        header=yaml.safe_dump(header(about, subsets), allow_unicode=True, sort_keys=False),
        campaign=about.campaign,
        description=about.description,
        counts=f"{sum(s.items for s in subsets):,} items in {counted(len(subsets), 'subset')}",
        units=" and ".join(UNITS[unit] for unit in units),
        use=" ".join(USE_CASES),
        limits="\n".join(f"- {limit}" for limit in LIMITATIONS),
        first=subsets[0].name,
        subsets="\n".join(rows),
        columns="\n".join(columns),
        left_out=f"\nLeft out of this data set, though the campaign has them:\n\n{reasons}"
        if left_out
        else "",
        citations="\n".join(citation.listed for citation in cited.values()),
        authors=", ".join(about.authors),
        version=__version__,
        root_hash=about.root_hash,
    )
