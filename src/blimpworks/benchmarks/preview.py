"""Show the items that a declaration reads from its files, without a campaign."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from blimpworks.benchmarks.build import read_items
from blimpworks.benchmarks.designs import Design
from blimpworks.benchmarks.files import local_files
from blimpworks.benchmarks.layouts import Item, by_paradigm
from blimpworks.benchmarks.paper import Declared
from blimpworks.benchmarks.readers import Account
from blimpworks.errors import UserError
from blimpworks.exhibits import shared
from blimpworks.items import evenly
from blimpworks.retrieval.sources import Pin, in_mirror, retrieve

counted = partial(shared.counted, form=",")
KINDS = 5
"""Number of ways of reading that are shown."""


def source_files(declared: Declared, sources: Path) -> dict[str, Path]:
    """Return the retrieved sources of the items. Raises UserError for an absent one."""
    named = {row.name: sources / row.name for row in declared.rows_of(declared.data)}
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


def preview(declared: Declared, sources: Path, show: int) -> Iterator[str]:
    """Yield lines about a benchmark: ways of reading, items by paradigm, and examples."""
    named = local_files(declared.folder) | source_files(declared, sources)
    accounts: list[Account] = []
    items = read_items(declared, named, accounts)
    unit = declared.unit
    for lang in declared.languages:
        declared.check_number(lang, sum(i.lang == lang for i in items))
    read = {
        name: file_columns for account in accounts for name, file_columns in account.files.items()
    }
    files = counted(len(read), "file")
    yield f"{declared.label}: {counted(len(items), unit)} from {files}"
    for file_columns, n in Counter(read.values()).most_common(KINDS):
        yield f"  {n} as {file_columns}"
    yield from (line for account in accounts for line in account.lines())
    rows = declared.rows_of(declared.data)
    licences = dict.fromkeys([declared.licence, *(row.licence for row in rows)])
    yield f"  licence: {', '.join(filter(None, licences)) or 'not stated'}"
    phenomena: dict[tuple[str, str], dict[str, int]] = {}
    for (lang, phenomenon, paradigm), group in by_paradigm(items).items():
        phenomena.setdefault((lang, phenomenon), {})[paradigm] = len(group)
    for (lang, phenomenon), numbers in phenomena.items():
        more = ", ".join(f"{paradigm} {n:,}" for paradigm, n in numbers.items())
        total = f"{phenomenon} {sum(numbers.values()):,}"
        yield f"  {lang}  {total}" + (f": {more}" if more != total else "")
    same = sum(isinstance(item, Item) and item.good == item.bad for item in items)
    if unit == "pair" and same:
        yield f"  twice the same sentence: {same}, which count as ties"
    if unit == "sentence":
        good = sum(isinstance(item, Item) and item.more["acceptable"] for item in items)
        yield f"  acceptable: {good:,}, not acceptable: {len(items) - good:,}"
    yield "such as"
    # From as many paradigms as possible: the first item of each, then more.
    first = {(item.lang, item.paradigm): item for item in reversed(items)}
    each = [item for item in items if item is first[item.lang, item.paradigm]]
    others = [item for item in items if item is not first[item.lang, item.paradigm]]
    for item in [*evenly(each, show), *evenly(others, max(show - len(each), 0))]:
        yield f"  {item.file}:{item.line}  id {item.id}  {item.paradigm}"
        if isinstance(item, Design):
            for condition in item.conditions:
                texts = " ".join(f"[{text}]" for text in condition.texts if text)
                yield f"    {condition.name}: {texts}"
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
        for row in declared.rows_of(declared.data):
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
        groups = by_paradigm(read_items(declared, named, []))
    counts: Counter[str] = Counter()
    for (lang, _, _), items in groups.items():
        counts[lang] += len(evenly(items, most))
    return counts
