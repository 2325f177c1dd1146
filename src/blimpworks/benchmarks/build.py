"""Read the items of a declared benchmark from its files, and write them as tables.

``build_items`` writes the items table of a language, for the command ``build-declared-items``.
``read_items`` only reads, for previews and checks. A pair makes a row such as ``item_id, good: "The
dogs bark.", bad: "The dogs barks.", paradigm, …``. An item of several conditions makes a row for
each condition, with its sentence as both good and bad.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any
from unicodedata import is_normalized

import pyarrow as pa

from blimpworks.benchmarks import designs, layouts
from blimpworks.benchmarks.account import Account
from blimpworks.benchmarks.declaration import Declaration
from blimpworks.benchmarks.designs import Design
from blimpworks.benchmarks.entries import Data, LabelledFiles, Ratings
from blimpworks.benchmarks.files import Named, local_files, rows_in
from blimpworks.benchmarks.layouts import Pair
from blimpworks.benchmarks.predictions import WHOLE, Effect, Prediction
from blimpworks.benchmarks.templates import Row, plain
from blimpworks.errors import UserError
from blimpworks.items import Regions, evenly, item_id
from blimpworks.judging.judge import PREFIX_METHODS
from blimpworks.tables import ITEMS, LABEL, SCORES, write_table

log = logging.getLogger(__name__)

LAYOUTS: Mapping[str, Callable[..., Iterator[Any]]] = {
    "pairs": layouts.pairs,
    "choices": layouts.choices,
    "labelled_rows": layouts.labelled_rows,
    "sentences": layouts.sentences,
    "conditions": designs.conditions,
    "designs": designs.designs,
    "suites": designs.suites,
    "alternatives": designs.alternatives,
}
SEVERAL_ROWS = ("labelled_rows", "conditions")
"""Layouts with several rows per item."""
TEXTS, NUMBERS = pa.list_(pa.string()), pa.list_(pa.int32())
EXTRA: Mapping[str, pa.DataType] = {
    **dict.fromkeys(("line", "alternatives"), pa.int32()),
    **dict.fromkeys(("condition", "right"), LABEL),
    **dict.fromkeys(("regions", "predictions", "effects", "effect_names"), TEXTS),
    **dict.fromkeys(("region_starts", "region_ends"), NUMBERS),
    "rating": pa.float64(),
}
"""Types of the columns that items tables of declared benchmarks have besides those of ``ITEMS``."""
RESERVED = {*ITEMS.names, *SCORES.names, *EXTRA, "identical", "acceptable", "item"}
RESERVED |= {PREFIX_METHODS, "benchmark", "model"}
"""Columns of items tables, and of tables that are joined with them; ``keep`` may name none."""


def named_files(declared: Declaration, files: Sequence[Path], sources: Path) -> Named:
    """Return paths by name: files in the declaration's folder, and ``files`` below ``sources``."""
    retrieved = {path.relative_to(sources).as_posix(): path for path in files}
    return {**local_files(declared.folder), **retrieved}


def read_items(declared: Declaration, named: Named, accounts: list[Account]) -> list[Pair | Design]:
    """Read all items of a benchmark, in the order of its declaration and files.

    Appends an account (counts of files, rows and remarks) of each entry to ``accounts``. Raises
    UserError with the faults of all entries.
    """
    items: list[Pair | Design] = []
    faults = []
    for number, data in enumerate(declared.data):
        account = Account(f"{declared.path}: key data.{number}")
        accounts.append(account)
        try:
            items += _read_entry(data, account, named, declared)
        except UserError as error:
            faults.append(str(error))
    if faults:
        raise UserError("\n".join(faults))
    _check_looks(items)
    declared.check_phenomena({item.paradigm for item in items})
    return items


def _read_entry(
    data: Data, account: Account, named: Named, declared: Declaration
) -> list[Pair | Design]:
    """Read the items of one entry of ``data``, with people's ratings and the text ``before``."""
    if reserved := RESERVED & {*data.keep}:
        raise UserError(
            f"{account.entry}: 'keep' names {min(reserved)!r}, which is a column of our "
            "own tables; leave it out (an item's name is the key 'id')."
        )
    rows = rows_in(data, named, declared.folder, account)
    items: list[Pair | Design] = []
    # An error ends the reading of a batch. If a row is an item, it is a batch, so that one message
    # lists the faults of all rows.
    for batch in [rows] if data.layout in SEVERAL_ROWS else [[row] for row in rows]:
        with account.collecting():
            items += LAYOUTS[data.layout](batch, data, declared)
    account.check_faults()
    if isinstance(data.rating, Ratings):
        ratings_account = Account(f"{account.entry}.rating")
        rating_rows = rows_in(data.rating, named, declared.folder, ratings_account)
        items = _with_ratings(items, data, rating_rows)
        account.files.update(ratings_account.files)
    account.items = len(items)
    for index, item in enumerate(items):
        if data.before and isinstance(item, Pair):
            regions = Regions(*(edge + len(data.before) for edge in item.regions))
            good, bad = data.before + item.good, data.before + item.bad
            items[index] = replace(item, good=good, bad=bad, regions=regions)
    for pair in (item for item in items if isinstance(item, Pair)):
        n_normal = sum(is_normalized("NFC", sentence) for sentence in (pair.good, pair.bad))
        if n_normal == 1:
            account.notes["pairs with one sentence in Unicode's NFC and one not"] += 1
        elif n_normal == 0:
            account.notes["items not in Unicode's NFC"] += 1
    return items


def _check_looks(items: Sequence[Pair | Design]) -> None:
    # Raise UserError for two labels that look the same, such as "é" of one and of two characters.
    for name in ("paradigm", "phenomenon"):
        first_items: dict[str, Pair | Design] = {}  # by label
        for item in items:
            first_items.setdefault(getattr(item, name), item)
        label_by_look: dict[str, str] = {}
        for label, item in first_items.items():
            same_look = label_by_look.setdefault(plain(label, "NFC"), label)
            if same_look != label:
                raise UserError(
                    f"{item.location}: the {name} is {label!a}, and elsewhere {same_look!a}, "
                    "which look the same; expected one text. Change one of them with 'rename'."
                )


def _rows(item: Pair | Design, key: str, unit: str) -> Iterator[dict[str, Any]]:
    """Yield an item's row, or a row for each condition with its sentence as both good and bad.

    ``key`` identifies the item. The critical region of a condition spans all the regions that
    predictions and effects name, since engines score no tokens outside of it.
    """
    labels = {"lang": item.lang, "phenomenon": item.phenomenon, "paradigm": item.paradigm}
    origin = {"treebank": None, "file": item.file, "sent_id": item.id, "line": item.line}
    columns = {**labels, **origin, **item.more}
    if isinstance(item, Pair):
        sides = {"good": item.good, "bad": item.bad, **item.regions._asdict()}
        identical = {"identical": item.good == item.bad} if unit == "pair" else {}
        yield {"item_id": key, **sides, **identical, **columns}
        return
    sums = [*item.effects.values()]
    effects = {"effects": sums, "effect_names": [*item.effects]} if sums else {}
    formulas = [*map(Prediction.parse, item.predictions), *map(Effect.parse, sums)]
    formula_regions = frozenset().union(*(formula.regions for formula in formulas))
    for condition in item.conditions:
        sentence, spans = condition.sentence, condition.spans
        sentence_span = (0, len(sentence))
        compared = []
        for region, span in zip((*condition.regions, WHOLE), (*spans, sentence_span), strict=True):
            if (region, condition.name) in formula_regions and span[0] < span[1]:
                compared.append(span)
        compared = compared or [sentence_span]
        start, end = min(compared)[0], max(region_end for _, region_end in compared)
        yield {
            "item_id": item_id(key, condition.name),
            "good": sentence,
            "bad": sentence,
            **Regions(start, end, start, end)._asdict(),
            **columns,
            "item": key,
            "condition": condition.name,
            "regions": [*condition.regions],
            "region_starts": [start for start, _ in spans],
            "region_ends": [end for _, end in spans],
            "predictions": [*item.predictions],
            **({"right": item.right} if item.right != "all" else {}),
            **effects,
        }


def _content(item: Pair | Design) -> tuple[str, ...]:
    """Return what an item's id is computed from: its sentences, or else its file and name."""
    content = (item.good, item.bad) if isinstance(item, Pair) else (item.file, item.id)
    return (item.paradigm, *content)


def build_items(
    declaration: Path,
    files: Sequence[Path],
    sources: Path,
    benchmark: str,
    lang: str,
    output: Path,
    most: int | None = None,
) -> dict[str, Any]:
    """Write a declared benchmark's items of a language; return counts for the provenance record.

    ``files`` lie below ``sources``; files in the declaration's folder are read too. ``most`` limits
    the items of each paradigm, drawn evenly. Raises UserError for a malformed declaration or file,
    and if the number of items is not the declared one.
    """
    declared = Declaration.read(declaration)
    accounts: list[Account] = []
    groups: dict[tuple[str, str], list[tuple[str, Pair | Design]]] = {}
    counts: Counter[tuple[str, ...]] = Counter()  # of items so far, by content
    for item in read_items(declared, named_files(declared, files, sources), accounts):
        if item.lang == lang:
            content = _content(item)
            key = item_id(benchmark, *content)
            if counts[content]:  # a copy: its id also depends on the number of copies before
                key = item_id(key, counts[content])
            counts[content] += 1
            groups.setdefault((item.phenomenon, item.paradigm), []).append((key, item))
    declared.check_number(lang, counts.total())
    chosen = [keyed_item for group in groups.values() for keyed_item in evenly(group, most)]
    rows = [row for key, item in chosen for row in _rows(item, key, declared.unit)]
    types = {**EXTRA, **dict(ITEMS.columns)}
    columns = dict.fromkeys(name for row in rows for name in row)
    arrays = {name: pa.array([row.get(name) for row in rows], types.get(name)) for name in columns}
    write_table(pa.table(arrays), ITEMS, output)
    if identical := sum(row.get("identical", False) for row in rows):
        log.warning("%s: %d of %d pairs are twice the same sentence", output, identical, len(rows))
    repeated = len(chosen) - len({(item.paradigm, *item.sentences) for _, item in chosen})
    if repeated:
        log.warning("%s: %d of %d items are copies of others", output, repeated, len(chosen))
    facts = {
        "items": len(chosen),
        "identical": identical,
        "repeated": repeated,
        "files": {name: fact for account in accounts for name, fact in account.files.items()},
        "account": {account.entry.rpartition(" ")[2]: account.record() for account in accounts},
    }
    if any("rating" in item.more for _, item in chosen):
        facts["unrated"] = sum(item.more.get("rating") is None for _, item in chosen)
        log.info("%s: %d of %d items have no rating", output, facts["unrated"], len(chosen))
    return facts


def _with_ratings(
    items: Iterable[Pair | Design], data: LabelledFiles, rows: Iterable[Row]
) -> list[Pair | Design]:
    """Add people's mean grades of sentences to items, from ``rows``; None without grades.

    Raises UserError for an item of several conditions, and if no row has a sentence of an item.
    """
    ratings = data.rating
    assert isinstance(ratings, Ratings)
    grades: dict[str, list[float]] = {}  # by sentence
    for row in rows:
        sentence = layouts.text(row, ratings.sentence)
        grades.setdefault(sentence, []).append(layouts.number(row, ratings.rating))
    means = {sentence: fmean(values) for sentence, values in grades.items()}
    rated: list[Pair | Design] = []
    for item in items:
        if isinstance(item, Design):
            raise UserError(
                f"{item.location}: grades of sentences are of pairs and single sentences, "
                "and this is an item of several conditions; name a column as 'rating'."
            )
        good, bad = (means.get(sentence) for sentence in (item.good, item.bad))
        rating = good if "acceptable" in item.more else layouts.rating_difference(good, bad)
        rated.append(replace(item, more={**item.more, "rating": rating}))
    if all(item.more["rating"] is None for item in rated):
        raise UserError(
            f"{', '.join(ratings.patterns)}: no sentence of column {ratings.sentence!r} is one of "
            f"{', '.join(data.patterns)}, such as {next(iter(means), '')!r}; correct 'sentence' of "
            "'rating'."
        )
    return rated
