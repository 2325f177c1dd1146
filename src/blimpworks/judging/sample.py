"""The sample of a benchmark's items that models are run on where a campaign sets a limit."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pyarrow as pa

from blimpworks.campaign.paper import Unit
from blimpworks.items import item_id
from blimpworks.tables import ITEMS, PROMPTS, TableSchema, read_table, write_table

Paradigm = tuple[str, str]
"""A phenomenon, and a paradigm of it."""
SCHEMAS: Mapping[Unit, TableSchema] = {"pair": ITEMS, "prompt": PROMPTS}
CONDITIONS = {"item", "condition"}
"""Columns of items that have a row for each of their conditions: the item's key, and the
condition's name."""


def _drawn(name: str) -> str:
    return item_id("sample", name)


def _turns(sizes: Mapping[Paradigm, int]) -> list[Paradigm]:
    """The order in which paradigms get an item more than others: phenomena take turns."""
    taken: Counter[str] = Counter()
    turns = []
    for phenomenon, paradigm in sorted(sizes, key=lambda each: (_drawn("/".join(each)), each)):
        turns.append((taken[phenomenon], _drawn(phenomenon), (phenomenon, paradigm)))
        taken[phenomenon] += 1
    return [paradigm for *_, paradigm in sorted(turns)]


def shares(sizes: Mapping[Paradigm, int], limit: int) -> dict[Paradigm, int]:
    """How many items of each paradigm are taken, of as many as there are in ``sizes``.

    ``limit`` in all, or all there are. Paradigms get the same number, but for one more in some,
    and small ones are taken whole: what they leave goes to the others. A larger limit takes no
    fewer of any.
    """
    taken = dict.fromkeys(sizes, 0)
    left, turns = min(limit, sum(sizes.values())), _turns(sizes)
    while left:
        turns = [paradigm for paradigm in turns if sizes[paradigm] > taken[paradigm]]
        rounds = min(left // len(turns), *(sizes[each] - taken[each] for each in turns))
        for paradigm in turns if rounds else turns[:left]:
            taken[paradigm] += max(rounds, 1)
            left -= max(rounds, 1)
    return taken


def choose_items(rows: Iterable[tuple[str, Paradigm]], limit: int) -> set[str]:
    """Which items are in a sample of at most ``limit``, from the item and paradigm of each row.

    Within a paradigm a hash of the item's key decides, so that neither the order of the rows nor
    what else there is does. An item that stands in several paradigms counts in the first by name.
    A sample by a larger limit contains that by a smaller one.
    """
    homes: dict[str, Paradigm] = {}
    for item, paradigm in rows:
        homes[item] = min(paradigm, homes.get(item, paradigm))
    members: dict[Paradigm, list[str]] = {}
    for item in sorted(homes, key=lambda item: (_drawn(item), item)):
        members.setdefault(homes[item], []).append(item)
    numbers = shares({paradigm: len(each) for paradigm, each in members.items()}, limit)
    return {item for paradigm, each in members.items() for item in each[: numbers[paradigm]]}


def _strings(table: pa.Table, column: str) -> list[str]:
    """A column of labels or strings [n]."""
    values: list[str] = table[column].cast(pa.string()).to_pylist()
    return values


def _items_of(table: pa.Table) -> list[str]:
    return _strings(table, "item" if {*table.column_names} >= CONDITIONS else "item_id")


def _nominal(table: pa.Table, kept: pa.Table) -> Iterator[int]:
    """The nominal number of prompts of each kept row's template: as much less as are kept."""
    templates, chosen = (
        [*zip(_strings(each, "phenomenon"), each["template"].to_pylist(), strict=True)]
        for each in (table, kept)
    )
    all_prompts, left = Counter(templates), Counter(chosen)
    for template, nominal in zip(chosen, kept["nominal"].to_pylist(), strict=True):
        yield max(1, round(nominal * left[template] / all_prompts[template]))


def sample_items(items: Path, output: Path, limit: int, unit: Unit = "pair") -> dict[str, int]:
    """Write a sample of ``items``, at most ``limit`` of them, balanced over paradigms.

    Rows stay in their order, and with them all rows of an item: an item of several conditions is
    in the sample with each of them, and counts once. ``unit``: whether items are pairs (or
    sentences, or of several conditions) or prompts. Of prompts the nominal number of a template
    shrinks with what is kept of it, as where a campaign makes fewer prompts, so that accuracies
    which are divided by it keep their proportion.

    Returns the numbers of items and rows, and of how many each. Raises UserError when the table is
    missing or of another schema.
    """
    schema = SCHEMAS[unit]
    table = read_table(schema, items)
    keys = _items_of(table)
    paradigms = zip(_strings(table, "phenomenon"), _strings(table, "paradigm"), strict=True)
    chosen = choose_items(zip(keys, paradigms, strict=True), limit)
    kept = table.filter(pa.array([key in chosen for key in keys], pa.bool_()))
    if unit == "prompt":
        place = kept.column_names.index("nominal")
        nominal = pa.array(_nominal(table, kept), kept["nominal"].type)
        kept = kept.set_column(place, "nominal", nominal)
    write_table(kept, schema, output)
    return {
        "items": len(chosen),
        "of_items": len({*keys}),
        "rows": len(kept),
        "of_rows": len(table),
    }
