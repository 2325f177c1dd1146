"""A sample of MultiBLiMP's pairs, one for each of ten languages.

Source: Jumelet, Weissweiler, Nivre and Bisazza (2025), appendix A.2, Figure 8 (a table).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import COUNT
from blimpworks.exhibits.shared import Tables, marked
from blimpworks.papers.multiblimp.exhibits import describe
from blimpworks.papers.multiblimp.exhibits.common import CERTAIN, abbreviation
from blimpworks.tables import ITEMS, read_table

LANGUAGES = 10
LONGEST = 75
"""Characters of the longest sentence that is shown if there are others."""
COLUMNS = ("item_id", "lang", "phenomenon", "paradigm", "good", "bad")
SPANS = ("good_start", "good_end", "bad_start", "bad_end")
Item = dict[str, Any]


def _random_order(text: str) -> bytes:
    """A hash that puts languages into a random order, always the same."""
    return blake2b(text.encode(), digest_size=8).digest()


def choose_languages(languages: Sequence[str], traits: Mapping[str, Sequence[str]]) -> list[str]:
    """Ten languages at most, each as unlike those before it as can be; ties at random.

    ``traits`` has the script and the family of each. Returns them in the order of ``languages``.
    """
    chosen: list[str] = []
    seen: Counter[str] = Counter()
    left = sorted(languages, key=_random_order)
    while left and len(chosen) < LANGUAGES:
        rarest = min(left, key=lambda lang: sum(seen[trait] for trait in traits[lang]))
        left.remove(rarest)
        chosen.append(rarest)
        seen.update(traits[rarest])
    return [lang for lang in languages if lang in chosen]


def choose_item(items: Sequence[Item], used: Counter[str]) -> Item:
    """A pair of certain agreement, not long, of the phenomenon seen least; ties by id."""

    def rank(item: Item) -> tuple[object, ...]:
        """Sort key of a pair: the lowest is shown."""
        return (
            item["label"] not in CERTAIN,
            len(item["good"]) > LONGEST,
            used[item["phenomenon"]],
            item["item_id"],
            item["paradigm"],
        )

    return min(items, key=rank)


def _items_of(paths: Sequence[Path]) -> dict[str, list[Item]]:
    """Items by language, of the languages that have any."""
    columns = [*COLUMNS, *SPANS, "label"]
    tables = (read_table(ITEMS, path, columns).to_pylist() for path in paths)
    return {items[0]["lang"]: items for items in tables if items}


def fig8(tables: Tables, labels: Labels) -> Exhibit:
    """Figure 8: one pair of each of ten languages; the cell's filter names the very item.

    ``labels.facts["traits"]`` has script and family of each language.
    """
    items = _items_of(tables["items"])
    languages = [lang for lang in labels.languages if lang in items]
    cells: list[Cell] = []
    stub: dict[str, dict[str, str]] = {}
    used: Counter[str] = Counter()
    for lang in choose_languages(languages, labels.facts["traits"]):
        item = choose_item(items[lang], used)
        used[item["phenomenon"]] += 1
        name = labels.languages[lang]
        stub[name] = {"Type": abbreviation(item["phenomenon"])}
        where = {key: item[key] for key in ("lang", "item_id", "paradigm")}
        cells.append(Cell(name, "Pair", 1, marked(item), COUNT, "items", where, n=1))
    return Exhibit(**describe("fig8"), cells=cells, stub=stub, widths={"Pair": 0.65}, textual=True)
