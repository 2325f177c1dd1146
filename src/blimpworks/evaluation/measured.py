"""Collect the accuracies of a report card: of the evaluated models, of baselines, and printed ones.

``build`` calls ``accuracy_rows``, ``rankings`` and ``size_classes`` with the tables of a benchmark
(``judged.Tables``). "Our" models are the evaluated ones; "printed" models have accuracies in the
benchmark's paper. Our models are ranked among the printed ones, and compared with printed models of
similar size. An accuracy is a record with an interval and counts: {"accuracy": 0.71, "low": 0.69,
…, "n": 900, …}. Functions raise UserError when a table is missing.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.compute as pc
import wordfreq

from blimpworks.analysis.accuracy import weighted_interval, wilson
from blimpworks.analysis.baselines import BASELINES, baseline_rows, one_row_per_item
from blimpworks.evaluation.card import MEAN, Record, Row
from blimpworks.evaluation.judged import Skipped, Tables
from blimpworks.evaluation.show import numbers
from blimpworks.evaluation.show import size as size_text
from blimpworks.items import ALL
from blimpworks.judging.sample import CONDITIONS, item_key
from blimpworks.tables import ITEMS, SCORES, count_rows, read_parquet, read_table

COUNTS = ("n", "skipped", "ties", "near_ties")
SHARES = ("accuracy", "low", "high")
LABELS = ["lang", "phenomenon", "paradigm"]
LEVEL = ["phenomenon", "paradigm"]
"""Columns that say what an accuracy is on: all items, a phenomenon (its paradigm is ``all``), …"""
UNKNOWN_MODEL: Record = {"label": "", "parameters": None}
"""Facts of a printed model that is not in the catalogue."""


def phenomenon_label(key: str, names: Mapping[str, str]) -> str:
    """Return a phenomenon's printed name, or its key without underscores."""
    return names.get(key, key.replace("_", " "))


def _accuracy(row: Mapping[Any, Any]) -> Record:
    accuracy: Record = {name: float(row[name]) for name in SHARES}
    accuracy.update((name, int(row[name])) for name in COUNTS)
    return accuracy


def pooled(rows: pd.DataFrame) -> Record:
    """Return the accuracy on the items of all rows together, with its 95 % interval."""
    totals = rows[[*COUNTS, "correct"]].sum()
    n, correct = int(totals["n"]), float(totals["correct"])
    accuracy = float(np.average(rows["accuracy"], weights=rows["n"]))
    # Wilson's interval is for shares of right items; some methods have other accuracies.
    if np.isclose(accuracy * n, correct):
        low, high = wilson(correct, n)
    else:
        low, high = weighted_interval(rows, (rows["n"] / n).tolist())
    return _accuracy({**totals, "accuracy": accuracy, "low": low, "high": high})


def mean_of(rows: pd.DataFrame) -> Record:
    """Return the unweighted mean of accuracies, with an interval from the accuracies' intervals."""
    on_all_items, mean = pooled(rows), float(rows["accuracy"].mean())
    # Equal numbers on the card, which has tenths of a percent, get equal intervals.
    if round(mean, 3) == round(on_all_items["accuracy"], 3):
        return {**on_all_items, "accuracy": mean}
    low, high = weighted_interval(rows, [1 / len(rows)] * len(rows))
    return _accuracy({**rows[[*COUNTS]].sum(), "accuracy": mean, "low": low, "high": high})


def accuracy_rows(tables: Tables, skipped: Skipped) -> list[Row]:
    """Return the rows for all languages together (if there are several), then for each language.

    The first row of a language is over all phenomena, the others are over one phenomenon. A row
    exists even if models skipped all of its items.
    """
    frame = tables.accuracies[tables.accuracies["paradigm"] == ALL]
    # {(language, phenomenon): {model: accuracy}}
    measured: dict[tuple[str, str], dict[str, Record]] = {}
    for row in frame.to_dict("records"):
        measured.setdefault((row["lang"], row["phenomenon"]), {})[row["model"]] = _accuracy(row)
    has_languages = (ALL, ALL) in skipped
    if has_languages:
        groups: Iterable[Any] = frame.groupby(["phenomenon", "model"])
        for (phenomenon, model), rows in groups:
            measured.setdefault((ALL, phenomenon), {})[model] = pooled(rows)
            if phenomenon == ALL:
                measured.setdefault((MEAN, ALL), {})[model] = mean_of(rows)
    for key, counts_by_model in skipped.items():
        # If a model skipped all items, the table of accuracies may lack this row.
        if any(0 < counts["n"] == counts["of"] for counts in counts_by_model.values()):
            measured.setdefault(key, {})
    models, baselines = [*tables.benchmark["languages"]], baselines_of(tables)
    order = [ALL, MEAN, *tables.benchmark["items"]]
    table: list[Row] = []
    for key in sorted(measured, key=lambda k: (order.index(k[0]), k[1] != ALL, k[1])):
        lang, phenomenon = key
        accuracies, counts = measured[key], skipped.get(key, {})
        skipped_counts = {m: counts[m] for m in models if m in counts and counts[m]["n"]}
        for model in accuracies.keys() & skipped_counts.keys():
            # Pooled accuracies lack the counts of languages of which every item was skipped.
            accuracies[model]["skipped"] = skipped_counts[model]["n"]
        table.append(
            {
                "lang": lang,
                "phenomenon": phenomenon,
                "label": phenomenon_label(phenomenon, tables.names),
                "models": {model: accuracies[model] for model in models if model in accuracies},
                "skipped": skipped_counts,
                "baselines": baselines.get(key, {}),
            }
        )
    return table


def paradigm_rows(tables: Tables) -> list[Row]:
    """Return a row for each paradigm of each language; none if each phenomenon is one paradigm."""
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
    unknown_id, end_id = 0, 1  # <unk> and the end of a sentence, in vocabularies of words
    word_count = unknown = 0
    for path in scores:
        for column in read_table(SCORES, path, ["good_ids", "bad_ids"]).columns:
            ids = np.asarray(pc.list_flatten(column))
            word_count += int((ids != end_id).sum())
            unknown += int((ids == unknown_id).sum())
    return unknown / max(word_count, 1)


def item_counts(path: str) -> dict[str, int]:
    """Count a table's items by phenomenon and ``all``; an item of several rows counts once."""
    rows = read_parquet(Path(path), ["phenomenon", "item_id", *CONDITIONS]).to_pandas()
    if item_key(rows.columns) == "item":
        rows = rows.drop_duplicates(["phenomenon", "item"])
    return {ALL: len(rows), **Counter(rows["phenomenon"].astype(str))}


def baselines_of(tables: Tables) -> dict[tuple[str, str], dict[str, float]]:
    """Return {(language, phenomenon): {baseline: accuracy}}; empty for prompts.

    A baseline, such as "the longer sentence is good", is left out if it cannot judge all items.
    """
    frames = []
    benchmark = tables.benchmark
    if benchmark["unit"] == "prompt":
        return {}
    columns = [*LABELS, "good", "bad", "item", "acceptable", "alternatives"]
    for path in benchmark["items"].values():
        items = read_table(ITEMS, Path(path), columns).to_pandas()
        rows = baseline_rows(one_row_per_item(items.astype(dict.fromkeys(LABELS, object))))
        # A list of frequencies takes 40 MB, and a card can have a hundred languages.
        wordfreq.get_frequency_dict.cache_clear()
        if len(rows):
            frames.append(rows)
    if not frames:
        return {}
    # Each row counts in its phenomenon and in all, in its language and in all.
    rows = pd.concat(frames)
    rows = pd.concat([rows, rows.assign(phenomenon=ALL)])
    rows = pd.concat([rows, rows.assign(lang=ALL)])
    sums = rows.groupby(["lang", "phenomenon", "baseline"])[["correct", "n"]].sum()
    # A baseline with fewer items than another one cannot judge all items.
    most_items = sums["n"].groupby(level=["lang", "phenomenon"]).transform("max")
    complete = sums[sums["n"] == most_items]
    # Index: language and phenomenon. Columns: baselines, NaN for those that are left out.
    table = (complete["correct"] / complete["n"]).unstack("baseline")
    table = table.reindex(columns=[name for name in BASELINES if name in table])
    table = table.rename(columns=BASELINES)
    # The mean over languages, NaN if a language lacks the baseline.
    table.loc[(MEAN, ALL), :] = table.drop(ALL).xs(ALL, level="phenomenon").mean(skipna=False)
    shares: Iterable[Any] = table.iterrows()
    return {key: row.dropna().to_dict() for key, row in shares}


# Rankings among the printed models


@dataclass(frozen=True)
class Means:
    """Mean accuracies of printed models and of ours, over the same phenomena or paradigms."""

    levels: list[tuple[str, str]]
    """(phenomenon, paradigm) of the averaged accuracies; one or both of them may be ``all``."""
    table: pd.DataFrame
    """Columns accuracy, low, high, n, skipped and correct; index (``ours``, model).

    ``ours`` is False for printed models. Models that lack an accuracy on a level have no row.
    """
    incomplete: list[str]
    """Names of the models that lack an accuracy on a level."""


def _average(rows: pd.DataFrame, levels: list[tuple[str, str]], count: int) -> Means | None:
    """Average the ``count`` accuracies of each model; models with fewer rows are incomplete.

    ``ours`` is True for our models. Return None if no printed model, or none of ours, is complete.
    """
    means, incomplete = {}, []
    groups: Iterable[Any] = rows.groupby(["ours", "model"], sort=False)
    for key, values in groups:
        if len(values) < count:
            incomplete.append(key[1])
        elif len(values) > 1 and values[["low", "n"]].notna().all(axis=None):
            means[key] = mean_of(values.assign(ties=0, near_ties=0))
            means[key]["correct"] = values["correct"].sum()
        else:
            # A single accuracy keeps its interval; a mean without all intervals and n has none.
            means[key] = {
                "accuracy": values["accuracy"].mean(),
                "low": values["low"].iloc[0] if len(values) == 1 else None,
                "high": values["high"].iloc[0] if len(values) == 1 else None,
                "n": values["n"].sum(min_count=len(values)),  # NaN if one is missing
                "skipped": values["skipped"].sum(),
                "correct": values["correct"].sum(),
            }
    if {is_ours for is_ours, _ in means} != {True, False}:
        return None
    columns = ["accuracy", "low", "high", "n", "skipped", "correct"]
    index = pd.MultiIndex.from_tuples([*means], names=["ours", "model"])
    frame = pd.DataFrame([*means.values()], index, columns, dtype=float)
    return Means(levels, frame, incomplete)


def _ranking(lang: str, means: Means, tables: Tables) -> Record:
    """Rank models by accuracy, to a tenth of a percent: the precision of most papers."""
    facts, table = tables.facts, means.table
    ranked: list[Record] = []
    ranks = table["accuracy"].round(3).rank(method="min", ascending=False).astype(int)
    with_none_for_nan = table.astype(object).where(table.notna(), None)
    rows: Iterable[Any] = with_none_for_nan.iterrows()
    for rank, ((is_ours, name), row) in zip(ranks, rows, strict=True):
        model = facts["models" if is_ours else "printed"].get(name, UNKNOWN_MODEL)
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
    return {"lang": lang, "places": ranked, "notes": _notes_on_items(lang, means, tables)}


def _notes_on_items(lang: str, means: Means, tables: Tables) -> list[str]:
    """Return sentences on how the items of the printed accuracies and of ours differ."""
    facts, benchmark = tables.facts, tables.benchmark
    notes = []
    unit = f"{benchmark['noun']}s"
    if not benchmark["own_items"]:
        notes.append("Printed numbers are over the paper's items; ours are other items like them.")
    is_sample = any(
        count_rows(Path(path)) > count_rows(Path(benchmark["items"][code]))
        for code, path in benchmark["all_items"].items()
        if lang in (code, MEAN)  # a mean is over all languages
    )
    printed, ours = means.table.loc[False], means.table.loc[True]
    printed_counts = {int(n) for n in printed["n"].dropna()}
    our_counts = {int(n) for n in ours["n"].dropna()}
    if printed_counts == our_counts and not ours["n"].isna().any() and not is_sample:
        notes.append(
            f"Printed numbers and ours are over equally many {unit}: {numbers(our_counts, ' to ')}."
        )
    else:
        sample = f", a sample (limit: {facts['limit']:,} a language)" if is_sample else ""
        end = sample or "; they are not the same items"
        count = numbers(printed_counts, " to ") if printed_counts else "an unknown number of"
        our_count = numbers(our_counts, " to ")
        notes.append(f"Printed numbers are over {count} {unit}, ours over {our_count}{end}.")
    skipped = ours["skipped"][ours["skipped"] > 0]
    if len(skipped):
        counts = (f"{facts['models'][str(m)]['label']} {n:,.0f}" for m, n in skipped.items())
        notes.append(f"Not in our n, because they were skipped: {', '.join(counts)}.")
    if benchmark["data"]:
        notes.append(f"Our items: {benchmark['data'].rstrip('.')}.")
    if len(means.levels) > 1:
        level = "phenomena" if means.levels[0][1] == ALL else "paradigms"
        notes.append(f"Means over the {len(means.levels)} {level} that both have.")
    if means.incomplete:
        models = {**facts["printed"], **facts["models"]}
        names = (models.get(name, UNKNOWN_MODEL)["label"] or name for name in means.incomplete)
        notes.append(f"Left out, because some of the numbers are missing: {', '.join(names)}.")
    return notes


def _means_in(lang: str, tables: Tables) -> Means | None:
    """Return mean accuracies of printed models and ours in a language; None without common ones.

    They are compared on all items, or else on common phenomena, or else on common paradigms.
    """
    printed, ours = (
        rows[rows["lang"] == lang].set_index(LEVEL)
        for rows in (tables.printed.assign(ours=False), tables.accuracies.assign(ours=True))
    )
    common = {*printed.index} & {*ours.index}
    overall = [level for level in common if level == (ALL, ALL)]
    phenomena = [level for level in common if level[0] != ALL and level[1] == ALL]
    paradigms = [level for level in common if level[1] != ALL]
    levels = sorted(overall or phenomena or paradigms)
    rows = pd.concat([printed[printed.index.isin(levels)], ours[ours.index.isin(levels)]])
    return _average(rows, levels, len(levels))


def rankings(tables: Tables) -> list[Record]:
    """Rank our models among the printed ones: first in the mean of languages, then in each."""
    all_means = {lang: _means_in(lang, tables) for lang in tables.benchmark["items"]}
    means_by_lang = {lang: means for lang, means in all_means.items() if means}
    ranked = [_ranking(lang, means, tables) for lang, means in means_by_lang.items()]
    if len(means_by_lang) > 1:
        rows = pd.concat([means.table for means in means_by_lang.values()]).reset_index()
        # Means without an interval have no number of items that can be added.
        rows["n"] = rows["n"].where(rows["low"].notna())
        rows = rows.sort_values("ours", kind="stable")  # printed models first, as in a language
        means = _average(rows, [(ALL, ALL)], len(means_by_lang))
        if means:
            # A model that is both printed and ours may be incomplete in one of these roles only.
            complete = {*means.table.index.get_level_values("model")}
            incomplete = [n for n in dict.fromkeys(means.incomplete) if n not in complete]
            ranking = _ranking(MEAN, replace(means, incomplete=incomplete), tables)
            note = f"Means over the {len(means_by_lang)} languages that both have."
            ranking["notes"].insert(0, note)
            ranked.insert(0, ranking)
    return ranked


# Comparison with printed models of the same size

FACTOR = 3
"""Models of the same size have a third to three times as many parameters."""
MOST_GAPS = 5


def _gaps(ours: pd.DataFrame, printed: pd.DataFrame, tables: Tables) -> list[Record]:
    """Return gaps (see ``Benchmark.size_classes``) of a model to the mean of printed models.

    ``ours`` has accuracies of the model, ``printed`` accuracies of the printed models. A gap is on
    a phenomenon. If the tables have no phenomenon in common, it is on a language.
    """
    mean_of_printed = printed.groupby(LABELS)["accuracy"].mean()
    accuracies = {"accuracy": ours.set_index(LABELS)["accuracy"], "printed": mean_of_printed}
    common = pd.DataFrame(accuracies).dropna().reset_index()
    # Rows of phenomena, and rows of paradigms if the phenomenon has no row.
    by_phenomenon = common[common["phenomenon"] != ALL]
    is_phenomenon = by_phenomenon["paradigm"] == ALL
    groups = [by_phenomenon["lang"], by_phenomenon["phenomenon"]]
    has_phenomenon = is_phenomenon.groupby(groups).transform("any")
    by_phenomenon = by_phenomenon[is_phenomenon | ~has_phenomenon]
    column, rows, names = "phenomenon", by_phenomenon, tables.names
    if not len(by_phenomenon):
        column, rows, names = "lang", common, tables.facts["languages"]
    means = rows.groupby(column)[["accuracy", "printed"]].mean()
    means["difference"] = means["accuracy"] - means["printed"]
    gaps: Iterable[Any] = means.iterrows()
    return [{"label": phenomenon_label(str(key), names), **row} for key, row in gaps]


def size_classes(tables: Tables) -> dict[str, Record]:
    """Compare each model with printed models of its size (see ``Benchmark.size_classes``)."""
    printed, accuracies, facts = tables.printed, tables.accuracies, tables.facts
    if not len(printed):
        return {}
    classes: dict[str, Record] = {}
    for model in tables.benchmark["languages"]:
        size = facts["models"][model]["parameters"]  # in billions
        peers: dict[str, str] = {}  # {name of a printed model of similar size: its label}
        largest_gaps, note = list[Record](), ""
        for name in dict.fromkeys(printed["model"]):
            peer = facts["printed"].get(name, UNKNOWN_MODEL)
            peer_size = peer["parameters"] or math.inf
            if size and size / FACTOR <= peer_size <= size * FACTOR and name != model:
                peers[name] = peer["label"] or name
        if size is None:
            note = "How many parameters it has is not known."
        elif not peers:
            note = (
                f"No other printed model is of its size ({size_text(size)} parameters, within a "
                f"factor of {FACTOR})."
            )
        else:
            ours = accuracies[accuracies["model"] == model]
            gaps = _gaps(ours, printed[printed["model"].isin(peers)], tables)
            gaps.sort(key=lambda gap: gap["difference"])
            largest_gaps = [gap for gap in gaps if gap["difference"] < 0][:MOST_GAPS]
            if not largest_gaps:
                note = "It is behind them nowhere." if gaps else "They share no phenomenon."
        classes[model] = {"models": [*peers.values()], "gaps": largest_gaps, "note": note}
    return classes
