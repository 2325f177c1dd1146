"""Show the items that a declaration reads from its files, without a campaign."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from blimpworks.benchmarks.account import Account
from blimpworks.benchmarks.build import check_number, read_items
from blimpworks.benchmarks.designs import Design
from blimpworks.benchmarks.files import local_files
from blimpworks.benchmarks.layouts import Item
from blimpworks.benchmarks.paper import Declared
from blimpworks.errors import UserError
from blimpworks.items import evenly
from blimpworks.retrieval.sources import Pin, in_mirror, retrieve


def counted(n: int, noun: str) -> str:
    """Write a number and a noun: "1 pair", "2 pairs"."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


KINDS = 5
"""Number of ways of reading that are shown."""


def source_files(declared: Declared, sources: Path) -> dict[str, Path]:
    """Return the retrieved sources of the items. Raises UserError for an absent one."""
    named = {row.name: sources / row.name for row in declared.rows_of(declared.declared.data)}
    absent = [name for name, path in named.items() if not path.is_file()]
    if absent:
        raise UserError(
            f"{sources / absent[0]} does not exist ({len(absent)} of {len(named)} sources); "
            f"retrieve them with a campaign that has {declared.name!r} (snakemake --until "
            "retrieve), and name their directory with --sources."
        )
    return named


def _marked(sentence: str, start: int, end: int) -> str:
    return f"{sentence[:start]}[{sentence[start:end]}]{sentence[end:]}"


def _chosen(items: Sequence[Item | Design], show: int) -> list[Item | Design]:
    """Choose items from as many paradigms as possible: the first of each, then more."""
    first = {(item.lang, item.paradigm): item for item in reversed(items)}
    each = [item for item in items if item is first[item.lang, item.paradigm]]
    others = [item for item in items if item is not first[item.lang, item.paradigm]]
    return [*evenly(each, show), *evenly(others, max(show - len(each), 0))]


def _counts(items: Sequence[Item | Design]) -> Iterator[str]:
    paradigms = Counter((item.lang, item.phenomenon, item.paradigm) for item in items)
    phenomena: dict[tuple[str, str], list[str]] = {}
    for (lang, phenomenon, paradigm), n in paradigms.items():
        phenomena.setdefault((lang, phenomenon), []).append(f"{paradigm} {n:,}")
    for (lang, phenomenon), each in phenomena.items():
        total = sum(n for (la, ph, _), n in paradigms.items() if (la, ph) == (lang, phenomenon))
        more = "" if each == [f"{phenomenon} {total:,}"] else f": {', '.join(each)}"
        yield f"  {lang}  {phenomenon} {total:,}{more}"


def preview(declared: Declared, sources: Path, show: int) -> Iterator[str]:
    """Yield lines about a benchmark: ways of reading, items by paradigm, and examples."""
    named = local_files(declared.folder) | source_files(declared, sources)
    accounts: list[Account] = []
    items = read_items(declared.declared, declared.folder, named, accounts)
    unit = declared.declared.unit
    for lang in declared.declared.languages:
        check_number(declared.declared, lang, sum(i.lang == lang for i in items), declared.folder)
    read = {name: how for account in accounts for name, how in account.files.items()}
    files = counted(len(read), "file")
    yield f"{declared.declared.label}: {counted(len(items), unit)} from {files}"
    for how, n in Counter(read.values()).most_common(KINDS):
        yield f"  {n} as {how}"
    yield from (line for account in accounts for line in account.lines())
    rows = declared.rows_of(declared.declared.data)
    licences = dict.fromkeys([declared.declared.licence, *(row.licence for row in rows)])
    yield f"  licence: {', '.join(filter(None, licences)) or 'not stated'}"
    yield from _counts(items)
    same = sum(isinstance(item, Item) and item.good == item.bad for item in items)
    if unit == "pair" and same:
        yield f"  twice the same sentence: {same}, which count as ties"
    if unit == "sentence":
        good = sum(isinstance(item, Item) and item.more["acceptable"] for item in items)
        yield f"  acceptable: {good:,}, not acceptable: {len(items) - good:,}"
    yield "such as"
    for item in _chosen(items, show):
        yield f"  {item.file}:{item.line}  id {item.id}  {item.paradigm}"
        if isinstance(item, Design):
            for each in item.conditions:
                yield f"    {each.name}: " + " ".join(f"[{text}]" for text in each.texts if text)
            yield from (f"    predicted: {formula}" for formula in item.predictions)
        elif unit == "sentence":
            yield f"    {'+' if item.more['acceptable'] else '-'} {item.good}"
        else:
            regions = item.regions
            yield f"    + {_marked(item.good, regions.good_start, regions.good_end)}"
            yield f"    - {_marked(item.bad, regions.bad_start, regions.bad_end)}"


def count_items(
    declared: Declared, resources: Path, mirror: Path | None, most: int | None
) -> Mapping[str, int] | None:
    """Count items by language, at most ``most`` of each paradigm; None without all files.

    Copies in a mirror count. Raises UserError for a malformed file, or a copy unlike its pin.
    """
    with TemporaryDirectory() as folder:
        named = local_files(declared.folder)
        for row in declared.rows_of(declared.declared.data):
            path = resources / "sources" / row.name
            if not path.is_file():
                # Nothing is to be recorded beside the catalogue.
                pin = replace(Pin.of(row, Path()), catalogue="")
                if not (row.sha256 or row.git_blob) or in_mirror(pin, mirror) is None:
                    return None
                path = Path(folder) / row.name
                path.parent.mkdir(parents=True, exist_ok=True)
                retrieve(pin, path, mirror)
            named[row.name] = path
        counts: Counter[str] = Counter()
        groups = Counter(
            (item.lang, item.phenomenon, item.paradigm)
            for item in read_items(declared.declared, declared.folder, named, [])
        )
    for (lang, _, _), number in groups.items():
        counts[lang] += min(number, most or number)
    return counts
