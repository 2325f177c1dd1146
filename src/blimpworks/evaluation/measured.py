"""Collect an evaluation's accuracies for the report card, and rank them among printed ones.

Functions raise UserError when a table is missing or broken.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.compute as pc
import wordfreq

from blimpworks.analysis.accuracy import mean_interval, wilson
from blimpworks.analysis.baselines import BASELINES, baseline_rows, one_row_per_item
from blimpworks.evaluation.card import MEAN, Record, Row
from blimpworks.evaluation.judged import Cells, Tables
from blimpworks.evaluation.show import numbers
from blimpworks.evaluation.show import size as size_text
from blimpworks.items import ALL
from blimpworks.judging.sample import CONDITIONS, item_key
from blimpworks.tables import ITEMS, SCORES, count_rows, read_parquet, read_table

COUNTS = ("n", "skipped", "ties", "near_ties")
SHARES = ("accuracy", "low", "high")
LABELS = ["lang", "phenomenon", "paradigm"]
COMPARED = ["good", "bad", "item", "acceptable", "alternatives"]
UNKNOWN_ID, END_ID = 0, 1
"""Ids of ``<unk>`` and of the end of a sentence in vocabularies of words."""
FACTOR = 3
"""Models of a size class have a third to three times as many parameters."""
MOST_GAPS = 5
LEVELS = ["phenomenon", "paradigm"]
NAMELESS: Record = {"label": "", "parameters": None}


def phenomenon_label(key: str, names: Mapping[str, str]) -> str:
    """Return a phenomenon's printed name, or its key without underscores."""
    return names.get(key, key.replace("_", " "))


def _accuracy(row: Mapping[Any, Any]) -> Record:
    shares = {name: float(row[name]) for name in SHARES}
    return {**shares, **{name: int(row[name]) for name in COUNTS}}


def pooled(rows: pd.DataFrame) -> Record:
    """Return the accuracy on all items of the rows, with Wilson's interval.

    Accuracies that are no shares of right items get the interval of a weighted mean.
    """
    totals = rows[[*COUNTS, "correct"]].sum()
    n, correct = int(totals["n"]), float(totals["correct"])
    accuracy = float(np.average(rows["accuracy"], weights=rows["n"]))
    if np.isclose(accuracy * n, correct):
        low, high = wilson(correct, n)
    else:
        low, high = mean_interval(rows, (rows["n"] / n).tolist())
    return _accuracy({**totals, "accuracy": accuracy, "low": low, "high": high})


def mean_of(rows: pd.DataFrame) -> Record:
    """Return the mean of the rows' accuracies, with an interval that follows from their intervals.

    A mean that equals the accuracy on all items, to a tenth of a percent, gets the interval of it.
    """
    on_all_items, mean = pooled(rows), float(rows["accuracy"].mean())
    if round(mean, 3) == round(on_all_items["accuracy"], 3):
        return {**on_all_items, "accuracy": mean}
    low, high = mean_interval(rows, [1 / len(rows)] * len(rows))
    return _accuracy({**rows[[*COUNTS]].sum(), "accuracy": mean, "low": low, "high": high})


def accuracy_rows(tables: Tables, skipped: Cells) -> list[Row]:
    """Return rows of all languages, then of each language, each first over all phenomena.

    There is also a row where models skipped every item.
    """
    order, baselines = [*tables.benchmark["languages"]], baselines_of(tables)
    frame = tables.accuracies[tables.accuracies["paradigm"] == ALL]
    cells: dict[tuple[str, str], dict[str, Record]] = {}
    for row in frame.to_dict("records"):
        cells.setdefault((row["lang"], row["phenomenon"]), {})[row["model"]] = _accuracy(row)
    if (ALL, ALL) in skipped:
        groups: Iterable[Any] = frame.groupby(["phenomenon", "model"])
        for (phenomenon, model), rows in groups:
            cells.setdefault((ALL, phenomenon), {})[model] = pooled(rows)
            if phenomenon == ALL:
                cells.setdefault((MEAN, ALL), {})[model] = mean_of(rows)
    for cell, models in skipped.items():
        if any(0 < lost["n"] == lost["of"] for lost in models.values()):
            cells.setdefault(cell, {})
    positions = {lang: i for i, lang in enumerate([ALL, MEAN, *tables.benchmark["items"]])}
    table: list[Row] = []
    for lang, phenomenon in sorted(cells, key=lambda c: (positions[c[0]], c[1] != ALL, c[1])):
        measured, counted = cells[lang, phenomenon], skipped.get((lang, phenomenon), {})
        lost = {
            model: counted[model] for model in order if model in counted and counted[model]["n"]
        }
        for model in measured.keys() & lost.keys():
            measured[model]["skipped"] = lost[model]["n"]
        table.append(
            {
                "lang": lang,
                "phenomenon": phenomenon,
                "label": phenomenon_label(phenomenon, tables.names),
                "models": {model: measured[model] for model in order if model in measured},
                "skipped": lost,
                "baselines": baselines.get((lang, phenomenon), {}),
            }
        )
    return table


def paradigm_rows(tables: Tables) -> list[Row]:
    """Return rows of each language's paradigms; none if the paradigms are the phenomena."""
    frame = tables.accuracies[tables.accuracies["paradigm"] != ALL]
    if (frame["paradigm"] == frame["phenomenon"]).all():
        return []
    languages = list(tables.benchmark["items"])
    rows: dict[tuple[int, str, str], Row] = {}
    for row in frame.to_dict("records"):
        lang, phenomenon, paradigm = (row[name] for name in LABELS)
        key, label = (languages.index(lang), phenomenon, paradigm), paradigm.replace("_", " ")
        empty = Row(
            lang=lang, phenomenon=phenomenon, label=label, models={}, skipped={}, baselines={}
        )
        rows.setdefault(key, empty)["models"][row["model"]] = _accuracy(row)
    return [rows[key] for key in sorted(rows)]


def unknown_words(scores: Iterable[Path]) -> float:
    """Return the share of words in tables of scores that an n-gram model or LSTM does not know."""
    word_count = unknown = 0
    for path in scores:
        for column in read_table(SCORES, path, ["good_ids", "bad_ids"]).columns:
            ids = np.asarray(pc.list_flatten(column))
            word_count += int((ids != END_ID).sum())
            unknown += int((ids == UNKNOWN_ID).sum())
    return unknown / max(word_count, 1)


def item_counts(path: str) -> dict[str, int]:
    """Count items of a table by phenomenon, and ``all``; conditions of an item count once."""
    rows = read_parquet(Path(path), ["phenomenon", "item_id", *CONDITIONS]).to_pandas()
    if item_key(rows.columns) == "item":
        rows = rows.drop_duplicates(["phenomenon", "item"])
    return {ALL: len(rows), **Counter(rows["phenomenon"].astype(str))}


def baselines_of(tables: Tables) -> dict[tuple[str, str], dict[str, float]]:
    """Return accuracies of baselines by language and phenomenon; none for prompts.

    A baseline that cannot judge all items is left out.
    """
    frames = []
    benchmark = tables.benchmark
    for path in [] if benchmark["unit"] == "prompt" else benchmark["items"].values():
        items = read_table(ITEMS, Path(path), [*LABELS, *COMPARED]).to_pandas()
        rows = baseline_rows(one_row_per_item(items.astype(dict.fromkeys(LABELS, object))))
        # A list of frequencies takes 40 MB, and a card can have a hundred languages.
        wordfreq.get_frequency_dict.cache_clear()
        if len(rows):
            frames.append(rows)
    if not frames:
        return {}
    rows = pd.concat(frames)
    rows = pd.concat([rows, rows.assign(phenomenon=ALL)])
    rows = pd.concat([rows, rows.assign(lang=ALL)])
    sums = rows.groupby(["lang", "phenomenon", "baseline"])[["correct", "n"]].sum()
    items = sums["n"].groupby(level=["lang", "phenomenon"]).transform("max")
    table = (sums["correct"] / sums["n"])[sums["n"] == items].unstack("baseline")
    table = table.reindex(columns=[name for name in BASELINES if name in table])
    table = table.rename(columns=BASELINES)
    table.loc[(MEAN, ALL), :] = table.drop(ALL).xs(ALL, level="phenomenon").mean(skipna=False)
    shares: Iterable[Any] = table.iterrows()
    return {cell: row.dropna().to_dict() for cell, row in shares}


# Rankings among the printed models


@dataclass(frozen=True)
class Means:
    """Mean accuracies of printed models and of ours, over the same phenomena or paradigms."""

    cells: list[tuple[str, str]]
    """Pairs of phenomenon and paradigm that the means are over."""
    means: pd.DataFrame
    """Accuracy, low, high, n, skipped and correct of models that have all cells.

    The index is ``ours`` (False for printed) and model; both values of ``ours`` occur.
    """
    incomplete: list[str]
    """Models that lack some of the cells."""


def _compare(rows: pd.DataFrame, cells: list[tuple[str, str]], count: int) -> Means | None:
    """Compare means of models with ``count`` rows; None without a printed model or one of ours."""
    means, incomplete = {}, []
    groups: Iterable[Any] = rows.groupby(["ours", "model"], sort=False)
    for key, values in groups:
        if len(values) < count:
            incomplete.append(key[1])
        elif len(values) > 1 and values[["low", "n"]].notna().all(axis=None):
            means[key] = mean_of(values.assign(ties=0, near_ties=0))
            means[key]["correct"] = values["correct"].sum()
        else:
            means[key] = {
                "accuracy": values["accuracy"].mean(),
                "low": values["low"].iloc[0] if len(values) == 1 else None,
                "high": values["high"].iloc[0] if len(values) == 1 else None,
                "n": values["n"].sum(min_count=len(values)),
                "skipped": values["skipped"].sum(),
                "correct": values["correct"].sum(),
            }
    if {is_ours for is_ours, _ in means} != {False, True}:
        return None
    columns = ["accuracy", "low", "high", "n", "skipped", "correct"]
    index = pd.MultiIndex.from_tuples([*means], names=["ours", "model"])
    frame = pd.DataFrame([*means.values()], index, columns, dtype=float)
    return Means(cells, frame, incomplete)


def _ranking(lang: str, compared: Means, tables: Tables, notes: Sequence[str] = ()) -> Record:
    """Rank models by accuracy to a tenth of a percent, the precision of most papers."""
    facts, means = tables.facts, compared.means
    ranked: list[Record] = []
    ranks = means["accuracy"].round(3).rank(method="min", ascending=False).astype(int)
    rows: Iterable[Any] = means.astype(object).where(means.notna(), None).iterrows()
    for rank, ((is_ours, name), row) in zip(ranks, rows, strict=True):
        model = facts["models" if is_ours else "printed"].get(name, NAMELESS)
        ranked.append(
            {
                "rank": rank,
                "model": name,
                "label": model["label"] or name.replace("_", " "),
                "ours": is_ours,
                **{key: row[key] for key in ("accuracy", "low", "high")},
                "n": None if row["n"] is None else round(row["n"]),
                "parameters": model["parameters"],
            }
        )
    ranked.sort(key=lambda row: (row["rank"], row["ours"], row["label"]))
    return {"lang": lang, "places": ranked, "notes": [*notes, *_notes(lang, compared, tables)]}


def _notes(lang: str, compared: Means, tables: Tables) -> list[str]:
    """Return sentences on differences between the items of the printed numbers and of ours."""
    facts, benchmark = tables.facts, tables.benchmark
    unit = f"{benchmark['noun']}s"
    notes = []
    if not benchmark["own_items"]:
        notes.append("Print is over the paper's own items; ours are other items of its kind.")
    sampled = any(
        count_rows(Path(path)) > count_rows(Path(benchmark["items"][code]))
        for code, path in benchmark["all_items"].items()
        if lang in (code, MEAN)
    )
    ours = compared.means.loc[True]
    in_print, in_ours = (
        {int(n) for n in frame["n"].dropna()} for frame in (compared.means.loc[False], ours)
    )
    if in_print == in_ours and not ours["n"].isna().any() and not sampled:
        notes.append(
            f"Print and ours are over the same number of {unit}: {numbers(in_ours, ' to ')}."
        )
    else:
        sample = f", a sample (limit: {facts['limit']:,} a language)" if sampled else ""
        end = sample or "; they are not the same items"
        count = f"is over {numbers(in_print, ' to ')}" if in_print else "does not number its"
        notes.append(f"Print {count} {unit}, ours are over {numbers(in_ours, ' to ')}{end}.")
    lost = ours["skipped"][ours["skipped"] > 0]
    if len(lost):
        counts = (f"{facts['models'][str(m)]['label']} {n:,.0f}" for m, n in lost.items())
        notes.append(f"Not in our n, because they were skipped: {', '.join(counts)}.")
    if benchmark["data"]:
        notes.append(f"Our items: {benchmark['data'].rstrip('.')}.")
    if len(compared.cells) > 1:
        level = "phenomena" if compared.cells[0][1] == ALL else "paradigms"
        notes.append(f"Means over the {len(compared.cells)} {level} that print and we have.")
    if compared.incomplete:
        models = {**facts["printed"], **facts["models"]}
        names = (models.get(name, NAMELESS)["label"] or name for name in compared.incomplete)
        notes.append(f"Left out, because some of the numbers are missing: {', '.join(names)}.")
    return notes


def rankings(tables: Tables) -> list[Record]:
    """Rank our models among the printed ones, in the mean of languages and in each of them."""
    printed_and_ours = (tables.printed.assign(ours=False), tables.accuracies.assign(ours=True))
    compared = {}
    for lang in tables.benchmark["items"]:
        by_cell = [rows[rows["lang"] == lang].set_index(LEVELS) for rows in printed_and_ours]
        shared = {*by_cell[0].index} & {*by_cell[1].index}
        overall = [cell for cell in shared if cell == (ALL, ALL)]
        phenomena = [cell for cell in shared if cell[0] != ALL and cell[1] == ALL]
        paradigms = [cell for cell in shared if cell[1] != ALL]
        # Compare at the coarsest level that both have.
        cells = sorted(overall or phenomena or paradigms)
        rows = pd.concat([of_side[of_side.index.isin(cells)] for of_side in by_cell])
        if of_language := _compare(rows, cells, len(cells)):
            compared[lang] = of_language
    ranked = [_ranking(lang, of_language, tables) for lang, of_language in compared.items()]
    if len(compared) > 1:
        rows = pd.concat([of_language.means for of_language in compared.values()]).reset_index()
        # Without an interval, an accuracy has no number of items that could be added.
        rows = rows.sort_values("ours", kind="stable").assign(
            n=rows["n"].where(rows["low"].notna())
        )
        if overall_means := _compare(rows, [(ALL, ALL)], len(compared)):
            complete = {*overall_means.means.index.get_level_values("model")}
            incomplete = dict.fromkeys(overall_means.incomplete)
            lacking = [name for name in incomplete if name not in complete]
            note = f"Means over the {len(compared)} languages that print and we have."
            overall_means = replace(overall_means, incomplete=lacking)
            ranked.insert(0, _ranking(MEAN, overall_means, tables, [note]))
    return ranked


# Comparison with printed models of the same size


def _gaps(ours: pd.DataFrame, printed: pd.DataFrame, tables: Tables) -> list[Record]:
    """Return differences to the mean of the printed models, by phenomenon or else by language."""
    by = ["lang", *LEVELS]
    peers = printed.groupby(by)["accuracy"].mean()
    accuracies = {"accuracy": ours.set_index(by)["accuracy"], "printed": peers}
    both = pd.DataFrame(accuracies).dropna().reset_index()
    # A phenomenon's own accuracy goes before those of its paradigms.
    finer = both[both["phenomenon"] != ALL]
    is_phenomenon = finer["paradigm"] == ALL
    has_phenomenon = is_phenomenon.groupby([finer["lang"], finer["phenomenon"]]).transform("any")
    finer = finer[is_phenomenon | ~has_phenomenon]
    column, rows = ("phenomenon", finer) if len(finer) else ("lang", both)
    means = rows.groupby(column)[["accuracy", "printed"]].mean()
    means["difference"] = means["accuracy"] - means["printed"]
    names = tables.names if len(finer) else tables.facts["languages"]
    gaps: Iterable[Any] = means.iterrows()
    return [{"label": phenomenon_label(str(key), names), **row} for key, row in gaps]


def size_classes(tables: Tables) -> dict[str, Record]:
    """Compare each model with printed ones of its size; empty if the paper prints no accuracies."""
    printed, accuracies, facts = tables.printed, tables.accuracies, tables.facts
    classes: dict[str, Record] = {}
    for model in tables.benchmark["languages"] if len(printed) else ():
        size = facts["models"][model]["parameters"]
        labels: dict[str, str] = {}
        behind: list[Record] = []
        for name in dict.fromkeys(printed["model"]):
            peer = facts["printed"].get(name, NAMELESS)
            parameters = peer["parameters"] or math.inf
            if size and size / FACTOR <= parameters <= size * FACTOR and name != model:
                labels[name] = peer["label"] or name
        if size is None:
            note = "How many parameters it has is not known."
        elif not labels:
            note = (
                f"Print has no other model of its size ({size_text(size)} parameters, within a "
                f"factor of {FACTOR})."
            )
        else:
            ours = accuracies[accuracies["model"] == model]
            gaps = _gaps(ours, printed[printed["model"].isin(labels)], tables)
            behind = sorted((g for g in gaps if g["difference"] < 0), key=lambda g: g["difference"])
            nothing = "It is behind them nowhere." if gaps else "They share no phenomenon."
            note = "" if behind else nothing
        classes[model] = {"models": [*labels.values()], "gaps": behind[:MOST_GAPS], "note": note}
    return classes
