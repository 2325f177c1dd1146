"""Draw the sample of items that models run on where a campaign sets a limit.

``sample_items`` reads a table of items and writes some of its rows, the same in every run. Every
item belongs to a paradigm (a set of items of one pattern) of a phenomenon (a kind of contrast).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pyarrow as pa

from blimpworks.campaign.paper import Unit
from blimpworks.items import item_id
from blimpworks.tables import ITEMS, PROMPTS, TableSchema, read_table, write_table

Paradigm = tuple[str, str]
"""Phenomenon, and paradigm within it."""
SCHEMAS: Mapping[Unit, TableSchema] = {"pair": ITEMS, "prompt": PROMPTS}
CONDITIONS = {"item", "condition"}
"""Columns of items with a row for each condition: the item's key, and the condition's name."""


def item_key(columns: Iterable[str]) -> str:
    """Return the column of items' keys; the rows of an item's conditions share its key."""
    return "item" if {*columns} >= CONDITIONS else "item_id"


def _random_rank(name: str) -> str:
    # A hash, which is the same in every run.
    return item_id("sample", name)


def _turns(sizes: Mapping[Paradigm, int]) -> list[Paradigm]:
    """Order paradigms at random, so that phenomena take turns."""
    taken: Counter[str] = Counter()
    turns = []
    shuffled = sorted(sizes, key=lambda paradigm: (_random_rank("/".join(paradigm)), paradigm))
    for phenomenon, paradigm in shuffled:
        turns.append((taken[phenomenon], _random_rank(phenomenon), (phenomenon, paradigm)))
        taken[phenomenon] += 1
    return [paradigm for *_, paradigm in sorted(turns)]


def shares(sizes: Mapping[Paradigm, int], limit: int) -> dict[Paradigm, int]:
    """Return the number of items to take of each paradigm, in sum ``limit``.

    Paradigms get the same number, or one more. Small paradigms give all their items, and the larger
    ones make up for them. With a larger limit no paradigm gives fewer items.
    """
    taken = dict.fromkeys(sizes, 0)
    remaining, turns = min(limit, sum(sizes.values())), _turns(sizes)
    while remaining:
        turns = [paradigm for paradigm in turns if sizes[paradigm] > taken[paradigm]]
        # Take the same number of each, until one has no more or too few remain for all.
        rounds = min(remaining // len(turns), *(sizes[name] - taken[name] for name in turns))
        for paradigm in turns if rounds else turns[:remaining]:
            taken[paradigm] += max(rounds, 1)
            remaining -= max(rounds, 1)
    return taken


def choose_items(rows: Iterable[tuple[str, Paradigm]], limit: int) -> set[str]:
    """Choose at most ``limit`` items, from the item and paradigm of each row.

    Within a paradigm a hash of the item's key decides, whatever the order of rows and the other
    rows. An item of several paradigms counts in the first by name.
    The sample of a larger limit contains that of a smaller one.
    """
    paradigm_of: dict[str, Paradigm] = {}
    for item, paradigm in rows:
        paradigm_of[item] = min(paradigm, paradigm_of.get(item, paradigm))
    members: dict[Paradigm, list[str]] = {}
    for item in sorted(paradigm_of, key=lambda item: (_random_rank(item), item)):
        members.setdefault(paradigm_of[item], []).append(item)
    numbers = shares({paradigm: len(items) for paradigm, items in members.items()}, limit)
    return {item for paradigm, items in members.items() for item in items[: numbers[paradigm]]}


def _strings(table: pa.Table, column: str) -> list[str]:
    values: list[str] = table[column].cast(pa.string()).to_pylist()
    return values


def _nominal(table: pa.Table, kept: pa.Table) -> Iterator[int]:
    """Yield the nominal number of prompts of each kept row, in proportion to the kept prompts."""
    templates, kept_templates = (
        [*zip(_strings(rows, "phenomenon"), rows["template"].to_pylist(), strict=True)]
        for rows in (table, kept)
    )
    n, n_kept = Counter(templates), Counter(kept_templates)
    for template, nominal in zip(kept_templates, kept["nominal"].to_pylist(), strict=True):
        yield max(1, round(nominal * n_kept[template] / n[template]))


def sample_items(items: Path, output: Path, limit: int, unit: Unit = "pair") -> dict[str, int]:
    """Write at most ``limit`` of ``items``, balanced over paradigms; return counts.

    Rows keep their order. An item of several conditions keeps all its rows and counts once.
    ``unit``: pairs (also sentences and conditions) or prompts. The nominal number of a template's
    prompts, which accuracies are divided by, shrinks in proportion to its kept prompts.
    """
    schema = SCHEMAS[unit]
    table = read_table(schema, items)
    keys = _strings(table, item_key(table.column_names))
    paradigms = zip(_strings(table, "phenomenon"), _strings(table, "paradigm"), strict=True)
    chosen = choose_items(zip(keys, paradigms, strict=True), limit)
    kept = table.filter(pa.array([key in chosen for key in keys], pa.bool_()))
    if unit == "prompt":
        column_number = kept.column_names.index("nominal")
        nominal = pa.array(_nominal(table, kept), kept["nominal"].type)
        kept = kept.set_column(column_number, "nominal", nominal)
    write_table(kept, schema, output)
    counts = {"items": len(chosen), "of_items": len({*keys})}
    return counts | {"rows": len(kept), "of_rows": len(table)}
