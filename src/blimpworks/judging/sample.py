"""Draw a sample of a benchmark's items, if a campaign limits their number.

``sample_items`` reads a table of items and writes some of its rows, the same in every run. Each
item belongs to a paradigm (a set of items of one pattern) of a phenomenon (a kind of contrast).
With a limit of 5, paradigms of 1, 8 and 9 items give 1, 2 and 2 items.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pyarrow as pa

from blimpworks.campaign.paper import Unit
from blimpworks.items import item_id
from blimpworks.tables import ITEMS, PROMPTS, TableSchema, read_table, write_table

Paradigm = tuple[str, str]  # phenomenon, and paradigm within it
SCHEMAS: Mapping[Unit, TableSchema] = {"pair": ITEMS, "prompt": PROMPTS}
CONDITIONS = {"item", "condition"}
"""Columns that an items table with a row for each condition has: item's key, condition's name."""


def item_key(columns: Iterable[str]) -> str:
    """Return the column with the keys of items: ``item`` if an item has a row for each condition.

    All these rows have the same ``item``.
    """
    return "item" if {*columns} >= CONDITIONS else "item_id"


def _random_rank(name: str) -> str:
    # A hash sorts names randomly, but in the same order in every run.
    return item_id("sample", name)


def _turns(sizes: Mapping[Paradigm, int]) -> list[Paradigm]:
    """Return a random paradigm of each phenomenon, then a second one of each, … (b1, a2, a1)."""
    # Sort by round (0 for the first paradigm of its phenomenon), then randomly by phenomenon.
    taken: Counter[str] = Counter()
    turns = []
    shuffled = sorted(sizes, key=lambda paradigm: (_random_rank("/".join(paradigm)), paradigm))
    for phenomenon, paradigm in shuffled:
        turns.append((taken[phenomenon], _random_rank(phenomenon), (phenomenon, paradigm)))
        taken[phenomenon] += 1
    return [paradigm for *_, paradigm in sorted(turns)]


def items_to_take(sizes: Mapping[Paradigm, int], limit: int) -> dict[Paradigm, int]:
    """Return the number of items to take of each paradigm, ``limit`` in sum.

    Paradigms give equally many items or one more, except that a paradigm with fewer items gives
    all. With a larger limit no paradigm gives fewer items.
    """
    taken = dict.fromkeys(sizes, 0)
    remaining, turns = min(limit, sum(sizes.values())), _turns(sizes)
    while remaining:
        turns = [paradigm for paradigm in turns if sizes[paradigm] > taken[paradigm]]
        # Take the same number of each paradigm (``rounds``), until one has no more items. If fewer
        # items remain than paradigms, ``rounds`` is 0: take one item each of the first paradigms.
        smallest = min(sizes[paradigm] - taken[paradigm] for paradigm in turns)
        rounds = min(remaining // len(turns), smallest)
        for paradigm in turns if rounds else turns[:remaining]:
            taken[paradigm] += max(rounds, 1)
            remaining -= max(rounds, 1)
    return taken


def choose_items(rows: Iterable[tuple[str, Paradigm]], limit: int) -> set[str]:
    """Choose at most ``limit`` items, from the item's key and the paradigm of each row.

    Within a paradigm, hashes of the keys decide, whatever the order of rows. An item of several
    paradigms counts in the first by name. A larger sample contains each smaller one.
    """
    paradigm_of: dict[str, Paradigm] = {}
    for item, paradigm in rows:
        paradigm_of[item] = min(paradigm, paradigm_of.get(item, paradigm))
    members: dict[Paradigm, list[str]] = {}
    for item in sorted(paradigm_of, key=lambda item: (_random_rank(item), item)):
        members.setdefault(paradigm_of[item], []).append(item)
    numbers = items_to_take({paradigm: len(items) for paradigm, items in members.items()}, limit)
    return {item for paradigm, items in members.items() for item in items[: numbers[paradigm]]}


def _strings(table: pa.Table, column: str) -> list[str]:
    values: list[str] = table[column].cast(pa.string()).to_pylist()
    return values


def _nominal(table: pa.Table, kept: pa.Table) -> Iterator[int]:
    """Yield the new nominal number of prompts of each kept prompt's template.

    The benchmark's accuracy is the number of a template's right answers, divided by a fixed,
    nominal number of prompts. If half of the template's prompts are kept, this number is halved.
    """
    templates = zip(_strings(table, "phenomenon"), table["template"].to_pylist(), strict=True)
    kept_templates = [*zip(_strings(kept, "phenomenon"), kept["template"].to_pylist(), strict=True)]
    count_of, kept_count_of = Counter(templates), Counter(kept_templates)
    for template, nominal in zip(kept_templates, kept["nominal"].to_pylist(), strict=True):
        yield max(1, round(nominal * kept_count_of[template] / count_of[template]))


def sample_items(items: Path, output: Path, limit: int, unit: Unit = "pair") -> dict[str, int]:
    """Write at most ``limit`` of ``items``, balanced over paradigms; return counts.

    Rows keep their order. An item of several conditions keeps all its rows and counts once.
    ``unit``: "prompt" for prompts, "pair" for all other items. For prompts, the nominal number of a
    template's prompts shrinks in proportion to the kept prompts. Counts are of kept items and rows
    (items, rows), and of all (of_items, of_rows).
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
    n, n_kept = len({*keys}), len(chosen)
    return {"items": n_kept, "of_items": n, "rows": len(kept), "of_rows": len(table)}
