"""Grades of people that stand in files of their own, by sentence, as a column of items."""

from collections.abc import Iterable
from dataclasses import replace
from statistics import fmean

from blimpworks.benchmarks.designs import Design
from blimpworks.benchmarks.entries import Labels, Ratings
from blimpworks.benchmarks.layouts import Item, ahead, number, text
from blimpworks.benchmarks.row import Row
from blimpworks.errors import UserError


def with_ratings(
    items: Iterable[Item | Design], data: Labels, rows: Iterable[Row]
) -> list[Item | Design]:
    """Items with the grades of their sentences, from ``rows`` of the files that have them.

    A sentence on several rows has the mean of its grades, and one that has none stays, with null.
    Raises UserError for a design, and where the rows have no sentence of any item.
    """
    how = data.rating
    assert isinstance(how, Ratings)
    grades: dict[str, list[float]] = {}
    for row in rows:
        grades.setdefault(text(row, how.sentence), []).append(number(row, how.rating))
    means = {sentence: fmean(each) for sentence, each in grades.items()}
    rated: list[Item | Design] = []
    for item in items:
        if isinstance(item, Design):
            raise UserError(
                f"{item.file}:{item.line}: grades of sentences are of pairs and single sentences, "
                "and this is an item of several conditions; name a column as 'rating'."
            )
        good, bad = (means.get(sentence) for sentence in (item.good, item.bad))
        rating = good if "acceptable" in item.more else ahead(good, bad)
        rated.append(replace(item, more={**item.more, "rating": rating}))
    if all(item.more["rating"] is None for item in rated):
        raise UserError(
            f"{', '.join(how.patterns)}: no sentence of column {how.sentence!r} is one of "
            f"{', '.join(data.patterns)}, such as {next(iter(means), '')!r}; correct 'sentence' of "
            "'rating'."
        )
    return rated
